"""The server's state as a vector, and the exact data of a problem in its coordinates.

With c a minimiser (or saddle, or 0 where F has none) the state is z = [x - c; further blocks; 1]: what the server and
the clients keep between rounds (`methods.round`), points less c, as far as it has to be kept (`reduction`). Working at
x - c keeps the metrics free of cancellation.
The gradient of client i (or of one of its samples) is A (x - c) - o
with o = b - A c, exactly rational.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_mat

from boundcheck.core.linalg import column, rational
from boundcheck.engines.exact.layout import Layout, Samples
from boundcheck.engines.exact.reduction import Reduced, reduce_state, started
from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.round import Rule
from boundcheck.problems.problem import Problem, Quadratic, clients_of


@dataclass(frozen=True)
class Exact:
    """Exact data of a method on a quadratic problem.

    whole: per client (A_i, o_i). samples: per client, where the local work draws samples, else None. centre: c.
    start: E z_0 (D, 1); spread: the covariance of z_0 (D, D), None where it is 0.
    quadratic: metric -> (d, d) matrix Q with metric (x - c)' Q (x - c); metrics: those asked for, in order.
    squared_gradient: (d, d) Q of |grad F|^2; residual: grad F at c (d, 1); hessian: of F. weights: of F (those that the
    clients report, `clients.weights`, may be others). rule: what a round does. reduced: which blocks the state has.
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
    rule: Rule
    reduced: Reduced

    @property
    def workers(self) -> tuple[int, ...]:
        """The clients whose work has to be followed, where all take part."""
        return (0,) if self.reduced.alike else tuple(range(self.clients.count))


def lower(method: Method, problem: Problem, metrics: Iterable[str]) -> Exact:
    """The exact data of a run on a quadratic problem.

    Raises Unsupported for a problem that is not quadratic, or whose samples are not known as quadratics.
    """
    if not isinstance(problem, Quadratic):
        raise Unsupported(f"the problem '{problem.name}' is not quadratic, so its runs are no linear maps.")
    rule = method.rule
    forms, d, names = problem.forms(), problem.dim, tuple(metrics)
    clients = clients_of(problem)
    centre = next((c for c, _ in forms.quadratic.values()), fmpq_mat(d, 1))
    parts = {(id(a), id(b)): (a, b) for a, b in forms.maps}  # clients may share their objective
    moved = {key: (a, b - a * centre) for key, (a, b) in parts.items()}
    whole = tuple(moved[id(a), id(b)] for a, b in forms.maps)
    hessian, residual = fmpq_mat(d, d), fmpq_mat(d, 1)
    for w, (a, o) in zip(problem.weights, whole, strict=True):
        hessian, residual = hessian + a * rational(w), residual - o * rational(w)
    samples = _samples(method, problem, clients, centre)
    reduced = reduce_state(method, rule, clients, whole, samples, d)
    start, spread = started(rule, reduced, clients, whole, (hessian, -residual), column(problem.start) - centre, centre)
    quadratic = {name: q for name, (_, q) in forms.quadratic.items() if name in names}
    return Exact(
        reduced.layout, clients, whole, samples, centre, start, spread, quadratic, names, hessian, residual,
        problem.weights, rule, reduced,
    )  # fmt: skip


def _samples(method: Method, problem: Problem, clients: Clients, centre: fmpq_mat) -> tuple[Samples, ...] | None:
    """The samples of each client, where the local work draws any."""
    cohort = method.participation.fixed(0, clients) or tuple(range(clients.count))
    begun = [v for i in cohort[:1] for _, v in method.local.visits(i, cohort, clients)]
    drawn = any(v.sampling not in ("full", "exact") for v in begun)
    if not drawn:
        return None
    parts = problem.sample_maps() if isinstance(problem, Quadratic) else None
    if parts is not None:
        kinds = {id(maps): maps for maps in parts}  # clients may share their samples
        found = {key: _distinct(maps, centre) for key, maps in kinds.items()}
        return tuple(found[id(maps)] for maps in parts)
    if all(size == 1 for size in clients.sizes) and isinstance(problem, Quadratic):
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
    return method.schedule.is_constant() and method.rule.steady


def cohort_at(method: Method, round_index: int, clients: Clients) -> tuple[tuple[int, ...], list[Fraction]]:
    """The fixed cohort of a round and eta_g * a_i of each member. Raises Unsupported for random cohorts."""
    cohort = method.participation.fixed(round_index, clients)
    if cohort is None:
        raise Unsupported(f"the cohorts of {method.name} are random; only their expectation can be computed.")
    return cohort, method.factors(cohort, clients) if cohort else []
