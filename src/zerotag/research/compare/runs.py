"""One run: a method on a corpus with a seed, from the trained model to the record of all that was measured."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from zerotag.evaluation.cost import Cost
from zerotag.evaluation.faithfulness import faithfulness
from zerotag.evaluation.metrics import average_precisions, word_counts
from zerotag.evaluation.report import Judged, judge, report
from zerotag.explain import Scorer
from zerotag.labeller import WordLabeller
from zerotag.research.compare.corpora import Splits, sample
from zerotag.research.compare.experiment import Experiment, Run
from zerotag.research.compare.messages import Heartbeat
from zerotag.research.compare.method_rules import Decided, with_word_labels, without_word_labels
from zerotag.research.compare.provenance import moment, provenance
from zerotag.research.compare.record import ExampleRecord, Record, SentenceRecord, VerdictRecord
from zerotag.research.compare.score_summary import keep_scores, quantiles
from zerotag.research.compare.scoring import score_all
from zerotag.research.compare.trainings import Trained
from zerotag.types import Corpus, GoldExample, Scored, Sentence


def carry_out(
    run: Run,
    experiment: Experiment,
    splits: Splits,
    trained: Trained | None,
    side_by_side: int,
    work: Path,
    heartbeat: Heartbeat,
) -> Record:
    """Decide, score the test sentences and measure; scores of development sentences are kept in the folder `work`."""
    began = moment() if trained is None else trained.began
    method, labeller = run.method, None if trained is None else trained.labeller
    heartbeat(f"{run}: beginning")
    decided = _decide(run, splits, labeller, heartbeat)
    indices = sample(len(splits.test), method.test_sentences)
    test = _part(splits.test, method.test_sentences)
    if not method.scores_words:
        test = _without_words(test)
    scored, cost = _score(decided.scorer, test, run, heartbeat)
    judged = judge(zip(test.examples, scored, strict=True), test.label_names, decided.rules)
    measured = report(judged)
    dev = None
    if experiment.dev_word_measures:
        dev = _on_dev(run, decided, splits, work / "scores" / f"{run.name}.npz", heartbeat)
    heartbeat(f"{run}: masking words")
    faithful = {} if labeller is None or not method.scores_words else faithfulness(labeller, scored)
    return Record(
        corpus=run.corpus,
        method=method.name,
        seed=run.seed,
        uses_word_labels=method.uses_word_labels,
        settings=experiment.settings(run),
        made=provenance(side_by_side, began),
        training=None if trained is None else trained.record,
        scorer=decided.scorer.name,
        test=(measured.without_sentence_measures() if labeller is None else measured).to_json(),
        faithfulness=faithful,
        dev=None if dev is None else report(dev).to_json(),
        cost=cost,
        test_indices=None if len(indices) == len(splits.test) else indices,
        sentences={one.label: _sentencewise(one) for one in judged if one.gold_words},
        verdicts={} if labeller is None else {one.label: _verdicts(one) for one in judged},
        scores={part: quantiles(its) for part, its in (("test", judged), ("dev", dev)) if its and method.scores_words},
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


def _on_dev(run: Run, decided: Decided, splits: Splits, kept: Path, heartbeat: Heartbeat) -> tuple[Judged, ...]:
    """For the record, now that everything is decided."""
    dev = _part(splits.dev_with_word_labels, run.method.dev_sentences)
    scored = score_all(decided.scorer, dev, f"{run}, development set", heartbeat)
    if run.method.scores_words:
        keep_scores(kept, scored)
    return judge(zip(dev.examples, scored, strict=True), dev.label_names, decided.rules)


def _verdicts(judged: Judged) -> VerdictRecord:
    def bits(answers: Iterable[bool]) -> str:
        return "".join("01"[answer] for answer in answers)

    return VerdictRecord(bits(judged.gold_sentences), bits(judged.predicted_sentences))


def _examples(run: Run, experiment: Experiment, scorer: Scorer) -> list[ExampleRecord]:
    """What the first seed of a method that scores words says of the experiment's own sentences."""
    if run.seed != run.method.seeds[0] or not run.method.scores_words:
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
