"""CoNLL files as others write them: columns parted by spaces, document lines, comments."""

from pathlib import Path

import pytest

from source_files import write
from zerotag.errors import ZerotagError
from zerotag.io import Columns, read, read_gold, stream
from zerotag.types import Example

CONLL_2003 = """-DOCSTART- -X- O O

Anna NNP B-NP B-PER
Schmidt NNP I-NP I-PER
left NNP B-VP O
# NN O O

-DOCSTART-

# id 4a
Berlin _ _ B-LOC \n"""
CONLL_U = "# sent_id = 1\n# text = New York\nNew York\tX\tB-LOC\n.\tX\tO\n"
FLAGS = ((True,), (False,))


@pytest.mark.parametrize("name", ["a.conll", "a.iob", "a.iob2", "a.bio"])
def test_columns_parted_by_spaces(name: str, tmp_path: Path) -> None:
    gold = read_gold(write(tmp_path, name, CONLL_2003))
    assert gold.label_names == ("LOC", "PER")
    assert [one.sentence.words for one in gold.examples] == [("Anna", "Schmidt", "left", "#"), ("Berlin",)]
    assert [one.word_labels for one in gold.examples] == [
        ((False, True), (False, True), (False, False), (False, False)),
        ((True, False),),
    ]
    assert read(tmp_path / name).examples == tuple(Example(one.sentence, one.labels) for one in gold.examples)


def test_where_there_are_tabs_words_may_have_spaces(tmp_path: Path) -> None:
    (one,) = read_gold(write(tmp_path, "a.conll", CONLL_U)).examples
    assert one.sentence.words == ("New York", ".")
    assert one.word_labels == FLAGS


def test_any_file_if_it_is_said_so(tmp_path: Path) -> None:
    path = write(tmp_path, "train.txt", "It O\nmay C\n")
    (one,) = read_gold(path, columns=Columns(format="conll")).examples
    assert [any(flags) for flags in one.word_labels or ()] == [False, True]


def test_labelling_needs_one_column(tmp_path: Path) -> None:
    path = write(tmp_path, "a.conll", "It\nmay\n\nrain X\n")
    assert [sentence.words for sentence in stream(path)] == [("It", "may"), ("rain",)]
    with pytest.raises(ZerotagError, match=r"a.conll:1: 'It' has no label; write word, tab, label"):
        read_gold(path)
