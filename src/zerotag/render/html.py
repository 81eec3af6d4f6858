"""One self-contained HTML page: no scripts, no requests, nothing from the input that is not escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from zerotag.io.writers import WriterSpec
from zerotag.io.writers.style import Style
from zerotag.render.markup import Label, escaped, labels_of, legend, sentence, style_sheets
from zerotag.render.tables import Table
from zerotag.types import Labelled


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


def render(results: Iterable[Labelled], style: Style) -> Iterator[str]:
    """The results as a page, sentence by sentence."""
    return report([Sentences(results)], style)


def report(sections: Iterable[Section], style: Style) -> Iterator[str]:
    """A page of paragraphs, tables and shaded sentences under the title of the style."""
    labels = labels_of(style.label_names, style.rules)
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
{style_sheets("theme", "sentences", "report")}</style>
</head>
<body class="report">
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


def _sentences(section: Sentences, labels: Sequence[Label]) -> Iterator[str]:
    heading = f"<h2>{escaped(section.heading)}</h2>\n" if section.heading else ""
    yield f'<section>\n{heading}{legend(labels)}<ol class="sentences">\n'
    count = 0
    given: Counter[str] = Counter()
    for count, labelled in enumerate(section.results, 1):
        yield f"<li>{sentence(labelled, labels, count)}</li>\n"
        given.update(labelled.labels)
    counts = [f"{count:,} sentence{'' if count == 1 else 's'}"]
    counts += [f"{given[label.name]:,} {label.name}" for label in labels]
    yield f'</ol>\n<p class="note">{escaped(" · ".join(counts))}</p>\n</section>\n'


WRITER = WriterSpec(suffix=".html", render=render)
