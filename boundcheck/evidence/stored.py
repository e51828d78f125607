"""Runs through the result store: what is there is not run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.run import describe

if TYPE_CHECKING:
    from boundcheck.core.store import Store
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

__all__ = ["arrays_of", "curve_from", "run_or_recall"]

# The code whose change makes an old curve stale; their imports are followed.
_CODE = (
    "boundcheck.engines.run",
    "boundcheck.engines.exact",
    "boundcheck.engines.sampled",
    "boundcheck.problems.build",
)


def arrays_of(curve: Curve) -> dict[str, NDArray[Any]]:
    """The numbers of a curve as plain arrays: rounds, and `<part>/<metric>` for values, low, high, samples, exact."""
    arrays: dict[str, NDArray[Any]] = {"rounds": curve.rounds}
    for part in ("values", "low", "high", "samples"):
        for name, array in getattr(curve, part).items():
            arrays[f"{part}/{name}"] = array
    for name, fractions in curve.exact.items():
        arrays[f"exact/{name}"] = np.array([f"{q.numerator}/{q.denominator}" for q in fractions])
    return arrays


def curve_from(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> Curve:
    """Inverse of `arrays_of`."""
    parts: dict[str, dict[str, Any]] = {"values": {}, "low": {}, "high": {}, "samples": {}, "exact": {}}
    for key, array in arrays.items():
        if key == "rounds":
            continue
        part, _, name = key.partition("/")
        parts[part][name] = tuple(Fraction(str(q)) for q in array) if part == "exact" else array
    return Curve(
        rounds=arrays["rounds"],
        arithmetic=Arithmetic(meta["arithmetic"]),
        expectation=bool(meta["expectation"]),
        info=dict(meta["info"]),
        values=parts["values"],
        low=parts["low"],
        high=parts["high"],
        samples=parts["samples"],
        exact=parts["exact"],
    )


def run_or_recall(
    store: Store | None,
    run: Callable[..., Curve],
    method: Method,
    problem: Problem,
    method_spec: Mapping[str, Any],
    *,
    assumptions: list[str],
    on_progress: Callable[[float], None] | None = None,
    **how: Any,
) -> Curve:
    """`run(method, problem, **how)`, or its stored result where the same code has already run the same thing."""
    if store is None:
        return run(method, problem, assumptions=assumptions, on_progress=on_progress, **how)
    from boundcheck.core.digest import run_key

    spec = {"problem": dict(problem.spec), "method": dict(method_spec), "run": how}
    key = run_key(spec, _CODE)
    stored = store.get(key)
    if stored is None:
        curve = run(method, problem, assumptions=assumptions, on_progress=on_progress, **how)
        meta = {"arithmetic": curve.arithmetic.value, "expectation": curve.expectation, "info": dict(curve.info)}
        store.put(key, spec, arrays_of(curve), meta)
        return curve
    return describe(replace(curve_from(stored.arrays, stored.meta)), method, problem, assumptions)
