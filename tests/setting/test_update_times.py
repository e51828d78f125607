"""Constants and hypotheses of update times and of clients in turn; periods, and schedules whose period is very long.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates", Section 4 and Table 2.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from boundcheck.engines.exact import limit_cycle
from boundcheck.engines.exact.growing import stays_away
from boundcheck.engines.run import run
from boundcheck.errors import Unsupported
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.limits import Limits, limit_study
from boundcheck.methods.build import build
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts import Average, Full, Pattern, Timed, pattern_law
from boundcheck.methods.schedules import FirstToArrive, Fixed
from boundcheck.methods.schedules import plan as plans
from boundcheck.problems.build import build as problem
from boundcheck.setting.constants import joint_constants, joint_objections
from boundcheck.setting.followed_objective import small_step_weights
from boundcheck.verdict import Outcome

F = Fraction
STEPS: dict[str, Any] = {"K": 2, "eta_l": "1/1000"}
HUGE = [101 + 2 * i for i in range(40)]  # repeats after more than 10^58 rounds


def spec(count: int, **more: Any) -> dict[str, Any]:
    """(theta - i)^2/2 of client i."""
    clients = [{"A": 1, "b": i} for i in range(count)]
    return {"kind": "quadratics", "clients": clients, "start": [5], **more}


def values(method: dict[str, Any], count: int) -> dict[str, Fraction]:
    return {k: c.value for k, c in joint_constants(build({**method, **STEPS}), problem(spec(count))).items()}


# --- the times -----------------------------------------------------------------------------------------------


TIMED: list[tuple[dict[str, Any], int, dict[str, Any]]] = [  # the values of these; None: there is no such constant
    (
        {"kind": "fedavg_async", "times": [2, 3, 5]}, 3,
        {"time_slowest": 5, "time_fastest": 2, "time_ratio": F(5, 2), "time_rates": F(31, 30), "time_lcm": 30,
         "updates_of_slowest": 5, "visits_lcm": None, "U_loss": None},
    ),
    ({"kind": "fedfix", "times": [2, 3, 5], "dt": 2}, 3, {"visits_lcm": 6, "visit_rounds": 3}),
    (
        {"kind": "fedavg_async", "times": ["1/2", "3/4"]}, 2,
        {"time_slowest": F(3, 4), "time_rates": F(10, 3), "time_lcm": None},
    ),
    ({"kind": "fedavg_async", "times": {"kind": "exponential", "rates": [1, 2]}}, 2, {"time_slowest": None}),
    # expected weights: all are positive
    ({"kind": "uniform_sampling", "m": 1}, 3, {"time_slowest": None, "U_loss": 0, "period": 1}),
    ({"kind": "fedavg_sync"}, 3, {"U_loss": 0}),
    ({"kind": "biased_sampling", "cohorts": [[0, 1], []]}, 2, {"U_loss": None}),
    # clients 0, 1 one by one and then together: the weights have their means after 2 rounds, the cohorts after 4
    (
        {"kind": "biased_sampling", "cohorts": [[0], [1], [0, 1], []], "weights": "identical"}, 2,
        {"window": 2, "period": 4},
    ),
    ({"kind": "fedavg_async", "times": [2, 3], "ties": "joint"}, 2, {"window": 4, "period": 4}),
    ({"kind": "fedavg_sync", "times": [2, 3, 5]}, 3, {"period": 1}),
    ({"kind": "fedfix", "times": [2, 3, 5], "dt": 1}, 3, {"period": 30}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "count", "expected"), TIMED, ids=str)
def test_constants_of_the_times(method: dict[str, Any], count: int, expected: dict[str, Any]) -> None:
    found = values(method, count)
    assert {name: found.get(name) for name in expected} == expected


def test_weight_and_chance_of_alike_clients() -> None:
    random = {"kind": "fedfix", "times": {"kind": "exponential", "rates": [1, 1]}, "dt": 1}
    found = values(random, 2)
    # d_i = p_i/P, and P is 1 - 1/e to 13 digits
    assert found["d_i"] == F(1, 2) / found["chance"]
    assert float(found["chance"]) == pytest.approx(1 - math.exp(-1), rel=1e-11)
    assert found["beta"] == found["d_i"] * (1 - found["chance"])
    assert not {"d_i", "chance"} & set(values({**random, "times": {"kind": "exponential", "rates": [1, 2]}}, 2))
    assert not {"d_i", "chance"} & set(values({"kind": "md_sampling", "m": 2}, 2))


@pytest.mark.parametrize(
    ("method", "count", "broken"),
    [
        ({"kind": "fedavg_async", "times": [2, 3, 5]}, 3, set[str]()),
        ({"kind": "fedavg_async", "times": [2, 5, 4]}, 3, {"slowest_at_an_end"}),
        ({"kind": "fedavg_async", "times": [2, "5/2"]}, 2, {"whole_times"}),
        ({"kind": "fedavg_async", "times": [2, 3], "ties": "joint"}, 2, {"one_by_one"}),
        ({"kind": "fedavg_async", "times": [2, 3], "weights": "identical"}, 2, {"time_based"}),
        ({"kind": "fedfix", "times": [2, 3], "dt": 1}, 2, {"one_by_one"}),
        ({"kind": "fedavg_async", "times": {"kind": "exponential", "rates": [1, 2]}}, 2, {"fixed_times"}),
        ({"kind": "fedbuff", "times": {"kind": "exponential", "rates": [1, 1, 1]}, "m": 2}, 3, {"fixed_times"}),
    ],
    ids=str,
)
def test_hypotheses_about_times(method: dict[str, Any], count: int, broken: set[str]) -> None:
    asked = {"fixed_times", "one_by_one", "whole_times", "slowest_at_an_end", "time_based", "own_minimisers"}
    found = joint_objections(build({**method, **STEPS}), problem(spec(count)))
    objections = {k for k in asked if found.get(k) is not None}
    assert objections - ({"one_by_one"} if method["kind"] == "fedbuff" else set()) == broken
    if broken == {"fixed_times"}:
        assert not {"whole_times", "slowest_at_an_end"} & set(found)  # nothing to be decided


def test_clients_with_the_same_data_are_no_own_kinds() -> None:
    alike = problem({"kind": "quadratics", "clients": [{"A": 1, "b": 1}] * 2, "start": [0]})
    found = joint_objections(build({"kind": "fedavg_async", "times": [1, 2], **STEPS}), alike)
    assert found["own_minimisers"] == "some clients have the same kind of data."


ASYNC = {"kind": "fedavg_async", "times": [2, 3, 5]}
FEDFIX = {"kind": "fedfix", "times": [2, 3, 5], "dt": 1}


def test_the_sharp_delay_needs_the_slowest_client_at_an_end() -> None:
    wrong = 0
    for times in itertools.product((2, 3, 5), repeat=3):
        method = build({"kind": "fedavg_async", "times": list(times), **STEPS})
        assert isinstance(method.participation, Timed)
        plan = method.participation.plan(3)
        assert plan is not None
        found = values({"kind": "fedavg_async", "times": list(times)}, 3)
        same = plan.cycle.max_delay == found["updates_of_slowest"]
        at_an_end = joint_objections(method, problem(spec(3)))["slowest_at_an_end"] is None
        assert same or not at_an_end
        wrong += not same
    assert wrong
    middle = {"kind": "fedavg_async", "times": [2, 5, 4], **STEPS}
    found = run_claim(Claim("async_fl/table_2_async_tau/sharp", spec(3), middle)).verdict
    assert found.outcome is Outcome.OUT_OF_SCOPE


# --- periods ---------------------------------------------------------------------------------------------------


def test_theorem_1_is_about_whole_periods() -> None:
    """From the surrogate's minimiser: the rounds of the first window have twice the mean R of a period."""
    apart = spec(2)
    apart["clients"] = [{"A": 1, "b": -1}, {"A": 1, "b": 1}]
    apart["start"] = [0]
    method = {"kind": "biased_sampling", "cohorts": [[0], [1], [0, 1], []], "weights": "identical", "K": 1}
    claim = Claim("async_fl/theorem_1/corrected_certain", apart, {**method, "eta_l": "largest"}, at={"s": [1, 2]})
    found = run_claim(claim)
    assert found.rounds == (3, 7)  # the last rounds of the averages over one and two periods
    for metric, bound in zip(found.metric_high, found.bound, strict=True):
        assert metric <= bound
    # R = (1/2 + 1/2 + 0 + 0)/4, and over the rounds of the first window the mean gap is above the bound
    solved = build(dict(found.method))
    assert joint_constants(solved, problem(apart))["R_loss"].value == F(1, 4)
    gaps = run(solved, problem(apart), rounds=[0, 1], metrics=["round_gap"], arithmetic="rational").exact["round_gap"]
    assert gaps[0] == F(1, 2)
    assert sum(gaps) / 2 > F(found.bound[0])


@pytest.mark.parametrize(("name", "method", "period"), [("equation_38", ASYNC, 31), ("equation_42", FEDFIX, 30)])
def test_rates_after_n_rounds_are_about_whole_periods(name: str, method: dict[str, Any], period: int) -> None:
    for rounds, met in ((period * 10, True), (period * 10 + 1, False)):
        constants = {"N": rounds, "eta_unit": "1/1000", "B": 5}
        claim = Claim(f"async_fl/{name}/corrected", spec(3), {**method, **STEPS, "eta_l": "tuned"}, constants=constants)
        scope = run_claim(claim).verdict.details["scope"]["conditions"]
        assert {c["name"]: c["holds"] for c in scope}["whole periods"] is met


# --- schedules that repeat very late ------------------------------------------------------------------------------


def test_a_period_of_10_to_the_58_is_not_gone_through() -> None:
    method = build({"kind": "fedavg_async", "times": HUGE, "K": 1, "eta_l": "1/100"})
    instance, clients = problem(spec(40)), Clients.alike(40)
    assert method.participation.period(clients) > 10**58
    assert small_step_weights(method, clients) == [F(1, 40)] * 40
    shares = {cohort: share for share, cohort in pattern_law(method.participation, clients)}
    assert shares[(0,)] == F(1, 101) / sum(F(1, t) for t in HUGE)
    for asked in (
        lambda: limit_cycle(method, instance, ()),
        lambda: stays_away(build({"kind": "fedavg_async", "times": HUGE[:8], **STEPS}), problem(spec(8))),
    ):
        with pytest.raises(Unsupported, match="repeat"):
            asked()
    alone = Timed(Fixed(tuple(F(t) for t in HUGE)), FirstToArrive())
    share = Average().by_client(replace(method.context(clients), participation=alone))
    assert share is not None
    assert share(0) == 1


def test_an_unknown_period_is_refused_in_a_sentence() -> None:
    joint = {"kind": "fedavg_async", "times": HUGE, "ties": "joint", "K": 1}
    limits = Limits(name="ends", problem=spec(40), methods=[joint], parameter="eta_l", values=["1/100"])
    with pytest.raises(Unsupported, match=r"repeats after \d+ contributions; with joint ties"):
        limit_study(limits)
    found = joint_constants(build({**joint, "eta_l": "1/100"}), problem(spec(40)))
    assert "period" not in found


def test_the_law_of_a_pattern_leaves_out_its_lead() -> None:
    clients = Clients.alike(2)
    lead = Pattern(((0,), (0, 1)), lead=((1,),))
    assert pattern_law(lead, clients) == [(F(1, 2), (0,)), (F(1, 2), (0, 1))]
    assert pattern_law(Full(), clients) == [(F(1), (0, 1))]
    with pytest.raises(Unsupported, match="repeat after 3 rounds"):
        pattern_law(Pattern(((0,), (1,), (0,))), clients, most=2)


def test_a_period_that_is_not_found_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MAX_SEARCH", 400)
    method = build({"kind": "fedbuff", "times": [*HUGE[:-1], 10**9 + 7], "m": 5, "K": 1, "eta_l": "1/100"})
    assert isinstance(method.participation, Timed)
    plan = method.participation.plan(40)
    assert plan is not None
    for _ in range(2):
        with pytest.raises(Unsupported, match="does not repeat within 10 rounds"):
            _ = plan.period
        monkeypatch.setattr(plans, "MAX_SEARCH", 10**12)  # a second search would not end
