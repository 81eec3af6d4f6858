"""Fuzzers and fault injection, each with a seed and a summary line. They use the tiny encoders of the tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))
