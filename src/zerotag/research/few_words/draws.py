"""Repeated draws on stored zero-shot models: tuning by few sentences, and suggested sentences against random ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from zerotag.active.suggest import suggest
from zerotag.evaluation.metrics import precision_recall_f1, threshold_from_word_labels
from zerotag.evaluation.tuning import tuned_rules
from zerotag.io.files import whole_file
from zerotag.io.reading import corrected
from zerotag.labeller import WordLabeller
from zerotag.research.compare.corpora import Splits
from zerotag.research.few_words.plan import Plan, labelled
from zerotag.training.few_labels import update
from zerotag.types import Corpus, GoldExample, Rule, Scored

TUNING_SENTENCES = (5, 10, 20, 50, 100)
SUGGESTED = (20, 50)


def tuning_draws(plan: Plan, splits: Splits, labeller: WordLabeller) -> dict[str, object]:
    """Test word F1 of thresholds by a few development sentences, drawn many times, beside label-free and by all."""
    dev, test = splits.dev_with_word_labels, splits.test
    by_words = {one.sentence: scored for one, scored in zip(dev.examples, _scores(labeller, dev), strict=True)}
    on_test = _scores(labeller, test)
    found: dict[str, object] = {"label-free": word_f1(test, on_test, labeller.rules)}
    best = [
        Rule(threshold_from_word_labels([_flags(one, k) for one in dev.examples if one.word_labels], scores))
        for k in range(len(labeller.rules))
        for scores in [[by_words[one.sentence].word_scores[:, k] for one in dev.examples if one.word_labels]]
    ]
    found["all dev words"] = word_f1(test, on_test, best)
    for count in TUNING_SENTENCES:
        values = []
        for draw in range(plan.draws):
            examples = labelled(dev, count, draw)
            pairs = [(one, by_words[one.sentence]) for one in examples]
            rules = tuned_rules(pairs, labeller.rules, labeller.manifest.calibration)
            values.append(word_f1(test, on_test, rules))
        found[str(count)] = values
    return found


def suggestion_draws(plan: Plan, splits: Splits, labeller: WordLabeller) -> dict[str, object]:
    """Test word F1 after learning from suggested and from random sentences of the same pools, in pairs."""
    known = [one for one in splits.train_with_word_labels.examples if one.word_labels is not None]
    found: dict[str, object] = {}
    for count in SUGGESTED:
        pairs = []
        for draw in range(plan.choices):
            random = np.random.default_rng(draw)
            pool = [known[i] for i in random.permutation(len(known))[: max(20 * count, 400)].tolist()]
            ways = {
                "suggested": [one.number for one in suggest(labeller, [o.sentence for o in pool], n=count, seed=draw)],
                "random": random.choice(len(pool), min(count, len(pool)), replace=False).tolist(),
            }
            pairs.append({way: _after(labeller, [pool[i] for i in chosen], splits) for way, chosen in ways.items()})
        gains = np.array([one["suggested"] - one["random"] for one in pairs])
        means = np.random.default_rng(0).choice(gains, (10_000, len(gains))).mean(axis=1)
        found[str(count)] = {
            "pairs": pairs,
            "gain": float(gains.mean()),
            "interval": [float(np.quantile(means, q)) for q in (0.025, 0.975)],
        }
    return found


def _after(labeller: WordLabeller, chosen: Sequence[GoldExample], splits: Splits) -> float:
    examples = [corrected(one) for one in chosen]
    if any(any(word) for one in examples for word in one.word_labels):
        labeller = update(labeller, examples)
    return word_f1(splits.test, _scores(labeller, splits.test), labeller.rules)


def _scores(labeller: WordLabeller, corpus: Corpus[GoldExample]) -> list[Scored]:
    return list(labeller.score(one.sentence for one in corpus.examples))


def _flags(example: GoldExample, k: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([word[k] for word in example.word_labels or ()], np.bool_)


def word_f1(test: Corpus[GoldExample], scored: Sequence[Scored], rules: Sequence[Rule]) -> float:
    """Mean over labels."""
    known = [(one, scores) for one, scores in zip(test.examples, scored, strict=True) if one.word_labels is not None]
    return float(
        np.mean(
            [
                precision_recall_f1(
                    np.concatenate([_flags(one, k) for one, _ in known]),
                    np.concatenate([rule.words(scores.word_scores[:, k]) for _, scores in known]),
                ).f1
                for k, rule in enumerate(rules)
            ]
        )
    )


def write(path: Path, document: dict[str, object]) -> None:
    """Store the draws of a corpus and seed."""
    with whole_file(path) as file:
        file.write(json.dumps(document, indent=1) + "\n")
