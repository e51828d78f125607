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
from boundcheck.verdict import Grade, Outcome

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


def test_constants_of_the_times() -> None:
    found = values({"kind": "fedavg_async", "times": [2, 3, 5]}, 3)
    assert (found["time_slowest"], found["time_fastest"], found["time_ratio"]) == (5, 2, F(5, 2))
    assert (found["time_rates"], found["time_lcm"], found["updates_of_slowest"]) == (F(31, 30), 30, 3 + 2)
    assert "visits_lcm" not in found
    fix = values({"kind": "fedfix", "times": [2, 3, 5], "dt": 2}, 3)
    assert (fix["visits_lcm"], fix["visit_rounds"]) == (6, 3)
    halves = values({"kind": "fedavg_async", "times": ["1/2", "3/4"]}, 2)
    assert (halves["time_slowest"], halves["time_rates"]) == (F(3, 4), F(10, 3))
    assert "time_lcm" not in halves
    assert "time_slowest" not in values({"kind": "uniform_sampling", "m": 2}, 3)
    random = {"kind": "exponential", "rates": [1, 2]}
    assert "time_slowest" not in values({"kind": "fedavg_async", "times": random}, 2)


def test_weight_and_chance_of_alike_clients() -> None:
    random = {"kind": "fedfix", "times": {"kind": "exponential", "rates": [1, 1]}, "dt": 1}
    found = values(random, 2)
    # d_i = p_i/P, and P is 1 - 1/e to 13 digits
    assert found["d_i"] == F(1, 2) / found["chance"]
    assert float(found["chance"]) == pytest.approx(1 - math.exp(-1), rel=1e-11)
    assert found["beta"] == found["d_i"] * (1 - found["chance"])
    assert not {"d_i", "chance"} & set(values({**random, "times": {"kind": "exponential", "rates": [1, 2]}}, 2))
    assert not {"d_i", "chance"} & set(values({"kind": "md_sampling", "m": 2}, 2))


def test_the_absent_kinds_of_data() -> None:
    assert values({"kind": "fedavg_sync"}, 3)["U_loss"] == 0
    assert values({"kind": "uniform_sampling", "m": 1}, 3)["U_loss"] == 0  # expected weights: all are positive
    assert "U_loss" not in values({"kind": "fedavg_async", "times": [2, 3, 5]}, 3)
    empty = {"kind": "biased_sampling", "cohorts": [[0, 1], []]}
    assert "U_loss" not in values(empty, 2)


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


# --- Table 2 ---------------------------------------------------------------------------------------------------

ASYNC = {"kind": "fedavg_async", "times": [2, 3, 5]}
FEDFIX = {"kind": "fedfix", "times": [2, 3, 5], "dt": 1}
EXPONENTIAL = {"kind": "fedfix", "times": {"kind": "exponential", "rates": [1, 1, 1]}, "dt": 1}
HOLDS, VIOLATED = Outcome.HOLDS, Outcome.VIOLATED
ENTRIES: list[tuple[str, dict[str, Any], Outcome]] = [
    ("equation_35", ASYNC, HOLDS),
    ("table_2_async_alpha", ASYNC, HOLDS),
    ("table_2_async_beta/as_printed", ASYNC, HOLDS),
    ("table_2_async_residual", ASYNC, HOLDS),
    ("table_2_async_tau/corrected", ASYNC, HOLDS),
    ("table_2_async_tau/sharp", ASYNC, HOLDS),
    ("table_2_async_tau/as_printed", {"kind": "fedavg_async", "times": [4, 5, 5]}, VIOLATED),
    ("table_2_async_window/corrected", ASYNC, HOLDS),
    ("table_2_fedfix_alpha", FEDFIX, HOLDS),
    ("table_2_fedfix_residual", FEDFIX, HOLDS),
    ("table_2_fedfix_tau/corrected", FEDFIX, HOLDS),
    ("table_2_fedfix_tau/as_printed", FEDFIX, VIOLATED),
    ("table_2_fedfix_tau/as_printed_text", FEDFIX, VIOLATED),
    ("table_2_fedfix_window/sharp", FEDFIX, HOLDS),
    ("table_2_fedfix_window/as_printed", {**FEDFIX, "times": [7, 9, 10]}, VIOLATED),
    ("table_2_fedfix_beta/corrected", EXPONENTIAL, HOLDS),
    ("table_2_fedfix_beta/as_printed", EXPONENTIAL, VIOLATED),
    ("table_2_centralised_tau/as_printed", {"kind": "centralised"}, VIOLATED),
]


@pytest.mark.parametrize(("name", "method", "outcome"), ENTRIES, ids=lambda v: v if isinstance(v, str) else "")
def test_entries_of_table_2_are_decided_exactly(name: str, method: dict[str, Any], outcome: Outcome) -> None:
    count = 1 if method["kind"] == "centralised" else 3
    found = run_claim(Claim(f"async_fl/{name}", spec(count), {**method, **STEPS})).verdict
    assert (found.outcome, found.grade) == (outcome, Grade.EXACT), found.reason


def test_the_sharp_delay_needs_the_slowest_client_at_an_end() -> None:
    wrong = 0
    for times in itertools.product((2, 3, 4, 5), repeat=3):
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


def test_a_window_can_be_shorter_than_the_period() -> None:
    """Clients 0, 1 one by one and then together: the weights have their means after 2 rounds, the cohorts after 4."""
    uneven = {"kind": "biased_sampling", "cohorts": [[0], [1], [0, 1], []], "weights": "identical"}
    found = values(uneven, 2)
    assert (found["window"], found["period"]) == (2, 4)
    joint = values({"kind": "fedavg_async", "times": [2, 3], "ties": "joint"}, 2)
    assert (joint["period"], joint["window"]) == (4, 4)
    assert values({"kind": "uniform_sampling", "m": 1}, 3)["period"] == 1
    assert values({"kind": "fedavg_sync", "times": [2, 3, 5]}, 3)["period"] == 1
    assert values(FEDFIX, 3)["period"] == 30


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


@pytest.mark.parametrize(("name", "method"), [("equation_38", ASYNC), ("equation_42", FEDFIX)])
def test_rates_after_n_rounds_are_about_whole_periods(name: str, method: dict[str, Any]) -> None:
    period = {"equation_38": 31, "equation_42": 30}[name]
    for rounds, met in ((period * 100, True), (period * 100 + 1, False)):
        constants = {"N": rounds, "eta_unit": "1/1000", "B": 5}
        claim = Claim(f"async_fl/{name}/corrected", spec(3), {**method, **STEPS, "eta_l": "tuned"}, constants=constants)
        scope = run_claim(claim).verdict.details["scope"]["conditions"]
        assert {c["name"]: c["holds"] for c in scope}["whole periods"] is met


def test_the_largest_step_of_theorem_1() -> None:
    """(98) with L = 1, rho = 31/18 and tau = 5, asked of a statement that names no kind of method."""
    for asked, factor in (("largest", F(1)), ("0.9*largest", F(9, 10))):
        method = {**ASYNC, "K": 4, "eta_l": asked}
        found = run_claim(Claim("async_fl/theorem_1/corrected", spec(3), method, at={"s": [1, 300]}))
        largest = min(F(1), 1 / (3 * F(31, 18) ** 2 * 6)) / (48 * 4)
        step = F(found.method["eta_l"])
        assert factor * largest * (1 - F(1, 10**11)) <= step <= factor * largest
        assert found.verdict.outcome is Outcome.HOLDS, found.verdict.reason


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
