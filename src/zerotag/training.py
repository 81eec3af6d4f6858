"""Training on sentence labels. An `Example` has no place for word labels, so none can get here."""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from zerotag.align import Aligner, Encoded
from zerotag.batching import shuffled
from zerotag.checkpoint import Checkpoints, EpochRecord, Position
from zerotag.config import ModelConfig, TrainConfig
from zerotag.encoders import aligner_for, position_limit, starting_encoder
from zerotag.errors import ZerotagError
from zerotag.inference import best_device, predict
from zerotag.labeller import WordLabeller
from zerotag.metrics import precision_recall_f1
from zerotag.model import Network
from zerotag.optimizers import learning_rate, lower_when_stuck, optimizer, warm_then_linear, warmup_share
from zerotag.split import split
from zerotag.steps import Steps
from zerotag.storage import Manifest
from zerotag.types import Corpus, Example, Rule

FEWEST_SENTENCES = 10
BOTH_NEEDED = "sentences of both kinds are needed"
CHECKPOINT_SECONDS = 30.0
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
    """Best development sentence F1 so far."""

    seconds_left: float | None


def train(
    corpus: Corpus[Example],
    dev: Corpus[Example] | None = None,
    *,
    model: ModelConfig | None = None,
    training: TrainConfig | None = None,
    checkpoints: Path | None = None,
    device: torch.device | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> WordLabeller:
    """Train a word labeller on sentence labels; the best epoch by development sentence F1 is kept.

    With a folder for `checkpoints`, a training that was killed goes on where it was when it is called again with the
    same arguments, and ends with the same model. Delete that folder once the model is saved.
    """
    model, training = model or ModelConfig(), training or TrainConfig()
    check_corpus(corpus, dev)
    if dev is None:
        corpus, dev = split(corpus, training.dev_share, training.seed)
    device = device or best_device()
    with tempfile.TemporaryDirectory() as scratch, reproducible(training.seed, device):
        encoder, tokenizer = starting_encoder(model, [example.sentence for example in corpus.examples])
        model = replace(
            model,
            depth=encoder.config.num_hidden_layers,
            window=min(model.window, position_limit(encoder)),
        )
        training = replace(training, learning_rate=learning_rate(training, encoder.config.hidden_size))
        network = Network(encoder, len(corpus.label_names), model).to(device)
        aligner = aligner_for(model, tokenizer)
        run = Run(
            network,
            aligner,
            EncodedCorpus.of(corpus, aligner),
            EncodedCorpus.of(dev, aligner),
            training,
            Checkpoints(checkpoints or Path(scratch), fingerprint(corpus, dev, model, training)),
            on_progress,
        )
        position = run.to_the_end()
    manifest = Manifest(
        model=model,
        training=training,
        label_names=corpus.label_names,
        negative=corpus.negative,
        rules=tuple(Rule() for _ in corpus.label_names),
        scores={"dev sentence F1": position.best_f1, "best epoch": position.best_epoch + 1},
        sentences={"train": len(corpus), "dev": len(dev)},
    )
    return WordLabeller(network, tokenizer, manifest)


def check_corpus(corpus: Corpus[Example], dev: Corpus[Example] | None) -> None:
    """Refuse data that nothing can be learnt from, and anything that carries word labels."""
    for part in (corpus, dev):
        for example in part.examples if part is not None else ():
            if type(example) is not Example:
                raise TypeError(f"training takes Example, which has no word labels, not {type(example).__name__}")
            if not example.sentence.words:
                raise ZerotagError("a sentence without words cannot be trained on")
    if len(corpus) < FEWEST_SENTENCES:
        raise ZerotagError(f"{len(corpus)} training sentences; at least {FEWEST_SENTENCES} are needed")
    if dev is not None and not dev.examples:
        raise ZerotagError("the development set is empty")
    if dev is not None and dev.label_names != corpus.label_names:
        raise ZerotagError(
            f"the development set has labels {', '.join(dev.label_names)}; training has {', '.join(corpus.label_names)}"
        )
    for k, name in enumerate(corpus.label_names):
        positive = sum(example.labels[k] for example in corpus.examples)
        if positive in (0, len(corpus)):
            which = "every" if positive else "no"
            raise ZerotagError(f"only one class: {which} training sentence has the label {name!r}; {BOTH_NEEDED}")
    if not corpus.label_names:
        raise ZerotagError(f"only one class: no training sentence has a label; {BOTH_NEEDED}")


@contextmanager
def reproducible(seed: int, device: torch.device) -> Iterator[None]:
    """Draw everything random from the seed, by deterministic algorithms, and leave the caller's state alone."""
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    memory: Any = torch.utils.deterministic
    filling = memory.fill_uninitialized_memory
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS may vary
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(True, warn_only=True)
        memory.fill_uninitialized_memory = False  # finds errors, but costs a fifth of the time
        try:
            yield
        finally:
            memory.fill_uninitialized_memory = filling
            torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)


def fingerprint(corpus: Corpus[Example], dev: Corpus[Example], model: ModelConfig, training: TrainConfig) -> str:
    """A digest of all that a training depends on."""
    digest = hashlib.sha256(repr((model, training, torch.__version__)).encode())
    for part in (corpus, dev):
        digest.update(repr(part.label_names).encode())
        for example in part.examples:
            digest.update(repr((example.sentence.words, example.sentence.text, example.labels)).encode())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class EncodedCorpus:
    """Sentences as sub-words, and their labels as numbers: (sentences, labels)."""

    sentences: list[Encoded]
    labels: Tensor

    @classmethod
    def of(cls, corpus: Corpus[Example], aligner: Aligner) -> EncodedCorpus:
        """Encode a corpus once, for all epochs."""
        sentences = aligner.encode([example.sentence for example in corpus.examples])
        return cls(sentences, torch.tensor([example.labels for example in corpus.examples], dtype=torch.float32))


class Run:
    """One training, from wherever it was left to its end."""

    def __init__(
        self,
        network: Network,
        aligner: Aligner,
        train_set: EncodedCorpus,
        dev_set: EncodedCorpus,
        training: TrainConfig,
        checkpoints: Checkpoints,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._network = network
        self._aligner = aligner
        self._train_set = train_set
        self._dev_set = dev_set
        self._training = training
        self._checkpoints = checkpoints
        self._on_progress = on_progress
        self._device = next(network.parameters()).device
        self._optimizer = optimizer(network, training)
        self._steps = Steps(network, self._optimizer, training)
        self._steps_per_epoch = math.ceil(len(train_set.sentences) / training.batch_size)
        self._all_steps = self._steps_per_epoch * training.epochs
        self._position = checkpoints.resume(network, self._optimizer)
        self._resumed_at = self._steps_done
        self._started = self._saved = self._reported = time.monotonic()
        self._losses: list[Tensor] = []
        self._saving_took = 0.0

    @property
    def _steps_done(self) -> int:
        return self._position.epoch * self._steps_per_epoch + self._position.step

    def to_the_end(self) -> Position:
        """Train until the epochs or the patience are used up; the network then has its best weights."""
        while not self._position.finished:
            self._epoch()
        self._checkpoints.load_best(self._network, self._position.best_epoch)
        self._network.eval()
        return self._position

    def _epoch(self) -> None:
        position, training = self._position, self._training
        lengths = [len(sentence) for sentence in self._train_set.sentences]
        batches = shuffled(lengths, training.batch_size, seed=training.seed, epoch=position.epoch)
        for batch in batches[position.step :]:
            self._step(batch)
            position.step += 1
            now = time.monotonic()
            if now - self._reported >= REPORT_SECONDS:
                self._report()
            if now - self._saved > max(CHECKPOINT_SECONDS, 20 * self._saving_took):
                self._save()
        self._settle_losses()
        record = EpochRecord(position.loss_sum / position.step, *self._on_dev())
        if record.dev_f1 >= self._good_enough():
            position.best_epoch = position.epoch
            self._checkpoints.save_best(self._network, position.epoch)
        position.history.append(record)
        position.epoch, position.step, position.loss_sum = position.epoch + 1, 0, 0.0
        waited = position.epoch - 1 - position.best_epoch
        position.finished = position.epoch == training.epochs or waited >= training.patience
        self._report()
        self._save()

    def _step(self, indices: Sequence[int]) -> None:
        sentences = [self._train_set.sentences[i] for i in indices]
        value = self._steps.take(
            self._aligner.batch(sentences, length_step=self._steps.length_step),
            self._train_set.labels[indices],
            rate=self._rate(),
            # Dropout is drawn from the step's own seed: a resumed training draws what the undisturbed one would have.
            seed=self._training.seed * 1_000_003 + self._steps_done,
        )
        self._losses.append(value)

    def _settle_losses(self) -> None:
        """Add up the losses of the last steps. Not after each step: reading one makes the host wait for the GPU."""
        for number in torch.stack(self._losses).tolist() if self._losses else ():
            self._position.loss_sum += number
        self._losses.clear()
        if not math.isfinite(self._position.loss_sum):
            self._checkpoints.delete()
            raise ZerotagError(
                f"the training diverged (loss {self._position.loss_sum} in epoch {self._position.epoch + 1}): "
                f"choose a learning rate below {self._training.learning_rate}"
            )

    def _rate(self) -> float:
        training = self._training
        assert training.learning_rate is not None
        if training.optimizer == "adadelta":
            return training.learning_rate * lower_when_stuck([epoch.dev_f1 for epoch in self._position.history])
        return training.learning_rate * warm_then_linear(self._steps_done, self._all_steps, warmup_share(training))

    def _on_dev(self) -> tuple[float, float]:
        """Sentence F1 (mean over labels) and cross-entropy on the development set."""
        predictions = predict(self._network, self._aligner, self._dev_set.sentences)
        scores = np.stack([p.sentence_scores for p in predictions])
        gold = self._dev_set.labels.numpy() > 0
        decided = scores >= Rule().sentence_threshold
        f1 = np.mean([precision_recall_f1(gold[:, k], decided[:, k]).f1 for k in range(gold.shape[1])])
        cross_entropy = -np.log(np.clip(np.where(gold, scores, 1 - scores), 1e-7, None)).mean()
        return float(f1), float(cross_entropy)

    def _good_enough(self) -> float:
        """The development F1 that makes an epoch one of the best, given those before it."""
        highest = max((epoch.dev_f1 for epoch in self._position.history), default=0.0)
        positives = float(self._dev_set.labels.sum())
        return highest - self._training.tolerance * math.sqrt(highest * (1 - highest) / max(1.0, positives))

    def _save(self) -> None:
        start = time.monotonic()
        self._settle_losses()
        self._checkpoints.save(self._network, self._optimizer, self._position)
        self._saved = time.monotonic()
        self._saving_took = self._saved - start

    def _report(self) -> None:
        self._settle_losses()
        self._reported = time.monotonic()
        position, done = self._position, self._steps_done
        pace = (time.monotonic() - self._started) / max(1, done - self._resumed_at)
        last_loss = position.history[-1].loss if position.step == 0 else position.loss_sum / position.step
        self._on_progress(
            Progress(
                epoch=position.epoch + (0 if position.step == 0 else 1),
                epochs=self._training.epochs,
                epochs_done=position.epoch,
                steps_done=self._all_steps if position.finished else done,
                steps=self._all_steps,
                loss=last_loss,
                best_f1=position.best_f1 if position.history else None,
                seconds_left=0.0 if position.finished else pace * (self._all_steps - done),
            )
        )
