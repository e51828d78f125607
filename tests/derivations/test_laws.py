"""The closed forms of the laws against enumeration of all outcomes, exactly, at small sizes."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from exact_facts import Outcome, Replay, _Reader
from replays import array

from boundcheck.errors import BadInput
from boundcheck.proof import laws
from boundcheck.proof.laws import Draws, Order, counts, factor
from boundcheck.proof.sums import vector_total
from boundcheck.proof.vectors import Inner, vector

F = Fraction
n, p, a, i, e = sp.symbols("n p a i e", real=True)
u, v, w, x, y = vector("u", i), vector("v", i), vector("w"), vector("x", a), vector("y", a)
ORDER = Order("order", "", ((x, u), (y, v)), (u, v, w), n)
EACH = Order("each", "", ((vector("x", e, a), u),), (u, w), n)


def points(seed: int, count: int) -> list[Any]:
    draw = random.Random(seed)
    return [array([draw.randint(-5, 5), draw.randint(-5, 5)]) for _ in range(count)]


def atom(v: Any) -> Any:
    return v.terms[0][0]


def prefix(v: Any, count: Any) -> Any:
    return atom(vector_total(v, a, count))


def both(law: Any, first: Any, second: Any, outcomes: list[Outcome], **numbers: int) -> tuple[Any, Any]:
    """The closed form, and the mean over the outcomes."""
    value, needed = law.expected(first, second)
    reader = _Reader(
        SimpleNamespace(ranges=tuple, facts=()),
        Replay({k: F(v) for k, v in numbers.items()}, outcomes),  # pyright: ignore
    )
    assert all(r is sp.true or reader._compare(r, {}).holds for r in needed if r is not sp.false)
    value = value.xreplace({sp.Symbol(k, real=True): sp.Integer(v) for k, v in numbers.items()})
    return reader.number(value, {}), reader.number(Inner(first, second), {k: F(v) for k, v in numbers.items()})


def orders(size: int, seed: int = 1) -> list[Outcome]:
    us, vs, (z,) = points(seed, size), points(seed + 1, size), points(seed + 2, 1)
    every = list(itertools.permutations(range(size)))
    return [
        Outcome(
            F(1, len(every)),
            {
                "zero": lambda: 0 * z,
                "u": lambda k: us[k],
                "v": lambda k: vs[k],
                "w": lambda: z,
                "x": lambda k, order=order: us[order[k]],
                "y": lambda k, order=order: vs[order[k]],
            },
            lambda *_: None,
        )
        for order in every
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_orders(size: int) -> None:
    outcomes = orders(size)
    first, second = atom(x), atom(y)
    for count in range(size + 1):
        parts = [(prefix(x, p), prefix(y, p)), (prefix(x, p), prefix(x, p)), (prefix(x, p), atom(w))]
        if count < size:
            parts += [
                (prefix(x, p), atom(y.at(a, p))),
                (first.subs(a, p), second.subs(a, p)),
                (first.subs(a, p), atom(w)),
            ]
        if count + 1 < size:
            parts += [(prefix(x, p), prefix(y, p + 1)), (first.subs(a, p), second.subs(a, p + 1))]
        for one, two in parts:
            closed, mean = both(ORDER, one, two, outcomes, n=size, p=count)
            assert closed == mean, (one, two, count)
    closed, mean = both(ORDER, prefix(x, n), prefix(y, n), outcomes, n=size)
    assert closed == mean


def test_what_would_be_wrong_is_seen() -> None:
    """Draws with replacement, or the next draw taken for one of the first, have other expectations."""
    outcomes = orders(3)
    two, mean = both(ORDER, prefix(x, p), atom(y.at(a, p)), outcomes, n=3, p=2)
    inside, _ = both(ORDER, prefix(x, 2), atom(y.at(a, 1)), outcomes, n=3)
    mu, nu = (vector_total(f, i, 3) / 3 for f in (u, v))
    replaced, _ = both(Draws("", "", ((x, mu), (y, nu)), (u, v, w)), prefix(x, p), atom(y.at(a, p)), outcomes, p=2)
    assert two == mean
    assert mean not in (inside, replaced)


def test_orders_of_different_epochs_are_independent() -> None:
    us = points(5, 3)
    every = list(itertools.permutations(range(3)))
    outcomes = [
        Outcome(
            F(1, len(every) ** 2),
            {
                "zero": lambda: 0 * us[0],
                "u": lambda k: us[k],
                "x": lambda e, k, both=both_orders: us[both[e][k]],
            },
            lambda *_: None,
        )
        for both_orders in itertools.product(every, repeat=2)
    ]
    in_epoch = [atom(vector_total(vector("x", sp.Integer(k), a), a, p)) for k in (0, 1)]
    for one, two in itertools.product(in_epoch, repeat=2):
        closed, mean = both(EACH, one, two, outcomes, n=3, p=2)
        assert closed == mean
    symbolic = atom(vector_total(vector("x", e, a), a, p))
    assert EACH.expected(symbolic, in_epoch[0]) is None  # e may be 0


def test_independent_draws() -> None:
    """Two draws of three values each, with means that differ from draw to draw."""
    values = [points(s, 3) for s in (7, 8)]
    z = points(9, 1)[0]
    means = [sum(own) / F(3) for own in values]
    outcomes = [
        Outcome(
            F(1, 9),
            {
                "zero": lambda: 0 * z,
                "m": lambda k: means[k],
                "w": lambda: z,
                "x": lambda k, drawn=drawn: values[k][drawn[k]],
            },
            lambda *_: None,
        )
        for drawn in itertools.product(range(3), repeat=2)
    ]
    m = vector("m", a)
    law = Draws("noise", "", ((x, m),), (m, w))
    for one, two in (
        (prefix(x, p), prefix(x, p)),
        (prefix(x, p), atom(w)),
        (atom(x.at(a, 0)), atom(x.at(a, 1))),
        (prefix(x, p), prefix(m, p)),
    ):
        closed, mean = both(law, one, two, outcomes, p=2)
        assert closed == mean
    assert law.expected(atom(x), atom(x)) is None  # the second moment is not known


@pytest.mark.parametrize(("first", "second", "common"), [(p, p, p), (p, 1, 0), (p, 1, 1), (1, 1, 1), (n, n, n)])
def test_the_counts_hold_for_all_sizes_and_fail_for_other_factors(first: Any, second: Any, common: Any) -> None:
    first, second, common = map(sp.sympify, (first, second, common))
    found = factor(n, first, second, common)
    large = found.replace(lambda t: isinstance(t, sp.Max), lambda _: n - 1)
    for wrong in (large + 1, large * 2 + 1, common / n + 1, large - 1 / n):
        assert any(sp.simplify(rest) != 0 for rest in counts(n, first, second, common, wrong))
    assert all(sp.simplify(rest) == 0 for rest in counts(n, first, second, common, large))


def test_a_law_is_held_to_its_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The closed form of draws with replacement is refused as one of an order."""
    replaced = laws.sp.Max
    monkeypatch.setattr(laws.sp, "factor", lambda top: top + 1)
    with pytest.raises(BadInput, match="fails its counts"):
        factor(n, p, p, p)
    assert laws.sp.Max is replaced
