"""Model folders: what is in them, written whole or not at all, and checked when read. Nothing is ever unpickled."""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_type_hints

import zerotag
from zerotag.calibration import Calibration
from zerotag.config import ModelConfig, TrainConfig
from zerotag.errors import ZerotagError
from zerotag.io.checked_files import read_json_object
from zerotag.io.files import recover, whole_folder
from zerotag.io.integrity import DAMAGED, check_files, digest, seal
from zerotag.saved_settings import from_dict, typed
from zerotag.text.printable import counted
from zerotag.text.segmentation import UNICODE
from zerotag.types import ReliabilityBin, Rule

FORMAT = 4  # 2 has exported models; 3 a config.json of our own and a seal; 4 word labels and names of plug-ins
EARLIEST_FORMAT = 1
_FIRST_SEALED_FORMAT = 3
MANIFEST = "zerotag.json"
CARD = "README.md"
PLOT = "calibration.svg"  # in the card

# What may have learnt from word labels, in `Manifest.word_labels`.
THRESHOLDS, NETWORK = "thresholds", "network"

# Names of scores.
F1, LEXICAL_F1 = "dev sentence F1", "dev sentence F1, lexical baseline"


def versions() -> dict[str, str]:
    """Of zerotag and of what results depend on."""
    packages = ("torch", "transformers", "tokenizers", "numpy")
    return {"zerotag": zerotag.__version__, "python": platform.python_version(), **{p: version(p) for p in packages}}


@dataclass(frozen=True, slots=True)
class Export:
    """What is known of a model that was exported for ONNX Runtime, in format 2, beside what it was exported from."""

    precision: str
    """`fp32`, or `int8` for weights of 8 bits."""

    difference: float
    """The largest difference between its scores and those of the exported model, on probe sentences."""

    pad_id: int
    """The sub-word that fills batches up."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that is known of a model beside its weights."""

    model: ModelConfig
    training: TrainConfig
    label_names: tuple[str, ...]
    negative: str
    rules: tuple[Rule, ...]
    scores: Mapping[str, float]
    sentences: Mapping[str, int]
    versions: Mapping[str, str] = field(default_factory=versions)
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    export: Export | None = None
    calibration: tuple[Calibration, ...] = ()
    """What sentence labels say of the word scores of each label; nothing for models that were not calibrated."""

    word_labels: Mapping[str, int] = field(default_factory=dict)
    """Of how many sentences words were labelled, by what learnt from them (`thresholds`, `network`)."""

    reliability: Mapping[str, tuple[ReliabilityBin, ...]] = field(default_factory=dict)
    """By label, how many of the development sentences with a score have the label; empty where it was not measured."""

    @property
    def supervision(self) -> str:
        """What the model learnt from, in words: whatever tells of its results says this too."""
        if not self.word_labels:
            return "sentence labels"
        parts = (f"{counted(count, 'sentence')} ({what})" for what, count in self.word_labels.items())
        return f"sentence labels, with word labels of {' and '.join(parts)}"


def write_folder(
    folder: Path, manifest: Manifest, write_files: Callable[[Path], None], write_card: Callable[[Path, Manifest], None]
) -> None:
    """Write a model folder beside its place and move it there.

    `write_files` adds weights, tokenizer and so on, which are sealed; `write_card` what people may edit. An older model
    in that place is replaced. What else is in its folder, notes or a repository, stays there.
    """
    check_place(folder)
    with whole_folder(folder, stays=_not_of_a_model(folder)) as new:
        write_files(new)
        files = sorted(file for file in new.rglob("*") if file.is_file())
        digests = {file.relative_to(new).as_posix(): digest(file) for file in files}
        document = {"format": FORMAT, **asdict(manifest), "sha256": digests}
        document["seal"] = seal(json.loads(json.dumps(document)))
        (new / MANIFEST).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        write_card(new, manifest)
        for file in files:
            file.chmod((new / MANIFEST).stat().st_mode)  # safetensors lets nobody else read what it writes


def copy_folder(source: Path, target: Path, manifest: Manifest, write_card: Callable[[Path, Manifest], None]) -> None:
    """Write the model of a folder with another manifest: to another place, or in its own."""
    names = list(read_json_object(source / MANIFEST)["sha256"])

    def copy_files(folder: Path) -> None:
        for name in names:
            shutil.copyfile(source / name, folder / name)

    write_folder(target, manifest, copy_files, write_card)


def _not_of_a_model(folder: Path) -> list[str]:
    """Names of what the model in a folder did not bring along; all of a damaged one, of which nobody can tell."""
    if not folder.is_dir():
        return []
    brought = {MANIFEST, CARD, PLOT}
    with suppress(OSError, ZerotagError, LookupError, TypeError):
        brought.update(Path(name).parts[0] for name in read_json_object(folder / MANIFEST)["sha256"])
    return [one.name for one in folder.iterdir() if one.name not in brought]


def check_place(folder: Path) -> None:
    """Refuse a place for a model where something else is."""
    if not folder.name or folder.name == "..":
        raise ZerotagError(f"{folder} is no name for a new folder: choose another")
    recover(folder)
    if folder.parent.exists() and not folder.parent.is_dir():
        raise ZerotagError(f"{folder.parent} is a file: choose another folder")
    if folder.exists() and not (folder / MANIFEST).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ZerotagError(f"{folder} exists and is not a zerotag model: choose another folder")


def manifest_file(folder: Path) -> Path:
    """Where the manifest of a model folder is; other folders are refused."""
    recover(folder)
    if not folder.is_dir():
        raise ZerotagError(f"{folder} is not a folder; a model folder is what `zerotag train --out` wrote")
    if not (folder / MANIFEST).exists():
        raise ZerotagError(f"{folder} is not a zerotag model folder: it has no {MANIFEST}")
    return folder / MANIFEST


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a model folder, which is refused if it is not one, damaged or from a newer zerotag."""
    file = manifest_file(folder)
    try:
        document = read_json_object(file)
    except OSError as error:
        raise ZerotagError(f"{file} cannot be read: {error.strerror}") from error
    except ZerotagError as error:
        raise ZerotagError(f"{error}: {DAMAGED}") from error
    if type(document.get("format")) is not int:
        raise ZerotagError(f"{file} does not say its format: {DAMAGED}")
    if document["format"] > FORMAT:
        raise ZerotagError(
            f"{folder} has format {document['format']}, this zerotag ({zerotag.__version__}) reads up to {FORMAT}: "
            "pip install -U zerotag"
        )
    try:
        manifest = _parse(document)
        check_files(folder, document["sha256"], exported=manifest.export is not None)
    except KeyError as error:
        raise ZerotagError(f"{file} has no {error}: {DAMAGED}") from error
    except (TypeError, ValueError) as error:
        raise ZerotagError(f"{file} has a wrong value ({error}): {DAMAGED}") from error
    return manifest


_BY_NAME = {"model", "training"}  # whose settings may have had other names
_LATER = {"export", "calibration", "word_labels", "reliability"}  # which earlier formats lack


def _parse(document: dict[str, Any]) -> Manifest:
    if document["format"] < EARLIEST_FORMAT:
        raise ValueError(f"format {document['format']} is out of range; allowed: {EARLIEST_FORMAT} to {FORMAT}")
    try:
        found = {
            name: typed(name, kind, document[name])
            for name, kind in get_type_hints(Manifest).items()
            if name not in _BY_NAME and (name in document or name not in _LATER)
        }
        settings = {name: typed(name, dict, document[name]) for name in _BY_NAME}
        model = from_dict(ModelConfig, {"segmenter": UNICODE, **settings["model"]})  # what early models knew
        manifest = Manifest(model=model, training=from_dict(TrainConfig, settings["training"]), **found)
    except ZerotagError as error:
        raise ValueError(str(error)) from error
    _check_counts(manifest)
    if document["format"] >= _FIRST_SEALED_FORMAT and document["seal"] != seal(document):
        raise ValueError("it is not what was written there: its seal is another")
    return manifest


def _check_counts(manifest: Manifest) -> None:
    names = manifest.label_names
    if len(set(names)) != len(names) or not all(names):
        raise ValueError(f"label_names {list(names)!r:.80} are out of range; allowed: different texts")
    if len(manifest.rules) != len(names):
        raise ValueError(f"{len(manifest.rules)} rules for {len(names)} labels")
    if len(manifest.calibration) not in (0, len(names)):
        raise ValueError(f"{len(manifest.calibration)} calibrations for {len(names)} labels")
    if not all(count > 0 for count in manifest.word_labels.values()):
        raise ValueError(f"word_labels {manifest.word_labels!r:.80} is out of range; allowed: numbers of sentences")
