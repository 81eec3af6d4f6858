"""Characters made safe to print: nothing a terminal would obey, nothing that no encoding can write."""

from __future__ import annotations

import re

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL_PICTURES = str.maketrans(
    {code: chr(0x2400 + code) for code in range(0x20)}
    | {0x7F: "␡", 0x85: "␤", 0x2028: "␤", 0x2029: "␤"}
    | {code: "�" for code in range(0x80, 0xA0) if code != 0x85}
)


def encodable(text: str) -> str:
    """The text with lone surrogates, which no encoding can write, replaced by �."""
    return _LONE_SURROGATE.sub("�", text)


def one_line(text: str) -> str:
    """The text with control characters made visible: no line breaks, no tabs, nothing a terminal would obey."""
    return encodable(text).translate(_CONTROL_PICTURES)


def counted(count: int, what: str) -> str:
    """A number of things, as in "1 sentence" and "20 sentences"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
