"""Partial averaging's averaging matrices, communication and model discrepancy, against numbers by hand and exact runs.

S. Lee, A. K. Sahu, C. He, S. Avestimehr, "Partial Model Averaging in Federated Learning: Performance Guarantees and
Benefits".
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from boundcheck.engines.run import run
from boundcheck.evidence.compare import compare
from boundcheck.evidence.constant_claims import curve_without_run
from boundcheck.methods.build import algorithms
from boundcheck.methods.build import build as method
from boundcheck.papers.partial_averaging.theories import AveragingMatrices, full_average, product
from boundcheck.problems.build import build as problem
from boundcheck.problems.quadratics import build as quadratics
from boundcheck.setting import Setting
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Grade, Outcome

F = Fraction


def get(name: str, reading: str = "") -> Statement:
    return statement(f"partial_averaging/{name}/{reading}" if reading else f"partial_averaging/{name}")


def value(s: Statement, **values: Any) -> Fraction:
    """The bound at exact constants."""
    table = {sp.Symbol(n, real=True): sp.Rational(F(v).numerator, F(v).denominator) for n, v in values.items()}
    found: Any = s.bound.xreplace(table)
    return F(int(found.p), int(found.q))


def verdict(name: str, curve: Any) -> Any:
    return compare(get(*name.split("/")), curve)


# --- averaging matrices -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "size", "tau"), [(2, 2, 2), (2, 1, 2), (3, 2, 3), (4, 3, 2)])
def test_the_properties_of_the_averaging_matrices(m: int, size: int, tau: int) -> None:
    instance = problem({"kind": "pure_noise", "clients": m, "d": size * tau})
    partial = method({"kind": "partial_averaging", "tau": tau, "eta": 1})
    for number in (1, 2, 3, 4):
        s = get(f"property_{number}")
        found = compare(s, curve_without_run(s, Setting(partial, instance)))
        assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.EXACT)
    s = get("property_4", "as_printed")
    assert compare(s, curve_without_run(s, Setting(partial, instance))).outcome is Outcome.VIOLATED


def test_unequal_weights_break_the_symmetry_alone() -> None:
    clients = [{"A": [[1, 0], [0, 1]]}, {"A": [[1, 0], [0, 1]]}]
    instance = quadratics(clients=clients, weights=["3/4", "1/4"], start=[1, 1])
    partial = method({"kind": "partial_averaging", "tau": 2, "eta": "1/2", "weights": "data"})
    outcomes = [
        compare(s, curve_without_run(s, Setting(partial, instance))).outcome
        for s in map(get, ("property_1", "property_2"))
    ]
    assert outcomes == [Outcome.HOLDS, Outcome.HOLDS]
    s = get("property_3")
    curve = curve_without_run(s, Setting(partial, instance))
    assert compare(s, curve).outcome is Outcome.OUT_OF_SCOPE
    assert curve.constants["blocks/symmetry_defect"].value == F(1, 2)


def test_equations_11_and_12() -> None:
    instance = problem({"kind": "pure_noise", "clients": 2, "d": 3})
    partial = method({"kind": "partial_averaging", "tau": 2, "eta": 1, "partition": [[0, 1], [2]]})
    for reading, outcome in (("corrected", Outcome.HOLDS), ("as_printed", Outcome.VIOLATED)):
        s = get("equation_11", reading)
        found = compare(s, curve_without_run(s, Setting(partial, instance)))
        assert (found.outcome, found.grade) == (outcome, Grade.EXACT)
    half = F(1, 2)
    corrected = full_average([half, half], 1)
    assert corrected == [[half, half], [half, half]]
    printed = [[half, F(0)], [F(0), half]]
    assert [sum(row) for row in printed] == [half, half]
    assert product(corrected, printed) != corrected
    assert product(printed, printed) != printed
    stacked = [[F(v)] for v in (1, 2, 5, 8)]  # x00, x01, x10, x11
    after = [row[0] for row in product(full_average([half, half], 2), stacked)]
    assert after == [3, 5, 3, 5]
    assert value(get("equation_12"), x_00=1, x_10=5) == 3


def test_defects_are_seen_where_there_are_some() -> None:
    broken = AveragingMatrices([(0,)], [(0,)], [F(1, 2), F(1, 4)])  # weights that do not sum to 1
    assert broken.row_defect() == F(1, 4)
    assert broken.product_defect() > 0


# --- communication ------------------------------------------------------------------------------------------------


def test_communication() -> None:
    instance = problem({"kind": "pure_noise", "clients": 2, "d": 7})
    specs = {
        "partial": {"kind": "partial_averaging", "tau": 3, "eta": 1, "order": [2, 0, 1]},
        "periodic": {"kind": "periodic_averaging", "tau": 3, "eta": 1},
    }
    for name, spec in specs.items():
        own = method(spec)
        s = get("communication_cost")
        assert compare(s, curve_without_run(s, Setting(own, instance))).outcome is Outcome.HOLDS
        s = get("communication_messages", "as_printed" if name == "partial" else "as_printed_periodic")
        assert compare(s, curve_without_run(s, Setting(own, instance))).outcome is Outcome.HOLDS
        assert "block_averaging" in algorithms(own)


def test_the_matched_interval() -> None:
    assert value(get("matched_interval"), tau=10, rounds=10) == 11
    assert value(get("matched_interval", "as_printed"), tau=10) == 11
    assert value(get("matched_interval", "as_printed_iterations"), tau=10) == 110
    # models sent in 110 iterations: 11 in full, or 10 by blocks of the interval 11 and 1 at the hand-over
    assert F(110, 10) == F(110, 11) + 1
    assert get("matched_interval", "as_printed").scope(tau=4).in_scope is False  # 4.4 steps


# --- pure noise ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "tau", "flat", "peak"), [(2, 3, 1.5, 3.0), (4, 4, 4.5, 9.0), (128, 8, 27.78125, 55.5625)]
)
def test_the_discrepancy_in_pure_noise(m: int, tau: int, flat: float, peak: float) -> None:
    instance = problem({"kind": "pure_noise", "clients": m, "d": tau})
    curves = {}
    for kind in ("partial", "periodic"):
        own = method({"kind": f"{kind}_averaging", "tau": tau, "eta": 1})
        curves[kind] = run(own, instance, rounds=4 * tau, metrics=("discrepancy",), arithmetic="rational")
        found = verdict(f"discrepancy_{kind}", curves[kind])
        assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.EXACT)
    partial, periodic = (curves[k].values["discrepancy"][tau:] for k in ("partial", "periodic"))
    assert set(partial) == {flat}
    assert max(periodic) == peak == 2 * flat
    assert periodic[:tau].mean() == pytest.approx(flat)


def test_the_discrepancy_statements_know_their_model() -> None:
    partial = method({"kind": "partial_averaging", "tau": 2, "eta": "1/4"})
    bent = problem({"kind": "coupled_blocks", "clients": 2, "d": 2})
    curve = run(partial, bent, rounds=6, metrics=("discrepancy",), arithmetic="rational")
    assert verdict("discrepancy_partial", curve).outcome is Outcome.OUT_OF_SCOPE
    samples = [{"A": [[0, 0], [0, 0]], "b": b} for b in ([1, 2], [-1, -2])]  # not the same in every block
    uneven = quadratics(clients=[{"components": samples}] * 2)
    curve = run(partial, uneven, rounds=6, metrics=("discrepancy",), arithmetic="rational")
    assert verdict("discrepancy_partial", curve).outcome is Outcome.OUT_OF_SCOPE
