"""What to read from a file: which columns, which labels mean "none", which format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from zerotag.errors import ZerotagError
from zerotag.io.problems import shown
from zerotag.text.segmentation import DEFAULT, SEGMENTERS
from zerotag.text.sentences import split_sentences
from zerotag.types import Sentence


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a file keeps its text and labels; the names do not matter for `word<TAB>label` files.

    text: the column with the raw text.
    labels: one column of label names, or several columns of 0 and 1 that name one label each.
    negative: the values that mean "no label"; None: `O`, `c`, `false`, `no`. The number 0 always does.
    class_names: what the labels 0, 1, 2 and so on mean, where they are the numbers of classes; then 0 is the first.
    label_name: the label that 1, `true` and `yes` mean in a single column; None: the one it is named after. Where only
        one label is known, as that of a model, it is what the file calls that label.
    format: the name of a registered reader; None: by the suffix of the file.
    segmenter: the name of the registered segmenter that splits texts into words.
    split_sentences: whether texts to label are documents, of which each sentence is labelled by itself.
    """

    text: str = "text"
    labels: tuple[str, ...] = ("label",)
    negative: tuple[str, ...] | None = None
    class_names: tuple[str, ...] | None = None
    label_name: str | None = None
    format: str | None = None
    segmenter: str = DEFAULT
    split_sentences: bool = False

    def __post_init__(self) -> None:
        for name in ("labels", "negative", "class_names"):
            if isinstance(getattr(self, name), str):
                raise ZerotagError(f"{name} is {shown(getattr(self, name))}; give a tuple of texts")
        if not self.labels or len(set(self.labels)) < len(self.labels):
            raise ZerotagError(f"labels is {shown(self.labels)}; name at least one column, and none twice")
        if self.class_names is not None and len(set(self.class_names)) < max(2, len(self.class_names)):
            raise ZerotagError(f"class names are {shown(self.class_names)}; give two or more, and none twice")
        if self.label_name is not None and (len(self.labels) > 1 or self.class_names is not None):
            raise ZerotagError("a label name is for one column of 0 and 1: several columns, or classes, have their own")
        self.split("")  # a package that the segmenter lacks is missed here, and not at every row

    @property
    def says_what_numbers_mean(self) -> bool:
        """Whether labels have names that were given: then those of a file do not count."""
        return self.class_names is not None or self.label_name is not None or len(self.labels) > 1

    def split(self, text: str) -> Sentence:
        """A text and its words."""
        return SEGMENTERS.get(self.segmenter)(text)

    def sentences(self, document: Sentence) -> Iterable[Sentence]:
        """What of a text to label is labelled by itself."""
        return split_sentences(document) if self.split_sentences else (document,)
