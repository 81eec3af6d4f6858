from __future__ import annotations

import numpy as np
import pytest
import torch

import tiny
from masked_texts import MASK
from zerotag.errors import ZerotagError
from zerotag.explain.gradient import GradientScorer, IntegratedGradientsScorer
from zerotag.explain.occlusion import OcclusionScorer
from zerotag.labeller import WordLabeller
from zerotag.modeling.network import TensorBatch
from zerotag.types import FloatArray, Sentence

SHORT = Sentence.from_words(["the", "pump", "may", "stop", "at", "night", "."])
LONG = Sentence.from_words(SHORT.words * 7)  # several windows


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_every_family_takes_vectors_for_words(family: str) -> None:
    labeller = tiny.labeller(family)
    batch = tensors(labeller, [SHORT, LONG])
    encoder = labeller.network.encoder
    vectors = encoder.get_input_embeddings()(batch.input_ids)
    with torch.no_grad():
        by_ids = encoder(input_ids=batch.input_ids, attention_mask=batch.attention_mask).last_hidden_state
        by_vectors = encoder(inputs_embeds=vectors, attention_mask=batch.attention_mask).last_hidden_state
    real = batch.attention_mask.bool()
    torch.testing.assert_close(by_vectors[real], by_ids[real])


@pytest.mark.parametrize("tokens", [6, 40])
def test_gradient_times_input_is_how_the_logit_grows_with_a_sub_words_vector(tokens: int) -> None:
    labeller = tiny.labeller(labels=("hedge", "doubt"))
    # Single letters, which are one sub-word each: the score of the word is the sub-word's.
    sentence = Sentence.from_words(([*"apmvwr"] * 7)[:tokens])
    (scored,) = GradientScorer(labeller.network, labeller.aligner).score([sentence])
    batch = tensors(labeller, [sentence])
    assert np.abs(scored.word_scores).max() > 0.02
    seen_twice = 0
    for word in range(0, tokens, 5):
        places = places_of(labeller, tokens, word)
        seen_twice += len(places) == 2
        longer, shorter = (logits_when_scaled(labeller, batch, places, 1 + step) for step in (3e-3, -3e-3))
        np.testing.assert_allclose(scored.word_scores[word], (longer - shorter) / 6e-3, atol=2e-4)
    assert (seen_twice > 0) == (tokens > 30)  # windows overlap


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("sentence", [SHORT, LONG])
def test_integrated_gradients_add_up_to_what_the_words_change(family: str, sentence: Sentence) -> None:
    labeller = tiny.labeller(family, labels=("hedge", "doubt"))
    scorer = IntegratedGradientsScorer(labeller.network, labeller.aligner, MASK)
    batch = tensors(labeller, [sentence])
    special = (batch.input_ids <= 3) & (batch.input_ids != 1)
    masked = batch._replace(input_ids=batch.input_ids.masked_fill(~special, MASK))
    with torch.no_grad():
        change = labeller.network(batch).sentence_logits - labeller.network(masked).sentence_logits
    assert change.abs().max() > 0.01
    (encoded,) = labeller.aligner.encode([sentence])
    ((_, token_scores),) = scorer.attributions([encoded])
    np.testing.assert_allclose(token_scores.sum(axis=0), change[0], atol=2e-4)


def test_integrated_gradients_of_a_word_alone_are_what_masking_it_loses() -> None:
    labeller = tiny.labeller()
    sentence = Sentence.from_words(["pump"])
    (integrated,) = IntegratedGradientsScorer(labeller.network, labeller.aligner, MASK).score([sentence])
    (occluded,) = OcclusionScorer(labeller.network, labeller.aligner, MASK).score([sentence])
    probability = occluded.sentence_scores[0]
    lost = logit(probability) - logit(probability - float(occluded.word_scores[0, 0]))
    assert integrated.word_scores[0, 0] == pytest.approx(lost, abs=1e-4)


@pytest.mark.parametrize("family", ["modernbert", "deberta-v2"])
def test_encoders_that_ignore_the_length_of_vectors_are_refused(family: str) -> None:
    labeller = tiny.labeller(family)
    with pytest.raises(ZerotagError, match=f"says nothing on encoders of type '{family}'") as error:
        GradientScorer(labeller.network, labeller.aligner)
    assert "use integrated-gradients" in str(error.value)


def logits_when_scaled(
    labeller: WordLabeller, batch: TensorBatch, places: list[tuple[int, int]], scale: float
) -> FloatArray:
    network = labeller.network
    vectors = network.encoder.get_input_embeddings()(batch.input_ids).detach().clone()
    for window, position in places:
        vectors[window, position] *= scale
    with torch.no_grad():
        encoded = network.encoder(inputs_embeds=vectors, attention_mask=batch.attention_mask).last_hidden_state
        logits: FloatArray = network.read(encoded, batch).sentence_logits[0].numpy()
    return logits


def places_of(labeller: WordLabeller, length: int, token: int) -> list[tuple[int, int]]:
    """Window and position of each occurrence of a sentence's sub-word, after one special token."""
    starts = enumerate(labeller.aligner.windows(length))
    return [(w, 1 + token - start) for w, start in starts if start <= token < start + labeller.aligner.capacity]


def tensors(labeller: WordLabeller, sentences: list[Sentence]) -> TensorBatch:
    aligner = labeller.aligner
    return TensorBatch.of(aligner.batch(aligner.encode(sentences)), torch.device("cpu"))


def logit(probability: float) -> float:
    return float(np.log(probability / (1 - probability)))
