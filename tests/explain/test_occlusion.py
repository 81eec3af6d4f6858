from __future__ import annotations

import numpy as np
import pytest

import tiny
from masked_texts import MASK, probabilities
from zerotag.explain.occlusion import OcclusionScorer
from zerotag.types import Sentence


@pytest.mark.parametrize("length", [1, 7, 40])
def test_a_score_is_the_probability_that_masking_the_word_loses(length: int) -> None:
    labeller = tiny.labeller(labels=("hedge", "doubt"))
    words = (["the", "pump", "may", "stop", "at", "night", "."] * 6)[:length]
    (scored,) = OcclusionScorer(labeller.network, labeller.aligner, MASK).score([Sentence.from_words(words)])

    masked = [" ".join([*words[:i], "[MASK]", *words[i + 1 :]]) for i in range(length)]
    untouched, *rest = probabilities(labeller, [" ".join(words), *masked])
    np.testing.assert_allclose(scored.word_scores, untouched - np.stack(rest), atol=1e-6)
    assert np.abs(scored.word_scores).max() > 0.001
