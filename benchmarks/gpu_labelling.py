"""Sentences per second on a GPU, text in and JSON lines out, against the pipeline of transformers; and the GPU alone.

    ZEROTAG_ENCODERS=FOLDER python benchmarks/gpu_labelling.py      # about 5 minutes on an H200 with 16 cores
    python benchmarks/gpu_labelling.py --quick                      # a tiny model, anywhere: does it run?

FOLDER/all-mpnet-base-v2 has the tokenizer and the shape of the encoder; its weights are not needed, as random ones take
the same time. The pipelines, one that scores words and one that only classifies sentences, are slow and get the first
sentences of the file only, round after round in turn with us. Loading models and starting workers is not timed, for
either side. The forward pass alone is measured on batches that are on the GPU already, against the product of two large
matrices; only work for real tokens counts.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from made_up import LAYERS, labeller, texts, tokenizer_and_shape
from results_file import row, write_results

if TYPE_CHECKING:
    import torch

    from zerotag.labeller import WordLabeller

PEER_BATCH = 256
AT_ONCE = 32_768  # records, as `zerotag label` takes them with a GPU


PEERS = {"words": "token-classification", "sentences only": "text-classification"}


def peer(device: torch.device, task: str, *, quick: bool) -> Callable[[list[str], Path], None]:
    """What people run today, at full depth."""
    import torch
    from transformers import MPNetForSequenceClassification, MPNetForTokenClassification, pipeline

    tokenizer, shape = tokenizer_and_shape(quick=quick)
    shape.num_hidden_layers = LAYERS
    words = task == "token-classification"
    model = (MPNetForTokenClassification if words else MPNetForSequenceClassification)(shape).to(torch.bfloat16).eval()
    options = {"ignore_labels": []} if words else {}
    classify = pipeline(task, model=model, tokenizer=tokenizer, device=device, **options)

    def run(sentences: list[str], out: Path) -> None:
        with out.open("w", encoding="utf-8") as file:
            for text, found in zip(sentences, classify(sentences, batch_size=PEER_BATCH), strict=True):
                file.write(json.dumps({"text": text, "found": found}, default=float) + "\n")

    return run


def label_file(made: WordLabeller, source: Path, out: Path, pool: object) -> None:
    """What `zerotag label` does, once the model is loaded and workers have started."""
    from zerotag.bulk.inputs import Inputs
    from zerotag.bulk.journal import unfinished
    from zerotag.bulk.pipeline import Overlap
    from zerotag.bulk.run import Run, label_to_file
    from zerotag.bulk.workers import WorkerPool
    from zerotag.explain import create
    from zerotag.io import Columns, Source
    from zerotag.io.writers.appendable import Encoder, Form
    from zerotag.io.writers.style import Style

    inputs = Inputs([Source(source)], Columns())
    inputs.check()
    run = Run(
        inputs=inputs,
        scorer=create("native", made),
        label_names=made.label_names,
        rules=made.rules,
        at_once=AT_ONCE,
        overlap=Overlap(pool, made.predictor, made.aligner) if isinstance(pool, WorkerPool) else None,
    )
    style = Style(label_names=made.label_names, rules=made.rules, title="")
    with unfinished(out, {"benchmark": str(source)}, resume=False, overwrite=True) as output:
        label_to_file(run, output, Encoder(Form("jsonl"), style))


def from_text_to_lines(device: torch.device, options: argparse.Namespace) -> list[dict[str, object]]:
    """Rates of everybody, measured in turn."""
    from zerotag.bulk.workers import WorkerPool

    sentences = texts(options.sentences)
    few = sentences[: options.peer_sentences]
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as opened:
        source, some, out = Path(scratch, "in.txt"), Path(scratch, "some.txt"), Path(scratch, "out.jsonl")
        source.write_text("\n".join(sentences) + "\n", encoding="utf-8")
        some.write_text("\n".join(few) + "\n", encoding="utf-8")
        runs: dict[str, tuple[Callable[[], object], int]] = {}
        for what, task in PEERS.items():
            classify = peer(device, task, quick=options.quick)
            runs[f"pipeline, {what}"] = (lambda c=classify: c(few, out)), len(few)
        for name, depth in (("full", LAYERS), ("half", LAYERS // 2)):
            made = labeller(depth, device, quick=options.quick)
            pool = opened.enter_context(WorkerPool(made, options.workers))
            pool.wait()
            runs[f"{name} depth"] = (lambda m=made, h=pool: label_file(m, source, out, h)), len(sentences)
            runs[f"{name} depth, one process"] = (lambda m=made: label_file(m, some, out, None)), len(few)
        seconds: dict[str, list[float]] = {name: [] for name in runs}
        for number in range(options.rounds + 1):
            for name, (run, _) in runs.items():
                start = perf_counter()
                run()
                print(f"round {number}, {name}: {perf_counter() - start:.1f} s", flush=True)
                if number:  # the first round warms up
                    seconds[name].append(perf_counter() - start)
    rates = {name: count / median(seconds[name]) for name, (_, count) in runs.items()}
    rows = []
    for what in PEERS:
        before = rates[f"pipeline, {what}"]
        rows += [
            row(f"sentences/s, text in, JSON lines out, {name}; pipeline for {what}", before, rates[name], target)
            for name, target in (("full depth", "≥ 10"), ("half depth", "≥ 20"))
        ]
        rows += [
            row(f"sentences/s, the same, {name}; pipeline for {what}", before, rates[name])
            for name in ("full depth, one process", "half depth, one process")
        ]
    return rows


def product_ceiling(device: torch.device, size: int) -> float:
    """TFLOP/s of a large product of matrices."""
    import torch

    kind = torch.bfloat16 if device.type == "cuda" else torch.float32
    left, right = (torch.randn(size, size, device=device, dtype=kind) for _ in range(2))
    return 2 * size**3 / seconds_of(lambda: left @ right, device, times=20) / 1e12


def seconds_of(work: Callable[[], object], device: torch.device, *, times: int, rounds: int = 5) -> float:
    """The median time of doing it once."""
    import torch

    taken = []
    for number in range(rounds + 1):
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        start = perf_counter()
        for _ in range(times):
            work()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        if number:
            taken.append((perf_counter() - start) / times)
    return median(taken)


def gpu_alone(device: torch.device, options: argparse.Namespace) -> list[dict[str, object]]:
    """The forward pass on batches that are there already, against the ceiling."""
    ceiling = product_ceiling(device, 256 if options.quick else 8192)
    print(f"the ceiling: {ceiling:,.1f} TFLOP/s")
    measured = [forward_pass(device, depth, ceiling, options) for depth in (LAYERS, LAYERS // 2)]
    return [found for rows in measured for found in rows]


def forward_pass(
    device: torch.device, depth: int, ceiling: float, options: argparse.Namespace
) -> list[dict[str, object]]:
    """Rates of the whole network as it is labelled with, and of its encoder."""
    import torch

    from zerotag.inference.devices import precision, token_budget
    from zerotag.inference.torch_predictor import attention_without_plans, evaluating
    from zerotag.modeling.bf16_copy import for_inference
    from zerotag.modeling.network import TensorBatch
    from zerotag.text.batching import by_token_budget
    from zerotag.text.segmentation import split
    from zerotag.text.subwords import SubWords

    made = labeller(depth, device, quick=options.quick)
    encoded = made.aligner.encode([split(text) for text in texts(64 if options.quick else AT_ONCE)])
    subwords, frame = SubWords.of(encoded, made.aligner.capacity), made.aligner.frame
    lengths = subwords.lengths + frame.size
    groups = by_token_budget([(1, length) for length in lengths.tolist()], token_budget(device.type))
    batches = [TensorBatch.of(subwords.batch(frame, np.array(group)), device) for group in groups]
    padded = sum(batch.input_ids.numel() for batch in batches)

    shape = made.network.encoder.config
    width, inner = shape.hidden_size, shape.intermediate_size
    per_token = depth * (2 * (4 * width**2 + 2 * width * inner) + 4 * width * lengths)  # attention grows with length
    work = float((per_token * lengths).sum()) / 1e12

    network = for_inference(made.network) if device.type == "cuda" else made.network

    @torch.inference_mode()
    def as_it_was() -> None:
        with evaluating(made.network), precision(device):
            for batch in batches:
                made.network(batch)

    @torch.inference_mode()
    def forward() -> None:
        for batch in batches:
            network(batch)

    @torch.inference_mode()
    def encoder_alone() -> None:
        for batch in batches:
            network.encode(batch)

    with attention_without_plans:
        found = {
            name: seconds_of(doing, device, times=1)
            for name, doing in (("before", as_it_was), ("now", forward), ("encoder", encoder_alone))
        }
    print(f"{depth} layers: {padded / lengths.sum():.3f} padded by real tokens, {len(batches)} batches")
    for name, seconds in found.items():
        print(f"  {name:8} {work / seconds:8.1f} TFLOP/s, {len(encoded) / seconds:12,.0f} sentences/s")
    with torch.inference_mode(), evaluating(made.network):
        exact = torch.cat([torch.sigmoid(made.network(batch).token_logits[batch.token_mask]) for batch in batches[:8]])
        ours = torch.cat([torch.sigmoid(network(batch).token_logits[batch.token_mask]) for batch in batches[:8]])
    print(f"  largest difference of a score to full precision: {(exact - ours).abs().max().item():.4f}")
    what = f"{depth} layers, forward pass alone"
    return [
        row(f"TFLOP/s, {what}", ceiling, work / found["now"], "≥ 0.4"),
        row(f"sentences/s, {what}, against eager attention under autocast", *rates(len(encoded), found)),
    ]


def rates(count: int, found: dict[str, float]) -> tuple[float, float]:
    """Sentences per second, before and now."""
    return count / found["before"], count / found["now"]


def main() -> None:
    """Measure, print, write the results."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tiny model and few sentences; nothing is written")
    parser.add_argument("--sentences", type=int, help="in the file that we label")
    parser.add_argument("--peer-sentences", type=int, help="of them, for the pipeline")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--workers", type=int, default=max(1, len(os.sched_getaffinity(0)) - 1))
    parser.add_argument("--out", type=Path, help="folder for the results")
    options = parser.parse_args()
    many, few, rounds = (200, 40, 1) if options.quick else (400_000, 4_096, 3)
    options.sentences = options.sentences or many
    options.peer_sentences = options.peer_sentences or few
    options.rounds = options.rounds or rounds
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rows = [*gpu_alone(device, options), *from_text_to_lines(device, options)]
    if options.out or not options.quick:
        print(write_results("gpu_labelling", rows, folder=options.out))


if __name__ == "__main__":
    main()
