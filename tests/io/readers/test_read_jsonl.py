import json
from pathlib import Path

import pytest

from source_files import write
from zerotag.errors import ZerotagError
from zerotag.io import Columns, read, read_gold, stream
from zerotag.text.segmentation import split
from zerotag.types import Corpus, Example, GoldExample, Sentence


def write_records(folder: Path, *records: object) -> Path:
    return write(folder, "a.jsonl", "".join(json.dumps(record) + "\n" for record in records))


def gold(folder: Path, **record: object) -> GoldExample:
    return read_gold(write_records(folder, record)).examples[0]


@pytest.mark.parametrize(
    ("positive", "negative", "written"),
    [(1, 0, "0"), (True, False, "false"), (1.0, 0.0, "0.0"), ("yes", "no", "no"), (["label"], [], "O")],
)
def test_text_and_label(tmp_path: Path, positive: object, negative: object, written: str) -> None:
    path = write_records(tmp_path, {"text": "It may.", "label": positive}, {"text": "It is.", "label": negative})
    assert read(path) == Corpus(
        label_names=("label",),
        examples=(Example(split("It may."), (True,)), Example(split("It is."), (False,))),
        negative=written,
    )
    assert [e.word_labels for e in read_gold(path).examples] == [None, None]


def test_words_are_kept_as_they_are(tmp_path: Path) -> None:
    words = ["It", "can't", "be", "New York", "\u00a0", "...", "x,"]
    path = write_records(tmp_path, {"words": words, "label": 0})
    assert read(path).examples[0].sentence == Sentence.from_words(words)
    assert list(stream(path)) == [Sentence.from_words(words)]


def test_words_beside_a_text_point_into_it(tmp_path: Path) -> None:
    sentence = gold(tmp_path, text="a  a, ab", words=["a", "a,", "ab"], label=0).sentence
    assert sentence == Sentence("a  a, ab", ("a", "a,", "ab"), ((0, 1), (3, 5), (6, 8)))


def test_output_of_zerotag_can_be_read_again(tmp_path: Path) -> None:
    record = {
        "text": "It may.",
        "label": "hedge",
        "words": [{"text": "It", "start": 0, "end": 2, "score": 0.1, "label": None}],
        "spans": [{"text": "may", "start": 3, "end": 6, "label": "hedge", "score": 0.9}],
    }
    assert gold(tmp_path, **record) == GoldExample(split("It may."), (True,), ((False,), (True,), (False,)))


def test_three_labels_in_a_list(tmp_path: Path) -> None:
    path = write_records(
        tmp_path,
        {"text": "a", "label": ["toxic", "insult"]},
        {"text": "b", "label": []},
        {"text": "c", "label": "threat"},
    )
    corpus = read(path)
    assert corpus.label_names == ("insult", "threat", "toxic")
    assert [e.labels for e in corpus.examples] == [(True, False, True), (False,) * 3, (False, True, False)]


def test_three_labels_in_columns(tmp_path: Path) -> None:
    path = write_records(
        tmp_path,
        {"text": "a b", "x": 1, "y": True, "z": 0, "word_labels": [["y"], "z"]},
        {"text": "c", "x": 0, "y": 0, "z": 0},
    )
    corpus = read_gold(path, columns=Columns(labels=("z", "y", "x")))
    assert corpus.label_names == ("z", "y", "x")
    assert [e.labels for e in corpus.examples] == [(False, True, True), (False,) * 3]
    assert corpus.examples[0].word_labels == ((False, True, False), (True, False, False))
    assert corpus.examples[1].word_labels == ((False,) * 3,)  # it has no label, so none of its words has


def test_word_labels(tmp_path: Path) -> None:
    assert gold(tmp_path, text="It may.", label=0, word_labels=[0, 1, "O"]) == GoldExample(
        split("It may."), (False,), ((False,), (True,), (False,))
    )
    assert gold(tmp_path, words=["It", "may"], word_labels=["O", "C"]).labels == (True,)
    assert gold(tmp_path, words=["It", "may"], word_labels=["O", "O"]).labels == (False,)


def test_spans(tmp_path: Path) -> None:
    text = "👍🏽 it may well be"
    example = gold(tmp_path, text=text, spans=[{"start": 7, "end": 12}, {"start": 0, "end": 1}])
    assert text[7:12] == "ay we"
    assert example.sentence.words == ("👍🏽", "it", "may", "well", "be")
    assert example.word_labels == ((True,), (False,), (True,), (True,), (False,))
    assert example.labels == (True,)
    assert gold(tmp_path, text=text, spans=[]).word_labels == ((False,),) * 5


def test_spans_touch_only_the_words_they_overlap(tmp_path: Path) -> None:
    example = gold(tmp_path, text="ab cd ef", spans=[{"start": 2, "end": 5, "label": "x"}])
    assert example.word_labels == ((False,), (True,), (False,))


def test_spans_of_three_labels_may_overlap(tmp_path: Path) -> None:
    spans = [
        {"start": 0, "end": 5, "label": "x"},
        {"start": 3, "end": 8, "label": ["y"]},
        {"start": 6, "end": 8, "label": "z"},
    ]
    path = write_records(tmp_path, {"text": "ab cd ef", "spans": spans}, {"text": "gh", "spans": []})
    corpus = read_gold(path)
    assert corpus.label_names == ("x", "y", "z")
    assert corpus.examples[0].word_labels == ((True, False, False), (True, True, False), (False, True, True))
    assert [e.labels for e in corpus.examples] == [(True,) * 3, (False,) * 3]
    assert [e.labels for e in read(path).examples] == [(True,) * 3, (False,) * 3]


def test_training_does_not_look_at_word_labels_beside_a_sentence_label(tmp_path: Path) -> None:
    plain = read(write_records(tmp_path, {"text": "a b", "label": "x"}, {"text": "c", "label": "O"}))
    path = write_records(
        tmp_path, {"text": "a b", "label": "x", "word_labels": ["y", "z"]}, {"text": "c", "label": "O"}
    )
    assert read(path) == plain


def test_labels_are_ignored_for_labelling(tmp_path: Path) -> None:
    path = write_records(tmp_path, {"text": "a b", "label": 0.7, "word_labels": 3, "spans": "x"}, {"text": "c"})
    assert [s.words for s in stream(path)] == [("a", "b"), ("c",)]


def test_blank_lines_and_line_separators(tmp_path: Path) -> None:
    path = write(tmp_path, "a.ndjson", '\ufeff{"text": "a\u2028b\u0085c"}\r\n\n  \n{"text": "\\ud83d\\udc4d"}')
    assert [s.text for s in stream(path)] == ["a\u2028b\u0085c", "👍"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a", "label": 1', "not valid JSON (Expecting ',' delimiter"),
        ("[" * 100_000, "not valid JSON (maximum recursion depth"),
        ('["a"]', "'[\"a\"]' is not a JSON object"),
        ('{"body": "a", "label": 1}', "no column 'text'; there are 'body', 'label'; choose with --text-column"),
        ('{"text": "a", "class": 1}', "no column 'label'; there are 'text', 'class'; choose with --label-column"),
        ('{"text": 5, "label": 1}', "'text' is 5; it must be a text"),
        ('{"text": null, "label": 1}', "'text' is None; it must be a text"),
        ('{"words": "a b", "label": 1}', "'words' is 'a b'; it must be a list of texts"),
        ('{"words": ["a", 2], "label": 1}', "'words' is ['a', 2]; it must be a list of texts"),
        ('{"words": ["a", ""], "label": 1}', "an empty word"),
        ('{"words": [], "label": 1}', "an empty sentence"),
        ('{"text": " ", "label": 1}', "an empty sentence: ' ' has no words"),
        ('{"text": "a b", "words": ["a", "c"], "label": 1}', "the word 'c' is not in the text after character 1"),
        ('{"text": "a", "label": null}', "None is no label"),
        ('{"text": "a", "label": {"x": 1}}', "{'x': 1} is no label"),
        ('{"text": "a", "label": [["x"]]}', "['x'] is no label"),
        ('{"text": "a", "label": 0.7}', "the label '0.7' is a number other than 0 and 1"),
        ('{"text": "a", "word_labels": null}', "no labels, neither of the sentence nor of its words"),
        ('{"text": "a b", "word_labels": [1]}', "'word_labels' must list 2 labels, one per word, not 1"),
        ('{"text": "a b", "word_labels": "O"}', "'word_labels' must list 2 labels, one per word, not 'O'"),
        ('{"text": "a b", "spans": {}}', "'spans' is {}; it must be a list"),
        ('{"text": "a b", "spans": [[0, 1]]}', "the span [0, 1] must have a whole number as start and as end"),
        ('{"text": "a b", "spans": [{"start": 0.5, "end": 1}]}', "the span {'start': 0.5, 'end': 1} must have"),
        ('{"text": "a b", "spans": [{"start": 0, "end": 4}]}', "the span 0..4 is not in the text of 3 characters"),
        ('{"text": "a b", "spans": [{"start": -1, "end": 1}]}', "the span -1..1 is not in the text"),
        ('{"text": "a b", "spans": [{"start": 1, "end": 1}]}', "the span 1..1 is not in the text"),
        ('{"text": "a b", "spans": [{"start": 1, "end": 2}]}', "the span 1..2 covers no word"),
        ('{"text": "a \\uD83D b", "label": 1}', "\\ud83d is half a character"),
        (f'{{"text": "{"x" * 1_000_000}", "label": 1}}', "a word of 1,000,000 characters; at most 1,000"),
    ],
)
def test_bad_lines(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path, "a.jsonl", f'{{"text": "fine", "label": 0}}\n{line}\n')
    with pytest.raises(ZerotagError) as caught:
        read_gold(path)
    assert str(caught.value).startswith(f"{path}:2: {message}")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300 + len(str(path))


def test_null_is_as_good_as_absent(tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 1, "label": None}, {"start": 2, "end": 3, "label": "x"}]
    path = write_records(
        tmp_path,
        {"text": "a b c", "label": None, "spans": spans},
        {"text": "a", "label": None, "word_labels": [0]},
        {"text": "a", "label": 1, "word_labels": None, "spans": None},
    )
    corpus = read_gold(path)
    assert corpus.label_names == ("label", "x")
    assert [e.labels for e in corpus.examples] == [(True, True), (False, False), (True, False)]
    assert corpus.examples[0].word_labels == ((True, False), (False, True), (False, False))


def test_null_among_several_columns_is_no_label(tmp_path: Path) -> None:
    with pytest.raises(ZerotagError, match=r"a\.jsonl:1: no label; give one"):
        read(write_records(tmp_path, {"text": "a", "x": 1, "y": None, "spans": []}), columns=Columns(labels=("x", "y")))


def test_yes_does_not_say_which_of_several_columns_is_meant(tmp_path: Path) -> None:
    with pytest.raises(ZerotagError, match=r"a\.jsonl:1: '1' does not say which label; write its name"):
        read(write_records(tmp_path, {"text": "a", "word_labels": [1]}), columns=Columns(labels=("x", "y")))


def test_words_of_a_sentence_without_a_label_have_none(tmp_path: Path) -> None:
    hedged = '{"text": "It may", "label": 1, "spans": [{"start": 3, "end": 6}]}\n'
    path = write(tmp_path, "a.jsonl", hedged + '{"text": "It is", "label": 0}\n{"text": "Perhaps", "label": 1}\n')
    found = [example.word_labels for example in read_gold(path).examples]
    assert found == [((False,), (True,)), ((False,), (False,)), None]  # of the last nobody knows which word it is
    nowhere = write(tmp_path, "b.jsonl", '{"text": "It is", "label": 0}\n{"text": "Perhaps", "label": 1}\n')
    assert [example.word_labels for example in read_gold(nowhere).examples] == [None, None]
