"""The service under load: against `zerotag label`, against a plain FastAPI handler, and beyond its capacity.

    python benchmarks/serve.py                      # about 20 minutes, 10 of them for the memory
    python benchmarks/serve.py --seconds 5 --memory-seconds 20

Everything shares the machine's cores, the clients included. With 64 clients in a closed loop a request waits for 63
others, so their requests are small; that is how many clients at once are served without a refusal. The overload is an
open loop of larger requests, which come at twice the rate that the service can bear. It is beside one client with the
same requests: what waits at most, three batches, is a few times a large request, but many times a small one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from load import Tally, closed_loop, hang, open_loop
from results_file import command_line, write_results

QUICK = "--quick" in sys.argv  # here, since the processes that are compared need to know it, too
CLIENTS = 4 if QUICK else 64
ROUNDS = 1 if QUICK else 5  # by turns
SMALL, LARGE = (2, 8) if QUICK else (4, 128)  # texts of a request
TEXTS = 40 if QUICK else None


def texts() -> list[str]:
    lines = files("zerotag.demo").joinpath("hedging.train.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines[:TEXTS]]


def make_model(folder: Path) -> None:
    """The packaged encoder at its default depth with a head that was never trained, which costs the same."""
    import torch

    from zerotag.config import ModelConfig, TrainConfig
    from zerotag.io.model_folder import Manifest
    from zerotag.labeller import WordLabeller
    from zerotag.modeling.encoders import load_encoder
    from zerotag.modeling.network import Network
    from zerotag.types import Rule

    encoder, tokenizer = load_encoder(ModelConfig(depth=1 if QUICK else None))
    config = replace(ModelConfig(), depth=encoder.config.num_hidden_layers)
    torch.manual_seed(0)
    manifest = Manifest(config, TrainConfig(), ("hedge",), "O", (Rule(),), {}, {})
    WordLabeller(Network(encoder, 1, config).eval(), tokenizer, manifest).save_pretrained(folder)
    encoder.save_pretrained(folder / "encoder")
    tokenizer.save_pretrained(folder / "encoder")


def label(folder: Path) -> None:
    """What `zerotag label` does, without its start: for each line, a number of seconds, prints sentences per second."""
    from zerotag.io.writers import jsonl
    from zerotag.io.writers.style import Style
    from zerotag.labeller import load
    from zerotag.text.segmentation import split

    labeller = load(folder)
    style = Style(label_names=labeller.label_names, rules=labeller.rules, title="")
    given = texts()
    list(labeller.stream(map(split, given[:200])))
    print("ready", flush=True)
    with Path(os.devnull).open("w", encoding="utf-8") as sink:
        for line in sys.stdin:
            start, done = time.perf_counter(), 0
            while time.perf_counter() - start < float(line):
                sink.writelines(jsonl.render(labeller.stream(map(split, given)), style))
                done += len(given)
            print(done / (time.perf_counter() - start), flush=True)


def plain(folder: Path) -> None:
    """What people write first: a handler around the pipeline, on an encoder of the same depth."""
    import uvicorn
    from fastapi import FastAPI
    from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline

    from zerotag.serve.server import address_of, listen

    encoder = folder / "encoder"
    model = AutoModelForTokenClassification.from_pretrained(encoder)
    labeller = pipeline("token-classification", model=model, tokenizer=AutoTokenizer.from_pretrained(encoder))
    app = FastAPI()

    @app.post("/label")
    def handle(request: dict[str, list[str]]) -> Any:
        rows = labeller(request["texts"])
        return [[{**word, "score": float(word["score"])} for word in words] for words in rows]

    socket = listen("127.0.0.1", 0)
    print(address_of(socket), flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run([socket])


@contextmanager
def process(*command: str) -> Iterator[subprocess.Popen[str]]:
    """A process that is ready for work; its first line has been read."""
    environment = {**os.environ, "TOKENIZERS_PARALLELISM": "true", "PYTHONUNBUFFERED": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as started:
        try:
            yield started
        finally:
            started.terminate()


def read_line(started: subprocess.Popen[str]) -> str:
    assert started.stdout is not None
    return started.stdout.readline()


def port_of(server: subprocess.Popen[str]) -> int:
    """The port in the first line that a server prints, once it answers there."""
    port = int(read_line(server).partition("http://127.0.0.1:")[2].split()[0])
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return port
        except ConnectionRefusedError:
            time.sleep(0.2)


def label_rate(labelling: subprocess.Popen[str], seconds: float) -> float:
    assert labelling.stdin is not None
    labelling.stdin.write(f"{seconds}\n")
    labelling.stdin.flush()
    return float(read_line(labelling))


def memory(process_number: int) -> float:
    """Resident megabytes."""
    status = Path(f"/proc/{process_number}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


async def beside(
    labelling: subprocess.Popen[str], plain_port: int, port: int, seconds: float
) -> tuple[float, Tally, Tally]:
    """`label`, the plain handler and the service by turns, as the speed of a machine may change."""
    rates, theirs, ours = [], Tally(), Tally()
    for _ in range(ROUNDS):
        share = seconds / ROUNDS
        rates.append(label_rate(labelling, share))
        theirs.add(
            await closed_loop(plain_port, texts(), clients=CLIENTS, per_request=SMALL, seconds=share, path="/label")
        )
        ours.add(await closed_loop(port, texts(), clients=CLIENTS, per_request=SMALL, seconds=share))
    if not theirs.sentences:
        raise SystemExit(f"the plain handler does not work: {theirs}")
    return statistics.mean(rates), theirs, ours


async def measure_service(port: int, number: int, full: Tally, seconds: float, memory_seconds: float) -> dict[str, Any]:
    """Every measurement that needs the service alone."""
    given = texts()

    async def load(per_request: int = SMALL, clients: int = CLIENTS, for_seconds: float = seconds) -> Tally:
        return await closed_loop(port, given, clients=clients, per_request=per_request, seconds=for_seconds)

    found: dict[str, Any] = {"full, single texts": await load(per_request=1), "full, none hanging": await load()}
    hanging = await hang(port, 32)
    found["full, others hanging"] = await load()
    for connection in hanging:
        connection.close()
    found["unloaded"] = await load(per_request=LARGE, clients=1)
    found["overload"] = await open_loop(
        port, given, per_second=2 * full.rate / LARGE, per_request=LARGE, seconds=2 * seconds
    )
    samples: list[float] = []

    async def sample() -> None:
        while True:
            samples.append(memory(number))
            await asyncio.sleep(max(0.5, memory_seconds / 300))

    sampling = asyncio.create_task(sample())
    found["long"] = await load(for_seconds=memory_seconds)
    sampling.cancel()
    found["memory"] = samples
    return found


def rows(found: dict[str, Any], by_label: float, plain_run: Tally, full: Tally) -> list[dict[str, Any]]:
    """The table: what was measured, beside what, and what it should be."""
    overload, unloaded = found["overload"], found["unloaded"]
    fifth = max(1, len(found["memory"]) // 5)
    early, late = (statistics.median(part) for part in (found["memory"][fifth : 2 * fifth], found["memory"][-fifth:]))
    runs = [full, *(run for run in found.values() if isinstance(run, Tally))]
    strange = sum(count for run in runs for status, count in run.statuses.items() if status not in (200, 429, 503))

    hung, free = found["full, others hanging"], found["full, none hanging"]
    refused = overload.statuses[429] + overload.statuses[503]
    lost = strange + sum(run.lost for run in runs)
    twice = f"at twice capacity, {LARGE} texts a request"
    table: list[tuple[str, float, float, str]] = [
        (f"sentences/s, {CLIENTS} clients × {SMALL} texts, beside `label`", by_label, full.rate, "≥ 0.8"),
        (f"sentences/s, {CLIENTS} clients × 1 text, beside `label`", by_label, found["full, single texts"].rate, ""),
        ("sentences/s, beside a plain FastAPI handler", plain_run.rate, full.rate, "≥ 3"),
        ("p99 in seconds, beside the plain handler", plain_run.p(0.99), full.p(0.99), ""),
        (f"refused of what {CLIENTS} clients sent", full.sent, full.statuses[429], ""),
        ("sentences/s while 32 clients hang, beside none", free.rate, hung.rate, "≥ 0.9"),
        ("p99 in seconds while 32 clients hang, beside none", free.p(0.99), hung.p(0.99), ""),
        (f"{twice}: answered or refused, of all sent", overload.sent, overload.statuses[200] + refused, "1"),
        (f"{twice}: refused, of all sent", overload.sent, refused, ""),
        (f"{twice}: sentences/s, beside full load", full.rate, overload.rate, ""),
        (f"{twice}: p99 of accepted, beside one client's", unloaded.p(0.99), overload.p(0.99), "< 5"),
        (f"{twice}: p50 of accepted, beside one client's", unloaded.p(0.5), overload.p(0.5), ""),
        (f"{twice}: p99 of refusals, beside one client's", unloaded.p(0.99), overload.p(0.99, 429), "< 1"),
        (f"resident MB after {found['long'].seconds:.0f} s at full load", early, late, "≤ 1.05"),
        ("requests lost or failed, of all", sum(run.sent for run in runs), lost, "0"),
    ]
    return [
        {
            "what": what,
            "peer": _rounded(peer),
            "ours": _rounded(ours),
            "ratio": _rounded(ours / peer) if peer else None,
            "target": target,
        }
        for what, peer, ours, target in table
    ]


def _rounded(number: float) -> float | None:
    """None for what was not measured, as when nothing was refused: NaN is no JSON."""
    return None if math.isnan(number) else round(number, 4)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--seconds", type=float, help="for each measurement")
    parser.add_argument("--memory-seconds", type=float)
    parser.add_argument("--run", choices=["label", "plain"], help=argparse.SUPPRESS)
    parser.add_argument("--model", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run == "label":
        label(options.model)
    elif options.run == "plain":
        plain(options.model)
    else:
        seconds = options.seconds or (0.2 if options.quick else 60.0)
        compare(seconds, options.memory_seconds or 10 * seconds, options.out)


def compare(seconds: float, memory_seconds: float, out: Path | None) -> None:
    """Measure everything, write it down and show it."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "minilm")
        make_model(folder)
        again = [sys.executable, __file__, *(["--quick"] if QUICK else []), "--model", str(folder), "--run"]
        serve = [sys.executable, "-m", "zerotag", "serve", str(folder), "--port", "0"]
        with process(*serve) as service:
            port = port_of(service)
            with process(*again, "label") as labelling, process(*again, "plain") as plain_service:
                read_line(labelling)
                by_label, plain_run, full = asyncio.run(beside(labelling, port_of(plain_service), port, seconds))
            found = asyncio.run(measure_service(port, service.pid, full, seconds, memory_seconds))
    measured = rows(found, by_label, plain_run, full)
    for row in measured:
        print(f"{row['what']:82} {row['peer']!s:>10} {row['ours']!s:>10} {row['ratio']!s:>8}  {row['target']}")
    print(write_results("serve", measured, folder=out))


if __name__ == "__main__":
    main()
