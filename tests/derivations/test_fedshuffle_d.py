"""The proofs of Lemmas D.1 to D.5 of FedShuffleMVR: what is found, and that a change of them is noticed."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
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


@pytest.mark.parametrize("name", TRUE)
def test_true_readings_are_proved_step_by_step(name):
    found = report(name)
    assert found.status is Status.PROVED
    assert found.bound_matches
    assert all(x.status is Status.PROVED and x.depends_on == () for x in found.results)
    assert found.conditions == tuple(f"condition {c.name}" for c in derivation(ID + name).statement.conditions)
    assert all(x.finding.certificate is not None or x.finding.parts for x in found.results)


def test_every_reading_is_derived():
    assert {n: set(derived_readings("fedshuffle", f"lemma_d_{n}")) for n in range(1, 6)} == {
        **{n: {"corrected", "as_printed"} for n in (1, 4, 5)},
        2: {"as_printed", "sharp"},
        3: {"as_printed", "sharp"},
    }


# the printed proofs


def failing(name):
    return {x.step.name: x.status.value for x in report(name).results if x.status is not Status.PROVED}


def test_the_printed_proof_of_lemma_d_1():
    assert report("1/as_printed").status is Status.REFUTED
    assert failing("1/as_printed") == {
        "printed equality": "REFUTED",
        "printed sum over j": "REFUTED",
        "printed 8/3": "REFUTED",  # nor does it follow from the two before it
        "printed constants": "REFUTED",
    }
    w = numbers("1/as_printed", "printed equality")
    assert (1 - w["a"]) * w["eta_l"] != 0  # the factor of the sum of grad f_ij(x) - grad f_i(x)
    assert w["D_i"] >= 2  # with one sample it is 0
    w = numbers("1/as_printed", "printed sum over j")
    n = w["D_i"]
    assert sum(range(2, int(n) + 1)) * 2 > n**2
    assert 0 < w["eta_l"] <= 1 / (2 * w["L"])


def test_eight_thirds_becomes_1_from_13_samples_on():
    """8/(3 N^2) times the sum of j^2 for j = 1, ..., N is at most N for N >= 13, not for N <= 12."""
    w = numbers("1/as_printed", "printed constants")
    n, eta = w["D_i"], w["eta_l"]
    squares, products = (sum(t(j) for j in range(1, int(n) + 1)) for t in (lambda j: j**2, lambda j: j * (n - j)))
    left = 8 * eta**2 / (3 * n**2) * (w["sigma2_i"] * (products / (n - 1) if n > 1 else 0) + squares * w["d2"])
    assert left > 2 * eta**2 * w["sigma2_i"] + eta**2 * n * w["d2"]
    assert n <= 12
    failing_sizes = [m for m in range(1, 40) if F(8, 3 * m**2) * sum(j**2 for j in range(1, m + 1)) > m]
    assert failing_sizes == list(range(1, 13))
    assert all(F(8, 3 * m**2) * sum(j**2 for j in range(m)) <= m for m in range(1, 40))


def test_what_the_repaired_split_gives():
    """8 (N+1)/(5N+3) <= 2 and 2 (N-1)(2N-1)/(5N+3) <= N for every N >= 1, with equality for N = 1."""
    assert F(8 * 2, 5 + 3) == 2
    for n in range(1, 200):
        room = 1 - F(3, 8) * F(n - 1, n)  # 1 - 3/2 * eta^2 L^2 (N-1)/N at eta = 1/(2L)
        assert F(3, 2) * 4 * F(n + 1, 6 * n) / room == F(8 * (n + 1), 5 * n + 3) <= 2
        assert F(3, 2) * F((n - 1) * (2 * n - 1), 6 * n) / room == F(2 * (n - 1) * (2 * n - 1), 5 * n + 3) <= n


def test_the_printed_proof_of_lemma_d_4_forgets_the_gradient():
    found = report("4/as_printed")
    assert found.status is Status.REFUTED
    assert failing("4/as_printed") == {"printed x+ - x": "REFUTED", "printed length of one step": "REFUTED"}
    assert numbers("4/as_printed", "printed x+ - x")["eta_l"] != 0
    # one sample, m = grad f(x): x+ - x = -eta_l grad f(x), where the printed right side is 0
    w = numbers("4/as_printed", "printed length of one step")
    assert 0 < w["eta_l"] * 4 * w["L"] <= 1
    assert w["eta_l"] ** 2 * w["S"] > 4 * w["eta_l"] ** 4 * w["L"] ** 2 * w["S"]
    assert found.result("conclusion").depends_on == ("printed x+ - x",)
    assert found.bound_matches


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


def test_the_printed_proof_of_lemma_d_5_has_too_small_a_coefficient():
    found = report("5/as_printed")
    assert found.status is Status.REFUTED
    assert failing("5/as_printed") == {"printed 104": "REFUTED", "printed 1/5": "REFUTED"}
    for step, least in (("printed 104", None), ("printed 1/5", F(1, 5))):
        w = numbers("5/as_printed", step)
        qq = (w["E"] * w["delta"] * w["eta_l"]) ** 2
        assert 1152 * qq <= w["a"] <= 1
        assert w["eta_l"] * w["L"] <= F(1, 4)
        assert w["delta"] * w["E"] * w["eta_l"] <= F(1, 40)
        left = F(1, 4) - F(288 * 8, 23) * qq / w["a"]
        assert left < (F(1, 4) * (1 - 104 * qq / w["a"]) if least is None else least)
    assert found.result("conclusion").depends_on == ("printed 104",)
    # 9216/23 = 400.7 inside the bracket, and 0.163 < 1/5 < 0.228 at a = 1152 qq
    assert round(4 * 2304 / 23, 1) == 400.7
    assert round(float(F(1, 4) - F(2304, 23 * 1152)), 3) == 0.163
    assert round(float(F(63, 200) - F(2304, 23 * 1152)), 4) == 0.2280
    assert F(1, 2) * (1 - F(4, 16) - F(192, 1600)) == F(63, 200)


def test_the_lemmas_are_cited_in_their_proved_reading():
    for name in ("3/as_printed", "3/sharp", "4/corrected", "4/as_printed", "5/corrected", "5/as_printed"):
        cited = [x for x in report(name).results if x.finding.how.startswith("lemma: ")]
        assert [x.step.name for x in cited] == [f"D.{n}" for n in range(1, int(name[0]))]
        assert all(x.finding.certificate["status"] == "PROVED" for x in cited)
    assert [t for t in report("5/corrected").trusted if t.kind == "presumed"] == []


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


@pytest.mark.parametrize(("name", "step"), MUTATIONS)
def test_a_changed_constant_is_noticed(name, step):
    original = derivation(ID + name)
    claim = next(x.claim for x in original.steps if x.name == step)
    assert original.check_step(step).status is Status.PROVED
    changed = MUTATIONS[name, step](claim)
    assert sp.expand(changed.rhs - claim.rhs) != 0
    found = swapped(original, step, claim=changed).check_step(step)
    assert found.status is not Status.PROVED


@pytest.mark.parametrize(
    ("name", "step", "unused"),
    [
        ("1/corrected", "variance.4", "condition P is 0"),
        ("1/corrected", "variance.3", "condition momentum"),
        ("1/corrected", "mean and deviation", "fx"),
        ("1/corrected", "average", "every sample once"),
        ("1/corrected", "room", "condition step size and L"),
        ("2/as_printed", "conclusion", "factor"),
        ("3/as_printed", "D.1", "condition P is 0"),
        ("3/as_printed", "D.2", "condition momentum"),
        ("3/as_printed", "room", "condition step size and delta"),
        ("3/sharp", "room", "condition step size and delta"),
        ("4/corrected", "conclusion", "condition momentum and step size"),
        ("4/corrected", "D.3", "condition step size and delta"),
        ("5/corrected", "client deviation", "condition B is 1"),
        ("5/corrected", "1/5", "1/1152"),
        ("5/corrected", "deviation 51", "condition momentum"),
        ("5/corrected", "D.4", "condition momentum and step size"),
        ("5/corrected", "conclusion", "f below"),
        ("5/corrected", "descent.1", "condition step size and L"),
    ],
)
def test_a_step_needs_what_it_uses(name, step, unused):
    original = derivation(ID + name)
    uses = next(x.uses for x in original.steps if x.name == step)
    assert unused in uses
    by = next(x.by for x in original.steps if x.name == step)
    if hasattr(by, "multipliers") and unused in by.multipliers:
        by = replace(by, multipliers={n: m for n, m in by.multipliers.items() if n != unused})
    mutated = swapped(original, step, uses=tuple(u for u in uses if u != unused), by=by)
    assert mutated.check_step(step).status is not Status.PROVED


def test_a_bound_that_the_steps_do_not_reach_is_not_proved():
    original = derivation(ID + "5/corrected")
    tighter = replace(original.statement, bound=original.statement.bound - a * G2)
    found = replace(original, statement=tighter).check()
    assert found.status is Status.UNDECIDED
    assert not found.bound_matches
