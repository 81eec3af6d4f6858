"""The corpora of an experiment, parted so that word labels are only where they may be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from zerotag.errors import ZerotagError
from zerotag.io import read_gold
from zerotag.research.compare.experiment import PARTS, Experiment
from zerotag.research.corpora import CORPORA, KNOWN, CorpusModule
from zerotag.research.corpora.checked import TaggedSentence, check
from zerotag.research.corpora.panel import PANEL, read_parts
from zerotag.types import Corpus, Example, GoldExample, Sentence, T


@dataclass(frozen=True, slots=True)
class Splits:
    """A corpus as methods see it: `train` and `dev` have sentence labels only, `test` is for evaluation."""

    train: Corpus[Example]
    dev: Corpus[Example]
    test: Corpus[GoldExample]
    dev_with_word_labels: Corpus[GoldExample]
    """For methods that are declared to use them, and for nothing else."""

    train_with_word_labels: Corpus[GoldExample]
    """For trainings that are declared to learn from them, and for nothing else."""

    @classmethod
    def of(cls, train: Corpus[GoldExample], dev: Corpus[GoldExample], test: Corpus[GoldExample]) -> Splits:
        """Take the word labels away from what trains and what decides without them."""
        return cls(without_word_labels(train), without_word_labels(dev), test, dev, train)


def without_word_labels(corpus: Corpus[GoldExample]) -> Corpus[Example]:
    """The same sentences and sentence labels."""
    examples = tuple(Example(example.sentence, example.labels) for example in corpus.examples)
    return Corpus(corpus.label_names, examples, corpus.negative)


def locate(experiment: Experiment, name: str, data: Path | None) -> Path:
    """The folder of a corpus: one that is known, in the folder `data`, or one's own beside the TOML."""
    own = experiment.path.parent / name
    if name not in KNOWN:
        if own.is_dir():
            return own
        raise ZerotagError(
            f"{experiment.path}: corpus {name!r} is neither one of {', '.join(KNOWN)} nor a folder beside the TOML"
        )
    if data is None:
        raise ZerotagError(f"corpus {name!r} is not in the package: give the folder that holds {name}/ with --data")
    folder = data / name
    if not folder.is_dir():
        raise ZerotagError(f"{folder}: no such folder; give the folder that holds {name}/ with --data")
    return folder


def read_splits(experiment: Experiment, name: str, data: Path | None) -> Splits:
    """Read a corpus."""
    return splits_in(name, locate(experiment, name, data))


def splits_in(name: str, folder: Path) -> Splits:
    """Read the corpus of a name that is in a folder."""
    if name in CORPORA:
        return released(CORPORA[name], folder)
    return Splits.of(*read_parts(name, folder)) if name in PANEL else _own(folder)


def _own(folder: Path) -> Splits:
    train_file, *others = (folder / part for part in PARTS)
    train = read_gold(train_file)
    dev, test = (read_gold(file, label_names=train.label_names) for file in others)
    return Splits.of(train, dev, test)


def released(corpus: CorpusModule, folder: Path) -> Splits:
    """One of the paper's corpora as it was released, checked."""
    splits = corpus.read_splits(folder)
    check(splits, corpus.FACTS)

    def part(sentences: Iterable[TaggedSentence]) -> Corpus[GoldExample]:
        return Corpus((corpus.FACTS.label,), tuple(map(_gold, sentences)), corpus.FACTS.negative)

    return Splits.of(*(part(splits[name]) for name in ("train", "dev", "test")))


def _gold(tagged: TaggedSentence) -> GoldExample:
    words, positive = zip(*tagged, strict=True)
    return GoldExample(Sentence.from_words(words), (any(positive),), tuple((one,) for one in positive))


def sample(size: int, limit: int | None) -> list[int]:
    """Which sentences of a set of `size` are taken where only `limit` may be: the same in every run."""
    if limit is None or limit >= size:
        return list(range(size))
    chosen: list[int] = np.sort(np.random.default_rng(0).choice(size, limit, replace=False)).tolist()
    return chosen


def drawn(corpus: Corpus[T], count: int | None, seed: int) -> Corpus[T]:
    """As many of the sentences, each combination of labels by its share; a smaller draw is part of a larger one."""
    if count is None:
        return corpus
    if count > len(corpus):
        raise ZerotagError(f"sentences {count:,} is out of range; the training set has {len(corpus):,}")
    strata: dict[tuple[bool, ...], list[int]] = defaultdict(list)
    for index, example in enumerate(corpus.examples):
        strata[example.labels].append(index)
    random = np.random.default_rng(seed)
    # The members of each combination, in random order, stand evenly between 0 and 1: whatever part of that line is
    # taken has its share of all of them.
    places = [
        ((rank + 0.5) / len(strata[labels]), index)
        for labels in sorted(strata)
        for rank, index in enumerate(random.permutation(strata[labels]).tolist())
    ]
    chosen = sorted(index for _, index in sorted(places)[:count])
    return replace(corpus, examples=tuple(corpus.examples[index] for index in chosen))
