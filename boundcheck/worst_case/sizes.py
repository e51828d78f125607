"""Small sizes at which the worst case of a statement is looked at where nobody names any."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.errors import BoundcheckError
from boundcheck.methods.build import known_kinds
from boundcheck.methods.parameters import NEEDED
from boundcheck.theory.dimension import STEP
from boundcheck.theory.statement import Statement
from boundcheck.theory.symbols import Symbol
from boundcheck.worst_case.case import Case
from boundcheck.worst_case.result import WorstCase, worst_case

# By key; the unit of f and x is chosen so that a smooth function has L = 1.
PLAIN: Mapping[str, str] = {
    "objective/mu": "1/10", "samples/mu": "1/10", "clients/delta": "1/4", "clients/B2": "2", "start/B2": "2",
    "clients/B2_without_G2": "2", "clients/lambda": "1/10", "method/prox": "10", "method/mu": "10",
    "subproblem/gamma": "0", "start/grad2": "1",
}  # fmt: skip
# Beside a squared distance of 1 the gap is at most L/2, and |grad F|^2 at most 2 L times the gap.
BESIDE_DISTANCE: Mapping[str, str] = {"start/gap": "1/4", "start/grad2": "1/4"}
NEEDS: Mapping[str, Any] = {"K": 1, "E": 1, "mu": "10", "times": ["1", "2"], "tau": 2, "steps": 1, "inner": 1, "m": 1}
SHARES = (Fraction(1), Fraction(1, 2))  # of the largest step size in scope
INSIDE = (Fraction(9, 10), Fraction(1, 2))  # where a condition on it is strict, since bounds may blow up at the edge
ROUNDS = (1, 2, 3)


@dataclass(frozen=True)
class Size:
    """Values of symbols, and what `worst_case` is given besides."""

    values: Mapping[str, Fraction]
    more: Mapping[str, Any]

    def words(self) -> str:
        """As options of the command."""
        sets = [f"--set {k}={v}" for k, v in self.values.items()]
        spec = [f"--method {k}={v}" for k, v in self.more.get("method", {}).items()]
        return " ".join([*sets, *(f"--{k} {v}" for k, v in self.more.items() if k != "method"), *spec])


def small_sizes(statement: Statement, rounds: tuple[int, ...] = ROUNDS) -> Iterator[Size]:
    """Sizes in scope, as far as such are found: one or two clients, few rounds, the largest step size and its half."""
    index, step, chosen = _rounds(statement), _step(statement), [name for name, _ in statement.choices]
    kind = None if statement.algorithm is None else known_kinds().get(statement.algorithm.kind)
    federated = kind is not None and any(p.name == "participation" for p in kind.declared)
    counts = [s.name for s in statement.symbols if s.key == "clients/n"]
    for clients in (2,) if federated or counts else (1,):
        for count in rounds:
            open_ = [s for s in statement.symbols if s.name not in (index, step, *chosen) and _open(s)]
            values = {s.name: _plain(s, clients, {o.key for o in open_}) for s in open_}
            if index is not None:
                values[index] = Fraction(count)
            elif count > 1:
                return
            more: dict[str, Any] = {"clients": clients}
            needed = {} if kind is None else _needed(kind, statement)
            if needed:
                more["method"] = needed
            for share in _shares(statement, step):
                found = {n: _known(statement, n, values, more, statement.prescribed) for n in chosen}
                if step is not None:
                    largest = _known(statement, step, values, more, statement.largest)
                    short = None if largest is None else (largest * share).limit_denominator(10**6)
                    found[step] = largest if share == 1 else short
                own = {k: v for k, v in found.items() if v is not None}
                if len(own) == len(found):
                    yield Size({**values, **own}, more)


def looked_at(statement: Statement, rounds: tuple[int, ...] = ROUNDS) -> Iterator[tuple[Size, WorstCase | str]]:
    """The worst case at each of the small sizes, or why there is none."""
    for size in small_sizes(statement, rounds):
        try:
            given: dict[str, Any] = {**size.more, **size.values}
            yield size, worst_case(statement, **given)
        except BoundcheckError as error:
            yield size, str(error)


def _open(symbol: Symbol) -> bool:
    """Whether the value is to be given: not one of who takes part, which method and clients say."""
    return symbol.key.partition("/")[0] not in ("participation", "schedule")


def _step(statement: Statement) -> str | None:
    chosen = {name for name, _ in statement.choices}
    steps = [s.name for s in statement.symbols if s.dimension == STEP and s.key.startswith("method/")]
    return next((name for name in steps if name not in chosen), None)


def _rounds(statement: Statement) -> str | None:
    """The symbol that counts the rounds."""
    metric = statement.metric
    return metric.rounds.name if metric.index is None and metric.rounds.is_Symbol else metric.index


def _shares(statement: Statement, step: str | None) -> tuple[Fraction, ...]:
    if step is None:
        return (Fraction(1),)
    relations = [c.relation for c in statement.conditions if step in {s.name for s in c.relation.free_symbols}]
    return INSIDE if any(isinstance(r, sp.StrictLessThan | sp.StrictGreaterThan) for r in relations) else SHARES


def _plain(symbol: Symbol, clients: int, keys: set[str]) -> Fraction:
    if symbol.key == "clients/n":
        return Fraction(clients)
    near = BESIDE_DISTANCE if "start/dist2" in keys else {}
    found = Fraction(near.get(symbol.key, PLAIN.get(symbol.key, "1")))
    if not symbol.admits(found):
        found = next((v for v in map(Fraction, ("2", "1/2", "0", "3", "1/10")) if symbol.admits(v)), found)
    return found


def _needed(kind: Any, statement: Statement) -> dict[str, Any]:
    """Values of the parameters without which there is no method, and which no symbol names."""
    named = {n for s in statement.symbols if s.key.startswith("method/") for n in (s.name, s.reported)}
    open_ = [p.name for p in kind.declared if p.default is NEEDED and p.name not in named]
    return {name: NEEDS[name] for name in open_ if name in NEEDS}


def _known(
    statement: Statement, name: str, given: Mapping[str, Any], more: Mapping[str, Any], of: Callable[..., Fraction]
) -> Fraction | None:
    """A value of a symbol by the other constants, those of who takes part among them; None where it is refused."""
    own = {s.name: given.get(s.name, Fraction(1, 1000)) for s in statement.symbols if _open(s)}
    try:
        known = Case(statement, own, (1,) * more["clients"], None, more.get("method", {})).values
        return of(name, **{k: v for k, v in known.items() if k in given or k not in own})
    except BoundcheckError:
        return None
