import ast
from importlib import import_module
from pathlib import Path

import pytest

import zerotag


def declared() -> dict[str, str]:
    """What type checkers and editors are told that the package has: names, and the modules that define them."""
    tree = ast.parse(Path(zerotag.__file__).read_text(encoding="utf-8"))
    return {
        name.asname or name.name: node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("zerotag.")
        for name in node.names
    }


def test_types_and_programs_see_the_same_names() -> None:
    assert {*declared(), "__version__"} == set(zerotag.__all__)


@pytest.mark.parametrize(("name", "module"), declared().items())
def test_a_name_is_what_its_module_defines(name: str, module: str) -> None:
    assert getattr(zerotag, name) is getattr(import_module(module), name)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'zerotag' has no attribute 'fit'"):
        _ = zerotag.fit
