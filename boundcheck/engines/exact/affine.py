"""A method on a quadratic problem as linear maps of the homogeneous error coordinate.

With c a minimiser (or saddle, or 0 where F has none) and z = [x - c; 1], the gradient step of client i is
z <- (I - eta G_i) z, G_i = [[A_i, A_i c - b_i], [0, 0]], exactly rational. Working at x - c keeps the metrics
free of cancellation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat

from boundcheck.core.linalg import column, identity
from boundcheck.engines.exact.rings import Matrix, Ring
from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import GradientSteps
from boundcheck.problems.problem import Problem, QuadraticProblem

__all__ = ["Affine", "cohort_at", "lower", "round_map", "step_factors", "visits_at"]


@dataclass(frozen=True)
class Affine:
    """Exact homogeneous data of a problem.

    generators: G_i (D, D), D = d + 1. start: z_0 (D, 1). quadratic: metric -> Q (D, D) with metric z'Qz;
    linear: metric -> l (1, D) with metric l z. repeats: local steps of a visit.
    """

    generators: tuple[fmpq_mat, ...]
    start: fmpq_mat
    quadratic: Mapping[str, fmpq_mat]
    linear: Mapping[str, fmpq_mat]
    repeats: int


def lower(method: Method, problem: Problem, metrics: Iterable[str]) -> Affine:
    """The exact data of a run of local full-gradient steps on a quadratic problem.

    Raises Unsupported for reshuffled local epochs and for a problem that is not quadratic.
    """
    local = method.local
    if not isinstance(local, GradientSteps) or method.momentum is not None:
        raise Unsupported(
            f"the exact engine has no expectation over reshuffled local epochs ({method.name}); use engine = 'sampled'."
        )
    if not isinstance(problem, QuadraticProblem):
        raise Unsupported(f"the problem '{problem.name}' is not quadratic, so its runs are no linear maps.")
    forms = problem.forms()
    d = problem.dim
    centre = next((c for c, _ in forms.quadratic.values()), fmpq_mat(d, 1))
    generators = tuple(_bordered(a, a * centre - b) for a, b in forms.maps)
    start = fmpq_mat(d + 1, 1, [*(column(problem.start) - centre).entries(), fmpq(1)])
    wanted = set(metrics)
    quadratic = {name: _bordered(q, fmpq_mat(d, 1)) for name, (_, q) in forms.quadratic.items() if name in wanted}
    linear = {"x": fmpq_mat(1, 2, [fmpq(1), centre[0, 0]])} if "x" in wanted else {}
    return Affine(generators, start, quadratic, linear, local.E)


def _bordered(a: fmpq_mat, right: fmpq_mat) -> fmpq_mat:
    """[[a, right], [0, 0]]."""
    d = a.nrows()
    rows = a.tolist()
    entries = [v for i in range(d) for v in [*rows[i], right[i, 0]]]
    return fmpq_mat(d + 1, d + 1, [*entries, *([fmpq(0)] * (d + 1))])


def cohort_at(method: Method, round_index: int, clients: Clients) -> tuple[tuple[int, ...], list[Fraction]]:
    """The fixed cohort of a round and eta_g * a_i of each member."""
    cohort = method.participation.fixed(round_index, clients)
    if cohort is None:
        raise Unsupported(f"the cohorts of {method.name} are random; only their expectation can be computed.")
    return cohort, method.factors(cohort, clients)


def visits_at(method: Method, round_index: int, clients: Clients) -> list[int]:
    """Full-gradient steps of each member of a round's fixed cohort."""
    cohort, _ = cohort_at(method, round_index, clients)
    found = [method.local.visits(i, cohort, clients) for i in cohort]
    if any(len(v) != 1 or v[0][1].sampling != "full" for v in found):
        raise Unsupported(f"the local steps of {method.name} use samples; this problem has whole gradients only.")
    return [v[0][1].steps for v in found]


def round_map(ring: Ring, visits: Sequence[Matrix], cohort: tuple[int, ...], factors: list[Fraction]) -> Matrix:
    """I + sum of factor_i (V_i - I) over the cohort, V_i the map of client i's visit."""
    if len(cohort) == 1 and factors[0] == 1:
        return visits[cohort[0]]
    first = visits[cohort[0]]
    size = first.shape[0] if hasattr(first, "shape") else first.nrows()
    total = ring.lift(identity(size)) * ring.scalar(1 - sum(factors, Fraction(0)))
    for i, factor in zip(cohort, factors, strict=True):
        total = total + visits[i] * ring.scalar(factor)
    return total


def step_factors(method: Method, clients: Clients) -> Fraction:
    """eta_g * a for random cohorts whose coefficients depend on their size alone.

    Raises Unsupported where they depend on who takes part.
    """
    own = method.aggregation.by_client(method.setting(clients))
    drawing = method.participation.drawing(clients)
    factors = {own(i) for i in range(clients.count)} if own is not None and drawing is not None else set()
    if len(factors) != 1:
        raise Unsupported(
            f"the aggregation of {method.name} weighs clients by who takes part, which the exact engine cannot "
            "average; use engine = 'sampled'."
        )
    return method.server.factor * factors.pop()
