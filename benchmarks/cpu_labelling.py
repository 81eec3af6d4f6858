"""Sentences per second on a processor, words and scores written as JSON lines, against the pipeline of transformers.

    python benchmarks/cpu_labelling.py                                  # about 5 minutes on two quiet cores
    python benchmarks/cpu_labelling.py --sentences 128 --rounds 3       # a look

Everybody labels the same sentences in turn, round after round; ratios are of medians. The encoder is the packaged one,
the heads were never trained: that takes the same time. With ZEROTAG_DATA set the sentences are those of the CoNLL-2010
test set; otherwise sentences of the demo corpus are joined and cut to lengths like theirs.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import torch
from results_file import command_line, write_results
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
from zerotag.types import Rule

LAYERS = 6
BATCH = 32  # of the pipeline
Run = Callable[[list[str], Path], None]


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
        targets = {"full depth, ONNX fp32": 2.0, "half depth, ONNX int8": 5.0}
        seconds: dict[str, list[float]] = {name: [] for name in runs}
        for run in runs.values():
            run(texts[:BATCH], folder / "warm-up.jsonl")
        for _ in range(arguments.rounds or (1 if arguments.quick else 7)):
            for name, run in runs.items():
                start = perf_counter()
                run(texts, folder / "out.jsonl")
                seconds[name].append(perf_counter() - start)
    rates = {name: len(texts) / median(taken) for name, taken in seconds.items()}
    rows = []
    for name, rate in rates.items():
        ratio, target = rate / rates["pipeline"], targets.get(name)
        print(f"{name:24} {rate:8.1f} sentences/s  {ratio:5.2f}×" + (f"  target ≥ {target:g}" if target else ""))
        if name != "pipeline":
            wanted = f"≥ {target:g}" if target else None
            rows.append(
                {
                    "what": f"sentences/s, {name}",
                    "peer": round(rates["pipeline"], 1),
                    "ours": round(rate, 1),
                    "ratio": round(ratio, 3),
                    "target": wanted,
                }
            )
    write_results("cpu_labelling", rows, folder=arguments.out)


if __name__ == "__main__":
    main()
