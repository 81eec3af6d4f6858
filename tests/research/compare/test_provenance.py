"""Where a run was made."""

from __future__ import annotations

import subprocess
from pathlib import Path

from zerotag.research.compare.provenance import commit_of


def git(folder: Path, *command: str) -> str:
    author = ["-c", "user.name=tester", "-c", "user.email=tester@example.org"]
    return subprocess.run(["git", *author, *command], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_a_commit_is_marked_if_the_source_has_changed_and_not_for_results(tmp_path: Path) -> None:
    source, results = tmp_path / "src", tmp_path / "experiments"
    for folder in (source, results):
        folder.mkdir()
        (folder / "file").write_text("as it was")
    assert commit_of(source) is None  # no repository yet
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "All")
    commit = git(tmp_path, "rev-parse", "HEAD").strip()
    assert commit_of(source) == commit[:12]
    (results / "file").write_text("a new result")
    (results / "run.json").write_text("{}")
    assert commit_of(source) == commit[:12]
    (source / "new.py").touch()
    assert commit_of(source) == f"{commit[:12]}-dirty"
    (source / "new.py").unlink()
    (source / "file").write_text("changed")
    assert commit_of(source) == f"{commit[:12]}-dirty"
