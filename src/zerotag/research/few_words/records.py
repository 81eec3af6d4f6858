"""The file of a piece: what was measured, and by which code, with what and when."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from zerotag.io.files import whole_file
from zerotag.research.compare.provenance import moment, provenance


class Record:
    """Begun before a piece is made, so that the code of its beginning is told beside that of its end."""

    def __init__(self) -> None:
        self._began = moment()

    def write(self, path: Path, document: Mapping[str, object]) -> None:
        """Store what a piece has measured."""
        with whole_file(path) as file:
            file.write(json.dumps({**document, "made": provenance(1, self._began)}, indent=1) + "\n")
