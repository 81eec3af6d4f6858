"""Words of the BiLSTM: which it knows, and vectors for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from zerotag.errors import ZerotagError
from zerotag.research.bilstm import new_bilstm
from zerotag.research.vocabulary import PADDING, UNKNOWN, Vocabulary, read_vectors
from zerotag.types import Sentence

KNOWN = [Sentence.from_words(words.split()) for words in ("The pump may leak .", "the Pump ran 42 m")]


def test_vocabulary_is_lower_case_with_digits_as_0_frequent_first() -> None:
    vocabulary = Vocabulary.of(KNOWN)
    assert list(vocabulary.numbers) == [PADDING, UNKNOWN, "the", "pump", "may", "leak", ".", "ran", "00", "m"]
    assert vocabulary.first_singleton == vocabulary.numbers["may"]
    assert vocabulary.alphabet == "".join(sorted(set("The pump may leak . the Pump ran 42 m") - {" "}))


@pytest.mark.parametrize("header", ["", "6 3\n"], ids=["glove", "word2vec"])
def test_vectors_of_known_words_are_read_and_the_rest_start_at_random(tmp_path: Path, header: str) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text(
        header + "Pump 1 2 3\npump 9 9 9\n. . . 7 7 7\nunseen 4 4 4\n37 -1 0.5 1e-2 \nmay 0 0 0\n", encoding="utf-8"
    )
    numbers = Vocabulary.of(KNOWN).numbers
    encoder, _ = new_bilstm(KNOWN, file)
    vectors = encoder.words.weight.detach()
    assert encoder.config.word_size == 3
    assert vectors[numbers["pump"]].tolist() == [1, 2, 3]
    assert vectors[numbers["00"]].tolist() == pytest.approx([-1, 0.5, 0.01])
    assert vectors[numbers["may"]].tolist() == [0, 0, 0]
    assert len(vectors) == len(numbers)
    limit = (6 / (len(numbers) + 3)) ** 0.5
    assert 0 < vectors[numbers["."]].abs().max().item() <= limit


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "{file}:1: a word and its numbers are expected"),
        (b"pump\n", "{file}:1: a word and its numbers are expected"),
        (b"the 1 2 3\npump 1 2\n", "{file}:2: 2 numbers after the word, expected 3"),
        (b"the 1 2 3\npump 1 2 3 4\n", "{file}:2: 4 numbers after the word, expected 3"),
        (b"3 2\npump 1 two\n", "{file}:2: not a number in 1 two"),
        (b"pump 1 nan\n", "{file}:1: not a number in 1 nan"),
        (b"1 3\npump \xff\xfe\x00\x80", "vectors {file} are not UTF-8 text"),
        (b"zebra 1 2\n", "vectors {file} have none of the words of the training sentences"),
    ],
)
def test_bad_vectors_are_refused_in_one_line(tmp_path: Path, content: bytes, complaint: str) -> None:
    file = tmp_path / "vectors.txt"
    file.write_bytes(content)
    with pytest.raises(ZerotagError) as raised:
        read_vectors(file, Vocabulary.of(KNOWN))
    assert str(raised.value).startswith(complaint.format(file=file))
    assert "\n" not in str(raised.value)


def test_missing_vectors_are_refused_in_one_line(tmp_path: Path) -> None:
    for path, reason in [(tmp_path / "none.txt", "No such file"), (tmp_path, "Is a directory")]:
        with pytest.raises(ZerotagError, match=f"vectors .* cannot be read: {reason}"):
            read_vectors(path, Vocabulary.of(KNOWN))
