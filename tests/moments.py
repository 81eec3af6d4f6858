"""Ends that come to a program at a moment of our choice, however busy the machine is: it brings them about itself."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from threading import Timer
from typing import Any, NoReturn
from unittest import mock


def after_calls(owner: type, method: str, calls: int, act: Callable[[], object]) -> None:
    """From now on, act when a method has come back for so many times."""
    real = getattr(owner, method)
    made = 0

    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal made
        result = real(*arguments, **options)
        made += 1
        if made == calls:
            act()
        return result

    mock.patch.object(owner, method, counted).start()


def interrupt() -> None:
    """As Ctrl-C does."""
    os.kill(os.getpid(), signal.SIGINT)


def die(*_: object) -> NoReturn:
    """As by kill -9."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("it lives on")


def die_after(seconds: float) -> None:
    """In the midst of whatever it does then."""
    timer = Timer(seconds, die)
    timer.daemon = True
    timer.start()
