import csv
from pathlib import Path

import pytest

from source_files import write
from zerotag.errors import ZerotagError
from zerotag.io import Columns, read, read_gold, stream

TOXIC = Columns(text="comment", labels=("toxic", "insult", "threat"))


def test_text_and_label(tmp_path: Path) -> None:
    corpus = read(write(tmp_path, "a.csv", 'id,text,label\n7,"It may, perhaps.",1\n8,It rains.,0\n'))
    assert corpus.label_names == ("label",)
    assert [e.labels for e in corpus.examples] == [(True,), (False,)]
    assert corpus.examples[0].sentence.words == ("It", "may", ",", "perhaps", ".")
    assert corpus.negative == "0"


def test_gold_without_word_labels(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "text,label\nIt may,1\n")
    assert read_gold(path).examples[0].labels == (True,)
    assert read_gold(path).examples[0].word_labels is None


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiter_is_that_of_the_header(tmp_path: Path, delimiter: str) -> None:
    header, row = delimiter.join(["text", "label"]), delimiter.join(['"a, b; c\td"', "1"])
    corpus = read(write(tmp_path, "a.csv", f"{header}\n{row}\n"))
    assert corpus.examples[0].sentence.text == "a, b; c\td"


@pytest.mark.parametrize("blank", ["\n", "\r\n\n", " \t\n", "\ufeff\n"])
def test_blank_lines_before_the_header(tmp_path: Path, blank: str) -> None:
    path = write(tmp_path, "a.csv", f"{blank}text;label\n\na, b;1\nc;0;0\n".encode())
    with pytest.raises(ZerotagError, match=rf"a.csv:{blank.count(chr(10)) + 4}: the number of columns is 3"):
        read(path)
    assert next(stream(path)).text == "a, b"


def test_label_names_in_one_column(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "text,label\na,clean\nb,toxic\nc,insult\nd,toxic\n")
    corpus = read(path, columns=Columns(negative=("clean",)))
    assert corpus.label_names == ("insult", "toxic")
    flags = [e.labels for e in corpus.examples]
    assert flags == [(False, False), (False, True), (True, False), (False, True)]
    assert corpus.negative == "clean"


def test_three_columns_are_three_labels_in_their_order(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "comment,threat,toxic,insult\nx,0,1,1.0\ny,TRUE,no,0.0\nz,0,0,0\n")
    corpus = read(path, columns=TOXIC)
    assert corpus.label_names == ("toxic", "insult", "threat")
    assert [e.labels for e in corpus.examples] == [(True, True, False), (False, False, True), (False,) * 3]
    other_order = read(path, columns=TOXIC, label_names=("threat", "toxic", "insult"))
    assert other_order.examples[0].labels == (False, True, True)


def test_labels_without_a_column(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "comment,threat,toxic,insult\nx,0,1,1.0\n")
    with pytest.raises(ZerotagError, match="no column for the labels 'obscene'; the label columns are 'toxic'"):
        read(path, columns=TOXIC, label_names=("toxic", "insult", "threat", "obscene"))
    with pytest.raises(ZerotagError, match=r"unknown label 'toxic' \(written '1'\); the labels are 'insult'"):
        read(path, columns=TOXIC, label_names=("insult",))


@pytest.mark.parametrize("values", [("1", "0"), ("yes", "O"), ("0", "0"), ("TRUE", "false")])
def test_one_column_of_flags_says_nothing_of_other_labels(tmp_path: Path, values: tuple[str, str]) -> None:
    path = write(tmp_path, "a.csv", "text,hedge\n" + "".join(f"a,{value}\n" for value in values))
    columns = Columns(labels=("hedge",))
    message = "^no column for the labels 'leak'; the label columns are 'hedge'; name one for each label"
    for reader in (read, read_gold):
        with pytest.raises(ZerotagError, match=message):
            reader(path, columns=columns, label_names=("hedge", "leak"))
        assert reader(path, columns=columns, label_names=("hedge",)).label_names == ("hedge",)


def test_one_column_of_flags_that_is_named_after_no_label(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "text,label\na,0\nb,1\n")
    with pytest.raises(ZerotagError, match=r"a\.csv:3: unknown label 'label' \(written '1'\); the labels are 'hedge'"):
        read_gold(path, label_names=("hedge", "leak"))


@pytest.mark.parametrize(("value", "flags"), [("hedge", (True, False)), ("leak", (False, True)), ("O", (False, False))])
def test_a_column_of_names_may_be_called_like_one(tmp_path: Path, value: str, flags: tuple[bool, bool]) -> None:
    path = write(tmp_path, "a.csv", f"text,hedge\na,{value}\n")
    corpus = read_gold(path, columns=Columns(labels=("hedge",)), label_names=("hedge", "leak"))
    assert corpus.examples[0].labels == flags


def test_several_names_in_a_cell(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "text,label\na,insult|threat\nb,threat | insult\nc,threat\nd,O\n")
    corpus = read(path)
    assert corpus.label_names == ("insult", "threat")
    assert [e.labels for e in corpus.examples] == [(True, True), (True, True), (False, True), (False, False)]


def test_names_that_are_known_are_not_divided(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "text,label\na,x|y\nb,z\nc,no|ne\n")
    corpus = read(path, columns=Columns(negative=("no|ne",)), label_names=("x|y", "z"))
    assert [e.labels for e in corpus.examples] == [(True, False), (False, True), (False, False)]


@pytest.mark.parametrize("labels", [("x|y",), ("x|y", "z")])
def test_a_column_whose_name_would_be_two_labels(tmp_path: Path, labels: tuple[str, ...]) -> None:
    path = write(tmp_path, "a.csv", "text,x|y,z\na,1,0\n")
    with pytest.raises(ZerotagError, match=r"^the label column 'x\|y' has '\|' in its name, .*; rename it$"):
        read(path, columns=Columns(labels=labels))


def test_quoted_newlines_are_kept_and_lines_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", '\ufefftext,label\r\n"one\r\ntwo ""three""",1\r\n\r\n"four\nfive",maybe not\r\n')
    with pytest.raises(ZerotagError, match=r"a\.csv:5: unknown label 'maybe not'"):
        read(path, label_names=("a", "label"))
    texts = [sentence.text for sentence in stream(path)]
    assert texts == ['one\r\ntwo "three"', "four\nfive"]


def test_exotic_line_ends_do_not_end_a_record(tmp_path: Path) -> None:
    text = "a\u2028b\x0bc\x0cd\u0085e"
    assert [s.text for s in stream(write(tmp_path, "a.csv", f"text\n{text}\n"))] == [text]


def test_a_field_beyond_the_default_limit(tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    document = "word " * 100_000
    assert len(document) > limit
    corpus = read(write(tmp_path, "a.csv", f"text,label\n{document},1\n"))
    assert len(corpus.examples[0].sentence.words) == 100_000
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("body,label\nx,1\n", "a.csv:1: no column 'text'; there are 'body', 'label'; choose with --text-column"),
        ("text;class\nx;1\n", "a.csv:1: no column 'label'; there are 'text', 'class'; choose with --label-column"),
        ("text,label,label\nx,0,1\n", "a.csv:1: 2 columns are called 'label'; rename all but one"),
        ("text,label\nx,1\ny\n", "a.csv:3: the number of columns is 1, in the header 2"),
        ("text,label\nx, y,1\n", "a.csv:2: the number of columns is 3, in the header 2; put quotes around"),
        ('text,label\n"x\n\n",1\n"",1\n', "a.csv:5: an empty sentence: '' has no words"),
        ("text,label\nx,1\n\u200b \u00a0,1\n", "a.csv:3: an empty sentence"),
        ("text,label\nx,\n", "a.csv:2: no label; give one, or 0 if there is none"),
        ("text,label\nx,0.7\n", "a.csv:2: the label '0.7' is a number other than 0 and 1"),
        ("text,label\nx,2\n", "a.csv:2: the label '2' is a number other than 0 and 1"),
        ("text,label\nx,nan\n", "a.csv:2: the label 'nan' is a number other than 0 and 1"),
        ('text,label\nx,1\n"never\nclosed,1\n', "a.csv:3: not valid CSV (unexpected end of data)"),
        ('text,label\n"x"y,1\n', "a.csv:2: not valid CSV"),
        ("text,label\rx,1\r", "a.csv:1: not valid CSV"),
        (
            'text,label\nx,1\n"' + "yes and no\n" * 100_000 + '",1\n',
            "a.csv:3: not valid CSV (a quote that is not closed within 1 MiB)",
        ),
        (f"text,label\n{'y' * 1_001},1\n", "a.csv:2: a word of 1,001 characters"),
    ],
)
def test_bad_files(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ZerotagError) as caught:
        read(write(tmp_path, "a.csv", content))
    assert str(caught.value).startswith(f"{tmp_path}/{message}")
    assert "\n" not in str(caught.value)


def test_the_text_column_is_enough_for_labelling(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "id,body\n1,It may\n")
    assert [s.words for s in stream(path, columns=Columns(text="body"))] == [("It", "may")]


def test_a_column_called_words_is_like_any_other(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "text,words,spans,label\nIt may,2,none,1\n")
    assert read(path).examples[0].labels == (True,)
