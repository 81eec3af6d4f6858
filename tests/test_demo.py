"""The demonstration and its corpus."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import pytest

import tiny
import zerotag.demo
from zerotag.demo import PARTS, measure, write_report
from zerotag.demo.improve import to_measure, to_suggest
from zerotag.io import read_gold
from zerotag.io.writers.style import Style
from zerotag.training.recipe import Progress
from zerotag.types import Corpus, GoldExample, Rule


def part(name: str) -> Corpus[GoldExample]:
    with as_file(files("zerotag.demo").joinpath(f"hedging.{name}.jsonl")) as path:
        return read_gold(path)


@pytest.fixture(scope="module")
def corpus() -> dict[str, Corpus[GoldExample]]:
    return {name: part(name) for name in ("train", *PARTS)}


def cues(corpus: Corpus[GoldExample]) -> set[str]:
    """The marked words."""
    return {
        word.lower()
        for one in corpus.examples
        for word, (marked,) in zip(one.sentence.words, one.word_labels or (), strict=True)
        if marked
    }


def test_the_corpus_is_large_balanced_and_has_no_sentence_twice(corpus: dict[str, Corpus[GoldExample]]) -> None:
    texts = [one.sentence.text.lower() for corpus_part in corpus.values() for one in corpus_part.examples]
    assert len(texts) >= 800
    assert len(set(texts)) == len(texts)
    for corpus_part in corpus.values():
        assert corpus_part.label_names == ("hedge",)
        hedged = sum(one.labels[0] for one in corpus_part.examples)
        assert 0.45 <= hedged / len(corpus_part) <= 0.55


def test_words_are_marked_where_and_only_where_a_sentence_hedges(corpus: dict[str, Corpus[GoldExample]]) -> None:
    for name in PARTS:
        for one in corpus[name].examples:
            assert one.word_labels is not None
            assert any(flag for (flag,) in one.word_labels) == one.labels[0], one.sentence.text


def test_training_has_every_kind_of_cue_many_times(corpus: dict[str, Corpus[GoldExample]]) -> None:
    assert len(cues(corpus["train"])) > 50
    assert len(cues(corpus["test"]) & cues(corpus["train"])) / len(cues(corpus["test"])) > 0.8


def test_the_unseen_cues_are_not_in_training(corpus: dict[str, Corpus[GoldExample]]) -> None:
    shared = cues(corpus["unseen"]) & cues(corpus["train"])
    assert not {word for word in shared if len(word) > 4}, shared


def test_it_is_measured_and_shown(tmp_path: Path) -> None:
    labeller = tiny.labeller().with_rules([Rule(0.0, 0.0)])
    measured = {name: measure(labeller, name) for name in PARTS}
    for name, (report, results) in measured.items():
        assert len(results) == len(part(name))
        assert report.macro.sentence_recall == report.macro.word_recall == 1.0
    style = Style(label_names=labeller.label_names, rules=labeller.rules, title="Which words hedge?")
    page = write_report(tmp_path / "report.html", measured, style).read_text()
    for title in (*PARTS.values(), "Which words hedge?"):
        assert title in page
    assert "MAP" in page


def test_models_are_not_measured_on_sentences_they_were_corrected_by() -> None:
    for name in PARTS:
        examples = part(name).examples
        suggested, measured = to_suggest(examples), to_measure(examples)
        assert not set(suggested) & set(measured)
        assert set(suggested) | set(measured) == set(examples)


def test_it_trains_on_the_training_part(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def train(corpus: object, **options: object) -> object:
        given.append((corpus, options))
        return "labeller"

    def show(_: Progress) -> None:
        pass

    monkeypatch.setattr("zerotag.training.recipe.train", train)
    assert zerotag.demo.train(device=None, on_progress=show) == "labeller"  # type: ignore[comparison-overlap]
    ((corpus, options),) = given
    assert isinstance(corpus, Corpus)
    expected = part("train")
    assert [(e.sentence, e.labels) for e in corpus.examples] == [(e.sentence, e.labels) for e in expected.examples]
    assert options["device"] is None
    assert options["on_progress"] is show
