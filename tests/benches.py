"""A bench that makes no runs but does what the names of methods say. Light, so that worker processes start quickly."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from zerotag.research.compare.experiment import Method, Run
from zerotag.research.compare.messages import Failed, Finished, Group, Heartbeat, Said, Tell


@dataclass(frozen=True)
class ObedientBench:
    log: Path

    def prepare(self) -> None:
        pass

    def carry_out(self, group: Group, heartbeat: Heartbeat, tell: Tell) -> None:
        for run in group.runs:
            heartbeat(f"{run.name} in process {os.getpid()}")
            match run.method.name:
                case "die":
                    os._exit(3)
                case "break":
                    tell(Failed(run, "broken", unexpected=True))
                case "refuse":
                    tell(Failed(run, "bad input"))
                case "hang":
                    (self.log / f"{run.name}.started").touch()
                    try:
                        while True:
                            heartbeat("hanging")
                            time.sleep(0.01)
                    finally:
                        (self.log / f"{run.name}.stopped").touch()
                case "wait for b":
                    while not (self.log / "fce.b.1").exists():
                        heartbeat("waiting")
                        time.sleep(0.01)
                    tell(Finished(run, "seen it"))
                case _:
                    (self.log / run.name).write_text(str(os.getpid()))
                    tell(Finished(run, "good"))


def run(method: str, training: str | None = None, *, corpus: str = "fce", seed: int = 1) -> Run:
    return Run(corpus, Method(method, training, "native", "fixed", (seed,), None, None, method, False, "", False), seed)


def group(*methods: str, training: str | None = None) -> Group:
    return Group("fce", training, 1, tuple(run(method, training) for method in methods))


class Ear:
    def __init__(self) -> None:
        self.finished: list[str] = []
        self.failed: dict[str, str] = {}

    def hear(self, message: Said | Finished | Failed) -> None:
        match message:
            case Finished(run, _):
                self.finished.append(run.method.name)
            case Failed(run, reason):
                self.failed[run.method.name] = reason
