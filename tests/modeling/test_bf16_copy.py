"""Networks as a GPU runs them, on the processor: the same scores, to the rounding of their precision."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch

import tiny
from zerotag.config import ModelConfig
from zerotag.inference import torch_predictor as inference
from zerotag.inference.predictor import PipelinedPredictor, predict
from zerotag.inference.torch_predictor import TorchPredictor
from zerotag.labeller import WordLabeller
from zerotag.modeling.bf16_copy import Bf16Copy, FusedLayers, for_inference, fuse
from zerotag.modeling.network import Network, TensorBatch
from zerotag.training.teacher import Teacher
from zerotag.types import Sentence

CPU = torch.device("cpu")
DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")),
]
WORDS = [word for words, _ in tiny.sentences(40) for word in words]


def _labeller(family: str = "mpnet") -> WordLabeller:
    made = tiny.labeller(family)
    with torch.no_grad():
        for name, parameter in made.network.named_parameters():
            if "head" in name or "relative_attention_bias" in name:
                parameter.mul_(3 if "head" in name else 30)  # so that places matter
    return made


def _moved(batch: TensorBatch, device: str) -> TensorBatch:
    return TensorBatch(*(one.to(device) if isinstance(one, torch.Tensor) else one for one in batch))  # type: ignore[arg-type]


def _batch(made: WordLabeller, *lengths: int) -> TensorBatch:
    encoded = made.aligner.encode([Sentence.from_words(WORDS[i : i + n]) for i, n in enumerate(lengths)])
    return TensorBatch.of(made.aligner.batch(encoded), CPU)


@pytest.mark.parametrize("lengths", [(5,), (9, 2, 4), (1, 14), (16, 16)])
def test_fused_attention_is_the_same_attention(lengths: tuple[int, ...]) -> None:
    made = _labeller()
    batch = _batch(made, *lengths)
    fused = copy.deepcopy(made.network)
    fuse(fused)
    assert isinstance(fused.encoder.encoder, FusedLayers)
    with torch.inference_mode():
        expected, found = made.network(batch), fused(batch)
        real = batch.attention_mask.bool()
        torch.testing.assert_close(fused.encode(batch)[real], made.network.encode(batch)[real], rtol=0, atol=2e-6)
    torch.testing.assert_close(found.sentence_logits, expected.sentence_logits, rtol=0, atol=5e-6)
    torch.testing.assert_close(
        found.token_logits[batch.token_mask], expected.token_logits[batch.token_mask], rtol=0, atol=5e-6
    )


def test_places_and_hidden_words_matter_in_fused_attention() -> None:
    made = _labeller()
    fuse(made.network)
    batch = _batch(made, 6)
    with torch.inference_mode():
        whole = made.network.encode(batch)
        turned = made.network.encode(batch._replace(input_ids=batch.input_ids.flip(1))).flip(1)
        mask = batch.attention_mask.clone()
        mask[0, 3] = 0
        hidden = made.network.encode(batch._replace(attention_mask=mask))
    assert (whole - turned).abs().max() > 0.01
    assert (whole - hidden)[0, 1].abs().max() > 1e-4


def test_a_teacher_reads_several_fused_layers() -> None:
    torch.manual_seed(0)
    encoder = tiny.labeller("mpnet", config=ModelConfig(encoder="tiny", depth=4, window=32)).network.encoder
    teacher = Teacher(encoder, 1, ModelConfig(encoder="tiny", depth=4, window=32)).eval()
    batch = _batch(tiny.labeller("mpnet"), 7, 3)
    fused = copy.deepcopy(teacher)
    fuse(fused)
    with torch.inference_mode():
        torch.testing.assert_close(
            fused(batch).token_logits[batch.token_mask],
            teacher(batch).token_logits[batch.token_mask],
            rtol=0,
            atol=5e-6,
        )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_a_lean_copy_says_the_same_to_rounding(family: str, device: str) -> None:
    made = _labeller(family)
    made.network.to(device)
    before = {name: value.clone() for name, value in made.network.state_dict().items()}
    made.network.train()
    copied = for_inference(made.network)
    assert not any(module.training for module in copied.modules())
    assert made.network.training
    assert {value.dtype for value in copied.encoder.parameters()} == {torch.bfloat16}
    ours, theirs = dict(copied.head.named_parameters()), dict(made.network.head.named_parameters())
    assert theirs.keys() - ours.keys() == {"attention_hidden.weight"}  # it is rounded
    assert all(one is theirs[name] for name, one in ours.items())
    made.network.eval()
    batch = _moved(_batch(made, 9, 2, 4), device)
    with torch.inference_mode():
        expected, found = torch.sigmoid(made.network(batch).token_logits), torch.sigmoid(copied(batch).token_logits)
    real = batch.token_mask
    torch.testing.assert_close(found[real], expected[real], rtol=0, atol=0.03)
    assert expected[real].std() > 0.03, "else the test could not fail"
    for name, value in made.network.state_dict().items():
        assert torch.equal(value, before[name])


def without_dropout(network: Network) -> Network:
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    return network


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_a_stand_in_finds_the_gradients_of_its_network(family: str) -> None:
    made = _labeller(family)
    network, batch = without_dropout(made.network).eval(), _batch(made, 9, 2, 4)
    copied = Bf16Copy(network, torch.float32)
    with torch.no_grad():
        for weight in network.encoder.parameters():
            weight.mul_(1.1)
    copied.take_weights()
    expected = _gradients_after(network, network, batch)
    network.zero_grad()
    _gradients_after(copied.network, network, batch)
    copied.give_gradients()
    found = {name: weight.grad for name, weight in network.named_parameters()}
    assert found.keys() == expected.keys()
    for name, gradient in found.items():
        if expected[name] is None:
            assert gradient is None, name
        else:
            torch.testing.assert_close(gradient, expected[name], rtol=1e-3, atol=2e-5, msg=name)


def _gradients_after(computing: Network, network: Network, batch: TensorBatch) -> dict[str, torch.Tensor | None]:
    output = computing(batch)
    assert output.token_logits is not None
    (output.sentence_logits.sum() + output.token_logits[batch.token_mask].square().sum()).backward()
    return {name: None if weight.grad is None else weight.grad.clone() for name, weight in network.named_parameters()}


def test_a_stand_in_drops_attention_as_its_network_does() -> None:
    made = _labeller()
    batch = _batch(made, 9, 2, 4)
    rates = {layer.attention.attn.dropout.p for layer in _layers(made.network)}
    assert rates == {made.network.encoder.config.attention_probs_dropout_prob} != {0.0}
    copied = Bf16Copy(made.network, torch.float32)
    for network in (made.network.train(), copied.network.train()):
        without_dropout(network)
    expected = made.network.encode(batch)
    real = batch.attention_mask.bool()
    assert {layer.attention.attn.dropout for layer in _layers(copied.network)} == rates
    assert (copied.network.encode(batch) - expected)[real].abs().max() > 1e-3
    for layer in _layers(copied.network):
        layer.attention.attn.dropout = 0.0
    torch.testing.assert_close(copied.network.encode(batch)[real], expected[real], rtol=0, atol=2e-6)


def _layers(network: Network) -> Any:
    encoder: Any = network.encoder
    return encoder.encoder.layer


@pytest.mark.parametrize("device", DEVICES)
def test_gradients_are_numbers_also_where_all_attention_scores_are_far_below_zero(device: str) -> None:
    made = _labeller()
    encoder: Any = made.network.encoder
    with torch.no_grad():
        encoder.encoder.relative_attention_bias.weight.sub_(200)
    copied = Bf16Copy(made.network.to(device).train())
    copied.network.train()
    batch = _moved(_batch(made, 9, 2, 4), device)
    output = copied.network(batch)
    assert output.token_logits is not None
    output.token_logits[batch.token_mask].sum().backward()
    copied.give_gradients()
    gradients = [weight.grad for weight in made.network.parameters() if weight.grad is not None]
    assert len(gradients) > 20
    assert all(gradient.isfinite().all() for gradient in gradients)


class AsOnGpu(TorchPredictor):
    """Runs the bfloat16 copy on the processor."""

    def ready(self, _: torch.device) -> Network:
        return super().ready(torch.device("cuda"))


@pytest.mark.parametrize("part", ["encoder", "head.attention_hidden"])
def test_a_changed_weight_is_seen(part: str) -> None:
    made = _labeller()
    predictor = AsOnGpu(made.network)
    batch = made.aligner.batch(made.aligner.encode([Sentence.from_words(WORDS[:8])]))
    first, again = predictor.probabilities(batch)[0], predictor.probabilities(batch)[0]
    assert first.tolist() == again.tolist()
    with torch.no_grad():
        next(made.network.get_submodule(part).parameters()).mul_(-2)
    assert predictor.probabilities(batch)[0].tolist() != first.tolist()


def test_results_are_fetched_one_batch_behind_and_in_order() -> None:
    made = _labeller()
    predictor = TorchPredictor(made.network)
    assert isinstance(predictor, PipelinedPredictor)
    batches = [made.aligner.batch(made.aligner.encode([Sentence.from_words(WORDS[:n])])) for n in (3, 9, 5)]
    asked = []

    def source() -> object:
        for number, batch in enumerate(batches):
            asked.append(number)
            yield batch

    results = predictor.each(source())  # type: ignore[arg-type]
    found = [next(results)]
    assert asked == [0, 1]
    found += results
    for batch, (sentence_scores, token_scores) in zip(batches, found, strict=True):
        expected_sentences, expected_tokens = predictor.probabilities(batch)
        assert sentence_scores.tolist() == expected_sentences.tolist()
        assert expected_tokens is not None
        assert token_scores is not None
        np.testing.assert_array_equal(token_scores, expected_tokens)
    assert list(predictor.each([])) == []


def test_what_runs_on_a_gpu_does_not_depend_on_the_company(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _labeller()
    monkeypatch.setattr(inference, "TorchPredictor", AsOnGpu)
    encoded = made.aligner.encode([Sentence.from_words(WORDS[i : i + n]) for i, n in enumerate((3, 40, 9, 9, 1))])
    together = predict(TorchPredictor(made.network), made.aligner, encoded)
    for one, prediction in zip(encoded, together, strict=True):
        (alone,) = predict(TorchPredictor(made.network), made.aligner, [one])
        np.testing.assert_allclose(prediction.sentence_scores, alone.sentence_scores, rtol=0, atol=0.02)
        assert prediction.token_scores is not None
        assert alone.token_scores is not None
        np.testing.assert_allclose(prediction.token_scores, alone.token_scores, rtol=0, atol=0.03)
