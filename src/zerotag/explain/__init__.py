"""Methods that score words, behind one small protocol and one registry."""

from zerotag.explain.registry import (
    NATIVE,
    SCORERS,
    Scorer,
    ScorerArguments,
    ScorerSpec,
    create,
    in_torch,
    mask_id,
    rules_for,
    spec_of,
)

__all__ = [
    "NATIVE",
    "SCORERS",
    "Scorer",
    "ScorerArguments",
    "ScorerSpec",
    "create",
    "in_torch",
    "mask_id",
    "rules_for",
    "spec_of",
]
