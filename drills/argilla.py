"""A real Argilla imports what zerotag suggests, a person answers, and its export is read back.

    python -m drills.argilla [PROGRAMS]

PROGRAMS is the folder of programs of an environment that has Argilla's package and its server; without one, they are
installed into a folder of their own. Everything runs on this machine.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import tiny
from drills.programs import free_port, installed, running
from zerotag.io import read_gold
from zerotag.io.annotation.argilla import render
from zerotag.io.columns import Columns
from zerotag.io.writers.style import Style
from zerotag.types import Rule

# Argilla 2.8.0 names no upper limit for click, and does not run with later ones.
PACKAGES = ("argilla==2.8.0", "argilla-server==2.8.0", "fakeredis", "click<8.2")
TEXTS = [
    "The pump may fail.",
    "It works perhaps.",
    "It \U0001f600 works \U0001f468\u200d\U0001f469\u200d\U0001f467 perhaps.",
    "\U00020000 is rare, e\u0301t\u00e9 too.",
    "Rain.",
]


def drill(programs: Path, folder: Path) -> None:
    """Suggestions, four answers, and back."""
    labeller = tiny.labeller().with_rules([Rule(word_threshold=0.5, sentence_threshold=0.4)])
    expected = labeller.label(TEXTS)
    style = Style(label_names=labeller.label_names, rules=labeller.rules, title="")
    suggested, export = folder / "suggested.json", folder / "export.json"
    suggested.write_text("".join(render(expected, style)), encoding="utf-8")

    python, key, port = programs / "python", secrets.token_hex(16), free_port()
    here = Path(__file__).parent
    environment = {"ARGILLA_HOME_PATH": str(folder / "home"), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_OFFLINE": "1"}
    user = ["--role", "owner", "--username", "drill", "--first-name", "drill", "--workspace", "drill"]
    _run([python, "-m", "argilla_server", "database", "migrate"], environment)
    secret = ["--api-key", key, "--password", secrets.token_hex(8)]
    _run([python, "-m", "argilla_server", "database", "users", "create", *user, *secret], environment)
    address = f"http://127.0.0.1:{port}"
    server: list[str | Path] = [python, "-P", here / "argilla_server.py", str(port)]
    with running(server, folder / "log.txt", environment, f"{address}/api/v1/version"):
        _run([python, "-P", here / "argilla_client.py", address, key, suggested, export], environment)
    print(f"imported: {len(expected)} records with suggestions, and another {len(expected)} beside them")

    gold = read_gold(export, columns=Columns(format="argilla"), label_names=labeller.label_names)
    found = {example.sentence.text: example.word_labels for example in gold.examples}
    assert list(found) == [TEXTS[0], TEXTS[3]], found  # neither drafts nor what is discarded or was never answered
    assert found[TEXTS[0]] == tuple((bool(word.labels),) for word in expected[0].words)
    assert found[TEXTS[3]] == ((True,), *(((False,),) * (len(expected[3].words) - 1)))
    print(f"the export is read back: {len(found)} submitted sentences with the same words, and none of the others")


def _run(command: list[str | Path], environment: dict[str, str]) -> None:
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}")


def main() -> None:
    """Run the drill."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        given = sys.argv[1] if len(sys.argv) > 1 else None
        drill(Path(given) if given else installed(folder / "environment", *PACKAGES), folder)


if __name__ == "__main__":
    main()
