import io
from dataclasses import replace

from hypothesis import given
from rich.console import Console

from labelled_samples import NOTHING, ONE, ONE_STYLE, THREE, THREE_STYLE, any_labelled
from zerotag.io.writers.style import Style
from zerotag.render import terminal
from zerotag.render.tables import Table
from zerotag.types import Labelled


def test_without_colour_positive_words_stand_in_brackets() -> None:
    assert list(terminal.render([ONE, NOTHING], ONE_STYLE)) == [
        "0.90 hedge  It [may]  rain.\n",
        "0.20 O      It rains.\n",
    ]


def test_several_labels_are_named() -> None:
    assert list(terminal.render([THREE], THREE_STYLE)) == [
        "0.95 hedge|negation  [No:negation|number] [two:number] [may:hedge] go\n"
    ]


def test_colour() -> None:
    assert list(terminal.render([ONE, NOTHING], replace(ONE_STYLE, colour=True))) == [
        "\x1b[1m0.90 hedge\x1b[0m  It \x1b[1;4;38;5;16;48;5;208mmay\x1b[0m  \x1b[38;5;130mrain\x1b[0m.\n",
        "\x1b[2m0.20 O    \x1b[0m  It rains.\n",
    ]


def test_each_label_has_a_hue() -> None:
    (line,) = terminal.render([THREE], replace(THREE_STYLE, colour=True))
    assert "\x1b[1;4;38;5;16;48;5;75mNo:negation|number\x1b[0m" in line
    assert "\x1b[1;4;38;5;16;48;5;114mtwo:number\x1b[0m" in line
    assert "\x1b[38;5;32mgo\x1b[0m" in line


@given(any_labelled())
def test_no_text_can_command_the_terminal(sample: tuple[Labelled, Style]) -> None:
    labelled, style = sample
    (line,) = terminal.render([labelled], style)
    assert line.endswith("\n")
    assert not any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in line[:-1])


def test_table_shows_cells_as_they_are() -> None:
    table = Table("Held-out [bold]", ("percent", "P"), (("[red]hedge", "95.1"), ("words", "–")), "a note")
    drawn = io.StringIO()
    Console(file=drawn, width=60).print(terminal.rich_table(table))
    for shown in ("percent", "[red]hedge   95.1", "words           –"):
        assert shown in drawn.getvalue()
