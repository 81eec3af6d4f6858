"""What `zerotag train` says of its data before it starts, and of the words it marks when it is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zerotag.text.printable import one_line

if TYPE_CHECKING:
    from zerotag.io.training_data import TrainingData
    from zerotag.labeller import WordLabeller
    from zerotag.types import Corpus, Example, Labelled

_PROBLEMS_SHOWN = 5
_SENTENCES = 64  # of a label that are labelled for examples: a second's work
_WORDS_SHOWN = 8
_EXAMPLES = 2
_LONG = 160  # characters


def about_data(source: Path, found: TrainingData) -> Iterator[str]:
    """The rows that are left out, and what looks odd in the others."""
    if found.problems:
        count = len(found.problems)
        yield f"{source}: {count:,} of {found.rows:,} rows are left out; --strict stops there instead"
        yield from (f"  {problem}" for problem in found.problems[:_PROBLEMS_SHOWN])
        if count > _PROBLEMS_SHOWN:
            yield f"  and {count - _PROBLEMS_SHOWN:,} more"
    for remark in found.remarks:
        yield f"{source}: {remark}"


def about_words(labeller: WordLabeller, corpus: Corpus[Example]) -> Iterator[str]:
    """For each label the words that are marked most often in some training sentences that have it, and examples."""
    for k, name in enumerate(labeller.label_names):
        positive = [example.sentence for example in corpus.examples if example.labels[k]]
        some = positive[:: max(1, len(positive) // _SENTENCES)][:_SENTENCES]
        found = labeller.label(some, progress=False)
        counts = Counter(word.text.lower() for one in found for word in one.words if name in word.labels)
        if not counts:
            yield f"{one_line(name)}: no word is marked in {len(some)} sentences that have the label; see --threshold"
            continue
        words = ", ".join(f"{one_line(word)} {count}" for word, count in counts.most_common(_WORDS_SHOWN))
        yield f"{one_line(name)}: words marked in {len(some)} training sentences: {words}"
        yield from (f"  {one_line(line)}" for line in _examples(found, name))


def _examples(found: Sequence[Labelled], name: str) -> list[str]:
    """The shortest sentences with a marked word, in brackets."""
    marked = [one for one in found if len(one.text) <= _LONG and any(span.label == name for span in one.spans)]
    return [_bracketed(one, name) for one in sorted(marked, key=lambda one: len(one.text))[:_EXAMPLES]]


def _bracketed(one: Labelled, name: str) -> str:
    text = one.text
    for span in reversed(one.spans):
        if span.label == name:
            text = f"{text[: span.start]}[{span.text}]{text[span.end :]}"
    return text
