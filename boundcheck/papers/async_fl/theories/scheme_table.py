"""Table 2: what the paper says of the constants of each scheme, against their values for a schedule.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates". Table 2, with (34), (35), (37), (39) to (41), prints formulas, and where they hold an
Omega, an O or a bound, `low` and `high` of an `Entry` are its arguments; `exact` is the value for the schedule at hand.
They differ where the paper is loose or wrong: its bound on the delay of FedFix in the text is ceil(tau_M/dt), one more
than can happen; in Table 2 it is floor(tau_M/tau_0), which does not know dt and is too small for a window shorter than
the fastest client's time; (35) gives M rounds for identical clients, which holds only where ties are handled one by
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.errors import Unsupported
from boundcheck.methods import answers
from boundcheck.methods.schedules.merge import common_unit
from boundcheck.papers.async_fl.theories.losses import losses_of
from boundcheck.problems.problem import clients_of
from boundcheck.setting.expected_weights import expected_weights

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.methods.schedules import Plan
    from boundcheck.problems.problem import Problem


@dataclass(frozen=True)
class Entry:
    """One entry: the quantity, what Table 2 prints, the least and largest value that it allows, and the true value.

    low, high: None where the paper prints no such bound; exact: None where it is not known. agrees: whether the true
    value lies between them (None if unknown).
    """

    quantity: str
    printed: str
    low: Fraction | None
    high: Fraction | None
    exact: Fraction | None

    @property
    def agrees(self) -> bool | None:
        """See the class."""
        if self.exact is None or (self.low is None and self.high is None):
            return None
        above = self.low is None or self.low <= self.exact
        return above and (self.high is None or self.exact <= self.high)


def require_column(method: Method, clients: int) -> Plan:
    """The schedule, of which Table 2 has a column. Raises Unsupported without fixed update times, and for FedBuff."""
    timing = answers.timing(method.participation)
    plan = None if timing is None else timing.plan(clients)
    if plan is None:
        raise Unsupported(f"Table 2 is about fixed update times and their schedules; {method.name} has none to go by.")
    if plan.policy.arrivals not in (None, 1):
        raise Unsupported(f"Table 2 has no column for a server that {plan.policy.words}.")
    return plan


def scheme_table(method: Method, problem: Problem) -> tuple[Entry, ...]:
    """The entries for a method whose clients have fixed update times: d, N, alpha, beta, tau, W and R.

    "d" is the largest weight, "N" the number of aggregations in a unit of time. Raises Unsupported for other methods,
    FedBuff among them, of which Table 2 has no column, and for schedules too long to go through.
    """
    clients = clients_of(problem)
    plan, expected = require_column(method, clients.count), expected_weights(method, clients)
    if expected is None or expected.covariance is None:
        raise Unsupported(
            f"Table 2 is about the asynchronous paper's methods; {method.name} is none of them, or too long to go by."
        )
    losses = losses_of(method, problem, expected)
    largest = max(v for kind in expected.kinds for v in kind.q.values())
    residual = losses.residual if losses is not None and losses.objectives.exact else None
    exact = {
        "d": largest,
        "N": plan.period / plan.length,
        "alpha": expected.covariance.alpha,
        "beta": expected.covariance.beta,
        "tau": None if expected.delay is None else Fraction(expected.delay),
        "W": None if expected.window is None else Fraction(expected.window),
        "R": residual,
    }
    printed = _printed(plan, tuple(problem.weights), None if losses is None else losses.federated_spread)
    return tuple(Entry(name, *printed[name], exact[name]) for name in exact)


Printed = dict[str, tuple[str, Fraction | None, Fraction | None]]


def _same(text: str, value: Fraction | int) -> tuple[str, Fraction, Fraction]:
    return text, Fraction(value), Fraction(value)


def _printed(plan: Plan, p: Sequence[Fraction], spread: Fraction | None) -> Printed:
    """Text, low and high of each entry of the scheme's column."""
    times, policy = plan.times.values, plan.policy
    slowest, fastest, count = max(times), min(times), plan.clients
    ratio = slowest / fastest
    _, whole = common_unit(times)
    if plan.always_full and policy.arrivals != 1:
        return {
            "d": _same("p_i", max(p)),
            "N": _same("T/tau_M", 1 / (policy.dt or slowest)),
            "alpha": _same("1", 1),
            "beta": _same("0", 0),
            "tau": _same("0", 0),
            "W": _same("1", 1),
            "R": _same("0", 0),
        }
    if policy.arrivals == 1:
        speed = sum((1 / t for t in times), Fraction(0))
        return {
            "d": _same("(sum of 1/tau_j) tau_i p_i", max(speed * t * v for t, v in zip(times, p, strict=True))),
            "N": _same("sum of T/tau_i", speed),
            "alpha": _same("0", 0),
            "beta": ("max d_i <= tau_M/tau_0", Fraction(0), ratio),
            "tau": ("Omega(M), O(M tau_M/tau_0)", None, count * ratio),
            "W": ("Omega(M), O(M tau_M^M)", Fraction(count), Fraction(count) * max(whole) ** count),
            "R": ("mean of L_i(theta*) - L_i(theta_i*)", spread, spread),
        }
    assert policy.dt is not None, "a server that waits for all is always full"
    rounds = [-(-t // policy.dt) for t in times]
    return {
        "d": _same("ceil(tau_i/dt) p_i", max(Fraction(e) * v for e, v in zip(rounds, p, strict=True))),
        "N": _same("T/dt", 1 / policy.dt),
        "alpha": _same("1", 1),
        "beta": _same("0", 0),
        "tau": ("0, floor(tau_M/tau_0)", Fraction(0), Fraction(slowest // fastest)),
        "W": ("1, M ceil(tau_M/tau_0)^M", Fraction(1), Fraction(count) * (-(-slowest // fastest)) ** count),
        "R": ("<= mean of L_i(theta*) - L_i(theta_i*)", Fraction(0), spread),
    }
