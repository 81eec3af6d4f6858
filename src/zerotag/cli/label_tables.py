"""`zerotag label` where the input's table comes back with columns added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zerotag.errors import ZerotagError
from zerotag.io.writers import WRITERS

if TYPE_CHECKING:
    from zerotag.bulk.inputs import Inputs
    from zerotag.io.table_output import TableOutput
    from zerotag.io.writers.appendable import Form
    from zerotag.io.writers.style import Style


def is_table(form: Form, inputs: Inputs, asked: bool | None, *, to_file: bool) -> bool:
    """Whether the input's table is to come back."""
    from zerotag.io.table_output import is_table as is_expected

    paths = [source.path for source in inputs.sources if source.path]
    can_be = to_file and inputs.are_files and form.writer.table is not None
    if asked and not can_be:
        raise ZerotagError(
            "--table needs files to label, and --out with a format that can hold a table: "
            f"{', '.join(name for name in WRITERS.names() if WRITERS.get(name).table)}"
        )
    only = form.writer.encode is None and form.writer.render is None
    if only and (asked is False or not can_be):
        raise ZerotagError(f"{form.format} is a table: it needs files to label, --out, and no --records")
    return can_be and (is_expected(paths, inputs.columns, form.format) if asked is None else asked)


def table_output(form: Form, inputs: Inputs, style: Style) -> TableOutput | None:
    """The table to be written, if one is, checked before any work."""
    from zerotag.io.table_output import TableOutput

    if not form.table:
        return None
    paths = tuple(source.path for source in inputs.sources if source.path)
    output = TableOutput(paths, inputs.columns, form.format, form.packing, style.label_names)
    output.check()
    return output
