import tracemalloc
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

import tiny
from zerotag.text.alignment import Aligner, Encoded, best_windows, word_scores
from zerotag.text.segmentation import split
from zerotag.types import Sentence

KINDS = ("bert", "roberta", "deberta-v2")  # WordPiece, byte-level BPE, Unigram
PAD, UNKNOWN, CLS, SEP, MASK = range(5)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

texts = st.text(st.characters(codec=None) | st.sampled_from("a pump.\u0301\u200d😀é\x00\ud800[]"), max_size=40)


@cache
def trained(kind: str, window: int = 16) -> Aligner:
    return Aligner(tiny.tokenizer(kind).backend_tokenizer, window=window, pad_id=PAD)


def by_hand(kind: str) -> Tokenizer:
    """A tokenizer of which every sub-word is known."""
    if kind == "bert":
        vocabulary = [*SPECIAL, "the", "pump", "##s", "##pu", "##mp", "pu", ".", '."', "e", "[", "]", "sep", "/", "s"]
        tokenizer = Tokenizer(models.WordPiece({v: i for i, v in enumerate(vocabulary)}, unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    elif kind == "roberta":
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        vocabulary = [*SPECIAL, *alphabet, "pu", "mp", "pump", "Ġpump", '."']
        merges = [("p", "u"), ("m", "p"), ("pu", "mp"), ("Ġ", "pump"), (".", '"')]
        tokenizer = Tokenizer(models.BPE({v: i for i, v in enumerate(vocabulary)}, merges))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        pieces = [(name, 0.0) for name in SPECIAL] + [("▁", -3.0), ("▁the", -2.0), ("▁pu", -2.0), ("mp", -2.0)]
        tokenizer = Tokenizer(models.Unigram([*pieces, ("s", -4.0), ('."', -2.0), ("e", -4.0)], unk_id=UNKNOWN))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    return tokenizer


def aligned(kind: str, sentence: Sentence) -> list[tuple[str | None, list[int]]]:
    """The sub-words of a sentence, each with the words it covers."""
    tokenizer = by_hand(kind)
    (encoded,) = Aligner(tokenizer, window=64, pad_id=PAD).encode([sentence])
    pairs = list(zip(encoded.pair_tokens.tolist(), encoded.pair_words.tolist(), strict=True))
    return [(tokenizer.id_to_token(n), [w for t, w in pairs if t == i]) for i, n in enumerate(encoded.ids.tolist())]


def adjacent(*words: str) -> Sentence:
    """Words that no space parts."""
    ends = np.cumsum([len(word) for word in words]).tolist()
    return Sentence("".join(words), words, tuple((e - len(w), e) for w, e in zip(words, ends, strict=True)))


@pytest.mark.parametrize(
    ("kind", "sentence", "expected"),
    [
        ("bert", Sentence.from_words(["The", "pumps"]), [("the", [0]), ("pump", [1]), ("##s", [1])]),
        ("bert", adjacent("pu", "mp"), [("pump", [0, 1])]),
        ("bert", Sentence.from_words(["e\u0301", "😀"]), [("e", [0]), ("[UNK]", [1])]),
        ("bert", Sentence.from_words(["the", "\u0301", "pump"]), [("the", [0]), ("pump", [2])]),
        ("roberta", Sentence.from_words(["pump", "pump"]), [("pump", [0]), ("Ġpump", [1])]),
        ("roberta", adjacent("pump", ".", '"'), [("pump", [0]), ('."', [1, 2])]),
        ("roberta", Sentence.from_words(["s", "é"]), [("s", [0]), ("Ġ", []), ("Ã", [1]), ("©", [1])]),
        ("deberta-v2", Sentence.from_words(["the", "pumps"]), [("▁the", [0]), ("▁pu", [1]), ("mp", [1]), ("s", [1])]),
        ("deberta-v2", adjacent("the", "the", ".", '"'),
         [("▁the", [0]), ("[UNK]", [1]), ("e", [1]), ('."', [2, 3])]),
        ("deberta-v2", Sentence.from_words(["the", "😀"]), [("▁the", [0]), ("▁", []), ("[UNK]", [1])]),
    ],
)  # fmt: skip
def test_sub_words_cover_words(kind: str, sentence: Sentence, expected: list[tuple[str, list[int]]]) -> None:
    assert aligned(kind, sentence) == expected


@pytest.mark.parametrize("kind", KINDS)
@given(text=texts)
@settings(max_examples=60)
def test_a_sub_word_covers_the_words_it_overlaps(kind: str, text: str) -> None:
    sentence = split(text)
    (encoded,) = trained(kind).encode([sentence])
    tokenizer = tiny_tokenizer(kind)
    found = tokenizer.encode(text.encode(errors="replace").decode(), add_special_tokens=False)
    overlaps = [
        (t, w)
        for t, (begin, end) in enumerate(found.offsets)
        for w, (start, stop) in enumerate(sentence.spans)
        if start < end and begin < stop
    ]
    if overlaps:
        assert list(zip(encoded.pair_tokens, encoded.pair_words, strict=True)) == overlaps
    else:  # one placeholder stands for all words
        assert len(encoded) == 1
        assert encoded.pair_words.tolist() == list(range(len(sentence.words)))


@cache
def tiny_tokenizer(kind: str) -> Tokenizer:
    tokenizer = tiny.tokenizer(kind).backend_tokenizer
    tokenizer.encode_special_tokens = True
    return tokenizer


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", [[], [""], ["\x00", "\u200b"], ["\ud800"], ["", " ", "\u0301"]])
def test_every_sentence_has_a_sub_word(kind: str, words: list[str]) -> None:
    (encoded,) = trained(kind).encode([Sentence.from_words(words)])
    assert len(encoded) >= 1
    assert encoded.words == len(words)
    batch = trained(kind).batch([encoded])
    assert batch.token_mask.any() == bool(words)


@pytest.mark.parametrize("kind", KINDS)
def test_the_placeholder_is_no_special_token(kind: str) -> None:
    (encoded,) = trained(kind).encode([Sentence.from_words([""])])
    assert encoded.ids.tolist() == [PAD if kind == "roberta" else UNKNOWN]  # bytes are never unknown


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["[SEP]", "the[SEP]pump", "[CLS] [MASK] [PAD][PAD]", "</s> <mask> [SEP]"])
def test_a_text_that_spells_special_tokens_has_none(kind: str, text: str) -> None:
    (encoded,) = Aligner(by_hand(kind), window=64, pad_id=PAD).encode([split(text)])
    assert not {PAD, CLS, SEP, MASK} & set(encoded.ids.tolist())
    assert set(encoded.pair_words.tolist()) == set(range(encoded.words))


@pytest.mark.parametrize("kind", KINDS)
def test_settings_saved_in_a_tokenizer_cut_nothing_off(kind: str) -> None:
    sentence = Sentence.from_words(["pump"] * 50)
    plain, cutting = by_hand(kind), by_hand(kind)
    cutting.enable_truncation(8)
    cutting.enable_padding(length=128, pad_id=PAD)
    encoded = [Aligner(tokenizer, window=16, pad_id=PAD).encode([sentence])[0] for tokenizer in (plain, cutting)]
    assert encoded[0].ids.tolist() == encoded[1].ids.tolist()
    assert len(encoded[0]) >= 50
    assert cutting.truncation, "the caller's tokenizer is as it was"
    assert cutting.padding
    assert not cutting.encode_special_tokens


@given(st.integers(1, 400), st.integers(1, 60))
def test_windows_cover_the_sentence_and_overlap_by_a_quarter(length: int, capacity: int) -> None:
    aligner = _with_capacity(capacity)
    starts = aligner.windows(length)
    ends = [min(start + capacity, length) for start in starts]
    assert (starts[0], ends[-1]) == (0, length)
    assert all(later - start <= capacity - capacity // 4 for start, later in pairwise(starts))
    if length > capacity:
        assert {end - start for start, end in zip(starts, ends, strict=True)} == {capacity}
    else:
        assert starts == [0]


@given(st.integers(1, 400), st.integers(1, 60))
def test_each_sub_word_is_read_where_it_has_most_context(length: int, capacity: int) -> None:
    starts = _with_capacity(capacity).windows(length)
    chosen = best_windows(length, starts, capacity)
    assert chosen.shape == (length,)
    shared = capacity - capacity * 3 // 4
    for position, window in enumerate(chosen.tolist()):
        contexts = [_context(position, start, length, capacity) for start in starts]
        assert contexts[window] == max(contexts)
        assert contexts[window] >= shared // 2


def _context(position: int, start: int, length: int, capacity: int) -> float:
    """Sub-words to the nearer end at which the window cuts the sentence off; below 0 outside the window."""
    end = min(start + capacity, length)
    if not start <= position < end:
        return -1
    left = position - start if start else np.inf
    right = end - 1 - position if end < length else np.inf
    return min(left, right)


@cache
def _with_capacity(capacity: int) -> Aligner:
    return Aligner(by_hand("bert"), window=capacity + 2, pad_id=PAD)


def test_a_very_long_sentence_takes_memory_in_proportion() -> None:
    aligner = trained("bert", 512)
    tracemalloc.start()
    try:
        best_windows(1_000_000, aligner.windows(1_000_000), aligner.capacity)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100e6


def _encoded(aligner: Aligner, *counts: int) -> list[Encoded]:
    encoded = aligner.encode([Sentence.from_words(["pump"] * count) for count in counts])
    assert [len(e) for e in encoded] == list(counts)
    return encoded


def test_a_batch_of_short_sentences() -> None:
    aligner = Aligner(by_hand("bert"), window=16, pad_id=PAD)
    batch = aligner.batch(aligner.encode([Sentence.from_words(["the", "pumps"]), Sentence.from_words(["the"])]))
    assert batch.input_ids.tolist() == [[CLS, 5, 6, 7, SEP], [CLS, 5, SEP, PAD, PAD]]
    assert batch.attention_mask.tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]
    assert batch.token_mask.tolist() == [[False, True, True, True, False], [False, True, False, False, False]]
    assert batch.sentence_of_window.tolist() == [0, 1]
    assert batch.stitch is None


def test_the_border_between_one_window_and_two() -> None:
    aligner = Aligner(by_hand("bert"), window=16, pad_id=PAD)
    assert aligner.capacity == 14
    fits, above = _encoded(aligner, 14, 15)
    assert (aligner.cost(fits), aligner.cost(above)) == ((1, 16), (2, 16))
    assert aligner.batch([fits]).stitch is None
    batch = aligner.batch([above])
    assert batch.input_ids.shape == (2, 16)
    assert batch.stitch is not None
    assert sorted(batch.stitch[0].tolist()) == batch.stitch[0].tolist()
    assert len(set(batch.stitch[0].tolist())) == 15


@given(st.lists(st.integers(1, 90), min_size=1, max_size=4))
def test_a_batch_holds_each_sub_word_once(counts: list[int]) -> None:
    """What `stitch` and `token_mask` pick out of the encoder's output are the sentences, whole and in order."""
    aligner = _with_capacity(14)
    encoded = [
        Encoded(np.arange(100, 100 + count), np.arange(count), np.arange(count), count)
        for count in counts  # each sub-word has a number of its own
    ]
    batch = aligner.batch(encoded)
    assert batch.input_ids.shape[1] <= 16
    assert len(batch.input_ids) == sum(aligner.cost(e)[0] for e in encoded)
    picked = batch.input_ids if batch.stitch is None else batch.input_ids.reshape(-1)[batch.stitch]
    for row, mask, e in zip(picked, batch.token_mask, encoded, strict=True):
        assert row[mask].tolist() == e.ids.tolist()
    cut = aligner.tokens(batch, picked[..., None].astype(np.float32), encoded)
    assert [tokens[:, 0].tolist() for tokens in cut] == [e.ids.tolist() for e in encoded]


@given(st.data())
def test_a_words_score_is_the_highest_of_its_sub_words(data: st.DataObject) -> None:
    words, tokens, labels = (data.draw(st.integers(low, 6)) for low in (0, 1, 1))
    pair = st.tuples(st.integers(0, tokens - 1), st.integers(0, max(words - 1, 0)))
    pairs: list[tuple[int, int]] = sorted(data.draw(st.sets(pair, max_size=10))) if words else []
    scores = np.array(
        data.draw(st.lists(st.floats(0, 1, width=32), min_size=tokens * labels, max_size=tokens * labels)), np.float32
    ).reshape(tokens, labels)
    encoded = Encoded(
        np.zeros(tokens, np.int64),
        np.array([t for t, _ in pairs], np.int64),
        np.array([w for _, w in pairs], np.int64),
        words,
    )
    assert word_scores(encoded, scores).tolist() == _slow_word_scores(pairs, words, scores)


def _slow_word_scores(pairs: Sequence[tuple[int, int]], words: int, scores: np.ndarray) -> list[list[float]]:
    return [
        [max((float(scores[t, k]) for t, w in pairs if w == word), default=0.0) for k in range(scores.shape[1])]
        for word in range(words)
    ]
