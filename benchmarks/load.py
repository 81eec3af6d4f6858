"""Clients for load tests: bare HTTP over asyncio, so that they take little of the cores they share with the service."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice

HEAD = "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"


@dataclass
class Tally:
    """What became of the requests of a run."""

    seconds: float = 0.0
    sent: int = 0
    sentences: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    latencies: dict[int, list[float]] = field(default_factory=dict)  # by status
    lost: int = 0

    @property
    def rate(self) -> float:
        """Sentences per second."""
        return self.sentences / self.seconds

    def add(self, other: Tally) -> None:
        """Count another run, too."""
        self.seconds += other.seconds
        self.sent += other.sent
        self.sentences += other.sentences
        self.statuses += other.statuses
        self.lost += other.lost
        for status, latencies in other.latencies.items():
            self.latencies.setdefault(status, []).extend(latencies)

    def p(self, share: float, status: int = 200) -> float:
        """A percentile of the seconds to an answer."""
        ordered = sorted(self.latencies.get(status, [float("nan")]))
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def requests_of(texts: Sequence[str], per_request: int, path: str) -> Iterator[bytes]:
    """Requests without end, each with the next texts."""
    endless = cycle(texts)
    while True:
        body = json.dumps({"texts": list(islice(endless, per_request))}).encode()
        yield HEAD.format(path=path, length=len(body)).encode() + body


class Connection:
    """One connection of one client."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> int:
        """Send a request, read all of the answer, give its status."""
        if self._streams is None or self._streams[0].at_eof():  # the service hangs up on who is silent for long
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, limit=2**24)
        reader, writer = self._streams
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        lower = head.lower()
        at = lower.index(b"content-length:") + 15
        await reader.readexactly(int(lower[at : lower.index(b"\r\n", at)]))
        return int(head[9:12])

    def close(self) -> None:
        """Hang up."""
        if self._streams is not None:
            self._streams[1].close()


async def _timed(connection: Connection, request: bytes, per_request: int, tally: Tally) -> int:
    start = time.perf_counter()
    tally.sent += 1
    try:
        status = await asyncio.wait_for(connection.ask(request), 120)
    except (OSError, EOFError, TimeoutError, ValueError):
        tally.lost += 1
        connection.close()
        return 0
    tally.statuses[status] += 1
    tally.latencies.setdefault(status, []).append(time.perf_counter() - start)
    if status == 200:
        tally.sentences += per_request
    return status


async def closed_loop(
    port: int, texts: Sequence[str], *, clients: int, per_request: int, seconds: float, path: str = "/v1/label"
) -> Tally:
    """Clients that send their next request when the last is answered, and come back a little later if refused."""
    tally = Tally()
    requests = requests_of(texts, per_request, path)
    start = time.perf_counter()

    async def client() -> None:
        connection = Connection(port)
        while time.perf_counter() - start < seconds:
            if await _timed(connection, next(requests), per_request, tally) != 200:
                await asyncio.sleep(random.uniform(0.5, 1))
        connection.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    tally.seconds = time.perf_counter() - start
    return tally


async def open_loop(port: int, texts: Sequence[str], *, per_second: float, per_request: int, seconds: float) -> Tally:
    """Requests at random times at a steady rate, whatever becomes of the earlier ones."""
    tally = Tally()
    requests = requests_of(texts, per_request, "/v1/label")
    idle: list[Connection] = []
    start = time.perf_counter()

    async def one(request: bytes) -> None:
        connection = idle.pop() if idle else Connection(port)
        if await _timed(connection, request, per_request, tally):
            idle.append(connection)

    due = start
    async with asyncio.TaskGroup() as group:
        while (due := due + random.expovariate(per_second)) < start + seconds:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(one(next(requests)))
    tally.seconds = time.perf_counter() - start
    for connection in idle:
        connection.close()
    return tally


async def hang(port: int, count: int) -> list[Connection]:
    """Clients that send half a request and then nothing, for as long as the list is kept."""
    connections = []
    for _ in range(count):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD.format(path="/v1/label", length=1000).encode() + b'{"texts": ["half a')
        connection = Connection(port)
        connection._streams = (reader, writer)
        connections.append(connection)
    return connections
