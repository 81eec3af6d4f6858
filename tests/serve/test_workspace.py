"""The workspace behind the page: files, trainings, models and corrections that survive a restart."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tiny
from services import JSON, Reply, Service, until
from zerotag.errors import ZerotagError
from zerotag.io import read_gold
from zerotag.serve.workspace.settings import WorkspaceSettings
from zerotag.serve.workspace.store import Store
from zerotag.serve.workspace.tables import Bad, read_table

SENTENCES = [(" ".join(words), "hedge" if any(flags) else "O") for words, flags in tiny.sentences(60)]
CSV = "id,comment,kind,note\n" + "".join(f'{i},"{text}",{label},"x, y"\n' for i, (text, label) in enumerate(SENTENCES))
CHOICE = {"text": "comment", "labels": ["kind"], "negative": None}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoder")
    return tiny.encoder_folder(folder)


@pytest.fixture
def settings(tmp_path: Path, encoder: Path) -> WorkspaceSettings:
    return WorkspaceSettings(folder=tmp_path / "work", encoder=str(encoder), upload_bytes=100_000, upload_rows=100)


@pytest.fixture
def service(settings: WorkspaceSettings) -> Iterator[Service]:
    with Service({}, workspace=settings) as running:
        yield running


def send(service: Service, method: str, path: str, body: Any = None, **headers: str) -> Reply:
    """A request as the page sends it."""
    token = service.get("/v1/workspace").json["token"]
    content = body if isinstance(body, bytes | None) else json.dumps(body)
    return service.ask(method, f"/v1/workspace{path}", content, {**JSON, "X-Zerotag-Token": token, **headers})


def upload(service: Service, name: str = "table.csv", content: bytes = CSV.encode()) -> Any:
    reply = send(service, "POST", f"/uploads?name={name}", content)
    assert reply.status == 201, reply.body
    return reply.json


def job(service: Service, number: int = 0) -> Any:
    return service.get("/v1/workspace/jobs").json["jobs"][number]


def test_from_a_table_to_a_model(service: Service) -> None:
    assert service.get("/v1/models").json["models"] == []
    assert service.label(["It may rain."]).code == "unknown_model"
    table = upload(service)
    assert (table["name"], table["rows"], table["bad"]) == ("table.csv", 60, 0)
    assert table["guess"] == {"text": "comment", "label": "kind", "id": "id"}
    assert table["columns"]["kind"]["values"] == {"O": 30, "hedge": 30}
    found = send(service, "POST", f"/uploads/{table['id']}/check", CHOICE).json
    assert (found["sentences"], found["labels"], found["problem"]) == (60, {"hedge": 30}, None)
    assert found["warnings"][0].startswith("60 sentences are few")
    reply = send(service, "POST", "/jobs", {"upload": table["id"], "name": "mine", **CHOICE})
    assert reply.status == 201
    assert send(service, "POST", "/jobs", {"upload": table["id"], "name": "mine", **CHOICE}).code == "taken"
    until(lambda: job(service)["state"] not in ("queued", "running"), 120)
    done = job(service)
    assert done["state"] == "done", service.get(f"/v1/workspace/jobs/{done['id']}/log").body
    assert done["result"]["labels"] == ["hedge"]
    assert done["result"]["sentences"] == {"train": 54, "dev": 6}
    assert b"60 sentences with the labels hedge" in service.get(f"/v1/workspace/jobs/{done['id']}/log").body
    until(lambda: service.get("/v1/models").json["models"], 30)
    (model,) = service.get("/v1/models").json["models"]
    assert (model["name"], model["labels"]) == ("mine", ["hedge"])
    assert service.label(["the pump may fail ."], model="mine").status == 200
    assert send(service, "DELETE", "/models/mine").status == 204
    assert service.get("/v1/models").json["models"] == []


def test_a_training_goes_on_after_a_restart(settings: WorkspaceSettings) -> None:
    with Service({}, workspace=settings) as service:
        table = upload(service)
        send(service, "POST", "/jobs", {"upload": table["id"], "name": "mine", **CHOICE})
        until(lambda: job(service)["state"] == "running")
    assert not (settings.folder / "models" / "mine").exists()
    with Service({}, workspace=settings) as service:
        until(lambda: job(service)["state"] == "done", 120)
    with Service({}, workspace=settings) as service:
        assert [model["name"] for model in service.get("/v1/models").json["models"]] == ["mine"]


def test_cancelling_and_waiting(service: Service, settings: WorkspaceSettings) -> None:
    table = upload(service)
    for name in ("one", "two"):
        send(service, "POST", "/jobs", {"upload": table["id"], "name": name, **CHOICE})
    until(lambda: job(service, 1)["state"] == "running")
    assert job(service, 0)["state"] == "queued"  # one at a time
    for number in (0, 1):
        assert send(service, "POST", f"/jobs/{job(service, number)['id']}/cancel").status == 204
    until(lambda: {job(service, 0)["state"], job(service, 1)["state"]} == {"cancelled"}, 60)
    assert list((settings.folder / "models").iterdir()) == []


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({**CHOICE, "labels": ["note"]}, "every sentence has"),
        ({**CHOICE, "labels": []}, "choose a column"),
        ({**CHOICE, "text": "kind"}, "cannot be that of the label"),
        ({**CHOICE, "text": "nothing"}, "nothing"),
    ],
)
def test_what_cannot_be_trained_on_is_said_before(service: Service, choice: Any, message: str) -> None:
    table = upload(service)
    reply = send(service, "POST", f"/uploads/{table['id']}/check", choice)
    assert message in reply.body.decode()
    refused = send(service, "POST", "/jobs", {"upload": table["id"], "name": "mine", **choice})
    assert refused.status == 422
    assert service.get("/v1/workspace/jobs").json["jobs"] == []


def test_only_its_own_page_changes_anything(service: Service) -> None:
    token = service.get("/v1/workspace").json["token"]
    path, own = "/v1/workspace/uploads?name=a.csv", f"127.0.0.1:{service.port}"
    assert service.ask("POST", path, CSV, JSON).code == "no_token"
    assert service.ask("POST", path, CSV, {"X-Zerotag-Token": "wrong"}).code == "no_token"
    good = {"X-Zerotag-Token": token}
    assert service.ask("POST", path, CSV, {**good, "Origin": "https://elsewhere.example"}).code == "wrong_origin"
    assert service.ask("POST", path, CSV, {**good, "Sec-Fetch-Site": "cross-site"}).code == "wrong_origin"
    assert service.ask("POST", path, CSV, {**good, "Origin": f"http://{own}"}).status == 201


def test_files_beyond_the_limits(service: Service, settings: WorkspaceSettings) -> None:
    assert send(service, "POST", "/uploads?name=a.csv", b"x" * 100_001).code == "too_large"
    many = b"text\n" + b"It rains.\n" * 101
    assert "more than 100 rows" in send(service, "POST", "/uploads?name=a.csv", many).json["error"]["message"]
    assert "a table is one of" in send(service, "POST", "/uploads?name=a.exe", b"MZ").json["error"]["message"]
    assert list((settings.folder / "uploads").iterdir()) == []  # nothing is left of them


def test_corrections_are_kept_and_read_by_the_library(settings: WorkspaceSettings, tmp_path: Path) -> None:
    tiny.labeller().save_pretrained(tmp_path / "one")
    example = {"text": "It may rain.", "words": ["It", "may", "rain", "."], "label": "hedge"}
    record = {"marks": [[1, "hedge", True]], "example": {**example, "word_labels": ["O", "hedge", "O", "O"]}}
    with Service({"one": tmp_path / "one"}, workspace=settings) as service:
        put = send(service, "PUT", "/corrections/one", {"sentence": "tIt may rain.", "record": record})
        assert put.status == 204
        assert send(service, "PUT", "/corrections/one", {"sentence": "x", "record": {}}).status == 422
    with Service({"one": tmp_path / "one"}, workspace=settings) as service:
        assert service.get("/v1/workspace/corrections/one").json == {"corrections": {"tIt may rain.": record}}
        file = tmp_path / "corrections.jsonl"
        file.write_bytes(service.get("/v1/workspace/corrections/one/file").body)
        (gold,) = read_gold(file).examples
        assert gold.word_labels == ((False,), (True,), (False,), (False,))
        send(service, "PUT", "/corrections/one", {"sentence": "tIt may rain.", "record": None})
        assert service.get("/v1/workspace/corrections/one").json == {"corrections": {}}


def test_one_service_holds_a_workspace(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(ZerotagError, match="another run"):
        Store(tmp_path)
    store.close()
    Store(tmp_path).close()


def test_a_workspace_of_another_version(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "workspace.sqlite") as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(ZerotagError, match="another version"):
        Store(tmp_path)


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
def test_every_format_gives_the_same_rows(tmp_path: Path, kind: str) -> None:
    rows = [{"text": 'It may, "perhaps",\nrain.', "n": "a"}, {"text": "It rains.", "n": "b"}]
    file = tmp_path / f"table.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), file)
    elif kind == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif kind == "xlsx":
        xlsxwriter = pytest.importorskip("xlsxwriter")
        with xlsxwriter.Workbook(file) as book:
            sheet = book.add_worksheet()
            for number, cells in enumerate([rows[0], *map(dict.values, rows)]):
                sheet.write_row(number, 0, list(cells))
    else:
        comma = {"csv": ",", "tsv": "\t"}[kind]
        lines = [["text", "n"]]
        lines += [['"' + row["text"].replace('"', '""') + '"', row["n"]] for row in rows]
        file.write_text("".join(comma.join(line) + "\r\n" for line in lines), encoding="utf-8", newline="")
    assert [found[1] for found in read_table(file)] == rows


def test_bad_rows_are_named_and_left_out(tmp_path: Path) -> None:
    file = tmp_path / "ragged.csv"
    file.write_text('text,n\nok,1\nshort\n"open,2\nlast,3\n', encoding="utf-8")
    found = list(read_table(file))
    bad = {one.line: one.reason for one in found if isinstance(one, Bad)}
    assert bad[3].startswith("the number of columns is 1, in the header 2")
    assert "not valid CSV" in bad[4]
    assert [one[1] for one in found if not isinstance(one, Bad)] == [
        {"text": "ok", "n": "1"},
        {"text": "last", "n": "3"},
    ]
