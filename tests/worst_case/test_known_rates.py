"""Certified worst cases of methods whose exact rates are published."""

from __future__ import annotations

import pytest

from boundcheck.worst_case.programme import Certified, slack, solve
from boundcheck.worst_case.programme import positive_semidefinite as psd
from tests.worst_case.known_rates import RATES, Rate

ABOVE = 1e-6


@pytest.mark.parametrize("rate", RATES, ids=[r.name for r in RATES])
def test_a_certified_value_is_not_below_the_worst_case(rate: Rate) -> None:
    programme = rate.programme()
    found = solve(programme)
    assert isinstance(found, Certified)
    upper = float(found.upper)
    if rate.tight:
        assert rate.value * (1 - 1e-12) <= upper <= rate.value * (1 + ABOVE)
    else:
        assert upper <= rate.value
    assert psd(slack(programme, found.multipliers), programme.rows)


def test_most_are_exact() -> None:
    assert len(RATES) == 15
    assert sum(r.tight for r in RATES) == 12
