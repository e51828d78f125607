"""The examples of SCGD's Appendices B and C against numbers by hand, in fractions, or by a direct recursion."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from boundcheck.engines.run import run
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.theory.discovery import statement
from boundcheck.verdict import Grade, Outcome


def value(id: str, **values: Any) -> float:
    return float(statement(id).evaluate(**values).value)


def test_appendix_b() -> None:
    found = statement("scgd/example_app_b").evaluate()
    assert found.value == pytest.approx(0.02240311711700457, rel=1e-15)
    at = {x: run_claim(Claim("scgd/example_app_b", at={"x": x})) for x in ("5/4", "1499/1000", "1501/1000", 20)}
    assert all(result.verdict.outcome is Outcome.HOLDS for result in at.values())
    assert at["1499/1000"].metric_low[0] == pytest.approx(found.value, rel=0.05)
    mu = build_problem({"kind": "scgd_appendix_b"}).constants()["mu"].value
    assert 0 < found.value - float(mu) < 1e-13
    assert value("scgd/equation_2/as_printed_appendix", mu=mu, L=2) == pytest.approx(4.0746e-4, rel=1e-4)


def app_c(kind: str, eta: Any, E: int, K: int, cubic: bool = False) -> Fraction:
    """x after K rounds (FedAvg) or cycles (SCGD), run by the exact engine."""
    problem = build_problem({"kind": "scgd_appendix_c", "cubic": cubic})
    rounds = K if kind == "fedavg" else 3 * K
    method = build_method({"kind": kind, "E": E, "eta": eta})
    return run(method, problem, rounds=[rounds], arithmetic="rational", metrics=["x"]).exact["x"][0]


def test_the_printed_numbers_of_appendix_c() -> None:
    assert app_c("fedavg", "1/10", 2, 1) == Fraction(76, 75)
    assert float(app_c("fedavg", "1/10", 2, 100)) == pytest.approx(3.76039, rel=2e-6)
    assert app_c("scgd", "1/10", 2, 1) == Fraction(5184, 15625)
    assert statement("scgd/example_app_c_fedavg/as_printed").bound == Fraction(76, 75)
    assert statement("scgd/example_app_c_scgd/as_printed").bound == Fraction(5184, 15625)
    at = {"eta": "1/10", "E": 2, "x_0": 1}
    assert statement("scgd/example_app_c_fedavg").evaluate(**at, K=1).exact == Fraction(76, 75)
    assert value("scgd/example_app_c_fedavg", **at, K=100) == pytest.approx(3.76039, rel=2e-6)
    assert statement("scgd/example_app_c_scgd").evaluate(**at, K=1).exact == Fraction(5184, 15625)


def test_the_literal_cubic_gives_other_numbers() -> None:
    # devices 1 and 2: 1.44; device 3: 1 -> 1 - 0.9 = 0.1 -> 0.1 - 0.009 = 0.091
    assert app_c("fedavg", "1/10", 2, 1, cubic=True) == (Fraction("1.44") * 2 + Fraction("0.091")) / 3
    assert float(app_c("scgd", "1/10", 2, 1, cubic=True)) == pytest.approx(-4.70005, abs=1e-5)


@pytest.mark.parametrize(("eta", "E"), [("1/22", 2), ("1/10", 3), ("1/100", 5), ("2/5", 1)])
def test_the_factors_against_runs(eta: str, E: int) -> None:
    at = {"eta": eta, "E": E, "x_0": 1}
    for kind in ("fedavg", "scgd"):
        for K in (1, 3):
            assert statement(f"scgd/example_app_c_{kind}").evaluate(**at, K=K).exact == app_c(kind, eta, E, K)


def test_the_best_step_of_fedavg_on_appendix_c() -> None:
    assert statement("scgd/example_app_c_fedavg").evaluate(eta="1/22", E=2, x_0=1, K=1).exact == Fraction(32, 33)


def converges(kind: str, eta: Any, E: int) -> bool | None:
    return statement(f"scgd/example_app_c_{kind}_converges").scope(eta=eta, E=E).in_scope


@pytest.mark.parametrize(
    ("E", "eta", "expected"),
    [
        (2, "0.09", True),
        (2, "0.092", False),
        (2, "1/11", False),  # the factor is exactly 1
        (2, Fraction(1, 11) - Fraction(1, 10**30), True),
        (2, Fraction(1, 11) + Fraction(1, 10**30), False),
        (1, "29999/10000", True),
        (1, 3, False),  # the factor is exactly -1
        (3, "0.0491085", True),
        (3, "0.0491087", False),
        (3, "0.610890", False),
        (3, "0.610892", True),
        (3, "0.680675", True),
        (3, "0.680677", False),
        (4, "0.0335179", True),
        (4, "0.0335181", False),
        (5, "0.0254248", True),
        (5, "0.0254250", False),
        (5, "0.5759224", False),
        (5, "0.5759226", True),
        (5, "0.5844748", True),
        (5, "0.5844750", False),
        (6, "0.0204756", True),
        (6, "0.0204758", False),
        (3000, Fraction("0.1050") / 3000, True),  # eta E -> 0.10502994
        (3000, Fraction("0.1052") / 3000, False),
    ],
)
def test_when_fedavg_converges_on_appendix_c(E: int, eta: Any, expected: bool) -> None:
    assert converges("fedavg", eta, E) is expected


@pytest.mark.parametrize("E", [1, 2, 3, 7])
def test_when_scgd_converges_on_appendix_c(E: int) -> None:
    assert converges("scgd", "0.24228792", E) is True
    assert converges("scgd", "0.24228794", E) is False


def test_convergence_is_seen_in_runs() -> None:
    """100,000 rounds on either side of 1/11: factors 0.9988 and 1.001472."""
    assert abs(app_c_float("fedavg", "0.09", 2, 100_000)) < 1e-50
    assert abs(app_c_float("fedavg", "0.092", 2, 100_000)) > 1e50


def app_c_float(kind: str, eta: str, E: int, K: int) -> float:
    problem = build_problem({"kind": "scgd_appendix_c"})
    curve = run(build_method({"kind": kind, "E": E, "eta": eta}), problem, rounds=[K], metrics=["x"])
    return float(curve.values["x"][0])


def test_the_theorem_allows_steps_444_times_smaller_than_appendix_c_takes() -> None:
    at = {"mu": "2/3", "L": 6, "n": 3, "E": 2}
    for reading, limit in (("corrected", 2.2507e-4), ("as_printed_main", 5.4541e-4), ("conservative", 2.0393e-4)):
        assert float(statement(f"scgd/theorem_3_3/{reading}").largest("eta", **at)) == pytest.approx(limit, rel=3e-5)
    assert statement("scgd/theorem_3_3").scope(**at, eta="1/10").in_scope is False
    assert pytest.approx(444, abs=0.5) == 0.1 / 2.2507e-4


def test_the_printed_numbers_are_false_for_the_printed_cube() -> None:
    for kind in ("fedavg", "scgd"):
        asked = Claim(
            f"scgd/example_app_c_{kind}/as_printed",
            {"kind": "scgd_appendix_c", "cubic": True},
            {"kind": kind, "E": 2, "eta": "1/10"},
            arithmetic="rational",
        )
        verdict = run_claim(asked).verdict
        assert (verdict.outcome, verdict.grade) == (Outcome.VIOLATED, Grade.EXACT)
        # they are about f_3 = 3x^3 at eta = 1/10, E = 2 and x_0 = 1, and about nothing else
        for changes in (
            {"problem": {"kind": "scgd_appendix_c"}},
            {"problem": {"kind": "scgd_appendix_c", "cubic": True, "start": "1/2"}},
            {"method": {"kind": kind, "E": 2, "eta": "1/20"}},
            {"method": {"kind": kind, "E": 3, "eta": "1/10"}},
        ):
            assert run_claim(replace(asked, **changes)).verdict.outcome is Outcome.OUT_OF_SCOPE


def test_the_corrected_examples_are_about_the_square() -> None:
    for kind in ("fedavg", "scgd"):
        asked = Claim(
            f"scgd/example_app_c_{kind}",
            {"kind": "scgd_appendix_c"},
            {"kind": kind, "E": 2, "eta": "1/10"},
            at={"K": [0, 1, 3]},
            arithmetic="rational",
        )
        verdict = run_claim(asked).verdict
        assert (verdict.outcome, verdict.grade) == (Outcome.HOLDS, Grade.EXACT)
        other = {"kind": "quadratics", "clients": [{"A": 1}, {"A": 2}, {"A": 3}]}
        assert run_claim(replace(asked, problem=other)).verdict.outcome is Outcome.OUT_OF_SCOPE
