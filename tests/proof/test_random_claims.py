"""Random claims with quotients, roots, Min and Max: nothing that is proved fails at a random exact point."""

from __future__ import annotations

import random
from fractions import Fraction

import sympy as sp

from boundcheck.proof.exact import holds
from boundcheck.proof.scalar import decide
from boundcheck.proof.step import Context, Status

x, y = sp.symbols("x y", real=True)
OPERATIONS = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / b if b != 0 else a,
    lambda a, b: sp.Min(a, b),
    lambda a, b: sp.Max(a, b),
    lambda a, b: sp.sqrt(sp.Abs(a)) - b,
]


def expression(rng: random.Random, depth: int = 0):
    if depth > 2 or rng.random() < 0.35:
        return rng.choice([x, y, sp.Integer(rng.randint(-2, 3)), sp.Rational(rng.randint(-3, 3), 2)])
    return rng.choice(OPERATIONS)(expression(rng, depth + 1), expression(rng, depth + 1))


def points(rng: random.Random, count: int):
    for _ in range(count):
        yield {n: Fraction(rng.randint(-24, 24), rng.randint(1, 6)) for n in ("x", "y")}


def test_proved_claims_survive_random_points_and_witnesses_are_exact():
    rng = random.Random(20)
    counts = dict.fromkeys(Status, 0)
    for _ in range(80):
        claim = sp.Le(expression(rng), expression(rng), evaluate=False)
        facts = {"x": sp.Ge(x, rng.randint(-1, 1)), "y": sp.Le(y, expression(rng, 2), evaluate=False)}
        if any(r.has(sp.zoo, sp.nan, sp.oo, sp.I) for r in (claim, *facts.values())):
            continue
        found = decide(claim, facts, Context(seconds=2))
        counts[found.status] += 1
        if found.status is Status.PROVED:
            for point in points(rng, 100):
                if all(holds(f, point) is True for f in facts.values()):
                    assert holds(claim, point) is not False, (claim, facts, point)
        if found.status is Status.REFUTED:
            point = {"x": Fraction(0), "y": Fraction(0)} | {k: Fraction(v) for k, v in found.witness.items()}
            assert holds(claim, point) is False
            assert all(holds(f, point) is True for f in facts.values())
    assert counts[Status.PROVED] >= 5
    assert counts[Status.REFUTED] >= 5
