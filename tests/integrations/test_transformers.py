"""Model folders in transformers: the Auto classes and pipelines label the words that a labeller labels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline

import tiny
import zerotag.integrations.transformers
from zerotag.config import ModelConfig
from zerotag.labeller import WordLabeller
from zerotag.types import Labelled, Rule

TEXTS = [" ".join(words) for words, _ in tiny.sentences(12)]
FAMILIES = [
    family for family in tiny.FAMILIES if family != "modernbert"
]  # the tiny one has layers that it does not use


def save(folder: Path, family: str, labels: tuple[str, ...]) -> WordLabeller:
    """A model whose thresholds lie between the scores of words, and not at one half."""
    labeller = tiny.labeller(family, labels=labels)
    results = labeller.label(TEXTS)

    def rule(label: str) -> Rule:
        scores = sorted(word.scores[label] for result in results for word in result.words)
        middle = np.mean(scores[-len(scores) // 3 :][:2])
        return Rule(word_threshold=float(middle))

    labeller = labeller.with_rules([rule(label) for label in labels])
    labeller.save_pretrained(folder)
    return labeller


def overlapped(result: Labelled, found: Any) -> list[str | None]:
    """The label that the pipeline gave to each word."""
    names: list[str | None] = []
    for word in result.words:
        over = {
            one.get("entity", one.get("entity_group"))
            for one in found
            if one["start"] < word.end and word.start < one["end"]
        }
        assert len(over) <= 1
        names.append(next(iter(over), None))
    return names


@pytest.mark.parametrize("family", FAMILIES)
def test_a_pipeline_labels_the_same_words(tmp_path: Path, family: str) -> None:
    labeller = save(tmp_path / "model", family, ("hedge",))
    by_piece = pipeline("token-classification", str(tmp_path / "model"))
    spans_of: Any = pipeline("token-classification", str(tmp_path / "model"), aggregation_strategy="simple")
    labelled = 0
    for result, pieces, spans in zip(labeller.label(TEXTS), by_piece(TEXTS), spans_of(TEXTS), strict=True):
        assert overlapped(result, pieces) == overlapped(result, spans) == [word.label for word in result.words]
        # Offsets are those of spans, but for the space that some tokenizers count as part of a word.
        found = [result.text[one["start"] : one["end"]].strip() for one in spans]
        assert found == [span.text for span in result.spans]
        labelled += len(spans)
    assert labelled


def test_of_several_labels_the_strongest_around_its_threshold(tmp_path: Path) -> None:
    labels = ("hedge", "fault", "wet")
    labeller = save(tmp_path / "model", "bert", labels)
    pipe = pipeline("token-classification", str(tmp_path / "model"))
    rules = dict(zip(labels, labeller.rules, strict=True))

    def strongest(scores: dict[str, float]) -> str | None:
        def above(name: str) -> float:
            score, threshold = scores[name], rules[name].word_threshold
            return float(np.log(score / (1 - score)) - np.log(threshold / (1 - threshold)))

        return max(scores, key=above) if above(max(scores, key=above)) >= 0 else None

    for result, found in zip(labeller.label(TEXTS), pipe(TEXTS), strict=True):
        assert overlapped(result, found) == [strongest(word.scores) for word in result.words]


def test_what_it_says_of_a_batch_it_says_of_each(tmp_path: Path) -> None:
    save(tmp_path / "model", "bert", ("hedge",))
    pipe = pipeline("token-classification", str(tmp_path / "model"))
    alone, together = [pipe(text) for text in TEXTS], pipe(TEXTS, batch_size=4)
    assert [[one["index"] for one in found] for found in alone] == [
        [one["index"] for one in found] for found in together
    ]


def test_the_auto_classes(tmp_path: Path) -> None:
    save(tmp_path / "model", "bert", ("hedge", "fault"))
    model = AutoModelForTokenClassification.from_pretrained(tmp_path / "model")
    assert isinstance(model, zerotag.integrations.transformers.ZerotagForTokenClassification)
    assert model.config.id2label == {0: "O", 1: "hedge", 2: "fault"}
    assert model.config.label2id == {"O": 0, "hedge": 1, "fault": 2}
    inputs = AutoTokenizer.from_pretrained(tmp_path / "model")(TEXTS[0], return_tensors="pt")
    logits = model(**inputs).logits
    assert logits.shape == (1, inputs["input_ids"].shape[1], 3)
    assert (logits[..., 0] == 0).all()


def test_a_text_that_is_too_long_is_refused_and_not_cut(tmp_path: Path) -> None:
    save(tmp_path / "model", "bert", ("hedge",))
    pipe = pipeline("token-classification", str(tmp_path / "model"))
    with pytest.raises(
        ValueError, match=r"this model reads 32 at once in transformers: zerotag.load\(.*takes texts of any"
    ):
        pipe(" ".join(TEXTS))


def test_a_classifier_and_a_damaged_folder_are_refused(tmp_path: Path) -> None:
    tiny.labeller(config=ModelConfig(encoder="tiny", depth=2, window=32, head="cls")).save_pretrained(tmp_path / "cls")
    with pytest.raises(ValueError, match="is a plain sentence classifier"):
        pipeline("token-classification", str(tmp_path / "cls"))
    save(tmp_path / "model", "bert", ("hedge",))
    weights = tmp_path / "model" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\0")
    with pytest.raises(Exception, match="is not what was written there"):
        pipeline("token-classification", str(tmp_path / "model"))


def test_without_the_import_a_folder_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "model", "bert", ("hedge",))
    program = (
        "import sys, zerotag; from transformers import AutoConfig\n"
        "try: AutoConfig.from_pretrained(sys.argv[1])\n"
        "except ValueError as error: print('zerotag' in str(error))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "model"], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "True\n"
