"""Every file that zerotag writes: whole or not at all, and on the disk before anything relies on it.

A file or folder is written beside its place, synced, moved there in one step, and the folder around it is synced. So
a kill or a power cut leaves the old state or the new one. What it leaves beside the place, the next write removes.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from safetensors import SafetensorError

from zerotag.errors import ZerotagError
from zerotag.io.locks import only_us

_NOT_SUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)
_NEW, _OLD, _DELETED = "new", "old", "deleted"  # what may be beside a place


class Disk:
    """The operations that decide what a crash leaves behind. Tests record them, and take away what was not synced."""

    def make_folder(self, folder: Path) -> None:
        """Make an empty folder."""
        folder.mkdir()

    def sync(self, path: Path) -> None:
        """Have the bytes of a file, or the names in a folder, on the disk before going on."""
        if path.is_dir() and os.name != "posix":  # where folders cannot be opened
            return
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in _NOT_SUPPORTED:  # some network file systems cannot sync folders
                raise
        finally:
            os.close(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        """Give a file or folder another name; a file may take the place of a file."""
        source.replace(target)

    def exchange(self, one: Path, other: Path) -> bool:
        """Let two folders change places in one step, if the system and the file system can."""
        return _exchange(one, other)

    def remove(self, path: Path) -> None:
        """Remove a file, or a folder with all that is in it, if it is there."""
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


disk = Disk()


def _exchange(one: Path, other: Path) -> bool:
    if os.name != "posix":
        return False
    system = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin":
        failed = system.renamex_np(*names, 2)  # RENAME_SWAP
    elif hasattr(system, "renameat2"):
        here = -100  # AT_FDCWD
        failed = system.renameat2(here, names[0], here, names[1], 2)  # RENAME_EXCHANGE
    else:
        return False
    if not failed:
        return True
    reason = ctypes.get_errno()
    if reason in _NOT_SUPPORTED:
        return False
    raise OSError(reason, os.strerror(reason), str(other))


@contextmanager
def explained(place: Path) -> Iterator[None]:
    """Say in one line that something could not be written, and why."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        raise ZerotagError(f"cannot write {place}: {getattr(error, 'strerror', None) or error}") from error


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """A text file to write, which takes its place if all went well and vanishes if not."""
    with explained(path):
        if path.exists() and not path.is_file():
            raise ZerotagError(f"{path} exists and is not a file: choose another name")
        make_folders(path.parent)
        with only_us(path):
            new = _beside(path, _NEW)
            try:
                with new.open("w", encoding="utf-8", newline="") as file:
                    yield file
                put(new, path)
            finally:
                disk.remove(new)


def put(new: Path, path: Path) -> None:
    """Move a file to its place, in this folder or another one, and an older one out of it."""
    disk.sync(new)
    if new.parent == path.parent:
        disk.rename(new, path)
        disk.sync(path.parent)
        return
    # A power cut may lose a name that goes from one folder to another in both: it has two until the new one counts.
    near = _beside(path, _NEW)
    disk.remove(near)
    if not (path.exists() and path.samefile(new)):  # else a kill came after the next two; a rename would do nothing
        _link_file(new, near)
        disk.sync(near)
        disk.rename(near, path)
    disk.sync(path.parent)
    disk.remove(new)
    disk.sync(new.parent)


@contextmanager
def whole_folder(folder: Path, stays: Sequence[str] = ()) -> Iterator[Path]:
    """A new folder to fill, which takes the place of `folder` if all went well and vanishes if not.

    Of what was in its place, some things may stay.
    """
    with explained(folder):
        folder = folder.resolve()  # what a link points to is replaced, not the link
        make_folders(folder.parent)
        with only_us(folder):
            _recover(folder)
            new = _beside(folder, _NEW)
            disk.make_folder(new)
            try:
                yield new
                for name in stays:
                    if not (new / name).exists():
                        _link(folder / name, new / name)
                _sync_all(new)
                _take_place(new, folder)
            finally:
                _recover(folder)


def _take_place(new: Path, folder: Path) -> None:
    if not folder.exists():
        disk.rename(new, folder)
    elif not disk.exchange(new, folder):
        disk.rename(folder, _beside(folder, _OLD))  # a kill after this: `recover` puts it back
        disk.rename(new, folder)
    disk.sync(folder.parent)


def recover(folder: Path) -> None:
    """Put a folder back that was about to be replaced when the program was killed."""
    folder = folder.resolve()
    if not folder.exists() and _beside(folder, _OLD).exists():
        with suppress(ZerotagError), explained(folder), only_us(folder):  # else somebody is just replacing it
            _recover(folder)


def _recover(folder: Path) -> None:
    """Have the folder in its place, old or new, and nothing beside it."""
    old = _beside(folder, _OLD)
    if old.exists() and not folder.exists():
        disk.rename(old, folder)
        disk.sync(folder.parent)
    for name in (_NEW, _OLD, _DELETED):
        disk.remove(_beside(folder, name))


def delete_folder(folder: Path) -> None:
    """Remove a folder, whole or not at all: half of one would look like something unfinished."""
    with only_us(folder):
        delete_our_folder(folder)


def delete_our_folder(folder: Path) -> None:
    """The same for whoever holds the lock of the folder."""
    deleted = _beside(folder, _DELETED)
    disk.remove(deleted)  # what a kill left
    if folder.exists():
        disk.rename(folder, deleted)
        disk.sync(folder.parent)
        disk.remove(deleted)


def make_folders(folder: Path) -> None:
    """Make a folder and those around it, as far as they are not there."""
    if not folder.exists():
        make_folders(folder.parent)
        with suppress(FileExistsError):  # somebody else was quicker
            disk.make_folder(folder)
        disk.sync(folder.parent)
    elif not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f".{path.name}.{what}")


def _sync_all(folder: Path) -> None:
    """Files before the folders that name them; nothing else can be synced, and pipes would wait for somebody."""
    for place, _, files in os.walk(folder, topdown=False):
        for file in (Path(place, name) for name in files):
            if stat.S_ISREG(file.lstat().st_mode):
                disk.sync(file)
        disk.sync(Path(place))


def _link(source: Path, target: Path) -> None:
    """The same file under a second name, or all files of a folder: until the new folder counts, the old one has all."""
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True, copy_function=_link_file)
    else:
        _link_file(source, target)


def _link_file(source: str | Path, target: str | Path) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # another file system, or one without links
        shutil.copy2(source, target, follow_symlinks=False)
