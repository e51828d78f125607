"""Metrics of a round, or of the models that clients keep: what a recorded point alone does not tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from boundcheck.core.numbers import float_below
from boundcheck.engines.curve import Floats
from boundcheck.engines.simulate.lowering import Lowered
from boundcheck.engines.simulate.measure import Measure, measures, pointwise
from boundcheck.engines.simulate.oracles import Whole
from boundcheck.engines.simulate.solves import least_curvature
from boundcheck.engines.simulate.vectors import Solve
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.answers import averaging
from boundcheck.problems._losses import Logistic, Softmax
from boundcheck.problems.problem import Arrays, Lazy, Problem, optional

DISCREPANCY = "discrepancy"
DISSIMILARITY = "B2"
INEXACTNESS = "inexactness"
EPOCH_GRAD2 = "epoch_grad2"
ABOVE_LEAST_LOCAL = "f_above_least_local"
LEAST_LOCAL_F = "least_local_f"
LEAST_LOCAL_LOSS = "least_local_loss"
LOCAL = (LEAST_LOCAL_F, LEAST_LOCAL_LOSS, ABOVE_LEAST_LOCAL)  # metrics of the models before they are averaged


def is_discrepancy(name: str) -> bool:
    """Whether a metric is the discrepancy of the models, or that of one of their blocks."""
    return name.partition(":")[0] == DISCREPANCY


def needs_models(lowered: Lowered, name: str) -> Unsupported:
    """The error for a metric of models that a method's clients do not keep."""
    return Unsupported(f"'{lowered.method.name}' keeps no models at its clients, which the metric '{name}' is about.")


def discrepancy(lowered: Lowered, name: str, dim: int) -> Callable[[Floats], Floats]:
    """State (S, parts, d) -> the weighted mean of |u - y_i|^2 over the models y_i (S,), u their weighted mean.

    name: "discrepancy", or "discrepancy:<j>" for the coordinates of block j alone. Raises Unsupported for a method
    without such models and BadInput for a block that does not exist.
    """
    blocks, number = averaging(lowered.method.exchange), name.partition(":")[2]
    if blocks is None:
        raise needs_models(lowered, name)
    own = list(range(dim))
    if number:
        every = blocks.blocks(dim)
        if int(number) >= len(every):
            raise BadInput(
                f"the metric '{name}' is about a block that does not exist; there are {len(every)}, from 0 on."
            )
        own = list(every[int(number)])
    portions, count = portions_of(lowered), len(lowered.kept)
    first = len(lowered.server) + lowered.kept.index("apart")

    def measure(state: Floats) -> Floats:
        found = np.empty(len(state))
        for s, vectors in enumerate(state):  # one by one: a seed's sum must not depend on its neighbours
            apart = vectors[first::count, own]
            found[s] = portions @ np.array([float((row * row).sum()) for row in apart])
        return found

    return measure


def portions_of(lowered: Lowered) -> Floats:
    """The weights of the models in their average."""
    blocks = averaging(lowered.method.exchange)
    if blocks is None or blocks.hand_over is not None:
        return np.full(lowered.models, 1 / max(1, lowered.models))
    return np.array([float(w) for w in blocks.of(lowered.known.weights)])


def local_losses(
    lowered: Lowered, problem: Problem, arrays: Arrays | None, names: Collection[str]
) -> Callable[[Floats, Floats], dict[str, Floats]]:
    """Points u (S, d), models z_i (S, n, d) -> those of `LOCAL` that are among the names, each (S,).

    u is the mean of the models that clients keep after a round; z_i is what their steps of the round end with, before
    the models are averaged. "least_local_f" is the least F(z_i), "least_local_loss" the least f_i(z_i), each model on
    the data of its own client, and "f_above_least_local" F(u) minus the least F(z_i): negative where u is better than
    each z_i. S. Lee et al., "Partial Model Averaging in Federated Learning: Performance Guarantees and Benefits",
    Figure 3, shows the losses. Raises Unsupported for a method without such models and for a problem whose losses are
    not known (see `client_losses`), and for the difference UnknownName for a problem that has no `gap`.
    """
    wanted = [name for name in LOCAL if name in names]
    if averaging(lowered.method.exchange) is None:
        raise needs_models(lowered, wanted[0])
    # the minimum of F cancels in the difference
    gap = measures(problem, arrays, ("gap",))["gap"] if ABOVE_LEAST_LOCAL in wanted else None
    own = [name for name in wanted if name != ABOVE_LEAST_LOCAL]
    losses = client_losses(problem, arrays, own[0]) if own else None
    weights = np.array([float(w) for w in problem.weights])

    def measure(points: Floats, models: Floats) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        if gap is not None:
            values = gap(np.concatenate([points[:, None], models], axis=1))
            found[ABOVE_LEAST_LOCAL] = values[:, 0] - values[:, 1:].min(axis=1)
        if losses is not None:
            tables = np.array([[losses(z) for z in row] for row in models])  # (S, n, n): f_k(z_i) at s, i, k
            tables[~np.isfinite(tables)] = np.inf
            found[LEAST_LOCAL_F] = np.array([[float(weights @ row) for row in table] for table in tables]).min(axis=1)
            found[LEAST_LOCAL_LOSS] = np.diagonal(tables, axis1=1, axis2=2).min(axis=1)
        return {name: found[name] for name in wanted}

    return measure


def epochs_of_visits(lowered: Lowered) -> int:
    """The epochs that every visit begins (steps, where these use full gradients), for "epoch_grad2".

    Raises Unsupported unless one client takes part in each round and its visit always begins equally many.
    """
    sizes = {len(c) for c in lowered.cohorts.fixed} if lowered.law is None else {lowered.law.largest}
    certain = lowered.law is None or lowered.law.kind != "independent"
    found: set[int] = set()
    if certain and sizes == {1} and lowered.visits == 1 and not lowered.by_cohort:
        for member in lowered.members(range(lowered.clients)):
            per_epoch = 1 if lowered.whole else -(-lowered.known.sizes[member.client] // lowered.batch)
            found.add(-(-member.steps[0] // per_epoch))
    if len(found) != 1 or 0 in found:
        raise Unsupported(
            f"'{EPOCH_GRAD2}' is measured in runs for one client a round and epochs that are as many for every client; "
            f"'{lowered.method.name}' is not of that kind."
        )
    return found.pop()


def client_losses(problem: Problem, arrays: Arrays | None, name: str) -> Callable[[Floats], Floats]:
    """Point (d,) -> the losses f_k of all clients there (n,), for problems whose samples tell them.

    name: the metric that is asked for. Raises Unsupported where gradients alone are known, or the samples' quadratics
    without the constant of each.
    """
    if arrays is None or arrays.kind not in ("rows", "logistic", "softmax"):
        known = "gradients of" if arrays is None else "quadratics up to a constant of"
        raise Unsupported(
            f"the metric '{name}' is a loss, and the sampled engine knows only the {known} '{problem.name}'; it "
            "measures the metric for least squares without ridge and for logistic and softmax regression, and "
            f"'{ABOVE_LEAST_LOCAL}', in which a constant cancels, for every problem with the metric 'gap'."
        )
    kind, a, y = arrays.kind, arrays.b, arrays.target
    begins = arrays.offsets[:-1]
    sizes = np.diff(arrays.offsets) if arrays.reduction == "mean" else 1
    labels = y.astype(np.int64)

    def of_samples(x: Floats) -> Floats:
        if kind == "softmax":
            return Softmax(arrays.classes).values(a @ x.reshape(arrays.classes, -1).T, labels)
        scores = a @ x
        if kind == "logistic":
            return Logistic().values(scores[:, None], y)
        return arrays.curvature * (scores - y) ** 2 / 2

    def measure(x: Floats) -> Floats:  # one point at a time: a seed's value must not depend on its neighbours
        return np.add.reduceat(of_samples(x), begins) / sizes + arrays.ridge / 2 * float((x * x).sum())

    return measure


def dissimilarity(problem: Problem) -> Measure:
    """Points (S, G, d) -> sum of p_k |grad F_k(x)|^2 / |grad F(x)|^2 at each; +inf at a stationary point of F.

    For problems that do not compute it themselves.
    """
    weights = np.array([float(w) for w in problem.weights])

    def at(x: Floats) -> float:
        slopes = np.array([problem.gradient(k, x) for k in range(problem.clients)], dtype=np.float64)
        of_all = weights @ slopes
        below = float(of_all @ of_all)
        return float(weights @ (slopes * slopes).sum(axis=1)) / below if below > 0 else math.inf

    return pointwise(at)


@dataclass
class Solves:
    """The inexactness of the local solves of a round.

    A solve of P_k(v) = F_k(v) + c_t <g - grad F_k(x), v - x> + mu/2 |v - x|^2 returns y. P_k is m-strongly convex with
    m = mu + (a lower bound of the curvature of F_k), so that its minimiser is within e = |grad P_k(y)|/m of y, and y is
    gamma-inexact (T. Li et al., FedDANE, Definition 1) with gamma = e/(|y - x| - e): certified up to the rounding of
    the gradient. It is infinity where |y - x| <= e or m <= 0, except that an exact solve, e = 0, has gamma = 0.
    """

    lowered: Lowered
    problem: Problem
    arrays: Arrays | None
    curvatures: dict[int, float] = field(default_factory=dict[int, float])

    def curvature(self, client: int) -> float:
        """A lower bound of the eigenvalues of a client's Hessian, everywhere."""
        if client not in self.curvatures:
            self.curvatures[client] = self._curvature(client)
        return self.curvatures[client]

    def _curvature(self, client: int) -> float:
        own = optional(self.problem, "client_curvatures")
        if own is not None:
            return float_below(own()[client][0])
        if self.arrays is not None:
            return least_curvature(self.arrays, client)
        if isinstance(self.problem, Lazy):
            return least_curvature(self.problem.client_arrays(client), 0)
        known = self.problem.constants()
        for name, sign in (("mu_ij", 1), ("lam", -1)):
            if name in known:
                return float_below(sign * Fraction(known[name].value))
        raise Unsupported(
            f"'{INEXACTNESS}' needs a lower bound of the clients' curvature; '{self.problem.name}' has none."
        )

    def gammas(self, whole: Whole, solve: Solve) -> Floats:
        """gamma of a visit for each of its seeds."""
        y, moved = solve.returned, solve.returned - solve.started
        slopes = whole.full(solve.client, y) + solve.shift + solve.mu * (y - solve.centre)
        m = solve.mu + self.curvature(solve.client)
        sizes = [float(np.sqrt((row * row).sum())) for row in slopes]
        return np.array([_certified(size, m, way) for size, way in zip(sizes, moved, strict=True)])


def _certified(slope: float, m: float, moved: Floats) -> float:
    if slope == 0.0 and m > 0.0:
        return 0.0
    error = slope / m if m > 0.0 else math.inf
    apart = float(np.sqrt((moved * moved).sum())) - error
    return error / apart if apart > 0.0 and math.isfinite(apart) else math.inf
