"""What makes a training quick on a processor: quick matrix products, and a table of few vectors.

A step of an optimizer goes through every weight, and most of those of a small encoder are the vectors of sub-words.
Those of sub-words that no sentence of the corpus has get no gradient, and are left as they were pre-trained: weight
decay, which would shrink them by less than a thousandth, passes them by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from zerotag.modeling.encoders import takes_vectors
from zerotag.text.alignment import Encoded
from zerotag.text.batches import Frame


@contextmanager
def quick_products(device: torch.device) -> Iterator[None]:
    """Let matrix products on a processor be as coarse as bfloat16, in which a GPU trains; sums stay in full precision.

    Processors with instructions for that use them. Others keep full precision, in kernels that may be quicker still.
    """
    before = torch.get_float32_matmul_precision()
    if device.type == "cpu":
        torch.set_float32_matmul_precision("medium")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


class UsedVectors(nn.Module):
    """A part of a table of vectors, looked up by the numbers that sub-words have in the whole one."""

    place: Tensor

    def __init__(self, whole: nn.Embedding, used: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(whole.weight.detach()[used].clone())
        place = torch.full((whole.num_embeddings,), len(used))  # beyond the end: an unexpected sub-word is an error
        place[used] = torch.arange(len(used))
        self.register_buffer("place", place, persistent=False)
        self.padding_idx = None if whole.padding_idx is None else int(place[whole.padding_idx])

    def forward(self, ids: Tensor) -> Tensor:
        """Vectors of sub-words: (..., H)."""
        return nn.functional.embedding(self.place[ids], self.weight, self.padding_idx)


@contextmanager
def used_vectors(encoder: PreTrainedModel, sentences: Iterable[Encoded], frame: Frame) -> Iterator[None]:
    """Have an encoder hold the vectors of the sub-words of these sentences alone; afterwards it has all of them again.

    An encoder whose table is not of the plain kind stays as it is, and one on a GPU, which that does not hold up, too.
    """
    whole = encoder.get_input_embeddings() if takes_vectors(encoder) else None
    if type(whole) is not nn.Embedding or whole.max_norm is not None or whole.weight.is_cuda:
        yield
        return
    around = [frame.prefix, frame.suffix, np.array([frame.padding])]
    special = [] if whole.padding_idx is None else [np.array([whole.padding_idx])]
    used = torch.from_numpy(np.unique(np.concatenate([*(one.ids for one in sentences), *around, *special])).astype(int))
    part = UsedVectors(whole, used)
    encoder.set_input_embeddings(part)
    try:
        yield
    finally:
        with torch.no_grad():
            whole.weight[used] = part.weight
        encoder.set_input_embeddings(whole)
