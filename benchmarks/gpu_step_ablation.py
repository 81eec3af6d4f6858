"""What each part of a training step on a GPU is worth, against the Trainer of transformers as one would set it up.

    ZEROTAG_ENCODERS=FOLDER python benchmarks/gpu_step_ablation.py       # about 8 minutes on an H200
    python benchmarks/gpu_step_ablation.py --quick                       # a tiny model, anywhere: does it run?

Steps in bfloat16 under autocast; then also replayed as CUDA graphs; then computed by a bf16 copy of the weights
instead of autocast. Each at half and at full depth, with 16 and 32 sentences a step, over sentences as long as those of
FCE. (The committed results have a fourth part, AdamW in one pass over memory by a Triton kernel. It did not pay a tenth
and was deleted.)

The Trainer trains a sentence classifier on the same layers and sentences, with batches of like length padded to their
longest, bf16 and fused AdamW. We train soft attention, which scores words as well. Rates are of steps, from the first
report to the last, and medians over repetitions after a short one that is not counted.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from unittest.mock import patch

import torch
from gpu_training import Clock, corpus
from made_up import LAYERS, encoder_folder
from results_file import row, write_results
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from zerotag.config import ModelConfig
from zerotag.presets import PLAIN
from zerotag.training.recipe import Progress, train
from zerotag.training.steps import Speedups, Steps
from zerotag.types import Corpus

BATCHES = (16, 32)
LONGEST = 512  # sub-words, as ours
STEPS = {
    "autocast": Speedups(cuda_graph=False, bf16_copy=False),
    "+ CUDA graph": Speedups(cuda_graph=True, bf16_copy=False),
    "+ bf16 copy": Speedups(cuda_graph=True, bf16_copy=True),
}
WORTH = 1.1  # what does not make steps a tenth quicker is not worth its code


def ours(folder: Path, count: int, depth: int, batch: int, speedups: Speedups) -> float:
    """Sentences per second of our training."""
    clock = Clock(batch)

    def on_progress(progress: Progress) -> None:
        clock.at(progress.steps_done)

    examples = corpus(count)
    dev = Corpus(examples.label_names, examples.examples[:16])
    model, training = ModelConfig(encoder=str(folder), depth=depth), replace(PLAIN, epochs=1, batch_size=batch)
    with patch("zerotag.training.loop.Steps", partial(Steps, speedups=speedups)):
        train(examples, dev, model=model, training=training, on_progress=on_progress)
    return clock.rate


class _Report(TrainerCallback):
    """Looks at the clock after every few steps, when the device is done with them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def on_step_end(self, args, state, control, **_):  # noqa: ARG002
        if state.global_step % 25 == 1 or state.global_step == state.max_steps:
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            self._clock.at(state.global_step)


def trainer(folder: Path, count: int, depth: int, batch: int) -> float:
    """Sentences per second of the Trainer."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2, num_hidden_layers=depth)
    examples = corpus(count).examples
    encoded = tokenizer([one.sentence.text for one in examples], truncation=True, max_length=LONGEST)
    rows = [
        {"input_ids": ids, "attention_mask": mask, "labels": int(one.labels[0])}
        for ids, mask, one in zip(encoded["input_ids"], encoded["attention_mask"], examples, strict=True)
    ]
    clock = Clock(batch)
    with tempfile.TemporaryDirectory() as scratch:
        arguments = TrainingArguments(
            output_dir=scratch,
            per_device_train_batch_size=batch,
            num_train_epochs=1,
            learning_rate=5e-5,
            bf16=torch.cuda.is_available(),
            optim="adamw_torch_fused",
            train_sampling_strategy="group_by_length",
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
        )
        pad = DataCollatorWithPadding(tokenizer, pad_to_multiple_of=8)
        Trainer(model=model, args=arguments, train_dataset=rows, data_collator=pad, callbacks=[_Report(clock)]).train()
    return clock.rate


def rows_of(folder: Path, count: int, depth: int, batch: int, repetitions: int) -> list[dict[str, object]]:
    """The rates of the Trainer and of our steps, and what each part adds to the one before it."""
    where = f"{'full' if depth == LAYERS else 'half'} depth, batch {batch}"
    trainer(folder, 4 * batch, depth, batch)
    peer = median(trainer(folder, count, depth, batch) for _ in range(repetitions))
    rows, before = [], None
    for name, speedups in STEPS.items():
        ours(folder, 4 * batch, depth, batch, speedups)
        rate = median(ours(folder, count, depth, batch, speedups) for _ in range(repetitions))
        gain = {} if before is None else {"gain": round(rate / before, 3), "pays": rate / before >= WORTH}
        last = name == list(STEPS)[-1]
        rows.append(row(f"sentences/s, {where}, {name}", peer, rate, "≥ 2" if last else None, **gain))
        before = rate
    return rows


def main() -> None:
    """Measure, print, write the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tiny model and few sentences; nothing is written")
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--out", type=Path, help="folder for the results")
    options = parser.parse_args()
    count = options.sentences or (64 if options.quick else 4_096)
    repetitions = options.repetitions or (1 if options.quick else 3)
    with tempfile.TemporaryDirectory() as scratch:
        folder = encoder_folder(Path(scratch), quick=options.quick)
        settings = [(LAYERS, 16)] if options.quick else product((LAYERS // 2, LAYERS), BATCHES)
        rows = [one for depth, batch in settings for one in rows_of(folder, count, depth, batch, repetitions)]
    if options.out or not options.quick:
        print(write_results("gpu_step_ablation", rows, folder=options.out))


if __name__ == "__main__":
    main()
