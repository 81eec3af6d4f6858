"""`zerotag label` of many files: what goes in, what comes out, what is set aside, what is said on the way."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
from functools import partial
from pathlib import Path
from unittest import mock

import pyarrow.parquet as pq
import pytest

import tiny
from bulk_runs import packed, unpacked
from commands import CommandLine, Started, error_line
from zerotag.bulk.run import Progress
from zerotag.cli import label as label_command
from zerotag.cli.label_progress import describe
from zerotag.labeller import WordLabeller, load
from zerotag.render import progress as cli_progress
from zerotag.types import Rule

TEXTS = [" ".join(words) for words, _ in tiny.sentences(9)]
SECONDS = re.compile(r"\d+ s \([\d,.]+ sentences/s\)")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Nine sentences in three files, with four records among them that cannot be used."""
    contents = {
        "a.txt": "".join(f"{text}\n" for text in TEXTS[:4]).encode() + b"caf\xe9\n",
        "b.jsonl.gz": "".join(f"{line}\n" for line in ["{", *(json.dumps({"text": t}) for t in TEXTS[4:7])]).encode(),
        "c.csv.zst": "\n".join(["text,id", "too,many,columns", *(f"{t},1" for t in TEXTS[7:]), ",2\n"]).encode(),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(packed(content, Path(name).suffix))
    return [tmp_path / name for name in contents]


def records(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_several_files(zerotag: CommandLine, model: Path, tmp_path: Path, files: list[Path]) -> None:
    out = tmp_path / "out.jsonl"
    outcome = zerotag("label", model, *files, "--out", out)
    assert outcome.code == 0
    labelled = records(out.read_text())
    assert [record["text"] for record in labelled] == TEXTS
    assert list(labelled[0]) == ["source", "line", "text", "score", "label", "words", "spans"]
    places = [(Path(str(record["source"])).name, record["line"]) for record in labelled]
    assert places == [
        *(("a.txt", line) for line in (1, 2, 3, 4)),
        *(("b.jsonl.gz", line) for line in (2, 3, 4)),
        *(("c.csv.zst", line) for line in (3, 4)),
    ]
    rejected = records((tmp_path / "out.jsonl.rejected.jsonl").read_text())
    assert [(record["source"], record["line"], record["raw"]) for record in rejected] == [
        (str(files[0]), 5, "caf\\xe9"),
        (str(files[1]), 1, "{"),
        (str(files[2]), 2, "too,many,columns"),
        (str(files[2]), 5, ",2"),
    ]
    positive = [sum(word["label"] is not None for word in record["words"]) for record in labelled]  # type: ignore[attr-defined]
    words = sum(map(len, (text.split() for text in TEXTS)))
    lines = SECONDS.sub("0 s (0 sentences/s)", outcome.err).splitlines()
    assert lines == [
        f"9 sentences, {words} words in 0 s (0 sentences/s), 4 records rejected",
        f"hedge: {sum(record['label'] is not None for record in labelled)} sentences, {sum(positive)} words",
        f"the rejected records are listed in {out}.rejected.jsonl",
    ]
    assert not (tmp_path / "out.jsonl.partial").exists()


def test_several_files_to_standard_output(zerotag: CommandLine, model: Path, files: list[Path]) -> None:
    outcome = zerotag("label", model, *files)
    assert outcome.code == 0
    assert [record["text"] for record in records(outcome.out)] == TEXTS
    warnings = [line for line in outcome.err.splitlines() if line.startswith("rejected: ")]
    assert [line.split(": ")[1] for line in warnings] == [
        f"{files[0]}:5",
        f"{files[1]}:1",
        f"{files[2]}:2",
        f"{files[2]}:5",
    ]
    assert "4 records rejected" in outcome.err


def test_only_the_first_rejects_are_shown(zerotag: CommandLine, model: Path) -> None:
    outcome = zerotag("label", model, "--input-format", "jsonl", stdin='{"text": "a pump"}\n' + "{\n" * 50)
    assert outcome.code == 0
    assert outcome.err.count("not valid JSON") == 20
    assert "rejected: others are only counted; --out FILE also lists them\n" in outcome.err
    assert "1 sentences, 2 words in 0 s" in outcome.err
    assert "50 records rejected" in outcome.err


def test_origins_on_demand(zerotag: CommandLine, model: Path, files: list[Path]) -> None:
    (first, *_) = records(zerotag.succeeds("label", model, files[0], "--source"))
    assert (first["source"], first["line"]) == (str(files[0]), 1)
    assert "source" not in records(zerotag.succeeds("label", model, files[0]))[0]
    assert "source" not in records(zerotag.succeeds("label", model, *files, "--no-source"))[0]


@pytest.mark.parametrize("name", ["jsonl.gz", "jsonl.zst", "tsv", "tsv.gz", "html", "html.zst", "txt", "txt.gz"])
def test_packed_output(zerotag: CommandLine, model: Path, tmp_path: Path, files: list[Path], name: str) -> None:
    plain, out = tmp_path / f"plain.{name.partition('.')[0]}", tmp_path / f"out.{name}"
    zerotag.succeeds("label", model, files[0], "--out", plain)
    zerotag.succeeds("label", model, files[0], "--out", out)
    assert unpacked(out) == plain.read_bytes()
    assert len((tmp_path / f"out.{name}.rejected.jsonl").read_text().splitlines()) == 1


def test_parquet_round_trip(zerotag: CommandLine, model: Path, tmp_path: Path, files: list[Path]) -> None:
    out = tmp_path / "out.parquet"
    zerotag.succeeds("label", model, *files, "--out", out)
    rows = pq.read_table(out).to_pylist()
    expected = records(zerotag.succeeds("label", model, *files))
    assert [(row["source"], row["line"], row["text"], row["label"]) for row in rows] == [
        (record["source"], record["line"], record["text"], record["label"]) for record in expected
    ]
    again = records(zerotag.succeeds("label", model, out))
    assert [record["words"] for record in again] == [record["words"] for record in expected]


def test_strict(zerotag: CommandLine, model: Path, tmp_path: Path, files: list[Path]) -> None:
    before = sorted(tmp_path.iterdir())
    for target in ([], ["--out", tmp_path / "out.jsonl"], ["--out", tmp_path / "out.html"]):
        line = zerotag.fails("label", model, *files, "--strict", *target)
        assert line == f"{files[0]}:5: not UTF-8 (byte 0xe9 at position 4); save it as UTF-8"
        assert sorted(tmp_path.iterdir()) == before


def test_strict_does_not_go_on_after_rejects(
    zerotag: CommandLine, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_command, "_AT_ONCE", 2)
    monkeypatch.setattr("zerotag.bulk.run.COMMIT_SECONDS", 0.0)
    source, out = tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_bytes(b"one\n\xff\nthree\nfour\n\xfe\n")
    command = ("label", model, source, "--out", out)
    with mock.patch("zerotag.bulk.journal.Unfinished.finish", side_effect=KeyboardInterrupt):
        assert zerotag(*command).code == 130
    before = {path: path.read_bytes() for path in (tmp_path / "out.jsonl.partial").iterdir()}
    assert zerotag.fails(*command, "--resume", "--strict") == (
        "--strict allows no rejected records, and 2 are rejected already: "
        "--resume goes on without --strict, --overwrite starts anew"
    )
    assert {path: path.read_bytes() for path in (tmp_path / "out.jsonl.partial").iterdir()} == before
    zerotag.succeeds(*command, "--resume")
    assert len(out.read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--resume"], "--resume needs files: what came out of a pipe cannot be read again"),
        (["in.txt", "--resume"], "--resume needs --out: standard output cannot be taken up again"),
        (
            ["in.txt", "--resume", "--out", "a.html"],
            "--resume cannot go on with html; it can with jsonl, tsv and parquet",
        ),
        (
            ["in.txt", "--resume", "--overwrite", "--out", "a.tsv"],
            "--resume goes on and --overwrite starts anew: give one",
        ),
        (["in.txt", "--format", "parquet"], "parquet cannot go to standard output; name a file with --out"),
        (["in.txt", "-", "--out", "a.tsv"], "standard input goes alone"),
        (["in.txt", "gone.txt", "--out", "a.tsv"], "gone.txt: no such file"),
        (["in.txt", "--out", "./in.txt", "--overwrite"], "in.txt is an input, which --out would replace: choose"),
        (
            ["a.rejected.jsonl", "--input-format", "text", "--out", "a", "--format", "jsonl", "--overwrite"],
            "a.rejected.jsonl is an input, which --out would replace: choose",
        ),
    ],
)
def test_what_cannot_be(
    zerotag: CommandLine,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("in.txt", "a.rejected.jsonl"):
        Path(name).write_text("a pump\n")
    with_out = arguments if "--out" in arguments or "in.txt" in arguments else [*arguments, "--out", "a.tsv"]
    assert zerotag.fails("label", model, *with_out).startswith(complaint)
    assert {path.name for path in tmp_path.iterdir()} == {"in.txt", "a.rejected.jsonl"}


def test_resuming_what_is_complete_or_never_began(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_text("a pump\n")
    zerotag.succeeds("label", model, source, "--out", out, "--resume")
    written = out.stat()
    outcome = zerotag("label", model, source, "--out", out, "--resume")
    assert outcome == (outcome.__class__)(0, "", f"{out} is complete: nothing is left to do\n")
    assert out.stat() == written


def test_a_complete_output_is_not_called_so_for_other_files(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_text("a pump\n")
    zerotag.succeeds("label", model, source, "--out", out)
    to_go_on = ("--out", out, "--resume")
    assert zerotag.fails("label", model, tmp_path / "gone.txt", *to_go_on) == f"{tmp_path / 'gone.txt'}: no such file"
    assert "gone is not a folder" in zerotag.fails("label", tmp_path / "gone", source, *to_go_on)
    assert "has no zerotag.json" in zerotag.fails("label", tmp_path, source, *to_go_on)
    other = tmp_path / "other.txt"
    other.write_text("a pump\n")
    start, end = f"{out} was made with another ", ": --overwrite makes it anew"
    others: dict[str, list[object]] = {
        "input": [model, other],
        "threshold": [model, source, "--threshold", "0.7"],
        "method": [model, source, "--method", "random"],
        "output format": [model, source, "--source"],
    }
    for what, arguments in others.items():
        assert zerotag.fails("label", *arguments, *to_go_on) == f"{start}{what}{end}"
    copied = tmp_path / "model"
    shutil.copytree(model, copied)
    assert "nothing is left to do" in zerotag("label", copied, source, *to_go_on).err  # the same model elsewhere
    labeller = load(model).with_rules([Rule(word_threshold=0.7, origin="a test")])
    assert isinstance(labeller, WordLabeller)
    labeller.save_pretrained(copied)
    assert zerotag.fails("label", copied, source, *to_go_on) == f"{start}model{end}"


@pytest.mark.parametrize("form", ["jsonl", "tsv", "parquet", "jsonl.zst"])
def test_an_input_that_changed_is_noticed_though_size_and_time_are_as_before(
    zerotag: CommandLine, model: Path, tmp_path: Path, form: str
) -> None:
    source, out = tmp_path / "in.txt", tmp_path / f"out.{form}"
    source.write_text("a pump\n")
    zerotag.succeeds("label", model, source, "--out", out)
    before, written = source.stat(), out.read_bytes()
    source.write_text("a pimp\n")
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    line = zerotag.fails("label", model, source, "--out", out, "--resume")
    assert line == f"{source} has changed since {out} was made: --overwrite makes it anew"
    assert out.read_bytes() == written
    zerotag.succeeds("label", model, source, "--out", out, "--overwrite")
    assert "nothing is left to do" in zerotag("label", model, source, "--out", out, "--resume").err


def commit_often_and_limit_files(size: int) -> None:
    mock.patch("zerotag.bulk.run.COMMIT_SECONDS", 0.0).start()
    mock.patch.object(label_command, "_AT_ONCE", 10).start()
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_no_space_in_the_middle(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    source, out, undisturbed = (tmp_path / name for name in ("in.txt", "out.jsonl", "undisturbed.jsonl"))
    source.write_text("".join(f"{text}\n" for text in TEXTS * 8))
    with mock.patch.object(label_command, "_AT_ONCE", 10):
        zerotag.succeeds("label", model, source, "--out", undisturbed)
    command = ["label", model, source, "--out", out]
    size = undisturbed.stat().st_size // 2
    line = error_line(Started(command, partial(commit_often_and_limit_files, size), tmp_path / "log").outcome())
    assert line == (f"cannot write {out}: File too large; the same command with --resume goes on from {out}.partial")
    assert not out.exists()
    line = zerotag.fails(*command)
    assert line == f"{out}.partial holds an unfinished run; --resume goes on with it, --overwrite starts anew"
    with mock.patch.object(label_command, "_AT_ONCE", 10):
        outcome = zerotag(*command, "--resume")
    assert outcome.code == 0
    assert re.match(r"going on after \d+ sentences\n72 sentences, ", outcome.err)
    assert out.read_bytes() == undisturbed.read_bytes()


def test_progress_in_a_log(
    zerotag: CommandLine, model: Path, tmp_path: Path, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_progress, "SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(label_command, "_AT_ONCE", 3)
    lines = zerotag("label", model, *files, "--out", tmp_path / "out.tsv").err.splitlines()
    assert re.fullmatch(r"\d+ % · 3 sentences · [\d,.]+/s · \d+ s left", lines[0])
    assert re.fullmatch(r"100 % · 9 sentences · [\d,.]+/s · 0 s left · 4 rejected", lines[4])
    assert lines[5].startswith("9 sentences, ")


def test_a_slow_method_shows_its_progress_more_often(
    zerotag: CommandLine, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_progress, "SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(label_command, "_AT_ONCE", 64)
    source = tmp_path / "in.txt"
    source.write_text("".join(f"{text}\n" for text in TEXTS[:4]))
    lines = zerotag("label", model, source, "--method", "occlusion", "--out", tmp_path / "out.tsv").err.splitlines()
    assert [line.split(" · ")[1] for line in lines if " · " in line] == ["2 sentences", "4 sentences"]


def test_progress_in_words() -> None:
    assert describe(Progress(0.255, 12_345, 0, 1_234.4, 4_000)) == "26 % · 12,345 sentences · 1,234/s · 1:06:40 left"
    assert describe(Progress(None, 10, 2, 0.4, None)) == "10 sentences · 0.4/s · 2 rejected"
    assert describe(Progress(None, 10, 0, 0.0512, None)) == "10 sentences · 0.051/s"
    assert describe(Progress(None, 10, 0, 9.96, None)) == "10 sentences · 10/s"
