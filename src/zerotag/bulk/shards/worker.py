"""Doing the shards of a plan, each in one go and by anybody.

A shard is labelled in a work folder, where whoever comes after a kill goes on; then its files are moved to their
places, and last of all its marker is written, which says what they hold. So a shard is done or not, whatever happens,
and if two do the same one, both write the same.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from hashlib import blake2b, file_digest
from pathlib import Path
from types import TracebackType
from typing import Self

from zerotag.bulk.contents import Content
from zerotag.bulk.journal import record_of, rejects_of, unfinished
from zerotag.bulk.pipeline import Overlap, overlap_for
from zerotag.bulk.run import Progress, Run, label_to_file
from zerotag.bulk.shards.cutting import check_unchanged
from zerotag.bulk.shards.heartbeat import Heartbeat
from zerotag.bulk.shards.markers import Done, Failed, Markers, Running, me
from zerotag.bulk.shards.plan import PLAN, Model, Plan, Shard
from zerotag.bulk.state import State
from zerotag.errors import ZerotagError
from zerotag.explain import create, rules_for
from zerotag.io.files import disk
from zerotag.io.hub import located
from zerotag.io.locks import BusyError
from zerotag.io.stores import Store
from zerotag.io.writers.appendable import encoder
from zerotag.io.writers.style import Style
from zerotag.labeller import Labeller, load
from zerotag.parallel.threads import computing_with

_LABELS = "labels"  # in a work folder
_PATIENCE = 2.0  # seconds until somebody looks again whether others have come to an end

Show = Callable[[int, Progress], None]


class Worker:
    """A context in which shards are done with one model, which is loaded for the first that is to be done.

    Args:
        plan: the plan.
        store: its folder.
        model: where the model is, if not where the plan says.
        device: which one of the plan's kind.
        show: is told of the progress of each shard.
    """

    def __init__(
        self,
        plan: Plan,
        store: Store,
        *,
        model: str | None = None,
        device: str | None = None,
        show: Show = lambda _number, _progress: None,
    ) -> None:
        self.plan = plan
        self.markers = Markers(store, plan)
        self._store = store
        self._model = model or plan.model.name
        self._device = device or plan.options.device
        self._show = show
        self._open = ExitStack()
        if self._device.partition(":")[0] != plan.options.device:
            raise ZerotagError(f"the plan is for {plan.options.device}, not for {self._device}: plan anew for that")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    @cached_property
    def _labeller(self) -> Labeller:
        if Model.of(self._model).sha256 != self.plan.model.sha256:
            raise ZerotagError(f"{self._model} is another model than the plan's, or another revision of it")
        options = self.plan.options
        labeller = load(located(self._model), device=None if options.device == "cpu" else self._device)
        labeller = labeller.with_rules(rules_for(options.method, labeller.rules))
        return labeller if options.threshold is None else labeller.with_threshold(options.threshold)

    @cached_property
    def _overlap(self) -> Overlap | None:
        return self._open.enter_context(overlap_for(self._labeller, self.plan.options.method))

    def do(self, number: int, *, again: bool = False, give_way: bool = False) -> Done:
        """Do a shard, unless it is done or is to be done again.

        Args:
            number: which one.
            again: even if it is done.
            give_way: raise BusyError if another process gave a sign of life, and not only if it holds the lock.
        """
        shard = self.plan.shard(number)
        done = self.markers.done(number)
        if done and not again:
            return done
        with self._store.work_folder(f"{self.plan.id[:8]}-{number:05d}") as work:
            if give_way and not work.ours_alone:
                self._check_no_sign_of_life(number)
            with self._failure_marked(number), Heartbeat(self.markers, self.plan.id, number, shard.bytes) as heartbeat:
                self._check_plan()
                with computing_with(self.plan.options.threads):
                    state = self._label(number, shard, work.folder, heartbeat)
                return self._hand_in(number, work.folder, state)

    def _label(self, number: int, shard: Shard, work: Path, heartbeat: Heartbeat) -> State:
        """Have the output in the work folder, whole."""
        labeller, inputs, options = self._labeller, self.plan.inputs_of(shard), self.plan.options
        check_unchanged(inputs, shard)
        inputs.check()
        inputs.split_by(labeller.manifest.model.segmenter)

        def show(progress: Progress) -> None:
            heartbeat.see(progress)
            self._show(number, progress)

        run = Run(
            inputs=inputs,
            scorer=create(options.method, labeller),
            label_names=labeller.label_names,
            rules=labeller.rules,
            at_once=options.at_once,
            strict=options.strict,
            may_be_empty=True,
            show=show,
            overlap=self._overlap,
        )
        style = Style(
            label_names=labeller.label_names,
            rules=labeller.rules,
            title="",
            negative=labeller.manifest.negative,
            of_documents=options.split_sentences,
        )
        its_encoder = encoder(options.form, style)
        arguments, beginning = {"plan": self.plan.id, "shard": number}, its_encoder.beginning
        with unfinished(work / _LABELS, arguments, resume=True, overwrite=True, beginning=beginning) as output:
            output.state.cursor = max(output.state.cursor, shard.start)
            label_to_file(run, output, its_encoder)
            return output.state

    def _hand_in(self, number: int, work: Path, state: State) -> Done:
        """Move the files to their places, and say that all is done."""
        labels, rejects = work / _LABELS, rejects_of(work / _LABELS)
        marker = Done(
            plan=self.plan.id,
            worker=me(),
            labels=content_of(labels),
            rejects=content_of(rejects) if rejects.exists() else None,
            sentences=state.sentences,
            words=state.words,
            rejected=state.rejected,
            seconds=state.seconds,
            positive_sentences=dict(state.positive_sentences),
            positive_words=dict(state.positive_words),
        )
        if rejects.exists():
            self._store.take(rejects, self.plan.rejects_of(number))
        self._store.take(labels, self.plan.labels_of(number))
        self.markers.put(number, marker)
        self.markers.remove(Failed, number)
        disk.remove(record_of(work / _LABELS))
        return marker

    def _check_plan(self) -> None:
        """Refuse to go on with a plan that was replaced meanwhile."""
        if self._store.read(PLAN) != self.plan.as_bytes():
            raise ZerotagError(f"{self._store.place}/{PLAN} is another plan by now: start anew")

    def _check_no_sign_of_life(self, number: int) -> None:
        other = self.markers.find(Running, number)
        if other and not other.is_stale:
            raise BusyError(f"shard {number} is being done by {other.worker}")

    @contextmanager
    def _failure_marked(self, number: int) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            before = self.markers.find(Failed, number)
            reason = str(error) if isinstance(error, ZerotagError) else repr(error)
            with suppress(ZerotagError, OSError):  # what is told is the first error
                self.markers.put(
                    number,
                    Failed(plan=self.plan.id, worker=me(), error=reason, times=before.times + 1 if before else 1),
                )
            raise


def content_of(file: Path) -> Content:
    """How long a file is, and its digest."""
    with file.open("rb") as opened:
        found = file_digest(opened, lambda: blake2b(digest_size=20))
        return Content(opened.tell(), found.hexdigest())


def do_all(worker: Worker, say: Callable[[str], None]) -> list[int]:
    """Do whatever nobody else does, until all is done; the shards that could not be done.

    Any number of processes may do the same. Each begins somewhere else, and takes over what others leave behind.
    """
    count = len(worker.plan.shards)
    first = random.randrange(count)
    left = [*range(first, count), *range(first)]
    failed = []
    while left:
        busy = []
        for number in left:
            try:
                worker.do(number, give_way=True)
            except BusyError:
                busy.append(number)
            except ZerotagError as error:
                failed.append(number)
                say(f"shard {number}: {error}")
        if len(busy) == len(left):
            time.sleep(_PATIENCE)
        left = busy
    return sorted(failed)
