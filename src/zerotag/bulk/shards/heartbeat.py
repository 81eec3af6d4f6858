"""Signs of life of whoever does a shard."""

from __future__ import annotations

from threading import Event, Thread
from time import monotonic, time
from types import TracebackType
from typing import Self

from zerotag.bulk.run import Progress
from zerotag.bulk.shards.markers import STALE_SECONDS, Markers, Running, me
from zerotag.errors import ZerotagError

_SECONDS = STALE_SECONDS / 6


class Heartbeat:
    """A context in which a shard of so many bytes is marked as running, time and again; then the mark is taken away."""

    def __init__(self, markers: Markers, plan: str, number: int, size: int) -> None:
        self._markers = markers
        self._plan = plan
        self._number = number
        self._size = size
        self._begun = monotonic()
        self._share_at_first: float | None = None
        self._progress = Progress(0.0, 0, 0, 0.0, None)
        self._end = Event()
        self._thread = Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._mark()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        self._thread.join()
        self._markers.remove(Running, self._number)

    def see(self, progress: Progress) -> None:
        """Take in how far the shard is."""
        if self._share_at_first is None:
            self._share_at_first = progress.share or 0.0
            self._begun = monotonic()
        self._progress = progress

    def _beat(self) -> None:
        while not self._end.wait(_SECONDS):
            try:
                self._mark()
            except (ZerotagError, OSError):
                continue  # the next one may succeed, and the work goes on without

    def _mark(self) -> None:
        share = self._progress.share or 0.0
        done = (share - (self._share_at_first or 0.0)) * self._size
        self._markers.put(
            self._number,
            Running(
                plan=self._plan,
                worker=me(),
                at=time(),
                share=share,
                sentences_per_second=self._progress.rate,
                bytes_per_second=done / max(monotonic() - self._begun, 1e-9),
            ),
        )
