"""The ways of the paper's reference code: each setting does what that code does, everywhere, and nothing by default."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import tiny
from zerotag.config import ModelConfig, TrainConfig
from zerotag.explain import create
from zerotag.labeller import WordLabeller, load
from zerotag.modeling.heads import HeadOutput
from zerotag.modeling.losses import loss
from zerotag.modeling.network import TensorBatch
from zerotag.presets import PRESETS
from zerotag.research.compare.experiment_file import read_experiment
from zerotag.research.reference import EndAligner, FirstWindowAligner, LoneWordAligner, ReferenceAligner
from zerotag.text.alignment import Aligner, word_scores
from zerotag.training.optimizers import warm_then_linear
from zerotag.training.recipe import train
from zerotag.types import Sentence

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
SENTENCE = Sentence.from_words(["The", "Valve", "possibly", "leaks", "without", "warning", "."])
LONG = Sentence.from_words([word for words, _ in tiny.sentences(12) for word in words])  # more than one window of 32
PLAIN = ModelConfig(encoder="tiny", depth=2, window=32)
REFERENCE = replace(PLAIN, tokenization="reference")
SEPARATOR = 3


def aligner(kind: type[Aligner], family: str) -> Aligner:
    return kind(tiny.tokenizer(family).backend_tokenizer, window=32, pad_id=0)


class CuttingLabeller(WordLabeller):
    """Reads one window of a sentence and no more."""

    def __init__(self, labeller: WordLabeller) -> None:
        super().__init__(labeller.network, labeller.tokenizer, labeller.manifest)
        self.aligner = aligner(FirstWindowAligner, "bert")


@pytest.mark.parametrize("family", ["bert", "roberta", "deberta-v2"])
def test_lone_words_are_tokenized_one_by_one_in_lower_case(family: str) -> None:
    found = aligner(LoneWordAligner, family).encode([SENTENCE, LONG])
    tokenizer = tiny.tokenizer(family)
    for encoded, sentence in zip(found, (SENTENCE, LONG), strict=True):
        by_word = [tokenizer.encode(word.lower(), add_special_tokens=False) for word in sentence.words]
        assert encoded.ids.tolist() == [number for ids in by_word for number in ids]
        assert encoded.pair_words.tolist() == [place for place, ids in enumerate(by_word) for _ in ids]
        assert encoded.pair_tokens.tolist() == [*range(len(encoded))]


def test_lone_words_are_others_for_byte_level_sub_words_and_the_same_for_uncased_word_pieces() -> None:
    for family, same in (("roberta", False), ("bert", True)):
        alone, running = (aligner(kind, family).encode([SENTENCE])[0] for kind in (LoneWordAligner, Aligner))
        assert (alone.ids.tolist() == running.ids.tolist()) is same


def test_a_lone_word_cannot_smuggle_in_a_special_token_and_unknown_ones_get_a_placeholder() -> None:
    spelled, unknown = aligner(LoneWordAligner, "bert").encode(
        [Sentence.from_words(["pump", "[SEP]"]), Sentence.from_words(["\x00", "\x01"])]
    )
    assert SEPARATOR not in spelled.ids
    assert (len(unknown), unknown.words, unknown.pair_words.tolist()) == (1, 2, [0, 1])


def test_the_end_takes_part_beside_the_words_and_is_no_words() -> None:
    plain, attending = (aligner(kind, "bert") for kind in (Aligner, EndAligner))
    short = Sentence.from_words(["pump"])
    encoded = attending.encode([SENTENCE, short])
    before, after = plain.batch(encoded), attending.batch(encoded)
    added = after.token_mask & ~before.token_mask
    assert not (before.token_mask & ~after.token_mask).any()  # words are still there
    assert added.sum(axis=1).tolist() == [1, 1]
    assert after.input_ids[added].tolist() == [SEPARATOR, SEPARATOR]
    scores = np.arange(after.token_mask.size, dtype=np.float32).reshape(*after.token_mask.shape, 1)
    assert [len(one) for one in attending.tokens(after, scores, encoded)] == [len(one) for one in encoded]


def test_the_end_of_a_long_sentence_is_that_of_its_last_window() -> None:
    attending = aligner(EndAligner, "bert")
    encoded = attending.encode([LONG, SENTENCE])
    batch = attending.batch(encoded)
    assert batch.stitch is not None
    for row, one in enumerate(encoded):
        tokens = batch.input_ids.ravel()[batch.stitch[row]][batch.token_mask[row]]
        assert tokens.tolist() == [*one.ids.tolist(), SEPARATOR]
    windows = len(attending.windows(len(encoded[0])))
    last = batch.stitch[0, len(encoded[0])] // batch.input_ids.shape[1]
    assert (windows > 1, last) == (True, windows - 1)


@pytest.mark.parametrize("sentence", [SENTENCE, LONG])
def test_the_end_has_a_say_in_the_sentence_and_in_the_losses(sentence: Sentence) -> None:
    labeller = tiny.labeller(config=replace(PLAIN, tokenization="attend-to-end"))
    encoded = labeller.aligner.encode([sentence])
    batch = TensorBatch.of(labeller.aligner.batch(encoded), torch.device("cpu"))
    with torch.no_grad():
        output = labeller.network(batch)
        assert output.token_logits is not None
        end = torch.zeros_like(batch.token_mask)
        end[0, torch.nonzero(batch.token_mask[0])[-1]] = True
        token_logits = output.token_logits.masked_fill(end.unsqueeze(-1), 9.0)
        raised = HeadOutput(output.sentence_logits, token_logits)
        label = torch.ones(1, 1)
        highest = loss(raised, batch.token_mask, label, 1.0) - loss(raised, batch.token_mask, label, 0.0)
        lowest = torch.sigmoid(token_logits[batch.token_mask & ~end]).min()
    # The last term is L3: the end, which now has the highest score, is as good as 1, the label.
    assert highest.item() == pytest.approx(lowest.item() ** 2 + (1 - 1 / (1 + np.exp(-9.0))) ** 2, abs=1e-6)
    plain = tiny.labeller(config=PLAIN)
    with_end, without = (next(iter(one.score([sentence]))) for one in (labeller, plain))
    assert with_end.sentence_scores != without.sentence_scores
    np.testing.assert_allclose(with_end.word_scores, without.word_scores, rtol=1e-5)  # a token's score is its own


def test_words_past_the_window_score_nothing_and_are_not_read() -> None:
    cutting = CuttingLabeller(tiny.labeller(config=PLAIN))
    uncut = cutting.aligner.encode_whole([LONG])[0]
    capacity = cutting.aligner.capacity
    whole_words = int(uncut.pair_words[capacity])  # of these, every sub-word is within the window
    assert 0 < whole_words < len(LONG.words)
    found = next(iter(cutting.score([LONG])))
    alone = next(iter(cutting.score([Sentence.from_words(LONG.words[:whole_words])])))
    assert uncut.pair_words[capacity - 1] == whole_words - 1  # the window ends with a word
    np.testing.assert_allclose(found.word_scores[:whole_words], alone.word_scores, rtol=1e-5)
    assert found.sentence_scores == pytest.approx(alone.sentence_scores)
    assert (found.word_scores[whole_words:] == 0).all()
    assert (next(iter(tiny.labeller(config=PLAIN).score([LONG]))).word_scores > 0).all()  # windows read them all


@pytest.mark.parametrize("method", ["occlusion", "gradient-x-input", "heads:1.1"])
def test_other_methods_stop_at_the_window_too(method: str) -> None:
    cutting = CuttingLabeller(tiny.labeller(config=replace(PLAIN, head="cls")))
    scorer = create(method, cutting)
    found = next(iter(scorer.score([LONG]))).word_scores
    assert scorer.passes == (len(LONG.words) + 1 if method == "occlusion" else 1)  # no version takes two windows
    assert np.any(found[:5] != 0)
    assert (found[-5:] == 0).all()


def test_a_window_without_a_word_has_a_placeholder() -> None:
    spaces = Sentence(" " * 100 + "pump", ("pump",), ((100, 104),))
    encoded = aligner(FirstWindowAligner, "roberta").encode([spaces])[0]
    assert (len(encoded), encoded.words) == (1, 1)
    assert word_scores(encoded, np.full((1, 1), 0.7, np.float32)).item() == pytest.approx(0.7)


def test_twice_squashed_is_a_softmax_over_two_sigmoids() -> None:
    logits = torch.tensor([[-3.0], [0.5], [8.0]], requires_grad=True)
    labels = torch.tensor([[0.0], [1.0], [0.0]])
    ours = loss(HeadOutput(logits, None), torch.ones(3, 1), labels, 0.1, "twice-squashed")
    pair = torch.cat([-logits, logits], dim=1).detach().requires_grad_()
    theirs = F.cross_entropy(torch.sigmoid(pair), labels.long().squeeze(1))
    assert ours.item() == pytest.approx(theirs.item())
    theirs.backward()
    assert pair.grad is not None
    torch.testing.assert_close(pair.grad[:, 0], -pair.grad[:, 1])  # so that the pair stays one
    (gradient,) = torch.autograd.grad(ours, logits)
    torch.testing.assert_close(gradient.squeeze(1), 2 * pair.grad[:, 1])
    sure_and_wrong = loss(
        HeadOutput(torch.full((1, 1), 50.0), None), torch.ones(1, 1), torch.zeros(1, 1), 0, "twice-squashed"
    )
    assert sure_and_wrong.item() == pytest.approx(np.log(1 + np.e))  # there is no more to lose than that


def test_warm_up_counted_in_sentences_outlasts_the_training() -> None:
    training = replace(PRESETS["reference"][1], epochs=2)
    sentences = 160
    assert training.batch_size is not None
    assert training.epochs is not None
    steps = sentences // training.batch_size * training.epochs
    rates = [warm_then_linear(step, steps, training.warmup) for step in range(steps)]
    warm_steps = int(0.1 * sentences * training.epochs)  # the reference's own count
    assert (steps, warm_steps) == (20, 32)
    assert rates == pytest.approx([(step + 1) / warm_steps for step in range(steps)])


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> WordLabeller:
    encoder = str(tiny.encoder_folder(tmp_path_factory.mktemp("encoder"), "roberta"))
    _, training = PRESETS["reference"]
    return train(
        tiny.corpus(40),
        model=replace(REFERENCE, encoder=encoder),
        training=replace(training, epochs=2, learning_rate=1e-3),
    )


def test_a_model_keeps_its_ways(trained: WordLabeller, tmp_path: Path) -> None:
    trained.save_pretrained(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.manifest.model.tokenization == "reference"
    assert (again.manifest.training.loss, again.manifest.training.warmup) == ("twice-squashed", 1.6)
    assert type(again.aligner) is ReferenceAligner
    for before, after in zip(trained.score([SENTENCE, LONG]), again.score([SENTENCE, LONG]), strict=True):
        np.testing.assert_array_equal(before.word_scores, after.word_scores)
        assert before.sentence_scores == after.sentence_scores
    assert (after.word_scores[-5:] == 0).all()


@pytest.mark.parametrize("name", ["lone-words", "attend-to-end", "reference"])
def test_training_listens_to_each_setting(name: str, tmp_path: Path) -> None:
    model = replace(PLAIN, encoder=str(tiny.encoder_folder(tmp_path / "encoder", "roberta")), window=16)
    training = TrainConfig(epochs=1, learning_rate=1e-3)
    weights = [
        train(tiny.corpus(24), model=config, training=training).network.state_dict()["head.sentence_hidden.weight"]
        for config in (model, replace(model, tokenization=name))
    ]
    assert not torch.equal(*weights)


def test_the_experiment_measures_the_first_two_by_themselves_and_all_together() -> None:
    experiment = read_experiment(EXPERIMENTS / "reference-fce.toml")
    plain = experiment.trainings["w-sa"]
    assert plain == replace(read_experiment(EXPERIMENTS / "paper-mpnet.toml").trainings["w-sa"], name="w-sa")
    for name in ("lone-words", "attend-to-end"):
        training = experiment.trainings[name]
        assert training.model == replace(plain.model, tokenization=name)
        assert training.training == plain.training
    model, training_config = PRESETS["reference"]
    whole = experiment.trainings["reference"]
    assert whole.model == replace(model, encoder=plain.model.encoder)
    assert whole.training == replace(training_config, patience=5, group_by_length=True)  # as these runs were made
    assert len(experiment.seeds) == 3
