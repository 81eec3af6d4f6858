"""Models go to a hub and come back by their name, as huggingface_hub sends and fetches them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import tiny
from hub import Hub, hub

PUSH_AND_LOAD = """
import json, shutil, sys
import huggingface_hub, zerotag

labeller = zerotag.WordLabeller.from_pretrained(sys.argv[1])
address = labeller.push_to_hub("somebody/hedges", private=True, token="hf_secret")
fetched = zerotag.load("somebody/hedges")
text = "The pump may leak ."
same = fetched.label(text) == labeller.label(text)
not_pushed = refused = ""
try:
    labeller.push_to_hub("no/such/name")
except zerotag.ZerotagError as error:
    not_pushed = str(error)
try:
    zerotag.load("somebody/nothing")
except zerotag.ZerotagError as error:
    refused = str(error)
print(json.dumps({"address": address, "same": same, "refused": refused, "not_pushed": not_pushed}))
"""


def test_a_model_is_pushed_and_loaded_by_name(tmp_path: Path) -> None:
    tiny.labeller().save_pretrained(tmp_path / "model")
    with hub() as server:
        found = in_a_process(server, tmp_path)
        assert found["address"] == f"{server.url}/somebody/hedges"
        assert found["same"] is True
        assert "'somebody/nothing' is neither a folder nor a model that could be fetched from the hub" in str(
            found["refused"]
        )
        assert "'no/such/name' cannot be pushed to the hub" in str(found["not_pushed"])
        assert set(server.models["somebody/hedges"]) >= {file.name for file in (tmp_path / "model").iterdir()}
        assert server.private == {"somebody/hedges"}
        assert b'zerotag.load("somebody/hedges")' in server.models["somebody/hedges"]["README.md"]
        assert server.tokens == {"Bearer hf_secret"}


def in_a_process(server: Hub, folder: Path) -> dict[str, object]:
    """What a program says that has nothing but the variable HF_ENDPOINT to know the hub by."""
    environment = {**os.environ, "HF_ENDPOINT": server.url, "HF_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "0"}
    command = [sys.executable, "-W", "error", "-c", PUSH_AND_LOAD, str(folder / "model")]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    found: dict[str, object] = json.loads(result.stdout.splitlines()[-1])
    return found
