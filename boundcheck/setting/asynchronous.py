"""Constants and hypotheses of a method on a problem in the theory of asynchronous federated learning.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates". The constants are those of the catalogue (`theory.keys`), with the expected weights
q_i(n) of `setting.expected_weights`; where several points minimise Lbar, thb is the nearest to the start. Constants
of Example 2: `setting.alternation`.

Means are over all rounds of a period. An empty round has L^n = 0 and counts with 0 in every mean; q_min and chi2_max
are over the other rounds. E is over the samples of a local step: one draw, or as many as its batch has. The constants
with L are known exactly for quadratics with convex clients and on the line for piecewise quadratic ones, and from above
for logistic and softmax regression (`objectives`); a value too long to keep is rounded up to 13 digits. The bound B on
gradients (Assumption 7) is the problem's own: no quadratic with a positive Hessian has one.

The hypotheses are Assumptions 3 and 5 to 7, what Section 3.3 says of kinds of data, Examples 1 and 2, and what
Section 4 says of update times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from boundcheck.certified.certify import from_above
from boundcheck.certified.constant import Constant, Known
from boundcheck.problems.problem import clients_of, optional, quadratic_objectives
from boundcheck.setting.alternation import alternation_hypotheses, alternation_makers
from boundcheck.setting.expected_weights import DataKinds, Expected, data_kinds, expected_weights
from boundcheck.setting.local_work import draws_samples, plain_steps
from boundcheck.setting.makers import Makers, make_exact
from boundcheck.setting.objectives import Objectives, objectives_of
from boundcheck.setting.update_times import participation_makers, time_hypotheses, time_makers

if TYPE_CHECKING:
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


MAX_MINIMISERS = 2000  # different cohorts whose objective is minimised


def async_makers(method: Method, problem: Problem) -> Makers:
    """How each constant of the catalogue is computed that can be had; empty for methods of other papers."""
    clients = clients_of(problem)
    expected = expected_weights(method, clients)
    if expected is None or not expected.full_kinds:
        return {}
    losses, data = losses_of(method, problem, expected), data_kinds(problem)
    return {
        **_of_rounds(method, clients, expected, data),
        **time_makers(method, clients),
        **participation_makers(method, clients, expected, data),
        **alternation_makers(method, problem),
        **({} if losses is None else losses.makers()),
    }


def _of_rounds(method: Method, clients: Clients, expected: Expected, data: DataKinds) -> Makers:
    totals = [kind.total for kind in expected.full_kinds]
    share = sum((kind.share for kind in expected.full_kinds), Fraction(0))
    mean = sum((kind.share * kind.total for kind in expected.kinds), Fraction(0))
    found: Makers = {
        "rho": make_exact(max(Fraction(1), *totals), "largest q(n), at least 1"),
        "q_min": make_exact(min(totals), "least q(n) of a round with clients"),
        "q_max": make_exact(max(v for kind in expected.full_kinds for v in kind.q.values()), "largest q_i(n)"),
        "q_bar": make_exact(mean, "mean of q(n) over all rounds"),
        "rounds_share": make_exact(share, "share of rounds in which someone takes part"),
    }
    counts = {
        "local_steps": (plain_steps(method, clients), "counted: local steps of a client in a round"),
        "tau_delay": (expected.delay, "largest number of rounds between receipt and contribution"),
        "window": (expected.window, "rounds after which the expected weights have had their means"),
        "period": (expected.period, "rounds after which the cohorts repeat"),
    }
    found |= {name: make_exact(count, how) for name, (count, how) in counts.items() if count is not None}
    if expected.covariance is not None:
        how = expected.covariance.how
        found["alpha"] = make_exact(expected.covariance.alpha, how)
        found["beta"] = make_exact(expected.covariance.beta, f"largest E[w_i^2]/q_i - alpha q_i; {how}")
    if expected.certain:
        found["alpha_det"] = make_exact(1, "the weights are not random")
        found["beta_det"] = make_exact(0, "the weights are not random")
    largest = max(data.chi_square(kind.q) for kind in expected.full_kinds)
    found["chi2_max"] = make_exact(largest, "largest chi-square distance of a round, over the data that take part")
    if data.complete(expected.mean):
        found["chi2"] = make_exact(data.chi_square(expected.mean), "sum of (r_j - st_j)^2/st_j")
    return found


@dataclass(frozen=True, eq=False)
class Losses:
    """The objectives that the rounds of a method follow.

    objectives: of the clients, exactly. p: client weights. data: which clients have the same kind of data.
    """

    objectives: Objectives
    p: tuple[Fraction, ...]
    data: DataKinds
    expected: Expected

    def makers(self) -> Makers:
        """The constants with L of the catalogue; those with L_i* where every client has a minimiser."""
        found: dict[str, tuple[Callable[[], Fraction], str]] = {
            "R_loss": (lambda: self.residual, "mean of L^n(thb) - min L^n over a period's rounds"),
            "S1": (lambda: self.noise[0], "mean of sum qt_i(n) E|g_i|^2 at the minimiser of L^n"),
            "S2": (lambda: self.noise[1], "mean of sum qt_i(n)^2 E|g_i|^2 at the minimiser of L^n"),
            "Sigma": (lambda: self.sigma, "sum of q_i E|g_i|^2 at the minimiser of Lbar"),
            "dist2_surrogate_0": (
                lambda: self.objectives.squared_distance(self.surrogate),
                "squared distance of the start to argmin Lbar",
            ),
        }
        if self.each_attained:
            found["F_het"] = lambda: self.heterogeneity, "Lbar(thb) - sum of q_i L_i*"
            found["P_loss"] = lambda: self.participation_loss, "mean of chi_n^2 [L^n(thb^n) - ...]/q(n)"
        return {name: partial(self._constant, value, how) for name, (value, how) in found.items()}

    def _constant(self, value: Callable[[], Fraction], how: str) -> Constant:
        if self.objectives.exact:
            return from_above(value(), how)
        return Constant(value(), Known.CERTIFIED, "upper", f"{how}, in ball arithmetic")

    @cached_property
    def each_attained(self) -> bool:
        """Whether every client's objective has a minimiser."""
        return all(self.objectives.attained({i: Fraction(1)}) for i in range(len(self.p)))

    @cached_property
    def surrogate(self) -> Any:
        """thb."""
        return self.objectives.minimiser(self.expected.mean)

    @cached_property
    def minimisers(self) -> tuple[Any, ...]:
        """thb^n of each kind of round with clients."""
        return tuple(self.objectives.minimiser(kind.q) for kind in self.expected.full_kinds)

    @cached_property
    def client_minimisers(self) -> tuple[Any, ...]:
        """A minimiser of each client's objective."""
        return tuple(self.objectives.minimiser({i: Fraction(1)}) for i in range(len(self.p)))

    def above(self, i: int, x: Any) -> Fraction:
        """L_i(x) - L_i*."""
        return self.objectives.excess({i: Fraction(1)}, x, self.client_minimisers[i])

    @cached_property
    def residual(self) -> Fraction:
        """R, the mean of L^n(thb) - L^n(thb^n)."""
        pairs = zip(self.expected.full_kinds, self.minimisers, strict=True)
        return sum((k.share * self.objectives.excess(k.q, self.surrogate, x) for k, x in pairs), Fraction(0))

    @cached_property
    def noise(self) -> tuple[Fraction, Fraction]:
        """S1 and S2."""
        first = second = Fraction(0)
        for kind, x in zip(self.expected.full_kinds, self.minimisers, strict=True):
            for i, v in kind.q.items():
                own = self.objectives.second_moment(i, x)
                first += kind.share * v / kind.total * own
                second += kind.share * (v / kind.total) ** 2 * own
        return first, second

    @cached_property
    def sigma(self) -> Fraction:
        """Sigma (11)."""
        own = ((v, self.objectives.second_moment(i, self.surrogate)) for i, v in self.expected.mean.items())
        return sum((v * second for v, second in own), Fraction(0))

    @cached_property
    def heterogeneity(self) -> Fraction:
        """Lbar(thb) - sum of q_i L_i*."""
        return sum((v * self.above(i, self.surrogate) for i, v in self.expected.mean.items()), Fraction(0))

    @cached_property
    def participation_loss(self) -> Fraction:
        """The mean of chi_n^2 sum of qt_i(n) [L_i(thb^n) - L_i*]."""
        total = Fraction(0)
        for kind, x in zip(self.expected.full_kinds, self.minimisers, strict=True):
            inside = sum((v * self.above(i, x) for i, v in kind.q.items()), Fraction(0)) / kind.total
            total += kind.share * self.data.chi_square(kind.q) * inside
        return total

    @cached_property
    def federated_spread(self) -> Fraction | None:
        """(1/M) sum of L_i(theta*) - L_i(theta_i*) (37), theta* the minimiser of F; None where that is not exact."""
        everyone = dict(enumerate(self.p))
        if not (self.objectives.exact and self.each_attained and self.objectives.attained(everyone)):
            return None
        optimum = self.objectives.minimiser(everyone)
        return sum((self.above(i, optimum) for i in range(len(self.p))), Fraction(0)) / len(self.p)


def losses_of(method: Method, problem: Problem, expected: Expected) -> Losses | None:
    """The objectives of a problem that `objectives_of` knows, with a minimiser in every round; None for others."""
    if len(expected.full_kinds) > MAX_MINIMISERS:
        return None
    objectives = objectives_of(method, problem)
    if objectives is None:
        return None
    found = Losses(objectives, tuple(problem.weights), data_kinds(problem), expected)
    # a sum of convex objectives that are bounded below is; only where some are not, each sum is looked at
    sums = (expected.mean, *(kind.q for kind in expected.full_kinds))
    return found if found.each_attained or all(map(objectives.attained, sums)) else None


def async_hypotheses(method: Method, problem: Problem) -> dict[str, str | None]:
    """Hypothesis -> why it fails, or None where it holds; one that cannot be decided is left out.

    Cohorts are drawn or fixed without a look at models or gradients, and clocks of exponential times are memoryless, so
    that who takes part is independent of how old a model is, too.
    """
    clients = clients_of(problem)
    examples = alternation_hypotheses(method, problem)
    expected = expected_weights(method, clients)
    if expected is None or not expected.full_kinds:
        return examples
    data = data_kinds(problem)
    # an empty round weighs nothing: that is the matter of "no_empty_rounds"
    unlike = next((k for k in expected.full_kinds if data.chi_square(k.q) or not data.complete(k.q)), None)
    missing = next((k for k in expected.kinds if not k.q or not data.complete(k.q)), None)
    found: dict[str, str | None] = {
        "unbiased_gradients": _biased_steps(method, problem),
        "independent_weights": None,
        "covariance_of_weights": None
        if expected.covariance is not None
        else "some pairs of clients take part together more often than others, so that no single alpha fits.",
        "window_property": _window(expected),
        "same_expected_weights": None
        if unlike is None
        else f"{_round(unlike.q)} weighs the kinds of data otherwise than F does.",
        "every_type_every_round": None if missing is None else f"{_round(missing.q)} leaves out a kind of data.",
        "no_empty_rounds": None if len(expected.full_kinds) == len(expected.kinds) else "some rounds have no clients.",
        "time_based": _time_based(expected, clients.weights),
        "own_minimisers": None if len(data.shares) == clients.count else "some clients have the same kind of data.",
        **time_hypotheses(method, clients),
        **examples,
    }
    quadratic = quadratic_objectives(problem)
    if quadratic is not None:
        curved = next((i for i, (a, _) in enumerate(quadratic.forms().maps) if a.rank()), None)
        if curved is not None:
            grows = f"client {curved} is a quadratic, whose gradient grows without bound."
            found |= {"bounded_gradients": grows, "bounded_sample_gradients": grows}
    if draws_samples(method, clients):
        found.setdefault("bounded_sample_gradients", "single samples may have longer gradients than the clients.")
    return {"bounded_sample_gradients": None, **found}  # a local step that uses all samples has the client's gradient


def _biased_steps(method: Method, problem: Problem) -> str | None:
    """Why the sampled gradient of a step has another mean than the client's own, None where it has not."""
    samples, quadratic = optional(problem, "samples"), quadratic_objectives(problem)
    if quadratic is None or samples is None or not draws_samples(method, clients_of(problem)):
        return None
    pairs = zip(samples(), quadratic.forms().maps, strict=True)
    bad = next((i for i, (own, client) in enumerate(pairs) if own.mean() != client), None)
    return None if bad is None else f"client {bad} is the sum of its samples, and its steps follow single ones."


def _window(expected: Expected) -> str | None:
    if expected.window is not None:
        return None
    return "the first rounds are unlike the later ones, so that no window has the same means everywhere."


def _time_based(expected: Expected, weights: Sequence[Fraction]) -> str | None:
    """Whether the mean weights of a period are the clients' importance."""
    unlike = next((i for i, w in enumerate(weights) if expected.mean.get(i, Fraction(0)) != w), None)
    return None if unlike is None else f"client {unlike} has another mean weight than its importance in F."


def _round(q: Mapping[int, Fraction]) -> str:
    if not q:
        return "an empty round"
    shown = ", ".join(str(i) for i in sorted(q)[:6]) + (", ..." if len(q) > 6 else "")
    return f"a round of the clients {shown}"
