import numpy as np
import pytest

import tiny
from zerotag.config import ModelConfig
from zerotag.evaluation.faithfulness import faithfulness
from zerotag.labeller import WordLabeller
from zerotag.types import Rule, Scored, Sentence

WORDS = ("the", "pump", "may", "fails", "at", "night", ".", "a", "valve", "stops")


def positive(labeller: WordLabeller) -> WordLabeller:
    """The same labeller, for which every sentence is positive."""
    return labeller.with_rules([Rule(sentence_threshold=0.0)] * len(labeller.label_names))


def probability(labeller: WordLabeller, words: tuple[str, ...]) -> float:
    (scored,) = labeller.score([Sentence.from_words(words)])
    return scored.sentence_scores[0]


def test_by_hand() -> None:
    """Ten words: 1, 5 and 10 percent are one word, 20 percent two and 50 percent five."""
    labeller = positive(tiny.labeller())
    mask = str(labeller.tokenizer.mask_token)
    scores = np.linspace(1, 0, 10, dtype=np.float32)[:, None]  # the first word is the most important
    scored = [Scored(Sentence.from_words(WORDS), (0.9,), scores)]

    def masked(hidden: range) -> float:
        encoded = labeller.aligner.encode([Sentence.from_words(WORDS)])[0]
        assert len(encoded) == len(WORDS)  # every word is one sub-word here
        ids = encoded.ids.copy()
        ids[list(hidden)] = labeller.tokenizer.convert_tokens_to_ids(mask)
        changed = type(encoded)(ids, encoded.pair_tokens, encoded.pair_words, encoded.words)
        from zerotag.inference.predictor import predict
        from zerotag.inference.torch_predictor import TorchPredictor

        return float(predict(TorchPredictor(labeller.network), labeller.aligner, [changed])[0].sentence_scores[0])

    full = probability(labeller, WORDS)
    sizes = (1, 1, 1, 2, 5)
    found = faithfulness(labeller, scored)
    assert found["comprehensiveness"] == pytest.approx(
        np.mean([full - masked(range(size)) for size in sizes]), abs=1e-6
    )
    assert found["sufficiency"] == pytest.approx(np.mean([full - masked(range(size, 10)) for size in sizes]), abs=1e-6)
    assert found["comprehensiveness"] != found["sufficiency"]


def test_only_sentences_that_the_model_calls_positive_count() -> None:
    """Whatever a method that knows nothing of sentences says of them."""
    labeller = tiny.labeller()
    one, other = sorted((WORDS, WORDS[:4]), key=lambda words: probability(labeller, words))
    between = (probability(labeller, one) + probability(labeller, other)) / 2
    labeller = labeller.with_rules([Rule(sentence_threshold=between)])
    no, yes = (Scored(Sentence.from_words(w), (0.5,), np.ones((len(w), 1), np.float32)) for w in (one, other))
    assert faithfulness(labeller, [yes, no]) == faithfulness(labeller, [yes])
    assert faithfulness(labeller, [no]) == {}


def test_labels_are_averaged() -> None:
    labeller = tiny.labeller(labels=("a", "b"), config=ModelConfig(encoder="tiny", depth=2, window=32))
    scores = np.random.default_rng(0).random((10, 2), dtype=np.float32)
    scored = [Scored(Sentence.from_words(WORDS), (0.9, 0.9), scores)]
    always, never = Rule(sentence_threshold=0.0), Rule(sentence_threshold=1.0)
    both, only_a, only_b = (
        faithfulness(labeller.with_rules(rules), scored)["comprehensiveness"]
        for rules in ((always, always), (always, never), (never, always))
    )
    assert both == pytest.approx((only_a + only_b) / 2)
    assert only_a != only_b
