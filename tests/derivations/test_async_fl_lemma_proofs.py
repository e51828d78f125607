"""Lemmas 3 and 4 of the asynchronous paper, and the textbook bounds: proved step by step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from boundcheck.proof.discovery import derivation
from boundcheck.proof.step import Status

CHECKED = (
    *(f"async_fl/{lemma}/corrected" for lemma in ("lemma_3", "lemma_3_gradients", "lemma_4")),
    *(f"classics/{rate}_strongly_convex/{r}" for rate in ("gradient_descent", "sgd") for r in ("as_printed", "sharp")),
    *("classics/gradient_descent_convex/as_printed", "classics/local_gd_convex/sharp"),
    *("fedshuffle/theorem_5_2/corrected", "fedshuffle/theorem_5_2/as_printed"),
)


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("async_fl/lemma_3/corrected", "display"),
        ("classics/gradient_descent_strongly_convex/sharp", "contraction"),
        ("classics/local_gd_convex/sharp", "recursion"),
        ("fedshuffle/theorem_5_2/corrected", "deviation"),
    ],
)
def test_a_claim_that_is_one_percent_smaller_is_not_proved(name, step):
    proof = derivation(name)
    steps = tuple(
        replace(s, claim=s.claim.func(s.claim.lhs, s.claim.rhs * 99 / 100, evaluate=False)) if s.name == step else s
        for s in proof.steps
    )
    assert replace(proof, steps=steps).check_step(step).status is not Status.PROVED
