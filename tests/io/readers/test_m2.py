from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerotag.errors import ZerotagError
from zerotag.io import Source, read, read_gold, records, stream
from zerotag.types import GoldExample

SENTENCE = "S She go to work by the bus"


def edit(start: int, end: int, kind: str = "R:VERB", annotator: int = 0) -> str:
    return f"A {start} {end}|||{kind}|||x|||REQUIRED|||-NONE-|||{annotator}"


def write(folder: Path, *lines: str) -> Path:
    path = folder / "essay.m2"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def errors(example: GoldExample) -> list[bool]:
    """Which words are marked as errors."""
    assert example.word_labels is not None
    return [error for (error,) in example.word_labels]


def wrong(folder: Path, *edits: str) -> list[str]:
    """The words that are marked as errors."""
    (one,) = read_gold(write(folder, SENTENCE, *edits)).examples
    return [word for word, error in zip(one.sentence.words, errors(one), strict=True) if error]


def test_sentences_come_with_their_words_and_flags(tmp_path: Path) -> None:
    first, second = read_gold(write(tmp_path, "S All is well .", "", "", "S He sing .", edit(1, 2), "")).examples
    assert first.sentence.words == ("All", "is", "well", ".")
    assert errors(first) == [False] * 4
    assert second.sentence.words == ("He", "sing", ".")
    assert errors(second) == [False, True, False]


def test_records_say_where_they_stand(tmp_path: Path) -> None:
    path = write(tmp_path, "S All is well .", "", "", "S He sing .", edit(1, 2), "")
    assert [record.line for record in records(Source(path))] == [1, 4]


def test_every_word_inside_an_edit_is_an_error(tmp_path: Path) -> None:
    assert wrong(tmp_path, edit(1, 2), edit(4, 6)) == ["go", "by", "the"]


def test_an_insertion_marks_the_next_word(tmp_path: Path) -> None:
    assert wrong(tmp_path, edit(0, 0, "M:DET")) == ["She"]
    assert wrong(tmp_path, edit(3, 3, "M:DET")) == ["work"]


def test_an_insertion_at_the_end_marks_the_last_word(tmp_path: Path) -> None:
    assert wrong(tmp_path, edit(7, 7, "M:PUNCT")) == ["bus"]


def test_noop_is_no_error(tmp_path: Path) -> None:
    assert wrong(tmp_path, edit(-1, -1, "noop")) == []


def test_edits_may_overlap(tmp_path: Path) -> None:
    assert wrong(tmp_path, edit(4, 6), edit(5, 7), edit(5, 5)) == ["by", "the", "bus"]


def test_only_the_first_annotator_counts(tmp_path: Path) -> None:
    assert wrong(tmp_path, edit(1, 2), edit(6, 7, annotator=1), edit(-1, -1, "noop", annotator=2)) == ["go"]


def test_a_file_without_the_first_annotator_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, SENTENCE, edit(1, 2, annotator=1), edit(1, 2, annotator=4))
    with pytest.raises(ZerotagError, match=r"m2: no edits by annotator 0; the file has annotator 1, 4$"):
        read_gold(path)


def test_a_sentence_without_any_edits_is_correct(tmp_path: Path) -> None:
    assert wrong(tmp_path) == []


def test_windows_line_ends_a_byte_order_mark_and_no_last_line_end(tmp_path: Path) -> None:
    path = tmp_path / "essay.m2"
    path.write_bytes(("\ufeffS He sing\r\n" + edit(1, 2) + "\r\n\r\nS No\u00a0break or\u2028line").encode())
    first, second = read_gold(path).examples
    assert (first.sentence.words, errors(first)) == (("He", "sing"), [False, True])
    assert second.sentence.words == ("No\u00a0break", "or\u2028line")


@pytest.mark.parametrize(
    ("lines", "place", "message"),
    [
        ([edit(0, 1)], 1, "an A line before its S line"),
        ([SENTENCE, "", edit(0, 1)], 3, "an A line before its S line"),
        (["She go to work"], 1, "expected 'S ' and the words of a sentence, found 'She go to work'"),
        (["S"], 1, "a sentence without words"),
        (["S "], 1, "a sentence without words"),
        (["S two  spaces"], 1, "an empty word"),
        (["S space at the end "], 1, "an empty word"),
        ([SENTENCE, SENTENCE], 2, "a second S line in one sentence"),
        ([SENTENCE, "B 0 1"], 2, "expected 'A start end"),
        ([SENTENCE, "A 0 1|||R|||x|||REQUIRED|||0"], 2, "expected 'A start end"),
        ([SENTENCE, "A 0|||R|||x|||REQUIRED|||-NONE-|||0"], 2, "expected 'A start end"),
        ([SENTENCE, "A 0 one|||R|||x|||REQUIRED|||-NONE-|||0"], 2, "expected 'A start end"),
        ([SENTENCE, "A 0 1|||R|||x|||REQUIRED|||-NONE-|||me"], 2, "expected 'A start end"),
        ([SENTENCE, "A " + "9" * 5000], 2, "999…"),
        ([SENTENCE, edit(0, 1) + "9" * 5000], 2, "expected 'A start end"),
        ([SENTENCE, f"A 0 {'9' * 5000}|||R|||x|||REQUIRED|||-NONE-|||0"], 2, "expected 'A start end"),
        ([SENTENCE, edit(6, 8)], 2, "edit 6 8 is outside its sentence; spans lie within 0 and 7"),
        ([SENTENCE, edit(8, 8)], 2, "edit 8 8 is outside"),
        ([SENTENCE, edit(3, 2)], 2, "edit 3 2 is outside"),
        ([SENTENCE, edit(-1, -1)], 2, "edit -1 -1 is outside"),
    ],
)
def test_bad_lines_are_named_in_one_line(tmp_path: Path, lines: list[str], place: int, message: str) -> None:
    path = write(tmp_path, *lines)
    with pytest.raises(ZerotagError) as caught:
        read_gold(path)
    text = str(caught.value)
    assert text.startswith(f"{path}:{place}: ")
    assert message in text
    assert "\n" not in text
    assert len(text) < len(str(path)) + 200


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"S fine\n\nS caf\xe9\n", ":3: not UTF-8"), (b"S fine\0\n", ":1: a NUL byte"), (None, ": no such file")],
)
def test_files_that_are_no_text(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "essay.m2"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ZerotagError) as caught:
        read_gold(path)
    assert str(caught.value).startswith(f"{path}{message}")


@given(
    length=st.integers(1, 8),
    spans=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)).map(lambda span: (min(span), max(span)))),
)
def test_a_word_is_an_error_exactly_if_an_edit_touches_it(
    tmp_path_factory: pytest.TempPathFactory, length: int, spans: list[tuple[int, int]]
) -> None:
    spans = [(start, end) for start, end in spans if end <= length]
    words = [f"w{i}" for i in range(length)]
    path = write(tmp_path_factory.mktemp("m2"), "S " + " ".join(words), *(edit(*span) for span in spans))
    (example,) = read_gold(path).examples
    for i, error in enumerate(errors(example)):
        inside = any(start <= i < end for start, end in spans)
        inserted = any(start == end and (start == i or start == length == i + 1) for start, end in spans)
        assert error == (inside or inserted)


def test_m2_is_an_input_format_like_any_other(tmp_path: Path) -> None:
    path = write(tmp_path, SENTENCE, edit(1, 2), "", "S All is well .", edit(-1, -1, "noop"))
    gold = read_gold(path)
    assert gold.label_names == ("error",)
    assert [example.labels for example in gold.examples] == [(True,), (False,)]
    assert gold.examples[0].word_labels == ((False,), (True,), *((False,),) * 5)
    assert [example.labels for example in read(path).examples] == [(True,), (False,)]
    assert [sentence.words[-1] for sentence in stream(path)] == ["bus", "."]
