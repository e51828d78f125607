"""Derivations of formulas: proved as they stand, and of no other formula."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from boundcheck.proof.discovery import derivation
from boundcheck.proof.step import Status
from boundcheck.theory.discovery import statement

NAMES = ("remark_e_2", "section_5_middle_term", "section_5_with_replacement")


@pytest.mark.parametrize("name", NAMES)
def test_a_formula_is_derived_and_no_multiple_of_it(name: str) -> None:
    found: Any = derivation(f"fedshuffle/{name}/corrected")
    report = found.examine()
    assert report.status is Status.PROVED
    assert report.bound_matches
    other = replace(found.statement, bound=2 * found.statement.bound)
    assert not replace(found, statement=other).examine().bound_matches


def test_the_printed_ratio_is_not_what_follows() -> None:
    """At W = 2/3, eta_g = 2, three steps of three: 2/3 of the other's step, where 1 is printed."""
    corrected, printed = (statement(f"fedshuffle/remark_e_2/{r}") for r in ("corrected", "as_printed"))
    values = {"work": 3, "largest": 3}
    assert corrected.evaluate(**values, W="2/3", eta_g=2).exact == sp.Rational(2, 3)
    assert printed.evaluate(**values).exact == 1
