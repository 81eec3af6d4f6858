import re
from html.parser import HTMLParser

import pytest
from hypothesis import given

from labelled_samples import NOTHING, ONE, ONE_STYLE, THREE, THREE_STYLE, any_labelled
from zerotag.io.writers.style import Style
from zerotag.render import html
from zerotag.render.html import Paragraph, Section, Sentences, report
from zerotag.render.tables import Table
from zerotag.types import Labelled, Rule, Span, Word

VOID = {"meta", "link"}
Attributes = dict[str, str | None]


class Page(HTMLParser):
    """A page that insists on proper nesting and keeps the elements with their attributes and text."""

    def __init__(self, chunks: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, Attributes, list[str]]] = []
        self.open: list[tuple[str, Attributes, list[str]]] = []
        self.feed(chunks)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        element = (tag, dict(attrs), list[str]())
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for _, _, text in self.open:
            text.append(data)

    def found(self, tag: str, **wanted: str) -> list[tuple[Attributes, str]]:
        return [
            (attributes, "".join(text))
            for name, attributes, text in self.elements
            if name == tag and wanted.items() <= attributes.items()
        ]

    def texts(self) -> list[str]:
        return [text for _, text in self.found("p", **{"class": "text"})]


def page(results: list[Labelled], style: Style) -> Page:
    return Page("".join(html.render(results, style)))


def in_text(parsed: Page, tag: str) -> list[tuple[Attributes, str]]:
    return [(attributes, text) for attributes, text in parsed.found(tag) if "data-tip" in attributes]


def test_one_label() -> None:
    parsed = page([ONE, NOTHING], ONE_STYLE)
    assert parsed.found("h1") == [({"dir": "auto"}, "One label")]
    assert parsed.texts() == ["It may  rain.", "It rains."]
    assert in_text(parsed, "mark") == [
        (
            {
                "class": "word k0 yes",
                "style": "--strength: 0.75;",
                "tabindex": "0",
                "data-tip": f"0.750 hedge ≥ {ONE_STYLE.rules[0].word_threshold:.3f}",
            },
            "may",
        )
    ]
    assert [(attributes["style"], text) for attributes, text in in_text(parsed, "span")] == [
        ("--strength: 0.01;", "It"),
        ("--strength: 0.30;", "rain"),
        ("--strength: 0.00;", "."),
        ("--strength: 0.10;", "It"),
    ]
    assert parsed.found("p", **{"class": "k0 yes"}) == [({"class": "k0 yes"}, "hedge: yes, score 0.90, threshold 0.50")]
    assert parsed.found("p", **{"class": "k0"}) == [({"class": "k0"}, "hedge: no, score 0.20, threshold 0.50")]
    assert parsed.found("p", **{"class": "note"})[0][1] == "2 sentences · 1 hedge"


def test_three_labels() -> None:
    parsed = page([THREE], THREE_STYLE)
    assert parsed.texts() == ["No two may go"]
    assert [
        (text, attributes["class"], attributes["style"], attributes.get("data-tag"))
        for attributes, text in in_text(parsed, "mark")
    ] == [
        ("No", "word k1 yes", "--strength: 0.90;", "negation"),
        ("two", "word k2 yes", "--strength: 0.71;", "number"),  # 0.8 lies 0.15 / 0.35 of the way from 0.65 to 1
        ("may", "word k0 yes", "--strength: 0.60;", "hedge"),
    ]
    tip = in_text(parsed, "mark")[0][0]["data-tip"] or ""
    assert [line.split(maxsplit=2)[:2] for line in tip.split("\n")] == [
        ["0.900", "negation"],
        ["0.700", "number"],
        ["0.100", "hedge"],
    ]
    assert [text.split(", threshold")[0] for _, text in parsed.found("p", **{"class": "k0 yes"})] == [
        "hedge: yes, score 0.60"
    ]
    assert [text.split(", threshold")[0] for _, text in parsed.found("p", **{"class": "k1 yes"})] == [
        "negation: yes, score 0.95"
    ]
    assert not parsed.found("p", **{"class": "k2 yes"})
    assert parsed.found("span", **{"class": "k2"})[0][1] == "number01words from 0.65✓ sentences from 0.50"


def test_the_bar_of_a_verdict_shows_the_threshold_of_sentences() -> None:
    rule = Rule(word_threshold=0.3, sentence_threshold=0.85)
    parsed = page([ONE], Style(label_names=ONE_STYLE.label_names, rules=(rule,), title=""))
    assert parsed.found("i")[1:] == [
        ({"style": "--strength: 0.900; --threshold: 0.850;"}, "")
    ]  # the first is the legend's
    assert "✓ sentences from 0.85" in parsed.found("span", **{"class": "k0"})[0][1]


def test_two_spans_that_end_together_share_a_tag() -> None:
    word = Word("no", 0, 2, {"a": 0.9, "b": 0.9}, ("a", "b"))
    spans = (Span("no", 0, 2, "a", 0.9), Span("no", 0, 2, "b", 0.9))
    labelled = Labelled("no", {"a": 0.9, "b": 0.9}, ("a", "b"), (word,), spans)
    parsed = page([labelled], Style(label_names=("a", "b"), rules=(Rule(), Rule()), title=""))
    assert in_text(parsed, "mark")[0][0]["data-tag"] == "a, b"


def test_tips_of_many_labels_stay_short() -> None:
    names = tuple(f"label{index:02}" for index in range(20))
    scores = {name: index / 20 for index, name in enumerate(names)}
    labelled = Labelled("x", scores, (), (Word("x", 0, 1, scores, ()),), ())
    parsed = page([labelled], Style(label_names=names, rules=20 * (Rule(word_threshold=0.99),), title=""))
    ((attributes, _),) = in_text(parsed, "span")
    assert attributes["data-tip"] == "\n".join(f"{0.95 - 0.05 * i:.3f} label{19 - i} < 0.990" for i in range(5))
    assert attributes["class"] == "word k3"  # the hues start again after eight


@given(any_labelled())
def test_any_text_is_shown_exactly_and_never_obeyed(sample: tuple[Labelled, Style]) -> None:
    labelled, style = sample
    parsed = page([labelled], style)
    assert parsed.texts() == [without_unwritable(labelled.text)]
    marked = [text for _, text in in_text(parsed, "mark")]
    assert marked == [without_unwritable(word.text) for word in labelled.words if word.labels]
    assert {tag for tag, _, _ in parsed.elements} <= {tag for tag, _, _ in page([ONE], ONE_STYLE).elements}


def test_carriage_returns_outlive_a_browser() -> None:
    # A browser reads a bare one as a line feed; Python's parser does not.
    labelled = Labelled("a\r\nb", {"hedge": 0.1}, (), (), ())
    assert '<p class="text" dir="auto" lang="">a&#13;\nb</p>' in "".join(html.render([labelled], ONE_STYLE))


def without_unwritable(text: str) -> str:
    """What HTML has no way to write is replaced: NUL and lone surrogates."""
    return re.sub("[\0\ud800-\udfff]", "�", text)


@pytest.mark.parametrize("attack", ["<script>alert(1)</script>", '"><img src=x onerror=y>', "</style></title>", "&lt;"])
def test_attacks_are_text_wherever_they_stand(attack: str) -> None:
    word = Word(attack, 0, len(attack), {attack: 0.9}, (attack,))
    labelled = Labelled(attack, {attack: 0.9}, (attack,), (word,), ())
    style = Style(label_names=(attack,), rules=(Rule(),), title=attack)
    table = Table(attack, (attack,), ((attack, attack),), attack)
    sections: list[Section] = [Paragraph(attack), table, Sentences([labelled], attack)]
    parsed = Page("".join(report(sections, style)))
    assert parsed.texts() == [attack]
    assert parsed.found("title") == [({}, attack)]
    assert parsed.found("h2") == [({}, attack)]
    assert parsed.found("td") == [({}, attack)]
    assert parsed.found("caption") == [({}, attack)]
    assert in_text(parsed, "mark")[0][0]["data-tip"] == f"0.900 {attack} ≥ 0.500"
    assert not parsed.found("script")
    assert not parsed.found("img")


def test_page_asks_for_nothing() -> None:
    text = "".join(html.render([ONE], ONE_STYLE))
    assert not re.search(r"https?:|url\(|@import|<script|\bsrc=", text)
    assert "default-src 'none'" in text
    assert Page(text).found("link") == [({"rel": "icon", "href": "data:,"}, "")]


def test_report_keeps_the_order_of_its_sections() -> None:
    table = Table("Scores", ("percent", "F1"), (("words", "79.5"),), "a note")
    text = "".join(report([Paragraph("Hello."), table, Sentences([ONE], "Seen"), Sentences([NOTHING])], ONE_STYLE))
    parsed = Page(text)
    assert [name for name, _, _ in parsed.elements if name in {"table", "section"}] == ["table", "section", "section"]
    assert text.index("Hello.") < text.index("<table>") < text.index("a note") < text.index("<h2>Seen</h2>")
    assert parsed.texts() == ["It may  rain.", "It rains."]
    assert [text for _, text in parsed.found("th")] == ["percent", "F1", "words"]


def test_a_label_without_a_word_names_the_nearest() -> None:
    words = (Word("It", 0, 2, {"hedge": 0.1}, ()), Word("may", 3, 6, {"hedge": 0.4}, ()))
    labelled = Labelled("It may", {"hedge": 0.9}, ("hedge",), words, ())
    assert page([labelled], ONE_STYLE).found("span", **{"class": "nearest quiet"})[0][1] == "nearest: “may” 0.40"
    assert not page([ONE, NOTHING], ONE_STYLE).found("span", **{"class": "nearest quiet"})
