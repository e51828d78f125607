"""Constants of the objectives that the rounds follow: minima, gradient noise and heterogeneity.

E is over the samples of a local step: one draw, or as many as its batch has. Where several points minimise Lbar, thb is
the nearest to the start. An empty round has L^n = 0 and counts with 0 in every mean. The constants are known exactly
for quadratics with convex clients and on the line for piecewise quadratic ones, and from above for logistic and softmax
regression (`setting.objectives`); a value too long to keep is rounded up to 13 digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from boundcheck.certified.certify import from_above
from boundcheck.certified.constant import Constant, Known
from boundcheck.methods import answers
from boundcheck.papers.async_fl.theories.rounds import rounds_of
from boundcheck.problems.problem import clients_of, optional
from boundcheck.setting.expected_weights import DataKinds, Expected, data_kinds, gone_through, is_asynchronous
from boundcheck.setting.objectives import MAX_NUMBERS, Objectives, for_quadratics_only, objectives_of
from boundcheck.setting.theories import Row, Theory, always, constants

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


MAX_MINIMISERS = 2000  # different cohorts whose objective is minimised


@dataclass(frozen=True, eq=False)
class Losses:
    """The objectives that the rounds of a method follow.

    objectives: of the clients. p: client weights. data: which clients have the same kind of data.
    """

    objectives: Objectives
    p: tuple[Fraction, ...]
    data: DataKinds
    expected: Expected

    def constant(self, value: Fraction, how: str) -> Constant:
        """A number that rests on the objectives."""
        if self.objectives.exact:
            return from_above(value, how)
        return Constant(value, Known.CERTIFIED, "upper", f"{how}, in ball arithmetic")

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


def _losses(method: Method, problem: Problem) -> Losses | None:
    rounds = rounds_of(method, problem)
    return None if rounds is None else losses_of(method, problem, rounds.expected)


def _why_missing(method: Method, problem: Problem) -> str | None:
    if not is_asynchronous(method):
        return None
    clients = clients_of(problem)
    expected, timed = gone_through(method, clients), answers.timing(method.participation)
    if isinstance(expected, str):
        return expected.rstrip(".")
    if timed is not None and timed.of(clients.count).values is None:
        return "exponential update times have no largest delay"
    if not expected.full_kinds:
        return "no client ever takes part"
    if optional(problem, "of_clients") is None:
        return for_quadratics_only(problem)
    if losses_of(method, problem, expected) is not None:
        return None
    return (
        "some constants of this theory need a minimum of every round's objective, which these data have not, or at "
        f"most {MAX_NUMBERS} samples times coordinates"
    )


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


def _from_losses(name: str, value: Callable[[Losses], Fraction], how: str, *, of_each: bool = False) -> Row[Losses]:
    """The row of a constant with L; of_each: whether it needs a minimiser of every client."""
    known = (lambda view: view.each_attained) if of_each else always
    return Row(name, lambda view: view.constant(value(view), how), known=known)


LOSSES = Theory(
    _losses,
    constants=constants(
        _from_losses("R_loss", lambda v: v.residual, "mean of L^n(thb) - min L^n over a period's rounds"),
        _from_losses("S1", lambda v: v.noise[0], "mean of sum qt_i(n) E|g_i|^2 at the minimiser of L^n"),
        _from_losses("S2", lambda v: v.noise[1], "mean of sum qt_i(n)^2 E|g_i|^2 at the minimiser of L^n"),
        _from_losses("Sigma", lambda v: v.sigma, "sum of q_i E|g_i|^2 at the minimiser of Lbar"),
        _from_losses(
            "dist2_surrogate_0",
            lambda v: v.objectives.squared_distance(v.surrogate),
            "squared distance of the start to argmin Lbar",
        ),
        _from_losses("F_het", lambda v: v.heterogeneity, "Lbar(thb) - sum of q_i L_i*", of_each=True),
        _from_losses("P_loss", lambda v: v.participation_loss, "mean of chi_n^2 [L^n(thb^n) - ...]/q(n)", of_each=True),
    ),
    missing=_why_missing,
)
