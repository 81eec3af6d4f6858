"""Heat maps: shades by hand, bands, and pictures whatever the words are."""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zerotag.errors import ZerotagError
from zerotag.render.heatmap import HeatMap, HeatRow, bands, record
from zerotag.render.heatmap.drawing import Drawing, draw, tinted
from zerotag.render.heatmap.files import FILES
from zerotag.render.heatmap.png import png
from zerotag.render.heatmap.svg import svg
from zerotag.render.heatmap.terminal import lines
from zerotag.types import Sentence

PNG = b"\x89PNG\r\n\x1a\n"
SVG = "{http://www.w3.org/2000/svg}"
ODD = [
    "😀",
    "中文字",
    "$x$",
    "<b>",
    "a&b",
    '"',
    "\x00",
    "\ud800",
    "\uffff",
    "\u202e",
    "e\u0301",
    "W" * 2000,
    "",
    " ",
    "מים",
]

words = st.lists(st.text(st.characters(codec=None), max_size=6) | st.sampled_from(ODD), min_size=1, max_size=12)


def heat_map(its_words: list[str], *, title: str = "hedge") -> HeatMap:
    scores = tuple(i / len(its_words) for i in range(len(its_words)))
    rows = (
        HeatRow("native", scores, 0.5, tuple(score >= 0.5 for score in scores)),
        HeatRow("lime", tuple(score - 0.3 for score in scores)),
    )
    return HeatMap(title, tuple(its_words), rows)


def texts_of(picture: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(picture).iter(f"{SVG}text")]


def test_shades_are_around_the_threshold_or_on_the_way_to_the_highest_score() -> None:
    assert HeatRow("a", (0.0, 0.1, 0.2, 0.6, 1.0), 0.2).shades() == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert HeatRow("a", (-0.1, 0.0, 0.01, 0.04)).shades() == pytest.approx([0, 0, 0.25, 1])
    assert HeatRow("a", (-0.1, 0.0)).shades() == [0, 0]


def test_the_shades_of_a_method_with_a_scale_of_its_own() -> None:
    """The threshold is in the middle all the same; the sentence's highest score has the full shade."""

    def shades(*scores: float, threshold: float) -> list[float]:
        return HeatRow("a", scores, threshold, within_0_and_1=False).shades()

    assert shades(0.0, 0.01, 0.02, 0.03, 0.04, threshold=0.02) == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert shades(-0.02, 0.0, 0.02, 0.06, threshold=0.02) == pytest.approx([0, 0.25, 0.5, 1])
    assert shades(0.0, 0.01, threshold=0.02) == pytest.approx([0, 0.25])
    assert shades(-0.3, 0.1, threshold=-0.1) == pytest.approx([0, 1])
    assert shades(0.0, 0.0, threshold=0.0) == pytest.approx([0.5, 0.5])  # all reach it


def test_small_scores_of_a_method_without_threshold_can_be_told_apart() -> None:
    assert HeatRow("a", (0.0012, -0.00001)).score_texts() == ["0.0012", "0.0000"]
    assert HeatRow("a", (0.0012, -0.5)).score_texts() == ["0.00", "-0.50"]
    assert HeatRow("a", (0.0012, 0.0), 0.5).score_texts() == ["0.00", "0.00"]


def test_tints_are_those_of_the_page() -> None:
    assert [tinted(shade) for shade in (0.0, 0.5, 1.0)] == ["#ffffff", "#ffe7c3", "#ffba54"]
    # In the middle, at strength 0.5 × (0.4 + 0.6 × 0.5) = 0.35: 255, 255 - 0.35 × 69 = 231, 255 - 0.35 × 171 = 195.


def test_bands_hold_what_fits_and_at_least_one() -> None:
    assert list(bands([3, 3, 3, 9, 1], 6)) == [slice(0, 2), slice(2, 3), slice(3, 4), slice(4, 5)]
    assert list(bands([3, 3], 6)) == [slice(0, 2)]


def test_the_terminal_without_colours() -> None:
    shown = heat_map(["the", "pump", "may", "leak"])
    assert list(lines(shown, width=80, colour=False)) == [
        "hedge",
        "",
        "        the       pump      may       leak",
        "native   0.00      0.25     [0.50]    [0.75]",
        "lime     -0.30     -0.05     0.20      0.45",
    ]


def test_the_terminal_goes_on_in_another_band_within_its_width() -> None:
    shown = list(lines(heat_map(["中文"] * 9), width=40, colour=False))
    assert len(shown) == 1 + 3 * 4  # three words at a time
    assert max(map(len, shown)) <= 40


def test_the_terminal_in_colour_has_the_same_text() -> None:
    shown = heat_map(["the", "pump", "may", "leak"])
    plain, coloured = (list(lines(shown, width=80, colour=colour)) for colour in (False, True))
    stripped = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in coloured]
    assert [line.split() for line in stripped] == [re.sub(r"[\[\]]", " ", line).split() for line in plain]
    assert "\x1b[1;4;" in coloured[3]  # what reaches the threshold
    assert "\x1b[1;4;" not in coloured[4]


def test_a_picture_has_a_box_for_each_word_and_row_and_outlines_positive_ones() -> None:
    drawing = draw([heat_map(["the", "pump", "may", "leak"])])
    assert len(drawing.boxes) == 8
    assert [box.outlined for box in drawing.boxes] == [False, False, False, False, True, False, True, False]
    tops = {box.y for box in drawing.boxes}
    assert len(tops) == 2
    assert drawing.boxes[4].colour == tinted(0.5)
    assert texts_of(svg(drawing, label="x")) == [
        "hedge", "the", "0.00", "-0.30", "pump", "0.25", "-0.05", "may", "0.50", "0.20", "leak", "0.75", "0.45",
        "native", "lime", "outlined: reaches the threshold, which is in the middle of the scale",
    ]  # fmt: skip


def columns(drawing: Drawing) -> dict[str, float]:
    return {text.text: text.x for text in drawing.texts}


def test_hebrew_begins_on_the_right() -> None:
    hebrew = columns(draw([heat_map(["אבג", "דהו", "may"])]))
    assert hebrew["אבג"] > hebrew["דהו"] > hebrew["may"]
    latin = columns(draw([heat_map(["one", "two", "אב"])]))
    assert latin["one"] < latin["two"] < latin["אב"]


def test_long_sentences_take_several_bands_of_a_limited_width() -> None:
    drawing = draw([heat_map([f"word{i}" for i in range(60)])])
    assert drawing.width <= 960
    assert len({box.y for box in drawing.boxes}) > 6
    assert max(box.x + box.width for box in drawing.boxes) < drawing.width
    assert max(box.y + box.height for box in drawing.boxes) < drawing.height


def test_gold_words_are_in_bold() -> None:
    marked = HeatMap("hedge", ("it", "may"), (HeatRow("native", (0.1, 0.9)),), gold=(False, True))
    drawing = draw([marked])
    assert {text.text: text.bold for text in drawing.texts if text.text in ("it", "may")} == {"it": False, "may": True}
    assert drawing.texts[-1].text == "in bold: truly positive"


def test_several_labels_are_below_each_other() -> None:
    drawing = draw([heat_map(["one"], title="hedge"), heat_map(["one"], title="fault")])
    titles = {text.text: text.y for text in drawing.texts if text.bold}
    assert titles["hedge"] < titles["fault"]


@settings(max_examples=25, deadline=None)
@given(words)
def test_any_words_can_be_written(its_words: list[str]) -> None:
    shown, sentence = [heat_map(its_words)], Sentence.from_words(its_words)
    picture = FILES[".svg"](shown, sentence).decode()
    assert len(ET.fromstring(picture).findall(f"{SVG}rect")) == 1 + 2 * len(its_words)
    assert json.loads(FILES[".json"](shown, sentence))["labels"]["hedge"][0]["name"] == "native"
    assert cells_of(FILES[".html"](shown, sentence).decode()) == 2 * len(its_words)
    assert all("\n" not in line for line in lines(shown[0], width=60, colour=True))


def test_any_words_can_be_painted_without_a_warning() -> None:
    assert FILES[".png"]([heat_map(ODD)], Sentence.from_words(ODD)).startswith(PNG)


def test_pictures_are_the_same_each_time() -> None:
    shown, sentence = [heat_map(ODD)], Sentence.from_words(ODD)
    for suffix in (".svg", ".png", ".html", ".json"):
        assert FILES[suffix](shown, sentence) == FILES[suffix](shown, sentence)


def cells_of(page: str) -> int:
    class Cells(HTMLParser):
        count = 0

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.count += tag == "td" and ("--s" in (dict(attrs).get("style") or ""))

    parser = Cells()
    parser.feed(page)
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")  # nothing is fetched
    return parser.count


def test_the_page_is_set_right_to_left_and_escaped() -> None:
    shown = heat_map(["<b>", "אבג", "דהו"], title="<i>")
    page = FILES[".html"]([shown], Sentence.from_words(shown.words)).decode()
    assert 'dir="rtl"' in page
    assert "<b>אב" not in page
    assert page.count("&lt;i&gt;") >= 1
    assert 'class="cell k0 yes"' in page


def test_what_the_json_says() -> None:
    sentence = Sentence.from_words(["it", "may"])
    rows = (HeatRow("native", (0.1234567, 0.9), 0.5, (False, True)),)
    assert record(sentence, [HeatMap("hedge", sentence.words, rows)]) == {
        "text": "it may",
        "words": [{"text": "it", "start": 0, "end": 2}, {"text": "may", "start": 3, "end": 6}],
        "labels": {
            "hedge": [{"name": "native", "scores": [0.123457, 0.9], "threshold": 0.5, "positive": [False, True]}]
        },
    }


def test_a_png_has_an_end() -> None:
    with pytest.raises(ZerotagError, match=r"^the text is too long for one PNG: choose a name in \.svg or \.html"):
        png(draw([heat_map(["word"] * 20_000)]))


def test_a_png_needs_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ZerotagError, match=r"pip install 'zerotag\[plots\]'") as caught:
        png(draw([heat_map(["may"])]))
    assert "\n" not in str(caught.value)


def test_of_long_names_the_end_is_shown() -> None:
    row = HeatRow("there/is/a/very/long/path/to/a/model/folder native", (0.1,))
    assert row.shown_name == "…s/a/very/long/path/to/a/model/folder native"
    assert len(row.shown_name) == 44
