"""Which sentences to label next: those with words that the model is unsure of, and some that show what it misses.

Most are drawn from sentences that the model calls positive, since the words that matter are there: the more of their
words are likely to be decided wrongly, the likelier they are drawn. The others are drawn from the rest, evenly, which
keeps the threshold honest: whoever looks at doubtful words alone learns nothing of how often the model is sure and
wrong. Where sentence and words disagree, a sentence is as likely to be drawn as if one more word were doubtful.

How many of each, and that chances grow with the root of the doubt, was chosen on development sets of six corpora: the
most doubtful sentences alone are a worse choice than random ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zerotag.active.similarity import Seen
from zerotag.calibration import Calibration
from zerotag.decisions import decide, is_blank
from zerotag.errors import ZerotagError
from zerotag.text.segmentation import as_sentence
from zerotag.types import Labelled, Rule, Scored

if TYPE_CHECKING:
    from zerotag.labeller import Labeller
    from zerotag.text.segmentation import Text

POSITIVE_SHARE = 0.6  # of the suggestions, from sentences that the model calls positive
DOUBTFUL = 0.2  # a word is named as doubtful if it is decided wrongly at least so likely
WORDS_NAMED = 4


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A sentence to look at, as the model labels it, and why."""

    labelled: Labelled
    reason: str
    number: int
    """Its place in the pool, from 0."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    number: int
    scored: Scored
    positive: bool
    doubt: float
    reason: str


def suggest(labeller: Labeller, pool: Iterable[Text], *, n: int = 50, seed: int = 0) -> list[Suggestion]:
    """Choose the sentences whose words are most worth labelling.

    Args:
        labeller: the model that is to become better.
        pool: unlabelled texts, such as the training sentences.
        n: how many to choose; fewer come back if there are no more that differ.
        seed: of the draw; the same seed gives the same sentences.

    Returns:
        Suggestions, the ones with the most doubtful words first.

    Raises:
        ZerotagError: `n` is below 1, or there is no text with words.

    Example:
        >>> todo = zerotag.suggest(labeller, texts, n=20)  # doctest: +SKIP
        >>> corrected = [todo[0].labelled.corrected({3: "hedge"})]  # doctest: +SKIP
        >>> labeller = labeller.tune(corrected)  # doctest: +SKIP
    """
    if n < 1:
        raise ZerotagError(f"n is {n}; it must be 1 or more")
    sentences = [as_sentence(text, labeller.segment) for text in pool]
    candidates = [
        _candidate(number, scored, labeller)
        for number, scored in enumerate(labeller.score(sentences))
        if not is_blank(scored.sentence)
    ]
    if not candidates:
        raise ZerotagError("there is no text with words to choose from")
    chosen = _chosen(candidates, n, np.random.default_rng(seed))
    return [
        Suggestion(decide(one.scored, labeller.label_names, labeller.rules), one.reason, one.number)
        for one in sorted(chosen, key=lambda one: (-one.doubt, one.number))
    ]


def _chosen(candidates: Sequence[_Candidate], n: int, draw: np.random.Generator) -> list[_Candidate]:
    """Positive ones first, as many as they should be, then others; of near copies only one."""
    positive = _drawn([one for one in candidates if one.positive], draw, even=False)
    others = _drawn([one for one in candidates if not one.positive], draw, even=True)
    seen = Seen()
    wanted = round(POSITIVE_SHARE * n)
    chosen = [*_different(positive, seen, wanted)]
    chosen += _different(others, seen, n - len(chosen))
    chosen += _different(positive, seen, n - len(chosen))  # where there were not enough others
    return chosen


def _drawn(candidates: Sequence[_Candidate], draw: np.random.Generator, *, even: bool) -> Iterator[_Candidate]:
    """All of them in a random order, the doubtful ones likely to come early unless it is even."""
    # The largest of u ** (1 / weight) for uniform u: a weighted draw without replacement (Efraimidis & Spirakis 2006).
    keys = np.log(draw.random(len(candidates))) / (1.0 if even else np.sqrt([one.doubt for one in candidates]))
    return iter([candidates[i] for i in np.argsort(-keys, kind="stable").tolist()])


def _different(candidates: Iterator[_Candidate], seen: Seen, most: int) -> Iterator[_Candidate]:
    for _ in range(most):
        for one in candidates:
            if not seen.like(one.scored.sentence):
                seen.add(one.scored.sentence)
                yield one
                break


def _candidate(number: int, scored: Scored, labeller: Labeller) -> _Candidate:
    wrong = np.zeros(len(scored.sentence.words))
    disagreements: list[str] = []
    known = labeller.manifest.calibration or (Calibration(),) * len(labeller.label_names)
    for k, (name, rule, calibration) in enumerate(zip(labeller.label_names, labeller.rules, known, strict=True)):
        scores = scored.word_scores[:, k]
        probabilities = calibration.probabilities(scores)
        wrong = np.maximum(wrong, np.minimum(probabilities, 1 - probabilities))
        disagreements += _disagreement(scored, k, name, rule)
    positive = any(rule.sentence(score) for rule, score in zip(labeller.rules, scored.sentence_scores, strict=True))
    doubt = float(wrong.sum()) + len(disagreements)
    return _Candidate(number, scored, positive, max(doubt, 1e-6), _reason(scored, wrong, disagreements))


def _disagreement(scored: Scored, k: int, name: str, rule: Rule) -> Iterator[str]:
    """Whether the sentence has a label that none of its words has, or the other way round."""
    by_sentence = rule.sentence(scored.sentence_scores[k])
    words = np.flatnonzero(rule.words(scored.word_scores[:, k]))
    if by_sentence and not len(words):
        yield f"called {name}, but none of its words is"
    elif len(words) and not by_sentence:
        yield f"not called {name}, though {_named(scored, words.tolist())} would make it so"


def _reason(scored: Scored, wrong: np.ndarray[tuple[int], np.dtype[np.float64]], disagreements: Sequence[str]) -> str:
    doubtful = [i for i in np.argsort(-wrong, kind="stable").tolist() if wrong[i] >= DOUBTFUL]
    reasons = [*disagreements]
    if doubtful:
        reasons.append(f"unsure of {_named(scored, doubtful)}")
    return "; ".join(reasons) or "to check that nothing is missed where the model is sure"


def _named(scored: Scored, words: Sequence[int]) -> str:
    names = [repr(scored.sentence.words[i]) for i in words[:WORDS_NAMED]]
    return ", ".join(names) + (f" and {len(words) - WORDS_NAMED} more" if len(words) > WORDS_NAMED else "")
