from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

import paper_equations as paper
import tiny
from zerotag.config import ModelConfig
from zerotag.modeling.heads import SoftAttention, attention_weights
from zerotag.modeling.losses import loss
from zerotag.modeling.network import Network, TensorBatch
from zerotag.text.alignment import Aligner, Encoded, best_windows
from zerotag.text.batches import Batch
from zerotag.types import Sentence

CPU = torch.device("cpu")
WINDOW = tiny.POSITIONS // 2
CLS, SEP = 2, 3


def _config(head: str = "soft-attention", *, beta: float = 2.0) -> ModelConfig:
    return ModelConfig(encoder="tiny", head=head, depth=2, beta=beta, window=WINDOW)


def _network(family: str = "bert", labels: int = 1, config: ModelConfig | None = None) -> tuple[Network, Aligner]:
    made = tiny.labeller(family, labels=tuple("abc"[:labels]), config=config or _config())
    with torch.no_grad():  # away from 0.5, where every score would look alike
        for name, parameter in made.network.head.named_parameters():
            if name.endswith("weight"):
                parameter.mul_(3)
    return made.network, made.aligner


def _sentences(*lengths: int) -> list[Sentence]:
    words = [word for sentence, _ in tiny.sentences(60) for word in sentence]
    return [Sentence.from_words(words[i : i + length]) for i, length in enumerate(lengths)]


def _batch(aligner: Aligner, *lengths: int) -> Batch:
    return aligner.batch(aligner.encode(_sentences(*lengths)))


@torch.no_grad()
def _run(network: Network, batch: Batch) -> tuple[Tensor, Tensor]:
    output = network(TensorBatch.of(batch, CPU))
    assert output.token_logits is not None
    return output.sentence_logits, output.token_logits


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_padding_changes_nothing(family: str) -> None:
    network, aligner = _network(family, labels=3)
    batch = _batch(aligner, 3, 12)
    assert batch.stitch is None
    sentence_logits, token_logits = _run(network, batch)
    garbage = np.where(batch.attention_mask == 1, batch.input_ids, 17)
    wider = replace(
        batch,
        input_ids=np.pad(garbage, ((0, 0), (0, 5)), constant_values=19),
        attention_mask=np.pad(batch.attention_mask, ((0, 0), (0, 5))),
        token_mask=np.pad(batch.token_mask, ((0, 0), (0, 5))),
    )
    for other, columns in ((replace(batch, input_ids=garbage), None), (wider, -5)):
        sentences, tokens = _run(network, other)
        torch.testing.assert_close(sentences, sentence_logits, rtol=0, atol=1e-5)
        kept = tokens[:, :columns][torch.from_numpy(batch.token_mask)]
        torch.testing.assert_close(kept, token_logits[torch.from_numpy(batch.token_mask)], rtol=0, atol=1e-5)
    assert token_logits[torch.from_numpy(batch.token_mask)].std() > 0.05, "else the test could not fail"


def test_special_tokens_take_no_part_in_attention_and_losses() -> None:
    network, aligner = _network(labels=3)
    tensors = TensorBatch.of(_batch(aligner, 3, 9), CPU)
    labels = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    with torch.no_grad():
        encoded = network.encoder(tensors.input_ids, tensors.attention_mask).last_hidden_state
    special = ~tensors.token_mask  # and padding
    assert special[:, 0].all()
    assert (special.sum(dim=1) >= 2).all()
    values = []
    for variant in (encoded, encoded.masked_fill(special.unsqueeze(-1), 50.0)):
        variant = variant.clone().requires_grad_()
        output = network.read(variant, tensors)
        value = loss(output, tensors.token_mask, labels, 0.5)
        value.backward()
        assert variant.grad is not None
        assert not variant.grad[special].any()
        values.append((output.sentence_logits, value))
    torch.testing.assert_close(values[0], values[1], rtol=0, atol=1e-6)


def _window_by_window(network: Network, aligner: Aligner, encoded: Encoded) -> list[Tensor]:
    """What the encoder makes of each window of a sentence, special tokens included, when it sees nothing else."""
    states = []
    for start in aligner.windows(len(encoded)):
        ids = torch.tensor([[CLS, *encoded.ids[start : start + aligner.capacity].tolist(), SEP]])
        with torch.no_grad():
            states.append(network.encoder(ids, torch.ones_like(ids)).last_hidden_state[0])
    return states


@pytest.mark.parametrize("beta", [1.0, 2.0])
@pytest.mark.parametrize("labels", [1, 3])
def test_attention_is_normalised_over_all_words_of_a_long_sentence(labels: int, beta: float) -> None:
    """Window by window through the encoder, then the paper's equations over all sub-words at once."""
    network, aligner = _network(labels=labels, config=_config(beta=beta))
    short, long = aligner.encode(_sentences(4, 70))
    starts = aligner.windows(len(long))
    assert len(starts) >= 3
    states = _window_by_window(network, aligner, long)
    chosen = best_windows(len(long), starts, aligner.capacity).tolist()
    tokens = [states[w][1 + i - starts[w]].tolist() for i, w in enumerate(chosen)]

    batch = aligner.batch([short, long])
    sentence_logits, token_logits = _run(network, batch)
    weights = attention_weights(token_logits, torch.from_numpy(batch.token_mask), beta)
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(2, labels))
    assert isinstance(network.head, SoftAttention)
    for k in range(labels):
        p = paper.Parameters.of(network.head, k)
        scores = paper.token_scores(p, tokens)
        assert token_logits[1, : len(long), k].sigmoid().tolist() == pytest.approx(scores, abs=1e-5)
        assert weights[1, : len(long), k].tolist() == pytest.approx(paper.weights(scores, beta), abs=1e-5)
        assert sentence_logits[1, k].sigmoid().item() == pytest.approx(paper.sentence_score(p, tokens), abs=1e-5)


def test_the_classifier_reads_the_mean_of_the_windows_first_tokens() -> None:
    network, aligner = _network(config=_config("cls"))
    encoded = aligner.encode(_sentences(4, 70, 10, 40))
    assert [aligner.cost(e)[0] > 1 for e in encoded] == [False, True, False, True]
    with torch.no_grad():
        output = network(TensorBatch.of(aligner.batch(encoded), CPU))
        firsts = [torch.stack([s[0] for s in _window_by_window(network, aligner, e)]).mean(dim=0) for e in encoded]
        expected = network.head(torch.stack(firsts)).sentence_logits
    assert output.token_logits is None
    torch.testing.assert_close(output.sentence_logits, expected, rtol=0, atol=1e-5)
    assert expected.std() > 0.005, "else the test could not fail"


@pytest.mark.parametrize("head", ["soft-attention", "cls"])
def test_a_document_of_5000_words_trains(head: str) -> None:
    network, aligner = _network(labels=3, config=_config(head))
    (sentence,) = _sentences(5)
    document = Sentence.from_words(sentence.words * 1000)
    batch = TensorBatch.of(aligner.batch(aligner.encode([document, sentence])), CPU)
    labels = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    network.train()
    value = loss(network(batch), batch.token_mask, labels, 0.1)
    value.backward()
    assert value.isfinite()
    gradients = {name: p.grad for name, p in network.named_parameters() if "pooler" not in name}
    assert not [name for name, gradient in gradients.items() if gradient is None or not gradient.isfinite().all()]
    assert all(gradient is not None and gradient.any() for name, gradient in gradients.items() if ".query.w" in name)


def test_the_head_works_in_full_precision_where_the_encoder_does_not() -> None:
    """Half precision would leave about 250 different scores, and ties in the ranking of words."""
    network, aligner = _network()
    batch = TensorBatch.of(_batch(aligner, *[20] * 40), CPU)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        output = network(batch)
    assert output.token_logits is not None
    assert output.token_logits.dtype == output.sentence_logits.dtype == torch.float32
    scores = output.token_logits[batch.token_mask].sigmoid()
    assert len(scores.unique()) > 0.95 * len(scores)


@pytest.mark.parametrize(("configured", "size"), [(None, tiny.WIDTH), (7, 7)])
def test_attention_is_computed_from_as_many_numbers_as_the_encoder_is_wide(configured: int | None, size: int) -> None:
    network, _ = _network(config=replace(_config(), attention_size=configured))
    assert isinstance(network.head, SoftAttention)
    assert network.head.attention_hidden.weight.shape == (size, tiny.WIDTH)


def test_a_batch_becomes_tensors_with_the_same_numbers() -> None:
    _, aligner = _network()
    batch = _batch(aligner, 3, 70)
    tensors = TensorBatch.of(batch, CPU)
    for name in ("input_ids", "attention_mask", "token_mask", "sentence_of_window", "stitch"):
        assert getattr(tensors, name).tolist() == getattr(batch, name).tolist()
    assert TensorBatch.of(_batch(aligner, 3), CPU).stitch is None
