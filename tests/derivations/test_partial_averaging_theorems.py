"""Lemmas 2 and 3, Theorems 1 and 2 of partial averaging: proved where true, refuted at the printed slips."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
import sympy as sp
from derivation_tools import fresh

from boundcheck.methods.parts.exchange import Blocks
from boundcheck.proof.derivation import Derivation
from boundcheck.proof.discovery import derivation
from boundcheck.proof.step import Finding, Status, Step

F = Fraction
PAPER = "partial_averaging/"
PROVED = (
    *("lemma_2/as_printed", "lemma_2/sharp"),
    *("lemma_3/corrected", "lemma_3/without_gradients", "lemma_3/as_printed_separable"),
    *("theorem_1/corrected", "theorem_1/global", "theorem_1/separable"),
    *("theorem_2/corrected", "theorem_2/weighted", "theorem_2/separable", "theorem_2/as_printed_appendix_separable"),
)
BLOCKS = ("(19) for coupled blocks", "(30) for coupled blocks")
SLIPS = {
    "lemma_1/as_printed": BLOCKS,
    "lemma_3/as_printed": ("(111) for coupled blocks",),
    "theorem_1/as_printed": BLOCKS,
    "theorem_2/as_printed_appendix": BLOCKS,
    "theorem_2/as_printed_main": (*BLOCKS, "(30) for other weights"),
    "theorem_2/as_printed_main_separable": ("(30) for other weights",),
}
# the others differ from these in constants alone, and take over most of their steps
QUICK = {
    *("lemma_2/sharp", "lemma_3/corrected", "theorem_1/corrected", "theorem_2/corrected"),
    *("lemma_1/as_printed", "lemma_3/as_printed", "theorem_2/as_printed_main"),
}
CHECKED = tuple(PAPER + name for name in (*PROVED, *SLIPS))


def cases(names):
    return [x if x in QUICK else pytest.param(x, marks=pytest.mark.slow) for x in names]  # seconds each


def witness(name: str, step: str) -> dict[str, Fraction]:
    return {symbol: F(text) for symbol, text in fresh(PAPER + name).result(step).finding.witness.items()}


def step(original: Derivation, name: str) -> Step:
    return next(x for x in original.steps if x.name == name)


def changed(original: Derivation, name: str, **changes) -> Finding:
    """What is found of a step that is changed."""
    steps = tuple(replace(x, **changes) if x.name == name else x for x in original.steps)
    return replace(original, steps=steps).check_step(name, 1)


eta, tau, m, n, Lmax, sigma2 = sp.symbols("eta tau m n Lmax sigma2", real=True)
LESS = sp.Rational(99, 100)


@pytest.mark.parametrize(
    ("name", "which"),
    [
        *(("lemma_2/sharp", x) for x in ("(38)", "(48)", "(51)", "(54)", "stretch", "(50), (64)", "conclusion")),
        ("lemma_3/corrected", "(112)"),
        ("theorem_1/global", "(21)"),
        *(("theorem_2/weighted", x) for x in ("(26)", "(30)", "at most 2", "at most 3", "conclusion")),
    ],
)
def test_a_sharper_claim_is_noticed(name, which):
    """The larger side by a hundredth smaller: no step has room to spare, but for (21), which loses a square."""
    original = derivation(PAPER + name)
    claim = step(original, which).claim
    small, large = (claim.lhs, claim.rhs) if isinstance(claim, sp.Le) else (claim.rhs, claim.lhs)
    if small == 0:  # written with everything on one side
        positive = [t for t in sp.Add.make_args(sp.expand(large)) if not t.could_extract_minus_sign()]
        sharper = sp.Ge(large - sum(positive) / 100, 0, evaluate=False)
    else:
        sharper = sp.Le(small, large * LESS, evaluate=False)
    assert changed(original, which, claim=sharper).status is not Status.PROVED


@pytest.mark.parametrize(
    ("name", "which", "unused"),
    [
        ("lemma_2/as_printed", "(35)", "agreement"),
        ("lemma_2/as_printed", "(54)", "whole"),
        ("theorem_1/global", "(21)", "IID"),
        ("theorem_1/corrected", "conclusion", "condition step size"),
        ("theorem_2/corrected", "decrease", "condition step size"),
        ("theorem_2/corrected", "A", "condition step size and interval"),
    ],
)
def test_a_step_needs_what_it_uses(name, which, unused):
    original = derivation(PAPER + name)
    uses = step(original, which).uses
    assert unused in uses
    left = tuple(u for u in uses if u != unused)
    assert changed(original, which, uses=left).status is not Status.PROVED


def test_a_noise_that_is_not_projected_has_no_smaller_mean():
    """(38) of the printed reading without the factor (m - 1)/m: its law says nothing of the mean of the noise."""
    original = derivation(f"{PAPER}lemma_2/as_printed")
    claim = step(derivation(f"{PAPER}lemma_2/sharp"), "(38)").claim
    assert changed(original, "(38)", claim=claim).status is not Status.PROVED


@pytest.mark.parametrize("partition", ["even", "whole"])
@pytest.mark.parametrize("period", [1, 2, 3, 5])
def test_the_stretches_of_a_block_are_its_iterations(partition, period):
    """By the method's own schedule: each begins in agreement, has at most tau steps, and together they are 0..K-1."""
    dim = 6
    pattern = Blocks(period, partition).pattern(dim)
    for K in (1, period, 2 * period + 1, 11):
        for coordinate in range(dim):
            averaged = [k + 1 for k in range(K) if coordinate in pattern[k % len(pattern)]]
            ends = sorted({0, *averaged, K})
            lengths = [b - a for a, b in pairwise(ends)]
            assert sum(lengths) == K
            assert all(1 <= length <= period for length in lengths)
            by_class = sum(length * (length - 1) // 2 for length in lengths)  # (49), (63): 0 + 1 + ... + (length - 1)
            assert 2 * by_class <= K * (period - 1)
