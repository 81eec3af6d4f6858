"""Made-up corpora in which nothing but a cue word tells whether a sentence has a label."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from zerotag.types import Corpus, Example, GoldExample, Sentence

CUES: Mapping[str, tuple[str, ...]] = {
    "hedge": ("may", "perhaps", "possibly"),
    "fault": ("fails", "leaks", "breaks"),
    "wet": ("rain", "winter"),
}
_OTHERS = ("the", "a", "pump", "valve", "engine", "report", "works", "runs", "holds", "night", "load", "under")


def gold(count: int, *, labels: Sequence[str] = ("hedge",), seed: int = 0) -> tuple[GoldExample, ...]:
    """Seven random words each; every label is there, by one of its cue words at a random place, every second time."""
    draw = random.Random(seed)
    examples = []
    for _ in range(count):
        words = draw.choices(_OTHERS, k=6)
        for label, place in zip(labels, draw.sample(range(6), len(labels)), strict=True):
            if draw.random() < 0.5:
                words[place] = draw.choice(CUES[label])
        words.append(".")
        flags = tuple(tuple(word in CUES[label] for label in labels) for word in words)
        examples.append(GoldExample(Sentence.from_words(words), tuple(map(any, zip(*flags, strict=True))), flags))
    return tuple(examples)


def corpus(count: int, *, labels: Sequence[str] = ("hedge",), seed: int = 0) -> Corpus[Example]:
    """The same sentences as training sees them."""
    examples = (Example(one.sentence, one.labels) for one in gold(count, labels=labels, seed=seed))
    return Corpus(tuple(labels), tuple(examples))


def write_tsv(path: Path, examples: Sequence[GoldExample], label: str = "hedge") -> Path:
    """The sentences as `word<TAB>label`."""
    lines = []
    for one in examples:
        assert one.word_labels is not None
        lines += [
            f"{word}\t{label if any(flags) else 'O'}\n"
            for word, flags in zip(one.sentence.words, one.word_labels, strict=True)
        ]
        lines.append("\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


def with_labels(*labels: tuple[bool, ...], names: tuple[str, ...] = ("a",)) -> Corpus[Example]:
    """The same two words with each of the labels."""
    sentence = Sentence.from_words(["a", "pump"])
    return Corpus(names, tuple(Example(sentence, given) for given in labels))
