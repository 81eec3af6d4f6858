"""Packages of optional extras: imported where they are needed, and named in one line where they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from zerotag.errors import ZerotagError


def needed(what: str, extra: str, *modules: str) -> Any:
    """Import some modules that an extra brings.

    Args:
        what: what needs them, for the message ("this segmenter").
        extra: the extra of this package.
        modules: their names.

    Returns:
        The first of them.

    Raises:
        ZerotagError: one is not installed.
    """
    try:
        first, *_ = [import_module(module) for module in modules]
    except ImportError as error:
        raise ZerotagError(f"{what} needs {error.name or modules[0]}: pip install 'zerotag[{extra}]'") from error
    return first
