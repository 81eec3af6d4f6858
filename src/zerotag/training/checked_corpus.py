"""What a training refuses: data that nothing can be learnt from, and anything that carries word labels."""

from __future__ import annotations

from zerotag.errors import ZerotagError
from zerotag.types import Corpus, Example

FEWEST_SENTENCES = 10
BOTH_NEEDED = "sentences of both kinds are needed"


def check_corpus(corpus: Corpus[Example], dev: Corpus[Example] | None) -> None:
    """Refuse data that nothing can be learnt from, and anything that carries word labels."""
    for part in (corpus, dev):
        if not isinstance(part, Corpus | None):
            raise TypeError(f"training takes a Corpus, as zerotag.read returns it, not {type(part).__name__}")
    for part in (corpus, dev):
        for example in part.examples if part is not None else ():
            _check_example(example)
    if len(corpus) < FEWEST_SENTENCES:
        raise ZerotagError(f"{len(corpus)} training sentences; at least {FEWEST_SENTENCES} are needed")
    if dev is not None:
        _check_dev(corpus, dev)
    _check_labels(corpus)


def _check_example(example: Example) -> None:
    if type(example) is not Example:
        raise TypeError(f"training takes Example, which has no word labels, not {type(example).__name__}")
    if not example.sentence.words:
        raise ZerotagError("a sentence without words cannot be trained on")


def _check_dev(corpus: Corpus[Example], dev: Corpus[Example]) -> None:
    if not dev.examples:
        raise ZerotagError("the development set is empty")
    if dev.label_names != corpus.label_names:
        raise ZerotagError(
            f"the development set has labels {', '.join(dev.label_names)}; training has {', '.join(corpus.label_names)}"
        )


def _check_labels(corpus: Corpus[Example]) -> None:
    for k, name in enumerate(corpus.label_names):
        positive = sum(example.labels[k] for example in corpus.examples)
        if positive in (0, len(corpus)):
            which = "every" if positive else "no"
            raise ZerotagError(f"only one class: {which} training sentence has the label {name!r}; {BOTH_NEEDED}")
    if not corpus.label_names:
        raise ZerotagError(f"only one class: no training sentence has a label; {BOTH_NEEDED}")
