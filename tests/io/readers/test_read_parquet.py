import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from source_files import write
from zerotag.errors import ZerotagError
from zerotag.io import Columns, read, read_gold, stream
from zerotag.io.in_memory import as_training_data
from zerotag.text.segmentation import split


def write_table(folder: Path, **columns: object) -> Path:
    path = folder / "a.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=3)
    return path


@pytest.mark.parametrize(
    ("labels", "negative"), [([1, 0], "0"), ([True, False], "false"), ([1.0, 0.0], "0.0"), (["yes", "O"], "O")]
)
def test_text_and_label(tmp_path: Path, labels: list[object], negative: str) -> None:
    corpus = read(write_table(tmp_path, text=["It may", "It is"], label=labels, other=[1, 2]))
    assert corpus.label_names == ("label",)
    assert [e.sentence for e in corpus.examples] == [split("It may"), split("It is")]
    assert [e.labels for e in corpus.examples] == [(True,), (False,)]
    assert corpus.negative == negative


def test_dictionary_columns(tmp_path: Path) -> None:
    path = write_table(tmp_path, text=["a", "b"], label=pa.array(["O", "x"]).dictionary_encode())
    assert read(path).label_names == ("x",)


def test_three_labels_in_a_list(tmp_path: Path) -> None:
    corpus = read(write_table(tmp_path, text=["a", "b", "c"], label=[["toxic", "insult"], [], ["threat"]]))
    assert corpus.label_names == ("insult", "threat", "toxic")
    assert [e.labels for e in corpus.examples] == [(True, False, True), (False,) * 3, (False, True, False)]


def test_three_labels_in_columns(tmp_path: Path) -> None:
    path = write_table(tmp_path, body=["a", "b"], x=[1, 0], y=[0, 0], z=[True, False])
    corpus = read(path, columns=Columns(text="body", labels=("z", "y", "x")))
    assert corpus.label_names == ("z", "y", "x")
    assert [e.labels for e in corpus.examples] == [(True, False, True), (False,) * 3]


def test_words_word_labels_and_spans(tmp_path: Path) -> None:
    path = write_table(tmp_path, words=[["It", "may"], ["It", "is", "so"]], word_labels=[["O", "C"], ["O"] * 3])
    corpus = read_gold(path)
    assert [e.labels for e in corpus.examples] == [(True,), (False,)]
    assert [e.word_labels for e in corpus.examples] == [((False,), (True,)), ((False,),) * 3]
    path = write_table(tmp_path, text=["It may", "It is"], spans=[[{"start": 3, "end": 6, "label": "C"}], []])
    assert [e.word_labels for e in read_gold(path).examples] == [((False,), (True,)), ((False,), (False,))]


def test_null_is_as_good_as_absent(tmp_path: Path) -> None:
    spans = [[{"start": 0, "end": 2}, {"start": 3, "end": 6, "label": "x"}], None]
    path = write_table(
        tmp_path, text=["It may", "It is"], label=["x", None], spans=spans, word_labels=[None, ["O", "yes"]]
    )
    corpus = read_gold(path)
    assert corpus.label_names == ("label", "x")
    assert [e.labels for e in corpus.examples] == [(False, True), (True, False)]
    assert [e.word_labels for e in corpus.examples] == [((True, False), (False, True)), ((False, False), (True, False))]


def test_streaming_reads_only_the_text(tmp_path: Path) -> None:
    numbers = range(10_000)
    path = write_table(tmp_path, text=[f"number {i}" for i in numbers], label=[None] * 10_000)
    assert [s.words[1] for s in stream(path)] == [str(i) for i in numbers]


def test_streaming_reads_batch_by_batch(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"number {i} " + "x" * 500 for i in range(20_000)]}), path)  # one row group
    before = pa.total_allocated_bytes()
    peak = max(pa.total_allocated_bytes() for _ in stream(path)) - before
    assert peak < 5_000_000  # of more than 10,000,000


def test_missing_column(tmp_path: Path) -> None:
    path = write_table(tmp_path, body=["a"], id=[1], label=[0])
    with pytest.raises(ZerotagError, match=r"a\.parquet: no column 'text'; there are 'body', 'id', 'label'"):
        read(path)
    with pytest.raises(ZerotagError, match=r"a\.parquet: no column 'class'; there are 'body', 'id', 'label'"):
        read(path, columns=Columns(text="body", labels=("class",)))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"text": ["a", None], "label": [1, 0]}, "row 2: 'text' is None; it must be a text"),
        ({"text": ["a", " "], "label": [1, 0]}, "row 2: an empty sentence"),
        ({"text": ["a", "b"], "label": [1, None]}, "row 2: no label"),
        ({"text": ["a", "b"], "label": [1, 2]}, "row 2: the label '2' is a number other than 0 and 1"),
        ({"text": ["a", "x" * 1_001], "label": [1, 0]}, "row 2: a word of 1,001 characters"),
        ({"text": [b"a"], "label": [1]}, "row 1: 'text' is b'a'; it must be a text"),
        ({"text": pa.array([], pa.string()), "label": pa.array([], pa.int8())}, "no sentences in it"),
    ],
)
def test_bad_rows(tmp_path: Path, columns: dict[str, object], message: str) -> None:
    path = write_table(tmp_path, **columns)
    with pytest.raises(ZerotagError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: {message}")


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b[:-8] + b"\xff" * 8, lambda _: b"nonsense"])
def test_damaged_file(tmp_path: Path, damage: object) -> None:
    whole = write_table(tmp_path, text=["a", "b"], label=[1, 0]).read_bytes()
    assert callable(damage)
    path = write(tmp_path, "b.parquet", damage(whole))
    with pytest.raises(ZerotagError, match=r"b\.parquet: not a readable Parquet file \(.*\); write or fetch") as caught:
        read(path)
    assert "\n" not in str(caught.value)


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())
    with pytest.raises(ZerotagError, match=r"a\.parquet: row 1: not UTF-8 \(byte 0xff at position 1\)"):
        read(write_table(tmp_path, text=broken, label=[1]))


def write_hub_table(path: Path, features: dict[str, object], **columns: object) -> Path:
    """A file as `datasets` and the hub write it."""
    told = json.dumps({"info": {"features": features}})
    pq.write_table(pa.table(columns).replace_schema_metadata({"huggingface": told}), path)
    return path


CLASSES = {"names": ["calm", "rude", "sad"], "_type": "ClassLabel"}


def test_names_of_classes_from_the_metadata_of_a_file(tmp_path: Path) -> None:
    rows: dict[str, object] = {"text": ["a", "b", "c"], "mood": [2, 0, 1]}
    path = write_hub_table(tmp_path / "a.parquet", {"mood": CLASSES}, **rows)
    corpus = read(path, columns=Columns(labels=("mood",), negative=("calm",)))
    assert corpus.label_names == ("rude", "sad")
    assert [e.labels for e in corpus.examples] == [(False, True), (False, False), (True, False)]
    gold = read_gold(path, columns=Columns(labels=("mood",)), label_names=("calm", "rude", "sad"))
    assert [e.labels for e in gold.examples] == [(False, False, True), (True, False, False), (False, True, False)]
    named = Columns(labels=("mood",), class_names=("x", "y", "z"))  # what is said here goes before what is said there
    assert read(path, columns=named).label_names == ("x", "y", "z")


def test_datasets_writes_such_files(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    path = tmp_path / "a.parquet"
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["bad", "good"])}
    )
    datasets.Dataset.from_dict({"text": ["a", "b"], "label": [1, 0]}, features=features).to_parquet(path)
    assert read(path).label_names == ("bad", "good")
    unnamed = datasets.Features({"text": datasets.Value("string"), "label": datasets.ClassLabel(num_classes=2)})
    held = datasets.Dataset.from_dict({"text": ["a", "b"], "label": [1, 0]}, features=unnamed)
    held.to_parquet(path)  # names that are numbers say nothing
    assert read(path).label_names == ("label",)
    assert as_training_data(held).corpus.label_names == ("label",)


def test_words_and_tags_of_entities_as_the_hub_has_them(tmp_path: Path) -> None:
    tags = {"feature": {"names": ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"], "_type": "ClassLabel"}, "_type": "List"}
    rows: dict[str, object] = {
        "tokens": [["Ann", "Lee", "in", "Rome"], ["It", "rains"]],
        "tags": [[1, 2, 0, 3], [0, 0]],
    }
    path = write_hub_table(tmp_path / "a.parquet", {"tags": tags}, **rows)
    columns = Columns(text="tokens", labels=("tags",))
    gold = read_gold(path, columns=columns)
    assert gold.label_names == ("PER", "LOC")
    assert gold.examples[0].sentence.words == ("Ann", "Lee", "in", "Rome")
    assert gold.examples[0].word_labels == ((True, False), (True, False), (False, False), (False, True))
    assert [e.labels for e in read(path, columns=columns).examples] == [(True, True), (False, False)]
    assert [one.words for one in stream(path, columns=Columns(text="tokens"))][1] == ("It", "rains")
    table = pq.read_table(path)
    assert as_training_data(table, text="tokens", label="tags").corpus.label_names == ("PER", "LOC")
    path = write_hub_table(tmp_path / "b.parquet", {"tags": tags}, **(rows | {"tags": [[1, 2], [0, 0]]}))
    with pytest.raises(ZerotagError, match=r"b\.parquet: row 1: 'word_labels' must list 4 labels"):
        read(path, columns=columns)
