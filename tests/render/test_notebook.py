"""What notebooks show of results: words shaded and escaped, verdicts, a bar; and figures of a text."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tiny
from zerotag.decisions import decide
from zerotag.errors import ZerotagError
from zerotag.render.notebook import SHOWN
from zerotag.render.progress import LiveBar
from zerotag.results import Results
from zerotag.types import Labelled, Rule, Scored, Sentence

NAMES = ("<a>", "b")


def result(text: str = "it <may rain") -> Labelled:
    sentence = Sentence.from_words(text.split())
    scores = np.array([[0.125, 0.0], [0.75, 0.25], [0.25, 0.5]], np.float32)
    return decide(Scored(sentence, (0.875, 0.25), scores), NAMES, (Rule(), Rule()))


def parts(html: str) -> ET.Element:
    """The fragment as a tree: it is well-formed, and nothing of the text has become markup."""
    return ET.fromstring(html)


def test_a_result_is_its_text_with_words_marked() -> None:
    root = parts(result()._repr_html_())
    (text,) = [one for one in root.iter("p") if one.get("class") == "text"]
    assert "".join(text.itertext()) == "it <may rain"
    assert [one.text for one in text if one.tag == "mark"] == ["<may", "rain"]
    assert [one.get("data-tip") for one in text] == [
        "0.125 <a> 0.000 b",  # a line each, which XML makes a space of
        "0.750 <a> 0.250 b",
        "0.500 b 0.250 <a>",
    ]
    (verdict,) = [one for one in root.iter("div") if one.get("class") == "verdict"]
    assert "".join(verdict.itertext()) == "<a>: yes, score 0.88"


def test_a_list_shows_the_first_and_says_how_many_there_are() -> None:
    root = parts(Results([result()] * (SHOWN + 5), NAMES)._repr_html_())
    assert len(root.findall("ol/li")) == SHOWN
    assert "and 5 more" in "".join(root.itertext())
    assert len(parts(Results([result()] * 3, NAMES)[:2]._repr_html_()).findall("ol/li")) == 2
    assert "more" not in Results([result()], NAMES)._repr_html_()


def test_what_a_labeller_returns_has_a_picture() -> None:
    labeller = tiny.labeller()
    one, several = labeller.label("the pump may leak"), labeller.label(["the pump", "may leak"])
    assert "pump" in "".join(parts(one._repr_html_()).itertext())
    assert len(parts(several._repr_html_()).findall("ol/li")) == 2


def test_a_figure_of_a_text(tmp_path: Path) -> None:
    labeller = tiny.labeller(labels=("a", "b"))
    figure = labeller.explain("the pump may leak", methods=["native", "occlusion"], labels=["b"])
    texts = [text.text for text in ET.fromstring(figure._repr_html_()).iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "b"
    assert {"native", "occlusion", "pump", "may"} <= set(texts)
    figure.save(tmp_path / "figure.json")
    found = json.loads((tmp_path / "figure.json").read_text())
    assert found == figure.to_json()
    scores = [word.scores["b"] for word in labeller.label("the pump may leak").words]
    assert found["labels"]["b"][0]["scores"] == pytest.approx(scores, abs=1e-6)
    with pytest.raises(ZerotagError, match=r"x.gif does not end in .png, .svg, .html, .json"):
        figure.save(tmp_path / "x.gif")


class Output:
    """Stands in for the output of a cell."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def update(self, html: str) -> None:
        self.shown.append(html)


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch) -> Output:
    """A notebook, as far as bars can tell."""
    cell, module = Output(), ModuleType("IPython.display")
    fake: Any = module
    fake.HTML = str
    fake.display = lambda *_, **__: cell
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr("rich.console.Console.is_jupyter", True, raising=False)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    return cell


def test_a_bar_needs_no_widgets(output: Output) -> None:
    with LiveBar(transient=True) as bar:
        bar.draw("3 of 4 <texts>", 3, 4)
        bar.draw("some", 5, None)
    assert 'value="3" max="4"' in output.shown[0]
    assert "3 of 4 &lt;texts&gt;" in output.shown[0]
    assert "value" not in output.shown[1]
    assert output.shown[-1] == ""


def test_a_bar_of_a_training_stays(output: Output) -> None:
    with LiveBar() as bar:
        bar.draw("100 %", 4, 4)
    assert "100 %" in output.shown[-1]
