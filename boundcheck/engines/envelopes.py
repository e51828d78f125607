"""Certified upper limits of a metric for every seed: how far a run can get from the minimiser at all.

D_r bounds |x_r - x*| whatever the cohorts, the orders and the samples drawn, for methods of plain local steps
y <- y - eta_i g(y) with eta_i L <= 1, where each g is the gradient of one sample (or a mean of some, or all) of a
client, L-smooth and mu-convex, mu >= 0. With D_0 = |x_0 - x*| each round takes the smaller of two bounds, S the worst
cohort, c_i >= 0 the coefficients of x <- x + sum over S of c_i (y_i - x), K_i the local steps, G_i the largest norm of
a gradient at x* that client i can draw.

*Contraction.* A step moves y at most to (1 - eta_i mu)|y - x*| + eta_i G_i, so that, with rho_i = (1 - eta_i mu)^K_i
and b_i = eta_i G_i times the sum of (1 - eta_i mu)^k over k < K_i,

    D <= |1 - sum c_i| D + sum c_i (rho_i D + b_i).

*Drift.* Over whole epochs the gradients at x of all samples sum to K_i grad f_i(x). The k-th iterate is within eta_i
times the sum of the first k gradient norms at x, each at most that at x* plus L D, and a gradient changes by at most L
times that distance. The worst order visits the largest gradients first, G_i(0) >= G_i(1) >= ... in each epoch. With
h_i = c_i eta_i K_i, if the sum of h_i L is at most 1,

    D <= (1 - mu sum h_i) D + |sum h_i grad f_i(x*)| + sum c_i eta_i^2 L s_i,
    s_i = sum over k < K_i of (K_i - 1 - k) (G_i(k) + L D).

The minimiser x* is known as well as the problem's certificate says; what the run and these sums round is covered by a
term for each round (`_NOISE`).
The metrics: dist2 <= D^2, gap <= L D^2/2 above the certified minimum, grad2 <= L^2 D^2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.core.linalg import float_down, float_up
from boundcheck.engines.curve import Envelope, Floats, Ints
from boundcheck.methods.parts import AggregationContext
from boundcheck.problems._minimum import Minimum
from boundcheck.problems.problem import clients_of, flat_arrays, is_neural, optional

if TYPE_CHECKING:
    from boundcheck.certified.constant import Constant
    from boundcheck.methods.method import Method
    from boundcheck.methods.parts import Drawing, Visit
    from boundcheck.problems.problem import Arrays, Problem


METRICS = ("dist2", "gap", "grad2")
MAX_ROUNDS = 20_000
MAX_WORK = 10**7  # rounds times clients, and local steps of all clients
_NOISE = 2.0**-48  # of rounding, relative, for each coordinate and local step of a round
_UP = 1 + 1e-9


def certified_envelopes(method: Method, problem: Problem, rounds: Ints, metrics: Sequence[str]) -> dict[str, Envelope]:
    """Envelopes of those metrics that this can bound, at the rounds of a curve; empty where it says nothing.

    It covers plain methods with a fixed number of local steps at most 1/L and cohorts of known coefficients, on
    problems with flat arrays, certified constants L_ij and mu_ij >= 0 and a known minimiser.
    """
    wanted = [name for name in metrics if name in METRICS]
    last = int(rounds[-1]) if len(rounds) else 0
    if (
        not wanted
        or not method.is_plain
        or method.by_iteration
        or method.weighs_visits
        or last > MAX_ROUNDS
        or last * problem.clients > MAX_WORK
    ):
        return {}
    known = _landscape(problem)
    plan = None if known is None else _plan(method, problem, known)
    if known is None or plan is None:
        return {}
    radii = _radii(method, problem, known, plan, last)
    if radii is None:
        return {}
    reach = radii[rounds]
    limits = {
        "dist2": (reach + known.radius) ** 2,
        "gap": known.smooth / 2 * reach**2 + known.above,
        "grad2": (known.smooth * reach) ** 2,
    }
    how = "no order of samples and no cohort leads further from the minimiser at these steps"
    return {name: Envelope(limits[name] * _UP, how) for name in wanted}


@dataclass(frozen=True, eq=False)
class _Landscape:
    """What is certain of a problem: x* within `radius` of `point`, L and mu of every sample, gradients at x*.

    above: how far a measured gap may be above the true one. slopes: (N,) norms of the samples' gradients at x*.
    clients: (n, d) the clients' gradients at `point`; off: how far they may be from those at x*.
    """

    point: Floats
    radius: float
    above: float
    smooth: float
    convex: float
    slopes: Floats
    offsets: Ints
    clients: Floats
    off: float


def _landscape(problem: Problem) -> _Landscape | None:
    arrays = None if is_neural(problem) else flat_arrays(problem)
    if arrays is None:
        return None
    constants = problem.constants()
    if arrays.reduction != "mean" or arrays.kind not in ("quadratic", "isotropic", "rows", "logistic"):
        return None
    if not {"L_ij", "mu_ij"} <= set(constants):  # samples that are not convex have no mu_ij
        return None
    if not (_certain(constants["L_ij"], "lower") and _certain(constants["mu_ij"], "upper")):
        return None
    smooth, convex = float_up(constants["L_ij"].value), float_down(constants["mu_ij"].value)
    if convex < 0:
        return None
    least = optional(problem, "minimum")
    if isinstance(least, Minimum):
        point, radius, above = least.point, least.radius, least.value - least.low
    elif arrays.kind == "logistic" or len(arrays.centre) != problem.dim or "dist2" not in arrays.centred:
        return None
    else:  # the exact minimiser, rounded
        point, above = arrays.centre, 0.0
        radius = 2.0**-50 * float(np.linalg.norm(point))
    slopes: list[Floats] = []
    means: list[Floats] = []
    off = smooth * radius
    for first, end in pairwise(arrays.offsets.tolist()):
        if first == end:
            return None
        gradients, error = _sample_gradients(arrays, slice(first, end), point)
        slopes.append(np.linalg.norm(gradients, axis=1) * _UP + error + smooth * radius)
        means.append(gradients.mean(axis=0))
        off = max(off, smooth * radius + float(error.max()) * _UP)
    if not all(np.isfinite(own).all() for own in slopes):
        return None
    every, clients = np.concatenate(slopes), np.array(means)
    return _Landscape(point, radius, above, smooth, convex, every, arrays.offsets, clients, off)


def _certain(constant: Constant, wrong_side: str) -> bool:
    """Whether a constant is certified, and on the side that is used."""
    return constant.known.value != "estimated" and constant.side != wrong_side


def _sample_gradients(arrays: Arrays, which: slice, x: Floats) -> tuple[Floats, Floats]:
    """Gradients (N, d) of some components at x, and limits (N,) of their rounding errors."""
    size, features = float(np.linalg.norm(x)), arrays.b[which]
    rows = np.linalg.norm(features, axis=1)
    if arrays.kind == "quadratic":
        found = np.einsum("jkl,l->jk", arrays.A[which], x) - features
        scale = np.linalg.norm(arrays.A[which], axis=(1, 2)) * size + rows
    elif arrays.kind == "isotropic":
        curvature = arrays.curvature[which]
        found = curvature[:, None] * x - features
        scale = np.abs(curvature) * size + rows
    else:
        scores, target = features @ x, arrays.target[which]
        if arrays.kind == "rows":
            curvature = arrays.curvature[which]
            shares = curvature * (scores - target)
            scale = np.abs(curvature) * (rows * size + np.abs(target)) * rows
        else:
            with np.errstate(over="ignore"):
                shares = -target / (1 + np.exp(target * scores))
            scale = (1 + rows * size) * rows
        found = shares[:, None] * features + arrays.ridge * x
        scale = scale + arrays.ridge * size
    return found, scale * (len(x) + 10) * 2.0**-50


@dataclass(frozen=True, eq=False)
class _Plan:
    """Of every client: its coefficient c, the scale of its step size, K and its whole epochs of single samples.

    epochs: 0 where there are other steps, so that the drift bound does not apply, 1 for full gradients. cohort: the law
    of the cohort, None for all clients.
    """

    factors: Floats
    scales: Floats
    steps: Ints
    epochs: Ints
    full: bool
    cohort: Drawing | None


def _plan(method: Method, problem: Problem, known: _Landscape) -> _Plan | None:
    clients = clients_of(problem)
    drawing = method.participation.drawing(clients)
    if drawing is None:
        everyone = method.participation.period(clients) == 1
        if not everyone or method.participation.fixed(0, clients) != tuple(range(clients.count)):
            return None
    elif drawing.kind not in ("uniform", "independent"):
        return None
    coefficient = method.aggregation.by_client(AggregationContext(clients, method.participation, method.local))
    if coefficient is None or method.local.by_cohort:
        return None
    visits: list[Visit] = []
    for i in range(clients.count):
        choices = method.local.visits(i, (i,), clients)
        if len(choices) != 1 or choices[0][1].prox or choices[0][1].sampling == "exact":
            return None
        visits.append(choices[0][1])
    inside = [drawing is None or drawing.inclusion(i) > 0 for i in range(clients.count)]
    factors = [float_up(method.server.factor * coefficient(i)) if inside[i] else 0.0 for i in range(clients.count)]
    steps = np.array([v.steps for v in visits], dtype=np.int64)
    if min(factors) < 0 or int(steps.sum()) > MAX_WORK or len({v.sampling for v in visits}) != 1:
        return None
    sizes = np.diff(known.offsets)
    full = visits[0].sampling == "full"
    whole = np.array([v.sampling == "reshuffled" and v.batch == 1 for v in visits]) & (steps % sizes == 0)
    epochs = np.where(full, 1, np.where(whole, steps // sizes, 0))
    return _Plan(np.array(factors), np.array([float_up(v.scale) for v in visits]), steps, epochs, full, drawing)


def _radii(method: Method, problem: Problem, known: _Landscape, plan: _Plan, last: int) -> Floats | None:
    """D_0, ..., D_last; None where a step is too long."""
    clients = clients_of(problem)
    start = np.array([float(v) for v in problem.start])
    slope = _client_slopes(known, plan)
    order = _order_sums(known, plan)
    norms = np.linalg.norm(known.clients, axis=1) * _UP + known.off
    width = 4 * _NOISE * (problem.dim + 10) * int(plan.steps.max(initial=1))
    size = float(np.linalg.norm(known.point)) + known.radius
    found = np.empty(last + 1)
    found[0] = (float(np.linalg.norm(start - known.point)) * _UP + known.radius) + _NOISE * size
    sums: tuple[Any, ...] = ()
    eta = -1.0
    for r in range(last):
        step = float_up(method.schedule.step(method.cycle_of(r, clients)))
        if step != eta:
            eta = step
            etas = eta * plan.scales
            if (etas * known.smooth > 1 + 1e-12).any():
                return None
            sums = _sums(known, plan, etas, slope, order, norms)
        contraction, drift = sums
        d = found[r]
        best = min(contraction(d), drift(d)) if drift is not None else contraction(d)
        found[r + 1] = best * (1 + 1e-12) + width * (size + d)
        if not np.isfinite(found[r + 1]):
            found[r + 1 :] = np.inf
            break
    return found


def _client_slopes(known: _Landscape, plan: _Plan) -> Floats:
    """G_i: the largest norm of a gradient at x* that client i can draw."""
    if plan.full:
        return np.linalg.norm(known.clients, axis=1) * _UP + known.off
    return np.maximum.reduceat(known.slopes, known.offsets[:-1])


def _order_sums(known: _Landscape, plan: _Plan) -> Floats:
    """Of every client the largest sum over k < K of (K - 1 - k) G(k), over all orders of each epoch."""
    found = np.zeros(len(plan.steps))
    for i, (count, epochs) in enumerate(zip(plan.steps.tolist(), plan.epochs.tolist(), strict=True)):
        if plan.full:
            found[i] = (float(np.linalg.norm(known.clients[i])) * _UP + known.off) * count * (count - 1) / 2
        elif epochs:
            own = np.sort(known.slopes[known.offsets[i] : known.offsets[i + 1]])[::-1]
            left = np.arange(count - 1, -1, -1, dtype=np.float64).reshape(epochs, -1).sum(axis=0)
            found[i] = float(left @ own) * _UP
    return found


def _sums(
    known: _Landscape, plan: _Plan, etas: Floats, slope: Floats, order: Floats, norms: Floats
) -> tuple[Callable[[float], float], Callable[[float], float] | None]:
    """Both bounds of the next D as functions of this one."""
    smooth, convex, c, steps = known.smooth, known.convex, plan.factors, plan.steps
    rate = np.maximum(1 - etas * convex, 0.0)
    shrunk = rate**steps
    pushed = etas * slope * np.where(etas * convex > 1e-9, (1 - shrunk) / np.maximum(etas * convex, 1e-300), steps)
    pushed = np.minimum(pushed * (1 + 1e-6), etas * slope * steps)  # (1 - rho)/(eta mu) loses digits
    most, _ = _extremes(plan, c)

    def contraction(d: float) -> float:
        moved, _ = _extremes(plan, c * ((shrunk - 1) * d + pushed))
        return d + moved + 2 * max(0.0, most - 1) * d + 1e-12 * (1 + most) * d

    heavy = c * etas * steps
    top, bottom = _extremes(plan, heavy)
    if not plan.epochs.all() or top * smooth > 1:
        return contraction, None
    if plan.cohort is None:
        middle = float(np.linalg.norm(heavy @ known.clients)) * _UP + float(heavy.sum()) * known.off
        middle += 1e-12 * float(heavy @ norms)
    else:
        middle = _extremes(plan, heavy * norms)[0]
    pairs = steps * (steps - 1) / 2.0

    def drift(d: float) -> float:
        strayed, _ = _extremes(plan, c * etas**2 * smooth * (order + pairs * smooth * d))
        return (1 - convex * bottom) * d + middle + strayed * _UP

    return contraction, drift


def _extremes(plan: _Plan, terms: Floats) -> tuple[float, float]:
    """The largest and the least sum of terms over the clients of a cohort."""
    drawing = plan.cohort
    if drawing is None:
        total = float(terms.sum())
        return total, total
    if drawing.kind == "uniform":
        ordered = np.sort(terms)
        return float(ordered[len(terms) - drawing.size :].sum()), float(ordered[: drawing.size].sum())
    sure = np.array([p == 1 for p in drawing.probabilities])
    possible = np.array([p > 0 for p in drawing.probabilities])
    always = float(terms[sure].sum())
    free = terms[possible & ~sure]
    return always + float(np.maximum(free, 0.0).sum()), always + float(np.minimum(free, 0.0).sum())
