"""Values of symbols that change along a run: quantities of a round in the bound of a lemma, beside its metric.

Their keys are those of the group "round" (`theory.keys`). The exact engine computes them in fractions with the metric,
so that both sides of the lemma are of the same run. In a statement about a mean over rounds they are means over the
same rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.summaries import summarised, summary_of
from boundcheck.errors import BadInput
from boundcheck.theory.keys import name_of
from boundcheck.theory.quantities import round_symbols

if TYPE_CHECKING:
    from boundcheck.engines.curve import Curve
    from boundcheck.theory.statement import Statement

# The key of a sum over the rounds before, as many as the symbol with the second key says.
SUMMED, REACH = "round/movements2", "schedule/tau"
FIRST_ROUNDS = 16  # a lemma about single rounds is compared at 0, 1, ..., 16 by default


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


def rounds_before(statement: Statement, rounds: Sequence[int], values: Mapping[str, Fraction]) -> list[int]:
    """The rounds to measure at, increasing: these, and the ones before them that enter their values."""
    reach = _reach(statement, values)
    return sorted({m for n in rounds for m in range(max(0, n - reach), n + 1)})


def values_of_rounds(
    statement: Statement, curve: Curve, values: Mapping[str, Fraction], places: Sequence[int]
) -> list[dict[str, Fraction]]:
    """The values of these symbols at some places of the curve's grid, one table a place.

    places: of a mean over rounds, how many rounds each mean has. Raises BadInput where the curve has not the quantities
    in fractions, or not in all rounds that are needed.
    """
    own = round_symbols(statement)
    columns: dict[str, list[Fraction]] = {}
    for name, key in own.items():
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
