"""Exported networks in ONNX Runtime. No torch and no transformers: labelling starts in a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from zerotag.errors import ZerotagError
from zerotag.extras import needed
from zerotag.inference.cancellation import check_cancelled
from zerotag.inference.predictor import parts
from zerotag.inference.prefetch import pipelined
from zerotag.io.checked_files import read_bytes
from zerotag.io.integrity import DAMAGED, ENCODER, HEAD, LARGEST_TOKENIZER, TOKENIZER, loading
from zerotag.io.model_folder import Manifest
from zerotag.parallel.processors import threads
from zerotag.text.aligners import aligner_for
from zerotag.text.alignment import Aligner
from zerotag.text.batches import Batch
from zerotag.text.probe import probe
from zerotag.types import FloatArray

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

Output = tuple[FloatArray, FloatArray | None]

TOKEN_BUDGET = 2_048
AT_ONCE = 256  # sub-words that a thread takes at a time: what becomes of them stays in the caches of its processor

# Two fusions that are slower on a processor than what they fuse.
_UNWANTED = ["SkipLayerNormFusion", "BiasGeluFusion"]


class OnnxPredictor:
    """Runs an exported network: the encoder, in fp32 or int8, and the head, always in fp32.

    Every thread has windows of its own. Threads that share the work on each matrix, as ONNX Runtime's own do, wait for
    one another hundreds of times per batch, and those of two networks are in each other's way while they wait.
    """

    token_budget = TOKEN_BUDGET

    def __init__(self, folder: Path) -> None:
        self._encoder = open_session(folder / ENCODER)
        self._head = open_session(folder / HEAD)
        self._width: int = self._encoder.get_outputs()[0].shape[2]
        self._scores_tokens = len(self._head.get_outputs()) == 2
        self._threads = ThreadPoolExecutor(threads(), "onnx")
        self._ahead = 1 + threads() * AT_ONCE // TOKEN_BUDGET  # batches that keep them busy while one is read

    def probabilities(self, batch: Batch) -> Output:
        """Scores of a batch's sentences, (S, K), and of their tokens, (S, T, K), if it scores tokens."""
        return self._start(batch)()

    def each(self, batches: Iterable[Batch]) -> Iterator[Output]:
        """What `probabilities` says of each batch; the next ones are under way when it is told."""
        return pipelined(self._start, batches, self._ahead)

    def _start(self, batch: Batch) -> Callable[[], Output]:
        """Give a batch to the threads; what is returned waits for the scores."""
        check_cancelled()
        encoded = np.zeros((*batch.input_ids.shape, self._width), np.float32)
        running = [self._threads.submit(self._encode, batch, part, encoded[part]) for part in parts(batch, AT_ONCE)]

        def read() -> Output:
            for one in running:
                one.result()
            return self._read(batch, encoded)

        return read

    def _encode(self, batch: Batch, part: slice, encoded: FloatArray) -> None:
        """Encode some windows of a batch, only as far as one of them goes."""
        mask = batch.attention_mask[part]
        length = np.flatnonzero(mask.any(axis=0))[-1] + 1
        inputs = {"input_ids": batch.input_ids[part, :length], "attention_mask": mask[:, :length]}
        encoded[:, :length] = _run(self._encoder, inputs)[0]

    def _read(self, batch: Batch, encoded: FloatArray) -> Output:
        if not self._scores_tokens:
            (sentence_scores,) = _run(self._head, {"first": _sentence_means(encoded[:, 0], batch)})
            return sentence_scores, None
        tokens = encoded if batch.stitch is None else encoded.reshape(-1, self._width)[batch.stitch]
        sentence_scores, token_scores = _run(self._head, {"tokens": tokens, "token_mask": batch.token_mask})
        return sentence_scores, token_scores


def read_exported(folder: Path, manifest: Manifest) -> tuple[OnnxPredictor, Aligner]:
    """The network of an exported model folder, and the aligner that makes its batches."""
    assert manifest.export is not None
    needed("a model that was exported for ONNX Runtime", "onnx", "onnxruntime")
    with loading(folder, f"{DAMAGED}, or pip install -U onnxruntime"):
        tokenizer = Tokenizer.from_buffer(read_bytes(folder / TOKENIZER, LARGEST_TOKENIZER))
        aligner = aligner_for(manifest.model, tokenizer, pad_id=manifest.export.pad_id)
        predictor = OnnxPredictor(folder)
        probe(predictor.probabilities, aligner, len(manifest.label_names))
    return predictor, aligner


def _run(session: InferenceSession, inputs: Mapping[str, NDArray[Any]]) -> list[FloatArray]:
    try:
        found: list[FloatArray] = session.run(None, inputs)
    except Exception as error:  # ONNX Runtime has no better name for its errors
        raise ZerotagError(f"ONNX Runtime cannot run the model ({' '.join(str(error).split())[:160]})") from error
    return found


def open_session(file: Path) -> InferenceSession:
    """A graph on one thread, as all of ours run."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return InferenceSession(file, options, providers=["CPUExecutionProvider"], disabled_optimizers=_UNWANTED)


def _sentence_means(first: FloatArray, batch: Batch) -> FloatArray:
    """The first tokens' vectors (W, H), averaged over the windows of each sentence: (S, H)."""
    if batch.stitch is None:
        return first
    starts = np.flatnonzero(np.diff(batch.sentence_of_window, prepend=-1))
    counts = np.bincount(batch.sentence_of_window)
    return (np.add.reduceat(first, starts, axis=0) / counts[:, None]).astype(np.float32)
