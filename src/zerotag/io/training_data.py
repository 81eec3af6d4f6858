"""What training gets of a source, and everything that is wrong with it, found in one go."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from zerotag.errors import ZerotagError
from zerotag.io.columns import Columns
from zerotag.io.labels import LabelScheme
from zerotag.io.problems import shown
from zerotag.io.rows import Cell, Reject, Row
from zerotag.types import Corpus, Example, Sentence

_LISTED = 5  # problems in one message
_FEW_LABELS = 20  # which a file of any size may have
_LABELS_PER_ROW = 0.2  # more than that are no labels
_SPACES_OF_A_TEXT = 3


@dataclass(frozen=True, slots=True)
class TrainingData:
    """A corpus to train on, the rows that were left out of it with the reason, and what looks odd in the rest."""

    corpus: Corpus[Example]
    rows: int
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def training_data(
    source: str, rows: Iterable[Row | Reject], columns: Columns, label_names: Sequence[str] | None, *, strict: bool
) -> TrainingData:
    """The usable rows of a source.

    Raises:
        ZerotagError: no row can be used, or labels mean nothing, or the columns are mistaken; with `strict` if a single
            row cannot be used. The message has the first few reasons.
    """
    scheme = LabelScheme(columns, label_names)
    found: list[tuple[Sentence, frozenset[str]]] = []
    problems: list[str] = []
    wrong_labels: list[str] = []
    for row in rows:
        problem = row.reason if isinstance(row, Reject) else _problem(row, columns)
        if problem is not None:
            problems.append(problem)
            continue
        assert isinstance(row, Row)
        try:
            cells = row.labels or chain.from_iterable(row.word_labels or ())
            found.append((row.sentence, scheme.names(cells, of_words=not row.labels)))
        except ZerotagError as error:
            wrong_labels.append(str(error))
    count = len(found) + len(problems) + len(wrong_labels)
    if not count:
        raise ZerotagError(f"{source}: no sentences in it; give some")
    if wrong_labels:
        raise ZerotagError(_summary("have labels of no use", wrong_labels))
    if problems and (strict or not found):
        raise ZerotagError(_summary("cannot be used", problems))
    names = scheme.label_names(source)
    found = [(sentence, scheme.settled(given)) for sentence, given in found]
    _refuse_texts_as_labels(source, names, found, columns)
    examples = tuple(Example(sentence, tuple(name in given for name in names)) for sentence, given in found)
    return TrainingData(Corpus(names, examples, scheme.negative), count, tuple(problems), tuple(_remarks(found)))


def overlap(training: Corpus[Example], development: Corpus[Example]) -> int:
    """How many development sentences are training sentences, too, and so say little of others."""
    known = {example.sentence.text for example in training.examples}
    return sum(example.sentence.text in known for example in development.examples)


def _problem(row: Row, columns: Columns) -> str | None:
    if any(map(_is_empty, row.labels)):
        return f"{row.where}: no label; give one, or 0 if there is none"
    if row.sentence.text.strip() == columns.text and [cell.value for cell in row.labels] == [*columns.labels]:
        return f"{row.where}: the names of the columns once more"
    return None


def _is_empty(cell: Cell) -> bool:
    return cell.value is None or (isinstance(cell.value, str) and not cell.value.strip())


def _summary(what: str, problems: Sequence[str]) -> str:
    """The first problem, and how many others there are, on one line."""
    first, *others = problems
    if not others:
        return first
    more = "; ..." if len(problems) > _LISTED else ""
    return f"{first}; {len(others):,} other rows {what}: {'; '.join(problems[1:_LISTED])}{more}"


def _refuse_texts_as_labels(
    source: str, names: Sequence[str], found: Sequence[tuple[Sentence, frozenset[str]]], columns: Columns
) -> None:
    """A column with a label of its own for nearly every row is no column of labels."""
    are_texts = sum(name.count(" ") >= _SPACES_OF_A_TEXT for name in names) > len(names) / 2
    if len(names) > max(_FEW_LABELS, _LABELS_PER_ROW * len(found)) or (are_texts and len(names) > 1):
        raise ZerotagError(
            f"{source}: {len(names):,} different labels in {len(found):,} rows, such as {shown(names[0])}: is "
            f"{shown(columns.labels[0])} the text? name the columns with --text-column and --label-column"
        )


def _remarks(found: Sequence[tuple[Sentence, frozenset[str]]]) -> Iterator[str]:
    counts = Counter(sentence.text for sentence, _ in found)
    labels: dict[str, set[frozenset[str]]] = defaultdict(set)
    for sentence, given in found:
        if counts[sentence.text] > 1:
            labels[sentence.text].add(given)
    contradicted = [text for text, ways in labels.items() if len(ways) > 1]
    repeated = [text for text, ways in labels.items() if len(ways) == 1]
    if repeated:
        yield f"{len(repeated):,} sentences occur more than once, such as {shown(repeated[0])}"
    if contradicted:
        first = contradicted[0]
        ways = sorted("|".join(sorted(way)) or "no label" for way in labels[first])
        yield (
            f"{len(contradicted):,} sentences occur with different labels, such as {shown(first)} with "
            f"{' and with '.join(ways)}: correct them, since they cancel each other out"
        )
