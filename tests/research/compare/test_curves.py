"""Learning curves, drawn from run files made by hand."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from hand_made import TOML, experiment, record, run_of
from zerotag.research.compare.curves import learning_curves
from zerotag.research.compare.experiment import Experiment
from zerotag.research.compare.plot import Panel, Point, plot
from zerotag.research.compare.record import write_record
from zerotag.research.compare.results import load_results, run_path
from zerotag.research.compare.results_page import write_results_page
from zerotag.research.compare.summary import write_summary

SVG = "{http://www.w3.org/2000/svg}"
CURVES = """
[trainings.few]
sentences = 100

[[methods]]
name = "Few"
training = "few"
curve = "Ours"

[[methods]]
name = "All"
training = "w-sa"
curve = "Ours"

[[methods]]
name = "Tuned"
training = "few"
threshold = "dev-word-f1"
curve = "Ours, tuned"
"""


def with_curves(folder: Path) -> Experiment:
    """On FCE, two seeds of 0.2 and 0.3 with 100 sentences, and one of 0.5 with all 10,000."""
    hand = experiment(folder, TOML + CURVES)
    for method, seed, count, f1 in (
        ("Few", 1, 100, 0.2),
        ("Few", 2, 100, 0.3),
        ("All", 1, 10_000, 0.5),
        ("Tuned", 1, 100, 0.4),
    ):
        run = run_of(hand, "fce", method, seed)
        made = record(hand, run, word_f1=f1, average_precision=f1 + 0.1)
        assert made.training is not None
        made = replace(made, training=replace(made.training, sentences=count))
        write_record(run_path(hand.results, run), made)
    write_summary(load_results(hand, hand.results), hand.results)
    return hand


def test_what_is_drawn(tmp_path: Path) -> None:
    hand = with_curves(tmp_path)
    drawing = learning_curves(load_results(hand, hand.results), label="Growth & so on")
    assert drawing is not None
    root = ET.fromstring(drawing)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts[:3] == ["Ours", "Ours, tuned †", "best published without word labels, all sentences"]
    assert ("FCE, word F1" in texts, "FCE, MAP" in texts, "own, MAP" in texts) == (True, True, False)
    assert texts.count("100") == texts.count("10,000") == 2
    assert len(root.findall(f"{SVG}circle")) == 2 * 3
    assert root.get("aria-label") == "Growth & so on"


def test_places_by_hand() -> None:
    """From 10 to 1,000 things and from 20 to 60 percent: 100 are half way, and 40 percent are."""
    points = (Point(10, 20.0, 0.0), Point(100, 40.0, 5.0), Point(1000, 60.0, 0.0))
    root = ET.fromstring(plot([[Panel("P", (points,), level=30.0)]], ["a"], level_name="bar", label="l"))
    circles = [(float(c.get("cx", 0)), float(c.get("cy", 0))) for c in root.findall(f"{SVG}circle")]
    (left, bottom), (middle_x, middle_y), (right, top) = circles
    assert (middle_x, middle_y) == pytest.approx(((left + right) / 2, (top + bottom) / 2), abs=0.11)
    lines = [{k: float(line.get(k, 0)) for k in ("x1", "x2", "y1", "y2")} for line in root.findall(f"{SVG}line")]
    percent = (bottom - top) / 40
    whiskers = [line for line in lines if line["x1"] == line["x2"] == middle_x]
    assert [line["y2"] - line["y1"] for line in whiskers] == pytest.approx([10 * percent], abs=0.11)
    levels = [line["y1"] for line in lines if (line["x1"], line["x2"]) == (left, right)]
    assert levels == pytest.approx([bottom - 10 * n * percent for n in (0, 1, 2, 3, 4, 1)], abs=0.11)


def test_a_single_point_is_in_the_middle_and_100_percent_within() -> None:
    root = ET.fromstring(
        plot([[Panel("P", ((Point(7, 100.0, 3.0),), ()), level=None)]], ["a", "b"], level_name="bar", label="l")
    )
    assert [text.text for text in root.iter(f"{SVG}text")][3:] == ["P", "90", "100", "7"]


def test_records_that_do_not_say_how_many_sentences_are_left_out(tmp_path: Path) -> None:
    hand = experiment(tmp_path, TOML + CURVES)
    run = run_of(hand, "fce", "Few", 1)
    write_record(run_path(hand.results, run), record(hand, run, word_f1=0.5))
    assert learning_curves(load_results(hand, hand.results), label="l") is None


def test_the_page_shows_the_curves_written_with_it(tmp_path: Path) -> None:
    hand = with_curves(tmp_path)
    write_results_page(tmp_path, tmp_path / "docs" / "results.md")
    page = (tmp_path / "docs" / "results.md").read_text(encoding="utf-8")
    assert "\n**How results grow with the number of training sentences**\n" in page
    link = "![Word F1 and MAP by the number of training sentences](../hand/figures/learning-curves.svg)"
    assert f"\n{link}\n" in page
    assert (hand.results / "figures" / "learning-curves.svg").read_text(encoding="utf-8").startswith("<svg ")
