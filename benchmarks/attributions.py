"""Occlusion and gradients against captum: the same model, the same sentences, in turn.

    pip install captum==0.9.0                   # for this benchmark alone
    python benchmarks/attributions.py           # minutes on two cores
    python benchmarks/attributions.py --quick   # few sentences; without captum ours alone

Captum is used as somebody would who has read its manual: all words of a sentence are masked in one call, gradients are
taken of batches of 32 sentences, integrated gradients with as many steps as ours and 256 rows at once. Sentences are
those of the demonstration. Rates are sentences in a second of processor time; beside them is the ratio by the clock.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.resources import files
from importlib.util import find_spec
from statistics import median
from time import perf_counter, process_time

import numpy as np
import torch
from cpu_labelling import untrained
from results_file import command_line, row, write_results
from torch import Tensor

from zerotag.explain import create
from zerotag.labeller import WordLabeller
from zerotag.modeling.network import TensorBatch
from zerotag.text.alignment import Encoded, word_scores
from zerotag.text.segmentation import split
from zerotag.types import FloatArray, Sentence

BATCH, ROWS, STEPS = 32, 256, 32
METHODS = {"occlusion": "≥ 5", "gradient-x-input": "≥ 5", "integrated-gradients": None}
Explain = Callable[[Sequence[Sentence]], list[FloatArray]]


def sentences(count: int) -> list[Sentence]:
    """Sentences of the demonstration."""
    lines = files("zerotag.demo").joinpath("hedging.train.jsonl").read_text(encoding="utf-8").splitlines()
    return [split(json.loads(line)["text"]) for line in lines[:count]]


class Captum:
    """Captum's word scores of a labeller's first label."""

    def __init__(self, made: WordLabeller) -> None:
        self._made = made
        self._mask = made.tokenizer.mask_token_id
        self._vectors = made.network.encoder.get_input_embeddings()

    def explain(self, method: str) -> Explain:
        """A method as a function of sentences."""
        return {
            "occlusion": self._occlusion,
            "gradient-x-input": self._gradients,
            "integrated-gradients": self._integrated,
        }[method]

    def _occlusion(self, given: Sequence[Sentence]) -> list[FloatArray]:
        from captum.attr import FeatureAblation

        ablation = FeatureAblation(self._probability)
        found = []
        for encoded in self._made.aligner.encode(given):
            batch = self._batch([encoded])
            # Words that share a sub-word with no other are features; special sub-words are one that is never masked.
            features = torch.full_like(batch.input_ids, encoded.words)
            before = self._made.aligner.offset
            features[0, before + torch.from_numpy(encoded.pair_tokens)] = torch.from_numpy(encoded.pair_words)
            baseline = torch.where(batch.token_mask, self._mask, batch.input_ids)
            rows = ablation.attribute(
                batch.input_ids,
                baselines=baseline,
                feature_mask=features,
                additional_forward_args=(batch.attention_mask, batch.token_mask),
                perturbations_per_eval=encoded.words + 1,
            )
            first = np.zeros(encoded.words, np.int64)
            first[encoded.pair_words[::-1]] = encoded.pair_tokens[::-1]
            found.append(rows[0].numpy()[before + first])
        return found

    def _gradients(self, given: Sequence[Sentence]) -> list[FloatArray]:
        from captum.attr import InputXGradient

        return self._of_vectors(given, InputXGradient(self._logit).attribute)

    def _integrated(self, given: Sequence[Sentence]) -> list[FloatArray]:
        from captum.attr import IntegratedGradients

        method = IntegratedGradients(self._logit)

        def attribute(vectors: Tensor, additional_forward_args: tuple[Tensor, ...]) -> Tensor:
            _, own = additional_forward_args
            baseline = torch.where(own.unsqueeze(-1), self._vectors.weight[self._mask].detach(), vectors)
            found: Tensor = method.attribute(
                vectors,
                baselines=baseline,
                additional_forward_args=additional_forward_args,
                n_steps=STEPS,
                internal_batch_size=ROWS,
            )
            return found

        return self._of_vectors(given, attribute)

    def _of_vectors(self, given: Sequence[Sentence], attribute: Callable[..., Tensor]) -> list[FloatArray]:
        found: list[FloatArray] = []
        for start in range(0, len(given), BATCH):
            encoded = self._made.aligner.encode(given[start : start + BATCH])
            batch = self._batch(encoded)
            vectors = self._vectors(batch.input_ids).detach().requires_grad_()
            rows = attribute(vectors, additional_forward_args=(batch.attention_mask, batch.token_mask)).sum(dim=-1)
            before = self._made.aligner.offset
            for one, scores in zip(encoded, rows.detach().float().numpy(), strict=True):
                found.append(word_scores(one, scores[before : before + len(one), None])[:, 0])
        return found

    def _batch(self, encoded: Sequence[Encoded]) -> TensorBatch:
        return TensorBatch.of(self._made.aligner.batch(encoded), torch.device("cpu"))

    @torch.no_grad()
    def _probability(self, ids: Tensor, attention: Tensor, own: Tensor) -> Tensor:
        return torch.sigmoid(self._read(self._made.network.encoder(ids, attention_mask=attention), attention, own))

    def _logit(self, vectors: Tensor, attention: Tensor, own: Tensor) -> Tensor:
        encoded = self._made.network.encoder(inputs_embeds=vectors, attention_mask=attention)
        return self._read(encoded, attention, own)

    def _read(self, output: object, attention: Tensor, own: Tensor) -> Tensor:
        batch = TensorBatch(attention, attention, own, torch.arange(len(attention)), None)
        return self._made.network.read(output.last_hidden_state, batch).sentence_logits[:, 0]  # type: ignore[attr-defined]


def ours(made: WordLabeller, method: str) -> Explain:
    """The same by this package."""
    scorer = create(method, made)
    return lambda given: [scored.word_scores[:, 0] for scored in scorer.score(given)]


def compared(made: WordLabeller, method: str, given: Sequence[Sentence], rounds: int) -> dict[str, object]:
    """Both in turn."""
    runs: dict[str, Explain] = {"ours": ours(made, method)}
    if find_spec("captum") is not None:
        runs["captum"] = Captum(made).explain(method)
    cpu: dict[str, list[float]] = {name: [] for name in runs}
    wall: dict[str, list[float]] = {name: [] for name in runs}
    found: dict[str, list[FloatArray]] = {}
    for number in range(rounds + 1):
        for name, run in runs.items():
            start, used = perf_counter(), process_time()
            found[name] = run(given if number else given[:4])  # the first warms up
            if number:
                cpu[name].append(process_time() - used)
                wall[name].append(perf_counter() - start)
    rates = {name: len(given) / median(taken) for name, taken in cpu.items()}
    more: dict[str, object] = {}
    if "captum" in runs:
        pairs = [np.concatenate(found[name]) for name in ("ours", "captum")]
        more = {
            "wall_ratio": round(median(wall["captum"]) / median(wall["ours"]), 3),
            "correlation": round(float(np.corrcoef(*pairs)[0, 1]), 4),
        }
    what = f"sentences in a second of processor time, {method}, all-MiniLM-L6-v2, half depth, against captum"
    return row(what, rates.get("captum"), rates["ours"], METHODS[method], **more)


def main() -> None:
    """Measure, print, write the results."""
    parser = command_line(__doc__)
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--rounds", type=int)
    options = parser.parse_args()
    count, rounds = (4, 1) if options.quick else (options.sentences or 96, options.rounds or 5)
    made = untrained(1 if options.quick else 3)
    with torch.no_grad():
        for weight in made.network.head.parameters():
            weight.mul_(3)  # so that sentence scores depend on words
    rows = [compared(made, method, sentences(count), rounds) for method in METHODS]
    print(write_results("attributions", rows, folder=options.out))


if __name__ == "__main__":
    main()
