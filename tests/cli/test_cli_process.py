"""The command line as a shell sees it: pipes, full disks, Ctrl-C."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

import tiny
from commands import COMMAND, ENVIRONMENT
from zerotag.inference.onnx_export import export

LINES = [" ".join(words) + "\n" for words, _ in tiny.sentences(1500)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that needs no torch, and so starts in a moment; streams are the command line's business, not the model's."""
    folder = tmp_path_factory.mktemp("models") / "exported"
    export(tiny.labeller(), folder)
    return folder


def shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", command], env=ENVIRONMENT, capture_output=True, text=True, timeout=120)


def label(model: Path) -> str:
    return shlex.join([*COMMAND, "label", str(model)])


def test_a_reader_that_has_seen_enough(model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_text("".join(LINES))
    done = shell(f"{label(model)} {source} | head -1; exit ${{PIPESTATUS[0]}}")
    assert json.loads(done.stdout)["text"] == LINES[0].strip()
    assert done.stderr == ""
    assert done.returncode == 128 + signal.SIGPIPE


def test_a_reader_that_has_seen_enough_of_a_table(model: Path, gold_file: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*COMMAND, "evaluate", str(model), str(gold_file)]
    done = subprocess.run(command, env=ENVIRONMENT, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120)
    os.close(writing)
    assert (done.stderr, done.returncode) == ("", 128 + signal.SIGPIPE)


def test_closed_streams(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert shell(f"{label(model)} <&-").returncode == 0
    assert shell(f"echo a pump | {label(model)} >&-").returncode == 0
    assert shell(f"echo a pump | {label(model)} --out {out} >&- 2>&-").returncode == 0
    assert json.loads(out.read_text())["text"] == "a pump"


def test_a_full_disk_behind_standard_output(model: Path) -> None:
    done = shell(f"echo a pump | {label(model)} > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "error: cannot write the output: No space left on device\n"


def test_each_line_of_a_pipe_is_answered_before_the_next_comes(model: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "label", str(model)], env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in LINES[:3]:
            process.stdin.write(line)
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["text"] == line.strip()
        process.stdin.close()
        assert process.stdout.read() == ""


def test_output_comes_before_the_input_ends_and_control_c_ends_it(model: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "label", str(model)],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.writelines(LINES)
        process.stdin.flush()
        for line in LINES[:1024]:
            assert json.loads(process.stdout.readline())["text"] == line.strip()
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    assert complaint == "error: stopped\n"
    assert process.returncode == 130


EARLY = """
import sys
from importlib.abc import MetaPathFinder

class Interrupted(MetaPathFinder):
    def find_spec(self, name, *_):
        if name == "typer":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
from zerotag.cli import main
main()
"""


def test_control_c_while_it_starts() -> None:
    done = subprocess.run([COMMAND[0], "-c", EARLY], env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (130, "")


LATE = """
import atexit, signal
from unittest import mock
from zerotag.cli import main

atexit.register(signal.raise_signal, signal.SIGINT)
with mock.patch("zerotag.cli.app.get_command") as command:
    command.return_value.make_context.side_effect = KeyboardInterrupt
    main()
"""


def test_control_c_again_while_it_ends() -> None:
    done = subprocess.run([COMMAND[0], "-c", LATE], env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (130, "error: stopped\n")
