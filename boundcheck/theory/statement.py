"""The published claim as an object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import sympy as sp

from boundcheck.core import providers
from boundcheck.core.cards import Card, Shown
from boundcheck.errors import BadInput, UnknownName
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.declarations import ALGORITHMS, OF_A_ROUND, check_algorithm, check_metric, counters
from boundcheck.theory.declarations import ITERATION as ITERATION
from boundcheck.theory.declarations import ROUND as ROUND
from boundcheck.theory.declarations import STEP_SIZES as STEP_SIZES
from boundcheck.theory.declarations import Algorithm as Algorithm
from boundcheck.theory.declarations import Average as Average
from boundcheck.theory.declarations import Belief as Belief
from boundcheck.theory.declarations import Kind as Kind
from boundcheck.theory.declarations import Metric as Metric
from boundcheck.theory.declarations import Source as Source
from boundcheck.theory.dimension import ONE, QUANTITIES, Dimension
from boundcheck.theory.keys import CATALOGUE, check_key, name_of, near_keys
from boundcheck.theory.relations import Condition as Condition
from boundcheck.theory.scaling import DimensionError, dimension_of
from boundcheck.theory.symbols import Symbol, declared

if TYPE_CHECKING:
    from boundcheck.theory.evaluation import Evaluation
    from boundcheck.theory.scope import Scope

T = TypeVar("T")


@dataclass(frozen=True)
class Statement(Shown):
    """A claim of a paper in one reading; frozen, checked when made.

    Captions, which decide nothing: title, replaces, why, remark, and the texts of `Source` and `Condition`. Assumptions
    decide by their names (`theory.assumptions`) and inequalities; one that cannot be decided is taken for granted.
    id: path and reading, set by discovery. name: last part of the path (needed outside a paper folder only).
    reading: "as_printed", "corrected", "sharp", ...; any but an as-printed one says what it `replaces` and `why`.
    domain: relations that the symbols need to make sense (mu <= L); a value outside is bad input.
    any_method: the claim is about the runs of every method that meets its assumptions, so that it names no algorithm.
    conditions, assumptions: hypotheses; where one fails the claim is out of scope.
    trivial: the value that the bound must beat somewhere not to be vacuous (None: not declared).
    printed_rate: the order of growth as printed, for statements with O(.).
    choices: (symbol, formula) pairs that the theorem prescribes (a tuned step size); another value is out of scope, one
    that was rounded down from an irrational one by at most a relative 1e-12 is taken for it, and said.
    A numeric example that has no dimensions sets metric.dimension to None.
    """

    source: Source
    reading: str
    title: str
    symbols: tuple[Symbol, ...]
    metric: Metric
    bound: Any
    kind: Kind = Kind.UPPER_BOUND
    algorithm: Algorithm | None = None
    any_method: bool = False
    domain: tuple[Any, ...] = ()
    conditions: tuple[Condition, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    trivial: Any = None
    belief: Belief = Belief.OPEN
    replaces: str = ""
    why: str = ""
    remark: str = ""
    printed_rate: Any = None
    choices: tuple[tuple[str, Any], ...] = ()
    name: str = ""
    id: str = field(default="")

    def __post_init__(self) -> None:
        label = self.id or f"{self.source.paper} {self.source.number} ({self.reading})"
        names = [s.name for s in self.symbols]
        if len(set(names)) != len(names):
            raise BadInput(f"{label}: a symbol is declared twice.")
        for s in self.symbols:
            if s.key:
                check_key(s.key, f"{label}: symbol {s.name} has")
        chosen: tuple[tuple[str, Any, Any], ...] = (("kind", self.kind, Kind), ("belief", self.belief, Belief))
        for what, word, words in chosen:
            if type(word) is not words:
                raise UnknownName(f"{label}: its {what}", str(word), [str(w) for w in words])
        check_metric(self.metric, label)
        if self.algorithm is not None:
            check_algorithm(self.algorithm, label)
        if self.metric.average is Average.LEAST and any(s.key.startswith(OF_A_ROUND) for s in self.symbols):
            raise BadInput(
                f"{label}: a least value so far goes with no quantity of a round; take the last or the mean."
            )
        if self.any_method and self.algorithm is not None:
            raise BadInput(f"{label}: it names the algorithm {self.algorithm.kind}, so any_method must be False.")
        used: set[str] = {self.metric.index} if self.metric.index else set()
        for name in (*used, *self.parameters):
            if name not in names:
                raise UnknownName(f"{label}: the metric's index or a parameter of the algorithm, symbol", name, names)
        for name in self.parameters:
            if not self.symbol(name).key.startswith("method/"):
                raise BadInput(
                    f"{label}: {name} is a parameter of the algorithm, so that its symbol needs a key such as "
                    f"'method/{name}'."
                )
        for name, _ in self.choices:
            if name not in names:
                raise UnknownName(f"{label}: a choice, symbol", name, names)
            used.add(name)
        for name, _ in self.metric.where:
            if name not in names:
                raise UnknownName(f"{label}: the data of the metric, symbol", name, names)
            used.add(name)
        self._check_value(label)
        for where, expr in self._expressions():
            if isinstance(expr, bool) or expr is sp.true or expr is sp.false:
                raise BadInput(f"{label}: {where} is already decided ({expr}); it must depend on the symbols.")
            if not hasattr(expr, "free_symbols"):
                raise BadInput(f"{label}: {where} is {expr!r}, no SymPy expression; write sympy.Rational or a formula.")
            for number in sorted(expr.atoms(sp.Float), key=float):
                near = Fraction(str(number)).limit_denominator(1000)
                raise BadInput(
                    f"{label}: {where} holds the rounded number {float(number):.12g}; a formula is exact, so write "
                    f"it as a fraction, such as sympy.Rational({near.numerator}, {near.denominator})."
                )
            for symbol in expr.free_symbols:
                if symbol.assumptions0 != sp.Symbol(symbol.name, real=True).assumptions0:
                    raise BadInput(f"{label}: {symbol} in {where} carries assumptions beyond being real.")
                if symbol in counters(where):
                    continue
                if symbol.name not in names:
                    raise UnknownName(f"{label}: in {where}, symbol", symbol.name, names)
                used.add(symbol.name)
        idle = [n for n in names if n not in used]
        if idle:
            raise BadInput(f"{label}: declared but unused: {', '.join(idle)}.")
        if not self.reading.startswith("as_printed") and not (self.replaces and self.why):
            raise BadInput(f"{label}: a reading other than as printed must say what it replaces and why.")

    def _check_value(self, label: str) -> None:
        metric = self.metric
        if (metric.where or metric.meets) and metric.value is None:
            raise BadInput(f"{label}: the metric has data under where, but no value that is computed from them.")
        for name in metric.meets:
            if name not in [a.name for a in self.assumptions]:
                raise UnknownName(f"{label}: the data meet the assumption", name, [a.name for a in self.assumptions])
        if metric.value is None:
            if self.kind is Kind.LOWER_BOUND:
                raise BadInput(f"{label}: a lower bound needs a metric with a value; runs are not compared with one.")
            return
        if self.kind not in (Kind.UPPER_BOUND, Kind.LOWER_BOUND, Kind.EQUALITY) or self.algorithm is not None:
            raise BadInput(f"{label}: a claim about a value names no algorithm and is a bound or an equality.")
        if metric.index is not None or metric.rounds != 0 or metric.scale != 1:
            raise BadInput(f"{label}: a metric with a value has no index, rounds or scale.")

    def _expressions(self) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = [("the bound", self.bound), ("the metric's scale", self.metric.scale)]
        found.append(("the metric's rounds", self.metric.rounds))
        if self.metric.weights is not None:
            found.append(("the metric's weights", self.metric.weights))
        if self.metric.value is not None:
            found.append(("the metric's value", self.metric.value))
        found += [(f"the data behind {name}", expr) for name, expr in self.metric.where]
        if self.algorithm is not None:
            found += [(f"{ALGORITHMS}{name}", expr) for name, expr in self.algorithm.steps]
        found += [(f"the choice of {name}", expr) for name, expr in self.choices]
        found += [(f"condition '{c.name}'", c.relation) for c in self.conditions]
        found += [("the domain", r) for r in self.domain]
        if self.trivial is not None:
            found.append(("the trivial value", self.trivial))
        if self.printed_rate is not None:
            found.append(("the printed rate", self.printed_rate))
        return found

    @property
    def best_id(self) -> str:
        """The id, or a readable label before discovery has set it."""
        return self.id or f"{self.name or self.source.number}/{self.reading}"

    @property
    def excess(self) -> Any:
        """The bound less its trivial value, whose sign says whether it is vacuous; None where none is declared."""
        return None if self.trivial is None else self.bound - self.trivial

    def expressions(self) -> Statement:
        """The statement with SymPy expressions: itself."""
        return self

    @property
    def parameters(self) -> tuple[str, ...]:
        """Symbols that belong to the method (step size, local steps)."""
        return () if self.algorithm is None else self.algorithm.parameters

    def known(self, constants: Mapping[str, T]) -> dict[str, T]:
        """The constants that symbols of the statement name by their keys: symbol -> value, as far as there is one.

        constants: by key, or by the names under which problems and methods report them (`theory.keys.name_of`). Only
        the values of the statement's symbols are read: others may be costly to compute.
        """
        named = {s.name: s.key if s.key in constants else name_of(s.key) for s in self.symbols if s.key}
        return {name: constants[own] for name, own in named.items() if own in constants}

    def keyless(self, names: Iterable[str]) -> str:
        """Which of these symbols have no key, with the keys that they may mean, as the end of a sentence; or ''."""
        own = [name for name in names if not self.symbol(name).key]
        told = ", ".join(f"{name} has no key{near_keys(name)}" for name in own)
        return f" ({told})" if told else ""

    def symbol(self, name: str) -> Symbol:
        """The declaration of one symbol; UnknownName with the nearest ones otherwise."""
        return declared(self.symbols, name, self.best_id)

    def dimension_errors(self) -> list[str]:
        """Sentences about every part that does not scale as it must; found from the declarations alone.

        The sides of the bound, of conditions and of the domain must scale alike; the metric as its quantity times its
        scale; its rounds are a count; and a symbol with a key has the dimension that the catalogue gives it. A
        statement whose metric has no dimension (a numeric example) is not checked.
        """
        metric = self.metric
        if metric.dimension is None:
            return []
        table = {s.name: s.dimension for s in self.symbols}
        errors: list[str] = []

        def sides(where: str, *parts: Any, target: Dimension | None = None) -> Dimension | None:
            try:
                found = [d for d in (dimension_of(p, table) for p in parts) if d is not None]
            except DimensionError as error:
                errors.append(f"{where}: {error}.")
                return None
            every = found if target is None else [*found, target]
            if len(set(every)) > 1:
                errors.append(f"{where}: the sides are {' and '.join(str(d) for d in every)}.")
            return found[0] if found else None

        for symbol in self.symbols:
            constant = CATALOGUE.get(symbol.key)
            if constant is not None and symbol.dimension != constant.dimension:
                errors.append(
                    f"symbol {symbol.name}: it is declared {symbol.dimension}, but its key {symbol.key} is "
                    f"'{constant.definition}', which is {constant.dimension}."
                )
        scale = sides("the metric's scale", metric.scale)
        quantity = QUANTITIES.get(metric.quantity)
        if scale is not None and quantity is not None and metric.dimension != quantity * scale:
            times = "" if metric.scale == 1 else f" times {metric.scale}"
            errors.append(
                f"the metric: {metric.quantity}{times} is {quantity * scale}, but is declared {metric.dimension}."
            )
        sides("the metric's rounds", metric.rounds, target=ONE)
        if metric.weights is not None:
            table[ROUND.name] = ONE
            sides("the metric's weights", metric.weights)
            table.pop(ROUND.name)
        for name, expr in self.choices:
            sides(f"the choice of {name}", expr, target=table[name])
        if metric.value is not None:
            sides("the metric's value", metric.value, target=metric.dimension)
        for name, expr in metric.where:
            sides(f"the data behind {name}", expr, target=table[name])
        sides("the bound", self.bound, target=metric.dimension)
        for c in self.conditions:
            sides(f"condition '{c.name}'", *c.relation.args)
        for r in self.domain:
            sides("the domain", *r.args)
        if self.trivial is not None:
            sides("the trivial value", self.trivial, target=metric.dimension)
        return errors

    def scope(self, **values: Any) -> Scope:
        """Which conditions hold at these constants, decided exactly, with the slack of each."""
        from boundcheck.theory.scope import decide_scope

        return decide_scope(self, values)

    def evaluate(self, **values: Any) -> Evaluation:
        """The bound at these constants (arrays broadcast), with scope and vacuousness.

        `value` is the nearest float. `exact` is the value as a Fraction, or a rigorous interval that holds it where it
        is irrational or too long (`known` says which), and None for arrays; see `Evaluation`.
        """
        from boundcheck.theory.evaluation import evaluate

        return evaluate(self, values)

    def largest(self, name: str, **values: Any) -> Fraction:
        """The largest value of a symbol that the conditions allow, rounded down to a rational where irrational."""
        from boundcheck.theory.largest import largest

        return largest(self, name, values)

    def prescribed(self, name: str, **values: Any) -> Fraction:
        """The value that the statement prescribes for a symbol (a tuned step size), rounded down where irrational.

        values: the constants that its formula uses. Rounding loses less than a relative 1e-13, and the statement's
        scope takes the rounded value for the prescribed one. Raises UnknownName for a symbol that the statement does
        not have, BadInput where it prescribes none, a constant is missing or a value is outside its domain.
        """
        from boundcheck.theory.choices import prescribed
        from boundcheck.theory.scope import read_values

        self.symbol(name)
        return prescribed(self, name, read_values(self, values))

    def best(self, name: str, **values: Any) -> Fraction:
        """The value of a symbol within scope that minimises the bound (numerically, rounded into scope)."""
        from boundcheck.theory.largest import best

        return best(self, name, values)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form; `theory.deserialize.statement_from_dict` restores an equal statement."""
        from boundcheck.theory.serial import statement_to_dict

        return statement_to_dict(self)

    def latex(self) -> str:
        """The claim typeset, derived from the expressions."""
        from boundcheck.theory.typeset import claim_latex

        return claim_latex(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Statement:
        """Inverse of `to_dict`. Raises BadInput for data that describe no statement."""
        return providers.load(providers.STATEMENTS, "deserialize").statement_from_dict(data)

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    def _card(self) -> Card:
        from boundcheck.theory.typeset import statement_card

        return statement_card(self)

    def __repr__(self) -> str:
        return f"<Statement {self.best_id}: {self.title}>"
