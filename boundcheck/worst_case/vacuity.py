"""At which random constants a bound is better than its trivial value."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from boundcheck.theory.statement import Statement

POINTS = 4000


def vacuous_points(statement: Statement, points: int = POINTS) -> tuple[int, int, int]:
    """How many random constants lie in the domain, in scope, and where the bound is no better than the trivial value.

    Constants are drawn evenly by their logarithm over six decades above the least allowed value, with a fixed seed.
    """
    random = np.random.default_rng(0)
    values: dict[str, Any] = {}
    for symbol in statement.symbols:
        low = 0.0 if symbol.low is None else float(symbol.low)
        drawn = low + 10.0 ** random.uniform(-3, 3, points)
        if symbol.high is not None:
            drawn = low + (float(symbol.high) - low) * random.random(points)
        values[symbol.name] = np.ceil(drawn) if symbol.integer else drawn
    keep = np.ones(points, dtype=bool)
    for relation in statement.domain:
        names = sorted(s.name for s in relation.free_symbols)
        keep &= np.asarray(sp.lambdify(names, relation, "numpy")(*(values[n] for n in names)), dtype=bool)
    if not keep.any():
        return 0, 0, 0
    found = statement.evaluate(**{k: v[keep] for k, v in values.items()})
    inside = np.asarray(found.in_scope, dtype=bool)
    empty = np.asarray(found.vacuous, dtype=bool) & inside
    return int(keep.sum()), int(inside.sum()), int(empty.sum())
