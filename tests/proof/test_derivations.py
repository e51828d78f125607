"""Derivations: what becomes of their steps and of their conclusion."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import pytest
import sympy as sp
from judged import judged

from boundcheck.errors import BadInput, UnknownName
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.methods import Combine, Decide, Imported
from boundcheck.proof.step import Fact, Status, Step
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Condition

L, E, n, eta, sigma2, dist2_0, dist2_1 = sp.symbols("L E n eta sigma2 dist2_0 dist2_1", real=True)
LEMMA = statement("scgd/lemma_3_1/corrected")
SIZE = E * n * eta
RATE = Step("rate", sp.Le(SIZE * L**2, L), ("condition step size", "domain L"), Decide(), "the step condition")
BY = Combine({"descent": 1, "rate": dist2_0})
LAST = Step("end", sp.Le(dist2_1, L * dist2_0 + sigma2), ("descent", "rate", "domain dist2_0"), BY, "together")
TAKEN = replace(RATE, uses=(), by=Imported("a textbook, Theorem 1"))
P, R = Status.PROVED, Status.REFUTED


def build(limit: Any = 1, factor: Any = 1, rate: Step = RATE) -> Derivation:
    """dist2_1 <= factor * L * dist2_0 + sigma2 under n E eta L <= limit."""
    small = Condition("step size", sp.Le(SIZE * L, limit))
    about = replace(LEMMA, bound=factor * L * dist2_0 + sigma2, conditions=(small,))
    descent = Fact("descent", sp.Le(dist2_1, SIZE * L**2 * dist2_0 + sigma2), "assumption", "by hand", "plain_mean")
    quantities = frozenset({"dist2_0"})
    return Derivation(about, (*scope_facts(about), descent), (rate, LAST), "end", dist2_1, quantities)


@pytest.mark.parametrize(("own", "statuses", "verdict", "rests"), [
    ({}, (P, P, P), "valid", "the transcribed assumption 'descent'"),
    ({"limit": 2}, (R, R, P), "refuted at step 'rate' (", ""),
    # the conclusion is the bound of the statement
    ({"factor": sp.Rational(1, 2)}, (Status.OPEN, P, P), "at step 'statement': it has no certificate", ""),
    ({"rate": TAKEN}, (P, Status.ASSUMED, P), "valid", "the cited result 'a textbook, Theorem 1'"),
])  # fmt: skip
def test_a_small_derivation(own: Any, statuses: tuple[Status, ...], verdict: str, rests: str) -> None:
    found = judged(build(**own), 0.5 if own else 2.0)
    assert (found.status, found.step("rate"), found.step("end")) == statuses
    assert verdict in found.verdict
    assert not rests or rests in found.row["rests"]
    if found.status is R:  # at values that meet the wider condition
        values = dict(pair.split(" = ") for pair in found.verdict.partition("(")[2].rstrip(")").split(", "))
        assert 1 < prod(Fraction(values[name]) for name in ("eta", "L", "n", "E")) <= 2


@pytest.mark.parametrize(("change", "error", "message"), [
    (lambda d: replace(d, steps=(RATE, RATE, LAST)), BadInput, "the name 'rate' is used twice"),
    (lambda d: replace(d, steps=(LAST, RATE)), UnknownName, "what step 'end' uses, a fact or earlier step, 'rate'"),
    (lambda d: replace(d, conclusion="ende"), UnknownName, "the conclusion 'ende'"),
    (lambda d: replace(d, target=sp.Symbol("_own", real=True)), BadInput, "begin with an underscore"),
    (lambda d: replace(d, target=sp.Symbol("y", positive=True)), BadInput, "other than being real"),
    (lambda d: replace(d, steps=(replace(RATE, by="it is plain"), LAST)), BadInput, "which is no method"),
])  # fmt: skip
def test_what_is_no_derivation(change: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        change(build())
