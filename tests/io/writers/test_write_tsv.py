from pathlib import Path

from hypothesis import given

from labelled_samples import ONE, ONE_STYLE, THREE, THREE_STYLE, any_labelled
from zerotag.io import read_gold
from zerotag.io.writers import tsv
from zerotag.io.writers.style import Style
from zerotag.types import Labelled, Rule, Word


def test_one_label() -> None:
    assert "".join(tsv.render([ONE, ONE], ONE_STYLE)) == 2 * (
        "It\t0.010000\tO\nmay\t0.750000\thedge\nrain\t0.300000\tO\n.\t0.000000\tO\n\n"
    )


def test_three_labels() -> None:
    assert "".join(tsv.render([THREE], THREE_STYLE)) == (
        "No\t0.100000\t0.900000\t0.700000\tnegation|number\n"
        "two\t0.200000\t0.100000\t0.800000\tnumber\n"
        "may\t0.600000\t0.000000\t0.100000\thedge\n"
        "go\t0.300000\t0.400000\t0.000000\tO\n\n"
    )


def test_negative_label_of_the_source() -> None:
    style = Style(label_names=("i",), rules=(Rule(),), title="", negative="c")
    labelled = Labelled("a", {"i": 0.1}, (), (Word("a", 0, 1, {"i": 0.1}, ()),), ())
    assert "".join(tsv.render([labelled], style)) == "a\t0.100000\tc\n\n"


def test_it_is_read_again_as_word_and_label(tmp_path: Path) -> None:
    words = ["No", "tab\there", "", "  ", "line\r\nbreak", "\0", "\u00a0", "\ufefftwo"]
    odd = Labelled(
        text=" ".join(words),
        scores=THREE.scores,
        labels=(),
        words=tuple(Word(word, 0, 0, THREE.scores, ("number",)) for word in words),
        spans=(),
    )
    path = tmp_path / "labelled.tsv"
    path.write_text("".join(tsv.render([THREE, odd], THREE_STYLE)), encoding="utf-8", newline="")
    corpus = read_gold(path, label_names=THREE_STYLE.label_names)
    first, second = corpus.examples
    assert first.sentence.words == ("No", "two", "may", "go")
    # hedge, negation, number
    assert first.word_labels == ((False, True, True), (False, False, True), (True, False, False), (False,) * 3)
    assert second.sentence.words == (
        "No", "tab␉here", "␢", "␢", "line␍␊break", "␀", "\u00a0", "\ufefftwo"
    )  # fmt: skip
    assert second.word_labels == 8 * ((False, False, True),)


def test_a_label_of_an_earlier_version_is_read_again(tmp_path: Path) -> None:
    style = Style(label_names=("x|y",), rules=(Rule(),), title="")
    words = tuple(Word("a", 0, 1, {"x|y": 0.5}, labels) for labels in (("x|y",), ()))
    path = tmp_path / "labelled.tsv"
    path.write_text("".join(tsv.render([Labelled("a a", {"x|y": 0.5}, (), words, ())], style)))
    assert read_gold(path, label_names=style.label_names).examples[0].word_labels == ((True,), (False,))


@given(any_labelled())
def test_no_word_breaks_the_format(sample: tuple[Labelled, Style]) -> None:
    labelled, style = sample
    lines = "".join(tsv.render([labelled], style)).splitlines()
    assert len(lines) == len(labelled.words) + 1
    assert lines.pop() == ""
    for line, word in zip(lines, labelled.words, strict=True):
        text, score, label = line.split("\t")
        assert text.strip(" ")
        assert float(score) == round(word.score, 6)
        assert (label == style.negative) == (not word.labels) or style.label_names == (style.negative,)
        if word.text.isprintable() and word.text.strip(" "):
            assert text == word.text
