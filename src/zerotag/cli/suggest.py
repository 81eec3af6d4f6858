"""`zerotag suggest`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerotag.cli.options import (
    Device,
    Overwrite,
    SplitSentences,
    TextOptions,
    loaded,
    require_absent,
    require_no_input,
    say,
    say_left_out,
)
from zerotag.errors import ZerotagError
from zerotag.text.printable import counted, one_line

if TYPE_CHECKING:
    from zerotag.active.suggest import Suggestion
    from zerotag.io import Reject
    from zerotag.io.writers.appendable import Form
    from zerotag.labeller import Labeller


def suggest(
    *,
    model: Annotated[Path, typer.Argument(metavar="MODEL_DIR", help="Model folder that `zerotag train` wrote.")],
    pool: Annotated[Path, typer.Argument(metavar="POOL", help="Sentences to choose from; labels in it are not read.")],
    out: Annotated[Path, typer.Option(help="File to write, to be corrected.")],
    n: Annotated[int, typer.Option("--n", help="How many sentences.")] = 50,
    seed: Annotated[int, typer.Option(help="Another number draws others.")] = 0,
    output_format: Annotated[
        str | None, typer.Option("--format", help="A format of `zerotag label`, or of an annotation tool. [by --out]")
    ] = None,
    texts: TextOptions,
    split_sentences: SplitSentences = False,
    device: Device = None,
    overwrite: Overwrite = False,
) -> None:
    """Choose which sentences to label next, and say why.

    Correct the labels in the output and give it to `zerotag tune` or `zerotag train --words`.
    """
    from zerotag.active.suggest import suggest as choose
    from zerotag.io import stream
    from zerotag.io.files import whole_file
    from zerotag.io.readers import READERS
    from zerotag.io.writers.appendable import form_for

    require_absent(out, overwrite)
    require_no_input(out, [pool], "--out")
    form = form_for(out, output_format, otherwise="jsonl", origins=False)
    if not _is_for_correction(form):
        raise ZerotagError(f"{out}: people correct text: write jsonl, tsv or an annotation tool's format")
    labeller = loaded(model, device)
    columns = texts.columns(labeller.manifest.model.segmenter, split_sentences=split_sentences)
    left_out: list[Reject] = []
    chosen = choose(labeller, stream(pool, columns=columns, left_out=left_out), n=n, seed=seed)
    say_left_out(left_out)
    with whole_file(out) as file:
        file.writelines(_lines(chosen, form, labeller))
    for one in chosen[:5]:
        say(one_line(f"{one.labelled.text[:60]}: {one.reason}"))
    if len(chosen) < n:
        say(f"there are no more than {counted(len(chosen), 'sentence')} that differ")
    corrected = f"EXPORT --input-format {form.format}" if form.format in READERS and form.writer.suffix is None else out
    say(
        f"{out}: {counted(len(chosen), 'sentence')} to correct; then: "
        f"zerotag tune {model} {corrected}, or zerotag train --from {model} --words {corrected} --out NEW_MODEL"
    )


def _is_for_correction(form: Form) -> bool:
    """Whether it is text that people can correct and that is read with its word labels afterwards."""
    from zerotag.io.readers import READERS, STANDARD_INPUT

    is_read = form.format in READERS and form.format != STANDARD_INPUT
    return form.writer.render is not None and not form.packing and is_read


def _lines(chosen: Sequence[Suggestion], form: Form, labeller: Labeller) -> Iterator[str]:
    """The sentences as the model labels them; JSON lines have the reason, too."""
    from zerotag.io.writers.jsonl import encode, record
    from zerotag.io.writers.style import Style

    if form.format == "jsonl":
        for one in chosen:
            yield encode({**record(one.labelled, labeller.label_names), "reason": one.reason}) + "\n"
        return
    style = Style.of(labeller.manifest, "Sentences to look at")
    yield from form.render((one.labelled for one in chosen), style)
