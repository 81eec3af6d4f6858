"""The scikit-learn estimator: what it says, and scikit-learn's own checks of estimators."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

import tiny
import toy
from zerotag.config import TrainConfig
from zerotag.sklearn import WordLabeller

QUICK = TrainConfig(teacher_epochs=0, epochs=4, batch_size=8, learning_rate=5e-3)
EXAMPLES = toy.gold(120)
TEXTS = [one.sentence.text for one in EXAMPLES]
HEDGED = np.array([one.labels[0] for one in EXAMPLES])
NAMES = np.where(HEDGED, "hedged", "plain")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.encoder_folder(tmp_path_factory.mktemp("encoder")))


@pytest.fixture(scope="module")
def fitted(encoder: str) -> WordLabeller:
    return WordLabeller(encoder, depth=1, training=QUICK).fit(TEXTS, HEDGED)


def test_it_says_what_its_labeller_says(fitted: WordLabeller) -> None:
    new = [one.sentence.text for one in toy.gold(20, seed=1)]
    results = fitted.labeller_.label(new)
    assert fitted.predict(new).tolist() == [bool(one.labels) for one in results]
    assert fitted.predict_proba(new) == pytest.approx(np.array([[1 - one.score, one.score] for one in results]))
    for scores, one in zip(fitted.word_scores(new), results, strict=True):
        assert scores == pytest.approx([word.score for word in one.words])
    assert fitted.label(new) == results


def test_it_finds_the_words(fitted: WordLabeller) -> None:
    gold = toy.gold(30, seed=1)
    new = [one.sentence.text for one in gold]
    assert fitted.score(new, [one.labels[0] for one in gold]) == 1
    for one, scores in zip(gold, fitted.word_scores(new), strict=True):
        if one.labels[0]:
            assert (one.word_labels or ())[int(scores.argmax())] == (True,)


def test_names_of_classes_are_labels_unless_one_is_said_to_be(encoder: str) -> None:
    """Sorted, `plain` is the second class: to score words for that alone would be a trap."""
    estimator = WordLabeller(encoder, depth=1, training=QUICK).fit(TEXTS, NAMES)
    assert estimator.labeller_.label_names == ("hedged", "plain") == tuple(estimator.classes_)
    assert estimator.word_scores(TEXTS[:1])[0].shape == (7, 2)
    one = clone(estimator).set_params(pos_label="hedged").fit(TEXTS, NAMES)
    assert one.labeller_.label_names == ("hedged",)
    assert one.word_scores(TEXTS[:1])[0].shape == (7,)
    for each in (estimator, one):
        assert each.score(TEXTS, NAMES) == 1
        assert (each.classes_[each.predict_proba(TEXTS).argmax(axis=1)] == NAMES).all()
    with pytest.raises(ValueError, match="pos_label 'hedge' is for two classes of which it is one"):
        clone(estimator).set_params(pos_label="hedge").fit(TEXTS, NAMES)


def test_three_classes_and_three_labels(encoder: str) -> None:
    names = ("hedge", "fault", "wet")
    gold = toy.gold(240, labels=names)
    texts = [one.sentence.text for one in gold]
    flags = np.array([one.labels for one in gold])
    estimator = WordLabeller(encoder, depth=1, training=QUICK)
    several = clone(estimator).fit(texts, flags.astype(int))
    assert several.predict(texts).shape == several.predict_proba(texts).shape == (240, 3)
    assert (several.predict(texts) == flags).mean() > 0.95
    first = np.where(flags[:, 0], "hedge", np.where(flags[:, 1], "fault", "other"))
    three = clone(estimator).fit(texts, first)
    assert three.predict_proba(texts).sum(axis=1) == pytest.approx(np.ones(240))
    assert three.score(texts, first) > 0.9
    assert three.predict(texts).tolist() == [result.label for result in three.label(texts)]
    assert three.word_scores(texts[:1])[0].shape == (7, 3)


def test_pipelines_cross_validation_and_searches(encoder: str) -> None:
    estimator = WordLabeller(encoder, depth=1, training=QUICK)
    pipeline = Pipeline(
        [
            ("spaces", FunctionTransformer(lambda texts: [" ".join(text.split()) for text in texts])),
            ("words", estimator),
        ]
    )
    assert cross_val_score(pipeline, TEXTS, HEDGED, cv=3, scoring="roc_auc").min() > 0.9
    search = GridSearchCV(pipeline, {"words__epochs": [1, 4]}, cv=2, scoring="f1").fit(TEXTS, HEDGED)
    assert search.best_params_ == {"words__epochs": 4}
    assert search.best_estimator_["words"].labeller_.manifest.training.epochs == 4


def test_the_seed(encoder: str) -> None:
    def probabilities(random_state: Any) -> Any:
        estimator = WordLabeller(encoder, depth=1, epochs=1, training=QUICK, random_state=random_state)
        return estimator.fit(TEXTS[:30], HEDGED[:30]).predict_proba(TEXTS)

    assert (probabilities(None) == probabilities(1)).all()
    assert (probabilities(2) != probabilities(1)).any()
    assert (probabilities(np.random.RandomState(0)) == probabilities(np.random.RandomState(0))).all()


def test_pickled_it_says_the_same(fitted: WordLabeller) -> None:
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict_proba(TEXTS) == fitted.predict_proba(TEXTS)).all()
    assert again.labeller_.rules == fitted.labeller_.rules


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        ("one text", "X is a str: give a list"),
        (np.array([["a", "b"]]), r"Expected 1D array of texts, got shape \(1, 2\)"),
        (["a text", None], r"X\[1\] is None, a NoneType: give a list"),
        ([], "0 sample"),
        (["a text", " "], "text 1 has no words"),
    ],
)
def test_texts_it_cannot_use(encoder: str, texts: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        WordLabeller(encoder).fit(texts, [0, 1][: len(texts)])


def test_mistakes(encoder: str) -> None:
    with pytest.raises(ValueError, match="depth 99"):
        WordLabeller(encoder, depth=99).fit(TEXTS, HEDGED)
    with pytest.raises(ValueError, match="epochs 0 is out of range"):
        WordLabeller(encoder, epochs=0).fit(TEXTS, HEDGED)
    with pytest.raises(ValueError, match="only one class, 'a'"):
        WordLabeller(encoder).fit(TEXTS, ["a"] * len(TEXTS))
    with pytest.raises(NotFittedError):
        WordLabeller(encoder).word_scores(TEXTS)


# scikit-learn's checks of estimators. They work on tables of numbers, and leave out an estimator of texts altogether
# (all but one: that it can be cloned). So that they all run, numbers become words first.

_POOL = [word for word in tiny.SHORT if word.isalpha()]


class OnNumbers(WordLabeller):
    """The estimator, told every number as a word; texts come out of a table as they would out of a file."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = tags.input_tags.string = False
        tags.input_tags.two_d_array = True
        return tags

    def fit(self, X: Any, y: Any) -> OnNumbers:  # noqa: N803
        if y is None:
            return super().fit([], y)
        X, y = validate_data(self, X, y, multi_output=True)  # noqa: N806
        self._edges = np.quantile(X, np.linspace(0, 1, 7)[1:-1], axis=0)
        return super().fit(self._words(X), y)

    def predict(self, X: Any) -> Any:  # noqa: N803
        return super().predict(self._told(X))

    def predict_proba(self, X: Any) -> Any:  # noqa: N803
        return super().predict_proba(self._told(X))

    def _told(self, X: Any) -> list[str]:  # noqa: N803
        check_is_fitted(self, "labeller_")
        return self._words(validate_data(self, X, reset=False))

    def _words(self, X: Any) -> list[str]:  # noqa: N803
        bins = [np.searchsorted(edges, column) for edges, column in zip(self._edges.T, X.T, strict=True)]
        return [" ".join(_POOL[(7 * k + b) % len(_POOL)] for k, b in enumerate(row)) for row in zip(*bins, strict=True)]


SKIPPED = {
    "check_array_api_input": "needs the environment variable SCIPY_ARRAY_API; texts are in no array API",
    "check_classifiers_multilabel_output_format_decision_function": "there is no decision_function, but predict_proba",
}
"""The checks that skip themselves, and why. None is expected to fail."""


@pytest.fixture(scope="module", autouse=True)
def _a_tiny_encoder_where_the_checks_expect_it(tmp_path_factory: pytest.TempPathFactory) -> Iterable[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("checks"))
        tiny.encoder_folder(Path("tiny-encoder"))
        yield


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    # One threshold, 0.5: the checks want the class of the highest probability, and calibrated ones may differ.
    [OnNumbers("tiny-encoder", depth=1, training=replace(QUICK, batch_size=16, epochs=6, calibrated=False))]
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    try:
        check(estimator)
    except SkipTest:
        pytest.skip(SKIPPED[check.func.__name__])


def test_an_estimator_of_texts_is_left_out_by_them() -> None:
    """Why the checks above need numbers as words: should scikit-learn learn to check texts, this should go."""
    with pytest.warns(SkipTestWarning, match="Can't test estimator WordLabeller"):
        names = {check.func.__name__ for _, check in estimator_checks_generator(WordLabeller())}
    assert names == {"check_estimator_cloneable"}
