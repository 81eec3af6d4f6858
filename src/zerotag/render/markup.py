"""A labelled sentence as HTML: the markup and the style sheets that reports, notebooks and the page have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from itertools import repeat

from zerotag.render.pieces import pieces
from zerotag.render.scale import position
from zerotag.text.printable import encodable
from zerotag.types import Labelled, Rule, Word

STYLES = files(__package__).joinpath("styles")
HUES = 8  # as many as the style sheet has; more labels use them again
_SCORES_IN_TIP = 5


@dataclass(frozen=True, slots=True)
class Label:
    """A label as it is drawn; without its rule, the middle of the scale stands for its thresholds."""

    name: str
    hue: str
    rule: Rule | None = None

    def word_position(self, word: Word) -> float:
        """How strongly a word is shaded, from 0 to 1: from the middle on it has the label."""
        score = word.scores[self.name]
        if self.rule is not None:
            return position(score, self.rule.word_threshold)
        return max(0.5, min(1.0, score)) if self.name in word.labels else max(0.0, min(0.5, score))

    def margin(self, labelled: Labelled) -> float:
        """How far the score of a sentence lies above the threshold."""
        return labelled.scores[self.name] - (self.rule.sentence_threshold if self.rule is not None else 0.0)


def labels_of(names: Sequence[str], rules: Iterable[Rule | None] = repeat(None)) -> list[Label]:
    """The labels with their hues."""
    return [Label(name, f"k{index % HUES}", rule) for index, (name, rule) in enumerate(zip(names, rules, strict=False))]


def legend(labels: Sequence[Label]) -> str:
    """The scale of each label's shades, and where its thresholds are."""
    return f'<div class="legend">{"".join(map(_scale, labels))}</div>\n'


def _scale(label: Label) -> str:
    rule = label.rule
    top = "1" if rule is None or rule.word_threshold <= 1 else f"{rule.word_threshold:.2f}"
    scale = f'<b dir="auto">{escaped(label.name)}</b><span>0</span><i></i><span>{top}</span>'
    if rule is not None:
        words, sentences = rule.word_threshold, rule.sentence_threshold
        scale += f"<u>words from {words:.2f}</u><span>✓ sentences from {sentences:.2f}</span>"
    return f'<span class="{label.hue}">{scale}</span>'


def sentence(labelled: Labelled, labels: Sequence[Label], number: int) -> str:
    """A sentence: its number, its verdict, and its text with the words shaded."""
    tags = _tags(labelled) if len(labels) > 1 else {}
    text = "".join(
        escaped(piece) if word is None else _word(piece, word, tags.get(word.end, ""), labels)
        for piece, word in pieces(labelled)
    )
    return (
        f'<div class="sentence"><span class="number">{number:,}</span>{_verdict(labelled, labels)}'
        f'<p class="text" dir="auto" lang="">{text}</p></div>'
    )


def _tags(labelled: Labelled) -> dict[int, str]:
    """The label names to show after the last word of each span, by where that word ends."""
    tags: dict[int, str] = {}
    for span in labelled.spans:
        tags[span.end] = f"{tags[span.end]}, {span.label}" if span.end in tags else span.label
    return tags


def _word(text: str, word: Word, tag: str, labels: Sequence[Label]) -> str:
    by_strength = sorted(labels, key=lambda label: label.word_position(word), reverse=True)
    given = [label for label in by_strength if label.name in word.labels]
    shown = (given or by_strength)[0]
    element, yes = ("mark", " yes") if given else ("span", "")
    # Every word can be tapped or clicked for its score; the tab key visits only those that were given a label.
    tagged = f' data-tag="{escaped(tag)}"' if tag else ""
    return (
        f'<{element} class="word {shown.hue}{yes}" tabindex="{0 if given else -1}" data-tip="{_tip(word, labels)}"'
        f'{tagged} style="--strength: {shown.word_position(word):.2f};">{escaped(text)}</{element}>'
    )


def _verdict(labelled: Labelled, labels: Sequence[Label]) -> str:
    ordered = sorted(labels, key=lambda label: label.margin(labelled), reverse=True)
    given = [label for label in ordered if label.name in labelled.labels]
    rows = "".join(_verdict_row(label, labelled.scores[label.name], bool(given)) for label in given or ordered[:1])
    nearest = "".join(_nearest(label, labelled, len(labels) > 1) for label in given)
    return f'<div class="verdict">{rows}{nearest}</div>'


def _verdict_row(label: Label, score: float, positive: bool) -> str:
    bar, threshold = f"--strength: {_share(score):.3f};", ""
    if label.rule is not None:
        bar += f" --threshold: {_share(label.rule.sentence_threshold):.3f};"
        threshold = f'<span class="hidden">, threshold {label.rule.sentence_threshold:.2f}</span>'
    return (
        f'<p class="{label.hue}{" yes" if positive else ""}"><b>{escaped(label.name)}</b>'
        f'<span class="hidden">: {"yes" if positive else "no"}, score </span><span>{score:z.2f}</span>{threshold}'
        f'<i style="{bar}"></i></p>'
    )


def _nearest(label: Label, labelled: Labelled, several: bool) -> str:
    """Where a sentence has a label and none of its words: the word that came nearest."""
    if not labelled.words or any(label.name in word.labels for word in labelled.words):
        return ""
    best = max(labelled.words, key=lambda word: word.scores[label.name])
    what = f"nearest to {label.name}" if several else "nearest"
    text = f"{what}: “{labelled.text[best.start : best.end]}” {best.scores[label.name]:z.2f}"
    return f'<span class="nearest quiet" dir="auto">{escaped(text)}</span>'


def _share(number: float) -> float:
    return max(0.0, min(1.0, number))


def _tip(word: Word, labels: Sequence[Label]) -> str:
    ordered = sorted(labels, key=lambda label: word.scores[label.name], reverse=True)
    return escaped("\n".join(_score(label, word) for label in ordered[:_SCORES_IN_TIP]))


def _score(label: Label, word: Word) -> str:
    score = f"{word.scores[label.name]:z.3f} {label.name}"
    if label.rule is None:
        return score
    return f"{score} {'≥' if label.name in word.labels else '<'} {label.rule.word_threshold:.3f}"


def escaped(text: str) -> str:
    """Text for an element or an attribute; carriage returns and NUL would not survive the HTML parser."""
    return escape(encodable(text).replace("\0", "�")).replace("\r", "&#13;")


@cache
def style_sheets(*names: str) -> str:
    """Style sheets of `styles/`, one after the other."""
    return "\n".join(STYLES.joinpath(f"{name}.css").read_text(encoding="utf-8") for name in names)
