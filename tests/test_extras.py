from __future__ import annotations

import json
import sys

import pytest

from zerotag.errors import ZerotagError
from zerotag.extras import needed


def test_the_first_module_is_given_once_all_are_there() -> None:
    assert needed("a test", "dev", "json", "csv") is json


def test_the_missing_one_and_its_extra_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "csv", None)
    with pytest.raises(ZerotagError, match=r"^a test needs csv: pip install 'zerotag\[dev\]'$"):
        needed("a test", "dev", "json", "csv")
