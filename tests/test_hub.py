"""Models go to a hub and come back by their name: the guide, with nothing but HF_ENDPOINT to know the hub by."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import tiny
from hub import Hub, hub

GUIDE = (Path(__file__).parents[1] / "docs" / "guides" / "hugging-face.md").read_text(encoding="utf-8")
AFTERWARDS = """
text = "The pump may leak ."
assert fetched.label(text) == labeller.label(text)
for attempt in (lambda: zerotag.load("user/nothing"), lambda: labeller.push_to_hub("no/such/name")):
    try:
        attempt()
    except zerotag.ZerotagError as error:
        print(error)
"""


def test_the_guide_against_a_hub(tmp_path: Path) -> None:
    tiny.labeller().save_pretrained(tmp_path / "model")
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE, flags=re.DOTALL | re.MULTILINE)
    with hub() as server:
        printed = run("".join([*blocks, AFTERWARDS]), server, tmp_path)
        *_, not_found, not_pushed = printed.splitlines()
        assert not_found.startswith("'user/nothing' is neither a folder nor a model that could be fetched from the hub")
        assert not_pushed.startswith("'no/such/name' cannot be pushed to the hub")
        pushed = server.models["user/hedges"]
        assert set(pushed) >= {file.name for file in (tmp_path / "model").iterdir()}
        assert b'zerotag.load("user/hedges")' in pushed["README.md"]
        assert server.private == {"user/hedges"}
        assert server.tokens == {"Bearer hf_secret"}


def run(program: str, server: Hub, folder: Path) -> str:
    """What a program prints."""
    home = {"HF_ENDPOINT": server.url, "HF_HOME": str(folder / "home"), "HF_TOKEN": "hf_secret", "HF_HUB_OFFLINE": "0"}
    command = [sys.executable, "-W", "error", "-c", program]
    result = subprocess.run(
        command, cwd=folder, env={**os.environ, **home}, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    return result.stdout
