"""Learning from the labelled words of some sentences, beside the sentence labels of all. This is not zero-shot.

The labelled words correct the pseudo-labels, rather than stand beside them: first the last layer of the word scorer is
fitted to them (`refit`), which costs seconds and needs no other sentence. Where there are sentences with sentence
labels, the corrected network then scores those, and goes on learning from both: labelled words as they are, its own
corrected scores elsewhere. How much of the latter it replays is how much of the uncertainty about held-out labelled
words the corrected scores take away, and whether it goes on at all is up to labelled sentences that are held out for
that; no other word label is asked.
"""

from __future__ import annotations

import copy
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from zerotag.calibration import Calibration
from zerotag.config import ChosenTrainConfig
from zerotag.errors import ZerotagError
from zerotag.evaluation.few_words import LabelledWords, best_threshold, posterior
from zerotag.evaluation.metrics import average_precision
from zerotag.inference.torch_predictor import device_of
from zerotag.io.model_folder import NETWORK
from zerotag.labeller import WordLabeller
from zerotag.modeling.heads import SoftAttention
from zerotag.text.alignment import on_tokens
from zerotag.text.printable import counted
from zerotag.training.checked_corpus import check_corpus
from zerotag.training.checkpoints import Checkpoints
from zerotag.training.loop import Around, EncodedCorpus, Progress, Run
from zerotag.training.objectives import taught
from zerotag.training.recipe import reproducible
from zerotag.training.refit import Refitted, refit
from zerotag.training.split import split
from zerotag.types import Corpus, CorrectedExample, Example, FloatArray, Rule

FEWEST_PASSES, MOST_PASSES = 3, 12  # over labelled sentences: fewer of them need more
SENTENCES_SEEN = 2_000  # labelled ones, all passes together, unless there are too many or too few for that
HELD_OUT_ONE_IN = 4  # labelled sentences, to tell whether it helps to go on
RATE_SHARE = 0.5  # of the peak rate of the training before: the network is nearly there


def update(
    labeller: WordLabeller,
    examples: Sequence[CorrectedExample],
    sentences: Corpus[Example] | None = None,
    dev: Corpus[Example] | None = None,
    *,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> WordLabeller:
    """A labeller that has learnt from labelled words; the one that was given stays as it is.

    Args:
        labeller: what sentence labels, or an earlier update, have made.
        examples: sentences with labelled words.
        sentences: sentences with sentence labels, to go on learning from with corrected pseudo-labels. Without them
            the last layer alone learns.
        dev: development sentences for thresholds; by default a part of `sentences`.
        on_progress: told after each step.

    Raises:
        ZerotagError: the labeller does not score words, or no word of these is positive.
    """
    if not isinstance(labeller.network.head, SoftAttention):
        raise ZerotagError("this model is a plain sentence classifier (head cls): labelled words cannot teach it")
    if not any(any(word) for example in examples for word in example.word_labels):
        raise ZerotagError("there is no positive word among these: label some sentences that have the label")
    network = labeller.network
    with reproducible(labeller.manifest.training.seed, device_of(network)):
        corrected, results = refit(labeller, examples)
        rules = [
            replace(rule, word_threshold=one.word_threshold, origin=_origin(len(examples)))
            for rule, one in zip(labeller.rules, results, strict=True)
        ]
        corrected = _signed(corrected.with_rules(rules), len(examples))
        if sentences is None:
            return corrected
        check_corpus(sentences, dev)
        if dev is None:
            training = labeller.manifest.training
            sentences, dev = split(sentences, training.dev_share, training.seed)
        if not _it_helps_to_go_on(labeller, examples, sentences, dev, on_progress):
            return corrected
        gone_on = _go_on(corrected, examples, sentences, results, dev, on_progress, Around(before=1))
        return _decided_by(corrected, gone_on, dev)


def _origin(count: int) -> str:
    return f"word labels of {counted(count, 'sentence')}, from which the network learnt, too"


def _signed(labeller: WordLabeller, count: int) -> WordLabeller:
    """With the number of labelled sentences in its manifest."""
    known = labeller.manifest.word_labels
    manifest = replace(labeller.manifest, word_labels={**known, NETWORK: known.get(NETWORK, 0) + count})
    return WordLabeller(labeller.network, labeller.tokenizer, manifest)


def _go_on(
    corrected: WordLabeller,
    examples: Sequence[CorrectedExample],
    sentences: Corpus[Example],
    results: Sequence[Refitted],
    dev: Corpus[Example],
    on_progress: Callable[[Progress], None],
    around: Around,
) -> WordLabeller:
    """Learn from labelled words and corrected pseudo-labels together; thresholds are still those from before."""
    aligner, manifest = corrected.aligner, corrected.manifest
    network = copy.deepcopy(corrected.network)
    reliability = float(np.mean([one.reliability for one in results]))
    train_set = _mixed(corrected, examples, sentences, reliability)
    before = ChosenTrainConfig(**asdict(manifest.training))
    training = replace(before, epochs=1, learning_rate=RATE_SHARE * before.learning_rate)
    with tempfile.TemporaryDirectory() as scratch:
        torch.manual_seed(training.seed)
        dev_set = EncodedCorpus.of(dev, aligner)
        checkpoints = Checkpoints(Path(scratch), "")
        run = Run(network, taught(training), aligner, train_set, dev_set, training, checkpoints, on_progress, around)
        run.to_the_end()
    return WordLabeller(network, corrected.tokenizer, manifest)


def _it_helps_to_go_on(
    labeller: WordLabeller,
    examples: Sequence[CorrectedExample],
    sentences: Corpus[Example],
    dev: Corpus[Example],
    on_progress: Callable[[Progress], None],
) -> bool:
    """Whether a part of the labelled sentences, held out, is ranked better by more than two standard errors."""
    order = np.random.default_rng(labeller.manifest.training.seed).permutation(len(examples)).tolist()
    held_out = [examples[i] for i in order[::HELD_OUT_ONE_IN]]
    rest = [examples[i] for place, i in enumerate(order) if place % HELD_OUT_ONE_IN]
    if not any(any(word) for example in rest for word in example.word_labels):
        return False
    seen = {one.sentence.words for one in held_out}
    unseen = replace(sentences, examples=tuple(one for one in sentences.examples if one.sentence.words not in seen))
    corrected, results = refit(labeller, rest)
    gone_on = _go_on(corrected, rest, unseen, results, dev, on_progress, Around(after=1))
    gains = _precisions(gone_on, held_out) - _precisions(corrected, held_out)
    return len(gains) > 1 and float(gains.mean()) > 2 * float(gains.std(ddof=1)) / math.sqrt(len(gains))


def _precisions(labeller: WordLabeller, examples: Sequence[CorrectedExample]) -> NDArray[np.float64]:
    """Average precision of each sentence and label that has a positive word."""
    found = []
    scored = labeller.score(one.sentence for one in examples)
    for example, one in zip(examples, scored, strict=True):
        gold = np.array(example.word_labels, np.bool_)
        found += [
            average_precision(gold[:, k], one.word_scores[:, k]) for k in range(gold.shape[1]) if gold[:, k].any()
        ]
    return np.array(found, np.float64)


def _decided_by(corrected: WordLabeller, gone_on: WordLabeller, dev: Corpus[Example]) -> WordLabeller:
    """The network that went on, with thresholds by what the corrected one believes of development words."""
    believed = _pseudo_labels(corrected, dev, as_probabilities=True)
    scores = [one.word_scores for one in gone_on.score(one.sentence for one in dev.examples)]
    manifest = corrected.manifest
    decided = [
        _decided([one[:, k] for one in scores], [one[:, k] for one in believed], prior, rule)
        for k, (rule, prior) in enumerate(zip(manifest.rules, manifest.calibration, strict=True))
    ]
    rules, calibration = zip(*decided, strict=True)
    return WordLabeller(
        gone_on.network, gone_on.tokenizer, replace(manifest, rules=tuple(rules), calibration=tuple(calibration))
    )


def _mixed(
    corrected: WordLabeller, examples: Sequence[CorrectedExample], sentences: Corpus[Example], reliability: float
) -> EncodedCorpus:
    """Labelled sentences, several times, and as many others with pseudo-labels as those can be relied upon."""
    aligner, names = corrected.aligner, corrected.label_names
    labelled = {one.sentence.words for one in examples}
    others = [one for one in sentences.examples if one.sentence.words not in labelled]
    draw = np.random.default_rng(corrected.manifest.training.seed)
    replayed = draw.permutation(len(others))[: math.ceil(reliability * len(others))].tolist()
    replay = Corpus(names, tuple(others[i] for i in replayed))
    passes = min(MOST_PASSES, max(FEWEST_PASSES, round(SENTENCES_SEEN / len(examples))))
    gold = [np.array(one.word_labels, np.float32) for one in examples] * passes
    taught_by_people = [Example(one.sentence, one.labels) for one in examples] * passes
    targets = [*gold, *_pseudo_labels(corrected, replay)]
    mixed = EncodedCorpus.of(Corpus(names, (*taught_by_people, *replay.examples)), aligner)
    return replace(mixed, token_targets=[on_tokens(*pair) for pair in zip(mixed.sentences, targets, strict=True)])


def _pseudo_labels(
    labeller: WordLabeller, corpus: Corpus[Example], *, as_probabilities: bool = False
) -> list[FloatArray]:
    """What the corrected network scores words, (words, K) each; 0 in sentences that do not have the label."""
    found = []
    scored = labeller.score(one.sentence for one in corpus.examples)
    for example, one in zip(corpus.examples, scored, strict=True):
        scores = one.word_scores
        if as_probabilities:
            curves = zip(labeller.manifest.calibration, scores.T, strict=True)
            scores = np.stack([curve.probabilities(column) for curve, column in curves], axis=1).astype(np.float32)
        found.append(scores * np.array(example.labels, np.float32))
    return found


def _decided(
    scores: Sequence[FloatArray], believed: Sequence[FloatArray], prior: Calibration, rule: Rule
) -> tuple[Rule, Calibration]:
    """The threshold and the curve by what the corrected network believes of the words of development sentences."""
    row, chances = np.concatenate(scores), np.concatenate(believed).astype(np.float64)
    every = np.ones(len(row))
    if not chances.any():
        return rule, prior
    curve = posterior(LabelledWords(row, chances, every, len(scores)), prior)
    return replace(rule, word_threshold=best_threshold(row, chances, every)), curve
