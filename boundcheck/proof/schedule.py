"""Step sizes that change with the rounds, where a statement with a constant step is cited for some of the rounds."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.identity import same
from boundcheck.proof.language import whole
from boundcheck.proof.step import Context
from boundcheck.theory.statement import ROUND


def constant_step(setting: Context, name: str, value: Any, begin: Any, rounds: Any) -> str:
    """Why the step `name` of the run is not `value` in each of so many rounds after `begin`; empty where it is.

    The step is what the method of the statement that is being derived says. A floor in it is read off where its
    argument is an integer plus j/rounds, j = 0, ..., rounds - 1 the rounds done since `begin`.
    """
    formula = dict(setting.statement.algorithm.steps).get(name)
    if formula is None or begin is None:
        return f"{setting.statement.id} does not say how {name} changes with the rounds"
    j = sp.Dummy("j", real=True)
    floors: dict[Any, Any] = {}
    found = formula.xreplace({ROUND: begin + j})
    for floor in found.atoms(sp.floor):
        inside = sp.expand(floor.args[0])
        integer = sp.expand(inside.xreplace({j: sp.Integer(0)}))
        if not same(inside - integer, j / rounds) or not whole(integer, setting):
            return f"{floor} is not shown to be constant over {rounds} rounds"
        floors[floor] = integer
    found = found.xreplace(floors)
    return "" if not found.has(sp.floor) and same(found, value) else f"{name} is {found} there, and not {value}"
