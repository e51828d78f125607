"""Studies: methods compared, schedules, proximal weights, and cycles, against numbers by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpq_poly

from boundcheck.core.toml_lines import parse_toml
from boundcheck.engines.exact.algebraic import Modulus, Power, exact_root, radius_of
from boundcheck.evidence.studies import Study, carry_out_study, load_studies
from boundcheck.evidence.studies.cycles import cycle_of, models
from boundcheck.evidence.studies.proximal_weight import lower_smoothness, needed_weights
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.report import write_report

F = Fraction
EXAMPLES = Path(__file__).parents[2] / "examples"


def study_of(text: str) -> Study:
    (asked,) = load_studies(parse_toml(text, "spec.toml", parse_float=str))
    return carry_out_study(asked)


def of_example(name: str, kind: str) -> dict[str, Study]:
    """The shipped studies of a kind by the first part of their names."""
    found = [carry_out_study(asked) for asked in load_studies(EXAMPLES / f"{name}.toml") if asked.kind == kind]
    return {study.name.partition(":")[0]: study for study in found}


# --- methods compared -------------------------------------------------------------------------------------------------

SPEC = """schema = 1
[[methods_compared]]
name = "Two methods on the example"
problem = { kind = "fedshuffle_36" }
target = "1/10"
methods = [
    { kind = "fedshuffle", eta_l = "largest", E = 1 },
    { kind = "gradient_descent", eta = "largest" },
]
statements = ["fedshuffle/theorem_5_1_strongly_convex", "scgd/fedavg_full_participation"]
"""


def test_methods_are_compared_and_what_does_not_apply_says_why(tmp_path: Path) -> None:
    study = study_of(SPEC)
    promised, refused = study.tables
    ((method, name, _, _, promise, really, ratio),) = promised.rows
    assert (method, name) == ("fedshuffle", "fedshuffle/theorem_5_1_strongly_convex/corrected")
    assert int(promise) > int(really) > 0
    assert float(ratio) == pytest.approx(int(promise) / int(really), rel=1e-3)
    assert [why for _, _, why in refused.rows] == ["no statement of those compared is about this method"]
    paths = write_report([], tmp_path / "report", studies=[study])
    page = next(p for p in paths if p.name.startswith("study-"))
    assert promise in page.read_text()
    data = json.loads((tmp_path / "report" / "report.json").read_text())
    assert data["studies"][0]["data"]["rows"][0]["promised"] == int(promise)
    assert page.name in (tmp_path / "report" / "index.html").read_text()


@pytest.mark.parametrize(
    ("most", "step", "cells"),
    [(9, '"largest"', "11, 10 to 11, 1 to 1.1"), (99, '"largest"', "11, 11, 1"), (99, "1", "10, 10, 1")],
)
def test_ties_are_decided_or_shown(monkeypatch: pytest.MonkeyPatch, most: int, step: str, cells: str) -> None:
    """At the step 1 - 10^-12 bound and metric are both (1 + 10^-24) times the target after 10 rounds."""
    monkeypatch.setattr("boundcheck.evidence.rounds_to_target.MOST_EXACT", most)
    tie = SPEC.replace('"fedshuffle_36"', '"fedshuffle_36", sizes = [2, 2, 2]').replace(
        'eta = "largest"', f"eta = {step}"
    )
    tie = tie.replace("scgd/fedavg_full_participation", "classics/gradient_descent_nonconvex/sharp")
    rows = study_of(tie).tables[0].rows
    assert [", ".join(row[4:]) for row in rows if row[0] == "gradient_descent"] == [cells]


# --- schedules of the asynchronous paper ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def schemes() -> list[dict[str, tuple[str, ...]]]:
    """Rows by quantity of each table."""
    (study,) = of_example("async_schemes", "schemes").values()
    return [{row[0]: row[1:] for row in table.rows} for table in study.tables]


def test_asynchronous_entries_are_those_of_the_schedule(schemes: list[dict[str, tuple[str, ...]]]) -> None:
    found = schemes[1]  # times 2, 3, 5, ties one by one: 31 aggregations in 30 units of time
    assert found["aggregations in a unit of time"][2] == "31/30"
    assert found["window, in aggregations"][2] == "31"
    assert found["largest delay, in aggregations"][2] == "5"
    assert found["largest aggregation weight d_i"][2] == "31/18"
    assert schemes[2]["window, in aggregations"][2] == "22"  # joint ties


def test_the_printed_delay_of_fedfix_is_too_small_for_a_short_window(schemes: list[dict[str, tuple[str, ...]]]) -> None:
    printed, allowed, exact, agrees = schemes[4]["largest delay, in aggregations"]
    assert (printed, allowed, exact, agrees) == ("0, floor(tau_M/tau_0)", "0 to 2", "4", "no")
    assert schemes[5]["largest delay, in aggregations"][2:] == ("2", "yes")


def test_a_window_as_long_as_the_slowest_client_is_synchronous(schemes: list[dict[str, tuple[str, ...]]]) -> None:
    first, last = schemes[0], schemes[6]
    assert {k: v[2] for k, v in first.items()} == {k: v[2] for k, v in last.items()}
    assert first["residual R"][2] == "0"


# --- proximal weights of FedDANE --------------------------------------------------------------------------------------

TINY = {"kind": "synthetic", "devices": 3, "max_samples": 12}
WEIGHTS = """[[proximal_weight]]
name = "mu on the line"
rounds = 20
grid = [0, "1/10", 1]
problems = [{ kind = "feddane_1d" }, { kind = "feddane_1d", start = 3 }]
"""


def rotated(angle: float, first: float, second: float) -> np.ndarray[Any, Any]:
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    return turn @ np.diag([first, second]) @ turn.T


@pytest.mark.parametrize("seed", range(3))
def test_the_lower_bound_of_l_on_quadratics(seed: int) -> None:
    random = np.random.default_rng(seed)
    matrices = [rotated(*random.uniform([0, 0.1, 2], [3, 1, 9])) for _ in range(3)]
    clients = [{"A": [[str(v) for v in row] for row in (A + A.T) / 2], "b": [1, -2]} for A in matrices]
    problem = build_problem({"kind": "quadratics", "clients": clients, "start": [100, -50]})
    L = float(problem.constants()["L"].value)
    low = lower_smoothness(problem, np.array([100.0, -50.0]))
    assert low <= L
    assert low == pytest.approx(L, rel=1e-4)


def test_rounding_never_lifts_the_lower_bound() -> None:
    """Gradients of 10^12 with a curvature of 1: differences over 10^-4 are rounding."""
    problem = build_problem({"kind": "quadratics", "clients": [{"A": 1, "b": 10**12}], "start": [0]})
    assert lower_smoothness(problem, np.zeros(1)) <= 1


def test_the_lower_bound_of_l_on_a_classifier() -> None:
    problem = build_problem(TINY)
    low = lower_smoothness(problem, np.zeros(problem.dim))
    high = float(problem.constants()["L"].value)
    assert 0 < low <= high
    # at 0 all classes have the probability 1/10: the Hessian is A'A/n kron (diag(1/10) - 1/100)
    rows: Any = problem
    each = [slice(a, b) for a, b in zip(rows.offsets, rows.offsets[1:], strict=False)]
    top = max(float(np.linalg.eigvalsh(rows.features[s].T @ rows.features[s] / (s.stop - s.start))[-1]) for s in each)
    assert low == pytest.approx(top / 10 + 1e-6, rel=1e-3)


def test_the_line_needs_9_at_every_point() -> None:
    found = needed_weights(build_problem({"kind": "feddane_1d"}), rounds=20)
    assert [p[0] for p in found.points][:3] == [0, 1, 2]
    for _, b2, low, high, gamma in found.points:
        assert (b2, high, gamma) == (pytest.approx(2), pytest.approx(9), pytest.approx(0.4))
        assert 9 * (1 - 1e-6) < low <= 9 * (1 + 1e-12)


def test_b_grows_towards_the_solution() -> None:
    found = needed_weights(build_problem(TINY), rounds=10)
    assert [p[0] for p in found.points] == sorted({p[0] for p in found.points})
    assert found.points[-1][1] > found.points[0][1] >= 1
    assert all(low <= high for _, _, low, high, _ in found.points)


def test_a_page() -> None:
    (asked,) = load_studies(parse_toml(WEIGHTS, "spec.toml", parse_float=str))
    done: list[float] = []
    study = carry_out_study(asked, done.append)
    assert done == [0.5, 1.0]
    short, along = study.tables
    assert len(short.rows) == 2
    assert short.rows[0][-2:] == ("too small by a factor 9", "too small by a factor 9")
    assert len({len(row) for row in short.rows} | {len(short.columns)}) == 1
    assert len({len(row) for row in along.rows} | {len(along.columns)}) == 1
    tried = [s.y[0] for s in study.series if s.role == "bound"]
    assert tried == [0.1, 1.0]  # 0 has no place on a logarithmic axis


def test_a_weight_that_is_enough() -> None:
    for largest, words in (("10", "is enough"), ('"9"', "too small")):
        cell = study_of(WEIGHTS.replace('"1/10", 1', largest)).tables[0].rows[0][-1]
        assert words in cell or "undecided" in cell
        assert (words == "is enough") == (cell == "is enough")


def test_the_shipped_table_is_sound() -> None:
    (asked,) = load_studies(EXAMPLES / "feddane_mu.toml")
    assert asked.kind == "proximal_weight"


# --- cycles -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def studies() -> dict[str, Study]:
    return of_example("async_fl", "cycles")


def test_example_1_diverges_with_the_factor_of_its_recursion(studies: dict[str, Study]) -> None:
    """theta^(n+2) = theta^(n+1) + phi (theta* - theta^n): r^2 - r + phi = 0, by the quadratic formula."""
    cases = [c for c in studies["Example 1"].data["cases"] if c["method"]["kind"] == "fedbuff"]
    assert len(cases) == 9
    for case in cases:
        K, eta = int(case["method"]["K"]), F(case["value"])
        phi = 1 - (1 - eta) ** K
        radius = max(abs(np.roots([1, -1, float(phi)])))
        assert case["low"] <= radius**2 * (1 + 1e-12)
        assert radius**2 * (1 - 1e-12) <= case["high"]
        assert F(case["factor_of_period"]) == phi  # both roots are complex: r^2 = phi
        assert case["converges"] == (0 < phi < 1)
        assert case["points"] == ([["2"]] if phi < 1 else None)
    (asked,) = [c for c in cases if (c["method"]["K"], c["value"]) == ("1", "3/2")]
    assert (asked["factor_of_round"], asked["factor_of_period"]) == ("sqrt(3/2)", "3/2")
    row = next(r for r in studies["Example 1"].tables[0].rows if r[0].endswith("K 1, eta_l 3/2"))
    assert row[2:5] == ("3/2", "sqrt(3/2) = 1.22474", "diverges")


def test_example_2_is_a_cycle_of_two_points(studies: dict[str, Study]) -> None:
    for case in studies["Example 2"].data["cases"]:
        a = F(case["value"]) * F(3, 4) * F(4, 3)  # eta_l eta_g d_1, with d = 2 p: 4/3 and 2/3
        b = a / 2
        if case["method"]["kind"] == "fedavg_async":
            expected = [3 * (b + a * b) / (a + b + a * b), 3 * b / (a + b + a * b)]
            assert [F(p) for (p,) in case["points"]] == expected
            assert case["surrogate"] == ["1"]
        else:
            assert case["points"] == [["1"]]
    assert studies["Example 2"].tables[0].rows[0][4:6] == ("to a cycle of 2", "13/11, 10/11")


def test_fedfix_on_equal_hardware_is_synchronous_step_for_step(studies: dict[str, Study]) -> None:
    name = "FedFix-0.5 on equal hardware is synchronous FedAvg with eta_g = 2"
    study = studies[name]
    assert study.data["equal"] is True
    x = F(4)
    for k, row in enumerate(study.tables[1].rows):
        assert row == (str(k), str(x), str(x), "yes")
        ends = []
        for a, b in ((F(1), F(1)), (F(2), F(-1)), (F(1, 2), F(3))):
            y = x
            for _ in range(2):
                y -= F(1, 4) * (a * y - b)
            ends.append(y - x)
        x += 2 * sum(ends) / 3


def test_other_methods_are_not_equal() -> None:
    problem = build_problem({"kind": "quadratics", "start": [4], "clients": [{"components": [{"A": 1, "b": 1}]}] * 2})
    sync = build_method({"kind": "fedavg_sync", "K": 1, "eta_l": "1/4"})
    stale = build_method({"kind": "fedavg_async", "times": [1, 1], "K": 1, "eta_l": "1/4"})
    assert models(sync, problem, 2) != models(stale, problem, 2)
    # from 4 with the optimum 1: 4 - 3/4, then the second client's contribution from 4 as well
    assert models(stale, problem, 2) == [(F(4),), (F(13, 4),), (F(5, 2),)]


def test_random_cohorts_are_judged_by_second_moments() -> None:
    clients = [{"components": [{"A": a, "b": 0}]} for a in (1, 3)]
    problem = build_problem({"kind": "quadratics", "start": [1], "clients": clients})
    found = cycle_of(build_method({"kind": "uniform_sampling", "m": 1, "K": 1, "eta_l": "3/5"}), problem)
    assert found.second
    assert found.radius.modulus == Modulus((F(2, 5) ** 2 + F(4, 5) ** 2) / 2)
    assert found.converges is True
    beyond = cycle_of(build_method({"kind": "uniform_sampling", "m": 1, "K": 1, "eta_l": "4/5"}), problem)
    assert beyond.converges is False  # (1/25 + 49/25)/2 = 1: it neither grows nor settles
    assert not beyond.radius.above_one


@pytest.mark.parametrize(("roots", "text"), [([F(1, 2), F(-2, 3)], "2/3"), ([F(0), F(1, 3)], "1/3")])
def test_rational_roots(roots: list[Fraction], text: str) -> None:
    product = fmpq_poly([1])
    for r in roots:
        product *= fmpq_poly([fmpq(-r.numerator, r.denominator), fmpq(1)])
    assert radius_of(product).modulus == Modulus(F(text))


def test_irrational_roots_and_large_factors() -> None:
    golden = radius_of(fmpq_poly([-1, -1, 1]))
    assert golden.modulus is not None
    assert golden.modulus.text() == "(1 + sqrt(5))/2"
    assert (golden.below_one, golden.above_one) == (False, True)
    cubic = radius_of(fmpq_poly([fmpq(-1, 4), 0, fmpq(-1, 2), 1]))  # irreducible, one real root
    largest = max(abs(np.roots([1, -0.5, 0, -0.25])))
    assert cubic.modulus is None
    assert cubic.low <= largest * (1 + 1e-12) <= cubic.high * (1 + 2e-12)
    assert cubic.below_one is True
    both = radius_of(fmpq_poly([fmpq(-1, 4), 0, fmpq(-1, 2), 1]) * fmpq_poly([-3, 1]))
    assert both.modulus == Modulus(F(3))


def test_roots_of_fractions() -> None:
    assert exact_root(F(8, 27), 3) == F(2, 3)
    assert exact_root(F(8, 27), 2) is None
    assert Power(Modulus(F(1, 16)), 4).exact() == "1/2"
    assert Power(Modulus(F(1, 4)), 4).exact() == "sqrt(1/2)"
    assert Power(Modulus(F(0), F(1, 2)), 3).exact() == "(1/2)^(1/6)"


def test_points_with_many_digits_are_shown_in_decimals() -> None:
    study = study_of(
        '[[cycles]]\nname = "a"\nproblem = { kind = "random_quadratics", clients = 3, d = 2, seed = 4 }\n'
        'methods = [{ kind = "fedavg_async", K = 1, eta_l = "1/100", times = [2, 3, 5] }]\n'
    )
    row, case = study.tables[0].rows[0], study.data["cases"][0]
    assert row[5].startswith("≈\u00a0(0.64814549, 0.068010895), ")
    assert abs(F(case["points"][0][0]) - F("0.64814549")) < F("1e-8")
    assert row[2] == "about 0.969581609"
    assert row[3] == f"about {0.969581609 ** (1 / 31):.8g}"
    assert case["low"] < 0.969581609 * (1 + 1e-9)
    assert case["high"] > 0.969581609 * (1 - 1e-9)
