"""Runs of the real methods, in fractions and with every random outcome, for the facts of the derivations.

Each is carried out with the method's own parts (cohorts, visits, steps) and the problem's own gradients; that it is the
run of the engine is checked against the exact curve.
"""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from exact_facts import Outcome, Replay

import boundcheck as bc
from boundcheck.problems.problem import clients_of
from boundcheck.setting.constants import joint_constants

F = Fraction


def quadratics(seed: int, clients: int, dim: int, *, alike: bool = False, weights: bool = False) -> Any:
    """Random quadratic clients with Hessians diag(...) of positive entries; alike: one multiple of the identity."""
    draw = random.Random(seed)

    def hessian() -> list[list[int]]:
        entries = [draw.randint(1, 4) for _ in range(dim)]
        return [[entries[a] if a == b else 0 for b in range(dim)] for a in range(dim)]

    one = draw.randint(1, 4)
    own = [
        {
            "A": [[one * (a == b) for b in range(dim)] for a in range(dim)] if alike else hessian(),
            "b": [draw.randint(-3, 3) for _ in range(dim)],
        }
        for _ in range(clients)
    ]
    shares = [draw.randint(1, 3) for _ in range(clients)]
    more = {"weights": [f"{s}/{sum(shares)}" for s in shares]} if weights else {}
    return bc.problem(kind="quadratics", clients=own, start=[draw.randint(3, 6) for _ in range(dim)], **more)


def array(values: Any) -> Any:
    out = np.empty(len(values), dtype=object)
    out[:] = [F(v) for v in values]
    return out


def curve(method: Any, problem: Any, rounds: int, metric: str) -> list[Fraction]:
    """The engine's exact values after 0, ..., rounds rounds."""
    return list(bc.run(method, problem, rounds=rounds, metrics=[metric], arithmetic="rational").exact[metric])


def mean_gradient(problem: Any, x: Any) -> Any:
    return sum(w * problem.gradient(i, x) for i, w in enumerate(problem.weights))


def constants(problem: Any, method: Any, *names: str) -> dict[str, Fraction]:
    """The values that a claim puts in for these symbols."""
    found = {**problem.constants(), **joint_constants(method, problem)}
    return {name: found[name].value for name in names}


def steps_of(problem: Any, visit: Any, eta: Fraction, client: int, x: Any, shift: Any) -> list[Any]:
    """The points of a visit with full gradients: at its beginning and after each step."""
    points = [x]
    for _ in range(visit.steps):
        y = points[-1]
        points.append(y - eta * visit.scale * (problem.gradient(client, y) + shift + visit.prox * (y - x)))
    return points


def scgd_cycle(seed: int, eta: str = "1/60", E: int = 2) -> Replay:
    """One cycle of SCGD for Lemma 3.1, at points relative to the minimiser."""
    problem = quadratics(seed, 3, 2)
    method = bc.method(kind="scgd", E=E, eta=eta)
    clients, n = clients_of(problem), 3
    start = array(problem.start)
    ts = problem.nearest(start)
    owners, points = [], [start]
    for done in range(n):
        (client,) = method.participation.fixed(done, clients)
        ((_, visit),) = method.local.visits(client, (client,), clients)
        points += steps_of(problem, visit, method.schedule.step(done + 1), client, points[-1], 0 * start)[1:]
        owners += [client] * visit.steps
    dist2 = curve(method, problem, n, "dist2")
    assert dist2[n] == sum((points[-1] - ts) ** 2)  # the engine's run
    gap = problem.metric("gap", start)
    vectors = {
        "zero": lambda: 0 * start,
        "w": lambda k: points[k] - ts,
        "g": lambda m: problem.gradient(owners[m], points[m]),
        "gx": lambda m: problem.gradient(owners[m], start),
        "gs": lambda m: problem.gradient(owners[m], ts),
        "grad_F": lambda: mean_gradient(problem, start),
    }

    def gradient(function: str, which: Any, point: Any) -> Any:
        if function == "F":
            return mean_gradient(problem, ts + point)
        return problem.gradient(owners[int(which)], ts + point)

    known = constants(problem, method, "mu", "L", "sigma2", "dist2_0")
    known |= {"n": F(n), "E": F(E), "eta": F(eta), "dist2_1": dist2[n], "F_star": F(0)}
    return Replay(
        known,
        [Outcome(F(1), vectors, gradient)],
        {
            "phi": lambda t: t**2 * sp.Rational(gap.numerator, gap.denominator)
        },  # F on the segment is quadratic, and least at ts
        {"a": [F(1, 5), F(2, 3)], "t": [F(1, 5), F(2, 3), F(1)]},
    )


def fedavg_rounds(seed: int, rounds: int = 2, E: int = 2, eta: str = "1/60") -> Replay:
    """FedAvg with all clients, for the lemma of SCGD in every round."""
    problem = quadratics(seed, 3, 2)
    method = bc.method(kind="fedavg", E=E, eta=eta)
    clients, N = clients_of(problem), 3
    starts = [array(problem.start)]
    walks: list[list[list[Any]]] = []
    for done in range(rounds + 1):
        cohort = method.participation.fixed(done, clients)
        assert cohort == tuple(range(N))
        x, own = starts[-1], []
        for client in cohort:
            ((_, visit),) = method.local.visits(client, cohort, clients)
            own.append(steps_of(problem, visit, method.schedule.step(done + 1), client, x, 0 * x))
        shares = method.aggregation.coefficients(cohort, method.context(clients))
        starts.append(x + sum(a * (walk[-1] - x) for a, walk in zip(shares, own, strict=True)))
        walks.append(own)
    ts = problem.nearest(starts[0])
    dist2 = curve(method, problem, rounds + 1, "dist2")
    assert dist2 == [sum((x - ts) ** 2) for x in starts]
    vectors = {
        "zero": lambda: 0 * ts,
        "u": lambda r: starts[r] - ts,
        "end": lambda r: starts[r + 1] - ts,
        "w": lambda r, i, m: walks[r][i][m] - ts,
        "g": lambda r, i, m: problem.gradient(i, walks[r][i][m]),
        "gx": lambda r, i: problem.gradient(i, starts[r]),
        "gs": lambda r, i: problem.gradient(i, ts),
        "grad_F": lambda r: mean_gradient(problem, starts[r]),
    }

    def gradient(function: str, which: Any, point: Any) -> Any:
        return mean_gradient(problem, ts + point) if function == "F" else problem.gradient(int(which), ts + point)

    known = constants(problem, method, "mu", "L", "sigma2", "dist2_0")
    known |= {"N": F(N), "E": F(E), "eta": F(eta), "R": F(rounds)}
    functions = {"dist2": lambda r: dist2[int(r)], "gap": lambda r: problem.metric("gap", starts[int(r)])}
    return Replay(known, [Outcome(F(1), vectors, gradient)], functions, {"r": [F(r) for r in range(rounds + 1)]})


def sync_sgd(seed: int, metric: str = "gap", rounds: int = 2, eta: str = "1/10") -> Replay:
    """Synchronous SGD of two workers with two samples each, at points relative to the minimiser.

    The samples of a worker have one Hessian, so that the noise has the same variance at every point.
    """
    draw = random.Random(seed)
    entries = [draw.randint(1, 4), draw.randint(1, 4)]
    hessian = [[entries[0], 0], [0, entries[1]]]
    sides = [[draw.randint(-3, 3), draw.randint(-3, 3)] for _ in range(2)]
    off = [[1, 0], [0, 1]]  # of one length
    own = [[[s + sign * o for s, o in zip(sides[i], off[i], strict=True)] for sign in (1, -1)] for i in range(2)]
    clients = [{"components": [{"A": hessian, "b": b} for b in samples]} for samples in own]
    problem = bc.problem(kind="quadratics", clients=clients, start=[draw.randint(3, 6), draw.randint(3, 6)])
    method = bc.method(kind="sync_sgd", eta=eta)
    every = clients_of(problem)
    cohort = method.participation.fixed(0, every)
    assert cohort == (0, 1)
    assert all(method.local.visits(i, cohort, every)[0][1].steps == 1 for i in cohort)
    shares = method.aggregation.coefficients(cohort, method.context(every))
    start = array(problem.start)
    ts = problem.nearest(start)
    A = array(entries)
    paths: list[tuple[list[Any], list[Any]]] = []
    for drawn in itertools.product(itertools.product(range(2), repeat=2), repeat=rounds):
        points, gradients = [start], []
        for done, samples in enumerate(drawn):
            parts = [A * points[-1] - array(own[i][j]) for i, j in enumerate(samples)]
            gradients.append(sum(share * part for share, part in zip(shares, parts, strict=True)))
            points.append(points[-1] - method.schedule.step(done + 1) * gradients[-1])
        paths.append((points, gradients))
    gaps = curve(method, problem, rounds, "gap")
    L = problem.constants()["L"].value

    def expected(points: list[Any]) -> Fraction:
        return sum((problem.metric("gap", x) for x in points), F(0)) / len(points)

    lower = [
        expected([points[r] - mean_gradient(problem, points[r]) / L for points, _ in paths]) for r in range(rounds)
    ]
    assert gaps == [expected([points[r] for points, _ in paths]) for r in range(rounds + 1)]  # the engine's run
    outcomes = [
        Outcome(
            F(1, len(paths)),
            {
                "zero": lambda: 0 * ts,
                "x": lambda r, points=points: points[r] - ts,
                "s": lambda r, points=points: mean_gradient(problem, points[r]),
                "g": lambda r, gradients=gradients: gradients[r],
            },
            lambda function, which, point: mean_gradient(problem, ts + point),
        )
        for points, gradients in paths
    ]
    known = constants(problem, method, "L", "dist2_0", "gap_0", "sum_p2")
    known |= {"sigma2": joint_constants(method, problem)["sigma2_total"].value, "eta": F(eta), "k": F(rounds)}
    known |= {"mean": sum(curve(method, problem, rounds, metric)[:rounds], F(0)) / rounds}
    functions = {"gap": lambda r: gaps[int(r)], "low": lambda r: lower[int(r)]}
    return Replay(known, outcomes, functions)


def feddane_round(seed: int, *, alike: bool = True, K: int = 2, steps: int = 2) -> Replay:
    """One iteration of FedDANE with inexact solves, all outcomes of both cohorts, at points relative to its start."""
    problem = quadratics(seed, 2, 2, alike=alike, weights=True)
    method = bc.method(kind="feddane", mu=5, K=K, solver={"steps": steps, "eta": "1/12"})
    clients, x0 = clients_of(problem), array(problem.start)
    own, weights = [problem.gradient(i, x0) for i in range(2)], problem.weights
    units = [array([int(a == b) for b in range(2)]) for a in range(2)]
    visits = [method.local.visits(i, (i,), clients)[0][1] for i in range(2)]

    def solution(i: int, g: Any) -> Any:
        """The exact minimiser of the subproblem less its start: (H_i + mu) v = -g, for a diagonal H_i."""
        curvature = [(problem.gradient(i, x0 + e) - own[i]) @ e for e in units]
        return array([-v / (c + visits[i].prox) for v, c in zip(g, curvature, strict=True)])

    outcomes: list[Outcome] = []
    reached = F(0)
    drawn = list(itertools.product(range(2), repeat=K))
    for asked, solving in itertools.product(drawn, repeat=2):
        p = F(math.prod(weights[i] for i in (*asked, *solving)))
        g = sum(own[i] for i in asked) / K
        eta = method.schedule.step(1)
        returned = [steps_of(problem, visits[i], eta, i, x0, g - own[i])[-1] - x0 for i in solving]
        exact = [solution(i, g) for i in solving]
        x = sum(returned) / K
        reached += p * problem.metric("gap", x0 + x)

        def gradient(function: str, which: Any, point: Any, solving: Any = solving) -> Any:
            there = x0 + point
            return mean_gradient(problem, there) if function == "F" else problem.gradient(solving[int(which)], there)

        vectors = {
            "zero": lambda: 0 * x0,
            "slope": lambda: mean_gradient(problem, x0),
            "g": lambda g=g: g,
            "x": lambda x=x: x,
            "G": lambda j, asked=asked: own[asked[j]],
            "v": lambda k, exact=exact: exact[k],
            "d": lambda k, returned=returned: returned[k],
            "h": lambda k, exact=exact, solving=solving: problem.gradient(solving[k], x0 + exact[k]) - own[solving[k]],
        }
        outcomes.append(Outcome(p, vectors, gradient))
    gaps = curve(method, problem, 1, "gap")
    assert gaps[1] == reached  # the engine's run
    known = constants(problem, method, "L", "lam", "gamma", "gap_0", "grad2_0")
    known |= {"B2": problem.constants()["B2_0"].value, "mu": F(5), "K": F(K), "C": F(K), "gap_1": gaps[1]}
    known |= {"clients": sum((w * sum(g**2) for w, g in zip(weights, own, strict=True)), F(0))}
    return Replay(known, outcomes, {}, {"e": [F(1, 2)]})
