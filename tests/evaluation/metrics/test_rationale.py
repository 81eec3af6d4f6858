import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from zerotag.evaluation.metrics import auprc, iou_f1, token_f1
from zerotag.types import BoolArray

Masks = list[list[tuple[bool, bool]]]
masks = st.lists(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=12), min_size=1, max_size=6)


def mask(bits: str) -> BoolArray:
    return np.array([bit == "1" for bit in bits], dtype=np.bool_)


def split(given_masks: Masks) -> tuple[list[BoolArray], list[BoolArray]]:
    golds = [np.array([gold for gold, _ in words], dtype=np.bool_) for words in given_masks]
    return golds, [np.array([predicted for _, predicted in words], dtype=np.bool_) for words in given_masks]


def runs(bits: BoolArray) -> list[set[int]]:
    spans: list[set[int]] = []
    for i, bit in enumerate(bits):
        if bit and i and bits[i - 1]:
            spans[-1].add(i)
        elif bit:
            spans.append({i})
    return spans


def iou_f1_span_by_span(golds: list[BoolArray], predicted: list[BoolArray]) -> float:
    precisions, recalls = [], []
    for gold, guess in zip(golds, predicted, strict=True):
        gold_spans, guess_spans = runs(gold), runs(guess)
        right = sum(any(len(p & g) / len(p | g) >= 0.5 for g in gold_spans) for p in guess_spans)
        if guess_spans:
            precisions.append(right / len(guess_spans))
        if gold_spans:
            recalls.append(right / len(gold_spans))
    precision = float(np.mean(precisions)) if precisions else 0.0
    recall = float(np.mean(recalls)) if recalls else 0.0
    return 2 * precision * recall / (precision + recall) if precision and recall else 0.0


def test_token_f1_by_hand() -> None:
    golds = [mask("1100"), mask("0000"), mask("00"), mask("10")]
    predicted = [mask("1010"), mask("0100"), mask("00"), mask("10")]
    # 1/2, then 0 for a sentence with false alarms only, the third is left out, then 1
    assert token_f1(golds, predicted) == pytest.approx((1 / 2 + 0 + 1) / 3)


def test_token_f1_of_nothing() -> None:
    assert token_f1([mask("00")], [mask("00")]) == 0


@given(st.lists(st.tuples(*[st.booleans()] * 6), min_size=1, max_size=8))
def test_token_f1_is_the_mean_over_samples_of_scikit_learn(rows: list[tuple[bool, ...]]) -> None:
    table = np.array(rows)
    golds, predicted = table[:, :3], table[:, 3:]
    some = (golds | predicted).any(axis=1)
    expected = f1_score(golds[some], predicted[some], average="samples", zero_division=0) if some.any() else 0
    assert token_f1(list(golds), list(predicted)) == pytest.approx(expected)


def test_iou_f1_by_hand() -> None:
    golds = [mask("11110011"), mask("0011"), mask("0000")]
    predicted = [mask("01110001"), mask("1000"), mask("0110")]
    # sentence 1: IOU 3/4 and exactly 1/2, both right; 2: a miss; 3: a false alarm, no gold span
    precision, recall = (1 + 0 + 0) / 3, (1 + 0) / 2
    assert iou_f1(golds, predicted) == pytest.approx(2 * precision * recall / (precision + recall))


def test_iou_below_one_half_is_no_match() -> None:
    assert iou_f1([mask("11111")], [mask("11000")]) == 0
    assert iou_f1([mask("11111")], [mask("11100")]) == 1


def test_spans_do_not_cross_sentences() -> None:
    # were the two sentences one, each side would be a single span of four words
    golds, predicted = [mask("011"), mask("110")], [mask("011"), mask("000")]
    assert iou_f1(golds, predicted) == pytest.approx(2 * 1 * 0.5 / 1.5)


def test_iou_f1_of_nothing() -> None:
    assert iou_f1([mask("00"), mask("")], [mask("00"), mask("")]) == 0
    assert iou_f1([mask("")], [mask("")]) == 0


@given(masks)
def test_iou_f1_is_that_of_span_by_span(given_masks: Masks) -> None:
    golds, predicted = split(given_masks)
    assert iou_f1(golds, predicted) == pytest.approx(iou_f1_span_by_span(golds, predicted))


@given(masks)
def test_the_order_of_sentences_does_not_matter(given_masks: Masks) -> None:
    for measure in (token_f1, iou_f1):
        forwards, backwards = measure(*split(given_masks)), measure(*split(given_masks[::-1]))
        assert forwards == pytest.approx(backwards)


@given(masks)
def test_agreement_with_oneself_is_perfect(given_masks: Masks) -> None:
    golds, _ = split(given_masks)
    perfect = 1 if any(gold.any() for gold in golds) else 0
    assert token_f1(golds, golds) == pytest.approx(perfect)
    assert iou_f1(golds, golds) == pytest.approx(perfect)


def test_auprc_by_hand() -> None:
    # points (recall, precision) (0, 1), (1/2, 1), (1/2, 1/2), (1, 2/3): 1/2 + 1/2 * (1/2 + 2/3) / 2
    golds, scores = [mask("1010"), mask("00")], [np.array([0.9, 0.8, 0.7, 0.1]), np.array([0.5, 0.1])]
    assert auprc(golds, scores) == pytest.approx(1 / 2 + 7 / 24)


def test_auprc_is_none_without_a_positive_word() -> None:
    assert auprc([mask("00")], [np.array([0.5, 0.1])]) is None
