"""What corrections make of a model: other word thresholds, measured on sentences that they were not chosen on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zerotag.decisions import decide_words
from zerotag.errors import ZerotagError
from zerotag.evaluation.metrics.classification import precision_recall_f1
from zerotag.io import read_corrected
from zerotag.text.segmentation import as_sentence
from zerotag.types import BoolArray, CorrectedExample, Rule, Scored

if TYPE_CHECKING:
    from zerotag.labeller import WordLabeller

FOLDS = 5
FEWEST = FOLDS
_TEXTS = 2_000  # on which the effect is shown
_SHOWN = 40  # words

Pair = tuple[CorrectedExample, Scored]


def improve(job: dict[str, Any], folder: Path, log: Callable[[str], None]) -> dict[str, Any]:
    """Tune a model by the job's corrections; gives what changed."""
    from zerotag.io.model_folder import copy_folder
    from zerotag.labeller import load
    from zerotag.render.model_card import write_model_card

    labeller: WordLabeller = load(Path(job["model"]))  # type: ignore[assignment]
    examples = read_corrected(folder / job["corrections"], label_names=labeller.label_names).examples
    if len(examples) < FEWEST:
        raise ZerotagError(f"{len(examples)} corrected sentences are too few; look at {FEWEST} or more first")
    log(f"{len(examples)} corrected sentences")
    pairs = [*zip(examples, labeller.score(example.sentence for example in examples), strict=True)]
    tuned = labeller.tune(examples)
    copy_folder(Path(job["model"]), Path(job["out"]), tuned.manifest, write_model_card)
    texts = [*islice(_texts(folder / job["texts"]), _TEXTS)]
    names = labeller.label_names
    return {
        "sentences": len(examples),
        "seen_before": bool(labeller.manifest.word_labels),  # then what follows is no honest measure
        "before": rates(pairs, lambda _: labeller.rules),
        "after": rates(pairs, lambda others: _tuned(labeller, others)),
        "thresholds": {
            name: [old.word_threshold, new.word_threshold]
            for name, old, new in zip(names, labeller.rules, tuned.rules, strict=True)
        },
        "changed": changed_words(labeller.score(map(as_sentence, texts)), names, labeller.rules, tuned.rules),
        "looked_at": len(texts),
    }


def rates(pairs: Sequence[Pair], rules_from: Callable[[Sequence[Pair]], Sequence[Rule]]) -> dict[str, float]:
    """Precision, recall and F1 of words, each sentence decided by rules that come from the other folds alone."""
    gold: list[BoolArray] = []
    decided: list[BoolArray] = []
    for fold in range(FOLDS):
        rules = rules_from([pair for number, pair in enumerate(pairs) if number % FOLDS != fold])
        for example, scored in pairs[fold::FOLDS]:
            decided.append(decide_words(scored.word_scores, rules).ravel())
            gold.append(np.array(example.word_labels, dtype=bool).ravel())
    found = precision_recall_f1(np.concatenate(gold), np.concatenate(decided))
    return {"precision": found.precision, "recall": found.recall, "f1": found.f1}


def changed_words(
    results: Any, names: Sequence[str], before: Sequence[Rule], after: Sequence[Rule]
) -> list[dict[str, Any]]:
    """The words that other rules mark or no longer mark, the most frequent first."""
    changes: Counter[tuple[str, str, bool]] = Counter()
    for scored in results:
        old, new = decide_words(scored.word_scores, before), decide_words(scored.word_scores, after)
        for word, label in zip(*np.nonzero(old != new), strict=True):
            changes[scored.sentence.words[word].lower(), names[label], bool(new[word, label])] += 1
    return [
        {"word": word, "label": label, "marked": marked, "count": count}
        for (word, label, marked), count in changes.most_common(_SHOWN)
    ]


def _tuned(labeller: WordLabeller, pairs: Sequence[Pair]) -> tuple[Rule, ...]:
    from zerotag.evaluation.tuning import tuned_rules

    return tuned_rules([*pairs], labeller.rules, labeller.manifest.calibration)


def _texts(path: Path) -> Any:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
