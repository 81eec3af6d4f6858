"""Tables of results as data, and drawn as Markdown and as LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """A text and, where the highest of a column is the best, the number to compare."""

    text: str
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A name and the cells beside it; `quoted` rows are numbers that others published."""

    name: str
    cells: tuple[Cell, ...]
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Columns in named groups, as many columns under each group."""

    caption: str
    groups: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""

    def best(self) -> list[float | None]:
        """The highest value of each column; None where there is nothing to compare."""
        columns = zip(*(row.cells for row in self.rows), strict=True)
        values = [[cell.value for cell in column if cell.value is not None] for column in columns]
        return [max(several) if len(several) > 1 else None for several in values]


def markdown(table: Table) -> str:
    """A Markdown table under its caption; with several groups, the group is part of each column's name."""
    if len(table.groups) == 1:
        header = ["", *table.columns]
        caption = ", ".join(filter(None, (table.caption, table.groups[0])))
    else:
        header = ["", *(f"{group} {column}" for group in table.groups for column in table.columns)]
        caption = table.caption
    lines = [
        f"**{caption}**",
        "",
        _markdown_row(header),
        _markdown_row(["---"] + ["---:"] * (len(header) - 1)),
        *(_markdown_row(_markdown_cells(row, table.best())) for row in table.rows),
    ]
    if table.note:
        lines += ["", table.note]
    return "\n".join(lines) + "\n"


def _markdown_cells(row: Row, best: Sequence[float | None]) -> Iterator[str]:
    yield f"*{row.name}*" if row.quoted else row.name
    for cell, highest in zip(row.cells, best, strict=True):
        yield f"**{cell.text}**" if _is_best(cell, highest) else f"*{cell.text}*" if row.quoted else cell.text


def _is_best(cell: Cell, highest: float | None) -> bool:
    return cell.value is not None and cell.value == highest


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def latex(table: Table) -> str:
    """A LaTeX table in the paper's layout: method names right-aligned, a rule between groups."""
    width = len(table.columns)
    lines = [
        r"\begin{table*}[t]",
        r"\small",
        r"\centering",
        r"\setlength{\tabcolsep}{3pt}",
        r"\begin{tabular}{r" + ("|" + "c" * width) * len(table.groups) + "}",
    ]
    if any(table.groups):
        titles = " & ".join(rf"\multicolumn{{{width}}}{{c}}{{{_tex(group)}}}" for group in table.groups)
        lines.append(rf"\multicolumn{{1}}{{c}}{{}} & {titles} \\")
    columns = " & ".join(map(_tex, table.columns * len(table.groups)))
    lines += [rf" & {columns} \\", r"\hline"]
    lines += [" & ".join(_latex_cells(row, table.best())) + r" \\" for row in table.rows]
    caption = table.caption if not table.note else f"{table.caption}. {table.note}"
    lines += [r"\end{tabular}", rf"\caption{{{_tex(caption)}}}", r"\end{table*}"]
    return "\n".join(lines) + "\n"


def _latex_cells(row: Row, best: Sequence[float | None]) -> Iterator[str]:
    yield rf"\textit{{{_tex(row.name)}}}" if row.quoted else _tex(row.name)
    for cell, highest in zip(row.cells, best, strict=True):
        text = _tex(cell.text)
        yield rf"\textbf{{{text}}}" if _is_best(cell, highest) else rf"\textit{{{text}}}" if row.quoted else text


_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": "$<$",
        "–": "--",
        "“": "``",
        "”": "''",
        "…": r"\dots{}",
        "±": r"$\pm$",
        "×": r"$\times$",
        "†": r"$^\dagger$",
        "‡": r"$^\ddagger$",
        "ᵗ": "$^{t}$",
        "ʳ": "$^{r}$",
        "β": r"$\beta$",
        "γ": r"$\gamma$",
        "ø": r"{\o}",
    }
)


def _tex(text: str) -> str:
    return text.translate(_TEX).replace("F1", "$F_1$")
