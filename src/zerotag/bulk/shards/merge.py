"""One file of all shards: the one that a single run would have written."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from zerotag.bulk.contents import Content
from zerotag.bulk.journal import record_of, rejects_of
from zerotag.bulk.shards.markers import Markers, total
from zerotag.bulk.shards.plan import Plan
from zerotag.bulk.state import State
from zerotag.errors import ZerotagError
from zerotag.io.files import disk, explained, make_folders, put
from zerotag.io.stores import Store

_PIECE = 1 << 20  # bytes

Join = Callable[[Sequence[Callable[[], BinaryIO]], Path], None]
Advance = Callable[[int], None]


def merge(plan: Plan, store: Store, target: Path, advance: Advance = lambda _: None) -> State:
    """Write all that the shards of a plan hold into one file, and beside it their rejected records; what they found.

    Each shard is checked against its marker, and what is not as it says is in no file.
    """
    join = plan.options.form.writer.join
    if plan.options.form.writer.assemble and not join:
        raise ZerotagError(
            f"shards of {plan.options.form.format} cannot be merged; use their folder, {store.place}/labels"
        )
    markers = Markers(store, plan)
    done = {number: marker for number in range(len(plan.shards)) if (marker := markers.done(number))}
    missing = [number for number in range(len(plan.shards)) if number not in done]
    if missing:
        more = f" and {len(missing) - 1:,} others" if len(missing) > 1 else ""
        raise ZerotagError(f"shard {missing[0]}{more} of {store.place} are not done; --status says more")
    with explained(target), ExitStack() as leaving:
        make_folders(target.parent)
        beside = [target.with_name(f".{target.name}.{uuid.uuid4().hex}") for _ in range(2)]
        for new in beside:
            leaving.callback(disk.remove, new)
        labels, rejects = beside
        names = [(plan.labels_of(number), marker.labels) for number, marker in done.items()]
        if join:
            _merge(store, names, labels, join, advance)
        else:
            _concatenate(store, names, labels, advance)
        rejected = [(plan.rejects_of(number), marker.rejects) for number, marker in done.items() if marker.rejects]
        _concatenate(store, rejected, rejects, advance)
        disk.remove(record_of(target))  # that of another file
        put(labels, target)
        if rejected:
            put(rejects, rejects_of(target))
        else:
            disk.remove(rejects_of(target))
    return total(done.values())


def _concatenate(store: Store, names: Sequence[tuple[str, Content]], target: Path, advance: Advance) -> None:
    with target.open("xb") as file:
        for name, content in names:
            for piece in _checked(store, name, content):
                file.write(piece)
                advance(len(piece))


def _merge(store: Store, names: Sequence[tuple[str, Content]], target: Path, join: Join, advance: Advance) -> None:
    for name, content in names:
        for piece in _checked(store, name, content):
            advance(len(piece))
    join([partial(store.opened, name) for name, _ in names], target)


def _checked(store: Store, name: str, content: Content) -> Iterator[bytes]:
    """The bytes of a file; an error in the end if they are others than were written."""
    found = blake2b(digest_size=20)
    length = 0
    with store.opened(name) as file:
        while piece := file.read(_PIECE):
            found.update(piece)
            length += len(piece)
            yield piece
    if Content(length, found.hexdigest()) != content:
        raise ZerotagError(f"{store.place}/{name} has changed since it was made: remove it, and do its shard again")
