"""How methods see the words of one sentence, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from zerotag.errors import ZerotagError
from zerotag.explain import Scorer, create
from zerotag.render.heatmap import HeatMap, HeatRow
from zerotag.types import Scored, Sentence

if TYPE_CHECKING:
    from zerotag.labeller import Labeller


def explain(
    labellers: Iterable[tuple[str, Labeller]],
    text: str,
    *,
    methods: Sequence[str] = ("native",),
    labels: Sequence[str] = (),
) -> tuple[list[HeatMap], Sentence]:
    """A heat map for each label (default: for all), with a row for each named labeller and method; and the sentence.

    Words are decided by a labeller's own rules for its own scores. Other methods have no threshold. A plain sentence
    classifier has no word scores of its own; it is scored by the other methods, if there are any.
    """
    sentence: Sentence | None = None
    rows: dict[str, list[HeatRow]] = {label: [] for label in labels}
    for name, labeller in labellers:
        _check_labels(labels, labeller.label_names)
        sentence = _same_words(sentence, labeller.segment(text), name)
        for method in _suitable(methods, labeller):
            scorer = _scorer(method, name, labeller)
            (scored,) = scorer.score([sentence])
            parts = [name] if name and list(methods) == ["native"] else [name, scorer.name]
            row_name = " ".join(filter(None, parts))
            for label, row in _rows(row_name, labeller, scored, native=method == "native"):
                if not labels or label in labels:
                    rows.setdefault(label, []).append(row)
    assert sentence is not None  # of the first labeller
    return [HeatMap(label, sentence.words, tuple(its_rows)) for label, its_rows in rows.items()], sentence


def _same_words(before: Sentence | None, sentence: Sentence, name: str) -> Sentence:
    """The sentence as a labeller splits it, which must be as others split it to be shown beside theirs."""
    if not sentence.words:
        raise ZerotagError("there is no word in the text: give a sentence")
    if before is not None and before != sentence:
        raise ZerotagError(f"{name} splits the text into other words than the model before it: explain them one by one")
    return sentence


def _scorer(method: str, name: str, labeller: Labeller) -> Scorer:
    try:
        return create(method, labeller)
    except ZerotagError as error:
        raise ZerotagError(f"{name}: {error}" if name else str(error)) from error


def _suitable(methods: Sequence[str], labeller: Labeller) -> list[str]:
    if labeller.manifest.model.scores_words:
        return list(methods)
    return [method for method in methods if method != "native"] or list(methods)


def _rows(name: str, labeller: Labeller, scored: Scored, *, native: bool) -> Iterator[tuple[str, HeatRow]]:
    for k, (label, rule) in enumerate(zip(labeller.label_names, labeller.rules, strict=True)):
        scores = scored.word_scores[:, k]
        if native:
            yield label, HeatRow.of(name, scores, rule, within_0_and_1=True)
        else:
            yield label, HeatRow(name, tuple(map(float, scores)))


def _check_labels(asked: Sequence[str], known: Sequence[str]) -> None:
    for label in asked:
        if label not in known:
            raise ZerotagError(f"there is no label {label[:40]!r}; this model has: {', '.join(known)}")
