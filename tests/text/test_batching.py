from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerotag.text.batching import by_token_budget, shuffled, within_budget

costs_of_sentences = st.lists(
    st.integers(1, 40).map(lambda length: (1, length)) | st.integers(2, 9).map(lambda windows: (windows, 40)),
    max_size=60,
)


@given(costs_of_sentences, st.integers(1, 400))
def test_every_sentence_is_in_one_group_within_the_budget(costs: list[tuple[int, int]], budget: int) -> None:
    groups = by_token_budget(costs, budget)
    assert sorted(chain.from_iterable(groups)) == list(range(len(costs)))
    for group in groups:
        padded = sum(costs[i][0] for i in group) * max(costs[i][1] for i in group)
        assert padded <= budget or len(group) == 1


@given(costs_of_sentences, st.integers(1, 400))
def test_stitched_sentences_stay_within_the_budget_too(costs: list[tuple[int, int]], budget: int) -> None:
    for group in by_token_budget(costs, budget):
        longest_sentence = max(windows * length for windows, length in (costs[i] for i in group))
        assert len(group) * longest_sentence <= budget or len(group) == 1


@given(costs_of_sentences.filter(len), st.integers(1, 4_000))
def test_a_batch_is_cut_only_if_it_must_be(costs: list[tuple[int, int]], budget: int) -> None:
    padded = len(costs) * max(windows * length for windows, length in costs)
    all_of_them = [list(range(len(costs)))]
    assert within_budget(costs, budget) == (all_of_them if padded <= budget else by_token_budget(costs, budget))


def test_groups_hold_as_much_as_fits_longest_first() -> None:
    costs = [(1, 5), (1, 10), (3, 10), (1, 5), (1, 9), (1, 50)]
    assert by_token_budget(costs, 20) == [[2], [5], [1, 4], [0, 3]]
    assert by_token_budget([(1, 10)] * 5, 40) == [[0, 1, 2, 3], [4]]
    assert by_token_budget([], 20) == []


def test_a_group_of_some_size_takes_no_sentence_that_is_much_shorter() -> None:
    assert by_token_budget([(1, 10), (1, 9), (1, 8)], 80) == [[0, 1], [2]]
    assert by_token_budget([(1, 10), (1, 8), (1, 7)], 80) == [[0, 1], [2]], "the first is less than a quarter full"
    lengths = [length for length in range(1, 101) for _ in range(100)]
    groups = by_token_budget([(1, length) for length in lengths], 32_768)
    padded = sum(len(group) * lengths[group[0]] for group in groups)
    assert padded < 1.07 * sum(lengths)
    assert len(groups) < 40


@given(st.lists(st.integers(1, 50), min_size=1, max_size=200), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_an_epoch_is_a_permutation_in_full_batches(lengths: list[int], batch_size: int, seed: int) -> None:
    batches = shuffled(lengths, batch_size, seed=seed, epoch=0)
    assert sorted(chain.from_iterable(batches)) == list(range(len(lengths)))
    assert len(batches) == -(-len(lengths) // batch_size)  # so that the number of steps is known beforehand
    assert max(map(len, batches)) <= batch_size
    assert batches == shuffled(lengths, batch_size, seed=seed, epoch=0)


def test_epochs_and_seeds_differ() -> None:
    lengths = [i % 13 for i in range(100)]
    drawn = {
        (seed, epoch): str(shuffled(lengths, 4, seed=seed, epoch=epoch)) for seed in range(3) for epoch in range(3)
    }
    assert len(set(drawn.values())) == 9


def test_batches_pad_little_and_come_in_no_order_of_length() -> None:
    lengths = list(range(1, 257))
    batches = shuffled(lengths, 8, seed=1, epoch=0)
    padded = sum(len(batch) * max(lengths[i] for i in batch) for batch in batches)
    assert padded == pytest.approx(sum(lengths), rel=0.05)
    longest = [max(lengths[i] for i in batch) for batch in batches]
    assert longest not in (sorted(longest), sorted(longest, reverse=True))


def test_batches_may_be_drawn_at_random() -> None:
    """A random partition: the lengths of a batch are as far apart as those of all sentences."""
    lengths = list(range(640))
    by_length, at_random = (shuffled(lengths, 16, seed=1, epoch=0, by_length=by_length) for by_length in (True, False))
    assert sorted(i for batch in at_random for i in batch) == lengths
    assert {len(batch) for batch in at_random} == {16}

    def spread(batches: list[list[int]]) -> float:
        return float(np.mean([np.std(batch) for batch in batches]))

    assert spread(at_random) == pytest.approx(np.std(lengths), rel=0.1)
    assert spread(by_length) < 0.1 * spread(at_random)
