"""What the service allows, how long it waits and who may use it."""

from __future__ import annotations

from dataclasses import dataclass, field

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The largest request that is read; whatever is larger gets a 413."""

    texts: int = 1000
    """Texts of a request."""

    characters: int = 20_000
    """Characters of a text."""

    words: int = 4_000
    """Words of a text."""

    word_characters: int = 1_000
    """Characters of a word."""

    body_bytes: int = 2**20
    """Bytes of a request's body."""

    explained_texts: int = 16
    """Texts of a request for a method other than the model's own, which takes many passes over each."""

    explained_words: int = 200
    """Words of a text for such a method."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the service behaves."""

    limits: Limits = field(default_factory=Limits)

    api_key: str | None = field(default=None, repr=False)
    """What clients have to show. None: anybody who reaches the service may use it."""

    host_names: frozenset[str] | None = LOOPBACK_NAMES
    """Names under which the service may be called, so that no web page can point a name of its own at it. None: any."""

    queue: int | None = None
    """Sub-words, about, that a request may have to wait for; otherwise it gets a 429. None: three batches."""

    workers: int | None = None
    """Batches that a model works on at once. None: what suits the device."""

    explain_queue: int = 32
    """Texts that may wait for methods other than the model's own."""

    body_seconds: float = 10.0
    """How long a client may take to send a request."""

    request_seconds: float = 60.0
    """Time limit of a request: then its work is cancelled and it is answered with 504."""

    shutdown_seconds: float = 30.0
    """How long accepted requests may take to finish after SIGTERM or Ctrl-C: then they are cancelled."""

    stuck_seconds: float = 10.0
    """How long cancelled work may take to end before its queue counts as stuck, and `/readyz` says so."""

    reload_seconds: float = 120.0
    """How long a replaced model folder may take to load before it is given up, and `/readyz` says so."""

    watch_seconds: float = 1.0
    """How often model folders are looked at for a new model."""
