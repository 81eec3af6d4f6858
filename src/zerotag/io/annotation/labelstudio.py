"""Label Studio: predictions to import, annotations from its export, and what its projects ask of an ML backend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from zerotag.errors import ZerotagError
from zerotag.io.annotation.annotated import Object, list_reader
from zerotag.io.writers import WriterSpec
from zerotag.io.writers.jsonl import encode, record
from zerotag.io.writers.style import Style
from zerotag.types import Labelled


@dataclass(frozen=True, slots=True)
class Names:
    """How a project calls the tags for words and for sentences, and the key of the text in its tasks."""

    words: str | None = "label"
    sentence: str | None = "sentence"
    text: str = "text"
    key: str = "text"
    labels: frozenset[str] | None = None
    """Those that words can have. None: any."""
    choices: frozenset[str] | None = None
    """Those that sentences can have. None: any."""


def names_in(config: str) -> Names:
    """The names in the labelling configuration of a project.

    Raises:
        ZerotagError: it is no XML, or has no text that can be labelled.
    """
    if "<!" in config.replace("<!--", ""):  # no entities, which could grow without end
        raise ZerotagError("the labelling configuration declares a document type")
    try:
        root = ElementTree.fromstring(config)
    except ElementTree.ParseError as error:
        raise ZerotagError(f"the labelling configuration is not XML ({error})") from None
    text = next((one for one in root.iter("Text") if one.get("value", "").startswith("$")), None)
    if text is None:
        raise ZerotagError('the labelling configuration has no <Text name="text" value="$text"/>')
    name = text.get("name", "text")
    words = next((one for one in root.iter("Labels") if one.get("toName") == name), None)
    sentence = next((one for one in root.iter("Choices") if one.get("toName") == name), None)
    if words is None and sentence is None:
        raise ZerotagError(f'the labelling configuration has no <Labels name="label" toName="{name}"> for words')
    return Names(
        words=None if words is None else words.get("name"),
        sentence=None if sentence is None else sentence.get("name"),
        text=name,
        key=text.get("value", "")[1:],
        labels=None if words is None else frozenset(one.get("value", "") for one in words.iter("Label")),
        choices=None if sentence is None else frozenset(one.get("value", "") for one in sentence.iter("Choice")),
    )


def prediction(result: Mapping[str, Any], names: Names, version: str) -> dict[str, Any]:
    """What a project takes for a prediction, of a result as JSON lines have it."""
    found: list[dict[str, Any]] = []
    for number, span in enumerate(result["spans"]):
        if names.words is not None and (names.labels is None or span["label"] in names.labels):
            value = {"start": span["start"], "end": span["end"], "text": span["text"], "labels": [span["label"]]}
            place = {"from_name": names.words, "to_name": names.text, "type": "labels"}
            found.append({"id": f"span{number}", **place, "value": value, "score": span["score"]})
    labels = result["labels"] if "labels" in result else [result["label"]] if result["label"] else []
    choices = [name for name in labels if names.choices is None or name in names.choices]
    if names.sentence is not None and choices:
        place = {"from_name": names.sentence, "to_name": names.text, "type": "choices"}
        found.append({"id": "sentence", **place, "value": {"choices": choices}, "score": result["score"]})
    return {"model_version": version, "score": result["score"], "result": found}


def render(results: Iterable[Labelled], style: Style) -> Iterator[str]:
    """Tasks with a prediction each, as a list of JSON that a project imports."""
    return _tasks({"data": {"text": one.text}, "predictions": [_found(one, style)]} for one in results)


def render_annotations(results: Iterable[Labelled], style: Style) -> Iterator[str]:
    """Tasks as render makes them, with what a person has decided as their annotation."""
    return _tasks({"data": {"text": one.text}, "annotations": [_annotation(one, style)]} for one in results)


def _found(one: Labelled, style: Style) -> dict[str, Any]:
    return prediction(record(one, style.label_names), Names(), "zerotag")


def _annotation(one: Labelled, style: Style) -> dict[str, Any]:
    scored = _found(one, style)["result"]
    return {"result": [{name: value for name, value in part.items() if name != "score"} for part in scored]}


def _tasks(tasks: Iterable[dict[str, Any]]) -> Iterator[str]:
    before = "[\n"
    for task in tasks:
        yield f"{before}{encode(task)}"
        before = ",\n"
    yield "\n]\n" if before == ",\n" else "[]\n"


def _convert(task: Object, text_column: str) -> dict[str, Any] | None:
    """A task of an export: the annotation that was made last, and is not cancelled."""
    if "data" not in task:  # JSON-MIN has the data and the results side by side
        return _convert_small(task, text_column)
    record: dict[str, Any] = {"text": _text(task["data"], text_column)}
    made = [one for one in task.get("annotations", []) if isinstance(one, Mapping) and not one.get("was_cancelled")]
    if not made:
        return record
    results = [one for one in made[-1]["result"] if isinstance(one, Mapping)]
    values: Sequence[Any] = [one["value"] for one in results if "value" in one]
    record["spans"] = [
        {"start": value["start"], "end": value["end"], "label": label}
        for value in values
        if "start" in value
        for label in value.get("labels", value.get("hypertextlabels", ()))
    ]
    choices = [choice for value in values for choice in value.get("choices", ())]
    if choices:
        record["label"] = choices
    return record


def _convert_small(task: Object, text_column: str) -> dict[str, Any]:
    lists = [value for value in task.values() if isinstance(value, list) and value and isinstance(value[0], Mapping)]
    spans = [
        {"start": one["start"], "end": one["end"], "label": label}
        for value in lists
        for one in value
        for label in one.get("labels", ())
    ]
    found: dict[str, Any] = {"text": _text(task, text_column), "spans": spans}
    choices = task.get("sentence")
    if choices:
        found["label"] = choices["choices"] if isinstance(choices, Mapping) else choices
    return found


def _text(data: Object, text_column: str) -> Any:
    if text_column in data:
        return data[text_column]
    raise KeyError(f"{text_column!r} among the data {', '.join(map(repr, data))}; choose with --text-column")


READER = list_reader(_convert)
WRITER = WriterSpec(suffix=None, render=render)
