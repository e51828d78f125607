"""Values, scope and largest step of a statement at given constants, from its expressions or their programs alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from boundcheck.theory.evaluation import Evaluation, evaluate
from boundcheck.theory.largest import largest
from boundcheck.theory.relations import AnyStatement
from boundcheck.theory.scope import Scope, decide_scope


class Answers:
    """The functions of `scope`, `evaluation` and `largest` as methods."""

    def scope(self: AnyStatement, **values: Any) -> Scope:
        """Which conditions hold at these constants, decided exactly, with the slack of each."""
        return decide_scope(self, values)

    def evaluate(self: AnyStatement, **values: Any) -> Evaluation:
        """The bound at these constants (arrays broadcast), with scope and vacuousness.

        `value` is the nearest float. `exact` is the value as a Fraction, or a rigorous interval that holds it where it
        is irrational or too long (`known` says which), and None for arrays; see `Evaluation`.
        """
        return evaluate(self, values)

    def largest(self: AnyStatement, name: str, **values: Any) -> Fraction:
        """The largest value of a symbol that the conditions allow, rounded down to a rational where irrational."""
        return largest(self, name, values)
