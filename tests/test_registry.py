from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import PurePath

import pytest

from zerotag import registry
from zerotag.errors import ZerotagError
from zerotag.registry import Registry


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch) -> Registry[object]:
    entries = {
        "windows": EntryPoint("windows", "pathlib:PureWindowsPath", "zerotag.paths"),
        "plain": EntryPoint("plain", "pathlib:PureWindowsPath", "zerotag.paths"),
        "broken": EntryPoint("broken", "no_such_package:thing", "zerotag.paths"),
    }
    monkeypatch.setattr(registry, "plugins", lambda group: entries if group == "zerotag.paths" else {})
    return Registry("path", {"plain": "pathlib:PurePath"})


def test_own_entries_come_first_and_are_not_replaced(paths: Registry[object]) -> None:
    assert paths.names() == ("plain", "broken", "windows")
    assert paths.get("plain") is PurePath
    assert "plain" in paths
    assert "windows" in paths
    assert "other" not in paths


def test_entries_of_other_packages_are_imported_on_use(paths: Registry[object]) -> None:
    assert paths.get("windows").__name__ == "PureWindowsPath"  # type: ignore[attr-defined]


def test_unknown_and_broken_entries_are_named(paths: Registry[object]) -> None:
    with pytest.raises(ZerotagError, match=r"^unknown path 'pathlib:PurePath'; there are: plain, broken, windows; "):
        paths.get("pathlib:PurePath")
    with pytest.raises(ZerotagError, match=r"^path 'broken' of package .* cannot be imported \(.*no_such_package"):
        paths.get("broken")
