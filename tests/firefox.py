"""Firefox over WebDriver BiDi, which it speaks by itself: no driver, and no copy of the browser made for tests."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

FIREFOXES = ("firefox-esr", "firefox")
SECONDS = 30.0
_LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
_KEYS = {"Enter": "\ue007", "ArrowLeft": "\ue012", "ArrowRight": "\ue014"}


def firefox() -> str | None:
    """The browser: the one that ZEROTAG_FIREFOX names, else the system's."""
    return os.environ.get("ZEROTAG_FIREFOX") or next(filter(None, map(shutil.which, FIREFOXES)), None)


class FirefoxPage:
    """The only tab of a Firefox."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._numbers = count(1)
        self.errors: list[str] = []  # of the console
        self._command("session.new", capabilities={})
        self._command("session.subscribe", events=["log.entryAdded"])
        self._context = self._command("browsingContext.getTree")["contexts"][0]["context"]

    def goto(self, url: str) -> None:
        """Open an address, and wait until it is loaded."""
        self._command("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """What an expression gives, as JSON; a promise is awaited."""
        code = f"Promise.resolve({expression}).then((value) => JSON.stringify(value ?? null))"
        return json.loads(self._evaluated(code)["value"])

    def wait_for(self, condition: str, seconds: float = SECONDS) -> None:
        """Wait until an expression is true."""
        deadline = time.monotonic() + seconds
        while not self.evaluate(f"Boolean({condition})"):
            assert time.monotonic() < deadline, f"it never happened: {condition}\n{self.evaluate(_SHOWN)}"
            time.sleep(0.05)

    def text(self, selector: str) -> str:
        """The text of an element as it is shown."""
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))

    def click(self, selector: str) -> None:
        """Click the middle of an element once it can be seen."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.wait_for(f"{found}?.checkVisibility() && !{found}.disabled")
        at = self.evaluate(f"(({_MIDDLE})({found}))")
        pointer = [
            {"type": "pointerMove", **at},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._perform({"type": "pointer", "id": "mouse", "actions": pointer})

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        values = [_KEYS.get(key, key) for key in keys]
        actions = [{"type": kind, "value": value} for value in values for kind in ("keyDown", "keyUp")]
        self._perform({"type": "key", "id": "keyboard", "actions": actions})

    def choose_file(self, selector: str, path: Path) -> None:
        """Give a file to an input."""
        element = self._evaluated(f"document.querySelector({json.dumps(selector)})")
        reference = {"sharedId": element["sharedId"]}
        self._command("input.setFiles", context=self._context, element=reference, files=[str(path)])

    def _evaluated(self, code: str) -> dict[str, Any]:
        target = {"context": self._context}
        found = self._command("script.evaluate", expression=code, target=target, awaitPromise=True)
        assert found["type"] == "success", found["exceptionDetails"]["text"]
        return dict(found["result"])

    def _perform(self, *actions: dict[str, Any]) -> None:
        self._command("input.performActions", context=self._context, actions=list(actions))

    def _command(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._connection.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:  # events come between
            message = json.loads(self._connection.recv(SECONDS))
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self.errors.append(str(message["params"]["text"]))
            if message.get("id") == number:
                assert message["type"] == "success", f"{method}: {message['message']}"
                return dict(message["result"])


_SHOWN = "document.body.innerText"
_MIDDLE = """(element) => {
  element.scrollIntoView({ block: "center", behavior: "instant" });
  const { left, top, width, height } = element.getBoundingClientRect();
  return { x: Math.round(left + width / 2), y: Math.round(top + height / 2) };
}"""


@contextmanager
def opened_firefox(program: str, profile: Path) -> Iterator[FirefoxPage]:
    """A Firefox of its own, with a profile that is empty."""
    profile.mkdir()
    command = [program, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            address = next(found[1] for line in process.stderr if (found := _LISTENING.search(line)))
            with connect(f"{address}/session", max_size=None) as connection:
                yield FirefoxPage(connection)
        finally:
            process.kill()
