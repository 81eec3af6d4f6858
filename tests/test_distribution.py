"""What is handed out: wheels and sdists that work without the repository, and the steps of the image."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

import tiny

pytest.importorskip("hatchling", reason="the build backend is not installed: pip install hatchling")

ROOT = Path(__file__).parents[1]
CONTAINERFILE = (ROOT / "Containerfile").read_text(encoding="utf-8")


def build(source: Path, out: Path, target: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(out)]
    result = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    (built,) = [path for path in out.iterdir() if path.suffix == (".whl" if target == "wheel" else ".gz")]
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel that was built from the sdist, which was built from the repository."""
    folder = tmp_path_factory.mktemp("dist")
    with tarfile.open(build(ROOT, folder, "sdist")) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    return build(source, folder, "wheel")


def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    package = ROOT / "src" / "zerotag"
    own = {
        file.relative_to(package.parent).as_posix()
        for file in package.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("zerotag/")}
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        text = archive.read(metadata).decode()
    assert packed == own
    extras = set(re.findall(r"^Provides-Extra: (\S+)$", text, flags=re.MULTILINE))
    assert {"minilm", "plots", "serve", "onnx", "sklearn"} <= extras
    assert "Requires-Dist: scikit-learn" not in re.sub(r"^.*extra ==.*$", "", text, flags=re.MULTILINE)


def test_the_wheel_works_where_nothing_else_of_the_repository_is(wheel: Path, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", "site", str(wheel)],
        cwd=tmp_path,
        check=True,
        timeout=120,
    )
    tiny.labeller().save_pretrained(tmp_path / "model")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}

    def run(*command: str) -> str:
        result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stderr
        return result.stdout

    place = run(sys.executable, "-c", "import zerotag; print(zerotag.__file__)").strip()
    assert Path(place).is_relative_to(tmp_path)
    (tmp_path / "new.txt").write_text("The pump may leak .\n")
    record = json.loads(run(sys.executable, "-m", "zerotag", "label", "model", "new.txt", "--format", "jsonl"))
    assert [word["text"] for word in record["words"]] == ["The", "pump", "may", "leak", "."]
    run(sys.executable, "-m", "zerotag", "report", "model", "new.txt", "--out", "report.html")
    script = next(one for one in distribution("zerotag").entry_points if one.name == "zerotag")
    assert run(sys.executable, "-c", f"import {script.module} as m; print(callable(m.{script.attr}))") == "True\n"


def test_the_guide_names_every_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    guide = (ROOT / "docs" / "guides" / "install.md").read_text(encoding="utf-8")
    table = "".join(re.findall(r"^\| (`.*?) \|", guide, flags=re.MULTILINE))
    installed = re.findall(r"'zerotag\[(.*?)\]'", guide)
    assert {"minilm", *re.findall(r"`([\w-]+)`", table)} == {*extras} - {"dev", "docs"}
    assert installed
    assert all({*names.split(",")} <= {*extras} for names in installed)


def instructions() -> list[tuple[str, str]]:
    lines = (line for line in CONTAINERFILE.splitlines() if line and not line.startswith("#"))
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def test_the_image_installs_what_the_makefile_installs() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    installed = [shlex.split(rest) for name, rest in instructions() if name == "RUN" and rest.startswith("pip")]
    locks = [command[command.index("--requirement") + 1] for command in installed if "--requirement" in command]
    assert locks == ["requirements/build.lock", "requirements/runtime.lock", "requirements/torch.txt"]
    assert all(lock in makefile for lock in locks)
    hashed = [command for command in installed if any(part.endswith(".lock") for part in command)]
    assert all({"--no-deps", "--require-hashes"} <= set(command) for command in hashed)


def test_the_image_is_given_all_that_it_copies() -> None:
    let_in = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    copied = [
        part
        for name, rest in instructions()
        if name == "COPY" and not rest.startswith("--from")
        for part in rest.split()[:-1]
    ]
    assert sorted(copied) == sorted(let_in)
    assert all((ROOT / part).exists() for part in copied)


def test_the_image_serves_what_it_has_trained() -> None:
    last = dict(instructions())
    (trained,) = [rest for name, rest in instructions() if name == "RUN" and rest.startswith("zerotag demo")]
    command = shlex.split(trained)
    assert json.loads(last["CMD"]) == [f"{command[command.index('--out') + 1]}/model"]
    assert last["USER"] == "zerotag"
    from zerotag.serve.middleware import OPEN_PATHS

    path = re.search(r"8000(/\w+)'", last["HEALTHCHECK"])
    assert path is not None
    assert path[1] in OPEN_PATHS  # it is asked without a key
    arguments = json.loads(last["ENTRYPOINT"])
    help_text = subprocess.run(
        [sys.executable, "-m", "zerotag", "serve", "--help"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert all(part in help_text for part in arguments if part.startswith("--"))


HEALTHY = """
import time, urllib.request
for _ in range(60):
    time.sleep(2)
    try:
        urllib.request.urlopen("http://127.0.0.1:8000/readyz")
        break
    except OSError:
        pass
else:
    raise SystemExit(1)
"""


@pytest.mark.timeout(3600)
def test_the_image_is_built_and_serves() -> None:
    tool = next(filter(None, map(shutil.which, ("podman", "docker"))), None)
    if tool is None or "ZEROTAG_CONTAINERS" not in os.environ:
        pytest.skip("builds an image from the network: set ZEROTAG_CONTAINERS=1 where podman or docker is installed")
    subprocess.run([tool, "build", "-t", "zerotag-test", "-f", "Containerfile", "."], cwd=ROOT, check=True)
    name = "zerotag-test-container"
    key = ["-e", "ZEROTAG_API_KEY=0123456789abcdef"]
    subprocess.run([tool, "run", "--detach", "--rm", "--name", name, *key, "zerotag-test"], check=True)
    try:
        subprocess.run([tool, "exec", name, "python", "-c", HEALTHY], check=True, timeout=180)
    finally:
        subprocess.run([tool, "stop", name], check=True)
