"""LIME as we compute it against the `lime` package, and the model's own word scores against both.

    python benchmarks/explaining.py             # minutes on two cores, less on a GPU
    python benchmarks/explaining.py --quick     # few sentences and samples: does it run?

The same model, sentences and number of samples (5,000), all words as features. The package gets its probabilities in
batches, as people write it: masked texts go through the tokenizer of transformers and the network. Explanations are
compared twice: on the samples that the package drew, where weights have to be the same, and on samples of our own,
where they differ as LIME differs from seed to seed; beside it stands how much the package differs from itself.

With ZEROTAG_ENCODERS and a GPU the model has the shape of all-mpnet-base-v2 at half depth, else it is the packaged one.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median
from time import perf_counter

import numpy as np
import torch
from lime.lime_text import LimeTextExplainer
from made_up import LAYERS, labeller, texts
from results_file import row, write_results

from zerotag.explain import create
from zerotag.explain.adaptive_lime import ERROR, AdaptiveLimeScorer
from zerotag.explain.lime import LimeScorer, linear_weights
from zerotag.explain.masking import Masker, Versions
from zerotag.inference.devices import best_device, precision
from zerotag.labeller import WordLabeller
from zerotag.modeling.network import TensorBatch
from zerotag.types import FloatArray, Sentence

BATCH = 256  # masked texts, as the package's users give them to a network


class Package:
    """The package's explanations of a labeller."""

    def __init__(self, made: WordLabeller, samples: int, device: torch.device) -> None:
        self._made = made
        self._samples = samples
        self._device = device
        self.texts: list[str] = []  # of the last explanation

    def explain(self, words: Sequence[str], seed: int) -> FloatArray:
        """A weight for each word."""
        explainer = LimeTextExplainer(
            bow=False,
            split_expression=str.split,
            mask_string=self._made.tokenizer.mask_token,
            feature_selection="none",
            random_state=seed,
        )
        found = explainer.explain_instance(
            " ".join(words), self._classify, num_features=len(words), num_samples=self._samples
        )
        return np.array([weight for _, weight in sorted(found.as_map()[1])], np.float32)

    def _classify(self, masked: list[str]) -> FloatArray:
        self.texts = masked
        positive = np.concatenate([self._probabilities(masked[i : i + BATCH]) for i in range(0, len(masked), BATCH)])
        return np.stack([1 - positive, positive], axis=1)

    @torch.inference_mode()
    def _probabilities(self, masked: list[str]) -> FloatArray:
        tokens = self._made.tokenizer(masked, padding=True, return_special_tokens_mask=True, return_tensors="pt")
        tokens = tokens.to(self._device)
        batch = TensorBatch(
            tokens.input_ids,
            tokens.attention_mask,
            tokens.special_tokens_mask == 0,
            torch.arange(len(masked), device=self._device),
            None,
        )
        with precision(self._device):
            logits = self._made.network(batch).sentence_logits[:, 0]
        scores: FloatArray = torch.sigmoid(logits.float()).cpu().numpy()
        return scores


def on_the_same_samples(made: WordLabeller, words: Sequence[str], masked: Sequence[str]) -> FloatArray:
    """Our weights for what the package drew."""
    mask = made.tokenizer.mask_token
    kept = np.array([[word != mask for word in text.split()] for text in masked])
    versions = Versions(Sentence.from_words(words), kept, np.ones(len(kept), np.int64))
    masker = Masker(made.network, made.aligner, made.tokenizer.mask_token_id)
    ((_, probabilities),) = masker.probabilities([versions])
    return linear_weights(kept, versions.times, probabilities)[:, 0]


def model(device: torch.device, *, quick: bool) -> tuple[str, WordLabeller]:
    """A labeller whose sentence scores depend on its words."""
    if device.type == "cuda":
        name, made = "all-mpnet-base-v2, half depth", labeller(LAYERS // 2, device, quick=quick)
    else:
        from cpu_labelling import untrained  # which needs more packages than a machine with a GPU may have

        name, made = "all-MiniLM-L6-v2, half depth", untrained(3)
    with torch.no_grad():
        for weight in made.network.head.parameters():
            weight.mul_(3)
    return name, made


def alike(some: FloatArray, others: FloatArray) -> float:
    """The correlation of two explanations."""
    return float(np.corrcoef(some, others)[0, 1])


def measure(made: WordLabeller, sentences: Sequence[Sequence[str]], options: argparse.Namespace) -> dict[str, float]:
    """Seconds per sentence, and how explanations compare."""
    device = best_device()
    package = Package(made, options.samples, device)
    mask = made.tokenizer.mask_token_id
    ours = LimeScorer(made.network, made.aligner, mask, samples=options.samples)
    adaptive = AdaptiveLimeScorer(made.network, made.aligner, mask, samples=options.samples)
    native = create("native", made)
    as_sentences = [Sentence.from_words(words) for words in sentences]
    package.explain(sentences[0], 0)
    list(ours.score(as_sentences[:1]))
    list(native.score(as_sentences))

    explained, taken, same, again = [], [], [], []
    for words in sentences:
        start = perf_counter()
        explained.append(package.explain(words, 0))
        taken.append(perf_counter() - start)
        same.append(float(np.abs(on_the_same_samples(made, words, package.texts) - explained[-1]).max()))
        again.append(alike(package.explain(words, 1), explained[-1]))
    rounds = []
    for _ in range(options.rounds):
        start = perf_counter()
        found = [scored.word_scores[:, 0] for scored in ours.score(as_sentences)]
        rounds.append((perf_counter() - start) / len(sentences))
    fewer = []
    for _ in range(options.rounds):
        start = perf_counter()
        close = [scored.word_scores[:, 0] for scored in adaptive.score(as_sentences)]
        fewer.append((perf_counter() - start) / len(sentences))
    many = as_sentences * options.repeats
    own = []
    for _ in range(options.rounds):
        start = perf_counter()
        list(native.score(many))
        own.append((perf_counter() - start) / len(many))
    return {
        "package": mean(taken),
        "ours": median(rounds),
        "adaptive": median(fewer),
        "native": median(own),
        "same": max(same),
        "alike": mean(alike(a, b) for a, b in zip(found, explained, strict=True)),
        "again": mean(again),
        "off": float(np.sqrt(np.mean(np.concatenate([a - b for a, b in zip(close, found, strict=True)]) ** 2))),
    }


def main() -> None:
    """Measure, print, write the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few sentences and samples; nothing is written")
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--samples", type=int)
    parser.add_argument("--out", type=Path, help="folder for the results")
    options = parser.parse_args()
    options.sentences = options.sentences or (2 if options.quick else 16)
    options.samples = options.samples or (60 if options.quick else 5_000)
    options.rounds, options.repeats = (1, 1) if options.quick else (3, 64)
    name, made = model(best_device(), quick=options.quick)
    sentences = [text.split() for text in texts(options.sentences * 4) if len(text.split()) > 4][: options.sentences]
    found = measure(made, sentences, options)
    print(f"weights on the same samples differ by at most {found['same']:.2e}; correlation of explanations:")
    print(f"  ours with the package's {found['alike']:.4f}, the package's with itself, reseeded {found['again']:.4f}")
    print(f"adaptive LIME differs from that with {options.samples:,} samples by {found['off']:.4f} in the square mean")
    agreement = {key: found[key] for key in ("same", "alike", "again")}
    rows = [
        row(
            f"LIME, {options.samples:,} samples, {name}: explanations/minute",
            60 / found["package"],
            60 / found["ours"],
            "≥ 30",
            agreement=agreement,
        ),
        row(
            f"adaptive LIME, standard errors of {ERROR} at most, {name}: explanations/minute",
            60 / found["package"],
            60 / found["adaptive"],
            off=found["off"],
        ),
        row(
            f"the model's own word scores, {name}: sentences/s, LIME against them",
            1 / found["ours"],
            1 / found["native"],
            "≥ 1000",
        ),
        row(
            f"the same against the `lime` package, {name}: sentences/s",
            1 / found["package"],
            1 / found["native"],
            "≥ 1000",
        ),
    ]
    if options.out or not options.quick:
        name = "explaining" if best_device().type == "cuda" else "explaining_cpu"
        print(write_results(name, rows, folder=options.out))


if __name__ == "__main__":
    main()
