"""The queue in front of a model: who waits, who is refused, who goes first."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence

import pytest

from zerotag.serve.batch_queue import BatchQueue, QueueClosedError, QueueFullError
from zerotag.types import Sentence


def words(*texts: str) -> list[Sentence]:
    return [Sentence.from_words(text.split()) for text in texts]


class Worker:
    """Work that waits until it is let go, and remembers what went through together."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.begun = threading.Event()
        self.go = threading.Event()

    def __call__(self, method: str, sentences: Sequence[Sentence]) -> list[str]:
        self.begun.set()
        assert self.go.wait(60)
        self.batches.append([sentence.text for sentence in sentences])
        if any(sentence.text == "poison" for sentence in sentences):
            raise ValueError("poison")
        return [f"{method} {sentence.text}" for sentence in sentences]


def with_queue(
    test: Callable[[BatchQueue, Worker], Awaitable[None]], *, capacity: int = 10, batch_cost: int = 4
) -> list[list[str]]:
    """Run a test with a queue whose costs are words and whose first batch, [first], is under way."""
    worker = Worker()

    async def run() -> None:
        queue = BatchQueue("test", worker, lambda s: len(s.words), capacity=capacity, batch_cost=batch_cost)
        queue.start()
        first = queue.submit("m", words("first"))
        assert await asyncio.to_thread(worker.begun.wait, 60)
        await test(queue, worker)
        worker.go.set()
        assert await first.answer == ["m first"]
        await queue.close()

    asyncio.run(run())
    return worker.batches[1:]


def test_what_waits_goes_through_together_up_to_the_cost_of_a_batch() -> None:
    async def test(queue: BatchQueue, worker: Worker) -> None:
        jobs = [queue.submit("m", words(text)) for text in ("a", "b", "c", "d", "e")]
        worker.go.set()
        assert [await job.answer for job in jobs] == [["m a"], ["m b"], ["m c"], ["m d"], ["m e"]]

    assert with_queue(test) == [["a", "b", "c", "d"], ["e"]]


def test_a_large_job_takes_turns_with_small_ones() -> None:
    async def test(queue: BatchQueue, worker: Worker) -> None:
        large = queue.submit("m", words("1", "2", "3", "4", "5", "6"))
        small = queue.submit("m", words("a"))
        worker.go.set()
        assert await small.answer == ["m a"]
        assert await large.answer == [f"m {i}" for i in range(1, 7)]

    assert with_queue(test) == [["1", "2", "3", "4"], ["a", "5", "6"]]


def test_a_sentence_larger_than_a_batch_goes_alone() -> None:
    async def test(queue: BatchQueue, worker: Worker) -> None:
        jobs = [queue.submit("m", words(text)) for text in ("a b c d e f", "g")]
        worker.go.set()
        await asyncio.gather(*(job.answer for job in jobs))

    assert with_queue(test) == [["a b c d e f"], ["g"]]


def test_methods_are_not_mixed() -> None:
    async def test(queue: BatchQueue, worker: Worker) -> None:
        jobs = [queue.submit(method, words("a")) for method in ("m", "n", "n")]
        worker.go.set()
        assert [await job.answer for job in jobs] == [["m a"], ["n a"], ["n a"]]

    assert with_queue(test) == [["a"], ["a", "a"]]


def test_who_would_wait_too_long_is_refused() -> None:
    async def test(queue: BatchQueue, _: Worker) -> None:
        queue.submit("m", words("a b c d e"))
        queue.submit("m", words("a b c d"))
        assert queue.waiting == 9
        queue.submit("m", words("a b"))  # waits for 2 of each, as they take turns, and brings 2: 6 in all
        with pytest.raises(QueueFullError) as full:
            queue.submit("m", words("a b c"))  # 3 + 3 + 2 before it and 3 of its own: 11
        assert full.value.seconds == 1
        assert queue.waiting == 11

    with_queue(test)


def test_where_nothing_waits_any_job_will_do() -> None:
    async def test(queue: BatchQueue, _: Worker) -> None:
        queue.submit("m", words(*["a"] * 50))
        with pytest.raises(QueueFullError):
            queue.submit("m", words(*["a"] * 50))
        queue.submit("m", words("a"))

    with_queue(test)


def test_what_was_withdrawn_is_not_worked_on_and_makes_room() -> None:
    async def test(queue: BatchQueue, worker: Worker) -> None:
        unwanted = queue.submit("m", words("a b c d e f g h"))
        kept = queue.submit("m", words("x"))
        queue.withdraw(unwanted)
        assert queue.waiting == 1
        worker.go.set()
        assert await kept.answer == ["m x"]

    assert with_queue(test) == [["x"]]


def test_one_that_fails_does_not_spoil_the_others() -> None:
    async def test(queue: BatchQueue, worker: Worker) -> None:
        jobs = [queue.submit("m", words(text)) for text in ("a", "poison", "b")]
        worker.go.set()
        answers = await asyncio.gather(*(job.answer for job in jobs), return_exceptions=True)
        assert answers[0] == ["m a"]
        assert isinstance(answers[1], ValueError)
        assert answers[2] == ["m b"]

    assert with_queue(test) == [["a", "poison", "b"], ["a"], ["poison"], ["b"]]


def test_the_rest_of_a_failed_job_is_dropped() -> None:
    async def test(queue: BatchQueue, worker: Worker) -> None:
        job = queue.submit("m", words("poison", "1", "2", "3", "4", "5", "6", "7", "8"))
        worker.go.set()
        with pytest.raises(ValueError, match="poison"):
            await job.answer

    assert "8" not in [text for texts in with_queue(test) for text in texts]


def test_closing_finishes_what_was_accepted() -> None:
    async def test(queue: BatchQueue, worker: Worker) -> None:
        jobs = [queue.submit("m", words(*["a"] * count)) for count in (1, 3, 5)]
        closing = asyncio.ensure_future(queue.close())
        await asyncio.sleep(0)
        with pytest.raises(QueueClosedError):
            queue.submit("m", words("late"))
        worker.go.set()
        await closing
        assert [len(job.answer.result()) for job in jobs] == [1, 3, 5]

    with_queue(test)


def test_several_workers_share_a_job_and_its_answer_is_in_order() -> None:
    second_done = threading.Event()

    def work(_: str, sentences: Sequence[Sentence]) -> list[str]:
        if sentences[0].text == "1":
            assert second_done.wait(60)
        else:
            second_done.set()
        return [sentence.text for sentence in sentences]

    async def run() -> None:
        queue = BatchQueue("test", work, lambda _: 1, capacity=10, batch_cost=2, workers=2)
        queue.start()
        assert await queue.submit("m", words("1", "2", "3", "4")).answer == ["1", "2", "3", "4"]
        await queue.close()

    asyncio.run(run())


def test_sentences_that_cost_nothing_are_not_forgotten() -> None:
    async def test(queue: BatchQueue, worker: Worker) -> None:
        job = queue.submit("m", [Sentence.from_words(text.split()) for text in ("", "a b c d e f", "", "")])
        worker.go.set()
        assert await job.answer == ["m ", "m a b c d e f", "m ", "m "]

    with_queue(test)
