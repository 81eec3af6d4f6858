"""Documents to sentences, by the rules of Unicode and a few abbreviations; the page splits by the same."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from operator import itemgetter

import regex

from zerotag.types import Sentence

# Unicode Standard Annex 29, rules SB4 and SB6 to SB11: a line ends, or a sentence does with what closes it and the
# spaces behind. A full stop ends none before a small letter, or between letters or before a digit without a space.
_END = regex.compile(
    r"""
    [\r\n\u0085\u2028\u2029]+
  | (?: (?<stop> \p{SB=ATerm} ) | \p{SB=STerm} ) [\p{SB=Extend}\p{SB=Format}]*+
    (?(stop) (?! \p{SB=Numeric} ) (?! (?<= [\p{SB=Upper}\p{SB=Lower}] \p{SB=ATerm} ) \p{SB=Upper} ) )
    [\p{SB=Close}\p{SB=Extend}\p{SB=Format}]*+ [\p{SB=Sp}\p{SB=Extend}\p{SB=Format}]*+
    (?! [\p{SB=SContinue}\p{SB=STerm}\p{SB=ATerm}] )
    (?(stop) (?!
      [^\p{SB=OLetter}\p{SB=Upper}\p{SB=Lower}\p{SB=Sep}\p{SB=CR}\p{SB=LF}\p{SB=STerm}\p{SB=ATerm}]*+ \p{SB=Lower}
    ) )
    """,
    regex.VERBOSE | regex.VERSION1,
)

ABBREVIATIONS = (
    r"[\p{Lu}\p{Ll}](?:\.[\p{Lu}\p{Ll}])*|[Dd]r|[Mm]rs?|[Mm]s|[Pp]rof|[Ss]t|vs|cf|al|[Ff]igs?|[Ee]qs?|[Nn]os?"
    r"|bzw|ca|[Vv]gl|Abb|Nr|Hr|Fr|Sra?|Mme"
)
"""After these a full stop does not end a sentence; the page has the same. A letter, or several, may be any."""

_ABBREVIATION = regex.compile(rf"(?<! [^\s(] ) (?: {ABBREVIATIONS} ) \. $", regex.VERBOSE | regex.VERSION1)
_LONGEST = 12  # characters of an abbreviation, with its full stop


def split_sentences(document: Sentence) -> Iterator[Sentence]:
    """The sentences of a document, which know where in it they begin; words stay whole.

    Args:
        document: a text of any length, and its words.

    Yields:
        Its sentences that have words, without the white space between them.
    """
    text, words = document.text, document.spans
    start = first = 0
    for end, stop in _ends(text):
        last = bisect_left(words, end, lo=first, key=itemgetter(0))
        cuts_a_word = last > first and words[last - 1][1] > end
        if end < len(text) and (cuts_a_word or _ABBREVIATION.search(text, max(start, stop - _LONGEST), stop)):
            continue
        if last > first:
            yield _part(document, start, end, first, last)
        start, first = end, last


def _ends(text: str) -> Iterator[tuple[int, int]]:
    """Where sentences may end, with and without what follows their full stop."""
    for match in _END.finditer(text):
        yield match.end(), match.end("stop")
    yield len(text), -1


def _part(document: Sentence, start: int, end: int, first: int, last: int) -> Sentence:
    piece = document.text[start:end]
    begins = start + len(piece) - len(piece.lstrip())
    spans = tuple((one - begins, other - begins) for one, other in document.spans[first:last])
    return Sentence(piece.strip(), document.words[first:last], spans, begins)
