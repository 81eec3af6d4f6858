"""Every state in which a kill or a power cut can leave a folder: operations are recorded, what was not synced is lost.

A kill leaves all that was done so far. After a power cut the names in a folder are those of some moment since it was
last synced, and the bytes of a file those it had when it was last synced, or zeros in the place of later ones.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from unittest import mock

from zerotag.io.files import Disk

Tree = tuple[tuple[str, "bytes | Tree"], ...]
_Names = Mapping[str, int]
_OPERATIONS = ("make_folder", "sync", "rename", "exchange")


class Crashes:
    """Watches a folder; nothing but regular files and folders may be in it."""

    def __init__(self, root: Path) -> None:
        self.states: dict[Tree, None] = {}  # each once, in their order
        self.last: set[Tree] = set()  # those of a crash after the last operation
        self.operations: list[str] = []
        self._root = root
        self._descriptors: dict[int, int] = {}  # while a file is open its number is not given to another one
        self._names: dict[int, list[_Names]] = {}  # of a folder, since it was last synced
        self._synced_bytes: dict[int, bytes] = {}
        self._observe()
        for number, names in self._names.items():  # what was there before is on the disk
            for inside in names[-1].values():
                if inside not in self._names:
                    self._synced_bytes[inside] = self._bytes(inside)
            self._names[number] = names[-1:]

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record from here on, and the end."""
        patches = [mock.patch.object(Disk, name, self._around(name, getattr(Disk, name))) for name in _OPERATIONS]
        patches.append(mock.patch.object(Disk, "remove", lambda _, path: self._remove_one_by_one(path)))
        for patch in patches:
            patch.start()
        try:
            yield
        finally:
            for patch in patches:
                patch.stop()
        self._record()

    def close(self) -> None:
        for descriptor in self._descriptors.values():
            os.close(descriptor)

    def _around(self, name: str, real: Callable[..., object]) -> Callable[..., object]:
        def operation(disk: Disk, *paths: Path) -> object:
            self.operations.append(" ".join((name, *(path.name for path in paths))))
            self._record()
            result = real(disk, *paths)
            if name == "sync":
                self._synced(paths[0])
            self._record()
            return result

        return operation

    def _remove_one_by_one(self, path: Path) -> None:
        for inside in sorted(path.iterdir()) if path.is_dir() else ():
            self._remove_one_by_one(inside)
        self._record()
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)
        self._record()

    def _synced(self, path: Path) -> None:
        number = path.stat().st_ino
        if path.is_dir():
            self._names[number] = self._names[number][-1:]
        else:
            self._synced_bytes[number] = path.read_bytes()

    def _observe(self) -> None:
        for place in (self._root, *self._root.rglob("*")):
            info = place.lstat()
            if info.st_ino not in self._descriptors:
                self._descriptors[info.st_ino] = os.open(place, os.O_RDONLY)
            if stat.S_ISDIR(info.st_mode):
                names = {inside.name: inside.lstat().st_ino for inside in place.iterdir()}
                known = self._names.setdefault(info.st_ino, [{}])
                if known[-1] != names:
                    known.append(names)

    def _bytes(self, number: int) -> bytes:
        descriptor = self._descriptors[number]
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0)

    def _record(self) -> None:
        self._observe()
        root = self._root.stat().st_ino
        killed = self._tree(self._names[root][-1], newest=True, content=self._bytes)
        power_cuts = [
            self._tree(names, newest=newest, content=content)
            for names, newest, content in product(self._names[root], (False, True), (self._dropped, self._zeroed))
        ]
        self.last = {killed, *power_cuts}
        self.states.update(dict.fromkeys([killed, *power_cuts]))

    def _tree(self, names: _Names, *, newest: bool, content: Callable[[int], bytes]) -> Tree:
        return tuple(
            (
                name,
                self._tree(self._names[number][-1 if newest else 0], newest=newest, content=content)
                if number in self._names
                else content(number),
            )
            for name, number in sorted(names.items())
        )

    def _dropped(self, number: int) -> bytes:
        return self._synced_bytes.get(number, b"")

    def _zeroed(self, number: int) -> bytes:
        synced, now = self._dropped(number), self._bytes(number)
        return now if now == synced else synced[: len(now)] + bytes(len(now) - len(synced[: len(now)]))


@contextmanager
def crashes(root: Path) -> Iterator[Crashes]:
    """Watch what a block does in a folder."""
    found = Crashes(root)
    try:
        with found.recorded():
            yield found
    finally:
        found.close()


def make(tree: Tree, folder: Path) -> Path:
    """Have a state on the disk, in place of another one."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in tree:
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            make(content, folder / name)
    return folder
