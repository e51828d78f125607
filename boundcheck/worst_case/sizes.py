"""Small sizes at which the worst case of a statement is looked at where nobody names any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

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
NEEDS: Mapping[str, Any] = {"K": 1, "E": 1, "mu": "10", "times": ["1", "2"], "tau": 2, "steps": 1, "inner": 1, "m": 1}
SHARES = (Fraction(1), Fraction(1, 2))  # of the largest step size in scope
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
    index, step = statement.metric.index, _step(statement)
    kind = None if statement.algorithm is None else known_kinds().get(statement.algorithm.kind)
    federated = kind is not None and any(p.name == "participation" for p in kind.declared)
    counts = [s.name for s in statement.symbols if s.key == "clients/n"]
    for clients in (2,) if federated or counts else (1,):
        for count in rounds:
            values = {s.name: _plain(s, clients) for s in statement.symbols if s.name not in (index, step) and _open(s)}
            if index is not None:
                values[index] = Fraction(count)
            elif count > 1:
                return
            more: dict[str, Any] = {"clients": clients}
            needed = {} if kind is None else _needed(kind, statement)
            if needed:
                more["method"] = needed
            for share in SHARES if step is not None else (Fraction(1),):
                own = dict(values)
                if step is not None:
                    largest = _largest(statement, step, own, more)
                    if largest is None:
                        continue
                    own[step] = (largest * share).limit_denominator(10**6) if share != 1 else largest
                yield Size(own, more)


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


def _plain(symbol: Symbol, clients: int) -> Fraction:
    if symbol.key == "clients/n":
        return Fraction(clients)
    found = Fraction(PLAIN.get(symbol.key, "1"))
    if not symbol.admits(found):
        found = next((v for v in map(Fraction, ("2", "1/2", "0", "3", "1/10")) if symbol.admits(v)), found)
    return found


def _needed(kind: Any, statement: Statement) -> dict[str, Any]:
    """Values of the parameters without which there is no method, and which no symbol names."""
    named = {n for s in statement.symbols if s.key.startswith("method/") for n in (s.name, s.reported)}
    open_ = [p.name for p in kind.declared if p.default is NEEDED and p.name not in named]
    return {name: NEEDS[name] for name in open_ if name in NEEDS}


def _largest(
    statement: Statement, step: str, values: Mapping[str, Fraction], more: Mapping[str, Any]
) -> Fraction | None:
    """The largest step size in scope, with the constants of who takes part."""
    try:
        given = {**values, step: Fraction(1, 1000)}
        known = Case(statement, given, (1,) * more["clients"], None, more.get("method", {})).values
        return statement.largest(step, **{k: v for k, v in known.items() if k != step})
    except BoundcheckError:
        return None


def row(statement: Statement, rounds: tuple[int, ...] = ROUNDS) -> dict[str, Any]:
    """How loose a statement is at its small sizes: between which numbers, or why nothing is known; JSON-able."""
    found: list[dict[str, Any]] = []
    why = "no small size in scope was found"
    for size, own in looked_at(statement, rounds):
        if isinstance(own, str):
            why = own
            break
        found.append({"at": size.words(), "outcome": own.outcome, "looseness": list(own.looseness)})
    return {"statement": statement.best_id, "title": statement.title, "sizes": found, "why": "" if found else why}
