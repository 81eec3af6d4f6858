"""Lines of code, without blank lines, comments and docstrings, of what was core at a commit and is core now.

    python tools/loc.py [--files] [--gone] [COMMIT]

Core is all of the package but research, which the library never imports. Every line is counted once, in a balance of
definitions: functions, methods, classes (without their methods) and constants.

- in both: definitions that are there then and now under the same name, in whatever file.
- under another name: definitions of now that are called otherwise, and half of whose lines stood in the core then.
- gone: definitions of then that have no namesake; what stands for them now is above or below.
- new: all others, in files that git knows from then and in files that are new.

What became of the code that was core then is the sum of the first three. A blind spot is left: what was written anew
from scratch counts as gone, and its successor as new. --gone lists the former. By file, the old files are compared as
wholes, features that were added to them included; --files lists them, the most grown first.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path
from typing import NamedTuple

BEFORE = "9336ce9"
PACKAGE = "src/zerotag"
RESEARCH = tuple(f"{PACKAGE}/{name}" for name in ("research", "compare", "data/corpora", "bilstm", "vocabulary"))
NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
TELLING = 15  # characters of a line that says where it comes from; `else:` does not
Sources = dict[str, str]


class Definition(NamedTuple):
    """A function, class or constant: its file, and its lines of code."""

    file: str
    lines: tuple[str, ...]

    def stood_in(self, known: set[str]) -> bool:
        """Whether at least half of the lines that tell are among those known."""
        telling = [line for line in self.lines if len(line) > TELLING]
        return bool(telling) and 2 * sum(line in known for line in telling) >= len(telling)


def git(*command: str) -> str:
    """What git says."""
    return subprocess.run(["git", *command], capture_output=True, text=True, check=True).stdout


def is_core(name: str) -> bool:
    """Whether a file is code of the core."""
    return name.endswith(".py") and not name.startswith(RESEARCH)


def code_lines(source: str) -> dict[int, str]:
    """The lines that have code on them, by number."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        for statement in node.body if isinstance(node, documented) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                docstrings.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    numbers: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NOT_CODE:
            numbers.update(range(token.start[0], token.end[0] + 1))
    text = source.splitlines()
    return {number: text[number - 1].strip() for number in sorted(numbers - docstrings)}


def definitions(sources: Sources) -> dict[str, Definition]:
    """What is defined, by name; where several have a name, the file tells them apart."""
    found: list[tuple[str, Definition]] = []
    for file, source in sources.items():
        lines = code_lines(source)
        for name, numbers in _numbers(ast.parse(source), ""):
            found.append((name, Definition(file, tuple(lines[number] for number in numbers if number in lines))))
    times = Counter(name for name, _ in found)
    return {name if times[name] == 1 else f"{Path(one.file).stem}:{name}": one for name, one in found}


def _numbers(node: ast.Module | ast.ClassDef, of: str) -> list[tuple[str, list[int]]]:
    """The names defined in a module or class, and the numbers of their lines; methods are not part of their class."""
    found = []
    for child in node.body:
        inside = _inside(child)
        if isinstance(child, ast.ClassDef):
            within = _numbers(child, f"{of}{child.name}.")
            theirs = {number for _, numbers in within for number in numbers}
            found += [(of + child.name, [number for number in inside if number not in theirs]), *within]
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append((of + child.name, inside))
        elif not of and isinstance(child, ast.Assign | ast.AnnAssign):
            target = child.targets[0] if isinstance(child, ast.Assign) else child.target
            found.append((ast.unparse(target), inside))
    return found


def _inside(node: ast.stmt) -> list[int]:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return list(range(first, (node.end_lineno or first) + 1))


def successors(before: str, then: Sources) -> dict[str, str]:
    """What the files of then are called now, if they are there and core."""
    changes = (line.split("\t") for line in git("diff", "-M30%", "--name-status", before, "--", PACKAGE).splitlines())
    fate = {names[0]: names[-1] if kind[0] != "D" else "" for kind, *names in changes}
    return {name: new for name in then if is_core(new := fate.get(name, name))}


def row(what: str, then: int | None, now: int | None) -> str:
    """A line of the balance."""
    numbers = "".join(f"{'' if number is None else f'{number:,}':>9}" for number in (then, now))
    return f"{what:<44}{numbers}" + ("" if then is None or now is None else f"   {now / then - 1:+.1%}")


def main() -> None:
    """Print the balance."""
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    before = arguments[0] if arguments else BEFORE
    names = filter(is_core, git("ls-tree", "-r", "--name-only", before, PACKAGE).splitlines())
    then = {name: git("show", f"{before}:{name}") for name in names}
    now = {str(file): file.read_text(encoding="utf-8") for file in Path(PACKAGE).rglob("*.py") if is_core(str(file))}
    files = successors(before, then)
    old, new = definitions(then), definitions(now)
    known = {line for one in old.values() for line in one.lines}
    both = old.keys() & new.keys()
    renamed = {name for name in new.keys() - both if new[name].stood_in(known)}
    others = new.keys() - both - renamed
    added = {name for name in others if new[name].file in files.values()}

    def size(of: dict[str, Definition], some: set[str]) -> int:
        return sum(len(of[name].lines) for name in some)

    def whole(sources: Sources) -> int:
        return sum(len(code_lines(source)) for source in sources.values())

    print(row(f"lines of code: at {before}, and now", None, None))
    print(row(f"in both ({len(both)} definitions)", size(old, both), size(new, both)))
    print(row(f"under another name ({len(renamed)})", None, size(new, renamed)))
    print(row(f"gone ({len(old) - len(both)})", size(old, old.keys() - both), None))
    print(row("what was core then, and became of it", size(old, set(old)), size(new, both | renamed)))
    print(row(f"new, in files of then ({len(added)})", None, size(new, added)))
    print(row(f"new, in new files ({len(others - added)})", None, size(new, others - added)))
    rest = whole(then) - size(old, set(old)), whole(now) - size(new, set(new))
    print(row("imports and other statements of modules", *rest))
    print(row("all of the core, features included", whole(then), whole(now)))
    pairs = [(len(code_lines(then[name])), len(code_lines(now[its])), its) for name, its in files.items()]
    print(row(f"by file ({len(pairs)})", sum(size for size, _, _ in pairs), sum(size for _, size, _ in pairs)))
    if "--files" in sys.argv:
        for was, its_size, name in sorted(pairs, key=lambda one: one[0] - one[1]):
            print(f"  {its_size - was:+5} {was:5} {its_size:5} {name}")
    if "--gone" in sys.argv:
        for name in sorted(old.keys() - both, key=lambda name: -len(old[name].lines)):
            print(f"  {len(old[name].lines):5} {name} ({old[name].file})")


if __name__ == "__main__":
    main()
