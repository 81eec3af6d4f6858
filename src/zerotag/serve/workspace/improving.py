"""What corrections make of a model: other thresholds, or another last layer, whichever does better on held-out ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from zerotag.decisions import decide_words
from zerotag.errors import ZerotagError
from zerotag.evaluation.metrics.classification import precision_recall_f1
from zerotag.io import read_corrected
from zerotag.io.model_folder import NETWORK, THRESHOLDS, copy_folder
from zerotag.labeller import Labeller, WordLabeller
from zerotag.text.segmentation import as_sentence
from zerotag.types import BoolArray, CorrectedExample, Scored, Sentence

FOLDS = 5
FEWEST = FOLDS
_TEXTS = 2_000  # on which the effect is shown
_SHOWN = 40  # words

Way = Callable[[Sequence[CorrectedExample]], Labeller]
"""What makes a labeller of corrected sentences."""


def improve(
    job: dict[str, Any], folder: Path, log: Callable[[str], None], on_fold: Callable[[int, int], None]
) -> dict[str, Any]:
    """Write what a model becomes by the job's corrections; gives how it was chosen, and what changed.

    Where no way does better than the model as it is, nothing is written, and `way` is None.
    """
    from zerotag.labeller import load

    labeller = load(Path(job["model"]))
    examples = read_corrected(folder / job["corrections"], label_names=labeller.label_names).examples
    if len(examples) < FEWEST:
        raise ZerotagError(f"{len(examples)} corrected sentences are too few; look at {FEWEST} or more first")
    if not _has_positive_words(examples):
        raise ZerotagError("no word is marked in what you looked at: mark some in sentences that have the label")
    log(f"{len(examples)} corrected sentences")
    ways = ways_of(labeller)
    before = measured(examples, labeller)
    after = {}
    for number, (name, way) in enumerate(ways.items()):
        on_fold(number, len(ways))
        after[name] = measured(examples, labeller, way)
        log(f"{name}: word F1 {100 * before['f1']:.1f} -> {100 * after[name]['f1']:.1f}, cross-validated")
    chosen = max(after, key=lambda name: after[name]["f1"])  # of equal ones the first, which changes less
    found = {
        "sentences": len(examples),
        "seen_before": bool(labeller.manifest.word_labels),  # then what follows is no honest measure
        "before": before,
        "after": after,
    }
    if after[chosen]["f1"] <= before["f1"]:
        return {**found, "way": None}
    improved = ways[chosen](examples)
    _save(improved, chosen, Path(job["model"]), Path(job["out"]))
    texts = [as_sentence(text) for text in islice(_texts(folder / job["texts"]), _TEXTS)]
    return {
        **found,
        "way": chosen,
        "thresholds": {
            name: [old.word_threshold, new.word_threshold]
            for name, old, new in zip(labeller.label_names, labeller.rules, improved.rules, strict=True)
        },
        "changed": changed_words(texts, labeller, improved),
        "looked_at": len(texts),
    }


def ways_of(labeller: Labeller) -> dict[str, Way]:
    """How a model can learn from corrections: by its thresholds and, if it can, by its word scorer's last layer."""
    from zerotag.modeling.heads import SoftAttention

    ways: dict[str, Way] = {THRESHOLDS: labeller.tune}
    if isinstance(labeller, WordLabeller) and isinstance(labeller.network.head, SoftAttention):
        ways[NETWORK] = labeller.update
    return ways


def measured(examples: Sequence[CorrectedExample], labeller: Labeller, way: Way | None = None) -> dict[str, float]:
    """Precision, recall and F1 of words, each sentence decided by a labeller that learnt from the other folds alone.

    Where those have no positive word there is nothing to learn, and without a way nothing is learnt.
    """
    gold: list[BoolArray] = []
    decided: list[BoolArray] = []
    for fold in range(FOLDS):
        others, held_out = [one for i, one in enumerate(examples) if i % FOLDS != fold], examples[fold::FOLDS]
        taught = labeller if way is None or not _has_positive_words(others) else way(others)
        for example, scored in zip(held_out, taught.score(one.sentence for one in held_out), strict=True):
            decided.append(decide_words(scored.word_scores, taught.rules).ravel())
            gold.append(np.array(example.word_labels, dtype=bool).ravel())
    found = precision_recall_f1(np.concatenate(gold), np.concatenate(decided))
    return {"precision": found.precision, "recall": found.recall, "f1": found.f1}


def _has_positive_words(examples: Sequence[CorrectedExample]) -> bool:
    return any(any(word) for one in examples for word in one.word_labels)


def changed_words(sentences: Sequence[Sentence], before: Labeller, after: Labeller) -> list[dict[str, Any]]:
    """The words that one labeller marks and the other does not, the most frequent first."""
    changes: Counter[tuple[str, str, bool]] = Counter()
    pairs: Iterable[tuple[Scored, Scored]] = zip(before.score(sentences), after.score(sentences), strict=True)
    for old_scores, new_scores in pairs:
        old = decide_words(old_scores.word_scores, before.rules)
        new = decide_words(new_scores.word_scores, after.rules)
        for word, label in zip(*np.nonzero(old != new), strict=True):
            name = old_scores.sentence.words[word].lower()
            changes[name, before.label_names[label], bool(new[word, label])] += 1
    return [
        {"word": word, "label": label, "marked": marked, "count": count}
        for (word, label, marked), count in changes.most_common(_SHOWN)
    ]


def _save(improved: Labeller, way: str, source: Path, out: Path) -> None:
    from zerotag.render.model_card import write_model_card

    if way == NETWORK and isinstance(improved, WordLabeller):
        improved.save_pretrained(out)
    else:  # the weights are the same, whatever the format they are in
        copy_folder(source, out, improved.manifest, write_model_card)


def _texts(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
