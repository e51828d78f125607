"""Names, constants and shorthands that the tests of FedShuffle's theorems share."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from boundcheck.theory.decide import Point
from boundcheck.theory.discovery import readings, statement
from boundcheck.theory.statement import Statement

FIXED = ("theorem_5_1_strongly_convex", "theorem_5_1_convex", "theorem_5_1_nonconvex")
TUNED = tuple(f"{name}_tuned" for name in FIXED)
GENERAL = ("theorem_e_1_strongly_convex", "theorem_e_1_convex", "theorem_e_1_nonconvex")
MOMENTUM = ("theorem_5_2", "theorem_5_2_tuned")
LEMMAS = ("lemma_e_3", "lemma_e_4", "algorithm_1")
REMARKS = (
    "remark_e_2",
    "section_4_1_limit",
    "section_4_2_sum_one",
    "section_5_full_participation",
    "section_5_importance",
    "section_5_importance_optimal",
    "section_5_middle_term",
    "section_5_with_replacement",
)
ALL = (*FIXED, *TUNED, *GENERAL, *MOMENTUM, *LEMMAS, *REMARKS)
EVERY = [s for name in ALL for s in readings("fedshuffle", name)]


def get(name: str, reading: str = "corrected") -> Statement:
    return statement(f"fedshuffle/{name}/{reading}")


def only(s: Statement, values: dict[str, Any]) -> dict[str, Any]:
    names = {symbol.name for symbol in s.symbols}
    return {name: value for name, value in values.items() if name in names}


def number(expr: Any, values: dict[str, Any]) -> float:
    """An expression at exact constants, as the nearest float."""
    return float(Point(expr, {k: Fraction(v) for k, v in values.items()}).accurate_ball(64).mid())


SCALED: dict[str, Any] = {
    "L": 2,
    "mu": 1,
    "G2": 3,
    "B2": 4,
    "P2": "1/4",
    "sigma2": 5,
    "M": "1/2",
    "E": 2,
    "eta_l": "1/144",
    "eta_g": "3/2",
    "R": 2,
    "dist2_0": 7,
    "gap_0": 5,
    "delta": "1/3",
    "a": "1/2",
    "warm_up": 3,
    "W": "2/3",
    "M1": "1/2",
    "M2": 1,
    "P2_gen": "1/4",
    "sigma2_gen": 5,
    "drift_0": "1/9",
}

_OURS = ("L", "mu", "G2", "B2", "P2", "sigma2", "M", "E", "eta_l", "eta_g", "R", "dist2_0", "gap_0")


AT = {name: SCALED[name] for name in _OURS}


ON_36: dict[str, Any] = {
    "L": 1,
    "mu": 1,
    "G2": "1/3",
    "B2": 1,
    "P2": 0,
    "sigma2": "7/36",
    "E": 1,
    "eta_g": 1,
    "R": 100,
    "dist2_0": "1/6",
    "gap_0": "1/12",
}


def gaps_on_36(eta: Fraction, rounds: int, signs: int = 1) -> list[Fraction]:
    """E F(x^r) - F* of FedShuffle on (36), full participation, one epoch, x^0 = 0: mean and variance in fractions."""
    sizes = (1, 2, 3)
    kept = [Fraction((1 - eta / size) ** size) for size in sizes]
    mean, variance = [Fraction(0)] * 3, Fraction(0)  # one coordinate a client stands for all of its own
    fresh = stay = Fraction(0)
    for size, k in zip(sizes, kept, strict=True):
        stay += Fraction(size, 6) * k
        pulls = [Fraction(eta / size * (1 - eta / size) ** j) for j in range(size)]
        total = sum(pulls, Fraction(0))
        fresh += (
            Fraction(size, 6) * Fraction(size, 6) * (sum((c * c for c in pulls), Fraction(0)) - total * total / size)
        )
    stay = 1 + signs * (stay - 1)
    found: list[Fraction] = []
    for _ in range(rounds):
        off = [Fraction(size * (m - Fraction(1, 6)) ** 2) for size, m in zip(sizes, mean, strict=True)]
        found.append((sum(off, Fraction(0)) + variance) / 2)
        moved = [signs * Fraction(size, 6) * (1 - k) / size for size, k in zip(sizes, kept, strict=True)]
        mean = [stay * m + add for m, add in zip(mean, moved, strict=True)]
        variance = stay * stay * variance + fresh
    return found


def some_instances(count: int) -> Iterator[dict[str, Fraction]]:
    rng = random.Random(5)

    def any_size(low: float, high: float) -> Fraction:
        return Fraction(10 ** rng.uniform(low, high)).limit_denominator(10**6)

    for _ in range(count):
        L = any_size(-1, 2)
        at = {"L": L, "mu": L / (1 + any_size(-1, 2)), "G2": any_size(-2, 3), "sigma2": any_size(-2, 3)}
        at |= {"M": rng.choice([Fraction(0), any_size(-2, 1)]), "B2": 1 + any_size(-2, 1), "P2": any_size(-2, 1)}
        if rng.random() < 0.2:
            at |= {"G2": Fraction(0), "sigma2": Fraction(0)}
        at |= {"E": Fraction(rng.randint(1, 5)), "eta_g": 1 + any_size(-2, 1), "dist2_0": any_size(-2, 3)}
        at |= {"gap_0": any_size(-2, 3), "R": Fraction(math.ceil(10 ** rng.uniform(1, 7)))}
        yield at
