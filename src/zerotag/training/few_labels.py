"""Learning from the labelled words of some sentences, beside the sentence labels of all. This is not zero-shot.

The labelled words correct the pseudo-labels, rather than stand beside them: first the last layer of the word scorer is
fitted to them (`refit`), which costs seconds and needs no other sentence. Where there are sentences with sentence
labels, the corrected network then learns from both: labelled words as they are, and elsewhere what it believes of words
itself. The result is the network somewhere between the corrected one and the one that went on: the point on the
straight line between their weights that predicts held-out labelled words best, or one nearer to the corrected network
that does so to within a standard error. No other word label is asked.
"""

from __future__ import annotations

import copy
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from zerotag.calibration import Calibration, logit
from zerotag.config import ChosenTrainConfig
from zerotag.errors import ZerotagError
from zerotag.evaluation.few_words import (
    LabelledWords,
    first_of_the_best,
    log_odds,
    posterior,
    sentence_losses,
    threshold_from_few_words,
)
from zerotag.io.locks import only_us
from zerotag.io.model_folder import NETWORK
from zerotag.labeller import WordLabeller
from zerotag.modeling.heads import SoftAttention
from zerotag.text.alignment import on_tokens
from zerotag.text.printable import counted
from zerotag.training.checkpoints import Checkpoints
from zerotag.training.loop import Around, EncodedCorpus, Progress, Run
from zerotag.training.objectives import taught
from zerotag.training.recipe import fingerprint
from zerotag.training.refit import refit
from zerotag.training.reproducible import reproducible
from zerotag.types import Corpus, CorrectedExample, Example, FloatArray

FEWEST_PASSES, MOST_PASSES = 3, 12  # over labelled sentences: fewer of them need more
SENTENCES_SEEN = 2_000  # labelled ones, all passes together, unless there are too many or too few for that
REPLAYED = 1.0  # sentences with pseudo-labels, for each labelled one that is seen
RATE_SHARE = 0.5  # of the peak rate of the training before: the network is nearly there
FEWEST_FOLDS, MOST_FOLDS = 3, 10
HELD_OUT = 60  # labelled sentences are enough to tell how far to go: more cost another training
STEPS_BETWEEN = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the way from the corrected network to the one that went on


def update(
    labeller: WordLabeller,
    examples: Sequence[CorrectedExample],
    sentences: Corpus[Example] | None = None,
    *,
    checkpoints: Path | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> WordLabeller:
    """A labeller that has learnt from labelled words; the one that was given stays as it is.

    Args:
        labeller: what sentence labels, or an earlier update, have made.
        examples: sentences with labelled words.
        sentences: sentences with sentence labels, to go on learning from with corrected pseudo-labels. Without them
            the last layer alone learns.
        checkpoints: a folder to keep what is unfinished in; after a kill it goes on there. Delete it at the end.
        on_progress: told after each step.

    Raises:
        ZerotagError: the labeller does not score words, or no word of these is positive.
    """
    if not isinstance(labeller.network.head, SoftAttention):
        raise ZerotagError(
            f"a model with head {labeller.manifest.model.head} cannot learn from labelled words: "
            "train one with soft attention, the default"
        )
    if not any(any(word) for example in examples for word in example.word_labels):
        raise ZerotagError("there is no positive word among these: label some sentences that have the label")
    device = next(labeller.network.parameters()).device
    with tempfile.TemporaryDirectory() as scratch, reproducible(labeller.manifest.training.seed, device):
        if sentences is None:
            updated, _ = refit(labeller, examples)
        else:
            place = checkpoints or Path(scratch)
            with only_us(place):
                updated = _Course(labeller, examples, sentences, place, on_progress).to_the_end()
    return _signed(updated, len(examples))


def _signed(labeller: WordLabeller, count: int) -> WordLabeller:
    """With the number of labelled sentences in its manifest, and as the origin of its thresholds."""
    known = labeller.manifest.word_labels
    origin = f"word labels of {counted(count, 'sentence')}, from which the network learnt, too"
    manifest = replace(
        labeller.manifest,
        rules=tuple(replace(rule, origin=origin) for rule in labeller.rules),
        word_labels={**known, NETWORK: known.get(NETWORK, 0) + count},
    )
    return WordLabeller(labeller.network, labeller.tokenizer, manifest)


@dataclass(frozen=True, slots=True)
class _Course:
    """Joint training: folds of labelled sentences are held out to tell how far to go, then all are learnt from."""

    labeller: WordLabeller
    examples: Sequence[CorrectedExample]
    sentences: Corpus[Example]
    place: Path
    on_progress: Callable[[Progress], None]

    def to_the_end(self) -> WordLabeller:
        corrected, _ = refit(self.labeller, self.examples)
        folds = self._folds()
        if not folds:
            return corrected
        trainings = len(folds) + 1
        held_out = [example for fold in folds for example in fold]
        scores = [
            found
            for number, fold in enumerate(folds)
            for found in self._held_out_scores(fold, Around(number, trainings - number - 1))
        ]
        # scores: sentences, of each the steps between, (words, K)
        candidates = [
            _HeldOut.of(corrected, held_out, [one[step] for one in scores]) for step in range(len(STEPS_BETWEEN))
        ]
        best = first_of_the_best(np.stack([one.losses for one in candidates]))
        if not best:
            return corrected
        gone_on = self._gone_on(corrected, self.examples, "all", Around(trainings - 1, 0))
        return candidates[best].decide(between(corrected, gone_on, STEPS_BETWEEN[best]))

    def _folds(self) -> list[list[CorrectedExample]]:
        """Those to be held out, one after the other, until there are enough; none where nothing would be left."""
        count = min(MOST_FOLDS, max(FEWEST_FOLDS, len(self.examples) // HELD_OUT))
        order = np.random.default_rng(self.labeller.manifest.training.seed).permutation(len(self.examples)).tolist()
        folds = [[self.examples[i] for i in order[start::count]] for start in range(count)]
        if not all(_teaches(_others(self.examples, fold)) for fold in folds):
            return []
        return folds[: math.ceil(HELD_OUT / len(folds[0]))]

    def _held_out_scores(self, fold: Sequence[CorrectedExample], around: Around) -> list[list[FloatArray]]:
        """Of each sentence of a fold, the word scores at each step between, after learning from the other folds."""
        rest = _others(self.examples, fold)
        start, _ = refit(self.labeller, rest)
        gone_on = self._gone_on(start, rest, f"fold-{around.before + 1}", around)
        by_step = [
            [one.word_scores for one in between(start, gone_on, share).score(one.sentence for one in fold)]
            for share in STEPS_BETWEEN
        ]
        return [list(one) for one in zip(*by_step, strict=True)]

    def _gone_on(
        self, start: WordLabeller, examples: Sequence[CorrectedExample], name: str, around: Around
    ) -> WordLabeller:
        """Learn from labelled words and corrected pseudo-labels together."""
        manifest, aligner = start.manifest, start.aligner
        network = copy.deepcopy(start.network)
        labelled = {one.sentence.words for one in self.examples}
        others = tuple(one for one in self.sentences.examples if one.sentence.words not in labelled)
        mixed, targets = _mixed(start, examples, replace(self.sentences, examples=others))
        before = ChosenTrainConfig(**asdict(manifest.training))
        training = replace(before, epochs=1, learning_rate=RATE_SHARE * before.learning_rate)
        judged = Corpus(manifest.label_names, tuple(Example(one.sentence, one.labels) for one in examples[:HELD_OUT]))
        identity = fingerprint(mixed, judged, manifest.model, training, network, targets)
        checkpoints = Checkpoints.by_words(self.place, name, identity)
        train_set, judged_set = EncodedCorpus.of(mixed, aligner), EncodedCorpus.of(judged, aligner)
        on_sub_words = [on_tokens(*pair) for pair in zip(train_set.sentences, targets, strict=True)]
        train_set = replace(train_set, token_targets=on_sub_words)
        torch.manual_seed(training.seed)
        run = Run(
            network, taught(training), aligner, train_set, judged_set, training, checkpoints, self.on_progress, around
        )
        run.to_the_end()
        return WordLabeller(network, start.tokenizer, manifest)


def _others(examples: Sequence[CorrectedExample], fold: Sequence[CorrectedExample]) -> list[CorrectedExample]:
    inside = {id(one) for one in fold}
    return [one for one in examples if id(one) not in inside]


def _teaches(examples: Sequence[CorrectedExample]) -> bool:
    return any(any(word) for example in examples for word in example.word_labels)


@dataclass(frozen=True, slots=True)
class _HeldOut:
    """What held-out words say of a step between two networks: losses, and a curve and threshold for each label."""

    losses: NDArray[np.float64]
    """Of each sentence, the mean over labels."""

    calibration: tuple[Calibration, ...]
    thresholds: tuple[float, ...]

    @classmethod
    def of(
        cls, corrected: WordLabeller, examples: Sequence[CorrectedExample], scores: Sequence[FloatArray]
    ) -> _HeldOut:
        """Of the scores of held-out sentences, (words, K) each."""
        labels = np.array([one.labels for one in examples], np.bool_)
        gold = [np.array(one.word_labels, np.bool_) for one in examples]
        losses, curves, thresholds = [], [], []
        for k, (rule, prior) in enumerate(zip(corrected.rules, corrected.manifest.calibration, strict=True)):
            columns = [one[:, k] for one in scores]
            words = LabelledWords.of(columns, [one[:, k] for one in gold], labels[:, k], prior.positive)
            curve = posterior(words, prior)
            logits = curve.stretch * logit(words.scores) + curve.shift
            losses.append(sentence_losses(logits, words))
            curves.append(curve)
            thresholds.append(threshold_from_few_words(words, curve, log_odds(prior, rule.word_threshold)))
        return cls(np.mean(losses, axis=0), tuple(curves), tuple(thresholds))

    def decide(self, labeller: WordLabeller) -> WordLabeller:
        """The labeller with these curves and thresholds."""
        rules = tuple(
            replace(rule, word_threshold=threshold)
            for rule, threshold in zip(labeller.rules, self.thresholds, strict=True)
        )
        manifest = replace(labeller.manifest, rules=rules, calibration=self.calibration)
        return WordLabeller(labeller.network, labeller.tokenizer, manifest)


def between(one: WordLabeller, other: WordLabeller, share: float) -> WordLabeller:
    """The labeller whose weights are a share of the way from those of one to those of another."""
    network = copy.deepcopy(one.network)
    ends = one.network.state_dict(), other.network.state_dict()
    network.load_state_dict(
        {
            name: torch.lerp(weight, ends[1][name], share) if weight.is_floating_point() else weight
            for name, weight in ends[0].items()
        }
    )
    return WordLabeller(network, one.tokenizer, one.manifest)


def _mixed(
    corrected: WordLabeller, examples: Sequence[CorrectedExample], others: Corpus[Example]
) -> tuple[Corpus[Example], list[FloatArray]]:
    """Labelled sentences, several times, and others with pseudo-labels; and what words should score, (words, K)."""
    passes = min(MOST_PASSES, max(FEWEST_PASSES, round(SENTENCES_SEEN / len(examples))))
    gold = [np.array(one.word_labels, np.float32) for one in examples] * passes
    taught_by_people = [Example(one.sentence, one.labels) for one in examples] * passes
    draw = np.random.default_rng(corrected.manifest.training.seed)
    replayed = draw.permutation(len(others))[: round(REPLAYED * len(gold))].tolist()
    replay = replace(others, examples=tuple(others.examples[i] for i in replayed))
    return replace(others, examples=(*taught_by_people, *replay.examples)), [*gold, *_pseudo_labels(corrected, replay)]


def _pseudo_labels(labeller: WordLabeller, corpus: Corpus[Example]) -> list[FloatArray]:
    """How likely the corrected network takes words to be positive, (words, K); 0 in sentences without the label."""
    found = []
    for example, one in zip(corpus.examples, labeller.score(one.sentence for one in corpus.examples), strict=True):
        curves = zip(labeller.manifest.calibration, one.word_scores.T, strict=True)
        chances = np.stack([curve.probabilities(column) for curve, column in curves], axis=1).astype(np.float32)
        found.append(chances * np.array(example.labels, np.float32))
    return found
