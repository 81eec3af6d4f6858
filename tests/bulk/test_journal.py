"""Outputs that are not finished yet: what a kill leaves, who may go on with it, and what is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from source_files import write
from zerotag.bulk.inputs import Cursor, Inputs, Rejected
from zerotag.bulk.journal import Unfinished, folder_of, nothing_left_to_do, record_of, rejects_of, unfinished
from zerotag.errors import ZerotagError
from zerotag.io import Columns, Position, Source
from zerotag.io.writers import Origin

ARGUMENTS = {"model": "m", "input": [["a.txt", 3]]}
NO_INPUTS = Inputs([], Columns())
BAD = Rejected(Origin("a.txt", 7), "a.txt:7: not UTF-8", "x")


class Killed(BaseException):
    """As good as a kill: nothing after it happens. (That a real kill leaves the same is tested elsewhere.)"""


def append_and(error: BaseException, target: Path, *, resume: bool = False) -> None:
    with unfinished(target, ARGUMENTS, resume=resume) as output:
        output.append([b"one\n"], [BAD])
        raise error


def leave(target: Path, *, committed: bytes, more: bytes = b"") -> None:
    """What is there after a kill: something committed, something written after that."""
    with suppress(Killed), unfinished(target, ARGUMENTS, resume=True, overwrite=True) as output:
        output.state.sentences, output.state.rejected = 2, 1
        output.state.positive_words.update(hedge=3)
        output.state.cursor = Cursor(1, Position(20, 4))
        output.append([committed], [BAD])
        output.commit()
        output.append([more], [BAD, BAD])
        raise Killed


def test_what_was_not_committed_is_cut_off(tmp_path: Path) -> None:
    target = tmp_path / "out"
    leave(target, committed=b"one\n", more=b"tw")
    with unfinished(target, ARGUMENTS, resume=True) as output:
        assert output.state.cursor == (1, (20, 4))
        assert (output.state.sentences, output.state.rejected) == (2, 1)
        assert output.state.positive_words == {"hedge": 3}
        output.append([b"two\n"], [])
        output.finish()
    assert target.read_bytes() == b"one\ntwo\n"
    listed = [json.loads(line) for line in rejects_of(target).read_text().splitlines()]
    assert listed == [{"source": "a.txt", "line": 7, "reason": "not UTF-8", "raw": "x"}]
    assert not folder_of(target).exists()


@pytest.mark.parametrize("error", [Killed(), KeyboardInterrupt(), OSError(28, "No space left"), ZerotagError("bad")])
def test_what_never_was_committed_is_removed(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises((type(error), ZerotagError)):
        append_and(error, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_nobody_goes_on_without_arguments(tmp_path: Path) -> None:
    with suppress(Killed), unfinished(tmp_path / "out", None, resume=False) as output:
        output.append([b"one\n"], [])
        output.commit()
        raise Killed
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt, "stopped; "),
        (OSError(28, "No space left on device"), ZerotagError, "cannot write {target}: No space left on device; "),
    ],
)
def test_stopped_with_something_to_go_on_from(
    tmp_path: Path, error: BaseException, kind: type[BaseException], message: str
) -> None:
    target = tmp_path / "out"
    leave(target, committed=b"one\n")
    with pytest.raises(kind) as caught:
        append_and(error, target, resume=True)
    hint = f"the same command with --resume goes on from {folder_of(target)}"
    assert str(caught.value) == message.format(target=target) + hint
    with unfinished(target, ARGUMENTS, resume=True) as output:
        output.finish()
    assert target.read_bytes() == b"one\n"


@pytest.mark.parametrize("at", range(30))
def test_killed_while_it_is_moved_to_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """Each operation on files in `finish` is the last one, in turn, and then `finish` is called again."""
    target = tmp_path / "out"
    target.write_bytes(b"old")
    left = at

    def until_killed(operation: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return operation(*arguments, **options)

        return call

    def assemble(source: Path, made: Path) -> None:
        made.write_bytes(b"<" + source.read_bytes() + b">")

    leave(target, committed=b"one\n")
    with monkeypatch.context() as patched:
        for name in ("replace", "unlink", "rmdir", "write_bytes"):
            patched.setattr(Path, name, until_killed(getattr(Path, name)))
        patched.setattr(os, "fsync", until_killed(os.fsync))
        with suppress(Killed), unfinished(target, ARGUMENTS, resume=True) as output:
            output.finish(assemble)
    if not nothing_left_to_do(target, ARGUMENTS, NO_INPUTS, resume=True, overwrite=False):
        with unfinished(target, ARGUMENTS, resume=True) as output:
            assert output.state.sentences == 2
            output.finish(assemble)
    assert target.read_bytes() == b"<one\n>"
    assert len(rejects_of(target).read_text().splitlines()) == 1
    names = {path.name for path in tmp_path.iterdir()} - {folder_of(target).name}
    assert names == {"out", "out.rejected.jsonl", "out.run.json"}


def test_old_rejects_do_not_stay_beside_a_new_output(tmp_path: Path) -> None:
    target = tmp_path / "out"
    rejects_of(target).write_text("old")
    with unfinished(target, ARGUMENTS, resume=False, overwrite=True) as output:
        output.append([b"one\n"], [])
        output.finish()
    assert {path.name for path in tmp_path.iterdir()} == {"out", "out.run.json"}


def test_other_arguments(tmp_path: Path) -> None:
    target = tmp_path / "out"
    leave(target, committed=b"one\n")
    folder = folder_of(target)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with (
        pytest.raises(ZerotagError) as caught,
        unfinished(target, {"model": "other", "input": [["a.txt", 4]]}, resume=True),
    ):
        pass
    assert str(caught.value) == (
        f"{folder} holds a run with another model, input; "
        "give the same arguments to go on, or start anew with --overwrite"
    )
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_damage(tmp_path: Path) -> None:
    target = tmp_path / "out"
    leave(target, committed=b"one\n")
    folder = folder_of(target)
    (folder / "output").write_bytes(b"on")
    with pytest.raises(ZerotagError, match=r"output is shorter than its journal says; start anew with --overwrite"):
        Unfinished(target, ARGUMENTS).go_on()
    (folder / "journal").write_text("{")
    with pytest.raises(ZerotagError, match=r"journal is damaged \(.*\); start anew with --overwrite"):
        Unfinished(target, ARGUMENTS).go_on()
    for other in (
        "{}",
        "[]",
        "null",
        "7",
        '{"arguments": {}, "state": {}, "finished": false, "output": 1, "rejected": 0}',
    ):
        (folder / "journal").write_text(other)
        with pytest.raises(ZerotagError, match=r"journal is damaged \(no journal of zerotag\); start anew with"):
            Unfinished(target, ARGUMENTS).go_on()
    with unfinished(target, ARGUMENTS, resume=False) as output:
        output.finish()
    assert target.read_bytes() == b""


def test_only_one_writes_at_a_time(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with unfinished(target, ARGUMENTS, resume=False) as first:
        first.append([b"one\n"], [])
        with (
            pytest.raises(ZerotagError, match=r"out\.partial: another run is writing it"),
            unfinished(target, ARGUMENTS, resume=True),
        ):
            pass
        first.finish()
    assert target.read_bytes() == b"one\n"


@pytest.mark.parametrize("resume", [True, False])
def test_what_another_run_has_finished_meanwhile_is_not_replaced(tmp_path: Path, resume: bool) -> None:
    target = tmp_path / "out"
    assert not nothing_left_to_do(target, ARGUMENTS, NO_INPUTS, resume=resume, overwrite=False)
    target.write_bytes(b"theirs")
    with (
        pytest.raises(ZerotagError, match=r"out exists; choose another name or give --overwrite"),
        unfinished(target, ARGUMENTS, resume=resume),
    ):
        pytest.fail("it begins")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"out": b"theirs"}


def test_what_belongs_to_others_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "out"
    folder_of(target).mkdir()
    (folder_of(target) / "mine").touch()
    with (
        pytest.raises(ZerotagError, match=r"out\.partial holds 'mine', which is not of zerotag"),
        unfinished(target, ARGUMENTS, resume=False),
    ):
        pass
    assert [path.name for path in folder_of(target).iterdir()] == ["mine"]


def test_places_that_are_taken(tmp_path: Path) -> None:
    target = tmp_path / "out"
    assert not nothing_left_to_do(target, ARGUMENTS, NO_INPUTS, resume=False, overwrite=False)
    assert not nothing_left_to_do(target, ARGUMENTS, NO_INPUTS, resume=True, overwrite=False)
    leave(target, committed=b"one\n")
    with pytest.raises(ZerotagError, match=r"partial holds an unfinished run; --resume goes on .*, --overwrite starts"):
        nothing_left_to_do(target, ARGUMENTS, NO_INPUTS, resume=False, overwrite=False)
    assert not nothing_left_to_do(target, ARGUMENTS, NO_INPUTS, resume=True, overwrite=False)
    with unfinished(target, ARGUMENTS, resume=True) as output:
        output.finish()
    assert nothing_left_to_do(target, ARGUMENTS, NO_INPUTS, resume=True, overwrite=False)
    assert not nothing_left_to_do(target, ARGUMENTS, NO_INPUTS, resume=False, overwrite=True)
    with pytest.raises(ZerotagError, match=r"out exists; choose another name or give --overwrite"):
        nothing_left_to_do(target, ARGUMENTS, NO_INPUTS, resume=False, overwrite=False)
    target.unlink()
    with pytest.raises(ZerotagError, match=r"out\.rejected\.jsonl exists; choose another name or give --overwrite"):
        nothing_left_to_do(target, ARGUMENTS, NO_INPUTS, resume=False, overwrite=False)
    with pytest.raises(ZerotagError, match=r"--resume goes on and --overwrite starts anew: give one of them"):
        nothing_left_to_do(target, ARGUMENTS, NO_INPUTS, resume=True, overwrite=True)
    with pytest.raises(ZerotagError, match=r"exists and is not a file: choose another name"):
        nothing_left_to_do(tmp_path, ARGUMENTS, NO_INPUTS, resume=False, overwrite=True)


def finished(target: Path, source: Path) -> Inputs:
    """An output that was made from a file, all of which was read."""
    inputs = Inputs([Source(source)], Columns())
    with unfinished(target, ARGUMENTS, resume=False) as output:
        output.append([b"one\n"], [])
        output.state.read = inputs.read_to_the_end()
        output.append((), ())
        output.finish()
    return inputs


def refusal(target: Path, arguments: Mapping[str, Any], source: Path) -> str:
    """Of a run that could go on; starting anew is always allowed, and nothing is written before that."""
    before = {path: path.read_bytes() for path in target.parent.iterdir()}
    inputs = Inputs([Source(source)], Columns())
    with pytest.raises(ZerotagError) as caught:
        nothing_left_to_do(target, arguments, inputs, resume=True, overwrite=False)
    assert not nothing_left_to_do(target, arguments, inputs, resume=False, overwrite=True)
    assert {path: path.read_bytes() for path in target.parent.iterdir()} == before
    return str(caught.value)


def test_a_finished_output_is_only_that_of_the_same_run(tmp_path: Path) -> None:
    target, source = tmp_path / "out", write(tmp_path, "a.txt", "one\n")
    finished(target, source)
    assert nothing_left_to_do(target, ARGUMENTS, Inputs([Source(source)], Columns()), resume=True, overwrite=False)
    others: list[tuple[dict[str, Any], str]] = [
        ({**ARGUMENTS, "model": "other"}, "model"),
        ({"model": "m", "input": [["a.txt", 4]]}, "input"),
        ({**ARGUMENTS, "threshold": 0.5, "model": None}, "model, threshold"),
    ]
    for other, names in others:
        assert refusal(target, other, source) == f"{target} was made with another {names}: --overwrite makes it anew"


def test_a_finished_output_is_not_that_of_a_file_that_changed(tmp_path: Path) -> None:
    """Though it has the size and the times that it had."""
    target, source = tmp_path / "out", write(tmp_path, "a.txt", "one\n")
    finished(target, source)
    before = source.stat()
    source.write_text("two\n")
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    changed = f"{source} has changed since {target} was made: --overwrite makes it anew"
    assert refusal(target, ARGUMENTS, source) == changed
    source.write_text("one\n")
    target.write_text("longer\n")
    assert refusal(target, ARGUMENTS, source).startswith(f"{target} has changed since it was made, it had 4 bytes")


def test_a_finished_output_that_does_not_say_how_it_was_made(tmp_path: Path) -> None:
    target, source = tmp_path / "out", write(tmp_path, "a.txt", "one\n")
    finished(target, source)
    for damage in ("", "{", "[]", "7", "{}", '{"arguments": {}, "inputs": [{}], "bytes": 4}', "\udcff"):
        record_of(target).write_bytes(damage.encode(errors="surrogateescape"))
        line = f"{record_of(target)}, which says how {target} was made, is damaged: --overwrite makes it anew"
        assert refusal(target, ARGUMENTS, source) == line
    record_of(target).unlink()
    line = f"there is no {record_of(target)} that says how {target} was made: --overwrite makes it anew"
    assert refusal(target, ARGUMENTS, source) == line


def test_the_record_of_an_output_that_is_replaced_goes(tmp_path: Path) -> None:
    target, source = tmp_path / "out", write(tmp_path, "a.txt", "one\n")
    finished(target, source)
    with unfinished(target, None, resume=False, overwrite=True) as output:
        output.append([b"from a pipe\n"], [])
        output.finish()
    assert not record_of(target).exists()
