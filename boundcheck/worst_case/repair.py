"""Small changes of a broken statement after which it is not broken any more, as far as is looked.

An edit multiplies one summand by a monomial, replaces a symbol by others of its unit, gives a symbol the constant of
another level (a client's for the objective's), or shrinks the side of a condition. Where units disagree, an edit must
make them agree. What is left is tried on the instances that broke the statement and its other repairs, then searched,
then looked at in worst cases. Nothing here says that a repair is true.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.errors import BoundcheckError
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.claim_result import Claim, ClaimResult
from boundcheck.theory.dimension import ONE
from boundcheck.theory.keys import CATALOGUE
from boundcheck.theory.statement import Belief, Condition, Kind, Statement
from boundcheck.theory.symbols import Symbol
from boundcheck.verdict import Outcome
from boundcheck.worst_case.sizes import looked_at
from boundcheck.worst_case.vacuity import vacuous_points

LEVELS = ("objective", "clients", "samples")  # of constants that may stand for each other
FACTORS = (2, 4, 8)  # by which a summand is multiplied
SHARES = (Fraction(1, 2), Fraction(1, 4))  # of a condition's side
KEPT = 10  # repairs that are searched and stand
MOST_POWER = 2
OUTSIDE = 0.9  # what counts for the slack of an instance that is out of scope

Instance = Mapping[str, Any]  # problem, method, at
Breaker = Callable[[Statement, float], "Instance | None"]  # an instance that breaks a statement, found within seconds


@dataclass
class Repair:
    """A changed statement. change: what was changed, in a sentence. cost: how large the change is.

    support: why it is believed not to be broken, a sentence each.
    """

    statement: Statement
    change: str
    cost: float
    support: list[str] = field(default_factory=list[str])

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        conditions = [str(c.relation) for c in self.statement.conditions]
        keys = {s.name: s.key for s in self.statement.symbols}
        return {"change": self.change, "bound": str(self.statement.bound), "conditions": conditions, "keys": keys,
                "cost": self.cost, "support": self.support}  # fmt: skip


def repairs(statement: Statement, broken: Sequence[Instance], search: Breaker, seconds: float) -> list[Repair]:
    """Repairs that stand, the best first: small changes whose bound stays near what the instances measure.

    broken: instances that break the statement. search: looks for further ones; seconds: for each repair.
    """
    pool, kept = list(broken), list[Repair]()
    equal = statement.kind is Kind.EQUALITY
    says_something = not _empty(statement)
    for repair in edits(statement):
        if any(breaks(repair.statement, instance) for instance in pool):
            continue
        if not equal and says_something and _empty(repair.statement):
            continue
        found = None if equal else search(repair.statement, seconds)
        if found is not None:
            pool.append(found)
            kept = [r for r in kept if not breaks(r.statement, found)]
            continue
        outcomes = [v.outcome for _, v in looked_at(repair.statement, (1, 2)) if not isinstance(v, str)]
        if "VIOLATED" in outcomes:
            continue
        repair.support += [] if equal else [f"not broken by a search of {seconds:g} s"]
        repair.support += ["all sides scale alike"] if statement.dimension_errors() else []
        repair.support += [f"proved at {outcomes.count('PROVED')} of {len(outcomes)} small sizes"] if outcomes else []
        kept.append(repair)
        if len(kept) == KEPT:
            break
    for repair in kept:
        repair.support.insert(0, f"not broken by {len(pool)} instances that break other readings")
        near = [s for s in (slack(repair.statement, i) for i in pool) if s is not None]
        repair.cost += sum(min(2.0, s) for s in near) / max(1, len(near))
    return sorted(kept, key=lambda r: r.cost)


def breaks(statement: Statement, instance: Instance) -> bool:
    """Whether the instance breaks the statement."""
    found = _claimed(statement, instance)
    return found is not None and found.verdict.outcome is Outcome.VIOLATED


def _empty(statement: Statement) -> bool:
    """Whether at none of many random constants the bound is in scope and better than its trivial value."""
    if statement.trivial is None:
        return False
    _, inside, vacuous = vacuous_points(statement)
    return inside == vacuous


def slack(statement: Statement, instance: Instance) -> float | None:
    """Where the bound stands between what is measured on the instance (0) and the trivial value (1).

    None where the trivial value is no larger than what is measured, as from a start at the minimiser.
    """
    found = _claimed(statement, instance)
    if statement.trivial is None:
        return None
    if found is None:  # the bound has no value there
        return 1.0
    if not found.metric_high:
        return OUTSIDE
    told = found.verdict.details.get("constants", {})
    names = {s.name for s in statement.trivial.free_symbols}
    if not names <= {*told}:
        return None
    trivial = float(statement.trivial.subs({sp.Symbol(n, real=True): sp.Rational(told[n]["value"]) for n in names}))
    room = trivial - found.metric_high[-1]
    return max(0.0, (found.bound[-1] - found.metric_high[-1]) / room) if room > 0 else None


def _claimed(statement: Statement, instance: Instance) -> ClaimResult | None:
    try:
        return run_claim(Claim(statement, instance["problem"], instance["method"], at=instance["at"]))
    except BoundcheckError:
        return None


# --- edits ----------------------------------------------------------------------------------------------------------


def edits(statement: Statement) -> Iterator[Repair]:
    """All edits, each once, the smallest first, with units that agree."""
    wrong, seen = bool(statement.dimension_errors()), set[Any]()
    found = [*_summands(statement, wrong=wrong), *_symbols(statement), *_levels(statement), *_conditions(statement)]
    for edit in sorted(found, key=lambda e: e.cost):
        repair = _made(statement, edit)
        if repair is None:
            continue
        own = repair.statement
        key = (own.bound, tuple(c.relation for c in own.conditions), tuple(s.key for s in own.symbols))
        if key not in seen and not own.dimension_errors():
            seen.add(key)
            yield repair


@dataclass(frozen=True)
class _Edit:
    change: str
    cost: float
    parts: Mapping[str, Any]


def _made(statement: Statement, edit: _Edit) -> Repair | None:
    """The changed statement; None where it is none."""
    parts, change = dict(edit.parts), edit.change
    bound = parts.get("bound", statement.bound)
    conditions = parts.get("conditions", statement.conditions)
    used = {s.name for e in (bound, *(c.relation for c in conditions)) for s in e.free_symbols}
    symbols = parts.pop("symbols", statement.symbols)
    others = {s.name for e in (statement.bound, *(c.relation for c in statement.conditions)) for s in e.free_symbols}
    kept = tuple(s for s in symbols if s.name in used or s.name not in others)
    try:
        found = replace(
            statement, reading="repaired", replaces=change, why="a repair that was proposed", belief=Belief.OPEN,
            symbols=kept, id="", name=statement.name or "repaired", **parts,
        )  # fmt: skip
    except BoundcheckError:
        return None
    return Repair(found, change, edit.cost)


def _replaced(statement: Statement, old: Any, new: Any) -> Mapping[str, Any]:
    """The bound and the conditions with an expression put for another wherever it stands."""
    conditions = (replace(c, relation=c.relation.xreplace({old: new})) for c in statement.conditions)
    return {"bound": statement.bound.xreplace({old: new}), "conditions": tuple(conditions)}


def _summands(statement: Statement, *, wrong: bool) -> Iterator[_Edit]:
    """A summand, of any sum inside, times a monomial, wherever the sum stands."""
    whole = (statement.bound, *(c.relation for c in statement.conditions))
    for total in sorted(set().union(*(e.atoms(sp.Add) for e in whole)), key=str):
        for term in total.args:
            near = {s for other in total.args if other != term for s in other.free_symbols}
            for factor, cost in _monomials(statement.symbols, near, wrong=wrong):
                yield _Edit(f"{term} times {factor}", cost, _replaced(statement, total, total - term + term * factor))


def _monomials(symbols: Sequence[Symbol], near: set[Any], *, wrong: bool) -> Iterator[tuple[Any, float]]:
    """Factors of a summand with their costs: a lost symbol is likelier than a number, above all one of a neighbour."""
    if not wrong:
        yield from ((sp.Integer(c), 2 + 0.5 * k) for k, c in enumerate(FACTORS))
    own = [s for s in symbols if (s.dimension != ONE) == wrong]
    powers = [p for p in range(-MOST_POWER, MOST_POWER + 1) if p]
    for symbol, power in itertools.product(own, powers):
        yield symbol.expr**power, _cost(symbol, power, near)
    if wrong:
        for one, other in itertools.combinations(own, 2):
            for p, q in itertools.product(powers, powers):
                yield one.expr**p * other.expr**q, _cost(one, p, near) + _cost(other, q, near)


def _cost(symbol: Symbol, power: int, near: set[Any]) -> float:
    cost = abs(power) * (1.0 if symbol.expr in near else 1.25) + (0.5 if power < 0 else 0.0)
    return cost + (0.75 if symbol.key.startswith("method/") or not symbol.key else 0.0)


def _symbols(statement: Statement) -> Iterator[_Edit]:
    """A symbol replaced by one or two others of its unit."""
    symbols = [s for s in statement.symbols if not s.index]
    for old in symbols:
        others = [s for s in symbols if s != old]
        ways = [(s.expr, 1.25, s.dimension) for s in others]
        pairs = itertools.combinations(others, 2)
        ways += [(a.expr * b.expr, 1.5, a.dimension * b.dimension) for a, b in pairs]
        for new, cost, dimension in ways:
            if dimension == old.dimension != ONE:
                yield _Edit(f"{old.name} by {new}", cost, _replaced(statement, old.expr, new))


def _levels(statement: Statement) -> Iterator[_Edit]:
    """A symbol with the constant of another level."""
    for k, symbol in enumerate(statement.symbols):
        level, _, name = symbol.key.partition("/")
        for other in LEVELS:
            key = f"{other}/{name}"
            if level in LEVELS and other != level and key in CATALOGUE:
                symbols = [*statement.symbols]
                symbols[k] = replace(symbol, key=key, meaning=CATALOGUE[key].definition)
                change = f"{symbol.name} as {key} instead of {symbol.key}"
                yield _Edit(change, 1.25, {"symbols": tuple(symbols)})


def _conditions(statement: Statement) -> Iterator[_Edit]:
    """The upper side of a condition times a number below 1."""
    for k, condition in enumerate(statement.conditions):
        relation = condition.relation
        if not isinstance(relation, sp.Le | sp.Lt):
            continue
        for cost, share in enumerate(SHARES):
            own: list[Condition] = [*statement.conditions]
            side = sp.Rational(share.numerator, share.denominator) * relation.rhs
            own[k] = replace(condition, relation=relation.func(relation.lhs, side), meaning="")
            change = f"condition '{condition.name}': its upper side times {share}"
            yield _Edit(change, 2 + 0.5 * cost, {"conditions": tuple(own)})
