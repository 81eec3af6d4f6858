"""The words and characters of training sentences, and ready-made vectors for them from a text file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, normalizers
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast

from zerotag.errors import ZerotagError
from zerotag.text.alignment import well_formed
from zerotag.types import FloatArray, Sentence

# Words are written in lower case when they are looked up, so that no word of a text is mistaken for one of these.
PADDING, UNKNOWN = "[PAD]", "[UNK]"
PADDING_NUMBER, UNKNOWN_NUMBER = 0, 1

_NORMALIZER = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace(Regex(r"\d"), "0")])


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What was seen in training sentences and in nothing else."""

    numbers: Mapping[str, int]
    """Words, in lower case and with digits as 0, the frequent ones first; padding and the unknown word before them."""

    first_singleton: int
    """Words from this number on were seen once."""

    alphabet: str
    """The characters of the words as they were written, by code point."""

    @classmethod
    def of(cls, sentences: Iterable[Sentence]) -> Vocabulary:
        """The vocabulary of some sentences; words equally frequent come in the order they were first seen."""
        written = Counter(well_formed(word) for sentence in sentences for word in sentence.words)
        counts: Counter[str] = Counter()
        for word, count in written.items():
            counts[normalise(word)] += count
        words = [PADDING, UNKNOWN, *(word for word, _ in counts.most_common())]
        singletons = sum(count == 1 for count in counts.values())
        return cls(
            {word: number for number, word in enumerate(words)},
            len(words) - singletons,
            "".join(sorted(set().union(*written))),
        )

    def tokenizer(self) -> PreTrainedTokenizerFast:
        """A tokenizer whose tokens are the words it is given, to be saved with a model."""
        tokenizer = Tokenizer(WordLevel(dict(self.numbers), unk_token=UNKNOWN))
        tokenizer.normalizer = _NORMALIZER
        return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=PADDING, unk_token=UNKNOWN)


def normalise(word: str) -> str:
    """A word as it is looked up: in lower case, with digits as 0."""
    return str(_NORMALIZER.normalize_str(word))


def read_vectors(file: Path, vocabulary: Vocabulary) -> tuple[list[int], FloatArray]:
    """Numbers of the vocabulary's words that a GloVe or word2vec text file has, and their vectors (words, size).

    The file's words are normalised as the vocabulary's are; of several that become the same, the first one counts.
    Words of the file that are not in the vocabulary are left out: to the model they are unknown.
    """
    found: dict[int, FloatArray] = {}
    try:
        with file.open(encoding="utf-8", newline="\n") as lines:
            for number, vector in _known_rows(file, lines, vocabulary):
                found.setdefault(number, vector)
    except OSError as error:
        raise ZerotagError(f"vectors {file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ZerotagError(f"vectors {file} are not UTF-8 text; word2vec's binary format is not read") from None
    if not found:
        raise ZerotagError(f"vectors {file} have none of the words of the training sentences")
    return list(found), np.stack(list(found.values()))


def _known_rows(file: Path, lines: Iterator[str], vocabulary: Vocabulary) -> Iterator[tuple[int, FloatArray]]:
    first = next(lines, "")
    fields = first.split()
    has_header = len(fields) == 2 and all(field.isdecimal() for field in fields)  # word2vec: how many words, and size
    size = int(fields[1]) if has_header else len(fields) - 1
    if size < 1:
        raise ZerotagError(f"{file}:1: a word and its numbers are expected, as in GloVe's and word2vec's text files")
    rows = lines if has_header else chain([first], lines)
    for place, line in enumerate(rows, start=2 if has_header else 1):
        number = vocabulary.numbers.get(normalise(line.partition(" ")[0]))
        if number is not None:
            word, *values = line.rstrip().rsplit(" ", size)
            more = word.split(" ")[1:]
            if not more or all(map(_is_number, more)):  # else a phrase that begins with a word of ours
                yield number, _vector([*more, *values], size, f"{file}:{place}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _vector(values: list[str], size: int, place: str) -> FloatArray:
    if len(values) != size:
        raise ZerotagError(f"{place}: {len(values)} numbers after the word, expected {size}: the file is damaged")
    try:
        vector = np.array(values, np.float32)
    except ValueError:
        vector = np.array([np.nan], np.float32)
    if not np.isfinite(vector).all():
        raise ZerotagError(f"{place}: not a number in {' '.join(values)[:40]}…: the file is damaged")
    return vector
