"""What the page shows, as files that the library writes and reads."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest

import tiny
from services import Reply, Service
from zerotag.io import read_corrected
from zerotag.io.columns import Columns
from zerotag.serve.workspace.exporting import MEDIA_TYPES
from zerotag.serve.workspace.settings import WorkspaceSettings
from zerotag.types import Rule

RULE = Rule(word_threshold=0.5, sentence_threshold=0.5, origin="sentence labels")
WORDS = [("It", 0, 2, 0.125), ("may", 3, 6, 0.875), ("rain", 7, 11, 0.25), (".", 11, 12, 0.0)]
RAIN = {
    "text": "It may rain.",
    "score": 0.75,
    "label": "hedge",
    "words": [
        {"text": text, "start": start, "end": end, "score": score, "label": "hedge" if score > 0.5 else None}
        for text, start, end, score in WORDS
    ],
    "spans": [{"text": "may", "start": 3, "end": 6, "label": "hedge", "score": 0.875}],
}
TABLE = b"nr,remark\na,\nb,It may rain.\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("exports")
    tiny.labeller().save_pretrained(folder / "one")
    settings = WorkspaceSettings(folder=folder / "work", upload_bytes=10_000)
    with Service({"one": folder / "one"}, workspace=settings) as running:
        yield running


def send(service: Service, path: str, body: bytes) -> Reply:
    token = service.get("/v1/workspace").json["token"]
    return service.ask("POST", f"/v1/workspace{path}", body, {"X-Zerotag-Token": token})


def export(service: Service, kind: str, *records: Any, upload: str = "") -> Reply:
    given = {"model": "one", "format": kind, "title": "Rain & wind", "rules": [asdict(RULE)]}
    lines = "".join(json.dumps(record) + "\n" for record in records)
    return send(service, f"/export?given={quote(json.dumps(given))}{upload}", lines.encode())


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_a_table_comes_back_with_all_its_columns_and_rows(service: Service, kind: str, tmp_path: Path) -> None:
    upload = send(service, "/uploads?name=a.csv", TABLE).json["id"]
    content = export(service, kind, {**RAIN, "line": 2}, upload=f"&upload={upload}").body
    file = tmp_path / f"table.{kind}"
    file.write_bytes(content)
    if kind == "parquet":
        rows = pq.read_table(file).to_pylist()
        assert rows[1]["zerotag_words"] == ["may"]
    elif kind == "xlsx":
        calamine = pytest.importorskip("python_calamine")
        header, *cells = calamine.CalamineWorkbook.from_path(str(file)).get_sheet_by_index(0).to_python()
        rows = [dict(zip(header, line, strict=True)) for line in cells]
    else:
        rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert [(row["nr"], row["zerotag_label"] or None, row["zerotag_score"] or None) for row in rows] == [
        ("a", None, None),
        ("b", "hedge", "0.75" if kind == "csv" else 0.75),
    ]


def test_texts_without_a_table_become_one(service: Service) -> None:
    rows = list(csv.DictReader(io.StringIO(export(service, "csv", RAIN, RAIN).body.decode())))
    assert [(row["text"], row["zerotag_words"]) for row in rows] == [("It may rain.", "may")] * 2


def test_the_report_measures_what_a_person_has_looked_at(service: Service) -> None:
    plain = export(service, "report", RAIN).body.decode()
    assert "1 sentence and 4 words" in plain
    assert "Rain &amp; wind" in plain
    assert "<mark" in plain
    assert "precision of words" not in plain
    looked_at = export(service, "report", {**RAIN, "gold": ["O", "hedge", "O", "O"]}).body.decode()
    assert "precision of words" in looked_at
    assert "on 1 sentence that a person has looked at" in looked_at


def test_annotations_are_read_back_as_they_were_decided(service: Service, tmp_path: Path) -> None:
    file = tmp_path / "corrections.json"
    file.write_bytes(export(service, "annotations", RAIN, {**RAIN, "label": None, "spans": []}).body)
    found = read_corrected(file, columns=Columns(format="labelstudio"), label_names=("hedge",))
    assert [one.word_labels for one in found.examples] == [
        ((False,), (True,), (False,), (False,)),
        ((False,),) * 4,
    ]
    assert [one.labels for one in found.examples] == [(True,), (False,)]


def test_what_cannot_be_made_is_refused(service: Service) -> None:
    assert set(MEDIA_TYPES) >= {"csv", "report"}
    assert export(service, "exe", RAIN).code == "invalid"
    assert "not as the page sends them" in export(service, "csv", {"text": "x"}).json["error"]["message"]
    assert send(service, "/export?given=x", b"").code == "invalid"
    assert export(service, "csv", RAIN, upload="&upload=..").status == 404
    assert export(service, "csv", *[RAIN] * 100).code == "too_large"
