"""Assumptions that follow from others: each reason is derived here, and none applies at other values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from judged import judged_step

from boundcheck.methods.parts.exchange import Blocks
from boundcheck.proof.at_points import Evaluation, pointwise, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.methods import Combine
from boundcheck.proof.step import Fact, Status, Step
from boundcheck.proof.vectors import inner, norm2, vector
from boundcheck.theory import assumptions as known
from boundcheck.theory.assumptions import IMPLICATIONS, follows
from boundcheck.theory.discovery import statement

LEMMA = statement("scgd/lemma_3_1/corrected")
L, L_1, L_2, t, G2, B2, gap, clients, low, mu = sp.symbols("L L_1 L_2 t G2 B2 gap clients low mu", real=True)
x, y, s, one, two, moved, also = (vector(name) for name in ("x", "y", "s", "one", "two", "moved", "also"))


def shown(claim: Any, rows: list[tuple[Any, Any]], seconds: float = 0.5) -> bool:
    """Whether a claim follows from facts, each with its factor (0: a sign), as facts about these symbols."""
    facts = [Fact(f"f{k}", fact, "assumption", "", "plain_mean") for k, (fact, _) in enumerate(rows)]
    by = Combine({f"f{k}": factor for k, (_, factor) in enumerate(rows) if factor != 0})
    step = Step("it", claim, (*(f.name for f in facts), "domain L"), by, "")
    steps = Derivation(LEMMA, (*scope_facts(LEMMA), *facts), (step,), "it", sp.Symbol("dist2_1", real=True))
    return judged_step(steps, "it", seconds) is Status.PROVED


# what all samples have their mean has: of two samples with any weights; a mean of more is a mean of two means
SAMPLES = [(vector(f"g{k}"), vector(f"h{k}")) for k in (1, 2)]
POINTS = [[Evaluation("f_ij", at, g) for at, g in zip((x, y), pair, strict=True)] for pair in SAMPLES]
CHANGE = [a - b for a, b in SAMPLES]
MEAN = CHANGE[0] * t + CHANGE[1] * (1 - t)
SIGNS = [(t >= 0, 0), (t <= 1, 0)]
SMOOTH, CONVEX = (
    [pointwise("A", a, "", *at).claim for at in POINTS] for a in (known.smooth_samples, known.convex_samples)
)
SPREAD = sp.Ge(norm2(CHANGE[0] - CHANGE[1]), 0, evaluate=False)
BOTH = [(SMOOTH[0], t), (SMOOTH[1], 1 - t), (SPREAD, t * (1 - t)), *SIGNS]
# relaxed dissimilarity from the descent lemma
AT_X = Evaluation("F", x, s, gap)
DESCENT = upper_model("", known.smooth_clients, "", AT_X, Evaluation("F", x - s * (1 / L), value=low)).claim
APART = pointwise("A", known.gradient_dissimilarity, "", AT_X, client_grad2=clients).claim
RELAXED = [(APART, 1), (DESCENT, 2 * L * B2), (low >= 0, 2 * L * B2), (B2 >= 0, 0)]


def blocks(assumption: Any, difference: str, scaled: str, left: Any, right: Any) -> Any:
    return assumption.inequality.xreplace({sp.Symbol(difference, real=True): left, sp.Symbol(scaled, real=True): right})


# the inequalities of the blocks are added up: |grad f(x) - grad f(y)|^2 is the sum over the blocks, here of two
MOVES = L_1**2 * norm2(moved), L_2**2 * norm2(also)
OWN = [blocks(known.smooth_separable, "block_difference2", "scaled_block_difference2", norm2(g), move)
       for g, move in zip((one, two), MOVES, strict=True)]  # fmt: skip
WHOLE = blocks(known.smooth_weighted, "grad_difference2", "scaled_difference2", norm2(one) + norm2(two), sum(MOVES))

DERIVED: list[tuple[Any, list[tuple[Any, Any]], bool]] = [
    (sp.Le(norm2(MEAN), L**2 * norm2(x - y)), BOTH, True),
    (sp.Le(2 * norm2(MEAN), L**2 * norm2(x - y)), BOTH, False),
    (sp.Ge(inner(MEAN, x - y), 0), [(CONVEX[0], t), (CONVEX[1], 1 - t), *SIGNS], True),
    (sp.Le(clients, G2 + 2 * L * B2 * gap), RELAXED, True), (sp.Le(clients, G2 + L * B2 * gap), RELAXED, False),
    (WHOLE, [(OWN[0], 1), (OWN[1], 1)], True), (WHOLE, [(OWN[0], 1)], False),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "rows", "true"), DERIVED, ids=range(len(DERIVED)))
def test_the_reason_of_an_implication(claim: Any, rows: list[tuple[Any, Any]], true: bool) -> None:
    assert shown(claim, rows, 5.0 if true else 0.3) is true


def test_a_convex_function_is_0_strongly_convex() -> None:
    assert known.strongly_convex_samples.inequality.xreplace({mu: sp.Integer(0)}) == known.convex_samples.inequality


def test_equal_weights_are_averaged_equally() -> None:
    own, by_data, uniform = [Fraction(1, 3)] * 3, Blocks(2, weights="data"), Blocks(2, weights="uniform")
    assert list(by_data.of(own)) == list(uniform.of(own)) == own
    assert list(by_data.of([Fraction(1, 4), Fraction(3, 4)])) != list(uniform.of([Fraction(1, 4), Fraction(3, 4)]))


@pytest.mark.parametrize(("wanted", "given", "at", "true"), [
    ("smooth_clients", "smooth_samples", {}, True), ("smooth_samples", "smooth_clients", {}, False),
    ("convex_clients", "convex_samples", {}, True), ("convex_samples", "convex_clients", {}, False),
    ("smooth_weighted", "smooth_separable", {}, True), ("smooth_separable", "smooth_weighted", {}, False),
    ("averages_uniformly", "averages_as_objective iid_clients", {}, True),
    ("averages_as_objective", "averages_uniformly plain_mean", {}, True),
    *(("averages_as_objective", own, {}, False) for own in
      ("averages_uniformly", "plain_mean", "averages_uniformly iid_clients")),
    ("averages_uniformly", "averages_as_objective", {}, False),
    ("strongly_convex_samples", "convex_samples", {"mu": 0}, True),
    ("strongly_convex_samples", "convex_samples", {"mu": 1}, False),
    ("strongly_convex_samples", "convex_samples", {}, False),
    ("convex_samples", "strongly_convex_samples", {"mu": 0}, False),
    ("relaxed_dissimilarity", "smooth_samples gradient_dissimilarity", {}, True),
    ("relaxed_dissimilarity", "gradient_dissimilarity", {}, False),
    ("gradient_dissimilarity", "relaxed_dissimilarity smooth_samples", {}, False),
])  # fmt: skip
def test_what_follows_and_what_does_not(wanted: str, given: str, at: Any, true: bool) -> None:
    assert follows(getattr(known, wanted), tuple(getattr(known, name) for name in given.split()), at) is true
    assert len(IMPLICATIONS) == 7  # each has its reason above
