"""Training with few vectors learns what training with all of them does; products go back to what they were."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer, PreTrainedModel

import tiny
from zerotag.config import ModelConfig
from zerotag.modeling.encoders import aligner_for
from zerotag.text.alignment import Aligner, Encoded
from zerotag.training.processor import UsedVectors, quick_products, used_vectors
from zerotag.types import Sentence

RATE = 0.1


def _encoder(folder: Path, family: str) -> tuple[PreTrainedModel, Aligner, list[Encoded]]:
    place = tiny.encoder_folder(folder, family)
    aligner = aligner_for(ModelConfig(), AutoTokenizer.from_pretrained(place))
    sentences = aligner.encode([Sentence.from_words(words[:3]) for words, _ in tiny.sentences(6)])
    return AutoModel.from_pretrained(place).eval(), aligner, sentences


def _learnt(encoder: PreTrainedModel, aligner: Aligner, sentences: Sequence[Encoded], *, decay: float) -> None:
    batch = aligner.batch(sentences)
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=RATE, weight_decay=decay)
    for _ in range(3):
        optimizer.zero_grad()
        inputs = {
            "input_ids": torch.from_numpy(batch.input_ids),
            "attention_mask": torch.from_numpy(batch.attention_mask),
        }
        encoder(**inputs).last_hidden_state.square().sum().backward()
        optimizer.step()


def _table(encoder: PreTrainedModel) -> Tensor:
    weight = encoder.get_input_embeddings().weight
    assert isinstance(weight, Tensor)
    return weight.detach().clone()


@pytest.mark.parametrize("family", ["bert", "mpnet", "roberta"])
def test_few_vectors_learn_what_all_would(tmp_path: Path, family: str) -> None:
    everything, aligner, sentences = _encoder(tmp_path / "a", family)
    few, _, _ = _encoder(tmp_path / "b", family)
    few.load_state_dict(everything.state_dict())
    before = _table(few)
    _learnt(everything, aligner, sentences, decay=0)
    with used_vectors(few, sentences, aligner.frame):
        assert len(_table(few)) < len(before)
        _learnt(few, aligner, sentences, decay=0)
    assert _table(few).shape == before.shape
    assert not torch.equal(_table(few), before)
    for name, weight in everything.state_dict().items():
        torch.testing.assert_close(few.state_dict()[name], weight, msg=name)


def test_weight_decay_passes_by_what_no_sentence_has(tmp_path: Path) -> None:
    encoder, aligner, sentences = _encoder(tmp_path, "bert")
    before = _table(encoder)
    with used_vectors(encoder, sentences[:1], aligner.frame):
        _learnt(encoder, aligner, sentences[:1], decay=0.5)
    changed = (_table(encoder) != before).any(dim=1)
    used = {*sentences[0].ids.tolist(), *aligner.frame.prefix.tolist(), *aligner.frame.suffix.tolist()}
    assert {*torch.nonzero(changed).flatten().tolist()} - {aligner.frame.padding} == used


def test_other_subwords_are_refused(tmp_path: Path) -> None:
    encoder, aligner, sentences = _encoder(tmp_path, "bert")
    unused = sorted({*range(len(_table(encoder)))} - {int(i) for one in sentences for i in one.ids})[-1]
    with used_vectors(encoder, sentences, aligner.frame), pytest.raises(IndexError):
        encoder(input_ids=torch.tensor([[unused]]))


def test_whoever_interrupts_finds_the_whole_table(tmp_path: Path) -> None:
    encoder, aligner, sentences = _encoder(tmp_path, "bert")
    whole = encoder.get_input_embeddings()

    def interrupted() -> None:
        with used_vectors(encoder, sentences, aligner.frame):
            assert isinstance(encoder.get_input_embeddings(), UsedVectors)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert encoder.get_input_embeddings() is whole


def test_a_table_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    encoder, aligner, sentences = _encoder(tmp_path, "bert")
    vectors, width = _table(encoder).shape
    other = nn.Embedding(vectors, width, max_norm=1.0)
    encoder.set_input_embeddings(other)
    with used_vectors(encoder, sentences, aligner.frame):
        assert encoder.get_input_embeddings() is other


def test_products_are_quick_inside_alone() -> None:
    before = torch.get_float32_matmul_precision()
    with quick_products(torch.device("cpu")):
        assert torch.get_float32_matmul_precision() == "medium"
    with quick_products(torch.device("cuda")):
        assert torch.get_float32_matmul_precision() == before
    assert torch.get_float32_matmul_precision() == before


def test_quick_products_are_as_good_as_those_of_bfloat16() -> None:
    torch.manual_seed(0)
    left, right = torch.randn(64, 256), torch.randn(256, 64)
    with quick_products(torch.device("cpu")):
        product = left @ right
    exact = left.double() @ right.double()
    coarse = (left.bfloat16().double() @ right.bfloat16().double() - exact).abs().max()
    assert (product - exact).abs().max() <= 1.1 * coarse
