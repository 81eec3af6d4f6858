"""The documentation: the site builds strictly, contacts nobody, and says what the code and the results say."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest
from typer.core import TyperGroup
from typer.main import get_command

import zerotag
from zerotag.cli.app import app

pytest.importorskip("mkdocs", reason="the site's packages are not installed: pip install 'zerotag[docs]'")

ROOT = Path(__file__).parents[1]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
LOADED = {("script", "src"), ("img", "src"), ("source", "srcset"), ("iframe", "src")}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "PYTHONPATH": "src", "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=280)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """What writes the tables of results."""
    monkeypatch.syspath_prepend(ROOT / "tools" / "site")
    yield importlib.import_module("result_tables")
    sys.modules.pop("result_tables")


class Links(HTMLParser):
    """What a page loads, and where it leads."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.targets: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and ((tag, name) in LOADED or (tag == "link" and name == "href")):
                self.loaded.append(value)
            if value and name in ("href", "src"):
                self.targets.append(value)


def pages(site: Path) -> Iterator[tuple[Path, Links]]:
    for page in sorted(site.rglob("*.html")):
        yield page, Links(page.read_text(encoding="utf-8"))


def test_the_site_contacts_nobody(site: Path) -> None:
    """Neither by what a page loads, nor by a style sheet, nor by the two features of the theme whose scripts do."""
    for page, links in pages(site):
        assert links.loaded
        assert [one for one in links.loaded if urlsplit(one).netloc] == [], page
        text = page.read_text(encoding="utf-8")
        assert 'class="mermaid"' not in text, "the theme would fetch mermaid from a CDN"
        assert 'data-md-component="source"' not in text, "the theme would ask a code forge for stars"
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//[^)]*", text) == [], sheet


def test_every_link_within_the_site_leads_somewhere(site: Path) -> None:
    followed = 0
    for page, links in pages(site):
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or not parts.path:
                continue
            path = site / parts.path.lstrip("/") if parts.path.startswith("/") else page.parent / unquote(parts.path)
            assert (path / "index.html" if path.is_dir() else path).is_file(), f"{page}: {target}"
            followed += 1
    assert followed > 1000


def test_every_public_name_is_on_a_page_of_the_reference() -> None:
    reference = "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("api.md", "settings.md"))
    named = set(re.findall(r"^::: zerotag\.(\w+)$", reference, flags=re.MULTILINE))
    assert named == {*zerotag.__all__} - {"__version__"}


def test_the_tree_names_every_package_and_module(site: Path) -> None:
    tracked = subprocess.run(["git", "ls-files", "src/zerotag"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode != 0:
        pytest.skip("not a git checkout")
    paths = [Path(one).relative_to("src") for one in tracked.stdout.split() if one.endswith((".py", ".js"))]
    paths = [path for path in paths if (ROOT / "src" / path).exists()]
    assert len(paths) > 100
    tree = (site / "tree.html").read_text(encoding="utf-8")
    sections = dict(re.findall(r"<h3[^>]*>(zerotag[\w/]*)/<.*?</h3>(.*?)(?=<h3|</article>)", tree, flags=re.DOTALL))
    for path in paths:
        section = sections[path.parent.as_posix()]
        if path.name == "__init__.py":
            assert re.match(r"\s*<p>\w", section), f"{path} does not say what it is for"
        else:
            said = rf"<code>{re.escape(path.name)}</code></dt>\s*<dd>(?:<p>)?\S"
            assert re.search(said, section), f"{path} does not say what it is for"


def test_the_layers_are_those_of_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    wanted = [", ".join(one.strip().removeprefix("zerotag.") for one in re.split("[|:]", line)) for line in layers]
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert "```text\n" + "\n".join(wanted) + "\n```" in page


def test_behaviours_are_in_files_that_exist() -> None:
    page = (ROOT / "docs" / "tree.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| (`[^|]+) \|$", page, flags=re.MULTILINE)
    assert len(rows) >= 22
    for behaviour, places in rows:
        for place in re.findall(r"`([\w/.]+)`", places):
            assert (ROOT / "src" / "zerotag" / place).exists(), f"{behaviour}: {place}"


def test_tables_of_results_are_up_to_date(tools: ModuleType) -> None:
    tables = 0
    for page in tools.PAGES:
        text = page.read_text(encoding="utf-8")
        tables += text.count("<!-- numbers: ")
        assert tools.filled_in(text) == text, f"{page}: run python tools/site/result_tables.py"
    assert tables >= 5


def test_a_table_follows_from_its_summary(tools: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    measures = {"word_f1": {"mean": 0.47894, "n": 5}, "map": {"mean": 0.6702, "n": 3}}
    summary = {"fce": {"zerotag": {**measures, "training_seconds": {"mean": 90.0, "n": 5}}}}
    monkeypatch.setattr(tools, "summary_of", lambda _: summary)
    table = tools.markdown(tools.Table((tools.Row("ours", "record", "zerotag"), tools.Row("theirs")), minutes=True))
    assert table.splitlines()[0] == "| | FCE | minutes |"
    assert "| ours | 47.9 / 67.0 | 1.5 |" in table
    assert "| theirs | 42.5 / 53.9 |  |" in table  # of BLADE, and of the paper
    assert "means of 3 to 5 seeds." in table


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.stem)
def test_code_on_pages_is_code(page: Path) -> None:
    """Python parses, and commands have the verbs and options that there are."""
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    for language, indented in re.findall(
        r"^ *```(\w*)[^\n]*\n(.*?)^ *```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    ):
        code = textwrap.dedent(indented)
        if language == "python":
            ast.parse(code)
        for verb, rest in re.findall(r"\bzerotag (\w+)((?:[^|\n\\]|\\\n)*)", code) if language in ("bash", "") else ():
            assert verb in group.commands, f"zerotag {verb}"
            known = {name for one in group.commands[verb].params for name in (*one.opts, *one.secondary_opts)}
            assert {*re.findall(r"(?<=\s)--[a-z][\w-]*", rest)} <= known | {"--help"}, f"zerotag {verb}{rest}"
