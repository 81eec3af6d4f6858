from dataclasses import replace
from pathlib import Path

import pytest

from hand_made import TOML, experiment
from zerotag.config import PACKAGED_ENCODER, ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.presets import PRESETS
from zerotag.research.compare.experiment_file import read_experiment

EXPERIMENTS = Path(__file__).parents[3] / "experiments"


def test_what_the_toml_says(tmp_path: Path) -> None:
    found = experiment(tmp_path)
    assert (found.name, found.results) == ("hand", tmp_path / "hand")
    assert found.trainings["sa"].model == ModelConfig(encoder="tiny", beta=1)
    assert found.trainings["cls"].training == TrainConfig()
    lime = found.methods[1]
    assert (lime.training, lime.scorer, lime.seeds, lime.test_sentences) == ("cls", "lime", (1,), 2)
    assert found.methods[2].scorer == "native"
    assert found.methods[2].seeds == (1, 2)


def test_all_of_a_seed_comes_before_the_next(tmp_path: Path) -> None:
    runs = list(experiment(tmp_path).runs())
    assert [run.seed for run in runs] == [1] * 10 + [2] * 8
    assert [run.name for run in runs[:6]] == [
        "fce.roberta.1",
        "fce.lime.1",
        "fce.soft-attention.1",
        "fce.weighted-soft-attention.1",
        "fce.4.1",
        "own.roberta.1",
    ]


@pytest.mark.parametrize(
    ("scorer", "threshold", "expected"),
    [
        ("native", "fixed", False),
        ("heads:2.1", "fixed", False),
        ("heads", "fixed", True),
        ("lime", "dev-word-f1", True),
    ],
)
def test_which_methods_use_word_labels(tmp_path: Path, scorer: str, threshold: str, expected: bool) -> None:
    text = TOML.replace('scorer = "lime"\nthreshold = "dev-word-f1"', f'scorer = "{scorer}"\nthreshold = "{threshold}"')
    assert experiment(tmp_path, text).methods[1].uses_word_labels is expected


def test_a_method_whose_training_learns_word_labels_uses_them(tmp_path: Path) -> None:
    text = TOML.replace("[trainings.sa.model]", "[trainings.sa]\nword_labels = true\n[trainings.sa.model]")
    found = experiment(tmp_path, text)
    assert [method.name for method in found.methods if method.learns_word_labels] == ["Soft attention"]
    assert found.methods[2].uses_word_labels
    assert not found.methods[2].decides_by_word_labels
    training = found.trainings["sa"].training
    assert (training.teacher_epochs, training.calibrated) == (0, False)
    assert replace(training, teacher_epochs=None, teachers=None, calibrated=True) == TrainConfig()
    declared = [found.settings(run)["word_labels"] for run in found.runs() if run.method.name == "Soft attention"]
    assert declared == [True] * 4


def test_sentences_of_a_training(tmp_path: Path) -> None:
    text = TOML.replace("[trainings.sa.model]", "[trainings.sa]\nsentences = 250\n[trainings.sa.model]")
    found = experiment(tmp_path, text)
    assert [training.sentences for training in found.trainings.values()] == [None, 250, None, None]
    by_method = {run.method.name: found.settings(run)["sentences"] for run in found.runs()}
    assert (by_method["Soft attention"], by_method["RoBERTa"]) == (250, None)


def test_a_preset_takes_the_place_of_the_base(tmp_path: Path) -> None:
    text = TOML.replace("[trainings.sa.model]\nbeta = 1", '[trainings.sa]\npreset = "bilstm"\ntraining = {epochs = 3}')
    sa = experiment(tmp_path, text).trainings["sa"]
    model, training = PRESETS["bilstm"]
    assert sa.model == model
    assert (sa.training.epochs, sa.training.optimizer) == (3, training.optimizer)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("seeds = [1, 2]", "seeds = [1, 1]", "hand.toml: seeds [1, 1] is not allowed; allowed: a list of different"),
        (
            "seeds = [1, 2]",
            "seeds = [1, -2]",
            "hand.toml: seeds [1, -2] is not allowed; allowed: whole numbers from 0 to",
        ),
        (
            "seeds = [1]",
            "seeds = [4294967296]",
            "methods 'LIME': seeds [4294967296] is not allowed; allowed: whole num",
        ),
        (
            'scorer = "lime"',
            'scorer = "lime:3"',
            "methods 'LIME': scorer 'lime:3' is not allowed; allowed: none, native",
        ),
        (
            'scorer = "lime"',
            'scorer = "heads:6"',
            "methods 'LIME': scorer 'heads:6' is not allowed; allowed: none, nat",
        ),
        ("seeds = [1, 2]", 'seeds = ["1"]', "hand.toml: seeds ['1'] is not allowed"),
        ("seeds = [1, 2]", "", "hand.toml: seeds is missing; add it"),
        ("seeds = [1, 2]", "seeds = [1, 2]\ncolour = 1", "hand.toml: unknown key 'colour'"),
        ("seeds = [1, 2]", "seeds = [1, 2", "hand.toml: not a TOML file that can be read"),
        ('"own"', '"../own"', "corpus '../own' is not a name of letters"),
        (
            'reference = "Soft',
            'reference = "Hard',
            "reference 'Hard attention' is not a method; there are: RoBERTa, LI",
        ),
        ("beta = 1", "beta = 99", "trainings, sa: beta 99 is out of range"),
        ("beta = 1", 'beta = "high"', "trainings, sa: beta 'high' is out of range; allowed: a number"),
        ("beta = 1", "betta = 1", "trainings, sa: unknown setting 'betta'"),
        ("[trainings.sa.model]", "[trainings.sa]\ntraining = {seed = 1}\n[trainings.sa.model]", "leave the seed out"),
        (
            "[trainings.sa.model]\nbeta = 1",
            '[trainings.sa]\npreset = "x"',
            "sa: preset 'x' is not allowed; allowed: de",
        ),
        (
            'training = "sa"',
            'training = "so"',
            "methods 'Soft attention': training 'so' is not allowed; allowed: cls, sa",
        ),
        ('training = "sa"', "", "methods 'Soft attention': scorer 'native' needs a model; name its training"),
        ('scorer = "lime"', 'scorer = "random"', "methods 'LIME': scorer 'random' needs no model; remove the training"),
        ('scorer = "lime"', 'scorer = "lemon"', "methods 'LIME': scorer 'lemon' is not allowed; allowed: none, native"),
        ("dev-word-f1", "test-word-f1", "methods 'LIME': threshold 'test-word-f1' is not allowed; allowed: fixed, dev"),
        (
            "test_sentences = 2",
            "test_sentences = 0",
            "test_sentences 0 is not allowed; allowed: a whole number above 0",
        ),
        (
            'name = "LIME"',
            'name = "LIME"\npublished = "Lime"',
            "published 'Lime' is not allowed; allowed: Random baseline,",
        ),
        ("sweep = true", 'sweep = "yes"', "sweep 'yes' is not allowed; allowed: true or false"),
        ('name = "LIME"', 'name = "roberta"', "two methods would share the file name"),
        ("[[methods]]", "[[method]]", "hand.toml: methods is missing"),
        (
            "[trainings.sa.model]",
            "[trainings.sa]\nsentences = 0\n[trainings.sa.model]",
            "sa: sentences 0 is not allowed",
        ),
        (
            "[trainings.sa.model]",
            '[trainings.sa]\nword_labels = "yes"\n[trainings.sa.model]',
            "sa: word_labels 'yes' is not allowed; allowed: true or false",
        ),
        (
            "[trainings.cls.model]",
            "[trainings.cls]\nword_labels = true\n[trainings.cls.model]",
            "trainings, cls: head 'cls' cannot learn word labels; allowed: soft-attention",
        ),
    ],
)
def test_bad_tomls(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert old in TOML
    with pytest.raises(ZerotagError) as caught:
        experiment(tmp_path, TOML.replace(old, new))
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_toml(tmp_path: Path) -> None:
    with pytest.raises(ZerotagError, match="no such file"):
        read_experiment(tmp_path / "none.toml")


def test_the_paper_is_the_paper() -> None:
    paper = read_experiment(EXPERIMENTS / "paper.toml")
    model, training = PRESETS["paper"]
    w_sa = paper.trainings["w-sa"]
    assert (w_sa.model, w_sa.training) == (model, training)
    assert paper.seeds == (1, 2, 3, 4, 5)
    assert [method.name for method in paper.methods if method.uses_word_labels] == [
        "LIME",
        "Attention heads",
        "Gradient × input",
        "Integrated gradients",
        "Occlusion",
    ]


def test_the_mpnet_experiment_differs_where_it_says() -> None:
    paper, mpnet = (read_experiment(EXPERIMENTS / f"{name}.toml") for name in ("paper", "paper-mpnet"))
    for field in ("corpora", "seeds", "reference", "examples", "dev_word_measures"):
        assert getattr(mpnet, field) == getattr(paper, field)
    assert list(mpnet.trainings) == list(paper.trainings)
    for name, training in paper.trainings.items():
        its = mpnet.trainings[name]
        if name != "bilstm":
            assert (its.model.encoder, its.training.patience) == ("all-mpnet-base-v2", 5)
            its = replace(
                its,
                model=replace(its.model, encoder="roberta-base"),
                training=replace(its.training, patience=training.training.patience, group_by_length=False),
            )
        assert its == training
    for method, its_method in zip(paper.methods, mpnet.methods, strict=True):
        if method.name == "LIME":
            assert (its_method.seeds, its_method.dev_sentences, its_method.test_sentences) == ((1,), 200, 500)
            its_method = replace(its_method, seeds=method.seeds, dev_sentences=None, test_sentences=None)
        if method.sweep or method.name == "Integrated gradients":
            assert its_method.seeds == (1,)
            its_method = replace(its_method, seeds=method.seeds)
        if method.name == "RoBERTa":
            assert (its_method.name, its_method.published) == ("Sentence classifier", "RoBERTa")
            its_method = replace(its_method, name="RoBERTa")
        assert its_method == method


def test_the_record_with_minilm_differs_where_it_says() -> None:
    mpnet, minilm = (read_experiment(EXPERIMENTS / f"{name}.toml") for name in ("record", "record-minilm"))
    for field in ("corpora", "seeds", "reference", "examples", "methods"):
        assert getattr(minilm, field) == getattr(mpnet, field)
    for name, training in mpnet.trainings.items():
        its = minilm.trainings[name]
        assert its.model.encoder == PACKAGED_ENCODER
        if name == "w-sa":
            assert (its.model.depth, its.training.learning_rate) == (6, 2 * (training.training.learning_rate or 0))
            its = replace(
                its,
                model=replace(its.model, depth=training.model.depth),
                training=replace(its.training, learning_rate=training.training.learning_rate),
            )
        assert replace(its, model=replace(its.model, encoder="all-mpnet-base-v2")) == training


def test_the_curve_is_that_of_the_record() -> None:
    record, curve = (read_experiment(EXPERIMENTS / f"{name}.toml") for name in ("record", "curve"))
    assert (curve.corpora, curve.seeds) == (record.corpora, (1, 2, 3))
    for name in ("zerotag", "half-depth"):
        points = [one for one in curve.trainings.values() if one.name.startswith(name)]
        assert [one.sentences for one in points] == [250, 1000, 4000, None]
        for one in points:
            # By the number of sentences; without a teacher nobody chooses, but few should be seen as often.
            chosen = (None, None) if name == "zerotag" else (8 if one.sentences == 250 else 4, 0)
            settings = replace(record.trainings[name].training, epochs=chosen[0], teacher_epochs=chosen[1])
            expected = replace(record.trainings[name], training=settings) if one.sentences else record.trainings[name]
            assert replace(one, name=name, sentences=None) == expected
    assert [method.training for method in curve.methods] == list(curve.trainings)
    assert [method.curve for method in curve.methods] == ["zerotag"] * 4 + ["Weighted soft attention"] * 4
    assert not any(method.uses_word_labels for method in curve.methods)


def test_the_upper_line_of_the_record_is_the_same_network() -> None:
    record = read_experiment(EXPERIMENTS / "record.toml")
    recipe, upper_line = record.trainings["zerotag"], record.trainings["supervised"]
    assert upper_line.word_labels
    assert upper_line.model == recipe.model
    assert upper_line.training == replace(recipe.training, teacher_epochs=0, teachers=1, calibrated=False)
    assert [method.name for method in record.methods if method.uses_word_labels] == [
        "zerotag, threshold from word labels",
        "Supervised by word labels",
    ]


def test_fewer_seeds_on_a_corpus(tmp_path: Path) -> None:
    found = experiment(tmp_path, TOML.replace("[model]", "[corpus_seeds]\nown = [2]\n\n[model]", 1))
    assert {(run.corpus, run.seed) for run in found.runs()} == {("fce", 1), ("fce", 2), ("own", 2)}
    with pytest.raises(ZerotagError, match="corpus_seeds: unknown key 'other'"):
        experiment(tmp_path, TOML.replace("[model]", "[corpus_seeds]\nother = [2]\n\n[model]", 1))
