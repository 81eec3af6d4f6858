from __future__ import annotations

import numpy as np
import pytest
import torch

import tiny
from zerotag.errors import ZerotagError
from zerotag.evaluation.tuning import best_head_from_word_labels
from zerotag.explain import heads
from zerotag.explain.heads import Head, HeadScorer, all_head_scores
from zerotag.labeller import WordLabeller
from zerotag.types import FloatArray, GoldExample, Sentence

SENTENCES = [Sentence.from_words(words) for words, _ in tiny.sentences(12)]


@pytest.fixture(autouse=True)
def sharp_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    """An untrained encoder attends to all alike: make a difference."""
    make = tiny.labeller

    def sharpened(family: str = "bert", *, labels: tuple[str, ...] = ("hedge",)) -> WordLabeller:
        labeller = make(family, labels=labels)
        for name, weight in labeller.network.encoder.named_parameters():
            if weight.dim() == 2 and ".layer" in name:
                weight.data *= 10
        return labeller

    monkeypatch.setattr(tiny, "labeller", sharpened)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_a_word_has_the_mean_attention_that_its_sub_words_receive(family: str) -> None:
    labeller = tiny.labeller(family)
    short = [Sentence.from_words(sentence.words[:3]) for sentence in SENTENCES]
    for found in all_head_scores(labeller.network, labeller.aligner, [*short, SENTENCES[0]]):
        (encoded,) = labeller.aligner.encode([found.sentence])
        if len(encoded) > labeller.aligner.capacity:
            continue
        ids = [2, *encoded.ids, 3]
        attentions = attention(labeller, ids)
        assert found.word_scores.shape == (len(found.sentence.words), 2, 4)
        for layer in range(2):
            for head in range(4):
                received = attentions[layer][head].mean(axis=0)  # over queries, special tokens included
                for word in range(len(found.sentence.words)):
                    its_tokens = [t for t, w in zip(encoded.pair_tokens, encoded.pair_words, strict=True) if w == word]
                    expected = max(received[1 + token] for token in its_tokens)
                    assert found.word_scores[word, layer, head] == pytest.approx(expected, abs=1e-6)


def test_a_long_sentence_is_read_from_the_windows_that_show_most_of_each_word() -> None:
    labeller = tiny.labeller()
    words = [*"apmvwr"] * 8  # single letters: 48 words of one sub-word each, 30 to a window
    (found,) = all_head_scores(labeller.network, labeller.aligner, [Sentence.from_words(words)])
    (encoded,) = labeller.aligner.encode([Sentence.from_words(words)])
    assert labeller.aligner.windows(48) == [0, 18]
    first, second = (attention(labeller, [2, *encoded.ids[start : start + 30], 3]) for start in (0, 18))
    for layer in range(2):
        expected = [first[layer][3].mean(axis=0)[1 + token] for token in range(24)]
        expected += [second[layer][3].mean(axis=0)[1 + token - 18] for token in range(24, 48)]
        np.testing.assert_allclose(found.word_scores[:, layer, 3], expected, atol=1e-6)


def test_looking_at_few_windows_at_a_time_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    labeller = tiny.labeller()
    expected = list(all_head_scores(labeller.network, labeller.aligner, SENTENCES))
    monkeypatch.setattr(heads, "ATTENTION_BUDGET", 3000)
    for found, whole in zip(all_head_scores(labeller.network, labeller.aligner, SENTENCES), expected, strict=True):
        np.testing.assert_allclose(found.word_scores, whole.word_scores, atol=1e-6)
        assert found.sentence_scores == pytest.approx(whole.sentence_scores, abs=1e-6)


def test_one_head_is_a_column_of_them_all_for_every_label() -> None:
    labeller = tiny.labeller(labels=("hedge", "doubt"))
    scorer = HeadScorer(labeller.network, labeller.aligner, Head(2, 3))
    every = all_head_scores(labeller.network, labeller.aligner, SENTENCES)
    for scored, all_scores in zip(scorer.score(SENTENCES), every, strict=True):
        for label in range(2):
            np.testing.assert_array_equal(scored.word_scores[:, label], all_scores.word_scores[:, 1, 2])


def test_the_best_head_is_the_one_that_ranks_gold_words_first() -> None:
    labeller = tiny.labeller(labels=("hedge", "doubt"))
    examples = [
        GoldExample(SENTENCES[0], (False, False), None),
        GoldExample(SENTENCES[0], (False, False), ((False, False),) * len(SENTENCES[0].words)),
    ]
    for found in all_head_scores(labeller.network, labeller.aligner, SENTENCES):
        top = int(found.word_scores[:, 0, 2].argmax())
        flags = tuple((False, word == top) for word in range(len(found.sentence.words)))
        examples.append(GoldExample(found.sentence, (False, True), flags))
    assert best_head_from_word_labels(labeller, examples) == Head(1, 3)


def test_choosing_a_head_needs_positive_words() -> None:
    examples = [GoldExample(SENTENCES[0], (True,), None)]
    with pytest.raises(ZerotagError, match="there is no positive word"):
        best_head_from_word_labels(tiny.labeller(), examples)


def attention(labeller: WordLabeller, ids: list[int]) -> list[FloatArray]:
    """For each layer, (heads, queries, keys) of one unpadded sequence."""
    encoder = labeller.network.encoder
    encoder.set_attn_implementation("eager")
    with torch.no_grad():
        output = encoder(input_ids=torch.tensor([ids]), output_attentions=True)
    return [layer[0].numpy() for layer in output.attentions]
