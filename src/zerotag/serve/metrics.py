"""What the service counts, for Prometheus to read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from zerotag.serve.batch_queue import BatchQueue

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_SENTENCES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """Counters of one service."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        counter, gauge = partial(Counter, registry=registry), partial(Gauge, registry=registry)
        histogram = partial(Histogram, registry=registry)
        of_queue = ("model", "queue")
        self._requests = counter("zerotag_requests", "Requests answered.", ("route", "method", "status"))
        self._seconds = histogram("zerotag_request_seconds", "Time to answer.", ("route",), buckets=_SECONDS)
        self._rejected = counter("zerotag_rejected", "Requests refused, by reason.", ("code",))
        self._sentences = counter("zerotag_sentences", "Sentences labelled.", of_queue)
        together = "Sentences that went through a model together."
        self._batches = histogram("zerotag_batch_sentences", together, of_queue, buckets=_SENTENCES)
        self._waiting = gauge("zerotag_queue", "Sub-words, or explained texts, that wait.", of_queue)
        left = "How long it will take to do what waits, by the pace so far."
        self._seconds_waiting = gauge("zerotag_queue_seconds", left, of_queue)
        self._reloads = counter("zerotag_reloads", "Models replaced.", ("model", "outcome"))

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def rejected(self, code: str) -> None:
        """Count a request that was refused."""
        self._rejected.labels(code).inc()

    def reloaded(self, model: str, outcome: str) -> None:
        """Count a model folder that changed, and whether it could be loaded."""
        self._reloads.labels(model, outcome).inc()

    def watch_queue(self, model: str, kind: str, queue: BatchQueue) -> Callable[[int], None]:
        """Show how much waits in a queue; gives what to call with the number of sentences after each batch."""
        self._waiting.labels(model, kind).set_function(lambda: queue.waiting)
        self._seconds_waiting.labels(model, kind).set_function(lambda: queue.seconds_waiting)
        sentences, batches = self._sentences.labels(model, kind), self._batches.labels(model, kind)

        def after_batch(count: int) -> None:
            sentences.inc(count)
            batches.observe(count)

        return after_batch

    def text(self) -> bytes:
        """All of it in Prometheus' text format."""
        return generate_latest(self._registry)
