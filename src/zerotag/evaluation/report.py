"""What a method says of sentences, beside what is true of them: every measure of every label, in one Report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace

import numpy as np

from zerotag.decisions import decide_sentence, decide_words
from zerotag.evaluation import metrics
from zerotag.types import BoolArray, FloatArray, GoldExample, Rule, Scored


@dataclass(slots=True, eq=False)
class Judged:
    """Gold, scores and decisions for one label: what every measure and significance test is computed from.

    The word lists hold one array for each sentence whose word labels are known.
    """

    label: str
    rule: Rule
    gold_sentences: list[bool] = field(default_factory=list)
    predicted_sentences: list[bool] = field(default_factory=list)
    gold_words: list[BoolArray] = field(default_factory=list)
    predicted_words: list[BoolArray] = field(default_factory=list)
    word_scores: list[FloatArray] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Counts:
    """What was measured on. Words are those whose label is known."""

    sentences: int
    positive_sentences: int
    words: int
    positive_words: int


@dataclass(frozen=True, slots=True)
class Measures:
    """Fractions in 0..1. Word measures are None without word labels, ranking measures also without a positive word."""

    sentence_precision: float | None
    sentence_recall: float | None
    sentence_f1: float | None
    word_precision: float | None = None
    word_recall: float | None = None
    word_f1: float | None = None
    word_f05: float | None = None
    map: float | None = None
    map_clipped: float | None = None
    map_positional: float | None = None
    token_f1: float | None = None
    iou_f1: float | None = None
    auprc: float | None = None
    highest_word_f1: float | None = None


@dataclass(frozen=True, slots=True)
class LabelReport:
    """One label: its measures, what they were measured on and the rule that decided."""

    label: str
    measures: Measures
    counts: Counts
    rule: Rule
    best_word_threshold: float | None = None
    """What would have given `highest_word_f1`; it is chosen by these very word labels. None without a positive word."""


@dataclass(frozen=True, slots=True)
class Classes:
    """How often sentences of each class (rows) are said to be of each (columns), where classes exclude one another.

    The last class, with the name None, is that of sentences without a label, if there are any.
    """

    names: tuple[str | None, ...]
    confusion: tuple[tuple[int, ...], ...]

    @property
    def accuracy(self) -> float:
        """The share of sentences whose class is found."""
        return sum(row[k] for k, row in enumerate(self.confusion)) / sum(map(sum, self.confusion))


@dataclass(frozen=True, slots=True)
class Report:
    """All labels, and the plain average of their measures; a None is left out of its average."""

    labels: tuple[LabelReport, ...]
    macro: Measures
    classes: Classes | None = None
    """Where labels exclude one another, and no sentence has several."""

    def without_sentence_measures(self) -> Report:
        """For a method that says nothing of sentences."""
        nothing = dict.fromkeys(("sentence_precision", "sentence_recall", "sentence_f1"))
        return Report(
            tuple(replace(one, measures=replace(one.measures, **nothing)) for one in self.labels),
            replace(self.macro, **nothing),
        )

    @property
    def accuracy(self) -> float | None:
        """The share of sentences whose class is found, where classes exclude one another."""
        return None if self.classes is None else self.classes.accuracy

    def to_json(self) -> dict[str, object]:
        """Plain types: `macro` and, under `labels` by name, `measures`, `counts` and `rule`."""
        return {
            "macro": asdict(self.macro),
            "labels": {
                one.label: {
                    "measures": asdict(one.measures),
                    "counts": asdict(one.counts),
                    "rule": asdict(one.rule),
                    "best_word_threshold": one.best_word_threshold,
                }
                for one in self.labels
            },
            **({} if self.classes is None else {"classes": asdict(self.classes) | {"accuracy": self.accuracy}}),
        }


def evaluate(pairs: Iterable[tuple[GoldExample, Scored]], label_names: Sequence[str], rules: Sequence[Rule]) -> Report:
    """Measure scored sentences against gold ones, with one rule per label."""
    return report(judge(pairs, label_names, rules))


def judge(
    pairs: Iterable[tuple[GoldExample, Scored]], label_names: Sequence[str], rules: Sequence[Rule]
) -> tuple[Judged, ...]:
    """Decide on every sentence and word and put the truth beside it, label by label."""
    judged = tuple(Judged(label, rule) for label, rule in zip(label_names, rules, strict=True))
    for gold, scored in pairs:
        _check_pair(gold, scored, len(judged))
        verdicts, words = decide_sentence(scored.sentence_scores, rules), decide_words(scored.word_scores, rules)
        for k, one in enumerate(judged):
            one.gold_sentences.append(gold.labels[k])
            one.predicted_sentences.append(verdicts[k])
            if gold.word_labels is not None:
                scores = scored.word_scores[:, k]
                one.gold_words.append(np.array([word[k] for word in gold.word_labels], dtype=np.bool_))
                one.predicted_words.append(words[:, k])
                one.word_scores.append(scores)
    return judged


def report(judged: Sequence[Judged]) -> Report:
    """Every measure of every label, and their average."""
    labels = tuple(map(_of_label, judged))
    return Report(labels, _macro([one.measures for one in labels]), _classes(judged))


def _classes(judged: Sequence[Judged]) -> Classes | None:
    gold = np.array([one.gold_sentences for one in judged], dtype=np.bool_)  # (labels, sentences)
    predicted = np.array([one.predicted_sentences for one in judged], dtype=np.bool_)
    if not judged or not judged[0].rule.exclusive or not gold.size or (gold.sum(axis=0) > 1).any():
        return None
    none = len(judged)
    pairs = np.stack([np.where(given.any(axis=0), given.argmax(axis=0), none) for given in (gold, predicted)])
    size = none + int((pairs == none).any())
    confusion = np.zeros((size, size), dtype=np.int64)
    np.add.at(confusion, (pairs[0], pairs[1]), 1)
    names = (*(one.label for one in judged), None)[:size]
    return Classes(names, tuple(map(tuple, confusion.tolist())))


def _check_pair(gold: GoldExample, scored: Scored, labels: int) -> None:
    if gold.sentence.words != scored.sentence.words:
        raise ValueError(f"gold and scored sentences are out of step at {gold.sentence.text[:60]!r}")
    shape = (len(gold.sentence.words), labels)
    if scored.word_scores.shape != shape or len(scored.sentence_scores) != labels:
        raise ValueError(f"word scores have shape {scored.word_scores.shape}, not {shape} (words, labels)")


def _counts(one: Judged) -> Counts:
    return Counts(
        sentences=len(one.gold_sentences),
        positive_sentences=sum(one.gold_sentences),
        words=sum(len(gold) for gold in one.gold_words),
        positive_words=sum(int(gold.sum()) for gold in one.gold_words),
    )


def _of_label(one: Judged) -> LabelReport:
    known = metrics.best_threshold_and_f1(one.gold_words, one.word_scores) if one.gold_words else None
    threshold, f1 = known or (None, None)
    return LabelReport(one.label, _measures(one, f1), _counts(one), one.rule, threshold)


def _measures(one: Judged, highest_word_f1: float | None) -> Measures:
    sentence = metrics.precision_recall_f1(
        np.array(one.gold_sentences, dtype=np.bool_), np.array(one.predicted_sentences, dtype=np.bool_)
    )
    of_sentences = Measures(sentence.precision, sentence.recall, sentence.f1)
    if not one.gold_words:
        return of_sentences
    word = metrics.precision_recall_f1(np.concatenate(one.gold_words), np.concatenate(one.predicted_words))
    return replace(
        of_sentences,
        word_precision=word.precision,
        word_recall=word.recall,
        word_f1=word.f1,
        word_f05=word.f05,
        map=metrics.mean_average_precision(one.gold_words, one.word_scores),
        map_clipped=metrics.mean_average_precision(one.gold_words, one.word_scores, "clipped"),
        map_positional=metrics.mean_average_precision(one.gold_words, one.word_scores, "positional"),
        token_f1=metrics.token_f1(one.gold_words, one.predicted_words),
        iou_f1=metrics.iou_f1(one.gold_words, one.predicted_words),
        auprc=metrics.auprc(one.gold_words, one.word_scores),
        highest_word_f1=highest_word_f1,
    )


def _macro(measures: Sequence[Measures]) -> Measures:
    def average(name: str) -> float | None:
        known = [value for one in measures if (value := getattr(one, name)) is not None]
        return sum(known) / len(known) if known else None

    return Measures(**{measure.name: average(measure.name) for measure in fields(Measures)})
