"""Where a run was made."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path

from zerotag.research.compare.provenance import commit_of, moment, provenance
from zerotag.training.code_version import code_version

ROOT = Path(__file__).parents[3]
ARCHIVED = ROOT / "src" / "zerotag" / "research" / "compare" / "archived_commit.txt"


def git(folder: Path, *command: str) -> str:
    author = ["-c", "user.name=tester", "-c", "user.email=tester@example.org"]
    return subprocess.run(["git", *author, *command], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_a_commit_is_marked_if_the_source_has_changed_and_not_for_results(tmp_path: Path) -> None:
    source, results, archived = tmp_path / "src", tmp_path / "experiments", tmp_path / "none"
    for folder in (source, results):
        folder.mkdir()
        (folder / "file").write_text("as it was")
    assert commit_of(source, archived) is None  # no repository yet
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "All")
    commit = git(tmp_path, "rev-parse", "HEAD").strip()
    assert commit_of(source, archived) == commit[:12]
    (results / "file").write_text("a new result")
    (results / "run.json").write_text("{}")
    assert commit_of(source, archived) == commit[:12]
    (source / "new.py").touch()
    assert commit_of(source, archived) == f"{commit[:12]}-dirty"
    (source / "new.py").unlink()
    (source / "file").write_text("changed")
    assert commit_of(source, archived) == f"{commit[:12]}-dirty"


def test_sources_that_travel_as_an_archive_know_their_commit(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    shutil.copy(ARCHIVED, here / "commit.txt")
    assert commit_of(there, here / "commit.txt") is None  # as it is in the repository
    (here / ".gitattributes").write_text("commit.txt export-subst\n")
    git(here, "init")
    git(here, "add", ".")
    git(here, "commit", "-m", "All")
    git(here, "archive", "--output", str(there / "all.tar"), "HEAD")
    with tarfile.open(there / "all.tar") as archive:
        archive.extractall(there, filter="data")
    assert commit_of(there, there / "commit.txt") == git(here, "rev-parse", "HEAD")[:12]


def test_the_file_for_archives_is_in_the_package() -> None:
    attributes = (ROOT / ".gitattributes").read_text(encoding="utf-8").split()
    assert attributes == [ARCHIVED.relative_to(ROOT).as_posix(), "export-subst"]
    assert ARCHIVED.read_text(encoding="ascii").strip() == "$Format:%H$"


def test_what_is_known_of_the_end_and_of_the_beginning() -> None:
    began = moment()
    made = provenance(3, began)
    assert made["began"] == began
    assert made["side_by_side"] == 3
    assert made["code"] == began["code"] == code_version()
