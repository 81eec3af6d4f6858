"""One course of training, from wherever it was left to its end: steps, epochs, checkpoints, progress."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from zerotag.config import OPTIMIZERS, ChosenTrainConfig
from zerotag.errors import ZerotagError
from zerotag.evaluation.metrics import precision_recall_f1
from zerotag.inference.predictor import predict
from zerotag.inference.torch_predictor import TorchPredictor
from zerotag.modeling.encoders import Fit
from zerotag.modeling.losses import Share
from zerotag.modeling.network import Network
from zerotag.text.alignment import Aligner, Encoded
from zerotag.text.batches import Batch
from zerotag.text.batching import shuffled, within_budget
from zerotag.training.checkpoints import Checkpoints, EpochRecord, Position
from zerotag.training.objectives import Objective
from zerotag.training.optimizers import optimizer
from zerotag.training.steps import Part, Steps
from zerotag.types import BoolArray, Corpus, Example, FloatArray, Rule

CHECKPOINT_SECONDS = 30.0
SAVINGS_APART = 20  # a checkpoint is written after so many times what the last one took
REPORT_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a training is, after each step and each epoch."""

    epoch: int
    """The one under way, from 1."""

    epochs: int
    epochs_done: int
    steps_done: int
    steps: int
    loss: float
    """Mean over the epoch so far."""

    best_f1: float | None
    """Development sentence F1 of the epoch that would be kept."""

    seconds_left: float | None

    of_teacher: bool = False
    """Whether it is a teacher that learns; loss and F1 are then not those of the model."""

    stopped: bool = False
    """Whether it has ended before its last epoch."""


@dataclass(frozen=True, slots=True, eq=False)
class EncodedCorpus:
    """Sentences as sub-words, and their labels as numbers: (sentences, labels)."""

    sentences: list[Encoded]
    labels: Tensor
    token_targets: list[FloatArray] | None = None
    """What each token should score, (tokens, K), where a teacher said so."""

    @classmethod
    def of(cls, corpus: Corpus[Example], aligner: Aligner) -> EncodedCorpus:
        """Encode a corpus once, for all epochs."""
        sentences = aligner.encode([example.sentence for example in corpus.examples])
        return cls(sentences, torch.tensor([example.labels for example in corpus.examples], dtype=torch.float32))


def mean_f1(gold: BoolArray, decided: BoolArray) -> float:
    """Of sentences, (sentences, labels), over labels."""
    return float(np.mean([precision_recall_f1(gold[:, k], decided[:, k]).f1 for k in range(gold.shape[1])]))


def on_dev(network: Network, aligner: Aligner, dev_set: EncodedCorpus) -> tuple[float, float]:
    """Sentence F1 (mean over labels) and cross-entropy on the development set."""
    predictions = predict(TorchPredictor(network), aligner, dev_set.sentences)
    scores = np.stack([p.sentence_scores for p in predictions])
    gold = dev_set.labels.numpy() > 0
    decided = scores >= Rule().sentence_threshold
    cross_entropy = -np.log(np.clip(np.where(gold, scores, 1 - scores), 1e-7, None)).mean()
    return mean_f1(gold, decided), float(cross_entropy)


def fitted(
    network: Network,
    fit: Fit,
    aligner: Aligner,
    train_set: EncodedCorpus,
    dev_set: EncodedCorpus,
    on_progress: Callable[[Progress], None],
) -> Position:
    """Give a network its weights at once; the position is that of a training which has ended after one epoch."""
    started = Progress(
        epoch=1, epochs=1, epochs_done=0, steps_done=0, steps=1, loss=0.0, best_f1=None, seconds_left=None
    )
    on_progress(started)
    fit(network, train_set.sentences, train_set.labels.numpy() > 0, dev_set.sentences, dev_set.labels.numpy() > 0)
    network.eval()
    f1, loss = on_dev(network, aligner, dev_set)
    on_progress(replace(started, epochs_done=1, steps_done=1, loss=loss, best_f1=f1, seconds_left=0.0))
    return Position(epoch=1, history=[EpochRecord(loss, f1, loss)], best_epoch=0, finished=True)


@dataclass(frozen=True, slots=True)
class Around:
    """The epochs of other runs that belong to the same training, for progress and estimates."""

    before: int = 0
    after: int = 0
    of_teacher: bool = False


@dataclass(eq=False)
class Run:
    """Trains a network for some epochs towards an objective, from wherever that was left to its end."""

    network: Network
    objective: Objective
    aligner: Aligner
    train_set: EncodedCorpus
    dev_set: EncodedCorpus
    training: ChosenTrainConfig
    checkpoints: Checkpoints
    on_progress: Callable[[Progress], None]
    around: Around

    def __post_init__(self) -> None:
        self._optimizer = optimizer(self.network, self.training)
        self._steps_per_epoch = math.ceil(len(self.train_set.sentences) / self.training.batch_size)
        self._all_steps = self._steps_per_epoch * self.training.epochs
        self._position = self.checkpoints.resume(self.network, self._optimizer)
        clips = OPTIMIZERS.get(self.training.optimizer).clips
        self._steps = Steps(self.network, self.objective, self._optimizer, clipped=clips)
        self._resumed_at = self._steps_done
        self._started = self._saved = time.monotonic()
        self._reported = -math.inf  # the first step is reported at once: it says where the training goes on
        self._losses: list[Tensor] = []
        self._best_weights: dict[str, Tensor] = {}  # those of the best epoch, until they are on disk
        self._saving_took = 0.0

    @property
    def _steps_done(self) -> int:
        return self._position.epoch * self._steps_per_epoch + self._position.step

    def to_the_end(self) -> Position:
        """Train until the epochs or the patience are used up; the network then has its best weights."""
        while not self._position.finished:
            self._epoch()
        self.checkpoints.load_best(self.network, self._position.best_epoch)
        self.network.eval()
        return self._position

    def _epoch(self) -> None:
        position, training = self._position, self.training
        lengths = [len(sentence) for sentence in self.train_set.sentences]
        by_length = training.group_by_length
        batches = shuffled(
            lengths, self.training.batch_size, seed=training.seed, epoch=position.epoch, by_length=by_length
        )
        for batch in batches[position.step :]:
            self._step(batch)
            position.step += 1
            if time.monotonic() - self._reported >= REPORT_SECONDS:
                self._report()
            if self._checkpoint_is_due:
                self._save()
        self._settle_losses()
        record = EpochRecord(position.loss_sum / position.step, *on_dev(self.network, self.aligner, self.dev_set))
        if record.dev_f1 >= self._good_enough():
            position.best_epoch = position.epoch
            self._best_weights = {name: weight.clone() for name, weight in self.network.state_dict().items()}
        position.history.append(record)
        position.epoch, position.step, position.loss_sum = position.epoch + 1, 0, 0.0
        waited = position.epoch - 1 - position.best_epoch
        position.finished = position.epoch == self.training.epochs or waited >= training.patience
        self._report()
        if position.finished or self._checkpoint_is_due:
            self._save()

    def _step(self, indices: Sequence[int]) -> None:
        value = self._steps.take(
            self._parts(indices),
            rate=self._rate(),
            # Dropout is drawn from the step's own seed: a resumed training draws what the undisturbed one would have.
            seed=self.training.seed * 1_000_003 + self._steps_done,
        )
        self._losses.append(value)

    def _parts(self, indices: Sequence[int]) -> list[Part]:
        sentences = self.train_set.sentences
        costs = [self.aligner.cost(sentences[i]) for i in indices]
        groups = [[indices[i] for i in group] for group in within_budget(costs, self._steps.token_budget)]
        batches = [
            self.aligner.batch([sentences[i] for i in group], length_step=self._steps.length_step) for group in groups
        ]
        tokens = [int(batch.token_mask.sum()) for batch in batches]
        return [
            self._part(group, batch, Share(len(group) / len(indices), its_tokens / max(1, sum(tokens))))
            for group, batch, its_tokens in zip(groups, batches, tokens, strict=True)
        ]

    def _part(self, indices: list[int], batch: Batch, share: Share) -> Part:
        corpus = self.train_set
        targets = None
        if corpus.token_targets is not None:
            targets = torch.from_numpy(self.aligner.spread(batch, [corpus.token_targets[i] for i in indices]))
        return Part(batch, corpus.labels[indices], targets, share)

    def _settle_losses(self) -> None:
        """Add up the losses of the last steps. Not after each step: reading one makes the host wait for the GPU."""
        for number in torch.stack(self._losses).tolist() if self._losses else ():
            self._position.loss_sum += number
        self._losses.clear()
        if not math.isfinite(self._position.loss_sum):
            self.checkpoints.delete()
            raise ZerotagError(
                f"the training diverged (loss {self._position.loss_sum} in epoch {self._position.epoch + 1}): "
                f"choose a learning rate below {self.training.learning_rate}"
            )

    def _rate(self) -> float:
        training, dev_f1s = self.training, [epoch.dev_f1 for epoch in self._position.history]
        share = OPTIMIZERS.get(training.optimizer).rate(training, self._steps_done, self._all_steps, dev_f1s)
        return training.learning_rate * share

    def _good_enough(self) -> float:
        """The development F1 that makes an epoch one of the best, given those before it."""
        highest = max((epoch.dev_f1 for epoch in self._position.history), default=0.0)
        positives = float(self.dev_set.labels.sum())
        return highest - self.training.tolerance * math.sqrt(highest * (1 - highest) / max(1.0, positives))

    @property
    def _checkpoint_is_due(self) -> bool:
        return time.monotonic() - self._saved > max(CHECKPOINT_SECONDS, SAVINGS_APART * self._saving_took)

    def _save(self) -> None:
        start = time.monotonic()
        self._settle_losses()
        if self._best_weights:
            self.checkpoints.save_best(self._best_weights, self._position.best_epoch)
            self._best_weights = {}
        self.checkpoints.save(self.network, self._optimizer, self._position)
        self._saved = time.monotonic()
        self._saving_took = self._saved - start

    def _report(self) -> None:
        self._settle_losses()
        self._reported = time.monotonic()
        position, around, per_epoch = self._position, self.around, self._steps_per_epoch
        done = self._all_steps if position.finished else self._steps_done
        left = self._all_steps - done + around.after * per_epoch
        pace = (time.monotonic() - self._started) / max(1, self._steps_done - self._resumed_at)
        last_loss = position.history[-1].loss if position.step == 0 else position.loss_sum / position.step
        reached = Progress(
            epoch=around.before + position.epoch + (0 if position.step == 0 else 1),
            epochs=around.before + self.training.epochs + around.after,
            epochs_done=around.before + position.epoch,
            steps_done=around.before * per_epoch + done,
            steps=around.before * per_epoch + done + left,
            loss=last_loss,
            best_f1=position.best_f1 if position.history else None,
            seconds_left=pace * left,
            of_teacher=around.of_teacher,
            stopped=position.finished and position.epoch < self.training.epochs,
        )
        try:
            self.on_progress(reached)
        except BaseException:
            self._save()  # whoever is told may end it: between two steps, nothing is lost
            raise
