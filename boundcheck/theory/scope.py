"""Scope: which conditions of a statement hold at given constants, decided exactly, with the slack of each."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from boundcheck.core import numbers
from boundcheck.errors import BadInput, Mistakes
from boundcheck.theory.decide import MAX_BITS, Point, Undefined
from boundcheck.theory.program import names_of, text_of
from boundcheck.theory.records import Field, Form, optional, plain, record, several
from boundcheck.theory.relations import AnyStatement, Condition, holds, relation_of
from boundcheck.theory.relations import difference as difference


@dataclass(frozen=True)
class ConditionResult:
    """One condition at given constants.

    relation: as text. holds: None where it stays undecided. slack: (low, high) floats around right side minus left
    side (left minus right for >= and >), nan where a side has no real value; negative means missed. exact: the slack
    where it is rational. relative: slack over the modulus of the right side, nan where that is 0. note: one
    sentence, or empty.
    """

    name: str
    relation: str
    holds: bool | None
    slack: tuple[float, float]
    exact: Fraction | None
    relative: float
    note: str = ""


@dataclass(frozen=True)
class Scope:
    """Whether a statement applies at given constants.

    in_scope: True when every condition holds, False when one fails, None when that stays undecided.
    assumptions: names of the hypotheses on the objective, which numbers alone do not decide.
    values: the constants, exactly.
    """

    statement_id: str
    conditions: tuple[ConditionResult, ...]
    in_scope: bool | None
    assumptions: tuple[str, ...] = ()
    values: tuple[tuple[str, Fraction], ...] = ()

    @property
    def failed(self) -> tuple[ConditionResult, ...]:
        """The conditions that do not hold."""
        return tuple(c for c in self.conditions if c.holds is False)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form; exact numbers as text, nan as null."""
        return {
            "schema": 1,
            "statement": self.statement_id,
            "in_scope": self.in_scope,
            "conditions": [_ROW.write(c) for c in self.conditions],
            "assumptions": list(self.assumptions),
            "values": {name: _NUMBER.write(value) for name, value in self.values},
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Scope:
        """Inverse of `to_dict`."""
        rows = tuple(map(_ROW.read, data["conditions"]))
        values = tuple((name, _NUMBER.read(value)) for name, value in data["values"].items())
        return Scope(data["statement"], rows, data["in_scope"], tuple(data["assumptions"]), values)

    def __bool__(self) -> bool:
        """Refused: an undecided scope is neither; use `in_scope`."""
        raise TypeError("a Scope is not a truth value; use its in_scope (True, False or None)")

    def __repr__(self) -> str:
        lines = [f"{self.statement_id}: {_WORDS[self.in_scope]}"]
        for c in self.conditions:
            lines.append(f"  {c.name}: {c.relation}  {_HOLDS[c.holds]}, slack {_slack_text(c)}")
            if c.note:
                lines.append(f"    {c.note}")
        if self.assumptions:
            lines.append(f"  not decidable from numbers: {', '.join(self.assumptions)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>"
            + "".join(
                f"<td>{html.escape(t)}</td>" for t in (c.name, c.relation, _HOLDS[c.holds], _slack_text(c), c.note)
            )
            + "</tr>"
            for c in self.conditions
        )
        head = "<tr><th>condition</th><th>relation</th><th></th><th>slack</th><th></th></tr>"
        rest = (
            f"<p>not decidable from numbers: {html.escape(', '.join(self.assumptions))}</p>" if self.assumptions else ""
        )
        return f"<p><code>{self.statement_id}</code>: {_WORDS[self.in_scope]}</p><table>{head}{rows}</table>{rest}"


_WORDS = {True: "in scope", False: "out of scope", None: "scope undecided"}
_HOLDS = {True: "holds", False: "fails", None: "undecided"}


_NUMBER = Form(numbers.format_exact, lambda text: numbers.parse_number(text, max_text=numbers.LONG_TEXT))
_FLOAT = Form(lambda v: v if math.isfinite(v) else None, lambda v: math.nan if v is None else v)
_ROW = record(
    ConditionResult,
    *plain("name", "relation", "holds"),
    Field("slack", several(_FLOAT)),
    Field("exact", optional(_NUMBER)),
    Field("relative", _FLOAT),
    *plain("note"),
)


def _slack_text(c: ConditionResult) -> str:
    if c.exact is not None:
        return numbers.format_short(c.exact)
    low, high = c.slack
    return "not a real number" if math.isnan(low) else numbers.format_short((low + high) / 2)


def scope_symbols(statement: AnyStatement, *, choices: bool = False) -> tuple[str, ...]:
    """The symbols that conditions and domain use, in the order of declaration.

    choices: also those that the statement prescribes, and of their formulas; a scope can do without these.
    """
    used: set[str] = set()
    for relation in (*statement.domain, *(c.relation for c in statement.conditions)):
        used |= names_of(relation)
    for name, expr in statement.choices if choices else ():
        used |= {name, *names_of(expr)}
    return tuple(s.name for s in statement.symbols if s.name in used)


def require(statement: AnyStatement, given: Iterable[str], needed: Iterable[str], purpose: str) -> None:
    """UnknownName for a name that is no symbol of the statement, BadInput listing the needed ones without a value."""
    given = list(given)
    for name in given:
        statement.symbol(name)
    missing = [name for name in needed if name not in given]
    if missing:
        raise BadInput(f"{statement.best_id}: {purpose} needs a value for {', '.join(missing)}.")


def read_values(statement: AnyStatement, values: Mapping[str, Any]) -> dict[str, Fraction]:
    """Exact values of the given symbols, each within its declared domain.

    Raises UnknownName (nearest names) and BadInput (not a number, outside the domain, domain relation broken), for all
    wrong values at once.
    """
    return read_needed(statement, values, (), "")


def read_needed(
    statement: AnyStatement, values: Mapping[str, Any], needed: Iterable[str], purpose: str
) -> dict[str, Fraction]:
    """`read_values`, where the needed symbols must be among the values; raises as `require` does, too, all at once."""
    mistakes = Mistakes()
    with mistakes.noting():
        require(statement, values, needed, purpose)
    exact: dict[str, Fraction] = {}
    for name, value in values.items():
        with mistakes.noting():
            symbol = statement.symbol(name)
            if isinstance(value, list | tuple | range) or getattr(value, "ndim", 0):
                raise BadInput(f"{statement.best_id}: {name} takes one value here; evaluate() takes lists.")
            exact[name] = symbol.check(numbers.as_fraction(value, name), statement.best_id)
    with mistakes.noting():
        check_domain(statement, exact, values)
    mistakes.raise_all()
    return exact


def check_domain(
    statement: AnyStatement, exact: Mapping[str, Fraction], given: Mapping[str, Any] | None = None
) -> None:
    """BadInput, naming the values, where a domain relation (mu <= L) whose symbols are all given is broken."""
    for relation in statement.domain:
        names = sorted(names_of(relation))
        if not set(names) <= set(exact) or holds(relation, exact):
            continue
        texts = numbers.format_apart(*(exact[name] for name in names), digits=17)
        shown = " and ".join(f"{name} = {text}" for name, text in zip(names, texts, strict=True))
        hint = "" if given is None else _edge_note(relation, exact, given)
        raise BadInput(
            f"{statement.best_id}: {text_of(relation)} is needed for the statement to make sense, but "
            f"{shown}." + (f" The edge is {hint}" if hint else "")
        )


def index_conditions(statement: AnyStatement) -> tuple[Condition, ...]:
    """The conditions on the index itself (R at least this many rounds): they say of which values the claim speaks."""
    name = statement.metric.index
    return tuple(c for c in statement.conditions if name in names_of(c.relation))


def missed_by(row: ConditionResult) -> str:
    """How a condition that fails is missed, as the end of a sentence about its relation."""
    low, high = row.slack
    size = max(low, -high, 0.0) if row.exact is None else abs(row.exact)  # an equation is missed on either side
    if math.isnan(low):
        return "a side has no real value"
    if not size:
        return "is missed by less than 1e-300" if row.exact is None else "is missed, since both sides are equal"
    return f"is missed by {numbers.format_short(float(size) if size > 1e-290 else size, 3)}"


def index_rows(
    statement: AnyStatement,
    values: Mapping[str, Fraction],
    compared: Iterable[Fraction],
    tried: Iterable[Fraction],
) -> tuple[ConditionResult, ...]:
    """The conditions on the index at the compared values of it, each with the least slack and a note on where it holds.

    tried: values that were meant to be compared, of which the statement may not speak. Where none was compared, the
    rows are about these.
    """
    name, compared, rows = str(statement.metric.index), list(compared), list[ConditionResult]()
    for condition in index_conditions(statement):
        decided = {k: decide_condition(condition, {**values, name: k}) for k in sorted({*compared, *tried})}
        own = [decided[k] for k in compared] or list(decided.values())
        if not own:
            continue
        least = min(own, key=lambda row: row.slack[0])
        answer = False if any(r.holds is False for r in own) else True if all(r.holds for r in own) else None
        parts = [
            f"{word} at {name} = {_values_text([k for k, row in decided.items() if row.holds is met])}"
            for word, met in (("holds", True), ("fails", False), ("undecided", None))
            if any(row.holds is met for row in decided.values())
        ]
        note = "; ".join(parts)
        rows.append(replace(least, holds=answer, note=f"{note[0].upper()}{note[1:]}."))
    return tuple(rows)


def _values_text(found: list[Fraction]) -> str:
    """Up to four values, else the first, the last and their number."""
    if len(found) <= 4:
        return ", ".join(numbers.format_short(v) for v in found)
    return f"{numbers.format_short(found[0])} to {numbers.format_short(found[-1])} ({len(found)} compared values)"


def decide_scope(statement: AnyStatement, values: Mapping[str, Any], *, every_index: bool = False) -> Scope:
    """Which conditions hold at these constants.

    every_index: leave out the conditions on the index, which has no value then.

    values: symbol name -> int, float (its binary value), Fraction or text. Only the symbols of conditions and domain
    are needed; others are checked where given. What the statement prescribes (`Statement.choices`) is a row like a
    condition, as far as its symbol and those of its formula are given. Raises UnknownName, and BadInput for a missing
    symbol or a value that its declaration rules out.
    """
    later = index_conditions(statement) if every_index else ()
    left = {name for c in statement.conditions if c not in later for name in names_of(c.relation)}
    left |= {name for r in statement.domain for name in names_of(r)}
    needed = [n for n in scope_symbols(statement) if not later or (n in left and n != statement.metric.index)]
    exact = read_needed(statement, values, needed, "the scope")
    kept = [c for c in statement.conditions if c not in later]
    rows = tuple(decide_condition(c, exact, values) for c in kept) + _choice_rows(statement, exact)
    verdicts = [row.holds for row in rows]
    in_scope = False if False in verdicts else None if None in verdicts else True
    names = tuple(a.name for a in statement.assumptions)
    return Scope(statement.best_id, rows, in_scope, names, tuple(exact.items()))


def _choice_rows(statement: AnyStatement, exact: Mapping[str, Fraction]) -> tuple[ConditionResult, ...]:
    """The prescribed symbols whose values are given; the slack is the given value less the prescribed one."""
    from boundcheck.theory.choices import check_choices

    rows: list[ConditionResult] = []
    for choice in check_choices(statement, exact):
        text = f"{choice.name} = {text_of(choice.expr)}"
        if choice.near is None:
            ends, apart, relative = (math.nan, math.nan), None, math.nan
        else:
            point = Point(choice.excess, exact)
            ends, apart = _float_ends(point), point.exact()
            relative = (ends[0] + ends[1]) / 2 / float(abs(choice.near)) if choice.near else math.nan
        objection = "" if choice.exact else choice.objection(exact[choice.name])
        note = objection and f"{objection[0].upper()}{objection[1:]}."
        if choice.met and not choice.exact:
            note = f"The value is the prescribed one, rounded down by a relative {-relative:.1g}."
        elif choice.met is None:
            note = "Whether the value is the prescribed one stays undecided."
        rows.append(ConditionResult(f"choice of {choice.name}", text, choice.met, ends, apart, relative, note))
    return tuple(rows)


def decide_condition(
    condition: Condition, exact: Mapping[str, Fraction], given: Mapping[str, Any] | None = None
) -> ConditionResult:
    """One condition at exact values; `given` are the values as the user wrote them, for the note on floats."""
    relation = relation_of(condition.relation)
    text = relation.text
    try:
        point = Point(relation.difference, exact)
        direction = point.sign()
        low, high = _float_ends(point)
        right = float(Point(relation.right, exact).accurate_ball(64).mid())
    except Undefined as error:
        return ConditionResult(
            condition.name, text, False, (math.nan, math.nan), None, math.nan, f"Fails since {error}"
        )
    found = relation.holds(direction)
    note = ""
    if found is None:
        note = f"The two sides agree to {MAX_BITS} bits, and equality could not be proved or refuted."
    elif not found and given is not None:
        edge = _edge_note(relation, exact, given)
        note = f"The edge is {edge}" if edge else ""
    relative = (low + high) / 2 / abs(right) if right else math.nan
    return ConditionResult(condition.name, text, found, (low, high), point.exact(), relative, note)


def _float_ends(point: Point) -> tuple[float, float]:
    """Floats around the value of a point, the nearest ones where it is rational."""
    exact = point.exact()
    return point.float_ends(96) if exact is None else (numbers.float_below(exact), numbers.float_above(exact))


def _edge_note(relation: Any, exact: Mapping[str, Fraction], given: Mapping[str, Any]) -> str:
    """The rest of a sentence on a condition that fails by less than one unit in the last place of a float, or ''."""
    names = sorted(name for name in names_of(relation) if isinstance(given.get(name), float))
    for name in names:
        value = float(given[name])
        for neighbour in (numbers.next_down(value), numbers.next_up(value)):
            if math.isfinite(neighbour) and holds(relation, {**exact, name: Fraction(neighbour)}):
                ends = sorted((2 * Fraction(value) - Fraction(neighbour), Fraction(neighbour)))
                ratio, decimal = numbers.format_exact(numbers.simplest_between(ends[0], ends[1])), repr(value)
                return (
                    f"missed by less than one unit in the last place of the float {name} = {decimal}, which stands for "
                    f"its exact binary value; give {name} as text, such as '{min(ratio, decimal, key=len)}', if that "
                    "is what you mean."
                )
    # several floats, each off by a rounding: read them as the decimals that they print as
    meant = {name: numbers.as_fraction(repr(float(given[name]))) for name in names}
    if names and holds(relation, {**exact, **meant}):
        shown = ", ".join(f"{name} = '{float(given[name])!r}'" for name in names)
        return f"met by the decimals {shown}, but missed by the binary values of those floats; give them as text."
    return ""
