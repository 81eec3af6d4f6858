"""The further corpora of the panel, which come as labelled files: toxic posts, sentiment, movie reviews.

For research use; nothing is downloaded here. `toxic` are sentences cut from the posts of SemEval-2021 task 5
(Pavlopoulos, Sorensen, Laugier & Androutsopoulos), `sst` the sentences of the Stanford Sentiment Treebank (Socher et
al. 2013) with the words whose own label agrees with the sentence's, `movies` the reviews of ERASER (DeYoung et al.
2020) with the words of their rationales. Each file has a format that `zerotag.read_gold` reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from zerotag.errors import ZerotagError
from zerotag.io import read_gold
from zerotag.types import Corpus, GoldExample

PANEL: Mapping[str, Mapping[str, str]] = {
    "toxic": {
        "train.tsv": "2eebf484ca323c4b113180dffa9fc923b428201f0bea562d5d1b7c35d453f97f",
        "dev.tsv": "d87ecb09d6f9df00546b36b28301c06776b9b4b67671f50bd31be616f9c00b7d",
        "test.tsv": "97a1530836eea8bf8124bdb99ed372761c897a66406e4c062f12d062233d34e3",
    },
    "sst": {
        "train.jsonl": "093dd772c9533a6fa19b293b46e56f4cdaa5ad6b68c4eeddcee959daddc158c1",
        "dev.jsonl": "18e2dcb423e49e2563a3f8e4b311c441487c0ac9deec9bd8875d91b8233514af",
        "test.jsonl": "15719d910fc70395da12f5d49eee34d6333e06bf446e3e6bd9495b3df30856bf",
    },
    "movies": {
        "train.jsonl.gz": "3cd3d1d3dd57bcff16719d7870c61431b6b46c6e20b38cf1c7dbff1ed2c4d1c0",
        "dev.jsonl.gz": "34bcfed635d07751c39310208c1ec3860bbd3fdf7b3efb3e7393ccbd2735e151",
        "test.jsonl.gz": "df8f3478fdf51fb92b17c8e8b19d12b6b9a070eb7ce676937c9e1ff10fae28cc",
    },
}
"""By corpus, its files in the order training, development and test, each with its SHA-256."""


def read_parts(name: str, folder: Path) -> tuple[Corpus[GoldExample], Corpus[GoldExample], Corpus[GoldExample]]:
    """The training, development and test set of a corpus, refused if a file is not the one that results are of."""
    for file, expected in PANEL[name].items():
        _check(folder / file, expected, name)
    train_file, dev_file, test_file = (folder / file for file in PANEL[name])
    train = read_gold(train_file)
    return (
        train,
        read_gold(dev_file, label_names=train.label_names),
        read_gold(test_file, label_names=train.label_names),
    )


def _check(file: Path, expected: str, name: str) -> None:
    try:
        found = hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise ZerotagError(f"{file}: {error.strerror}; {name} needs {', '.join(PANEL[name])}") from None
    if found != expected:
        raise ZerotagError(
            f"{file}: not the file that results are of (SHA-256 {found[:12]}…, expected {expected[:12]}…); "
            "use it unchanged, or give a folder of your own another name"
        )
