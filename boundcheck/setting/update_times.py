"""Constants of a schedule's update times, and hypotheses about them.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates", Section 4 and Table 2. The constants are those of the catalogue (`theory.keys`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods import answers
from boundcheck.methods.parts.participation import cohort_sizes
from boundcheck.setting.makers import Makers, exact, make_exact

if TYPE_CHECKING:
    from boundcheck.certified.constant import Constant
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.methods.parts import Timed
    from boundcheck.methods.schedules import Exponential, Fixed, Plan
    from boundcheck.setting.expected_weights import DataKinds, Expected


MAX_COUNTED = 100_000  # rounds of a period that are counted


def _times(timing: Timed | None, clients: Clients) -> Fixed | Exponential | None:
    """The clients' update times; None where participation does not follow from any."""
    try:
        return None if timing is None else timing.of(clients.count)
    except BadInput:  # times of other clients, which the run itself refuses
        return None


def time_makers(method: Method, clients: Clients) -> Makers:
    """The constants of fixed update times of the catalogue; empty where the method has none."""
    timing = answers.timing(method.participation)
    times = _times(timing, clients)
    if timing is None or times is None or times.values is None:
        return {}
    own = times.values
    slowest, fastest = max(own), min(own)
    updates = sum(math.ceil(slowest / t) for t in own) - 1
    found: Makers = {
        "time_slowest": make_exact(slowest, "largest update time"),
        "time_fastest": make_exact(fastest, "smallest update time"),
        "time_ratio": make_exact(slowest / fastest, "largest over smallest update time"),
        "time_1": make_exact(own[0], "update time of the first client"),
        "time_rates": make_exact(sum((1 / t for t in own), Fraction(0)), "sum of 1/tau_i"),
        "updates_of_slowest": make_exact(updates, "sum of ceil(tau_M/tau_j) over the other clients"),
    }
    if all(t.denominator == 1 for t in own):
        found["time_lcm"] = make_exact(math.lcm(*(int(t) for t in own)), "least common multiple of the update times")
    dt = timing.policy.dt
    if timing.policy.arrivals in (None, 1):  # full buffers may repeat from a later round on only
        found |= _period_makers(timing.plan(clients.count))
    if dt is not None:
        visits = [math.ceil(t / dt) for t in own]
        found["visit_rounds"] = make_exact(max(visits), "ceil(tau_M/dt)")
        found["visits_lcm"] = make_exact(math.lcm(*visits), "least common multiple of the ceil(tau_i/dt)")
    return found


def _period_makers(plan: Plan | None) -> Makers:
    """period_time and rounds_in_time; empty where a period is not known or has more than `MAX_COUNTED` rounds."""
    try:
        if plan is None or plan.period > MAX_COUNTED:
            return {}
    except Unsupported:
        return {}
    time = make_exact(plan.length, "how long a period of the schedule takes")
    return {"period_time": time, "rounds_in_time": partial(_rounds_in_time, plan)}


def _rounds_in_time(plan: Plan) -> Constant:
    """The rounds that end within the time of a period, counted."""
    table = plan.timetable(plan.period + 1)
    ended = sum(table.end(n) <= plan.length for n in range(table.rounds))
    return exact(ended, "rounds that end in the time of a period, counted")


def participation_makers(method: Method, clients: Clients, expected: Expected, data: DataKinds) -> Makers:
    """d_i, chance, the first client's d_1 and mean_q_1, and U_loss, as far as they are known."""
    first = expected.mean.get(0, Fraction(0))
    found: Makers = {"mean_q_1": make_exact(first, "mean expected weight of the first client")}
    # W_n, the kinds present in round n, are those of a positive expected weight: s_j(n) > 0
    if all(kind.q and data.complete(kind.q) for kind in expected.kinds):
        found["U_loss"] = make_exact(0, "every kind of data has a positive expected weight in every round")
    drawing = method.participation.drawing(clients)
    own = method.aggregation.by_client(method.context(clients))
    if own is not None:
        found["d_1"] = make_exact(own(0), "aggregation weight of the first client")
    if drawing is None or own is None or drawing.kind == "replacement":
        return found
    weights = {own(i) for i in range(clients.count)}
    chances = {drawing.inclusion(i) for i in range(clients.count)}
    if len(weights) == 1 and len(chances) == 1:
        found["d_i"] = make_exact(weights.pop(), "aggregation weight, the same for all clients")
        found["chance"] = make_exact(chances.pop(), "probability of taking part, the same for all clients")
    return found


def time_hypotheses(method: Method, clients: Clients) -> dict[str, str | None]:
    """Hypotheses about update times and ties -> why they fail, or None where they hold; empty without times."""
    timing = answers.timing(method.participation)
    times = _times(timing, clients)
    if timing is None or times is None:
        return {}
    plan = timing.plan(clients.count)
    if times.values is None or plan is None:
        single = cohort_sizes(method.participation, clients) == {1}  # random times are never equal
        return {
            "fixed_times": "the update times are random.",
            "one_by_one": None if single else "several clients can make one round.",
        }
    values = times.values
    broken = next((t for t in values if t.denominator != 1), None)
    apart = max(values) in (values[0], values[-1])
    return {
        "fixed_times": None,
        "one_by_one": None if plan.single else "clients that finish together make one round.",
        "whole_times": None if broken is None else f"the update time {broken} is no whole number.",
        "slowest_at_an_end": None if apart else "the slowest client is in the middle of the order of ties.",
    }
