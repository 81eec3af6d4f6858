"""`zerotag train`: from files to a model folder, with sentence labels alone."""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import toy
from commands import CommandLine
from zerotag.cli.options import say
from zerotag.io.locks import only_us
from zerotag.labeller import load
from zerotag.render.progress import TrainingProgress, describe, duration
from zerotag.training.recipe import Progress
from zerotag.types import GoldExample

LABELS = tuple(toy.CUES)


def weights(model: Path) -> bytes:
    return (model / "model.safetensors").read_bytes()


def rules(model: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads((model / "zerotag.json").read_text())["rules"]
    return found


# Several labels, end to end


def write_csv(path: Path, examples: Sequence[GoldExample]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", *LABELS])
        for number, one in enumerate(examples):
            writer.writerow([number, one.sentence.text, *map(int, one.labels)])
    return path


def write_jsonl(path: Path, examples: Sequence[GoldExample], *, words: bool) -> Path:
    with path.open("w") as file:
        for one in examples:
            record: dict[str, object] = {"text": one.sentence.text, "label": names(one.labels)}
            if words:
                assert one.word_labels is not None
                record |= {"words": one.sentence.words, "word_labels": [names(flags) for flags in one.word_labels]}
            file.write(json.dumps(record) + "\n")
    return path


def names(flags: Sequence[bool]) -> list[str]:
    return [name for name, flag in zip(LABELS, flags, strict=True) if flag]


def test_three_labels_from_columns_and_from_lists(zerotag: CommandLine, tmp_path: Path, encoder: Path) -> None:
    examples = toy.gold(200, labels=LABELS)
    settings = ["--encoder", encoder, "--depth", 1, "--epochs", 5, "--batch-size", 8, "--learning-rate", 0.01]
    columns = [option for label in LABELS for option in ("--label-column", label)]
    zerotag.succeeds(
        "train", write_csv(tmp_path / "train.csv", examples), *columns, "--out", tmp_path / "columns", *settings
    )
    listed = write_jsonl(tmp_path / "train.jsonl", examples, words=False)
    zerotag.succeeds("train", listed, "--out", tmp_path / "lists", *settings)
    assert load(tmp_path / "columns").label_names == LABELS
    assert load(tmp_path / "lists").label_names == tuple(sorted(LABELS))

    gold = write_jsonl(tmp_path / "gold.jsonl", toy.gold(40, labels=LABELS, seed=1), words=True)
    for model in (tmp_path / "columns", tmp_path / "lists"):
        report = model.with_suffix(".json")
        table = zerotag.succeeds("evaluate", model, gold, "--json", report)
        assert all(f"{label}: words" in table for label in LABELS)
        assert "average: words" in table
        measures = json.loads(report.read_text())
        assert set(measures["labels"]) == set(LABELS)
        assert measures["macro"]["map"] == 1.0
        assert measures["macro"]["word_f1"] > 0.95

        (line,) = zerotag.succeeds("label", model, stdin="the pump perhaps leaks in winter\n").splitlines()
        result = json.loads(line)
        assert sorted(result["labels"]) == sorted(LABELS)
        assert [word["labels"] for word in result["words"]] == [[], [], ["hedge"], ["fault"], [], ["wet"]]
        assert {span["text"]: span["label"] for span in result["spans"]} == {
            "perhaps": "hedge",
            "leaks": "fault",
            "winter": "wet",
        }


# Word labels


def shuffled_words(path: Path, examples: Sequence[GoldExample], seed: int) -> Path:
    """The word labels of each sentence in another order: the sentence labels stay."""
    draw = random.Random(seed)
    mixed = []
    for one in examples:
        assert one.word_labels is not None
        flags = draw.sample(one.word_labels, len(one.word_labels))
        mixed.append(GoldExample(one.sentence, one.labels, tuple(flags)))
    assert [one.word_labels for one in mixed] != [one.word_labels for one in examples]
    return toy.write_tsv(path, mixed)


def test_the_places_of_word_labels_make_no_difference(zerotag: CommandLine, tmp_path: Path, encoder: Path) -> None:
    train, dev = toy.gold(30), toy.gold(12, seed=1)
    settings = ["--encoder", encoder, "--depth", 1, "--epochs", 2]
    files = {
        "right": (toy.write_tsv(tmp_path / "train.tsv", train), toy.write_tsv(tmp_path / "dev.tsv", dev)),
        "mixed": (shuffled_words(tmp_path / "train2.tsv", train, 1), shuffled_words(tmp_path / "dev2.tsv", dev, 2)),
    }
    for name, (train_file, dev_file) in files.items():
        zerotag.succeeds("train", train_file, "--dev", dev_file, "--out", tmp_path / name, *settings)
        zerotag.succeeds("train", train_file, "--out", tmp_path / f"{name} without dev", *settings)
    for right, mixed in (("right", "mixed"), ("right without dev", "mixed without dev")):
        assert weights(tmp_path / right) == weights(tmp_path / mixed)
        thresholds = rules(tmp_path / right)
        assert thresholds == rules(tmp_path / mixed)
        assert [rule["origin"] for rule in thresholds] == ["sentence labels of the development set"]
    assert weights(tmp_path / "right") != weights(tmp_path / "right without dev")


# What is said and where it goes


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return toy.write_tsv(tmp_path / "train.tsv", toy.gold(30))


def test_what_it_prints(zerotag: CommandLine, tmp_path: Path, corpus: Path, encoder: Path) -> None:
    """A line for each of the teacher's three epochs, which are marked as its, and of the two others."""
    epochs = ("--teacher-epochs", 3, "--epochs", 2)
    outcome = zerotag("train", corpus, "--out", tmp_path / "new" / "model", "--encoder", encoder, *epochs)
    assert outcome.code == 0
    *lines, last = (line for line in outcome.err.splitlines() if line.startswith("epoch"))
    for number, line in enumerate(lines, start=1):
        whose = "teacher" if number <= 3 else "dev"
        assert re.fullmatch(rf"epoch {number}/5 · loss \d\.\d{{4}} · {whose} F1 [\d.]+ · \d+ s left", line)
    assert len(lines) == 4
    assert re.fullmatch(r"epoch 5/5 · loss \d\.\d{4} · dev F1 [\d.]+", last)
    assert outcome.out.startswith(f"{tmp_path}/new/model: labels hedge; depth 2 of {encoder}; dev sentence F1 ")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["model"]


def test_every_setting_reaches_the_model(zerotag: CommandLine, tmp_path: Path, corpus: Path, encoder: Path) -> None:
    settings: dict[str, object] = {
        "beta": 1.5,
        "depth": 3,
        "gamma": 0.2,
        "epochs": 1,
        "teacher_epochs": 1,
        "batch_size": 7,
    }
    settings |= {"learning_rate": 0.001, "patience": 2, "seed": 5, "head": "soft-attention"}
    options = [str(part) for name, value in settings.items() for part in (f"--{name.replace('_', '-')}", value)]
    zerotag.succeeds("train", corpus, "--out", tmp_path / "model", "--encoder", encoder, "--device", "cpu", *options)
    document = json.loads((tmp_path / "model" / "zerotag.json").read_text())
    written = document["model"] | document["training"]
    assert {name: written[name] for name in settings} == settings


def test_a_preset_is_a_start_that_options_change(
    zerotag: CommandLine, tmp_path: Path, corpus: Path, encoder: Path
) -> None:
    options = ["--preset", "paper", "--encoder", encoder, "--epochs", 1]
    zerotag.succeeds("train", corpus, "--out", tmp_path / "auto", "--depth", "auto", *options)
    written = json.loads((tmp_path / "auto" / "zerotag.json").read_text())
    assert written["model"]["depth"] == 2
    assert written["training"]["learning_rate"] == 2e-5
    assert written["training"]["epochs"] == 1
    line = zerotag.fails("train", corpus, "--out", tmp_path / "paper", *options)
    assert line == f"depth 12 is not in 1..4 for encoder '{encoder}'; 4 is its last layer, auto is half of them"


def test_thresholds_that_nothing_is_known_of(zerotag: CommandLine, tmp_path: Path, encoder: Path) -> None:
    corpus = toy.write_tsv(tmp_path / "train.tsv", toy.gold(30))
    dev = toy.write_tsv(tmp_path / "dev.tsv", [one for one in toy.gold(30) if not any(one.labels)])
    command = ["train", corpus, "--encoder", encoder, "--epochs", 1, "--teacher-epochs", 1, "--dev", dev]
    outcome = zerotag(*command, "--out", tmp_path / "model")
    assert outcome.code == 0
    assert outcome.err.splitlines()[-1].startswith(
        "label 'hedge': its thresholds are 0.5, as the development sentences"
    )
    assert (
        "its thresholds are"
        not in zerotag(*command, "--preset", "paper", "--depth", 1, "--out", tmp_path / "paper").err
    )


def test_overwrite(zerotag: CommandLine, tmp_path: Path, corpus: Path, encoder: Path) -> None:
    out = tmp_path / "model"
    arguments = ["train", corpus, "--out", out, "--encoder", encoder, "--epochs", 1]
    zerotag.succeeds(*arguments)
    before = weights(out)
    assert zerotag.fails(*arguments, "--seed", 2) == f"{out} exists; choose another name or give --overwrite"
    assert weights(out) == before
    zerotag.succeeds(*arguments, "--seed", 2, "--overwrite")
    assert weights(out) != before
    line = zerotag.fails("train", corpus, "--out", tmp_path, "--overwrite")
    assert line == f"{tmp_path} exists and is not a zerotag model: choose another folder"


def test_a_finished_model_is_not_replaced_because_another_training_was_begun(
    zerotag: CommandLine, tmp_path: Path, corpus: Path, encoder: Path
) -> None:
    out = tmp_path / "model"
    arguments = ["train", corpus, "--out", out, "--encoder", encoder, "--epochs", 1]
    zerotag.succeeds(*arguments)
    before = weights(out)
    (tmp_path / "model.partial").mkdir()  # as a kill before the first checkpoint leaves it
    assert zerotag.fails(*arguments, "--seed", 2) == f"{out} exists; choose another name or give --overwrite"
    assert weights(out) == before


def test_one_training_at_a_time(zerotag: CommandLine, tmp_path: Path, corpus: Path, encoder: Path) -> None:
    unfinished = tmp_path / "model.partial"
    unfinished.mkdir()
    with only_us(unfinished):
        line = zerotag.fails("train", corpus, "--out", tmp_path / "model", "--encoder", encoder)
    assert line == f"{unfinished}: another run is writing it; wait for its end, or stop it"


def test_a_training_without_teacher(zerotag: CommandLine, tmp_path: Path, encoder: Path) -> None:
    """A plain classifier cannot have one, nor does the paper's preset."""
    corpus = toy.write_tsv(tmp_path / "train.tsv", toy.gold(30))
    for number, options in enumerate((["--head", "cls"], ["--preset", "paper", "--depth", "1"])):
        out = tmp_path / f"model {number}"
        outcome = zerotag("train", corpus, "--out", out, "--encoder", encoder, "--epochs", 1, *options)
        assert outcome.code == 0
        said, line = outcome.err.splitlines()
        assert said.startswith("30 sentences are few")
        assert line.startswith("epoch 1/1 · ")
        assert json.loads((out / "zerotag.json").read_text())["training"]["teacher_epochs"] == 0
        assert [rule["origin"] for rule in rules(out)] == ["fixed"]


# Progress


def progress(**changes: float) -> Progress:
    values = {"epoch": 2, "epochs": 6, "epochs_done": 1, "steps_done": 15, "steps": 60, "loss": 0.12345}
    return Progress(**(values | {"best_f1": 0.9, "seconds_left": 200.0} | changes))  # type: ignore[arg-type]


def test_how_progress_is_described() -> None:
    assert describe(progress()) == "epoch 2/6 · loss 0.1235 · dev F1 90.0 · 3:20 left"
    assert describe(progress(of_teacher=True)) == "epoch 2/6 · loss 0.1235 · teacher F1 90.0 · 3:20 left"
    stopped = progress(epochs_done=2, steps_done=60, stopped=True)
    assert describe(stopped) == "epoch 2/6 · loss 0.1235 · dev F1 90.0 · stopped, as it gets no better"
    last_step = progress(epoch=6, epochs_done=5, steps_done=60, seconds_left=0.0)
    assert describe(last_step) == "epoch 6/6 · loss 0.1235 · dev F1 90.0"


def test_a_line_is_written_for_epochs_that_end_and_for_a_training_that_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also where an epoch begins anew after a kill, or a teacher has stopped before its last epoch."""
    first_step = progress(epoch=1, epochs_done=0, steps_done=1)
    courses = {
        "": [first_step, progress(epoch=1, epochs_done=0, steps_done=2)],
        "epoch 1/6\nepoch 5/6\n": [
            first_step,
            progress(epoch=1, epochs_done=1, steps_done=10),
            progress(epoch=5, epochs_done=4, steps_done=41),
            progress(epoch=5, epochs_done=5, steps_done=50),
        ],
        "going on in epoch 2 of 6\n": [progress(), progress(steps_done=16)],
        "going on in epoch 2 of 6\nepoch 2/6\n": [
            progress(epochs_done=2, steps_done=20),
            progress(epoch=3, epochs_done=2),
        ],
    }
    for expected, steps in courses.items():
        with TrainingProgress(say) as shown:
            for step in steps:
                shown.show(step)
        lines = capsys.readouterr().err.splitlines(keepends=True)
        assert [re.sub(" · .*", "", line) for line in lines] == expected.splitlines(keepends=True)


def test_a_log_has_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = 100.0
    monkeypatch.setattr("zerotag.render.progress.monotonic", lambda: now)
    with TrainingProgress(say) as shown:
        for now in (100.0, 129.0, 131.0, 160.0, 161.0):
            shown.show(progress(epoch=1, epochs_done=0, steps_done=1, loss=now))
    assert re.findall(r"loss ([\d.]+)", capsys.readouterr().err) == ["131.0000", "161.0000"]


def test_durations() -> None:
    assert [duration(s) for s in (0.4, 59.4, 59.6, 200, 3599.9, 7500)] == [
        "0 s",
        "59 s",
        "1:00",
        "3:20",
        "1:00:00",
        "2:05:00",
    ]


def test_the_bilstm_starts_from_word_vectors(zerotag: CommandLine, tmp_path: Path) -> None:
    train = toy.write_tsv(tmp_path / "train.tsv", toy.gold(20))
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("Pump 1 2 3\nvalve 4 5 6\n", encoding="utf-8")
    command = ["train", train, "--out", tmp_path / "model", "--epochs", 1]
    command += ["--preset", "bilstm", "--encoder", f"bilstm:{vectors}"]
    zerotag.succeeds(*command)
    settings = json.loads((tmp_path / "model" / "zerotag.json").read_text())["model"]
    assert (settings["encoder"], settings["tokenization"]) == (f"bilstm:{vectors}", "words")
    assert json.loads((tmp_path / "model" / "config.json").read_text())["encoder"]["word_size"] == 3

    vectors.write_text("Pump 1 2 3\nvalve 4 5\n", encoding="utf-8")
    message = zerotag.fails(*command, "--overwrite")
    assert message.startswith(f"{vectors}:2: 2 numbers after the word, expected 3")
    vectors.unlink()
    assert zerotag.fails(*command, "--overwrite") == f"vectors {vectors} cannot be read: No such file or directory"


def test_labels_of_which_none_means_no_label_are_told(zerotag: CommandLine, tmp_path: Path, encoder: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("text,label\n" + "".join(f"It may rain {i},hedged\nIt rains {i},certain\n" for i in range(20)))
    arguments = ("train", path, "--encoder", encoder, "--depth", 1, "--epochs", 1)
    told = zerotag(*arguments, "--out", tmp_path / "both").err
    assert "every sentence has one of the labels certain, hedged" in told
    told = zerotag(*arguments, "--out", tmp_path / "one", "--negative", "certain").err
    assert "every sentence has" not in told
    assert load(tmp_path / "both").label_names == ("certain", "hedged")
    assert load(tmp_path / "one").label_names == ("hedged",)


def test_broken_rows_are_counted_and_examples_shown(zerotag: CommandLine, tmp_path: Path, encoder: Path) -> None:
    rows = [f"{one.sentence.text},{int(one.labels[0])}\n" for one in toy.gold(120)]
    csv = tmp_path / "train.csv"
    csv.write_text("comment,label\n,1\nno label,\n" + "".join(rows) + rows[0])
    out = tmp_path / "my model"
    outcome = zerotag(
        "train", csv, "--text-column", "comment", "--label-name", "hedge", "--encoder", encoder, "--out", out,
        "--depth", 1, "--epochs", 5, "--batch-size", 8, "--learning-rate", 5e-3, "--dev", csv,
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    first = outcome.err.splitlines()[:4]
    assert first[0] == f"{csv}: 2 of 123 rows are left out; --strict stops there instead"
    assert first[1] == f"  {csv}:2: an empty sentence: '' has no words; remove the row"
    assert first[2] == f"  {csv}:3: no label; give one, or 0 if there is none"
    assert first[3].startswith(f"{csv}: 1 sentences occur more than once, such as ")
    assert f"{csv}: 121 of 121 sentences are in {csv}, too, and say little of others" in outcome.err
    model, words, one, other, following = outcome.out.splitlines()
    assert model.startswith(f"{out}: labels hedge;")
    assert re.fullmatch(r"hedge: words marked in \d+ training sentences: .*\bmay \d+.*", words)
    for example in (one, other):
        assert re.search(r"\[(may|perhaps|possibly)", example)
    assert following == f"next: zerotag label '{out}' FILE --out labelled.csv"
