import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from source_files import write
from zerotag.errors import ZerotagError
from zerotag.io import Columns, read, read_gold, stream
from zerotag.types import Corpus, Example, GoldExample, Sentence

HEDGES = "It\tO\nmay\tC\nrain\tO\n\nIt\tO\nrains\tO\n"


def test_sentence_labels_say_that_some_word_is_positive(tmp_path: Path) -> None:
    corpus = read(write(tmp_path, "a.tsv", HEDGES))
    assert corpus == Corpus(
        label_names=("C",),
        examples=(
            Example(Sentence("It may rain", ("It", "may", "rain"), ((0, 2), (3, 6), (7, 11))), (True,)),
            Example(Sentence("It rains", ("It", "rains"), ((0, 2), (3, 8))), (False,)),
        ),
        negative="O",
    )


def test_gold_has_word_labels(tmp_path: Path) -> None:
    corpus = read_gold(write(tmp_path, "a.conll", HEDGES))
    assert [e.labels for e in corpus.examples] == [(True,), (False,)]
    assert [e.word_labels for e in corpus.examples] == [((False,), (True,), (False,)), ((False,), (False,))]


def test_stream_needs_no_labels(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", "It\nmay\tanything\train\n\nWe\nsee\n")
    assert [s.words for s in stream(path)] == [("It", "may"), ("We", "see")]


@pytest.mark.parametrize(
    ("positive", "negative", "name"),
    [
        ("i", "c", "i"),
        ("C", "O", "C"),
        ("1", "0", "positive"),
        ("1.0", "0.0", "positive"),
        ("True", "False", "positive"),
        ("YES", "no", "positive"),
        ("B-CUE", "O", "CUE"),
    ],
)
def test_ways_to_write_a_label(tmp_path: Path, positive: str, negative: str, name: str) -> None:
    text = f"a\t{negative}\nb\t{positive}\n\nc\t{negative}\n"
    corpus = read(write(tmp_path, "a.tsv", text))
    assert corpus.label_names == (name,)
    assert [e.labels for e in corpus.examples] == [(True,), (False,)]
    assert corpus.negative == negative


def test_negative_values_can_be_given(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", "a\tfine\nb\tbad\nc\tokay\n")
    corpus = read_gold(path, columns=Columns(negative=("fine", "okay")))
    assert corpus.label_names == ("bad",)
    assert corpus.examples[0].word_labels == ((False,), (True,), (False,))
    assert corpus.negative == "fine"


def test_first_column_is_the_word_and_last_the_label(tmp_path: Path) -> None:
    corpus = read_gold(write(tmp_path, "a.tsv", "may\tVERB\t0.25\tC\nrain\tVERB\t0.5\tO\n"))
    assert corpus.examples[0].sentence.words == ("may", "rain")
    assert corpus.examples[0].word_labels == ((True,), (False,))


def test_three_labels(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", "you\tO\nfool\ttoxic|insult\ndie\tthreat\n\nhi\tO\n")
    corpus = read_gold(path)
    assert corpus.label_names == ("insult", "threat", "toxic")
    none = (False, False, False)
    assert [e.labels for e in corpus.examples] == [(True, True, True), none]
    assert corpus.examples[0].word_labels == (none, (True, False, True), (False, True, False))
    in_order = read(path, label_names=("toxic", "insult", "threat"))
    assert in_order.label_names == ("toxic", "insult", "threat")
    assert [e.labels for e in in_order.examples] == [(True, True, True), none]


def test_several_label_columns_only_give_the_names_and_their_order(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", "fool\ttoxic|insult\nhi\tO\n")
    corpus = read(path, columns=Columns(labels=("toxic", "insult", "threat")))
    assert corpus.label_names == ("toxic", "insult", "threat")
    assert corpus.examples[0].labels == (True, True, False)


def test_without_a_positive_word_there_is_still_one_label(tmp_path: Path) -> None:
    corpus = read(write(tmp_path, "a.tsv", "a\tO\nb\tO\n"))
    assert corpus.label_names == ("positive",)
    assert corpus.examples[0].labels == (False,)


def test_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    assert read(write(tmp_path, "a.tsv", "\ufeff" + HEDGES.replace("\n", "\r\n"))) == read(
        write(tmp_path, "b.tsv", HEDGES)
    )


def test_blank_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", "\n \n\na\tO\n\t\n \t \n\n\nb\tO\n\n\n")
    assert [e.sentence.words for e in read(path).examples] == [("a",), ("b",)]


@pytest.mark.parametrize("odd", ["\u00a0", "\u2028", "\u0085", "\x0b", "\x0c", "\x1c", "\u3000", "\u200b"])
def test_odd_white_space_neither_ends_lines_nor_sentences_nor_gets_lost(tmp_path: Path, odd: str) -> None:
    words = (f"{odd}a{odd}b{odd}", odd, "c")
    path = write(tmp_path, "a.tsv", "".join(f"{word}\tO\n" for word in words))
    assert [e.sentence.words for e in read(path).examples] == [words]
    assert [s.words for s in stream(write(tmp_path, "b.tsv", "\n".join(words)))] == [words]


_words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n\0 \ufeff"), min_size=1)
_labels = st.sampled_from(["O", "0", "no", "C", "1", "hedge", "hedge|C"])


@given(st.lists(st.lists(st.tuples(_words, _labels), min_size=1), min_size=1), st.randoms(use_true_random=False))
@settings(deadline=None)  # it writes files
def test_only_sentence_labels_are_read_for_training(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[list[tuple[str, str]]], chance: random.Random
) -> None:
    """Word labels shuffled within each sentence give exactly the same corpus."""
    folder = tmp_path_factory.mktemp("shuffled")
    shuffled = []
    for sentence in sentences:
        labels = [label for _, label in sentence]
        chance.shuffle(labels)
        shuffled.append([(word, label) for (word, _), label in zip(sentence, labels, strict=True)])
    first, second = (
        read(write(folder, name, "\n".join("".join(f"{w}\t{x}\n" for w, x in s) for s in corpus)))
        for name, corpus in [("a.tsv", sentences), ("b.tsv", shuffled)]
    )
    assert first == second
    assert [e.sentence.words for e in first.examples] == [tuple(w for w, _ in s) for s in sentences]


def test_training_examples_have_no_place_for_word_labels(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", HEDGES)
    assert {type(e) for e in read(path).examples} == {Example}
    assert {type(e) for e in read_gold(path).examples} == {GoldExample}
    assert Example.__slots__ == ("sentence", "labels")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tO\nb\n", "a.tsv:2: 'b' has no label; write word, tab, label"),
        ("a\tO\n\tO\n", "a.tsv:2: an empty word"),
        ("a\tO\n  \tO\n", "a.tsv:2: an empty word"),
        ("a\tO\nb\t\n", "a.tsv:2: '' is no label"),
        ("a\tO\nb\tx||y\n", "a.tsv:2: '' is no label"),
        ("a\tO\n\nb\t0.7\n", "a.tsv:3: the label '0.7' is a number other than 0 and 1"),
        (f"a\tO\n{'x' * 1_000_000}\tO\n", "a.tsv:2: a word of 1,000,000 characters; at most 1,000 are allowed"),
        ("a\tO\rb\tO\r", "a.tsv:1: a carriage return inside the line"),
        ("a\tc\nb\ta\nc\tb\n", "a.tsv: beside 'a', 'b', 'c' may be a label or mean no label"),
    ],
)
def test_bad_rows(tmp_path: Path, content: str, message: str) -> None:
    path = write(tmp_path, "a.tsv", content)
    for reader in (read, read_gold):
        with pytest.raises(ZerotagError) as caught:
            reader(path)
        assert str(caught.value).startswith(f"{tmp_path}/{message}")
        assert "\n" not in str(caught.value)


def test_a_word_of_the_greatest_length(tmp_path: Path) -> None:
    assert read(write(tmp_path, "a.tsv", f"{'x' * 1_000}\tO\n")).examples[0].sentence.words == ("x" * 1_000,)


def test_c_is_a_label_beside_other_labels_if_something_else_is_negative(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", "a\tc\nb\ta\nc\tO\n")
    assert read(path, columns=Columns(negative=("O",))).label_names == ("a", "c")
    assert read(path, columns=Columns(negative=("O", "c"))).label_names == ("a",)
    assert read(path, label_names=("a", "b", "c")).examples[0].labels == (True, False, True)
    assert read(path, label_names=("a", "b")).examples[0].labels == (True, False)


def test_unknown_label(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", "a\tO\nb\thedge\n")
    with pytest.raises(ZerotagError, match=r"a\.tsv:2: unknown label 'hedge'; the only label is 'C'; .*--negative"):
        read_gold(path, label_names=("C",))


def test_yes_means_the_only_label(tmp_path: Path) -> None:
    path = write(tmp_path, "a.tsv", "a\t0\nb\t1\n")
    assert read_gold(path, label_names=("C",)).examples[0].word_labels == ((False,), (True,))
    with pytest.raises(
        ZerotagError, match=r"a\.tsv:2: unknown label 'positive' \(written '1'\); the labels are 'C', 'D'"
    ):
        read_gold(path, label_names=("C", "D"))


def test_a_table_is_told_from_words(tmp_path: Path) -> None:
    words = write(tmp_path, "words.tsv", "text\tO\nlabel\tC\n")  # which are words here
    assert [s.words for s in stream(words)] == [("text", "label")]
    table = "id\ttext\tlabel\n1\tIt may rain\t1\n2\tIt rains\t0\n"
    for content in (table, "\ufeff" + table):
        path = write(tmp_path, "table.tsv", content)
        with pytest.raises(
            ZerotagError, match=r"table.tsv:1: the columns 'id', 'text', 'label' of a table.*--input-format csv"
        ):
            read(path)
        assert [e.labels for e in read(path, columns=Columns(format="csv")).examples] == [(True,), (False,)]


def test_sentences_are_told_from_words(tmp_path: Path) -> None:
    path = write(tmp_path, "rows.tsv", "It may rain today\t1\n\nIt rains today again\t0\n")
    with pytest.raises(ZerotagError, match=r"rows.tsv:1: 'It may rain today' is a sentence;.*text<TAB>label.*csv"):
        read(path)
    with pytest.raises(ZerotagError, match="is a sentence"):
        list(stream(path))
    few = write(tmp_path, "few.tsv", "ad hoc basis\t1\nagain\t0\n")  # some have words like this
    assert read(few).examples[0].sentence.words == ("ad hoc basis", "again")
