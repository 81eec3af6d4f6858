from __future__ import annotations

from threading import active_count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors

import tiny
from masked_texts import MASK
from zerotag.explain import masking
from zerotag.explain.masking import Masker, Pieces, Versions
from zerotag.inference.predictor import predict
from zerotag.inference.torch_predictor import TorchPredictor
from zerotag.text.alignment import Aligner, Encoded
from zerotag.text.segmentation import split
from zerotag.types import BoolArray, Sentence


def with_tokenizer(family: str) -> tuple[Aligner, Tokenizer]:
    tokenizer = tiny.tokenizer(family).backend_tokenizer
    # As RoBERTa's tokenizer has it: the mask token swallows the space before it.
    tokenizer.add_special_tokens([AddedToken("[MASK]", lstrip=True, special=True)])
    return Aligner(tokenizer, window=32, pad_id=0), tokenizer


ALIGNERS = {family: with_tokenizer(family) for family in ("bert", "roberta")}
WORDS = st.lists(
    st.sampled_from(["pump", "Pumps", "may", ".", "unheard-of", "naïve", "don't", "…", "5%", "🙂"]),
    min_size=1,
    max_size=9,
)


@pytest.mark.parametrize("family", ALIGNERS)
@given(data=st.data())
def test_replacing_sub_words_is_tokenising_the_masked_text(family: str, data: st.DataObject) -> None:
    aligner, tokenizer = ALIGNERS[family]
    words = data.draw(WORDS)
    kept = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    text = " ".join(word if keep else "[MASK]" for word, keep in zip(words, kept, strict=True))
    version = one_version(aligner, Sentence.from_words(words), kept)
    assert version.ids.tolist() == tokenizer.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("text", ['The pump "may" fail... (perhaps).', "a \x00 b", "\x00", "\x00 \x00", ""])
def test_the_version_that_keeps_all_is_the_sentence(family: str, text: str) -> None:
    aligner = tiny.labeller(family).aligner
    sentence = Sentence.from_words(text.split(" ")) if "\x00" in text else split(text)
    (encoded,) = aligner.encode([sentence])
    version = one_version(aligner, sentence, [True] * len(sentence.words))
    assert version.words == encoded.words
    for field in ("ids", "pair_tokens", "pair_words"):
        assert getattr(version, field).tolist() == getattr(encoded, field).tolist()


def test_words_that_share_a_sub_word_are_masked_one_by_one() -> None:
    vocabulary = {"[CLS]": 0, "a": 1, ".": 2, '"': 3, "[MASK]": MASK, '."': 5, "Ġ": 6, "Ġa": 7, "Ġ.": 8, 'Ġ."': 9}
    tokenizer = Tokenizer(models.BPE(vocabulary, [(".", '"'), ("Ġ", "a"), ("Ġ", "."), ("Ġ", '."')]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", 0)])
    aligner = Aligner(tokenizer, window=32, pad_id=0)
    sentence = split('a." ." a')  # a, .", Ġ.", Ġa
    six = [0, 1, 2, 3, 4, 5]
    versions = {
        'a."."a': ([1, 5, 9, 7], [0, 1, 1, 2, 2, 3]),
        'a_"."a': ([1, MASK, 3, 9, 7], [0, 1, 2, 3, 3, 4]),
        'a._."a': ([1, 2, MASK, 9, 7], [0, 1, 2, 3, 3, 4]),
        'a__."a': ([1, MASK, MASK, 9, 7], [0, 1, 2, 3, 3, 4]),
        '_."_"a': ([MASK, 5, MASK, 3, 7], [0, 1, 1, 2, 3, 4]),
        'a."._a': ([1, 5, 8, MASK, 7], [0, 1, 1, 2, 3, 4]),
        "______": ([MASK] * 6, six),
    }
    kept = np.array([[letter != "_" for letter in version] for version in versions])
    found = list(Pieces(aligner, sentence, MASK).versions(kept))
    for version, (ids, pair_tokens) in zip(found, versions.values(), strict=True):
        assert version.ids.tolist() == ids
        assert version.pair_tokens.tolist() == pair_tokens
        assert version.pair_words.tolist() == six


def test_a_word_without_sub_words_is_masked_in_its_place() -> None:
    aligner = tiny.labeller().aligner
    the, pump = (encoded.ids.tolist() for encoded in aligner.encode([split("the"), split("pump")]))
    sentence = Sentence.from_words(["\x00", "the", "\x00", "pump", "\x00"])
    assert one_version(aligner, sentence, [True] * 5).ids.tolist() == [*the, *pump]
    assert one_version(aligner, sentence, [False, True] * 2 + [False]).ids.tolist() == [MASK, *the, MASK, *pump, MASK]
    assert one_version(aligner, sentence, [True, False] * 2 + [True]).ids.tolist() == [MASK, MASK]
    assert one_version(aligner, sentence, [False] * 5).ids.tolist() == [MASK] * 5


@pytest.mark.parametrize("overlapping", [False, True])
def test_packing_does_not_show(monkeypatch: pytest.MonkeyPatch, overlapping: bool) -> None:
    monkeypatch.setattr(masking, "has_time", lambda _: overlapping)
    labeller = tiny.labeller(labels=("hedge", "doubt"))
    random = np.random.default_rng(0)
    planned = []
    for words, _ in tiny.sentences(7):
        kept = random.random((random.integers(1, 30), len(words))) < 0.5
        planned.append(Versions(Sentence.from_words(words), kept, np.ones(len(kept), np.int64)))
    expected = []
    for versions in planned:
        encoded = [one_version(labeller.aligner, versions.sentence, row.tolist()) for row in versions.kept]
        expected.append(
            [p.sentence_scores for p in predict(TorchPredictor(labeller.network), labeller.aligner, encoded)]
        )
    for pack in (1, 100, 2**20):
        monkeypatch.setattr(masking, "pack_size", lambda _, size=pack: size)
        masker = Masker(labeller.network, labeller.aligner, MASK)
        results = list(masker.probabilities(iter(planned)))
        assert masker.passes == sum(len(versions.kept) for versions in planned)
        for (versions, probabilities), given_versions, its_expected in zip(results, planned, expected, strict=True):
            assert versions is given_versions
            np.testing.assert_allclose(probabilities, its_expected, atol=1e-6)


def test_whoever_stops_early_leaves_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "has_time", lambda _: True)
    monkeypatch.setattr(masking, "pack_size", lambda _: 1)
    labeller = tiny.labeller()
    versions = Versions(split("a pump"), np.ones((1, 2), np.bool_), np.ones(1, np.int64))
    before = active_count()
    results = Masker(labeller.network, labeller.aligner, MASK).probabilities([versions] * 9)
    next(results)
    assert active_count() > before
    results.close()
    assert active_count() == before


def one_version(aligner: Aligner, sentence: Sentence, kept: list[bool]) -> Encoded:
    rows: BoolArray = np.array([kept], np.bool_)
    (version,) = Pieces(aligner, sentence, MASK).versions(rows)
    return version
