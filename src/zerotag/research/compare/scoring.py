"""Scorers at work on a corpus, and the sentence classifier as a scorer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict

import numpy as np

from zerotag.evaluation.report import evaluate
from zerotag.explain import Scorer
from zerotag.inference.predictor import stream
from zerotag.labeller import WordLabeller
from zerotag.research.compare.messages import Heartbeat
from zerotag.types import Corpus, Example, GoldExample, Scored, Sentence


def score_all(scorer: Scorer, corpus: Corpus[GoldExample], doing: str, heartbeat: Heartbeat) -> list[Scored]:
    """The scores of all sentences; `doing` says of what this is a part."""
    scored = []
    for one in scorer.score(example.sentence for example in corpus.examples):
        scored.append(one)
        heartbeat(f"{doing}: {len(scored):,} of {len(corpus):,} sentences")
    return scored


class SentenceScorer:
    """What a labeller says of sentences, and nothing of words: each scores 0."""

    name = "none"

    def __init__(self, labeller: WordLabeller) -> None:
        self._labeller = labeller
        self.passes = 0

    def score(self, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        """Scores of each sentence, in the order they come."""
        aligner = self._labeller.aligner
        for sentence, encoded, prediction in stream(self._labeller.predictor, aligner, sentences):
            self.passes += aligner.cost(encoded)[0]
            scores = tuple(prediction.sentence_scores.tolist())
            yield Scored(sentence, scores, np.zeros((len(sentence.words), len(scores)), np.float32))


def sentence_measures(labeller: WordLabeller, corpus: Corpus[Example]) -> dict[str, float | None]:
    """Precision, recall and F1 on sentences, averaged over labels."""
    gold = (GoldExample(example.sentence, example.labels, None) for example in corpus.examples)
    scored = SentenceScorer(labeller).score(example.sentence for example in corpus.examples)
    report = evaluate(zip(gold, scored, strict=True), labeller.label_names, labeller.rules)
    return {name: value for name, value in asdict(report.macro).items() if name.startswith("sentence_")}
