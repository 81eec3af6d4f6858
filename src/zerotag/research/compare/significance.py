"""Does a method differ from the reference, or from what was published, by more than luck?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zerotag.errors import ZerotagError
from zerotag.evaluation.metrics.ragged import Floats, Ints
from zerotag.evaluation.significance import paired_t_test, randomisation_test_f1, randomisation_test_map
from zerotag.research.compare.published import best_without_word_labels
from zerotag.research.compare.record import Record, SentenceRecord, VerdictRecord
from zerotag.research.compare.results import Results

LEVEL = 0.05
SIGNIFICANCE = "significance.json"
_TESTED = ("sentence_f1", "word_f1", "map")


@dataclass(frozen=True, slots=True)
class Difference:
    """The p-values of a method's difference from the reference in one measure; None where a test cannot be made."""

    t_test: float | None
    """Two-tailed paired t-test over the seeds of both."""

    randomisation: float | None
    """Paired approximate randomisation over the test sentences of both, all shared seeds of a sentence together.

    It asks whether the means over these seeds would differ on other sentences, not whether they would with other seeds.
    """

    seeds: int
    """How many seeds both have."""


Differences = Mapping[str, Mapping[str, Mapping[str, Difference]]]
"""Corpus → method → measure → p-values of the difference from the reference."""


@dataclass(frozen=True, slots=True)
class FromPublished:
    """A method's difference from the best number that was published without word labels."""

    published: float
    """In percent, as printed."""

    t_test: float | None
    """Two-tailed one-sample t-test over the seeds; None for a single one."""

    seeds: int


def from_published(results: Results) -> dict[str, dict[str, dict[str, FromPublished]]]:
    """Corpus → method → measure → test, of every method without word labels that was run on the whole test set."""
    found: dict[str, dict[str, dict[str, FromPublished]]] = {}
    for corpus in results.experiment.corpora:
        for method in results.experiment.methods:
            if not method.uses_word_labels and method.test_sentences is None:
                measures = [record.measures() for record in results.of(corpus, method.name).values()]
                tests = {name: one for name in _TESTED if (one := _from_published(corpus, name, measures)) is not None}
                if tests:
                    found.setdefault(corpus, {})[method.name] = tests
    return found


def _from_published(corpus: str, measure: str, by_seed: Sequence[Mapping[str, float]]) -> FromPublished | None:
    best = best_without_word_labels(corpus, measure)
    values = [100 * measures[measure] for measures in by_seed if measure in measures]
    if best is None or not values:
        return None
    # To pair each seed with one and the same number is the one-sample test.
    return FromPublished(best[0], paired_t_test(values, [best[0]] * len(values)), len(values))


def significance(results: Results) -> Differences:
    """Test every method against the reference."""
    reference = results.experiment.reference
    found: dict[str, dict[str, dict[str, Difference]]] = {}
    for corpus in results.experiment.corpora:
        theirs = results.of(corpus, reference)
        for method in results.experiment.methods:
            ours = results.of(corpus, method.name)
            pairs = [(ours[seed], theirs[seed]) for seed in sorted(ours.keys() & theirs.keys())]
            differences = {measure: one for measure in _TESTED if (one := _difference(measure, pairs)) is not None}
            if method.name != reference and differences:
                found.setdefault(corpus, {})[method.name] = differences
    return found


def read_significance(folder: Path) -> Differences:
    """What was found when the experiment was run: the tests take a while, and tables are drawn often."""
    path = folder / SIGNIFICANCE
    try:
        return {
            corpus: {
                method: {measure: Difference(**p_values) for measure, p_values in measures.items()}
                for method, measures in methods.items()
            }
            for corpus, methods in json.loads(path.read_text(encoding="utf-8"))["p_values"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ZerotagError(f"{path} cannot be read ({error}): `zerotag compare` writes it again") from error


def _difference(measure: str, pairs: Sequence[tuple[Record, Record]]) -> Difference | None:
    values = [(ours.measures().get(measure), theirs.measures().get(measure)) for ours, theirs in pairs]
    measured = [(our, their) for our, their in values if our is not None and their is not None]
    if not measured:
        return None
    # Scores on part of the test set cannot be paired with scores on the whole of it; sentences can.
    same_sentences = all(ours.test_indices == theirs.test_indices for ours, theirs in pairs)
    return Difference(
        t_test=paired_t_test(*zip(*measured, strict=True)) if same_sentences else None,
        randomisation=_randomisation(measure, pairs),
        seeds=len(measured),
    )


def _randomisation(measure: str, pairs: Sequence[tuple[Record, Record]]) -> float | None:
    """What is swapped is a sentence with its answers in all shared seeds; an average over labels has no such test."""
    parts = (_part(measure, record) for pair in pairs for record in pair)
    if any(len(part) != 1 for part in parts):
        return None
    our_rows, their_rows = _shared_sentences(measure, *pairs[0])
    ours = np.stack([_per_sentence(measure, record) for record, _ in pairs], axis=1)[our_rows]
    theirs = np.stack([_per_sentence(measure, record) for _, record in pairs], axis=1)[their_rows]
    if measure.endswith("f1"):
        return randomisation_test_f1(ours.astype(np.int64), theirs.astype(np.int64))
    return randomisation_test_map(ours.mean(axis=1), theirs.mean(axis=1))


def _part(measure: str, record: Record) -> Mapping[str, SentenceRecord] | Mapping[str, VerdictRecord]:
    """What is kept of each test sentence, by label: nothing of verdicts in early records, of words in classifiers'."""
    return record.verdicts if measure == "sentence_f1" else record.sentences


def _per_sentence(measure: str, record: Record) -> Floats:
    """True and false positives and false negatives, (sentences, 3), or average precisions, (sentences,)."""
    if measure == "sentence_f1":
        (verdicts,) = record.verdicts.values()
        gold, predicted = (np.array([bit == "1" for bit in bits]) for bits in (verdicts.gold, verdicts.predicted))
        return np.stack([gold & predicted, ~gold & predicted, gold & ~predicted], axis=1).astype(np.float64)
    (one,) = record.sentences.values()
    counts = np.array([one.true_positives, one.false_positives, one.false_negatives], np.float64).T
    if measure == "word_f1":
        return counts
    precisions = np.full(len(counts), np.nan)
    precisions[counts[:, 0] + counts[:, 2] > 0] = one.average_precisions
    return precisions


def _shared_sentences(measure: str, ours: Record, theirs: Record) -> tuple[Ints, Ints]:
    """Where the sentences that both have scored stand in the arrays of each."""

    def indices(record: Record) -> Ints:
        return np.array(record.test_indices or range(len(_per_sentence(measure, record))))

    _, our_rows, their_rows = np.intersect1d(indices(ours), indices(theirs), return_indices=True)
    return our_rows, their_rows
