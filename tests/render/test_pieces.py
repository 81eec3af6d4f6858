from hypothesis import given

from labelled_samples import NOTHING, ONE, any_labelled
from zerotag.io.writers.style import Style
from zerotag.render.pieces import pieces
from zerotag.types import Labelled


@given(any_labelled())
def test_pieces_make_up_the_text(sample: tuple[Labelled, Style]) -> None:
    labelled, _ = sample
    cut = list(pieces(labelled))
    assert "".join(piece for piece, _ in cut) == labelled.text
    assert [word for _, word in cut if word is not None] == list(labelled.words)


def test_pieces_of_a_sentence() -> None:
    texts = [piece for piece, _ in pieces(ONE)]
    assert texts == ["It", " ", "may", "  ", "rain", "."]
    assert [piece for piece, _ in pieces(NOTHING)] == ["It", " rains."]
