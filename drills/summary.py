"""What a drill found, in one line."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Summary:
    """How many cases were tried and how many of them went wrong."""

    name: str
    cases: int = 0
    crashes: int = 0
    """Anything but success or one clear line: a traceback, a signal, another exit code, more than 1 GB of memory."""

    hangs: int = 0
    lost: int = 0
    """Outputs that were lost, are stale, or differ without a word."""

    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    """The cases that went wrong, by name, so that each can be repeated."""

    @property
    def clean(self) -> bool:
        """Whether nothing went wrong."""
        return not (self.crashes or self.hangs or self.lost)

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.cases:,} cases, {self.crashes} crashes, {self.hangs} hangs, "
            f"{self.lost} lost or stale outputs, {self.seconds:.0f} s"
        )
