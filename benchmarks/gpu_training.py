"""Sentences per second of a training at the paper's batch size, against the Trainer of transformers.

    ZEROTAG_ENCODERS=FOLDER python benchmarks/gpu_training.py       # about 4 minutes on an H200
    python benchmarks/gpu_training.py --quick                       # a tiny model, anywhere: does it run?

One epoch over sentences as long as those of FCE, 16 at a time, in bfloat16 on a GPU. The Trainer pads to 128 sub-words,
as is the custom, and trains a sentence classifier; we train soft attention, which scores words as well, at full depth
and, as the recipe does, at half. Rates are of steps, from the first one on: loading and evaluating is nobody's. Then
several seeds are trained side by side, each in a process of its own; with NVIDIA's MPS they share the GPU better. Last,
what the whole recipe costs, from the start to a finished model, against weighted soft attention by the paper's
protocol, which stopped after 6 epochs at the earliest on FCE and CoNLL-2010 (experiments/record).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from time import monotonic

import torch
from made_up import CUES, LAYERS, encoder_folder, texts
from results_file import row, write_results
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from zerotag.config import ModelConfig, TrainConfig
from zerotag.presets import PLAIN, PRESETS
from zerotag.text.segmentation import split
from zerotag.training.recipe import Progress, train
from zerotag.types import Corpus, Example

BATCH = 16
LENGTH = 128
FEWEST_EPOCHS = 6  # of weighted soft attention, patience 5 included
RECIPES = {"the recipe": 1, "the recipe with four teachers": 4}


def corpus(count: int) -> Corpus[Example]:
    """Sentences of which those with a cue word are positive."""
    examples = []
    for number, text in enumerate(texts(count)):
        cue = CUES[number // 2 % len(CUES)] if number % 2 else "now"
        examples.append(Example(split(f"{cue} {text}"), (bool(number % 2),)))
    return Corpus(("hedge",), tuple(examples))


class Clock:
    """The rate from the first report to the last."""

    def __init__(self, batch: int = BATCH) -> None:
        self._batch = batch
        self._reports: list[tuple[int, float]] = []

    def at(self, steps: int) -> None:
        """So many steps are done."""
        if not self._reports or steps > self._reports[-1][0]:
            self._reports.append((steps, monotonic()))

    @property
    def rate(self) -> float:
        """Sentences per second."""
        (first, start), (last, end) = self._reports[0], self._reports[-1]
        return self._batch * (last - first) / (end - start)


def ours(folder: Path, count: int, depth: int, seed: int) -> float:
    """The rate of our training."""
    clock = Clock()

    def on_progress(progress: Progress) -> None:
        clock.at(progress.steps_done)

    examples = corpus(count)
    dev = Corpus(examples.label_names, examples.examples[:64])
    training = replace(PLAIN, epochs=1, batch_size=BATCH, seed=seed)
    train(
        examples, dev, model=ModelConfig(encoder=str(folder), depth=depth), training=training, on_progress=on_progress
    )
    return clock.rate


class _Report(TrainerCallback):
    """Looks at the clock after every few steps; the device has to be done with them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def on_step_end(self, args, state, control, **_):  # noqa: ARG002
        if state.global_step % 50 in (1, 0) or state.global_step == state.max_steps:
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            self._clock.at(state.global_step)


def trainer(folder: Path, count: int) -> float:
    """The rate of the Trainer."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2)
    examples = corpus(count).examples
    encoded = tokenizer(
        [example.sentence.text for example in examples], padding="max_length", truncation=True, max_length=LENGTH
    )
    rows = [
        {"input_ids": ids, "attention_mask": mask, "labels": int(example.labels[0])}
        for ids, mask, example in zip(encoded["input_ids"], encoded["attention_mask"], examples, strict=True)
    ]
    clock = Clock()
    with tempfile.TemporaryDirectory() as scratch:
        arguments = TrainingArguments(
            output_dir=scratch,
            per_device_train_batch_size=BATCH,
            num_train_epochs=1,
            learning_rate=5e-5,
            bf16=torch.cuda.is_available(),
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
        )
        Trainer(model=model, args=arguments, train_dataset=rows, callbacks=[_Report(clock)]).train()
    return clock.rate


def side_by_side(folder: Path, count: int, seeds: int) -> float:
    """The rates of several trainings at the same time, added up."""
    command = [sys.executable, __file__, "--folder", str(folder), "--sentences", str(count), "--seed"]
    started = [subprocess.Popen([*command, str(seed)], stdout=subprocess.PIPE, text=True) for seed in range(seeds)]
    return sum(float(process.communicate()[0].split()[-1]) for process in started)


def seconds_of(model: ModelConfig, training: TrainConfig, count: int) -> float:
    """How long a whole training takes."""
    examples = corpus(count)
    dev = Corpus(examples.label_names, examples.examples[: count // 16])
    start = monotonic()
    train(examples, dev, model=model, training=training)
    return monotonic() - start


def costs(folder: Path, count: int) -> list[dict[str, object]]:
    """What the recipe costs beside plain weighted soft attention."""
    model, training = PRESETS["paper"]
    layers = AutoConfig.from_pretrained(folder).num_hidden_layers
    plain = replace(model, encoder=str(folder), depth=layers)
    before = seconds_of(plain, replace(training, epochs=FEWEST_EPOCHS, patience=FEWEST_EPOCHS), count)
    recipe = ModelConfig(encoder=str(folder))
    rows = []
    for name, teachers in RECIPES.items():
        now = seconds_of(recipe, TrainConfig(epochs=3, teacher_epochs=4, teachers=teachers), count)
        rows.append(row(f"seconds, {name}; weighted soft attention, {FEWEST_EPOCHS} epochs", before, now, "≤ 3"))
    return rows


def main() -> None:
    """Measure, print, write the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tiny model and few sentences; nothing is written")
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--seeds", type=int, help="that are trained side by side")
    parser.add_argument("--out", type=Path, help="folder for the results")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    count = options.sentences or (160 if options.quick else 32_768)
    if options.seed is not None:
        print(ours(options.folder, count, LAYERS // 2, options.seed))
        return
    seeds = options.seeds or (1 if options.quick else 5)
    with tempfile.TemporaryDirectory() as scratch:
        folder = encoder_folder(Path(scratch), quick=options.quick)
        before = trainer(folder, count if options.quick else count // 8)
        rows = [
            row("training, sentences/s, batch 16, full depth", before, ours(folder, count, LAYERS, 1), "≥ 5"),
            row("training, sentences/s, batch 16, half depth", before, ours(folder, count, LAYERS // 2, 1)),
            row(
                f"training, sentences/s, {seeds} seeds side by side, half depth",
                before,
                side_by_side(folder, count, seeds),
            ),
            *costs(folder, count if options.quick else count // 4),
        ]
    if options.out or not options.quick:
        print(write_results("gpu_training", rows, folder=options.out))


if __name__ == "__main__":
    main()
