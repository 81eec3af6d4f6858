"""The page `docs/speed.md` and its picture, from the results of the benchmarks.

python benchmarks/speed_page.py         # after a benchmark was run
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from results_file import RESULTS

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "speed.md"
PICTURE = DOCS / "images" / "speed.svg"

# In the order of the page: what each benchmark is about, in words that its rows do not repeat.
TITLES = {
    "cpu_labelling": "Labelling on two cores: MiniLM, sentences as long as those of CoNLL-2010, against the pipeline "
    "of transformers in batches of 32",
    "quantised": "What 8 bits cost: points of word F1 and MAP lost by exported int8 models at their default depth",
    "gpu_labelling": "Labelling on a GPU: all-mpnet-base-v2, sentences as long as those of FCE, against the pipeline "
    "in bfloat16 and batches of 256; the forward pass alone against the product of two large matrices",
    "gpu_training": "Training on a GPU: all-mpnet-base-v2, against the Trainer of transformers, which pads to 128",
    "explaining": "Explaining: LIME against the `lime` package, and the model's own word scores against LIME",
    "startup": "Starting: seconds, against the interpreter alone",
    "memory": "Memory in bytes: a million lines against ten thousand",
    "long_documents": "Long documents: the cost of a word in one of 20,000 words against one of 1,250",
    "serve": "The service",
}
# What the figures leave open: where the time goes, what the floor is, what a target does not say.
NOTES = {
    "gpu_labelling": "Files were in memory. The host is the limit, not the GPU, which alone could score 162,500 "
    "sentences/s at half depth: that is the floor. A pipeline that classifies sentences, and says nothing of words, "
    "is the harder peer. [The log](../experiments/LOG.md) says what the host does with its time. One process alone "
    "does all of that work itself, and its 4,096 sentences take less than a second: depth hardly shows there.",
    "explaining": "The second row gets smaller as our LIME gets faster; the third is the comparison of the "
    "paper, which used the package. The model's model scores come from one process here, which is busy with sub-words "
    "and objects most of the time: 60 µs a sentence, of which the GPU needs 6. With workers that read and write, as "
    "`label` has them, it is 79,590 sentences/s, above: 1,490 times our LIME.",
    "quantised": "The model for CoNLL-2010 was trained on 2,000 of its sentences.",
    "memory": "Short lines and a tiny network, so that what would grow with the file is not hidden by what does not. "
    "A long line takes memory of its own: int8, a document of 1,250 words 205 MiB in all, one of 20,000 words 365 "
    "(`long_documents.json`). Lines of more than 1 MiB are rejected.",
    "serve": "Clients, service and network share two cores. Beside `label`, the service has requests to read and "
    "answers to send, sorts fewer sentences by length, and its threads wait for one another's turn in Python. Three "
    "batches may wait. For a request of a hundred texts that is a few times its own time; a request of one text is "
    "answered within those batches, too, but that is many times the milliseconds which it takes alone.",
}
BEGINNING = """# Speed

Every figure was measured in the same run as its peer, on the same machine and the same sentences, of which a slow peer
gets the first part; ratios of medians are what to look at, since machines differ and are noisy. `python
benchmarks/NAME.py` measures again, and `python benchmarks/speed_page.py` makes this page of `benchmarks/results`.

![ratios and targets](images/speed.svg)
"""


_TARGET = re.compile(r"(?:([≥≤<]) )?([\d.]+)( \D+)?")
_COMPARED = {"≥": operator.ge, "≤": operator.le, "<": operator.lt, None: operator.eq}


class Result(NamedTuple):
    """A row of some benchmark."""

    what: str
    peer: float | None
    ours: float
    ratio: float | None
    target: str | None

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met, if there is one; it is about the ratio unless it names a unit."""
        parsed = _TARGET.fullmatch(self.target or "")
        if parsed is None:
            return None
        sign, bound, unit = parsed.groups()
        value = self.ours if unit or self.ratio is None else self.ratio
        return _COMPARED[sign](value, float(bound))

    @property
    def bound(self) -> float | None:
        """The ratio that is wanted."""
        parsed = _TARGET.fullmatch(self.target or "")
        return float(parsed[2]) if parsed and not parsed[3] else None


class Benchmark(NamedTuple):
    """What a file of results says."""

    name: str
    results: list[Result]
    machine: str
    versions: dict[str, str]
    date: str


def read_all(folder: Path = RESULTS) -> list[Benchmark]:
    """All results, in the order of the page."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    order = list(TITLES)
    found.sort(key=lambda one: order.index(one["name"]) if one["name"] in TITLES else len(order))
    return [
        Benchmark(
            one["name"],
            [Result(*(row.get(field) for field in Result._fields)) for row in one["rows"]],
            one["machine"],
            one["versions"],
            one["date"],
        )
        for one in found
    ]


def page(benchmarks: Sequence[Benchmark]) -> str:
    """The page as Markdown."""
    return "\n".join([BEGINNING, *(line for benchmark in benchmarks for line in _section(benchmark))])


def _section(benchmark: Benchmark) -> Iterator[str]:
    yield f"## {TITLES.get(benchmark.name, benchmark.name)}\n"
    yield "| what | peer | ours | ratio | target | |"
    yield "|---|---:|---:|---:|---:|---|"
    for result in benchmark.results:
        verdict = {True: "met", False: "**missed**", None: ""}[result.is_met]
        cells = [_number(result.peer), _number(result.ours), _number(result.ratio), result.target or ""]
        yield f"| {result.what} | {' | '.join(cells)} | {verdict} |"
    if benchmark.name in NOTES:
        yield f"\n{NOTES[benchmark.name]}"
    versions = ", ".join(f"{name} {version}" for name, version in benchmark.versions.items())
    yield f"\n`benchmarks/{benchmark.name}.py`, {benchmark.date}, {benchmark.machine}; {versions}.\n"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    if not isinstance(value, int | float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


WIDTH, ROW, LABELS, MARGIN = 1040, 22, 570, 12
STYLE = """<style>
.page { fill: #fbfaf7 } text { fill: #1f1c18 } .met { fill: #2a6f97 } .missed { fill: #c1440e }
.target { stroke: #1f1c18; stroke-width: 2 } .peer { stroke: #777; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
  .page { fill: #17181b } text { fill: #ebe8e2 } .met { fill: #4d94bd } .missed { fill: #e8703c }
  .target { stroke: #ebe8e2 }
}
</style>"""


def picture(benchmarks: Sequence[Benchmark]) -> str:
    """The ratios that have targets as bars on a logarithmic scale, each with a mark where its target is."""
    rows = [r for one in benchmarks for r in one.results if r.ratio and r.bound]
    scale = [value for r in rows for value in (r.ratio, r.bound, 1.0) if value]
    low, high = math.log10(min(scale, default=1.0)) - 0.1, math.log10(max(scale, default=10.0)) + 0.25

    def x(value: float) -> float:
        return round(LABELS + (WIDTH - LABELS - 70) * (math.log10(value) - low) / (high - low), 1)

    height = 2 * MARGIN + ROW * (len(rows) + 1)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'font-family="sans-serif" font-size="12">',
        "<title>Ratios of ours to the peer's, and targets</title>",
        STYLE,
        f'<rect class="page" width="{WIDTH}" height="{height}"/>',
    ]
    for number, result in enumerate(rows):
        assert result.ratio is not None
        assert result.bound is not None
        top = MARGIN + ROW * number
        left, right = sorted((x(1.0), x(result.ratio)))
        verdict = "met" if result.is_met else "missed"
        lines += [
            f'<text x="{LABELS - 10}" y="{top + 15}" text-anchor="end">{escape(result.what)}</text>',
            f'<rect class="{verdict}" x="{left}" y="{top + 4}" width="{max(round(right - left, 1), 1)}" height="14"/>',
            f'<path class="target" d="M{x(result.bound)} {top + 1}v20"/>',
            f'<text x="{max(right, x(result.bound)) + 6}" y="{top + 15}">{_number(result.ratio)}×</text>',
        ]
    lines += [
        f'<path class="peer" d="M{x(1.0)} {MARGIN}v{ROW * len(rows)}"/>',
        f'<text x="{x(1.0)}" y="{height - MARGIN - 4}">1× is the peer; | is the target: blue met, red missed</text>',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write both."""
    benchmarks = read_all()
    PAGE.write_text(page(benchmarks), encoding="utf-8")
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture(benchmarks), encoding="utf-8")
    print(f"{PAGE}, {PICTURE}")


if __name__ == "__main__":
    main()
