"""What all output formats have in common."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given

from labelled_samples import ONE, ONE_STYLE, any_labelled
from zerotag.io.writers import WRITERS
from zerotag.io.writers.style import Style
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
        written = "".join(FORMATS[name]([labelled], replace(style, colour=colour)))
        assert written.encode("utf-8", errors="replace").decode("utf-8") == written
