"""One self-contained HTML page: no scripts, no requests, nothing from the input that is not escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files

from zerotag.io.writers import WriterSpec
from zerotag.io.writers.style import Style
from zerotag.render.pieces import pieces
from zerotag.render.scale import position
from zerotag.render.tables import Table
from zerotag.text.printable import encodable
from zerotag.types import Labelled, Rule, Word

_HUES = 8  # as many as the style sheet has; more labels use them again
_SCORES_IN_TIP = 5


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences with their words shaded."""

    results: Iterable[Labelled]
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Markup:
    """Ready-made HTML, escaped where it has to be."""

    html: str


Section = Paragraph | Table | Sentences | Markup


@dataclass(frozen=True, slots=True)
class _Label:
    name: str
    rule: Rule
    hue: str

    def word_position(self, word: Word) -> float:
        return position(word.scores[self.name], self.rule.word_threshold)

    def sentence_position(self, labelled: Labelled) -> float:
        return position(labelled.scores[self.name], self.rule.sentence_threshold)


def render(results: Iterable[Labelled], style: Style) -> Iterator[str]:
    """The results as a page, sentence by sentence."""
    return report([Sentences(results)], style)


def report(sections: Iterable[Section], style: Style) -> Iterator[str]:
    """A page of paragraphs, tables and shaded sentences under the title of the style."""
    labels = [
        _Label(name, rule, f"k{index % _HUES}")
        for index, (name, rule) in enumerate(zip(style.label_names, style.rules, strict=True))
    ]
    yield _head(style.title)
    for section in sections:
        match section:
            case Paragraph(text):
                yield f'<p class="lead">{escaped(text)}</p>\n'
            case Table():
                yield _table(section)
            case Sentences():
                yield from _sentences(section, labels)
            case Markup(html):
                yield html
    yield "<footer>Made with zerotag</footer>\n</main>\n</body>\n</html>\n"


def _head(title: str) -> str:
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{escaped(title)}</title>
<style>
{_style_sheet()}</style>
</head>
<body>
<main>
<h1 dir="auto">{escaped(title)}</h1>
"""


def _table(table: Table) -> str:
    header = "".join(f'<th scope="col">{escaped(cell)}</th>' for cell in table.header)
    rows = "".join(
        f'<tr><th scope="row">{escaped(name)}</th>{"".join(f"<td>{escaped(cell)}</td>" for cell in cells)}</tr>\n'
        for name, *cells in table.rows
    )
    note = f'<p class="note">{escaped(table.note)}</p>\n' if table.note else ""
    return (
        f'<div class="table" role="region" tabindex="0" aria-label="{escaped(table.caption)}">\n'
        f"<table>\n<caption>{escaped(table.caption)}</caption>\n"
        f"<thead><tr>{header}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n{note}"
    )


def _sentences(section: Sentences, labels: Sequence[_Label]) -> Iterator[str]:
    heading = f"<h2>{escaped(section.heading)}</h2>\n" if section.heading else ""
    yield f'<section>\n{heading}{_legend(labels)}<ol class="sentences">\n'
    count = 0
    given: Counter[str] = Counter()
    for labelled in section.results:
        yield _sentence(labelled, labels)
        count += 1
        given.update(labelled.labels)
    counts = [f"{count:,} sentence{'' if count == 1 else 's'}"]
    counts += [f"{given[label.name]:,} {label.name}" for label in labels]
    yield f'</ol>\n<p class="note">{escaped(" · ".join(counts))}</p>\n</section>\n'


def _legend(labels: Sequence[_Label]) -> str:
    scales = "".join(
        f'<li class="{label.hue}"><b>{escaped(label.name)}</b><span class="ramp"></span>'
        f'<mark style="--s:.5">words from {label.rule.word_threshold:.2f}</mark> '
        f"<span>✓ sentences from {label.rule.sentence_threshold:.2f}</span></li>\n"
        for label in labels
    )
    return (
        '<div class="legend">\n<p>The stronger the shade of a word, the higher its score; underlined words reach the '
        "threshold, and so do sentences with a tick. Point at a word or tap it for its score.</p>\n"
        f"<ul>\n{scales}</ul>\n</div>\n"
    )


def _sentence(labelled: Labelled, labels: Sequence[_Label]) -> str:
    tags = _tags(labelled) if len(labels) > 1 else {}
    text = "".join(
        escaped(piece) if word is None else _word(piece, word, tags.get(word.end, ""), labels)
        for piece, word in pieces(labelled)
    )
    verdict = _verdict(labelled, labels)
    return f'<li>\n{verdict}<p class="text" dir="auto" lang="">{text}</p>\n</li>\n'


def _tags(labelled: Labelled) -> dict[int, str]:
    """The label names to show after the last word of each span, by where that word ends."""
    tags: dict[int, str] = {}
    for span in labelled.spans:
        tags[span.end] = f"{tags[span.end]}, {span.label}" if span.end in tags else span.label
    return tags


def _word(text: str, word: Word, tag: str, labels: Sequence[_Label]) -> str:
    by_strength = sorted(labels, key=lambda label: label.word_position(word), reverse=True)
    given = [label for label in by_strength if label.name in word.labels]
    shown = (given or by_strength)[0]
    element = "mark" if given else "span"
    # Every word can be tapped or clicked for its score; the tab key visits only those that were given a label.
    attributes = (
        f'class="{shown.hue}" style="--s:{shown.word_position(word):.2f}" tabindex="{0 if given else -1}" '
        f'data-tip="{_tip(word, by_strength)}"'
    )
    if tag:
        attributes += f' data-tag="{escaped(tag)}"'
    return f"<{element} {attributes}>{escaped(text)}</{element}>"


def _verdict(labelled: Labelled, labels: Sequence[_Label]) -> str:
    by_strength = sorted(labels, key=lambda label: label.sentence_position(labelled), reverse=True)
    given = [label for label in by_strength if label.name in labelled.labels]
    rows = "".join(
        f'<p class="{label.hue}{" yes" if given else ""}"><b>{escaped(label.name)}</b> '
        f"<span>{labelled.scores[label.name]:z.2f}</span>"
        f'<i style="--s:{_share(labelled.scores[label.name]):.2f};--t:{_share(label.rule.sentence_threshold):.2f}"></i>'
        "</p>\n"
        for label in given or by_strength[:1]
    )
    return f'<div class="verdict" tabindex="-1" data-tip="{_tip(labelled, by_strength)}">\n{rows}</div>\n'


def _share(number: float) -> float:
    return max(0.0, min(1.0, number))


def _tip(scored: Labelled | Word, by_strength: Sequence[_Label]) -> str:
    lines = [f"{scored.scores[label.name]:z.3f} {label.name}" for label in by_strength[:_SCORES_IN_TIP]]
    return escaped("\n".join(lines))


def escaped(text: str) -> str:
    """Text for an element or an attribute; carriage returns and NUL would not survive the HTML parser."""
    return escape(encodable(text).replace("\0", "�")).replace("\r", "&#13;")


@cache
def _style_sheet() -> str:
    return files(__package__).joinpath("page.css").read_text(encoding="utf-8")


WRITER = WriterSpec(suffix=".html", render=render)
