"""The Penn-Treebank-like tokenisation that the CoNLL-2010 files of the paper were made with.

It is written from what those files show, and does what they show to the last detail and no more: it is of no use for
other text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# A text is first cut where a sentence seems to end: after . ? ! in front of a space or of one of these signs.
_AFTER_END = r"""[?!)";}\]*:@'({\[]"""
# The full stop of an abbreviation, an initial or a number in a list is no end. Which ones, and in front of which words,
# was up to a trained splitter: these lists have what it decided on these texts.
_NO_END = rf"""
    (?<![\w.])
    (?: (?i:dr | inc | st | vs | a\.a | h\.c | [c-ik-z]) \.
      | (?i:[abj]) \. (?=\s+ (?! B\. | Exact | Relaxed) [^\W\d])
      | [0-9]+ \. (?=\s+[a-z])
    )
    # It is an end after all where the next word has one inside, such as the second of `D. hydei.)`.
    (?! \s+ \w{{2,}} [.?!] {_AFTER_END})
"""
_END = rf"""(?P<end> [.?!] (?=\s+\S | {_AFTER_END}) (?:["')\]}}]+ (?=\s | \Z))? )"""
_NO_END_OR_END = re.compile(f"{_NO_END} | {_END}", re.VERBOSE)

# Signs that are tokens of their own. A full stop is one at the very end only, a comma or colon not before a digit.
_SIGN = r"""
    "  |  ''  |  \.\.\.  |  --  |  [()\[\]{}<>;@\#$%&?!]
    |  (?<![,:]) [,:] (?![0-9])
    |  \. (?=[\])}>"']* \s* \Z)
"""
_CLITIC = rf"(?: 's? | n't ) (?=\s | \Z | {_SIGN})"
_SPLIT = rf"(?: {_SIGN} | {_CLITIC} | (?<!\w) can (?=not(?!\w)) )"
_TOKEN = re.compile(rf"{_SPLIT} | (?: (?!{_SPLIT}) \S )+", re.VERBOSE)
_OPENING_QUOTE = re.compile(r"""(?<![^\s(\[{<])" """, re.VERBOSE)


def tokenize(text: str) -> Iterator[str]:
    """Yield the tokens of a text; straight double quotes become `` or ''."""
    for piece in _pieces(text):
        for token in _TOKEN.finditer(piece):
            if token[0] == '"':
                yield "``" if _OPENING_QUOTE.match(piece, token.start()) else "''"
            else:
                yield token[0]


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for match in _NO_END_OR_END.finditer(text):
        if match["end"]:
            yield text[start : match.end()]
            start = match.end()
    yield text[start:]
