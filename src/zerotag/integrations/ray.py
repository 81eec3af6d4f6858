"""A labeller for pipelines of Ray Data."""

from __future__ import annotations

from typing import Any

from zerotag.labeller import Labeller as _Labeller
from zerotag.labeller import load


class Labeller:
    """Adds the words that carry a label to the batches of a dataset; each worker loads the model once.

    Example:
        ```python
        import ray
        from zerotag.ray import Labeller

        ds = ray.data.read_parquet("corpus/")
        ds = ds.map_batches(Labeller, fn_constructor_args=["model"], batch_format="pyarrow", concurrency=4, num_gpus=1)
        ds.write_parquet("labelled/")
        ```

    Args:
        model: the folder of a model, or its name on the Hugging Face hub.
        text: the column that has the text.
        method: how words are scored.
        threshold: the score from which a word has the label; by default the model's own.
        device: a GPU if Ray gave one, by default.
    """

    def __init__(
        self,
        model: str,
        *,
        text: str = "text",
        method: str = "native",
        threshold: float | None = None,
        device: str | None = None,
    ) -> None:
        self._labeller: _Labeller = load(model, device=device)
        self._text = text
        self._method = method
        self._threshold = threshold

    def __call__(self, batch: Any) -> Any:
        """The batch (pyarrow or pandas) with the columns zerotag_label, zerotag_score, zerotag_words, zerotag_spans."""
        return self._labeller.label(
            batch, text=self._text, method=self._method, threshold=self._threshold, progress=False
        )
