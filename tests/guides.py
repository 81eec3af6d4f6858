"""The pages of docs/guides, whose commands and code are run as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

from commands import CommandLine

FOLDER = Path(__file__).parents[1] / "docs" / "guides"


def run(name: str, zerotag: CommandLine) -> dict[str, Any]:
    """Run a guide from its first block to its last: Python in one namespace, which is returned, and `zerotag` lines.

    Other lines of the shell, such as `pip install`, are not run.
    """
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    for language, block in re.findall(r"^```(python|bash)\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE):
        if language == "python":
            exec(compile(block, f"{name}.md", "exec"), names)
            continue
        for line in block.replace("\\\n", " ").splitlines():
            command, *arguments = shlex.split(line, comments=True) or [""]
            if command == "zerotag":
                zerotag.succeeds(*arguments)
    return names
