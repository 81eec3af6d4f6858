"""Segmenters beside the one by Unicode rules: web text, characters, and languages that are written without spaces.

Those that need a package import it when they are first used.
"""

from __future__ import annotations

import logging
import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import regex

from zerotag.errors import ZerotagError
from zerotag.extras import needed
from zerotag.text.segmentation import split
from zerotag.types import Sentence

# What stays whole on the web: addresses, handles, tags, character references, and words that somebody masked.
_WHOLE = regex.compile(
    r"""
    (?: https?:// | www\. ) [^\s<>"]* [^\s<>"'’.,;:!?)\]}…]
  | (?<! [\w.+-] ) [\w.+-]++ @ [\w-]++ (?: \. [\w-]++ )++
  | (?<! [\w@] ) @ \w++
  | (?<! [\w&#] ) \# \w*? \p{L} \w*+
  | & (?: [A-Za-z][A-Za-z0-9]{1,31} | \#[0-9]{1,7} | \#[xX][0-9A-Fa-f]{1,6} ) ;
  | (?<! [\w*$] ) \p{L}++ (?: [*$]++ \p{L}++ )++ (?! [\w*$] )
  | (?<! [\w*] ) \p{L} \*{2,}+ (?! [\w*] )
    """,
    regex.VERBOSE | regex.VERSION1,
)
MAY_BE_WHOLE = re.compile(r"[@#&*$]|://|www\.")
"""What a text has in which something may stay whole."""

_THIS = "this segmenter"
_CLUSTER = regex.compile(r"\X")


def split_standard(text: str) -> Sentence:
    """Split text by Unicode rules, but leave URLs, e-mail addresses, @handles, #tags, `&amp;` and `sh*t` whole."""
    plain = split(text)
    if MAY_BE_WHOLE.search(text) is None:
        return plain
    spans: list[tuple[int, int]] = []
    others = deque(plain.spans)
    for match in _WHOLE.finditer(text):
        start, end = match.span()
        while others and others[0][1] <= start:
            spans.append(others.popleft())
        while others and others[0][0] < end:
            others.popleft()
        spans.append((start, end))
    return Sentence.from_spans(text, [*spans, *others])


def split_characters(text: str) -> Sentence:
    """Take every character that can be seen, with what clings to it, for a word."""
    spans = [match.span() for match in _CLUSTER.finditer(text)]
    return Sentence.from_spans(text, [span for span in spans if split(text[slice(*span)]).words])


def split_chinese(text: str) -> Sentence:
    """Chinese words as jieba finds them."""
    return _visible(text, ((start, end) for _, start, end in _jieba().tokenize(text)))


def split_japanese(text: str) -> Sentence:
    """Japanese words as MeCab finds them, by fugashi."""
    return _found(text, (word.surface for word in _fugashi()(text)))


def split_japanese_by_sudachi(text: str) -> Sentence:
    """Japanese words as Sudachi finds them."""
    return _visible(text, ((word.begin(), word.end()) for word in _sudachi().tokenize(text)))


def split_thai(text: str) -> Sentence:
    """Thai words as PyThaiNLP finds them."""
    return _found(text, needed(_THIS, "thai", "pythainlp").word_tokenize(text, keep_whitespace=False))


def split_by_spacy(text: str) -> Sentence:
    """The tokens of spaCy's blank pipeline for many languages."""
    return _visible(text, ((token.idx, token.idx + len(token.text)) for token in _spacy()(text)))


def _visible(text: str, spans: Iterable[tuple[int, int]]) -> Sentence:
    """The words that can be seen: white space and invisible characters between words are none."""
    return Sentence.from_spans(text, [span for span in spans if split(text[slice(*span)]).words])


def _found(text: str, words: Iterable[str]) -> Sentence:
    """Words that are known by what they are, where they are in the text."""

    def spans() -> Iterator[tuple[int, int]]:
        end = 0
        for word in words:
            start = text.find(word, end)
            if start >= 0:
                end = start + len(word)
                yield start, end

    return _visible(text, spans())


@cache
def _jieba() -> Any:
    jieba = needed(_THIS, "chinese", "jieba")
    jieba.setLogLevel(logging.WARNING)  # it would tell of its dictionary
    return jieba


@cache
def _fugashi() -> Any:
    return needed(_THIS, "japanese", "fugashi").Tagger()


@cache
def _sudachi() -> Any:
    package = needed(_THIS, "sudachi", "sudachipy")
    for size in ("core", "small", "full"):
        try:
            dictionary = package.Dictionary(dict=size)
        except ModuleNotFoundError:
            continue
        return dictionary.tokenizer() if hasattr(dictionary, "tokenizer") else dictionary.create()
    raise ZerotagError("Sudachi has no dictionary: pip install 'zerotag[sudachi]'")


@cache
def _spacy() -> Any:
    return needed(_THIS, "spacy", "spacy").blank("xx").make_doc
