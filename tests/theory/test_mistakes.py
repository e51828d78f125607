"""One mistake does not hide another: all wrong values are named at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from boundcheck.errors import BadInput, Mistakes, UnknownName
from boundcheck.theory.discovery import statement

E_AND_L = r"E = 0 is outside its domain: integers E >= 1\. .*L = -1 is outside its domain"


@pytest.mark.parametrize("K", [3, [1, 2], np.array([1, 2])])
def test_all_wrong_values_of_an_evaluation(K: object) -> None:
    rest = {"mu": 1, "n": 2, "eta": 1, "sigma2": 1, "dist2_0": 1, "K": K}
    with pytest.raises(BadInput, match=E_AND_L):
        statement("scgd/theorem_3_3").evaluate(E=0, L=-1, **rest)


POINT = {"mu": 1, "L": 1, "n": 2, "E": 3, "eta": "1/100", "sigma2": 1, "dist2_0": 4, "K": 1}


def given(*names: str, **more: Any) -> dict[str, Any]:
    return {name: POINT[name] for name in names} | more


@pytest.mark.parametrize(
    ("method", "names", "values", "error", "said"),
    [
        ("scope", (), given("mu", "n", "E"), BadInput, "L, eta"),
        ("scope", (), given("mu", "L", "n", "E", "eta", etta=1), UnknownName, "'eta'"),
        ("scope", (), given("mu", "L", "n", "E", "eta", sigma=1), UnknownName, "sigma2"),
        ("evaluate", (), given("mu", "L", "n", "E", "eta", "K"), BadInput, "sigma2, dist2_0"),
        ("evaluate", (), {**POINT, "dist2": 1}, UnknownName, "'dist2_0'"),
        ("largest", ("etta",), given("mu", "L", "n", "E"), UnknownName, "'eta'"),
        ("largest", ("eta",), given("mu", "L"), BadInput, "n, E"),
        ("largest", ("eta",), given("L", "n", "E", mu=2), BadInput, "mu = 2"),
    ],
)
def test_missing_and_unknown_symbols_are_named(
    method: str, names: tuple[str, ...], values: dict[str, Any], error: type[BadInput], said: str
) -> None:
    with pytest.raises(error, match=said):
        getattr(statement("scgd/theorem_3_3"), method)(*names, **values)


def test_only_the_symbols_in_use_are_needed() -> None:
    assert statement("scgd/theorem_3_3").scope(**given("mu", "L", "n", "E", "eta")).values  # no K, sigma2 or dist2_0
    with pytest.raises(BadInput, match="algebraically"):
        statement("scgd/choice_of_e").largest("T", mu=1, L=1, n=1, E=1, ell=1)


def test_a_wrong_value_does_not_hide_a_missing_one() -> None:
    with pytest.raises(BadInput, match=r"needs a value for n, eta\. .*E = 0 is outside its domain.*L = -1 is outside"):
        statement("scgd/theorem_3_3").scope(E=0, L=-1, mu=1)


def test_a_single_mistake_stays_what_it_is() -> None:
    with pytest.raises(UnknownName, match=r"^scgd/theorem_3_3/corrected: symbol 'et' is unknown.*\?$"):
        statement("scgd/theorem_3_3").scope(E=1, L=1, mu=1, n=1, eta=1, et=1)


def test_mistakes_are_named_once_and_in_order() -> None:
    mistakes = Mistakes()
    mistakes.raise_all()
    for text in ("one.", "two.", "one."):
        with mistakes.noting():
            raise BadInput(text)
    with pytest.raises(BadInput, match=r"^one\. two\.$"):
        mistakes.raise_all()
