"""Networks that run in torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from zerotag.inference.cancellation import check_cancelled
from zerotag.inference.devices import precision, token_budget
from zerotag.inference.predictor import parts
from zerotag.inference.prefetch import pipelined
from zerotag.modeling.bf16_copy import for_inference, is_transformer
from zerotag.modeling.network import Network, TensorBatch
from zerotag.text.batches import Batch
from zerotag.types import FloatArray

_Output = tuple[FloatArray, FloatArray | None]


def device_of(network: Network) -> torch.device:
    """Where the network's weights are."""
    return next(network.parameters()).device


class Shared:
    """A context for a switch of the process: the first thread to enter turns it, the last to leave turns it back."""

    def __init__(self, switch: Callable[[], AbstractContextManager[object]]) -> None:
        self._switch = switch
        self._lock = Lock()
        self._inside = 0
        self._turned: AbstractContextManager[object] = nullcontext()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._turned = self._switch()
                self._turned.__enter__()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._turned.__exit__(None, None, None)


attention_without_plans = Shared(
    lambda: sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH])
)
"""All kernels of attention but cuDNN's, which needs a plan for each new shape, and in each new thread.

To make one takes tenths of a second: together, longer than to score a chunk of sentences of all lengths.
"""


class TorchPredictor:
    """Runs a network in torch, whatever mode it is in, and leaves it as it was.

    On a GPU a bfloat16 copy of a transformer runs in its place. It is made anew when weights have changed since, as far
    as torch counts that; replayed CUDA graphs are not counted, so a training makes a new predictor each time.

    Args:
        network: the network.
        sentences_alone: leave token scores out, which nobody will read.
    """

    def __init__(self, network: Network, *, sentences_alone: bool = False) -> None:
        self._network = network
        self._sentences_alone = sentences_alone
        self._bf16: Network | None = None
        self._seen: list[tuple[int, int]] = []

    @property
    def token_budget(self) -> int:
        """What suits the device that has the network."""
        return token_budget(device_of(self._network).type)

    def probabilities(self, batch: Batch) -> _Output:
        """Scores of a batch's sentences, (S, K), and of their tokens, (S, T, K), if it scores tokens."""
        return self._start(batch)()

    def each(self, batches: Iterable[Batch]) -> Iterator[_Output]:
        """What `probabilities` says of each batch; a GPU has the next one already when results are fetched."""
        return pipelined(self._start, batches, 1)

    def _start(self, batch: Batch) -> Callable[[], _Output]:
        """Give a batch to the device; what is returned waits for the scores."""
        check_cancelled()
        device = device_of(self._network)
        network = self.ready(device)
        as_it_is = nullcontext() if network is self._bf16 else _as_it_is(network, device)
        with torch.inference_mode(), attention_without_plans, as_it_is:
            tensors = TensorBatch.of(batch, device)
            windows = [network.encode(tensors.windows(part)) for part in parts(batch, self.token_budget)]
            output = network.read(windows[0] if len(windows) == 1 else torch.cat(windows), tensors)
            wanted = (output.sentence_logits, None if self._sentences_alone else output.token_logits)
            scores = [None if logits is None else _to_host(logits) for logits in wanted]
        done = torch.cuda.Event(blocking=True) if device.type == "cuda" else None
        if done is not None:
            done.record(torch.cuda.current_stream(device))

        def fetch() -> _Output:
            if done is not None:
                done.synchronize()
            sentence_scores, token_scores = (None if one is None else one.numpy() for one in scores)
            assert sentence_scores is not None
            return sentence_scores, token_scores

        return fetch

    def ready(self, device: torch.device) -> Network:
        """What runs: on a GPU the bfloat16 copy of a transformer, with the weights of now."""
        if device.type != "cuda" or not is_transformer(self._network):
            return self._network
        now = [(weight.data_ptr(), weight._version) for weight in self._network.parameters()]
        if self._bf16 is None or now != self._seen:
            self._bf16, self._seen = for_inference(self._network), now
        return self._bf16


@contextmanager
def evaluating(network: Network) -> Iterator[None]:
    """Dropout off, and afterwards as it was."""
    was_training = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(was_training)


@contextmanager
def _as_it_is(network: Network, device: torch.device) -> Iterator[None]:
    with evaluating(network), precision(device):
        yield


def _to_host(logits: Tensor) -> Tensor:
    """Probabilities on their way to the host: whoever reads them waits until they are there."""
    return torch.sigmoid(logits.float()).to("cpu", non_blocking=True)
