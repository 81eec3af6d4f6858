from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerotag.errors import ZerotagError
from zerotag.training.split import split
from zerotag.types import Corpus, Example, Sentence


def _corpus(labels: Sequence[tuple[bool, ...]]) -> Corpus[Example]:
    examples = tuple(Example(Sentence.from_words([f"w{i}"]), its) for i, its in enumerate(labels))
    return Corpus(("a", "b"), examples, negative="c")


def _counts(corpus: Corpus[Example]) -> Counter[tuple[bool, ...]]:
    return Counter(example.labels for example in corpus.examples)


many_labels = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=5, max_size=80)  # so that some occur twice


@given(many_labels, st.floats(0.01, 0.99), st.integers(0, 2**32 - 1))
def test_the_parts_are_disjoint_cover_all_and_keep_their_order(
    labels: list[tuple[bool, ...]], share: float, seed: int
) -> None:
    corpus = _corpus(labels)
    train, dev = split(corpus, share, seed)
    texts = [[example.sentence.text for example in part.examples] for part in (train, dev)]
    assert not set(texts[0]) & set(texts[1])
    assert set(texts[0]) | set(texts[1]) == {example.sentence.text for example in corpus.examples}
    for part in texts:
        assert part == sorted(part, key=lambda text: int(text[1:]))
    assert (dev.label_names, dev.negative) == (train.label_names, train.negative) == (("a", "b"), "c")


@given(many_labels, st.floats(0.01, 0.99), st.integers(0, 2**32 - 1))
def test_each_combination_of_labels_is_shared_out(labels: list[tuple[bool, ...]], share: float, seed: int) -> None:
    train, dev = (_counts(part) for part in split(_corpus(labels), share, seed))
    for combination, count in Counter(labels).items():
        if count == 1:
            assert (train[combination], dev[combination]) == (1, 0), "what is rare is trained on"
        else:
            assert train[combination] >= 1
            assert 1 <= dev[combination] <= max(1, share * count + 0.5)
            assert dev[combination] >= min(count - 1, share * count - 0.5)


def test_a_tenth() -> None:
    labels = [(i % 4 == 0, False) for i in range(200)]
    train, dev = split(_corpus(labels), 0.1, 7)
    assert _counts(dev) == {(True, False): 5, (False, False): 15}
    assert _counts(train) == {(True, False): 45, (False, False): 135}


def test_the_seed_decides() -> None:
    corpus = _corpus([(i % 2 == 0, False) for i in range(100)])
    assert split(corpus, 0.1, 3) == split(corpus, 0.1, 3)
    assert split(corpus, 0.1, 3) != split(corpus, 0.1, 4)


def test_the_same_text_is_never_on_both_sides() -> None:
    """Not with other labels either; a text that is there often is held out as a whole."""
    once = _corpus([(i % 2 == 0, False) for i in range(40)])
    contradicting = tuple(replace(one, labels=(not one.labels[0], False)) for one in once.examples[:10])
    corpus = replace(once, examples=(*once.examples, *once.examples, *contradicting))
    for seed in range(20):
        train, dev = split(corpus, 0.3, seed)
        texts = [{one.sentence.text for one in part.examples} for part in (train, dev)]
        assert not texts[0] & texts[1]
        assert len(texts[1]) == 12
        assert len(train) + len(dev) == 90


def test_no_two_alike_leave_nothing_to_hold_out() -> None:
    with pytest.raises(
        ZerotagError, match=r"^no two different training sentences have the same labels: give a development set"
    ):
        split(_corpus([(True, False), (False, True), (True, True)]), 0.1, 1)
