"""How the readers word what is wrong with a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from zerotag.errors import ZerotagError

_SHOWN = 40  # characters
_LISTED = 20  # names
_EXCERPT = 200  # characters


def shown(value: object) -> str:
    """A value on one line, in quotes if it is a text, cut short if it is long."""
    # Cut before quoting: the value may be megabytes.
    text = repr(value[: _SHOWN + 1] if isinstance(value, str) else value)
    return text if len(text) <= _SHOWN + 2 else f"{text[:_SHOWN]}…"


def listed(names: Iterable[str]) -> str:
    """Names in a row, the first ones if there are many, or `none`."""
    shown_names = [shown(name) for name in names]
    more = ["…"] if len(shown_names) > _LISTED else []
    return ", ".join(shown_names[:_LISTED] + more) or "none"


def missing_column(where: str, name: str, existing: Iterable[str], option: str) -> ZerotagError:
    """The error for a column that is not there."""
    return ZerotagError(f"{where}: no column {shown(name)}; there are {listed(existing)}; choose with {option}")


_ARGUMENTS = {
    "--text-column": "text=",
    "--label-column": "label=",
    "--label-name": "label=",
    "--label-names": "label_names=",
    "--negative": "negative=",
}


@contextmanager
def options_as_arguments() -> Iterator[None]:
    """Let errors name the arguments of `zerotag.train` where they name options of the command line."""
    try:
        yield
    except ZerotagError as error:
        raise ZerotagError(re.sub(r"--[a-z-]+", lambda m: _ARGUMENTS.get(m[0], m[0]), str(error))) from None


def excerpt(raw: bytes) -> str:
    """The beginning of what a file has, bytes that are no text written as \\xff; not its last line end."""
    text = raw[: 4 * _EXCERPT].decode("utf-8", "backslashreplace")
    if len(raw) <= 4 * _EXCERPT and len(text) <= _EXCERPT:
        return text.removesuffix("\n").removesuffix("\r")
    return f"{text[:_EXCERPT]}…"
