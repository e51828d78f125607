"""The published claim as an object: its data and its methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from boundcheck.core.cards import Card, Shown
from boundcheck.theory.answers import Answers
from boundcheck.theory.choices import prescribed
from boundcheck.theory.declarations import ITERATION as ITERATION
from boundcheck.theory.declarations import ROUND as ROUND
from boundcheck.theory.declarations import STEP_SIZES as STEP_SIZES
from boundcheck.theory.declarations import Algorithm as Algorithm
from boundcheck.theory.declarations import Average as Average
from boundcheck.theory.declarations import Belief as Belief
from boundcheck.theory.declarations import Kind as Kind
from boundcheck.theory.declarations import Metric as Metric
from boundcheck.theory.declarations import Source as Source
from boundcheck.theory.largest import best
from boundcheck.theory.relations import Condition as Condition
from boundcheck.theory.scaling import dimension_errors
from boundcheck.theory.scope import read_values
from boundcheck.theory.serial import statement_from_dict, statement_to_dict
from boundcheck.theory.statement_data import StatementData
from boundcheck.theory.typeset import claim_latex, statement_card


@dataclass(frozen=True, repr=False)
class Statement(StatementData, Answers, Shown):
    """A claim of a paper in one reading; frozen, checked when made.

    Captions, which decide nothing: title, replaces, why, remark, and the texts of `Source` and `Condition`. Assumptions
    decide by their names (`theory.assumptions`) and inequalities; one that cannot be decided is taken for granted.
    id: path and reading, set by discovery. name: last part of the path (needed outside a paper folder only).
    reading: "as_printed", "corrected", "sharp", ...; any but an as-printed one says what it `replaces` and `why`.
    domain: relations that the symbols need to make sense (mu <= L); a value outside is bad input.
    any_method: the claim is about the runs of every method that meets its assumptions, so that it names no algorithm.
    conditions, assumptions: hypotheses; where one fails the claim is out of scope.
    trivial: the value that the bound must beat somewhere not to be vacuous (None: not declared).
    printed_rate: the order of growth as printed, for statements with O(.).
    choices: (symbol, formula) pairs that the theorem prescribes (a tuned step size); another value is out of scope, one
    that was rounded down from an irrational one by at most a relative 1e-12 is taken for it, and said.
    A numeric example that has no dimensions sets metric.dimension to None.
    """

    def expressions(self) -> Statement:
        """The statement with SymPy expressions: itself."""
        return self

    def dimension_errors(self) -> list[str]:
        """Sentences about every part that does not scale as it must; see `theory.scaling.dimension_errors`."""
        return dimension_errors(self)

    def prescribed(self, name: str, **values: Any) -> Fraction:
        """The value that the statement prescribes for a symbol (a tuned step size), rounded down where irrational.

        values: the constants that its formula uses. Rounding loses less than a relative 1e-13, and the statement's
        scope takes the rounded value for the prescribed one. Raises UnknownName for a symbol that the statement does
        not have, BadInput where it prescribes none, a constant is missing or a value is outside its domain.
        """
        self.symbol(name)
        return prescribed(self, name, read_values(self, values))

    def best(self, name: str, **values: Any) -> Fraction:
        """The value of a symbol within scope that minimises the bound (numerically, rounded into scope)."""
        return best(self, name, values)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form; `from_dict` restores an equal statement."""
        return statement_to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Statement:
        """Inverse of `to_dict`. Raises BadInput for data that describe no statement."""
        return statement_from_dict(data, cls)

    def latex(self) -> str:
        """The claim typeset, derived from the expressions."""
        return claim_latex(self)

    def bibtex(self) -> str:
        """The BibTeX entry of its publication, whose note names the statement."""
        return self.source.paper.bibtex(f"{self.source.number}; {self.source.where}")

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    def _card(self) -> Card:
        return statement_card(self)

    def __repr__(self) -> str:
        return f"<Statement {self.best_id}: {self.title}>"
