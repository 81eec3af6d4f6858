"""The reference of the command line, from the options as they are declared."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from zerotag.cli.app import app


def markdown() -> str:
    """A section for each verb: what it does, its arguments and its options."""
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    verbs = [verb for verb in group.commands.values() if isinstance(verb, TyperCommand)]
    return "\n".join(line for verb in verbs for line in _section(verb))


def _section(verb: TyperCommand) -> Iterator[str]:
    yield f"## {verb.name}\n"
    arguments = [one for one in verb.params if isinstance(one, TyperArgument)]
    options = [one for one in verb.params if isinstance(one, TyperOption) and not one.hidden]
    yield f"```text\nzerotag {verb.name} {' '.join(_named(one) for one in arguments)} [OPTIONS]\n```\n"
    yield f"{inspect.cleandoc(verb.help or '')}\n"
    yield "| | |\n|---|---|"
    for argument in arguments:
        yield f"| `{_named(argument)}` | {_cell(argument.help)} |"
    for option in options:
        yield f"| `{' / '.join([*option.opts, *option.secondary_opts])}` | {_cell(option.help)}{_default(option)} |"
    yield ""


def _named(argument: TyperArgument) -> str:
    name = (argument.metavar or argument.name or "").strip("[]{}.").upper()
    name += "..." if argument.nargs == -1 else ""
    return name if argument.required else f"[{name}]"


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "\\|")


def _default(option: TyperOption) -> str:
    if option.required:
        return " **Required.**"
    if option.is_flag or option.default in (None, (), []) or not option.show_default:
        return ""
    return f" Default: `{option.default}`."
