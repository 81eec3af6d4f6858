"""What JSON can hold that nobody should be given: nesting without end, and halves of characters."""

from __future__ import annotations

import json

from zerotag.errors import ZerotagError


def is_deeper(document: object, most: int) -> bool:
    """Whether objects and lists are nested in more than so many levels."""
    level: list[object] = [document]
    for _ in range(most):
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
        ]
    return bool(level)


def check_characters(where: str, document: object) -> None:
    r"""Refuse half of a surrogate pair (`\ud83d` alone): JSON can spell it, and no text file or model can hold it."""
    try:
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise ZerotagError(f"{where}: {half} is half a character; write both halves or neither") from None
