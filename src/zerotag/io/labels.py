"""What the label cells of a file mean: for each, a set of label names."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.problems import listed, shown
from zerotag.io.rows import Cell

_NEGATIVE_NAMES = ("O", "c")
_NEGATIVE_WORDS = ("false", "no")
_POSITIVE_WORDS = ("true", "yes")
_TAG = re.compile("[BIESLU]-.+")  # where an entity begins, goes on, ends, or stands alone
_SEVERAL = "|"  # between the names in a cell of several labels


class LabelScheme:
    """Reads label cells and remembers which labels there are and how "no label" was written.

    0, `false`, `no`, `O` and `c` (or 0 and the values the user gave) mean no label; 1, `true` and `yes` mean the
    label that the column is named after; anything else is itself the name of a label, or several with `|` between.
    Where the numbers of classes have names, a number is the name of its class.
    """

    def __init__(self, columns: Columns, label_names: Sequence[str] | None) -> None:
        self._columns = columns
        self._several_columns = len(columns.labels) > 1
        self._known = self._known_names(label_names)
        # Models of earlier versions have labels with a `|` in them.
        self._undivided = {*(self._known or ()), *(columns.negative or ())}
        alone = self._known is not None and len(self._known) == 1 and not self._several_columns
        self._lone = self._known[0] if self._known is not None and alone else None  # what any label must be
        self._meanings: dict[tuple[str, str | None], str | None] = {}  # files have few labels and many words
        self._negatives: Counter[str] = Counter()
        self._of_words: set[str] = set()
        self._of_sentences: set[str] = set()

    def names(self, cells: Iterable[Cell], *, of_words: bool = False) -> frozenset[str]:
        """The label names in some cells together, as they are written; `settled` says what they mean in the end."""
        found = (self._name(cell, value) for cell in cells for value in self._values(cell))
        names = frozenset(name for name in found if name is not None)
        (self._of_words if of_words else self._of_sentences).update(names)
        return names

    def settled(self, names: frozenset[str]) -> frozenset[str]:
        """What names mean once all are known: `B-PER` and `I-PER` of the IOB and BIOES schemes are `PER`."""
        if not self._are_tags:
            return names
        return frozenset(name[2:] if name in self._of_words else name for name in names)

    @property
    def _are_tags(self) -> bool:
        """Whether words were labelled by a scheme of tags: every name has a prefix, and no sentence has such a name."""
        every = self._of_words.isdisjoint(self._of_sentences) and all(map(_TAG.fullmatch, self._of_words))
        return every and any(name.startswith(("B-", "I-")) for name in self._of_words)

    @property
    def negative(self) -> str:
        """How the source wrote "no label": its most frequent way, whatever the order of rows and words."""
        return max(sorted(self._negatives), key=self._negatives.__getitem__, default="O")

    def label_names(self, source: str) -> tuple[str, ...]:
        """All label names: those given, else several columns in their order, else the names found, sorted."""
        if self._known is not None:
            self._refuse_lone_flags(self._known)
            return self._known
        given = frozenset(name for name in self._meanings.values() if name is not None)
        found = sorted(self.settled(given), key=self._class_number)
        negative = self._columns.negative
        if found and negative and not self._negatives:
            raise ZerotagError(
                f"{source}: no label is {' or '.join(map(shown, negative))}, which was to mean no label; "
                f"the labels are {listed(found)}; give --negative as the file writes it"
            )
        if len(found) > 1 and self._columns.negative is None and "c" in self._negatives:
            raise ZerotagError(
                f"{source}: beside {listed(found)}, 'c' may be a label or mean no label; "
                "say which values mean no label with --negative"
            )
        if not found:  # then it is the label that "yes" would have meant
            yes = self._columns.label_name or next((yes for _, yes in self._meanings if yes), self._columns.labels[0])
            found = [yes]
        return tuple(found)

    def _class_number(self, name: str) -> tuple[int, str]:
        """Classes in their order, other labels by name."""
        classes = self._columns.class_names or ()
        places = (k for k, one in enumerate(classes) if name in (one, one[2:] if self._are_tags else one))
        return next(places, len(classes)), name

    def _known_names(self, label_names: Sequence[str] | None) -> tuple[str, ...] | None:
        columns = self._columns.labels
        if label_names is None:
            self._refuse_divided_columns()
            return columns if self._several_columns else None
        if self._several_columns:
            self._refuse_missing_columns(label_names)
        return tuple(label_names)

    def _refuse_divided_columns(self) -> None:
        for name in self._columns.labels:
            if _SEVERAL in name:
                raise ZerotagError(
                    f"the label column {shown(name)} has {_SEVERAL!r} in its name, which stands between two labels; "
                    "rename it"
                )

    def _refuse_missing_columns(self, label_names: Sequence[str]) -> None:
        columns = self._columns.labels
        missing = [name for name in label_names if name not in columns]
        if missing:
            raise ZerotagError(
                f"no column for the labels {listed(missing)}; the label columns are {listed(columns)}; "
                "name one for each label with --label-column"
            )

    def _refuse_lone_flags(self, label_names: Sequence[str]) -> None:
        """A column of 0 and 1 that is named after one label says nothing of the others."""
        column, *others = self._columns.labels
        if others or column not in label_names:
            return
        written = {text for text, yes in self._meanings if yes == column}
        if written.isdisjoint(label_names) and any(map(_is_flag, written)):
            self._refuse_missing_columns(label_names)

    def _values(self, cell: Cell) -> Iterator[object]:
        for value in cell.value if isinstance(cell.value, list) else (cell.value,):
            if isinstance(value, str) and _SEVERAL in value and value not in self._undivided:
                yield from value.split(_SEVERAL)
            else:
                yield value

    def _name(self, cell: Cell, value: object) -> str | None:
        text = self._class_name(cell, _written(cell, value))
        key = (text, cell.yes)
        if key not in self._meanings:
            self._meanings[key] = self._meaning(cell, text)
        name = self._meanings[key]
        if name is None:
            self._negatives[text] += 1
        return name

    def _class_name(self, cell: Cell, text: str) -> str:
        """The name of a class, where a text is its number."""
        classes = self._columns.class_names
        number = None if classes is None or text in classes else _number(text)
        if classes is None or number is None:
            return text
        if number not in range(len(classes)):
            raise ZerotagError(
                f"{cell.where}: there is no class {shown(text)}; {len(classes)} classes are named, from 0 on: "
                f"{listed(classes)}; name them all"
            )
        return classes[int(number)]

    def _meaning(self, cell: Cell, text: str) -> str | None:
        """The name of the label that a text means, None for no label."""
        name = text[2:] if self._known is not None and _TAG.fullmatch(text) else text
        for one in (text, name):
            if self._known is not None and one in self._known:
                return one
            if self._lone is not None and one == self._columns.label_name:
                return self._lone
        number = None if self._columns.class_names else _number(text)
        if self._is_negative(text, number):
            return None
        if number == 1 or text.lower() in _POSITIVE_WORDS:
            return self._yes_of(cell, text)
        if number is not None:
            raise ZerotagError(
                f"{cell.where}: the label {shown(text)} is a number other than 0 and 1; give labels names, or 0 and 1, "
                "or say what 0, 1, 2 ... mean with --label-names"
            )
        return self._checked(cell, text, text)

    def _is_negative(self, text: str, number: float | None) -> bool:
        if number == 0:
            return True
        if self._columns.negative is not None:
            return text in self._columns.negative
        return text in _NEGATIVE_NAMES or text.lower() in _NEGATIVE_WORDS

    def _yes_of(self, cell: Cell, text: str) -> str:
        if self._lone is not None:
            return self._lone
        if self._columns.label_name is not None:
            return self._checked(cell, self._columns.label_name, text)
        if cell.yes is None:
            raise ZerotagError(f"{cell.where}: {shown(text)} does not say which label; write its name")
        return self._checked(cell, cell.yes, text)

    def _checked(self, cell: Cell, name: str, text: str) -> str:
        if self._known is None or name in self._known:
            return name
        written = "" if text == name else f" (written {shown(text)})"
        known, same = f"the labels are {listed(self._known)}", ""
        if self._lone is not None:
            known = f"the only label is {shown(self._lone)}"
            same = f"that they are the same with --label-name {shlex.quote(name)}, or "
        raise ZerotagError(
            f"{cell.where}: unknown label {shown(name)}{written}; {known}; "
            f"mend it, or say {same}that it means no label with --negative"
        )


def _written(cell: Cell, value: object) -> str:
    """A label value as text, the way a text file would have it."""
    match value:
        case bool() | int() | float():
            return str(value).lower()
        case str() if text := value.strip(" \t\r\n"):
            return text
        case _:
            raise ZerotagError(
                f"{cell.where}: {shown(value)} is no label; write a name, a list of names, 1, or 0 for none"
            )


def _is_flag(text: str) -> bool:
    return _number(text) is not None or text.lower() in (*_NEGATIVE_WORDS, *_POSITIVE_WORDS)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
