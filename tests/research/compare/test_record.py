import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hand_made import experiment, record, run_of
from zerotag.errors import ZerotagError
from zerotag.research.compare.record import SentenceRecord, read_record, write_record


def test_there_and_back(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    made = record(hand, run_of(hand, "fce", "LIME", 1), sentence_f1=0.5, word_f1=0.25, average_precision=1 / 3)
    write_record(tmp_path / "run.json", made)
    assert read_record(tmp_path / "run.json") == made
    assert [line.partition(":")[0] for line in (tmp_path / "run.json").read_text().splitlines()[1:4]] == [
        '"format"',
        '"corpus"',
        '"method"',
    ]


def test_measures_by_name(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    measures = record(hand, run_of(hand, "fce", "LIME", 1), sentence_f1=0.5, word_f1=0.25).measures()
    assert measures == {
        "sentence_f1": 0.5,
        "word_f1": 0.25,
        "word_threshold": 0.5,
        "seconds_per_1000": 1.5,
        "passes_per_1000": 1000.0,
        "dev_sentence_precision": 0.8,
        "dev_sentence_recall": 0.8,
        "dev_sentence_f1": 0.8,
        "training_seconds": 90.0,
        "best_epoch": 2.0,
        "epochs": 2.0,
    }


def test_a_method_without_word_scores_has_no_word_threshold(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    assert "word_threshold" not in record(hand, run_of(hand, "fce", "RoBERTa", 1), sentence_f1=0.5).measures()


def test_the_largest_corpus_makes_a_small_file(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    draws = np.random.default_rng(0)
    right, too_many, missed = draws.integers(0, 30, (3, 5001)).tolist()
    sentences = {"error": SentenceRecord(right, too_many, missed, draws.random(2856).round(4).tolist())}
    made = record(hand, run_of(hand, "fce", "LIME", 1), word_f1=0.5)
    write_record(tmp_path / "run.json", replace(made, sentences=sentences))
    assert (tmp_path / "run.json").stat().st_size < 100_000


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 1}', '{"format": 2}', '{"format": 1, "training": 3}'])
def test_damaged_files(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ZerotagError, match=r"run.json: not the file of a run .*; delete it to have the run repeated"):
        read_record(tmp_path / "run.json")


def test_measures_of_each_of_several_labels(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    made = record(hand, run_of(hand, "own", "Soft attention", 1), word_f1=0.5)
    one = made.test["labels"]["error"]
    labels = {
        name: {**one, "measures": {**one["measures"], "word_f1": f1}} for name, f1 in (("neg", 0.4), ("pos", 0.6))
    }
    measures = replace(made, test={**made.test, "labels": labels}).measures()
    assert (measures["word_f1"], measures["neg: word_f1"], measures["pos: word_f1"]) == (0.5, 0.4, 0.6)
    assert "word_threshold" not in measures
    assert measures["neg: word_threshold"] == 0.5


def test_word_measures_on_dev_as_earlier_records_have_them(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    made = record(hand, run_of(hand, "fce", "LIME", 1), word_f1=0.5)
    write_record(tmp_path / "run.json", made)
    values = json.loads((tmp_path / "run.json").read_text())
    for name in ("dev", "verdicts", "scores"):
        del values[name]
    (tmp_path / "run.json").write_text(json.dumps(values | {"dev_words": {"word_f1": 0.3, "map": None}}))
    found = read_record(tmp_path / "run.json")
    assert found == replace(made, dev={"macro": {"word_f1": 0.3, "map": None}})
    assert found.measures()["dev_word_f1"] == 0.3
