"""Files of every input format with something odd in them, drawn from a generator."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

FORMATS = (".txt", ".tsv", ".csv", ".jsonl", ".m2", ".parquet")
_WORDS = ("the", "pump", "may", "fail", "naïve", "字", "😀", "\u200b", "a\u0301", "don't", "1,000", "x" * 300)
_REPEATED = (1 << 6, 1 << 10, 1 << 14, 1 << 16)  # bytes at most
_TOKENS = (
    *(
        b"\n",
        b"\r\n",
        b"\r",
        b"\0",
        b"\t",
        b" ",
        b",",
        b";",
        b'"',
        b'""',
        b"'",
        b"\\",
        b'","',
        b'x",".\n',
        b"\n\n",
        b'"\n',
    ),
    *(b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xfe\xff", "\u2028\u0085\u00a0".encode(), "😀".encode()),
    *(b"\\ud83d", b"\\ud800\\udfff", b"\\u0000", b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"null", b"true", b"{}"),
    *(b"[", b"{", b'{"a":', b"]" * 40, b'[{"start": 0, "end": 3}]', b'{"text": "a pump"}\n', b'"words": ["a"]'),
    *(b"A 0 1|||R|||x|||REQUIRED|||-NONE-|||0\n", b"A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n", b"S ", b"|||"),
    *(b"A 0 999999999|||R|||x|||REQUIRED|||-NONE-|||7\n", b"x\tO\n", b"\tO\n", b"PAR1", b"\x1f\x8b", b"(\xb5/\xfd"),
)


def odd_file(draw: random.Random, suffix: str) -> tuple[str, bytes]:
    """The suffix of a file and what is in it: something odd among good records, one time in five packed."""
    content = _table(draw) if suffix == ".parquet" else _records(draw, suffix)
    for _ in range(draw.choice((0, 1, 1, 2, 4))):
        content = _changed(draw, content)
    if draw.random() < 0.2:
        packing = draw.choice((".gz", ".zst"))
        content = gzip.compress(content, 1) if packing == ".gz" else pa.compress(content, "zstd", asbytes=True)
        suffix += packing
        if draw.random() < 0.3:
            content = _changed(draw, content)
    return suffix, content


def _changed(draw: random.Random, content: bytes) -> bytes:
    at, size = draw.randrange(len(content) + 1), draw.choice((0, 1, 4, 40, 400))
    match draw.randrange(7):
        case 0:
            return content[:at] + draw.choice(_TOKENS) + content[at + size :]
        case 1:  # the same over and over: what takes quadratic time shows itself
            token = draw.choice(_TOKENS)
            return content[:at] + token * (draw.randrange(1, draw.choice(_REPEATED)) // len(token)) + content[at:]
        case 2:
            return content[:at]
        case 3:
            return content[:at] + content[at : at + size] * draw.choice((2, 3, 50)) + content[at + size :]
        case 4:
            return content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :]
        case 5:
            return content[:at] + draw.randbytes(size) + content[at + size :]
        case _:
            other = draw.randrange(len(content) + 1)
            return content[:at] + content[other : other + size] + content[at:]


def _text(draw: random.Random) -> str:
    return " ".join(draw.choices(_WORDS, k=draw.choice((0, 1, 3, 8, 30))))


def _records(draw: random.Random, suffix: str) -> bytes:
    texts = [_text(draw) for _ in range(draw.choice((0, 1, 5, 20)))]
    if suffix == ".txt":
        return "\n".join(texts).encode()
    if suffix == ".tsv":
        labels = ("O", "hedge", "1", "0", "")
        return "\n".join(
            "".join(f"{word}\t{draw.choice(labels)}\n" for word in text.split()) for text in texts
        ).encode()
    if suffix == ".m2":
        return "\n".join(
            f"S {text}\nA 0 1|||R|||x|||REQUIRED|||-NONE-|||{draw.choice('01')}\n" for text in texts
        ).encode()
    if suffix == ".csv":
        table = io.StringIO()
        writer = csv.writer(table, delimiter=draw.choice(",;\t"), lineterminator=draw.choice(("\n", "\r\n")))
        writer.writerows([("text", "label"), *((f"{text}\n{text}", draw.choice("01")) for text in texts)])
        return table.getvalue().encode()
    return "".join(json.dumps(_record(draw, text)) + "\n" for text in texts).encode()


def _record(draw: random.Random, text: str) -> dict[str, Any]:
    words = text.split()
    more: tuple[dict[str, Any], ...] = (
        {},
        {"label": draw.choice((0, 1, True, "hedge", ["hedge"], None, 0.5, {}, [[]]))},
        {"words": words, "word_labels": [draw.choice((0, "hedge", None, ["a", "b"])) for _ in words]},
        {"spans": [{"start": draw.randrange(-1, 9), "end": draw.randrange(9), "label": draw.choice(("a", None, 7))}]},
        {"words": draw.choice((None, [], [1], ["a", ""], "a pump", {"a": 1}))},
    )
    return {"text": text, **draw.choice(more), **draw.choice(more)}


_TYPES = (
    *(pa.string(), pa.string(), pa.string(), pa.large_string(), pa.binary(), pa.int64(), pa.float64(), pa.bool_()),
    *(pa.date32(), pa.date64(), pa.timestamp("ms"), pa.timestamp("us", tz="UTC"), pa.timestamp("ns")),
    *(
        pa.duration("us"),
        pa.time64("us"),
        pa.decimal128(38, 2),
        pa.null(),
        pa.list_(pa.string()),
        pa.list_(pa.list_(pa.int32())),
    ),
    *(pa.dictionary(pa.int32(), pa.string()), pa.struct([("start", pa.int64()), ("end", pa.int64())])),
)


def _table(draw: random.Random) -> bytes:
    rows = draw.choice((0, 1, 5, 40))
    names = draw.sample(("text", "label", "words", "word_labels", "spans", "other"), draw.randrange(1, 4))
    columns = {name: _column(draw, draw.choice(_TYPES), rows) for name in {"text", *names}}
    if draw.random() < 0.7:
        columns["text"] = pa.array([_text(draw) or None for _ in range(rows)], pa.string())
    file = io.BytesIO()
    compression = draw.choice(("none", "snappy", "zstd", "gzip"))
    pq.write_table(
        pa.table(columns), file, row_group_size=draw.choice((1, 7, 1000)), compression=compression, version="2.6"
    )
    return file.getvalue()


def _column(draw: random.Random, kind: pa.DataType, rows: int) -> pa.Array:
    """Values of a type, some of which Python cannot hold."""
    numbers = [draw.choice((0, 1, -1, 2**31 - 1, 2**62, -(2**62), draw.randrange(10**9), None)) for _ in range(rows)]
    if pa.types.is_temporal(kind):
        width = pa.int32() if kind.bit_width == 32 else pa.int64()
        small = [one if one is None or width == pa.int64() else one % 2**31 for one in numbers]
        return pa.Array.from_buffers(kind, rows, pa.array(small, width).buffers())
    if pa.types.is_binary(kind):
        return pa.array([draw.choice((b"a pump", b"\xff", None)) for _ in numbers], kind)
    if kind == pa.string() and draw.random() < 0.3:  # bytes that are no text, as other programs write them
        return pa.Array.from_buffers(kind, rows, pa.array([b"a\xff\xed\xa0\x80"] * rows, pa.binary()).buffers())
    values: list[object] = []
    for number in numbers:
        if pa.types.is_list(kind):
            values.append(draw.choice((None, [])))
        elif pa.types.is_struct(kind):
            values.append({"start": number, "end": number})
        elif pa.types.is_boolean(kind):
            values.append(draw.choice((True, False, None)))
        elif pa.types.is_integer(kind) or pa.types.is_decimal(kind):
            values.append(number)
        elif pa.types.is_floating(kind):
            values.append(draw.choice((0.0, 1.0, float("nan"), float("inf"), None)))
        elif pa.types.is_null(kind):
            values.append(None)
        else:
            values.append(_text(draw))
    return pa.array(values, kind)
