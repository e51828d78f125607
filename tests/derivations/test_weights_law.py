"""The law of random weights against enumeration of all cohorts, and what a derivation may not say with it."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from exact_facts import Outcome, Replay, _Reader
from replays import array

from boundcheck.proof.discovery import folder
from boundcheck.proof.find.record import record_file
from boundcheck.proof.laws import Place, Weights
from boundcheck.proof.sums import vector_total
from boundcheck.proof.vectors import Inner, vector
from boundcheck.verify import boundcheck_verify as v

F = Fraction
M, i, k, j, alpha = sp.symbols("M i k j alpha", real=True)
p: Any = sp.Function("p", real=True)(i)
d: Any = sp.Function("d", real=True)(i)
x, a, z, w = vector("x", k, i), vector("a", k, i), vector("z", k, i), vector("w")
LAW = Weights(
    "weights", "", ((a, z),), (z, x, w), weighted=(x,), mean_weight=p, largest=d, correlation=alpha, clients=M
)
SIZES = (F(2), F(1), F(5, 3))
POINTS = {(s, c): array([3 * s - c + 1, (c * c + 2 * s) % 5 - 2]) for s in range(2) for c in range(3)}


def cohorts(kind: str) -> tuple[list[tuple[Fraction, tuple[int, ...]]], Fraction]:
    """All cohorts of three clients with their chances, and alpha."""
    if kind == "coins":  # independent: E w_i w_j = q_i q_j
        chance = (F(1, 2), F(1, 3), F(3, 4))
        found = []
        for cohort in product((0, 1), repeat=3):
            weight = F(1)
            for c, q in zip(cohort, chance, strict=True):
                weight *= q if c else 1 - q
            found.append((weight, cohort))
        return found, F(1)
    if kind == "one":  # one client a round: never two together
        return [(F(1, 2), (1, 0, 0)), (F(1, 3), (0, 1, 0)), (F(1, 6), (0, 0, 1))], F(0)
    # two of three, all pairs alike: 1/3 = alpha (2/3)^2
    return [(F(1, 3), c) for c in ((1, 1, 0), (1, 0, 1), (0, 1, 1))], F(3, 4)


def replayed(kind: str) -> tuple[Replay, list[Fraction]]:
    drawn, factor = cohorts(kind)
    means = [sum(c[n] * weight for weight, c in drawn) * SIZES[n] for n in range(3)]
    outcomes = [
        Outcome(
            weight,
            {
                "zero": lambda: 0 * POINTS[0, 0],
                "x": lambda s, c: POINTS[int(s), int(c)],
                "z": lambda s, c: POINTS[int(s), int(c)] * means[int(c)],
                "a": lambda s, c, cohort=cohort: POINTS[int(s), int(c)] * SIZES[int(c)] * cohort[int(c)],
                "w": lambda: array([2, -7]),
            },
            lambda *_: None,
        )
        for weight, cohort in drawn
    ]
    functions = {"p": lambda c: means[int(c)], "d": lambda c: SIZES[int(c)]}
    return Replay({"M": F(3), "alpha": factor}, outcomes, functions), means


def atom(v: Any) -> Any:
    return v.terms[0][0]


def over(v: Any, count: Any, step: int) -> Any:
    return atom(vector_total(v.at(k, step), i, count))


PAIRS = (
    (over(a, M, 0), over(a, M, 0)),
    (over(a, M, 0), over(a, M, 1)),  # another step, the same weights
    (over(a, M, 0), over(a, M - 1, 0)),
    (over(a, M - 2, 1), over(a, M, 0)),
    (over(a, M, 0), atom(w)),
    (over(a, 2, 1), over(z, M, 0)),
    (atom(a.at(k, 0).at(i, 1)), atom(a.at(k, 0).at(i, 1))),
    (atom(a.at(k, 0).at(i, 1)), atom(a.at(k, 1).at(i, 1))),
    (atom(a.at(k, 0).at(i, 1)), atom(a.at(k, 1).at(i, 2))),
    (over(a, 2, 0), atom(a.at(k, 1).at(i, 1))),
    (over(a, 2, 0), atom(a.at(k, 0).at(i, 2))),
)


@pytest.mark.parametrize("kind", ["coins", "one", "two"])
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_expectations_are_those_of_all_cohorts(kind: str, pair: tuple[Any, Any]) -> None:
    replay, _ = replayed(kind)
    reader = _Reader(SimpleNamespace(ranges=tuple, facts=()), replay)  # pyright: ignore
    found = LAW.expected(*pair)
    assert found is not None
    assert reader.number(found[0], {}) == reader.number(Inner(*pair), {})


def test_independent_weights_with_another_alpha_would_be_seen() -> None:
    replay, _ = replayed("two")
    reader = _Reader(SimpleNamespace(ranges=tuple, facts=()), replay)  # pyright: ignore
    value = LAW.expected(*PAIRS[0])[0]
    other = replace(LAW, correlation=sp.Integer(1)).expected(*PAIRS[0])[0]
    assert reader.number(value, {}) != reader.number(other, {})


def test_the_law_is_silent_where_it_says_nothing() -> None:
    """A vector that is not known before, two steps that may be one, positions that are not known to be common."""
    assert LAW.expected(over(a, M, 0), atom(vector("later"))) is None
    assert LAW.expected(atom(a.at(i, 0)), atom(a.at(k, j).at(i, i))) is None
    ranges = list(LAW.ranges(Place(0, (sp.Integer(0),), M, M + 1, M)))
    assert sp.false in [r.subs(M, 3) for r in ranges]  # client M is none


LEMMA = record_file(folder(), "async_fl/lemma_2/corrected")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"of": "independent_weights"}, "declared by nothing"),
        ({"of": "window_property"}, "declared by nothing"),
        ({"mean_weight": "d(i)"}, "has a mean that is not so defined"),
        ({"weighted": ["g(i, 0)"]}, "has a mean that is not so defined"),
        ({"correlation": "2*alpha"}, "the claim is not what the law gives"),
        ({"largest": "p(i)"}, "the claim is not what the law gives"),
        ({"past": ["gb(i)"]}, "draws from what is not known before"),
        ({}, "needs independent weights"),
    ],
)
def test_a_law_that_the_statement_does_not_give_is_refused(change: dict[str, Any], why: str) -> None:
    """The last: the printed reading does not assume that the weights are independent of models and gradients."""
    data = json.loads(LEMMA.read_bytes())
    law, statement = data["laws"][0], data["statement"]
    if not change:
        statement["assumptions"] = [row for row in statement["assumptions"] if row[0] != "independent_weights"]
    assert all(law[key] != value for key, value in change.items())
    law |= change
    data["digest"] = v.digest(data)
    with pytest.raises(v.Invalid, match=why):
        v.Record(LEMMA, data=data).check()
