"""One mistake does not hide another: all wrong values are named at once."""

from __future__ import annotations

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
