"""A certified worst case beside the same semidefinite programme written by hand for Clarabel, and PEPit where it is.

Gradient descent on smooth convex functions, n steps of size 1/L, the gap from the distance 1: n = 10 and 20. "ours" is
the whole of `worst_case` from the resolved statement to the rounded certificate, without the instance that is rebuilt
and without the reading by the verifier; "by hand" builds the same primal programme with NumPy and solves it; "pepit"
states it in PEPit with Clarabel, where that is installed. Processor time, medians of five turns. A fifth of PEPit's
time is met at n = 10; at n = 20 PEPit takes four times the programme by hand, which leaves no room for it.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from _table import Row, run, take_turns, timed
from scipy.sparse import csc_matrix

from boundcheck.theory.discovery import statement
from boundcheck.worst_case.case import Case
from boundcheck.worst_case.programme import Certified, solve

TARGETS, TURNS = {10: 3.0, 20: 1.6}, 5
SCGD = {"L": 1, "mu": "1/10", "n": 5, "E": 2, "eta": "1/10000", "sigma2": 1, "dist2_0": 1, "K": 1}


def ours(n: int) -> float:
    claimed = statement("classics/gradient_descent_convex/sharp")
    found = solve(Case(claimed, {"L": 1, "eta": 1, "dist2_0": 1, "k": n}).programme)
    assert isinstance(found, Certified), found
    return float(found.upper)


def by_hand(n: int) -> float:
    """The programme in (G, f): G of x_0 - x* and the n + 1 gradients, f the n + 1 values less F*."""
    clarabel: Any = importlib.import_module("clarabel")
    size, points = n + 2, n + 2
    x, g = np.zeros((points, size)), np.zeros((points, size))
    for k in range(n + 1):  # the last of the points is x*
        x[k, 0], g[k, k + 1] = 1.0, 1.0
        x[k, 1 : k + 1] = -1.0
    triangle = size * (size + 1) // 2
    rows, cols = np.tril_indices(size)
    factor = np.where(rows == cols, 1.0, np.sqrt(2.0))
    lines: list[Any] = []
    right: list[float] = []
    for i in range(points):
        for j in range(points):
            if i == j:
                continue
            step, slope = x[i] - x[j], g[i] - g[j]
            form = np.outer(g[j], step)
            form = (form + form.T) / 2 + np.outer(slope, slope) / 2
            values = np.zeros(n + 1)
            if i <= n:
                values[i] -= 1
            if j <= n:
                values[j] += 1
            lines.append(np.concatenate([form[cols, rows] * factor, values]))
            right.append(0.0)
    start = np.zeros((size, size))
    start[0, 0] = 1.0
    lines.append(np.concatenate([start[cols, rows] * factor, np.zeros(n + 1)]))
    right.append(1.0)
    width = triangle + n + 1
    cone = np.hstack([-np.eye(triangle), np.zeros((triangle, n + 1))])
    matrix = csc_matrix(np.vstack([np.array(lines), cone]))
    cost = np.zeros(width)
    cost[triangle + n] = -1.0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(len(lines)), clarabel.PSDTriangleConeT(size)]
    bound = np.array([*right, *np.zeros(triangle)])
    solution = clarabel.DefaultSolver(csc_matrix((width, width)), cost, matrix, bound, cones, settings).solve()
    return -float(solution.obj_val)


def pepit(n: int) -> float:
    package: Any = importlib.import_module("PEPit")
    functions: Any = importlib.import_module("PEPit.functions")
    problem = package.PEP()
    f = problem.declare_function(functions.SmoothConvexFunction, L=1.0)
    minimiser = f.stationary_point()
    x = problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 <= 1)
    for _ in range(n):
        x = x - f.gradient(x)
    problem.set_performance_metric(f(x) - f(minimiser))
    return float(problem.solve(verbose=0, solver="CLARABEL"))


def results() -> Iterator[Row]:
    rivals = {"by hand": by_hand, **({"PEPit": pepit} if importlib.util.find_spec("PEPit") else {})}
    for n, most in TARGETS.items():
        sides = {name: lambda work=work, n=n: work(n) for name, work in {"ours": ours, **rivals}.items()}
        seen = take_turns(sides, TURNS)
        if wrong := [name for name, found in seen.found.items() if abs(found * (4 * n + 2) - 1) > 1e-4]:
            raise SystemExit(f"n = {n}: {', '.join(wrong)} does not find 1/(4 n + 2)")
        for name in rivals:
            note = f"ours {seen.median('ours'):.3g} s"
            target = most if name == "by hand" else None
            yield Row(f"n = {n}: time over {name}", seen.ratio("ours", name), most=target, note=note)
    seconds, found = timed(lambda: solve(Case(statement("scgd/theorem_3_3"), SCGD, (1,) * 5).programme))
    if not isinstance(found, Certified):
        raise SystemExit(f"SCGD: {found}")
    yield Row("SCGD, 5 clients, 2 local steps", seconds, "s", 8)


if __name__ == "__main__":
    sys.exit(run(__doc__, results))
