"""Worker processes that do what a network's own process has no time for: with a GPU that is nearly everything."""

from __future__ import annotations

import multiprocessing
import os
import traceback
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self

from tokenizers import Tokenizer

from zerotag.bulk.chunks import Piece
from zerotag.bulk.ipc import receive, send
from zerotag.bulk.stages import Read, Stages, Task, Written
from zerotag.config import ModelConfig
from zerotag.errors import ZerotagError
from zerotag.inference.predictor import RowScores
from zerotag.parallel.child_processes import ignoring_interrupts
from zerotag.text.aligners import aligner_for

if TYPE_CHECKING:
    from zerotag.labeller import WordLabeller

_SECONDS_TO_STOP = 5.0


class WorkerPool:
    """A context in which processes stand by to read pieces and to write them.

    Each is at the other end of a connection, and ends when that is cut, by us or by whatever ends us. A thread of ours
    waits for each answer. (The pool of the standard library leaves its workers behind when the parent is killed.)
    """

    def __init__(self, labeller: WordLabeller, workers: int) -> None:
        context = multiprocessing.get_context("spawn")  # a forked process cannot live beside a GPU's threads
        tokenizer = labeller.tokenizer
        model = labeller.manifest.model, tokenizer.backend_tokenizer.to_str(), tokenizer.pad_token_id
        self._threads = ThreadPoolExecutor(workers, "worker")
        self._idle: SimpleQueue[Connection] = SimpleQueue()
        self.processes: list[SpawnProcess] = []
        with ignoring_interrupts():
            for _ in range(workers):
                ours, theirs = context.Pipe()
                self.processes.append(context.Process(target=_work, args=(theirs, *model), daemon=True))
                self.processes[-1].start()
                theirs.close()  # so that the connection ends when the worker does
                self._idle.put(ours)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        for _process in self.processes:
            self._idle.get().close()
        for process in self.processes:
            process.join(_SECONDS_TO_STOP)
            process.kill()

    def wait(self) -> None:
        """Until all have started: whoever measures wants to know."""
        for started in [self._threads.submit(self._ask, "wait") for _ in self.processes]:
            started.result()

    def read(self, task: Task, piece: Piece) -> Future[Read]:
        """Have a piece read."""
        return self._threads.submit(self._ask, "read", task, piece)

    def write(self, task: Task, kept: bytes | memoryview, scores: RowScores) -> Future[Written]:
        """Have a piece that was read and scored written."""
        return self._threads.submit(self._ask, "write", task, kept, scores)

    def _ask(self, what: str, *arguments: object) -> Any:
        connection = self._idle.get()
        try:
            send(connection, (what, arguments))
            answer = receive(connection)
        except (EOFError, ConnectionError):
            raise ZerotagError(
                "a worker process was ended from outside, perhaps for want of memory: free some, and start again "
                "with --resume"
            ) from None
        finally:
            self._idle.put(connection)
        if isinstance(answer, Exception):
            raise answer
        return answer


def _work(connection: Connection, config: ModelConfig, tokenizer: str, pad_id: int) -> None:
    """The life of a worker: answer until the connection is cut."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # there is a worker for each core
    stages = Stages(aligner_for(config, Tokenizer.from_str(tokenizer), pad_id=pad_id))
    does = {"read": stages.read, "write": stages.write, "wait": lambda: None}
    try:
        while True:
            what, arguments = receive(connection)
            send(connection, _answer(does[what], arguments))
    except (EOFError, ConnectionError):
        return


def _answer(do: Any, arguments: tuple[object, ...]) -> object:
    try:
        return do(*arguments)
    except Exception as error:
        if not isinstance(error, ZerotagError):
            error.add_note(traceback.format_exc())  # where it was, which does not travel with it
        return error
