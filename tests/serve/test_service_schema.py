"""The service does what its OpenAPI description says, whatever schemathesis throws at it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tiny
from services import Service
from zerotag.serve.settings import Limits, Settings

KEY = "0123456789abcdef"
# A 413 is a refusal, too, and not all limits (words of a text, bytes of a body) can be said in a schema.
CONFIG = """
[checks]
negative_data_rejection.expected-statuses = [400, 401, 404, 405, 413, 415, 422]
positive_data_acceptance.expected-statuses = [200, 404, 413]
"""


def test_as_described(tmp_path: Path) -> None:
    pytest.importorskip("schemathesis", reason="schemathesis is not installed: pip install 'zerotag[dev]'")
    tiny.labeller().save_pretrained(tmp_path / "one")
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    settings = Settings(limits=Limits(texts=5, explained_texts=5, characters=300, words=40), api_key=KEY)
    with Service({"one": tmp_path / "one"}, settings) as service:
        result = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", f"{service.url}/openapi.json"),
                *("--checks", "all", "--max-examples", "100", "--seed", "1", "--no-color"),
                *("--phases", "examples,coverage,fuzzing", "--header", f"Authorization: Bearer {KEY}"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert result.returncode == 0, result.stdout + result.stderr
