"""Laws of finite draws as data: how vectors are drawn, from what, and which vectors are known before (the *past*).

What a law says of expectations, and which assumption, method or metric declares it, is in the verifier (`DECLARES` and
`Law`), which alone judges it:

    Order     items 0, ..., n-1 in a random order, all orders alike
    Draws     independent draws whose means are known
    Weights   random weights of clients: what is drawn is w_i x_i
    Averages  means over the clients, as a projection onto vectors that all clients share
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.sums import vector_total
from boundcheck.proof.vectors import Vector


def head(atom: Any) -> Any:
    """What a vector atom is a value of: its function, that of the terms of a sum, or itself."""
    if isinstance(atom, sp.Sum):
        return head(atom.function)
    return type(atom) if isinstance(atom, AppliedUndef) else atom


def heads(vector: Vector) -> set[Any]:
    """The heads of its atoms."""
    return {head(a) for a, _ in vector.terms}


@dataclass(frozen=True)
class Law:
    """How vectors are drawn.

    name: what the derivation calls it; of: the assumption, the kind of the algorithm or the metric of the statement
    that declares it; drawn: pairs of a vector x(..., a), whose last argument is the position of the draw, and where it
    comes from; past: the vectors that are known before the draw. The draws are independent of these. time: the argument
    that counts rounds, where draws are made again and again: a vector of the past at one time is known before the draws
    at that time and later ones, which may depend on all that was drawn before; one without it before them all.
    """

    name: str
    of: str
    drawn: tuple[tuple[Vector, Vector], ...]
    past: tuple[Vector, ...] = ()
    time: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        single = [v for v in (*(x for x, _ in self.drawn), *self.past) if len(v.terms) == 1]
        if len(single) != len(self.drawn) + len(self.past) or any(isinstance(v.terms[0][0], sp.Sum) for v in single):
            raise BadInput(f"the law '{self.name}' draws single vectors, and names single vectors as its past.")

    @property
    def draws(self) -> set[Any]:
        """Heads of what is drawn."""
        return {head(x.terms[0][0]) for x, _ in self.drawn}

    @property
    def known(self) -> set[Any]:
        """Heads of the vectors that are known before the draw."""
        return {h for v in self.past for h in heads(v)}

    def moment(self, atom: Any) -> Any:
        """The time of a vector that is drawn or of the past; None for one that is known before all draws."""
        if isinstance(atom, sp.Sum):
            return self.moment(atom.function)
        patterns = [v.terms[0][0] for v in (*(x for x, _ in self.drawn), *self.past)]
        for pattern in patterns if self.time is not None and isinstance(atom, AppliedUndef) else ():
            if head(pattern) == head(atom) and self.time in pattern.args and len(pattern.args) == len(atom.args):
                return atom.args[pattern.args.index(self.time)]
        return None

    def before(self, atom: Any, moment: Any) -> bool:
        """Whether a vector of the past is known before the draws at that time."""
        own = self.moment(atom)
        if head(atom) not in self.known:
            return False
        gap = sp.Integer(0) if own is None else sp.Integer(-1) if moment is None else sp.expand(moment - own)
        return bool(gap.is_Integer and gap >= 0)


@dataclass(frozen=True)
class Order(Law):
    """The items 0, ..., n-1 in a random order; other arguments than the position have orders of their own.

    drawn: pairs of x(..., a) and u(..., i), a family of the past: x(..., a) is u of the item at position a. All pairs
    share the order. items: n, an integer that is at least 1. The first b of an order are a cohort without replacement.
    epochs: after every n positions a new order begins, independent of those before; position e n + r is number r of
    epoch e.
    """

    items: Any = None
    epochs: bool = False

    def mean(self, atom: Any) -> Vector | None:
        """The mean of a draw, or of a sum of draws: every item is equally often at every position; None for others."""
        own, count = (atom.function, atom.limits[0][2] + 1) if isinstance(atom, sp.Sum) else (atom, sp.Integer(1))
        for x, source in self.drawn:
            if head(own) == head(x.terms[0][0]):
                *others, _ = x.terms[0][0].args
                values = dict(zip(others, own.args[:-1], strict=True))
                family = Vector.of({a.xreplace(values): c.xreplace(values) for a, c in source.terms})
                items = self.items.xreplace(values)
                return vector_total(family, source.terms[0][0].args[-1], items) * (count / items)
        return None


@dataclass(frozen=True)
class Draws(Law):
    """Independent draws, one at each position, with known means.

    drawn: pairs of x(..., a) and its mean given the past, a combination of vectors of the past. Draws at different
    arguments are independent, those of different pairs at the same arguments are drawn together. Where the mean is 0 it
    suffices that it is so given all that is drawn at the positions before. alike: pairs of a vector that is drawn and
    another one that has the same distribution, so that E|x|^2 is E|v|^2.
    """

    alike: tuple[tuple[Vector, Vector], ...] = ()


@dataclass(frozen=True)
class Weights(Law):
    """The clients' weights of a round, drawn together and independently of the past.

    drawn: pairs of w_i x_i and z_i, both vectors whose last argument is the client; weighted: the vectors x_i, in the
    same order, so that z_i = q_i x_i must be a definition of the derivation. mean_weight, largest: q_i and d_i,
    functions of the client (and of the time); correlation: alpha, a symbol of the statement; clients: their number.
    """

    weighted: tuple[Vector, ...] = field(default=(), kw_only=True)
    mean_weight: Any = field(kw_only=True)
    largest: Any = field(kw_only=True)
    correlation: Any = field(kw_only=True)
    clients: Any = field(kw_only=True)


@dataclass(frozen=True)
class Averages(Law):
    """The means over the clients of families of vectors, which all clients share.

    A vector stands for the family of one vector a client, and <u, v> for the mean over the clients of their inner
    products. drawn: pairs of a family x(...) and its mean X(...). clients: their number, where the members of the
    families `independent` are drawn independently with mean 0 and averaged with equal weights.
    """

    clients: Any = None
    independent: tuple[Vector, ...] = ()

    @property
    def draws(self) -> set[Any]:
        """Averages draw nothing."""
        return set()
