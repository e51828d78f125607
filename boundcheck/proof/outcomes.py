"""Which vectors of a derivation are random, and what an equation between them may say.

Where inner products are expectations, an equation of vectors holds for every outcome. A vector that is drawn is then
not equal to one that is known before the draw: E g = s is a pair of inequalities between inner products, and g == s
would take the variance of g away. So a derivation states on how many draws each vector depends, and an equation in
which only one vector depends on the last draw is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.language import direction, parts
from boundcheck.proof.step import Fact
from boundcheck.proof.vectors import Inner, Vector, VectorEquality

Drawn = tuple[tuple[Vector, Any], ...]  # (one vector atom, number of draws on which it depends), see `Derivation`

TRANSCRIBED = ("assumption", "algorithm", "metric")


def check_outcomes(statement: Any, facts: tuple[Fact, ...], drawn: Drawn) -> None:
    """Raises BadInput for an equation of vectors that holds for no draw, or whose vectors are not declared.

    A statement whose metric is no expectation needs no declaration.
    """
    random = not statement.metric.expectation.startswith("none")
    if not random and not drawn:
        return
    levels = _Levels(statement.id, drawn)
    for fact in facts:
        for part in parts(fact.claim):
            if isinstance(part, VectorEquality) and fact.kind == "definition":
                levels.define(part)
            elif fact.kind in TRANSCRIBED:
                levels.check(part, fact.name)


def earlier(where: str, drawn: Drawn, ranges: tuple[tuple[Any, Any], ...], first: Vector, second: Vector) -> bool:
    """Whether the first vector depends on fewer draws than the second, for all indices in their ranges.

    False where that is not declared.
    """
    own = _Levels(where, drawn)
    try:
        before, after = (own.last([own.of(a) for a, _ in v.terms], str(v)) for v in (first, second))
    except BadInput:
        return False
    gap = sp.expand(after - before - 1)
    for index, relation in ranges:  # where the gap is smallest
        if isinstance(relation, sp.Le) and gap.coeff(index).is_negative:
            gap = sp.expand(gap.subs(index, relation.rhs))
    return _not_negative(gap)


class _Levels:
    """On how many draws the vectors depend."""

    def __init__(self, where: str, drawn: Drawn) -> None:
        self.where = where
        self.known: dict[Any, Any] = {}  # exactly this atom
        self.patterns: dict[Any, tuple[tuple[Any, ...], Any]] = {}  # head of a function -> its indices, level
        for vector, level in drawn:
            if len(vector.terms) != 1 or vector.terms[0][1] != 1:
                raise BadInput(f"{where}: {vector} is no single vector whose draws could be declared.")
            atom = vector.terms[0][0]
            if isinstance(atom, AppliedUndef) and all(a.is_Symbol for a in atom.args):
                self.patterns[type(atom)] = (atom.args, sp.sympify(level, strict=True))
            else:
                self.known[atom] = sp.sympify(level, strict=True)

    def of(self, atom: Any) -> Any:
        """Number of draws on which one atom depends; a sum depends on those of its last term, unless declared."""
        if atom in self.known:
            return self.known[atom]
        if isinstance(atom, sp.Sum):
            limits: Mapping[Any, Any] = {limit[0]: limit[2] for limit in atom.limits}
            return self.of(atom.function).subs(limits)
        if type(atom) in self.patterns:
            indices, level = self.patterns[type(atom)]
            return level.subs(dict(zip(indices, atom.args, strict=True)), simultaneous=True)
        raise BadInput(
            f"{self.where}: on how many draws the vector {atom} depends is not declared; an equation that mentions it "
            "holds for every outcome."
        )

    def define(self, equality: VectorEquality) -> None:
        """A defined vector depends on what its definition mentions."""
        atom = equality.left.terms[0][0]
        if type(atom) in self.patterns or atom in self.known:
            raise BadInput(f"{self.where}: the draws of {atom}, which is defined, are those of its definition.")
        declared = [a for a, _ in equality.right.terms]
        try:
            level = self.last([self.of(a) for a in declared], str(equality))
        except BadInput:
            return  # asked for again where an equation mentions it
        if isinstance(atom, AppliedUndef):
            self.patterns[type(atom)] = (atom.args, level)
        else:
            self.known[atom] = level

    def check(self, part: Any, name: str) -> None:
        """Raises BadInput where only one vector of an equation depends on its last draw."""
        if isinstance(part, VectorEquality):
            atoms = [a for a, _ in (part.left - part.right).terms]
            if not atoms:
                return
        elif _squares_vanish(part):
            atoms = []
        else:
            return
        if not atoms:
            raise BadInput(
                f"{self.where}: the fact '{name}' says that a sum of squares is at most 0, which is an equation of "
                "vectors; state it as one."
            )
        levels = [self.of(a) for a in atoms]
        last = self.last(levels, str(part))
        if last != 0 and sum(sp.expand(level - last) == 0 for level in levels) == 1:
            alone = next(a for a, level in zip(atoms, levels, strict=True) if sp.expand(level - last) == 0)
            raise BadInput(
                f"{self.where}: the fact '{name}' says {part} for every outcome, but only {alone} depends on the last "
                "draw; state what holds in expectation by inner products."
            )

    def last(self, levels: list[Any], what: str) -> Any:
        """The most draws on which one of the vectors depends; raises BadInput where two cannot be compared."""
        last = sp.Integer(0)
        for k, level in enumerate(levels):
            if k == 0 or _not_negative(level - last):
                last = level
            elif not _not_negative(last - level):
                raise BadInput(f"{self.where}: the draws {level} and {last} of '{what}' cannot be compared.")
        return sp.expand(last)


def _not_negative(difference: Any) -> bool:
    """Whether a difference of numbers of draws is at least 0 for all indices that are at least 0."""
    return all(c.is_Rational and c >= 0 for c in sp.expand(difference).as_coefficients_dict().values())


def _squares_vanish(part: Any) -> bool:
    """Whether a relation with rational coefficients says that a sum of squares is at most 0."""
    if not isinstance(part, sp.Le | sp.Lt | sp.Ge | sp.Gt | sp.Eq):
        return False
    gap = sp.expand(direction(part))
    form = {a: gap.coeff(a) for a in gap.atoms(Inner)}
    if not form or sp.expand(gap - sum(c * a for a, c in form.items())) != 0:
        return False
    if not all(c.is_Rational for c in form.values()):
        return False
    vectors = sorted({v for a in form for v in a.args}, key=sp.default_sort_key)
    matrix = sp.zeros(len(vectors))
    for atom, c in form.items():
        i, j = (vectors.index(v) for v in atom.args)
        matrix[i, j] -= c / 2
        matrix[j, i] -= c / 2
    signs = (matrix, -matrix) if isinstance(part, sp.Eq) else (matrix,)
    return any(m.is_positive_semidefinite for m in signs)
