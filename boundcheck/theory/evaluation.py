"""Values of a statement's bound: exact or enclosed at one point, vectorised over arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

from boundcheck.core import numbers, providers
from boundcheck.core.cards import Card
from boundcheck.core.numbers import LONG_TEXT, format_exact, format_short, parse_number
from boundcheck.errors import BadInput
from boundcheck.theory.choices import check_choices
from boundcheck.theory.decide import EXACT_DIGITS, Point, Undefined, ends
from boundcheck.theory.program import names_of, text_of
from boundcheck.theory.results import Picture, Result, as_number, metric_label, shortened
from boundcheck.theory.scope import decide_condition, read_needed, require

if TYPE_CHECKING:
    import numpy as np

    from boundcheck.theory.relations import AnyStatement


SHOWN_DIGITS = 4000  # an exact value of more digits above or below the line is enclosed; Python prints 4300 at most
BITS = 128  # relative bits of an enclosure: 38 decimal digits


@dataclass(frozen=True)
class Enclosure:
    """A rigorous interval: low <= value <= high, with dyadic ends and a relative width of at most 2^-bits.

    The value itself is irrational, or a fraction too long to be kept.
    """

    low: Fraction
    high: Fraction
    bits: int

    def __repr__(self) -> str:
        middle = format_short((self.low + self.high) / 2, 17)
        return f"<interval of {self.bits} bits around {middle}>"

    def __contains__(self, value: Fraction | int) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, eq=False)
class Evaluation(Result):
    """A bound at given constants.

    value: float, or float64 array of the broadcast shape; nan where there is no real value, inf beyond the floats.
    exact: what is known rigorously of the value: the value itself as a Fraction, or an interval that holds it (an
    `Enclosure` with low and high) where it is irrational or too long; None for arrays and undefined values. `known`
    says which of them it is.
    closed: what makes `form`, where the value is algebraic and irrational.
    in_scope: whether all conditions hold, decided exactly (None: undecided); a boolean array for arrays, where an
    undecided point counts as False. vacuous: the bound is not below the statement's trivial value (False where the
    statement declares none: see trivial_declared; None: its trivial value needs a symbol that is not given). note:
    sentences on what is special here, or empty. values: what was given for the symbols. claimed: the statement, where
    the evaluation was not read from data.
    """

    statement_id: str
    value: Any
    exact: Fraction | Enclosure | None
    in_scope: Any
    vacuous: Any
    trivial_declared: bool
    note: str = ""
    closed: Callable[[], Any] | None = field(default=None, repr=False)
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    claimed: Any = None

    @cached_property
    def form(self) -> Any:
        """The exact SymPy form of an algebraic irrational value of moderate length, else None."""
        return None if self.closed is None else self.closed()

    @property
    def known(self) -> Literal["exact", "enclosed", "float"]:
        """How the value is known: "exact" (`exact` is the Fraction), "enclosed" (an interval), "float" (None)."""
        if self.exact is None:
            return "float"
        return "exact" if isinstance(self.exact, Fraction) else "enclosed"

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form: arrays as nested lists, exact numbers as text, not finite floats as null.

        exact: text for a value that is known exactly, {low, high, bits} for an interval, null otherwise; see `known`.
        """
        exact, form = None, None
        if self.form is not None:
            from boundcheck.theory.serial import expr_to_json

            form = expr_to_json(self.form)
        if isinstance(self.exact, Fraction):
            exact = format_exact(self.exact)
        elif self.exact is not None:
            exact = {
                "low": format_exact(self.exact.low),
                "high": format_exact(self.exact.high),
                "bits": self.exact.bits,
            }
        return {
            "schema": 1,
            "statement": self.statement_id,
            "value": _plain(self.value),
            "known": self.known,
            "exact": exact,
            "form": form,
            "in_scope": _plain(self.in_scope),
            "vacuous": _plain(self.vacuous),
            "trivial_declared": self.trivial_declared,
            "note": self.note,
            **({"values": {k: v.tolist() for k, v in self._symbols().items()}} if _is_array(self.value) else {}),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Evaluation:
        """Inverse of `to_dict`, but that infinities come back as nan."""
        import numpy as np

        from boundcheck.theory.serial import expr_from_json

        exact: Any = data["exact"]
        if isinstance(exact, str):
            exact = parse_number(exact, "the exact value", max_text=LONG_TEXT)
        elif exact is not None:
            low, high = (parse_number(exact[e], "the exact value", max_text=LONG_TEXT) for e in ("low", "high"))
            exact = Enclosure(low, high, exact["bits"])
        value, in_scope, vacuous = data["value"], data["in_scope"], data["vacuous"]
        if isinstance(value, list):
            value = np.array(value, dtype=np.float64)  # null becomes nan
            in_scope, vacuous = np.array(in_scope, dtype=bool), np.array(vacuous, dtype=bool)
        return Evaluation(
            statement_id=data["statement"],
            value=math.nan if value is None else value,
            exact=exact,
            in_scope=in_scope,
            vacuous=vacuous,
            trivial_declared=data["trivial_declared"],
            note=data["note"],
            closed=None if data["form"] is None else partial(expr_from_json, data["form"]),
            values=data.get("values", {}),
        )

    def __repr__(self) -> str:
        if _is_array(self.value):
            inside = int(self.in_scope.sum())
            return f"<{self.statement_id}: {self.value.size} values, {inside} in scope>"
        scope = {True: "in scope", False: "out of scope", None: "scope undecided"}[self.in_scope]
        exact = ""
        if isinstance(self.exact, Fraction):
            text = format_exact(self.exact)
            exact = f" = {text} exactly" if len(text) <= 60 else f", exactly a fraction of {len(text)} characters"
        elif self.exact is not None:
            exact = f", enclosed to {self.exact.bits} bits"
        vacuous = ", vacuous" if self.vacuous else ""
        note = f" {self.note}" if self.note else ""
        return shortened(f"<{self.statement_id}: {self.value!r}{exact}, {scope}{vacuous}>{note}")

    def _claimed(self) -> tuple[Any, ...]:
        if self.claimed is None:  # read from data
            return (providers.load(providers.STATEMENTS, "discovery").statement(self.statement_id),)
        return (self.claimed.expressions(),)

    def _symbols(self) -> dict[str, np.ndarray]:
        """The symbols that were swept, and of one point all that were given, as arrays of the shape of the value."""
        import numpy as np

        arrays = {name: np.asarray(v) for name, v in self.values.items()}
        if _is_array(self.value):
            arrays = {name: v for name, v in arrays.items() if v.ndim}
        numeric = {
            n: v if v.dtype.kind in "iuf" else np.vectorize(as_number, otypes=[object])(v) for n, v in arrays.items()
        }
        return {n: np.broadcast_to(v, np.shape(self.value)) for n, v in numeric.items()}

    def _columns(self) -> dict[str, list[Any]]:
        import numpy as np

        columns: dict[str, Any] = {**self._symbols(), "bound": self.value, "in_scope": self.in_scope}
        if self.trivial_declared:
            columns["vacuous"] = self.vacuous
        return {name: np.ravel(v).tolist() for name, v in columns.items()}

    def _picture(self) -> Picture:
        """The bound over the symbol that moves along the last axis; a line for each value of the others."""
        import numpy as np

        (claimed,), symbols = self._claimed(), self._symbols()
        y = f"bound on {metric_label(claimed)}"
        if not _is_array(self.value):
            x = claimed.metric.index if claimed.metric.index in symbols else next(iter(symbols), "point")
            return Picture({"bound": [(float(symbols.get(x, np.zeros(()))), self.value)]}, x, y)
        rows = np.reshape(self.value, (-1, self.value.shape[-1])) if self.value.size else np.empty((0, 0))
        tables = {name: np.reshape(v, rows.shape) for name, v in symbols.items()}
        moving = [name for name, v in tables.items() if v.size and (v[0] != v[0, 0]).any()]
        x = moving[0] if moving else next(iter(tables), "point")
        lines: dict[str, list[tuple[float, float]]] = {}
        for k, row in enumerate(rows):
            fixed = [f"{name} = {v[k, 0]:g}" for name, v in tables.items() if name not in moving]
            name = ", ".join(fixed) if len(rows) > 1 else "bound"
            lines[name] = list(zip(map(float, tables[x][k]), row.tolist(), strict=True))
        return Picture(lines, x, y)

    def _card(self) -> Card:
        import numpy as np

        value, within, empty = (np.atleast_1d(v).ravel().tolist() for v in (self.value, self.in_scope, self.vacuous))
        words = {True: "in scope", False: "out of scope", None: "undecided"}
        columns: dict[str, list[Any]] = {"bound": value, "scope": [words[v] for v in within]}
        if self.trivial_declared:
            columns["vacuous"] = ["yes" if v else "no" for v in empty]
        facts = [("known", self.known)] if self.exact is not None else []
        if isinstance(self.exact, Fraction) and len(format_exact(self.exact)) <= 60:
            facts.append(("exactly", format_exact(self.exact)))
        facts += [("note", self.note)] if self.note else []
        lines = {"bound": list(enumerate(value))} if len(value) > 1 else None
        return Card(f"{self.statement_id}: the bound", facts, columns=columns, lines=lines)


def _is_array(value: Any) -> bool:
    return hasattr(value, "ndim")


def _plain(value: Any) -> Any:
    if _is_array(value):
        return [_plain(v) for v in value.tolist()] if value.ndim else _plain(value.item())
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def needed_symbols(statement: AnyStatement) -> tuple[str, ...]:
    """The symbols that bound, trivial value, conditions and domain use, in the order of declaration."""
    used: set[str] = set()
    parts = [statement.bound, *statement.domain, *(c.relation for c in statement.conditions)]
    for part in parts if statement.trivial is None else [*parts, statement.trivial]:
        used |= names_of(part)
    return tuple(s.name for s in statement.symbols if s.name in used)


def trivial_lacks(statement: AnyStatement, given: Iterable[str]) -> tuple[str, ...]:
    """The symbols of the trivial value alone, of which bound and scope do not speak, that are not given."""
    parts = [statement.bound, *statement.domain, *(c.relation for c in statement.conditions)]
    used = frozenset[str]().union(*map(names_of, parts))
    return tuple(name for name in needed_symbols(statement) if name not in used and name not in given)


def evaluate(statement: AnyStatement, values: Mapping[str, Any]) -> Evaluation:
    """The bound at these constants.

    values: symbol name -> number (int, float, Fraction, text) or list / array of such; arrays broadcast. One point is
    evaluated exactly or in rigorous balls, arrays in floating point with an exact scope mask (theory.arrays).
    Raises UnknownName, and BadInput for a missing symbol or a value that its declaration rules out.
    """
    if any(isinstance(v, list | tuple | range) or getattr(v, "ndim", 0) for v in values.values()):
        from boundcheck.theory.arrays import evaluate_arrays

        statement = statement.expressions()
        require(statement, values, needed_symbols(statement), "the bound")
        value, in_scope, vacuous, note = evaluate_arrays(statement, values)
        declared = statement.trivial is not None
        about: dict[str, Any] = {"values": values, "claimed": statement}
        return Evaluation(statement.best_id, value, None, in_scope, vacuous, declared, note, **about)
    lacks = trivial_lacks(statement, values)
    exact = read_needed(statement, values, [n for n in needed_symbols(statement) if n not in lacks], "the bound")
    check_index(statement, exact)
    verdicts = [decide_condition(c, exact).holds for c in statement.conditions]
    verdicts += [choice.met for choice in check_choices(statement, exact)]
    in_scope = False if False in verdicts else None if None in verdicts else True
    excess, about = statement.excess, {"values": values, "claimed": statement}
    declared = excess is not None
    try:
        point = Point(statement.bound, exact)
        found, notes = _value_of(point)
        value = _nearest_float(found) if found is not None else math.inf * float(point.ball(BITS).mid().sgn())
    except Undefined as error:
        return Evaluation(
            statement.best_id, math.nan, None, in_scope, False, declared, f"The bound has no value: {error}", **about
        )
    vacuous = None if lacks else False
    if excess is not None and not lacks:
        direction = Point(excess, exact).sign()
        vacuous = direction is None or direction >= 0
        if direction is None:
            notes.append("Whether the bound is below its trivial value is undecided; it is not counted as below.")
    closed = partial(_closed_form, statement, exact) if _has_form(exact, point, found) else None
    return Evaluation(statement.best_id, value, found, in_scope, vacuous, declared, " ".join(notes), closed, **about)


def check_index(statement: AnyStatement, exact: Mapping[str, Fraction]) -> None:
    """BadInput where the index stands for no whole number of rounds from 0 on (from 1 on for an average)."""
    metric = statement.metric
    used = names_of(metric.rounds)
    if metric.index is None or metric.index not in used or not used <= set(exact):
        return
    rounds, least = Point(metric.rounds, exact).exact(), 0 if metric.weights is None else 1
    if rounds is None or rounds.denominator != 1 or rounds < least:
        shown = "no fraction" if rounds is None else format_short(rounds)
        raise BadInput(
            f"{statement.best_id}: {metric.index} = {format_short(exact[metric.index])} is outside the range of the "
            f"index: its number of rounds, {text_of(metric.rounds)}, is {shown}; a whole number of at least {least} "
            "is needed."
        )


def guarantees(statement: AnyStatement, values: Mapping[str, Any]) -> bool:
    """Whether `evaluate` finds one point in scope and the statement not vacuous there, without the rest of its answer.

    Raises as `evaluate` does where the point is in scope; outside, the first condition that fails settles it.
    """
    exact = read_needed(statement, values, needed_symbols(statement), "the bound")
    if any(decide_condition(c, exact).holds is not True for c in statement.conditions):
        return False
    if any(choice.met is not True for choice in check_choices(statement, exact)):
        return False
    try:
        _value_of(Point(statement.bound, exact))
    except Undefined:
        return True
    excess = statement.excess
    if excess is None:
        return True
    direction = Point(excess, exact).sign()
    return direction is not None and direction < 0


def _value_of(point: Point) -> tuple[Fraction | Enclosure | None, list[str]]:
    exact = point.exact()
    long = exact is not None and max(abs(exact.numerator), exact.denominator) >= 10**SHOWN_DIGITS
    if exact is not None and not long:
        return exact, []
    low, high = ends(point.accurate_ball(BITS), BITS + 32)
    notes = [f"The exact value has more than {SHOWN_DIGITS} digits and is given as an enclosure."] if long else []
    if point.too_large:
        notes.append(f"An exact power of more than {EXACT_DIGITS} digits was replaced by a rigorous ball.")
    if low is None or high is None:
        return None, [*notes, "The value is beyond 2^131072 and is given as an infinite float."]
    return Enclosure(low, high, BITS), notes


def _nearest_float(found: Fraction | Enclosure) -> float:
    return numbers.nearest_float(found if isinstance(found, Fraction) else (found.low + found.high) / 2)


def _has_form(exact: Mapping[str, Fraction], point: Point, found: Fraction | Enclosure | None) -> bool:
    """Whether the value is an irrational algebraic number of moderate length."""
    if not isinstance(found, Enclosure) or point.too_large or point.exact() is not None or not point.is_algebraic():
        return False
    return all(v.numerator.bit_length() + v.denominator.bit_length() <= 200 for v in exact.values())


def _closed_form(statement: AnyStatement, exact: Mapping[str, Fraction]) -> Any:
    """The bound with the constants put in."""
    import sympy as sp

    bound = statement.expressions().bound
    table = {s: sp.Rational(exact[s.name].numerator, exact[s.name].denominator) for s in bound.free_symbols}
    return bound.xreplace(table)


def enclose_along(
    expr: Any, values: Mapping[str, Fraction], index: str, points: Sequence[Fraction]
) -> tuple[np.ndarray, np.ndarray]:
    """Rigorous floats (low, high) around an expression at many values of the symbol `index`, which it need not use."""
    import numpy as np

    low, high = np.empty(len(points)), np.empty(len(points))
    if not points:
        return low, high
    moves = index in names_of(expr)
    point = Point(expr, {**values, index: points[0]})
    for j, k in enumerate(points):
        if moves:
            point.move(index, k)
        low[j], high[j] = point.float_ends() if moves or j == 0 else (low[0], high[0])
    return low, high
