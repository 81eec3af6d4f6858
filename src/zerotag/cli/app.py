"""The table of verbs, and what becomes of errors: one line, exit code 2, no traceback."""

from __future__ import annotations

import os
import sys

import typer

import zerotag
from zerotag.cli import corpora, demo, evaluating, labelling, training
from zerotag.errors import ZerotagError

app = typer.Typer(
    help="Train on sentence labels, get a word labeller.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("train")(training.train)
app.command("label")(labelling.label)
app.command("evaluate")(evaluating.evaluate)
app.command("demo")(demo.demo)
app.command("data")(corpora.data)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"zerotag {zerotag.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", help="Show the version and leave.", callback=_show_version, is_eager=True
    ),
) -> None:
    """Train on sentence labels, get a word labeller."""


def main() -> None:
    """Run the command line."""
    try:
        app()
    except ZerotagError as error:
        _fail(str(error), 2)
    except KeyboardInterrupt:
        _fail("stopped", 130)
    except BrokenPipeError:
        # Whoever read our output has seen enough; closing stdout again at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(141) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{error.strerror or error}", 2)


def _fail(message: str, code: int) -> None:
    typer.echo(f"error: {message}", err=True)
    raise SystemExit(code) from None
