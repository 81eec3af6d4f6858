"""What scoring takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """What scoring some sentences took, per 1,000 of them."""

    seconds_per_1000: float
    passes_per_1000: float
    """Sentences that went forward through the network, masked copies included."""

    @classmethod
    def of(cls, seconds: float, passes: int, sentences: int) -> Cost:
        """From what all sentences took together."""
        per_1000 = 1000 / max(1, sentences)
        return cls(round(seconds * per_1000, 4), round(passes * per_1000, 1))
