import json

from hypothesis import given

from labelled_samples import ONE, ONE_STYLE, THREE, THREE_STYLE, any_labelled
from zerotag.io.writers import jsonl
from zerotag.io.writers.style import Style
from zerotag.types import Labelled


def test_one_label() -> None:
    assert list(jsonl.render([ONE], ONE_STYLE)) == [
        '{"text": "It may  rain.", "score": 0.9, "label": "hedge", "words": ['
        '{"text": "It", "start": 0, "end": 2, "score": 0.01, "label": null}, '
        '{"text": "may", "start": 3, "end": 6, "score": 0.75, "label": "hedge"}, '
        '{"text": "rain", "start": 8, "end": 12, "score": 0.3, "label": null}, '
        '{"text": ".", "start": 12, "end": 13, "score": 0.0, "label": null}], '
        '"spans": [{"text": "may", "start": 3, "end": 6, "label": "hedge", "score": 0.75}]}\n'
    ]


def test_three_labels() -> None:
    assert jsonl.record(THREE, THREE_STYLE.label_names) == {
        "text": "No two may go",
        "score": 0.95,
        "label": "negation",
        "scores": {"hedge": 0.6, "negation": 0.95, "number": 0.2},
        "labels": ["hedge", "negation"],
        "words": [
            {
                "text": "No",
                "start": 0,
                "end": 2,
                "score": 0.9,
                "label": "negation",
                "scores": {"hedge": 0.1, "negation": 0.9, "number": 0.7},
                "labels": ["negation", "number"],
            },
            {
                "text": "two",
                "start": 3,
                "end": 6,
                "score": 0.8,
                "label": "number",
                "scores": {"hedge": 0.2, "negation": 0.1, "number": 0.8},
                "labels": ["number"],
            },
            {
                "text": "may",
                "start": 7,
                "end": 10,
                "score": 0.6,
                "label": "hedge",
                "scores": {"hedge": 0.6, "negation": 0.0, "number": 0.1},
                "labels": ["hedge"],
            },
            {
                "text": "go",
                "start": 11,
                "end": 13,
                "score": 0.4,
                "label": None,
                "scores": {"hedge": 0.3, "negation": 0.4, "number": 0.0},
                "labels": [],
            },
        ],
        "spans": [
            {"text": "may", "start": 7, "end": 10, "label": "hedge", "score": 0.6},
            {"text": "No", "start": 0, "end": 2, "label": "negation", "score": 0.9},
            {"text": "No two", "start": 0, "end": 6, "label": "number", "score": 0.8},
        ],
    }


def test_letters_are_written_as_they_are_and_line_breaks_escaped() -> None:
    line = jsonl.encode({"text": "naïve 🥶\u2028\x85\n\ud83d"})
    assert line == '{"text": "naïve 🥶\\u2028\\u0085\\n\\ud83d"}'


@given(any_labelled())
def test_any_record_is_one_line_and_reads_back(sample: tuple[Labelled, Style]) -> None:
    labelled, style = sample
    (line,) = jsonl.render([labelled], style)
    assert len(line.splitlines()) == 1
    record = json.loads(line.encode("utf-8"))
    # Two surrogates that happen to stand in a row are one character to every JSON reader.
    assert record["text"] == labelled.text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert len(record["words"]) == len(labelled.words)
