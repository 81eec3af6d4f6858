from collections.abc import Iterable, Iterator

import numpy as np
import pytest

import tiny
from zerotag.evaluation.report import evaluate
from zerotag.explain import create
from zerotag.research.compare import method_rules
from zerotag.research.compare.experiment import Method, Threshold
from zerotag.research.compare.method_rules import with_word_labels, without_word_labels
from zerotag.research.compare.scoring import SentenceScorer, sentence_measures
from zerotag.types import Corpus, GoldExample, Rule, Scored, Sentence


def method(scorer: str, threshold: Threshold = "fixed") -> Method:
    return Method("M", "t", scorer, threshold, (1,), None, None, "M", False, "", False)


def gold(count: int = 12) -> Corpus[GoldExample]:
    examples = tuple(
        GoldExample(Sentence.from_words(words), (any(flags),), tuple((flag,) for flag in flags))
        for words, flags in tiny.sentences(count)
    )
    return Corpus(("hedge",), examples)


def nothing(_: str) -> None:
    pass


class Oracle:
    """Cues score 0.3, other words 0.2."""

    name = "oracle"
    passes = 0

    def score(self, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        for sentence in sentences:
            scores = [[0.3 if word in tiny.CUES else 0.2] for word in sentence.words]
            yield Scored(sentence, (0.9,), np.array(scores, np.float32))


def test_without_word_labels_the_threshold_is_fixed() -> None:
    scorer, rules = without_word_labels(method("native"), tiny.labeller(), tiny.corpus(), 1)
    assert (scorer.name, rules) == ("native", (Rule(0.5, 0.5, "fixed"),))


def test_random_needs_no_model() -> None:
    first, second, other = (
        without_word_labels(method("random"), None, tiny.corpus(), seed).scorer for seed in (1, 1, 2)
    )
    sentence = [Sentence.from_words(["a", "valve"])]
    scores = [next(iter(one.score(sentence))).word_scores.tolist() for one in (first, second, other)]
    assert scores[0] == scores[1] != scores[2]


def test_threshold_with_the_best_word_f1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method_rules, "create", lambda *_, **__: Oracle())
    _, (rule,) = with_word_labels(method("occlusion", "dev-word-f1"), tiny.labeller(), gold(), 1, nothing)
    assert rule.word_threshold == pytest.approx(0.3)
    assert (rule.sentence_threshold, rule.origin) == (0.5, "word labels of the development set")


def test_a_model_keeps_its_own_threshold_for_sentences() -> None:
    labeller = tiny.labeller().with_rules([Rule(word_threshold=0.9, sentence_threshold=0.3)])
    _, (rule,) = with_word_labels(method("native", "dev-word-f1"), labeller, gold(), 1, nothing)
    assert rule.sentence_threshold == 0.3
    assert rule.word_threshold != 0.9


def test_head_with_the_best_map() -> None:
    labeller, dev = tiny.labeller().with_rules([Rule(0.9, 0.3, "sentence labels")]), gold()
    scorer, (rule,) = with_word_labels(method("heads"), labeller, dev, 1, nothing)
    qualities = {}
    for name in [f"heads:{layer}.{head}" for layer in (1, 2) for head in (1, 2, 3, 4)]:
        scored = create(name, labeller).score(example.sentence for example in dev.examples)
        report = evaluate(zip(dev.examples, scored, strict=True), dev.label_names, [Rule()])
        qualities[name] = report.macro.map or 0.0
    assert len(set(qualities.values())) > 1
    assert qualities[scorer.name] == max(qualities.values())
    assert (rule.word_threshold, rule.sentence_threshold) == (0.5, 0.3)  # sentences are judged by the model


def test_sentence_scorer_says_nothing_of_words() -> None:
    labeller = tiny.labeller()
    sentences = [example.sentence for example in gold().examples]
    scorer = SentenceScorer(labeller)
    found = list(scorer.score(sentences))
    assert [one.sentence_scores for one in found] == [one.sentence_scores for one in labeller.score(sentences)]
    assert not any(one.word_scores.any() for one in found)
    assert scorer.passes == len(sentences)


def test_sentence_measures() -> None:
    """A labeller for which everything is positive: half of the sentences are."""
    labeller = tiny.labeller().with_rules([Rule(sentence_threshold=0.0)])
    assert sentence_measures(labeller, tiny.corpus(12)) == pytest.approx(
        {"sentence_precision": 0.5, "sentence_recall": 1.0, "sentence_f1": 2 / 3}
    )
