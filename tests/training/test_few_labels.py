"""Learning from the labelled words of a few sentences: a convention that sentence labels cannot tell."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import tiny
import toy
from zerotag import train
from zerotag.calibration import Calibration
from zerotag.config import ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.evaluation.metrics import mean_average_precision
from zerotag.labeller import WordLabeller, load
from zerotag.training import few_labels
from zerotag.training.few_labels import update
from zerotag.training.refit import Words, fitted, refit, refit_label, word_features
from zerotag.types import Corpus, CorrectedExample, GoldExample, Rule

QUICK = TrainConfig(epochs=5, batch_size=8, learning_rate=5e-3, teacher_epochs=2)


def by_convention(count: int, seed: int) -> tuple[CorrectedExample, ...]:
    """These annotators mark the full stop of a hedged sentence beside the hedge."""
    examples = []
    for one in toy.gold(count, seed=seed):
        assert one.word_labels is not None
        stop = ((one.labels[0],),)
        examples.append(CorrectedExample(one.sentence, one.labels, (*one.word_labels[:-1], *stop)))
    return tuple(examples)


@pytest.fixture(scope="module")
def labeller(tmp_path_factory: pytest.TempPathFactory) -> WordLabeller:
    encoder = tiny.encoder_folder(tmp_path_factory.mktemp("encoder"))
    return train(toy.corpus(120), model=ModelConfig(encoder=str(encoder), depth=2), training=QUICK, progress=False)


def precision(labeller: WordLabeller) -> float:
    test = by_convention(60, seed=9)
    scores = [one.word_scores[:, 0] for one in labeller.score(one.sentence for one in test)]
    found = mean_average_precision([np.array(one.word_labels)[:, 0] for one in test], scores)
    assert found is not None
    return found


def f1(labeller: WordLabeller) -> float:
    gold = tuple(GoldExample(one.sentence, one.labels, one.word_labels) for one in by_convention(60, seed=9))
    found = labeller.evaluate(Corpus(("hedge",), gold)).macro.word_f1
    assert found is not None
    return found


def weights(labeller: WordLabeller) -> dict[str, torch.Tensor]:
    return {name: weight.clone() for name, weight in labeller.network.state_dict().items()}


def test_a_few_labelled_sentences_teach_a_convention(labeller: WordLabeller) -> None:
    before, its_weights = precision(labeller), weights(labeller)
    updated = labeller.update(by_convention(40, seed=5))
    assert precision(updated) > before + 0.05
    assert f1(updated) > f1(labeller) + 0.1
    assert updated.manifest.word_labels == {"network": 40}
    assert "word labels of 40 sentences" in updated.rules[0].origin
    changed = {name for name, weight in weights(updated).items() if not torch.equal(weight, its_weights[name])}
    assert changed == {"head.attention_score.weight"}
    assert all(torch.equal(weight, its_weights[name]) for name, weight in weights(labeller).items())


def test_words_that_say_what_the_model_says_change_nothing_for_the_worse(labeller: WordLabeller) -> None:
    gold = tuple(CorrectedExample(one.sentence, one.labels, one.word_labels or ()) for one in toy.gold(20, seed=5))
    test = Corpus(("hedge",), toy.gold(60, seed=9))
    before, after = (one.evaluate(test).macro.word_f1 or 0 for one in (labeller, labeller.update(gold)))
    assert after >= before - 0.01


def test_with_sentences_it_goes_as_far_as_held_out_words_say(
    labeller: WordLabeller, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = by_convention(24, seed=5)
    corrected = update(labeller, examples)
    monkeypatch.setattr(few_labels, "STEPS_BETWEEN", (0.0,))
    stayed = update(labeller, examples, toy.corpus(60))
    assert all(torch.equal(weight, weights(corrected)[name]) for name, weight in weights(stayed).items())
    monkeypatch.setattr(few_labels, "STEPS_BETWEEN", (0.0, 0.5, 1.0))
    went_on = update(labeller, examples, toy.corpus(60))
    assert not torch.equal(
        weights(went_on)["head.attention_hidden.weight"], weights(stayed)["head.attention_hidden.weight"]
    )
    assert f1(went_on) > f1(labeller) + 0.1
    assert went_on.manifest.word_labels == {"network": 24}
    again = update(labeller, examples, toy.corpus(60))
    assert all(torch.equal(weight, weights(again)[name]) for name, weight in weights(went_on).items())


def test_the_step_that_predicts_held_out_words_best_is_taken(
    labeller: WordLabeller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between a network that knows the convention, and one whose scores say the contrary."""
    knows = labeller.update(by_convention(60, seed=6))
    contrary = copy.deepcopy(knows)
    with torch.no_grad():
        for weight in contrary.network.head.attention_score.parameters():  # type: ignore[union-attr]
            weight.mul_(-1)
    monkeypatch.setattr(few_labels, "refit", lambda *_: (knows, ()))
    monkeypatch.setattr(few_labels._Course, "_gone_on", lambda *_: contrary)
    found = update(labeller, by_convention(24, seed=5), toy.corpus(20))
    assert all(torch.equal(weight, weights(knows)[name]) for name, weight in weights(found).items())


def test_halfway_between_two_networks_weights_are_the_mean(labeller: WordLabeller) -> None:
    other = copy.deepcopy(labeller)
    with torch.no_grad():
        for weight in other.network.parameters():
            weight.add_(2)
    halfway, both = weights(few_labels.between(labeller, other, 0.5)), (weights(labeller), weights(other))
    name = "head.attention_hidden.weight"
    assert torch.allclose(halfway[name], (both[0][name] + both[1][name]) / 2)


def test_training_with_words_is_the_zero_shot_model_updated(labeller: WordLabeller, tmp_path: Path) -> None:
    examples = by_convention(24, seed=5)
    encoder = labeller.manifest.model.encoder
    trained = train(
        toy.corpus(120), model=ModelConfig(encoder=encoder, depth=2), training=QUICK, words=examples, progress=False
    )
    expected = update(labeller, examples, toy.corpus(120))
    assert all(torch.equal(weight, weights(trained)[name]) for name, weight in weights(expected).items())
    trained.save_pretrained(tmp_path / "model")
    assert load(tmp_path / "model").manifest.word_labels == {"network": 24}
    assert "with word labels of 24 sentences" in " ".join((tmp_path / "model" / "README.md").read_text().split())


def test_it_is_refused_what_says_nothing(labeller: WordLabeller) -> None:
    silent = tuple(one for one in by_convention(20, seed=1) if not one.labels[0])
    with pytest.raises(ZerotagError, match="there is no positive word among these"):
        labeller.update(silent)
    classifier = tiny.labeller(config=ModelConfig(encoder="tiny", depth=2, window=32, head="cls"))
    with pytest.raises(ZerotagError, match="head cls"):
        classifier.update(by_convention(4, seed=1))


def test_features_and_weights_make_the_networks_own_scores(labeller: WordLabeller) -> None:
    sentences = [one.sentence for one in toy.gold(5)]
    read = word_features(labeller.network, labeller.aligner, labeller.aligner.encode(sentences))
    head = labeller.network.head
    weight, bias = head.attention_score.weight.detach().numpy(), head.attention_score.bias.detach().numpy()  # type: ignore[union-attr,operator]
    for scored, (its_features, its_logits) in zip(labeller.score(sentences), read, strict=True):
        assert its_features[:, 0] @ weight[0] + bias[0] == pytest.approx(its_logits[:, 0], abs=1e-4)
        assert 1 / (1 + np.exp(-its_logits)) == pytest.approx(scored.word_scores, abs=1e-5)


def test_a_stiff_prior_changes_no_weight_and_a_slack_one_follows_the_words() -> None:
    draw = np.random.default_rng(0)
    features = draw.normal(size=(300, 4)).astype(np.float32)
    positive = (features[:, 2] > 0).astype(np.float64)
    words = Words(features, np.zeros(300), positive, np.ones(300), np.arange(300))
    assert not fitted(words, Calibration(), float("inf")).change.any()
    stiff, slack = (fitted(words, Calibration(), stiffness).change for stiffness in (1e6, 0.1))
    assert np.abs(stiff).max() < 1e-3
    assert int(np.abs(slack).argmax()) == 2
    assert slack[2] > 1


def drawn_words(truth: np.ndarray, seed: int, sentences: int = 30) -> Words:
    """Ten words a sentence with eight features, which are positive as a change of the weights makes them likely."""
    draw, count = np.random.default_rng(seed), 10 * sentences
    features = draw.normal(size=(count, 8)).astype(np.float32)
    logits = draw.normal(-2, 2, count)
    positive = draw.random(count) < 1 / (1 + np.exp(-logits - features @ truth))
    sentence = np.repeat(np.arange(sentences), 10)
    return Words(features, logits, positive.astype(np.float64), np.ones(count), sentence)


def test_the_layer_moves_only_where_held_out_words_are_better_predicted_beyond_chance() -> None:
    prior, rule = Calibration(1.0, 0.0, 0.5), Rule(0.5, 0.4)
    contrary = np.array([3.0, -3.0, 0, 0, 0, 0, 0, 0])
    stayed, moved = (
        [refit_label(drawn_words(truth, seed), prior, rule) for seed in range(20)] for truth in (0 * contrary, contrary)
    )
    assert sum(one.change.any() for one in stayed) <= 3  # the lowest loss is that of a move in half of them
    assert all(one.change[0] > 0.5 > -0.5 > one.change[1] for one in moved)
    assert all(one.calibration == prior for one in stayed if not one.change.any())


def test_labels_without_a_positive_word_stay_as_they_are() -> None:
    two = tiny.labeller(labels=("hedge", "fault"))
    examples = [
        CorrectedExample(
            one.sentence, (one.labels[0], False), tuple((word[0], False) for word in one.word_labels or ())
        )
        for one in toy.gold(12)
    ]
    updated, (_, fault) = refit(two, examples)
    assert not fault.change.any()
    assert fault.word_threshold == two.rules[1].word_threshold
    before, after = (one.network.state_dict()["head.attention_score.weight"] for one in (two, updated))
    assert torch.equal(before[1], after[1])
    assert replace(two.manifest, calibration=()) == two.manifest
