"""What people get wrong: each time one line, exit code 2, and nothing written."""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from unittest import mock

import pytest

import toy
from commands import CommandLine, Started, error_line

PLAIN = "a pump works .\n"
GOOD = "".join(f"a\tO\npump{i}\t{'hedge' if i % 2 else 'O'}\n\n" for i in range(20))


class Mistake(NamedTuple):
    """A command and the start of its complaint; {here} is the folder, {model} and {encoder} are good ones."""

    command: str
    complaint: str
    files: Mapping[str, bytes | str] = MappingProxyType({})


TRAIN = "train {here}/train.tsv --out {here}/model --encoder {encoder}"
LABEL = "label {model} {here}/in.txt --out {here}/out.jsonl"
EVALUATE = "evaluate {model} {here}/gold.tsv --json {here}/out.json"
TRAIN_CSV = TRAIN.replace(".tsv", ".csv")
TRAIN_JSONL = TRAIN.replace(".tsv", ".jsonl")

MISTAKES = {
    "missing file: train": Mistake(TRAIN, "{here}/train.tsv: no such file"),
    "missing file: dev": Mistake(TRAIN + " --dev {here}/dev.tsv", "{here}/dev.tsv: no such file", {"train.tsv": GOOD}),
    "missing file: label": Mistake(LABEL, "{here}/in.txt: no such file"),
    "missing file: evaluate": Mistake(EVALUATE, "{here}/gold.tsv: no such file"),
    "empty file: train": Mistake(TRAIN, "{here}/train.tsv: no sentences in it", {"train.tsv": ""}),
    "empty file: only blank lines": Mistake(TRAIN, "{here}/train.tsv: no sentences in it", {"train.tsv": "\n \n\n"}),
    "empty file: CSV": Mistake(TRAIN_CSV, "{here}/train.csv: no sentences in it", {"train.csv": ""}),
    "empty file: only a header": Mistake(
        TRAIN_CSV, "{here}/train.csv: no sentences in it", {"train.csv": "text,label\n"}
    ),
    "empty file: dev": Mistake(
        TRAIN + " --dev {here}/dev.tsv", "{here}/dev.tsv: no sentences", {"train.tsv": GOOD, "dev.tsv": ""}
    ),
    "empty file: label": Mistake(LABEL, "{here}/in.txt: no sentences in it", {"in.txt": ""}),
    "empty file: evaluate": Mistake(EVALUATE, "{here}/gold.tsv: no sentences in it", {"gold.tsv": ""}),
    "a negative that is not there": Mistake(
        TRAIN_CSV + " --negative Sure",
        "{here}/train.csv: no label is 'Sure', which was to mean no label; the labels are 'hedge', 'sure'",
        {"train.csv": "text,label\n" + "It may rain,hedge\nIt rains,sure\n" * 20},
    ),
    "a table called .tsv: train": Mistake(
        TRAIN, "{here}/train.tsv:1: the columns 'text', 'label' of a table", {"train.tsv": "text\tlabel\nIt may\t1\n"}
    ),
    "a table called .tsv: label": Mistake(
        LABEL.replace(".txt", ".tsv"), "{here}/in.tsv:1: the columns 'id', 'text' of", {"in.tsv": "id\ttext\n1\tIt\n"}
    ),
    "unknown suffix: label --out": Mistake(
        LABEL.replace(".jsonl", ".odt"),
        "{here}/out.odt: unknown suffix '.odt'; those known are",
        {"in.txt": "It may\n"},
    ),
    "standard output by a name": Mistake(
        "label {model} {here}/in.txt --out -", "--out - is not needed", {"in.txt": "It may\n"}
    ),
    "a folder": Mistake("train {here} --out {here}/model --input-format tsv", "{here}: a folder, not a file"),
    "not UTF-8: train": Mistake(
        TRAIN + " --strict", "{here}/train.tsv:3: not UTF-8 (byte 0xe9", {"train.tsv": b"a\tO\n\ncaf\xe9\tO\n"}
    ),
    "not UTF-8: label": Mistake(LABEL + " --strict", "{here}/in.txt:2: not UTF-8", {"in.txt": b"a pump\n\xff\xfe\n"}),
    "not UTF-8: evaluate": Mistake(EVALUATE, "{here}/gold.tsv:1: not UTF-8", {"gold.tsv": b"\xe9\tO\n"}),
    "not UTF-8: UTF-16": Mistake(TRAIN, "{here}/train.tsv:1: ", {"train.tsv": GOOD.encode("utf-16")}),
    "binary file: a picture": Mistake(
        TRAIN, "{here}/train.tsv:1: ", {"train.tsv": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256))}
    ),
    "binary file: no Parquet": Mistake(
        TRAIN.replace(".tsv", ".parquet"), "{here}/train.parquet: ", {"train.parquet": bytes(range(256))}
    ),
    "binary file: label": Mistake(LABEL, "{here}/in.txt:1: ", {"in.txt": bytes(range(256)) * 4}),
    "too few columns: word without a label": Mistake(
        TRAIN, "{here}/train.tsv:2: 'pump' has no label; write word, tab, label", {"train.tsv": "a\tO\npump\n"}
    ),
    "too few columns: CSV": Mistake(
        TRAIN_CSV + " --strict",
        "{here}/train.csv:3: the number of columns is 1, in the header 2",
        {"train.csv": "text,label\na pump,1\na valve\n"},
    ),
    "too few rows: others are left out": Mistake(
        TRAIN_CSV,
        "1 training sentences; at least 10 are needed ({here}/train.csv: 2 of 3 rows are left out; --strict stops "
        "there instead {here}/train.csv:3: an empty sentence: '' has no words",
        {"train.csv": "text,label\na pump,1\n,0\na valve,\n"},
    ),
    "swapped columns": Mistake(
        TRAIN_CSV + " --text-column label --label-column text",
        "{here}/train.csv: 30 different labels in 30 rows, such as 'a pump 0': is 'text' the text?",
        {"train.csv": "text,label\n" + "".join(f"a pump {n},{n % 2}\n" for n in range(30))},
    ),
    "numbers of classes": Mistake(
        TRAIN_CSV,
        "{here}/train.csv:3: the label '2' is a number other than 0 and 1; give labels names, or 0 and 1, or say what "
        "0, 1, 2 ... mean with --label-names",
        {"train.csv": "text,label\na pump,1\na valve,2\n"},
    ),
    "unknown label: dev": Mistake(
        TRAIN + " --dev {here}/dev.tsv",
        "{here}/dev.tsv:2: unknown label 'irony'; the only label is 'hedge'",
        {"train.tsv": GOOD, "dev.tsv": "a\tO\npump\tirony\n"},
    ),
    "unknown label: evaluate": Mistake(
        EVALUATE, "{here}/gold.tsv:1: unknown label 'irony'; the only label is 'hedge'", {"gold.tsv": "a\tirony\n"}
    ),
    "unknown label: a number": Mistake(
        TRAIN_CSV, "{here}/train.csv:2: the label '7' is a number other than", {"train.csv": "text,label\na pump,7\n"}
    ),
    "unknown label: none": Mistake(
        TRAIN_JSONL, "{here}/train.jsonl:1: no label; give one", {"train.jsonl": '{"text": "a pump", "label": null}\n'}
    ),
    "missing column: text": Mistake(
        TRAIN_CSV,
        "{here}/train.csv:1: no column 'text'; there are 'id', 'sentence', 'label'; choose with --text-column",
        {"train.csv": "id,sentence,label\n1,a pump,1\n"},
    ),
    "missing column: label": Mistake(
        TRAIN_CSV,
        "{here}/train.csv:1: no column 'label'; there are 'text', 'class'; choose with --label-column",
        {"train.csv": "text,class\na pump,1\n"},
    ),
    "missing column: one of several": Mistake(
        TRAIN_CSV + " --label-column a --label-column b",
        "{here}/train.csv:1: no column 'b'; there are 'text', 'a'",
        {"train.csv": "text,a\na pump,1\n"},
    ),
    "missing column: JSONL": Mistake(
        TRAIN_JSONL + " --strict",
        "{here}/train.jsonl:2: no column 'label'; there are 'text'",
        {"train.jsonl": '{"text": "a pump", "label": 1}\n{"text": "a pump"}\n'},
    ),
    "missing column: in new text": Mistake(
        "label {model} {here}/in.csv", "{here}/in.csv:1: no column 'text'; there are 'body'", {"in.csv": "body\na\n"}
    ),
    "broken JSON": Mistake(TRAIN_JSONL, "{here}/train.jsonl:1: not valid JSON", {"train.jsonl": '{"text": \n'}),
    "one class: no positive": Mistake(
        TRAIN_CSV,
        "only one class: no training sentence has the label 'label'; sentences of both kinds are needed",
        {"train.csv": "text,label\n" + "a pump,0\n" * 20},
    ),
    "one class: no negative": Mistake(
        TRAIN,
        "only one class: every training sentence has the label 'hedge'; sentences of both kinds are needed",
        {"train.tsv": "may\thedge\n\n" * 20},
    ),
    "fewer than ten": Mistake(
        TRAIN,
        "9 training sentences; at least 10 are needed",
        {"train.tsv": "".join(f"pump\t{'hedge' if i % 2 else 'O'}\n\n" for i in range(9))},
    ),
    "empty sentence: CSV": Mistake(
        TRAIN_CSV + " --strict", "{here}/train.csv:3: an empty sentence", {"train.csv": "text,label\na pump,1\n,0\n"}
    ),
    "empty sentence: only spaces": Mistake(
        TRAIN_JSONL, "{here}/train.jsonl:1: an empty sentence", {"train.jsonl": '{"text": " ", "label": 1}\n'}
    ),
    "empty sentence: no words": Mistake(
        TRAIN_JSONL, "{here}/train.jsonl:1: ", {"train.jsonl": '{"words": [], "label": 1}\n'}
    ),
    "empty word": Mistake(TRAIN, "{here}/train.tsv:2: an empty word", {"train.tsv": "a\tO\n\tO\n"}),
    "NUL byte: train": Mistake(TRAIN, "{here}/train.tsv:2: a NUL byte", {"train.tsv": b"a\tO\npu\0mp\tO\n"}),
    "NUL byte: label": Mistake(LABEL, "{here}/in.txt:1: a NUL byte", {"in.txt": b"a \0 pump\n"}),
    "1 MB word: train": Mistake(
        TRAIN, "{here}/train.tsv:1: a word of 1,000,000 characters", {"train.tsv": "x" * 1_000_000 + "\tO\n"}
    ),
    "1 MB word: label": Mistake(
        LABEL + " --strict", "{here}/in.txt:2: a word of 1,000,000 characters", {"in.txt": PLAIN + "x" * 1_000_000}
    ),
    "1 MB word: evaluate": Mistake(
        EVALUATE, "{here}/gold.tsv:1: a word of 1,000,000 characters", {"gold.tsv": "x" * 1_000_000 + "\tO\n"}
    ),
    "no model folder": Mistake(
        "label {here}/nothing {here}/in.txt", "{here}/nothing is not a folder", {"in.txt": PLAIN}
    ),
    "a file for a model folder": Mistake(
        "label {here}/in.txt {here}/in.txt", "{here}/in.txt is not a folder", {"in.txt": PLAIN}
    ),
    "a folder that is no model": Mistake(
        "label {here} {here}/in.txt", "{here} is not a zerotag model folder: it has no zerotag.json", {"in.txt": PLAIN}
    ),
    "a damaged model folder": Mistake(
        "evaluate {here} {here}/gold.tsv",
        "{here}/zerotag.json is not JSON",
        {"zerotag.json": "{", "gold.tsv": GOOD},
    ),
    "a model on no hub": Mistake(
        "label no-one/nothing {here}/in.txt",
        "'no-one/nothing' is neither a folder nor a model that could be fetched from the hub",
        {"in.txt": PLAIN},
    ),
    "an encoder on no hub": Mistake(
        "train {here}/train.tsv --out {here}/model --encoder no-one/nothing",
        "encoder 'no-one/nothing' is not a folder, not in the Hugging Face cache, and could not be fetched: ",
        {"train.tsv": GOOD},
    ),
    "output exists: train": Mistake(
        TRAIN, "{here}/model exists and is not a zerotag model", {"train.tsv": GOOD, "model": "mine"}
    ),
    "output exists: label": Mistake(LABEL, "{here}/out.jsonl exists", {"in.txt": PLAIN, "out.jsonl": "mine"}),
    "output exists: evaluate": Mistake(EVALUATE, "{here}/out.json exists", {"gold.tsv": GOOD, "out.json": "mine"}),
    "output is a folder": Mistake(
        "label {model} {here}/in.txt --out {here} --overwrite",
        "{here} exists and is not a file",
        {"in.txt": PLAIN},
    ),
    "output without a name": Mistake(
        "train {here}/train.tsv --out . --overwrite", ". is no name for a new folder", {"train.tsv": GOOD}
    ),
    "an unfinished training in the way": Mistake(
        TRAIN,
        "cannot write {here}/model.partial: Not a directory",
        {"train.tsv": GOOD, "model.partial": "mine"},
    ),
    "depth too large": Mistake(TRAIN + " --depth 5", "depth 5 is not in 1..4 for encoder", {"train.tsv": GOOD}),
    "depth 0": Mistake(TRAIN + " --depth 0", "depth 0 is out of range; allowed: 1 or more", {"train.tsv": GOOD}),
    "depth -1": Mistake(TRAIN + " --depth -1", "depth '-1' is neither a number of layers nor auto"),
    "depth deep": Mistake(TRAIN + " --depth deep", "depth 'deep' is neither a number of layers nor auto"),
    "beta 0": Mistake(TRAIN + " --beta 0", "beta 0.0 is out of range; allowed: above 0 and at most 64"),
    "beta -1": Mistake(TRAIN + " --beta -1", "beta -1.0 is out of range"),
    "beta 65": Mistake(TRAIN + " --beta 65", "beta 65.0 is out of range"),
    "beta nan": Mistake(TRAIN + " --beta nan", "beta nan is out of range"),
    "beta two": Mistake(TRAIN + " --beta two", "Invalid value for '--beta': "),
    "gamma": Mistake(TRAIN + " --gamma -1", "gamma -1.0 is out of range"),
    "epochs": Mistake(TRAIN + " --epochs 0", "epochs 0 is out of range"),
    "seed": Mistake(TRAIN + " --seed -1", "seed -1 is out of range"),
    "head": Mistake(TRAIN + " --head tail", "head 'tail' is out of range; allowed: soft-attention or cls"),
    "limit 0": Mistake("compare {here}/x.toml --limit 0", "limit 0 is out of range; allowed: minutes above 0"),
    "limit -3": Mistake("compare {here}/x.toml --limit -3", "limit -3 is out of range; allowed: minutes above 0"),
    "preset": Mistake(TRAIN + " --preset best", "unknown preset 'best'; there are: default, lexical, paper"),
    "device": Mistake(
        TRAIN + " --device abacus", "device 'abacus' cannot be used here; there are: cpu", {"train.tsv": GOOD}
    ),
    "device that this machine may lack": Mistake(
        LABEL + " --device cuda:99", "device 'cuda:99' cannot be used here", {"in.txt": PLAIN}
    ),
    "output format": Mistake(LABEL + " --format pdf", "unknown format 'pdf'; allowed: jsonl, tsv, html, text"),
    "input format": Mistake(LABEL + " --input-format pdf", "unknown format 'pdf'; ", {"in.txt": PLAIN}),
    "unknown suffix": Mistake("label {model} {here}/in.doc", "{here}/in.doc: unknown suffix '.doc'", {"in.doc": PLAIN}),
    "no labels in plain text": Mistake(
        "train {here}/in.txt --out {here}/model", "{here}/in.txt: plain text has no labels", {"in.txt": PLAIN}
    ),
    "no such verb": Mistake("trian x", "No such command 'trian'"),
    "no such option": Mistake("demo --speed 2", "No such option: --speed"),
    "missing argument": Mistake("evaluate", "Missing argument '[MODEL_DIR] GOLD'"),
    "missing option": Mistake("train x", "Missing option '--out'"),
    "too many arguments": Mistake("evaluate a b c", "3 paths: give a model folder and one file of sentences"),
    "a newline in a name": Mistake("label {model} a\nb.txt", "a b.txt: no such file"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line(name: str, zerotag: CommandLine, tmp_path: Path, model: Path, encoder: Path) -> None:
    mistake = MISTAKES[name]
    for file, content in mistake.files.items():
        (tmp_path / file).write_bytes(content.encode() if isinstance(content, str) else content)
    before = contents(tmp_path)

    places = {"here": tmp_path, "model": model, "encoder": encoder}
    line = zerotag.fails(*mistake.command.format(**places).split(" "))
    assert line.startswith(mistake.complaint.format(**places))
    assert len(line) < 600
    assert contents(tmp_path) == before


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read(zerotag: CommandLine, tmp_path: Path, model: Path) -> None:
    secret = tmp_path / "in.txt"
    secret.write_text(PLAIN)
    secret.chmod(0)
    assert zerotag.fails("label", model, secret).startswith(f"{secret}: no permission to read it")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    assert str(closed) in zerotag.fails("label", closed)
    assert "Permission denied" in zerotag.fails("label", model, "--out", closed / "out.jsonl", stdin=PLAIN)


# No space left


def limit_files_to(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def limit_checkpoints() -> None:
    """Written after the first step."""
    mock.patch("zerotag.training.loop.CHECKPOINT_SECONDS", 0.0).start()
    limit_files_to(20_000)


def test_no_space_for_an_unfinished_training(tmp_path: Path, encoder: Path) -> None:
    corpus = toy.write_tsv(tmp_path / "train.tsv", toy.gold(20))
    out = tmp_path / "model"
    command = ["train", corpus, "--out", out, "--encoder", encoder, "--epochs", 1]
    outcome = Started(command, limit_checkpoints, tmp_path / "log").outcome()
    assert outcome.code == 2, outcome
    *remarks, line = outcome.err.splitlines()
    assert not any(remark.startswith(("error", "Traceback")) for remark in remarks)
    assert line.startswith(f"error: cannot write {out}.partial/teacher-1/step-0000-00000001: ")
    assert "File too large" in line
    assert not out.exists()
    assert [file for file in Path(f"{out}.partial").rglob("*") if file.is_file()] == []


@pytest.mark.parametrize("command", ["label {model} {source} --out {out}", "evaluate {model} {source} --json {out}"])
def test_no_space_for_the_output(tmp_path: Path, model: Path, command: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    source = toy.write_tsv(tmp_path / "gold.tsv", toy.gold(30))
    arguments = command.format(model=model, source=source, out=folder / "file").split()
    outcome = Started(arguments, partial(limit_files_to, 500), tmp_path / "log").outcome()
    assert error_line(outcome) == f"cannot write {folder / 'file'}: File too large"
    assert list(folder.iterdir()) == []


def test_no_space_leaves_the_old_output(tmp_path: Path, model: Path) -> None:
    source = toy.write_tsv(tmp_path / "gold.tsv", toy.gold(30))
    out = tmp_path / "old.jsonl"
    out.write_text("old")
    command = ["label", model, source, "--out", out, "--overwrite"]
    outcome = Started(command, partial(limit_files_to, 500), tmp_path / "log").outcome()
    assert error_line(outcome) == f"cannot write {out}: File too large"
    assert out.read_text() == "old"
