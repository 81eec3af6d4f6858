"""An output while it is being written: a folder beside its place that holds what is done, and a journal.

The journal says how long the output was when so much of the input was done. It is replaced as a whole, and only once
that output is on the disk. Going on cuts off whatever was written later, so no sentence is lost and none comes twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from zerotag.bulk.inputs import BEGINNING, Rejected
from zerotag.bulk.state import State
from zerotag.errors import ZerotagError
from zerotag.io.locks import only_us
from zerotag.io.writers import jsonl

_OUTPUT, _REJECTED, _ASSEMBLED, _JOURNAL, _NEW_JOURNAL = "output", "rejected", "assembled", "journal", "journal.new"
_FILES = (_OUTPUT, _REJECTED, _ASSEMBLED, _NEW_JOURNAL, _JOURNAL)  # removed in this order: the journal vouches for them


def folder_of(target: Path) -> Path:
    """Where an output is kept while it is unfinished."""
    return target.with_name(f"{target.name}.partial")


def rejects_of(target: Path) -> Path:
    """Where the records that could not be used are listed."""
    return target.with_name(f"{target.name}.rejected.jsonl")


def nothing_left_to_do(target: Path, made_from: Iterable[Path], *, resume: bool, overwrite: bool) -> bool:
    """Refuse a place that is taken; else say whether all is done there already, with files that have not changed."""
    if resume and overwrite:
        raise ZerotagError("--resume goes on and --overwrite starts anew: give one of them")
    if target.exists() and not target.is_file():
        raise ZerotagError(f"{target} exists and is not a file: choose another name")
    folder = folder_of(target)
    begun = (folder / _JOURNAL).exists()
    if begun and not resume and not overwrite:
        raise ZerotagError(f"{folder} holds an unfinished run; --resume goes on with it, --overwrite starts anew")
    if begun or overwrite:
        return False
    if resume and target.exists():
        for path in made_from:
            if path.stat().st_mtime_ns > target.stat().st_mtime_ns:
                raise ZerotagError(f"{target} is older than {path}: --overwrite makes it anew")
        with suppress(OSError):
            folder.rmdir()  # the last that a kill can leave
        return True
    _refuse_to_replace(target)
    return False


def _refuse_to_replace(target: Path) -> None:
    for place in (target, rejects_of(target)):
        if place.exists():
            raise ZerotagError(f"{place} exists; choose another name or give --overwrite")


class Unfinished:
    """What has been written so far; `state` says how far the run has come, and whoever labels moves it on."""

    def __init__(self, target: Path, arguments: Mapping[str, Any] | None) -> None:
        """With the arguments of the run, which must be the same to go on with it; without any, nobody can."""
        self.folder = folder_of(target)
        self.state = State()
        self.finished = False
        self.can_go_on = False
        self._target = target
        self._arguments = None if arguments is None else json.loads(json.dumps(arguments))
        self._files: dict[str, BinaryIO] = {}
        self._appended: dict[str, Any] = {}  # the state and the lengths of the files when something was last appended

    def start(self, beginning: bytes) -> None:
        """Begin with an empty output."""
        _clear(self.folder)
        for name in (_OUTPUT, _REJECTED):
            self._files[name] = (self.folder / name).open("xb")
        self.append([beginning], ())
        self.commit()

    def go_on(self) -> bool:
        """Take up what the journal says, if there is one."""
        self.can_go_on = (self.folder / _JOURNAL).exists()
        if not self.can_go_on:
            return False
        journal = _read_journal(self.folder / _JOURNAL)
        self._check_arguments(journal.arguments)
        self.state, self.finished = journal.state, journal.finished
        if not self.finished:
            for name, length in journal.lengths.items():
                self._files[name] = _cut(self.folder / name, length)
            self.append((), ())
        return True

    def append(self, output: Iterable[bytes | memoryview], rejected: Iterable[Rejected]) -> None:
        """Add what makes the state what it is; both count once they are committed."""
        self._files[_OUTPUT].writelines(output)
        self._files[_REJECTED].writelines(f"{jsonl.encode(one.record())}\n".encode() for one in rejected)
        lengths = {name: file.tell() for name, file in self._files.items()}
        self._appended = {"state": self.state.as_json(), **lengths}

    def commit(self) -> None:
        """Let all that was appended count, whatever happens next; Ctrl-C may have come in the middle of the next."""
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())
        if self._arguments is None:
            return
        journal = {"arguments": self._arguments, "finished": self.finished, **self._appended}
        with (self.folder / _NEW_JOURNAL).open("w", encoding="utf-8") as new:
            json.dump(journal, new)
            new.flush()
            os.fsync(new.fileno())
        cursor = State.from_json(self._appended["state"]).cursor
        self.can_go_on = cursor != BEGINNING  # before it is true: Ctrl-C may come between the two
        (self.folder / _NEW_JOURNAL).replace(self.folder / _JOURNAL)

    def finish(self, assemble: Callable[[Path, Path], None] | None = None) -> None:
        """Move the output to its place, and the rejected records beside it if there are any.

        After a kill in here it is simply called again: what has been moved is not there to be moved twice.
        """
        if not self.finished:
            self.finished = True
            self.commit()
            self.close()
        output, rejected = self.folder / _OUTPUT, self.folder / _REJECTED
        if rejected.exists():
            if rejected.stat().st_size:
                rejected.replace(rejects_of(self._target))
            else:
                rejects_of(self._target).unlink(missing_ok=True)  # those of an output that is overwritten
        if output.exists():
            if assemble is not None:
                assemble(output, self.folder / _ASSEMBLED)
                output = self.folder / _ASSEMBLED
            output.replace(self._target)
        self.remove()

    def remove(self) -> None:
        """Leave nothing behind."""
        self.can_go_on = False
        self.close()
        _clear(self.folder)
        self.folder.rmdir()

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            with suppress(OSError):  # of a full disk we have heard before
                file.close()
        self._files.clear()

    def _check_arguments(self, known: Mapping[str, Any]) -> None:
        others = [name for name, value in (self._arguments or {}).items() if known.get(name) != value]
        if others:
            raise ZerotagError(
                f"{self.folder} holds a run with another {', '.join(others)}; "
                "give the same arguments to go on, or start anew with --overwrite"
            )


@contextmanager
def unfinished(
    target: Path, arguments: Mapping[str, Any] | None, *, resume: bool, overwrite: bool = False, beginning: bytes = b""
) -> Iterator[Unfinished]:
    """An output to append to. If it is not finished in the end, it is kept if somebody can go on with it."""
    output = Unfinished(target, arguments)
    try:
        output.folder.mkdir(parents=True, exist_ok=True)
        with only_us(output.folder):
            try:
                if not (resume and output.go_on()):
                    if not overwrite:
                        _refuse_to_replace(target)  # another run may have finished it since nothing was there
                    output.start(beginning)
                yield output
            finally:
                output.close()
                if output.folder.exists() and not output.can_go_on:
                    output.remove()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped{_hint(output)}") from None
    except OSError as error:
        place = error.filename or target
        raise ZerotagError(f"cannot write {place}: {error.strerror or error}{_hint(output)}") from error


def _hint(output: Unfinished) -> str:
    return f"; the same command with --resume goes on from {output.folder}" if output.can_go_on else ""


def _clear(folder: Path) -> None:
    others = [path.name for path in folder.iterdir() if path.name not in _FILES]
    if others:
        raise ZerotagError(f"{folder} holds {others[0]!r}, which is not of zerotag; move it, or choose another name")
    for name in _FILES:
        (folder / name).unlink(missing_ok=True)


class _Journal(NamedTuple):
    arguments: dict[str, Any]
    state: State
    finished: bool
    lengths: dict[str, int]


def _read_journal(path: Path) -> _Journal:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        lengths = {name: int(found[name]) for name in (_OUTPUT, _REJECTED)}
        return _Journal(dict(found["arguments"]), State.from_json(found["state"]), found["finished"], lengths)
    except (KeyError, TypeError):
        raise ZerotagError(f"{path} is damaged (no journal of zerotag); start anew with --overwrite") from None
    except ValueError as error:
        raise ZerotagError(f"{path} is damaged ({error}); start anew with --overwrite") from error


def _cut(path: Path, length: int) -> BinaryIO:
    """The file, to be written to after so many bytes."""
    file = path.open("r+b")
    if file.seek(0, os.SEEK_END) < length:
        file.close()
        raise ZerotagError(f"{path} is shorter than its journal says; start anew with --overwrite")
    file.truncate(length)
    file.seek(length)
    return file
