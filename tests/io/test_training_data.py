"""What training is told of rows that cannot be used and of data that look odd."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.in_memory import as_training_data
from zerotag.io.reading import read, read_gold, read_training_data
from zerotag.io.training_data import overlap

ROWS = "It may rain.,1\n,1\nIt rains.,0\ntext,label\nIt snows.,\nPerhaps.,1,2\nIt hails.,0\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.csv"
    path.write_text(f"text,label\n{ROWS}")
    return path


def test_rows_that_cannot_be_used_are_left_out_and_told(file: Path) -> None:
    found = read_training_data(file)
    assert [one.sentence.text for one in found.corpus.examples] == ["It may rain.", "It rains.", "It hails."]
    assert found.rows == 7
    assert found.problems == (
        f"{file}:3: an empty sentence: '' has no words; remove the row",
        f"{file}:5: the names of the columns once more",
        f"{file}:6: no label; give one, or 0 if there is none",
        f"{file}:7: the number of columns is 3, in the header 2; put quotes around text with ',' in it",
    )
    assert found.remarks == ()


def test_strict_reading_tells_all_at_once(file: Path) -> None:
    with pytest.raises(ZerotagError) as strict:
        read_training_data(file, strict=True)
    with pytest.raises(ZerotagError) as plain:
        read(file)
    assert str(strict.value) == str(plain.value)
    assert str(strict.value).startswith(f"{file}:3: an empty sentence")
    assert "; 3 other rows cannot be used: " in str(strict.value)
    assert f"{file}:7: the number of columns" in str(strict.value)
    assert "\n" not in str(strict.value)


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("comment,hedge,wet\nIt may rain.,1,1\nIt rains.,0,1\n")
    assert read(path, text_column="comment", label_column="hedge").label_names == ("hedge",)
    assert read(path, text_column="comment", label_column=["hedge", "wet"]).label_names == ("hedge", "wet")


def test_a_label_of_its_own_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label\nIt may rain.,1\nIt rains.,0\n")
    corpus = read(path, columns=Columns(label_name="hedge"))
    assert corpus.label_names == ("hedge",)
    assert [one.labels for one in corpus.examples] == [(True,), (False,)]
    path.write_text("text,label\nIt rains.,0\nIt snows.,0\n")
    assert read(path, columns=Columns(label_name="hedge")).label_names == ("hedge",)
    with pytest.raises(ZerotagError, match="a label name is for one column of 0 and 1"):
        Columns(labels=("a", "b"), label_name="hedge")


def test_nothing_usable_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label\n,1\n,0\n")
    with pytest.raises(ZerotagError, match=r"2: an empty sentence.*; 1 other rows cannot be used: .*3: an empty"):
        read_training_data(path)


def test_labels_that_mean_nothing_stop_all_at_once() -> None:
    with pytest.raises(
        ZerotagError, match=r"^label 1: the label '2' .*; 1 other rows have labels of no use: label 2: .*'3'"
    ):
        as_training_data(["a", "b", "c"], [1, 2, 3])


def test_columns_that_were_swapped_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("kind,review\n" + "".join(f"{n % 2},it rained {n} days\n" for n in range(100)))
    with pytest.raises(ZerotagError) as refused:
        read(path, text_column="kind", label_column="review")
    assert "a.csv: 100 different labels in 100 rows, such as 'it rained 0 days': is 'review' the text?" in str(
        refused.value
    )
    path.write_text("kind,review\na,it may rain in winter\nb,it may snow in winter\n")
    with pytest.raises(ZerotagError, match="2 different labels in 2 rows"):
        read(path, text_column="kind", label_column="review")
    many = [f"label {n}" for n in range(20)]
    assert as_training_data([f"text {n}" for n in range(20)], many).corpus.label_names == tuple(sorted(many))


def test_duplicates_and_contradictions_are_told() -> None:
    texts = ["a", "a", "b", "b", "c", "d", "d"]
    labels = ["x", "x", "x", "O", "x", ["x", "y"], "y"]
    found = as_training_data(texts, labels)
    assert len(found.corpus) == 7  # none is taken away
    assert found.remarks == (
        "1 sentences occur more than once, such as 'a'",
        "2 sentences occur with different labels, such as 'b' with no label and with x: "
        "correct them, since they cancel each other out",
    )


def test_development_sentences_that_are_training_sentences() -> None:
    training = as_training_data(["a", "b"], [1, 0]).corpus
    assert overlap(training, as_training_data(["b", "c", "b"], [1, 0, 0]).corpus) == 2


def test_tables_and_pairs_with_gaps() -> None:
    frame = pd.DataFrame({"text": ["a", None, "c", float("nan")], "label": [1, 0, None, None]})
    found = as_training_data(frame)
    assert [one.labels for one in found.corpus.examples] == [(True,)]
    assert [problem.partition(":")[0] for problem in found.problems] == ["row 1", "row 2", "row 3"]
    pairs = as_training_data([("a", 1), (None, 1), ("b", None), ("", 0)])
    assert (len(pairs.corpus), pairs.rows) == (1, 4)
    assert pairs.problems[0] == "text 1 is empty"


TAGGED = "{0}Ada\tB-PER\nLovelace\tI-PER\nin\tO\nParis\t{1}\n\nrain\tO\n"


@pytest.mark.parametrize("place", ["B-LOC", "S-LOC", "U-LOC", "I-LOC"])
def test_schemes_of_tags_are_labels_of_several_types(tmp_path: Path, place: str) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(TAGGED.format("", place))
    corpus = read(path)
    assert corpus.label_names == ("LOC", "PER")
    assert [one.labels for one in corpus.examples] == [(True, True), (False, False)]
    gold = read_gold(path)
    assert gold.label_names == ("LOC", "PER")
    assert gold.examples[0].word_labels == ((False, True), (False, True), (False, False), (True, False))
    assert read_gold(path, label_names=("PER", "LOC")).examples[0].word_labels == (
        (True, False),
        (True, False),
        (False, False),
        (False, True),
    )


def test_names_that_only_look_like_tags_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(TAGGED.format("an\tverb\n", "B-LOC"))
    assert read(path).label_names == ("B-LOC", "B-PER", "I-PER", "verb")
    path.write_text("letter\tE-mail\nrain\tO\n")
    assert read(path).label_names == ("E-mail",)
    assert as_training_data(["a", "b"], ["B-movie", "O"]).corpus.label_names == ("B-movie",)
    jsonl = tmp_path / "a.jsonl"
    jsonl.write_text('{"words": ["Ada"], "label": "PER", "word_labels": ["B-PER"]}\n')
    assert read_gold(jsonl).label_names == ("PER",)


def test_numbers_of_tags_have_names() -> None:
    frame = pd.DataFrame({"words": [["Ada", "in", "Paris"]], "word_labels": [[1, 0, 3]]})
    found = as_training_data(frame, class_names=["O", "B-PER", "I-PER", "B-LOC"])
    assert found.corpus.label_names == ("PER", "LOC")
