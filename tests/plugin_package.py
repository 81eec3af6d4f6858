"""A package beside zerotag that adds a scorer, a reader, a writer, a segmenter and a head by entry points alone."""

from __future__ import annotations

from pathlib import Path

MODULE = '''
import re
from functools import partial

import numpy as np
import torch

from zerotag.explain import ScorerSpec
from zerotag.io.lines import raw_lines, without_end
from zerotag.io.readers import ReaderSpec
from zerotag.io.rows import attempt, from_record
from zerotag.io.writers import WriterSpec
from zerotag.modeling.heads import HeadOutput
from zerotag.types import Scored, Sentence


class Loudness:
    """Scores words by how many of their letters are capitals."""

    name = "loudness"
    passes = 0

    def __init__(self, labels):
        self._labels = labels

    def score(self, sentences):
        for sentence in sentences:
            loud = [[sum(map(str.isupper, word)) / len(word)] * self._labels for word in sentence.words]
            yield Scored(sentence, (0.5,) * self._labels, np.array(loud, np.float32).reshape(-1, self._labels))


SCORER = ScorerSpec(create=lambda labeller, _: Loudness(len(labeller.label_names)), cost=2)


def _row(columns, labelled, lines):
    (line,) = lines
    text, _, label = without_end(line.text).partition(" => ")
    return from_record(line.where, {"text": text, "label": label}, columns, labelled=labelled) if text else None


def records(source, columns, start, *, labelled):
    for line in raw_lines(source, start):
        yield from attempt([line], partial(_row, columns, labelled))


def render(results, style):
    for labelled in results:
        yield " ".join(word.text.upper() if word.labels else word.text for word in labelled.words) + "\\n"


def letters(text):
    return Sentence.from_spans(text, [match.span() for match in re.finditer(r"\\w", text)])


class MaxHead(torch.nn.Module):
    """The strongest token speaks for the sentence."""

    def __init__(self, width, labels):
        super().__init__()
        self.score = torch.nn.Linear(width, labels)

    def forward(self, tokens, mask):
        logits = self.score(tokens)
        return HeadOutput(logits.masked_fill(~mask.unsqueeze(-1), -1e4).amax(dim=1), logits)


def max_head(width, labels, config):
    return MaxHead(width, labels)


READER = ReaderSpec(records=records, suffixes=(".arrows",), by_line=True)
WRITER = WriterSpec(suffix=".shout", render=render)
'''
ENTRY_POINTS = """
[zerotag.scorers]
loudness = loud:SCORER
broken = no_such_module:SCORER

[zerotag.readers]
arrows = loud:READER

[zerotag.writers]
shout = loud:WRITER

[zerotag.segmenters]
letters = loud:letters

[zerotag.heads]
strongest = loud:max_head
"""


def install(folder: Path) -> Path:
    """Write the package, as pip would unpack it; returns the folder to put on the path."""
    information = folder / "loud-1.0.dist-info"
    information.mkdir(parents=True)
    (folder / "loud.py").write_text(MODULE, encoding="utf-8")
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1.0\n", encoding="utf-8")
    (information / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    return folder
