"""What papers say of special methods and problems: Examples 1 and 2, averaging matrices, cohorts of gradients."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.compare import compare
from boundcheck.evidence.constant_claims import curve_without_run
from boundcheck.methods.build import build as build_method
from boundcheck.papers.partial_averaging.theories import AveragingMatrices
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import Setting
from boundcheck.setting.constants import joint_objections
from boundcheck.theory.discovery import statement
from boundcheck.verdict import Grade, Outcome, Verdict

F = Fraction

# --- Examples 1 and 2 of the asynchronous paper: clients in turn, each on the model that it received last -------------

HALVES = {"kind": "fedbuff", "times": [2, 2, 2, 2], "m": 2, "K": 1, "eta_l": "1/2"}
# eta_g times the weights p_i/(1/2) = 4/3 and 2/3 are 1 and 1/2
TURNS = {"kind": "fedavg_async", "times": [2, 2], "K": 1, "eta_g": "3/4", "eta_l": "3/10"}


def line(ends: list[int], **more: Any) -> dict[str, Any]:
    """Clients (theta - t)^2/2."""
    return {"kind": "quadratics", "clients": [{"A": 1, "b": end} for end in ends], "start": [7], **more}


def verdict(name: str, problem: dict[str, Any], method: dict[str, Any]) -> Verdict:
    at = {"n" if name.startswith("example_1") else "j": [1, 10, 100]}
    return run_claim(Claim(f"async_fl/{name}", problem, method, at=at, arithmetic="rational")).verdict


@pytest.mark.parametrize(
    ("ends", "method", "outcome"),
    [
        ([1, 3, 1, 3], {}, Outcome.HOLDS),
        ([1, 3, 3, 1], {}, Outcome.HOLDS),  # either half has one client of each kind
        ([1, 3, 1, 3], {"eta_l": "1"}, Outcome.VIOLATED),
        ([1, 1, 3, 3], {}, Outcome.OUT_OF_SCOPE),
        ([1, 2, 3, 4], {}, Outcome.OUT_OF_SCOPE),
        ([1, 1, 1, 1], {}, Outcome.OUT_OF_SCOPE),
        ([1, 3, 1, 3], {"weights": "1/4"}, Outcome.OUT_OF_SCOPE),
        ([1, 3, 1, 3], {"times": [1, 1, 2, 2]}, Outcome.OUT_OF_SCOPE),
    ],
)
def test_example_1_is_about_two_kinds_of_data_in_halves(ends: list[int], method: Any, outcome: Outcome) -> None:
    found = verdict("example_1/as_printed", line(ends), {**HALVES, **method})
    assert found.outcome is outcome, found.reason
    assert found.grade is Grade.EXACT or outcome is Outcome.OUT_OF_SCOPE
    assert ("four_alternating_clients" in found.reason) is (outcome is Outcome.OUT_OF_SCOPE)


def test_example_2_runs_through_two_points() -> None:
    """By hand, a = 3/10 and b = 3/20: x = z + b (3 - x) and z = x + a (0 - z) have the solutions 13/11 and 10/11."""
    uneven = line([0, 3], weights=["2/3", "1/3"])
    printed = verdict("example_2/as_printed", uneven, TURNS)
    assert (printed.outcome, printed.grade) == (Outcome.VIOLATED, Grade.EXACT)
    assert {F(v) for v in printed.witness["limit_points"]} == {F(13, 11), F(10, 11)}
    for reading, limit in (("corrected", F(13, 11)), ("corrected_odd", F(10, 11))):
        found = verdict(f"example_2/{reading}", uneven, TURNS)
        assert (found.outcome, F(found.details["limit"])) == (Outcome.HOLDS, limit)


# --- the averaging matrices of partial averaging ----------------------------------------------------------------------


@pytest.mark.parametrize(("m", "size", "tau"), [(2, 2, 2), (3, 2, 3), (4, 1, 2)])
def test_the_properties_of_the_averaging_matrices(m: int, size: int, tau: int) -> None:
    problem = build_problem({"kind": "pure_noise", "clients": m, "d": size * tau})
    method = build_method({"kind": "partial_averaging", "tau": tau, "eta": 1})
    for id in (f"property_{k}" for k in (1, 2, 3, 4)):
        s = statement(f"partial_averaging/{id}")
        found = compare(s, curve_without_run(s, Setting(method, problem)))
        assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.EXACT)


def test_defects_of_averaging_matrices_by_hand() -> None:
    """Weights 1/2 and 1/4 of two workers with two numbers each: J = (1 w') kron I, and I in the other iteration."""
    found = AveragingMatrices([(0, 1)], [(0, 1), (0,)], [F(1, 2), F(1, 4)])
    assert found.row_defect() == F(1, 4)  # rows of J sum to 3/4
    assert found.product_defect() == F(1, 8)  # J J = 3/4 J
    assert found.symmetry_defect() == F(1, 4)  # that of J itself; J J' is symmetric
    assert found.inner_defect() == 0
    assert found.outer_defect() == F(1, 2)  # J's entry between the first numbers of both workers
    assert found.cross_weight() == F(1, 4)
    (size, whole, every) = found.blocks[0]
    assert (size, whole[0], whole[1]) == (2, [F(1, 2), 0, F(1, 4), 0], [0, F(1, 2), 0, F(1, 4)])
    assert len(every) == 2
    # coordinates that are averaged with one another break property 4 alone
    alone = AveragingMatrices([(0,), (1,)], [(0, 1)], [F(1, 2), F(1, 2)])
    assert [one for _, _, every in alone.blocks for one in every] == [[[F(1, 2)] * 2] * 2] * 2


# --- hypotheses about the cohorts whose gradients FedDANE averages ----------------------------------------------------

UNBIASED, SPREAD, APART = "unbiased_gradient_cohort", "gradient_cohort_variance", "independent_cohorts"
UNEQUAL = ["1/2", "1/3", "1/6"]
W = [F(v) for v in UNEQUAL]
PAIRS = [[0, 1], [0, 2], [1, 2]]
ORDERED = [str(W[i] * W[j] / (1 - W[i]) + W[j] * W[i] / (1 - W[j])) for i, j in PAIRS]  # one after the other by weight


def objections(weights: list[str] | None, clients: int = 3, **method: Any) -> dict[str, str | None]:
    spec = {"kind": "quadratics", "clients": [{"A": k + 1} for k in range(clients)]}
    problem = build_problem({**spec, "weights": weights} if weights else spec)
    return joint_objections(build_method({"kind": "feddane", "mu": 5, **method}), problem)


@pytest.mark.parametrize(
    ("weights", "method", "broken"),
    [
        (None, {"K": 2}, {}),
        (UNEQUAL, {"K": 2}, {}),
        (None, {"K": 2, "participation": "uniform"}, {}),
        (UNEQUAL, {"K": 2, "participation": "uniform"}, {UNBIASED: "client 0 has the weight 1/2, but", SPREAD: ""}),
        (UNEQUAL, {"participation": "full"}, {UNBIASED: ""}),  # a plain mean of unequal weights
        (UNEQUAL, {"participation": {"subsets": PAIRS, "probabilities": ORDERED}}, {UNBIASED: ""}),
        (UNEQUAL, {"participation": {"subsets": PAIRS[:2], "probabilities": ["2/3", "1/3"]}}, {UNBIASED: None}),
        (None, {"K": 2, "same": True}, {APART: "S_t is S'_t"}),
        (None, {"K": 2, "pipelined": True}, {UNBIASED: "round before"}),
        (None, {"K": 2, "decay": "inverse"}, {UNBIASED: "factor"}),
    ],
)
def test_which_cohorts_have_unbiased_independent_gradients(weights: Any, method: Any, broken: Any) -> None:
    if isinstance(own := method.get("participation"), dict):
        method = {**method, "participation": {"kind": "subsets", **own}}
    found = objections(weights, **method)
    for name in broken or (UNBIASED, SPREAD, APART):
        said = broken.get(name)
        assert (found[name] is None) if said is None else said in str(found[name])
        assert (found[name] is None) is (said is None)


def test_unbiased_cohorts_may_vary_more_than_draws() -> None:
    """Always both of a pair: as unbiased as one draw out of two groups, and no better than that."""
    pairs = {"kind": "subsets", "subsets": [[0, 1], [2, 3]], "probabilities": ["1/2", "1/2"]}
    found = objections(None, 4, participation=pairs)
    assert found[UNBIASED] is None
    assert "varies more" in str(found[SPREAD])
    plain = build_method({"kind": "fedavg", "E": 1, "eta": "1/10"})
    other = build_problem({"kind": "quadratics", "clients": [{"A": 1}, {"A": 2}]})
    assert not {UNBIASED, SPREAD, APART, "inexact_solves"} & set(joint_objections(plain, other))


def test_devices_with_data_of_one_distribution_are_not_alike() -> None:
    method = build_method({"kind": "feddane", "mu": 5, "K": 1})
    drawn = build_problem({"kind": "quadratics", "clients": [{"A": 1, "b": 3}, {"A": 2, "b": 4}], "start": [0]})
    printed = statement("feddane/remark_iid/as_printed")
    assert compare(printed, curve_without_run(printed, Setting(method, drawn))).outcome is Outcome.VIOLATED
    assert drawn.constants()["B2_0"].value == F(9 + 16, 2) / F(49, 4)
