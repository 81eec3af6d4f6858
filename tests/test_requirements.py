"""The locks in requirements/ have what pyproject.toml asks for, by hash, and torch alone by version."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))
RUNTIME_EXTRAS = ("minilm", "serve", "plots", "onnx-export")  # as in the Makefile
OPTIONAL_EXTRAS = ("excel", "spacy", "chinese", "japanese", "thai")
ASKED = {
    "build.lock": [],
    "tools.lock": [],
    "runtime.lock": RUNTIME_EXTRAS,
    "distributed.lock": ("ray", "spark", "storage"),  # beside the development environment, which has the others
    "dev.lock": (*RUNTIME_EXTRAS, *OPTIONAL_EXTRAS, "dev", "docs"),
}


def entries(lock: Path) -> list[str]:
    """Each pin with its hashes, on one line."""
    text = re.sub(r"^#.*\n", "", lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return text.replace("\\\n", "").splitlines()


def pinned(lock: Path) -> dict[str, set[str]]:
    """Versions by name: more than one where they differ by platform or Python."""
    versions: dict[str, set[str]] = {}
    for entry in entries(lock):
        name, version = entry.split(" ")[0].split("==")
        versions.setdefault(canonicalize_name(name), set()).add(version)
    return versions


def test_there_is_a_lock_for_each_environment() -> None:
    assert {lock.name for lock in LOCKS} == set(ASKED)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_package_has_hashes_and_none_an_address(lock: Path) -> None:
    for entry in entries(lock):
        assert re.fullmatch(r"[\w.-]+==[\w.]+( ; [^#@]+?)?( +--hash=sha256:[0-9a-f]{64})+", entry), entry
    assert "://" not in lock.read_text(encoding="utf-8")


@pytest.mark.parametrize("lock", ["runtime.lock", "dev.lock", "distributed.lock"])
def test_what_the_project_asks_for_is_pinned(lock: str) -> None:
    asked = [*PROJECT["project"]["dependencies"]]
    for extra in ASKED[lock]:
        asked += PROJECT["project"]["optional-dependencies"][extra]
    versions = pinned(ROOT / "requirements" / lock)
    for requirement in map(Requirement, asked):
        if requirement.name == "torch":
            continue
        found = versions.get(canonicalize_name(requirement.name), set())
        assert found, f"{requirement.name} is not in {lock}: make lock"
        assert all(version in requirement.specifier for version in found), f"{requirement} but {found}: make lock"


def test_torch_is_pinned_by_version_outside_the_locks() -> None:
    lines = (ROOT / "requirements" / "torch.txt").read_text(encoding="utf-8").splitlines()
    (torch,) = [Requirement(line) for line in lines if not line.startswith("#")]
    assert re.fullmatch(r"==[\d.]+", str(torch.specifier))
    names = {name for lock in LOCKS for name in pinned(lock)}
    assert "torch" not in names
    assert not [name for name in names if name.startswith(("nvidia-", "cuda-")) or name == "triton"]


def test_environments_agree_on_versions() -> None:
    dev, runtime = (pinned(ROOT / "requirements" / lock) for lock in ("dev.lock", "runtime.lock"))
    assert runtime
    for name, versions in runtime.items():
        assert dev[name] == versions, name
