from __future__ import annotations

import inspect
from dataclasses import dataclass

import pytest

from zerotag.cli.app import VERBS
from zerotag.cli.option_groups import expand_groups
from zerotag.cli.options import LabelOptions, TextOptions


@dataclass(frozen=True)
class Size:
    height: int
    width: int = 2


def test_fields_are_parameters_in_the_place_of_their_group() -> None:
    seen: list[tuple[str, Size, bool]] = []

    def verb(name: str, *, size: Size, loud: bool = False) -> None:
        seen.append((name, size, loud))

    expanded = expand_groups(verb)
    parameters = inspect.signature(expanded).parameters
    assert {one.name: (one.annotation, one.default) for one in parameters.values()} == {
        "name": (str, inspect.Parameter.empty),
        "height": (int, inspect.Parameter.empty),
        "width": (int, 2),
        "loud": (bool, False),
    }
    expanded(name="a", height=3, width=4)
    assert seen == [("a", Size(3, 4), False)]


@pytest.mark.parametrize("verb", ["train", "evaluate", "report", "suspects", "tune"])
def test_every_verb_that_reads_labels_has_the_same_options_for_it(verb: str) -> None:
    names = inspect.signature(expand_groups(VERBS[verb])).parameters
    assert set(inspect.signature(LabelOptions).parameters) <= set(names)


def test_label_options_as_columns() -> None:
    given = LabelOptions("body", "csv", ["rude"], ["fine"], None, "calm, rude").columns("whitespace")
    assert (given.text, given.format, given.labels, given.negative) == ("body", "csv", ("rude",), ("fine",))
    assert (given.class_names, given.segmenter) == (("calm", "rude"), "whitespace")
    assert TextOptions().columns(split_sentences=True).split_sentences
