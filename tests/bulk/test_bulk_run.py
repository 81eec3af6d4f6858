"""Labelling chunk after chunk: what is counted, what stops it, how far it is, and how much memory it takes."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bulk_runs import JSONL, run, style
from crashes import crashes, make
from source_files import write
from zerotag.bulk import run as run_module
from zerotag.bulk.inputs import Rejected
from zerotag.bulk.journal import Unfinished, folder_of, nothing_left_to_do, record_of, unfinished
from zerotag.bulk.run import Progress, RecordError, Run, label_to_file, label_to_page
from zerotag.bulk.state import State
from zerotag.io.writers.appendable import Form, encoder
from zerotag.types import Rule, Scored, Sentence

LINES = "".join(f"pump {i} may leak\n" if i % 5 else f"pump {i}\0\n" for i in range(23))
FORMS = [Form("jsonl"), Form("tsv", ".gz"), Form("jsonl", ".zst"), Form("parquet", "", True)]


class Killed(BaseException):
    pass


def label(
    its_run: Run, target: Path, form: Form = JSONL, *, kill_after: int | None = None, overwrite: bool = True
) -> State:
    """All of it, or until so many chunks were appended."""
    its_encoder = encoder(form, style(its_run.label_names))
    beginning = its_encoder.beginning
    with unfinished(target, {"form": form}, resume=True, overwrite=overwrite, beginning=beginning) as output:
        if kill_after is not None:
            kill_when_appending(output, kill_after)
        label_to_file(its_run, output, its_encoder)
    return output.state


def kill_when_appending(output: Unfinished, count: int) -> None:
    append, calls = output.append, iter(range(count))

    def append_until_killed(*arguments: object) -> None:
        append(*arguments)  # type: ignore[arg-type]
        if next(calls, None) is None:
            raise Killed

    output.append = append_until_killed  # type: ignore[method-assign, assignment]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.format + form.packing)
@settings(max_examples=12)
@given(kills=st.lists(st.integers(0, 6), max_size=3), at_once=st.integers(1, 8), often=st.booleans())
def test_the_same_bytes_however_often_it_was_killed(
    tmp_path_factory: pytest.TempPathFactory, form: Form, kills: list[int], at_once: int, often: bool
) -> None:
    folder = tmp_path_factory.mktemp("run")
    files = [write(folder, "a.txt", LINES), write(folder, "b.txt", "one more\n")]
    undisturbed, disturbed = folder / "undisturbed", folder / "disturbed"
    expected = label(run(*files, at_once=at_once), undisturbed, form)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(run_module, "COMMIT_SECONDS", 0.0 if often else 3600.0)
        for kill_after in kills:
            with suppress(Killed):
                label(run(*files, at_once=at_once), disturbed, form, kill_after=kill_after)
        state = label(run(*files, at_once=at_once), disturbed, form)
    assert disturbed.read_bytes() == undisturbed.read_bytes()
    for name in ("undisturbed", "disturbed"):
        assert len((folder / f"{name}.rejected.jsonl").read_text().splitlines()) == 5
    expected.seconds = state.seconds = 0.0
    assert state == expected
    assert (state.sentences, state.rejected, state.words) == (19, 5, 18 * 4 + 2)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.format + form.packing)
def test_goes_on_from_every_state_that_a_crash_can_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Form
) -> None:
    """Of a kill, or of a power cut that takes away what was not synced: no output is half there, and none differs."""
    monkeypatch.setattr(run_module, "COMMIT_SECONDS", 0.0)
    source = write(tmp_path, "a.txt", LINES)
    root = tmp_path / "root"
    root.mkdir()
    with crashes(root) as found:
        label(run(source, at_once=9), root / "out", form)
    expected = {name: (root / name).read_bytes() for name in ("out", "out.rejected.jsonl", "out.run.json")}
    assert len(found.states) > 20
    left = set()
    for state in found.states:
        target = make(state, tmp_path / "crashed") / "out"
        left.add(target.exists())
        if target.exists():
            assert target.read_bytes() == expected["out"]
            assert record_of(target).read_bytes() == expected["out.run.json"]
        inputs = run(source).inputs
        if not nothing_left_to_do(target, {"form": form}, inputs, resume=True, overwrite=False):
            label(run(source, at_once=9), target, form, overwrite=False)
        assert {file.name: file.read_bytes() for file in target.parent.iterdir()} == expected
    assert left == {True, False}


def test_what_is_counted() -> None:
    def scored(sentence_scores: tuple[float, ...], *word_scores: tuple[float, ...]) -> Scored:
        sentence = Sentence.from_words("a" for _ in word_scores)
        return Scored(sentence, sentence_scores, np.array(word_scores, np.float32))

    state = State()
    rules = Rule(), Rule(word_threshold=0.75)
    state.count([scored((0.7, 0.6), (0.5, 0.95), (0.4, 0.1), (0.6, 0.8)), scored((0, 0), (0, 0))], ("x", "y"), rules)
    state.count([scored((0.5, 0.4), (0.4, 0.99))], ("x", "y"), rules)
    assert (state.sentences, state.words) == (3, 5)
    assert state.positive_sentences == {"x": 2, "y": 1}
    assert state.positive_words == {"x": 2, "y": 3}
    assert State.from_json(json.loads(json.dumps(state.as_json()))) == state


STRICT = b"one\ntwo\nthree\nfour\n\xff\nsix\n\xfe\n"


def test_strict_stops_at_the_first_record_and_keeps_what_was_done(tmp_path: Path) -> None:
    source, target = write(tmp_path, "a.txt", STRICT), tmp_path / "out"
    for _ in range(2):  # the second goes on, and comes no further
        with pytest.raises(RecordError) as caught:
            label(run(source, strict=True, at_once=2), target)
        assert str(caught.value) == (
            f"{source}:5: not UTF-8 (byte 0xff at position 1); save it as UTF-8; "
            f"without --strict, --resume goes on from {folder_of(target)}"
        )
        assert not target.exists()
        assert len((folder_of(target) / "output").read_bytes().splitlines()) == 4
    shown: list[Progress] = []
    state = label(run(source, at_once=2, shown=shown), target)
    assert [progress.sentences for progress in shown] == [5, 5]  # four were there
    assert (state.sentences, state.rejected, len(target.read_bytes().splitlines())) == (5, 2, 5)


def test_strict_in_the_first_chunk_leaves_nothing(tmp_path: Path) -> None:
    source = write(tmp_path, "a.txt", STRICT)
    with pytest.raises(RecordError, match=r"a.txt:5: not UTF-8 .*; save it as UTF-8$"):
        label(run(source, strict=True, at_once=5), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def half_of(written: bytes) -> Iterator[bytes]:
    """Some bytes, and Ctrl-C before the others."""
    yield written[:10]
    raise KeyboardInterrupt


@pytest.mark.parametrize("in_the_middle", [True, False])
def test_control_c_loses_nothing_that_was_appended(tmp_path: Path, in_the_middle: bool) -> None:
    """Not even when it comes while the next chunk is being appended, which the state says was done."""
    source = write(tmp_path, "a.txt", LINES)
    undisturbed, target = tmp_path / "undisturbed", tmp_path / "out"
    label(run(source), undisturbed)
    its_encoder = encoder(JSONL, style())
    with suppress(KeyboardInterrupt), unfinished(target, {"form": JSONL}, resume=False) as output:
        append, calls = output.append, iter(range(3))

        def interrupted(written: list[bytes], rejected: list[Rejected]) -> None:
            if next(calls, None) is not None:
                append(written, rejected)
            elif in_the_middle:
                append(half_of(written[0]), rejected)
            else:
                append(written, rejected)
                raise KeyboardInterrupt

        output.append = interrupted  # type: ignore[method-assign, assignment]
        label_to_file(run(source), output, its_encoder)
    with unfinished(target, {"form": JSONL}, resume=True) as output:
        assert output.state.cursor.position.line == (9 if in_the_middle else 12)
        label_to_file(run(source), output, its_encoder)
    assert target.read_bytes() == undisturbed.read_bytes()


@pytest.mark.parametrize(("count", "read"), [(9_000, "1,005"), (7, "7")])
def test_a_file_of_nothing_but_rejects_stops_early(tmp_path: Path, count: int, read: str) -> None:
    source = write(tmp_path, "a.jsonl", '{"body": "one"}\n' * count)
    with pytest.raises(RecordError) as caught:
        label(run(source, at_once=15), tmp_path / "out")
    assert str(caught.value) == (
        f"{source}:1: no column 'text'; there are 'body'; choose with --text-column "
        f"(and not one of {read} records could be used)"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_nothing_but_rejects_later_on_is_just_rejected(tmp_path: Path) -> None:
    source = write(tmp_path, "a.txt", b"one\n" + b"\xff\n" * 2_000)
    state = label(run(source, at_once=4), tmp_path / "out")
    assert (state.sentences, state.rejected) == (1, 2_000)


def test_pages_list_rejects_too(tmp_path: Path) -> None:
    source = write(tmp_path, "a.txt", LINES)
    target = tmp_path / "out.html"
    with unfinished(target, None, resume=False) as output:
        label_to_page(run(source), output, Form("html"), style())
    page = target.read_text()
    assert page.lower().startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    assert len((tmp_path / "out.html.rejected.jsonl").read_text().splitlines()) == 5


def test_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(0, 1000, 10))
    monkeypatch.setattr(run_module, "monotonic", lambda: next(seconds))
    # Larger than what is read ahead, so that the share is known well.
    source = write(tmp_path, "a.txt", "".join(f"{i:0999d}\n" for i in range(1_000)))
    shown: list[Progress] = []
    state = State()
    for _ in run(source, at_once=250, shown=shown).chunks(state):
        pass
    assert [progress.sentences for progress in shown] == [250, 500, 750, 1_000]
    assert [progress.rate for progress in shown] == [25] * 4
    assert [progress.share for progress in shown] == pytest.approx([0.25, 0.5, 0.75, 1.0], abs=0.02)
    left = [progress.seconds_left for progress in shown]
    assert left == pytest.approx([30.0, 20.0, 10.0, 0.0], abs=3)
    assert state.seconds == 40


def test_the_rate_is_that_of_this_run_and_the_seconds_those_of_all(tmp_path: Path) -> None:
    source = write(tmp_path, "a.txt", "one\n" * 10)
    shown: list[Progress] = []
    state = State(sentences=1_000_000, seconds=100.0)
    list(run(source, at_once=10, shown=shown).chunks(state))
    assert state.sentences == 1_000_010
    assert state.seconds > 100
    assert shown[0].rate > 0
    assert shown[0].seconds_left == pytest.approx(0.0)


@pytest.mark.parametrize("form", [Form("jsonl", ".zst"), Form("parquet")], ids=lambda form: form.format)
def test_memory_does_not_grow_with_the_input(tmp_path: Path, form: Form) -> None:
    draw = random.Random(0)
    peaks = []
    for count in (900, 3_600):
        lines = [
            " ".join(f"{draw.random():.6f}" for _ in range(5)) + draw.choice(["\n", "\n", "\0\n"]) for _ in range(count)
        ]
        source = write(tmp_path, f"{count}.txt", "".join(lines))
        del lines
        its_run = run(source, at_once=300)
        tracemalloc.start()
        try:
            label(its_run, tmp_path / f"{count}.out", form)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]  # numpy leaves some garbage for the collector


def test_the_folder_of_an_unfinished_run_is_beside_the_output() -> None:
    assert folder_of(Path("a/b.jsonl.gz")) == Path("a/b.jsonl.gz.partial")
