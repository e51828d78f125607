"""Exact factors and limit cycles of methods on quadratics, and their models side by side."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq, fmpq_poly

from boundcheck.engines.exact.algebraic import Modulus, Power, exact_root, radius_of
from boundcheck.errors import SpecError
from boundcheck.evidence.studies import Study, carry_out_study, load_studies
from boundcheck.evidence.studies.cycles import cycle_of, models
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem

F = Fraction
EXAMPLE = Path(__file__).parents[2] / "examples" / "async_fl.toml"


@pytest.fixture(scope="module")
def studies() -> dict[str, Study]:
    found = [carry_out_study(asked) for asked in load_studies(EXAMPLE) if asked.kind == "cycles"]
    return {study.name.partition(":")[0]: study for study in found}


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


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ('parameter = "eta_l"\n', "", "without a parameter"),
        ('values = ["1/2", 1, "3/2"]', "", "has no values"),
        ('parameter = "eta_l"', 'parameter = "K"', "already has K = 1"),
        ("steps = 6", "steps = -6", "steps"),
    ],
)
def test_bad_tables_are_told(old: str, new: str, match: str, tmp_path: Path) -> None:
    path = tmp_path / "cycles.toml"
    path.write_text(EXAMPLE.read_text().replace(old, new, 1))
    with pytest.raises(SpecError, match=match):
        load_studies(path)


def test_points_with_many_digits_are_shown_in_decimals(tmp_path: Path) -> None:
    file = tmp_path / "cycles.toml"
    file.write_text(
        '[[cycles]]\nname = "a"\nproblem = { kind = "random_quadratics", clients = 3, d = 2, seed = 4 }\n'
        'methods = [{ kind = "fedavg_async", K = 1, eta_l = "1/100", times = [2, 3, 5] }]\n'
    )
    study = carry_out_study(load_studies(file)[0])
    row, case = study.tables[0].rows[0], study.data["cases"][0]
    assert row[5].startswith("≈\u00a0(0.64814549, 0.068010895), ")
    assert abs(F(case["points"][0][0]) - F("0.64814549")) < F("1e-8")
    assert row[2] == "about 0.969581609"
    assert row[3] == f"about {0.969581609 ** (1 / 31):.8g}"
    assert case["low"] < 0.969581609 * (1 + 1e-9)
    assert case["high"] > 0.969581609 * (1 - 1e-9)
