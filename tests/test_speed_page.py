"""The page on speed says what the results say."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def speed_page(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(BENCHMARKS)
    yield importlib.import_module("speed_page")
    for name in ("speed_page", "results_file"):
        sys.modules.pop(name, None)


def test_the_page_and_its_picture_are_up_to_date(speed_page: ModuleType) -> None:
    found = speed_page.read_all()
    again = "run python benchmarks/speed_page.py"
    assert speed_page.PAGE.read_text(encoding="utf-8") == speed_page.page(found), again
    assert speed_page.PICTURE.read_text(encoding="utf-8") == speed_page.picture(found), again


@pytest.mark.parametrize(
    ("ours", "ratio", "target", "met"),
    [
        (70.0, 10.0, "≥ 10", True),
        (70.0, 9.99, "≥ 10", False),
        (1.0, 1.1, "≤ 1.1", True),
        (1.0, 1.2, "≤ 1.1", False),
        (0.4, 40.0, "< 0.5 s", True),
        (0.6, 0.1, "< 0.5 s", False),
        (5.0, 1.0, "1", True),
        (5.0, 0.99, "1", False),
        (7.0, 7.0, None, None),
        (7.0, 7.0, "", None),
    ],
)
def test_when_a_target_is_met(
    speed_page: ModuleType, ours: float, ratio: float, target: str | None, met: bool | None
) -> None:
    assert speed_page.Result("it", 1.0, ours, ratio, target).is_met is met


def test_what_the_page_has(speed_page: ModuleType, tmp_path: Path) -> None:
    rows = [
        {"what": "sentences/s", "peer": 3366.0, "ours": 34550.0, "ratio": 10.26, "target": "≥ 10", "more": {}},
        {"what": "late & <slow>", "peer": 2.0, "ours": 1.0, "ratio": 0.5, "target": "≥ 0.9"},
        {"what": "alone", "peer": None, "ours": 7.0, "ratio": None, "target": None},
    ]
    result = {"name": "other", "rows": rows, "machine": "a machine", "versions": {"torch": "9"}, "date": "2030-01-01"}
    (tmp_path / "other.json").write_text(json.dumps(result))
    found = speed_page.read_all(tmp_path)
    page = speed_page.page(found)
    assert "| sentences/s | 3,366 | 34,550 | 10.26 | ≥ 10 | met |" in page
    assert "| late & <slow> | 2 | 1 | 0.5 | ≥ 0.9 | **missed** |" in page
    assert "| alone |  | 7 |  |  |  |" in page
    assert "`benchmarks/other.py`, 2030-01-01, a machine; torch 9." in page


def test_the_picture_has_five_tasks_in_one_unit(speed_page: ModuleType) -> None:
    drawing = ElementTree.fromstring(speed_page.picture(speed_page.read_all()))
    shapes = [*drawing.iter("{http://www.w3.org/2000/svg}rect")]
    width = {
        kind: [float(one.get("width", 0)) for one in shapes if one.get("class") == kind] for kind in ("ours", "peer")
    }
    assert len(width["ours"]) == len(width["peer"]) == 5
    assert all(0 < peer < ours for ours, peer in zip(*width.values(), strict=True))
    texts = [str(one.text) for one in drawing.iter("{http://www.w3.org/2000/svg}text")]
    rows = {(one.name, row.what): row for one in speed_page.read_all() for row in one.results}
    lime = rows["explaining", "LIME, 5,000 samples, all-mpnet-base-v2, half depth: explanations/minute"]
    assert f"{lime.ours / 60:.0f} ({lime.ratio:.0f}×)" in texts
