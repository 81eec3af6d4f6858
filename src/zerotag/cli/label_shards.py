"""`zerotag label` in shards: a plan that any number of processes work through."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerotag.cli.engine_options import PANEL
from zerotag.cli.label_progress import LabellingProgress, describe_share, describe_status, summary
from zerotag.cli.options import chosen_device, say
from zerotag.errors import ZerotagError
from zerotag.render.progress import LiveBar

if TYPE_CHECKING:
    from zerotag.bulk.inputs import Inputs
    from zerotag.bulk.run import Progress
    from zerotag.bulk.shards.markers import Done
    from zerotag.bulk.shards.plan import Options, Plan
    from zerotag.bulk.shards.ray_engine import Share
    from zerotag.io.stores import Store
    from zerotag.parallel.ray_pool import Cluster

_OF_A_PLAN = (
    "model",
    "plan",
    "shard",
    "status",
    "merge",
    "engine",
    "address",
    "workers",
    "gpus",
    "device",
    "overwrite",
    "out_name",
)


@dataclass(frozen=True)
class ShardOptions:
    """A plan of shards: to make one, to work on it, and by whose workers."""

    shards: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Only plan: cut the inputs into N shards; --out is a folder.",
            rich_help_panel=PANEL,
        ),
    ] = None
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Work through a plan: do what no other process does, until all is done.",
            rich_help_panel=PANEL,
        ),
    ] = None
    shard: Annotated[
        int | None, typer.Option(metavar="K", help="Do just this shard of the plan.", rich_help_panel=PANEL)
    ] = None
    status: Annotated[
        bool, typer.Option("--status", help="Say which shards of the plan are done.", rich_help_panel=PANEL)
    ] = False
    merge: Annotated[
        bool, typer.Option("--merge", help="Write all shards of the plan into the file --out.", rich_help_panel=PANEL)
    ] = False

    def refuse_without_a_plan(self, cluster: Cluster | None) -> None:
        """Refuse options that mean something with a plan alone."""
        if cluster and not self.shards:
            raise ZerotagError("--engine hands out shards: give --shards N and --out FOLDER, or --plan FILE")
        if self.shard is not None or self.status or self.merge:
            raise ZerotagError("--shard, --status and --merge need --plan FILE; --shards N makes a plan")


def device_kind(model: str, device: str | None) -> str:
    """What kind of device a plan is for: the one asked for, which need not be here, or the best of this machine."""
    from zerotag.inference.devices import KINDS, best_device
    from zerotag.io.hub import located
    from zerotag.io.model_folder import read_manifest

    if device is not None:
        kind = device.partition(":")[0]
        if kind not in KINDS:
            raise ZerotagError(f"device {device!r} is of no kind that a plan can be for: {', '.join(KINDS)}")
        return kind
    return "cpu" if read_manifest(located(model)).export else best_device().type


def write_the_plan(
    model: str, inputs: Inputs, options: Options, out: str | None, count: int, *, overwrite: bool
) -> tuple[Plan, Store]:
    """Cut the inputs into shards and write the plan, and say what comes next."""
    from zerotag.bulk.shards.cutting import cut
    from zerotag.bulk.shards.plan import PLAN, Model, Plan, write_plan
    from zerotag.io.stores import store_at

    if out is None:
        raise ZerotagError("--shards needs --out FOLDER, where the plan and the shards will be")
    if not inputs.are_files:
        raise ZerotagError("--shards needs files: a pipe cannot be read in several places")
    if not options.form.is_appendable:
        raise ZerotagError(f"shards cannot be written as {options.form.format}; they can as jsonl, tsv and parquet")
    total = sum(inputs.sizes)
    with LiveBar(say) as bar:
        done = 0

        def advance(size: int) -> None:
            nonlocal done
            done += size
            bar.draw(f"{done / 1e9:,.1f} of {total / 1e9:,.1f} GB read", done, total)

        shards = cut(inputs, options.at_once, count, advance)
    plan = Plan(
        model=Model.of(model),
        options=options,
        folder=str(Path.cwd()),
        inputs=tuple((source.name, size) for source, size in zip(inputs.sources, inputs.sizes, strict=True)),
        shards=shards,
    )
    store = store_at(out)
    new = write_plan(store, plan, overwrite=overwrite)
    file = f"{out}/{PLAN}"
    fewer = " (there are not more places to cut)" if len(shards) < count else ""
    several = f"{len(shards):,} shard{'s' if len(shards) > 1 else ''}"
    say(f"{file} {'has' if new else 'had'} {several}{fewer} of {total / len(shards) / 1e6:,.1f} MB")
    say(f"zerotag label --plan {file}              does all that no other process does")
    say(f"zerotag label --plan {file} --shard 0    does one, up to {len(shards) - 1}")
    say(f"zerotag label --plan {file} --status     says how far they are")
    return plan, store


def work_on_the_plan(
    context: typer.Context,
    asked: ShardOptions,
    place: str,
    cluster: Cluster | None,
    *,
    model: str | None,
    out: str | None,
    device: str | None,
    overwrite: bool,
) -> None:
    """Do some of a plan, say how far it is, or put its shards together."""
    from zerotag.bulk.shards.plan import PLAN, read_plan
    from zerotag.io.stores import store_at

    _refuse_what_the_plan_has(context)
    number, merge = asked.shard, asked.merge
    if (number is not None) + asked.status + merge > 1:
        raise ZerotagError("--shard, --status and --merge go one at a time")
    if merge == (out is None):
        raise ZerotagError("--merge and --out FILE go together: the shards are in the folder of the plan")
    store = store_at(place.removesuffix(PLAN).rstrip("/") or ".")
    plan = read_plan(store)
    if asked.status:
        _show_status(plan, store)
    elif merge:
        assert out is not None
        _merge(plan, store, out, overwrite=overwrite)
    elif cluster and number is None:
        work_on_ray(plan, store, cluster, model)
    else:
        _work(plan, store, model, number, device, again=overwrite)


def _refuse_what_the_plan_has(context: typer.Context) -> None:
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source and source.name == "COMMANDLINE" and parameter.name not in _OF_A_PLAN:
            name = max(parameter.opts, key=len)
            raise ZerotagError(f"{name} is not for --plan, which has inputs and options of its own")


def _work(plan: Plan, store: Store, model: str | None, number: int | None, device: str | None, *, again: bool) -> None:
    from zerotag.bulk.shards.worker import Worker, do_all

    chosen_device(device or plan.options.device)
    with LabellingProgress(silent=False) as bar:

        def show(number: int, progress: Progress) -> None:
            bar.show(progress, f"shard {number} · ")

        with Worker(plan, store, model=model, device=device, show=show) as worker:
            if number is not None:
                known = worker.markers.done(number)
                done = worker.do(number, again=again)
                say(f"shard {number}: {'was done before, ' if known and not again else ''}{_in_short(done)}")
                return
            failed = do_all(worker, say)
    _close(plan, failed)


def work_on_ray(plan: Plan, store: Store, cluster: Cluster, model: str | None) -> None:
    """Have a plan done by the workers of Ray."""
    from zerotag.bulk.shards.ray_engine import RayEngine

    with LiveBar(say) as bar:

        def show(share: Share) -> None:
            bar.show_or_say(describe_share(share), share.shards_done, share.shards)

        _close(plan, RayEngine(plan, store.place, cluster, model).run(show))


def _close(plan: Plan, failed: Collection[int]) -> None:
    count = len(plan.shards)
    if failed:
        raise ZerotagError(f"{len(failed):,} of {count:,} shards failed, the first is {min(failed)}; --status says why")
    say(f"all {count:,} shards are done")


def _in_short(done: Done) -> str:
    return f"{done.sentences:,} sentences, {done.rejected:,} records rejected"


def _show_status(plan: Plan, store: Store) -> None:
    from zerotag.bulk.shards.markers import Markers
    from zerotag.bulk.shards.status import status_of

    for line in describe_status(status_of(plan, Markers(store, plan))):
        typer.echo(line)


def _merge(plan: Plan, store: Store, name: str, *, overwrite: bool) -> None:
    from zerotag.bulk.journal import rejects_of
    from zerotag.bulk.shards.merge import merge
    from zerotag.io.stores import is_url

    if is_url(name):
        raise ZerotagError(f"{name}: --merge writes a file of this machine; copy it there, or use the folder of shards")
    out = Path(name)
    for place in (out, rejects_of(out)):
        if place.exists() and not overwrite:
            raise ZerotagError(f"{place} exists; choose another name or give --overwrite")
    with LiveBar(say) as bar:
        total = 0

        def advance(size: int) -> None:
            nonlocal total
            total += size
            bar.draw(f"{total / 1e9:,.1f} GB", total, None)

        state = merge(plan, store, out, advance)
    for line in summary(state, list(state.positive_sentences)):
        say(line)
    say(f"{out} holds all {len(plan.shards):,} shards")
