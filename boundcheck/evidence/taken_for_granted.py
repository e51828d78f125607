"""What a comparison takes for granted: what was neither decided nor sampled, as phrases for the reason of a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from boundcheck.evidence.external_curve import ENGINE
from boundcheck.evidence.kind_parameters import Parameters, left_open
from boundcheck.setting.user_constants import UNCHECKED

if TYPE_CHECKING:
    from boundcheck.certified.constant import Constant
    from boundcheck.engines.curve import Curve
    from boundcheck.theory.statement import Statement


def untested(
    statement: Statement,
    curve: Curve,
    known: Mapping[str, Constant],
    assumed: Mapping[str, str],
    choices: Sequence[str] = (),
) -> list[str]:
    """What a comparison takes for granted, as phrases: assumptions, the method of the run, values of constants.

    assumed: see `standing`. choices: symbols that may not have the value that the statement prescribes. The list is
    empty for a run of an engine whose hypotheses were all decided or sampled.
    """
    found: list[str] = []
    granted = [name for name, state in assumed.items() if state == "granted"]
    if granted:
        found.append(f"assumption{'s' if len(granted) > 1 else ''} {', '.join(granted)}")
    if statement.algorithm is not None and curve.algorithms is None:
        prescribed = " and ".join(f"{name} = {expr} after r rounds" for name, expr in statement.algorithm.steps)
        found.append(f"that the run is {statement.algorithm.kind}" + (f" with {prescribed}" if prescribed else ""))
    elif statement.algorithm is not None and curve.chosen is None:  # read from a file, say
        names = [name for name, _ in statement.algorithm.steps] if curve.parameters is None else []
        names = list(dict.fromkeys([*names, *left_open(statement, Parameters.of_curve(curve))]))
        found += [f"that the run has the {', '.join(names)} of the statement, which are not recorded"] if names else []
    elif statement.algorithm is not None:
        found += [f"that it is made for every {name}" for name in left_open(statement, Parameters.of_curve(curve))]
    found += [str(phrase) for phrase in curve.info.get("assumed", ())]
    found += [f"that {name} has the prescribed value" for name in choices]
    outside = curve.info.get("engine") == ENGINE and not curve.constants  # no problem has tested what was given
    chosen = {s.name for s in statement.symbols if s.free}
    unchecked = [
        name for name, constant in known.items() if constant.how.endswith(UNCHECKED) or (outside and name not in chosen)
    ]
    if unchecked:
        found.append(f"the given value{'s' if len(unchecked) > 1 else ''} of {', '.join(unchecked)}")
    return found
