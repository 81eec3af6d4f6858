import json
from collections.abc import Iterator
from dataclasses import asdict

import numpy as np
import pytest

from zerotag.evaluation.metrics import average_precisions, word_counts
from zerotag.evaluation.report import Counts, evaluate, judge
from zerotag.types import GoldExample, Rule, Scored, Sentence

Pair = tuple[GoldExample, Scored]


def pair(
    labels: tuple[bool, ...],
    sentence_scores: tuple[float, ...],
    word_labels: list[list[int]] | None,
    word_scores: list[list[float]],
) -> Pair:
    sentence = Sentence.from_words(f"w{i}" for i in range(len(word_scores)))
    gold = None if word_labels is None else tuple(tuple(map(bool, word)) for word in word_labels)
    scores = np.array(word_scores, dtype=np.float32).reshape(len(word_scores), len(labels))
    return GoldExample(sentence, labels, gold), Scored(sentence, sentence_scores, scores)


def one_label() -> list[Pair]:
    return [
        pair((True,), (0.9,), [[1], [0], [1], [0]], [[0.9], [0.8], [0.4], [-0.2]]),
        pair((True,), (0.3,), [[0], [1]], [[-0.3], [-0.1]]),
        pair((False,), (0.7,), [[0], [0], [0]], [[0.6], [0.1], [0.2]]),
    ]


def test_by_hand() -> None:
    report = evaluate(one_label(), ["error"], [Rule()])
    (label,) = report.labels
    assert label.label == "error"
    assert label.counts == Counts(sentences=3, positive_sentences=2, words=9, positive_words=3)
    expected = {
        # sentences: one right, one too many, one missed
        "sentence_precision": 1 / 2,
        "sentence_recall": 1 / 2,
        "sentence_f1": 1 / 2,
        # words: 0.9 right; 0.8 and, in the negative sentence, 0.6 too many; two missed
        "word_precision": 1 / 3,
        "word_recall": 1 / 3,
        "word_f1": 1 / 3,
        "word_f05": 1 / 3,
        # the threshold -0.1 takes all three positive words, and four others
        "highest_word_f1": 2 * 3 / (7 + 3),
        # sentence 1: (1 + 2/3) / 2; sentence 2: 1, or 1/2 once its scores are clipped to a tie
        "map": (5 / 6 + 1) / 2,
        "map_clipped": (5 / 6 + 1 / 2) / 2,
        "map_positional": (5 / 6 + 1) / 2,
        # sentence F1: 1/2, 0, 0
        "token_f1": 1 / 6,
        # sentence 1: one predicted span of two, IOU 1/2, right; precision (1, 0), recall (1/2, 0)
        "iou_f1": 2 * (1 / 2) * (1 / 4) / (3 / 4),
        "auprc": ((1 / 2 + 7 / 24) + 1) / 2,
    }
    assert asdict(label.measures) == pytest.approx(expected)
    assert asdict(report.macro) == pytest.approx(expected)


def test_pairs_are_read_once_as_they_come() -> None:
    def stream() -> Iterator[Pair]:
        yield from one_label()

    assert evaluate(stream(), ["error"], [Rule()]) == evaluate(one_label(), ["error"], [Rule()])


def test_the_rule_decides() -> None:
    rule = Rule(word_threshold=0.9, sentence_threshold=0.8, origin="sentence labels")
    (label,) = evaluate(one_label(), ["error"], [rule]).labels
    assert label.rule == rule
    assert (label.measures.word_precision, label.measures.word_recall) == (1.0, 1 / 3)
    assert (label.measures.sentence_precision, label.measures.sentence_recall) == (1.0, 1 / 2)


def test_without_word_labels_only_sentences_are_measured() -> None:
    pairs = [pair((True,), (0.9,), None, [[0.9], [0.1]]), pair((False,), (0.1,), None, [[0.2]])]
    report = evaluate(pairs, ["error"], [Rule()])
    assert report.labels[0].counts == Counts(2, 1, 0, 0)
    measures = asdict(report.macro)
    assert measures["sentence_f1"] == 1
    assert {name for name, value in measures.items() if value is None} == {
        name for name in measures if not name.startswith("sentence")
    }


def test_without_a_positive_word_there_is_no_ranking_to_measure() -> None:
    measures = evaluate([pair((False,), (0.1,), [[0]], [[0.2]])], ["error"], [Rule()]).labels[0].measures
    assert (measures.map, measures.map_clipped, measures.map_positional, measures.auprc) == (None,) * 4
    assert measures.highest_word_f1 is None
    assert (measures.word_f1, measures.token_f1, measures.iou_f1) == (0.0, 0.0, 0.0)


def test_sentences_with_and_without_word_labels_together() -> None:
    pairs = [*one_label(), pair((True,), (0.9,), None, [[0.9]])]
    alone, together = (evaluate(some, ["error"], [Rule()]).labels[0] for some in (one_label(), pairs))
    assert together.counts == Counts(4, 3, 9, 3)
    assert together.measures.word_f1 == alone.measures.word_f1
    assert together.measures.sentence_recall == pytest.approx(2 / 3)


def three_labels() -> list[Pair]:
    return [
        pair((True, False, True), (0.9, 0.2, 0.6), [[1, 0, 0], [0, 0, 1]], [[0.8, 0.1, 0.7], [0.2, 0.3, 0.6]]),
        pair((False, True, False), (0.6, 0.7, 0.1), [[0, 1, 0]], [[0.1, 0.9, 0.2]]),
        pair((False, False, False), (0.1, 0.1, 0.1), [], []),
    ]


def test_each_label_is_measured_by_itself() -> None:
    names = ["a", "b", "c"]
    together = evaluate(three_labels(), names, [Rule()] * 3)
    for k, name in enumerate(names):
        column = [
            pair(
                (gold.labels[k],),
                (scored.sentence_scores[k],),
                [[word[k]] for word in gold.word_labels or ()],
                [[row[k]] for row in scored.word_scores.tolist()],
            )
            for gold, scored in three_labels()
        ]
        assert evaluate(column, [name], [Rule()]).labels[0] == together.labels[k]


def test_macro_is_the_mean_over_labels() -> None:
    report = evaluate(three_labels(), ["a", "b", "c"], [Rule()] * 3)
    assert [label.measures.sentence_precision for label in report.labels] == [1 / 2, 1, 1]
    assert report.macro.sentence_precision == pytest.approx(5 / 6)
    assert [label.measures.map for label in report.labels] == [1, 1, 1 / 2]
    assert report.macro.map == pytest.approx(5 / 6)


def test_macro_leaves_out_what_is_unknown() -> None:
    pairs = [pair((True, False), (0.9, 0.1), [[1, 0], [0, 0]], [[0.1, 0.1], [0.2, 0.1]])]
    report = evaluate(pairs, ["a", "b"], [Rule()] * 2)
    assert [label.measures.map for label in report.labels] == [1 / 2, None]
    assert report.macro.map == 1 / 2


def test_json() -> None:
    rule = Rule(0.25, 0.5, "fixed")
    as_json = evaluate(one_label(), ["error"], [rule]).to_json()
    assert json.loads(json.dumps(as_json, allow_nan=False)) == as_json
    assert list(as_json) == ["macro", "labels"]
    label = as_json["labels"]["error"]  # type: ignore[index]
    assert list(label) == ["measures", "counts", "rule", "best_word_threshold"]
    assert label["counts"] == {"sentences": 3, "positive_sentences": 2, "words": 9, "positive_words": 3}
    assert label["rule"]["word_threshold"] == 0.25
    assert label["rule"]["origin"] == "fixed"
    assert " ".join(label["measures"]) == (
        "sentence_precision sentence_recall sentence_f1 word_precision word_recall word_f1 word_f05 "
        "map map_clipped map_positional token_f1 iou_f1 auprc highest_word_f1"
    )


def test_nothing_to_measure() -> None:
    report = evaluate([], ["error"], [Rule()])
    assert report.labels[0].counts == Counts(0, 0, 0, 0)
    assert (report.macro.sentence_f1, report.macro.word_f1) == (0.0, None)


def test_judged_words_feed_the_significance_tests() -> None:
    (judged,) = judge(one_label(), ["error"], [Rule()])
    assert word_counts(judged.gold_words, judged.predicted_words).tolist() == [[1, 1, 1], [0, 0, 1], [0, 1, 0]]
    assert average_precisions(judged.gold_words, judged.word_scores) == pytest.approx([5 / 6, 1, np.nan], nan_ok=True)


def test_pairs_out_of_step() -> None:
    (gold, _), (_, scored), _ = one_label()
    with pytest.raises(ValueError, match="out of step"):
        evaluate([(gold, scored)], ["error"], [Rule()])


def test_scores_of_the_wrong_shape() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 3\), not \(2, 2\)"):
        evaluate(three_labels(), ["a", "b"], [Rule()] * 2)
