"""Sentences per second on a processor, words and scores written as JSON lines, against the pipeline of transformers.

`labeller.label` of the same texts in Python is beside the file, and its results are looked at or not.

    python benchmarks/cpu_labelling.py                                  # about 5 minutes on two quiet cores
    python benchmarks/cpu_labelling.py --sentences 128 --rounds 3       # a look

Everybody labels the same sentences in turn, round after round; ratios are of medians. Time is that of the processor,
by the number of cores, since a machine may have other work: each of them keeps all cores busy. The encoder is the
packaged one, the heads were never trained: that takes the same time. With ZEROTAG_DATA set the sentences are those of
the CoNLL-2010 test set; otherwise sentences of the demo corpus are joined and cut to lengths like theirs.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
import torch
from results_file import command_line, row, write_results
from transformers import AutoTokenizer, BertForTokenClassification, pipeline

from zerotag.bulk import run as bulk
from zerotag.bulk.inputs import Inputs
from zerotag.bulk.journal import unfinished
from zerotag.config import ModelConfig, TrainConfig
from zerotag.explain import create
from zerotag.inference.onnx_export import export
from zerotag.inference.predictor import AT_ONCE
from zerotag.io import Columns, Source, read_gold
from zerotag.io.model_folder import Manifest
from zerotag.io.writers.appendable import Encoder, Form
from zerotag.io.writers.style import Style
from zerotag.labeller import Labeller, WordLabeller, load
from zerotag.modeling.encoders import load_encoder, packaged_folder
from zerotag.modeling.network import Network
from zerotag.types import Labelled, Rule

LAYERS = 6
BATCH = 32  # of the pipeline
Run = Callable[[list[str], Path], object]


def sentences(count: int) -> list[str]:
    """Real sentences of biomedical articles if they can be had, else made-up ones of such lengths."""
    data = os.environ.get("ZEROTAG_DATA")
    if data:
        gold = read_gold(Path(data, "conll2010", "conll10_task2_rev2.cue.test.tsv"))
        return [example.sentence.text for example in gold.examples[:count]]
    records = files("zerotag.demo").joinpath("hedging.train.jsonl").read_text(encoding="utf-8").splitlines()
    words = np.array([word for record in records for word in json.loads(record)["text"].split()])
    random = np.random.default_rng(0)
    lengths = 2 + random.gamma(3.2, 7.8, count).astype(int)
    starts = random.integers(0, len(words) - lengths.max(), count)
    return [" ".join(words[start : start + length].tolist()) for start, length in zip(starts, lengths, strict=True)]


def untrained(depth: int) -> WordLabeller:
    """The packaged encoder with a head that knows nothing."""
    config = ModelConfig(depth=depth)
    encoder, tokenizer = load_encoder(config)
    torch.manual_seed(0)
    manifest = Manifest(config, TrainConfig(), ("hedge",), "O", (Rule(),), {}, {})
    return WordLabeller(Network(encoder, 1, config).eval(), tokenizer, manifest)


def exported(depth: int, folder: Path, *, int8: bool) -> Labeller:
    """The same in ONNX Runtime."""
    export(untrained(depth), folder, int8=int8)
    return load(folder)


def peer() -> Run:
    """What people run today."""
    folder = packaged_folder()
    model = BertForTokenClassification.from_pretrained(folder, num_labels=2)
    classify = pipeline(
        "token-classification",
        model=model,
        tokenizer=AutoTokenizer.from_pretrained(folder),
        device="cpu",
        ignore_labels=[],
    )

    def run(texts: list[str], out: Path) -> None:
        with out.open("w", encoding="utf-8") as file:
            for text, words in zip(texts, classify(texts, batch_size=BATCH), strict=True):
                file.write(json.dumps({"text": text, "words": words}, default=float) + "\n")

    return run


def ours(labeller: Labeller) -> Run:
    """What `zerotag label` does once the model is loaded."""
    style = Style(label_names=labeller.label_names, rules=labeller.rules, title="")

    def run(texts: list[str], out: Path) -> None:
        source = out.with_suffix(".txt")
        source.write_text("\n".join(texts), encoding="utf-8")
        inputs = Inputs([Source(source)], Columns())
        inputs.check()
        labelling = bulk.Run(
            inputs=inputs,
            scorer=create("native", labeller),
            label_names=labeller.label_names,
            rules=labeller.rules,
            at_once=AT_ONCE,
        )
        with unfinished(out, None, resume=False, overwrite=True) as output:
            bulk.label_to_file(labelling, output, Encoder(Form("jsonl"), style))

    return run


def main() -> None:
    """Measure in turn, print rates and ratios, write the results."""
    parser = command_line(__doc__)
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--rounds", type=int)
    arguments = parser.parse_args()
    texts = sentences(arguments.sentences or (8 if arguments.quick else 1024))
    layers = 2 if arguments.quick else LAYERS
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        half = layers // 2
        runs: dict[str, Run] = {
            "pipeline": peer(),
            "full depth, torch": ours(untrained(layers)),
            "full depth, ONNX fp32": ours(exported(layers, folder / "full", int8=False)),
            "full depth, ONNX int8": ours(exported(layers, folder / "full8", int8=True)),
            "half depth, ONNX fp32": ours(exported(half, folder / "half", int8=False)),
            "half depth, ONNX int8": ours(exported(half, folder / "half8", int8=True)),
        }
        labeller = load(folder / "half8")
        runs["in Python, unread"] = lambda texts, _: labeller.label(texts, progress=False)
        runs["in Python, every word read"] = lambda texts, _: read(labeller.label(texts, progress=False))
        rounds = arguments.rounds or (1 if arguments.quick else 7)
        rates = {name: len(texts) / took for name, took in in_turn(runs, texts, folder, rounds).items()}
    targets = {"full depth, ONNX fp32": "≥ 2", "half depth, ONNX int8": "≥ 5"}
    rows = [
        row(f"sentences/s, {name}", rates["pipeline"], rate, targets.get(name))
        for name, rate in rates.items()
        if name != "pipeline" and "Python" not in name
    ]
    rows += [
        row(
            f"sentences/s, half depth, ONNX int8, {name}, beside the file",
            rates["half depth, ONNX int8"],
            rate,
            "≥ 0.9",
        )
        for name, rate in rates.items()
        if "Python" in name
    ]
    write_results("cpu_labelling", rows, folder=arguments.out)


def read(results: Sequence[Labelled]) -> float:
    """Look at all that there is."""
    words = sum(word.score for result in results for word in result.words if word.label is None or word.text)
    return words + sum(span.score for result in results for span in result.spans)


def in_turn(runs: dict[str, Run], texts: list[str], folder: Path, rounds: int) -> dict[str, float]:
    """Processor seconds of each, round after round: the median, over the cores that there are."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run(texts[:BATCH], folder / "warm-up.jsonl")
    for _ in range(rounds):
        for name, run in runs.items():
            start = process_time()
            run(texts, folder / "out.jsonl")
            seconds[name].append(process_time() - start)
    return {name: median(taken) / len(os.sched_getaffinity(0)) for name, taken in seconds.items()}


if __name__ == "__main__":
    main()
