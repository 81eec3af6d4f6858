import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toy
from hand_made import experiment
from zerotag.errors import ZerotagError
from zerotag.research.compare.corpora import drawn, read_splits, sample
from zerotag.research.compare.experiment_file import read_experiment
from zerotag.types import Corpus, Example, GoldExample, Sentence


def test_own_corpus(small: Path) -> None:
    splits = read_splits(read_experiment(small), "smoke-corpus", None)
    assert (len(splits.train), len(splits.dev), len(splits.test)) == (48, 24, 24)
    assert splits.train.label_names == splits.dev.label_names == splits.test.label_names == ("C",)
    check_types(splits.train.examples, splits.dev.examples)
    assert type(splits.test.examples[0]) is GoldExample
    assert [example.labels for example in splits.dev.examples] == [(False,), (True,)] * 12
    for part, with_words in (
        (splits.train, splits.train_with_word_labels),
        (splits.dev, splits.dev_with_word_labels),
    ):
        for one, gold in zip(part.examples, with_words.examples, strict=True):
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


def numbered(*labels: tuple[bool, ...]) -> Corpus[Example]:
    """Sentences that are their own numbers."""
    return Corpus(("a",), tuple(Example(Sentence.from_words([str(i)]), given) for i, given in enumerate(labels)))


def numbers(corpus: Corpus[Example]) -> list[int]:
    return [int(example.sentence.text) for example in corpus.examples]


def test_a_draw_has_each_label_by_its_share() -> None:
    corpus = numbered(*[(i % 5 == 0,) for i in range(100)])  # one in five
    few, more = drawn(corpus, 10, seed=1), drawn(corpus, 40, seed=1)
    assert [sum(example.labels[0] for example in part.examples) for part in (few, more)] == [2, 8]
    assert numbers(few) == sorted(set(numbers(few)))
    assert (len(few), len(more)) == (10, 40)
    assert set(numbers(few)) < set(numbers(more))
    assert numbers(drawn(corpus, 10, seed=1)) == numbers(few) != numbers(drawn(corpus, 10, seed=2))
    assert drawn(corpus, None, seed=1) is corpus
    assert drawn(corpus, 100, seed=1) == corpus


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60), st.integers(0, 3), st.data())
def test_draws_are_nested_and_stratified(labels: list[tuple[bool, bool]], seed: int, data: st.DataObject) -> None:
    corpus = numbered(*labels)
    more = data.draw(st.integers(1, len(labels)))
    fewer = data.draw(st.integers(1, more))
    large, small = (numbers(drawn(corpus, count, seed)) for count in (more, fewer))
    assert (len(large), len(small)) == (more, fewer)
    assert set(small) <= set(large)
    for kind in set(labels):
        assert abs(sum(labels[i] == kind for i in large) - more * labels.count(kind) / len(labels)) <= 2.5


def test_a_draw_takes_the_same_sentences_with_and_without_word_labels() -> None:
    gold = Corpus(("hedge",), toy.gold(30))
    without = drawn(toy.corpus(30), 12, seed=3)
    assert [one.sentence for one in drawn(gold, 12, seed=3).examples] == [one.sentence for one in without.examples]


def test_more_sentences_than_there_are() -> None:
    with pytest.raises(ZerotagError, match="sentences 1,001 is out of range; the training set has 2"):
        drawn(numbered((True,), (False,)), 1001, seed=1)
