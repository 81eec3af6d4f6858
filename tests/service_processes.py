"""`zerotag serve` in processes of their own."""

from __future__ import annotations

import re
import signal
import subprocess

from commands import COMMAND, ENVIRONMENT


class Running:
    """The command in a process of its own."""

    def __init__(self, *arguments: object, **environment: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "serve", *map(str, arguments), "--port", "0"],
            env={**ENVIRONMENT, "PYTHONUNBUFFERED": "1", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        found = re.search(r"http://\S+", self.line)
        assert found, (self.line, self.process.stderr and self.process.stderr.read())
        self.url = found[0]

    def end(self, by: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Its exit code and what it logged, after a signal."""
        self.process.send_signal(by)
        _, logged = self.process.communicate(timeout=60)
        return self.process.returncode, logged
