"""Numbers as they stand in the cells of tables."""

from __future__ import annotations

from zerotag.evaluation.significance import Summary
from zerotag.research.compare.experiment import Method

USES_WORD_LABELS = "†"
USES_WORD_LABELS_NOTE = f"{USES_WORD_LABELS} uses word labels, of the development set where it does not say which."
BY_T_TEST = "ᵗ"
BY_RANDOMISATION = "ʳ"
OTHER_DEVICE = "‡"
NOTHING = "–"


def flagged(method: Method, name: str = "") -> str:
    """The method's name, or another one for it, with a mark if it is not zero-shot."""
    name = name or method.name
    return f"{name} {USES_WORD_LABELS}" if method.uses_word_labels else name


def marked(method: Method, name: str = "") -> str:
    """The same, and which word labels it uses, if not only those that choose thresholds."""
    name = flagged(method, name)
    if not method.learns_word_labels:
        return name
    which = "training and development sets" if method.decides_by_word_labels else "training set"
    return f"{name} (of the {which})"


def shown(measure: str, summary: Summary) -> str:
    """The mean in the measure's unit, with the deviation where it says something."""
    match measure:
        case "word_threshold":
            return threshold(summary.mean)
        case "comprehensiveness" | "sufficiency":
            return f"{summary.mean:.3f}"
        case "epochs":
            return f"{summary.mean:.1f}"
        case "training_seconds":
            return f"{summary.mean / 60:.1f}"
        case "seconds_per_1000":
            return f"{summary.mean:.2f}"
        case "passes_per_1000":
            return f"{summary.mean:,.0f}"
    percent = f"{100 * summary.mean:.2f}"
    return percent if summary.std is None else f"{percent} ± {100 * summary.std:.2f}"


def published_number(measure: str, number: float | None) -> str:
    """A number as it was printed."""
    if number is None:
        return NOTHING
    return threshold(number) if measure == "word_threshold" else f"{number:.2f}"


def threshold(number: float) -> str:
    """To three places, and to two digits where these would all be 0."""
    return f"{number:.3f}" if number == 0 or abs(number) >= 0.0005 else f"{number:.2g}"


def p_value(p: float | None) -> str:
    """A p-value to three places."""
    if p is None:
        return NOTHING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def setting(value: object) -> str:
    """A setting as one would say it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else NOTHING if value is None else str(value)
