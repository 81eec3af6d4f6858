"""A real Label Studio asks a running service for predictions, and its export is read back.

    python -m drills.label_studio [LABEL_STUDIO]

LABEL_STUDIO is its program; without one, it is installed into a folder of its own, as it needs other versions of much
that zerotag needs. Everything runs on this machine.
"""

from __future__ import annotations

import json
import secrets
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import tiny
from drills.programs import free_port, installed, running
from services import Service
from zerotag.io import read_gold
from zerotag.io.columns import Columns

CONFIG = (
    '<View><Text name="text" value="$text"/><Labels name="label" toName="text"><Label value="hedge"/></Labels>'
    '<Choices name="sentence" toName="text" choice="multiple"><Choice value="hedge"/></Choices></View>'
)
TEXTS = ["The pump may fail.", "It \U0001f600 works \U0001f468\u200d\U0001f469\u200d\U0001f467 perhaps.", "Rain."]


class LabelStudio:
    """Its API, as its own page uses it."""

    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self._token = token

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer to a request."""
        request = urllib.request.Request(
            f"{self._address}{path}",
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Token {self._token}", "Content-Type": "application/json"},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.code} {error.read().decode()[:2000]}") from None


@contextmanager
def started(program: str | Path, folder: Path) -> Iterator[LabelStudio]:
    """Label Studio with an empty database."""
    address = f"http://127.0.0.1:{(port := free_port())}"
    token = secrets.token_hex(20)
    arguments = ["--data-dir", str(folder), "--port", str(port), "--internal-host", "127.0.0.1", "--no-browser"]
    user = ["--username", "drill@example.org", "--password", secrets.token_hex(8), "--user-token", token]
    environment = {
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "COLLECT_ANALYTICS": "false",
        "ML_BLOCK_LOCAL_IP": "false",  # this machine is where the service is
        "SSRF_PROTECTION_ENABLED": "false",  # and where its webhook is
    }
    with running([program, "start", *arguments, *user], folder / "log.txt", environment, f"{address}/health"):
        yield LabelStudio(address, token)


def drill(studio: LabelStudio, folder: Path) -> None:
    """Everything that passes between the two, once."""
    labeller = tiny.labeller().with_threshold(0.5)
    labeller.save_pretrained(folder / "model")
    expected = labeller.label(TEXTS)
    project = studio.ask("POST", "/api/projects", {"title": "drill", "label_config": CONFIG})["id"]
    studio.ask("POST", f"/api/projects/{project}/import", [{"text": text} for text in TEXTS])
    with Service({"model": folder / "model"}) as service:
        backend = studio.ask("POST", "/api/ml", {"project": project, "url": service.url, "title": "zerotag"})
        state = studio.ask("GET", f"/api/ml/{backend['id']}")["state"]
        assert state == "CO", state
        print(f"the backend is connected: {state}")
        everything = {"selectedItems": {"all": True, "excluded": []}}
        studio.ask("POST", f"/api/dm/actions?id=retrieve_tasks_predictions&project={project}", everything)
    tasks = studio.ask("GET", f"/api/tasks?project={project}&fields=all")["tasks"]
    for task in tasks:
        (prediction,) = studio.ask("GET", f"/api/predictions?task={task['id']}")
        (wanted,) = [one for one in expected if one.text == task["data"]["text"]]
        spans = [item["value"] for item in prediction["result"] if item["type"] == "labels"]
        assert [(one["start"], one["end"], one["labels"]) for one in spans] == [
            (span.start, span.end, [span.label]) for span in wanted.spans
        ]
        print(f"predicted: {task['data']['text']!r}: {[one['text'] for one in spans]}")
        studio.ask(
            "POST", f"/api/tasks/{task['id']}/annotations", {"result": prediction["result"]}
        )  # accepted as it is
    export = folder / "export.json"
    export.write_text(json.dumps(studio.ask("GET", f"/api/projects/{project}/export?exportType=JSON")))
    gold = read_gold(export, columns=Columns(format="labelstudio"), label_names=("hedge",))
    for example, wanted in zip(gold.examples, sorted(expected, key=lambda one: TEXTS.index(one.text)), strict=True):
        assert example.sentence.text == wanted.text
        assert example.word_labels == tuple((bool(word.labels),) for word in wanted.words)
    print(f"the export is read back: {len(gold.examples)} sentences with the same words")
    import_file = folder / "tasks.json"
    from zerotag.io.annotation.labelstudio import render
    from zerotag.io.writers.style import Style

    style = Style(label_names=labeller.label_names, rules=labeller.rules, title="")
    import_file.write_text("".join(render(expected, style)), encoding="utf-8")
    other = studio.ask("POST", "/api/projects", {"title": "import", "label_config": CONFIG})["id"]
    counts = studio.ask("POST", f"/api/projects/{other}/import", json.loads(import_file.read_text(encoding="utf-8")))
    assert counts["prediction_count"] == len(TEXTS), counts
    print(f"imported: {counts['task_count']} tasks with {counts['prediction_count']} predictions")


def main() -> None:
    """Run the drill."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        given = sys.argv[1] if len(sys.argv) > 1 else None
        program = given or installed(folder / "environment", "label-studio") / "label-studio"
        (folder / "data").mkdir()
        with started(program, folder / "data") as studio:
            drill(studio, folder)


if __name__ == "__main__":
    main()
