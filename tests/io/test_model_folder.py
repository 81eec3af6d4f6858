"""Model folders: what is in them, and that they are refused when damaged."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tiny
import toy
import zerotag
from zerotag.calibration import Calibration
from zerotag.config import ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.io.integrity import seal
from zerotag.io.model_folder import read_manifest
from zerotag.labeller import Labeller, WordLabeller, load
from zerotag.training.recipe import train
from zerotag.types import Rule, Scored, Sentence

TEXTS = [[*words, "😀"] for words, _ in tiny.sentences(5)] + [["pump"] * 200]


def scores(labeller: Labeller) -> list[Scored]:
    return list(labeller.score(map(Sentence.from_words, TEXTS)))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "model"
    tiny.labeller().save_pretrained(folder)
    return folder


@pytest.fixture
def folder(pristine: Path, tmp_path: Path) -> Path:
    """A saved model that may be damaged."""
    return Path(shutil.copytree(pristine, tmp_path / "model"))


# There and back


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_scores_are_the_same_after_saving_and_loading(family: str, tmp_path: Path) -> None:
    encoder = tiny.encoder_folder(tmp_path / "encoder", family)
    saved = train(toy.corpus(20), model=ModelConfig(encoder=str(encoder)), training=TrainConfig(epochs=1))
    saved.save_pretrained(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.manifest == saved.manifest
    for before, after in zip(scores(saved), scores(loaded), strict=True):
        assert before.sentence_scores == after.sentence_scores
        assert np.array_equal(before.word_scores, after.word_scores)


def test_a_plain_classifier_too(tmp_path: Path) -> None:
    config = ModelConfig(encoder="tiny", depth=3, head="cls", window=32)
    saved = tiny.labeller(config=config)
    saved.save_pretrained(tmp_path / "model")
    loaded = WordLabeller.from_pretrained(tmp_path / "model")
    assert loaded.manifest.model == config
    before, after = saved.network.state_dict(), loaded.network.state_dict()
    assert "head.output.weight" in after
    assert all(torch.equal(before[name], after[name]) for name in after)


def test_thresholds_and_their_origin_come_back(tmp_path: Path) -> None:
    rules = (Rule(0.25, 0.75, "sentence labels"), Rule(0.5, 0.5, "fixed"))
    tiny.labeller(labels=("a", "b")).with_rules(rules).save_pretrained(tmp_path / "model")
    assert load(tmp_path / "model").rules == rules


# What is in a folder


def test_the_files(pristine: Path) -> None:
    assert names(pristine) == [
        "README.md",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
        "zerotag.json",
    ]


def test_the_manifest_says_it_all(pristine: Path) -> None:
    document = json.loads((pristine / "zerotag.json").read_text())
    assert document["format"] == 4
    assert document["label_names"] == ["hedge"]
    assert document["negative"] == "O"
    assert document["rules"] == [asdict(Rule())]
    assert document["model"]["beta"] == 4.0
    assert document["training"]["seed"] == 1
    assert document["versions"]["zerotag"] == zerotag.__version__
    assert document["versions"]["torch"] == torch.__version__
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", document["created"])
    written = set(names(pristine)) - {"README.md", "zerotag.json"}
    assert set(document["sha256"]) == written


def test_the_card_has_the_measured_scores(tmp_path: Path) -> None:
    from dataclasses import replace

    labeller = tiny.labeller(labels=("a", "b"))
    manifest = replace(labeller.manifest, scores={"dev sentence F1": 0.87654}, sentences={"train": 1234, "dev": 5})
    WordLabeller(labeller.network, labeller.tokenizer, manifest).save_pretrained(tmp_path / "model")
    card = (tmp_path / "model" / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: zerotag\n")
    assert "# A word labeller for a, b\n" in card
    assert "| dev sentence F1 | 0.8765 |\n" in card
    assert "| train | 1,234 |\n" in card
    assert "| b | 0.5 | – | 0.5 | fixed |\n" in card
    assert "| beta | 4.0 |\n" in card
    assert names(tmp_path / "model")[:2] == ["README.md", "config.json"]  # and no picture of what was not measured


def test_nothing_that_was_stored_is_ever_unpickled() -> None:
    source = Path(zerotag.__file__).parent
    # These are started by us, and die with us.
    between_our_own_processes = {source / "bulk" / name for name in ("ipc.py", "stages.py")}
    mentions = re.compile(r"torch\.load\b|\b(c?pickle|dill|joblib|marshal|shelve)\b(?!\.)|from torch import .*\bload\b")
    for file in set(source.rglob("*.py")) - between_our_own_processes:
        code = re.sub(r'""".*?"""|#.*', "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not mentions.search(code), file


# Damage


def rewrite(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        file = folder / "zerotag.json"
        document = json.loads(file.read_text())
        change(document)
        if "seal" in document:
            document["seal"] = seal(document)  # as whoever writes a folder by hand would
        file.write_text(json.dumps(document))

    return damage


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no weights": (
        lambda folder: (folder / "model.safetensors").unlink(),
        r"model\.safetensors cannot be read \(No such file or directory\)",
    ),
    "half the weights": (
        lambda folder: (folder / "model.safetensors").write_bytes(b"half"),
        r"model\.safetensors is not what was written there",
    ),
    "a flipped bit": (
        lambda folder: flip_a_bit(folder / "model.safetensors"),
        r"model\.safetensors is not what was written there",
    ),
    "no tokenizer": (lambda folder: (folder / "tokenizer.json").unlink(), r"tokenizer\.json cannot be read"),
    "a damaged tokenizer": (lambda folder: flip_a_bit(folder / "tokenizer.json"), r"tokenizer\.json is not what"),
    "no shape": (lambda folder: (folder / "config.json").unlink(), r"config\.json cannot be read"),
    "broken JSON": (lambda folder: (folder / "zerotag.json").write_text("{"), r"zerotag\.json is not JSON \(.+\)"),
    "not UTF-8": (lambda folder: (folder / "zerotag.json").write_bytes(b"\xff\xff"), r"zerotag\.json is not JSON"),
    "a list": (lambda folder: (folder / "zerotag.json").write_text("[]"), r"zerotag\.json has no JSON object"),
    "no format": (rewrite(lambda document: document.pop("format")), r"zerotag\.json does not say its format"),
    "no digests": (rewrite(lambda document: document.pop("sha256")), r"zerotag\.json has no 'sha256'"),
    "no label names": (rewrite(lambda document: document.pop("label_names")), r"zerotag\.json has no 'label_names'"),
    "another setting": (
        rewrite(lambda document: document["model"].update(alpha=1)),
        r"zerotag\.json has a wrong value \(unknown setting 'alpha'.*\)",
    ),
    "a setting out of range": (
        rewrite(lambda document: document["model"].update(beta=-1)),
        r"zerotag\.json has a wrong value \(beta -1 is out of range.*\)",
    ),
    "a setting of another kind": (
        rewrite(lambda document: document["model"].update(beta="two")),
        r"zerotag\.json has a wrong value",
    ),
    "a rule too few": (
        rewrite(lambda document: document.update(rules=[])),
        r"zerotag\.json has a wrong value \(0 rules for 1 labels\)",
    ),
    "an earlier format than the first": (
        rewrite(lambda document: document.update(format=0)),
        r"zerotag\.json has a wrong value \(format 0 is out of range; allowed: 1 to 4\)",
    ),
    "a format below zero": (
        rewrite(lambda document: document.update(format=-1)),
        r"zerotag\.json has a wrong value \(format -1 is out of range; allowed: 1 to 4\)",
    ),
    "a format that is no number": (
        rewrite(lambda document: document.update(format=True)),
        r"zerotag\.json does not say its format",
    ),
    "a word threshold in quotes": (
        rewrite(lambda document: document["rules"][0].update(word_threshold="0.5")),
        r"zerotag\.json has a wrong value \(word_threshold '0.5' is out of range; allowed: a number\)",
    ),
    "no sentence threshold": (
        rewrite(lambda document: document["rules"][0].update(sentence_threshold=None)),
        r"zerotag\.json has a wrong value \(sentence_threshold None is out of range; allowed: a number\)",
    ),
    "a label that is no text": (
        rewrite(lambda document: document.update(label_names=[3])),
        r"zerotag\.json has a wrong value \(label_names 3 is out of range; allowed: a text\)",
    ),
    "a label instead of a list": (
        rewrite(lambda document: document.update(label_names="x")),
        r"zerotag\.json has a wrong value \(label_names 'x' is out of range; allowed: a list\)",
    ),
    "a negative label that is no text": (
        rewrite(lambda document: document.update(negative=0)),
        r"zerotag\.json has a wrong value \(negative 0 is out of range; allowed: a text\)",
    ),
    "no object of scores": (
        rewrite(lambda document: document.update(scores=None)),
        r"zerotag\.json has a wrong value \(scores None is out of range; allowed: an object\)",
    ),
    "an export that is none": (
        rewrite(lambda document: document.update(export={"precision": "fp32", "difference": 0.0, "pad_id": "1"})),
        r"zerotag\.json has a wrong value \(pad_id '1' is out of range; allowed: a whole number\)",
    ),
    "other weights than it should have": (
        rewrite(lambda document: document.update(label_names=["a", "b"], rules=document["rules"] * 2)),
        r"cannot be loaded \(.*size mismatch.*\)",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_refused_in_one_clear_line(folder: Path, damage: str) -> None:
    harm, message = DAMAGES[damage]
    harm(folder)
    with pytest.raises(
        ZerotagError, match=rf"^{re.escape(str(folder))}.*{message}.*: the model folder is damaged, copy it again$"
    ) as caught:
        load(folder)
    assert "\n" not in str(caught.value)


def test_a_folder_that_cannot_be_read(folder: Path) -> None:
    manifest = folder / "zerotag.json"
    manifest.unlink()
    manifest.mkdir()
    with pytest.raises(ZerotagError, match=rf"^{manifest} is not a regular file, nor a link to one: the model"):
        load(folder)


def test_a_newer_format_names_the_cure(folder: Path) -> None:
    rewrite(lambda document: document.update(format=5))(folder)
    with pytest.raises(ZerotagError, match=r"has format 5, this zerotag \(.+\) reads up to 4: pip install -U zerotag$"):
        load(folder)


def test_a_newer_format_may_have_anything_else(folder: Path) -> None:
    (folder / "zerotag.json").write_text('{"format": 5, "model": "quite different"}')
    with pytest.raises(ZerotagError, match="pip install -U zerotag"):
        load(folder)


def test_what_is_no_model_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for path in (file, tmp_path / "nothing"):
        with pytest.raises(ZerotagError, match=rf"^{path} is not a folder; a model folder is what"):
            read_manifest(path)
    with pytest.raises(ZerotagError, match=rf"^{tmp_path} is not a zerotag model folder: it has no zerotag\.json$"):
        load(tmp_path)


def test_a_file_that_one_may_not_read_is_not_called_damaged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_: Path) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("zerotag.io.integrity.digest", forbidden)
    with pytest.raises(ZerotagError, match=r"cannot be read: Permission denied$"):
        read_manifest(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"word_labels": {"thresholds": 0}}, "word_labels {'thresholds': 0} is out of range; allowed: numbers of"),
        ({"word_labels": ["thresholds"]}, "word_labels"),
        ({"calibration": [{"stretch": 1.0, "shift": 0.0, "positive": 0.5}] * 2}, "2 calibrations for 1 labels"),
        ({"calibration": [{"stretch": "x", "shift": 0.0, "positive": 0.5}]}, "stretch 'x' is out of range"),
    ],
)
def test_what_is_known_of_word_labels_is_checked(folder: Path, change: dict[str, object], message: str) -> None:
    rewrite(lambda document: document.update(change))(folder)
    with pytest.raises(ZerotagError, match=re.escape(message)):
        read_manifest(folder)


def test_what_is_known_of_word_labels_comes_back(tmp_path: Path) -> None:
    labeller = tiny.labeller()
    labeller.manifest = replace(
        labeller.manifest, calibration=(Calibration(1.5, -0.5, 0.3),), word_labels={"thresholds": 20, "network": 1}
    )
    labeller.save_pretrained(tmp_path / "model")
    manifest = read_manifest(tmp_path / "model")
    assert (manifest.calibration, manifest.word_labels) == (
        labeller.manifest.calibration,
        labeller.manifest.word_labels,
    )
    assert manifest.supervision == (
        "sentence labels, with word labels of 20 sentences (thresholds) and 1 sentence (network)"
    )
