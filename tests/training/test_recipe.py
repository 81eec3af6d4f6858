"""The recipe: a teacher, a network that learns its words, and thresholds from sentence labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from torch import Tensor

import tiny
import toy
from zerotag.config import ModelConfig, TrainConfig
from zerotag.evaluation.report import Measures, evaluate
from zerotag.labeller import WordLabeller
from zerotag.modeling.network import Network, TensorBatch
from zerotag.presets import PLAIN, PRESETS
from zerotag.text.alignment import Aligner, on_tokens
from zerotag.training.loop import EncodedCorpus, Run
from zerotag.training.objectives import Objective
from zerotag.training.pseudo_labels import PseudoLabels, Sentences, token_targets
from zerotag.training.recipe import Progress, train
from zerotag.training.teacher import Teacher
from zerotag.training.thresholds import ORIGIN
from zerotag.types import Corpus, Example, Rule, Sentence

LEARNING = TrainConfig(teacher_epochs=3, teachers=1, epochs=3, batch_size=8, learning_rate=5e-3)
QUICK = replace(LEARNING, teacher_epochs=2, epochs=2, batch_size=16)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelConfig:
    return ModelConfig(encoder=str(tiny.encoder_folder(tmp_path_factory.mktemp("encoder"))), depth=2)


def measured(labeller: WordLabeller) -> Measures:
    gold = toy.gold(60, labels=labeller.label_names, seed=1)
    scored = labeller.score(example.sentence for example in gold)
    return evaluate(zip(gold, scored, strict=True), labeller.label_names, labeller.rules).macro


def runner_up(labeller: WordLabeller) -> float:
    """The best score of a word that is no cue, as a share of the cue's: the mean over sentences with a cue."""
    shares = []
    for example in toy.gold(60, seed=1):
        if example.labels[0]:
            (scored,) = labeller.score([example.sentence])
            is_cue = np.array(example.word_labels)[:, 0]
            shares.append(scored.word_scores[~is_cue].max() / scored.word_scores[is_cue].max())
    return float(np.mean(shares))


# What is learnt


def test_cues_are_found_and_thresholds_come_from_sentence_labels(model: ModelConfig) -> None:
    labeller = train(toy.corpus(120), toy.corpus(40, seed=9), model=model, training=LEARNING)
    measures = measured(labeller)
    assert (measures.map, measures.word_f1, measures.sentence_f1) == (1.0, 1.0, 1.0)
    (rule,) = labeller.rules
    assert rule.origin == ORIGIN
    assert Rule().word_threshold != rule.word_threshold
    assert Rule().sentence_threshold != rule.sentence_threshold
    assert labeller.manifest.training == LEARNING
    assert labeller.manifest.model.attention_size == tiny.WIDTH
    assert {name.partition(".")[0] for name in labeller.network.state_dict()} == {"encoder", "head"}, "no teacher left"


def test_it_stands_beside_the_lexical_baseline(model: ModelConfig) -> None:
    """On the same sentences, whatever the network has learnt; published ways are left as they are."""
    corpus, dev = toy.corpus(40), toy.corpus(40, seed=9)
    hasty = replace(LEARNING, epochs=1, teacher_epochs=1)
    scores = train(corpus, dev, model=model, training=hasty).manifest.scores
    lexical_model, lexical_training = PRESETS["lexical"]
    lexical = train(corpus, dev, model=lexical_model, training=lexical_training).manifest.scores
    assert scores["dev sentence F1, lexical baseline"] == pytest.approx(lexical["dev sentence F1"])
    assert "dev sentence F1, lexical baseline" not in lexical
    plain = train(corpus, dev, model=model, training=replace(PLAIN, epochs=1)).manifest.scores
    assert "dev sentence F1, lexical baseline" not in plain


def test_three_labels_have_their_own_cues_and_thresholds(model: ModelConfig) -> None:
    labels = tuple(toy.CUES)
    settings = replace(LEARNING, epochs=4, learning_rate=1e-2)
    labeller = train(toy.corpus(200, labels=labels), model=model, training=settings)
    measures = measured(labeller)
    assert (measures.map, measures.word_f1, measures.sentence_f1) == (1.0, 1.0, 1.0)
    assert [rule.origin for rule in labeller.rules] == [ORIGIN] * 3
    assert len({rule.word_threshold for rule in labeller.rules}) == 3
    (result,) = labeller.label([["the", "pump", "perhaps", "leaks", "in", "winter"]])
    assert [word.labels for word in result.words] == [(), (), ("hedge",), ("fault",), (), ("wet",)]


def leaking(encode: Callable[[Any, TensorBatch], Tensor]) -> Callable[[Any, TensorBatch], Tensor]:
    """An encoder whose every token knows the one before it, if that can be seen, as well as itself."""

    def leaky(network: Network, batch: TensorBatch) -> Tensor:
        states = encode(network, batch)
        return states + (states * batch.attention_mask.unsqueeze(-1)).roll(1, dims=1)

    return leaky


def test_the_word_after_a_cue_is_told_from_it_better_than_without_teacher(
    model: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By itself, soft attention takes both: a precision of a half, and an F1 of two thirds."""
    monkeypatch.setattr(Network, "encode", leaking(Network.encode))
    monkeypatch.setattr(Teacher, "encode", leaking(Teacher.encode))
    corpus, dev = toy.corpus(200), toy.corpus(60, seed=9)
    without = train(corpus, dev, model=model, training=replace(PLAIN, epochs=6, batch_size=8, learning_rate=5e-3))
    taught = train(corpus, dev, model=model, training=LEARNING)
    before, after = measured(without).word_f1, measured(taught).word_f1
    assert before == pytest.approx(2 / 3, abs=0.02)
    assert after is not None
    assert after > 0.78
    assert runner_up(taught) < 0.7 * runner_up(without)


def test_a_document_of_many_windows_is_taught(model: ModelConfig) -> None:
    words = [word for example in toy.gold(100, seed=2) for word in example.sentence.words]
    corpus = toy.corpus(20)
    labeller = train(
        Corpus(corpus.label_names, (*corpus.examples, Example(Sentence.from_words(words), (True,)))),
        toy.corpus(10, seed=3),
        model=model,
        training=replace(QUICK, teacher_epochs=1, epochs=1, batch_size=4),
    )
    assert all(tensor.isfinite().all() for tensor in labeller.network.state_dict().values())


# What reaches whom


def test_the_network_is_taught_what_the_teacher_says(model: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """The teacher learns from labels alone; the network from the teacher's targets, each beside its own sentence."""
    seen: list[tuple[Network, Any]] = []
    targets: list[Any] = []

    def watched(network: Network, objective: Objective, aligner: Aligner, train_set: EncodedCorpus, *rest: Any) -> Run:
        seen.append((network, train_set.token_targets))
        return Run(network, objective, aligner, train_set, *rest)

    def teach(teacher: Network, _: object, sentences: Sentences, dev: Sentences, mask_id: int | None) -> PseudoLabels:
        assert isinstance(teacher, Teacher)
        assert not teacher.training
        for given, corpus in ((sentences, toy.corpus(20)), (dev, toy.corpus(10, seed=1))):
            assert given.labels.tolist() == [list(example.labels) for example in corpus.examples]
            assert given.words == [example.sentence.words for example in corpus.examples]
        assert mask_id == tiny.tokenizer().mask_token_id
        encoded = sentences.encoded
        said = [np.full((sentence.words, 1), number / 20, np.float32) for number, sentence in enumerate(encoded)]
        for words in said:
            words[0] = 1
        targets.extend(on_tokens(sentence, words) for sentence, words in zip(encoded, said, strict=True))
        return PseudoLabels(said, np.zeros(1, np.float32))

    monkeypatch.setattr("zerotag.training.recipe.Run", watched)
    monkeypatch.setattr("zerotag.training.recipe.pseudo_labels", teach)
    train(toy.corpus(20), toy.corpus(10, seed=1), model=model, training=QUICK)
    assert [(type(network), given is None) for network, given in seen] == [(Teacher, True), (Network, False)]
    assert [one.tolist() for one in seen[1][1]] == [one.tolist() for one in targets]
    assert not {id(p) for p in seen[0][0].parameters()} & {id(p) for p in seen[1][0].parameters()}


def test_several_teachers_differ_and_are_all_heard(model: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Any] = []
    progress: list[Progress] = []

    def listen(sentences: list[Any], said: list[Any]) -> list[Any]:
        heard.extend(said)
        return token_targets(sentences, said)

    monkeypatch.setattr("zerotag.training.recipe.token_targets", listen)
    for teachers in (1, 2):
        training = replace(QUICK, teachers=teachers)
        train(toy.corpus(20), toy.corpus(10, seed=1), model=model, training=training, on_progress=progress.append)
    alone, first, second = (np.concatenate(said) for said in heard)
    np.testing.assert_array_equal(alone, first)
    assert np.abs(first - second).max() > 1e-3
    assert progress[-1].epochs == progress[-1].epochs_done == 2 * 2 + 2
    assert progress[-1].steps_done == progress[-1].steps


def test_more_weight_on_words_is_more_loss(model: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the first step of the network shows, which all trainings have in common."""
    monkeypatch.setattr("zerotag.training.loop.REPORT_SECONDS", 0.0)
    losses = []
    for weight in (0.0, 1.0, 2.0):
        seen: list[Progress] = []
        train(toy.corpus(40), model=model, training=replace(QUICK, word_weight=weight), on_progress=seen.append)
        (first,) = [p.loss for p in seen if p.steps_done == 7]  # the teacher has two epochs of three steps
        losses.append(first)
    assert losses[0] > 0
    assert losses[2] - losses[1] == pytest.approx(losses[1] - losses[0], rel=1e-4)
    assert losses[1] - losses[0] > 0.1


def test_who_cannot_have_a_teacher_has_none(model: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("there should be no teacher")

    monkeypatch.setattr("zerotag.training.recipe.Teacher", refuse)
    classifier = train(toy.corpus(20), model=replace(model, head="cls"), training=QUICK)
    bilstm = train(toy.corpus(20), model=PRESETS["bilstm"][0], training=replace(QUICK, epochs=1))
    for labeller in (classifier, bilstm):
        assert labeller.manifest.training.teacher_epochs == 0
    assert classifier.rules == (Rule(),)  # no words to decide on
    assert bilstm.rules[0].origin == ORIGIN
    with pytest.raises(AssertionError, match="no teacher"):
        train(toy.corpus(20), model=model, training=QUICK)


def test_thresholds_are_fixed_where_nothing_can_be_or_should_be_learnt(model: ModelConfig) -> None:
    positive = Corpus(("hedge",), tuple(one for one in toy.corpus(40, seed=1).examples if one.labels[0]))
    assert train(toy.corpus(20), positive, model=model, training=QUICK).rules == (Rule(),)
    assert train(toy.corpus(20), model=model, training=replace(QUICK, calibrated=False)).rules == (Rule(),)
