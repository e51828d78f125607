"""Constants and hypotheses of who takes part in which round with which weight.

Means are over all rounds of a period; an empty round counts with 0 in every mean, and q_min and chi2_max are over the
other rounds. The bound B on gradients (Assumption 7) is the problem's own: no quadratic with a positive Hessian has
one.

The hypotheses are Assumptions 3 and 5 to 7 and what Section 3.3 says of kinds of data. Cohorts are drawn or fixed
without a look at models or gradients, and clocks of exponential times are memoryless, so that who takes part is
independent of how old a model is, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from boundcheck.certified.constant import Constant, exact
from boundcheck.problems.problem import clients_of, optional, quadratic_objectives
from boundcheck.setting.expected_weights import DataKinds, Expected, RoundKind, data_kinds, expected_weights
from boundcheck.setting.local_work import draws_samples, plain_steps
from boundcheck.setting.theories import Row, Theory, constants, hypotheses, maybe, unless

if TYPE_CHECKING:
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


@dataclass(frozen=True, eq=False)
class Rounds:
    """The rounds of one of the paper's methods, in some of which someone takes part."""

    method: Method
    problem: Problem
    clients: Clients
    expected: Expected

    @cached_property
    def kinds(self) -> tuple[RoundKind, ...]:
        """The kinds of rounds in which someone takes part."""
        return self.expected.full_kinds

    @cached_property
    def data(self) -> DataKinds:
        """Which clients have the same kind of data."""
        return data_kinds(self.problem)

    @cached_property
    def steps(self) -> int | None:
        """K, where all clients take as many plain steps."""
        return plain_steps(self.method, self.clients)

    def find(self, holds: Callable[[RoundKind], bool], every: bool = False) -> RoundKind | None:
        """The first kind of round with a property, among those with clients or among all."""
        return next((kind for kind in (self.expected.kinds if every else self.kinds) if holds(kind)), None)

    def of_covariance(self, which: str, what: str = "") -> Constant | None:
        """alpha or beta of the weights' covariance, with what it is."""
        found = self.expected.covariance
        return None if found is None else exact(getattr(found, which), f"{what}{found.how}")

    @cached_property
    def own(self) -> Callable[[int], Fraction] | None:
        """d_i of client i, where it does not depend on the cohort."""
        return self.method.aggregation.by_client(self.method.context(self.clients))

    @cached_property
    def alike(self) -> tuple[Fraction, Fraction] | None:
        """Weight and probability of taking part, if all clients have the same; None for draws with replacement."""
        drawing = self.method.participation.drawing(self.clients)
        if drawing is None or self.own is None or drawing.kind == "replacement":
            return None
        found = {(self.own(i), drawing.inclusion(i)) for i in range(self.clients.count)}
        return found.pop() if len(found) == 1 else None


def rounds_of(method: Method, problem: Problem) -> Rounds | None:
    """The rounds of one of the paper's methods; None for others, and where nobody ever takes part."""
    clients = clients_of(problem)
    expected = expected_weights(method, clients)
    return None if expected is None or not expected.full_kinds else Rounds(method, problem, clients, expected)


def _unlike(r: Rounds) -> str | None:
    # an empty round weighs nothing: that is the matter of "no_empty_rounds"
    kind = r.find(lambda k: bool(r.data.chi_square(k.q)) or not r.data.complete(k.q))
    return None if kind is None else f"{_round(kind.q)} weighs the kinds of data otherwise than F does."


def _missing(r: Rounds) -> str | None:
    kind = r.find(lambda k: not k.q or not r.data.complete(k.q), every=True)
    return None if kind is None else f"{_round(kind.q)} leaves out a kind of data."


def _round(q: Mapping[int, Fraction]) -> str:
    if not q:
        return "an empty round"
    shown = ", ".join(str(i) for i in sorted(q)[:6]) + (", ..." if len(q) > 6 else "")
    return f"a round of the clients {shown}"


def _unlike_importance(r: Rounds) -> str | None:
    """Whether the mean weights of a period are the clients' importance."""
    pairs = enumerate(r.clients.weights)
    unlike = next((i for i, w in pairs if r.expected.mean.get(i, Fraction(0)) != w), None)
    return None if unlike is None else f"client {unlike} has another mean weight than its importance in F."


def _biased_steps(r: Rounds) -> str | None:
    """Why the sampled gradient of a step has another mean than the client's own, None where it has not."""
    samples, quadratic = optional(r.problem, "samples"), quadratic_objectives(r.problem)
    if quadratic is None or samples is None or not draws_samples(r.method, r.clients):
        return None
    pairs = zip(samples(), quadratic.forms().maps, strict=True)
    bad = next((i for i, (own, client) in enumerate(pairs) if own.mean() != client), None)
    return None if bad is None else f"client {bad} is the sum of its samples, and its steps follow single ones."


def _growing(r: Rounds) -> str | None:
    """Why the clients' gradients have no bound, where a Hessian shows it."""
    quadratic = quadratic_objectives(r.problem)
    maps = () if quadratic is None else quadratic.forms().maps
    curved = next((i for i, (a, _) in enumerate(maps) if a.rank()), None)
    return None if curved is None else f"client {curved} is a quadratic, whose gradient grows without bound."


def _growing_samples(r: Rounds) -> str | None:
    growing = _growing(r)
    if growing is not None or not draws_samples(r.method, r.clients):
        return growing  # a local step that uses all samples has the client's gradient
    return "single samples may have longer gradients than the clients."


ROUNDS = Theory(
    rounds_of,
    constants=constants(
        Row("rho", lambda r: max(Fraction(1), *(k.total for k in r.kinds)), "largest q(n), at least 1"),
        Row("q_min", lambda r: min(k.total for k in r.kinds), "least q(n) of a round with clients"),
        Row("q_max", lambda r: max(v for k in r.kinds for v in k.q.values()), "largest q_i(n)"),
        Row("q_bar", lambda r: sum(k.share * k.total for k in r.expected.kinds), "mean of q(n) over all rounds"),
        Row("rounds_share", lambda r: sum(k.share for k in r.kinds), "share of rounds in which someone takes part"),
        maybe("local_steps", lambda r: r.steps, "counted: local steps of a client in a round"),
        maybe("tau_delay", lambda r: r.expected.delay, "largest number of rounds between receipt and contribution"),
        maybe("window", lambda r: r.expected.window, "rounds after which the expected weights have had their means"),
        maybe("period", lambda r: r.expected.period, "rounds after which the cohorts repeat"),
        maybe("alpha", lambda r: r.of_covariance("alpha")),
        maybe("beta", lambda r: r.of_covariance("beta", "largest E[w_i^2]/q_i - alpha q_i; ")),
        Row("alpha_det", lambda r: 1, "the weights are not random", lambda r: r.expected.certain),
        Row("beta_det", lambda r: 0, "the weights are not random", lambda r: r.expected.certain),
        Row(
            "chi2_max",
            lambda r: max(r.data.chi_square(k.q) for k in r.kinds),
            "largest chi-square distance of a round, over the data that take part",
        ),
        Row(
            "chi2",
            lambda r: r.data.chi_square(r.expected.mean),
            "sum of (r_j - st_j)^2/st_j",
            lambda r: r.data.complete(r.expected.mean),
        ),
        Row("mean_q_1", lambda r: r.expected.mean.get(0, Fraction(0)), "mean expected weight of the first client"),
        # W_n, the kinds present in round n, are those of a positive expected weight: s_j(n) > 0
        Row(
            "U_loss",
            lambda r: 0,
            "every kind of data has a positive expected weight in every round",
            lambda r: _missing(r) is None,
        ),
        maybe("d_1", lambda r: r.own and r.own(0), "aggregation weight of the first client"),
        maybe("d_i", lambda r: r.alike and r.alike[0], "aggregation weight, the same for all clients"),
        maybe("chance", lambda r: r.alike and r.alike[1], "probability of taking part, the same for all clients"),
    ),
    hypotheses=hypotheses(
        Row("unbiased_gradients", _biased_steps),
        Row("independent_weights", lambda r: None),
        unless(
            "covariance_of_weights",
            lambda r: r.expected.covariance is not None,
            "some pairs of clients take part together more often than others, so that no single alpha fits.",
        ),
        unless(
            "window_property",
            lambda r: r.expected.window is not None,
            "the first rounds are unlike the later ones, so that no window has the same means everywhere.",
        ),
        Row("same_expected_weights", _unlike),
        Row("every_type_every_round", _missing),
        unless("no_empty_rounds", lambda r: len(r.kinds) == len(r.expected.kinds), "some rounds have no clients."),
        Row("time_based", _unlike_importance),
        unless(
            "own_minimisers",
            lambda r: len(r.data.shares) == r.clients.count,
            "some clients have the same kind of data.",
        ),
        maybe("bounded_gradients", _growing),
        Row("bounded_sample_gradients", _growing_samples),
    ),
)
