"""What the rows of `options` settle to, and their values after very many rounds."""

from __future__ import annotations

from typing import Any

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import stationary
from boundcheck.engines.exact.growing import stays_away
from boundcheck.engines.exact.spectral import contraction
from boundcheck.engines.run import carry_out
from boundcheck.errors import BoundcheckError
from boundcheck.methods.method import Method
from boundcheck.problems.problem import Problem
from tests.oracle import options

FAR, DIGITS = 1000, 12


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
