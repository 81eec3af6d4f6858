"""Whole comparisons with a tiny encoder."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zerotag.errors import ZerotagError
from zerotag.research.compare.comparison import Comparison, Status, compare
from zerotag.research.compare.method_rules import Decided, with_word_labels
from zerotag.research.compare.record import Record, read_record
from zerotag.research.compare.runs import carry_out
from zerotag.training.recipe import train
from zerotag.types import Rule

SMOKE = Path(__file__).parents[3] / "experiments" / "smoke.toml"


def names(done: Any) -> list[str]:
    return [run.name.removeprefix("smoke-corpus.") for run in done]


def contents(folder: Path) -> dict[str, tuple[str, int]]:
    return {file.name: (file.read_text(), file.stat().st_mtime_ns) for file in (folder / "runs").glob("[a-z]*.json")}


def result(path: Path) -> dict[str, Any]:
    """A run's file without what differs from time to time, and by the corpus alone."""
    values: dict[str, Any] = json.loads(path.read_text())
    del values["made"], values["cost"]["seconds_per_1000"], values["settings"]["corpus_sha256"]
    if values["training"] is not None:
        del values["training"]["seconds"]
    return values


def test_smoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every method and table, two processes at once."""
    monkeypatch.delenv("ZEROTAG_ENCODERS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    seen: list[Status] = []
    comparison = compare(SMOKE, out=tmp_path, jobs=2, on_status=seen.append)
    assert (comparison.failed, comparison.left) == ({}, ())
    assert len(comparison.done) == len(list((tmp_path / "runs").iterdir())) == 25
    assert (seen[-1].done, seen[-1].total, seen[-1].seconds_left) == (25, 25, 0.0)
    assert not list((tmp_path / "work").iterdir())

    lime = read_record(tmp_path / "runs" / "smoke-corpus.lime.1.json")
    assert lime.uses_word_labels
    assert lime.test["labels"]["C"]["rule"]["origin"] == "word labels of the development set"
    assert len(lime.test_indices or ()) == 6
    assert lime.made["side_by_side"] == 2
    heads = read_record(tmp_path / "runs" / "smoke-corpus.attention-heads.2.json")
    assert re.fullmatch(r"heads:[12]\.[1-4]", heads.scorer)
    soft = read_record(tmp_path / "runs" / "smoke-corpus.soft-attention.1.json")
    assert not soft.uses_word_labels
    assert soft.test["labels"]["C"]["rule"] == asdict(Rule())
    assert soft.training is not None
    assert soft.training.model["encoder"] == "smoke-encoder"
    assert len(soft.training.history) == 2
    assert soft.training.sentences == 48
    assert soft.training.dev["sentence_f1"] == pytest.approx(max(one["dev_f1"] for one in soft.training.history))

    upper_line = read_record(tmp_path / "runs" / "smoke-corpus.supervised-by-word-labels.1.json")
    assert upper_line.uses_word_labels
    assert upper_line.test["labels"]["C"]["rule"]["origin"] == "fixed, in a model trained on word labels"
    few = read_record(tmp_path / "runs" / "smoke-corpus.zerotag-20-sentences.1.json")
    assert few.training is not None
    assert (few.training.sentences, few.uses_word_labels) == (20, False)
    assert ">48<" in (tmp_path / "figures" / "learning-curves.svg").read_text(encoding="utf-8")

    tables = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert tables.count("\n| Supervised by word labels † (of the training set) |") >= 6
    assert tables.count("\n| Occlusion † |") >= 6
    assert "| β = 3 |" in tables
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert summary["smoke-corpus"]["LIME"]["map"]["n"] == 1
    assert summary["smoke-corpus"]["Occlusion"]["map"]["n"] == 2


def test_no_word_of_a_corpus_gets_into_the_files(small: Path) -> None:
    compare(small)
    corpus = (small.parent / "smoke-corpus" / "test.tsv").read_text()
    words = {line.partition("\t")[0] for line in corpus.splitlines() if len(line) > 5}
    sentences = [" ".join(line.partition("\t")[0] for line in part.splitlines()) for part in corpus.split("\n\n")]
    assert len(words) > 20
    assert len(sentences) > 20
    results = small.with_suffix("")
    files = [*(results / "runs").iterdir(), *(file for file in results.iterdir() if file.is_file())]
    assert len(files) >= 5 + 4  # runs, summary, tests and tables
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert not [word for word in words if f'"{word}"' in text]
        assert not [sentence for sentence in sentences if sentence in text]


def test_a_finished_run_is_not_repeated(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compare(small, only="*.soft-attention.*")
    assert names(first.done) == ["soft-attention.1"]
    before = contents(first.folder)
    asked = []

    def spy(*arguments: Any) -> Record:
        asked.append(arguments[0])
        return carry_out(*arguments)

    monkeypatch.setattr("zerotag.research.compare.workbench.carry_out", spy)
    second = compare(small)
    assert len(second.done) == 5
    assert names(asked) == ["random-baseline.1", "sentence-classifier.1", "attention-heads.1", "occlusion.1"]
    assert before.items() <= contents(first.folder).items()


def test_large_corpora_come_first(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    larger = small.parent / "larger"
    shutil.copytree(small.parent / "smoke-corpus", larger)
    train_file = larger / "train.tsv"
    train_file.write_text(train_file.read_text() + "\nIt\tO\nmay\tC\n")
    small.write_text(small.read_text().replace('["smoke-corpus"]', '["smoke-corpus", "larger"]'))
    asked = []

    def spy(*arguments: Any) -> Record:
        asked.append(arguments[0].corpus)
        return carry_out(*arguments)

    monkeypatch.setattr("zerotag.research.compare.workbench.carry_out", spy)
    compare(small, only="*.random-baseline.*")
    assert asked == ["larger", "smoke-corpus"]


def test_methods_share_a_training(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def spy(*arguments: Any, **settings: Any) -> Any:
        calls.append(settings["model"].head)
        return train(*arguments, **settings)

    monkeypatch.setattr("zerotag.research.compare.trainings.train", spy)
    compare(small, only="*.occlusion.*")
    assert list((small.with_suffix("") / "work").glob("*/model"))  # others will need it
    compare(small)
    assert sorted(calls) == ["cls", "soft-attention"]
    assert not list((small.with_suffix("") / "work").iterdir())


KILLED = """
import signal
import sys
from pathlib import Path
from zerotag.research.compare import workbench
from zerotag.research.compare.comparison import compare

def write_and_wait(path, record):
    write_record(path, record)
    if path.name.startswith("smoke-corpus.sentence-classifier"):
        signal.pause()

write_record, workbench.write_record = workbench.write_record, write_and_wait

if __name__ == "__main__":
    compare(Path(sys.argv[1]))
"""


def test_kill_and_resume(small: Path) -> None:
    """Killed at the first finished run of a shared training, it makes the others and leaves that one alone."""
    script = small.parent / "killed.py"
    script.write_text(KILLED)
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    process = subprocess.Popen([sys.executable, script, small], env=environment)
    results = small.with_suffix("")
    while not (results / "runs" / "smoke-corpus.sentence-classifier.1.json").exists():
        assert process.poll() is None, "it ended by itself"
        time.sleep(0.005)
    process.kill()
    process.wait()
    before = contents(results)
    resumed = compare(small)
    assert (len(resumed.done), resumed.failed) == (5, {})
    assert before.items() <= contents(results).items()

    undisturbed = compare(small, out=small.parent / "undisturbed")
    for run in undisturbed.done:
        assert result(resumed.folder / "runs" / f"{run.name}.json") == result(
            undisturbed.folder / "runs" / f"{run.name}.json"
        )


def test_the_time_is_up(small: Path) -> None:
    comparison = compare(small, limit_seconds=0.0)
    assert (comparison.done, comparison.failed, len(comparison.left)) == ((), {}, 5)
    assert not (comparison.folder / "summary.json").exists()


def without_word_labels_use(comparison: Comparison) -> dict[str, dict[str, Any]]:
    return {
        run.name: result(comparison.folder / "runs" / f"{run.name}.json")
        for run in comparison.done
        if not run.method.uses_word_labels
    }


def test_zero_shot_methods_never_see_dev_word_labels(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other word labels in the development set, the same sentence labels: nothing changes but for those who say so."""
    asked = []

    def spy(*arguments: Any) -> Decided:
        asked.append(arguments[0].name)
        return with_word_labels(*arguments)

    monkeypatch.setattr("zerotag.research.compare.runs.with_word_labels", spy)
    given = compare(small)
    assert asked == ["Attention heads", "Occlusion"]
    dev = small.parent / "smoke-corpus" / "dev.tsv"
    turned = "\n\n".join(_other_word_labels(sentence) for sentence in dev.read_text().strip().split("\n\n"))
    assert turned != dev.read_text().strip()
    dev.write_text(turned + "\n")
    changed = compare(small, out=small.parent / "changed")
    zero_shot = without_word_labels_use(given)
    assert set(zero_shot) == {
        f"smoke-corpus.{name}.1" for name in ("random-baseline", "soft-attention", "sentence-classifier")
    }
    assert without_word_labels_use(changed) == zero_shot
    occlusion = "smoke-corpus.occlusion.1.json"
    first, second = (result(one.folder / "runs" / occlusion)["test"]["labels"]["C"]["rule"] for one in (given, changed))
    assert first != second


def _other_word_labels(sentence: str) -> str:
    """Positive words become negative and the others positive, where there is a positive one."""
    if "\tC" not in sentence:
        return sentence
    swapped = {"C": "O", "O": "C"}
    return "\n".join(
        f"{word}\t{swapped[label]}" for word, label in (line.split("\t") for line in sentence.splitlines())
    )


def test_a_failing_run_does_not_stop_the_others(small: Path) -> None:
    """A BiLSTM has no mask token that occlusion could hide words behind."""
    small.write_text(
        small.read_text().replace(
            "[trainings.cls.model]\nhead", '[trainings.cls]\npreset = "bilstm"\ntraining.epochs = 1 #'
        )
    )
    seen: list[Status] = []
    comparison = compare(small, on_status=seen.append)
    assert names(comparison.done) == ["random-baseline.1", "soft-attention.1", "sentence-classifier.1"]
    assert names(comparison.failed) == ["attention-heads.1", "occlusion.1"]
    assert all("\n" not in reason for reason in comparison.failed.values())
    assert "has none" in list(comparison.failed.values())[1]
    assert any("Occlusion, seed 1 FAILED" in status.message for status in seen)
    assert list((comparison.folder / "work").glob("*/model"))  # to try again
    assert (comparison.folder / "tables.md").exists()


def test_an_unexpected_failure_is_told_in_a_file(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any) -> Record:
        if arguments[0].method.name == "Occlusion":
            raise RuntimeError("the device\nis on fire")
        return carry_out(*arguments)

    monkeypatch.setattr("zerotag.research.compare.workbench.carry_out", broken)
    comparison = compare(small)
    (reason,) = comparison.failed.values()
    assert reason.startswith("RuntimeError: the device is on fire (see ")
    story = comparison.folder / "work" / "smoke-corpus.occlusion.1.failure.txt"
    assert "Traceback" in story.read_text()
    assert len(comparison.done) == 4


def test_a_training_that_fails_takes_its_runs_along(small: Path) -> None:
    small.write_text(small.read_text().replace('head = "cls"', "depth = 99"))
    comparison = compare(small)
    assert names(comparison.done) == ["random-baseline.1", "soft-attention.1"]
    assert len(comparison.failed) == 3
    assert all("depth 99" in reason for reason in comparison.failed.values())


def test_dev_word_measures_only_where_asked(small: Path) -> None:
    comparison = compare(small, only="*.soft-attention.*")
    assert read_record(comparison.folder / "runs" / "smoke-corpus.soft-attention.1.json").dev is None
    small.write_text("dev_word_measures = true\n" + small.read_text())
    asked = compare(small, out=small.parent / "asked", only="*.soft-attention.*")
    record = read_record(asked.folder / "runs" / "smoke-corpus.soft-attention.1.json")
    assert 0 < record.measures()["dev_map"] <= 1
    assert record.dev is not None
    counts = record.dev["labels"]["C"]["counts"]
    kept = np.load(asked.folder / "work" / "scores" / "smoke-corpus.soft-attention.1.npz")
    assert (kept["words"].shape, kept["sentences"].shape) == ((counts["words"], 1), (counts["sentences"], 1))
    for part in ("test", "dev"):
        for quantiles in record.scores[part]["C"].values():
            assert quantiles == sorted(quantiles)
    verdicts = record.verdicts["C"]
    assert verdicts.gold == "01" * 12
    true_positives = [*zip(verdicts.gold, verdicts.predicted, strict=True)].count(("1", "1"))
    assert record.measures()["sentence_recall"] == pytest.approx(true_positives / 12)
    assert record.made["began"]["code"] == record.made["code"]
    assert record.made["began"]["date"] <= record.made["date"]


def test_labels_that_exclude_one_another(small: Path) -> None:
    folder = small.parent / "smoke-corpus"
    for part in ("train", "dev", "test"):
        sentences = (folder / f"{part}.tsv").read_text().strip().split("\n\n")
        for number, sentence in enumerate(sentences):
            words = [line.partition("\t")[0] for line in sentence.split("\n")]
            label = ("NEG", "POS")[number % 2]
            sentences[number] = "\n".join([f"{words[0]}\t{label}", *(f"{word}\tO" for word in words[1:])])
        (folder / f"{part}.tsv").write_text("\n\n".join(sentences) + "\n")
    done = compare(small, only="*.soft-attention.*")
    record = read_record(done.folder / "runs" / "smoke-corpus.soft-attention.1.json")
    assert all(label["rule"]["exclusive"] for label in record.test["labels"].values())
    negative, positive = (record.verdicts[name].predicted for name in ("NEG", "POS"))
    assert all(a != b for a, b in zip(negative, positive, strict=True))  # every sentence has one


def test_a_corpus_that_was_edited_is_not_mixed_with_old_runs(small: Path) -> None:
    done = compare(small, only="*.soft-attention.*")
    before = contents(done.folder)
    test = small.parent / "smoke-corpus" / "test.tsv"
    test.write_text(test.read_text().partition("\n\n")[2])  # a sentence less
    with pytest.raises(ZerotagError, match=r"smoke-corpus\.soft-attention\.1\.json was made with corpus_sha256 '"):
        compare(small)
    assert contents(done.folder) == before
