"""The notebooks of the documentation were run in full, and their code runs here on a tiny encoder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tiny
from zerotag.modeling import encoders

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def test_there_are_two() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["a-corpus", "first-steps"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_were_run_from_top_to_bottom_and_show_what_came_out(path: Path) -> None:
    code = [cell for cell in cells(path) if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} <= {"execute_result", "stream", "display_data"}
    assert any("text/html" in output.get("data", {}) for output in outputs)
    assert "/work" not in json.dumps(outputs)
    assert "/home" not in json.dumps(outputs)


def test_their_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a quarter of the corpus; the second one loads what the first one has saved."""
    folder = tiny.encoder_folder(tmp_path / "encoder")
    monkeypatch.setattr(encoders, "packaged_folder", lambda: folder)
    monkeypatch.chdir(tmp_path)
    for path in reversed(NOTEBOOKS):
        known: dict[str, Any] = {"__name__": "__main__"}
        for number, cell in enumerate(cells(path)):
            if cell["cell_type"] == "code":
                source = "".join(cell["source"]).replace("corpus.splitlines()", "corpus.splitlines()[::4]")
                exec(compile(source, f"{path.name}, cell {number}", "exec"), known)
