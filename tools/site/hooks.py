"""What the site has besides the pages in docs/: files of the repository that pages link to, and generated lists.

A page may link to any file of the repository by its relative path, as it would be followed in a checkout. On the site
such a file lies under `repository/`: Markdown as a page, anything else as it is.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))  # hooks are not imported as a part of a package
import annotated_tree
import command_line

ROOT = Path(__file__).parents[2]
DOCS = "docs"
OUTSIDE = "repository"
GENERATED = {
    "<!-- the annotated tree -->": lambda: annotated_tree.markdown(ROOT / "src"),
    "<!-- the command line -->": command_line.markdown,
}

_LINK = re.compile(r"\]\((?P<target>[^)\s#:]+)(?P<after>#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside docs/ that the navigation names, or pages link to, and what these link to in turn."""
    waiting = [file.src_uri for file in files.documentation_pages()]
    waiting += [uri for uri in _named(config.nav) if uri.startswith(f"{OUTSIDE}/")]
    while waiting:
        uri = waiting.pop()
        place = in_repository(uri)
        if not (ROOT / place).is_file():
            continue  # the strict build says so
        if files.get_file_from_path(uri) is None:
            files.append(File.generated(config, uri, abs_src_path=str(ROOT / place)))
        if place.suffix == ".md":
            linked = (site_uri(place, found["target"]) for found in _LINK.finditer((ROOT / place).read_text("utf-8")))
            waiting += [one for one in linked if one is not None and files.get_file_from_path(one) is None]
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Links as they lead on the site, and generated lists where a page asks for them."""
    here = page.file.src_uri
    place = in_repository(here)

    def rewritten(link: re.Match[str]) -> str:
        uri = site_uri(place, link["target"])
        if uri is None:
            return link[0]
        target = os.path.relpath(uri, PurePosixPath(here).parent)
        return f"]({target}{link['after'] or ''})"

    text = _LINK.sub(rewritten, markdown)
    for mark, generate in GENERATED.items():
        if mark in text:
            text = text.replace(mark, generate())
    return text


def in_repository(uri: str) -> PurePosixPath:
    """Where a file of the site comes from, relative to the repository."""
    path = PurePosixPath(uri)
    return path.relative_to(OUTSIDE) if path.parts[0] == OUTSIDE else DOCS / path


def site_uri(page: PurePosixPath, target: str) -> str | None:
    """Where the file that a page of the repository links to lies on the site; None if there is no such file."""
    path = PurePosixPath(os.path.normpath(page.parent / target))
    if path.parts[:1] == ("..",) or not (ROOT / path).is_file():
        return None
    return str(path.relative_to(DOCS)) if path.parts[0] == DOCS else f"{OUTSIDE}/{path}"


def _named(nav: object) -> Iterator[str]:
    """Every path in the navigation."""
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for entry in nav.values():
            yield from _named(entry)
    elif isinstance(nav, list):
        for entry in nav:
            yield from _named(entry)
