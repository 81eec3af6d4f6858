"""What every method owes its callers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice, product

import numpy as np
import pytest
import torch

import tiny
from masked_texts import MASK
from zerotag import explain as scorers
from zerotag.config import ModelConfig
from zerotag.errors import ZerotagError
from zerotag.explain import Scorer, masking
from zerotag.explain.adaptive_lime import AdaptiveLimeScorer
from zerotag.explain.gradient import IntegratedGradientsScorer
from zerotag.explain.lime import LimeScorer
from zerotag.labeller import WordLabeller
from zerotag.modeling.network import Network
from zerotag.research.bilstm import new_bilstm
from zerotag.text.segmentation import split
from zerotag.types import Sentence

METHODS = [
    "native",
    "random",
    "lime",
    "adaptive-lime",
    "heads:2.3",
    "gradient-x-input",
    "integrated-gradients",
    "occlusion",
]

SENTENCES = [
    *(Sentence.from_words(words) for words, _ in tiny.sentences(5)),
    split('The pump "may" fail... (perhaps).'),
    split("the pump may fail near the coast " * 12),  # several windows
    Sentence.from_words(["pump"]),
    Sentence.from_words(["pump", "\x00", "fails"]),  # a word without any sub-word
]


def scorer(method: str, labeller: WordLabeller) -> Scorer:
    # As created, but quicker.
    if method == "lime":
        return LimeScorer(labeller.network, labeller.aligner, MASK, samples=40)
    if method == "adaptive-lime":
        return AdaptiveLimeScorer(labeller.network, labeller.aligner, MASK, samples=400)
    if method == "integrated-gradients":
        return IntegratedGradientsScorer(labeller.network, labeller.aligner, MASK, steps=3)
    return scorers.create(method, labeller)


def has_method(family: str, method: str) -> bool:
    return method != "gradient-x-input" or family not in ("modernbert", "deberta-v2")


@pytest.mark.parametrize(("family", "method"), [pair for pair in product(tiny.FAMILIES, METHODS) if has_method(*pair)])
def test_scores_are_finite_ordered_and_the_same_alone_or_in_a_batch(family: str, method: str) -> None:
    labeller = tiny.labeller(family, labels=("hedge", "doubt", "fear"))
    method_scorer = scorer(method, labeller)
    together = list(method_scorer.score(SENTENCES))
    assert [scored.sentence for scored in together] == SENTENCES
    for scored in together:
        assert scored.word_scores.shape == (len(scored.sentence.words), 3)
        assert scored.word_scores.dtype == np.float32
        assert np.isfinite(scored.word_scores).all()
        (alone,) = method_scorer.score([scored.sentence])
        np.testing.assert_allclose(alone.word_scores, scored.word_scores, atol=2e-6)
        np.testing.assert_allclose(alone.sentence_scores, scored.sentence_scores, atol=2e-6)


@pytest.mark.parametrize("method", METHODS)
def test_sentence_scores_are_those_of_the_network(method: str) -> None:
    labeller = tiny.labeller(labels=("hedge", "doubt"))
    for scored, native in zip(scorer(method, labeller).score(SENTENCES), labeller.score(SENTENCES), strict=True):
        expected = (0.5, 0.5) if method == "random" else native.sentence_scores
        assert scored.sentence_scores == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("method", [method for method in METHODS if method != "native"])
def test_a_plain_sentence_classifier_is_enough(method: str) -> None:
    labeller = tiny.labeller(config=ModelConfig(encoder="tiny", head="cls", depth=2, window=32))
    for scored, sentence in zip(scorer(method, labeller).score(SENTENCES), SENTENCES, strict=True):
        assert scored.word_scores.shape == (len(sentence.words), 1)
        assert np.isfinite(scored.word_scores).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("training", [True, False])
def test_the_network_is_left_as_it_was(method: str, training: bool) -> None:
    labeller = tiny.labeller()
    network = labeller.network.train(training)
    weights = {name: weight.clone() for name, weight in network.state_dict().items()}
    attention = network.encoder.config._attn_implementation
    results = scorer(method, labeller).score(SENTENCES)
    next(results)  # and the rest is never asked for
    assert network.training is training
    assert network.encoder.config._attn_implementation == attention
    assert all(parameter.requires_grad and parameter.grad is None for parameter in network.parameters())
    assert all(torch.equal(weights[name], weight) for name, weight in network.state_dict().items())


@pytest.mark.parametrize("method", METHODS)
def test_a_network_that_is_being_trained_scores_without_dropout(method: str) -> None:
    labeller = tiny.labeller()
    evaluated = list(scorer(method, labeller).score(SENTENCES))
    labeller.network.train()
    for scored, expected in zip(scorer(method, labeller).score(SENTENCES), evaluated, strict=True):
        np.testing.assert_allclose(scored.word_scores, expected.word_scores, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_input_is_read_as_results_are_asked_for(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "pack_size", lambda _: 2000)
    made = 0

    def endless() -> Iterator[Sentence]:
        nonlocal made
        for made in count(1):
            yield Sentence.from_words(["pump", f"{made}"])

    results = scorer(method, tiny.labeller()).score(endless())
    assert [scored.sentence.words[1] for scored in islice(results, 3)] == ["1", "2", "3"]
    assert made <= 1100


@pytest.mark.parametrize(
    ("method", "passes"),
    [
        ("native", 2 + 1),
        ("random", 0),
        ("heads:1.1", 2 + 1),
        ("gradient-x-input", 2 + 1),
        ("integrated-gradients", (2 + 1) * 33),
        ("occlusion", 2 + 2 * 40 + 1 + 2),  # masks are as long as these words, so every version has two windows
    ],
)
def test_forward_passes_are_counted(method: str, passes: int) -> None:
    two_windows, one_window = Sentence.from_words(["pump"] * 40), Sentence.from_words(["the", "pump"])
    method_scorer = scorers.create(method, tiny.labeller())
    list(method_scorer.score([two_windows, one_window]))
    assert method_scorer.passes == passes


def test_every_name_makes_a_scorer_of_that_name() -> None:
    labeller = tiny.labeller()
    names = ["heads:1.2" if name == "heads" else name for name in scorers.SCORERS.names()]
    assert [scorers.create(name, labeller).name for name in names] == names


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("magic", "unknown method 'magic'; there are: native, occlusion, gradient-x-input, "),
        ("lime:3", "unknown method 'lime:3'"),
        ("", "unknown method ''"),
        ("heads", "method 'heads' does not say which head; write heads:LAYER.HEAD, as in heads:6.3"),
        ("heads:6", "method 'heads:6' does not say which head"),
        ("heads:0.1", r"there is no head 0\.1; this model has 1\.1 to 2\.4"),
        ("heads:2.5", r"there is no head 2\.5"),
        ("heads:3.1", r"there is no head 3\.1"),
    ],
)
def test_a_bad_name_is_explained_in_one_line(method: str, message: str) -> None:
    with pytest.raises(ZerotagError, match=message) as error:
        scorers.create(method, tiny.labeller())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("method", ["lime", "adaptive-lime", "occlusion", "integrated-gradients"])
def test_masking_needs_a_mask_token(method: str) -> None:
    labeller = tiny.labeller()
    labeller.tokenizer.mask_token = None
    with pytest.raises(ZerotagError, match=f"method '{method}' hides words behind a mask token"):
        scorers.create(method, labeller)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("lime", "this model's tokenizer has none"),
        ("adaptive-lime", "this model's tokenizer has none"),
        ("occlusion", "this model's tokenizer has none"),
        ("integrated-gradients", "this model's tokenizer has none"),
        ("gradient-x-input", "do not take word vectors"),
        ("heads:1.1", "have no attention heads"),
    ],
)
def test_a_bilstm_has_no_use_for_what_transformers_have(method: str, message: str) -> None:
    encoder, tokenizer = new_bilstm(SENTENCES, None)
    config = ModelConfig(encoder="bilstm")
    manifest = replace(tiny.labeller().manifest, model=config)
    labeller = WordLabeller(Network(encoder, 1, config), tokenizer, manifest)
    with pytest.raises(ZerotagError, match=message):
        scorers.create(method, labeller)


def test_naming_the_methods_does_not_load_torch() -> None:
    code = "import sys, zerotag.explain; assert zerotag.explain.SCORERS.names(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
