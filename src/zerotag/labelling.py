"""Labelling texts by a model, whatever runs its network: scores, decisions, explanations, measures, thresholds."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack, overload

from zerotag.columns import ScoredColumns
from zerotag.decisions import check_threshold, decide
from zerotag.errors import ZerotagError
from zerotag.evaluation.report import Report, evaluate
from zerotag.explain import NATIVE, create, rules_for, side_by_side
from zerotag.explain.native import NativeScorer
from zerotag.inference.predictor import AT_ONCE, Predictor
from zerotag.io import Columns, read_gold
from zerotag.io.corrections import as_corrected
from zerotag.io.model_folder import THRESHOLDS, Manifest
from zerotag.io.tables import as_table
from zerotag.render.heatmap.figure import Figure
from zerotag.render.progress import with_bar
from zerotag.results import LabelledColumns, Results, of_documents, several, with_results
from zerotag.text.alignment import Aligner
from zerotag.text.segmentation import SEGMENTERS, Text, as_sentence
from zerotag.types import Corpus, GoldExample, Labelled, Rule, Scored, Sentence

MANY_TEXTS = 1_000  # from which on a bar is shown


class _How(TypedDict, total=False):
    """What `label` takes whatever the texts are."""

    method: str
    threshold: float | Mapping[str, float] | None
    batch_size: int | None
    progress: bool


class Labeller:
    """Labels texts by a network, whatever runs it, and has all that is known of the model."""

    is_in_torch = False

    def __init__(self, predictor: Predictor, aligner: Aligner, manifest: Manifest) -> None:
        self.predictor = predictor
        self.aligner = aligner
        self.manifest = manifest
        self.segment = SEGMENTERS.get(manifest.model.segmenter)

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels it knows."""
        return self.manifest.label_names

    @property
    def rules(self) -> tuple[Rule, ...]:
        """How scores become decisions, one rule per label."""
        return self.manifest.rules

    def with_rules(self, rules: Sequence[Rule]) -> Self:
        """The same labeller with other decision rules."""
        other = copy.copy(self)
        other.manifest = replace(self.manifest, rules=tuple(rules))
        return other

    def with_threshold(self, threshold: float | Mapping[str, float]) -> Self:
        """The same labeller with another word threshold: one number, or one for each label that is to have another.

        Raises:
            ZerotagError: it is not between 0 and 1, or there is no such label.
        """
        by_label = threshold if isinstance(threshold, Mapping) else dict.fromkeys(self.label_names, threshold)
        for name, value in by_label.items():
            if name not in self.label_names:
                raise ZerotagError(f"there is no label {name[:40]!r}; this model has: {', '.join(self.label_names)}")
            check_threshold(value)
        return self.with_rules(
            [
                replace(rule, word_threshold=float(by_label[name]), origin="given") if name in by_label else rule
                for name, rule in zip(self.label_names, self.rules, strict=True)
            ]
        )

    def tune(self, examples: Any) -> Self:
        """The same labeller with word thresholds from a few sentences whose words are labelled.

        What the sentence labels of the training say is the prior: five sentences change little, two hundred decide.

        Args:
            examples: a file with word labels, several, what `zerotag.read_corrected` returns, or results of this
                labeller that were corrected (`result.corrected`).

        Returns:
            A labeller, which says that it has seen word labels and of how many sentences. This one stays as it is.

        Raises:
            ZerotagError: a file cannot be read, or there is no positive word among these.
            TypeError: the examples are of another kind.

        Example:
            >>> labeller = labeller.tune("corrected.jsonl")  # doctest: +SKIP
        """
        from zerotag.evaluation.tuning import tuned_rules

        chosen = as_corrected(examples, label_names=self.label_names)
        scored = self.score(example.sentence for example in chosen)
        rules = tuned_rules([*zip(chosen, scored, strict=True)], self.rules, self.manifest.calibration)
        if rules == self.rules:
            raise ZerotagError("there is no positive word among these: label some sentences that have the label")
        other, known = self.with_rules(rules), self.manifest.word_labels
        seen = {**known, THRESHOLDS: known.get(THRESHOLDS, 0) + len(chosen)}
        other.manifest = replace(other.manifest, word_labels=seen)
        return other

    @overload
    def label(self, texts: str | Sentence, *, text: None = ..., **how: Unpack[_How]) -> Labelled: ...
    @overload
    def label(
        self,
        texts: list[Text] | tuple[Text, ...] | Iterator[Text] | list[str] | list[Sentence] | list[list[str]],
        *,
        text: None = ...,
        **how: Unpack[_How],
    ) -> Results: ...
    @overload
    def label(self, texts: Any, *, text: str | None = ..., split_sentences: bool = ..., **how: Unpack[_How]) -> Any: ...
    def label(
        self,
        texts: Any,
        *,
        text: str | None = None,
        method: str = "native",
        threshold: float | Mapping[str, float] | None = None,
        batch_size: int | None = None,
        progress: bool = True,
        split_sentences: bool = False,
    ) -> Any:
        """Find the words of texts that carry a label.

        Args:
            texts: one text, any number of them, or a table of pandas, polars, pyarrow or datasets. A text is a string,
                a list of words that are already split, or a `Sentence`.
            text: the column of the table that has the text. Default: `text`.
            method: how words are scored; `native` is the model's own way, `lime`, `occlusion` and others explain it.
            threshold: the score from which a word has the label, or one for each label by name. By default the
                model's own, or 0.5 for other methods.
            batch_size: the most texts that are held and go through the network together. Lower it if memory runs out.
            progress: show a bar in a terminal or a notebook if there are many texts.
            split_sentences: take texts for documents, and label each sentence by itself.

        Returns:
            One result for one text; for several, a sequence of results in their order, each made when you look at it,
            whose `to_frame()` is a table; for a table, a table of the same kind with the columns `zerotag_label`,
            `zerotag_score`, `zerotag_words` and `zerotag_spans` added, which are empty where the text is.
            Of a document the results of its sentences, each with its `start` there; of several, a list of these; of a
            table, a row for each sentence, with `zerotag_sentence`, `zerotag_start` and `zerotag_end` as well.

        Raises:
            TypeError: the texts are of another kind, or a cell is no text.
            ZerotagError: a column is missing, or there is one already of those to be added.

        Examples:
            >>> labeller.label("The pump may fail in winter.").spans  # doctest: +SKIP
            (Span(text='may', start=9, end=12, label='hedge', score=0.98),)
            >>> labeller.label(frame, text="comment")["zerotag_words"]  # doctest: +SKIP
        """
        decider = self.with_rules(rules_for(method, self.rules))
        if threshold is not None:
            decider = decider.with_threshold(threshold)

        def label_all(given: Sequence[Text]) -> LabelledColumns:
            parts = decider._score_columns(given, method, batch_size)
            if progress and len(given) >= MANY_TEXTS:
                parts = with_bar(parts, len(given))
            scored = ScoredColumns.joined([*parts], len(self.label_names))
            return LabelledColumns(scored, self.label_names, decider.rules)

        table = as_table(texts)
        if table is not None:
            return with_results(table, text, self.segment, label_all, self.label_names, split=split_sentences)
        if text is not None:
            raise TypeError("text names a column of a table; texts by themselves have none")
        if isinstance(texts, str | Sentence):
            one = as_sentence(texts, self.segment)
            if split_sentences:
                return of_documents([one], label_all, self.label_names)[0]
            return next(decider.stream([one], method=method, batch_size=batch_size))
        given = [*several(texts)]
        if split_sentences:
            documents = [as_sentence(one, self.segment) for one in given]
            return of_documents(documents, label_all, self.label_names)
        return Results(label_all(given), self.label_names)

    def _score_columns(self, texts: Sequence[Text], method: str, batch_size: int | None) -> Iterator[ScoredColumns]:
        """Scores of texts by a method, in parts, in their order."""
        if method == NATIVE:
            yield from self._native(batch_size).score_texts(texts, self.segment)
            return
        sentences = [as_sentence(text, self.segment) for text in texts]
        for scored in self.score(sentences, method=method, batch_size=batch_size):
            yield ScoredColumns.of([scored])

    def _native(self, batch_size: int | None) -> NativeScorer:
        return NativeScorer(self.predictor, self.aligner, at_once=_at_once(batch_size))

    def explain(self, text: str, *, methods: Sequence[str] = (NATIVE,), labels: Sequence[str] = ()) -> Figure:
        """How methods score each word of a text, as a heat map that notebooks draw.

        Args:
            text: the text.
            methods: how words are scored, a row for each.
            labels: the labels to show. Default: all.

        Returns:
            The figure; `save` writes it as .png, .svg, .html or .json.

        Raises:
            ZerotagError: there is no such method or label, or no word in the text.

        Example:
            >>> labeller.explain("It may rain.", methods=["native", "occlusion"]).save("rain.svg")  # doctest: +SKIP
        """
        maps, sentence = side_by_side.explain([("", self)], text, methods=methods, labels=labels)
        return Figure(sentence, tuple(maps))

    def stream(
        self, sentences: Iterable[Sentence], *, method: str = "native", batch_size: int | None = None
    ) -> Iterator[Labelled]:
        """Label any number of sentences in their order, in bounded memory, by the labeller's rules."""
        for scored in self.score(sentences, method=method, batch_size=batch_size):
            yield decide(scored, self.label_names, self.rules)

    def score(
        self, sentences: Iterable[Sentence], *, method: str = "native", batch_size: int | None = None
    ) -> Iterator[Scored]:
        """Scores of sentences and words by a method, without decisions, in bounded memory."""
        if method == NATIVE:
            yield from self._native(batch_size).score(sentences)
            return
        scorer = create(method, self)
        remaining = iter(sentences)
        while chunk := list(islice(remaining, _at_once(batch_size))):
            yield from scorer.score(chunk)

    def evaluate(self, gold: str | Path | Corpus[GoldExample], *, method: str = "native") -> Report:
        """Measure the labeller on labelled sentences: precision, recall and F1 of sentences and words, MAP and more.

        Args:
            gold: a file with sentence labels and, for some or all sentences, word labels; or what `zerotag.read_gold`
                returns.
            method: how words are scored.
        """
        corpus = (
            gold
            if isinstance(gold, Corpus)
            else read_gold(gold, columns=Columns(segmenter=self.manifest.model.segmenter), label_names=self.label_names)
        )
        if corpus.label_names != self.label_names:
            raise ZerotagError(
                f"these sentences have labels {', '.join(corpus.label_names)}; "
                f"this model has {', '.join(self.label_names)}"
            )
        scored = self.score((one.sentence for one in corpus.examples), method=method)
        return evaluate(zip(corpus.examples, scored, strict=True), self.label_names, rules_for(method, self.rules))


def _at_once(batch_size: int | None) -> int:
    if batch_size is None:
        return AT_ONCE
    if batch_size < 1:
        raise ZerotagError(f"batch_size is {batch_size}; it must be 1 or more")
    return batch_size
