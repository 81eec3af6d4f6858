"""One JSON record per sentence and line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import repeat
from json.encoder import encode_basestring as _string
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zerotag.decisions import NO_LABEL, decide_sentence, decide_words, is_blank, runs
from zerotag.io.writers import Origin, TableHead, WriterSpec
from zerotag.io.writers.packed import packed_text
from zerotag.io.writers.style import Style
from zerotag.types import Labelled, Rule, Scored, Sentence, Word

_DECIMALS = 6
# Lone surrogates cannot be written as UTF-8; the others are line breaks for some readers, though not for JSON.
_NEEDS_ESCAPE = re.compile("[\ud800-\udfff\u0085\u2028\u2029]")


def render(results: Iterable[Labelled], style: Style) -> Iterator[str]:
    """The results as JSON lines."""
    for labelled in results:
        yield encode(record(labelled, style.label_names)) + "\n"


def record(labelled: Labelled, label_names: Sequence[str], origin: Origin | None = None) -> dict[str, Any]:
    """The result as plain data; `start` and `end` count characters (code points) of `text`.

    `score` and `label` are those of the strongest label; models of several labels also give `scores` and `labels`.
    With an origin, `source` and `line` come first; then, for a sentence of a document, its `start` and `end` there.
    """
    several = len(label_names) > 1
    return {
        **(origin._asdict() if origin else {}),
        **({} if labelled.start is None else {"start": labelled.start, "end": labelled.start + len(labelled.text)}),
        "text": labelled.text,
        **_verdict(labelled, several),
        "words": [
            {"text": word.text, "start": word.start, "end": word.end, **_verdict(word, several)}
            for word in labelled.words
        ],
        "spans": [{**asdict(span), "score": _rounded(span.score)} for span in labelled.spans],
    }


class _Column(NamedTuple):
    """What one label has to do with the words of a sentence."""

    scores: list[float]
    given: list[bool]


def render_scored(scored: Sequence[Scored], style: Style, origins: Iterable[Origin] | None = None) -> Iterator[str]:
    """What `render` says of the same sentences once they are decided, without an object for every word.

    Large inputs come through here: most of the time of a fast model would go into those objects, and much into numpy
    if it were asked for each sentence.
    """
    labels = [_string(name) for name in style.label_names]
    shown: Iterable[Origin | None] = origins or repeat(None)
    of_all = np.concatenate([one.word_scores for one in scored])
    given = decide_words(of_all, style.rules).T.tolist()
    if len(labels) == 1:
        # Single-precision numbers times a million are exact in double precision: all are rounded as `round` would.
        of_all = np.round(of_all.astype(np.float64), _DECIMALS) + 0.0
    columns = [*map(_Column, of_all.T.tolist(), given)]
    end = 0
    for one, origin in zip(scored, shown):  # noqa: B905 (the second may have no end)
        start, end = end, end + len(one.sentence.words)
        its_own = [_Column(column.scores[start:end], column.given[start:end]) for column in columns]
        rules = style.rules
        if is_blank(one.sentence):
            its_own = [_Column(scores, [False] * len(scores)) for scores, _ in its_own]
            rules = (NO_LABEL,) * len(rules)
        line = _line(one, its_own, labels, rules, origin)
        yield line if line.isascii() else _NEEDS_ESCAPE.sub(_escaped, line)


def encode(data: Mapping[str, Any]) -> str:
    """A record as one line of JSON that any UTF-8 file can hold and that reads back as the same strings."""
    line = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return _NEEDS_ESCAPE.sub(_escaped, line)


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _line(
    scored: Scored, columns: Sequence[_Column], labels: Sequence[str], rules: Sequence[Rule], origin: Origin | None
) -> str:
    """One record; `labels` are the names as JSON strings."""
    sentence, sentence_scores = scored.sentence, scored.sentence_scores
    verdicts = decide_sentence(sentence_scores, rules)
    verdict = _verdict_text(sentence_scores, verdicts, labels)
    if len(labels) == 1:
        words = _words_of_one_label(sentence, columns[0], labels[0])
    else:
        words = _words(sentence, columns, labels)
    spans = ", ".join(
        [
            f'{{"text": {_string(sentence.text[start:end])}, "start": {start}, "end": {end}, '
            f'"label": {label}, "score": {_rounded(max(column.scores[first:after]))}}}'
            for label, column in zip(labels, columns, strict=True)
            for first, after in runs(column.given)
            for start, end in [(sentence.spans[first][0], sentence.spans[after - 1][1])]
        ]
    )
    place = f'"source": {_string(origin.source)}, "line": {origin.line}, ' if origin else ""
    if sentence.start is not None:
        place += f'"start": {sentence.start}, "end": {sentence.start + len(sentence.text)}, '
    return f'{{{place}"text": {_string(sentence.text)}, {verdict}, "words": [{words}], "spans": [{spans}]}}\n'


def _words(sentence: Sentence, columns: Sequence[_Column], labels: Sequence[str]) -> str:
    scores, given = (zip(*parts, strict=True) for parts in zip(*columns, strict=True))
    return ", ".join(
        f'{{"text": {_string(word)}, "start": {start}, "end": {end}, {_verdict_text(its_scores, its_own, labels)}}}'
        for word, (start, end), its_scores, its_own in zip(sentence.words, sentence.spans, scores, given, strict=True)
    )


def _words_of_one_label(sentence: Sentence, column: _Column, label: str) -> str:
    """What `_words` says, at a third of the cost, which most runs would spend here; scores are rounded already."""
    verdict = {True: label, False: "null"}
    return ", ".join(
        [
            f'{{"text": {_string(word)}, "start": {start}, "end": {end}, "score": {score!r}, "label": {verdict[yes]}}}'
            for word, (start, end), score, yes in zip(sentence.words, sentence.spans, *column, strict=True)
        ]
    )


def _verdict_text(scores: Sequence[float], given: Sequence[bool], labels: Sequence[str]) -> str:
    if len(labels) == 1:
        return f'"score": {_rounded(scores[0])}, "label": {labels[0] if given[0] else "null"}'
    its_labels = [k for k, yes in enumerate(given) if yes]
    strongest = labels[max(its_labels, key=scores.__getitem__)] if its_labels else "null"
    by_name = ", ".join(f"{name}: {_rounded(score)}" for name, score in zip(labels, scores, strict=True))
    return (
        f'"score": {_rounded(max(scores))}, "label": {strongest}, "scores": {{{by_name}}}, '
        f'"labels": [{", ".join(labels[k] for k in its_labels)}]'
    )


def _verdict(scored: Labelled | Word, several: bool) -> dict[str, Any]:
    verdict: dict[str, Any] = {"score": _rounded(scored.score), "label": scored.label}
    if several:
        verdict["scores"] = {name: _rounded(score) for name, score in scored.scores.items()}
        verdict["labels"] = list(scored.labels)
    return verdict


def _rounded(score: float) -> float:
    return round(score, _DECIMALS) + 0.0  # no "-0.0"


def _encode(scored: Sequence[Scored], style: Style, origins: Sequence[Origin] | None) -> bytes:
    return "".join(render_scored(scored, style, origins)).encode()


def write_table(target: Path, head: TableHead, rows: Iterable[Sequence[Any]]) -> None:
    """A table, a row per line."""
    with packed_text(target, head.packing) as file:
        file.writelines(encode(dict(zip(head.names, row, strict=True))) + "\n" for row in rows)


WRITER = WriterSpec(suffix=".jsonl", render=render, encode=_encode, table=write_table)
