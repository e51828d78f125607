"""What the rows of `options` settle to, their values after very many rounds, and how large states are.

States and limits are internals of the exact engine: `sizes` and `_limits` alone know where they stand.
"""

from __future__ import annotations

import time
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
from tests.oracle.frozen import load

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


def size_of(method: Method, problem: Problem) -> dict[str, Any]:
    """The numbers of a state, and those that are followed from round to round: its entries or second moments."""
    exact = lower(method, problem, options.METRICS)
    return {"state": exact.layout.size, "followed": Dynamics(FloatRing(), method, exact).size}


def sizes() -> dict[str, dict[str, Any]]:
    """Large cases, which have the `spec` of a method and `clients`, and rows on the first problem -> their sizes."""
    found: dict[str, dict[str, Any]] = {}
    for name, frozen in load("sizes").items():
        if "spec" in frozen:
            method, problem = options.method_of(frozen["spec"]), build_problem(_quadratics(**frozen["clients"]))
            found[name] = {"spec": frozen["spec"], "clients": frozen["clients"], **size_of(method, problem)}
    for row, frozen in options.rows().items():
        spec = frozen["spec"]
        found[row] = size_of(options.method_of(spec), options.problem_of(spec["kind"], "samples"))
    return found


def sizes_and_times() -> dict[str, dict[str, Any]]:
    """Sizes, and the seconds that MANY rounds of large cases took where they were recorded; no test compares them."""
    found = sizes()
    for own in found.values():
        for arithmetic in ("float64", "ball") if "spec" in own else ():
            method, problem = options.method_of(own["spec"]), build_problem(_quadratics(**own["clients"]))
            for _ in range(2):
                began = time.perf_counter()
                carry_out(method, problem, rounds=MANY, metrics=options.METRICS, arithmetic=arithmetic)
                own[f"seconds {arithmetic}"] = round(time.perf_counter() - began, 4)
    return found
