"""At which values of its index, and so at which rounds, a statement is compared, and values that differ by round.

Some lemmas have quantities of a round in their bound, beside their metric. Their keys are those of the group "round"
(`theory.keys`). The exact engine computes them in fractions with the metric, so that both sides of the lemma are of the
same run. In a statement about a mean over rounds they are means over the same rounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boundcheck.core.numbers import as_fraction, format_short, parse_grid
from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.summaries import MOST_ROUNDS, summarised, summary_of
from boundcheck.errors import BadInput
from boundcheck.theory.keys import name_of
from boundcheck.theory.quantities import round_symbols

if TYPE_CHECKING:
    from boundcheck.engines.curve import Curve
    from boundcheck.theory.statement import Statement


GRID_POINTS = 60  # of the default log grid
LAST_INDEX = Fraction(10**12)  # the default grid never goes beyond
LAST_AVERAGE = 10_000  # nor, for an average over rounds, beyond this number of them
# The key of a sum over the rounds before, as many as the symbol with the second key says.
SUMMED, REACH = "round/movements2", "schedule/tau"
FIRST_ROUNDS = 16  # a lemma about single rounds is compared at 0, 1, ..., 16 by default


def index_name(statement: Statement) -> str:
    """The statement's index symbol; "rounds" where it has none."""
    return statement.metric.index or "rounds"


def affine_rounds(statement: Statement, values: Mapping[str, Fraction]) -> tuple[Fraction, Fraction]:
    """(rounds at index 0, rounds for each further one); (rounds, 0) for a statement without an index.

    Raises BadInput where a symbol on which the rounds depend has no value, or they do not grow with the index.
    """
    metric = statement.metric
    used = sorted((s for s in metric.rounds.free_symbols if s.name != metric.index), key=str)
    lacking = [s.name for s in used if s.name not in values]
    if lacking:
        raise BadInput(
            f"{statement.best_id}: no value for {', '.join(lacking)}, on which the rounds depend; neither the problem "
            "nor the method gives one, so write it under constants."
        )
    expr = metric.rounds.subs({s: values[s.name] for s in used})
    if metric.index is None:
        return as_fraction(expr, "rounds"), Fraction(0)
    symbol = statement.symbol(metric.index).expr
    first, second = (as_fraction(expr.subs(symbol, k), "the rounds of the metric") for k in (0, 1))
    if second <= first:
        raise BadInput(f"{statement.best_id}: the metric's rounds do not grow with {metric.index}.")
    return first, second - first


def default_index(claimed: Statement, values: Mapping[str, Fraction]) -> list[Fraction]:
    """0, 1 and a log grid up to where the bound has come within 1 % of its floor (or 10^12)."""
    symbol = claimed.symbol(str(claimed.metric.index))
    averaged = claimed.metric.over_rounds
    if round_symbols(claimed):
        return [Fraction(k) for k in range(int(averaged), FIRST_ROUNDS // (4 if averaged else 1) + 1)]
    first = symbol.low if symbol.low is not None else Fraction(1)
    if averaged and not claimed.metric.with_last:
        first = max(first, Fraction(1))  # no points at 0
    if symbol.high is not None:
        return parse_grid([first, symbol.high] if first < symbol.high else [first], symbol.name)
    fixed = {k: v for k, v in values.items() if k in [s.name for s in claimed.symbols]}

    def bound(k: Fraction) -> float:
        return float(claimed.evaluate(**fixed, **{symbol.name: k}).value)

    limit = LAST_INDEX
    if averaged:
        at_0, each = affine_rounds(claimed, values)
        limit = Fraction(max(1, math.floor((LAST_AVERAGE - at_0) / each)))
    floor = bound(LAST_INDEX)
    last = min(max(first, Fraction(16)), limit)
    while last < limit and bound(last) > max(1.01 * floor, 1e-12 * bound(first)):
        last = min(2 * last, limit)
    start = max(first, Fraction(1))
    if last <= start:
        return sorted({first, start})
    grid = parse_grid(f"log:{start}:{last}:{GRID_POINTS}", symbol.name, integer=symbol.integer)
    return sorted({first, *grid})


def rounds_of(claimed: Statement, index: Sequence[Fraction], values: Mapping[str, Fraction]) -> list[int]:
    """The rounds at which the statement's metric is measured for these values of its index, increasing.

    That of a summary over rounds is the round of its last point. Raises BadInput where an index is no whole number of
    rounds, or a summary has no points or too many.
    """
    metric = claimed.metric
    first, step = affine_rounds(claimed, values)
    rounds: list[int] = []
    for k in index if metric.index is not None else [Fraction(0)]:
        done = first + step * k
        if done.denominator != 1:
            raise BadInput(f"{claimed.best_id}: {metric.index} = {format_short(k)} is not a whole number of rounds.")
        count = int(done) + metric.more_points
        if metric.over_rounds and not 1 <= count <= MOST_ROUNDS:
            raise BadInput(
                f"{claimed.best_id}: at {index_name(claimed)} = {format_short(done if metric.index is None else k)} "
                f"the metric is an average over {count} rounds, each of which is measured; from 1 to {MOST_ROUNDS} are "
                "allowed."
            )
        rounds.append(count - 1 if metric.over_rounds else int(done))
    if metric.over_rounds:
        return sorted({0, *rounds})
    reach = _reach(claimed, values)  # rounds before that enter the values of a round
    return sorted({m for n in rounds for m in range(max(0, n - reach), n + 1)})


def check_fits(statement: Statement, engine: str, arithmetic: str | None, given: Iterable[str]) -> None:
    """Raises BadInput where a lemma is compared otherwise than in fractions, or is given what the run computes."""
    own = round_symbols(statement)
    if own and (engine != "exact" or arithmetic not in (None, Arithmetic.RATIONAL.value)):
        how = f"engine = '{engine}'" if engine != "exact" else f"arithmetic = '{arithmetic}'"
        raise BadInput(
            f"{statement.best_id} compares quantities of a run with each other, for which {how} is not allowed; it "
            "takes engine = 'exact' with arithmetic = 'rational', the default for it."
        )
    for name in given:
        if name in own:
            raise BadInput(
                f"{statement.best_id}: {name} is a quantity of each round ({own[name]}), which the run computes; leave "
                "it out of the constants."
            )


def metrics_of(statement: Statement) -> set[str]:
    """The metrics of a run from which the statement's symbols take their values."""
    return {name_of(key) for key in round_symbols(statement).values()}


def _reach(statement: Statement, values: Mapping[str, Fraction]) -> int:
    """How many rounds before a round enter its values."""
    if SUMMED not in round_symbols(statement).values():
        return 0
    name = next((s.name for s in statement.symbols if s.key == REACH), None)
    if name is None or name not in values:
        raise BadInput(f"{statement.best_id}: a symbol with the key {SUMMED} needs one with the key {REACH}.")
    return int(values[name])


def values_of_rounds(
    statement: Statement, curve: Curve, values: Mapping[str, Fraction], places: Sequence[int]
) -> list[dict[str, Fraction]]:
    """The values of these symbols at some places of the curve's grid, one table a place.

    places: of a mean over rounds, how many rounds each mean has. Raises BadInput where the curve has not the quantities
    in fractions, or not in all rounds that are needed.
    """
    columns: dict[str, list[Fraction]] = {}
    for name, key in round_symbols(statement).items():
        metric = name_of(key)
        if metric not in curve.exact:
            raise BadInput(
                f"{statement.best_id} needs the quantity '{metric}' of every round in fractions, which the curve does "
                "not hold; run the method with the exact engine."
            )
        known = curve.exact[metric]
        if statement.metric.weights is not None:
            rounds = [end - 1 for end in places]
            over = summarised(curve, summary_of(statement, values, metric), rounds)
            if places and metric not in over.exact:
                what = f"the mean of '{metric}' is too long a fraction"
                raise BadInput(f"{statement.best_id}: {what}; take fewer rounds.")
            columns[name] = [over.exact[metric][k] for k in np.searchsorted(over.rounds, rounds)]
        elif key == SUMMED:
            columns[name] = _sums(statement, curve, known, places, _reach(statement, values))
        else:
            columns[name] = [known[p] for p in places]
    return [{name: column[j] for name, column in columns.items()} for j in range(len(places))]


def _sums(
    statement: Statement, curve: Curve, known: Sequence[Fraction], places: Sequence[int], reach: int
) -> list[Fraction]:
    at = {int(done): value for done, value in zip(curve.rounds, known, strict=True)}
    found: list[Fraction] = []
    for place in places:
        done = int(curve.rounds[place])
        before = range(max(0, done - reach), done)
        if not set(before) <= set(at):
            raise BadInput(f"{statement.best_id}: the curve lacks rounds before round {done}, which enter its values.")
        found.append(sum((at[m] for m in before), Fraction(0)))
    return found


def exists(statement: Statement, values: Mapping[str, Fraction]) -> bool:
    """Whether the statement is about a round: a round without clients has no weights, for example."""
    return all(statement.symbol(name).admits(value) for name, value in values.items())
