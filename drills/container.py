"""The steps of the Containerfile, one by one, in a folder instead of a container, and what its image starts.

    python -m drills.container

Where podman or docker can fetch images, a test builds and starts the image itself:
`ZEROTAG_CONTAINERS=1 pytest tests/test_distribution.py`.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from drills.programs import free_port, running
from zerotag import Client

ROOT = Path(__file__).parents[1]
INSTALLED = "/opt/zerotag"
PORT = "8000"
KEY = "0123456789abcdef"


def instructions() -> Iterator[tuple[str, str]]:
    """Each instruction and what stands after it."""
    for line in (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, rest = line.split(maxsplit=1)
            yield name, rest


def drill(folder: Path) -> None:
    """Build, start and ask."""
    source, port = folder / "source", str(free_port())
    source.mkdir()
    environment = {"PATH": os.environ["PATH"]} | {k: v for k, v in os.environ.items() if k.startswith("PIP_")}
    said: dict[str, str] = {}
    for name, line in instructions():
        rest = line.replace(INSTALLED, str(folder / "installed")).replace(PORT, port)
        match name:
            case "RUN" if not rest.startswith("useradd"):  # the user is whoever runs the drill
                _run(["sh", "-c", rest], source, environment)
                print(f"RUN {line}")
            case "COPY" if not rest.startswith("--from"):  # from one stage to the next: it is in its place
                *parts, target = rest.split()
                _copy(parts, source / target)
            case "ENV":
                pairs = dict(pair.split("=", 1) for pair in shlex.split(rest))
                environment |= {key: value.replace("$PATH", environment["PATH"]) for key, value in pairs.items()}
            case _:
                said[name] = rest
    command = json.loads(said["ENTRYPOINT"]) + json.loads(said["CMD"])
    started = shutil.which(command[0], path=environment["PATH"])
    assert started is not None
    address = f"http://127.0.0.1:{port}"
    serves = environment | {"ZEROTAG_API_KEY": KEY}
    with running([started, *command[1:]], folder / "log.txt", serves, f"{address}/healthz"):
        _run(json.loads(said["HEALTHCHECK"].partition("CMD ")[2]), folder, environment)
        (found,) = Client(address, api_key=KEY).label(["The pump may fail."])
        print(f"it serves: {found.text!r}, {found.label or 'no label'}, {found.score:.2f}")


def _copy(parts: list[str], target: Path) -> None:
    for part in parts:
        if (ROOT / part).is_dir():
            to = target if len(parts) == 1 else target / part
            shutil.copytree(ROOT / part, to, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, target)


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}")


def main() -> None:
    """Run the drill."""
    with tempfile.TemporaryDirectory() as scratch:
        drill(Path(scratch))


if __name__ == "__main__":
    main()
