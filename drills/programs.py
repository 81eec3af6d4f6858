"""Programs of others, each in an environment of its own, since they need other versions of much that zerotag needs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_STARTS_WITHIN = 300  # seconds: at first some build a database


def installed(folder: Path, *requirements: str) -> Path:
    """The folder of programs of a new environment with some packages."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", *requirements], check=True)
    return folder / "bin"


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def running(
    command: Sequence[str | Path], log: Path, environment: Mapping[str, str], health: str | None = None
) -> Iterator[None]:
    """A program in the background, from when it answers at the address `health` on, if it has one."""
    with log.open("w") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env={**os.environ, **environment}, start_new_session=True
        )
        try:
            if health is not None:
                _wait(health, process, log)
            yield
        finally:
            process.terminate()
            process.wait(60)


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(1)
    raise SystemExit(f"{process.args!r} did not start:\n{log.read_text()[-3000:]}")
