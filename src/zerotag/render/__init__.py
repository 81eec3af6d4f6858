"""Results as text: JSON lines, tab-separated words, an HTML page, coloured words in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from zerotag.io.writers import jsonl, tsv
from zerotag.io.writers.style import Renderer, Style
from zerotag.render import html, terminal

FORMATS: Mapping[str, Renderer] = MappingProxyType(
    {"jsonl": jsonl.render, "tsv": tsv.render, "html": html.render, "text": terminal.render}
)
"""The renderer of each output format."""

__all__ = ["FORMATS", "Renderer", "Style"]
