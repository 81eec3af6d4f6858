import ast
import inspect
import re
from dataclasses import asdict, fields, replace
from itertools import pairwise
from typing import Any

import pytest

from zerotag.config import ChosenTrainConfig, ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.presets import PLAIN, PRESETS
from zerotag.saved_settings import from_dict

NAN = float("nan")

OUT_OF_RANGE: list[tuple[type[ModelConfig] | type[TrainConfig], str, list[Any]]] = [
    (ModelConfig, "head", ["softmax", ""]),
    (ModelConfig, "depth", [0, -1]),
    (ModelConfig, "beta", [0, -1.0, 64.5, NAN]),
    (ModelConfig, "attention_size", [0]),
    (ModelConfig, "hidden_size", [0]),
    (ModelConfig, "dropout", [-0.1, 1.0, NAN]),
    (ModelConfig, "window", [15, -1]),
    (TrainConfig, "epochs", [0]),
    (TrainConfig, "teacher_epochs", [-1]),
    (TrainConfig, "teachers", [0, 100]),
    (TrainConfig, "word_weight", [-0.1, 101, NAN]),
    (TrainConfig, "calibrated", ["no", 1]),
    (TrainConfig, "batch_size", [0]),
    (TrainConfig, "group_by_length", ["no", 1]),
    (TrainConfig, "learning_rate", [0.0, -1e-5, 1.5, NAN]),
    (TrainConfig, "optimizer", ["sgd"]),
    (TrainConfig, "warmup", [-0.1, 101, NAN]),
    (TrainConfig, "weight_decay", [-0.1, 1.0, NAN]),
    (TrainConfig, "adam_epsilon", [0.0, 1.0, NAN]),
    (TrainConfig, "loss", ["hinge"]),
    (TrainConfig, "gamma", [-0.1, 101, NAN]),
    (TrainConfig, "patience", [0]),
    (TrainConfig, "tolerance", [-0.1, 10.5, NAN]),
    (TrainConfig, "dev_share", [0.0, 1.0, NAN]),
    (TrainConfig, "seed", [-1, 2**32]),
]

WRONG_TYPE: list[tuple[type[ModelConfig] | type[TrainConfig], str, Any, str]] = [
    (ModelConfig, "encoder", 3, "a text"),
    (ModelConfig, "encoder", None, "a text"),
    (ModelConfig, "tokenization", None, "a text"),
    (ModelConfig, "head", ["cls"], "a text"),
    (ModelConfig, "head", "max", "soft-attention or cls or logistic-regression"),
    (ModelConfig, "depth", "two", "a whole number; leave it out"),
    (ModelConfig, "depth", 2.0, "a whole number; leave it out"),
    (ModelConfig, "beta", "1", "a number"),
    (ModelConfig, "beta", True, "a number"),
    (ModelConfig, "hidden_size", None, "a whole number"),
    (TrainConfig, "epochs", 2.5, "a whole number; leave it out"),
    (TrainConfig, "epochs", True, "a whole number; leave it out"),
    (TrainConfig, "patience", 1.5, "a whole number"),
    (TrainConfig, "learning_rate", "1", "a number; leave it out"),
    (TrainConfig, "gamma", float("inf"), "a number"),
    (TrainConfig, "gamma", None, "a number"),
    (TrainConfig, "seed", "1", "a whole number"),
]

AT_THE_BORDER: list[tuple[type[ModelConfig] | type[TrainConfig], str, list[Any]]] = [
    (ModelConfig, "head", ["cls"]),
    (ModelConfig, "depth", [1, None]),
    (ModelConfig, "beta", [0.01, 1, 64]),
    (ModelConfig, "dropout", [0, 0.99]),
    (ModelConfig, "window", [16]),
    (ModelConfig, "attention_size", [1, None]),
    (TrainConfig, "teacher_epochs", [0, None]),
    (TrainConfig, "teachers", [1, 99]),
    (TrainConfig, "batch_size", [1, None]),
    (TrainConfig, "word_weight", [0, 100]),
    (TrainConfig, "warmup", [0, 1.6]),
    (TrainConfig, "gamma", [0, 100]),
    (TrainConfig, "learning_rate", [None, 1e-9]),
    (TrainConfig, "seed", [0, 2**32 - 1]),
]


@pytest.mark.parametrize(
    ("kind", "name", "value"), [(kind, name, value) for kind, name, values in OUT_OF_RANGE for value in values]
)
def test_a_value_out_of_range_is_refused_in_one_line(kind: type[Any], name: str, value: Any) -> None:
    with pytest.raises(ZerotagError) as caught:
        kind(**{name: value})
    message = str(caught.value)
    assert message.startswith(f"{name} {value!r} is out of range; allowed: ")
    assert "\n" not in message


@pytest.mark.parametrize(("kind", "name", "value", "allowed"), WRONG_TYPE)
def test_a_value_of_another_type_is_refused_with_what_is_allowed(
    kind: type[Any], name: str, value: Any, allowed: str
) -> None:
    with pytest.raises(ZerotagError) as caught:
        kind(**{name: value})
    assert str(caught.value) == f"{name} {value!r} is out of range; allowed: {allowed}"


@pytest.mark.parametrize(
    ("kind", "name", "value"), [(kind, name, value) for kind, name, values in AT_THE_BORDER for value in values]
)
def test_a_value_at_the_border_is_taken(kind: type[Any], name: str, value: Any) -> None:
    assert getattr(kind(**{name: value}), name) == value


def test_every_setting_but_the_free_ones_is_checked() -> None:
    checked = {name for _, name, _ in OUT_OF_RANGE}
    free = {"encoder", "segmenter", "tokenization"}  # names of what is installed
    assert checked | free == {field.name for kind in (ModelConfig, TrainConfig) for field in fields(kind)}


def test_the_paper_preset_is_the_paper() -> None:
    model, training = PRESETS["paper"]
    assert (
        asdict(model).items()
        >= {
            "encoder": "roberta-base",
            "head": "soft-attention",
            "depth": 12,
            "beta": 2.0,
            "attention_size": 100,
            "hidden_size": 300,
            "dropout": 0.1,
            "window": 128,
        }.items()
    )
    assert (
        asdict(training).items()
        >= {
            "epochs": 20,
            "batch_size": 16,
            "learning_rate": 2e-5,
            "warmup": 0.1,
            "weight_decay": 0.1,
            "adam_epsilon": 1e-7,
            "gamma": 0.1,
            "loss": "cross-entropy",
            "optimizer": "adamw",
        }.items()
    )


@pytest.mark.parametrize("preset", ["paper", "reference", "bilstm"])
def test_what_was_published_has_no_teacher_and_a_fixed_threshold(preset: str) -> None:
    model, training = PRESETS[preset]
    assert (training.teacher_epochs, training.calibrated, model.attention_size) == (0, False, 100)
    assert training.group_by_length == (preset == "bilstm"), "the paper draws its batches at random"


def test_several_teachers_without_an_epoch_are_refused() -> None:
    with pytest.raises(ZerotagError, match=r"^teachers 3 is out of range; allowed: .* 1 where teacher_epochs is 0;"):
        TrainConfig(teacher_epochs=0, teachers=3)


def test_by_default_there_is_a_teacher_and_the_threshold_is_learnt() -> None:
    assert PRESETS["default"] == (ModelConfig(), TrainConfig())
    training = TrainConfig()
    assert (training.teacher_epochs, training.epochs) == (None, None)  # they are chosen by the number of sentences
    assert training.teachers is None
    assert (training.word_weight, training.calibrated) == (2.0, True)
    assert ModelConfig().attention_size is None
    assert replace(training, teacher_epochs=0, teachers=1, calibrated=False) == PLAIN


def test_the_reference_preset_is_the_paper_with_the_ways_of_its_code() -> None:
    (model, training), (paper_model, paper_training) = PRESETS["reference"], PRESETS["paper"]
    assert model == replace(paper_model, tokenization="reference")
    assert training == replace(paper_training, warmup=1.6, loss="twice-squashed")


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ({}, {}),
        ({"lone_words": False, "attend_to_end": False, "truncate": False, "vectors": None}, {"tokenization": "text"}),
        ({"lone_words": True}, {"tokenization": "lone-words"}),
        ({"attend_to_end": True}, {"tokenization": "attend-to-end"}),
        ({"lone_words": True, "attend_to_end": True, "truncate": True}, {"tokenization": "reference"}),
        ({"encoder": "bilstm", "vectors": "a.txt"}, {"encoder": "bilstm:a.txt", "tokenization": "words"}),
        ({"encoder": "bilstm", "vectors": None}, {"encoder": "bilstm", "tokenization": "words"}),
    ],
)
def test_settings_of_a_model_from_before_they_were_renamed(before: dict[str, Any], now: dict[str, Any]) -> None:
    assert from_dict(ModelConfig, before) == ModelConfig(**now)


def test_warm_up_counted_in_sentences_from_before() -> None:
    before = {"warmup": 0.1, "warmup_unit": "sentences", "batch_size": 16}
    assert from_dict(TrainConfig, before) == TrainConfig(warmup=0.1 * 16, batch_size=16)
    assert from_dict(TrainConfig, {"warmup_unit": "steps"}) == TrainConfig()


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ({"truncate": True}, "lone_words, attend_to_end and truncate go alone or all three together"),
        ({"vectors": "a.txt"}, "vectors 'a.txt' is out of range; allowed: none, but for encoder 'bilstm'"),
    ],
)
def test_what_was_renamed_and_has_no_name_now(before: dict[str, Any], message: str) -> None:
    with pytest.raises(ZerotagError, match=message):
        from_dict(ModelConfig, before)


def test_what_was_chosen_is_settings_that_could_have_been_given() -> None:
    given = TrainConfig(epochs=3, teacher_epochs=4, teachers=1, batch_size=8, learning_rate=0.1, gamma=0.5)
    assert ChosenTrainConfig(**asdict(given)).as_given() == given
    with pytest.raises(ZerotagError, match=r"^epochs None is out of range; allowed: a whole number$"):
        ChosenTrainConfig(**asdict(TrainConfig()))


@pytest.mark.parametrize("preset", PRESETS)
def test_settings_come_back_from_what_is_saved(preset: str) -> None:
    model, training = PRESETS[preset]
    assert from_dict(ModelConfig, asdict(model)) == model
    assert from_dict(TrainConfig, asdict(training)) == training


def test_an_unknown_setting_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ZerotagError, match=r"^unknown setting 'betta'; there are: encoder, .*beta") as caught:
        from_dict(ModelConfig, {"betta": 2.0})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [ModelConfig, TrainConfig])
def test_every_setting_says_its_default(kind: type) -> None:
    """In the text below it, of which the site makes the page of settings; and it is the default that it has."""
    (body,) = (node.body for node in ast.parse(inspect.getsource(kind)).body if isinstance(node, ast.ClassDef))
    texts = {
        one.target.id: ast.literal_eval(text.value)
        for one, text in pairwise(body)
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and isinstance(text, ast.Expr)
    }
    assert list(texts) == [field.name for field in fields(kind)]
    for field in fields(kind):
        said = re.search(r"Default( \(None\))?: ([^ ,;.]+(?:\.\d+)?)", " ".join(texts[field.name].split()))
        assert said, field.name
        assert bool(said[1]) == (field.default is None), field.name
        if isinstance(field.default, bool):
            assert said[2] == str(field.default).lower()
        elif isinstance(field.default, int | float):
            assert float(said[2]) == field.default, field.name
