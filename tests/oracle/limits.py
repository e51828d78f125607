"""What the rows of `options` settle to, their values after very many rounds, and how large states are.

States and limits are internals of the exact engine: `sizes` and `_limits` alone know where they stand.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from random import Random
from typing import Any

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import stationary
from boundcheck.engines.exact.dynamics import Dynamics
from boundcheck.engines.exact.growing import stays_away
from boundcheck.engines.exact.rings import FloatRing
from boundcheck.engines.exact.spectral import contraction
from boundcheck.engines.exact.state import lower
from boundcheck.engines.run import carry_out
from boundcheck.errors import BoundcheckError
from boundcheck.methods.method import Method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem
from tests.oracle import options

FAR, DIGITS = 1000, 12
MANY = 100  # rounds of the large cases


def _limits(method: Method, problem: Problem) -> dict[str, Any]:
    """The exact limit of means and metrics, the spectral radius, and whether the run is known to stay away."""
    found: dict[str, Any] = {}
    try:
        own = stationary(method, problem, options.METRICS, Arithmetic.RATIONAL)
        found["limit"] = " ".join(map(options.shown, (*own.mean, *own.values.values())))
    except BoundcheckError as error:
        found["limit"] = str(error)
    try:
        own = contraction(method, problem)
        found["radius"] = f"{own.radius_low:.5g} {own.mean_radius_low:.5g} {own.rounds} {own.converges}"
    except BoundcheckError as error:
        found |= {} if str(error) == found["limit"] else {"radius": str(error)}
    try:
        found["away"] = stays_away(method, problem)
    except BoundcheckError as error:
        found["away"] = "of plain methods alone" if "plain methods" in str(error) else "not decided"
    return found


def limits() -> dict[str, dict[str, Any]]:
    """Row -> its limits on the first problem, and on both its metrics after FAR rounds in doubles."""
    found: dict[str, dict[str, Any]] = {}
    for row, frozen in options.rows().items():
        spec = frozen["spec"]
        found[row] = _limits(options.method_of(spec), options.problem_of(spec["kind"], "samples"))
        for where in options.PROBLEMS:
            method, problem = options.method_of(spec, where), options.problem_of(spec["kind"], where)
            curve = carry_out(method, problem, rounds=[FAR], metrics=options.METRICS, arithmetic="float64")
            found[row][where] = " ".join(f"{curve.values[name][-1]:.{DIGITS - 1}e}" for name in options.METRICS)
    return found


# --- sizes ---


def _quadratics(clients: int, dim: int, samples: int = 2, *, alike: bool = False) -> dict[str, Any]:
    """Clients with one Hessian each, diagonally dominant; all the same where they are alike."""
    draw, found = Random(7), list[Any]()
    for _ in range(1 if alike else clients):
        a = [[0] * dim for _ in range(dim)]
        for k in range(dim):
            a[k][k] = draw.randint(8, 16)
            a[k][k - 1] = a[k - 1][k] = draw.randint(-2, 2) if dim > 2 else 0
            a[k][k] = draw.randint(8, 16)
        hessian = [[f"{v}/16" for v in row] for row in a]
        offsets = [[draw.randint(-3, 3) for _ in range(dim)] for _ in range(samples)]
        found.append({"components": [{"A": hessian, "b": b} for b in offsets]})
    return {"kind": "quadratics", "clients": found * (clients if alike else 1), "start": [1] * dim}


# Name -> parameters of the method and of `_quadratics`.
LARGE: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "FedShuffle, 50 clients": (
        {"kind": "fedshuffle", "eta_l": "1/20", "participation": {"kind": "uniform", "size": 10}},
        {"clients": 50, "dim": 20, "samples": 3},
    ),
    "SCAFFOLD, 10 clients": (
        {"kind": "scaffold", "K": 2, "batch": 1, "eta_l": "1/8", "participation": {"kind": "uniform", "size": 3}},
        {"clients": 10, "dim": 5},
    ),
    "asynchronous FedAvg, 20 clients": (
        {"kind": "fedavg_async", "K": 2, "eta_l": "1/40", "times": "f80"},
        {"clients": 20, "dim": 2},
    ),
    "FedFix, 20 clients": (
        {"kind": "fedfix", "K": 2, "eta_l": "1/40", "times": "f80", "dt": "1/4", "batch": 1},
        {"clients": 20, "dim": 2},
    ),
    "FedBuff, 10 clients": (
        {"kind": "fedbuff", "K": 2, "eta_l": "1/40", "times": "f80", "m": 3, "batch": 1},
        {"clients": 10, "dim": 2},
    ),
    "hand-over, 4 clients": (
        {"kind": "partial_averaging", "tau": 2, "eta": "1/8", "hand_over": {"active": 2, "every": 3, "design": 2}},
        {"clients": 4, "dim": 2},
    ),
    "hand-over, 60 clients alike": (
        {"kind": "partial_averaging", "tau": 2, "eta": "1/8", "hand_over": {"active": 20, "every": 3, "design": 2}},
        {"clients": 60, "dim": 6, "alike": True},
    ),
    "partial averaging, 8 clients": ({"kind": "partial_averaging", "tau": 2, "eta": "1/8"}, {"clients": 8, "dim": 3}),
    "partial averaging, 200 clients alike": (
        {"kind": "partial_averaging", "tau": 3, "eta": "1/8"},
        {"clients": 200, "dim": 6, "alike": True},
    ),
    "FedAvg, 200 clients alike": (
        {"kind": "fedavg_reshuffled", "size": 20, "eta": "1/8"},
        {"clients": 200, "dim": 6, "alike": True},
    ),
    "FedDANE, 10 clients": ({"kind": "feddane", "mu": 2, "K": 3}, {"clients": 10, "dim": 5}),
    "SVRG, 20 clients": ({"kind": "svrg_average", "eta": "1/8", "inner": 10}, {"clients": 20, "dim": 5}),
    "FedShuffle-MVR, 10 clients": (
        {"kind": "fedshuffle_mvr", "eta_l": "1/8", "a": "1/4", "warm_up": 5},
        {"clients": 10, "dim": 5},
    ),
}


def size_of(method: Method, problem: Problem) -> dict[str, int]:
    """The numbers of a state, and those that are followed from round to round: its entries or second moments."""
    exact = lower(method, problem, options.METRICS)
    return {"state": exact.layout.size, "followed": Dynamics(FloatRing(), method, exact).size}


def large(name: str) -> tuple[Method, Problem]:
    method, problem = LARGE[name]
    return options.method_of(method), build_problem(_quadratics(**problem))


def sizes() -> dict[str, dict[str, Any]]:
    """Large cases, and rows on the first problem -> their sizes."""
    found: dict[str, dict[str, Any]] = {name: dict(size_of(*large(name))) for name in LARGE}
    for row, frozen in options.rows().items():
        spec = frozen["spec"]
        found[row] = dict(size_of(options.method_of(spec), options.problem_of(spec["kind"], "samples")))
    return found


def seconds(name: str, arithmetic: str) -> float:
    """Of MANY rounds of a large case, each measured, in a second run."""
    spent = 0.0
    method, problem = large(name)
    for _ in range(2):
        began = time.perf_counter()
        carry_out(method, problem, rounds=MANY, metrics=options.METRICS, arithmetic=arithmetic)
        spent = time.perf_counter() - began
    return spent


def sizes_and_times() -> dict[str, dict[str, Any]]:
    """Sizes, and of the large cases the seconds on the machine that recorded them, which no test compares."""
    found = sizes()
    for name in LARGE:
        found[name] |= {f"seconds {kind}": round(seconds(name, kind), 4) for kind in ("float64", "ball")}
    return found
