"""One run: a method on a corpus with a seed, from the trained model to the record of all that was measured."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from zerotag.evaluation.cost import Cost
from zerotag.evaluation.faithfulness import faithfulness
from zerotag.evaluation.metrics import average_precisions, word_counts
from zerotag.evaluation.report import Judged, evaluate, judge, report
from zerotag.explain import Scorer
from zerotag.labeller import WordLabeller
from zerotag.research.compare.corpora import Splits, sample
from zerotag.research.compare.experiment import SENTENCES_ONLY, Experiment, Run
from zerotag.research.compare.messages import Heartbeat
from zerotag.research.compare.method_rules import Decided, with_word_labels, without_word_labels
from zerotag.research.compare.record import ExampleRecord, Record, SentenceRecord
from zerotag.research.compare.scoring import score_all
from zerotag.research.compare.trainings import Trained
from zerotag.types import Corpus, GoldExample, Scored, Sentence


def carry_out(
    run: Run,
    experiment: Experiment,
    splits: Splits,
    trained: Trained | None,
    made: Mapping[str, Any],
    heartbeat: Heartbeat,
) -> Record:
    """Decide, score the test sentences and measure."""
    method, labeller = run.method, None if trained is None else trained.labeller
    heartbeat(f"{run}: beginning")
    decided = _decide(run, splits, labeller, heartbeat)
    indices = sample(len(splits.test), method.test_sentences)
    test = _part(splits.test, method.test_sentences)
    if method.scorer == SENTENCES_ONLY:
        test = _without_words(test)
    scored, cost = _score(decided.scorer, test, run, heartbeat)
    judged = judge(zip(test.examples, scored, strict=True), test.label_names, decided.rules)
    measured = report(judged)
    heartbeat(f"{run}: masking words")
    return Record(
        corpus=run.corpus,
        method=method.name,
        seed=run.seed,
        uses_word_labels=method.uses_word_labels,
        settings=experiment.settings(run),
        made=made,
        training=None if trained is None else trained.record,
        scorer=decided.scorer.name,
        test=(measured.without_sentence_measures() if labeller is None else measured).to_json(),
        faithfulness={} if labeller is None or method.scorer == SENTENCES_ONLY else faithfulness(labeller, scored),
        dev_words=_dev_words(run, decided, splits, heartbeat) if experiment.dev_word_measures else None,
        cost=cost,
        test_indices=None if len(indices) == len(splits.test) else indices,
        sentences={one.label: _sentencewise(one) for one in judged if one.gold_words},
        examples=[] if labeller is None else _examples(run, experiment, decided.scorer),
    )


def _decide(run: Run, splits: Splits, labeller: WordLabeller | None, heartbeat: Heartbeat) -> Decided:
    """The one place at which a method gets the development set: with word labels only if it says that it uses them."""
    if run.method.decides_by_word_labels:
        dev = _part(splits.dev_with_word_labels, run.method.dev_sentences)
        return with_word_labels(run.method, labeller, dev, run.seed, heartbeat)
    return without_word_labels(run.method, labeller, splits.dev, run.seed)


def _score(scorer: Scorer, test: Corpus[GoldExample], run: Run, heartbeat: Heartbeat) -> tuple[list[Scored], Cost]:
    passes, start = scorer.passes, time.perf_counter()
    scored = score_all(scorer, test, f"{run}, test set", heartbeat)
    return scored, Cost.of(time.perf_counter() - start, scorer.passes - passes, len(test))


def _dev_words(run: Run, decided: Decided, splits: Splits, heartbeat: Heartbeat) -> dict[str, float | None]:
    """For the record, now that everything is decided."""
    dev = _part(splits.dev_with_word_labels, run.method.dev_sentences)
    scored = score_all(decided.scorer, dev, f"{run}, development set", heartbeat)
    measures = evaluate(zip(dev.examples, scored, strict=True), dev.label_names, decided.rules).macro
    return {"word_f1": measures.word_f1, "map": measures.map}


def _examples(run: Run, experiment: Experiment, scorer: Scorer) -> list[ExampleRecord]:
    """What the first seed of a method that scores words says of the experiment's own sentences."""
    if run.seed != run.method.seeds[0] or run.method.scorer == SENTENCES_ONLY:
        return []
    examples = [example for example in experiment.examples if run.corpus in example.corpora]
    return [
        ExampleRecord(
            list(scored.sentence.words),
            [round(score, 6) for score in scored.sentence_scores],
            scored.word_scores.round(6).tolist(),
        )
        for scored in scorer.score(Sentence.from_words(example.words) for example in examples)
    ]


def _part(corpus: Corpus[GoldExample], limit: int | None) -> Corpus[GoldExample]:
    return replace(corpus, examples=tuple(corpus.examples[i] for i in sample(len(corpus), limit)))


def _without_words(corpus: Corpus[GoldExample]) -> Corpus[GoldExample]:
    return replace(corpus, examples=tuple(replace(example, word_labels=None) for example in corpus.examples))


def _sentencewise(judged: Judged) -> SentenceRecord:
    true_positives, false_positives, false_negatives = word_counts(judged.gold_words, judged.predicted_words).T.tolist()
    precisions = average_precisions(judged.gold_words, judged.word_scores)
    return SentenceRecord(
        true_positives,
        false_positives,
        false_negatives,
        average_precisions=precisions[~np.isnan(precisions)].round(4).tolist(),
    )
