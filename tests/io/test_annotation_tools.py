# ruff: noqa: E501 (exports are long)
"""The formats of annotation tools, both ways: what is written, once somebody accepts it, is read back exactly."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tiny
from commands import CommandLine
from zerotag.errors import ZerotagError
from zerotag.io import read, read_gold, stream
from zerotag.io.annotation.labelstudio import Names, names_in, prediction
from zerotag.io.columns import Columns
from zerotag.labeller import WordLabeller
from zerotag.types import Rule

TEXTS = [
    "the \U0001f600 pump may leak",
    "a \U0001f468\u200d\U0001f469\u200d\U0001f467 valve, perhaps \U00020000 in e\u0301t\u00e9!",
    'quotes " and \\ and \u2028 separators',
    "rain",
]
TOOLS = ("labelstudio", "doccano", "argilla", "prodigy")


def objects(tool: str, path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    if tool in ("labelstudio", "argilla"):
        found: list[dict[str, Any]] = json.loads(text)
        return found
    return [json.loads(line) for line in text.split("\n") if line]


def accepted(tool: str, one: dict[str, Any]) -> dict[str, Any]:
    """What the tool exports once somebody has accepted the suggestions as they are."""
    if tool == "labelstudio":
        return {**one, "id": 1, "annotations": [{"result": one["predictions"][0]["result"], "was_cancelled": False}]}
    if tool == "prodigy":
        return {**one, "answer": "accept", "_input_hash": 1}
    if tool == "argilla":
        answers = {name: [{"value": s["value"], "user_id": "u"}] for name, s in one["suggestions"].items()}
        return {**one, "responses": answers}
    return {"id": 7, **one, "Comments": []}


@pytest.fixture(scope="module")
def labeller() -> WordLabeller:
    rules = [Rule(word_threshold=0.5, sentence_threshold=0.4), Rule(word_threshold=0.55, sentence_threshold=0.9)]
    return tiny.labeller(labels=("hedge", "wet")).with_rules(rules)


@pytest.fixture
def folder(labeller: WordLabeller, tmp_path: Path) -> Path:
    labeller.save_pretrained(tmp_path / "model")
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    return tmp_path


@pytest.mark.parametrize("tool", TOOLS)
def test_there_and_back(tool: str, folder: Path, labeller: WordLabeller, capsys: Any) -> None:
    zerotag = CommandLine(capsys)
    out = folder / "out.json"
    zerotag.succeeds("label", folder / "model", folder / "in.jsonl", "--format", tool, "--out", out)
    written = objects(tool, out)
    export = folder / "export.json"
    exported = [accepted(tool, one) for one in written]
    export.write_text(
        json.dumps(exported) if tool in ("labelstudio", "argilla") else "".join(json.dumps(o) + "\n" for o in exported)
    )
    columns = Columns(format=tool)
    gold = read_gold(export, columns=columns, label_names=labeller.label_names)
    expected = labeller.label(TEXTS)
    assert any(one.spans for one in expected)
    for example, one in zip(gold.examples, expected, strict=True):
        assert example.sentence.text == one.text
        assert example.sentence.words == tuple(word.text for word in one.words)
        assert example.word_labels == tuple(
            tuple(name in word.labels for name in labeller.label_names) for word in one.words
        )
        from_words = {name for word in one.words for name in word.labels}
        says = set(one.labels) or (from_words if tool in ("labelstudio", "argilla") else set())
        assert {name for name, given in zip(gold.label_names, example.labels, strict=True) if given} == says
    assert [sentence.text for sentence in stream(out, columns=columns)] == TEXTS  # to be labelled again
    zerotag.succeeds("evaluate", folder / "model", export, "--input-format", tool)


@pytest.mark.parametrize("tool", ["labelstudio", "argilla", "prodigy"])
def test_what_nobody_has_accepted_is_no_annotation(tool: str, folder: Path, capsys: Any) -> None:
    out = folder / "out.json"
    CommandLine(capsys).succeeds("label", folder / "model", folder / "in.jsonl", "--format", tool, "--out", out)
    with pytest.raises(ZerotagError, match=r"out\.json: no sentence in it that somebody has annotated"):
        read(out, columns=Columns(format=tool))


def test_suggestions_for_people(folder: Path, capsys: Any) -> None:
    for tool in TOOLS:
        out = folder / f"{tool}.json"
        arguments = ("suggest", folder / "model", folder / "in.jsonl", "--n", 2, "--format", tool, "--out", out)
        assert f"zerotag tune {folder / 'model'} EXPORT --input-format {tool}" in CommandLine(capsys)(*arguments).err
        assert len(objects(tool, out)) == 2


def lines(*found: dict[str, Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in found)


def whole(*found: dict[str, Any]) -> str:
    return json.dumps(list(found))


SPAN = {"value": {"start": 3, "end": 6, "text": "may", "labels": ["hedge"]}, "type": "labels"}


@pytest.mark.parametrize(
    ("tool", "content", "expected"),
    [
        (  # the last annotation that was not skipped; another column for the text
            "labelstudio",
            whole(
                {"data": {"text": "It may."}, "annotations": [{"result": []}, {"result": [SPAN]}, {"result": [], "was_cancelled": True}]},
                {"data": {"text": "It is."}, "annotations": [{"result": []}]},
                {"data": {"text": "unseen"}, "annotations": []},
            ),
            [("It may.", ["may"]), ("It is.", [])],
        ),
        (
            "labelstudio",  # JSON-MIN
            whole({"id": 1, "text": "It may.", "label": [{"start": 3, "end": 6, "text": "may", "labels": ["hedge"]}]}),
            [("It may.", ["may"])],
        ),
        ("doccano", lines({"text": "It may.", "label": [[3, 6, "hedge"]]}, {"text": "It is.", "label": []}), [("It may.", ["may"]), ("It is.", [])]),
        (
            "doccano",
            lines({"text": "It may.", "entities": [{"id": 1, "start_offset": 3, "end_offset": 6, "label": "hedge"}], "cats": ["hedge"]}),
            [("It may.", ["may"])],
        ),
        (
            "prodigy",
            lines(
                {"text": "It may.", "spans": [{"start": 3, "end": 6, "label": "hedge"}], "answer": "accept"},
                {"text": "It is.", "spans": [], "answer": "accept"},
                {"text": "skipped", "spans": [], "answer": "ignore"},
                {"text": "wrong", "spans": [], "answer": "reject"},
            ),
            [("It may.", ["may"]), ("It is.", [])],
        ),
        (
            "argilla",
            whole(
                {"fields": {"text": "It may."}, "responses": {"spans": [{"value": [{"start": 3, "end": 6, "label": "hedge"}]}]}},
                {"fields": {"text": "It is."}, "responses": {"spans": [{"value": [], "status": "submitted"}]}},
                {"fields": {"text": "draft"}, "responses": {"spans": [{"value": [], "status": "draft"}]}},
            ),
            [("It may.", ["may"]), ("It is.", [])],
        ),
    ],
)  # fmt: skip
def test_exports_as_the_tools_write_them(tool: str, content: str, expected: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(content)
    gold = read_gold(path, columns=Columns(format=tool), label_names=("hedge",))
    found = [
        (
            one.sentence.text,
            [word for word, (yes,) in zip(one.sentence.words, one.word_labels or (), strict=True) if yes],
        )
        for one in gold.examples
    ]
    assert found == expected


# What the programs themselves exported of files that zerotag wrote, after somebody had corrected the first sentence.
OF_DOCCANO_FOR_WORDS = """\
{"id":1,"text":"The pump may fail.","label":[[0,3,"hedge"]],"cats":["hedge"],"Comments":[]}
{"id":2,"text":"It 😀 works 👨‍👩‍👧 perhaps.","label":[],"cats":["hedge"],"Comments":[]}
{"id":4,"text":"Rain.","label":[[0,4,"hedge"]],"cats":[],"Comments":[]}
"""
OF_DOCCANO_FOR_BOTH = """\
{"id":5,"text":"The pump may fail.","label":[[0,3,"hedge"],[13,17,"hedge"]],"cats":["hedge"],"entities":[[0,3,"hedge"]],"Comments":[]}
{"id":6,"text":"It 😀 works 👨‍👩‍👧 perhaps.","label":[[5,10,"hedge"]],"cats":[],"entities":[],"Comments":[]}
{"id":8,"text":"Rain.","label":[[0,4,"hedge"]],"cats":["hedge"],"entities":[[0,4,"hedge"]],"Comments":[]}
"""
OF_ARGILLA = """[
{"id": "0", "fields": {"text": "The pump may fail."}, "metadata": {"score": 0.5}, "suggestions": {"spans": {"value": [{"label": "hedge", "start": 13, "end": 17}], "score": [0.9], "agent": "zerotag"}}, "responses": {"labels": [{"value": ["hedge"], "user_id": "0"}], "spans": [{"value": [{"label": "hedge", "start": 0, "end": 3}], "user_id": "0"}]}, "vectors": {}, "status": "completed", "_server_id": "1"},
{"id": "1", "fields": {"text": "a draft"}, "responses": {"labels": [{"value": ["hedge"], "user_id": "0"}], "spans": [{"value": [], "user_id": "0"}]}, "vectors": {}, "status": "pending", "_server_id": "2"},
{"id": "2", "fields": {"text": "It \\ud83d\\ude00 works \\ud83d\\udc68\\u200d\\ud83d\\udc69\\u200d\\ud83d\\udc67 perhaps."}, "responses": {"labels": [{"value": ["O"], "user_id": "0"}]}, "vectors": {}, "status": "completed", "_server_id": "3"},
{"id": "3", "fields": {"text": "Rain."}, "responses": {"labels": [{"value": ["hedge"], "user_id": "0"}], "spans": [{"value": [{"label": "hedge", "start": 0, "end": 4}], "user_id": "0"}]}, "vectors": {}, "status": "completed", "_server_id": "4"},
{"id": "4", "fields": {"text": "never answered"}, "responses": {}, "vectors": {}, "status": "pending", "_server_id": "5"}]"""


@pytest.mark.parametrize(
    ("tool", "content"),
    [("doccano", OF_DOCCANO_FOR_WORDS), ("doccano", OF_DOCCANO_FOR_BOTH), ("argilla", OF_ARGILLA)],
)
def test_exports_that_the_programs_made(tool: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(content, encoding="utf-8")
    gold = read_gold(path, columns=Columns(format=tool))
    assert gold.label_names == ("hedge",)
    assert [one.sentence.text for one in gold.examples] == [
        "The pump may fail.",
        "It 😀 works 👨‍👩‍👧 perhaps.",
        "Rain.",
    ]
    assert [one.labels for one in gold.examples] == [(True,), (False,), (True,)]
    marked = [[yes for (yes,) in one.word_labels or ()] for one in gold.examples]
    assert marked == [[True, False, False, False, False], [False] * 6, [True, False]]


@pytest.mark.parametrize(
    ("tool", "content", "labels"),
    [
        ("doccano", lines({"text": "It may.", "label": ["hedge"]}, {"text": "It is.", "label": []}), [True, False]),
        ("prodigy", lines({"text": "It may.", "label": "hedge", "answer": "accept"}, {"text": "It is.", "label": "hedge", "answer": "reject"}), [True, False]),
        ("prodigy", lines({"text": "It may.", "accept": ["hedge"], "answer": "accept"}, {"text": "It is.", "accept": [], "answer": "accept"}), [True, False]),
        ("argilla", whole({"fields": {"text": "It may."}, "responses": {"labels": [{"value": ["hedge"]}]}}, {"fields": {"text": "It is."}, "responses": {"label": [{"value": "O"}]}}), [True, False]),
        ("labelstudio", whole({"data": {"text": "It may."}, "annotations": [{"result": [{"type": "choices", "value": {"choices": ["hedge"]}}]}]}, {"data": {"text": "It."}, "annotations": [{"result": []}]}), [True, False]),
    ],
)  # fmt: skip
def test_labels_of_sentences(tool: str, content: str, labels: list[bool], tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(content)
    corpus = read(path, columns=Columns(format=tool))
    assert corpus.label_names == ("hedge",)
    assert [one.labels[0] for one in corpus.examples] == labels


@pytest.mark.parametrize(
    ("tool", "content", "message"),
    [
        ("labelstudio", whole({"data": {"body": "x"}, "annotations": []}), r"a.json:1: .*'text' among the data 'body'"),
        ("labelstudio", '{"data": {}}', "is not a list of objects"),
        ("doccano", lines({"text": "x", "label": [[0, 1]]}), "a.json:1: not as the tool writes it"),
        ("doccano", lines({"text": "x", "label": [[0, 9, "a"]]}), r"a.json:1: the span 0\.\.9 is not in the text"),
        ("prodigy", "{\n", "a.json:1: not valid JSON"),
        ("argilla", whole({"text": "x"}), "a.json:1: not as the tool writes it .*'fields'"),
    ],
)
def test_what_is_not_of_the_tool_is_refused(tool: str, content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(ZerotagError, match=message):
        read(path, columns=Columns(format=tool))


CONFIG = """<View><!-- a comment -->
<Text name="t" value="$body"/><Labels name="ner" toName="t"><Label value="hedge"/></Labels>
<Choices name="doc" toName="t"><Choice value="wet"/></Choices></View>"""


def test_predictions_have_the_names_of_the_project() -> None:
    names = names_in(CONFIG)
    assert names == Names("ner", "doc", "t", "body", frozenset({"hedge"}), frozenset({"wet"}))
    span = {"text": "may", "start": 3, "end": 6, "label": "hedge", "score": 0.9}
    result = {
        "score": 0.8,
        "label": "wet",
        "scores": {},
        "labels": ["wet", "hedge"],
        "spans": [span, {**span, "label": "wet"}],
    }
    assert prediction(result, names, "v1") == {
        "model_version": "v1",
        "score": 0.8,
        "result": [
            {"id": "span0", "from_name": "ner", "to_name": "t", "type": "labels", "score": 0.9,
             "value": {"start": 3, "end": 6, "text": "may", "labels": ["hedge"]}},
            {"id": "sentence", "from_name": "doc", "to_name": "t", "type": "choices", "score": 0.8,
             "value": {"choices": ["wet"]}},
        ],
    }  # fmt: skip
    assert names_in('<View><Text name="t" value="$b"/><Labels name="n" toName="t"/></View>').sentence is None


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("<View>", "is not XML"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><View/>', "declares a document type"),
        ("<View/>", 'has no <Text name="text"'),
        ('<View><Text name="t" value="$b"/></View>', 'has no <Labels name="label" toName="t">'),
    ],
)
def test_configurations_without_text_or_labels_are_refused(config: str, message: str) -> None:
    with pytest.raises(ZerotagError, match=message):
        names_in(config)


def test_every_tool_has_a_reader_and_a_writer() -> None:
    from zerotag.io.readers import READERS
    from zerotag.io.writers import WRITERS

    found: Callable[[str], object]
    for found in (READERS.get, WRITERS.get):
        assert all(found(tool) for tool in TOOLS)
