"""Certified upper limits of sampled runs: by hand, against the worst orders, and against every seed that is run."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.engines.curve import Rarest
from boundcheck.engines.envelopes import certified_envelopes
from boundcheck.engines.rare_choices import rarest_choice
from boundcheck.engines.run import run
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem, clients_of

Spec = dict[str, Any]
# samples x^2/2 - x and x^2/2 + x of one client: x* = 0, L = mu = 1, gradients 1 and -1 there
PAIR: Spec = {
    "kind": "quadratics",
    "clients": [{"components": [{"A": 1, "b": 1}, {"A": 1, "b": -1}]}],
    "start": ["1/2"],
}
LINES: Spec = {
    "kind": "quadratics",
    "clients": [
        {"components": [{"A": 1, "b": 1}, {"A": 2, "b": -1}, {"A": 1, "b": 0}]},
        {"components": [{"A": 2, "b": 3}]},
        {"components": [{"A": 1, "b": -2}, {"A": 1, "b": "1/2"}]},
    ],
    "start": [3],
}
CANCER: Spec = {
    "kind": "logistic_regression",
    "data": "breast_cancer",
    "clients": 5,
    "split": "random",
    "seed": 0,
    "features": "unit",
    "ridge": "1/10",
}
METHODS: list[Spec] = [
    {"kind": "fedshuffle", "eta_l": "1/8"},
    {"kind": "fedshuffle", "eta_l": "1/8", "E": 2, "participation": {"kind": "uniform", "size": 2}},
    {"kind": "fedavg_reshuffled", "size": 2, "E": 2, "eta": "1/16"},
    {"kind": "fedavg_sgd", "E": 2, "eta_l": "1/10"},
    {"kind": "fedavg", "size": 2, "E": 3, "eta": "1/6"},
    {"kind": "fedshuffle", "eta_l": "1/16", "participation": {"kind": "importance", "b": 2}},
]


def built(method: Spec, problem: Spec) -> tuple[Method, Problem]:
    return build_method(method), build_problem(problem)


def envelope(method: Spec, problem: Spec, rounds: list[int], metric: str = "dist2") -> np.ndarray | None:
    found = certified_envelopes(*built(method, problem), np.array(rounds), [metric])
    return found[metric].limits if found else None


def test_two_samples_by_hand() -> None:
    """One epoch at eta = 1/4 from D = 1/2 (scale 1/2: steps of 1/8).

    Contraction: (7/8)^2/2 + (1/8)(1 + 7/8) = 79/128. Drift: (1 - 1/4)/2 + (1/8)^2 (1 + 1/2) = 51/128, which is less.
    """
    found = envelope({"kind": "fedshuffle", "eta_l": "1/4"}, PAIR, [0, 1])
    assert found is not None
    assert found == pytest.approx([1 / 4, (51 / 128) ** 2], rel=1e-6)
    assert (found >= [1 / 4, (51 / 128) ** 2]).all()
    replaced = envelope({"kind": "fedavg_sgd", "E": 1, "eta_l": "1/8"}, PAIR, [1])
    assert replaced == pytest.approx([(79 / 128) ** 2], rel=1e-6)  # drawn anew: no whole epochs
    gap = envelope({"kind": "fedshuffle", "eta_l": "1/4"}, PAIR, [1], "gap")
    assert gap == pytest.approx([(51 / 128) ** 2 / 2], rel=1e-6)
    assert envelope({"kind": "fedshuffle", "eta_l": 4}, PAIR, [1]) is None  # steps of 2 are longer than 1/L


@pytest.mark.parametrize("eta", ["1/4", "1/20"])
def test_no_order_leads_further(eta: str) -> None:
    """All orders of three rounds on one client with three samples, exactly."""
    samples = [(1, 1), (2, -1), (1, 3)]
    problem = {
        "kind": "quadratics",
        "clients": [{"components": [{"A": a, "b": b} for a, b in samples]}],
        "start": ["-1"],
    }
    least = Fraction(sum(b for _, b in samples), sum(a for a, _ in samples))
    step = Fraction(eta) / len(samples)
    points = {Fraction(-1)}
    found = envelope({"kind": "fedshuffle", "eta_l": eta}, problem, [1, 2, 3])
    assert found is not None
    for limit in found:
        reached = set()
        for x in points:
            for order in itertools.permutations(samples):
                y = x
                for a, b in order:
                    y -= step * (a * y - b)
                reached.add(y)
        points = reached
        worst = max((x - least) ** 2 for x in points)
        assert float(worst) <= limit
        assert limit <= 9 * float(worst)  # and not far above what orders reach


@pytest.mark.parametrize(
    "method", METHODS, ids=lambda m: "-".join(str(v) for v in m.values() if not isinstance(v, dict))
)
@pytest.mark.parametrize("problem", [LINES, CANCER], ids=["lines", "cancer"])
def test_no_seed_is_above(method: Spec, problem: Spec) -> None:
    """A curve refuses a sample above its envelope; here the envelopes are finite and hold with room to spare."""
    metrics = ["dist2", "gap", "grad2"]
    curve = run(*built(method, problem), rounds=[0, 1, 2, 5, 20], engine="sampled", seeds=200, metrics=metrics)
    assert set(curve.envelopes) == set(metrics)
    for name, found in curve.envelopes.items():
        assert np.isfinite(found.limits).all()
        assert (curve.samples[name] <= found.limits * (1 + 1e-9)).all()
    assert curve.samples["dist2"][:, 0] == pytest.approx(curve.envelopes["dist2"].limits[0], rel=1e-4)


@pytest.mark.parametrize(
    "method",
    [
        {"kind": "fedprox", "mu": 1, "E": 1, "eta": "1/8"},
        {"kind": "fedshuffle_mvr", "eta_l": "1/16", "a": "1/10"},
        {"kind": "md_sampling", "m": 2, "K": 1, "eta_l": "1/8"},
    ],
    ids=lambda m: m["kind"],
)
def test_other_methods_have_none(method: Spec) -> None:
    assert envelope(method, LINES, [1]) is None


def test_samples_that_are_not_convex_have_none() -> None:
    """Appendix C of SCGD: f_1 = -x^2, so that a step leads away from the minimiser."""
    for method in METHODS[:5]:
        assert envelope(method, {"kind": "scgd_appendix_c"}, [1, 5]) is None


def test_rarest_choices() -> None:
    def of(method: Spec, problem: Spec = LINES) -> Rarest | None:
        made = build_problem(problem)
        return rarest_choice(build_method(method), clients_of(made))

    assert of(METHODS[0]) is None  # all clients in every round; orders have no probability that seeds could see
    assert of(METHODS[1]) == Rarest(2 / 3, "a given client takes part in a round")
    importance = of(METHODS[5])
    assert importance is not None
    assert 0 < importance.probability < 0.5
    weighted = of(
        {"kind": "md_sampling", "m": 1, "K": 1, "eta_l": "1/8"}, {**LINES, "weights": ["1/2", "499/1000", "1/1000"]}
    )
    assert weighted == Rarest(0.001, "client 2 takes part in a round")
