"""What an author says beyond the record: of which functions, and where, gradients and values are, and what is drawn.

The verifier reads claims. Whether a claim is the inequality of its assumption at the points that its author names, and
whether these points can be known when a vector is drawn, is checked here, when a derivation is made: each function
raises BadInput where they contradict each other. See also `at_points.check_taken` and `outcomes.check_outcomes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.at_points import DEVIATION
from boundcheck.proof.laws import Averages, Draws, Law, Order, Weights, head, heads
from boundcheck.proof.outcomes import Drawn
from boundcheck.proof.step import Fact
from boundcheck.proof.vectors import Vector, VectorEquality, norm2

VARIANCES = ("sampling_variance", "participation_variance")  # metrics that are E|X - E X|^2


@dataclass(frozen=True)
class Variance:
    """What the metric of a statement, a variance, is the variance of: a sum of draws of an order."""

    of: Vector
    law: Order

    def words(self) -> tuple[str, ...]:
        """The vector."""
        return (f"{self.of} is what the metric is the variance of",)

    def claim(self, target: Any) -> Any:
        """The target is the expected squared distance to the mean."""
        mean = self.of.map(lambda a: self.law.mean(a) or Vector(((a, sp.Integer(1)),)))
        return sp.Eq(target, norm2(self.of - mean), evaluate=False)


def variance_of(name: str, target: Any, of: Vector, law: Order) -> Fact:
    """The metric of a statement as the variance of a sum of draws."""
    instance = Variance(of, law)
    return Fact(name, instance.claim(target), "metric", "the metric is a variance", instance=instance)


def check_evaluations(statement: Any, facts: tuple[Fact, ...], laws: tuple[Law, ...]) -> None:
    """Gradients and values at points, against what the laws draw and take as known before."""
    means = {x - mean for law in laws if isinstance(law, Draws) for x, mean in law.drawn}
    for law in laws:
        where = f"{statement.id}: the law '{law.name}'"
        alpha = [s.expr for s in statement.symbols if s.key == "participation/alpha"]
        if isinstance(law, Weights) and law.correlation not in alpha:
            raise BadInput(f"{where} takes {law.correlation} for alpha, which the statement does not.")
        for fact in facts:
            for one in getattr(fact.instance, "at", ()):
                _check_moment(one, law, f"{where} and the fact '{fact.name}'")
        _check_families(law, facts, where)
    for fact in facts:
        for name, value in getattr(fact.instance, "named", ()):
            if name == DEVIATION and value not in means:
                raise BadInput(f"{statement.id}: the fact '{fact.name}' takes {value} for a draw less its mean.")
        if isinstance(fact.instance, Variance):
            _check_variance(statement, fact, laws)


def _check_moment(one: Any, law: Law, where: str) -> None:
    """A gradient that is known before a draw, or drawn, is one at a point that is known then, too."""
    for atom, _ in () if one.gradient is None else one.gradient.terms:
        # a gradient may be drawn together with its point
        own = {a for a, _ in one.point.terms if {head(a), head(atom)} <= law.draws and a.args == atom.args}
        late = {head(a) for a, _ in one.point.terms if a not in own and not law.before(a, law.moment(atom))}
        if head(atom) in law.known | law.draws and late:
            names = ", ".join(sorted(map(str, late)))
            raise BadInput(
                f"{where}: {head(atom)} is a gradient at a point that is not known before the draw, {names}."
            )


def _check_families(law: Law, facts: tuple[Fact, ...], where: str) -> None:
    """What an order draws is of the functions, and at the point, that its family is."""
    places: dict[Any, set[Any]] = {}
    for fact in facts:
        for one in getattr(fact.instance, "at", ()):
            for h in () if one.gradient is None else heads(one.gradient):
                places.setdefault(h, set()).add((one.function, one.point))
    for x, source in law.drawn if isinstance(law, Order) else law.alike if isinstance(law, Draws) else ():
        own, family = (places.get(head(v.terms[0][0]), set()) for v in (x, source))
        if own and family and own != family:
            raise BadInput(f"{where} draws {x} as {source}, which is the gradient of other functions or elsewhere.")


def _check_variance(statement: Any, fact: Fact, laws: tuple[Law, ...]) -> None:
    where, law = f"{statement.id}: the fact '{fact.name}'", fact.instance.law
    if statement.metric.quantity not in VARIANCES or fact.kind != "metric":
        raise BadInput(f"{where} says that the metric {statement.metric.quantity} is a variance, which it is not.")
    strange = heads(fact.instance.of) - law.draws - law.known
    if law not in laws or not isinstance(law, Order) or law.epochs or strange:
        raise BadInput(f"{where} takes the variance of what its law does not draw.")
    if not isinstance(fact.claim, sp.Eq) or fact.claim != fact.instance.claim(fact.claim.lhs):
        raise BadInput(f"{where} is not what the variance of {fact.instance.of} is.")


def levels(laws: tuple[Law, ...], drawn: Drawn, facts: tuple[Fact, ...]) -> Drawn:
    """On how many draws each vector depends: by the laws where neither the author says it nor a definition."""
    if len(laws) != 1 or isinstance(laws[0], Averages):
        return drawn
    own = {head(v.terms[0][0]) for v, _ in drawn}
    own |= {
        h for f in facts if f.kind == "definition" and isinstance(f.claim, VectorEquality) for h in heads(f.claim.left)
    }
    found: list[tuple[Vector, Any]] = [(v, 0) for v in laws[0].past if not heads(v) & own]
    atoms = [(x, x.terms[0][0]) for x, _ in laws[0].drawn]
    return (*drawn, *found, *((x, atom.args[-1] + 1) for x, atom in atoms if head(atom) not in own))
