"""Solver processes are killed at their limit, and the next question starts a new one."""

from __future__ import annotations

import pytest
import sympy as sp

from boundcheck.proof.scalar import decide
from boundcheck.proof.solvers import SOLVERS, ask, close_all
from boundcheck.proof.step import Context, Status

EASY = "(declare-const x Real)(assert (> x 2))(assert (< (* x x) 9))"


def mean_inequality(count):
    """The inequality of arithmetic and geometric means for sixth powers, out of reach in a moment."""
    symbols = sp.symbols(f"v0:{count}", real=True)
    return sp.Ge(sum(v**count for v in symbols), count * sp.Mul(*symbols)), {str(v): v > 0 for v in symbols}


@pytest.mark.parametrize("solver", SOLVERS)
def test_answers_before_and_after_a_kill(solver):
    assert ask(solver, EASY, ["x"], 10).answer == "sat"
    assert 2 < ask(solver, EASY, ["x"], 10).values["x"][0] < 3
    assert ask(solver, EASY + "(assert (> x 3))", ["x"], 10).answer == "unsat"
    claim, _ = mean_inequality(6)
    names = [str(s) for s in sorted(claim.free_symbols, key=str)]
    powers = " ".join(f"(* {v} {v} {v} {v} {v} {v})" for v in names)
    hard = "".join(f"(declare-const {v} Real)(assert (> {v} 0))" for v in names)
    answer = ask(solver, f"{hard}(assert (< (+ {powers}) (* 6 {' '.join(names)})))", names, 0.05)
    assert answer.answer == "unknown"
    assert "stopped after 0.05 s" in answer.reason
    assert ask(solver, EASY, ["x"], 10).answer == "sat"


def test_a_step_beyond_the_limit_is_undecided():
    claim, facts = mean_inequality(6)
    found = decide(claim, facts, Context(seconds=0.05))
    assert found.status is Status.UNDECIDED
    assert "stopped" in found.note


def test_all_processes_can_be_closed_and_start_again():
    close_all()
    assert ask("z3", EASY, ["x"], 10).answer == "sat"


def test_irrational_values_are_marked():
    answer = ask("z3", "(declare-const x Real)(assert (= (* x x) 2))", ["x"], 10)
    assert answer.answer == "sat"
    assert answer.values["x"][1] is False
