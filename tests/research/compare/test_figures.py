"""Figures of example sentences, drawn from run files made by hand."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from hand_made import TOML, experiment, record, run_of
from zerotag.errors import ZerotagError
from zerotag.render.heatmap.drawing import tinted
from zerotag.research.compare.comparison import compare
from zerotag.research.compare.experiment import Experiment
from zerotag.research.compare.experiment_file import comparisons, read_experiment
from zerotag.research.compare.figures import FIGURES, figures
from zerotag.research.compare.record import ExampleRecord, read_record, write_record
from zerotag.research.compare.results import load_results, run_path
from zerotag.research.compare.results_page import results_page, write_results_page
from zerotag.research.compare.summary import write_summary

ROOT = Path(__file__).parents[3]
RECT = "{http://www.w3.org/2000/svg}rect"
EXAMPLES = """
[[examples]]
corpora = ["fce"]
words = "it *may* leak"

[[examples]]
corpora = ["fce", "own"]
words = "it leaks"
"""
WORDS = ["it", "may", "leak"]


def with_examples(folder: Path) -> Experiment:
    """Soft attention, threshold 0.5, and LIME, threshold 0.02, on the first sentence; nothing on the second."""
    hand = experiment(folder, TOML + EXAMPLES)
    for method, scores, threshold in (("Soft attention", (0.25, 0.75, 1.0), 0.5), ("LIME", (-0.02, 0.06, 0.0), 0.02)):
        run = run_of(hand, "fce", method, 1)
        scored = ExampleRecord(WORDS, [0.9], [[score] for score in scores])
        made = record(hand, run, word_f1=0.3, threshold=threshold, examples=[scored])
        write_record(run_path(hand.results, run), made)
    write_summary(load_results(hand, hand.results), hand.results)
    return hand


def test_examples_are_words_with_positive_ones_between_asterisks(tmp_path: Path) -> None:
    first, second = experiment(tmp_path, TOML + EXAMPLES).examples
    assert (first.corpora, first.words, first.gold) == (("fce",), ("it", "may", "leak"), (False, True, False))
    assert (second.corpora, second.gold) == (("fce", "own"), (False, False))
    assert experiment(tmp_path).examples == ()


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('corpora = ["fce"]', 'corpora = ["conll2010"]', "examples: corpus 'conll2010' is not in the experiment"),
        ('words = "it leaks"', 'words = " "', "words '' is not allowed; allowed: words with spaces between them"),
        ('words = "it leaks"', "", "examples 2: words is missing"),
        ('words = "it leaks"', 'words = "a"\ngold = 1', "examples 2: unknown key 'gold'"),
    ],
)
def test_bad_examples(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    with pytest.raises(ZerotagError) as caught:
        experiment(tmp_path, TOML + EXAMPLES.replace(old, new))
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_figure_has_a_row_for_each_method_around_its_own_threshold(tmp_path: Path) -> None:
    hand = with_examples(tmp_path)
    (figure,) = figures(load_results(hand, hand.results))  # no run has scored the second sentence
    assert (figure.name, figure.caption) == ("fce-1.svg", "FCE: it may leak")
    boxes = ET.fromstring(figure.content).findall(RECT)[1:]
    by_row: dict[float, dict[float, tuple[str, bool]]] = {}
    for box in boxes:
        outlined = box.get("stroke-width") == "2"
        by_row.setdefault(float(box.get("y", 0)), {})[float(box.get("x", 0))] = (box.get("fill", ""), outlined)
    lime, soft = ([row[x] for x in sorted(row)] for _, row in sorted(by_row.items()))
    assert soft == [(tinted(0.25), False), (tinted(0.75), True), (tinted(1.0), True)]
    assert lime == [(tinted(0.0), False), (tinted(1.0), True), (tinted(0.25), False)]
    for text in ("LIME †", "Soft attention", ">may<", ">-0.0200<", ">0.75<"):
        assert text in figure.content


def test_sentences_that_the_toml_no_longer_has_are_left_out(tmp_path: Path) -> None:
    hand = with_examples(tmp_path)
    path = run_path(hand.results, run_of(hand, "fce", "LIME", 1))
    old = read_record(path)
    write_record(path, replace(old, examples=[ExampleRecord(["other"], [0.9], [[0.5]])]))
    (figure,) = figures(load_results(hand, hand.results))
    assert "LIME" not in figure.content


def test_the_page_shows_the_figures_that_are_written_with_it(tmp_path: Path) -> None:
    hand = with_examples(tmp_path)
    write_results_page(tmp_path, tmp_path / "docs" / "results.md")
    page = (tmp_path / "docs" / "results.md").read_text(encoding="utf-8")
    assert "\n![FCE: it may leak](../hand/figures/fce-1.svg)\n" in page
    (written,) = (hand.results / FIGURES).iterdir()
    (figure,) = figures(load_results(hand, hand.results))
    assert written.read_text(encoding="utf-8") == figure.content
    assert results_page(tmp_path, tmp_path / "docs") == page


def test_without_examples_there_is_no_figure(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    run = run_of(hand, "fce", "Soft attention", 1)
    write_record(run_path(hand.results, run), record(hand, run, word_f1=0.3))
    write_summary(load_results(hand, hand.results), hand.results)
    write_results_page(tmp_path, tmp_path / "results.md")
    assert not (hand.results / FIGURES).exists()
    assert "example sentences" not in (tmp_path / "results.md").read_text(encoding="utf-8")


def test_records_made_before_there_were_examples_can_be_read(tmp_path: Path) -> None:
    hand = with_examples(tmp_path)
    path = run_path(hand.results, run_of(hand, "fce", "LIME", 1))
    record = json.loads(path.read_text(encoding="utf-8"))
    del record["examples"]
    path.write_text(json.dumps(record), encoding="utf-8")
    assert read_record(path).examples == []


def test_runs_score_the_examples_once(small: Path) -> None:
    text = small.read_text(encoding="utf-8").replace("seeds = [1]", "seeds = [1, 2]")
    small.write_text(text + '\n[[examples]]\ncorpora = ["smoke-corpus"]\nwords = "the pump *may* fail ."\n')
    comparison = compare(small)
    assert not comparison.failed
    records = {run.name: read_record(run_path(comparison.folder, run)) for run in comparison.done}
    scored = {name.removeprefix("smoke-corpus.") for name, one in records.items() if one.examples}
    assert scored == {"soft-attention.1", "attention-heads.1", "occlusion.1"}
    (example,) = records["smoke-corpus.soft-attention.1"].examples
    assert example.words == ["the", "pump", "may", "fail", "."]
    assert [len(word) for word in example.word_scores] == [1] * 5
    assert all(0 < word[0] < 1 for word in example.word_scores)
    picture = (comparison.folder / FIGURES / "smoke-corpus-1.svg").read_text(encoding="utf-8")
    assert ">Occlusion †<" in picture
    assert ">Soft attention<" in picture


@pytest.mark.parametrize("toml", comparisons(ROOT / "experiments"), ids=lambda toml: toml.stem)
def test_committed_figures_are_up_to_date(toml: Path) -> None:
    found = read_experiment(toml)
    drawn = [] if found.draft else list(figures(load_results(found, found.results)))
    for figure in drawn:
        committed = found.results / FIGURES / figure.name
        assert committed.read_text(encoding="utf-8") == figure.content, "run `zerotag results`"
    names = {file.name for file in (found.results / FIGURES).glob("*")}
    assert names == {figure.name for figure in drawn}
