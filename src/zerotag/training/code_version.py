"""Which code trains: a digest of the sources that decide what a training gives."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
DECISIVE = (
    *("training", "modeling", "text", "calibration.py", "config.py"),
    *("inference/predictor.py", "inference/torch_predictor.py"),
)


@cache
def code_version() -> str:
    """The digest, 16 hexadecimal digits; an edited comment changes it, too, which costs a resumption and no more."""
    digest = hashlib.sha256()
    for name in DECISIVE:
        place = PACKAGE / name
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
