"""The page and the charts of a corpus: the words and what stands around them, escaped, and curves that are right."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from zerotag.decisions import decide
from zerotag.evaluation.corpus_report import Measured, charts, figure, page, word_tables
from zerotag.evaluation.lexicon import THRESHOLDS, LabelledCorpus, labelled_corpus
from zerotag.evaluation.metrics import at_thresholds
from zerotag.evaluation.metrics.classification import PRF
from zerotag.io.writers.style import Style
from zerotag.types import ReliabilityBin, Rule, Scored, Sentence

RULE = Rule(word_threshold=0.5)


def corpus() -> LabelledCorpus:
    sentence = Sentence.from_words(["<b>it", "may", "rain\u202e"])
    scored = Scored(sentence, (0.9,), np.array([[0.125], [0.75], [0.25]], np.float32))
    return labelled_corpus([decide(scored, ("<i>",), (RULE,))] * 3, ("<i>",), (RULE,))


def test_the_page() -> None:
    measured = Measured({"<i>": (ReliabilityBin(0.5, 0.25, 4),)}, "dev")
    text = "".join(page(corpus(), measured, Style(label_names=("<i>",), rules=(RULE,), title="<t>"), "A & B", 20))
    assert "<i>" not in text
    assert "&lt;i&gt;: what a threshold marks" in text
    assert "<bdi>&lt;b&gt;it </bdi>" in text
    assert text.count("<svg ") == 2
    assert text.count('<tr><td class="left">') == 3
    assert "3 of 3 sentences have it, 3 of 9 words carry it (1 different ones)" in text
    assert "<script" not in text


def test_the_table_of_the_terminal() -> None:
    (table,) = word_tables(corpus(), 20)
    assert table.rows == (("may", "3", "3", "0.75", "100.0 %"),)
    assert table.note.splitlines()[-1].strip() == "<b>it [may] rain\u202e"


def test_curves_end_where_no_word_is_left() -> None:
    golds, scores = [np.array([False, True, False])] * 3, [np.array([0.125, 0.75, 0.25])] * 3
    measured = Measured(by_threshold={"<i>": at_thresholds(golds, scores, THRESHOLDS)})
    (chart,) = charts(corpus(), measured)
    precision, recall = chart.lines[2], chart.lines[3]
    assert precision.points[0][1] == pytest.approx(1 / 3)
    assert precision.points[-1] == (0.75, 1.0)
    assert recall.points[-1] == (0.75, 1.0)
    assert dict(chart.lines[0].points)[0.26] == pytest.approx(1 / 3)
    assert chart.marks[0].x == 0.5


def test_measures_at_thresholds_are_those_of_decisions() -> None:
    draw = np.random.default_rng(0)
    golds = [draw.random(9) < 0.3 for _ in range(20)]
    scores = [draw.integers(0, 8, 9) / 8 for _ in range(20)]
    for threshold, found in zip(
        [0.0, 0.25, 0.3, 1.0], at_thresholds(golds, scores, [0.0, 0.25, 0.3, 1.0]), strict=True
    ):
        guess, gold = np.concatenate(scores) >= threshold, np.concatenate(golds)
        assert found == PRF.from_counts(
            int((gold & guess).sum()), int((~gold & guess).sum()), int((gold & ~guess).sum())
        )


def test_the_figure_has_all_charts_beside_each_other() -> None:
    root = ET.fromstring(figure(charts(corpus(), Measured({"<i>": (ReliabilityBin(0.5, 0.25, 4),)}, "dev"))))
    inner = root.findall("{http://www.w3.org/2000/svg}svg")
    assert [one.attrib["x"] for one in inner] == ["0", "440"]
    assert float(root.attrib["width"]) == 880
