"""Scores that another tool gave to the words of labelled sentences, read beside these sentences."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zerotag.errors import ZerotagError
from zerotag.io.lines import Line, paragraphs, raw_lines, without_end
from zerotag.io.problems import listed, shown
from zerotag.io.sources import Source
from zerotag.types import FloatArray, Scored, Sentence

_KINDS_OF_LABEL = ("entity", "entity_group", "label")
_FORMAT = (
    'a JSON object with "words", a list of numbers or of objects with "start", "end" and "score", or such a list itself'
)


class ForeignScores(NamedTuple):
    """The scores of a file, one `Scored` for each sentence."""

    scored: tuple[Scored, ...]
    of_sentences: bool
    """Whether it also scores sentences; if not, each has the score of its highest word."""


def read_scores(path: Path, sentences: Sequence[Sentence], label_names: Sequence[str]) -> ForeignScores:
    """Scores in the order of the sentences, from JSON lines or, in a .tsv, `word<TAB>score` with blank lines between.

    A record of JSON lines has `words`: a score for each word, or objects with `start`, `end` (in characters of the
    sentence) and `score`, whatever units they are: a word has the highest score of what overlaps it, or 0. So what
    `zerotag label` or a pipeline of transformers writes can be read. With several labels a unit has `scores` by label,
    or names its own as `label` or `entity`. `score` or `scores` of the record itself are those of the sentence.

    Raises:
        ZerotagError: the file cannot be read, or does not fit the sentences.
    """
    source = Source(path)
    read = _of_words if source.unpacked_name.suffix.lower() == ".tsv" else _of_records
    found: list[Scored] = []
    given: list[bool] = []
    for number, (one, sentence) in enumerate(zip_longest(read(source, label_names), sentences), start=1):
        if one is None or sentence is None:
            count = "fewer" if one is None else "more"
            raise ZerotagError(
                f"{source.name}: {count} sentences than the {len(sentences):,} with labels; give one record for each"
            )
        words, verdict = one.fitted(sentence, number)
        given.append(verdict is not None)
        highest = tuple(words.max(axis=0, initial=0.0).tolist())
        found.append(Scored(sentence, highest if verdict is None else verdict, words))
    if any(given) and not all(given):
        raise ZerotagError(f"{source.name}: some sentences have a score of their own and some none; give all or none")
    return ForeignScores(tuple(found), any(given))


class _Unit(NamedTuple):
    """Something with scores: a word by its place in the row, or a stretch of the text."""

    start: int | None
    end: int | None
    scores: tuple[float, ...]


class _Row(NamedTuple):
    where: str
    units: list[_Unit]
    verdict: tuple[float, ...] | None = None
    text: str | None = None
    words: tuple[str, ...] | None = None

    def fitted(self, sentence: Sentence, number: int) -> tuple[FloatArray, tuple[float, ...] | None]:
        """Scores of the sentence's words, (words, labels), and its own."""
        if self.text is not None and self.text != sentence.text:
            raise ZerotagError(
                f"{self.where}: the text is {shown(self.text)}, and sentence {number:,} with labels is "
                f"{shown(sentence.text)}; give the records in the order of the sentences"
            )
        if self.words is not None and self.words != sentence.words:
            raise ZerotagError(
                f"{self.where}: the words are not those of sentence {number:,} with labels, {shown(sentence.text)}"
            )
        if any(unit.start is not None for unit in self.units):
            return self._overlapping(sentence), self.verdict
        if len(self.units) != len(sentence.words):
            raise ZerotagError(
                f"{self.where}: {len(self.units):,} scores for the {len(sentence.words):,} words of sentence "
                f"{number:,}; give one for each word, or units with start and end"
            )
        return np.array([unit.scores for unit in self.units], np.float32), self.verdict

    def _overlapping(self, sentence: Sentence) -> FloatArray:
        labels = len(self.units[0].scores)
        scores = np.full((len(sentence.words), labels), -np.inf, np.float32)
        for unit in self.units:
            if unit.start is None or unit.end is None:
                raise ZerotagError(f"{self.where}: some units have start and end and some not; give all or none")
            for place, (start, end) in enumerate(sentence.spans):
                if unit.start < end and start < unit.end:
                    scores[place] = np.maximum(scores[place], unit.scores)
        return np.where(np.isneginf(scores), np.float32(0), scores)


def _of_words(source: Source, label_names: Sequence[str]) -> Iterator[_Row]:
    for lines in paragraphs(source):
        rows = [_word(line, len(label_names)) for line in lines]
        words = tuple(word for word, _ in rows)
        yield _Row(lines[0].where, [_Unit(None, None, scores) for _, scores in rows], words=words)


def _word(line: Line, labels: int) -> tuple[str, tuple[float, ...]]:
    word, *cells = without_end(line.text).split("\t")
    if len(cells) != labels:
        what = "a score" if labels == 1 else f"{labels} scores, one for each label"
        raise ZerotagError(f"{line.where}: {len(cells)} columns after the word {shown(word)}; write word, tab, {what}")
    return word, tuple(_number(line.where, cell) for cell in cells)


def _of_records(source: Source, label_names: Sequence[str]) -> Iterator[_Row]:
    for line in raw_lines(source):
        if line.is_blank:
            continue
        record = _json(line)
        units = record if isinstance(record, list) else record.get("words") if isinstance(record, dict) else None
        if not isinstance(units, list):
            raise ZerotagError(f"{line.where}: {shown(without_end(line.text))} is not {_FORMAT}")
        verdict, text = None, None
        if isinstance(record, dict):
            text = record.get("text")
            if "score" in record or "scores" in record:
                verdict = _scores(line.where, record, label_names)
        found = [_unit(line.where, one, label_names) for one in units]
        yield _Row(line.where, [one for one in found if one is not None], verdict, text)


def _json(line: Line) -> Any:
    try:
        return json.loads(line.text)
    except (ValueError, RecursionError) as error:
        raise ZerotagError(f"{line.where}: not valid JSON ({error}); give {_FORMAT} in each line") from None


def _unit(where: str, value: object, label_names: Sequence[str]) -> _Unit | None:
    """A word or a stretch; None for one that is said to have another label, such as `O`."""
    if not isinstance(value, Mapping):
        if len(label_names) > 1 and isinstance(value, list) and len(value) == len(label_names):
            return _Unit(None, None, tuple(_number(where, one) for one in value))
        return _Unit(None, None, _of_one_label(where, value, None, label_names))
    start, end = value.get("start"), value.get("end")
    if not (start is end is None or (type(start) is type(end) is int)):
        raise ZerotagError(f"{where}: start {start!r:.20} and end {end!r:.20} are not both whole numbers")
    own = next((value[name] for name in _KINDS_OF_LABEL if value.get(name) is not None), None)
    if "scores" not in value and own is not None and own not in label_names:
        if start is None:
            raise ZerotagError(f"{where}: unknown label {shown(own)}; the labels are {listed(label_names)}")
        return None
    return _Unit(start, end, _scores(where, value, label_names, own))


def _scores(where: str, value: Mapping[str, Any], label_names: Sequence[str], own: object = None) -> tuple[float, ...]:
    by_label = value.get("scores")
    if by_label is None:
        return _of_one_label(where, value.get("score"), own, label_names)
    if not isinstance(by_label, Mapping) or set(by_label) != set(label_names):
        names = by_label if isinstance(by_label, Mapping) else [type(by_label).__name__]
        raise ZerotagError(f"{where}: scores of {listed(names)}; give one for each label: {listed(label_names)}")
    return tuple(_number(where, by_label[name]) for name in label_names)


def _of_one_label(where: str, value: object, own: object, label_names: Sequence[str]) -> tuple[float, ...]:
    """The scores of all labels where one has a score; the others have none, which is 0."""
    if own is None and len(label_names) > 1:
        raise ZerotagError(f"{where}: one score, and there are the labels {listed(label_names)}; give scores by label")
    label = label_names[0] if own is None or len(label_names) == 1 else own
    return tuple(_number(where, value) if name == label else 0.0 for name in label_names)


def _number(where: str, value: object) -> float:
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ZerotagError(f"{where}: the score {shown(value)} is not a finite number")
    return number
