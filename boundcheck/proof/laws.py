"""Laws of finite draws: what the expectation of an inner product is, by the first and second moments of what is drawn.

A law says how vectors are drawn, from which vectors that are known before, and which vectors are known before the draw
(its *past*). Then for vectors X and Y that add up draws at positions A and B

    E<X, w> = <E X, w> for w of the past,     E<X, Y> = <E X, E Y> + Cov(X, Y),

with closed forms for all sizes:

    Order    items 0, ..., n-1 in a random order: E X = |A|/n sum u, and with s = |A| |B|, m = |A and B|
             Cov = (n m - s)/(n max(1, n-1)) (sum_i <u_i, v_i> - <sum u, sum v>/n)
    Draws    independent draws whose means are known: Cov = sum over A and B of <x_a, y_a> - <E x_a, E y_a>

The closed form of an order follows from three counts, which `counts` gives and each use checks: every position holds
one item, every item has one position, and all items are alike. Nothing is rewritten that a law says nothing about, so
a product of a draw with a vector that is not of the past stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Inner, Vector, inner
from boundcheck.verify.boundcheck_verify import DECLARES

# the kinds of laws that an assumption, the kind of an algorithm or a metric declares, as classes of this package
DECLARED: Mapping[str, tuple[str, ...]] = {of: tuple(map(str.capitalize, kinds)) for of, kinds in DECLARES.items()}


def head(atom: Any) -> Any:
    """What a vector atom is a value of: its function, that of the terms of a sum, or itself."""
    if isinstance(atom, sp.Sum):
        return head(atom.function)
    return type(atom) if isinstance(atom, AppliedUndef) else atom


def heads(vector: Vector) -> set[Any]:
    """The heads of its atoms."""
    return {head(a) for a, _ in vector.terms}


@dataclass(frozen=True)
class Place:
    """Draws of a law in one inner product: which pair, at which other arguments, at the positions low <= a < high.

    position: of a single draw. before: how many whole epochs come before these positions and are added up with them.
    """

    pair: int
    others: tuple[Any, ...]
    low: Any
    high: Any
    position: Any = None
    before: Any = None

    @property
    def size(self) -> Any:
        """The number of positions."""
        return sp.Integer(1) if self.position is not None else sp.expand(self.high - self.low)


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
        atoms = [v.terms[0][0] for v in (*(x for x, _ in self.drawn), *self.past) if len(v.terms) == 1]
        if len(atoms) != len(self.drawn) + len(self.past) or any(isinstance(a, sp.Sum) for a in atoms):
            raise BadInput(f"the law '{self.name}' draws single vectors, and names single vectors as its past.")
        own = [head(x.terms[0][0]) for x, _ in self.drawn]
        if len(set(own)) != len(own) or set(own) & self.known():
            raise BadInput(f"the law '{self.name}' draws a vector twice, or one that is known before.")
        for x, source in self.drawn:
            arguments: tuple[Any, ...] = x.terms[0][0].args if isinstance(x.terms[0][0], AppliedUndef) else ()
            if not arguments or not all(a.is_Symbol for a in arguments) or len(set(arguments)) != len(arguments):
                raise BadInput(f"the law '{self.name}' draws {x}; it must be a function of symbols, each once.")
            if not heads(source) <= self.known():
                raise BadInput(f"the law '{self.name}' draws {x} from {source}, which is not known before the draw.")
            if self.time is not None and self.time not in arguments[:-1]:
                raise BadInput(f"the law '{self.name}' draws {x}, which has no argument {self.time}, its time.")
            if any(self.moment(a) not in (None, self.time) for a, _ in source.terms):
                raise BadInput(f"the law '{self.name}' draws {x} from {source}, which is known at another time.")

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
        if head(atom) not in self.known():
            return False
        return own is None or (moment is not None and _at_least(moment - own, 0))

    @staticmethod
    def earlier(first: Any, second: Any) -> bool:
        """Whether one time is before another."""
        return _at_least(second - first, 1)

    def requires(self) -> tuple[str, ...]:
        """Names of what the statement must assume besides."""
        return ()

    def definitions(self) -> tuple[Any, ...]:
        """Equations that must be definitions of the derivation."""
        return ()

    def known(self) -> set[Any]:
        """Heads of the vectors that are known before the draw."""
        return {h for v in self.past for h in heads(v)}

    def words(self) -> str:
        """The law in a sentence."""
        past = ", ".join(str(v) for v in self.past) or "nothing"
        pairs = "; ".join(self.pair_words(x, u) for x, u in self.drawn)
        when = "" if self.time is None else f" the draws at the same {self.time}"
        return f"{pairs}; known before{when}: {past} ({self.of})"

    def pair_words(self, x: Vector, source: Vector) -> str:
        """What one vector that is drawn is."""
        raise NotImplementedError

    def ranges(self, place: Place) -> Iterator[Any]:
        """What must hold for the positions to be ones."""
        raise NotImplementedError

    def mean(self, place: Place) -> Vector:
        """The expectation of the sum of the draws there, given the past."""
        raise NotImplementedError

    def covariance(self, first: Place, second: Place, common: tuple[Any, Place | None]) -> Any:
        """E<X, Y> - <E X, E Y>; common: how many positions the two share, and these. None where the law is silent."""
        raise NotImplementedError

    def place(self, atom: Any) -> Place | None:
        """The draws that an atom adds up; None where it is none of the law."""
        own: Any = atom
        bound: Any = None
        if isinstance(atom, sp.Sum):
            if len(atom.limits) != 1:
                return None
            own, bound = atom.function, atom.limits[0]
        for k, (x, _) in enumerate(self.drawn):
            pattern = x.terms[0][0]
            if isinstance(own, AppliedUndef) and head(own) == head(pattern) and len(own.args) == len(pattern.args):
                arguments: tuple[Any, ...] = own.args
                others, last = arguments[:-1], arguments[-1]
                if bound is None:
                    return Place(k, others, last, last + 1, last)
                if last == bound[0] and not any(o.has(bound[0]) for o in others):
                    return Place(k, others, bound[1], bound[2] + 1)
        return None

    def source(self, place: Place, position: Any = None) -> Vector:
        """Where the draws come from, with the other arguments, and the position, put in."""
        x, source = self.drawn[place.pair]
        *others, last = x.terms[0][0].args
        values = dict(zip(others, place.others, strict=False)) | ({} if position is None else {last: position})
        return Vector.of({a.xreplace(values): c.xreplace(values) for a, c in source.terms})

    def expected(self, first: Any, second: Any) -> tuple[Any, tuple[Any, ...]] | None:
        """(the expectation of <first, second>, what must hold for it); None where the law does not say."""
        places = [self.place(atom) for atom in (first, second)]
        if places == [None, None]:
            return None
        moments = [self.moment(a) for a, place in zip((first, second), places, strict=True) if place is not None]
        if self.time is not None and sp.expand(moments[0] - moments[-1]) != 0:
            return None  # what is drawn later may depend on what is drawn first
        vectors: list[Vector] = []
        for atom, place in zip((first, second), places, strict=True):
            if place is None and not self.before(atom, moments[0]):
                return None
            vectors.append(Vector(((atom, sp.Integer(1)),)) if place is None else self.mean(place))
        value = inner(*vectors)
        one, two = places
        if one is None or two is None:
            return value, tuple(r for place in places if place is not None for r in self.ranges(place))
        one, two = self.within(one), self.within(two)
        needed = (*self.ranges(one), *self.ranges(two))
        common = common_places(one, two)
        covariance = None if common is None else self.covariance(one, two, common)
        return None if covariance is None else (sp.expand(value + covariance), needed)

    def within(self, place: Place) -> Place:
        """The draws there that are random given the past, for the covariance."""
        return place


def _at_least(difference: Any, low: int) -> bool:
    found = sp.expand(difference)
    return bool(found.is_Integer and found >= low)


def common_places(one: Place, two: Place) -> tuple[Any, Place | None] | None:
    """The number of common positions of draws at the same other arguments, and these; None where it is not known."""
    gaps = [sp.expand(a - b) for a, b in zip(one.others, two.others, strict=False)]
    if len(one.others) != len(two.others):
        return None
    if any(g.is_Rational and g != 0 for g in gaps):
        return sp.Integer(0), None
    if any(g != 0 for g in gaps):
        return None
    if sp.expand(one.low - two.low) == 0 and sp.expand(one.high - two.high) == 0:
        return one.size, one
    for a, b in ((one, two), (two, one)):
        before, behind = sp.expand(a.low - b.high), sp.expand(b.high - a.high)
        if before.is_Rational and before >= 0:
            return sp.Integer(0), None
        inside = sp.expand(a.low - b.low)
        if all(g.is_Rational and g >= 0 for g in (inside, behind)):
            return a.size, a
    return None


@dataclass(frozen=True)
class Order(Law):
    """The items 0, ..., n-1 in a random order, all orders alike; other arguments than the position have orders of
    their own, independent of each other.

    drawn: pairs of x(..., a) and u(..., i), a family of the past: x(..., a) is u of the item at position a. All pairs
    share the order. items: n, an integer that is at least 1. The first b of an order are a cohort without replacement.
    epochs: after every n positions a new order begins, independent of those before; position e n + r is number r of
    epoch e.
    """

    items: Any = None
    epochs: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for x, source in self.drawn:
            own: Any = source.terms[0][0] if len(source.terms) == 1 and source.terms[0][1] == 1 else None
            if not isinstance(own, AppliedUndef) or not set(own.args[:-1]) <= set(x.terms[0][0].args[:-1]):
                raise BadInput(f"the order '{self.name}' draws {x} from {source}, which must be a family u(..., item).")
            if not own.args[-1].is_Symbol or own.args[-1] in own.args[:-1]:
                raise BadInput(f"the order '{self.name}' draws from {source}, whose last argument must be its item.")
        if self.items is None:
            raise BadInput(f"the order '{self.name}' needs the number of its items.")

    def pair_words(self, x: Vector, source: Vector) -> str:
        """Which family is drawn."""
        own = (
            f"uniform orders of {self.items} items, one an epoch"
            if self.epochs
            else f"a uniform order of {self.items} items"
        )
        return f"{x} is {source} of the item at that position of {own}"

    def size(self, place: Place) -> Any:
        """The number of items, with the other arguments put in."""
        *others, _ = self.drawn[place.pair][0].terms[0][0].args
        return self.items.xreplace(dict(zip(others, place.others, strict=False)))

    def ranges(self, place: Place) -> Iterator[Any]:
        """Positions of the order, which has an item; of any epoch where these have not been told apart."""
        n = self.size(place)
        yield sp.Ge(n, 1)
        yield sp.Ge(place.low, 0)
        if place.position is None:
            yield sp.Ge(place.size, 0)
        if place.before is not None:
            yield sp.Ge(place.before, 0)
        if not self.epochs or place.before is not None:
            yield sp.Ge(sp.expand(n - place.high), 0)

    def within(self, place: Place) -> Place:
        """What is drawn in the last epoch that the positions reach; whole epochs are not random."""
        if not self.epochs:
            return place
        n, end = self.size(place), place.high if place.position is None else place.position
        symbol = sorted(n.free_symbols, key=str)[:1]
        parts: Any = sp.div(sp.expand(end), n, *symbol) if symbol and n.is_polynomial() else (0, end)
        before, rest = (sp.expand(e) for e in parts)
        others = (*place.others, before)
        if place.position is None:
            return Place(place.pair, others, sp.Integer(0), rest, None, before)
        return Place(place.pair, others, rest, rest + 1, rest, before)

    def whole(self, atom: Any) -> tuple[Vector, Any] | None:
        """(what an atom is for every outcome, how many epochs) where it adds up whole epochs; otherwise None."""
        place = self.place(atom)
        if place is None or place.position is not None:
            return None
        n = self.size(place)
        last = self.within(place) if self.epochs else place
        times = last.before if self.epochs else sp.Integer(1)
        if sp.expand(last.high if self.epochs else last.high - n) != 0:
            return None
        return vector_total(self.source(place), self._item(place), n) * times, times

    def _item(self, place: Place) -> Any:
        return self.drawn[place.pair][1].terms[0][0].args[-1]

    def mean(self, place: Place) -> Vector:
        """Every item is equally often at every position."""
        n = self.size(place)
        return vector_total(self.source(place), self._item(place), n) * (place.size / n)

    def covariance(self, first: Place, second: Place, common: tuple[Any, Place | None]) -> Any:
        """The pair chances of the counts, times the spread of the two families."""
        n = self.size(first)
        if first.others != second.others:
            return sp.Integer(0)  # orders of their own
        spread_factor = factor(n, first.size, second.size, common[0])
        item = sp.Dummy("item", real=True)
        u, v = (self.source(p).at(self._item(p), item) for p in (first, second))
        sums = [vector_total(f, item, n) for f in (u, v)]
        return spread_factor * (total(inner(u, v), item, n) - inner(*sums) / n)


def factor(n: Any, first: Any, second: Any, both: Any) -> Any:
    """(n m - s)/(n max(1, n-1)), without n - 1 where it divides: a single item has no spread."""
    top = sp.expand(n * both - first * second)
    quotient, rest = sp.div(top, sp.expand(n - 1), *sorted(n.free_symbols, key=str)) if n.free_symbols else (0, 1)
    if n.free_symbols and sp.expand(rest) == 0:
        found = sp.cancel(quotient / n)
    else:
        found = sp.factor(top) / (n * sp.Max(1, n - 1))
    _check_counts(n, first, second, both, found)
    return found


def counts(n: Any, first: Any, second: Any, both: Any, found: Any) -> tuple[Any, ...]:
    """What must vanish for the factor to be that of an order, from n >= 2 items.

    An item is at one of the common positions with chance m/n; an item at one of the first has as its companions, itself
    included, as many items as there are second positions.
    """
    same = found * (1 - 1 / n) + first * second / n**2
    other = -found / n + first * second / n**2
    return same - both / n, same + (n - 1) * other - first * second / n


def _check_counts(n: Any, first: Any, second: Any, both: Any, found: Any) -> None:
    large = found.replace(lambda e: isinstance(e, sp.Max), lambda _: n - 1)
    for rest in counts(n, first, second, both, large):
        if sp.cancel(sp.together(rest)) != 0:
            raise BadInput(f"the closed form {found} of an order of {n} items fails its counts.")


@dataclass(frozen=True)
class Draws(Law):
    """Independent draws, one at each position, with known means.

    drawn: pairs of x(..., a) and its mean given the past, a combination of vectors of the past. Draws at different
    arguments are independent, those of different pairs at the same arguments are drawn together. Where the mean is 0 it
    suffices that it is so given all that is drawn at the positions before. alike: pairs of a
    vector that is drawn and another one that has the same distribution, so that E|x|^2 is E|v|^2.
    """

    alike: tuple[tuple[Vector, Vector], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        own = {head(x.terms[0][0]) for x, _ in self.drawn}
        for x, v in self.alike:
            if not any(x == drawn for drawn, _ in self.drawn) or len(v.terms) != 1 or heads(v) & own:
                raise BadInput(f"the law '{self.name}' draws no {x} that is distributed as {v}, a single other vector.")

    def pair_words(self, x: Vector, source: Vector) -> str:
        """The mean of one draw."""
        like = "".join(f" and the distribution of {v}" for one, v in self.alike if one == x)
        if not source.terms:
            return f"{x} has the mean 0{like} given all that is drawn before it"
        return f"{x} is drawn with the mean {source}{like}, independently at each of its arguments"

    def ranges(self, place: Place) -> Iterator[Any]:
        """No position that is not one."""
        if place.position is None:
            yield sp.Ge(place.size, 0)

    def mean(self, place: Place) -> Vector:
        """The sum of the means."""
        if place.position is not None:
            return self.source(place, place.position)
        index = sp.Dummy("position", real=True)
        return vector_total(self.source(place, index).at(index, index + place.low), index, place.size)

    def covariance(self, first: Place, second: Place, common: tuple[Any, Place | None]) -> Any:
        """Of the draws that both have."""
        if common[1] is None:
            return sp.Integer(0)
        both = common[1]
        if first.position is not None and second.position is not None:
            return self._known(first, second)
        return self._at(first, second, both)

    def _known(self, first: Place, second: Place) -> Any:
        """The variance of one draw that is distributed as another vector; None where that is not known."""
        for x, v in self.alike if first.pair == second.pair else ():
            if x == self.drawn[first.pair][0]:
                values = dict(zip(x.terms[0][0].args, (*first.others, first.position), strict=True))
                other = Vector.of({a.xreplace(values): c for a, c in v.terms})
                return inner(other, other) - inner(*(self.source(p, p.position) for p in (first, second)))
        return None

    def _at(self, first: Place, second: Place, both: Place) -> Any:
        index = sp.Dummy("position", real=True)
        atoms, means = [], []
        for place in (first, second):
            x = self.drawn[place.pair][0].terms[0][0]
            atoms.append(type(x)(*place.others, index))
            means.append(self.source(place, index))
        spread = Inner(*atoms) - inner(*means)
        if both.position is not None:
            return spread.xreplace({index: both.position})
        return total(spread.xreplace({index: index + both.low}), index, both.size)
