"""Does one job of a workspace in a process of its own: `python -m zerotag.serve.workspace.worker FOLDER`.

What to do is in the folder's `job.json`. Progress and the result come on standard output, one JSON object per line; the
log is standard error. It ends with SIGTERM, or with whoever started it, and goes on there when it is started again.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from threading import Event, Thread, Timer
from typing import TYPE_CHECKING, Any

from zerotag.errors import ZerotagError
from zerotag.io.files import delete_folder
from zerotag.io.reading import read_training_data
from zerotag.render.progress import describe
from zerotag.serve.workspace.training_data import Choice

if TYPE_CHECKING:
    from zerotag.labeller import WordLabeller
    from zerotag.training.recipe import Progress

JOB, DATA, UNFINISHED, LOG = "job.json", "train.jsonl", "model.partial", "log.txt"
INTERRUPTED = 130
_PATIENCE = 30.0  # seconds after which it ends whatever it does
_BETWEEN = 0.5  # seconds between two lines of progress
_LINES = 10.0  # seconds between two lines of the log


class Reporter:
    """Tells of progress now and then, and raises KeyboardInterrupt once the end was asked for."""

    def __init__(self) -> None:
        self._asked = Event()
        self._told = self._logged = -_LINES

    def ask_to_end(self) -> None:
        """End after the step at hand, or in any case a while later."""
        self._asked.set()
        timer = Timer(_PATIENCE, os._exit, [INTERRUPTED])
        timer.daemon = True
        timer.start()

    def show(self, progress: Progress) -> None:
        """Tell how far a training has come."""
        if self._asked.is_set():
            raise KeyboardInterrupt
        now = time.monotonic()
        if now - self._told >= _BETWEEN:
            self._told = now
            told = {**asdict(progress), "words": describe(progress)}
            tell(progress={name: value for name, value in told.items() if value is not None})
        if now - self._logged >= _LINES or progress.epoch == progress.epochs_done:
            self._logged = now
            log(describe(progress))

    def show_share(self, done: int, of: int) -> None:
        """Tell how many of some steps are done."""
        if self._asked.is_set():
            raise KeyboardInterrupt
        tell(progress={"steps_done": done, "steps": of})


def tell(**message: Any) -> None:
    """Send a line to the service."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def log(line: str) -> None:
    """Write a line with the time."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stderr.flush()


def train(folder: Path, job: dict[str, Any], reporter: Reporter) -> dict[str, Any]:
    """Train a model on the job's sentences."""
    from zerotag.config import ModelConfig
    from zerotag.training.exclusive import are_exclusive, exclusive_rules
    from zerotag.training.recipe import train as train_labeller

    choice = Choice.of(job)
    start = time.monotonic()
    corpus = read_training_data(folder / DATA, columns=choice.columns).corpus
    log(f"{len(corpus):,} sentences with the labels {', '.join(corpus.label_names)}")
    model = None if job.get("encoder") is None else ModelConfig(encoder=job["encoder"])
    labeller = train_labeller(corpus, model=model, checkpoints=folder / UNFINISHED, on_progress=reporter.show)
    if are_exclusive(corpus, "auto"):
        labeller = labeller.with_rules(exclusive_rules(labeller.rules, corpus))
    return saved(labeller, folder, job, start)


def saved(labeller: WordLabeller, folder: Path, job: dict[str, Any], start: float) -> dict[str, Any]:
    """Put a model in its place; gives what the page says of it."""
    labeller.save_pretrained(Path(job["out"]))
    with suppress(OSError):
        delete_folder(folder / UNFINISHED)
    manifest = labeller.manifest
    log(f"trained in {time.monotonic() - start:.0f} s: {manifest.scores}")
    return {
        "labels": list(manifest.label_names),
        "scores": manifest.scores,
        "sentences": manifest.sentences,
        "seconds": round(time.monotonic() - start, 1),
    }


def improve(folder: Path, job: dict[str, Any], reporter: Reporter) -> dict[str, Any]:
    """Teach a model what was corrected."""
    from zerotag.serve.workspace import improving

    start = time.monotonic()
    result = improving.improve(job, folder, log, reporter.show_share)
    return {**result, "seconds": round(time.monotonic() - start, 1)}


KINDS = {"train": train, "improve": improve}


def work(folder: Path, reporter: Reporter) -> int:
    """Do the job of a folder; gives the exit status."""
    job = json.loads((folder / JOB).read_text(encoding="utf-8"))
    try:
        tell(result=KINDS[job["kind"]](folder, job, reporter))
    except KeyboardInterrupt:
        log("interrupted; it goes on from here when it is started again")
        return INTERRUPTED
    except (ZerotagError, MemoryError) as error:
        message = str(error) or "there is too little memory for it"
        log(message)
        tell(failed=message.replace(str(folder / DATA), "the upload"))
        return 2
    return 0


def main() -> int:
    """Do the job of the folder that the command line names."""
    reporter = Reporter()
    signal.signal(signal.SIGTERM, lambda *_: reporter.ask_to_end())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal is meant for the service, which tells us

    def watch() -> None:
        while os.read(0, 4096):  # it ends with the service; not sys.stdin, which an interpreter cannot leave meanwhile
            pass
        reporter.ask_to_end()

    Thread(target=watch, daemon=True).start()
    with suppress(OSError):  # where memory runs out, this is what has to go, not the service
        Path("/proc/self/oom_score_adj").write_text("800", encoding="ascii")
    return work(Path(sys.argv[1]), reporter)


if __name__ == "__main__":
    raise SystemExit(main())
