"""The expectations of the verifier's laws against enumeration of all outcomes, exactly, at small sizes.

What a law gives is taken at numbers for its sizes; then inner products are means over the outcomes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest

from boundcheck.proof.discovery import folder
from boundcheck.proof.find.record import record_file
from boundcheck.verify import boundcheck_verify as v

F = Fraction
NAMES = dict.fromkeys("npaiekM", "integer") | dict.fromkeys("uvxyzm", "vector function") | {"w": "vector"}
NAMES |= {"alpha": "number", "q": "function", "d": "function"}
LANGUAGE = v.Language(NAMES)
Pair = tuple[int, int]


@dataclass(frozen=True)
class Outcome:
    """One outcome: its chance, and name of a vector -> its value at given arguments."""

    chance: Fraction
    vectors: Mapping[str, Callable[..., Pair]]


def points(seed: int, count: int) -> list[Pair]:
    draw = random.Random(seed)
    return [(draw.randint(-5, 5), draw.randint(-5, 5)) for _ in range(count)]


def law(kind: str, drawn: Sequence[str], past: Sequence[str], **more: Any) -> Any:
    pairs = [text.split(" < ") for text in drawn]
    return v.Law({"name": kind, "kind": kind, "of": "", "drawn": pairs, "past": list(past), **more}, LANGUAGE)


def vector(text: str) -> Any:
    return LANGUAGE.vector(v.parsed(text, "sum"), {})


def place(n: int, outcome: Outcome) -> tuple[Any, ...]:
    """A vector in one outcome."""
    key = v.ATOMS[n]
    arguments = [int(v.number_of(v.thawed(a))) for a in key[2]] if key[0] == "vf" else []
    return outcome.vectors[key[1]](*arguments)


def number(value: Any, numbers: Mapping[str, Any], outcomes: Sequence[Outcome], functions: Any) -> Fraction:
    """A value at these numbers, inner products being means over the outcomes."""
    found = v.put(value, {v.atom(("x", n)): v.constant(x) for n, x in numbers.items()}, LANGUAGE.whole)
    top, bottom = (sum((_term(m, c, outcomes, functions) for m, c in p.items()), F(0))
                   for p in (found[0], v.expanded(found[1])))  # fmt: skip
    return top / bottom


def _term(monomial: Any, c: Any, outcomes: Sequence[Outcome], functions: Any) -> Fraction:
    total = F(c)
    for n, e in monomial:
        kind, *rest = v.ATOMS[n]
        if kind == "f":
            one = functions[rest[0]](*(int(v.number_of(v.thawed(a))) for a in rest[1]))
        else:
            assert kind == "<>", v.name_of(n)
            pairs = ((o.chance, place(rest[0], o), place(rest[1], o)) for o in outcomes)
            one = sum((chance * (s[0] * t[0] + s[1] * t[1]) for chance, s, t in pairs), F(0))
        total *= F(one) ** e
    return total


def both(own: Any, pair: tuple[str, str], outcomes: Sequence[Outcome], factor: str = "", functions: Any = None,
         **numbers: Any) -> tuple[Fraction, Fraction]:  # fmt: skip
    """What the law gives, and the mean over the outcomes."""
    first, second = map(vector, pair)
    atoms = [next(iter(v.linear(u))) for u in (first, second)]
    closed = own.expected(*atoms, LANGUAGE.value(factor) if factor else None, v.ZERO)
    return tuple(number(x, numbers, outcomes, functions) for x in (closed, v.product_of(first, second)))  # pyright: ignore


ORDER = law("order", ["x(a) < u(i)", "y(a) < v(i)"], ["u(i)", "v(i)", "w"], items="n", epochs=False)
SX, SY = "sum(a, p, x(a))", "sum(a, p, y(a))"


def orders(size: int) -> list[Outcome]:
    us, vs, (z,) = points(1, size), points(2, size), points(3, 1)
    every = list(permutations(range(size)))
    return [
        Outcome(F(1, len(every)), {"u": us.__getitem__, "v": vs.__getitem__, "w": lambda: z,
                                   "x": lambda k, o=o: us[o[k]], "y": lambda k, o=o: vs[o[k]]})
        for o in every
    ]  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_orders(size: int) -> None:
    outcomes = orders(size)
    spread = "({}) / (n*max(1, n - 1))"
    for count in range(size + 1):
        cases = [((SX, SY), "n*p - p*p"), ((SX, SX), "n*p - p*p"), ((SX, "w"), "")]
        cases += [(("x(p)", "y(p)"), "n - 1"), (("x(p)", "w"), "")] * (count < size)
        cases += [(("x(p)", "y(p + 1)"), "0 - 1")] * (count + 1 < size)
        for pair, top in cases:
            closed, mean = both(ORDER, pair, outcomes, spread.format(top) if top else "", n=size, p=count)
            assert closed == mean, (pair, count)
    for other in ("n*p - p*p + 1", "n*p", "0"):  # draws with replacement have the second
        with pytest.raises(v.Invalid, match="not that of an order"):
            both(ORDER, (SX, SY), outcomes, spread.format(other), n=size, p=1)


def test_independent_draws() -> None:
    """Two draws of three values each, with means that differ from draw to draw."""
    values, (z,) = [points(s, 3) for s in (7, 8)], points(9, 1)
    means: list[Any] = [tuple(sum(x[k] for x in own) / F(3) for k in (0, 1)) for own in values]
    outcomes = [
        Outcome(F(1, 9), {"m": means.__getitem__, "w": lambda: z, "x": lambda k, o=o: values[k][o[k]]})
        for o in product(range(3), repeat=2)
    ]
    own = law("draws", ["x(a) < m(a)"], ["m(a)", "w"])
    for pair in ((SX, SX), (SX, "w"), ("x(0)", "x(1)"), (SX, "sum(a, p, m(a))")):
        closed, mean = both(own, pair, outcomes, p=2)
        assert closed == mean, pair
    with pytest.raises(v.Invalid, match="covariance of two draws is not known"):
        both(own, ("x(0)", "x(0)"), outcomes)


WEIGHTS = law("weights", ["x(k, i) < z(k, i)"], ["z(k, i)", "u(k, i)", "w"], weighted=["u(k, i)"],
              mean_weight="q(i)", largest="d(i)", correlation="alpha", clients="M")  # fmt: skip
LARGEST = (F(2), F(1), F(5, 3))
POINTS = {(s, c): (3 * s - c + 1, (c * c + 2 * s) % 5 - 2) for s in range(2) for c in range(3)}


def coins() -> list[tuple[Fraction, tuple[int, ...]]]:
    """Independent: E w_i w_j = q_i q_j."""
    found: list[tuple[Fraction, tuple[int, ...]]] = []
    for cohort in product((0, 1), repeat=3):
        chance = F(1)
        for c, q in zip(cohort, (F(1, 2), F(1, 3), F(3, 4)), strict=True):
            chance *= q if c else 1 - q
        found.append((chance, cohort))
    return found


# all cohorts of three clients with their chances, and alpha: coins; never two together; two of three, all pairs alike
COHORTS = {
    "coins": (coins(), F(1)),
    "one": ([(F(1, 2), (1, 0, 0)), (F(1, 3), (0, 1, 0)), (F(1, 6), (0, 0, 1))], F(0)),
    "two": ([(F(1, 3), c) for c in ((1, 1, 0), (1, 0, 1), (0, 1, 1))], F(3, 4)),
}
ALL, OTHER_STEP = "sum(i, M, x(0, i))", "sum(i, M, x(1, i))"
PAIRS = ((ALL, ALL), (OTHER_STEP, OTHER_STEP), (ALL, "w"), (ALL, "sum(i, M, z(1, i))"), ("x(0, 1)", "x(0, 1)"))


def weighted(kind: str) -> tuple[list[Outcome], dict[str, Any]]:
    drawn, _ = COHORTS[kind]
    mean = [sum(c[n] * chance for chance, c in drawn) * LARGEST[n] for n in range(3)]

    def times(factor: Any, s: int, c: int) -> Any:
        return tuple(factor * x for x in POINTS[s, c])

    outcomes = [
        Outcome(chance, {"u": lambda s, c: POINTS[s, c], "z": lambda s, c: times(mean[c], s, c), "w": lambda: (2, -7),
                         "x": lambda s, c, cohort=cohort: times(LARGEST[c] * cohort[c], s, c)})
        for chance, cohort in drawn
    ]  # fmt: skip
    return outcomes, {"q": mean.__getitem__, "d": LARGEST.__getitem__}


@pytest.mark.parametrize("kind", COHORTS)
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_weights(kind: str, pair: tuple[str, str]) -> None:
    outcomes, functions = weighted(kind)
    closed, mean = both(WEIGHTS, pair, outcomes, functions=functions, M=3, alpha=COHORTS[kind][1])
    assert closed == mean


def test_weights_with_another_alpha_would_be_seen() -> None:
    outcomes, functions = weighted("two")
    closed, mean = both(WEIGHTS, PAIRS[0], outcomes, functions=functions, M=3, alpha=F(1))
    assert closed != mean
    with pytest.raises(v.Invalid, match="not known before"):
        both(WEIGHTS, (ALL, "y(0)"), outcomes)
    for other in ("x(0, 1)", OTHER_STEP):
        with pytest.raises(v.Invalid, match="in common is not known"):
            both(WEIGHTS, (ALL, other), outcomes)


@pytest.mark.parametrize(("change", "why"), [
    ({"of": "independent_weights"}, "declared by nothing"), ({"of": "window_property"}, "declared by nothing"),
    ({"mean_weight": "d(i)"}, "has a mean that is not so defined"),
    ({"weighted": ["g(i, 0)"]}, "has a mean that is not so defined"),
    ({"correlation": "2*alpha"}, "the claim is not what the law gives"),
    ({"largest": "p(i)"}, "the claim is not what the law gives"),
    ({"past": ["gb(i)"]}, "draws from what is not known before"), ({}, "needs independent weights"),
])  # fmt: skip
def test_a_law_that_the_statement_does_not_give_is_refused(change: dict[str, Any], why: str) -> None:
    """The last: the printed reading does not assume that the weights are independent of models and gradients."""
    path = record_file(folder(), "async_fl/lemma_2/corrected")
    data = json.loads(path.read_bytes())
    rows = data["statement"]["assumptions"]
    data["statement"]["assumptions"] = [row for row in rows if change or row[0] != "independent_weights"]
    data["laws"][0] |= change
    with pytest.raises(v.Invalid, match=why):
        v.Record(path, data={**data, "digest": v.digest(data)}).check()
