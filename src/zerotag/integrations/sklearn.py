"""A scikit-learn classifier of texts that also scores their words. `pip install 'zerotag[sklearn]'`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d

from zerotag.config import ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.text.segmentation import SEGMENTERS, Segmenter
from zerotag.types import Corpus, Example, FloatArray, Labelled, Scored, Sentence

if TYPE_CHECKING:
    import torch

    from zerotag.labeller import WordLabeller as TrainedLabeller

_HELP = "give a list, array or column of strings, one for each text"


class WordLabeller(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Classifies texts, and scores each word by how much it makes its text be of a class.

    There is a label for each class, and words are scored for each. Where classes are 0 and 1, False and True or other
    pairs of numbers, the higher one is the only label; so is `pos_label`, if it is given. A matrix of 0 and 1 as `y`
    means several labels, each independent of the others.

    Args:
        encoder: the pre-trained encoder: a folder, or a name on the Hugging Face hub. Default: the packaged one.
        pos_label: of two classes the one that words are scored for, where the other one is only its absence.
        depth: the layer that is read. Default: half of them.
        epochs: passes over the training texts. Default: as many as `zerotag train` chooses.
        batch_size: texts in a step. Default: as `zerotag train` chooses.
        learning_rate: the highest rate. Default: by the encoder's width.
        random_state: the seed, or a generator that draws it. None is always the same seed: trainings repeat.
        model: other settings of the network; those above come first.
        training: other settings of the training; those above come first.
        device: `cpu`, `cuda` or `cuda:N`. Default: a GPU if there is one.

    Attributes:
        classes_: the classes; with several labels, their numbers, or the columns of a DataFrame.
        labeller_: the trained `zerotag.WordLabeller`, which has everything else: `label`, `save_pretrained`.

    Examples:
        >>> labeller = WordLabeller(epochs=2).fit(texts, y)  # doctest: +SKIP
        >>> labeller.predict(["The pump may fail."])  # doctest: +SKIP
        array(['hedged'], dtype='<U6')
        >>> labeller.word_scores(["The pump may fail."])  # doctest: +SKIP
        [array([0.01, 0.02, 0.98, 0.03, 0.0], dtype=float32)]
    """

    def __init__(
        self,
        encoder: str | None = None,
        *,
        pos_label: Any = None,
        depth: int | None = None,
        epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        model: ModelConfig | None = None,
        training: TrainConfig | None = None,
        device: str | torch.device | None = None,
    ) -> None:
        self.encoder = encoder
        self.pos_label = pos_label
        self.depth = depth
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.model = model
        self.training = training
        self.device = device

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Iterable[str], y: Any) -> Self:  # noqa: N803 (as everywhere in scikit-learn)
        """Train on texts and their classes.

        Args:
            X: the texts.
            y: the class of each, of any kind; or a matrix of 0 and 1, (texts, labels).
        """
        from zerotag.training.exclusive import exclusive_rules
        from zerotag.training.recipe import train

        if y is None:
            raise ValueError(
                "WordLabeller requires y to be passed, but the target y is None: give the class of each text"
            )
        with _value_errors():
            model, training = self._settings()
            corpus = self._corpus(self._sentences(X, SEGMENTERS.get(model.segmenter), fitting=True), y)
            trained = train(corpus, model=model, training=training, device=self.device)
            classes = len(corpus.label_names) > 1 and not self._several
            self.labeller_ = trained.with_rules(exclusive_rules(trained.rules, corpus)) if classes else trained
        return self

    def predict(self, X: Iterable[str]) -> NDArray[Any]:  # noqa: N803
        """The class of each text, or a matrix of 0 and 1 if there are several labels.

        Where classes are labels of their own, it is the most probable one. Otherwise this is what `zerotag label` says:
        a score has to reach the model's calibrated threshold, which need not be 0.5.
        """
        scores = self._sentence_scores(X)
        reached = scores >= [rule.sentence_threshold for rule in self._labeller.rules]
        if self._several:
            return reached.astype(np.int64)
        if self._positive is None:
            chosen = scores.argmax(axis=1)
        else:
            chosen = np.where(reached[:, 0], self._positive, 1 - self._positive)
        classes: NDArray[Any] = self.classes_[chosen]
        return classes

    def predict_proba(self, X: Iterable[str]) -> NDArray[np.float64]:  # noqa: N803
        """Probabilities, (texts, classes); of several labels each has its own, of classes they add up to 1."""
        scores = self._sentence_scores(X)
        if self._several:
            return scores
        if self._positive is not None:
            both = [1 - scores, scores]
            return np.hstack(both if self._positive else both[::-1])
        probabilities: NDArray[np.float64] = scores / scores.sum(axis=1, keepdims=True).clip(min=np.finfo(float).tiny)
        return probabilities

    def word_scores(self, X: Iterable[str]) -> list[FloatArray]:  # noqa: N803
        """For each text the scores of its words: (words,) for a single label, (words, labels) for several.

        Which words these are, and where they stand in the text, is in `label`.
        """
        single = len(self._labeller.label_names) == 1
        return [one.word_scores[:, 0] if single else one.word_scores for one in self._scored(X)]

    def label(self, X: Iterable[str]) -> list[Labelled]:  # noqa: N803
        """Words, spans and decisions of each text, as `zerotag.WordLabeller.label` gives them."""
        labeller = self._labeller
        return [*labeller.stream(self._sentences(X, labeller.segment))]

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if trained := state.get("labeller_"):  # what runs its network holds a lock, and is made anew
            state = {**state, "labeller_": (trained.network, trained.tokenizer, trained.manifest)}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if parts := state.get("labeller_"):
            from zerotag.labeller import WordLabeller as TrainedLabeller

            self.labeller_ = TrainedLabeller(*parts)

    @property
    def _labeller(self) -> TrainedLabeller:
        check_is_fitted(self, "labeller_")
        trained: TrainedLabeller = self.labeller_
        return trained

    def _settings(self) -> tuple[ModelConfig, TrainConfig]:
        model = {"encoder": self.encoder, "depth": self.depth}
        training = {"epochs": self.epochs, "batch_size": self.batch_size, "learning_rate": self.learning_rate}
        if self.random_state is not None:
            training["seed"] = _seed(self.random_state)
        return replace(self.model or ModelConfig(), **_given(model)), replace(
            self.training or TrainConfig(), **_given(training)
        )

    def _corpus(self, sentences: Sequence[Sentence], y: Any) -> Corpus[Example]:
        """The texts with their labels; what the labels are is remembered."""
        check_classification_targets(y)
        self._several = type_of_target(y) == "multilabel-indicator"
        flags, names = self._labels(y) if self._several else self._classes(y)
        check_consistent_length(sentences, flags)
        labels = (tuple(map(bool, row)) for row in flags)
        return Corpus(names, tuple(map(Example, sentences, labels)))

    def _labels(self, y: Any) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
        flags = check_array(y) != 0
        self.classes_ = np.asarray(getattr(y, "columns", np.arange(flags.shape[1])))
        self._positive: int | None = None
        return flags, tuple(map(str, self.classes_))

    def _classes(self, y: Any) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
        self.classes_, numbers = np.unique(column_or_1d(y, warn=True), return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has only one class, {self.classes_.tolist()[0]!r}: two or more are needed")
        self._positive = self._number_of_positive()
        if self._positive is None:
            return numbers[:, None] == np.arange(len(self.classes_)), tuple(map(str, self.classes_))
        name = self.classes_[self._positive] if self.pos_label is not None else getattr(y, "name", None) or "label"
        return numbers[:, None] == self._positive, (str(name),)

    def _number_of_positive(self) -> int | None:
        """Which of the classes is the only label, if it is not each of them."""
        if self.pos_label is None:
            return 1 if len(self.classes_) == 2 and self.classes_.dtype.kind in "bif" else None
        if len(self.classes_) != 2 or self.pos_label not in self.classes_:
            raise ValueError(f"pos_label {self.pos_label!r} is for two classes of which it is one, not {self.classes_}")
        return int(np.flatnonzero(self.classes_ == self.pos_label)[0])

    def _sentences(self, X: Iterable[str], segment: Segmenter, *, fitting: bool = False) -> list[Sentence]:  # noqa: N803
        """The texts, cut into words; while fitting, each must have some."""
        sentences = [segment(text) for text in texts(X)]
        for number, sentence in enumerate(sentences):
            if fitting and not sentence.words:
                raise ValueError(f"text {number} has no words: leave it and its class out")
        return sentences

    def _scored(self, X: Iterable[str]) -> Iterator[Scored]:  # noqa: N803
        labeller = self._labeller
        return labeller.score(self._sentences(X, labeller.segment))

    def _sentence_scores(self, X: Iterable[str]) -> NDArray[np.float64]:  # noqa: N803
        return np.array([one.sentence_scores for one in self._scored(X)], dtype=np.float64)


def texts(X: Any) -> list[str]:  # noqa: N803
    """The texts of a list, an array or a column.

    Raises:
        ValueError: there is no text, or something else is among them.
    """
    if isinstance(X, str) or not isinstance(X, Iterable):
        raise ValueError(f"X is a {type(X).__name__}: {_HELP}")
    if len(getattr(X, "shape", (0,))) != 1:
        raise ValueError(f"Expected 1D array of texts, got shape {X.shape}: {_HELP}, as in X['text']")  # type: ignore[attr-defined]
    found = list(X)
    if not found:
        raise ValueError(f"Found array with 0 sample(s) while a minimum of 1 is required: {_HELP}")
    for number, text in enumerate(found):
        if not isinstance(text, str):
            raise ValueError(f"X[{number}] is {text!r:.40}, a {type(text).__name__}: {_HELP}")
    return [str(text) for text in found]


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _seed(random_state: Any) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


@contextmanager
def _value_errors() -> Iterator[None]:
    """What is wrong with data or settings is a ValueError in scikit-learn."""
    try:
        yield
    except ZerotagError as error:
        raise ValueError(str(error)) from error
