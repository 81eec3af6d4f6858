"""Mutations of model folders, torch and ONNX: each is a function of a folder, drawn from a seed."""

from __future__ import annotations

import json
import os
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zerotag.io.integrity import digest, seal

MANIFEST = "zerotag.json"
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 7, 3.5, 10**5, 10**9, 10**12, 10**30, 10**400, 1e308, float("nan"), float("-inf")),
    *(
        "",
        "x",
        "../../etc/passwd",
        "\x1b[2J\x07",
        "x" * 100_000,
        "bert",
        "zerotag",
        "someone/kernel",
        "flash_attention_2",
    ),
    *([], {}, [[]], [None], {"": {}}, [0] * 1000, {"auto_map": {"AutoModel": "planted.Model"}}),
)
ADDED_NAMES = ("auto_map", "attn_implementation", "_attn_implementation", "quantization_config", "num_labels", "dtype")
EXTRA_FILES = ("special_tokens_map.json", "added_tokens.json", "planted.py", "pytorch_model.bin", "adapter_config.json")
HARMLESS_FILES = ("notes.txt", ".gitattributes", "figures.png", "LICENSE")

Change = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change of a model folder."""

    name: str
    apply: Change
    resealed: bool = False
    """Whether the digests were made to fit, as somebody does who writes a folder: it may be another model then."""


def reseal(folder: Path) -> None:
    """Make the digests of a manifest fit the files that it lists."""
    file = folder / MANIFEST
    document = json.loads(file.read_text())
    if not isinstance(document, dict):
        return
    listed = document.get("sha256")
    if isinstance(listed, dict):
        for name in listed:
            if isinstance(name, str) and name and (folder / name).is_file() and (folder / name).stat().st_size:
                listed[name] = digest(folder / name)
    if "seal" in document:
        document["seal"] = seal(document)
    file.write_text(json.dumps(document))


def draw_mutation(draw: random.Random, files: tuple[str, ...]) -> Mutation:
    """A mutation of a folder that has the files."""
    kinds = (_damaged, _odd_file, _odd_json, _odd_json, _odd_json, _extra_file, _odd_weights)
    return draw.choice(kinds)(draw, files)


def _damaged(draw: random.Random, files: tuple[str, ...]) -> Mutation:
    """Bytes that a disk or a broken copy changed."""
    name, place = draw.choice(files), draw.random()
    how = draw.choice(("flip", "cut", "grow", "empty", "zeros"))

    def apply(folder: Path) -> None:
        content = bytearray((folder / name).read_bytes())
        at = int(place * len(content))
        if how == "flip":
            content[at] ^= 1 << (at % 8)
        elif how == "zeros":
            content[at : at + 64] = bytes(len(content[at : at + 64]))
        instead = {"cut": content[:at], "grow": content + b" {}", "empty": bytearray()}
        (folder / name).write_bytes(instead.get(how, content))

    return Mutation(f"{how} {name} at {place:.4f}", apply)


def _odd_file(draw: random.Random, files: tuple[str, ...]) -> Mutation:
    """What is no regular file, or a link to one."""
    name = draw.choice(files)
    how = draw.choice(("gone", "fifo", "folder", "zero", "random", "tty", "stdin", "dangling", "loop", "link", "proc"))
    targets = {"zero": "/dev/zero", "random": "/dev/urandom", "tty": "/dev/tty", "stdin": "/dev/stdin", "loop": name}
    targets |= {"dangling": "nowhere", "proc": "/proc/kmsg", "link": f"{name}.linked"}

    def apply(folder: Path) -> None:
        place = folder / name
        if how == "link":  # as in a hub's cache; it must load
            place.rename(folder / f"{name}.linked")
        else:
            place.unlink()
        if how == "fifo":
            os.mkfifo(place)
        elif how == "folder":
            place.mkdir()
        elif how in targets:
            place.symlink_to(targets[how])

    return Mutation(f"{name} is {how}", apply)


def _odd_json(draw: random.Random, files: tuple[str, ...]) -> Mutation:
    """A value of another kind or size, at any place of a JSON file."""
    name = draw.choice([file for file in files if file.endswith(".json")])
    how = draw.choice(("set", "set", "set", "drop", "add", "rename"))
    value, added, steps = draw.choice(ODD_VALUES), draw.choice(ADDED_NAMES), draw.random()
    resealed = name == MANIFEST or draw.random() < 0.8

    def apply(folder: Path) -> None:
        document = json.loads((folder / name).read_text())
        place, key = _anywhere(random.Random(steps), document)
        if how == "add" and isinstance(place, dict):
            place[added] = value
        elif how == "rename" and isinstance(place, dict):
            place[f"{key}x"] = place.pop(key)
        elif how == "drop":
            del place[key]
        else:
            place[key] = value
        (folder / name).write_text(json.dumps(document))
        if resealed:
            reseal(folder)

    return Mutation(f"{how} {value!r:.30} at {steps:.4f} of {name}", apply, resealed)


def _anywhere(draw: random.Random, document: Any) -> tuple[Any, Any]:
    """A place in a document: often near its top, where the settings are."""
    while True:
        key = draw.choice([*document] if isinstance(document, dict) else range(len(document)))
        if not isinstance(document[key], dict | list) or not document[key] or draw.random() < 0.2:
            return document, key
        document = document[key]


def _extra_file(draw: random.Random, files: tuple[str, ...]) -> Mutation:
    """A file more than there was."""
    name = draw.choice((*EXTRA_FILES, *HARMLESS_FILES))
    listed = name in EXTRA_FILES and draw.random() < 0.5
    content = draw.choice(
        ("{}", '{"pad_token": "the", "cls_token": "pump"}', "raise SystemExit('it ran')", "\x80\x04.")
    )

    def apply(folder: Path) -> None:
        (folder / name).write_text(content)
        if listed:
            document = json.loads((folder / MANIFEST).read_text())
            document["sha256"][name] = ""
            (folder / MANIFEST).write_text(json.dumps(document))
            reseal(folder)

    return Mutation(f"{'listed' if listed else 'unlisted'} {name} beside {len(files)} files", apply, listed)


def _odd_weights(draw: random.Random, files: tuple[str, ...]) -> Mutation:
    """Weights that are no numbers, of other sizes or names, or damaged within a folder whose digests fit."""
    name = draw.choice([file for file in files if file.endswith((".safetensors", ".onnx"))])
    how = draw.choice(("nan", "infinite", "rename", "reshape", "drop", "flip", "splice"))
    place = draw.random()

    def apply(folder: Path) -> None:
        file = folder / name
        content = bytearray(file.read_bytes())
        if how in ("flip", "splice") or name.endswith(".onnx"):
            at = int(place * len(content))
            content[at : at + (1 if how == "flip" else 4)] = struct.pack("<f", float("nan"))[
                : 1 if how == "flip" else 4
            ]
        else:
            content = _with_odd_header(content, how, place)
        file.write_bytes(content)
        reseal(folder)

    return Mutation(f"{how} {name} at {place:.4f}", apply, resealed=True)


def _with_odd_header(content: bytearray, how: str, place: float) -> bytearray:
    """Safetensors with one tensor changed: 8 bytes with the header's size, the header in JSON, the numbers."""
    size = struct.unpack("<Q", content[:8])[0]
    header, numbers = json.loads(content[8 : 8 + size]), content[8 + size :]
    names = sorted(set(header) - {"__metadata__"})
    name = names[int(place * len(names))]
    tensor = header[name]
    if how in ("nan", "infinite"):
        start = tensor["data_offsets"][0]
        numbers[start : start + 4] = struct.pack("<f", float("nan" if how == "nan" else "inf"))
    elif how == "reshape":
        tensor["shape"] = [1, *tensor["shape"]]
    else:
        header.pop(name)
        if how == "rename":
            header[f"{name}.x"] = tensor
    written = json.dumps(header).encode()
    return bytearray(struct.pack("<Q", len(written)) + written + numbers)
