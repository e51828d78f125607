"""What a comparison compares: a curve's rounds that fall on the statement's index, both sides enclosed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.numbers import as_fraction, format_exact
from boundcheck.engines.curve import Arithmetic, Curve, Floats, Rarest
from boundcheck.engines.curve_parts import Ints
from boundcheck.engines.summaries import NoAverage, rounds_held, summarised, summary_of
from boundcheck.errors import BadInput
from boundcheck.evidence.measurement_error import Rounding, rounding_of
from boundcheck.evidence.round_values import exists, metrics_of, values_of_rounds
from boundcheck.theory.inputs import to_float
from boundcheck.theory.quantities import round_symbols
from boundcheck.theory.scope import holds, index_conditions
from boundcheck.theory.statement import Kind, Statement
from boundcheck.verdict import plain

Mask = NDArray[np.bool_]

# Relative distance below which two plain doubles of a curve and a bound are called equal, not ordered.
FLOAT_EQUAL = 1e-9


@dataclass(frozen=True)
class Points:
    """P compared points, with enclosures of the scaled metric and of the bound at each (float64, (P,)).

    rounds: finished rounds at each point; for an average those of the last iterate that enters it.
    rounding: how far the metric's doubles may lie off.
    slack: relative distance within which low and high are not told from the bound (0 for rigorous enclosures).
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
    bound_low: Floats
    bound_high: Floats
    rounding: Rounding
    slack: float
    exact: tuple[Any, ...]
    samples: Floats | None
    fixed: Mask
    trivial_low: Floats | None = None
    trivial_high: Floats | None = None
    rational: bool = False
    envelope: Floats | None = None
    envelope_how: str = ""
    rarest: Rarest | None = None
    gap: str = ""
    own: Sequence[Mapping[str, Fraction]] = ()

    def __len__(self) -> int:
        return len(self.index)

    def sign_of(self, expr: Any, at: int) -> int | None:
        """Sign of an expression in the statement's symbols at one point, decided exactly; None where undecided."""
        from boundcheck.theory.decide import sign

        return sign(expr, self.here(at))

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


def index_name(statement: Statement) -> str:
    """The statement's index symbol; "rounds" where it has none."""
    return statement.metric.index or "rounds"


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
    if metric.value is not None:
        return _of_numbers(statement, values)
    name = metric.quantity
    if name not in curve.values:
        raise BadInput(
            f"{statement.best_id} is about the metric '{name}', which the curve does not hold "
            f"(it holds {', '.join(curve.values) or 'none'})."
        )
    averaged, changing = metric.over_rounds, bool(round_symbols(statement))
    own: list[dict[str, Fraction]] = []
    if averaged:
        ends, index = _averaged_indices(statement, curve, values, at)
        if not every_index:
            ends, index = _spoken_of(statement, values, ends, index)
        own = values_of_rounds(statement, curve, values, ends) if changing else []
        rounds = tuple(end - 1 for end in ends)
        over = summarised(curve, summary_of(statement, values), rounds)
        chosen = np.searchsorted(over.rounds, rounds).tolist()
        low, high, samples, exact = _measured(over, name, chosen, rounds, curve.start)
        envelope = _envelope(over, name, chosen)
    else:
        chosen, index = _indices(statement, curve, values)
        if not every_index:
            chosen, index = _spoken_of(statement, values, chosen, index)
        if changing:  # the curve has more rounds than are compared
            kept = [(p, k) for p, k in zip(chosen, index, strict=True) if at is None or k in at]
            own = values_of_rounds(statement, curve, values, [p for p, _ in kept])
            kept = [(p, k, v) for (p, k), v in zip(kept, own, strict=True) if exists(statement, v)]
            chosen, index, own = [p for p, _, _ in kept], [k for _, k, _ in kept], [v for _, _, v in kept]
        rounds = tuple(int(curve.rounds[i]) for i in chosen)
        low, high, samples, exact = _measured(curve, name, chosen, rounds, curve.start)
        envelope = _envelope(curve, name, chosen)
    start = max(
        (to_float(values[s.name]) for s in statement.symbols if s.key == f"start/{name}" and s.name in values),
        default=0.0,
    )
    rounding = rounding_of(curve, name, rounds, start, None)
    if metric.scale != 1:
        scale_low, scale_high = _enclose(metric.scale, statement, values, index)
        low, high = _times(low, high, scale_low, scale_high)
        rounding = rounding_of(curve, name, rounds, start, scale_high)
        exact = _scaled_exactly(exact, metric.scale, statement, values, index)
        if samples is not None:
            with np.errstate(invalid="ignore", over="ignore"):
                samples = np.where(scale_high == 0, 0.0, samples * scale_high)
                envelope = np.where(scale_high == 0, 0.0, np.where(scale_high > 0, envelope * scale_high, np.inf))
    bound_low, bound_high = _enclose(statement.bound, statement, values, index, own)
    trivial = (None, None) if statement.trivial is None else _enclose(statement.trivial, statement, values, index, own)
    return Points(
        statement=statement,
        values=values,
        rounds=rounds,
        index=tuple(index),
        low=low,
        high=high,
        bound_low=bound_low,
        bound_high=bound_high,
        rounding=rounding,
        slack=FLOAT_EQUAL if curve.arithmetic in (Arithmetic.FLOAT64, Arithmetic.SAMPLED) else 0.0,
        exact=tuple(exact),
        samples=samples,
        fixed=_fixed(rounds, samples),
        trivial_low=trivial[0],
        trivial_high=trivial[1],
        envelope=None if samples is None else envelope,
        envelope_how=curve.envelopes[name].how if name in curve.envelopes else "",
        rarest=curve.rarest,
        rational=curve.arithmetic in (Arithmetic.BALL, Arithmetic.FLOAT64) and name in curve.start,
        gap=_gap(curve, statement, values, at) if averaged else "",
        own=own,
    )


def _of_numbers(statement: Statement, values: Mapping[str, Fraction]) -> Points:
    """The one point of a statement about numbers; its metric is known exactly, as an expression."""
    at = [Fraction(0)]
    trivial = (None, None) if statement.trivial is None else _enclose(statement.trivial, statement, values, at)
    low, high = _enclose(statement.metric.value, statement, values, at)
    bound_low, bound_high = _enclose(statement.bound, statement, values, at)
    return Points(
        statement=statement,
        values=values,
        rounds=(0,),
        index=(Fraction(0),),
        low=low,
        high=high,
        bound_low=bound_low,
        bound_high=bound_high,
        rounding=Rounding(np.zeros(1), np.zeros(1)),
        slack=0.0,
        exact=(statement.metric.value,),
        samples=None,
        fixed=np.ones(1, dtype=bool),
        trivial_low=trivial[0],
        trivial_high=trivial[1],
    )


def _fixed(rounds: Sequence[int], samples: Floats | None) -> Mask:
    if samples is None:
        return np.ones(len(rounds), dtype=bool)
    at_start = np.array([done == 0 for done in rounds], dtype=bool)
    at_start[at_start] = (samples[:, at_start] == samples[:1, at_start]).all(axis=0)
    return at_start


def _envelope(curve: Curve, name: str, chosen: Sequence[int]) -> Floats:
    """The certain upper limits of the metric at some positions of the curve's grid."""
    found = curve.envelopes.get(name)
    return np.full(len(chosen), np.inf) if found is None else np.asarray(found.limits)[chosen]


_Sides = tuple[Floats, Floats, Floats | None, list[Fraction | None]]  # low, high, samples (S, P), exact


def _measured(
    curve: Curve, name: str, chosen: Sequence[int], rounds: Sequence[int], start: Mapping[str, Fraction]
) -> _Sides:
    """The metric at some positions of the curve's grid."""
    low = curve.low[name][chosen] if name in curve.low else curve.values[name][chosen]
    high = curve.high[name][chosen] if name in curve.high else curve.values[name][chosen]
    samples = curve.samples[name][:, chosen] if name in curve.samples and curve.expectation else None
    exact: list[Fraction | None] = [None] * len(chosen)
    for position, (grid_place, done) in enumerate(zip(chosen, rounds, strict=True)):
        if name in curve.exact:
            exact[position] = curve.exact[name][grid_place]
        elif done == 0:
            exact[position] = start.get(name)
    return low, high, samples, exact


def run_again(statement: Statement, curve: Curve, values: Mapping[str, Fraction]) -> Curve:
    """The curve with the statement's summary, from the same run, where it lacks rounds and can be carried out again."""
    name = statement.metric.quantity
    every = not len(curve.rounds) or rounds_held(curve) > curve.rounds[-1]
    if every or not (statement.metric.over_rounds and curve.again and name in curve.values):
        return curve
    kept = dict(curve.summaries)
    with suppress(NoAverage):  # which the comparison says
        for asked in (summary_of(statement, values, own) for own in (name, *metrics_of(statement))):
            found = kept.get(asked.key) or curve.again(curve, asked)
            kept |= {} if found is None else {asked.key: found}
    return replace(curve, summaries=kept)


def _held(statement: Statement, curve: Curve, values: Mapping[str, Fraction]) -> Ints:
    """The rounds at which the curve has the statement's summary, or has all that it is of."""
    key = summary_of(statement, values).key
    return curve.summaries[key].rounds if key in curve.summaries else np.arange(rounds_held(curve))


def _gap(curve: Curve, statement: Statement, values: Mapping[str, Fraction], at: Sequence[Fraction] | None) -> str:
    """A sentence about the first round that is missing; '' where all is there that an asked average needs."""
    held = _held(statement, curve, values)
    asked = [] if summary_of(statement, values).key in curve.summaries else curve.rounds[-1:].tolist()
    if at is not None and statement.metric.index is not None:
        first, step = _affine(statement, values)
        asked = [int(first + step * k) + statement.metric.more_points - 1 for k in at]
    missing = sorted(set(asked) - set(held.tolist()))
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


def _averaged_indices(
    statement: Statement, curve: Curve, values: Mapping[str, Fraction], at: Sequence[Fraction] | None
) -> tuple[list[int], list[Fraction]]:
    """How many points each compared average has, increasing, and the index there."""
    metric = statement.metric
    held = _held(statement, curve, values)
    known = set(held.tolist())
    if metric.index is None:
        only = as_fraction(metric.rounds.subs({s: values[s.name] for s in metric.rounds.free_symbols}), "rounds")
        end = int(only) + metric.more_points
        return ([end], [only]) if end - 1 in known else ([], [])
    symbol = statement.symbol(metric.index)
    first, step = _affine(statement, values)
    first += metric.more_points
    if at is None:
        ends = {r + 1 for r in known}
        if len(held) and held[-1] < len(held):  # every round: fewer and fewer of them
            ends &= {*range(1, 101), *(round(100 * 1.05**j) for j in range(1, 1000)), int(held[-1]) + 1}
        at = [(end - first) / step for end in sorted(ends)]
    found = {k: first + step * k for k in at if symbol.admits(k)}
    kept = sorted((int(end), k) for k, end in found.items() if end.denominator == 1 and end - 1 in known)
    return [end for end, _ in kept], [k for _, k in kept]


def _spoken_of(
    statement: Statement, values: Mapping[str, Fraction], places: list[int], index: list[Fraction]
) -> tuple[list[int], list[Fraction]]:
    """Those places whose index meets the conditions on it, as far as the symbols of these have values."""
    name = index_name(statement)
    asked = [
        c.relation for c in index_conditions(statement) if {s.name for s in c.relation.free_symbols} <= {name, *values}
    ]
    kept = [(p, k) for p, k in zip(places, index, strict=True) if all(holds(r, {**values, name: k}) for r in asked)]
    return [p for p, _ in kept], [k for _, k in kept]


def _affine(statement: Statement, values: Mapping[str, Fraction]) -> tuple[Fraction, Fraction]:
    """(rounds at index 0, rounds for each further one); BadInput where they do not grow."""
    metric = statement.metric
    symbol = statement.symbol(str(metric.index))
    other = {s: values[s.name] for s in metric.rounds.free_symbols if s.name != symbol.name}
    at0, at1 = (as_fraction(metric.rounds.subs({**other, symbol.expr: k}), "the rounds of the metric") for k in (0, 1))
    if at1 <= at0:
        raise BadInput(f"{statement.best_id}: the metric's rounds do not grow with {symbol.name}.")
    return at0, at1 - at0


def _indices(statement: Statement, curve: Curve, values: Mapping[str, Fraction]) -> tuple[list[int], list[Fraction]]:
    """Positions on the curve's grid that are an admissible index, and those indices; rounds is affine in it.

    A statement without index has one number of rounds; its index is then that number.
    """
    metric = statement.metric
    if metric.index is None:
        only = as_fraction(metric.rounds.subs({s: values[s.name] for s in metric.rounds.free_symbols}), "rounds")
        found = [position for position, done in enumerate(curve.rounds) if int(done) == only]
        return found, [only] * len(found)
    symbol = statement.symbol(str(metric.index))
    first, step = _affine(statement, values)
    chosen: list[int] = []
    index: list[Fraction] = []
    for position, done in enumerate(curve.rounds):
        k = (int(done) - first) / step
        if symbol.admits(k):
            chosen.append(position)
            index.append(k)
    return chosen, index


def _enclose(
    expr: Any,
    statement: Statement,
    values: Mapping[str, Fraction],
    index: Sequence[Fraction],
    own: Sequence[Mapping[str, Fraction]] = (),
) -> tuple[Floats, Floats]:
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
