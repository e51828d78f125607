"""Facts of a derivation evaluated exactly on a run: their own claims, with fractions for everything they mention."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
import sympy as sp

from boundcheck.proof.derivation import Derivation
from boundcheck.proof.find.record import skeleton
from boundcheck.proof.find.text import claim_text, text, vector_text
from boundcheck.proof.language import parts
from boundcheck.proof.step import Fact
from tests.proof.random_lines import Lines, Reader, fraction, relation, tree, vector

F = Fraction
Gradient = Callable[[str, Any, Any], Any]  # (function, which, point) -> gradient of that function there


@dataclass(frozen=True)
class Outcome:
    """One outcome of the random choices: its probability, vectors by name (functions of indices), and gradients."""

    probability: Fraction
    vectors: Mapping[str, Callable[..., Any]]
    gradient: Gradient


@dataclass(frozen=True)
class Replay:
    """What a run of the real method gives for the symbols of a derivation.

    numbers: by the name of a symbol; functions: of numbers, or of a SymPy symbol where a derivative is taken; ranges:
    values of an index that is real or has no upper end.
    """

    numbers: Mapping[str, Fraction]
    outcomes: Sequence[Outcome]
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    ranges: Mapping[str, Sequence[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """A part of a fact at one choice of its indices: both sides, and whether it holds."""

    left: Any
    right: Any
    holds: bool

    @property
    def tight(self) -> bool:
        """Whether both sides are equal, and not 0 by chance."""
        return not vector(self.left) and self.left == self.right != 0


class OnARun(Reader):
    """Values on a run: a vector has its coordinates in all outcomes, and an inner product is the mean over these."""

    def __init__(self, proof: Derivation, replay: Replay) -> None:
        data = skeleton(proof)
        super().__init__(data["names"], {}, self.given)
        self.ranges, self.replay = Lines(data).ranges, replay
        self.defined = {left.id if hasattr(left, "id") else left.func.id: (left, right) for _, _, left, right in (
            relation(f["claim"]) for f in data["facts"] if f["kind"] == "definition")}  # type: ignore  # fmt: skip

    def given(self, key: Any, kind: str) -> Any:
        """The value of a name, of a function at its arguments, or of the slope of one."""
        sort, name, arguments = (*key, ())[:3]
        run, outcomes = self.replay, self.replay.outcomes
        if sort == "slope":
            t = sp.Symbol("t")
            return fraction(sp.diff(run.functions[name.split()[0]](t), t).subs(t, sp.sympify(arguments[0])))
        if name in self.defined and name not in {*run.numbers, *run.functions, *outcomes[0].vectors}:
            left, right = self.defined[name]
            names = [a.id for a in getattr(left, "args", ())]  # type: ignore
            return self.value(right, dict(zip(names, arguments, strict=True)))
        if "vector" in kind:
            return tuple(x for o in outcomes for x in o.vectors[name](*map(int, arguments)))
        return run.numbers[name] if sort == "x" else fraction(sp.sympify(run.functions[name](*arguments)))

    def inner(self, u: Any, v: Any) -> Any:
        pairs = zip(self.replay.outcomes, self.apart(u), self.apart(v), strict=True)
        return sum((o.probability * sum(a * b) for o, a, b in pairs), F(0))

    def apart(self, u: Any) -> list[Any]:
        """The vector in each outcome."""
        return np.split(np.array(u, dtype=object), len(self.replay.outcomes))

    def places(self, claim: str) -> Iterator[dict[str, Any]]:
        """All values of the indices that the claim mentions, and those that their ranges mention."""
        lines = [w.text for w in self.lines_of(claim)]
        order = [index for index in self.ranges if any(r in lines for r in self.ranges[index])]
        yield from self._values(order, {})

    def lines_of(self, claim: str) -> Any:
        own = Lines({"names": {}, "facts": [], "lines": []})
        own.ranges = self.ranges
        return own.ranged([claim])

    def _values(self, indices: list[str], at: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if not indices:
            yield at
            return
        first, *rest = indices
        values = self.replay.ranges.get(first)
        if values is None:
            ends = [(op, self.value(right, at)) for _, op, _, right in map(relation, self.ranges[first])]
            low, high = max(x for op, x in ends if op == ">="), min(x for op, x in ends if op == "<=")
            values = range(ceil(low), floor(high) + 1)
        for value in values:
            here = {**at, first: F(value)}
            if all(self.holds(r, here) for r in self.ranges[first]):
                yield from self._values(rest, here)


def evaluated(on: OnARun, fact: Fact) -> list[Found]:
    """The parts of the fact's claim at all values of the indices that it mentions.

    KeyError for a symbol that the replay does not give. An equation of vectors holds in each outcome.
    """
    found: list[Found] = []
    for claim in map(claim_text, parts(fact.claim)):
        _, _, *sides = relation(claim)
        for at in on.places(claim):
            found.append(Found(*(on.value(side, at) for side in sides), on.holds(claim, at)))
    return found


def misplaced(on: OnARun, fact: Fact) -> list[str]:
    """Evaluations of a fact from the catalogue whose gradient is not that of the function at the point.

    Gradients of one function are compared by their differences, since a linear part may have been left out.
    """
    wrong: list[str] = []
    for at in on.places(claim_text(fact.claim)):
        own: dict[Any, list[tuple[Any, Any]]] = {}
        for one in fact.instance.at:
            if one.gradient is None:
                continue
            which = None if one.which is None else on.value(tree(text(one.which)), at)
            point, said = (_whole(on, on.value(tree(vector_text(x)), at)) for x in (one.point, one.gradient))
            for k, outcome in enumerate(on.replay.outcomes):
                real = outcome.gradient(one.function, which, point[k])
                own.setdefault((one.function, which, k), []).append((real, said[k]))
        for (function, which, _), pairs in own.items():
            first = pairs[0] if len(pairs) > 1 else (0, 0)
            if any(any((real - first[0]) != (said - first[1])) for real, said in pairs):
                wrong.append(f"{fact.name}: {function} of {which}")
    return wrong


def _whole(on: OnARun, u: Any) -> list[Any]:
    zero = on.replay.outcomes[0].vectors["zero"]()
    return on.apart(u) if vector(u) else [0 * zero] * len(on.replay.outcomes)
