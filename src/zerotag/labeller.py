"""The word labeller as people use it: label texts, look at words and spans, save, load, share."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

from zerotag.decisions import check_threshold, decide
from zerotag.errors import ZerotagError
from zerotag.evaluation.report import Report, evaluate
from zerotag.explain import NATIVE, create, rules_for, side_by_side
from zerotag.explain.native import NativeScorer
from zerotag.inference.predictor import AT_ONCE, Predictor
from zerotag.io import Columns, read_gold
from zerotag.io.corrections import as_corrected
from zerotag.io.hub import located, upload
from zerotag.io.integrity import WEIGHTS
from zerotag.io.model_folder import THRESHOLDS, Manifest, read_manifest, write_folder
from zerotag.io.tables import as_table
from zerotag.render.heatmap.figure import Figure
from zerotag.render.model_card import write_model_card
from zerotag.render.progress import with_bar
from zerotag.results import Results, several, with_results
from zerotag.text.alignment import Aligner
from zerotag.text.segmentation import SEGMENTERS, Text, as_sentence
from zerotag.types import Corpus, Example, GoldExample, Labelled, Rule, Scored, Sentence

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase

    from zerotag.modeling.network import Network

# Torch and the hub are imported on use: a model that was exported to ONNX needs neither.

MANY_TEXTS = 1_000  # from which on a bar is shown


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
        other = self.with_rules(rules)
        other.manifest = replace(other.manifest, word_labels={**self.manifest.word_labels, THRESHOLDS: len(chosen)})
        return other

    @overload
    def label(
        self,
        texts: str | Sentence,
        *,
        text: None = ...,
        method: str = ...,
        threshold: float | Mapping[str, float] | None = ...,
        batch_size: int | None = ...,
        progress: bool = ...,
    ) -> Labelled: ...
    @overload
    def label(
        self,
        texts: list[Text] | tuple[Text, ...] | Iterator[Text] | list[str] | list[Sentence] | list[list[str]],
        *,
        text: None = ...,
        method: str = ...,
        threshold: float | Mapping[str, float] | None = ...,
        batch_size: int | None = ...,
        progress: bool = ...,
    ) -> Results: ...
    @overload
    def label(
        self,
        texts: Any,
        *,
        text: str | None = ...,
        method: str = ...,
        threshold: float | Mapping[str, float] | None = ...,
        batch_size: int | None = ...,
        progress: bool = ...,
    ) -> Any: ...
    def label(
        self,
        texts: Any,
        *,
        text: str | None = None,
        method: str = "native",
        threshold: float | Mapping[str, float] | None = None,
        batch_size: int | None = None,
        progress: bool = True,
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

        Returns:
            One result for one text; for several, a list of results in their order, whose `to_frame()` is a table; for a
            table, a table of the same kind with the columns `zerotag_label`, `zerotag_score`, `zerotag_words` and
            `zerotag_spans` added, which are empty where the text is.

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

        def labelled(sentences: Sequence[Sentence]) -> Iterator[Labelled]:
            found = decider.stream(sentences, method=method, batch_size=batch_size)
            return with_bar(found, len(sentences)) if progress and len(sentences) >= MANY_TEXTS else found

        table = as_table(texts)
        if table is not None:
            return with_results(table, text, self.segment, labelled, self.label_names)
        if text is not None:
            raise TypeError("text names a column of a table; texts by themselves have none")
        if isinstance(texts, str | Sentence):
            return next(labelled([as_sentence(texts, self.segment)]))
        return Results(labelled([as_sentence(one, self.segment) for one in several(texts)]), self.label_names)

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
        at_once = AT_ONCE if batch_size is None else batch_size
        if at_once < 1:
            raise ZerotagError(f"batch_size is {at_once}; it must be 1 or more")
        if method == "native":
            yield from NativeScorer(self.predictor, self.aligner, at_once=at_once).score(sentences)
            return
        scorer = create(method, self)
        remaining = iter(sentences)
        while chunk := list(islice(remaining, at_once)):
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


class WordLabeller(Labeller):
    """A trained network in torch with its tokenizer."""

    is_in_torch = True

    def __init__(self, network: Network, tokenizer: PreTrainedTokenizerBase, manifest: Manifest) -> None:
        from zerotag.inference.torch_predictor import TorchPredictor
        from zerotag.modeling.encoders import aligner_for

        super().__init__(TorchPredictor(network), aligner_for(manifest.model, tokenizer), manifest)
        self.network = network
        self.tokenizer = tokenizer

    def update(self, examples: Any, sentences: Corpus[Example] | None = None) -> WordLabeller:
        """A labeller that has learnt from sentences whose words are labelled. This one stays as it is.

        Args:
            examples: what `tune` takes.
            sentences: sentences with sentence labels, as `zerotag.read` returns them, to go on learning from as well.
                By default the word scorer's last layer alone learns, which takes seconds.

        Returns:
            A labeller, which says that it has seen word labels and of how many sentences.

        Raises:
            ZerotagError: a file cannot be read, or there is no positive word among these.
            TypeError: the examples are of another kind.

        Examples:
            >>> labeller = labeller.update("corrected.jsonl")  # doctest: +SKIP
        """
        from zerotag.training.few_labels import update

        return update(self, as_corrected(examples, label_names=self.label_names), sentences)

    def save_pretrained(self, save_directory: str | Path) -> None:
        """Write everything that `load` needs into a folder."""
        from safetensors.torch import save_file

        from zerotag.modeling.model_loading import write_shape

        def write_files(folder: Path) -> None:
            save_file(self.network.state_dict(), folder / WEIGHTS, metadata={"format": "pt"})
            write_shape(self.network.encoder.config, folder)
            try:
                self.tokenizer.save_pretrained(folder)
            except Exception as error:  # tokenizers has no better name for a full disk
                raise OSError(str(error)) from error

        write_folder(Path(save_directory), self.manifest, write_files, write_model_card)

    @classmethod
    def from_pretrained(cls, name_or_folder: str | Path, *, device: str | torch.device | None = None) -> WordLabeller:
        """Load a model folder, or one from the Hugging Face hub by its name."""
        folder = located(name_or_folder)
        manifest = read_manifest(folder)
        if manifest.export is not None:
            raise ZerotagError(
                f"{folder} was exported for ONNX Runtime and cannot run in torch: use zerotag.load, "
                "or the model folder it was exported from"
            )
        return cls._read(folder, manifest, device)

    @classmethod
    def _read(cls, folder: Path, manifest: Manifest, device: str | torch.device | None) -> WordLabeller:
        from zerotag.inference.torch_predictor import best_device, usable_device
        from zerotag.modeling.model_loading import read_model

        place = best_device() if device is None else usable_device(device)
        network, tokenizer = read_model(folder, manifest)
        return cls(network.to(place), tokenizer, manifest)

    def push_to_hub(self, repo_id: str, *, private: bool = False, token: str | None = None) -> str:
        """Upload the model with its card to the Hugging Face hub, where `zerotag.load(repo_id)` finds it.

        Args:
            repo_id: the name there, as in `user/model`.
            private: whether a new repository is for its owner alone.
            token: by default the one that `hf auth login` has stored.

        Returns:
            The address of the repository.

        Raises:
            ZerotagError: the hub does not take it.
        """
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch, "model")
            self.save_pretrained(folder)
            write_model_card(folder, self.manifest, repo_id)
            return upload(folder, repo_id, private=private, token=token)


def load(name_or_folder: str | Path, *, device: str | torch.device | None = None) -> Labeller:
    """Load a labeller from a folder, or from the Hugging Face hub by its name.

    What `zerotag train` wrote comes as a `WordLabeller`; what `zerotag export` wrote runs without torch.
    """
    folder = located(name_or_folder)
    manifest = read_manifest(folder)
    if manifest.export is None:
        return WordLabeller._read(folder, manifest, device)
    if device is not None and str(device).partition(":")[0] != "cpu":
        raise ZerotagError(f"{folder} was exported for ONNX Runtime, which runs it on the processor, not on {device}")
    from zerotag.inference.onnx_predictor import read_exported

    predictor, aligner = read_exported(folder, manifest)
    return Labeller(predictor, aligner, manifest)
