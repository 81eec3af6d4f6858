from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tiny
from zerotag.config import ModelConfig
from zerotag.errors import ZerotagError
from zerotag.explain.native import NativeScorer
from zerotag.inference import predictor as prediction
from zerotag.inference import torch_predictor as inference
from zerotag.inference.predictor import in_groups, predict, stream
from zerotag.inference.torch_predictor import Shared, TorchPredictor
from zerotag.labeller import WordLabeller
from zerotag.modeling.network import Network, TensorBatch
from zerotag.text.alignment import word_scores
from zerotag.text.segmentation import split
from zerotag.types import Scored, Sentence

LABELS = ("a", "b", "c")


def _labeller(family: str = "bert") -> WordLabeller:
    made = tiny.labeller(family, labels=LABELS)
    with torch.no_grad():  # away from 0.5, where every score would look alike
        for parameter in made.network.head.parameters():
            parameter.mul_(3)
    return made


@pytest.fixture(scope="module", params=("bert", "roberta", "deberta-v2"))
def labeller(request: pytest.FixtureRequest) -> WordLabeller:
    return _labeller(request.param)


def _sentences(*lengths: int) -> list[Sentence]:
    words = [word for sentence, _ in tiny.sentences(60) for word in sentence] * 20
    return [Sentence.from_words(words[i : i + length]) for i, length in enumerate(lengths)]


def _scores(made: WordLabeller, sentences: list[Sentence], *, at_once: int = 1024) -> list[Scored]:
    return list(NativeScorer(made.predictor, made.aligner, at_once=at_once).score(sentences))


def _check_alike(some: list[Scored], others: list[Scored]) -> None:
    assert [s.sentence for s in some] == [s.sentence for s in others]
    for one, other in zip(some, others, strict=True):
        np.testing.assert_allclose(one.sentence_scores, other.sentence_scores, rtol=0, atol=1e-5)
        np.testing.assert_allclose(one.word_scores, other.word_scores, rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_scores_do_not_depend_on_the_company(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = _labeller(family)
    sentences = _sentences(5, 70, 1, 12, 33, 140, 12, 20, 2, 28, 29, 30, 31)
    together = _scores(made, sentences)
    alone = [_scores(made, [sentence])[0] for sentence in sentences]
    _check_alike(together, alone)
    _check_alike(_scores(made, sentences[::-1])[::-1], alone)
    _check_alike(_scores(made, sentences, at_once=4), alone)
    monkeypatch.setattr(inference, "token_budget", lambda _: 10**6)
    _check_alike(_scores(made, sentences), alone)
    words = np.concatenate([scored.word_scores for scored in alone])
    assert words.std(axis=0).min() > 0.01, "else the test could not fail"


def test_long_and_short_sentences_in_one_batch(labeller: WordLabeller, monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = _sentences(5, 70, 1, 140)
    encoded = labeller.aligner.encode(sentences)
    assert labeller.aligner.batch(encoded).stitch is not None
    monkeypatch.setattr(inference, "token_budget", lambda _: 10**6)
    monkeypatch.setattr(prediction, "by_token_budget", lambda costs, _: [list(range(len(costs)))])
    mixed = predict(TorchPredictor(labeller.network), labeller.aligner, encoded)
    monkeypatch.undo()
    for sentence, its, predicted in zip(sentences, encoded, mixed, strict=True):
        (alone,) = _scores(labeller, [sentence])
        assert predicted.token_scores is not None
        np.testing.assert_allclose(predicted.sentence_scores, alone.sentence_scores, rtol=0, atol=1e-5)
        np.testing.assert_allclose(word_scores(its, predicted.token_scores), alone.word_scores, rtol=0, atol=1e-5)


def test_a_long_document_goes_through_the_encoder_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _labeller()
    (document,) = _sentences(140)
    (whole,) = _scores(made, [document])
    sizes: list[int] = []

    def encode(batch: TensorBatch) -> torch.Tensor:
        sizes.append(batch.input_ids.numel())
        return Network.encode(made.network, batch)

    monkeypatch.setattr(made.network, "encode", encode)
    monkeypatch.setattr(inference, "token_budget", lambda _: 2 * tiny.POSITIONS // 2)
    _check_alike(_scores(made, [document]), [whole])
    assert len(sizes) > 2
    assert max(sizes) <= 2 * tiny.POSITIONS // 2


def test_every_word_of_a_long_document_has_a_score_of_its_own(labeller: WordLabeller) -> None:
    words = [word for sentence, _ in tiny.sentences(800) for word in sentence][:5000]
    scorer = NativeScorer(labeller.predictor, labeller.aligner)
    (scored,) = scorer.score([Sentence.from_words(words)])
    assert scored.word_scores.shape == (5000, 3)
    assert np.isfinite(scored.word_scores).all()
    assert (scored.word_scores > 0).all(), "0 is what a word without sub-words has"
    assert np.isfinite(scored.sentence_scores).all()
    assert len(np.unique(scored.word_scores[-100:, 0])) > 20, "the end was read, too"
    assert scorer.passes == len(labeller.aligner.windows(len(labeller.aligner.encode([scored.sentence])[0])))


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_around_the_border_between_one_window_and_two(extra: int) -> None:
    made = _labeller()
    length = made.aligner.capacity + extra
    scorer = NativeScorer(made.predictor, made.aligner)
    (scored,) = scorer.score([Sentence.from_words(["pump"] * length)])
    assert scorer.passes == (2 if extra > 0 else 1)
    assert scored.word_scores.shape == (length, 3)
    assert (scored.word_scores > 0).all()


# Anything that a string can hold, halves of surrogate pairs included, in words that anybody may have split.
characters = st.characters(codec=None) | st.sampled_from("a p\u0301\u200d\u200b😀é\x00\ud800[]▁Ġ#")
words_of_any_kind = st.lists(st.text(characters, max_size=8), max_size=6)


@given(st.text(characters, max_size=60), words_of_any_kind)
@settings(max_examples=40)
def test_every_word_has_a_finite_score_whatever_it_is(labeller: WordLabeller, text: str, words: list[str]) -> None:
    for sentence in (split(text), Sentence.from_words(words)):
        (scored,) = _scores(labeller, [sentence])
        assert scored.word_scores.shape == (len(sentence.words), 3)
        assert np.isfinite(scored.word_scores).all()
        assert np.isfinite(scored.sentence_scores).all()


def test_the_word_score_is_the_highest_of_its_sub_words() -> None:
    made = _labeller()
    (encoded,) = made.aligner.encode([Sentence.from_words(["perhaps"])])
    assert len(encoded) == 2
    (predicted,) = predict(TorchPredictor(made.network), made.aligner, [encoded])
    assert predicted.token_scores is not None
    (scored,) = _scores(made, [Sentence.from_words(["perhaps"])])
    assert scored.word_scores.tolist() == [predicted.token_scores.max(axis=0).tolist()]


def test_sentences_are_taken_as_they_are_needed() -> None:
    made = _labeller()
    taken = 0

    def source() -> Iterator[Sentence]:
        nonlocal taken
        for sentence in _sentences(*[3] * 10):
            taken += 1
            yield sentence

    results = stream(TorchPredictor(made.network), made.aligner, source(), at_once=2)
    next(results)
    assert taken == 2
    assert len(list(results)) == 9


def test_the_network_is_left_as_it_was() -> None:
    made = _labeller()
    made.network.train()
    before = {name: value.clone() for name, value in made.network.state_dict().items()}
    first, second = (_scores(made, _sentences(5))[0] for _ in range(2))
    assert made.network.training
    assert first.word_scores.tolist() == second.word_scores.tolist(), "dropout was off"
    for name, value in made.network.state_dict().items():
        assert torch.equal(value, before[name])


def test_a_plain_classifier_has_sentence_scores_alone() -> None:
    made = tiny.labeller(config=ModelConfig(encoder="tiny", head="cls", depth=2, window=32))
    encoded = made.aligner.encode(_sentences(5, 140))
    predictions = predict(TorchPredictor(made.network), made.aligner, encoded)
    assert [p.token_scores for p in predictions] == [None, None]
    alone = [predict(TorchPredictor(made.network), made.aligner, [e])[0].sentence_scores for e in encoded]
    np.testing.assert_allclose([p.sentence_scores for p in predictions], alone, rtol=0, atol=1e-5)
    with pytest.raises(ZerotagError, match=r"^this model is a plain .* does not score words: choose another"):
        _scores(made, _sentences(5))


def test_nothing_in_nothing_out() -> None:
    made = _labeller()
    assert predict(TorchPredictor(made.network), made.aligner, []) == []
    assert _scores(made, []) == []


def test_results_come_in_the_order_of_the_sentences() -> None:
    made = _labeller()
    encoded = made.aligner.encode(_sentences(9, 2, 70, 5))
    assert in_groups(made.aligner, encoded, 40, lambda members: [len(e) for e in members]) == [len(e) for e in encoded]


def test_attention_makes_no_plans_while_a_network_predicts_and_may_again_afterwards(
    labeller: WordLabeller, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed: list[bool] = []
    encode = Network.encode

    def watched(network: Network, batch: TensorBatch) -> torch.Tensor:
        allowed.append(torch.backends.cuda.cudnn_sdp_enabled())
        return encode(network, batch)

    monkeypatch.setattr(Network, "encode", watched)
    assert torch.backends.cuda.cudnn_sdp_enabled()
    _scores(labeller, _sentences(5, 70))
    assert allowed
    assert not any(allowed)
    assert torch.backends.cuda.cudnn_sdp_enabled()


def test_threads_share_a_switch() -> None:
    turned: list[bool] = []

    @contextmanager
    def switch() -> Iterator[None]:
        turned.append(True)
        yield
        turned.append(False)

    shared, inside = Shared(switch), ExitStack()
    for _ in range(2):
        with ThreadPoolExecutor(1) as other:
            with shared:
                other.submit(inside.enter_context, shared).result()
            assert turned == [True]  # the other thread is not done
            other.submit(inside.close).result()
        assert turned == [True, False]
        turned.clear()
