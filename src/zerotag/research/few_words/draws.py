"""Repeated draws on stored zero-shot models: tuning by few sentences, and suggested sentences against random ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zerotag.active.suggest import suggest
from zerotag.calibration import sigmoid
from zerotag.decisions import decide_words
from zerotag.evaluation.metrics import precision_recall_f1
from zerotag.evaluation.tuning import rules_from_word_labels, tuned_rules
from zerotag.io.reading import corrected
from zerotag.labeller import Labeller, WordLabeller
from zerotag.modeling.heads import SoftAttention
from zerotag.research.compare.corpora import Splits
from zerotag.research.few_words.plan import labelled
from zerotag.training.refit import LOWEST_LOGIT, refitted, token_features, word_features
from zerotag.types import BoolArray, Corpus, GoldExample, Rule, Scored, Sentence

Floats = NDArray[np.float64]

TUNING_SENTENCES = (5, 10, 20, 50, 100)
SUGGESTED = (20, 50)
DRAWS = 40  # of sentences to tune by
CHOICES = 20  # of pools to suggest from
MOST_IN_POOLS = 2_000


def tuning_draws(splits: Splits, labeller: WordLabeller) -> dict[str, object]:
    """Test word F1 of thresholds by a few development sentences, drawn many times, beside label-free and by all."""
    dev, test = splits.dev_with_word_labels, splits.test
    by_words = {one.sentence: scored for one, scored in zip(dev.examples, _scores(labeller, dev), strict=True)}
    on_test = _scores(labeller, test)
    found: dict[str, object] = {"label-free": word_f1(test, on_test, labeller.rules)}
    known = [(one, by_words[one.sentence]) for one in dev.examples if one.word_labels is not None]
    best = rules_from_word_labels(known, labeller.label_names, labeller.rules)
    found["all dev words"] = word_f1(test, on_test, best)
    for count in TUNING_SENTENCES:
        values = []
        for draw in range(DRAWS):
            examples = labelled(dev, count, draw)
            pairs = [(one, by_words[one.sentence]) for one in examples]
            rules = tuned_rules(pairs, labeller.rules, labeller.manifest.calibration)
            values.append(word_f1(test, on_test, rules))
        found[str(count)] = values
    return found


def suggestion_draws(splits: Splits, labeller: WordLabeller) -> dict[str, object]:
    """Test word F1 after learning from suggested and from random sentences of the same pools, in pairs."""
    known = [one for one in splits.train_with_word_labels.examples if one.word_labels is not None]
    known = [known[i] for i in np.random.default_rng(0).permutation(len(known))[:MOST_IN_POOLS].tolist()]
    scored = Remembered(labeller, [one.sentence for one in known])
    test = ReadTest(labeller, splits.test)
    found: dict[str, object] = {"zero-shot": test.word_f1(labeller.rules)}
    for count in SUGGESTED:
        pairs = []
        for draw in range(CHOICES):
            random = np.random.default_rng(draw)
            pool = [known[i] for i in random.permutation(len(known))[: max(20 * count, 400)].tolist()]
            ways = {
                "suggested": [one.number for one in suggest(scored, [o.sentence for o in pool], n=count, seed=draw)],
                "random": random.choice(len(pool), min(count, len(pool)), replace=False).tolist(),
            }
            pairs.append({way: test.after([pool[i] for i in chosen]) for way, chosen in ways.items()})
        gains = np.array([one["suggested"] - one["random"] for one in pairs])
        means = np.random.default_rng(0).choice(gains, (10_000, len(gains))).mean(axis=1)
        found[str(count)] = {
            "pairs": pairs,
            "gain": float(gains.mean()),
            "interval": [float(np.quantile(means, q)) for q in (0.025, 0.975)],
        }
    return found


class Remembered(Labeller):
    """A labeller that scores the sentences of pools once."""

    def __init__(self, labeller: WordLabeller, sentences: Sequence[Sentence]) -> None:
        super().__init__(labeller.predictor, labeller.aligner, labeller.manifest)
        self._scores = {one.sentence: one for one in labeller.score(sentences)}

    def score(self, sentences: Iterable[Sentence], **_: object) -> Iterator[Scored]:
        """What was found before."""
        return (self._scores[one] for one in sentences)


class ReadTest:
    """What the last layer reads of the test set, so that another last layer costs one product of matrices."""

    def __init__(self, labeller: WordLabeller, test: Corpus[GoldExample]) -> None:
        self._labeller = labeller
        known = [one for one in test.examples if one.word_labels is not None]
        encoded = labeller.aligner.encode([one.sentence for one in known])
        self._tokens = np.concatenate(token_features(labeller.network, labeller.aligner, encoded))
        tokens = np.cumsum([0, *map(len, encoded)])[:-1]
        words = np.cumsum([0, *(one.words for one in encoded)])[:-1]
        self._pair_tokens = np.concatenate([one.pair_tokens + at for one, at in zip(encoded, tokens, strict=True)])
        self._pair_words = np.concatenate([one.pair_words + at for one, at in zip(encoded, words, strict=True)])
        self._gold = np.concatenate([np.array(one.word_labels, np.bool_) for one in known])
        head = labeller.network.head
        assert isinstance(head, SoftAttention)
        self._weight = head.attention_score.weight.detach().cpu().numpy()
        self._bias = head.attention_score.bias.detach().cpu().numpy()

    def word_f1(self, rules: Sequence[Rule], change: float | Floats = 0.0) -> float:
        """Mean over labels, with so much added to the weights of the last layer."""
        logits = self._tokens @ (self._weight + np.float32(change)).T + self._bias
        of_words = np.full(self._gold.shape, LOWEST_LOGIT, np.float32)
        np.maximum.at(of_words, self._pair_words, logits[self._pair_tokens])
        scores = sigmoid(of_words.astype(np.float64)).astype(np.float32)
        return mean_f1(self._gold, decide_words(scores, rules))

    def after(self, chosen: Sequence[GoldExample]) -> float:
        """Word F1 after learning from the words of some sentences."""
        labeller, examples = self._labeller, [corrected(one) for one in chosen]
        if not any(any(word) for one in examples for word in one.word_labels):
            return self.word_f1(labeller.rules)
        encoded = labeller.aligner.encode([one.sentence for one in examples])
        results = refitted(labeller, examples, word_features(labeller.network, labeller.aligner, encoded))
        rules = [
            replace(rule, word_threshold=one.word_threshold) for rule, one in zip(labeller.rules, results, strict=True)
        ]
        return self.word_f1(rules, np.stack([one.change for one in results]))


def _scores(labeller: WordLabeller, corpus: Corpus[GoldExample]) -> list[Scored]:
    return list(labeller.score(one.sentence for one in corpus.examples))


def word_f1(test: Corpus[GoldExample], scored: Sequence[Scored], rules: Sequence[Rule]) -> float:
    """Mean over labels."""
    known = [(one, scores) for one, scores in zip(test.examples, scored, strict=True) if one.word_labels is not None]
    gold = np.concatenate([np.array(one.word_labels, np.bool_) for one, _ in known])
    return mean_f1(gold, decide_words(np.concatenate([scores.word_scores for _, scores in known]), rules))


def mean_f1(gold: BoolArray, decided: BoolArray) -> float:
    """Over labels; both are (words, labels)."""
    return float(np.mean([precision_recall_f1(gold[:, k], decided[:, k]).f1 for k in range(gold.shape[1])]))
