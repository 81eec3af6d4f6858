"""Model folders: what is in them, written whole or not at all, and checked when read. Nothing is ever unpickled."""

from __future__ import annotations

import hashlib
import json
import platform
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO, TypeVar

from safetensors import SafetensorError

import zerotag
from zerotag.config import ModelConfig, TrainConfig, from_dict, require_types
from zerotag.errors import ZerotagError
from zerotag.types import Rule

FORMAT = 2
EARLIEST_FORMAT = 1  # which is still written where there is nothing in a folder that its readers do not know
MANIFEST = "zerotag.json"
WEIGHTS = "model.safetensors"
_CARD = "README.md"
DAMAGED = "the model folder is damaged, copy it again"


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
        digests = {file.relative_to(new).as_posix(): _digest(file) for file in files}
        its_format = EARLIEST_FORMAT if manifest.export is None else FORMAT
        document = {"format": its_format, **asdict(manifest), "sha256": digests}
        (new / MANIFEST).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        (new / _CARD).write_text(model_card(manifest), encoding="utf-8")
        for file in files:
            file.chmod((new / MANIFEST).stat().st_mode)  # safetensors lets nobody else read what it writes


def _not_of_a_model(folder: Path) -> list[str]:
    """Names of what the model in a folder did not bring along; all of a damaged one, of which nobody can tell."""
    if not folder.is_dir():
        return []
    brought = {MANIFEST, _CARD}
    with suppress(OSError, ValueError, LookupError, TypeError):
        brought.update(Path(name).parts[0] for name in json.loads((folder / MANIFEST).read_bytes())["sha256"])
    return [one.name for one in folder.iterdir() if one.name not in brought]


def check_place(folder: Path) -> None:
    """Refuse a place for a model where something else is."""
    if not folder.name or folder.name == "..":
        raise ZerotagError(f"{folder} is no name for a new folder: choose another")
    if folder.parent.exists() and not folder.parent.is_dir():
        raise ZerotagError(f"{folder.parent} is a file: choose another folder")
    if folder.exists() and not (folder / MANIFEST).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ZerotagError(f"{folder} exists and is not a zerotag model: choose another folder")


@contextmanager
def whole_folder(folder: Path, stays: Sequence[str] = ()) -> Iterator[Path]:
    """A new folder to fill, which takes the place of `folder` if all went well and vanishes if not.

    Of what was in its place, some things may stay.
    """
    with explained(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
            new, old = Path(scratch, "new"), Path(scratch, "old")
            new.mkdir()
            yield new
            staying = [name for name in stays if (folder / name).exists() and not (new / name).exists()]
            try:
                if folder.exists():
                    folder.rename(old)
                _move(staying, old, new)
                new.rename(folder)
            except BaseException:  # Ctrl-C as well
                if old.exists() and not folder.exists():
                    _move([name for name in staying if not (old / name).exists()], new, old)
                    old.rename(folder)
                raise


def delete_folder(folder: Path) -> None:
    """Remove a folder, whole or not at all: half of one would look like something unfinished."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
        folder.rename(Path(scratch, "old"))


def _move(names: Iterable[str], source: Path, target: Path) -> None:
    for name in names:
        (source / name).rename(target / name)


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """A text file to write, which takes its place if all went well and vanishes if not."""
    with explained(path):
        if path.exists() and not path.is_file():
            raise ZerotagError(f"{path} exists and is not a file: choose another name")
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as scratch:
            new = Path(scratch, "new")
            with new.open("w", encoding="utf-8", newline="") as file:
                yield file
            new.replace(path)


@contextmanager
def explained(place: Path) -> Iterator[None]:
    """Say in one line that something could not be written, and why."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        raise ZerotagError(f"cannot write {place}: {getattr(error, 'strerror', None) or error}") from error


def manifest_file(folder: Path) -> Path:
    """Where the manifest of a model folder is; other folders are refused."""
    if not folder.is_dir():
        raise ZerotagError(f"{folder} is not a folder; a model folder is what `zerotag train --out` wrote")
    if not (folder / MANIFEST).exists():
        raise ZerotagError(f"{folder} is not a zerotag model folder: it has no {MANIFEST}")
    return folder / MANIFEST


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a model folder, which is refused if it is not one, damaged or from a newer zerotag."""
    file = manifest_file(folder)
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ZerotagError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ZerotagError(f"{file} is not JSON ({error}): {DAMAGED}") from error
    if not isinstance(document, dict) or type(document.get("format")) is not int:
        raise ZerotagError(f"{file} does not say its format: {DAMAGED}")
    if document["format"] > FORMAT:
        raise ZerotagError(
            f"{folder} has format {document['format']}, this zerotag ({zerotag.__version__}) reads up to {FORMAT}: "
            "pip install -U zerotag"
        )
    try:
        manifest, digests = _parse(document), dict(document["sha256"])
    except KeyError as error:
        raise ZerotagError(f"{file} has no {error}: {DAMAGED}") from error
    except (TypeError, ValueError, ZerotagError) as error:
        raise ZerotagError(f"{file} has a wrong value ({error}): {DAMAGED}") from error
    _check_files(folder, digests)
    return manifest


_KINDS: dict[str, tuple[type, str]] = {
    "label_names": (list, "a list"),
    "negative": (str, "a text"),
    "scores": (dict, "an object"),
    "sentences": (dict, "an object"),
    "versions": (dict, "an object"),
    "created": (str, "a text"),
}


def _parse(document: dict[str, Any]) -> Manifest:
    _check_values(document)
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
        export=_typed(Export, document["export"]) if document.get("export") else None,
    )
    if len(manifest.rules) != len(manifest.label_names):
        raise ValueError(f"{len(manifest.rules)} rules for {len(manifest.label_names)} labels")
    return manifest


def _check_values(document: dict[str, Any]) -> None:
    if document["format"] < EARLIEST_FORMAT:
        raise ValueError(f"format {document['format']} is out of range; allowed: {EARLIEST_FORMAT} to {FORMAT}")
    for name, (kind, allowed) in _KINDS.items():
        if not isinstance(document[name], kind):
            raise ValueError(f"{name} {document[name]!r} is out of range; allowed: {allowed}")
    for name in document["label_names"]:
        if not isinstance(name, str):
            raise ValueError(f"the label {name!r} is out of range; allowed: a text")


_R = TypeVar("_R", Rule, Export)


def _typed(kind: type[_R], values: dict[str, Any]) -> _R:
    record = kind(**values)
    require_types(record)
    return record


def _check_files(folder: Path, digests: Mapping[str, str]) -> None:
    for name, expected in digests.items():
        try:
            found = _digest(folder / name)
        except PermissionError as error:
            raise ZerotagError(f"{folder / name} cannot be read: {error.strerror}") from error
        except OSError as error:
            raise ZerotagError(f"{folder / name} cannot be read ({error.strerror}): {DAMAGED}") from error
        if found != expected:
            raise ZerotagError(f"{folder / name} is not what was written there (another SHA-256): {DAMAGED}")


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


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
