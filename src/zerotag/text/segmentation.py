"""Raw text to words whose character offsets point back into the exact original string.

A segmenter is a function from a text to a `Sentence`. The name of the one that a model was trained with is stored in
the model's folder, and everything that labels with the model splits by it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import regex

from zerotag.registry import Registry
from zerotag.types import Sentence

Segmenter = Callable[[str], Sentence]
Text = str | Sequence[str] | Sentence

UNICODE = "unicode"
"""The segmenter by Unicode rules alone, of models that were saved before there was another."""

DEFAULT = "standard"
"""The segmenter of languages that are written with spaces."""

SEGMENTERS: Registry[Segmenter] = Registry(
    "segmenter",
    {
        DEFAULT: "zerotag.text.segmenters:split_standard",
        UNICODE: "zerotag.text.segmentation:split",
        "whitespace": "zerotag.text.segmentation:split_at_white_space",
        "characters": "zerotag.text.segmenters:split_characters",
        "jieba": "zerotag.text.segmenters:split_chinese",
        "fugashi": "zerotag.text.segmenters:split_japanese",
        "sudachi": "zerotag.text.segmenters:split_japanese_by_sudachi",
        "pythainlp": "zerotag.text.segmenters:split_thai",
        "spacy": "zerotag.text.segmenters:split_by_spacy",
    },
)

# Invisible characters (controls, and formats such as direction marks) make no words: like white space they lie
# between words, unless they cling to the character before them or stand between two letters.
_LETTER = r"[\p{L}\p{N}\p{M}\p{GCB=Prepend}]"
_CLINGING = r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]"  # accents, skin tones, joiners
_RUN = rf"{_LETTER} [{_LETTER}{_CLINGING}]*+"
_JOINT = r"(?: ['’‐‑-] | (?<=\p{Nd})[.,](?=\p{Nd}) | [\p{Cf}--\u200B]++ )"  # a zero-width space parts words

# Grapheme clusters are spelled out: the package's own \X takes quadratic time on a row of flags.
_FLAG = r"\p{RI}{2}"
_EMOJI = r"\p{ExtPict} (?: \p{GCB=Extend}*+ \p{GCB=ZWJ} \p{ExtPict} )*+"
_VISIBLE = r"[^\s\p{Cc}\p{Cf}]"

_WORD = regex.compile(
    rf"{_RUN} (?: {_JOINT} {_RUN} )*+  |  (?: {_FLAG} | {_EMOJI} | {_VISIBLE} ) {_CLINGING}*+",
    regex.VERBOSE | regex.VERSION1,
)

# The same for plain ASCII, of which most text is, by an engine that needs half the time.
_ASCII_WORD = re.compile(
    r"[A-Za-z0-9]+ (?: (?: ['-] | (?<=[0-9])[.,](?=[0-9]) ) [A-Za-z0-9]+ )*  |  [!-/:-@\[-`{-~]", re.VERBOSE
)


def split(text: str) -> Sentence:
    """Split raw text into words.

    A word is a run of letters, digits and marks, joined over inner apostrophes and hyphens and over a point or
    comma between digits. Every other visible character, with whatever clings to it, is a word of its own.
    """
    word = _ASCII_WORD if text.isascii() else _WORD
    return Sentence.from_spans(text, [match.span() for match in word.finditer(text)])


def split_at_white_space(text: str) -> Sentence:
    """Take what stands between white space for words: for text whose words and punctuation are parted already."""
    return Sentence.from_spans(text, [match.span() for match in re.finditer(r"\S+", text)])


def as_sentence(text: Text, segment: Segmenter = split) -> Sentence:
    """A string is split into words, a list of words is kept as it is."""
    if isinstance(text, Sentence):
        return text
    if isinstance(text, str):
        return segment(text)
    words = [*text] if isinstance(text, Iterable) else [None]
    if not all(isinstance(word, str) for word in words):
        raise TypeError(f"{text!r:.60} is no text: give a string, a list of words, or drop it if it is empty")
    return Sentence.from_words(words)
