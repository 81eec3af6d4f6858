"""What the folder of a plan says about its shards: which are done, by whom others are being done, which have failed."""

from __future__ import annotations

import json
import os
import socket
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TypeVar

from zerotag.bulk.contents import Content
from zerotag.bulk.shards.plan import Plan
from zerotag.bulk.state import State
from zerotag.io.stores import Store

STALE_SECONDS = 60.0  # without a sign of life


def me() -> str:
    """This process, as others see it."""
    return f"{socket.gethostname()}:{os.getpid()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The marker of a shard that is done."""

    plan: str
    worker: str
    labels: Content
    rejects: Content | None
    sentences: int
    words: int
    rejected: int
    seconds: float
    positive_sentences: Mapping[str, int]
    positive_words: Mapping[str, int]

    @property
    def counts(self) -> State:
        """What was found, to be added up."""
        return State(
            sentences=self.sentences,
            words=self.words,
            rejected=self.rejected,
            seconds=self.seconds,
            positive_sentences=Counter(self.positive_sentences),
            positive_words=Counter(self.positive_words),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A sign of life of whoever does a shard."""

    plan: str
    worker: str
    at: float
    """Seconds since 1970, by the worker's clock."""
    share: float = 0.0
    sentences_per_second: float = 0.0
    bytes_per_second: float = 0.0

    @property
    def age(self) -> float:
        """Seconds since then, by ours."""
        return time.time() - self.at

    @property
    def is_stale(self) -> bool:
        """Whether it has not been heard of for long."""
        return self.age > STALE_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Why a shard was given up the last time."""

    plan: str
    worker: str
    error: str
    times: int = 1


_Marker = TypeVar("_Marker", Done, Running, Failed)
_FOLDERS: dict[type[Done | Running | Failed], str] = {Done: "done", Running: "running", Failed: "failed"}
_CONTENTS = ("labels", "rejects")


def total(done: Iterable[Done]) -> State:
    """What some shards found together."""
    counts = State()
    for one in done:
        counts.add(one.counts)
    return counts


class Markers:
    """Those of a plan in a store; what an older plan left does not count."""

    def __init__(self, store: Store, plan: Plan) -> None:
        self._store = store
        self._plan = plan

    def put(self, number: int, marker: Done | Running | Failed) -> None:
        """Write the marker of a shard."""
        self._store.write(_name(type(marker), number), json.dumps(asdict(marker)).encode())

    def remove(self, kind: type[Running | Failed], number: int) -> None:
        """Take one away."""
        self._store.remove(_name(kind, number))

    def find(self, kind: type[_Marker], number: int) -> _Marker | None:
        """The marker of a shard, if it has one."""
        try:
            data = json.loads(self._store.read(_name(kind, number)))
            marker = kind(**{**data, **{name: Content(*data[name]) for name in _CONTENTS if data.get(name)}})
        except (FileNotFoundError, ValueError, LookupError, TypeError):  # not there, or damaged: to be made anew
            return None
        return marker if marker.plan == self._plan.id else None

    def all(self, kind: type[_Marker]) -> dict[int, _Marker]:
        """All of a kind."""
        names = (name.removesuffix(".json") for name in self._store.names(_FOLDERS[kind]))
        found = ((int(name), self.find(kind, int(name))) for name in names if name.isdecimal())
        return {number: marker for number, marker in sorted(found) if marker is not None}

    def done(self, number: int) -> Done | None:
        """The marker of a shard that is done and still there."""
        marker = self.find(Done, number)
        there = marker and self._store.size(self._plan.labels_of(number)) == marker.labels.length
        return marker if there else None


def _name(kind: type[Done | Running | Failed], number: int) -> str:
    return f"{_FOLDERS[kind]}/{number:05d}.json"
