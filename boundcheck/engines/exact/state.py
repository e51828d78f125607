"""The server's state as a vector, and the exact data of a problem in its coordinates.

With c a minimiser (or saddle, or 0 where F has none) the state is z = [x - c; 1], with momentum m also [x - c; m; 1],
with a momentum of the server's own step [x - c; x_previous - c; 1], and where the momentum compares gradients at two
points [x - c; x_previous - c; m; 1]. The models y_i that clients keep (`methods.parts.exchange`) are further blocks y_i
- c, and with a pipelined correction g is one; where there is no server x is a weighted mean of the y_i, and the blocks
are y_i - x (`blocks`, `exchangeable`). Control variates, or the points from which they follow, are further blocks
(`controlled`). Working at x - c keeps the metrics free of cancellation.
The gradient of client i (or of one of its samples) is A (x - c) - o
with o = b - A c, exactly rational.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import fmpq, fmpq_mat

from boundcheck.core.linalg import column, rational
from boundcheck.engines.exact.assignments import assignments, models_of
from boundcheck.engines.exact.slots import kept_models
from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks, ControlVariates, ReferencePoint, Stale
from boundcheck.problems.problem import ComponentProblem, Problem, QuadraticProblem, clients_of
from boundcheck.setting.metrics import is_round_metric


@dataclass(frozen=True)
class Layout:
    """Where the blocks of the state begin: x at 0, then the others, then the constant 1.

    d: dimension. previous, momentum: first coordinate of the previous point and of the momentum (or of the gradients
    that a pipelined correction carries over), or None. slots: how many models (or control variates) the clients keep;
    they come last before the constant. copies: where it is random which client holds which model, there is a copy of
    all this, its constant included, for every assignment, multiplied by the indicator of that assignment; then one more
    constant 1.
    """

    d: int
    previous: int | None = None
    momentum: int | None = None
    slots: int = 0
    copies: int = 1

    @property
    def size(self) -> int:
        """Coordinates of the state, the constant included."""
        return self.each if self.copies == 1 else self.copies * self.each + 1

    @property
    def each(self) -> int:
        """Coordinates of one copy."""
        own = 1 + (self.previous is not None) + (self.momentum is not None)
        return self.d * (own + self.slots) + 1

    @property
    def moving(self) -> int:
        """Coordinates without the constant."""
        return self.size - 1

    def slot(self, index: int) -> int:
        """First coordinate of a kept model, in the first copy."""
        return self.each - 1 - self.d * (self.slots - index)

    def block(self, first: int | None) -> fmpq_mat:
        """The (d, D) matrix that picks the d coordinates from `first` on, in whichever copy is not 0."""
        picked = fmpq_mat(self.d, self.size)
        for copy in range(self.copies):
            for k in range(self.d):
                picked[k, copy * self.each + (first or 0) + k] = 1
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
    clients report, `clients.weights`, may be others). alike: whether the clients keep models and one of them stands for
    all (`exchangeable`).
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
    alike: bool = False

    @property
    def watched(self) -> tuple[str, ...]:
        """The metrics of a round that are not read off the state alone."""
        return tuple(name for name in self.metrics if is_round_metric(name) and name not in self.kept)

    @property
    def kept(self) -> tuple[str, ...]:
        """The metrics of the models that clients keep."""
        return tuple(name for name in self.metrics if name.partition(":")[0] == "discrepancy")

    @property
    def workers(self) -> tuple[int, ...]:
        """The clients whose work has to be followed, where all take part."""
        return (0,) if self.alike else tuple(range(self.clients.count))


def refuse_client_sgd(method: Method) -> None:
    """Raises Unsupported for local steps that are not plain: buffers have no room here, clipping is not linear."""
    if method.client_optimizer is not None:
        raise Unsupported(
            f"the exact engine carries plain local steps, and {method.name} has {method.client_optimizer.words()}; "
            "take engine = 'sampled' or 'neural', or leave that out."
        )


def refuse_two_momenta(method: Method) -> None:
    """Raises Unsupported for a momentum of the server's step beside parts with which it has no agreed meaning."""
    others = method.momentum, method.correction, method.exchange
    if method.server_momentum is not None and others != (None, None, None):
        raise Unsupported(
            f"the exact engine has no momentum of the server's step beside a momentum in local steps, a correction or "
            f"models that the clients keep ({method.name})."
        )


def lower(method: Method, problem: Problem, metrics: Iterable[str]) -> Exact:
    """The exact data of a run on a quadratic problem.

    Raises Unsupported for a problem that is not quadratic, or whose samples are not known as quadratics.
    """
    if not isinstance(problem, QuadraticProblem):
        raise Unsupported(f"the problem '{problem.name}' is not quadratic, so its runs are no linear maps.")
    refuse_client_sgd(method)
    refuse_two_momenta(method)
    forms, d, names = problem.forms(), problem.dim, tuple(metrics)
    clients = clients_of(problem)
    centre = next((c for c, _ in forms.quadratic.values()), fmpq_mat(d, 1))
    parts = {(id(a), id(b)): (a, b) for a, b in forms.maps}  # clients may share their objective
    moved = {key: (a, b - a * centre) for key, (a, b) in parts.items()}
    whole = tuple(moved[id(a), id(b)] for a, b in forms.maps)
    hessian, residual = fmpq_mat(d, d), fmpq_mat(d, 1)
    for w, (a, o) in zip(problem.weights, whole, strict=True):
        hessian, residual = hessian + a * rational(w), residual - o * rational(w)
    momentum = method.momentum
    layout = Layout(d)
    if momentum is not None:
        layout = Layout(d, d, 2 * d) if momentum.variance_reduced else Layout(d, None, d)
    if method.correction is not None and method.correction.pipelined:
        layout = Layout(d, None, d)
    if method.server_momentum is not None:
        layout = Layout(d, d)
    if isinstance(method.exchange, Stale):
        kept = kept_models(method, clients)
        layout = replace(layout, slots=1 + max((k for k in kept if k is not None), default=-1))
    if isinstance(method.control, ControlVariates):
        layout = replace(layout, slots=clients.count)
    elif isinstance(method.control, ReferencePoint):
        layout = replace(layout, slots=1 if method.control.point == "last" else 2)
    samples = _samples(method, problem, clients, centre)
    alike = isinstance(method.exchange, Blocks) and _alike(method, method.exchange, clients, whole, samples)
    if isinstance(method.exchange, Blocks):
        copies = 1 if alike else len(assignments(method, method.exchange, clients, d))
        layout = replace(layout, slots=1 if alike else models_of(method.exchange, clients), copies=copies)
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
    if method.server_momentum is not None:
        blocks = [*blocks, *x0.entries()]
    if momentum is None and layout.momentum is not None:  # the gradients of the round before, which round 0 ignores
        blocks += [fmpq(0)] * d
    if isinstance(method.control, ControlVariates):
        given = method.control.start == "gradient"
        blocks += [v for a, o in whole for v in ((a * x0 - o).entries() if given else [fmpq(0)] * d)]
    else:  # every kept model, and the reference point, is x_0 at first
        blocks += ([fmpq(0)] * d if isinstance(method.exchange, Blocks) else x0.entries()) * layout.slots
    start = fmpq_mat(layout.each, 1, [*blocks, fmpq(1)])
    if layout.copies > 1:
        start, spread = _in_copies(layout, start)
    return Exact(
        layout,
        clients,
        whole,
        samples,
        centre,
        start,
        spread,
        {name: q for name, (_, q) in forms.quadratic.items() if name in names},
        names,
        hessian,
        residual,
        problem.weights,
        alike,
    )


def _alike(
    method: Method,
    exchange: Blocks,
    clients: Clients,
    whole: Sequence[tuple[fmpq_mat, fmpq_mat]],
    samples: Sequence[Samples] | None,
) -> bool:
    """Whether all clients hold the same data, do the same work and weigh the same in the averages."""
    everyone = range(clients.count)
    visits = [method.local.visits(i, everyone, clients) for i in everyone]
    return (
        len(set(exchange.of(clients.weights))) == 1
        and all(v == visits[0] for v in visits)
        and all(ao is whole[0] or ao == whole[0] for ao in whole)
        and (samples is None or all(s is samples[0] or s == samples[0] for s in samples))
    )


def _in_copies(layout: Layout, start: fmpq_mat) -> tuple[fmpq_mat, fmpq_mat]:
    """Mean (D, 1) and covariance (D, D) of the state whose one copy that is not 0, drawn uniformly, is `start`."""
    share, each = fmpq(1, layout.copies), layout.each
    mean = fmpq_mat(layout.size, 1, [*(start * share).entries() * layout.copies, fmpq(1)])
    moment, own = mean * layout.one, start * start.transpose() * share
    moment = moment + moment.transpose() - layout.one.transpose() * layout.one
    for copy in range(layout.copies):
        for a in range(each):
            for b in range(each):
                moment[copy * each + a, copy * each + b] = own[a, b]
    return mean, moment - mean * mean.transpose()


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
    begun = [v for i in cohort[:1] for _, v in method.local.visits(i, cohort, clients)]
    drawn = any(v.sampling not in ("full", "exact") for v in begun)
    if not drawn:
        return None
    if isinstance(problem, ComponentProblem):
        parts = problem.sample_maps()
        kinds = {id(maps): maps for maps in parts}  # clients may share their samples
        found = {key: _distinct(maps, centre) for key, maps in kinds.items()}
        return tuple(found[id(maps)] for maps in parts)
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


def repeats(method: Method) -> bool:
    """Whether all rounds at the same place of a period, after the first ones, do the same."""
    pushed = method.server_momentum is None or method.server_momentum.is_constant
    steady = method.correction is None or method.correction.is_constant()
    return method.schedule.is_constant() and steady and pushed


def cohort_at(method: Method, round_index: int, clients: Clients) -> tuple[tuple[int, ...], list[Fraction]]:
    """The fixed cohort of a round and eta_g * a_i of each member. Raises Unsupported for random cohorts."""
    cohort = method.participation.fixed(round_index, clients)
    if cohort is None:
        raise Unsupported(f"the cohorts of {method.name} are random; only their expectation can be computed.")
    return cohort, method.factors(cohort, clients) if cohort else []
