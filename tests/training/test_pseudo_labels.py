"""What a teacher says of words: whose evidence is whose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModel, BertConfig, BertModel

import tiny
from zerotag.config import ModelConfig
from zerotag.inference.predictor import predict
from zerotag.inference.torch_predictor import TorchPredictor
from zerotag.modeling.encoders import truncate
from zerotag.modeling.heads import HeadOutput
from zerotag.modeling.network import Network, TensorBatch, read_with
from zerotag.text.alignment import Aligner, Encoded
from zerotag.training import lexical
from zerotag.training.observations import observe
from zerotag.training.pseudo_labels import (
    UNSEEN,
    Sentences,
    contextual_worth,
    false_alarms,
    pseudo_labels,
    token_targets,
)
from zerotag.training.teacher import DoubleReading, Teacher
from zerotag.types import BoolArray, FloatArray, Sentence

CPU = torch.device("cpu")
CONFIG = ModelConfig(encoder="tiny", window=tiny.POSITIONS // 2)


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner(tiny.tokenizer().backend_tokenizer, window=CONFIG.window, pad_id=0)


def encoded(aligner: Aligner, *texts: str) -> list[Encoded]:
    return aligner.encode([Sentence.from_words(text.split()) for text in texts])


def word_worth(
    teacher: Network, aligner: Aligner, sentences: Sequence[Encoded], words: Sequence[Sequence[str]], labels: BoolArray
) -> list[FloatArray]:
    """Contextual pseudo-labels; the teacher scores each label once or, as one that is read at two heights, twice."""
    reading = DoubleReading(teacher) if isinstance(teacher, Teacher) else teacher
    return contextual_worth(observe(reading, aligner, sentences, labels), words, labels)


def worth_of(teacher: Network, aligner: Aligner, *texts: str, positive: int | None = None) -> list[FloatArray]:
    """What the words of sentences are worth for the only label, which the first `positive` of them have, or all."""
    labels = np.arange(len(texts)) < (len(texts) if positive is None else positive)
    words = [text.split() for text in texts]
    return [worth[:, 0] for worth in word_worth(teacher, aligner, encoded(aligner, *texts), words, labels[:, None])]


# What words are worth, by hand

DULL, HIDDEN = 0.05, 0.01

Script = tuple[Mapping[str, float], Mapping[str, float]]
"""Of one label: the words that have a score of their own, and those that lend one."""


class Scripted(Network):
    """A teacher whose scores can be followed: a cue has its own, and lends one to the word after it while in view.

    It is read twice, as teachers are: the lowest layers say what the upper ones do, unless `below` says otherwise.
    """

    def __init__(self, *labels: Script, below: Sequence[Script] = ()) -> None:
        nn.Module.__init__(self)
        self.nothing = nn.Parameter(torch.zeros(1))
        vocabulary = tiny.tokenizer().get_vocab()
        scripts = [*labels, *(below or labels)]
        self._labels = [[{vocabulary[word]: score for word, score in part.items()} for part in one] for one in scripts]
        self.sentences_read = 0

    def encode(self, batch: TensorBatch) -> Tensor:
        return torch.stack([batch.input_ids, batch.attention_mask], dim=-1)

    def read(self, encoded: Tensor, batch: TensorBatch) -> HeadOutput:  # noqa: ARG002
        self.sentences_read += len(encoded)
        scores = [[[self._score(row, t, *label) for label in self._labels] for t in range(len(row))] for row in encoded]
        logits = torch.logit(torch.tensor(scores, dtype=torch.float64)).float()
        return HeadOutput(logits.amax(dim=1), logits)

    def _score(self, row: Tensor, t: int, own: Mapping[int, float], lent: Mapping[int, float]) -> float:
        number, in_view = row[t].tolist()
        before, before_in_view = row[t - 1].tolist() if t else (0, 0)
        return max(own.get(number, DULL), before_in_view * lent.get(before, 0.0)) if in_view else HIDDEN


def test_evidence_that_comes_from_another_word_is_worth_nothing(aligner: Aligner) -> None:
    """`holds` beside a cue looks like the second-best word, before another cue; with `may` hidden it is dull."""
    teacher = Scripted(({"may": 0.9, "leaks": 0.8}, {"may": 0.85}))
    (worth,) = worth_of(teacher, aligner, "the pump may holds at night leaks .")
    dull, holds, leaks = DULL * DULL / 0.81, 0.85 * DULL / 0.81, 0.64 / 0.81
    assert worth.tolist() == pytest.approx([dull, dull, 1.0, holds, dull, dull, leaks, dull], rel=1e-4)
    assert teacher.sentences_read == 4  # as it is, and with each of the three strongest words hidden


def test_a_word_is_not_judged_while_it_is_hidden_itself(aligner: Aligner) -> None:
    """Both words score next to nothing while they are hidden, and are worth what they score in view."""
    (worth,) = worth_of(Scripted(({"may": 0.9, "runs": 0.6}, {})), aligner, "may runs")
    assert worth.tolist() == pytest.approx([1.0, 0.36 / 0.81], rel=1e-4)


def test_a_word_may_lose_to_any_of_the_three_strongest_but_no_further(aligner: Aligner) -> None:
    lenders = {"may": 0.9, "leaks": 0.8, "runs": 0.7, "works": 0.6}
    for lender, is_hidden in {"may": True, "leaks": True, "runs": True, "works": False}.items():
        teacher = Scripted((lenders, {lender: 0.5}))
        text = f"the {lender} at " + " ".join(f"{word} the" for word in lenders if word != lender)
        (worth,) = worth_of(teacher, aligner, text)
        assert worth[2] == pytest.approx(0.5 * (DULL if is_hidden else 0.5) / 0.81, rel=1e-4), lender


def test_a_word_may_lose_to_those_that_the_lowest_layers_name(aligner: Aligner) -> None:
    """`holds` has its score from `may`, which three words outdo in the upper layers, and none in the lowest."""
    own = {"pump": 0.9, "valve": 0.88, "night": 0.87, "may": 0.6}
    for below, left in ((own, 0.8), ({"may": 0.9}, DULL)):
        teacher = Scripted((own, {"may": 0.8}), below=[(below, {})])
        (worth,) = worth_of(teacher, aligner, "the pump the valve the night the may holds .")
        assert worth[8] == pytest.approx(0.8 * left / 0.81, rel=1e-4)


def test_the_only_word_is_the_best(aligner: Aligner) -> None:
    teacher = Scripted(({"may": 0.9}, {}))
    assert len(encoded(aligner, "perhaps")[0]) > 1
    assert [worth.tolist() for worth in worth_of(teacher, aligner, "may", "pump", "perhaps")] == [[1], [1], [1]]


def test_words_without_sub_words_are_worth_nothing_and_words_without_score_divide_nothing(aligner: Aligner) -> None:
    teacher = Scripted(({"may": 0.9}, {}))
    (worth,) = worth_of(teacher, aligner, "the \u0301 may")
    assert worth.tolist() == pytest.approx([DULL**2 / 0.81, 0.0, 1.0], rel=1e-4)
    assert worth_of(Scripted(({"at": 0.0}, {})), aligner, "at")[0].tolist() == [0]


# False alarms


def test_what_words_score_where_they_are_innocent_by_hand() -> None:
    """Upper and lower case are one word, and each has scored 0 five times before it is met."""
    met = [(["May", "be", "may"], np.array([0.8, 0.1, 0.4], np.float32)), (["be"], np.array([0.3], np.float32))]
    assert false_alarms(met) == pytest.approx({"may": 1.2 / (2 + 5), "be": 0.4 / (2 + 5)})
    assert UNSEEN == 5
    assert false_alarms([]) == {}


def test_what_a_word_scores_in_sentences_without_the_label_is_taken_off(aligner: Aligner) -> None:
    """`works` scores 0.6 wherever it stands, also in two sentences that have no label; `leaks` is only met with it."""
    teacher = Scripted(({"leaks": 0.8, "works": 0.6}, {}))
    worth = worth_of(teacher, aligner, "the leaks Works", "the pump works", "works .", positive=1)
    the, works = DULL - DULL / 6, 0.6 - 1.2 / 7
    assert worth[0].tolist() == pytest.approx([the**2 / 0.64, 1.0, works**2 / 0.64], rel=1e-4)
    assert not np.concatenate(worth[1:]).any()


def test_a_word_that_scores_less_than_usual_is_worth_nothing(aligner: Aligner) -> None:
    """It scores less than usual in view and with `may` hidden: two losses do not make a gain."""
    teacher = Scripted(({"may": 0.9, "holds": 0.5}, {"at": 0.7}))
    worth = worth_of(teacher, aligner, "may holds", *["at holds"] * 100, positive=1)
    assert 100 * 0.7 / 105 > 0.5
    assert worth[0].tolist() == [1.0, 0.0]


def test_a_word_may_be_innocent_of_one_label_and_not_of_another(aligner: Aligner) -> None:
    teacher = Scripted(({"may": 0.9, "runs": 0.6}, {}), ({"leaks": 0.8, "runs": 0.3}, {}))
    texts = ["may runs", "leaks runs"]
    labels = np.array([[True, False], [False, True]])
    first, second = word_worth(teacher, aligner, encoded(aligner, *texts), [text.split() for text in texts], labels)
    assert first.T.tolist() == [pytest.approx([1, (0.6 - 0.6 / 6) ** 2 / 0.81], rel=1e-4), [0, 0]]
    assert second.T.tolist() == [[0, 0], pytest.approx([1, (0.3 - 0.3 / 6) ** 2 / 0.64], rel=1e-4)]


# Targets of tokens


def test_each_label_has_its_own_sentences_and_words(aligner: Aligner) -> None:
    """Three labels: `may` for the first, `leaks` for the second, whoever follows `pump` for the third."""
    teacher = Scripted(({"may": 0.9}, {}), ({"leaks": 0.8}, {}), ({}, {"pump": 0.7}))
    texts = "the pump may works", "may leaks", "a valve leaks", "may leaks the pump works"
    sentences = encoded(aligner, *texts)
    names = [[str(number)] * len(text.split()) for number, text in enumerate(texts)]  # no word is met elsewhere
    labels = np.array([[True, False, True], [False, False, False], [False, True, False], [True, True, False]])
    may, leaks = DULL**2 / 0.9**2, DULL**2 / 0.8**2  # what other words are worth beside these
    third = DULL**2 / (0.7 * DULL)  # the best word is as dull as all others while `pump` is hidden
    expected: list[list[list[float]]] = [
        [[may, 0, third], [may, 0, third], [1, 0, 1], [may, 0, third]],
        [[0, 0, 0]] * 2,
        [[0, leaks, 0], [0, leaks, 0], [0, 1, 0]],
        [[1, leaks, 0], [may, 1, 0], *[[may, leaks, 0]] * 3],
    ]
    targets = token_targets(sentences, [word_worth(teacher, aligner, sentences, names, labels)])
    assert [one.dtype for one in targets] == [np.float32] * 4
    for found, wanted in zip(targets, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4)


def test_every_sub_word_gets_the_worth_of_its_word_and_the_best_of_two() -> None:
    """A word of three sub-words, one of two that shares the second with the last word, and a sub-word of no word."""
    pair_tokens, pair_words = np.array([[0, 0], [1, 0], [2, 0], [3, 1], [4, 1], [4, 2]]).T
    sentence = Encoded(np.arange(10, 16), pair_tokens, pair_words, 3)
    (target,) = token_targets([sentence], [[np.array([[1.0], [0.4], [0.7]], np.float32)]])
    assert target[:, 0].tolist() == pytest.approx([1, 1, 1, 0.4, 0.7, 0])


def test_several_teachers_are_averaged(aligner: Aligner) -> None:
    sentences = encoded(aligner, "the pump may", "a valve")
    first = [np.array([[0.2, 0], [0, 1], [1, 0.5]], np.float32), np.zeros((2, 2), np.float32)]
    second = [np.array([[0.6, 0], [1, 0], [0.8, 0.3]], np.float32), np.zeros((2, 2), np.float32)]
    the_pump_may, nothing = token_targets(sentences, [first, second])
    np.testing.assert_allclose(the_pump_may, [[0.4, 0], [0.5, 0.5], [0.9, 0.4]], rtol=1e-6)
    assert not nothing.any()


def test_words_of_sentences_without_the_label_are_worth_nothing_and_read_once(aligner: Aligner) -> None:
    teacher = Scripted(({"may": 0.9}, {}))
    worth = worth_of(teacher, aligner, "may", "the pump may", positive=0)
    assert [one.tolist() for one in worth] == [[0], [0, 0, 0]]
    assert teacher.sentences_read == 2


# Hiding


def teacher_of(family: str, labels: int = 2, layers: int = tiny.LAYERS) -> tuple[Teacher, Aligner]:
    tokenizer = tiny.tokenizer(family)
    torch.manual_seed(0)
    encoder = AutoModel.from_config(tiny.shape(family, len(tokenizer)))
    truncate(encoder, layers)
    teacher = Teacher(encoder, labels, CONFIG).eval()
    with torch.no_grad():  # away from 0.5, where every score would look alike
        for name, parameter in teacher.heads.named_parameters():
            if name.endswith("weight"):
                parameter.mul_(3)
    return teacher, Aligner(tokenizer.backend_tokenizer, window=CONFIG.window, pad_id=0)


def words(count: int) -> Sentence:
    found = [word for sentence, _ in tiny.sentences(40) for word in sentence]
    return Sentence.from_words(found[:count])


def everything_else(teacher: Teacher, aligner: Aligner, sentence: Encoded, hidden: Sequence[int]) -> Tensor:
    """The scores of a sentence and of all its tokens but some."""
    (prediction,) = predict(TorchPredictor(teacher), aligner, [sentence])
    assert prediction.token_scores is not None
    rest = np.delete(prediction.token_scores, hidden, axis=0)
    return torch.from_numpy(np.concatenate([prediction.sentence_scores[None], rest]))


@pytest.mark.parametrize("length", [12, 90], ids=["one window", "several windows"])
@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_what_a_hidden_word_is_makes_no_difference(family: str, length: int) -> None:
    teacher, aligner = teacher_of(family)
    (sentence,) = aligner.encode([words(length)])
    starts = aligner.windows(len(sentence))
    assert (len(starts) > 1) == (length > 12)
    shared = starts[1] if len(starts) > 1 else 5  # the first sub-word that two windows show
    word = int(sentence.pair_words[sentence.pair_tokens == shared][0]) + 1
    its_tokens = sentence.pair_tokens[sentence.pair_words == word]
    ids = sentence.ids.copy()
    ids[its_tokens] = next(number for number in range(20, 30) if number not in ids[its_tokens])
    other = replace(sentence, ids=ids)

    in_view = [everything_else(teacher, aligner, one, its_tokens.tolist()) for one in (sentence, other)]
    hidden = [everything_else(teacher, aligner, one.hiding(word), its_tokens.tolist()) for one in (sentence, other)]
    torch.testing.assert_close(hidden[0], hidden[1], rtol=0, atol=1e-6)
    for one in (in_view[1], hidden[0]):
        assert (in_view[0] - one).abs().max() > 1e-4, "else the test could not fail"


# Several depths


@pytest.mark.parametrize(
    ("layers", "upper", "lowest"),
    [(1, [1], [1]), (2, [1, 2], [1]), (3, [2, 3], [1]), (6, [3, 4, 5, 6], [1, 2]), (12, [*range(6, 13)], [1, 2, 3, 4])],
)
def test_there_is_a_head_at_each_layer(layers: int, upper: list[int], lowest: list[int]) -> None:
    shape = BertConfig(
        vocab_size=8, hidden_size=8, num_hidden_layers=layers, num_attention_heads=1, intermediate_size=8
    )
    teacher = Teacher(BertModel(shape), 1, CONFIG)
    assert [*teacher.depths] == [*range(1, layers + 1)]
    assert len(teacher.heads) == layers
    assert [*teacher.depths][teacher.contextual] == upper
    assert [*teacher.depths][teacher.shallow] == lowest


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_scores_are_the_mean_of_what_separate_heads_say_of_separate_layers(family: str) -> None:
    teacher, aligner = teacher_of(family, labels=3)
    batch = TensorBatch.of(aligner.batch(aligner.encode([words(12), words(4)])), CPU)
    with torch.no_grad():
        states = teacher.encoder(
            batch.input_ids, attention_mask=batch.attention_mask, output_hidden_states=True
        ).hidden_states
        said = [read_with(head, states[d], batch) for head, d in zip(teacher.heads[1:], (2, 3, 4), strict=True)]
        output = teacher(batch)
    assert output.token_logits is not None
    for k in range(3):
        for s in range(2):
            mean = np.mean([one.sentence_logits[s, k].sigmoid().item() for one in said])
            assert output.sentence_logits[s, k].sigmoid().item() == pytest.approx(mean, abs=1e-6)
            for t in range(5):
                tokens = [one.token_logits[s, t, k].sigmoid().item() for one in said if one.token_logits is not None]
                assert output.token_logits[s, t, k].sigmoid().item() == pytest.approx(np.mean(tokens), abs=1e-6)
                assert max(tokens) - min(tokens) > 1e-4, "else any head would do"


def test_a_head_reads_what_an_encoder_cut_at_its_depth_gives() -> None:
    teacher, aligner = teacher_of("bert")
    batch = TensorBatch.of(aligner.batch(aligner.encode([words(8)])), CPU)
    with torch.no_grad():
        each = teacher.outputs(teacher.encode(batch), batch)
        for depth, head, output in zip((4, 3, 2, 1), reversed(teacher.heads), reversed(each), strict=True):
            truncate(teacher.encoder, depth)
            alone = read_with(
                head, teacher.encoder(batch.input_ids, attention_mask=batch.attention_mask).last_hidden_state, batch
            )
            torch.testing.assert_close(output.sentence_logits, alone.sentence_logits)
            torch.testing.assert_close(output.token_logits, alone.token_logits)


def test_a_sure_head_gives_no_infinite_logit() -> None:
    teacher, aligner = teacher_of("bert")
    with torch.no_grad():
        for parameter in teacher.heads.parameters():
            parameter.mul_(1e4)
        output = teacher(TensorBatch.of(aligner.batch(aligner.encode([words(8)])), CPU))
    assert output.token_logits is not None
    assert output.token_logits.isfinite().all()
    assert output.sentence_logits.isfinite().all()


def test_a_document_is_taught_in_several_windows() -> None:
    """Every sub-word of it gets a target, and the best word has 1."""
    teacher, aligner = teacher_of("bert")
    text = words(150)
    (document,) = aligner.encode([text])
    assert len(aligner.windows(len(document))) > 3
    worth = word_worth(teacher, aligner, [document], [text.words], np.array([[True, False]]))
    (target,) = token_targets([document], [worth])
    assert target.shape == (len(document), 2)
    assert target[:, 0].max() == 1
    assert (target[:, 0] > 0).all()
    assert not target[:, 1].any()


# Two heights, and what is lexical


def test_a_double_reading_is_the_upper_half_beside_the_lowest_third() -> None:
    teacher, aligner = teacher_of("bert", labels=2)
    batch = TensorBatch.of(aligner.batch(aligner.encode([words(12), words(4)])), CPU)
    with torch.no_grad():
        each = teacher.outputs(teacher.encode(batch), batch)
        both, own = DoubleReading(teacher)(batch), teacher(batch)
    torch.testing.assert_close(both.sentence_logits[:, :2], own.sentence_logits)
    torch.testing.assert_close(both.sentence_logits[:, 2:], each[0].sentence_logits, atol=1e-5, rtol=1e-5)
    assert both.token_logits is not None
    assert own.token_logits is not None
    torch.testing.assert_close(both.token_logits[..., :2], own.token_logits)
    assert (both.token_logits[..., 2:] - own.token_logits).abs().max() > 1e-3, "else the heights could be confused"


def sentences_of(aligner: Aligner, *texts: str, labels: Sequence[bool]) -> Sentences:
    return Sentences(encoded(aligner, *texts), [text.split() for text in texts], np.array(labels)[:, None])


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_contextual_and_lexical_pseudo_labels_are_mixed(
    aligner: Aligner, monkeypatch: pytest.MonkeyPatch, weight: float
) -> None:
    teacher, _ = teacher_of("bert", labels=1)
    train = sentences_of(aligner, "the pump may works", "may leaks", "a valve leaks", labels=[True, True, False])
    by_word = [np.full((len(text), 1), 0.5, np.float32) for text in train.words]
    monkeypatch.setattr("zerotag.training.lexical.weights", lambda *_: np.array([weight], np.float32))
    monkeypatch.setattr("zerotag.training.lexical.lexical_worth", lambda *_: by_word)
    found = pseudo_labels(teacher, aligner, train, train, tiny.tokenizer().mask_token_id)
    contextual = word_worth(teacher, aligner, train.encoded, train.words, train.labels)
    assert found.lexical_weights.tolist() == [weight]
    for mixed, one, other in zip(found.words, contextual, by_word, strict=True):
        np.testing.assert_allclose(mixed, (1 - weight) * one + weight * other, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("layers", "asked"), [(3, False), (4, True)])
def test_a_teacher_of_few_layers_is_not_asked_about_lone_words(
    aligner: Aligner, monkeypatch: pytest.MonkeyPatch, layers: int, asked: bool
) -> None:
    teacher, _ = teacher_of("bert", labels=1, layers=layers)
    train = sentences_of(aligner, "the pump may works", "a valve leaks", labels=[True, False])
    ask, times_asked = lexical.verdicts_on_lone_words, []

    def count(*given: Any) -> dict[str, lexical.Floats]:
        times_asked.append(1)
        return ask(*given)

    monkeypatch.setattr(lexical, "verdicts_on_lone_words", count)
    monkeypatch.setattr(lexical, "lexical_share", lambda *_: 1.0)
    found = pseudo_labels(teacher, aligner, train, train, None)
    assert len(times_asked) == asked
    assert (found.lexical_weights > 0.9).tolist() == [asked]


def test_what_hiding_a_word_costs_the_verdict(aligner: Aligner) -> None:
    """The verdict is the best word's score: hiding `may` leaves that of `leaks`; hiding `leaks` costs nothing."""
    reading = Scripted(({"may": 0.9, "leaks": 0.8}, {}), below=[({}, {})])
    (one,) = observe(reading, aligner, encoded(aligner, "may leaks at ."), np.array([[True]]))
    may = np.log(0.9 / 0.1) - np.log(0.8 / 0.2)
    assert one.cost[:, 0].tolist() == pytest.approx([may, 0, 0, 0], abs=1e-4)
    assert one.verdicts.tolist() == pytest.approx([0.9])
