"""pip, uv and pipx install what is built here, each into an environment of its own, and the command works there.

    python -m drills.installers

Everything but the wheel comes from the package index, torch in the version of `requirements/torch.txt`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import tiny
from drills.programs import free_port, installed, running
from zerotag.io.writers.jsonl import record

ROOT = Path(__file__).parents[1]
TORCH = ROOT / "requirements" / "torch.txt"
TEXT = "The pump may fail."


def drill(folder: Path) -> None:
    """Install by each of them, label a text, and serve."""
    labeller = tiny.labeller().with_threshold(0.5)
    labeller.save_pretrained(folder / "model")
    expected = record(labeller.label(TEXT), labeller.label_names)
    _run([sys.executable, "-m", "hatchling", "build", "--directory", folder / "dist"], {}, ROOT)
    (wheel,) = (folder / "dist").glob("*.whl")
    package = f"zerotag[serve] @ {wheel.as_uri()}"
    tools = installed(folder / "tools", "uv", "pipx")
    programs = {
        "pip": installed(folder / "pip", "--constraint", str(TORCH), package),
        "uv": _by_uv(tools, folder / "uv", package),
        "pipx": _by_pipx(tools, folder / "pipx", package),
    }
    for name, place in programs.items():
        output = _run([place / "zerotag", "label", folder / "model", "--format", "jsonl"], {}, folder, TEXT)
        assert json.loads(output) == expected, output
        address = f"http://127.0.0.1:{(port := free_port())}"
        serve: list[str | Path] = [place / "zerotag", "serve", folder / "model", "--port", str(port)]
        with running(serve, folder / f"{name}.txt", {}, f"{address}/readyz"):
            pass
        print(f"{name}: zerotag is installed, labels, and serves")


def _by_uv(tools: Path, place: Path, package: str) -> Path:
    environment = {"UV_TOOL_DIR": str(place), "UV_TOOL_BIN_DIR": str(place / "bin")}
    if "PIP_FIND_LINKS" in os.environ:  # where this machine keeps its build of torch
        environment["UV_FIND_LINKS"] = os.environ["PIP_FIND_LINKS"]
    python: list[str | Path] = ["--python", sys.executable, "--constraints", TORCH]
    _run([tools / "uv", "tool", "install", "--quiet", *python, package], environment, place.parent)
    return place / "bin"


def _by_pipx(tools: Path, place: Path, package: str) -> Path:
    environment = {"PIPX_HOME": str(place), "PIPX_BIN_DIR": str(place / "bin")}
    arguments = ["--python", sys.executable, "--pip-args", f"--constraint {TORCH}"]
    _run([tools / "pipx", "install", *arguments, package], environment, place.parent)
    return place / "bin"


def _run(command: list[str | Path], environment: dict[str, str], folder: Path, stdin: str = "") -> str:
    environment = {**os.environ, **environment}
    done = subprocess.run(command, cwd=folder, env=environment, input=stdin, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def main() -> None:
    """Run the drill."""
    with tempfile.TemporaryDirectory() as scratch:
        drill(Path(scratch))


if __name__ == "__main__":
    main()
