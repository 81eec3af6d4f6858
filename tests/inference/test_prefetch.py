from __future__ import annotations

from collections.abc import Iterator
from threading import Event, active_count, get_ident

import pytest

from zerotag.inference.prefetch import prefetched


def test_results_come_in_order_from_another_thread() -> None:
    results = list(prefetched(lambda item: (item * 10, get_ident()), range(5), 2))
    assert [number for number, _ in results] == [0, 10, 20, 30, 40]
    assert {thread for _, thread in results} != {get_ident()}
    assert list(prefetched(str, [], 2)) == []


def test_so_many_are_taken_while_the_first_is_at_work() -> None:
    taken: list[int] = []
    third = Event()

    def items() -> Iterator[int]:
        for number in range(9):
            taken.append(number)
            if number == 2:
                third.set()
            yield number

    def patient(number: int) -> int:
        assert third.wait(60)  # else nobody takes a third before the first is done
        return number

    results = prefetched(patient, items(), 2)
    assert next(results) == 0
    assert taken == [0, 1, 2]
    assert list(results) == [*range(1, 9)]


def test_what_goes_wrong_is_told_in_its_place() -> None:
    results = prefetched(lambda number: 1 // number, [1, 0, 1], 2)
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_whoever_stops_early_leaves_no_thread() -> None:
    before = active_count()
    results = prefetched(str, range(9), 2)
    next(results)
    assert active_count() > before
    results.close()
    assert active_count() == before
