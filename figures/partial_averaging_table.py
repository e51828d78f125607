"""The model discrepancy in pure noise: what the engine computes for partial and periodic averaging, and closed forms.

Without gradients (F = 0) and with noise of variance 1 in each of tau blocks, step size 1, the models differ by the
noise since their last averages. The engine computes the expectation exactly, iteration by iteration; the closed forms
are (m-1)/m tau(tau-1)/2 for partial averaging at any time after the first period, and c tau (m-1)/m for periodic
averaging c steps after an average.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import _partial_averaging as f
import _study as s

from boundcheck.engines.run import run
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.report.words import pretty
from boundcheck.theory.discovery import statement

CASES = ((2, 3), (4, 4), (128, 8))  # m, tau
PERIODS = 3  # the last of which is looked at
CAPTION = (
    "Expected mean squared distance of the models from their average in pure noise (F = 0, variance 1 in each of tau "
    "blocks, step size 1), over one period after the first two. Engine: exact fractions from the joint second moments "
    "of all models; formula: (m-1)/m tau(tau-1)/2, and twice that for the peak of periodic averaging. Partial and "
    "periodic averaging have the same mean, and partial averaging half the peak. Lemma 2 bounds the mean by "
    "tau(tau-1), which does not depend on m: twice the limit for many workers."
)


def row(kind: str, m: int, tau: int) -> dict[str, str]:
    """One method: exact fractions."""
    problem = build_problem({"kind": "pure_noise", "clients": m, "d": tau})
    late = list(range((PERIODS - 1) * tau, PERIODS * tau))
    how: dict[str, Any] = {"rounds": late, "metrics": ("discrepancy",), "arithmetic": "rational"}
    values = list(run(build_method(f.method(kind, tau, 1)), problem, **how).exact["discrepancy"])
    flat = Fraction(m - 1, m) * tau * (tau - 1) / 2
    lemma = statement("partial_averaging/lemma_2/as_printed").evaluate(
        tau=tau, eta=1, sigma2=tau, local_grad2=0, K=PERIODS * tau
    )
    return {
        "mean, engine": str(sum(values, Fraction(0)) / tau),
        "mean, formula": str(flat),
        "peak, engine": str(max(values)),
        "peak, formula": str(flat if kind == "partial" else 2 * flat),
        "Lemma 2 on the mean": str(lemma.exact),
    }


def shown(value: str) -> str:
    """A fraction, and what it is about."""
    exact = Fraction(value)
    return value if exact.denominator == 1 else f"{value} = {pretty(exact, 7)}"


def make() -> s.Made:
    """The table."""
    rows = {f"{kind}, m = {m}, tau = {tau}": row(kind, m, tau) for m, tau in CASES for kind in f.KINDS}
    cells = {name: {column: shown(value) for column, value in own.items()} for name, own in rows.items()}
    title = "The model discrepancy in pure noise"
    return s.Made(s.study(title, CAPTION, tables=s.table("averaging", cells), data={"exact": rows}))


main = s.script(make)

if __name__ == "__main__":
    s.start(main)
