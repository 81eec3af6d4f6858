"""A real doccano imports what zerotag suggests, and its exports are read back.

    python -m drills.doccano [DOCCANO]

DOCCANO is its program; without one, it is installed into a folder of its own. Everything runs on this
machine.
"""

from __future__ import annotations

import io
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import tiny
from drills.programs import free_port, installed, running
from zerotag.io import read_gold
from zerotag.io.annotation.doccano import render
from zerotag.io.columns import Columns
from zerotag.io.writers.style import Style
from zerotag.types import Corpus, GoldExample, Labelled, Rule

# doccano 1.8.4 names no upper limits for these, and does not run with later ones.
PACKAGES = ("doccano==1.8.4", "marshmallow<4", "numpy<2", "setuptools<81")
TEXTS = [
    "The pump may fail.",
    "It \U0001f600 works \U0001f468\u200d\U0001f469\u200d\U0001f467 perhaps.",
    "\U00020000 is rare, e\u0301t\u00e9 too.",
    "Rain.",
]
PROJECTS = {
    "words": ("SequenceLabelingProject", "SequenceLabeling"),
    "words and sentences": ("IntentDetectionAndSlotFillingProject", "IntentDetectionAndSlotFilling"),
}
OPTIONS = {"encoding": "utf_8", "column_data": "text", "column_label": "label"}  # which its page shows filled in
DONE_WITHIN = 120  # seconds, for a task


class Doccano:
    """Its API, as its own page uses it."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._token = ""

    def log_in(self, user: str, password: str) -> None:
        """Become a user."""
        self._token = self.ask("POST", "/v1/auth/login/", {"username": user, "password": password})["key"]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer to a request."""
        content = None if body is None else json.dumps(body).encode()
        return json.loads(self._answer(method, path, content, "application/json") or b"null")

    def upload(self, name: str, content: bytes) -> str:
        """The number under which a file is known once it is there."""
        boundary = uuid.uuid4().hex
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="filepond"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
        return self._answer("POST", "/v1/fp/process/", body, f"multipart/form-data; boundary={boundary}").decode()

    def wait(self, task: str) -> Any:
        """What a task in the background comes to."""
        until = time.monotonic() + DONE_WITHIN
        while time.monotonic() < until:
            status = self.ask("GET", f"/v1/tasks/status/{task}")
            if status["ready"]:
                return status
            time.sleep(0.5)
        raise SystemExit(f"the task is not done within {DONE_WITHIN} s")

    def download(self, path: str) -> list[bytes]:
        """The files of an export."""
        content = self._answer("GET", path, None, "application/json")
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return [archive.read(name) for name in archive.namelist()]

    def _answer(self, method: str, path: str, body: bytes | None, kind: str) -> bytes:
        headers = {"Content-Type": kind} | ({"Authorization": f"Token {self._token}"} if self._token else {})
        request = urllib.request.Request(f"{self._address}{path}", body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                found: bytes = answer.read()
                return found
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.code} {error.read().decode()[:2000]}") from None


@contextmanager
def started(program: Path, folder: Path) -> Iterator[Doccano]:
    """doccano with an empty database, and what works off its tasks."""
    environment = {"DOCCANO_HOME": str(folder)}
    password = secrets.token_hex(8)
    for command in (["init"], ["createuser", "--username", "drill", "--password", password]):
        done = subprocess.run([program, *command], env={**os.environ, **environment}, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"doccano {command[0]}: {done.stderr[-3000:]}")
    address = f"http://127.0.0.1:{(port := free_port())}"
    tasks: list[str | Path] = [program, "task", "--concurrency", "1"]
    server: list[str | Path] = [program, "webserver", "--port", str(port), "--workers", "1"]
    with (
        running(tasks, folder / "tasks.txt", environment),
        running(server, folder / "server.txt", environment, f"{address}/"),
    ):
        doccano = Doccano(address)
        doccano.log_in("drill", password)
        yield doccano


def drill(doccano: Doccano, folder: Path) -> None:
    """Suggestions to projects of two kinds, corrected by a person, and back."""
    labeller = tiny.labeller().with_rules([Rule(word_threshold=0.5, sentence_threshold=0.4)])
    expected = labeller.label(TEXTS)
    style = Style(label_names=labeller.label_names, rules=labeller.rules, title="")
    content = "".join(render(expected, style))
    for name, (kind, task) in PROJECTS.items():
        project = doccano.ask(
            "POST",
            "/v1/projects",
            {"name": name, "description": name, "project_type": task, "resourcetype": kind, "tags": []},
        )["id"]
        place = f"/v1/projects/{project}"
        file = doccano.upload("suggested.jsonl", content.encode())
        job = {"format": "JSONL", "uploadIds": [file], "task": task, **OPTIONS}
        done = doccano.wait(doccano.ask("POST", f"{place}/upload", job)["task_id"])
        assert done["error"] is None, done
        assert done["result"]["error"] == [], done
        _compare(_export(doccano, place, folder / "all.jsonl"), expected, labeller.label_names)
        print(f"{name}: imported, exported and read back: {len(expected)} sentences with the same words")
        corrected = _correct(doccano, place)
        gold = _export(doccano, place, folder / "approved.jsonl", approved=True)
        (one,) = gold.examples
        assert one.sentence.text == corrected
        assert one.word_labels is not None
        assert [any(flags) for flags in one.word_labels] == [True] + [False] * (len(one.word_labels) - 1)
        print(f"{name}: corrected and approved: {corrected!r}, of which the first word has the label")


def _correct(doccano: Doccano, place: str) -> str:
    """Let the first sentence have a label on its first word and nowhere else, and approve it."""
    example = doccano.ask("GET", f"{place}/examples?limit=100")["results"][0]
    spans = f"{place}/examples/{example['id']}/spans"
    (label,) = doccano.ask("GET", f"{place}/span-types")
    for span in doccano.ask("GET", spans):
        doccano.ask("DELETE", f"{spans}/{span['id']}")
    end = example["text"].index(" ")
    doccano.ask("POST", spans, {"start_offset": 0, "end_offset": end, "label": label["id"]})
    doccano.ask("POST", f"{place}/examples/{example['id']}/states", {})
    return str(example["text"])


def _export(doccano: Doccano, place: str, path: Path, *, approved: bool = False) -> Corpus[GoldExample]:
    job = {"format": "JSONL", "exportApproved": approved}
    task = doccano.ask("POST", f"{place}/download", job)["task_id"]
    doccano.wait(task)
    (content,) = doccano.download(f"{place}/download?taskId={task}")
    path.write_bytes(content)
    return read_gold(path, columns=Columns(format="doccano"), label_names=("hedge",))


def _compare(gold: Corpus[GoldExample], expected: Sequence[Labelled], label_names: Sequence[str]) -> None:
    assert [example.sentence.text for example in gold.examples] == [one.text for one in expected]
    for example, wanted in zip(gold.examples, expected, strict=True):
        assert example.word_labels == tuple(
            tuple(name in word.labels for name in label_names) for word in wanted.words
        ), (example, wanted)


def main() -> None:
    """Run the drill."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        given = sys.argv[1] if len(sys.argv) > 1 else None
        program = Path(given) if given else installed(folder / "environment", *PACKAGES) / "doccano"
        (folder / "data").mkdir()
        with started(program, folder / "data") as doccano:
            drill(doccano, folder)


if __name__ == "__main__":
    main()
