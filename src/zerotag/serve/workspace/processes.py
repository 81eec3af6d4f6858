"""Files that people send, received with a limit, and processes of their own for what reads and writes them."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from zerotag.serve.problems import HttpError


async def receive(path: Path, body: AsyncIterator[bytes], most: int) -> None:
    """Write what is sent to a file, at most so many bytes."""
    received = 0
    with path.open("wb") as file:
        async for chunk in body:
            received += len(chunk)
            if received > most:
                raise HttpError(413, "too_large", f"the file has more than {most // 10**6} MB; give a part of it")
            await asyncio.to_thread(file.write, chunk)


async def run_module(module: str, arguments: Sequence[Path], given: str, seconds: float) -> str:
    """What a module of the workspace says, run as a process; raises HttpError with its reason if it fails."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", f"zerotag.serve.workspace.{module}", *map(str, arguments)),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(given.encode()), seconds)
    except TimeoutError:
        raise HttpError(422, "invalid", f"it took more than {seconds:g} seconds") from None
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode == 2:
        raise HttpError(422, "invalid", err.decode("utf-8", "replace").strip())
    if process.returncode:
        raise HttpError(422, "invalid", "it cannot be read: it takes more memory than there is, or is damaged")
    return out.decode("utf-8")
