"""A spaCy component that labels words: `nlp.add_pipe("zerotag", config={"model": "hedges"})`.

`pip install 'zerotag[spacy]'`; spaCy then finds the component by its entry point.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from zerotag.errors import ZerotagError
from zerotag.labeller import Labeller, WordLabeller, load
from zerotag.types import Labelled, Sentence

_BATCH = 128  # documents

for _kind in (Token, Span, Doc):
    if not _kind.has_extension("zerotag_scores"):
        _kind.set_extension("zerotag_scores", default={})


class WordLabels:
    """Writes into documents which words carry a label, and which sentences.

    Words are spaCy's tokens; sentences are those of the document, or all of it where nothing has set them.

    - `doc.spans[spans_key]`: neighbouring words of one label, with the score of each in `.attrs["scores"]`;
    - `token._.zerotag_scores` and, for each sentence, `span._.zerotag_scores`: a score for each label;
    - `doc.cats`: for each label the highest score of a sentence; `doc._.zerotag_scores` has the same.

    Args:
        model: the folder of a model, or a name on the Hugging Face hub, which is fetched when the first document comes:
            a saved pipeline has its model, and asks no hub. None: it comes with `from_disk`.
        spans_key: where the spans go.
        threshold: the score from which a word has a label. Default: the model's own.
        device: `cpu`, `cuda` or `cuda:N`. Default: a GPU if there is one.
    """

    def __init__(
        self,
        model: str | Path | None,
        *,
        spans_key: str = "zerotag",
        threshold: float | None = None,
        device: str | None = None,
    ) -> None:
        self.spans_key = spans_key
        self._threshold = threshold
        self._device = device
        self._labeller: Labeller | None = None
        self._model = model
        if model is not None and Path(model).exists():
            self._load(model)

    @property
    def labeller(self) -> Labeller:
        """The model.

        Raises:
            ZerotagError: there is none yet.
        """
        if self._labeller is None and self._model is not None:
            self._load(self._model)
        if self._labeller is None:
            raise ZerotagError('there is no model: nlp.add_pipe("zerotag", config={"model": "a model folder"})')
        return self._labeller

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it gives."""
        return () if self._labeller is None else self._labeller.label_names

    def __call__(self, doc: Doc) -> Doc:
        """Label the words of a document."""
        self._label([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = _BATCH) -> Iterator[Doc]:
        """Label the words of many documents, so many at a time."""
        remaining = iter(stream)
        while batch := list(islice(remaining, batch_size)):
            self._label(batch)
            yield from batch

    def to_disk(self, path: str | Path, exclude: Sequence[str] = ()) -> None:  # noqa: ARG002 (spaCy gives it)
        """Write the model into the folder of a pipeline."""
        labeller = self.labeller
        if not isinstance(labeller, WordLabeller):
            raise ZerotagError("an exported model cannot be saved with a pipeline: use the folder it was exported from")
        labeller.save_pretrained(path)

    def from_disk(self, path: str | Path, exclude: Sequence[str] = ()) -> WordLabels:  # noqa: ARG002
        """Load the model that is in the folder of a pipeline."""
        self._load(path)
        return self

    def _load(self, model: str | Path) -> None:
        labeller = load(model, device=self._device)
        self._labeller = labeller if self._threshold is None else labeller.with_threshold(self._threshold)

    def _label(self, docs: Sequence[Doc]) -> None:
        found = self.labeller.stream(_sentence(part) for doc in docs for part in _parts(doc))
        for doc in docs:
            self._write(doc, [(part, next(found)) for part in _parts(doc)])

    def _write(self, doc: Doc, results: Sequence[tuple[Span, Labelled]]) -> None:
        spans, scores = [], []
        highest = dict.fromkeys(self.labels, 0.0)
        for part, result in results:
            part._.zerotag_scores = result.scores
            for token, word in zip(_tokens(part), result.words, strict=True):
                token._.zerotag_scores = word.scores
            for span in result.spans:
                start, end = part.start_char + span.start, part.start_char + span.end
                its_own = doc.char_span(start, end, label=span.label)
                assert its_own is not None  # its ends are those of tokens
                spans.append(its_own)
                scores.append(span.score)
            highest = {name: max(score, result.scores[name]) for name, score in highest.items()}
        doc.spans[self.spans_key] = spans
        doc.spans[self.spans_key].attrs["scores"] = scores
        doc.cats.update(highest)
        doc._.zerotag_scores = highest


def _parts(doc: Doc) -> list[Span]:
    """The sentences that have words."""
    parts = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
    return [part for part in parts if any(not token.is_space for token in part)]


def _tokens(part: Span) -> list[Token]:
    return [token for token in part if not token.is_space]


def _sentence(part: Span) -> Sentence:
    start = part.start_char
    spans = [(token.idx - start, token.idx + len(token.text) - start) for token in _tokens(part)]
    return Sentence.from_spans(part.text, spans)


@Language.factory(
    "zerotag",
    assigns=["doc.spans", "doc.cats"],
    default_config={"model": None, "spans_key": "zerotag", "threshold": None, "device": None},
)
def create(
    nlp: Language,  # noqa: ARG001 (spaCy gives it)
    name: str,  # noqa: ARG001
    model: str | None,
    spans_key: str,
    threshold: float | None,
    device: str | None,
) -> WordLabels:
    """The component, as `nlp.add_pipe` makes it.

    A pipeline that was saved has its model beside it, and the folder it was once made with need not exist any more.
    """
    return WordLabels(model, spans_key=spans_key, threshold=threshold, device=device)
