"""The proofs of the lemmas behind Theorem 5.1 of FedShuffle: what is found, and that a change of them is noticed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from derivation_tools import fresh

from boundcheck.errors import BadInput
from boundcheck.proof.discovery import derivation
from boundcheck.proof.laws import Draws
from boundcheck.proof.step import Status
from boundcheck.proof.sums import vector_total
from boundcheck.proof.transcribed import variance_of

F = Fraction
PAPER = "fedshuffle/"
PROVED = (
    *("lemma_b_1/as_printed", "lemma_b_2/fixed_step", "lemma_b_3/as_printed", "lemma_b_3/fixed_step"),
    *("lemma_b_4/as_printed", "lemma_b_5/as_printed", "lemma_b_6/as_printed", "lemma_b_6_sum/as_printed"),
    *("lemma_b_1/sharp", "lemma_b_4/uniform", "lemma_b_5/corrected", "lemma_b_6/sharp", "lemma_b_6_sum/sharp"),
    *("lemma_e_5/corrected", "drift_of_a_round/corrected", "movement_of_a_round/corrected"),
    *("lemma_c_1/corrected", "lemma_c_1/raw", "lemma_c_2/corrected", "lemma_c_2/sharp"),
    *("lemma_c_2_nonconvex/corrected", "recursion_convex/corrected", "recursion_convex/sharp"),
    *("recursion_nonconvex/corrected", "recursion_nonconvex/sharp"),
)
REFUTED = {
    "lemma_c_1/as_printed": "step 2",
    "lemma_c_2/as_printed": "rounding",
    "recursion_convex/as_printed": "C.2",
    "recursion_nonconvex/as_printed": "rounding",
}


CHECKED = tuple(PAPER + name for name in (*PROVED, *REFUTED))


def report(name):
    return fresh(PAPER + name)


def numbers(finding):
    return {name: F(text) for name, text in finding.witness.items()}


def inside(w, root):
    """The step condition of Lemma C.2 at a witness, with root = (1 + sqrt(P2/3)) sqrt(B2) squared bounds by hand."""
    et = w["E"] * w["eta_g"] * w["eta_l"]
    return et == w["et"] and 4 * w["L"] * et * (1 + root + w["M"] * w["B2"]) <= 1 and w["eta_g"] >= 1


def squares(value):
    """Fractions just above the square root."""
    guess = F(int(float(value) ** 0.5 * 10**6) + 1, 10**6)
    assert guess**2 >= value
    return guess


def test_readings_of_lemma_c_2_share_all_but_the_rounding():
    chains = {r: derivation(f"{PAPER}lemma_c_2/{r}").steps for r in ("corrected", "as_printed", "sharp")}
    names = [[s.name for s in steps] for steps in chains.values()]
    assert names[0] == names[1]
    assert names[2] == names[0][: len(names[2])]
    for a, b in zip(chains["corrected"], chains["as_printed"], strict=True):
        assert (a.claim == b.claim) is (a.name not in ("rounding", "conclusion"))


# mutations: one constant of one step is changed, and that step is no longer proved


def step(original, name):
    return next(s for s in original.steps if s.name == name)


def swapped(original, name, **changes):
    found = step(original, name)
    return replace(original, steps=tuple(replace(found, **changes) if s is found else s for s in original.steps))


nearly = sp.Rational(99, 100)
L, E, eta_l, sigma2, gap_0, H, et, b, D0 = (
    sp.Symbol(n, real=True) for n in ["L", "E", "eta_l", "sigma2", "gap_0", "H", "et", "b", "d0"]
)
xi, drift_0 = sp.Symbol("xi", real=True), sp.Symbol("drift_0", real=True)
MUTATIONS = [
    ("lemma_c_1/corrected", "step 2", Status.REFUTED),
    ("lemma_c_2/corrected", "step 1", Status.REFUTED),
    ("lemma_c_2/corrected", "display", Status.UNDECIDED),
    ("lemma_c_2/sharp", "drift", Status.UNDECIDED),
    ("lemma_c_2_nonconvex/corrected", "conclusion", Status.UNDECIDED),
    ("lemma_b_6/as_printed", "conclusion", Status.UNDECIDED),
    ("lemma_b_6_sum/as_printed", "1", Status.UNDECIDED),
    ("lemma_b_6/sharp", "conclusion", Status.UNDECIDED),
    ("lemma_b_3/as_printed", "1", Status.UNDECIDED),
    ("lemma_b_3/as_printed", "2.1", Status.REFUTED),
    ("lemma_b_3/fixed_step", "conclusion", Status.UNDECIDED),
    ("lemma_b_2/fixed_step", "conclusion", Status.UNDECIDED),
]


@pytest.mark.parametrize(("name", "which", "status"), MUTATIONS)
def test_a_smaller_right_side_is_noticed(name, which, status):
    original = derivation(PAPER + name)
    claim = step(original, which).claim
    assert isinstance(claim, sp.Le)
    changed = claim.func(claim.lhs, claim.rhs * nearly, evaluate=False)
    found = swapped(original, which, claim=changed).check_step(which, 3)
    assert found.status is not Status.PROVED
    if status is Status.REFUTED:
        assert found.status is Status.REFUTED


TERMS = [
    ("lemma_c_1/raw", "display", L * et * drift_0 / 100),
    ("lemma_c_1/raw", "display", et * gap_0 / 100),
    ("recursion_convex/sharp", "conclusion", L * et * eta_l**2 * H / 100),
    ("recursion_convex/corrected", "conclusion", L * eta_l * gap_0 / 1000),
    ("recursion_nonconvex/sharp", "conclusion", L**2 * et * eta_l**2 * H / 100),
    ("recursion_nonconvex/sharp", "conclusion", et * sp.Symbol("grad2_0", real=True) / 100),
    ("lemma_b_1/as_printed", "2", L * sp.Symbol("norm2_yz", real=True) / 100),
    ("lemma_b_1/sharp", "conclusion", L * sp.Symbol("norm2_zx", real=True) / 100),
]


@pytest.mark.parametrize(("name", "which", "less"), TERMS)
def test_a_changed_coefficient_is_noticed(name, which, less):
    original = derivation(PAPER + name)
    claim = step(original, which).claim
    small = claim.lhs if isinstance(claim, sp.Le) else claim.rhs
    changed = claim.func(*(side + less if side is small else side for side in claim.args), evaluate=False)
    assert swapped(original, which, claim=changed).check_step(which, 3).status is not Status.PROVED


@pytest.mark.parametrize(
    ("name", "which", "unused"),
    [
        ("lemma_c_1/corrected", "step 2", "condition B at least 1"),
        ("lemma_c_2/corrected", "share", "step 2"),
        ("lemma_c_2/corrected", "display", "A3.3"),
        ("lemma_b_1/sharp", "conclusion", "2"),
        ("lemma_b_4/uniform", "conclusion", "squares"),
        ("lemma_b_5/corrected", "conclusion", "variance"),
        ("lemma_b_6/sharp", "conclusion", "0"),
        ("lemma_b_6_sum/sharp", "conclusion", "deviations"),
        ("lemma_b_2/fixed_step", "conclusion", "power"),
        ("lemma_b_3/fixed_step", "conclusion", "last"),
        ("lemma_b_5/as_printed", "conclusion", "spread"),
    ],
)
def test_a_step_needs_what_it_uses(name, which, unused):
    original = derivation(PAPER + name)
    uses = step(original, which).uses
    assert unused in uses
    mutated = swapped(original, which, uses=tuple(u for u in uses if u != unused))
    assert mutated.check_step(which, 3).status is not Status.PROVED


def test_drawing_with_replacement_is_another_variance():
    """Independent samples would have cov 0 in place of -sigma^2/(n - 1); the statement declares no such draws."""
    original = derivation(PAPER + "lemma_b_5/as_printed")
    (law,) = original.laws
    (x, u), n = law.drawn[0], law.items
    i = u.terms[0][0].args[0]
    independent = Draws(law.name, law.of, ((x, vector_total(u, i, n) / n),), law.past)
    facts = tuple(variance_of(f.name, f.claim.lhs, f.instance.of, independent) if f.name == "variance" else f
                  for f in original.facts)  # fmt: skip
    with pytest.raises(BadInput, match="is of the kind Draws; 'without_replacement' declares Order"):
        replace(original, laws=(independent,), facts=facts)
    claim = step(original, "conclusion").claim
    k = sp.Symbol("k", real=True)
    changed = sp.Eq(claim.lhs, claim.rhs * (n - 1) / (n - k), evaluate=False)
    assert original.check_step("conclusion").status is Status.PROVED
    assert swapped(original, "conclusion", claim=changed).check_step("conclusion").status is not Status.PROVED
