"""Runs of logistic and softmax regression in ball arithmetic against loops in 60 digits of mpmath, written apart."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from boundcheck.engines.run import run
from boundcheck.errors import Unsupported
from boundcheck.methods.build import build as method
from boundcheck.problems.build import build as problem

X = np.array([[1.0, 0.5], [0.25, -2.0], [-1.5, 0.75], [0.5, 1.25], [2.0, -1.0], [-0.5, -0.5], [1.0, 1.0]])
OWNERS = np.array([0, 0, 0, 1, 1, 1, 1])
RIDGE = Fraction(1, 8)


def own(labels, kind):
    data = {"X": X, "y": labels, "client": OWNERS}
    return problem({"kind": kind, "data": data, "ridge": "1/8", "intercept": False})


def gradients(labels, classes):
    """f_i and its gradient, X the scores' matrix with one row for each class (one row: logistic, y = +1 or -1)."""

    def sample(j, x):
        rows = [mp.fdot(x[2 * k : 2 * k + 2], [mp.mpf(v) for v in X[j]]) for k in range(classes)]
        if classes == 1:
            y = labels[j]
            return mp.log(1 + mp.exp(-y * rows[0])), [-y / (1 + mp.exp(y * rows[0]))]
        total = sum(mp.exp(s) for s in rows)
        return mp.log(total) - rows[labels[j]], [mp.exp(s) / total - (k == labels[j]) for k, s in enumerate(rows)]

    def client(i, x):
        mine = [j for j in range(7) if OWNERS[j] == i]
        ridge = mp.mpf(1) / 8
        value, slope = ridge / 2 * mp.fsum(v * v for v in x), [ridge * v for v in x]
        for j in mine:
            loss, r = sample(j, x)
            value += loss / len(mine)
            slope = [g + r[n // 2] * mp.mpf(X[j][n % 2]) / len(mine) for n, g in enumerate(slope)]
        return value, slope

    return client


def whole(client, x):
    parts = [(mp.mpf(w) / 7, *client(i, x)) for i, w in enumerate((3, 4))]
    return sum(w * f for w, f, _ in parts), [mp.fsum(w * g[n] for w, _, g in parts) for n in range(len(x))]


@pytest.mark.parametrize(
    ("kind", "labels", "classes"),
    [("logistic_regression", [1, -1, -1, 1, 1, -1, 1], 1), ("softmax_regression", [0, 1, 2, 2, 1, 0, 0], 3)],
)
def test_enclosures_hold_the_values_of_sixty_digits(kind: str, labels: list[int], classes: int) -> None:
    names = np.array([f"class {v}" for v in labels])  # the second class in the order of names is y = +1
    instance = own(names if classes > 1 else np.array([str(v) for v in labels]), kind)
    with mp.workdps(60):
        client = gradients(labels, classes)
        d = 2 * classes
        # Newton's method by the solver of mpmath, from where four steps of gradient descent lead
        best = [mp.mpf(0)] * d
        for _ in range(4):
            best = [v - g / 3 for v, g in zip(best, whole(client, best)[1], strict=True)]
        best = list(mp.findroot(lambda *x: whole(client, list(x))[1], best, tol=1e-60))
        least, left = whole(client, best)
        assert max(abs(g) for g in left) < mp.mpf(10) ** -25
        x, rows = [mp.mpf(0)] * d, []
        for _ in range(6):
            value, slope = whole(client, x)
            rows.append(
                {
                    "gap": value - least,
                    "grad2": mp.fsum(g * g for g in slope),
                    "dist2": mp.fsum((a - b) ** 2 for a, b in zip(x, best, strict=True)),
                }
            )
            moves = []
            for i in range(2):
                y = x
                for _ in range(3):
                    y = [v - mp.mpf(1) / 4 * g for v, g in zip(y, client(i, y)[1], strict=True)]
                moves.append(y)
            x = [v + mp.mpf(3) / 7 * (a - v) + mp.mpf(4) / 7 * (b - v) for v, a, b in zip(x, *moves, strict=True)]
        spec = method({"kind": "fedavg_sync", "K": 3, "eta_l": "1/4"})
        curve = run(spec, instance, rounds=5)
        assert curve.info["accuracy"] == "relative 1e-12"
        for name in ("gap", "grad2", "dist2"):
            for row, low, high in zip(rows, curve.low[name], curve.high[name], strict=True):
                assert mp.mpf(float(low)) <= row[name] <= mp.mpf(float(high)), name
                assert high - low <= 1e-12 * high


def test_random_cohorts_are_expectations_and_long_runs_are_refused() -> None:
    instance = own(np.array([str(v) for v in [1, -1, -1, 1, 1, -1, 1]]), "logistic_regression")
    random = method({"kind": "uniform_sampling", "m": 1, "K": 1, "eta_l": "1/4", "weights": "identical"})
    curve = run(random, instance, rounds=3, metrics=["gap"])
    assert curve.expectation
    ends = []
    for first in (0, 1):
        fixed = method(
            {"kind": "biased_sampling", "cohorts": [[first]], "weights": "identical", "K": 1, "eta_l": "1/4"}
        )
        ends.append(run(fixed, instance, rounds=1, metrics=["gap"]).values["gap"][1])
    assert curve.values["gap"][1] == pytest.approx(sum(ends) / 2, rel=1e-12)
    with pytest.raises(Unsupported, match="gradients of samples; step by step at most"):
        run(method({"kind": "gradient_descent", "eta": "1/4"}), instance, rounds=10**7)
