"""What makes a training doubtful, in plain words and with what to do about it: in its data, and in what came of it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from zerotag.config import TrainConfig
from zerotag.errors import ZerotagError
from zerotag.io.model_folder import F1, LEXICAL_F1, Manifest
from zerotag.text.printable import one_line
from zerotag.training.split import split
from zerotag.types import Corpus, Example

FEW_SENTENCES = 100
FEW_OF_A_LABEL = 20
FEW_IN = 5  # or this part of all sentences, where these are few themselves
FEW_TO_DECIDE_BY = 10
RARE = 0.03
NAMES_SHOWN = 3
HALF_A_PERCENT = 0.005  # of F1, which is nothing on a few hundred sentences


def about_data(corpus: Corpus[Example], dev: Corpus[Example] | None, training: TrainConfig) -> Iterator[str]:
    """Too few sentences, or too few of a kind; of those, too, that would be split off for development."""
    if len(corpus) < FEW_SENTENCES:
        yield f"{len(corpus)} sentences are few: words will be found less surely than with some hundreds"
    yield from _about_labels(corpus)
    if dev is None:
        if len(corpus) < FEW_SENTENCES:  # which says it all
            return
        try:
            dev = split(corpus, training.dev_share, training.seed)[1]
        except ZerotagError:  # which the training itself tells
            return
    yield from _about_development_sentences(dev)


def _about_labels(corpus: Corpus[Example]) -> Iterator[str]:
    """Those which few sentences have, or lack."""
    size, counts = len(corpus), _counts(corpus)
    enough = min(FEW_OF_A_LABEL, size // FEW_IN)
    few = [(name, count) for name, count in counts.items() if count < enough]
    if len(few) > NAMES_SHOWN:
        some = ", ".join(f"{one_line(name)!r} ({count})" for name, count in few[:NAMES_SHOWN])
        yield (
            f"{len(few)} of {len(counts)} labels have fewer than {enough} sentences each, such as {some}: too few to "
            "find their words by; merge labels, leave some out, or give more sentences"
        )
        return
    for name, count in counts.items():
        if count < enough or (count < RARE * size and len(counts) <= NAMES_SHOWN):
            yield f"{one_line(name)!r} is rare: {count:,} of {size:,} sentences have it; add some that do"
        elif (without := size - count) < max(enough, RARE * size):
            yield (
                f"{one_line(name)!r} is nearly everywhere: {without:,} of {size:,} sentences are without it, and only "
                "they tell which words do not count; add some"
            )


def _about_development_sentences(dev: Corpus[Example]) -> Iterator[str]:
    """Too few of a kind to choose epochs and thresholds by."""
    few: list[str] = []
    for name, count in _counts(dev).items():
        fewer, kind = min((count, "with"), (len(dev) - count, "without"))
        if 0 < fewer < FEW_TO_DECIDE_BY:  # with none, no threshold is chosen, which is said at the end
            few.append(f"{fewer} {kind} {one_line(name)!r}")
    if few:
        more = f", and {len(few) - NAMES_SHOWN} other labels" if len(few) > NAMES_SHOWN else ""
        yield (
            f"of {len(dev):,} development sentences only {', '.join(few[:NAMES_SHOWN])}{more}: epoch and thresholds "
            "are chosen by so few; give more sentences"
        )


def about_model(manifest: Manifest) -> Iterator[str]:
    """Thresholds that are guesses, and sentences that are told no better than by chance."""
    if not manifest.training.calibrated or not manifest.model.scores_words:
        return
    for name, rule, calibration in zip(manifest.label_names, manifest.rules, manifest.calibration, strict=True):
        label = f"label {one_line(name)!r}"
        if calibration.positive in (0, 1):
            yield (
                f"{label}: its thresholds are 0.5, as the development sentences all have it or all lack it; "
                "give more sentences, or some of both kinds with --dev"
            )
        elif calibration.is_a_guess:
            yield (
                f"{label}: its word threshold {rule.word_threshold:.2g} is a guess: sentence labels would agree with "
                f"anything from {calibration.lowest:.2g}, which marks {_percent(calibration.most)} of the words, to "
                f"{calibration.highest:.2g}, which marks {_percent(calibration.fewest)}; look at some and move it, or "
                "label the words of some sentences for `zerotag tune`"
            )
    yield from _about_f1(manifest)


def _about_f1(manifest: Manifest) -> Iterator[str]:
    """Where chance or the lexical baseline do as well: to call every sentence positive has an F1, too."""
    shares = [one.positive for one in manifest.calibration]
    if not all(0 < share < 1 for share in shares):
        return
    f1, lexical = manifest.scores[F1], manifest.scores.get(LEXICAL_F1, 0.0)
    standard_error = math.sqrt(lexical * (1 - lexical) / max(1.0, sum(shares) * manifest.sentences["dev"]))
    if lexical > f1 + standard_error:
        yield (
            f"the words of a sentence by themselves tell its labels better (dev F1 {100 * lexical:.1f}, this model "
            f"{100 * f1:.1f}): train with --preset lexical, or with an encoder that knows such text"
        )
    of_all = sum(2 * share / (1 + share) for share in shares) / max(len(shares), 1)
    if f1 <= of_all + HALF_A_PERCENT:
        yield (
            f"sentences are told no better than by chance (dev F1 {100 * f1:.1f}; {100 * of_all:.1f} if every one had "
            "the label), so its words mean nothing: check the labels, give more sentences, or take a larger encoder"
        )


def _percent(share: float | None) -> str:
    return f"{100 * (share or 0):.2g} %"


def _counts(corpus: Corpus[Example]) -> dict[str, int]:
    return {name: sum(one.labels[k] for one in corpus.examples) for k, name in enumerate(corpus.label_names)}
