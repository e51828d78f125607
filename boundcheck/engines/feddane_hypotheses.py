"""Hypotheses of FedDANE's theorems about what a method does, which neither it nor a problem can answer alone.

T. Li et al., "FedDANE: A Federated Newton-Type Method": the mean gradient g of S_t must have the mean grad F
("unbiased_gradient_cohort"), its variance falls like 1/K for some laws of S_t ("gradient_cohort_variance"), Theorem 7
needs S'_t independent of S_t ("independent_cohorts"), equation (3) that the mean over S'_t weighs devices as F does
("unbiased_solver_cohort"), and there are solutions, all gamma-inexact ("inexact_solves").

g is the sum over S_t of a_k grad f_k with a_k a function of S_t alone. So E g = grad F for all gradients exactly where
E a_k = w_k, and with D = diag(w) - w w' the variance has the bound for all gradients exactly where D/K minus the
covariance of the a_k is positive semidefinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.engines.joint_feddane import certifies_solves
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts import Correction, Participation, first_repeated
from boundcheck.problems.problem import clients_of

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

__all__ = ["cohort_hypotheses"]

MAX_CLIENTS = 100  # whose covariance is decided
MAX_COHORTS = 20_000  # that are gone through one by one
_ALIKE = "the cohorts of different rounds are not drawn alike."

Law = Sequence[tuple[Fraction, Sequence[int]]]


def cohort_hypotheses(method: Method, problem: Problem) -> dict[str, str | None]:
    """Hypothesis -> why it fails, or None where it holds; one that is not looked at is left out.

    Nothing is said of a method without a gradient correction.
    """
    correction = method.correction
    if correction is None:
        return {}
    clients = clients_of(problem)
    found: dict[str, str | None] = {
        "independent_cohorts": _independent(method, correction, clients),
        **_solver_cohort(method.participation, clients, problem.weights),
    }
    if _may_be_empty(method.participation, clients):
        found["inexact_solves"] = "S'_t may be empty, so that no device solves its subproblem."
    elif certifies_solves(method, problem):
        found["inexact_solves"] = None
    stale = _not_of_this_round(correction)
    if stale is not None:
        return {**found, "unbiased_gradient_cohort": stale, "gradient_cohort_variance": stale}
    cohort = method.participation if correction.participation is None else correction.participation
    if correction.weights == "uniform" and _by_formula(cohort, clients, problem.weights):
        return {**found, "unbiased_gradient_cohort": None, "gradient_cohort_variance": None}
    try:
        law = _law(cohort, clients)
    except (BadInput, Unsupported):  # too many cohorts
        return found
    if law is None:
        return {**found, "unbiased_gradient_cohort": _ALIKE, "gradient_cohort_variance": _ALIKE}
    shares = [(p, _shares(s, clients, correction.weights)) for p, s in law]
    empty = any(not s for _, s in law)
    if empty:
        why = "a cohort S_t may be empty, and then has no mean gradient."
        return {**found, "unbiased_gradient_cohort": why, "gradient_cohort_variance": why}
    biased = _biased(shares, problem.weights)
    found["unbiased_gradient_cohort"] = biased
    if biased is not None:
        found["gradient_cohort_variance"] = biased
    elif clients.count <= MAX_CLIENTS:
        found["gradient_cohort_variance"] = _spread(shares, problem.weights, max(len(s) for _, s in law))
    return found


def _independent(method: Method, correction: Correction, clients: Clients) -> str | None:
    if method.participation.drawing(clients) is None:
        return None  # S'_t is known in advance
    if correction.pipelined:
        return None  # S_t is the cohort of the round before
    return "S_t is S'_t, the devices that do the local work." if correction.participation is None else None


def _solver_cohort(cohort: Participation, clients: Clients, weights: Sequence[Fraction]) -> dict[str, str | None]:
    """The hypothesis about the law of S'_t; empty where the cohorts are too many to go through."""
    name = "unbiased_solver_cohort"
    if _by_formula(cohort, clients, weights):
        return {name: None}
    try:
        law = _law(cohort, clients)
    except (BadInput, Unsupported):
        return {}
    if law is None:
        return {name: _ALIKE}
    if any(not s for _, s in law):
        return {name: "S'_t may be empty, and then has no mean."}
    return {name: _biased([(p, _shares(s, clients, "uniform")) for p, s in law], weights, "mean over S'_t")}


def _may_be_empty(cohort: Participation, clients: Clients) -> bool:
    """Whether no client takes part in some round, surely or with a positive probability."""
    drawing = cohort.drawing(clients)
    if drawing is None:
        rounds = first_repeated(cohort, clients) + cohort.period(clients)
        return any(not cohort.fixed(t, clients) for t in range(rounds))
    if drawing.kind == "independent":
        return all(p < 1 for p in drawing.probabilities)
    chances = zip(drawing.subsets, drawing.probabilities, strict=True) if drawing.kind == "subsets" else ()
    return any(not s and p > 0 for s, p in chances)


def _not_of_this_round(correction: Correction) -> str | None:
    if correction.pipelined:
        return "the gradients are those of the round before, at its point."
    if not correction.is_constant() or correction.at(0) != 1:
        return "the correction is weighted by a factor below 1, so that each device's own gradient has a part in g."
    return None


def _by_formula(cohort: Participation, clients: Clients, weights: Sequence[Fraction]) -> bool:
    """Whether both hypotheses about g are known to hold without a look at the cohorts (plain mean)."""
    drawing = cohort.drawing(clients)
    if drawing is None:
        return False
    if drawing.kind == "replacement":
        return list(drawing.probabilities) == list(weights)
    return drawing.kind == "uniform" and len(set(weights)) == 1


def _law(cohort: Participation, clients: Clients) -> Law | None:
    """Every cohort with its probability; None where rounds are not alike."""
    drawing = cohort.drawing(clients)
    if drawing is not None:
        return drawing.support(MAX_COHORTS)
    if cohort.period(clients) > 1:
        return None
    return [(Fraction(1), cohort.fixed(0, clients) or ())]


def _shares(cohort: Sequence[int], clients: Clients, weights: str) -> dict[int, Fraction]:
    """a_k of the clients of a cohort; one that is drawn several times counts as often."""
    each = [Fraction(1) if weights == "uniform" else clients.weights[k] for k in cohort]
    total, found = sum(each, Fraction(0)), dict[int, Fraction]()
    for k, share in zip(cohort, each, strict=True):
        found[k] = found.get(k, Fraction(0)) + (share / total if total else Fraction(0))
    return found


def _biased(
    shares: Sequence[tuple[Fraction, dict[int, Fraction]]], weights: Sequence[Fraction], of: str = "mean gradient"
) -> str | None:
    mean = [Fraction(0)] * len(weights)
    for p, own in shares:
        for k, share in own.items():
            mean[k] += p * share
    bad = next((k for k, w in enumerate(weights) if mean[k] != w), None)
    if bad is None:
        return None
    return f"client {bad} has the weight {weights[bad]}, but the expected share {mean[bad]} in the {of}."


def _spread(
    shares: Sequence[tuple[Fraction, dict[int, Fraction]]], weights: Sequence[Fraction], size: int
) -> str | None:
    """Whether D/K - cov(a) is positive semidefinite; E a = w is known."""
    from boundcheck.constants.definite import is_positive_semidefinite
    from boundcheck.core.linalg import matrix

    n = len(weights)
    left = [[-w * v * Fraction(1, size) for v in weights] for w in weights]
    for k, w in enumerate(weights):
        left[k][k] += w / size
        for m, v in enumerate(weights):
            left[k][m] += w * v
    for p, own in shares:
        for k, a in own.items():
            for m, b in own.items():
                left[k][m] -= p * a * b
    if n == 1 or is_positive_semidefinite(matrix(left)):
        return None
    return f"the mean gradient of S_t varies more than that of {size} draws by weight with replacement."
