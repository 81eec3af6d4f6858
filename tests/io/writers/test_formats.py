"""What all output formats have in common."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given

from labelled_samples import NOTHING, ONE, ONE_STYLE, any_labelled
from zerotag.io.writers import WRITERS
from zerotag.io.writers.style import Style
from zerotag.render.pieces import pieces
from zerotag.render.scale import position
from zerotag.text.printable import one_line
from zerotag.types import Labelled

FORMATS = {name: spec.render for name in WRITERS.names() if (spec := WRITERS.get(name)).render is not None}


@pytest.mark.parametrize("name", FORMATS)
def test_each_sentence_is_written_before_the_next_is_read(name: str) -> None:
    read = 0

    def endless() -> Iterator[Labelled]:
        nonlocal read
        while True:
            read += 1
            yield ONE

    chunks = FORMATS[name](endless(), ONE_STYLE)
    written = 0
    while written < 5:
        written += "rain" in next(chunks)
        assert read <= written + 1
    assert read == 5


@pytest.mark.parametrize(
    ("name", "of_none", "of_one"),
    [
        ("jsonl", "", '{"text": "", "score": 0.0, "label": null, "words": [], "spans": []}\n'),
        ("tsv", "", "\n"),
        ("text", "", "0.00 O      \n"),
    ],
)
def test_no_sentences_and_sentences_without_words(name: str, of_none: str, of_one: str) -> None:
    empty = Labelled("", {"hedge": 0.0}, (), (), ())
    assert "".join(FORMATS[name]([], ONE_STYLE)) == of_none
    assert "".join(FORMATS[name]([empty], ONE_STYLE)) == of_one


def test_a_page_without_sentences() -> None:
    page = "".join(FORMATS["html"]([], ONE_STYLE))
    assert "0 sentences · 0 hedge" in page
    assert page.endswith("</html>\n")


@pytest.mark.parametrize("name", FORMATS)
@given(sample=any_labelled())
def test_whatever_the_text_it_can_be_written_as_utf8(name: str, sample: tuple[Labelled, Style]) -> None:
    labelled, style = sample
    for colour in (False, True):
        "".join(FORMATS[name]([labelled], replace(style, colour=colour))).encode("utf-8")


@given(any_labelled())
def test_pieces_make_up_the_text(sample: tuple[Labelled, Style]) -> None:
    labelled, _ = sample
    cut = list(pieces(labelled))
    assert "".join(piece for piece, _ in cut) == labelled.text
    assert [word for _, word in cut if word is not None] == list(labelled.words)


def test_pieces_of_a_sentence() -> None:
    texts = [piece for piece, _ in pieces(ONE)]
    assert texts == ["It", " ", "may", "  ", "rain", "."]
    assert [piece for piece, _ in pieces(NOTHING)] == ["It", " rains."]


def test_control_characters_become_visible() -> None:
    assert one_line("a\tb\r\nc\x1b[31m\x9b\u2028\x7f\ud800é") == "a␉b␍␊c␛[31m�␤␡�é"


@pytest.mark.parametrize(
    ("score", "threshold", "expected"),
    [
        (0.0, 0.5, 0.0),
        (0.3, 0.5, 0.3),
        (0.5, 0.5, 0.5),
        (0.9, 0.5, 0.9),
        (1.0, 0.5, 1.0),
        (0.1, 0.2, 0.25),
        (0.6, 0.2, 0.75),
        (-3.0, 0.5, 0.0),
        (7.0, 0.5, 1.0),
        (-0.25, 0.0, 0.375),  # a threshold at the bottom
        (1.0, 0.0, 1.0),
        (3.0, 2.0, 0.75),  # and beyond the top
        (1.0, 2.0, 0.25),
    ],
)
def test_the_threshold_is_the_middle_of_the_scale(score: float, threshold: float, expected: float) -> None:
    assert position(score, threshold) == pytest.approx(expected)


def test_importing_the_renderers_loads_neither_rich_nor_torch() -> None:
    code = "import sys, zerotag.render; print([m for m in ('rich', 'torch', 'sklearn') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
