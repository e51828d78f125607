"""The facts of derivations on random instances that are run through the real method, exactly.

Each fact's own claim is evaluated. A fact that is too weak does no harm; one that is too strong is broken by an
instance on which the right one is an equality, so those for which there is such an instance are listed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest
import sympy as sp
from changes import shown, with_fact
from exact_facts import Found, OnARun, Replay, evaluated, misplaced
from replays import fedavg_rounds, feddane_round, scgd_cycle, sync_sgd

from boundcheck.proof.derivation import Derivation
from boundcheck.proof.discovery import derivation
from boundcheck.proof.step import Fact

TRANSCRIBED = ("assumption", "algorithm", "metric", "count")
FEDDANE = ((feddane_round, 1), (feddane_round, 2), (partial(feddane_round, alike=False), 3))
# derivation -> its runs, and the inequalities without an entry in the catalogue that are equalities on one of them
RUNS: dict[str, tuple[tuple[tuple[Callable[[int], Replay], int], ...], set[str]]] = {
    "scgd/lemma_3_1/corrected": (((scgd_cycle, 1), (scgd_cycle, 2)), {"end"}),
    "scgd/fedavg_full_participation/corrected": (((fedavg_rounds, 1), (fedavg_rounds, 2)), {"distance", "end"}),
    "classics/sgd_convex/sharp": (((sync_sgd, 1), (sync_sgd, 2)), {"noise"}),
    "classics/sgd_nonconvex/sharp": (((partial(sync_sgd, metric="grad2"), 1),), {"noise"}),
    "feddane/theorem_5/as_printed": (FEDDANE, {"inexact", "E g", "E g, above", "dissimilar"}),
    "feddane/theorem_5/sharp": (FEDDANE[:1], {"inexact", "E g", "E g, above", "dissimilar", "variance"}),
    "feddane/theorem_3/as_printed": (FEDDANE[:1], {"inexact", "E g", "E g, above", "dissimilar"}),
    "feddane/theorem_6_iteration/sharp": (FEDDANE[:1], {"inexact", "E g", "E g, above", "variance"}),
}


@cache
def replay(make: Callable[[int], Replay], seed: int) -> Replay:
    return make(seed)


def on_runs(original: Derivation, name: str) -> list[OnARun]:
    return [OnARun(original, replay(*run)) for run in RUNS[name][0]]


def transcribed(original: Derivation) -> list[Fact]:
    return [f for f in original.facts if f.kind in TRANSCRIBED]


def found(original: Derivation, fact: Fact, name: str) -> list[Found]:
    return [x for on in on_runs(original, name) for x in evaluated(on, fact)]


@pytest.mark.parametrize("name", RUNS)
def test_every_transcribed_fact_holds_on_real_runs(name: str) -> None:
    original = derivation(name)
    for fact in transcribed(original):
        results = found(original, fact, name)
        assert results, fact.name
        assert all(x.holds for x in results), fact.name


@pytest.mark.parametrize("name", RUNS)
def test_gradients_are_those_of_the_functions_at_their_points(name: str) -> None:
    original = derivation(name)
    taken = [f for f in original.facts if f.instance is not None]
    assert taken
    assert [wrong for on in on_runs(original, name) for fact in taken for wrong in misplaced(on, fact)] == []


@pytest.mark.parametrize("name", RUNS)
def test_facts_that_would_be_broken_if_they_were_stronger(name: str) -> None:
    """On some run they are equalities, so that 99/100 of the larger side is not enough."""
    original = derivation(name)
    tight = {
        fact.name
        for fact in transcribed(original)
        if fact.instance is None and isinstance(fact.claim, sp.Le | sp.Ge) and fact.kind != "count"
        if any(x.tight for x in found(original, fact, name))
    }
    assert tight == RUNS[name][1]


gamma, dist2_1 = sp.symbols("gamma dist2_1", real=True)


def quarter(claim: Any) -> Any:
    return sp.Le(claim.lhs, claim.rhs.subs(gamma, gamma / 2), evaluate=False)


def half(claim: Any) -> Any:
    return sp.Le(claim.lhs, claim.rhs / 2, evaluate=False)


@pytest.mark.parametrize(
    ("name", "which", "change", "step"),
    [
        ("feddane/theorem_5/as_printed", "inexact", quarter, "error"),
        ("scgd/lemma_3_1/corrected", "end", half, "E13"),
        ("scgd/fedavg_full_participation/corrected", "end", half, "recursion"),
    ],
)
def test_a_fact_that_is_too_strong_is_broken(name: str, which: str, change: Callable[[Any], Any], step: str) -> None:
    """gamma^2/4 in Definition 1, half the distance after the cycle: the step that uses it is proved all the same."""
    original = derivation(name)
    mutated = with_fact(original, which, change)
    (fact,) = (f for f in mutated.facts if f.name == which)
    assert shown(mutated, step, 10.0)
    assert not all(x.holds for x in found(mutated, fact, name))
