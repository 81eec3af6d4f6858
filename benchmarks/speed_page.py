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
    "quantised": "What 8 bits cost and save: points lost by an exported int8 model at its default depth, and its size",
    "gpu_labelling": "Labelling on a GPU: all-mpnet-base-v2, sentences as long as those of FCE, against the pipeline "
    "in bfloat16 and batches of 256; the forward pass alone against the product of two large matrices",
    "gpu_training": "Training on a GPU: all-mpnet-base-v2, against the Trainer of transformers, which pads to 128",
    "explaining": "Explaining: LIME against the `lime` package, and the model's own word scores against LIME",
    "startup": "Starting: seconds, against the interpreter alone",
    "memory": "Memory in bytes: a million lines against ten thousand",
    "long_documents": "Long documents: the cost of a word in one of 20,000 words against one of 1,250",
    "serve": "The service",
    "gpu_step_ablation": "A training step on a GPU, taken apart: all-mpnet-base-v2, against a Trainer that pads "
    "dynamically, in bfloat16 with fused AdamW",
    "single_texts": "The service with one text a request: MiniLM, half depth, int8",
    "cpu_training": "Training on a processor: the recipe from a file to a model, against an earlier commit",
    "attributions": "Occlusion and gradients against captum, on a processor",
    "explaining_cpu": "LIME against the `lime` package, on a processor",
    "scale_overhead": "Many machines: what a plan costs against one `label`, and Ray against plain processes",
    "scale_simulation": "Many machines, simulated from measured rates",
    "page_list": "The page: milliseconds between two frames while its list is scrolled, and its memory",
    "page_training": "Training on the page, against `zerotag demo`",
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
    "scale_overhead": "A tiny network, so that what a plan or an engine takes is not hidden by what the network takes. "
    "Medians of rounds in which the ways take turns, on a machine that did other things too: processor time says more "
    "than wall time. The first row of each pair has the start of all processes, and of Ray's cluster, in it.",
    "memory": "Short lines and a tiny network, so that what would grow with the file is not hidden by what does not. "
    "A long line takes memory of its own: int8, a document of 1,250 words 205 MiB in all, one of 20,000 words 365 "
    "(`long_documents.json`). Lines of more than 1 MiB are rejected.",
    "serve": "Clients, service and network share two cores. Beside `label`, the service has requests to read and "
    "answers to send, sorts fewer sentences by length, and its threads wait for one another's turn in Python. Three "
    "batches may wait. For a request of a hundred texts that is a few times its own time; a request of one text is "
    "answered within those batches, too, but that is many times the milliseconds which it takes alone.",
    "page_list": "Service and browser ran with real-time priority (`chrt --rr 1`), beside other work. "
    "A frame takes 16.7 ms where nothing delays it, since the browser makes 60 in a second.",
    "page_training": "Two turns each, on a machine that did nothing else. The page's training does the same steps as "
    "the demonstration's, and shows the words of the sentences it was trained on. Where a training takes longer it "
    "keeps checkpoints as well, from which it goes on after a restart of the service; `zerotag demo` keeps none, and "
    "measures its model.",
}
BEGINNING = """# Speed

Every figure was measured in the same run as its peer, on the same machine and the same sentences, of which a slow peer
gets the first part; ratios of medians are what to look at, since machines differ and are noisy. `python
benchmarks/NAME.py` measures again, and `python benchmarks/speed_page.py` makes this page of `benchmarks/results`.

![Sentences a second: zerotag beside what people use, for five tasks](images/speed.svg)
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


class Benchmark(NamedTuple):
    """What a file of results says."""

    name: str
    results: list[Result]
    machine: str
    versions: dict[str, str]
    date: str
    commit: str = ""


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
            one.get("commit", ""),
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
    commit = f", commit {benchmark.commit}" if benchmark.commit else ""
    yield f"\n`benchmarks/{benchmark.name}.py`, {benchmark.date}{commit}, {benchmark.machine}; {versions}.\n"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    if not isinstance(value, int | float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


class Bar(NamedTuple):
    """A row of a benchmark as somebody sees it who has not heard of benchmarks."""

    task: str
    peer: str
    benchmark: str
    what: str
    per_second: float = 1.0
    """Sentences in a second for each unit of the row."""


BARS = (
    Bar("Label, two cores", "pipeline of transformers", "cpu_labelling", "sentences/s, half depth, ONNX int8"),
    Bar(
        "Label, one GPU",
        "pipeline of transformers, sentences only",
        "gpu_labelling",
        "sentences/s, text in, JSON lines out, half depth; pipeline for sentences only",
    ),
    Bar(
        "Answer 64 clients, two cores", "plain FastAPI handler", "serve", "sentences/s, beside a plain FastAPI handler"
    ),
    Bar(
        "Train, one GPU",
        "Trainer of transformers, bfloat16, little padding",
        "gpu_step_ablation",
        "sentences/s, half depth, batch 16, + bf16 copy",
    ),
    Bar(
        "Explain by LIME, one GPU",
        "the lime package",
        "explaining",
        "LIME, 5,000 samples, all-mpnet-base-v2, half depth: explanations/minute",
        1 / 60,
    ),
)
WIDTH, ROW, LABELS, RIGHT, TOP = 860, 64, 210, 150, 30
STYLE = """<style>
.page { fill: #fbfaf7 } text { fill: #1f1c18 } .ours { fill: #2a6f97 } .peer { fill: #a9a399 }
.small { font-size: 11px }
@media (prefers-color-scheme: dark) {
  .page { fill: #17181b } text { fill: #ebe8e2 } .ours { fill: #4d94bd } .peer { fill: #6d6a64 }
}
</style>"""


def picture(benchmarks: Sequence[Benchmark]) -> str:
    """Sentences a second, ours and what people use, on a logarithmic scale that begins at one."""
    found = {(one.name, result.what): result for one in benchmarks for result in one.results}
    rows = [(bar, found[bar.benchmark, bar.what]) for bar in BARS if (bar.benchmark, bar.what) in found]
    highest = max((result.ours * bar.per_second for bar, result in rows), default=10.0)

    def width(rate: float) -> float:
        return round((WIDTH - LABELS - RIGHT) * math.log10(max(rate, 1.1)) / math.log10(highest), 1)

    height = TOP + ROW * len(rows)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'font-family="sans-serif" font-size="14">',
        "<title>Sentences a second: zerotag and what people use</title>",
        STYLE,
        f'<rect class="page" width="{WIDTH}" height="{height}"/>',
        f'<text class="small" x="{LABELS}" y="19">'
        "Sentences a second, on a logarithmic scale; grey is what people use</text>",
    ]
    for number, (bar, result) in enumerate(rows):
        assert result.peer is not None
        top = TOP + ROW * number
        ours, peer = result.ours * bar.per_second, result.peer * bar.per_second
        lines += [
            f'<text x="{LABELS - 10}" y="{top + 18}" text-anchor="end">{escape(bar.task)}</text>',
            f'<rect class="ours" x="{LABELS}" y="{top + 2}" width="{width(ours)}" height="22"/>',
            f'<text x="{LABELS + width(ours) + 6}" y="{top + 18}" font-weight="bold">'
            f"{_rate(ours)} ({ours / peer:.0f}×)</text>",
            f'<rect class="peer" x="{LABELS}" y="{top + 26}" width="{width(peer)}" height="14"/>',
            f'<text class="small" x="{LABELS + width(peer) + 6}" y="{top + 37}">'
            f"{_rate(peer)} {escape(bar.peer)}</text>",
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"


def main() -> None:
    """Write both."""
    benchmarks = read_all()
    PAGE.write_text(page(benchmarks), encoding="utf-8")
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture(benchmarks), encoding="utf-8")
    print(f"{PAGE}, {PICTURE}")


if __name__ == "__main__":
    main()
