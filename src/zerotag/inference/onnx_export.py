"""From torch to ONNX: an encoder and a head as two graphs, compared with the network before anything is written."""

from __future__ import annotations

import copy
import logging
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.onnx import OnnxExporterError
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import sdpa_mask

from zerotag.errors import ZerotagError
from zerotag.extras import needed
from zerotag.inference.onnx_predictor import OnnxPredictor
from zerotag.inference.predictor import Predictor, predict_row
from zerotag.inference.torch_predictor import TorchPredictor
from zerotag.io.integrity import ENCODER, HEAD, TOKENIZER
from zerotag.io.model_folder import Export, Manifest, check_place, write_folder
from zerotag.modeling.encoders import registered
from zerotag.modeling.heads import Classifier
from zerotag.render.model_card import write_model_card
from zerotag.text.alignment import Aligner, Encoded
from zerotag.text.segmentation import split
from zerotag.text.subwords import SubWords
from zerotag.types import FloatArray

if TYPE_CHECKING:
    from zerotag.labeller import WordLabeller

TOLERANCE = 1e-4  # of fp32 scores
INT8_TOLERANCE = 0.05  # of int8 scores on average; what single ones lose is in the manifest
OPSET = 23  # the first with attention as one operator
_ATTENTION = "zerotag-onnx"
_PROBES = (
    "Rain.",
    "The committee has not met since March, and nobody expects a decision before the summer.",
    "It may well be that the second valve, which was replaced last week, was never the cause of the leak.",
    "Our results suggest that sleep, diet and exercise (in that order) might explain some of the difference.",
    'He asked: "Are you certain?" She was not.',
    "The 3.5 mm screw fits; the 4 mm one does not.",
    "Perhaps the ferry will leave at noon, though the harbour office told me on the telephone that it could be later.",
    "Protein binding was measured at 37 °C in buffered saline (pH 7.4) with and without 10 mM glucose.",
)


def export(labeller: WordLabeller, folder: Path, *, int8: bool = False) -> Manifest:
    """Write a model folder that ONNX Runtime runs; with `int8`, the weights of the encoder's layers have 8 bits.

    Its scores are compared with the labeller's first: fp32 must agree, int8 on average; how far any score differs is in
    the manifest.
    """
    _check_exportable(labeller)
    check_place(folder)
    with tempfile.TemporaryDirectory() as scratch:
        new = Path(scratch)
        network = copy.deepcopy(labeller.network).cpu().eval()
        try:
            with _quiet():
                _write_encoder(network.encoder, new / ENCODER)
                _write_head(network.head, network.encoder.config.hidden_size, new / HEAD)
                if int8:
                    _quantise(new / ENCODER)
        except OnnxExporterError as error:
            raise ZerotagError(_cannot(labeller, " ".join(str(error).split())[:160])) from error
        found = differences(TorchPredictor(labeller.network), OnnxPredictor(new), labeller.aligner)
        _check_differences(labeller, found, int8=int8)
        precision = "int8" if int8 else "fp32"
        pad_id: int = labeller.tokenizer.pad_token_id
        manifest = replace(labeller.manifest, export=Export(precision, round(float(found.max()), 8), pad_id))
        labeller.tokenizer.backend_tokenizer.save(str(new / TOKENIZER))
        write_folder(folder, manifest, lambda place: _move(new, place), write_model_card)
    return manifest


def _check_differences(labeller: WordLabeller, found: FloatArray, *, int8: bool) -> None:
    largest, mean = found.max(), found.mean()
    if int8 and not mean <= INT8_TOLERANCE:
        raise ZerotagError(
            f"with weights of 8 bits scores differ by {mean:.2g} on average, allowed: {INT8_TOLERANCE:g}; "
            "nothing was written: export without --int8"
        )
    if not int8 and not largest <= TOLERANCE:
        raise ZerotagError(_cannot(labeller, f"scores differ by {largest:.2g}, allowed: {TOLERANCE:g}"))


def _cannot(labeller: WordLabeller, reason: str) -> str:
    kind = labeller.network.encoder.config.model_type
    return f"encoders of type {kind!r} cannot be exported to ONNX here, nothing was written ({reason})"


def differences(one: Predictor, other: Predictor, aligner: Aligner) -> FloatArray:
    """How far every score differs, on sentences of many lengths, one of them longer than a window."""
    probes = SubWords.of(_probes(aligner), aligner.capacity)
    pairs = zip(*(predict_row(predictor, aligner, probes) for predictor in (one, other)), strict=True)
    return np.concatenate([np.abs(ours - theirs).ravel() for ours, theirs in pairs if ours is not None])


def _probes(aligner: Aligner) -> list[Encoded]:
    text = " ".join(_PROBES)
    tokens = len(aligner.encode([split(text)])[0])
    document = " ".join([text] * (2 * aligner.capacity // tokens + 1))
    return aligner.encode([*map(split, (*_PROBES, document))])


def _check_exportable(labeller: WordLabeller) -> None:
    if registered(labeller.manifest.model.encoder) is not None:
        name = labeller.manifest.model.encoder
        raise ZerotagError(f"encoder {name!r} cannot be exported to ONNX; pre-trained transformers can")
    needed("exporting", "onnx-export", "onnx", "onnxruntime", "onnxscript")


class _Graph(nn.Module):
    """A module, and what is to be computed by it."""

    def __init__(self, module: nn.Module, compute: Callable[..., Tensor | tuple[Tensor, ...]]) -> None:
        super().__init__()
        self.module = module
        self._compute = compute

    def forward(self, *inputs: Tensor) -> Tensor | tuple[Tensor, ...]:
        return self._compute(self.module, *inputs)


def _encode(encoder: nn.Module, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
    encoded: Tensor = encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
    return encoded


def _score(head: nn.Module, *inputs: Tensor) -> tuple[Tensor, ...]:
    return tuple(torch.sigmoid(logits) for logits in head(*inputs) if logits is not None)


def _attention(
    module: nn.Module,  # noqa: ARG001 (all attention functions have it)
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    **_: object,
) -> tuple[Tensor, None]:
    """Attention as one operator, which reads heads side by side: (W, heads, L, D) each, to (W, L, heads, D)."""
    windows, heads, _length, width = query.shape
    q, k, v = (states.transpose(1, 2).reshape(windows, -1, heads * width) for states in (query, key, value))
    mixed = torch.onnx.ops.attention(q, k, v, attention_mask, q_num_heads=heads, kv_num_heads=heads, scale=scaling)[0]
    return mixed.reshape(windows, -1, heads, width), None


AttentionInterface.register(_ATTENTION, _attention)
AttentionMaskInterface.register(_ATTENTION, sdpa_mask)


def _write_encoder(encoder: PreTrainedModel, file: Path) -> None:
    encoder.set_attn_implementation(_ATTENTION)
    input_ids = torch.full((2, 9), 5)
    attention_mask = torch.ones_like(input_ids)
    attention_mask[1, 6:] = 0
    inputs = {"input_ids": input_ids, "attention_mask": attention_mask}
    _write_graph(_Graph(encoder, _encode), inputs, ["encoded"], file)


def _write_head(head: nn.Module, width: int, file: Path) -> None:
    if isinstance(head, Classifier):
        _write_graph(_Graph(head, _score), {"first": torch.zeros(2, width)}, ["sentence_scores"], file)
        return
    inputs = {"tokens": torch.zeros(2, 9, width), "token_mask": torch.ones(2, 9, dtype=torch.bool)}
    _write_graph(_Graph(head, _score), inputs, ["sentence_scores", "token_scores"], file)


def _write_graph(graph: nn.Module, inputs: dict[str, Tensor], outputs: Sequence[str], file: Path) -> None:
    from onnx_ir.passes.common import ClearMetadataAndDocStringPass
    from onnxscript import optimizer

    any_size = [{0: Dim.DYNAMIC} if name == "first" else {0: Dim.DYNAMIC, 1: Dim.DYNAMIC} for name in inputs]
    program = torch.onnx.export(
        graph,
        tuple(inputs.values()),
        dynamo=True,
        opset_version=OPSET,
        input_names=list(inputs),
        output_names=outputs,
        dynamic_shapes=(tuple(any_size),),
        optimize=False,  # but just below: its fusion of rotary embeddings fails for batches
        verbose=False,
    )
    assert program is not None
    optimizer.optimize(program.model)
    ClearMetadataAndDocStringPass()(program.model)  # which tells where on this machine the code is
    program.save(file)


def _quantise(file: Path) -> None:
    import onnx

    from zerotag.inference.quantization import quantise

    model = onnx.load(file)
    quantise(model)
    file.unlink()
    onnx.save(model, file)


def _move(source: Path, target: Path) -> None:
    for file in source.iterdir():
        shutil.move(file, target / file.name)


@contextmanager
def _quiet() -> Iterator[None]:
    """The exporters talk of their own inner life."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
