"""A labeller for DataFrames of Spark."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from zerotag.errors import ZerotagError
from zerotag.io.added_columns import added_schema, refuse_collisions
from zerotag.io.hub import located
from zerotag.io.model_folder import read_manifest
from zerotag.labeller import Labeller, load

if TYPE_CHECKING:
    import pandas as pd


def labeller(
    model: str,
    *,
    text: str = "text",
    method: str = "native",
    threshold: float | None = None,
    device: str | None = None,
) -> SparkLabeller:
    """A function for `DataFrame.mapInPandas` that adds the words that carry a label.

    Example:
        ```python
        import zerotag.spark

        labels = zerotag.spark.labeller("/models/hedges")
        frame.mapInPandas(labels, labels.schema(frame)).write.parquet("labelled")
        ```

    Args:
        model: the folder of a model, which all workers can read, or its name on the Hugging Face hub.
        text: the column that has the text; a row without one gets empty columns.
        method: how words are scored.
        threshold: the score from which a word has the label; by default the model's own.
        device: a GPU if there is one, by default.

    Raises:
        ZerotagError: there is no such model.
    """
    return SparkLabeller(model, text, method, threshold, device)


class SparkLabeller:
    """Labels the batches of a partition; every Python worker loads the model once, for the first batch it gets."""

    def __init__(self, model: str, text: str, method: str, threshold: float | None, device: str | None) -> None:
        self.label_names = read_manifest(located(model)).label_names
        self._model = model
        self._text = text
        self._method = method
        self._threshold = threshold
        self._device = device

    def schema(self, frame: Any) -> Any:
        """The schema of what comes out: the columns of a frame and the four that are added."""
        from pyspark.sql.pandas.types import from_arrow_schema
        from pyspark.sql.types import StructType

        if self._text not in frame.columns:
            raise ZerotagError(f"there is no column {self._text!r}; there are {', '.join(frame.columns)}: give text=")
        refuse_collisions("the frame", frame.columns, self.label_names)
        added = from_arrow_schema(added_schema(self.label_names))
        return StructType([*frame.schema.fields, *added.fields])

    def __call__(self, frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """The same batches with the columns added."""
        its_labeller = _loaded(self._model, self._device)
        for frame in frames:
            yield its_labeller.label(
                frame, text=self._text, method=self._method, threshold=self._threshold, progress=False
            )


@cache
def _loaded(model: str, device: str | None) -> Labeller:
    """Once in a process, which Spark keeps from task to task."""
    return load(model, device=device)
