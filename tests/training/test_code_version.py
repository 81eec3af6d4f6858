"""Which code trains."""

from __future__ import annotations

from pathlib import Path

import pytest

from zerotag.training import code_version as module


def test_it_follows_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "loop.py").write_text("a = 1\n")
    (tmp_path / "config.py").write_text("b = 1\n")
    monkeypatch.setattr(module, "PACKAGE", tmp_path)
    monkeypatch.setattr(module, "DECISIVE", ("training", "config.py"))
    digest = module.code_version.__wrapped__
    first = digest()
    assert digest() == first
    assert len(first) == 16
    (tmp_path / "other.py").write_text("no part of it")
    assert digest() == first
    (tmp_path / "training" / "loop.py").write_text("a = 2\n")
    second = digest()
    (tmp_path / "training" / "new.py").touch()
    assert len({first, second, digest()}) == 3


def test_all_that_decides_is_there() -> None:
    assert all((module.PACKAGE / name).exists() for name in module.DECISIVE)
