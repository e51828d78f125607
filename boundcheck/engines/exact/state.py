"""The server's state as a vector, and the exact data of a problem in its coordinates.

With c a minimiser (or saddle, or 0 where F has none) the state is z = [x - c; 1], with momentum m also
[x - c; m; 1], and where the momentum compares gradients at two points [x - c; x_previous - c; m; 1]. The models y_i
that clients keep (`methods.parts.exchange`) are further blocks y_i - c, and with a pipelined correction g is one; where
there is no server the point x is a weighted mean of the y_i. Working at x - c keeps the metrics free of cancellation.
The gradient of client i (or of one of its samples) is A (x - c) - o
with o = b - A c, exactly rational.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat

from boundcheck.core.linalg import column, rational
from boundcheck.engines.run import is_round_metric
from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.problems.problem import ComponentProblem, Problem, QuadraticProblem, clients_of

__all__ = ["Exact", "Layout", "Samples", "cohort_at", "lower", "visits_at"]


@dataclass(frozen=True)
class Layout:
    """Where the blocks of the state begin: x at 0 (if there is a server), then the others, then the constant 1.

    d: dimension. previous, momentum: first coordinate of the previous point and of the momentum (or of the gradients
    that a pipelined correction carries over), or None. slots: how many models the clients keep; they come last before
    the constant. mixed: the weights with which the point of which metrics speak is made of them, where there is no
    server; None: it is x.
    """

    d: int
    previous: int | None = None
    momentum: int | None = None
    slots: int = 0
    mixed: tuple[Fraction, ...] | None = None

    @property
    def size(self) -> int:
        """Coordinates of the state, the constant included."""
        own = (self.mixed is None) + (self.previous is not None) + (self.momentum is not None)
        return self.d * (own + self.slots) + 1

    @property
    def moving(self) -> int:
        """Coordinates without the constant."""
        return self.size - 1

    def slot(self, index: int) -> int:
        """First coordinate of a kept model."""
        return self.moving - self.d * (self.slots - index)

    @property
    def readout(self) -> fmpq_mat:
        """The (d, D) matrix of the point of which metrics speak."""
        if self.mixed is None:
            return self.block(0)
        found = fmpq_mat(self.d, self.size)
        for i, w in enumerate(self.mixed):
            found += self.block(self.slot(i)) * rational(w)
        return found

    def block(self, first: int | None) -> fmpq_mat:
        """The (d, D) matrix that picks the d coordinates from `first` on."""
        picked = fmpq_mat(self.d, self.size)
        for k in range(self.d):
            picked[k, (first or 0) + k] = 1
        return picked

    @property
    def one(self) -> fmpq_mat:
        """The (1, D) row that picks the constant."""
        row = fmpq_mat(1, self.size)
        row[0, self.size - 1] = 1
        return row

    def repeated(self, p: fmpq_mat) -> fmpq_mat:
        """The (d, d) matrix on every block of the moving coordinates."""
        out = fmpq_mat(self.moving, self.moving)
        for first in range(0, self.moving, self.d):
            for a in range(self.d):
                for b in range(self.d):
                    out[first + a, first + b] = p[a, b]
        return out


@dataclass(frozen=True)
class Samples:
    """The distinct samples of a client: Hessians (one where all agree), offsets o (d, 1), how often each occurs."""

    hessians: tuple[fmpq_mat, ...]
    offsets: tuple[fmpq_mat, ...]
    counts: tuple[int, ...]

    @property
    def alike(self) -> bool:
        """Whether all Hessians agree."""
        return len(self.hessians) == 1

    @property
    def total(self) -> int:
        """How many samples the client holds."""
        return sum(self.counts)


@dataclass(frozen=True)
class Exact:
    """Exact data of a method on a quadratic problem.

    whole: per client (A_i, o_i). samples: per client, where the local work draws samples, else None. centre: c.
    start: E z_0 (D, 1); spread: the covariance of z_0 (D, D), None where it is 0.
    quadratic: metric -> (d, d) matrix Q with metric (x - c)' Q (x - c); metrics: those asked for, in order.
    squared_gradient: (d, d) Q of |grad F|^2; residual: grad F at c (d, 1); hessian: of F. weights: of F (those that the
    clients report, `clients.weights`, may be others).
    """

    layout: Layout
    clients: Clients
    whole: tuple[tuple[fmpq_mat, fmpq_mat], ...]
    samples: tuple[Samples, ...] | None
    centre: fmpq_mat
    start: fmpq_mat
    spread: fmpq_mat | None
    quadratic: Mapping[str, fmpq_mat]
    metrics: tuple[str, ...]
    hessian: fmpq_mat
    residual: fmpq_mat
    weights: Sequence[Fraction]

    @property
    def watched(self) -> tuple[str, ...]:
        """The metrics of a round."""
        return tuple(name for name in self.metrics if is_round_metric(name))


def lower(method: Method, problem: Problem, metrics: Iterable[str]) -> Exact:
    """The exact data of a run on a quadratic problem.

    Raises Unsupported for a problem that is not quadratic, or whose samples are not known as quadratics.
    """
    if not isinstance(problem, QuadraticProblem):
        raise Unsupported(f"the problem '{problem.name}' is not quadratic, so its runs are no linear maps.")
    forms, d, names = problem.forms(), problem.dim, tuple(metrics)
    clients = clients_of(problem)
    centre = next((c for c, _ in forms.quadratic.values()), fmpq_mat(d, 1))
    whole = tuple((a, b - a * centre) for a, b in forms.maps)
    hessian, residual = fmpq_mat(d, d), fmpq_mat(d, 1)
    for w, (a, o) in zip(problem.weights, whole, strict=True):
        hessian, residual = hessian + a * rational(w), residual - o * rational(w)
    momentum = method.momentum
    layout = Layout(d)
    if momentum is not None:
        layout = Layout(d, d, 2 * d) if momentum.variance_reduced else Layout(d, None, d)
    x0 = column(problem.start) - centre
    blocks: list[fmpq] = x0.entries()
    spread = None
    if momentum is not None:
        initial = fmpq_mat(d, 1)
        if momentum.start == "gradient":
            initial = hessian * x0 + residual
        if momentum.start == "sampled":
            initial, variance = _drawn_gradients(whole, clients.weights, x0)
            spread = fmpq_mat(layout.size, layout.size)
            first = layout.momentum or 0
            for a in range(d):
                for b in range(d):
                    spread[first + a, first + b] = variance[a, b] / momentum.warm_up
        blocks = [*blocks, *(x0.entries() if layout.previous is not None else []), *initial.entries()]
    return Exact(
        layout,
        clients,
        whole,
        _samples(method, problem, clients, centre),
        centre,
        fmpq_mat(layout.size, 1, [*blocks, fmpq(1)]),
        spread,
        {name: q for name, (_, q) in forms.quadratic.items() if name in names},
        names,
        hessian,
        residual,
        problem.weights,
    )


def _drawn_gradients(
    whole: Sequence[tuple[fmpq_mat, fmpq_mat]], weights: Sequence[Fraction], x: fmpq_mat
) -> tuple[fmpq_mat, fmpq_mat]:
    """Mean (d, 1) and covariance (d, d) of grad f_i(c + x), i drawn by weight."""
    d = x.nrows()
    mean, second = fmpq_mat(d, 1), fmpq_mat(d, d)
    for w, (a, o) in zip(weights, whole, strict=True):
        g = a * x - o
        mean, second = mean + g * rational(w), second + g * g.transpose() * rational(w)
    return mean, second - mean * mean.transpose()


def _samples(method: Method, problem: Problem, clients: Clients, centre: fmpq_mat) -> tuple[Samples, ...] | None:
    """The samples of each client, where the local work draws any."""
    cohort = method.participation.fixed(0, clients) or tuple(range(clients.count))
    drawn = any(v.sampling != "full" for i in cohort[:1] for _, v in method.local.visits(i, cohort, clients))
    if not drawn:
        return None
    if isinstance(problem, ComponentProblem):
        return tuple(_distinct(maps, centre) for maps in problem.sample_maps())
    if all(size == 1 for size in clients.sizes) and isinstance(problem, QuadraticProblem):
        return tuple(_distinct([ab], centre) for ab in problem.forms().maps)
    raise Unsupported(
        f"the samples of '{problem.name}' are not known as quadratics, so the exact engine has no expectation over "
        "reshuffled or drawn samples; use engine = 'sampled'."
    )


def _distinct(maps: Sequence[tuple[fmpq_mat, fmpq_mat]], centre: fmpq_mat) -> Samples:
    hessians: list[fmpq_mat] = []
    known: dict[int, int] = {}  # which Hessian an object is: problems share those of many samples
    kinds: list[tuple[fmpq_mat, fmpq_mat]] = []
    counts: list[int] = []
    index: dict[tuple[object, ...], int] = {}
    for a, b in maps:
        if id(a) not in known:
            known[id(a)] = next((k for k, h in enumerate(hessians) if h == a), len(hessians))
            hessians += [a] if known[id(a)] == len(hessians) else []
        key = (known[id(a)], *((int(v.p), int(v.q)) for v in b.entries()))
        if key not in index:
            index[key] = len(kinds)
            kinds.append((a, b))
            counts.append(0)
        counts[index[key]] += 1
    offsets = tuple(b - a * centre for a, b in kinds)
    return Samples((kinds[0][0],) if len(hessians) == 1 else tuple(a for a, _ in kinds), offsets, tuple(counts))


def cohort_at(method: Method, round_index: int, clients: Clients) -> tuple[tuple[int, ...], list[Fraction]]:
    """The fixed cohort of a round and eta_g * a_i of each member. Raises Unsupported for random cohorts."""
    cohort = method.participation.fixed(round_index, clients)
    if cohort is None:
        raise Unsupported(f"the cohorts of {method.name} are random; only their expectation can be computed.")
    return cohort, method.factors(cohort, clients)


def visits_at(method: Method, round_index: int, clients: Clients) -> list[int]:
    """Full-gradient steps of each member of a round's fixed cohort. Raises Unsupported where steps use samples."""
    cohort, _ = cohort_at(method, round_index, clients)
    found = [method.local.visits(i, cohort, clients) for i in cohort]
    if any(len(v) != 1 or v[0][1].sampling != "full" for v in found):
        raise Unsupported(f"the local steps of {method.name} use samples; this problem has whole gradients only.")
    return [v[0][1].steps for v in found]
