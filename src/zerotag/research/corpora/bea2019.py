"""BEA-2019: Write & Improve and LOCNESS essays, with the words inside a correction as errors.

The M2 files are those of the BEA-2019 shared task on grammatical error correction (Bryant, Felice, Andersen & Briscoe),
https://www.cl.cam.ac.uk/research/nl/bea2019st/, for non-commercial research and education: Write & Improve may not be
passed on, LOCNESS may not be redistributed. Nothing is downloaded here. As the labels of the task's test set are not
public, the paper tests on the task's development set and takes its own development set out of the training essays, by
the indices in `dev_indices_train_ABC.txt` of its repository, bujol12/bert-seq-interpretability on GitHub.
"""

from __future__ import annotations

import json
from pathlib import Path

from zerotag.errors import ZerotagError
from zerotag.io import read_gold
from zerotag.io.lines import lines
from zerotag.research.corpora.checked import CorpusFacts, Counts, Splits, TaggedSentence, find_files

FACTS = CorpusFacts(
    name="bea2019",
    label="error",
    positive="i",
    negative="c",
    files=(
        "A.train.gold.bea19.m2",
        "B.train.gold.bea19.m2",
        "C.train.gold.bea19.m2",
        "ABCN.dev.gold.bea19.m2",
        "dev_indices_train_ABC.txt",
    ),
    obtain=(
        "the M2 files are on https://www.cl.cam.ac.uk/research/nl/bea2019st/ (non-commercial research and education), "
        "the indices in bujol12/bert-seq-interpretability on GitHub"
    ),
    expected={
        "train": Counts(30_908, 20_740, 567_176, 66_995),
        "dev": Counts(3430, 2305, 61_722, 7354),
        "test": Counts(4384, 2856, 86_973, 8787),
    },
    digests={
        "train": "0b3a708b6ac31e4b004ceafd40e57a3f27c570bffd3c423317d54034fd6f8847",
        "dev": "be3755b578fafe85a89ac7fb596b2ac8a905e13546f65247e8ff50ea0b4c7e19",
        "test": "4fcba74706650badbc2525edcbdf1e8e4ee81724d457420780afb527a67c3c8d",
    },
)


def read_splits(source: Path) -> Splits:
    """Read the M2 files and divide the training essays as the paper does.

    The list of indices repeats a few of them. The development set has its entries as they are listed, the training
    set every sentence that is not.
    """
    *train_paths, test_path, indices_path = find_files(source, FACTS)
    essays = [sentence for path in train_paths for sentence in _read_sentences(path)]
    indices = _read_indices(indices_path, len(essays))
    listed = set(indices)
    return {
        "train": [sentence for i, sentence in enumerate(essays) if i not in listed],
        "dev": [essays[i] for i in indices],
        "test": _read_sentences(test_path),
    }


def _read_sentences(path: Path) -> list[TaggedSentence]:
    return [
        tuple((word, wrong) for word, (wrong,) in zip(one.sentence.words, one.word_labels or (), strict=True))
        for one in read_gold(path).examples
    ]


def _read_indices(path: Path, size: int) -> list[int]:
    try:
        indices = json.loads("".join(line for _, line in lines(path)))
    except (ValueError, RecursionError):
        indices = None
    if not isinstance(indices, list):
        raise ZerotagError(f"{path}: expected a list of sentence numbers such as [3, 17, 42]")
    for index in indices:
        if type(index) is not int or not 0 <= index < size:
            raise ZerotagError(f"{path}: {str(index)[:40]} is not a sentence number in 0..{size - 1}")
    return indices
