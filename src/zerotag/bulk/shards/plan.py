"""A plan of a labelling that many machines share: what is read, by which model, with which options, in which shards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b, sha256
from typing import Any, NamedTuple

import zerotag
from zerotag.bulk.inputs import ByteRange, Cursor, Inputs, Part
from zerotag.errors import ZerotagError
from zerotag.io import Columns, Position, Source
from zerotag.io.hub import located
from zerotag.io.model_folder import manifest_file
from zerotag.io.stores import WORK_FOLDERS, Store, path_of
from zerotag.io.writers.appendable import Form

PLAN = "plan.json"
_FOLDERS = ("done", "running", "failed", "rejected", "labels", WORK_FOLDERS)


class Model(NamedTuple):
    """A model, and the digest of its manifest, which has those of all its files."""

    name: str
    sha256: str

    @classmethod
    def of(cls, name: str) -> Model:
        """The model of a folder or of the hub."""
        return cls(name, sha256(manifest_file(located(name)).read_bytes()).hexdigest())


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """All that decides what is written for an input."""

    form: Form
    method: str
    threshold: float | None
    text_column: str
    input_format: str | None
    split_sentences: bool
    device: str
    """Its kind: scores of another one may differ in their last digits."""
    threads: int
    """That torch computes with, where there is no GPU: scores of more or fewer may differ in their last digits, too."""
    at_once: int
    strict: bool

    @property
    def columns(self) -> Columns:
        """What is read."""
        return Columns(text=self.text_column, format=self.input_format, split_sentences=self.split_sentences)


class Shard(NamedTuple):
    """A part of the inputs that is labelled in one go, and the digests of its bytes, file by file."""

    start: Cursor
    end: Cursor
    ranges: tuple[ByteRange, ...]
    digests: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """How much it is."""
        return sum(one.end - one.first for one in self.ranges)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What `plan.json` says."""

    version: str = zerotag.__version__
    model: Model
    options: Options
    folder: str
    """From where the inputs have their names."""
    inputs: tuple[tuple[str, int], ...]
    """Names and sizes."""
    shards: tuple[Shard, ...]

    def as_bytes(self) -> bytes:
        """As JSON, with a line for each shard."""
        data = {
            "version": self.version,
            "model": self.model._asdict(),
            "options": {**asdict(self.options), "form": self.options.form._asdict()},
            "folder": self.folder,
            "inputs": self.inputs,
            "shards": list(map(_plain, self.shards)),
        }
        return json.dumps(data).replace('{"start"', '\n{"start"').encode() + b"\n"

    @cached_property
    def id(self) -> str:
        """What tells it from all others."""
        return blake2b(self.as_bytes(), digest_size=20).hexdigest()

    def labels_of(self, number: int) -> str:
        """Where the output of a shard is."""
        form = self.options.form
        return f"labels/{number:05d}.{form.format}{form.packing}"

    @staticmethod
    def rejects_of(number: int) -> str:
        """Where the records of a shard are listed that could not be used."""
        return f"rejected/{number:05d}.jsonl"

    def sources(self) -> list[Source]:
        """The inputs."""
        return [Source(path_of(name)) for name, _ in self.inputs]

    def inputs_of(self, shard: Shard) -> Inputs:
        """What a shard reads."""
        sizes = tuple(size for _, size in self.inputs)
        return Inputs(self.sources(), self.options.columns, Part(shard.start, shard.end, shard.ranges, sizes))

    def shard(self, number: int) -> Shard:
        """The shard of a number."""
        if not 0 <= number < len(self.shards):
            raise ZerotagError(f"there is no shard {number}: the plan has {len(self.shards)}, from 0 on")
        return self.shards[number]


def _plain(shard: Shard) -> dict[str, Any]:
    return {
        "start": [shard.start.file, *shard.start.position],
        "end": [shard.end.file, *shard.end.position],
        "ranges": shard.ranges,
        "digests": shard.digests,
    }


def _shard(data: Mapping[str, Any]) -> Shard:
    start, end = (Cursor(file, Position(*rest)) for file, *rest in (data["start"], data["end"]))
    return Shard(start, end, tuple(ByteRange(*one) for one in data["ranges"]), tuple(data["digests"]))


def write_plan(store: Store, plan: Plan, *, overwrite: bool) -> bool:
    """Write a plan, and say whether it is new; one that is there stays, if it is not to be overwritten."""
    try:
        known = store.read(PLAN)
    except FileNotFoundError:
        known = b""
    if known == plan.as_bytes():
        return False
    if known and not overwrite:
        raise ZerotagError(f"{store.place} holds another plan; choose another folder or give --overwrite")
    for folder in _FOLDERS:  # before there is a new one: what is there belongs to the old one
        store.clear(folder)
    store.write(PLAN, plan.as_bytes())
    return True


def read_plan(store: Store) -> Plan:
    """The plan of a folder, if this version can do it."""
    where = f"{store.place}/{PLAN}"
    try:
        data = json.loads(store.read(PLAN))
        version = data["version"]
    except FileNotFoundError:
        raise ZerotagError(
            f"{where}: no such plan; zerotag label MODEL INPUT... --out DIR --shards N makes one"
        ) from None
    except (ValueError, LookupError, TypeError):
        raise ZerotagError(f"{where} is no plan of zerotag; make it anew") from None
    if version != zerotag.__version__:
        raise ZerotagError(
            f"{where} was made by zerotag {version}, this is {zerotag.__version__}: use the same version"
        )
    try:
        options = Options(**{**data["options"], "form": Form(**data["options"]["form"])})
        return Plan(
            version=version,
            model=Model(**data["model"]),
            options=options,
            folder=data["folder"],
            inputs=tuple((name, size) for name, size in data["inputs"]),
            shards=tuple(_shard(one) for one in data["shards"]),
        )
    except (ValueError, LookupError, TypeError) as error:
        raise ZerotagError(f"{where} is damaged ({error}); make it anew") from None
