"""Settings for the whole suite: no network, no deadlines that a busy machine would miss."""

from __future__ import annotations

import os
import signal
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
# Where a service keeps a person's work by default: not that of whoever runs the tests, nor that of other tests.
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="zerotag-tests-")
os.environ["TOKENIZERS_PARALLELISM"] = "true"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # tiny models gain nothing from more, and waiting threads take cores
os.environ.setdefault("RAY_health_check_timeout_ms", "60000")  # a busy node is not dead; one that is refuses at once
os.environ.setdefault("RAY_worker_niceness", "0")  # beside other tests, workers are to come to their turn

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as for all that a shell starts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # programs under test are to hear it

import pytest
from hypothesis import settings

settings.register_profile("zerotag", deadline=None, derandomize=True)  # a change is judged by what it changes
settings.load_profile("zerotag")


def pytest_configure(config: pytest.Config) -> None:
    """Warnings are errors, but for one that transformers' DeBERTa gives on import and nobody here can mend."""
    config.addinivalue_line("filterwarnings", "ignore:`torch.jit.script` is deprecated:DeprecationWarning")


LONG_FILES = ("test_readme.py", "test_onnx.py", "test_compare.py", "test_cli_resume.py", "test_benchmarks.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest: at the end, one process would work on one of them while others wait."""
    items.sort(key=lambda item: item.path.name not in LONG_FILES)
