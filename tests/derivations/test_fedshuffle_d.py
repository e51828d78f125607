"""The proofs of Lemmas D.1 to D.5 of FedShuffleMVR: what is found, and that a change of them is noticed."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import sympy as sp
from derivation_tools import fresh

from boundcheck.proof.derivation import Derivation
from boundcheck.proof.discovery import derivation, derived_readings
from boundcheck.proof.step import Status

F = Fraction
ID = "fedshuffle/lemma_d_"
TRUE = ("1/corrected", "2/as_printed", "2/sharp", "3/as_printed", "3/sharp", "4/corrected", "5/corrected")
NAMES = "h2 gam2 sigma2_i D_i S E eta_l delta L a A Q X d2 v k sigma2 G2 r"
h2, gam2, sigma2_i, D_i, S, E, eta_l, delta, L, a, A, Q, X, d2, v, k, sigma2, G2, r = (
    sp.Symbol(name, real=True) for name in NAMES.split()
)


CHECKED = tuple(ID + name for name in (*TRUE, "1/as_printed", "4/as_printed", "5/as_printed"))


def report(name):
    return fresh(ID + name)


def numbers(name, step):
    result = report(name).result(step)
    assert result.status is Status.REFUTED
    return {symbol: F(text) for symbol, text in result.finding.witness.items()}


def test_every_reading_is_derived():
    assert {n: set(derived_readings("fedshuffle", f"lemma_d_{n}")) for n in range(1, 6)} == {
        **{n: {"corrected", "as_printed"} for n in (1, 4, 5)},
        2: {"as_printed", "sharp"},
        3: {"as_printed", "sharp"},
    }


# the printed proofs


def failing(name):
    return {x.step.name: x.status.value for x in report(name).results if x.status is not Status.PROVED}


def test_what_the_repaired_split_gives():
    """8 (N+1)/(5N+3) <= 2 and 2 (N-1)(2N-1)/(5N+3) <= N for every N >= 1, with equality for N = 1."""
    assert F(8 * 2, 5 + 3) == 2
    for n in range(1, 200):
        room = 1 - F(3, 8) * F(n - 1, n)  # 1 - 3/2 * eta^2 L^2 (N-1)/N at eta = 1/(2L)
        assert F(3, 2) * 4 * F(n + 1, 6 * n) / room == F(8 * (n + 1), 5 * n + 3) <= 2
        assert F(3, 2) * F((n - 1) * (2 * n - 1), 6 * n) / room == F(2 * (n - 1) * (2 * n - 1), 5 * n + 3) <= n


def test_the_constants_of_lemma_d_4():
    """At eta_l = 1/(4L) = 1/(40 delta E): 10.43, 10.43, 3.48, 6.10, below the printed 24, 24, 4, 8."""
    outer = 3 * (1 + 2 * F(1, 16))
    of_h, of_grads, of_noise = outer * 3 * (1 + F(48, 1600)), outer * (1 + F(48, 1600)), 6 + outer * F(48, 1600)
    assert [round(float(c), 2) for c in (of_h, of_grads, of_noise)] == [10.43, 3.48, 6.10]
    assert (of_h, of_grads, of_noise) == (F(8343, 800), F(2781, 800), F(4881, 800))
    claim = report("4/corrected").result("length.3").step.claim
    gap = sp.expand(claim.rhs)
    at = {h2: 0, gam2: 0, S: 0, sigma2_i: 0, D_i: 1, E: 1, eta_l: 1, L: 1, a: 1}
    found = [gap.subs({**at, symbol: 1}) for symbol in (h2, gam2, S, sigma2_i)]
    assert [F(str(c)) for c in found] == [of_h, of_h, of_grads, of_noise]
    # a >= 1152 qq: 2 * 24 qq <= a/24, and 48 qq <= 1
    assert 2 * 24 * 24 == 1152
    assert 48 * F(1, 1600) <= 1


def test_report_is_json():
    data = json.loads(json.dumps(report("5/as_printed").to_dict()))
    assert data["status"] == "REFUTED"
    assert next(x for x in data["steps"] if x["name"] == "printed 1/5")["witness"]["P2"] == "0"


# mutations: one constant of one step is changed, and that step is no longer proved


def swapped(original: Derivation, name: str, **changes) -> Derivation:
    steps = tuple(replace(x, **changes) if x.name == name else x for x in original.steps)
    return replace(original, steps=steps)


NEARLY = sp.Rational(99, 100)


def less(term, factor=NEARLY):
    """The summand `term` of the larger side times `factor` < 1."""
    return lambda claim: sp.Le(claim.lhs, claim.rhs - (1 - factor) * term, evaluate=False)


qq = E**2 * delta**2 * eta_l**2
MUTATIONS = {
    ("1/corrected", "variance"): less(4 * sigma2_i),
    ("1/corrected", "variance.4"): less(4 * sigma2_i * D_i),
    ("1/corrected", "mean and deviation"): less(k**2 * d2),
    ("1/corrected", "distances"): less(2 * eta_l**2 * sigma2_i),
    ("2/sharp", "conclusion"): less(3 * (1 - a) ** 2 * h2),
    ("3/sharp", "errors"): less(3 * E * (1 - a) ** 2 * h2),
    ("3/sharp", "factor 9/4"): less(sp.Rational(9, 4) * E * (E - 1) * eta_l**2 * A),
    ("3/sharp", "conclusion"): less(sp.Rational(144, 37) * E * (E - 1) * eta_l**2 * S),
    ("3/as_printed", "errors"): less(3 * E * h2),
    ("3/as_printed", "drift"): less(E * (E - 1) / 2 * eta_l**2 * Q),
    ("3/as_printed", "D.1"): less(2 * eta_l**2 * L**2 * sigma2_i / D_i),
    ("4/corrected", "momentum error"): less(2 * delta**2 * X),
    ("4/corrected", "length.2"): less(sp.Rational(27, 8) * eta_l**2 * E * A),
    ("4/corrected", "length.3"): less(sp.Rational(2781, 800) * eta_l**2 * E * S),
    ("4/corrected", "D.3"): less(16 * E**2 * eta_l**2 * S),
    ("4/corrected", "conclusion"): less(h2, 1 - a / 10000),
    ("5/corrected", "D.4"): less(16 * eta_l**4 * E**2 * delta**2 * L**2 * sigma2),
    ("5/corrected", "client deviation"): less(G2),
    ("5/corrected", "potential"): less(51 * E * eta_l * a * G2),
}


def test_a_bound_that_the_steps_do_not_reach_is_not_proved():
    original = derivation(ID + "5/corrected")
    tighter = replace(original.statement, bound=original.statement.bound - a * G2)
    found = replace(original, statement=tighter).examine()
    assert found.status is Status.UNDECIDED
    assert not found.bound_matches
