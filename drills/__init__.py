"""Fuzzers and fault injection, by seed. They use the tiny encoders of the tests; `python -m drills` runs them all."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))
