"""At which values of its index, and so at which rounds, a claim is compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.core.numbers import as_fraction, format_short, parse_grid
from boundcheck.engines.summaries import MOST_ROUNDS
from boundcheck.errors import BadInput
from boundcheck.evidence.round_values import FIRST_ROUNDS, rounds_before
from boundcheck.theory.quantities import round_symbols

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement


GRID_POINTS = 60  # of the default log grid
LAST_INDEX = Fraction(10**12)  # the default grid never goes beyond
LAST_AVERAGE = 10_000  # nor, for an average over rounds, beyond this many of them


def default_index(claimed: Statement, values: Mapping[str, Fraction]) -> list[Fraction]:
    """0, 1 and a log grid up to where the bound has come within 1 % of its floor (or 10^12)."""
    symbol = claimed.symbol(str(claimed.metric.index))
    if round_symbols(claimed):
        whole = claimed.metric.over_rounds
        return [Fraction(k) for k in range(int(whole), FIRST_ROUNDS // (4 if whole else 1) + 1)]
    first = symbol.low if symbol.low is not None else Fraction(1)
    if claimed.metric.over_rounds and not claimed.metric.with_last:
        first = max(first, Fraction(1))  # no points at 0
    if symbol.high is not None:
        return parse_grid([first, symbol.high] if first < symbol.high else [first], symbol.name)
    fixed = {k: v for k, v in values.items() if k in [s.name for s in claimed.symbols]}

    def bound(k: Fraction) -> float:
        return float(claimed.evaluate(**fixed, **{symbol.name: k}).value)

    limit = _averaged_up_to(claimed, values, LAST_AVERAGE) if claimed.metric.over_rounds else LAST_INDEX
    floor = bound(LAST_INDEX)
    last = min(max(first, Fraction(16)), limit)
    while last < limit and bound(last) > max(1.01 * floor, 1e-12 * bound(first)):
        last = min(2 * last, limit)
    start = max(first, Fraction(1))
    if last <= start:
        return sorted({first, start})
    grid = parse_grid(f"log:{start}:{last}:{GRID_POINTS}", symbol.name, integer=symbol.integer)
    return sorted({first, *grid})


def _averaged_up_to(claimed: Statement, values: Mapping[str, Fraction], rounds: int) -> Fraction:
    """The largest integer index at which at most this many rounds are averaged."""
    symbol, expr = claimed.symbol(str(claimed.metric.index)).expr, claimed.metric.rounds
    fixed = _fixed(claimed, values)
    first, second = (as_fraction(expr.subs({**fixed, symbol: k}), "rounds") for k in (0, 1))
    return Fraction(max(1, math.floor((rounds - first) / (second - first))))


def _fixed(claimed: Statement, values: Mapping[str, Fraction]) -> dict[Any, Fraction]:
    """The values of the symbols on which the rounds of an index depend. Raises BadInput where one has none."""
    used = sorted((s for s in claimed.metric.rounds.free_symbols if s.name != claimed.metric.index), key=str)
    lacking = [s.name for s in used if s.name not in values]
    if lacking:
        raise BadInput(
            f"{claimed.best_id}: no value for {', '.join(lacking)}, on which the rounds depend; neither the problem "
            "nor the method gives one, so write it under constants."
        )
    return {s: values[s.name] for s in used}


def rounds_of(claimed: Statement, index: Sequence[Fraction], values: Mapping[str, Fraction]) -> list[int]:
    """The rounds at which the statement's metric is measured for these values of its index, increasing.

    That of a summary over rounds is the round of its last point. Raises BadInput where an index is no whole number of
    rounds, or a summary has no points or too many.
    """
    expr = claimed.metric.rounds
    symbol = None if claimed.metric.index is None else claimed.symbol(claimed.metric.index).expr
    fixed = _fixed(claimed, values)
    rounds: list[int] = []
    for k in [Fraction(0)] if symbol is None else index:
        done = as_fraction(expr.subs(fixed if symbol is None else {**fixed, symbol: k}), "rounds")
        if done.denominator != 1:
            raise BadInput(f"{claimed.best_id}: {symbol} = {format_short(k)} is not a whole number of rounds.")
        rounds.append(int(done))
        if claimed.metric.over_rounds:
            count = int(done) + claimed.metric.more_points
            if not 1 <= count <= MOST_ROUNDS:
                raise BadInput(
                    f"{claimed.best_id}: at {claimed.metric.index or 'rounds'} = "
                    f"{format_short(done if symbol is None else k)} the metric is an average over {count} rounds, each "
                    f"of which is measured; from 1 to {MOST_ROUNDS} are allowed."
                )
            rounds[-1] = count - 1
    if claimed.metric.over_rounds:
        return sorted({0, *rounds})
    return rounds_before(claimed, rounds, values) if round_symbols(claimed) else sorted(set(rounds))
