"""What a comparison compares: a curve's rounds that fall on the statement's index, both sides enclosed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.numbers import format_exact, nearest_float
from boundcheck.engines.curve import Arithmetic, Curve, Floats, Rarest
from boundcheck.engines.curve_parts import Ints
from boundcheck.engines.summaries import NoAverage, rounds_held, summarised, summary_of
from boundcheck.errors import BadInput
from boundcheck.evidence.claim_rounds import affine_rounds, exists, index_name, metrics_of, values_of_rounds
from boundcheck.evidence.measurement_error import Rounding, rounding_of
from boundcheck.theory.quantities import round_symbols
from boundcheck.theory.scope import holds, index_conditions
from boundcheck.theory.statement import Kind, Statement
from boundcheck.verdict import plain

Mask = NDArray[np.bool_]

# Two sides that are both below this are zero for every purpose and are not compared where doubles cannot order them.
NEGLIGIBLE = 1e-300
# Relative distance below which two plain doubles of a curve and a bound are called equal, not ordered.
FLOAT_EQUAL = 1e-9


@dataclass(frozen=True)
class Points:
    """P compared points, with enclosures of the scaled metric and of the bound at each (float64, (P,)).

    rounds: finished rounds at each point; for an average those of the last iterate that enters it.
    rounding: how far the metric's doubles may lie off.
    slack: relative distance within which low and high are not distinguished from the bound (0 for rigorous enclosures).
    exact: the scaled metric where it is known exactly, as a fraction or a SymPy expression in the statement's symbols,
    else None. samples: (S, P) scaled, for random sampled runs;
    low and high are then the sample means. fixed: (P,) where nothing is random: all of a deterministic run, and round 0
    where all seeds agree (a metric of the round that begins there differs between them).
    envelope: (P,) certain upper limits of the scaled metric for every seed, infinite where none is known; None without
    samples. envelope_how: why it is certain. rarest: the least probable random choice of the method, where known.
    trivial_low, trivial_high: around the statement's trivial value, None where it declares none.
    rational: whether a run in rational arithmetic would give exact numbers where these are not.
    gap: a sentence about rounds that the average needs and the curve has not; '' where none is missing.
    own: values of the symbols that change along the run (`round_values`), one table a point; empty without any.
    """

    statement: Statement
    values: Mapping[str, Fraction]
    rounds: tuple[int, ...]
    index: tuple[Fraction, ...]
    low: Floats
    high: Floats
    exact: Sequence[Any]
    rounding: Rounding
    slack: float = 0.0
    samples: Floats | None = None
    rational: bool = False
    envelope: Floats | None = None
    envelope_how: str = ""
    rarest: Rarest | None = None
    gap: str = ""
    own: Sequence[Mapping[str, Fraction]] = ()
    bound_low: Floats = field(init=False)
    bound_high: Floats = field(init=False)
    trivial_low: Floats | None = field(init=False, default=None)
    trivial_high: Floats | None = field(init=False, default=None)
    fixed: Mask = field(init=False)

    def __post_init__(self) -> None:
        for name, side in (("bound", self.statement.bound), ("trivial", self.statement.trivial)):
            if side is not None:
                low, high = enclose(side, self.statement, self.values, self.index, self.own)
                object.__setattr__(self, f"{name}_low", low)
                object.__setattr__(self, f"{name}_high", high)
        object.__setattr__(self, "fixed", _fixed(self.rounds, self.samples))

    def __len__(self) -> int:
        return len(self.index)

    @property
    def start_only(self) -> bool:
        """Whether no round has been done at any point."""
        return not any(self.rounds) and self.statement.metric.value is None

    @property
    def least(self) -> Floats:
        """The size (P,) up to which doubles do not order metric and bound."""
        return np.maximum(self.rounding.floor, NEGLIGIBLE)

    @property
    def small(self) -> Mask:
        """Where metric and bound are both at most `least`, and the bound is not negative."""
        return (self.high <= self.least) & (self.bound_low >= 0) & (self.bound_high <= self.least)

    def sign_of(self, expr: Any, at: int) -> int | None:
        """Sign of an expression in the statement's symbols at one point, decided exactly; None where undecided."""
        from boundcheck.theory.decide import sign

        return sign(expr, self.here(at))

    def bound_minus(self, metric: Any, at: int) -> int | None:
        """Sign of the bound minus a fraction or an expression at one point, decided exactly; None where undecided."""
        import sympy as sp

        known = sp.Rational(metric.numerator, metric.denominator) if isinstance(metric, Fraction) else metric
        return self.sign_of(self.statement.bound - known, at)

    def here(self, at: int) -> dict[str, Fraction]:
        """The values of all symbols at one point, the index among them."""
        return {**self.values, index_name(self.statement): self.index[at], **(self.own[at] if self.own else {})}

    def witness(self, at: int) -> dict[str, Any]:
        """The numbers of one point, JSON-able."""
        return plain(
            {
                "constants": {k: format_exact(v) for k, v in self.values.items()},
                **({"quantities": {k: format_exact(v) for k, v in self.own[at].items()}} if self.own else {}),
                "index": {index_name(self.statement): format_exact(self.index[at])},
                "round": self.rounds[at],
                "metric": [float(self.low[at]), float(self.high[at])],
                "bound": [float(self.bound_low[at]), float(self.bound_high[at])],
            }
        )


def points_of(
    statement: Statement,
    curve: Curve,
    values: Mapping[str, Fraction],
    at: Sequence[Fraction] | None = None,
    *,
    every_index: bool = False,
) -> Points:
    """The curve's rounds that fall on an index of the statement, with both sides enclosed.

    at: for a metric that is an average over rounds, the values of the index to compare at, of those whose rounds the
    curve holds from 0 on (None: all of them up to 100, fewer and fewer beyond), and for a lemma with quantities of a
    round those to compare at. Other metrics are compared wherever the curve was measured. every_index: also where a
    condition on the index itself fails, of which the statement does not speak.
    Raises BadInput where the curve has not the metric or the statement is a formula.
    """
    metric = statement.metric
    if statement.kind is Kind.FORMULA:
        raise BadInput(f"{statement.best_id} is a formula, not a claim about a run; evaluate it instead.")
    if metric.value is not None:  # one point, at which the metric is an expression
        low, high = enclose(metric.value, statement, values, [Fraction(0)])
        exactly = Rounding(np.zeros(1), np.zeros(1))
        return Points(statement, values, (0,), (Fraction(0),), low, high, (metric.value,), exactly)
    name = metric.quantity
    if name not in curve.values:
        raise BadInput(
            f"{statement.best_id} is about the metric '{name}', which the curve does not hold "
            f"(it holds {', '.join(curve.values) or 'none'})."
        )
    rounds, index, own = _compared_rounds(statement, curve, values, at, every_index)
    source = summarised(curve, summary_of(statement, values), rounds) if metric.over_rounds else curve
    low, high, samples, exact = _measured(source, name, rounds, curve.start)
    envelope = None if samples is None else _envelope(source, name, rounds)
    scale_high = None
    if metric.scale != 1:
        scale_low, scale_high = enclose(metric.scale, statement, values, index)
        low, high = _times(low, high, scale_low, scale_high)
        exact = _scaled_exactly(exact, metric.scale, statement, values, index)
        if samples is not None and envelope is not None:
            with np.errstate(invalid="ignore", over="ignore"):
                samples = np.where(scale_high == 0, 0.0, samples * scale_high)
                envelope = np.where(scale_high == 0, 0.0, np.where(scale_high > 0, envelope * scale_high, np.inf))
    starts = [values[s.name] for s in statement.symbols if s.key == f"start/{name}" and s.name in values]
    start = max((nearest_float(v) for v in starts), default=0.0)
    return Points(
        statement,
        values,
        tuple(rounds),
        tuple(index),
        low,
        high,
        tuple(exact),
        own=own,
        rounding=rounding_of(curve, name, rounds, start, scale_high),
        slack=FLOAT_EQUAL if curve.arithmetic in (Arithmetic.FLOAT64, Arithmetic.SAMPLED) else 0.0,
        samples=samples,
        envelope=envelope,
        envelope_how=curve.envelopes[name].how if name in curve.envelopes else "",
        rarest=curve.rarest,
        rational=curve.arithmetic in (Arithmetic.BALL, Arithmetic.FLOAT64) and name in curve.start,
        gap=_gap(curve, statement, values, at) if metric.over_rounds else "",
    )


def _fixed(rounds: Sequence[int], samples: Floats | None) -> Mask:
    if samples is None:
        return np.ones(len(rounds), dtype=bool)
    at_start = np.array([done == 0 for done in rounds], dtype=bool)
    at_start[at_start] = (samples[:, at_start] == samples[:1, at_start]).all(axis=0)
    return at_start


def _envelope(curve: Curve, name: str, rounds: Sequence[int]) -> Floats:
    """The certain upper limits of the metric at some rounds of the curve's grid."""
    found = curve.envelopes.get(name)
    places = np.searchsorted(curve.rounds, rounds)
    return np.full(len(rounds), np.inf) if found is None else np.asarray(found.limits)[places]


_Sides = tuple[Floats, Floats, Floats | None, list[Fraction | None]]  # low, high, samples (S, P), exact


def _measured(curve: Curve, name: str, rounds: Sequence[int], start: Mapping[str, Fraction]) -> _Sides:
    """The metric at some rounds of the curve's grid. start: its exact values at round 0."""
    places = np.searchsorted(curve.rounds, rounds).tolist()
    low, high = (ends.get(name, curve.values[name])[places] for ends in (curve.low, curve.high))
    samples = curve.samples[name][:, places] if name in curve.samples and curve.expectation else None
    if name in curve.exact:
        return low, high, samples, [curve.exact[name][place] for place in places]
    return low, high, samples, [start.get(name) if done == 0 else None for done in rounds]


def run_again(statement: Statement, curve: Curve, values: Mapping[str, Fraction]) -> Curve:
    """The curve with the statement's summary, from the same run, where it lacks rounds and can be carried out again."""
    name = statement.metric.quantity
    every = not len(curve.rounds) or rounds_held(curve) > curve.rounds[-1]
    if every or not (statement.metric.over_rounds and curve.again and name in curve.values):
        return curve
    kept = dict(curve.summaries)
    with suppress(NoAverage):  # which the comparison says
        for wanted in (summary_of(statement, values, own) for own in (name, *metrics_of(statement))):
            found = kept.get(wanted.key) or curve.again(curve, wanted)
            kept |= {} if found is None else {wanted.key: found}
    return replace(curve, summaries=kept)


def _held(statement: Statement, curve: Curve, values: Mapping[str, Fraction]) -> Ints:
    """The rounds at which the curve has the statement's summary, or has all that it is of."""
    key = summary_of(statement, values).key
    return curve.summaries[key].rounds if key in curve.summaries else np.arange(rounds_held(curve))


def _gap(curve: Curve, statement: Statement, values: Mapping[str, Fraction], at: Sequence[Fraction] | None) -> str:
    """A sentence about the first round that is missing; '' where an average has all the rounds that it needs."""
    held = _held(statement, curve, values)
    needed = [] if summary_of(statement, values).key in curve.summaries else curve.rounds[-1:].tolist()
    if at is not None and statement.metric.index is not None:
        first, step = affine_rounds(statement, values)
        needed = [int(first + step * k) + statement.metric.more_points - 1 for k in at]
    missing = sorted(set(needed) - set(held.tolist()))
    if not missing:
        return ""
    count = len(held)
    compared = "none could be compared"
    if count:
        compared = f"only averages over the first {count} rounds" if count > 1 else "only the start"
        compared += f" {'were' if count > 1 else 'was'} compared"
    return (
        f"The average needs every round from 0 on, and the curve has no round {count} (it holds {len(curve.rounds)} "
        f"rounds up to round {curve.rounds[-1] if len(curve.rounds) else 0}): {compared}; record every round, or "
        "run the method with the statement among `summaries`."
    )


def _compared_rounds(
    statement: Statement, curve: Curve, values: Mapping[str, Fraction], at: Sequence[Fraction] | None, every_index: bool
) -> tuple[list[int], list[Fraction], list[dict[str, Fraction]]]:
    """The rounds to compare at, increasing, the index of each and the values that only these rounds have."""
    averaged = statement.metric.over_rounds
    pairs = _indices(statement, curve, values, at)
    if not every_index:
        name = index_name(statement)
        spoken = [c.relation for c in index_conditions(statement)]
        spoken = [r for r in spoken if {s.name for s in r.free_symbols} <= {name, *values}]
        pairs = [(r, k) for r, k in pairs if all(holds(relation, {**values, name: k}) for relation in spoken)]
    if not round_symbols(statement):
        return [r for r, _ in pairs], [k for _, k in pairs], []
    if averaged:
        own = values_of_rounds(statement, curve, values, [r + 1 for r, _ in pairs])
        return [r for r, _ in pairs], [k for _, k in pairs], own
    pairs = [(r, k) for r, k in pairs if at is None or k in at]  # the curve has more rounds than are compared
    own = values_of_rounds(statement, curve, values, np.searchsorted(curve.rounds, [r for r, _ in pairs]).tolist())
    kept = [(r, k, v) for (r, k), v in zip(pairs, own, strict=True) if exists(statement, v)]
    return [r for r, _, _ in kept], [k for _, k, _ in kept], [v for _, _, v in kept]


def _indices(
    statement: Statement, curve: Curve, values: Mapping[str, Fraction], at: Sequence[Fraction] | None
) -> list[tuple[int, Fraction]]:
    """(round, index) wherever a round of the curve is an admissible index, increasing.

    The round of an average is its last one. A statement without index has one number of rounds, its index.
    """
    metric = statement.metric
    averaged = metric.over_rounds
    more = metric.more_points - 1 if averaged else 0
    held = (_held(statement, curve, values) if averaged else curve.rounds).tolist()
    first, step = affine_rounds(statement, values)
    if metric.index is None:
        return [(int(first + more), first)] if first + more in set(held) else []
    symbol = statement.symbol(metric.index)
    if averaged and at is not None:
        known = set(held)
        found = [(first + more + step * k, k) for k in dict.fromkeys(at) if symbol.admits(k)]
        return sorted((int(done), k) for done, k in found if done in known)
    if averaged and held and held[-1] < len(held):  # every round: fewer and fewer of them
        thinned = {*range(100), *(round(100 * 1.05**j) - 1 for j in range(1, 1000)), held[-1]}
        held = sorted(thinned.intersection(held))
    return [(done, k) for done in held if symbol.admits(k := (done - more - first) / step)]


def enclose(
    expr: Any,
    statement: Statement,
    values: Mapping[str, Fraction],
    index: Sequence[Fraction],
    own: Sequence[Mapping[str, Fraction]] = (),
) -> tuple[Floats, Floats]:
    """Rigorous ends (P,) of an expression at the points; own: values that only these have."""
    from boundcheck.theory.evaluation import enclose_along

    if own:
        name = index_name(statement)
        ends = [enclose_along(expr, {**values, **v}, name, [k]) for v, k in zip(own, index, strict=True)]
        return np.concatenate([low for low, _ in ends]), np.concatenate([high for _, high in ends])
    return enclose_along(expr, values, index_name(statement), index)


def _times(low: Floats, high: Floats, scale_low: Floats, scale_high: Floats) -> tuple[Floats, Floats]:
    """The product of two intervals, rounded outwards. NaN stays NaN; infinity times 0 is 0."""
    unknown = np.isnan(low) | np.isnan(high) | np.isnan(scale_low) | np.isnan(scale_high)
    with np.errstate(invalid="ignore", over="ignore"):
        products = np.stack([a * b for a in (low, high) for b in (scale_low, scale_high)])
    products = np.where(np.isnan(products), 0.0, products)
    bottom, top = products.min(axis=0), products.max(axis=0)
    # a zero factor makes an exact zero; everything else may have been rounded
    zero = ((scale_low == 0) & (scale_high == 0)) | ((low == 0) & (high == 0))
    sign_known = (low >= 0) & (scale_low >= 0)
    bottom = np.where(zero, bottom, np.nextafter(bottom, -np.inf))
    bottom = np.where(sign_known, np.maximum(bottom, 0.0), bottom)
    top = np.where(zero, top, np.nextafter(top, np.inf))
    return np.where(unknown, np.nan, bottom), np.where(unknown, np.nan, top)


def _scaled_exactly(
    exact: Sequence[Fraction | None],
    scale: Any,
    statement: Statement,
    values: Mapping[str, Fraction],
    index: Sequence[Fraction],
) -> list[Fraction | None]:
    """The exact metrics times the scale, where that is rational."""
    from boundcheck.theory.decide import Point

    found: list[Fraction | None] = []
    for metric, k in zip(exact, index, strict=True):
        factor = None if metric is None else Point(scale, {**values, index_name(statement): k}).exact()
        found.append(None if metric is None or factor is None else metric * factor)
    return found
