"""`labeller.label(texts)` in one Python process on a GPU, against the sentence pipeline of transformers in bfloat16.

    ZEROTAG_ENCODERS=FOLDER python benchmarks/gpu_python.py     # under a minute on an H200
    python benchmarks/gpu_python.py --quick                     # a tiny model, anywhere: does it run?

FOLDER/all-mpnet-base-v2 has the tokenizer and the shape of the encoder; its weights are not needed, as random ones take
the same time. Without that folder the shape is the same, and the tokenizer is made of the words of the sentences. The
labeller has half of the layers, as by default; the pipeline is measured with all of them and with half. It classifies
sentences and says nothing of words. It gets the first sentences only, round after round in turn with us. *Read* means
that a program goes through all results and looks at the text, score and label of every word and at every span.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import torch
from made_up import LAYERS, labeller, texts, tokenizer_and_shape
from results_file import row, write_results

if TYPE_CHECKING:
    from zerotag.labeller import WordLabeller
    from zerotag.types import Labelled

PEER_BATCH = 256


def peer(device: torch.device, layers: int, *, quick: bool) -> Callable[[list[str]], object]:
    """What people run today to classify sentences."""
    from transformers import MPNetForSequenceClassification, TextClassificationPipeline

    tokenizer, shape = tokenizer_and_shape(quick=quick)
    shape.num_hidden_layers = layers
    model = MPNetForSequenceClassification(shape).to(torch.bfloat16).eval()
    classify = TextClassificationPipeline(model=model, tokenizer=tokenizer, device=device)
    return lambda sentences: classify(sentences, batch_size=PEER_BATCH)


def read(results: Sequence[Labelled]) -> float:
    """Look at all that there is."""
    total = 0.0
    for result in results:
        for word in result.words:
            total += word.score if word.label is not None and word.text else 0.0
        for span in result.spans:
            total += span.score
    return total


def main() -> None:
    """Measure in turn, print, write the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tiny model and few sentences; nothing is written")
    parser.add_argument("--sentences", type=int, help="that we label")
    parser.add_argument("--peer-sentences", type=int, help="of them, for the pipeline")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--out", type=Path, help="folder for the results")
    options = parser.parse_args()
    many, few, rounds = (200, 40, 1) if options.quick else (100_000, 8_192, 3)
    sentences = texts(options.sentences or many)
    some = sentences[: options.peer_sentences or few]
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    made: WordLabeller = labeller(LAYERS // 2, device, quick=options.quick)
    pipelines = {layers: peer(device, layers, quick=options.quick) for layers in (LAYERS, LAYERS // 2)}
    runs: dict[str, tuple[Callable[[], object], int]] = {
        "12 layers": (lambda: pipelines[LAYERS](some), len(some)),
        "6 layers": (lambda: pipelines[LAYERS // 2](some), len(some)),
        "unread": (lambda: made.label(sentences, progress=False), len(sentences)),
        "every word read": (lambda: read(made.label(sentences, progress=False)), len(sentences)),
    }
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for number in range((options.rounds or rounds) + 1):
        for name, (run, _) in runs.items():
            start = perf_counter()
            run()
            taken = perf_counter() - start
            print(f"round {number}, {name}: {taken:.2f} s", flush=True)
            if number:  # the first warms up
                seconds[name].append(taken)
    rates = {name: count / median(seconds[name]) for name, (_, count) in runs.items()}
    rows = [
        row(
            f"sentences/s, `label` of {len(sentences):,} texts in one process, half depth, {name}; "
            f"sentence pipeline of {layers}",
            rates[layers],
            rates[name],
            target if layers == "12 layers" else None,
        )
        for name, target in (("unread", "≥ 10"), ("every word read", "≥ 5"))
        for layers in ("12 layers", "6 layers")
    ]
    if options.out or not options.quick:
        print(write_results("gpu_python", rows, folder=options.out))


if __name__ == "__main__":
    main()
