"""Lines of code, without blank lines, comments and docstrings, of what was core at a commit and is core now.

    python tools/loc.py [COMMIT]

Core is all of the package but research, which the library never imports. A file counts if git finds it in both, by its
name or by what is in it.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from pathlib import Path

BEFORE = "9336ce9"
PACKAGE = "src/zerotag"
RESEARCH = tuple(f"{PACKAGE}/{name}" for name in ("research", "compare", "data/corpora", "bilstm", "vocabulary"))
NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def git(*command: str) -> str:
    """What git says."""
    return subprocess.run(["git", *command], capture_output=True, text=True, check=True).stdout


def lines_of_code(source: str) -> int:
    """Lines that have code on them."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        for statement in node.body if isinstance(node, documented) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                docstrings.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def pairs(before: str) -> list[tuple[str, str]]:
    """Files of the core then, and what they are called now."""
    then = [name for name in git("ls-tree", "-r", "--name-only", before, PACKAGE).splitlines() if name.endswith(".py")]
    changes = (line.split("\t") for line in git("diff", "-M30%", "--name-status", before, "--", PACKAGE).splitlines())
    fate = {names[0]: names[-1] if kind[0] != "D" else "" for kind, *names in changes}
    found = [(name, fate.get(name, name)) for name in then]
    return [pair for pair in found if pair[1] and not any(name.startswith(RESEARCH) for name in pair)]


def main() -> None:
    """Print both counts."""
    before = sys.argv[1] if len(sys.argv) > 1 else BEFORE
    both = pairs(before)
    then = sum(lines_of_code(git("show", f"{before}:{old}")) for old, _ in both)
    now = sum(lines_of_code(Path(new).read_text(encoding="utf-8")) for _, new in both)
    everything = sum(lines_of_code(file.read_text(encoding="utf-8")) for file in Path(PACKAGE).rglob("*.py"))
    print(
        f"core at {before} and now, {len(both)} files: {then:,} lines of code then, {now:,} now ({now / then - 1:+.0%})"
    )
    print(f"the whole package, research included: {everything:,} lines of code now")


if __name__ == "__main__":
    main()
