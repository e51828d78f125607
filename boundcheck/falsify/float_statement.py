"""A statement in double precision: its conditions, bound and metric as NumPy functions of many instances at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from boundcheck.engines.curve import Floats
from boundcheck.theory.quantities import round_symbols
from boundcheck.theory.scope import difference, index_conditions
from boundcheck.theory.statement import ROUND, Condition, Kind, Statement

EDGE = 1 - 1e-9  # share of the largest step size that counts as in scope in double precision
DOUBT = 1e-8  # promised decreases below this share are rounding in double precision
RELATIVE = 1e-9  # rounding of a difference of terms, as a share of them
TINY = 1e-12  # constants this far below the end of their range are rounding
PROMISING = 1e-6  # scores above this are tried in exact arithmetic
UNINFORMATIVE = -1e6
STEPS = np.arange(-14, 4.01, 0.5)  # powers of 10 of the first scan for the largest step size, in units of 1/L
BISECTIONS = 50

# Constants by their keys, a symbol without a key by its name; each a number or an array (B,).
Known = Mapping[str, Any]


class FloatStatement:
    """A statement compiled for double precision. step: symbol of the step size, None for a statement without one."""

    def __init__(self, statement: Statement, step: str | None = None) -> None:
        metric = statement.metric
        self.statement, self.step, self.index = statement, step, metric.index
        self.keys = {s.name: s.key or s.name for s in statement.symbols}
        late = index_conditions(statement)
        self._conditions = [self._condition(c) for c in statement.conditions if c not in late]
        relations = self._admitted()
        self._domain = [(self._function(difference(r)), -TINY * isinstance(r, sp.Ge | sp.Le)) for r in relations]
        self._late = [self._condition(c) for c in late]
        self.choices = [(statement.symbol(name), self._function(e)) for name, e in statement.choices]
        steps = () if statement.algorithm is None else statement.algorithm.steps
        self.sequences = {name: self._function(e, ROUND) for name, e in steps}
        self._named = [
            (c.name, {self.keys[s.name] for s in c.relation.free_symbols}, self._condition(c))
            for c in statement.conditions
        ]
        self._bound, self._scale = self._function(statement.bound), self._function(metric.scale)
        self._terms = self._function(sp.Add(*(sp.Abs(term) for term in sp.Add.make_args(statement.bound))))
        self._trivial = self._function(sp.nan if statement.trivial is None else statement.trivial)
        self._rounds = self._function(metric.rounds)
        self._relative = bool(round_symbols(statement)) or statement.kind is not Kind.UPPER_BOUND
        self._weights = self._function(sp.Integer(1) if metric.weights is None else metric.weights, ROUND)

    def _admitted(self) -> list[Any]:
        """The inequalities between constants of an instance: the statement's domain and the symbols' ranges."""
        found = [r for r in self.statement.domain if not isinstance(r, sp.Eq | sp.Ne)]
        for s in self.statement.symbols:
            if s.low is not None:
                found.append((sp.Gt if s.low_open else sp.Ge)(s.expr, s.low, evaluate=False))
            if s.high is not None:
                found.append((sp.Lt if s.high_open else sp.Le)(s.expr, s.high, evaluate=False))
        late = {self.step, self.index, *round_symbols(self.statement)}
        return [r for r in found if not late & {s.name for s in r.free_symbols}]

    def _function(self, expression: Any, *more: sp.Symbol) -> Callable[..., Any]:
        symbols = [*(s.expr for s in self.statement.symbols), *more]
        compiled = sp.lambdify(symbols, expression, "numpy", cse=True)

        def function(known: Known, step: Any = np.nan, index: float = 1.0, *rest: float) -> Any:
            own = {self.step: step, self.index: index}
            return compiled(*(own[n] if n in own else known.get(key, np.nan) for n, key in self.keys.items()), *rest)

        return function

    def _condition(self, condition: Condition) -> Callable[..., Any]:
        relation = condition.relation
        gap = self._function(difference(relation))
        if isinstance(relation, sp.Eq | sp.Ne):
            compare = np.equal if isinstance(relation, sp.Eq) else np.not_equal
        else:
            compare = np.greater if isinstance(relation, sp.Lt | sp.Gt) else np.greater_equal
        return lambda *arguments: compare(gap(*arguments), 0)

    def formula(self, expression: Any) -> Callable[..., Any]:
        """An expression in the statement's symbols as a function of known constants, step size and index."""
        return self._function(expression)

    def in_scope(self, known: Known, step: Any = np.nan) -> Any:
        """Whether all conditions without the index hold, (B,)."""
        with np.errstate(all="ignore"):
            return np.all(np.broadcast_arrays(True, *(c(known, step) for c in self._conditions)), axis=0)

    def failing(self, known: Known) -> str | None:
        """The name of a condition that these constants alone decide, and that does not hold; None where all do."""
        return next((name for name, needed, own in self._named if needed <= known.keys() and not own(known)), None)

    def in_domain(self, known: Known) -> Any:
        """Whether the constants are values that the statement's symbols admit, (B,)."""
        with np.errstate(all="ignore"):
            return np.all(np.broadcast_arrays(True, *(gap(known) > least for gap, least in self._domain)), axis=0)

    def before(self, known: Known, step: Any) -> float:
        """The bound that holds for doing nothing, of one instance; 0 where the statement names none."""
        return float(np.nan_to_num(self._trivial(known, step, 1.0)))

    def largest_step(self, known: Known, unit: Floats) -> Floats:
        """Largest step size in scope of each instance, (B,), by a scan and bisection; NaN where none is in scope.

        unit: (B,), the inverse of a smoothness constant.
        """
        low = np.full(len(unit), np.nan)
        for power in STEPS:
            trial = unit * 10.0**power
            low = np.where(self.in_scope(known, trial), trial, low)
        high = low * 10**0.5
        for _ in range(BISECTIONS):
            middle = np.sqrt(low * high)
            inside = self.in_scope(known, middle)
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return low

    def rounds_at(self, known: Known, index: Fraction) -> int | None:
        """The rounds at a value of the index, where they are a whole number and the same for all instances."""
        found = np.unique(np.asarray(self._rounds(known, np.nan, float(index)), dtype=float))
        whole = len(found) == 1 and np.isfinite(found[0]) and abs(found[0] - round(found[0])) < 1e-9
        return round(float(found[0])) if whole else None

    def weights(self, known: Known, step: Any, rounds: int) -> Floats:
        """Weights of the first rounds in the metric's average, (B or 1, rounds)."""
        ones = np.ones(np.broadcast_shapes(*(np.shape(v) for v in (step, *known.values())), (1,)))
        return np.stack([self._weights(known, step, 1.0, r) * ones for r in range(rounds)], 1)

    def _excess(self, known: Known, step: Any, index: float, metric: Floats) -> Floats:
        with np.errstate(all="ignore"):
            metric = metric * self._scale(known, step, index)
            bound = self._bound(known, step, index) * np.ones_like(metric)
            apart = metric - bound
            kind = self.statement.kind
            apart = np.abs(apart) if kind is Kind.EQUALITY else -apart if kind is Kind.LOWER_BOUND else apart
            size = np.abs(metric) + np.abs(bound)
            rounding = RELATIVE * self._terms(known, step, index) + known.get("rounding", 0.0)
            found = np.where(size > rounding, apart / (size + rounding), -1.0)
            for condition in self._late:
                found = np.where(condition(known, step, index), found, -np.inf)
            return np.where(np.isnan(found), -np.inf, found)

    def score(self, known: Known, step: Any, index: float, metric: Floats) -> Floats:
        """How far the metric (without its scale) is above the bound, (B,): positive for a violation, -inf out of scope.

        log(metric/bound), in units of the promised decrease log(trivial/bound) if that is below 1. So a step size
        near 0 scores by the ratio of actual to promised decrease. Where an increase is promised, it is the log of
        actual over promised increase. A lemma promises no decrease, and its sides may be
        negative: its score is (metric - bound)/(|metric| + |bound| + known["rounding"]), and that of an equality and
        of a lower bound likewise. A bound without a value (NaN) is no bound: -inf; a metric without one is a run that
        has diverged.
        """
        if self._relative:
            return self._excess(known, step, index, metric)
        with np.errstate(all="ignore"):
            bound = self._bound(known, step, index) * np.ones_like(metric)
            metric = np.where(np.isnan(metric), np.inf, metric * self._scale(known, step, index))
            score = self.compared(known, step, index, metric, bound)
            for condition in self._late:
                score = np.where(condition(known, step, index), score, -np.inf)
        return score

    def compared(self, known: Known, step: Any, index: float, metric: Any, bound: Any) -> Floats:
        """The score of a metric, with its scale, beside a bound."""
        with np.errstate(all="ignore"):
            trivial = self._trivial(known, step, index)
            # any metric above rounding exceeds a bound below 0; a bound that is NaN stays NaN
            bound = np.where(bound <= 0, DOUBT * np.where(np.isnan(trivial), np.minimum(metric, 1.0), trivial), bound)
            excess = np.log(metric) - np.log(bound)
            promised = np.log(trivial) - np.log(bound)
            score = excess / np.clip(np.where(np.isnan(promised), 1.0, promised), DOUBT, 1.0)
            # a bound above the start, or within rounding of it, guides nowhere where the metric has not risen
            risen = np.where(promised < -DOUBT, np.log(metric - trivial) - np.log(bound - trivial), np.nan)
            risen = np.where(np.isnan(risen), UNINFORMATIVE, np.maximum(risen, UNINFORMATIVE))
            score = np.where((promised <= DOUBT) & (excess < PROMISING), risen, score)
        return np.where(np.isnan(score), -np.inf, score)
