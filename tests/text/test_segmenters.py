# ruff: noqa: E501 (a text and its words in one line)
"""Segmenters beside the one by Unicode rules."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiny
import zerotag
from zerotag.errors import ZerotagError
from zerotag.io.model_folder import read_manifest
from zerotag.labeller import load
from zerotag.text.segmentation import DEFAULT, SEGMENTERS, split
from zerotag.text.segmenters import split_characters, split_standard

PACKAGES = {"jieba": "jieba", "fugashi": "fugashi", "sudachi": "sudachipy", "pythainlp": "pythainlp", "spacy": "spacy"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What a sh*t, f**king f***!", ["What", "a", "sh*t", ",", "f**king", "f***", "!"]),
        ("a$$hole $5 2*3 *bold* a * b", ["a$$hole", "$", "5", "2", "*", "3", "*", "bold", "*", "a", "*", "b"]),
        ("see https://a.org/b?c=1&d=(e), www.x.de!", ["see", "https://a.org/b?c=1&d=(e", ")", ",", "www.x.de", "!"]),
        ("<http://a.org> or ann.b+c@mail.example.org.", ["<", "http://a.org", ">", "or", "ann.b+c@mail.example.org", "."]),
        ("&T;", ["&", "T", ";"]),
        ("@ann_1 and @Jörg: #tag #größe #1 a#b C#", ["@ann_1", "and", "@Jörg", ":", "#tag", "#größe", "#", "1", "a", "#", "b", "C", "#"]),
        ("Tom &amp; Ann &#8217;s &#x1F600; & co", ["Tom", "&amp;", "Ann", "&#8217;", "s", "&#x1F600;", "&", "co"]),
        ("it's state-of-the-art, 3.14", ["it's", "state-of-the-art", ",", "3.14"]),
        ("", []),
    ],
)  # fmt: skip
def test_what_stays_whole(text: str, words: list[str]) -> None:
    sentence = split_standard(text)
    assert list(sentence.words) == words
    assert [text[start:end] for start, end in sentence.spans] == words


PIECES = [*"ab1 .,'@#&*$;:/-", "http://", "www.", "é", "\U0001f600", "\u200d", "語"]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_every_word_of_unicode_rules_is_in_one_word(text: str) -> None:
    standard, plain = split_standard(text), split(text)
    assert list(standard.spans) == sorted(standard.spans)
    assert all(end <= start for (_, end), (start, _) in zip(standard.spans, standard.spans[1:], strict=False))
    for start, end in plain.spans:
        inside = [span for span in standard.spans if span[0] <= start and end <= span[1]]
        assert len(inside) == 1 or any(first < end and start < last for first, last in standard.spans)


@given(st.text().filter(lambda text: not set(text) & set("@#&*$:") and "www" not in text))
def test_other_texts_are_split_by_unicode_rules_alone(text: str) -> None:
    assert split_standard(text) == split(text)


@pytest.mark.parametrize("piece", ["@", "#", "&", "*a", "a*", "a$", "http://", "www.", "a@b.", "#_", "&#"])
def test_time_is_linear(piece: str) -> None:
    start = time.perf_counter()
    split_standard(piece * (100_000 // len(piece)))
    assert time.perf_counter() - start < 5


def test_characters() -> None:
    text = "我来 e\u0301\U0001f44d\U0001f3fd\u200b!"
    assert list(split_characters(text).words) == ["我", "来", "e\u0301", "\U0001f44d\U0001f3fd", "!"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("jieba", "我来到北京 清华大学。", ["我", "来到", "北京", "清华大学", "。"]),
        ("fugashi", "東京に 住んでいる\U0001f600。", ["東京", "に", "住ん", "で", "いる", "\U0001f600", "。"]),
        ("sudachi", "東京に 住んでいる\U0001f600。", ["東京", "に", "住ん", "で", "いる", "\U0001f600", "。"]),
        ("pythainlp", "ผมรักประเทศไทย 123", ["ผม", "รัก", "ประเทศ", "ไทย", "123"]),
        ("spacy", "It isn't, \U0001f600!", ["It", "is", "n't", ",", "\U0001f600", "!"]),
    ],
)
def test_words_of_other_packages(name: str, text: str, words: list[str]) -> None:
    pytest.importorskip(PACKAGES[name])
    sentence = SEGMENTERS.get(name)(text)
    assert sentence.text == text
    assert [text[start:end] for start, end in sentence.spans] == list(sentence.words)
    if name == "spacy":  # languages in general know no English contractions
        words = ["It", "isn't", *words[3:]]
    assert list(sentence.words) == words
    assert SEGMENTERS.get(name)(" \n").words == ()


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pythainlp", None)
    cure = r"^this segmenter needs pythainlp: pip install 'zerotag\[thai\]'$"  # said once, not of each row
    with pytest.raises(ZerotagError, match=cure):
        zerotag.train(["a", "b"], [0, 1], segmenter="pythainlp")
    with pytest.raises(ZerotagError, match=cure):
        SEGMENTERS.get("pythainlp")("a")


def test_models_of_before_keep_their_rules(tmp_path: Path) -> None:
    labeller = tiny.labeller()
    assert labeller.manifest.model.segmenter == DEFAULT
    labeller.save_pretrained(tmp_path / "new")
    assert [word.text for word in load(tmp_path / "new").label("@ann").words] == ["@ann"]
    manifest = tmp_path / "new" / "zerotag.json"
    document = json.loads(manifest.read_text())
    del document["model"]["segmenter"], document["seal"]
    manifest.write_text(json.dumps({**document, "format": 2}))
    assert read_manifest(tmp_path / "new").model.segmenter == "unicode"
    assert [word.text for word in load(tmp_path / "new").label("@ann").words] == ["@", "ann"]
