"""The same sentences as a file of every format that can be labelled."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq


def as_text(texts: list[str]) -> bytes:
    return "".join(f"{text}\r\n\n" for text in texts).encode()


def as_tsv(texts: list[str]) -> bytes:
    return "\n \t\n".join("".join(f"{word}\n" for word in text.split(" ")) for text in texts).encode()


def as_csv(texts: list[str]) -> bytes:
    table = io.StringIO()
    csv.writer(table).writerows([("id", "text"), *((str(i), f"{text}\n{text}") for i, text in enumerate(texts))])
    return table.getvalue().encode()


def as_jsonl(texts: list[str]) -> bytes:
    return "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()


def as_m2(texts: list[str]) -> bytes:
    return "".join(f"S {text}\nA 0 1|||R|||x|||REQUIRED|||-NONE-|||1\n\n" for text in texts).encode()


def as_parquet(texts: list[str]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"text": pa.array(texts, pa.string())}), file, row_group_size=2)
    return file.getvalue()


FORMATS: dict[str, Callable[[list[str]], bytes]] = {
    ".txt": as_text,
    ".tsv": as_tsv,
    ".csv": as_csv,
    ".jsonl": as_jsonl,
    ".m2": as_m2,
    ".parquet": as_parquet,
}
