"""`zerotag label`."""

from __future__ import annotations

import hashlib
import itertools
import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import zerotag
from zerotag.cli.engine_options import EngineOptions
from zerotag.cli.label_progress import LabellingProgress, show_summary
from zerotag.cli.label_shards import (
    ShardOptions,
    device_kind,
    work_on_ray,
    work_on_the_plan,
    write_the_plan,
)
from zerotag.cli.label_tables import is_table, table_output
from zerotag.cli.options import (
    Device,
    Method,
    Overwrite,
    SplitSentences,
    TextOptions,
    Threshold,
    loaded,
    require_no_input,
    say,
)
from zerotag.errors import ZerotagError
from zerotag.io.writers import WRITERS

if TYPE_CHECKING:
    from zerotag.bulk.inputs import Inputs, Rejected
    from zerotag.bulk.run import Run
    from zerotag.bulk.shards.plan import Options
    from zerotag.bulk.state import State
    from zerotag.io import Columns
    from zerotag.io.table_output import TableOutput
    from zerotag.io.writers.appendable import Form
    from zerotag.io.writers.style import Style
    from zerotag.labeller import Labeller

_AT_ONCE = 1_024  # records that are held, and scored together, at a time
_LARGE_BUDGET = 1 << 14  # sub-words of a batch, which only a GPU has
_REJECTS_SHOWN = 20


def label(
    context: typer.Context,
    *,
    model: Annotated[
        str | None, typer.Argument(metavar="MODEL_DIR", help="Model folder that `zerotag train` wrote.")
    ] = None,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[INPUT]...", help="Files to label, plain, .gz or .zst; - or nothing for standard input."
        ),
    ] = None,
    out_name: Annotated[
        str | None, typer.Option("--out", help="File to write; .gz and .zst are packed. [standard output]")
    ] = None,
    output_format: Annotated[
        str | None,
        typer.Option("--format", help=f"{', '.join(WRITERS.names())}. [by --out; text in a terminal, else jsonl]"),
    ] = None,
    origins: Annotated[
        bool | None,
        typer.Option(
            "--source/--no-source",
            help="Add file and line to each record of jsonl and parquet. [with several inputs, or documents]",
        ),
    ] = None,
    table: Annotated[
        bool | None,
        typer.Option(
            "--table/--records",
            help="Give the input's table back with columns added, or a record for each sentence. [a table for CSV and "
            "workbooks, in or out]",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first record that cannot be used, instead of listing it.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped.")] = False,
    method: Method = "native",
    threshold: Threshold = None,
    texts: TextOptions,
    split_sentences: SplitSentences = False,
    device: Device = None,
    overwrite: Overwrite = False,
    plan: ShardOptions,
    engine: EngineOptions,
) -> None:
    """Label the words of new text.

    Records that cannot be used are listed in OUT.rejected.jsonl and the run goes on. Killed, it goes on with --resume.
    """
    from zerotag.bulk.inputs import Inputs
    from zerotag.io import Source
    from zerotag.io.sources import expanded
    from zerotag.io.stores import is_url, path_of
    from zerotag.io.writers.appendable import form_for

    cluster = engine.cluster()
    if plan.plan is not None:
        work_on_the_plan(
            context, plan, plan.plan, cluster, model=model, out=out_name, device=device, overwrite=overwrite
        )
        return
    out = None if out_name is None else Path(out_name)
    if out_name is not None and is_url(out_name) and plan.shards is None:
        raise ZerotagError(f"{out_name}: a single run writes a file of this machine; with --shards N it goes there")
    plan.refuse_without_a_plan(cluster)
    if model is None:
        raise ZerotagError("give a MODEL_DIR, and files to label; or --plan FILE to work on a plan")
    paths = expanded(sources or ["-"])
    form = form_for(
        out if plan.shards is None else Path(f"shard.{output_format or 'jsonl'}"),
        output_format if plan.shards is None else None,
        otherwise="text" if sys.stdout.isatty() else "jsonl",
        origins=len(paths) > 1 or split_sentences if origins is None else origins,
    )
    columns = texts.columns(split_sentences=split_sentences)
    inputs = Inputs([Source(None if path == "-" else path_of(path)) for path in paths], columns)
    form = form._replace(table=is_table(form, inputs, table, to_file=out is not None and plan.shards is None))
    if resume:
        _check_resume(out, form, inputs)
    inputs.check()
    how = _How(method, threshold, device, strict=strict, resume=resume, overwrite=overwrite)
    if plan.shards is None:
        _label(model, inputs, form, out, how)
        return
    made, store = write_the_plan(
        model, inputs, _options_of_plan(model, columns, form, how), out_name, plan.shards, overwrite=overwrite
    )
    if cluster:
        work_on_ray(made, store, cluster, None)


@dataclass(frozen=True)
class _How:
    """How one process labels."""

    method: str
    threshold: float | None
    device: str | None
    _: KW_ONLY
    strict: bool
    resume: bool
    overwrite: bool


def _options_of_plan(model: str, columns: Columns, form: Form, how: _How) -> Options:
    """What the processes that work on a plan are told."""
    from zerotag.bulk.shards.plan import Options
    from zerotag.inference.devices import token_budget
    from zerotag.parallel.threads import threads_of_torch

    kind = device_kind(model, how.device)
    return Options(
        form=form,
        method=how.method,
        threshold=how.threshold,
        text_column=columns.text,
        input_format=columns.format,
        split_sentences=columns.split_sentences,
        device=kind,
        threads=threads_of_torch(),
        at_once=_at_once(token_budget(kind), how.method),
        strict=how.strict,
    )


def _label(model: str, inputs: Inputs, form: Form, out: Path | None, how: _How) -> None:
    """Label all inputs in this process."""
    from zerotag.bulk.journal import nothing_left_to_do, record_of, rejects_of
    from zerotag.bulk.pipeline import overlap_for
    from zerotag.bulk.run import Run
    from zerotag.explain import create
    from zerotag.io.hub import located
    from zerotag.io.model_folder import manifest_file

    for place in () if out is None else (out, rejects_of(out), record_of(out)):
        require_no_input(place, (source.path for source in inputs.sources if source.path), "--out")
    manifest = manifest_file(located(model))
    arguments = {
        "zerotag version": zerotag.__version__,
        "model": hashlib.sha256(manifest.read_bytes()).hexdigest(),  # it has the digests of all files
        "method": how.method,
        "threshold": how.threshold,
        "input": inputs.names_and_sizes(),
        "text column": inputs.columns.text,
        "input format": inputs.columns.format,
        "split sentences": inputs.columns.split_sentences,
        "output format": form,
        "device": how.device,
    }
    if out is not None and nothing_left_to_do(out, arguments, inputs, resume=how.resume, overwrite=how.overwrite):
        say(f"{out} is complete: nothing is left to do")
        return
    labeller = loaded(manifest.parent, how.device, how.method, how.threshold)
    inputs.split_by(labeller.manifest.model.segmenter)
    style = _style(labeller, inputs, colour=out is None)
    joined = table_output(form, inputs, style)
    scorer = create(how.method, labeller)
    typing = not inputs.are_files and sys.stdin.isatty()
    if typing:
        say("Type sentences, one per line; Ctrl-D ends.")
    # Whoever types wants an answer to each line.
    at_once = 1 if typing else _at_once(labeller.predictor.token_budget, how.method)
    # Whoever is at the other end of a pipe may wait for results before there is more.
    ahead = overlap_for(labeller, how.method) if inputs.are_files else nullcontext()
    with ahead as overlap, LabellingProgress(silent=out is None and sys.stdout.isatty()) as progress:
        run = Run(
            inputs=inputs,
            scorer=scorer,
            label_names=labeller.label_names,
            rules=labeller.rules,
            at_once=at_once,
            strict=how.strict,
            show=progress.show,
            overlap=overlap,
        )
        if out is None:
            state = _to_standard_output(run, form, style)
        else:
            state = _to_file(run, form, style, joined, out, arguments, how)
    if how.method != "native" and how.threshold is None:
        say(
            f"{how.method}: words were marked from {labeller.rules[0].word_threshold} on, as the model's own threshold "
            "is for its own scores; --threshold gives another"
        )
    if out is not None or inputs.are_files or state.rejected:
        show_summary(state, labeller.label_names, out)


def _check_resume(out: Path | None, form: Form, inputs: Inputs) -> None:
    if out is None:
        raise ZerotagError("--resume needs --out: standard output cannot be taken up again")
    if not inputs.are_files:
        raise ZerotagError("--resume needs files: what came out of a pipe cannot be read again")
    if not form.is_appendable:
        raise ZerotagError(f"--resume cannot go on with {form.format}; it can with jsonl, tsv and parquet")


def _at_once(token_budget: int, method: str) -> int:
    """More for a device that takes more: it should find many sentences of each length.

    Fewer for a method that takes longer: nothing is shown or kept before a chunk is done.
    """
    from zerotag.explain import spec_of

    most = _AT_ONCE * (32 if token_budget > _LARGE_BUDGET else 1)
    return max(1, most // spec_of(method).cost)


def _style(labeller: Labeller, inputs: Inputs, *, colour: bool) -> Style:
    from zerotag.io.writers.style import Style

    first, *others = (Path(source.name).name for source in inputs.sources)
    title = f"{', '.join(labeller.label_names)}: {first}{' and others' if others else ''}"
    colour = colour and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return Style.of(labeller.manifest, title, of_documents=inputs.columns.split_sentences, colour=colour)


def _to_standard_output(run: Run, form: Form, style: Style) -> State:
    from zerotag.bulk.run import label_to_stream

    numbers = itertools.count(1)

    def warn(rejected: Rejected) -> None:
        number = next(numbers)
        if number <= _REJECTS_SHOWN:
            say(f"rejected: {rejected.reason}")
        if number == _REJECTS_SHOWN:
            say("rejected: others are only counted; --out FILE also lists them")

    return label_to_stream(run, sys.stdout.buffer, form, style, warn)


def _to_file(
    run: Run,
    form: Form,
    style: Style,
    joined: TableOutput | None,
    out: Path,
    arguments: Mapping[str, Any],
    how: _How,
) -> State:
    from zerotag.bulk.journal import unfinished
    from zerotag.bulk.run import label_to_file, label_to_page
    from zerotag.io.writers.appendable import encoder

    if not form.is_appendable:
        with unfinished(out, None, resume=False, overwrite=how.overwrite) as output:
            label_to_page(run, output, form, style)
            return output.state
    its_encoder = encoder(form, style, None if joined is None else joined.assemble)
    # Nobody can go on with a pipe. With another device, found and not asked for, scores may differ a little.
    known = {**arguments, "records at once": run.at_once} if run.inputs.are_files else None
    begin = its_encoder.beginning
    with unfinished(out, known, resume=how.resume, overwrite=how.overwrite, beginning=begin) as output:
        run.check(output.state)
        if output.state.sentences:
            say(f"going on after {output.state.sentences:,} sentences")
        label_to_file(run, output, its_encoder)
        return output.state
