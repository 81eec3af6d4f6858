"""What every corpus has in common: labelled words, known counts, and files found by name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from zerotag.errors import ZerotagError

TaggedSentence: TypeAlias = tuple[tuple[str, bool], ...]
"""The words of a sentence, each with whether it is positive."""

Splits: TypeAlias = dict[str, list[TaggedSentence]]
"""The sentences of `train`, `dev` and `test`."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is in a split, and how much of it is positive."""

    sentences: int
    positive_sentences: int
    words: int
    positive_words: int

    @classmethod
    def of(cls, sentences: Iterable[TaggedSentence]) -> Counts:
        """Count sentences and words; a sentence is positive if one of its words is."""
        per_sentence = [(len(sentence), sum(positive for _, positive in sentence)) for sentence in sentences]
        return cls(
            sentences=len(per_sentence),
            positive_sentences=sum(positives > 0 for _, positives in per_sentence),
            words=sum(length for length, _ in per_sentence),
            positive_words=sum(positives for _, positives in per_sentence),
        )

    def __str__(self) -> str:
        return (
            f"{self.sentences:,} sentences ({self.positive_sentences:,} positive), "
            f"{self.words:,} words ({self.positive_words:,} positive)"
        )


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """What is known of a corpus: its label, its release files, where they come from, and what is in them."""

    name: str
    label: str
    positive: str
    negative: str
    files: tuple[str, ...]
    obtain: str
    expected: Mapping[str, Counts]
    """The paper's counts."""

    digests: Mapping[str, str]
    """SHA-256 of the words and labels of each split, whatever the files' line ends."""


def find_files(source: Path, facts: CorpusFacts) -> list[Path]:
    """Find each file of the release by name, in `source` or in any folder below it."""
    if not source.is_dir():
        problem = "not a folder; unpack the archive first" if source.exists() else "no such folder"
        raise ZerotagError(f"{source}: {problem}; {facts.name} needs the folder with {', '.join(facts.files)}")
    found = {name: sorted(path for path in source.rglob(name) if path.is_file()) for name in facts.files}
    if missing := [name for name, paths in found.items() if not paths]:
        raise ZerotagError(f"{source}: {facts.name} needs {', '.join(missing)}; {facts.obtain}")
    for name, paths in found.items():
        if len(paths) > 1:
            places = ", ".join(str(path.relative_to(source)) for path in paths)
            raise ZerotagError(f"{source}: {len(paths)} files named {name} ({places}); keep one of them")
    return [paths[0] for paths in found.values()]


def check(splits: Splits, facts: CorpusFacts) -> dict[str, Counts]:
    """Count each split, and refuse whatever differs from the counts of the paper, or else from the release."""
    counts = {split: Counts.of(sentences) for split, sentences in splits.items()}
    for split, expected in facts.expected.items():
        if counts[split] != expected:
            raise ZerotagError(
                f"{facts.name} {split}: found {counts[split]}, expected {expected}; "
                f"use the unchanged files of the release; {facts.obtain}"
            )
    for split, known in facts.digests.items():
        if digest(splits[split]) != known:
            raise ZerotagError(
                f"{facts.name} {split}: the counts are right, but a word or label is not that of the release; "
                f"use its unchanged files; {facts.obtain}"
            )
    return counts


def digest(sentences: Iterable[TaggedSentence]) -> str:
    """SHA-256 of all words and labels."""
    found = hashlib.sha256()
    for sentence in sentences:
        found.update("".join(f"{word}\t{positive:d}\n" for word, positive in sentence).encode() + b"\n")
    return found.hexdigest()
