"""An output while it is being written: a folder beside its place that holds what is done, and a journal.

The journal says how long the output was when so much of the input was done. It is replaced as a whole, and only once
that output is on the disk. Going on cuts off whatever was written later, so no sentence is lost and none comes twice.

A finished output has a record beside it, of what it was made from and how: so nobody takes it for that of another run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from zerotag.bulk.contents import Content
from zerotag.bulk.inputs import BEGINNING, Inputs, Rejected
from zerotag.bulk.state import State
from zerotag.errors import ZerotagError
from zerotag.io.files import disk, make_folders, put
from zerotag.io.locks import only_us
from zerotag.io.writers import jsonl

_OUTPUT, _REJECTED, _ASSEMBLED, _RECORD = "output", "rejected", "assembled", "record"
_JOURNAL, _NEW_JOURNAL = "journal", "journal.new"
_FILES = (_OUTPUT, _REJECTED, _ASSEMBLED, _RECORD, _NEW_JOURNAL, _JOURNAL)  # removed in this order: the journal last


def folder_of(target: Path) -> Path:
    """Where an output is kept while it is unfinished."""
    return target.with_name(f"{target.name}.partial")


def rejects_of(target: Path) -> Path:
    """Where the records that could not be used are listed."""
    return target.with_name(f"{target.name}.rejected.jsonl")


def record_of(target: Path) -> Path:
    """Where it says what a finished output was made from, and how."""
    return target.with_name(f"{target.name}.run.json")


def nothing_left_to_do(
    target: Path, arguments: Mapping[str, Any], inputs: Inputs, *, resume: bool, overwrite: bool
) -> bool:
    """Refuse a place that is taken; else say whether all is done there already, by the same run of the same files."""
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
        _refuse_what_another_run_made(target, arguments, inputs)
        with suppress(OSError, ZerotagError), only_us(folder):
            folder.rmdir()  # the last that a kill can leave, with its lock
        return True
    _refuse_to_replace(target)
    return False


def _refuse_what_another_run_made(target: Path, arguments: Mapping[str, Any], inputs: Inputs) -> None:
    file = record_of(target)
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        made_with, size = dict(record["arguments"]), record["bytes"]
        contents = [Content(one["bytes"], one["blake2b"]) for one in record["inputs"]]
    except FileNotFoundError:
        raise ZerotagError(f"there is no {file} that says how {target} was made: --overwrite makes it anew") from None
    except (OSError, ValueError, LookupError, TypeError):
        raise ZerotagError(f"{file}, which says how {target} was made, is damaged: --overwrite makes it anew") from None
    others = _others(arguments, made_with)
    if others:
        raise ZerotagError(f"{target} was made with another {', '.join(others)}: --overwrite makes it anew")
    changed = inputs.first_changed(contents)
    if changed is not None:
        raise ZerotagError(f"{changed} has changed since {target} was made: --overwrite makes it anew")
    if target.stat().st_size != size:
        raise ZerotagError(f"{target} has changed since it was made, it had {size:,} bytes: --overwrite makes it anew")


def _others(arguments: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    """Names of the arguments that were others."""
    return [name for name, value in json.loads(json.dumps(arguments)).items() if known.get(name) != value]


def _refuse_to_replace(target: Path) -> None:
    for place in (target, rejects_of(target), record_of(target)):
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
        for name, file in self._files.items():
            file.flush()
            disk.sync(self.folder / name)
        if self._arguments is None:
            return
        journal = {"arguments": self._arguments, "finished": self.finished, **self._appended}
        (self.folder / _NEW_JOURNAL).write_text(json.dumps(journal), encoding="utf-8")
        cursor = State.from_json(self._appended["state"]).cursor
        self.can_go_on = cursor != BEGINNING  # before it is true: Ctrl-C may come between the two
        put(self.folder / _NEW_JOURNAL, self.folder / _JOURNAL)

    def finish(self, assemble: Callable[[Path, Path], None] | None = None) -> None:
        """Move the output to its place, and beside it the rejected records, if any, and the record of the run.

        After a kill in here it is simply called again: what has been moved is not there to be moved twice.
        """
        if not self.finished:
            self.finished = True
            self.commit()
            self.close()
        output, rejected = self.folder / _OUTPUT, self.folder / _REJECTED
        if rejected.exists():
            if rejected.stat().st_size:
                put(rejected, rejects_of(self._target))
            else:
                disk.remove(rejects_of(self._target))  # those of an output that is overwritten
        if output.exists():
            made = output
            if assemble is not None:
                made = self.folder / _ASSEMBLED
                assemble(output, made)
            self._put_record(made.stat().st_size)
            put(made, self._target)
        self.remove()

    def _put_record(self, size: int) -> None:
        if self._arguments is None:
            disk.remove(record_of(self._target))  # that of an output that is overwritten
            return
        record = {
            "arguments": self._arguments,
            "inputs": [{"bytes": one.length, "blake2b": one.digest} for one in self.state.read],
            "sentences": self.state.sentences,
            "rejected": self.state.rejected,
            "bytes": size,
        }
        (self.folder / _RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        put(self.folder / _RECORD, record_of(self._target))

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
        others = _others(self._arguments or {}, known)
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
        make_folders(output.folder)
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
        disk.remove(folder / name)


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
