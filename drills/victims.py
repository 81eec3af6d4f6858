"""The commands that are killed: what they need, how they are run, and what they should leave."""

from __future__ import annotations

import json
import shutil
import sys
from functools import partial
from pathlib import Path
from unittest import mock

from drills.kills import Victim
from zerotag.types import Sentence

_EXPERIMENTS = Path(__file__).parents[1] / "experiments"
_APPENDABLE = ("jsonl", "tsv", "parquet")
_SENTENCES = 200
_COMPARISON = """
title = "Killed"
corpora = ["smoke-corpus"]
seeds = [1]
reference = "Soft attention"

[model]
encoder = "smoke-encoder"
depth = 1
window = 32

[training]
epochs = 2
learning_rate = 1e-3

[trainings.sa.model]
beta = 1

[[methods]]
name = "Random baseline"
scorer = "random"

[[methods]]
name = "Soft attention"
training = "sa"
"""


def victim(name: str) -> Victim:
    """The one of a name, as in `label parquet`."""
    command, _, form = name.partition(" ")
    if command == "label":
        out = f"out.{form}"
        return Victim(
            _prepare_labelling,
            partial(_label, out),
            partial(_is_complete, out),
            partial(_labelled, out),
            partial(_torn_output, out),
        )
    return {
        "train": Victim(_prepare_training, _train, partial(_is_complete, "model"), _trained, _torn_model),
        "export": Victim(_prepare_export, _export, _never, _exported, _torn_export),
        "save": Victim(_prepare_saving, _save, _never, _saved, _torn_save),
        "compare": Victim(_prepare_comparison, _compare, _never, _compared, _torn_comparison),
    }[name]


def _command(*arguments: object) -> None:
    from zerotag.cli import main

    sys.argv = ["zerotag", *map(str, arguments)]
    main()


def _never(folder: Path) -> bool:  # noqa: ARG001 (these commands can be repeated at any time)
    return False


def _is_complete(name: str, folder: Path) -> bool:
    return (folder / name).exists() and not (folder / f"{name}.partial").exists()


def _files(folder: Path, *without: str) -> dict[str, bytes]:
    """What is in a folder; empty locks of killed processes do not count."""
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    return {
        str(file.relative_to(folder)): b"" if file.name in without else file.read_bytes()
        for file in files
        if not (file.name.endswith(".lock") and not file.stat().st_size)
    }


# zerotag train


def _prepare_training(folder: Path) -> None:
    import tiny
    import toy

    tiny.encoder_folder(folder / "encoder")
    toy.write_tsv(folder / "train.tsv", toy.gold(40))


def _train(folder: Path) -> None:
    from dataclasses import replace

    from zerotag.presets import PRESETS

    model, training = PRESETS["default"]
    PRESETS["default"] = model, replace(training, teacher_epochs=1)
    # A checkpoint after every step, however long it takes to write.
    mock.patch("zerotag.training.loop.CHECKPOINT_SECONDS", 0.0).start()
    mock.patch("zerotag.training.loop.Run._saving_took", mock.PropertyMock(return_value=0.0), create=True).start()
    options = ("--depth", 1, "--epochs", 2, "--patience", 2)
    _command("train", folder / "train.tsv", "--out", folder / "model", "--encoder", folder / "encoder", *options)


def _trained(folder: Path) -> object:
    manifest = json.loads((folder / "model" / "zerotag.json").read_text())
    return sorted(_files(folder)), (folder / "model" / "model.safetensors").read_bytes(), manifest["rules"]


def _torn_model(folder: Path) -> str:
    return _does_not_load(folder / "model") if (folder / "model").exists() else ""


def _does_not_load(model: Path) -> str:
    from zerotag.errors import ZerotagError
    from zerotag.labeller import load

    try:
        load(model, device="cpu")
    except ZerotagError as error:
        return str(error)
    return ""


# zerotag label


def _prepare_labelling(folder: Path) -> None:
    import tiny

    tiny.labeller().save_pretrained(folder / "model")
    lines = [" ".join(words).encode() + b"\n" for words, _ in tiny.sentences(_SENTENCES)]
    (folder / "a.txt").write_bytes(b"".join(lines[:100]) + b"\xff\n")
    (folder / "b.txt").write_bytes(b"".join(lines[100:]))


def _label(out: str, folder: Path) -> None:
    from zerotag.cli import label

    mock.patch.object(label, "_AT_ONCE", 20).start()
    mock.patch("zerotag.bulk.run.COMMIT_SECONDS", 0.0).start()
    page = ("--overwrite", "--format", "html" if "html" in out else "text")
    resume = ("--resume",) if out.split(".")[1] in _APPENDABLE else page
    _command("label", folder / "model", folder / "a.txt", folder / "b.txt", "--out", folder / out, *resume)


def _labelled(out: str, folder: Path) -> object:
    found = _files(folder, "README.md", "zerotag.json")  # which say when they were written
    record = json.loads(found.pop(f"{out}.run.json", b"{}"))
    return found, {name: value for name, value in record.get("arguments", {}).items() if name not in ("model", "input")}


def _torn_output(out: str, folder: Path) -> str:
    """An output in its place is whole: it has its records, or is a page that ends."""
    if not (folder / out).exists():
        return ""
    if out.endswith(("html", "txt")):
        return "" if (folder / out).stat().st_size else "an empty output"
    record = json.loads((folder / f"{out}.run.json").read_text())
    size = (folder / out).stat().st_size
    return "" if record["bytes"] == size else f"an output of {size} bytes, {record['bytes']} by its record"


# zerotag export and WordLabeller.save_pretrained, over an earlier model


def _prepare_export(folder: Path) -> None:
    import tiny
    from zerotag.inference.onnx_export import export

    tiny.labeller(labels=("new",)).save_pretrained(folder / "model")
    export(tiny.labeller(labels=("old",)), folder / "onnx")
    (folder / "onnx" / "notes.txt").write_text("mine")


def _export(folder: Path) -> None:
    _command("export", folder / "model", "--to", "onnx", "--out", folder / "onnx", "--overwrite")


def _exported(folder: Path) -> object:
    return _of_a_model(folder, folder / "onnx")


def _of_a_model(folder: Path, model: Path) -> object:
    from zerotag.labeller import load

    labeller = load(model, device="cpu")
    scores = [one.sentence_scores for one in labeller.score(_sentences())]
    return sorted(_files(folder)), labeller.label_names, scores, (model / "notes.txt").read_text()


def _sentences() -> list[Sentence]:
    return [Sentence.from_words(["the", "pump", "may", "fail"])]


def _torn_export(folder: Path) -> str:
    return _neither_old_nor_new(folder / "onnx")


def _neither_old_nor_new(model: Path) -> str:
    wrong = _does_not_load(model)
    if not wrong and (model / "notes.txt").read_text() != "mine":
        return "the notes in the folder are others"
    return wrong


def _prepare_saving(folder: Path) -> None:
    import tiny

    tiny.labeller(labels=("old",)).save_pretrained(folder / "model")
    (folder / "model" / "notes.txt").write_text("mine")


def _save(folder: Path) -> None:
    import tiny

    tiny.labeller(labels=("new",)).save_pretrained(folder / "model")


def _saved(folder: Path) -> object:
    return _of_a_model(folder, folder / "model")


def _torn_save(folder: Path) -> str:
    return _neither_old_nor_new(folder / "model")


# zerotag compare


def _prepare_comparison(folder: Path) -> None:
    for name in ("smoke-corpus", "smoke-encoder"):
        shutil.copytree(_EXPERIMENTS / name, folder / name)
    (folder / "killed.toml").write_text(_COMPARISON, encoding="utf-8")


def _compare(folder: Path) -> None:
    _command("compare", folder / "killed.toml")


def _compared(folder: Path) -> object:
    """All but what differs from time to time."""
    results = folder / "killed"
    return sorted(_files(folder)), [_of_a_run(file) for file in sorted((results / "runs").glob("[!.]*.json"))]


def _of_a_run(file: Path) -> object:
    values = json.loads(file.read_text())
    return {name: values[name] for name in ("scorer", "test", "uses_word_labels")}


def _torn_comparison(folder: Path) -> str:
    for file in (folder / "killed" / "runs").glob("[!.]*.json"):
        try:
            _of_a_run(file)
        except (ValueError, LookupError) as error:
            return f"{file.name}: {error!r}"
    return ""
