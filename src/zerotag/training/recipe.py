"""Training on sentence labels. An `Example` has no place for word labels, so none can get here.

One function, `train_towards`, takes what words should score. It is for the upper line of experiments, which learns from
word labels to show what they would buy; the package does not offer it, and `compare.supervised` alone calls it.
"""

from __future__ import annotations

import copy
import hashlib
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from transformers import PreTrainedModel

from zerotag.calibration import Calibration
from zerotag.config import ChosenTrainConfig, ModelConfig, TrainConfig
from zerotag.evaluation.reliability import reliability
from zerotag.inference.devices import best_device, usable_device
from zerotag.inference.predictor import predict, words_of
from zerotag.inference.torch_predictor import TorchPredictor
from zerotag.io.files import explained, make_folders
from zerotag.io.locks import only_us
from zerotag.io.model_folder import F1, LEXICAL_F1, Manifest
from zerotag.labeller import WordLabeller
from zerotag.modeling.encoders import Fit, aligner_for, position_limit, registered, starting_encoder
from zerotag.modeling.network import Network
from zerotag.parallel.ray_pool import Cluster
from zerotag.text.alignment import Aligner, on_tokens
from zerotag.training.checked_corpus import check_corpus
from zerotag.training.checkpoints import Checkpoints, Position
from zerotag.training.code_version import code_version
from zerotag.training.loop import Around, EncodedCorpus, Progress, Run, fitted, mean_f1
from zerotag.training.objectives import Objective, each_head, plain, taught
from zerotag.training.optimizers import learning_rate
from zerotag.training.processor import quick_products, used_vectors
from zerotag.training.pseudo_labels import PseudoLabels, Sentences, pseudo_labels, token_targets
from zerotag.training.reproducible import reproducible
from zerotag.training.side_by_side import said_side_by_side
from zerotag.training.split import split
from zerotag.training.teacher import Teacher
from zerotag.training.thresholds import (
    calibration_from_sentence_labels,
    rule_from_sentence_labels,
    sentence_threshold,
)
from zerotag.training.unigrams import sentence_scores
from zerotag.types import Corpus, Example, FloatArray, ReliabilityBin, Rule

__all__ = ["Progress", "train"]

MANY_SENTENCES = 10_000
FEWEST_STEPS = 125  # below which a network has hardly begun to learn
MOST_EPOCHS = 12  # for want of sentences: they should not be learnt by heart
SEEDS_APART = 1_000_000_007  # between teachers of one training: others may have the next seeds


def train(
    corpus: Corpus[Example],
    dev: Corpus[Example] | None = None,
    *,
    model: ModelConfig | None = None,
    training: TrainConfig | None = None,
    checkpoints: Path | None = None,
    device: str | torch.device | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
    cluster: Cluster | None = None,
) -> WordLabeller:
    """Train a word labeller on sentence labels; the best epoch by development sentence F1 is kept.

    Several teachers learn one after another, or side by side in the workers of a `cluster`, with the same result.
    With a folder for `checkpoints`, a training that was killed goes on where it was when it is called again with the
    same arguments, and ends with the same model. Delete that folder once the model is saved.
    """
    model, training = model or ModelConfig(), training or TrainConfig()
    check_corpus(corpus, dev)
    if dev is None:
        corpus, dev = split(corpus, training.dev_share, training.seed)
    labeller = train_towards(None, corpus, dev, model, training, checkpoints, device, on_progress, cluster)
    if registered(model.encoder) is None and model.scores_words and training.calibrated:
        labeller.manifest = replace(
            labeller.manifest, scores={**labeller.manifest.scores, LEXICAL_F1: lexical_f1(corpus, dev)}
        )
    return labeller


def lexical_f1(corpus: Corpus[Example], dev: Corpus[Example]) -> float:
    """How well the lexical baseline tells development sentences: what somebody would try first, in seconds."""
    scores = sentence_scores(corpus, dev)
    has_label = np.array([example.labels for example in dev.examples])
    thresholds = [sentence_threshold(scores[:, k], has_label[:, k]) for k in range(has_label.shape[1])]
    return mean_f1(has_label, scores >= thresholds)


def train_towards(
    word_targets: Sequence[FloatArray] | None,
    corpus: Corpus[Example],
    dev: Corpus[Example],
    model: ModelConfig,
    training: TrainConfig,
    checkpoints: Path | None,
    device: str | torch.device | None,
    on_progress: Callable[[Progress], None],
    cluster: Cluster | None = None,
) -> WordLabeller:
    """Train as `train` does; where `word_targets` say what words should score, (words, K), no teacher is asked."""
    spec = registered(model.encoder)
    if spec is not None:
        model = replace(model, tokenization=spec.tokenization)
    if word_targets is not None or not model.scores_words or spec is not None:
        # A teacher reads several layers, and speaks of words.
        training = replace(training, teacher_epochs=0, teachers=1)
    device = best_device() if device is None else usable_device(device)
    with tempfile.TemporaryDirectory() as scratch, reproducible(training.seed, device), quick_products(device):
        encoder, tokenizer = starting_encoder(model, [example.sentence for example in corpus.examples])
        model = replace(
            model,
            depth=encoder.config.num_hidden_layers,
            attention_size=model.attention_size or encoder.config.hidden_size,
            window=min(model.window, position_limit(encoder)),
        )
        chosen = choose(training, len(corpus), encoder.config.hidden_size)
        place = checkpoints or Path(scratch)
        with explained(place):
            make_folders(place)
        with only_us(place):
            course = Course(
                model,
                chosen,
                aligner_for(model, tokenizer),
                len(corpus.label_names),
                Checkpoints(place, fingerprint(corpus, dev, model, chosen, encoder, word_targets)),
                device,
                on_progress,
                word_targets,
                tokenizer.mask_token_id,
                None if spec is None else spec.fit,
                cluster,
            )
            network, position, decided = course.to_the_end(encoder, corpus, dev)
    manifest = Manifest(
        model=model,
        training=chosen.as_given(),
        label_names=corpus.label_names,
        negative=corpus.negative,
        rules=decided.rules,
        calibration=decided.calibration,
        reliability=dict(zip(corpus.label_names, decided.reliability, strict=False)),
        scores={F1: decided.f1, "best epoch": position.best_epoch + 1},
        sentences={"train": len(corpus), "dev": len(dev)},
    )
    return WordLabeller(network, tokenizer, manifest)


def choose(training: TrainConfig, sentences: int, width: int) -> ChosenTrainConfig:
    """The settings of a training on so many sentences, with an encoder of some width, with nothing left to choose."""
    many = sentences >= MANY_SENTENCES
    batch_size = training.batch_size or (32 if many else 16)
    enough = min(MOST_EPOCHS, math.ceil(FEWEST_STEPS / math.ceil(sentences / batch_size)))
    teacher_epochs = max(4 if many else 3, enough) if training.teacher_epochs is None else training.teacher_epochs
    chosen = {
        "epochs": training.epochs or max(3, enough),
        "teacher_epochs": teacher_epochs,
        "teachers": training.teachers or 1,
        "batch_size": batch_size,
        "learning_rate": learning_rate(training, width),
    }
    return ChosenTrainConfig(**{**asdict(training), **chosen})


class Decided(NamedTuple):
    """How scores become decisions, one rule per label, and the F1 of the development sentences by these rules.

    Also what the sentence labels say of the word scores of each label, if they were asked.
    """

    rules: tuple[Rule, ...]
    f1: float
    reliability: tuple[tuple[ReliabilityBin, ...], ...] = ()
    """Of sentence scores, one for each label, where that was measured."""

    calibration: tuple[Calibration, ...] = ()
    """Of word scores, one for each label, where thresholds are calibrated."""


class Lessons(NamedTuple):
    """What teachers are given: the encoder each begins with, and sentences as they learn and as they score them."""

    encoder: PreTrainedModel
    train_set: EncodedCorpus
    dev_set: EncodedCorpus
    sentences: Sentences
    dev_sentences: Sentences


@dataclass(frozen=True, slots=True)
class Course:
    """The courses that a training takes: a teacher, if there is one, then the network, then its thresholds."""

    model: ModelConfig
    training: ChosenTrainConfig
    aligner: Aligner
    labels: int
    checkpoints: Checkpoints
    device: torch.device
    on_progress: Callable[[Progress], None]
    word_targets: Sequence[FloatArray] | None
    mask_id: int | None
    """The encoder's mask token, which stands around words that a teacher is shown alone."""

    fit: Fit | None
    """What gives the network its weights at once, if it does not learn them in steps."""

    cluster: Cluster | None = None
    """Where teachers learn side by side."""

    def to_the_end(
        self, encoder: PreTrainedModel, corpus: Corpus[Example], dev: Corpus[Example]
    ) -> tuple[Network, Position, Decided]:
        """The trained network, how its training went, and how its scores become decisions."""
        train_set, dev_set = EncodedCorpus.of(corpus, self.aligner), EncodedCorpus.of(dev, self.aligner)
        if self.word_targets is not None:
            targets = [on_tokens(*pair) for pair in zip(train_set.sentences, self.word_targets, strict=True)]
            train_set = replace(train_set, token_targets=targets)
        elif self.training.teacher_epochs:
            lessons = Lessons(encoder, train_set, dev_set, _sentences(corpus, train_set), _sentences(dev, dev_set))
            said = self._said_by_teachers(lessons)
            targets = token_targets(train_set.sentences, [one.words for one in said])
            train_set = replace(train_set, token_targets=targets)
        torch.manual_seed(self.training.seed)
        network = Network(encoder, self.labels, self.model).to(self.device)
        objective = plain(self.training) if train_set.token_targets is None else taught(self.training)
        around = Around(before=self.training.teachers * self.training.teacher_epochs)
        if self.fit is None:
            position = self._run(network, objective, train_set, dev_set, self.training, self.checkpoints, around)
        else:
            position = fitted(network, self.fit, self.aligner, train_set, dev_set, self.on_progress)
        return network, position, self._decided(network, dev_set, position)

    def _said_by_teachers(self, lessons: Lessons) -> list[PseudoLabels]:
        if self.cluster is not None and self.training.teachers > 1:
            return said_side_by_side(self, lessons, self.cluster)
        return [self.said(number, lessons) for number in range(self.training.teachers)]

    def said(self, number: int, lessons: Lessons) -> PseudoLabels:
        """What a teacher says of the words once it has learnt the sentence labels."""
        teacher = self._teacher(number, lessons)
        return pseudo_labels(teacher, self.aligner, lessons.sentences, lessons.dev_sentences, self.mask_id)

    def _teacher(self, number: int, lessons: Lessons) -> Teacher:
        epochs = self.training.teacher_epochs
        training = replace(self.training, epochs=epochs, seed=(self.training.seed + number * SEEDS_APART) % 2**32)
        torch.manual_seed(training.seed)
        teacher = Teacher(copy.deepcopy(lessons.encoder), self.labels, self.model).to(self.device)
        left = self.training.teachers - number - 1
        around = Around(number * epochs, left * epochs + self.training.epochs, of_teacher=True)
        checkpoints = self.checkpoints.of_teacher(number)
        self._run(teacher, each_head(training), lessons.train_set, lessons.dev_set, training, checkpoints, around)
        return teacher

    def _run(
        self,
        network: Network,
        objective: Objective,
        train_set: EncodedCorpus,
        dev_set: EncodedCorpus,
        training: ChosenTrainConfig,
        checkpoints: Checkpoints,
        around: Around,
    ) -> Position:
        with used_vectors(network.encoder, (*train_set.sentences, *dev_set.sentences), self.aligner.frame):
            run = Run(
                network, objective, self.aligner, train_set, dev_set, training, checkpoints, self.on_progress, around
            )
            return run.to_the_end()

    def _decided(self, network: Network, dev_set: EncodedCorpus, position: Position) -> Decided:
        """There are no words to decide on without word scores."""
        if not self.training.calibrated or not self.model.scores_words:
            return Decided((Rule(),) * self.labels, position.best_f1)
        predictions = predict(TorchPredictor(network), self.aligner, dev_set.sentences)
        words = words_of(dev_set.sentences, predictions)
        sentences = np.stack([one.sentence_scores for one in predictions])
        has_label = dev_set.labels.numpy() > 0
        calibration = tuple(
            calibration_from_sentence_labels([scores[:, k] for scores in words], has_label[:, k])
            for k in range(self.labels)
        )
        rules = tuple(
            rule_from_sentence_labels(its, sentences[:, k], has_label[:, k]) for k, its in enumerate(calibration)
        )
        decided = sentences >= [rule.sentence_threshold for rule in rules]
        return Decided(
            rules, mean_f1(has_label, decided), tuple(map(reliability, sentences.T, has_label.T)), calibration
        )


def _sentences(corpus: Corpus[Example], encoded: EncodedCorpus) -> Sentences:
    words = [example.sentence.words for example in corpus.examples]
    return Sentences(encoded.sentences, words, encoded.labels.numpy() > 0)


def fingerprint(
    corpus: Corpus[Example],
    dev: Corpus[Example],
    model: ModelConfig,
    training: ChosenTrainConfig,
    start: torch.nn.Module,
    word_targets: Sequence[FloatArray] | None = None,
) -> str:
    """A digest of all that a training depends on; the encoder it starts from may be another, in the same place."""
    digest = hashlib.sha256(repr((code_version(), model, training, torch.__version__)).encode())
    for part in (corpus, dev):
        digest.update(repr(part.label_names).encode())
        for example in part.examples:
            digest.update(repr((example.sentence.words, example.sentence.text, example.labels)).encode())
    for weight in start.state_dict().values():
        digest.update(weight.cpu().contiguous().numpy())
    for words in word_targets or ():
        digest.update(words.tobytes())
    return digest.hexdigest()
