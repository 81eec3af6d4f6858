"""The table of verbs, and what becomes of errors: one line, exit code 2, no traceback."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

import typer
from typer.main import get_command

import zerotag
from zerotag.cli import (
    compare,
    data,
    demo,
    evaluate,
    explain,
    export,
    label,
    report,
    serve,
    suggest,
    suspects,
    train,
    tune,
)
from zerotag.cli.option_groups import expand_groups
from zerotag.errors import ZerotagError
from zerotag.text.printable import one_line

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
VERBS: dict[str, Callable[..., None]] = {
    "train": train.train,
    "label": label.label,
    "evaluate": evaluate.evaluate,
    "report": report.report,
    "suggest": suggest.suggest,
    "suspects": suspects.suspects,
    "tune": tune.tune,
    "explain": explain.explain,
    "demo": demo.demo,
    "export": export.export,
    "data": data.data,
    "compare": compare.compare,
    "results": compare.results,
    "serve": serve.serve,
}
for _name, _verb in VERBS.items():
    app.command(_name)(expand_groups(_verb))


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"zerotag {zerotag.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: bool = typer.Option(  # noqa: ARG001 (its callback does it all)
        False, "--version", help="Show the version and leave.", callback=_show_version, is_eager=True
    ),
) -> None:
    """Train on sentence labels, get a word labeller."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line."""
    _open_what_is_closed()
    command = get_command(app)
    for library in ("HF_HUB", "TRANSFORMERS"):  # their warnings would come between our lines
        os.environ.setdefault(f"{library}_VERBOSITY", "error")
    # Threads that wait busily slow a training down several times as soon as anything else runs on the machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        # Not command(): that would show errors in its own way, in several lines.
        with command.make_context("zerotag", sys.argv[1:]) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as leave:
        raise SystemExit(leave.exit_code) from None
    except typer.TyperException as error:
        _fail(f"{error.format_message().rstrip('.')} (see {_path(error)} --help)", 2)
    except ZerotagError as error:
        _fail(str(error), 2)
    except KeyboardInterrupt as stop:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # once more, and Python would complain while it leaves
        _fail(str(stop) or "stopped", 130)
    except (MemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        _fail("out of memory: free some, or take shorter texts, a smaller model or smaller batches", 2)
    except BrokenPipeError:
        _drop_output()  # whoever read it has seen enough
        raise SystemExit(141) from None
    except OSError as error:
        _drop_output()
        place = error.filename or "cannot write the output"
        _fail(f"{place}: {error.strerror or error}", 2)


def _is_out_of_memory(error: Exception) -> bool:
    """Whether Python or torch had none left; for that of a processor torch has no exception of its own."""
    named_so = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    return named_so or "DefaultCPUAllocator" in str(error)


def _open_what_is_closed() -> None:
    """Whoever starts us may have closed the standard streams; then there is nothing to read, and nobody to tell."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _path(error: typer.TyperException) -> str:
    """The verb that was called wrongly."""
    context: typer.Context | None = getattr(error, "ctx", None)
    return context.command_path if context else "zerotag"


def _drop_output() -> None:
    """Python writes what is left when it leaves, and would complain once more if that fails."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> NoReturn:
    typer.echo(f"error: {one_line(' '.join(message.splitlines()))}", err=True)
    raise SystemExit(code) from None
