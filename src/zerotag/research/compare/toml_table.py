"""A table of a TOML file whose values are taken one by one, so that a wrong or unknown one is met by a clear line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zerotag.errors import ZerotagError


class TomlTable:
    """The values of a table that were not taken yet, and where in which file it stands."""

    def __init__(self, where: str, values: dict[str, Any]) -> None:
        self.where = where
        self._left = dict(values)

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def text(self, key: str, default: str | None = None) -> str:
        """A string; without a default it has to be there."""
        value = self._take(key, default)
        if not isinstance(value, str):
            raise self.error(key, value, "a string")
        return value

    def flag(self, key: str) -> bool:
        """True or false, and false where it is left out."""
        value = self._take(key, False)
        if not isinstance(value, bool):
            raise self.error(key, value, "true or false")
        return value

    def whole_number(self, key: str) -> int | None:
        """A number of things, or None where it is left out."""
        value = self._left.pop(key, None)
        if value is not None and (type(value) is not int or value < 1):
            raise self.error(key, value, "a whole number above 0")
        return value

    def integers(self, key: str, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """A list of different whole numbers, at least one."""
        return self._different(key, default, int, "a list of different whole numbers such as [1, 2, 3]")

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of different strings, at least one."""
        return self._different(key, None, str, 'a list of different strings such as ["fce", "bea2019"]')

    def table(self, key: str) -> TomlTable:
        """A table in this one, empty where it is left out."""
        value = self._left.pop(key, {})
        if not isinstance(value, dict):
            raise self.error(key, value, "a table")
        return TomlTable(f"{self.where}, {key}", value)

    def tables(self, key: str) -> Iterator[tuple[str, TomlTable]]:
        """The tables in a table, by name."""
        outer = self.table(key)
        for name in list(outer._left):
            yield name, outer.table(name)

    def list_of_tables(self, key: str, *, optional: bool = False) -> Iterator[TomlTable]:
        """A list of tables, at least one unless it is optional; each is known by its name."""
        if optional and key not in self._left:
            return
        value = self._take(key, None)
        if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
            raise self.error(key, value, f"one or more tables [[{key}]]")
        for number, one in enumerate(value, start=1):
            yield TomlTable(f"{self.where}, {key} {one.get('name', number)!r}", one)

    def rest(self) -> dict[str, Any]:
        """All that is left, as it is."""
        rest, self._left = self._left, {}
        return rest

    def refuse_the_rest(self) -> None:
        """Whatever nobody took is unknown."""
        if self._left:
            raise ZerotagError(f"{self.where}: unknown key {next(iter(self._left))!r}; mend or remove it")

    def error(self, key: str, value: object, allowed: str) -> ZerotagError:
        """What to raise for a value that is not allowed."""
        shown = repr(value)
        return ZerotagError(
            f"{self.where}: {key} {shown if len(shown) <= 60 else shown[:60] + '…'} is not allowed; allowed: {allowed}"
        )

    def _take(self, key: str, default: object) -> Any:
        if key not in self._left and default is None:
            raise ZerotagError(f"{self.where}: {key} is missing; add it")
        return self._left.pop(key, default)

    def _different(self, key: str, default: tuple[Any, ...] | None, kind: type, allowed: str) -> tuple[Any, ...]:
        value = self._take(key, default)
        is_list = isinstance(value, list | tuple) and value and all(type(one) is kind for one in value)
        if not is_list or len(set(value)) < len(value):
            raise self.error(key, value, allowed)
        return tuple(value)
