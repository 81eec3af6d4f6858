"""What is said of doubtful data and of what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

import toy
from zerotag.calibration import Calibration
from zerotag.config import ModelConfig, TrainConfig
from zerotag.io.model_folder import Manifest
from zerotag.presets import PLAIN
from zerotag.training import cautions
from zerotag.types import Corpus, Example, Rule, Sentence


def corpus(*counts: int, size: int) -> Corpus[Example]:
    """Different sentences, of which so many have each of the labels."""
    names = tuple("abcdefgh"[: len(counts)])
    examples = (
        Example(Sentence.from_words(["sentence", str(number)]), tuple(number < count for count in counts))
        for number in range(size)
    )
    return Corpus(names, tuple(examples))


DEV = {count: corpus(*[50] * count, size=100) for count in (1, 2, 3, 5)}


@pytest.mark.parametrize(
    ("counts", "size", "told"),
    [
        ((300,), 1000, []),
        ((30, 30), 60, ["60 sentences are few: words will be found less surely than with some hundreds"]),
        ((3,), 60, ["60 sentences are few", "'a' is rare: 3 of 60 sentences have it; add some that do"]),
        ((19,), 400, ["'a' is rare: 19 of 400 sentences have it; add some that do"]),
        ((200,), 10_000, ["'a' is rare: 200 of 10,000 sentences have it; add some that do"]),
        ((980,), 1000, ["'a' is nearly everywhere: 20 of 1,000 sentences are without it, and only they tell"]),
        (
            (3, 300, 2, 4, 5),
            600,
            ["4 of 5 labels have fewer than 20 sentences each, such as 'a' (3), 'c' (2)"],
        ),
    ],
)
def test_too_few_sentences_of_a_kind(counts: tuple[int, ...], size: int, told: list[str]) -> None:
    found = list(cautions.about_data(corpus(*counts, size=size), DEV[len(counts)], TrainConfig()))
    assert len(found) == len(told)
    assert all(one.startswith(start) for one, start in zip(found, told, strict=True))


def test_too_few_to_decide_by() -> None:
    few = "of 100 development sentences only 9 with 'a', 2 without 'b': epoch and thresholds are chosen by so few"
    train = corpus(200, 200, 200, size=400)
    (found,) = cautions.about_data(train, corpus(9, 98, 50, size=100), TrainConfig())
    assert found == f"{few}; give more sentences"
    assert not list(cautions.about_data(train, corpus(10, 90, 50, size=100), TrainConfig()))
    assert not list(cautions.about_data(train, corpus(0, 0, 0, size=100), TrainConfig())), "the model says it"


def test_of_development_sentences_that_are_to_be_split_off() -> None:
    """Of 150 positive sentences of 1,000, a tenth."""
    training = TrainConfig(dev_share=0.05)
    (found,) = cautions.about_data(corpus(150, size=1000), None, training)
    assert found.startswith("of 50 development sentences only 8 with 'a'")
    assert not list(cautions.about_data(corpus(150, size=1000), corpus(20, size=40), training))


def manifest(*calibrations: Calibration, f1: float, lexical: float = 0.0) -> Manifest:
    return Manifest(
        model=ModelConfig(),
        training=TrainConfig(),
        label_names=tuple("abc"[: len(calibrations)]),
        negative="O",
        rules=(Rule(0.3, 0.4, "sentence labels"),) * len(calibrations),
        scores={"dev sentence F1": f1, "dev sentence F1, lexical baseline": lexical},
        sentences={"train": 900, "dev": 100},
        calibration=calibrations,
    )


SURE = Calibration(positive=0.4, threshold=0.3, lowest=0.25, highest=0.4, fewest=0.05, most=0.08)


def told(one: Manifest) -> Iterator[str]:
    return cautions.about_model(one)


def test_a_threshold_that_is_a_guess() -> None:
    guess = replace(SURE, lowest=0.1, highest=0.7, fewest=0.01, most=0.021)
    assert guess.is_a_guess
    assert not replace(guess, most=0.02).is_a_guess
    assert not Calibration().is_a_guess, "models from before it was estimated"
    (found,) = told(manifest(SURE, guess, f1=0.8))
    assert found.startswith("label 'b': its word threshold 0.3 is a guess: sentence labels would agree with anything")
    assert "from 0.1, which marks 2.1 % of the words, to 0.7, which marks 1 %" in found


def test_thresholds_by_nothing() -> None:
    (found,) = told(manifest(Calibration(positive=1.0), f1=0.8))
    assert found.startswith("label 'a': its thresholds are 0.5, as the development sentences all have it")


def test_sentences_told_by_chance() -> None:
    """To call every sentence positive, where 40 % are, has an F1 of 0.8 / 1.4 = 57.1."""
    (found,) = told(manifest(SURE, f1=0.571))
    assert found.startswith("sentences are told no better than by chance (dev F1 57.1; 57.1 if every one had")
    assert not list(told(manifest(SURE, f1=0.58)))
    (found,) = told(manifest(SURE, f1=0.0))
    assert "dev F1 0.0" in found


def test_a_lexical_baseline_that_is_better() -> None:
    """Of 40 positive sentences: by more than a standard error of 0.068, sqrt(0.75 * 0.25 / 40)."""
    (found,) = told(manifest(SURE, f1=0.65, lexical=0.75))
    assert "tell its labels better (dev F1 75.0, this model 65.0)" in found
    assert not list(told(manifest(SURE, f1=0.65, lexical=0.71)))


def test_nothing_is_said_of_models_without_calibration() -> None:
    plain = replace(manifest(Calibration(positive=1.0), f1=0.0), training=PLAIN)
    assert not list(told(plain))
    assert not list(told(replace(plain, training=TrainConfig(), model=ModelConfig(head="cls"))))


def test_a_good_corpus_is_nothing_to_caution_of() -> None:
    assert not list(cautions.about_data(toy.corpus(400), toy.corpus(100, seed=1), TrainConfig()))
