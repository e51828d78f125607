"""Means over the clients: what the averaging of models is, as a projection onto vectors that all clients share.

A vector stands for the family of one vector a client, and <u, v> for the mean over the clients of their inner
products, with the weights of the averaging. The mean X of a family x is alike for all clients, so that

    <x, Y> = <X, Y>    for every vector Y that is such a mean,

which says that the averaging is linear, idempotent and an orthogonal projection: <X, x - X> = 0 and |X| <= |x|.
What a mean of independent noise is, is said by its number of clients: <X, Y> = <x, y>/m for families whose members are
drawn with mean 0, independently of each other, and averaged with equal weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.identity import Identity
from boundcheck.proof.laws import Law, head
from boundcheck.proof.step import Context, Finding, Status
from boundcheck.proof.sums import vector_total
from boundcheck.proof.vectors import Inner, Vector, VectorEquality, inner


@dataclass(frozen=True)
class Averages(Law):
    """The means over the clients of families of vectors.

    drawn: pairs of a family x(...) and its mean X(...), single vectors with the same arguments. clients: their number,
    where the members of the families `independent` are drawn independently with mean 0 and averaged with equal weights.
    """

    clients: Any = None
    independent: tuple[Vector, ...] = ()

    def __post_init__(self) -> None:
        if self.past or self.time is not None:
            raise BadInput(f"the averages '{self.name}' draw nothing, so they have neither past nor time.")
        seen: set[Any] = set()
        for pair in self.drawn:
            atoms = [v.terms[0][0] for v in pair if len(v.terms) == 1 and v.terms[0][1] == 1]
            if len(atoms) != 2 or any(isinstance(a, sp.Sum) for a in atoms):
                raise BadInput(f"the averages '{self.name}' give one single vector as the mean of another.")
            arguments: list[tuple[Any, ...]] = [a.args if isinstance(a, AppliedUndef) else () for a in atoms]
            if arguments[0] != arguments[1] or not all(a.is_Symbol for a in arguments[0]):
                raise BadInput(f"the averages '{self.name}': {pair[0]} and {pair[1]} must have the same arguments.")
            if len(set(arguments[0])) != len(arguments[0]) or seen & {head(a) for a in atoms}:
                raise BadInput(f"the averages '{self.name}' name a vector or an argument twice.")
            seen |= {head(a) for a in atoms}
        if len(seen) != 2 * len(self.drawn):
            raise BadInput(f"the averages '{self.name}' take a vector for its own mean.")
        if self.independent and (self.clients is None or not set(self.independent) <= {x for x, _ in self.drawn}):
            raise BadInput(
                f"the averages '{self.name}' need the number of clients, and averages of what is independent."
            )

    def requires(self) -> tuple[str, ...]:
        """Equal weights and independent clients, where their noise is averaged."""
        return ("averages_uniformly", "block_variance") if self.independent else ()

    def pair_words(self, x: Vector, source: Vector) -> str:
        """What the mean is of."""
        more = f", drawn independently by {self.clients} clients with equal weights" if x in self.independent else ""
        return f"{source} is the mean over the clients of {x}{more}"

    def words(self) -> str:
        """The law in a sentence."""
        return f"{'; '.join(self.pair_words(x, X) for x, X in self.drawn)} ({self.of})"

    def is_mean(self, atom: Any) -> bool:
        """Whether the vector is a mean, which all clients share."""
        return head(atom) in {head(X.terms[0][0]) for _, X in self.drawn}

    def mean_of(self, atom: Any) -> Vector | None:
        """The mean of a family, or of a sum of its values; None for another vector."""
        for x, X in self.drawn:
            pattern = x.terms[0][0]
            if head(pattern) != head(atom):
                continue
            if isinstance(atom, sp.Sum):
                ((index, _, high),) = atom.limits
                term = self.mean_of(atom.function)
                own = sp.Dummy("index", real=True)
                return None if term is None else vector_total(term.at(index, own), own, high + 1)
            values = dict(zip(pattern.args, atom.args, strict=True)) if isinstance(atom, AppliedUndef) else {}
            return Vector.of({a.xreplace(values): c for a, c in X.terms})
        return None

    def expected(self, first: Any, second: Any) -> tuple[Any, tuple[Any, ...]] | None:
        """(the mean of <first, second>, what must hold for it): of a family and a mean, or of two means of noise."""
        found: list[Any] = [first, second]
        for k in (0, 1):
            mean = self.mean_of(found[k])
            if mean is not None and self.is_mean(found[1 - k]):
                found[k] = mean.terms[0][0]
                break
        noise = [self._noise(atom) for atom in found]
        if noise[0] is not None and noise[1] is not None:
            return inner(noise[0], noise[1]) / self.clients, (sp.Ge(self.clients, 1),)
        return None if found == [first, second] else (Inner(*found), ())

    def _noise(self, atom: Any) -> Vector | None:
        """The family of independent noise of which a single vector is the mean."""
        for x, X in self.drawn:
            pattern = X.terms[0][0]
            if x in self.independent and not isinstance(atom, sp.Sum) and head(pattern) == head(atom):
                values = dict(zip(pattern.args, atom.args, strict=True)) if isinstance(atom, AppliedUndef) else {}
                return Vector.of({a.xreplace(values): c for a, c in x.terms})
        return None


@dataclass(frozen=True)
class Averaged:
    """An equation of families holds of their means: the averaging is linear.

    law: name of the averages; source: name of the equation, each of whose vectors is a family or a mean of the law.
    """

    law: str
    source: str

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "means of an equation"

    def image(self, source: VectorEquality, law: Averages) -> VectorEquality | None:
        """The equation of the means; None where a vector has none."""
        values: Mapping[Any, Vector | None] = {
            atom: Vector(((atom, sp.Integer(1)),)) if law.is_mean(atom) else law.mean_of(atom)
            for side in (source.left, source.right)
            for atom, _ in side.terms
        }
        if any(v is None for v in values.values()):
            return None

        def mean(atom: Any) -> Vector:
            return values[atom] or Vector(())

        return VectorEquality(source.left.map(mean), source.right.map(mean))

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Context) -> Finding:
        """PROVED where the claim is the equation of the means."""
        text = str(claim)
        law = next((law for law in setting.laws if law.name == self.law), None)
        source = facts.get(self.source)
        image = None
        if isinstance(law, Averages) and isinstance(source, VectorEquality):
            image = self.image(source, law)
        if image is None or not isinstance(claim, VectorEquality):
            note = f"'{self.source}' must be an equation of vectors that the averages '{self.law}' have means of"
            return Finding(Status.UNDECIDED, "no decision", note=note, claim=text)
        # the source says the same of its left side, and would make the two sides one vector
        others = {name: fact for name, fact in facts.items() if not isinstance(fact, VectorEquality)}
        rest = (claim.left - claim.right) - (image.left - image.right)
        found = Identity().check(VectorEquality(rest, Vector(())), others, setting)
        if found.status is not Status.PROVED:
            return Finding(Status.UNDECIDED, "no decision", note=f"the means are {image}", claim=text)
        certificate = {"kind": "means", "law": self.law, "source": self.source}
        return Finding(Status.PROVED, self.label, certificate, parts=found.parts, claim=text)
