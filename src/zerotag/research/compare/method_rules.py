"""Which scorer and which rules a method has. Word labels reach one of the two functions only."""

from __future__ import annotations

from typing import NamedTuple

from zerotag.evaluation.tuning import rules_from_word_labels, scorer_from_word_labels
from zerotag.explain import Scorer, create, rules_for
from zerotag.explain.random import RandomScorer
from zerotag.labeller import WordLabeller
from zerotag.research.compare.experiment import SENTENCES_ONLY, Method
from zerotag.research.compare.messages import Heartbeat
from zerotag.research.compare.scoring import SentenceScorer, score_all
from zerotag.types import Corpus, Example, GoldExample, Rule


class Decided(NamedTuple):
    """A scorer, and how its scores become yes or no, one rule per label."""

    scorer: Scorer
    rules: tuple[Rule, ...]


def without_word_labels(method: Method, labeller: WordLabeller | None, dev: Corpus[Example], seed: int) -> Decided:
    """For a method that decides without word labels: there is none in what it is given."""
    labels = len(dev.label_names)
    return Decided(_scorer(method, labeller, labels, seed), _rules(method, labeller, labels))


def with_word_labels(
    method: Method, labeller: WordLabeller | None, dev: Corpus[GoldExample], seed: int, heartbeat: Heartbeat
) -> Decided:
    """For a method that is declared to use the development set's word labels."""
    labels = len(dev.label_names)
    if method.scorer == "heads":
        assert labeller is not None
        scorer = scorer_from_word_labels(method.scorer, labeller, dev.examples)
    else:
        scorer = _scorer(method, labeller, labels, seed)
    rules = _rules(method, labeller, labels)
    if method.threshold == "fixed":
        return Decided(scorer, rules)
    scored = score_all(scorer, dev, f"{method.name}, threshold from the development set", heartbeat)
    return Decided(scorer, rules_from_word_labels(zip(dev.examples, scored, strict=True), dev.label_names, rules))


def _rules(method: Method, labeller: WordLabeller | None, labels: int) -> tuple[Rule, ...]:
    return (Rule(),) * labels if labeller is None else rules_for(method.scorer, labeller.rules)


def _scorer(method: Method, labeller: WordLabeller | None, labels: int, seed: int) -> Scorer:
    if method.scorer == "random":
        return RandomScorer(labels, seed=seed)
    assert labeller is not None  # the TOML was checked: every other scorer has a training
    if method.scorer == SENTENCES_ONLY:
        return SentenceScorer(labeller)
    return create(method.scorer, labeller, seed=seed)
