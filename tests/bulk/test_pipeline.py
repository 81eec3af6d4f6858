"""Workers read and write beside the network: the same bytes, the same errors, and nobody is left behind."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import tiny
from bulk_runs import inputs, style
from commands import ENVIRONMENT
from file_formats import FORMATS
from source_files import write
from zerotag.bulk import inputs as inputs_module
from zerotag.bulk import run as run_module
from zerotag.bulk.journal import unfinished
from zerotag.bulk.pipeline import Overlap, overlap_for
from zerotag.bulk.run import RecordError, Run, label_to_file
from zerotag.bulk.state import State
from zerotag.bulk.workers import WorkerPool
from zerotag.config import ModelConfig
from zerotag.errors import ZerotagError
from zerotag.explain import create
from zerotag.io.writers.appendable import Encoder, Form
from zerotag.labeller import WordLabeller

AT_ONCE, PIECE = 20, 6
FORMS = [Form("jsonl", "", True), Form("jsonl", ".gz"), Form("tsv", ".zst"), Form("parquet", "", True)]
TEXTS = [" ".join(words) for words, _ in tiny.sentences(110)]


@pytest.fixture(scope="module")
def labeller() -> WordLabeller:
    return tiny.labeller(labels=("hedge", "doubt"))


@pytest.fixture(scope="module")
def pool(labeller: WordLabeller) -> Iterator[WorkerPool]:
    with WorkerPool(labeller, 2) as made:
        made.wait()
        yield made


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs_module, "PIECE", PIECE)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Lines of which some are blank, some are no text, one is a document, and one has no words."""
    lines = [line.encode() for line in TEXTS]
    lines[7], lines[8], lines[33], lines[50], lines[51] = (
        b"",
        b"\xff",
        b"pump " * 90,
        b"a\0b",
        "\u200b".encode(),
    )
    return write(tmp_path, "in.txt", b"\n".join(lines))


def made_run(labeller: WordLabeller, *paths: Path, pool: WorkerPool | None, strict: bool = False) -> Run:
    return Run(
        inputs=inputs(*paths),
        scorer=create("native", labeller),
        label_names=labeller.label_names,
        rules=labeller.rules,
        at_once=AT_ONCE,
        strict=strict,
        overlap=None if pool is None else Overlap(pool, labeller.predictor, labeller.aligner),
    )


def label(run: Run, target: Path, form: Form) -> State:
    encoder = Encoder(form, style(run.label_names))
    with unfinished(target, {"form": form}, resume=True, beginning=encoder.beginning) as output:
        label_to_file(run, output, encoder)
    return output.state


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.format + form.packing)
def test_the_same_bytes_with_and_without_workers(
    tmp_path: Path, labeller: WordLabeller, pool: WorkerPool, source: Path, form: Form
) -> None:
    other = write(tmp_path, "other.txt", "a pump may leak\n\nit stops\n")
    alone = label(made_run(labeller, source, other, pool=None), tmp_path / "alone", form)
    beside = label(made_run(labeller, source, other, pool=pool), tmp_path / "beside", form)
    assert (tmp_path / "beside").read_bytes() == (tmp_path / "alone").read_bytes()
    rejects = [(tmp_path / f"{name}.rejected.jsonl").read_bytes() for name in ("beside", "alone")]
    assert rejects[0] == rejects[1]
    assert rejects[0].count(b"\n") == 2
    alone.seconds = beside.seconds = 0.0
    assert beside == alone
    assert beside.sentences == 110 - 4 + 2


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_goes_through_workers(
    tmp_path: Path, labeller: WordLabeller, pool: WorkerPool, suffix: str
) -> None:
    path = write(tmp_path, f"in{suffix}", FORMATS[suffix](TEXTS[:50]))
    for name, some in (("alone", None), ("beside", pool)):
        label(made_run(labeller, path, pool=some), tmp_path / name, Form("jsonl", "", True))
    assert (tmp_path / "beside").read_bytes() == (tmp_path / "alone").read_bytes()


def test_pieces_of_many_bytes_go_through_workers(
    tmp_path: Path, labeller: WordLabeller, pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which are not in the pickle."""
    monkeypatch.setattr(inputs_module, "PIECE", 1_000)
    path = write(tmp_path, "in.txt", "\n".join(TEXTS * 3))
    assert path.stat().st_size > 8_192
    for name, some in (("alone", None), ("beside", pool)):
        label(replace(made_run(labeller, path, pool=some), at_once=1_000), tmp_path / name, Form("jsonl", "", True))
    assert (tmp_path / "beside").read_bytes() == (tmp_path / "alone").read_bytes()


class Killed(BaseException):
    pass


@pytest.mark.parametrize("stopped_after", [0, 2, 4])
def test_going_on_with_workers_after_a_stop_without(
    tmp_path: Path,
    labeller: WordLabeller,
    pool: WorkerPool,
    source: Path,
    stopped_after: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_module, "COMMIT_SECONDS", 0.0)
    form = Form("jsonl", ".gz")
    label(made_run(labeller, source, pool=None), tmp_path / "undisturbed", form)
    encoder = Encoder(form, style(labeller.label_names))
    for number, some in enumerate((pool, None)):
        with (
            suppress(Killed),
            unfinished(tmp_path / "out", {"form": form}, resume=True, beginning=encoder.beginning) as output,
        ):
            run = made_run(labeller, source, pool=some)
            for count, (written, rejected) in enumerate(run.outputs(output.state, encoder)):
                output.append(written, rejected)
                output.commit()
                if count == stopped_after + number:
                    raise Killed
    label(made_run(labeller, source, pool=pool), tmp_path / "out", form)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "undisturbed").read_bytes()


def test_strict_stops_at_the_first_record(
    tmp_path: Path, labeller: WordLabeller, pool: WorkerPool, source: Path
) -> None:
    with pytest.raises(RecordError) as caught:
        label(made_run(labeller, source, pool=pool, strict=True), tmp_path / "out", Form("jsonl"))
    assert str(caught.value).startswith(f"{source}:9: not UTF-8 (byte 0xff at position 1)")
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


def test_nothing_of_any_use(tmp_path: Path, labeller: WordLabeller, pool: WorkerPool) -> None:
    path = write(tmp_path, "a.jsonl", '{"body": "one"}\n' * 7)
    with pytest.raises(RecordError, match=r"a.jsonl:1: no column 'text'.*and not one of 7 records could be used"):
        label(made_run(labeller, path, pool=pool), tmp_path / "out", Form("jsonl"))


def test_a_file_that_breaks_off_is_one_line(tmp_path: Path, labeller: WordLabeller, pool: WorkerPool) -> None:
    path = write(tmp_path, "a.csv", "text\n" + "a pump\n" * 70)
    run = made_run(labeller, path, pool=pool)
    path.write_text("body\n")
    with pytest.raises(ZerotagError, match=r"^.*a.csv:1: no column 'text'; there are 'body'"):
        label(run, tmp_path / "out", Form("jsonl"))


def test_a_worker_that_is_killed_is_one_line(tmp_path: Path, labeller: WordLabeller, source: Path) -> None:
    with WorkerPool(labeller, 1) as made:
        made.wait()
        for process in made.processes:
            process.kill()
        with pytest.raises(ZerotagError, match=r"^a worker process was ended from outside"):
            label(made_run(labeller, source, pool=made), tmp_path / "out", Form("jsonl"))


def test_an_encoder_can_be_sent_to_another_process() -> None:
    for form in FORMS:
        encoder = Encoder(form, style())
        assert pickle.loads(pickle.dumps(encoder)) == encoder


def test_on_a_processor_there_are_no_workers(labeller: WordLabeller) -> None:
    with overlap_for(labeller, "native") as overlap:
        assert overlap is None


def test_with_a_gpu_there_are(labeller: WordLabeller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerotag.inference.torch_predictor.device_of", lambda _: torch.device("cuda"))
    with overlap_for(labeller, "native", workers=1) as overlap:
        assert overlap is not None
    others = [
        (labeller, "random"),
        (tiny.labeller(config=ModelConfig(encoder="tiny", head="cls", depth=2, window=32)), "native"),
    ]
    for other, method in others:
        with overlap_for(other, method, workers=1) as overlap:
            assert overlap is None


PROGRAM = """
import sys, time
from pathlib import Path

def main():  # workers import this file, too, and need none of these
    import tiny
    from test_pipeline import label, made_run
    from zerotag.bulk import pipeline
    from zerotag.io.writers.appendable import Form
    from zerotag.bulk.workers import WorkerPool

    made = tiny.labeller()
    with WorkerPool(made, 2) as pool:
        pool.wait()
        run = made_run(made, Path(sys.argv[1]), pool=pool)
        predict = pipeline.predict_row

        def predict_slowly(*arguments):
            print(*[process.pid for process in pool.processes], flush=True)
            time.sleep(0.2)
            return predict(*arguments)

        pipeline.predict_row = predict_slowly
        try:
            label(run, Path(sys.argv[2]), Form("jsonl"))
        except KeyboardInterrupt:
            sys.exit("stopped")

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=lambda how: how.name)
def test_whatever_ends_it_no_worker_is_left(tmp_path: Path, how: signal.Signals) -> None:
    program = write(tmp_path, "program.py", PROGRAM)
    source = write(tmp_path, "in.txt", "\n".join(TEXTS * 20))
    tests = Path(__file__).parents[1]
    path = os.pathsep.join([ENVIRONMENT["PYTHONPATH"], str(tests), str(tests / "bulk")])
    with subprocess.Popen(
        [sys.executable, program, source, tmp_path / "out"],
        env={**ENVIRONMENT, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        workers = [int(pid) for pid in process.stdout.readline().split()]
        assert len(workers) == 2
        if how is signal.SIGINT:
            os.killpg(process.pid, how)  # as a terminal does
        else:
            process.send_signal(how)
        _, complaint = process.communicate(timeout=60)
    assert complaint == ("stopped\n" if how is signal.SIGINT else "")
    deadline = time.monotonic() + 20
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, workers))


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
