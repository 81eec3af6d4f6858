"""Registries: what can be named in a setting, an option or a model folder, and who provides it.

The library's own entries are listed beside each registry as `module:attribute`, and imported on use. Other packages add
theirs by an entry point of the registry's group, in their own pyproject.toml:

    [project.entry-points."zerotag.scorers"]
    mine = "my_package.scorer:SCORER"

A name is only ever looked up among these: a model folder cannot make anything be imported that is not installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar, cast

from zerotag.errors import ZerotagError

T = TypeVar("T")


class Registry(Generic[T]):
    """Named implementations of one kind, of this package and of others.

    Args:
        kind: what an entry is, for messages ("scorer").
        own: the library's own entries, name to `module:attribute`.
        group: the group of entry points. Default: `zerotag.` and the kind's plural.
    """

    def __init__(self, kind: str, own: Mapping[str, str], *, group: str | None = None) -> None:
        self.kind = kind
        self.group = group or f"zerotag.{kind}s"
        self._own = dict(own)
        self._loaded: dict[str, T] = {}

    def names(self) -> tuple[str, ...]:
        """Every name that can be asked for: the library's own first, then those of other packages."""
        return (*self._own, *sorted(name for name in plugins(self.group) if name not in self._own))

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in plugins(self.group)

    def get(self, name: str) -> T:
        """The entry with a name; the library's own cannot be replaced by another package.

        Raises:
            ZerotagError: no installed package provides it, or its module cannot be imported.
        """
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> T:
        if name in self._own:
            module, _, attribute = self._own[name].partition(":")
            return cast(T, getattr(import_module(module), attribute))
        entry = plugins(self.group).get(name)
        if entry is None:
            raise ZerotagError(
                f"unknown {self.kind} {name[:40]!r}; there are: {', '.join(self.names())}; "
                f"others come with packages that have an entry point {self.group!r}"
            )
        try:
            return cast(T, entry.load())
        except (ImportError, AttributeError) as error:
            package = entry.dist.name if entry.dist else entry.value
            raise ZerotagError(f"{self.kind} {name!r} of package {package} cannot be imported ({error})") from error


@cache
def plugins(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group, by name; looked up once, as it means to search all installed packages."""
    return {entry.name: entry for entry in entry_points(group=group)}
