"""Hand-made results that the tests of all renderers share, and a way to make random ones."""

from hypothesis import strategies as st

from zerotag.io.writers.style import Style
from zerotag.types import Labelled, Rule, Span, Word

ONE = Labelled(
    text="It may  rain.",
    scores={"hedge": 0.9},
    labels=("hedge",),
    words=(
        Word("It", 0, 2, {"hedge": 0.0100004}, ()),
        Word("may", 3, 6, {"hedge": 0.75}, ("hedge",)),
        Word("rain", 8, 12, {"hedge": 0.3}, ()),
        Word(".", 12, 13, {"hedge": -0.0000001}, ()),
    ),
    spans=(Span("may", 3, 6, "hedge", 0.75),),
)
ONE_STYLE = Style(label_names=("hedge",), rules=(Rule(),), title="One label")

NOTHING = Labelled("It rains.", {"hedge": 0.2}, (), (Word("It", 0, 2, {"hedge": 0.1}, ()),), ())

THREE = Labelled(
    text="No two may go",
    scores={"hedge": 0.6, "negation": 0.95, "number": 0.2},
    labels=("hedge", "negation"),
    words=(
        Word("No", 0, 2, {"hedge": 0.1, "negation": 0.9, "number": 0.7}, ("negation", "number")),
        Word("two", 3, 6, {"hedge": 0.2, "negation": 0.1, "number": 0.8}, ("number",)),
        Word("may", 7, 10, {"hedge": 0.6, "negation": 0.0, "number": 0.1}, ("hedge",)),
        Word("go", 11, 13, {"hedge": 0.3, "negation": 0.4, "number": 0.0}, ()),
    ),
    spans=(
        Span("may", 7, 10, "hedge", 0.6),
        Span("No", 0, 2, "negation", 0.9),
        Span("No two", 0, 6, "number", 0.8),
    ),
)
THREE_STYLE = Style(
    label_names=("hedge", "negation", "number"), rules=(Rule(), Rule(), Rule(word_threshold=0.65)), title="Three labels"
)


@st.composite
def any_labelled(draw: st.DrawFn) -> tuple[Labelled, Style]:
    """Any text at all, cut anywhere, with any label name; half of the pieces are words."""
    name = draw(st.text(min_size=1))
    parts = draw(st.lists(st.tuples(st.text(st.characters(exclude_categories=[])), st.booleans())))
    words, text = [], ""
    for part, is_word in parts:
        if is_word:
            score = draw(st.floats(-1, 2))
            given_labels = (name,) if score >= 0.5 else ()
            words.append(Word(part, len(text), len(text) + len(part), {name: score}, given_labels))
        text += part
    labelled = Labelled(text, {name: 0.5}, (name,), tuple(words), ())
    return labelled, Style(label_names=(name,), rules=(Rule(),), title=draw(st.text()))
