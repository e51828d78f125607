"""Constants and hypotheses of methods with proximal subproblems: those of FedDANE's theorems.

T. Li et al., "FedDANE: A Federated Newton-Type Method". Client k has the proximal weight mu_k, its gradient is
L_k-Lipschitz, and its solution is gamma_k-inexact (Definition 1): |w_k - v_k| <= gamma_k |v_k - x|, v_k the exact one.

gamma_k is 0 for exact solves. s gradient steps of size eta on the subproblem give
w_k - v_k = (I - eta (H_k + mu_k I))^s (x - v_k) on quadratics, so that gamma_k is the s-th power of the spectral norm
of I - eta (H_k + mu_k I). Where the Hessians of F_k lie between l_k I and L_k I the same holds with the larger of
|1 - eta (l_k + mu_k)| and |1 - eta (L_k + mu_k)| (mean value theorem). Nothing is certified for sampled steps.

The constants are those of the catalogue (`theory.keys`). Where S'_t is drawn, a mean over it is replaced by the least
favourable value of a client (the least for inv_mu, the largest for the others), which serves every S'_t.

Hypotheses, which neither the method nor the problem can answer alone: the mean gradient g of S_t must have the mean
grad F ("unbiased_gradient_cohort"), its variance falls like 1/K for some laws of S_t ("gradient_cohort_variance"),
Theorem 7 needs S'_t independent of S_t ("independent_cohorts"), equation (3) that the mean over S'_t weighs devices as
F does ("unbiased_solver_cohort"), and there are solutions, all gamma-inexact ("inexact_solves").

g is the sum over S_t of a_k grad f_k with a_k a function of S_t alone. So E g = grad F for all gradients exactly where
E a_k = w_k, and with D = diag(w) - w w' the variance has the bound for all gradients exactly where D/K minus the
covariance of the a_k is positive semidefinite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from boundcheck.certified import certify
from boundcheck.certified.constant import Constant, Known
from boundcheck.certified.definite import is_positive_semidefinite
from boundcheck.core.linalg import identity, matrix, rational
from boundcheck.core.numbers import round_up
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.parts.participation import cohort_law, cohort_sizes, only_cohort
from boundcheck.problems.problem import clients_of, optional, quadratic_objectives
from boundcheck.setting.local_work import certain_visits, possible_visits
from boundcheck.setting.theories import Makers, Objections, Theory

if TYPE_CHECKING:
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.methods.parts import Correction, Participation, Visit
    from boundcheck.problems.problem import Problem


class _Number(NamedTuple):
    """A nonnegative number of a client, and whether it is known exactly or from above."""

    value: Fraction
    exact: bool


def _constants(view: _View) -> Makers:
    method, clients, found = view.method, view.clients, Makers()
    asked = None if method.correction is None else method.correction.participation or method.participation
    for name, participation in (("cohort_size", method.participation), ("gradient_cohort_size", asked)):
        sizes = set[int]() if participation is None else cohort_sizes(participation, clients)
        if len(sizes) == 1:
            found[name] = partial(certify.count, sizes.pop(), "clients of a cohort")
    if view.certified:
        found["gamma"] = view.gamma
    if not view.chosen or min(view.mu[k] for k in view.chosen) <= 0:
        return found
    terms: dict[str, tuple[str, int, bool]] = {"inv_mu2": ("1/mu_k^2", 0, False)}
    found["inv_mu"] = partial(view.mean, "1/mu_k", lambda k: _Number(1 / view.mu[k], True), least=True)
    if view.is_curved:
        terms["L_inv_mu2"] = ("L_k/mu_k^2", 0, True)
    if view.certified:
        found["gamma_inv_mu"] = partial(view.mean, "gamma_k/mu_k", view.inexact_step)
        terms["gamma2_inv_mu2"] = ("(1 + gamma_k)^2/mu_k^2", 2, False)
        if view.is_curved:
            terms["L_gamma2_inv_mu2"] = ("L_k (1 + gamma_k)^2/mu_k^2", 2, True)
    for name, (what, power, curved) in terms.items():
        found[name] = partial(view.mean, what, partial(view.term, power=power, curved=curved))
    return found


class _View:
    """The proximal weights, curvatures and inexactness of the clients."""

    def __init__(self, method: Method, problem: Problem) -> None:
        self.method, self.problem, self.clients = method, problem, clients_of(problem)

    @cached_property
    def _visits(self) -> list[list[Visit]]:
        every = range(self.clients.count)
        return [possible_visits(self.method, k, self.clients) for k in every]

    @property
    def solves(self) -> bool:
        """Whether clients work on subproblems: proximal, solved exactly or corrected by other gradients."""
        proximal = any(v.prox > 0 or v.sampling == "exact" for own in self._visits for v in own)
        return all(self._visits) and (proximal or self.method.correction is not None)

    @cached_property
    def mu(self) -> list[Fraction]:
        """The proximal weight of each client."""
        return [own[0].prox for own in self._visits]

    @cached_property
    def chosen(self) -> Sequence[int]:
        """The clients over which a mean is taken, or among which the least favourable is looked for."""
        return only_cohort(self.method.participation, self.clients) or range(self.clients.count)

    @property
    def is_curved(self) -> bool:
        """Whether every client's L_k is known."""
        return self._hessians is not None or optional(self.problem, "client_curvatures") is not None

    @property
    def certified(self) -> bool:
        """Whether every local solution has a certified inexactness gamma.

        It is exact, or that of steps of one size along whole gradients on a subproblem that is strongly convex.
        """
        visits = certain_visits(self.method, self.clients) or []
        samplings = {v.sampling for v in visits}
        if not samplings or not samplings <= {"exact", "full"}:
            return False
        plain = self.method.schedule.is_constant() and self.method.client_optimizer is None
        return samplings == {"exact"} or (plain and self._has_minimisers)

    @property
    def _has_minimisers(self) -> bool:
        """Whether every subproblem is known to be strongly convex."""
        if self._hessians is not None:
            pairs = zip(self._hessians, self.mu, strict=True)
            shifted = [a + identity(a.nrows()) * rational(mu) for a, mu in pairs]
            return all(a.rank() == a.nrows() and is_positive_semidefinite(a) for a in shifted)
        return self.is_curved and all(low + mu > 0 for (low, _), mu in zip(self._ends, self.mu, strict=True))

    @cached_property
    def _ends(self) -> tuple[tuple[Fraction, Fraction], ...]:
        return optional(self.problem, "client_curvatures")()

    @cached_property
    def _hessians(self) -> list[Any] | None:
        quadratic = quadratic_objectives(self.problem)
        return None if quadratic is None else [a for a, _ in quadratic.forms().maps]

    @cached_property
    def _L(self) -> list[_Number]:
        if self._hessians is not None:
            return [_number(certify.smoothness([a])) for a in self._hessians]
        return [_Number(high, False) for _, high in self._ends]

    @cached_property
    def _gamma(self) -> list[_Number]:
        return [self._inexactness(k, own[0]) for k, own in enumerate(self._visits)]

    def _inexactness(self, k: int, visit: Visit) -> _Number:
        """gamma_k of a visit with certified solves."""
        if visit.sampling == "exact":
            return _Number(Fraction(0), True)
        eta, mu = visit.scale * self.method.schedule.step(1), visit.prox
        if self._hessians is not None:
            a = self._hessians[k]
            one = identity(a.nrows())
            norm = _number(certify.smoothness([one - (a + one * rational(mu)) * rational(eta)]))
        else:
            norm = _Number(max(abs(1 - eta * (end + mu)) for end in self._ends[k]), False)
        return _power(norm, visit.steps)

    def term(self, k: int, *, power: int, curved: bool = False) -> _Number:
        """(1 + gamma_k)^power/mu_k^2, curved: times L_k."""
        value, exact = 1 / self.mu[k] ** 2, True
        if power:
            value, exact = value * (1 + self._gamma[k].value) ** power, self._gamma[k].exact
        if curved:
            value, exact = value * self._L[k].value, exact and self._L[k].exact
        return _Number(value, exact)

    def inexact_step(self, k: int) -> _Number:
        """gamma_k/mu_k."""
        return _Number(self._gamma[k].value / self.mu[k], self._gamma[k].exact)

    def gamma(self) -> Constant:
        """The largest gamma_k."""
        steps = any(v.sampling != "exact" for own in self._visits for v in own)
        how = "largest contraction of a client's steps" if steps else "exact solves"
        return _extreme([self._gamma[k] for k in self.chosen], how, least=False)

    def mean(self, what: str, of: Callable[[int], _Number], *, least: bool = False) -> Constant:
        """The mean of a number of the clients over S'_t, or the least favourable one where S'_t is drawn."""
        numbers = [of(k) for k in self.chosen]
        if not only_cohort(self.method.participation, self.clients):
            return _extreme(numbers, f"{what}, the {'least' if least else 'largest'} of a client", least=least)
        total = sum((n.value for n in numbers), Fraction(0)) / len(numbers)
        how = f"mean over S'_t of {what}"
        return certify.from_above(total, how, exact=all(n.exact for n in numbers))


def _number(constant: Constant) -> _Number:
    return _Number(constant.value, constant.known is Known.EXACT)


def _power(norm: _Number, steps: int) -> _Number:
    """norm^steps, rounded up to 13 digits a product where it is long."""
    long = norm.value.numerator.bit_length() + norm.value.denominator.bit_length()
    if long * steps <= certify.MOST_BITS:
        return _Number(norm.value**steps, norm.exact)
    result, factor = Fraction(1), round_up(norm.value)
    while steps:
        if steps & 1:
            result = round_up(result * factor)
        factor, steps = round_up(factor * factor), steps >> 1
    return _Number(result, False)


def _extreme(numbers: Sequence[_Number], how: str, *, least: bool) -> Constant:
    """The least or the largest, as the value itself where all clients have the same."""
    best = (min if least else max)(numbers, key=lambda n: n.value)
    if all(n.exact and n.value == best.value for n in numbers):
        return Constant(best.value, Known.EXACT, "exact", how)
    return Constant(best.value, Known.CERTIFIED, "lower" if least else "upper", how)


MAX_CLIENTS = 100  # whose covariance is decided
MAX_COHORTS = 20_000  # that are gone through one by one
_SOLVERS = "S'_t may be empty, and then has no mean.", "mean over S'_t"
_GRADIENTS = "a cohort S_t may be empty, and then has no mean gradient.", "mean gradient"

Shares = tuple[Fraction, dict[int, Fraction]]  # of the clients in the mean over a cohort, which has this probability


def _cohorts(view: _View) -> Objections:
    """The hypotheses about the cohorts of a method with a gradient correction."""
    method, clients, weights, correction = view.method, view.clients, view.problem.weights, view.method.correction
    if correction is None:
        return {}
    found: Objections = {"independent_cohorts": _independent(method, correction, clients)}
    with suppress(BadInput, Unsupported):  # too many cohorts
        _, found["unbiased_solver_cohort"] = _mean_of(method.participation, clients, weights, "uniform", _SOLVERS)
    if 0 in cohort_sizes(method.participation, clients):
        found["inexact_solves"] = "S'_t may be empty, so that no device solves its subproblem."
    elif view.certified:
        found["inexact_solves"] = None
    stale = _not_of_this_round(correction)
    if stale is not None:
        return {**found, "unbiased_gradient_cohort": stale, "gradient_cohort_variance": stale}
    cohort = method.participation if correction.participation is None else correction.participation
    try:
        shares, biased = _mean_of(cohort, clients, weights, correction.weights, _GRADIENTS)
    except (BadInput, Unsupported):
        return found
    found["unbiased_gradient_cohort"] = biased
    if biased is not None or not shares:
        found["gradient_cohort_variance"] = biased
    elif clients.count <= MAX_CLIENTS:
        found["gradient_cohort_variance"] = _spread(shares, weights, max(cohort_sizes(cohort, clients)))
    return found


def _independent(method: Method, correction: Correction, clients: Clients) -> str | None:
    """S'_t may be known in advance, and S_t may be the cohort of the round before."""
    if method.participation.drawing(clients) is None or correction.pipelined or correction.participation is not None:
        return None
    return "S_t is S'_t, the devices that do the local work."


def _mean_of(
    cohort: Participation, clients: Clients, weights: Sequence[Fraction], rule: str, words: tuple[str, str]
) -> tuple[Sequence[Shares], str | None]:
    """The shares of clients in the mean over each cohort, and why that weighs them otherwise than F; else None.

    No shares where a formula knows that it does not, or cohorts have no law. Raises Unsupported for too many cohorts.
    """
    if rule == "uniform" and _by_formula(cohort, clients, weights):
        return (), None
    law = cohort_law(cohort, clients, MAX_COHORTS)
    if law is None:
        return (), "the cohorts of different rounds are not drawn alike."
    empty, of = words
    shares = [(p, _shares(s, clients, rule)) for p, s in law]
    return shares, _biased(shares, weights, of) if all(s for _, s in law) else empty


def _not_of_this_round(correction: Correction) -> str | None:
    if correction.pipelined:
        return "the gradients are those of the round before, at its point."
    if not correction.steady or correction.at(0) != 1:
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


def _shares(cohort: Sequence[int], clients: Clients, weights: str) -> dict[int, Fraction]:
    """a_k of the clients of a cohort; one that is drawn several times counts as often."""
    each = [Fraction(1) if weights == "uniform" else clients.weights[k] for k in cohort]
    total, found = sum(each, Fraction(0)), dict[int, Fraction]()
    for k, share in zip(cohort, each, strict=True):
        found[k] = found.get(k, Fraction(0)) + (share / total if total else Fraction(0))
    return found


def _biased(shares: Sequence[Shares], weights: Sequence[Fraction], of: str) -> str | None:
    mean = [Fraction(0)] * len(weights)
    for p, own in shares:
        for k, share in own.items():
            mean[k] += p * share
    bad = next((k for k, w in enumerate(weights) if mean[k] != w), None)
    if bad is None:
        return None
    return f"client {bad} has the weight {weights[bad]}, but the expected share {mean[bad]} in the {of}."


def _spread(shares: Sequence[Shares], weights: Sequence[Fraction], size: int) -> str | None:
    """Whether D/K - cov(a) is positive semidefinite; E a = w is known."""
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


theories = (
    Theory(lambda method, problem: view if (view := _View(method, problem)).solves else None, _constants, sized=True),
    Theory(_View, hypotheses=_cohorts),
)
