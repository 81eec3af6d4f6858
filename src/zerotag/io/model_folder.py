"""Model folders: what is in them, written whole or not at all, and checked when read. Nothing is ever unpickled."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar

import zerotag
from zerotag.config import ModelConfig, TrainConfig, from_dict, require_types
from zerotag.errors import ZerotagError
from zerotag.io.checked_files import read_json_object
from zerotag.io.files import recover, whole_folder
from zerotag.io.integrity import DAMAGED, check_files, digest, seal
from zerotag.types import Rule

FORMAT = 3  # 2 has exported models; 3 a config.json of our own, and a seal
EARLIEST_FORMAT = 1
_FIRST_SEALED_FORMAT = 3
MANIFEST = "zerotag.json"
_CARD = "README.md"


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


def write_folder(folder: Path, manifest: Manifest, write_files: Callable[[Path], None]) -> None:
    """Write a model folder beside its place and move it there; `write_files` adds weights, tokenizer and so on.

    An older model in that place is replaced. What else is in its folder, notes or a repository, stays there.
    """
    check_place(folder)
    with whole_folder(folder, stays=_not_of_a_model(folder)) as new:
        write_files(new)
        files = sorted(file for file in new.rglob("*") if file.is_file())
        digests = {file.relative_to(new).as_posix(): digest(file) for file in files}
        document = {"format": FORMAT, **asdict(manifest), "sha256": digests}
        document["seal"] = seal(json.loads(json.dumps(document)))
        (new / MANIFEST).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        (new / _CARD).write_text(model_card(manifest), encoding="utf-8")
        for file in files:
            file.chmod((new / MANIFEST).stat().st_mode)  # safetensors lets nobody else read what it writes


def _not_of_a_model(folder: Path) -> list[str]:
    """Names of what the model in a folder did not bring along; all of a damaged one, of which nobody can tell."""
    if not folder.is_dir():
        return []
    brought = {MANIFEST, _CARD}
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


_KINDS: dict[str, tuple[type, str]] = {
    "label_names": (list, "a list"),
    "negative": (str, "a text"),
    "scores": (dict, "an object"),
    "sentences": (dict, "an object"),
    "versions": (dict, "an object"),
    "created": (str, "a text"),
    "model": (dict, "an object"),
    "training": (dict, "an object"),
    "rules": (list, "a list"),
}
_KINDS_WITHIN: dict[str, tuple[type | UnionType, str]] = {
    "label_names": (str, "a text"),
    "rules": (dict, "an object"),
    "scores": (int | float, "a number"),
    "sentences": (int, "a whole number"),
    "versions": (str, "a text"),
}


def _parse(document: dict[str, Any]) -> Manifest:
    _check_values(document)
    try:
        manifest = Manifest(
            model=from_dict(ModelConfig, document["model"]),
            training=from_dict(TrainConfig, document["training"]),
            label_names=tuple(document["label_names"]),
            negative=document["negative"],
            rules=tuple(_typed(Rule, rule) for rule in document["rules"]),
            scores=document["scores"],
            sentences=document["sentences"],
            versions=document["versions"],
            created=document["created"],
            export=None if document.get("export") is None else _typed(Export, document["export"]),
        )
    except ZerotagError as error:
        raise ValueError(str(error)) from error
    if len(manifest.rules) != len(manifest.label_names):
        raise ValueError(f"{len(manifest.rules)} rules for {len(manifest.label_names)} labels")
    if document["format"] >= _FIRST_SEALED_FORMAT and document["seal"] != seal(document):
        raise ValueError("it is not what was written there: its seal is another")
    return manifest


def _check_values(document: dict[str, Any]) -> None:
    if document["format"] < EARLIEST_FORMAT:
        raise ValueError(f"format {document['format']} is out of range; allowed: {EARLIEST_FORMAT} to {FORMAT}")
    for name, (kind, allowed) in _KINDS.items():
        if not isinstance(document[name], kind):
            raise ValueError(f"{name} {document[name]!r:.80} is out of range; allowed: {allowed}")
    for name, (kinds, allowed) in _KINDS_WITHIN.items():
        values = document[name].values() if isinstance(document[name], dict) else document[name]
        for value in values:
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise ValueError(f"{name} {value!r:.80} is out of range; allowed: {allowed}")
    if len(set(document["label_names"])) != len(document["label_names"]) or not all(document["label_names"]):
        raise ValueError(f"label_names {document['label_names']!r:.80} are out of range; allowed: different texts")


_R = TypeVar("_R", Rule, Export)


def _typed(kind: type[_R], values: dict[str, Any]) -> _R:
    record = kind(**values)
    require_types(record)
    return record


def model_card(manifest: Manifest) -> str:
    """The README.md of a model folder, with the front matter that the Hugging Face hub reads."""
    settings = [*asdict(manifest.model).items(), *asdict(manifest.training).items()]
    rules = zip(manifest.label_names, manifest.rules, strict=True)
    lines = [
        "---",
        "library_name: zerotag",
        "pipeline_tag: token-classification",
        "tags: [zerotag, token-classification, weak-supervision]",
        "---",
        "",
        f"# A word labeller for {', '.join(manifest.label_names)}",
        "",
        "It was trained with [zerotag](https://pypi.org/project/zerotag/) on sentence labels alone: its training read "
        "no word label. It scores each word of a sentence by how much the word makes the sentence carry the label.",
        "",
        "```python",
        "import zerotag",
        "",
        'labeller = zerotag.load("path/to/this/folder")',
        'for result in labeller.label(["Some text."]):',
        "    print(result.label, result.spans)",
        "```",
        "",
        "## Measured while training",
        "",
        "| measure | value |",
        "|---|---|",
        *(f"| {name} | {value:.4g} |" for name, value in manifest.scores.items()),
        *(f"| {name} sentences | {count:,} |" for name, count in manifest.sentences.items()),
        "",
        "## Decisions",
        "",
        "| label | word threshold | sentence threshold | from |",
        "|---|---|---|---|",
        *(f"| {name} | {r.word_threshold:g} | {r.sentence_threshold:g} | {r.origin} |" for name, r in rules),
        "",
        "## Settings",
        "",
        "| setting | value |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in settings),
        "",
        f"Made on {manifest.created} with "
        + ", ".join(f"{name} {number}" for name, number in manifest.versions.items())
        + ".",
    ]
    if manifest.export:
        lines += ["", f"Exported for ONNX Runtime, precision {manifest.export.precision}."]
    return "\n".join(lines) + "\n"
