"""The service with one text a request, as most programs use it: 64 clients at once, and one on an idle service.

    python benchmarks/single_texts.py           # 4 minutes on two cores

The model has the shape of the packaged encoder at half depth, in int8. The clients are a compiled program
(`load_generator.c`, by the C compiler of this machine), which says how much processor time it took itself. `label`
reads, scores and writes the same texts in a process of its own, in turn with them. Rates are sentences in a second of
processor time, of the service or of `label` alone; beside them is the ratio by the clock, with the clients' time taken
off. One text on an idle service is compared with what nothing can spare: tokenizing it and running the network.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from results_file import command_line, row, write_results

from serve import port_of, process, read_line, texts

SECONDS = 8.0  # of each of both, in each round
ROUNDS = 7
CLIENTS = 64
ASKED = 400  # texts of one client


def make_model(folder: Path, depth: int) -> None:
    """The packaged encoder in int8 with a head that was never trained, which costs the same."""
    from cpu_labelling import exported

    exported(depth, folder, int8=True)


def label(folder: Path) -> None:
    """What `zerotag label` does, without its start: for each line, a number of seconds, tells what that took."""
    from zerotag.io.writers import jsonl
    from zerotag.io.writers.style import Style
    from zerotag.labeller import load
    from zerotag.text.segmentation import split

    labeller = load(folder)
    style = Style(label_names=labeller.label_names, rules=labeller.rules, title="")
    given = texts()
    print("ready", flush=True)
    with Path(os.devnull).open("w", encoding="utf-8") as sink:
        for line in sys.stdin:
            start, cpu, done = perf_counter(), process_time(), 0
            while perf_counter() - start < float(line):
                sink.writelines(jsonl.render(labeller.stream(map(split, given)), style))
                done += len(given)
            print(
                json.dumps({"seconds": perf_counter() - start, "cpu": process_time() - cpu, "done": done}), flush=True
            )


def compiled(folder: Path) -> Path | None:
    """The load generator, if there is a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        print("no C compiler: the load of many clients is not measured")
        return None
    program = folder / "load_generator"
    source = Path(__file__).with_name("load_generator.c")
    subprocess.run([compiler, "-O2", "-pthread", source, "-o", program], check=True)
    return program


def processor_seconds(process_number: int) -> float:
    """What a process has used so far, its threads included."""
    fields = Path(f"/proc/{process_number}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def many_clients(
    service: subprocess.Popen[str],
    port: int,
    labelling: subprocess.Popen[str],
    program: Path,
    options: argparse.Namespace,
) -> dict[str, object]:
    """Both by turns: sentences in a second of processor time."""
    bodies = program.with_name("bodies")
    bodies.write_text("".join(json.dumps({"texts": [text]}) + "\n" for text in texts()))
    seconds, rounds = (0.3, 1) if options.quick else (options.seconds or SECONDS, ROUNDS)
    command = [program, str(port), "/v1/label", str(4 if options.quick else CLIENTS), str(seconds), bodies]
    cores = len(os.sched_getaffinity(0))
    theirs, ours, by_clock, clients, failed = [], [], [], [], 0
    for number in range(rounds + 1):
        assert labelling.stdin is not None
        labelling.stdin.write(f"{seconds}\n")
        labelling.stdin.flush()
        alone = json.loads(read_line(labelling))
        before = processor_seconds(service.pid)
        load = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        used = processor_seconds(service.pid) - before
        failed += load["failed"]
        if number or options.quick:  # the first warms up
            theirs.append(alone["done"] / alone["cpu"])
            ours.append(load["answered"] / max(used, 0.01))
            clients.append(load["cpu"] / load["seconds"])
            rate = load["answered"] / (load["seconds"] - load["cpu"] / cores)
            by_clock.append(rate / (alone["done"] / alone["seconds"]))
    return row(
        f"sentences in a second of processor time, {CLIENTS} clients, a text a request, beside `label`",
        median(theirs),
        median(ours),
        "≥ 0.8",
        wall_ratio=round(median(by_clock), 3),
        clients_used_of_a_core=round(median(clients), 3),
        failed=failed,
    )


def one_client(folder: Path, port: int, service_number: int, asked: int) -> list[dict[str, object]]:
    """Milliseconds of one text on an idle service, and of tokenizing it and running the network, in turn."""
    import numpy as np
    from tokenizers import Tokenizer

    from zerotag.inference.onnx_predictor import open_session
    from zerotag.io.integrity import ENCODER, HEAD, TOKENIZER

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    encoder, head = open_session(folder / ENCODER), open_session(folder / HEAD)

    def least(text: str) -> None:
        ids = np.array([tokenizer.encode(text).ids])
        (encoded,) = encoder.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        head.run(None, {"tokens": encoded, "token_mask": np.ones(ids.shape, np.bool_)})

    connection = http.client.HTTPConnection("127.0.0.1", port)

    def ask(text: str) -> None:
        body = json.dumps({"texts": [text]})
        connection.request("POST", "/v1/label", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        assert response.status == 200

    taken: dict[str, list[float]] = {"least": [], "service": []}
    used = {"least": 0.0, "service": 0.0}  # of processors, each by the process that does it
    given = texts()
    for number in range(asked + 1):
        for name, do, processor in (
            ("least", least, process_time),
            ("service", ask, lambda: processor_seconds(service_number)),
        ):
            start, before = perf_counter(), processor()
            do(given[number % len(given)])
            if number:  # the first warms up
                taken[name].append(1000 * (perf_counter() - start))
                used[name] += 1000 * (processor() - before) / asked
    by_clock = {name: median(times) for name, times in taken.items()}
    what = "one text on an idle service, beside tokenizing it and running the network"
    return [
        row(f"ms, {what}: p50", by_clock["least"], by_clock["service"]),
        row(f"ms more, {what}: p50", None, by_clock["service"] - by_clock["least"], "≤ 2 ms"),
        row(f"ms of processor time, {what}: mean", used["least"], used["service"]),
        row(f"ms more of processor time, {what}: mean", None, used["service"] - used["least"], "≤ 2 ms"),
    ]


def main() -> None:
    """Measure, print, write the results."""
    parser = command_line(__doc__)
    parser.add_argument("--seconds", type=float, help="for each measurement")
    parser.add_argument("--label", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.label is not None:
        label(options.label)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder, program = Path(scratch, "minilm-int8"), compiled(Path(scratch))
        make_model(folder, 1 if options.quick else 3)
        serve = [sys.executable, "-m", "zerotag", "serve", str(folder), "--port", "0"]
        with process(*serve) as service:
            port = port_of(service)
            rows = one_client(folder, port, service.pid, 3 if options.quick else ASKED)
            if program is not None:
                with process(sys.executable, __file__, "--label", str(folder)) as labelling:
                    read_line(labelling)
                    rows.insert(0, many_clients(service, port, labelling, program, options))
    print(write_results("single_texts", rows, folder=options.out))


if __name__ == "__main__":
    main()
