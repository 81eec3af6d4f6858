"""The annotated tree of src/zerotag: every package and module with the first sentence of what it says of itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_COMMENT = re.compile(r"\s*(?://\s*(?P<line>.+)|/\*+\s*(?P<block>.+?)(?:\*/|$))", re.MULTILINE)
_SHOWN = {".py", ".js", ".css", ".html"}


def markdown(sources: Path) -> str:
    """A section for each package, outermost first, with its modules."""
    return "\n".join(line for package in _packages(sources / "zerotag") for line in _section(package, sources))


def _packages(folder: Path) -> Iterator[Path]:
    if any(_modules(folder)):
        yield folder
    for inner in sorted(path for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"):
        yield from _packages(inner)


def _section(package: Path, sources: Path) -> Iterator[str]:
    yield f"### {package.relative_to(sources).as_posix()}/\n"
    if (package / "__init__.py").exists():
        yield f"{said(package / '__init__.py')}\n"
    for module in _modules(package):
        if module.name != "__init__.py" and said(module):
            yield f"`{module.name}`\n:   {said(module)}\n"


def _modules(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in _SHOWN)


def said(module: Path) -> str:
    """The first sentence of a module's docstring, or of the comment that a script or style sheet begins with."""
    text = module.read_text(encoding="utf-8")
    if module.suffix == ".py":
        text = ast.get_docstring(ast.parse(text)) or ""
    else:
        found = _COMMENT.match(text)
        text = (found["line"] or found["block"]) if found else ""
    return re.split(r"(?<!et al\.)(?<=[.?!])\s", text.replace("\n", " ").strip())[0]
