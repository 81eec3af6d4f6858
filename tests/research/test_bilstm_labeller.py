"""The BiLSTM as a word labeller, from training to prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from zerotag.explain.native import NativeScorer
from zerotag.inference.torch_predictor import TorchPredictor
from zerotag.labeller import WordLabeller
from zerotag.modeling.encoders import aligner_for
from zerotag.modeling.network import Network
from zerotag.presets import PRESETS
from zerotag.research.bilstm import new_bilstm
from zerotag.research.vocabulary import PADDING, UNKNOWN
from zerotag.training.recipe import Progress, train
from zerotag.types import Corpus, Example, Sentence

CPU = torch.device("cpu")
CUE = "maybe"
FILLERS = ("pump", "valve", "motor", "engine", "signal", "leaks", "runs", "holds", "moves", "near", "under", "over")
KNOWN = [Sentence.from_words(words.split()) for words in ("The pump may leak .", "the Pump ran 42 m")]


def toy_words(count: int, seed: int) -> list[list[str]]:
    """Six words at random; in every second sentence one of them is the cue."""
    random = np.random.default_rng(seed)
    sentences = [[FILLERS[i] for i in random.integers(0, len(FILLERS), 6)] for _ in range(count)]
    for words in sentences[1::2]:
        words[random.integers(0, 6)] = CUE
    return sentences


def toy_corpus(count: int, seed: int) -> Corpus[Example]:
    examples = (Example(Sentence.from_words(words), (CUE in words,)) for words in toy_words(count, seed))
    return Corpus(("hedge",), tuple(examples))


def trained(
    epochs: int, checkpoints: Path | None = None, on_progress: Callable[[Progress], None] = lambda _: None
) -> WordLabeller:
    model, training = PRESETS["bilstm"]
    return train(
        toy_corpus(40, seed=0),
        toy_corpus(20, seed=1),
        model=model,
        training=replace(training, epochs=epochs, batch_size=8, patience=epochs),
        checkpoints=checkpoints,
        device=CPU,
        on_progress=on_progress,
    )


@pytest.fixture(scope="module")
def labeller() -> WordLabeller:
    return trained(epochs=15)


def untrained() -> NativeScorer:
    model, _ = PRESETS["bilstm"]
    torch.manual_seed(0)
    encoder, tokenizer = new_bilstm(KNOWN, None)
    model = replace(model, window=16)
    return NativeScorer(TorchPredictor(Network(encoder, 1, model).eval()), aligner_for(model, tokenizer))


def word_scores(labeller: WordLabeller, sentences: list[list[str]]) -> list[NDArray[np.float32]]:
    return [scored.word_scores for scored in labeller.score(map(Sentence.from_words, sentences))]


def test_the_published_settings_find_the_cue_in_new_sentences(labeller: WordLabeller) -> None:
    held_out = toy_words(30, seed=2)[1::2]
    for words, scores in zip(held_out, word_scores(labeller, held_out), strict=True):
        assert words[int(scores[:, 0].argmax())] == CUE  # the only positive word first: average precision 1
    labelled = labeller.label([held_out[0], toy_words(2, seed=3)[0]])
    assert [result.label for result in labelled] == ["hedge", None]


def test_scores_are_the_same_alone_or_in_a_batch_and_long_sentences_are_scored_whole() -> None:
    random = np.random.default_rng(0)
    sentences = [[FILLERS[i] for i in random.integers(0, len(FILLERS), length)] for length in (1, 5, 40, 15, 16, 17)]
    scorer = untrained()  # windows of 16 words
    together = list(scorer.score(map(Sentence.from_words, sentences)))
    for words, scored in zip(sentences, together, strict=True):
        (alone,) = scorer.score([Sentence.from_words(words)])
        assert scored.word_scores.shape == (len(words), 1)
        np.testing.assert_allclose(scored.word_scores, alone.word_scores, atol=1e-6)
        np.testing.assert_allclose(scored.sentence_scores, alone.sentence_scores, atol=1e-6)


def test_saved_and_loaded_it_gives_identical_scores(labeller: WordLabeller, tmp_path: Path) -> None:
    labeller.save_pretrained(tmp_path / "model")
    again = WordLabeller.from_pretrained(tmp_path / "model", device=CPU)
    sentences = [*toy_words(6, seed=4), ["Maybe", "Überraschung", "🙂", "x1"]]
    for before, after in zip(word_scores(labeller, sentences), word_scores(again, sentences), strict=True):
        np.testing.assert_array_equal(before, after)
    assert again.manifest == labeller.manifest
    assert not list(tmp_path.rglob("*.bin"))


def test_unknown_words_are_told_apart_by_their_characters(labeller: WordLabeller) -> None:
    (scored,) = word_scores(labeller, [["leaksx", "zzzz", "漢字", "ß", CUE.upper()]])
    assert np.isfinite(scored).all()
    assert len(np.unique(scored)) == 5


def test_the_vocabulary_is_of_the_training_sentences_alone() -> None:
    model, training = PRESETS["bilstm"]
    dev = Corpus(("hedge",), tuple(Example(Sentence.from_words([word]), (word == "yes",)) for word in ("yes", "no")))
    made = train(
        toy_corpus(10, seed=0), dev, model=model, training=replace(training, epochs=1, batch_size=10), device=CPU
    )
    vocabulary = made.tokenizer.get_vocab()
    assert set(vocabulary) == {PADDING, UNKNOWN, *(word for words in toy_words(10, seed=0) for word in words)}


def test_a_stopped_training_ends_with_the_same_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerotag.training.loop.REPORT_SECONDS", 0.0)  # after each step

    class StoppedError(Exception):
        pass

    def stop_in_the_second_epoch(progress: Progress) -> None:
        if progress.steps_done == 8:
            raise StoppedError

    with pytest.raises(StoppedError):
        trained(3, tmp_path, stop_in_the_second_epoch)
    steps: list[int] = []
    resumed = trained(3, tmp_path, lambda progress: steps.append(progress.steps_done))
    undisturbed = trained(3)
    assert steps[0] == 9
    for name, tensor in undisturbed.network.state_dict().items():
        assert torch.equal(resumed.network.state_dict()[name], tensor), name


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_on_a_gpu_it_is_trained_the_same_twice_and_scores_as_on_a_cpu(tmp_path: Path) -> None:
    """Warnings are errors here, those of operations that vary from run to run included."""
    model, training = PRESETS["bilstm"]
    first, second = (
        train(toy_corpus(40, seed=0), model=model, training=replace(training, epochs=2, batch_size=8)) for _ in "ab"
    )
    for name, tensor in first.network.state_dict().items():
        assert torch.equal(second.network.state_dict()[name], tensor), name
    first.save_pretrained(tmp_path / "model")
    sentences = toy_words(6, seed=4)
    on_cpu = word_scores(WordLabeller.from_pretrained(tmp_path / "model", device=CPU), sentences)
    for gpu, cpu in zip(word_scores(first, sentences), on_cpu, strict=True):
        np.testing.assert_allclose(gpu, cpu, atol=5e-3)


@pytest.mark.parametrize("words", [[], [""], ["", "may", ""]])
def test_empty_words_and_sentences_have_finite_scores(words: list[str]) -> None:
    (scored,) = untrained().score([Sentence.from_words(words)])
    assert scored.word_scores.shape == (len(words), 1)
    assert np.isfinite(scored.word_scores).all()
