"""The models of a service: each with a batch queue for its own word scores and one for other methods."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import math
import os
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from zerotag.errors import ZerotagError
from zerotag.explain import NATIVE, SCORERS, Scorer, create, rules_for, spec_of
from zerotag.explain.native import NativeScorer
from zerotag.inference.predictor import Predictor
from zerotag.io.writers.jsonl import render_scored
from zerotag.io.writers.style import Style
from zerotag.labeller import Labeller, WordLabeller
from zerotag.parallel.processors import threads
from zerotag.serve.batch_queue import BatchQueue
from zerotag.serve.metrics import Metrics
from zerotag.serve.settings import Settings
from zerotag.types import Rule, Scored, Sentence

_MOST_WORKERS = 4


class Task(NamedTuple):
    """How sentences are to be labelled: by which method, and by which rules."""

    method: str
    rules: tuple[Rule, ...]


class ServedModel:
    """A model with a queue for its own word scores, and one for all other methods, which take much longer."""

    def __init__(self, name: str, labeller: Labeller, settings: Settings, metrics: Metrics) -> None:
        self.name = name
        self.labeller = labeller
        # Some methods change the encoder while they look at it: they have one of their own, with the same weights.
        self._explained = _with_shared_weights(labeller) if isinstance(labeller, WordLabeller) else None
        self._scorers = _scorers(self._explained)
        if labeller.manifest.model.scores_words:
            native = NativeScorer(SmallerBatches(labeller.predictor), labeller.aligner)
            self._scorers = {NATIVE: native, **self._scorers}
        self.methods = (*self._scorers,)
        # Labels and rules of another model must not be taken for this one's: what a client knows has a name.
        self.revision = hashlib.sha256(repr(labeller.manifest).encode()).hexdigest()[:12]
        batch = labeller.predictor.token_budget
        workers, each = _workers_and_threads(labeller)
        self.native = BatchQueue(
            f"{name}-native",
            self.label,
            subwords,
            capacity=settings.queue or 3 * batch,
            batch_cost=batch,
            workers=settings.workers or workers,
            prepare_thread=partial(_use_threads, labeller, each),
        )
        self.explain = BatchQueue(
            f"{name}-explain",
            self.label,
            lambda _: 1,
            capacity=settings.explain_queue,
            batch_cost=1,
            prepare_thread=_yield_to_others,
        )
        self._metrics = metrics

    def queue_for(self, method: str) -> BatchQueue:
        """Where jobs of a method wait; raises ZerotagError if the model cannot do it."""
        if method not in self._scorers:  # none of those that are offered, but perhaps one of many attention heads
            if self._explained is None or method == NATIVE:
                raise ZerotagError(f"this model has no such method; there are: {', '.join(self.methods)}")
            self._scorers[method] = create(method, self._explained)
        return self.native if method == NATIVE else self.explain

    def task(self, method: str, threshold: float | Mapping[str, float] | None = None) -> Task:
        """What to do for a request; raises ZerotagError if the threshold is none, or for a label that is not there."""
        decider = self.labeller.with_rules(rules_for(method, self.labeller.rules))
        return Task(method, (decider if threshold is None else decider.with_threshold(threshold)).rules)

    def start(self) -> None:
        """Begin to work."""
        for kind, queue in (("native", self.native), ("explain", self.explain)):
            queue.on_batch = self._metrics.watch_queue(self.name, kind, queue)
            queue.start()

    @property
    def queues(self) -> tuple[BatchQueue, BatchQueue]:
        """Both queues."""
        return self.native, self.explain

    async def close(self) -> None:
        """Finish what was accepted, and end."""
        await asyncio.gather(self.native.close(), self.explain.close())

    def describe(self) -> dict[str, Any]:
        """All that clients may know of it."""
        manifest = self.labeller.manifest
        return {
            "name": self.name,
            "revision": self.revision,
            "labels": list(manifest.label_names),
            "rules": self._described(manifest.rules),
            "segmenter": manifest.model.segmenter,
            "methods": list(self.methods),
            "rules_by_method": {method: self._described(rules_for(method, manifest.rules)) for method in self.methods},
            "encoder": Path(manifest.model.encoder).name,  # not the place it once had on somebody's disk
            "depth": manifest.model.depth,
            "word_labels": dict(manifest.word_labels),
            "scores": {name: score for name, score in manifest.scores.items() if math.isfinite(score)},
        }

    def _described(self, rules: Sequence[Rule]) -> dict[str, Any]:
        return {name: asdict(rule) for name, rule in zip(self.labeller.label_names, rules, strict=True)}

    def label(self, task: Task, sentences: Sequence[Sentence]) -> list[str]:
        """A record of JSON lines for each sentence: what the threads of both queues do."""
        return self.records(task, self._scorers[task.method].score(sentences))

    def records(self, task: Task, scored: Iterable[Scored]) -> list[str]:
        """The records of scored sentences."""
        style = Style(label_names=self.labeller.label_names, rules=task.rules, title=self.name)
        return [line.rstrip("\n") for line in render_scored([*scored], style)]


class SmallerBatches:
    """A predictor whose batches are smaller: a queue's batch has too few sentences of like length for large ones."""

    def __init__(self, predictor: Predictor) -> None:
        self.token_budget = predictor.token_budget // 2
        self.probabilities = predictor.probabilities


def subwords(sentence: Sentence) -> int:
    """About how many sub-words a sentence takes, without the time that counting them would take."""
    size = len(sentence.text) if sentence.text.isascii() else len(sentence.text.encode("utf-8", "surrogatepass"))
    return max(len(sentence.words), size // 4) + 2


def _scorers(labeller: WordLabeller | None) -> dict[str, Scorer]:
    """The methods, other than the model's own scores, that work with a model."""
    scorers: dict[str, Scorer] = {}
    if labeller is not None:
        for method in SCORERS.names():
            # One that cannot be imported, or needs what this model has not, is not offered.
            with suppress(ZerotagError):
                if method != NATIVE and spec_of(method).served:
                    scorers[method] = create(method, labeller)
    return scorers


def _with_shared_weights(labeller: WordLabeller) -> WordLabeller:
    network = labeller.network
    tensors = [*network.parameters(), *network.buffers()]
    twin = copy.deepcopy(network, {id(tensor): tensor for tensor in tensors})
    return WordLabeller(twin, labeller.tokenizer, labeller.manifest)


def _workers_and_threads(labeller: Labeller) -> tuple[int, int]:
    """How many batches a device works on at once, and on how many threads each.

    Several batches on one thread each get more out of a processor than one batch on several threads. More than a few
    would wait for one another's turn in Python, and a GPU takes one batch at a time.
    """
    if isinstance(labeller, WordLabeller) and next(labeller.network.parameters()).is_cuda:
        return 1, 1
    workers = min(_MOST_WORKERS, threads())
    return workers, threads() // workers


def _use_threads(labeller: Labeller, threads: int) -> None:
    if isinstance(labeller, WordLabeller):  # ONNX Runtime has threads of its own
        import torch

        torch.set_num_threads(threads)


def _yield_to_others() -> None:
    """Have this thread, and those it starts, run when the others leave time; only Linux can do that."""
    if sys.platform == "linux":
        with suppress(OSError):
            lower = min(19, os.getpriority(os.PRIO_PROCESS, 0) + 15)
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), lower)
