"""FCE: essays by learners of English, every word marked correct (`c`) or incorrect (`i`).

The First Certificate in English corpus is by Yannakoudakis, Briscoe & Medlock (2011); its error-detection release by
Rei & Yannakoudakis (2016) has the `word<TAB>label` files of train, dev and test. Both are on
https://ilexir.co.uk/datasets/index.html, under a licence of the University of Cambridge for non-commercial research and
education that may not be passed on; nothing is downloaded here.
"""

from __future__ import annotations

from pathlib import Path

from zerotag.errors import ZerotagError
from zerotag.io.lines import lines, without_end
from zerotag.io.problems import shown
from zerotag.research.corpora.checked import CorpusFacts, Counts, Splits, TaggedSentence, find_files

FACTS = CorpusFacts(
    name="fce",
    label="error",
    positive="i",
    negative="c",
    files=tuple(f"fce-public.{split}.original.tsv" for split in ("train", "dev", "test")),
    obtain=(
        "the error-detection release of the FCE is on https://ilexir.co.uk/datasets/index.html "
        "(non-commercial research and education)"
    ),
    expected={
        "train": Counts(28_731, 18_217, 452_833, 58_897),
        "dev": Counts(2222, 1416, 34_599, 4640),
        "test": Counts(2720, 1847, 41_477, 6305),
    },
    digests={
        "train": "d02d1e2da0d7a80bc33a8af3c349a42d73ea79a55d1d80634c52950f9fc67135",
        "dev": "8a961a8de0225982c7441c4f0f688ab387c53035dec7f377b2a5c1d5df82453d",
        "test": "7477e43c164bd6d1289e27c5b5a0b83f602b25045acdc1a186a409738b363c87",
    },
)


def read_splits(source: Path) -> Splits:
    """Read the three TSV files of the release."""
    train, dev, test = map(_read_sentences, find_files(source, FACTS))
    return {"train": train, "dev": dev, "test": test}


def _read_sentences(path: Path) -> list[TaggedSentence]:
    sentences: list[TaggedSentence] = []
    words: list[tuple[str, bool]] = []
    for place, line in lines(path):
        if without_end(line):
            words.append(_read_word(without_end(line), place))
        elif words:
            sentences.append(tuple(words))
            words = []
    return [*sentences, tuple(words)] if words else sentences


def _read_word(line: str, place: str) -> tuple[str, bool]:
    word, tab, label = line.partition("\t")
    if not word or not tab or label not in (FACTS.positive, FACTS.negative):
        raise ZerotagError(f"{place}: expected word<TAB>c or word<TAB>i, found {shown(line)}")
    return word, label == FACTS.positive
