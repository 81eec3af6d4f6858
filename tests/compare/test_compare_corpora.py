import os
from pathlib import Path

import pytest

from hand_made import experiment
from zerotag.compare.corpora import read_splits, sample
from zerotag.compare.experiment import read_experiment
from zerotag.types import Example, GoldExample


def test_own_corpus(small: Path) -> None:
    splits = read_splits(read_experiment(small), "smoke-corpus", None)
    assert (len(splits.train), len(splits.dev), len(splits.test)) == (48, 24, 24)
    assert splits.train.label_names == splits.dev.label_names == splits.test.label_names == ("C",)
    check_types(splits.train.examples, splits.dev.examples)
    assert type(splits.test.examples[0]) is GoldExample
    assert [example.labels for example in splits.dev.examples] == [(False,), (True,)] * 12
    for one, gold in zip(splits.dev.examples, splits.dev_with_word_labels.examples, strict=True):
        assert (one.sentence, one.labels) == (gold.sentence, gold.labels)


def check_types(*parts: tuple[Example, ...]) -> None:
    for examples in parts:
        assert {type(example) for example in examples} == {Example}


@pytest.mark.skipif("ZEROTAG_DATA" not in os.environ, reason="ZEROTAG_DATA names no folder with the paper's corpora")
@pytest.mark.parametrize(("name", "sizes"), [("fce", (28731, 2222, 2720)), ("conll2010", (13087, 1454, 5001))])
def test_released_corpora(tmp_path: Path, name: str, sizes: tuple[int, int, int]) -> None:
    splits = read_splits(experiment(tmp_path), name, Path(os.environ["ZEROTAG_DATA"]))
    assert (len(splits.train), len(splits.dev), len(splits.test)) == sizes
    check_types(splits.train.examples, splits.dev.examples)
    for example in splits.test.examples:
        assert example.word_labels is not None
        assert example.labels == (any(positive for (positive,) in example.word_labels),)


def test_sample() -> None:
    assert sample(5, None) == sample(5, 5) == sample(5, 9) == [0, 1, 2, 3, 4]
    chosen = sample(1000, 100)
    assert chosen == sorted(set(chosen)) == sample(1000, 100)
    assert len(chosen) == 100
    assert 300 < sum(chosen) / 100 < 700  # from all over
