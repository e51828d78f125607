"""Limits, values after very many rounds, metrics of rounds and refusals are as frozen."""

from __future__ import annotations

import pytest

from boundcheck.methods.build import kinds
from tests.oracle import limits, options, refusals
from tests.oracle.frozen import check, load

RELATIVE, ABSOLUTE = 1e-9, 1e-13  # of doubles after many rounds; the metrics start near 1


@pytest.mark.slow
def test_limits_and_far_values_are_as_frozen() -> None:
    frozen, found = load("limits"), limits.limits()
    for row in frozen.keys() & found.keys():
        for where in options.PROBLEMS:
            was, now = (list(map(float, of[row][where].split())) for of in (frozen, found))
            if now == pytest.approx(was, rel=RELATIVE, abs=ABSOLUTE):
                found[row][where] = frozen[row][where]
    check("limits", found)


def test_metrics_of_rounds_are_as_frozen() -> None:
    found = options.watched()
    assert set(found) == set(kinds())
    check("watched", found)


def test_refusals_are_as_frozen() -> None:
    found = refusals.described()
    check("refusals", found)
    assert not [name for name, entry in found.items() if entry["sentence"] == "carried out"]
