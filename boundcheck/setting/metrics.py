"""Metrics of a point and of a round: what each means, and what a method needs for those of a round."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from boundcheck.errors import BadInput, BoundcheckError, UnknownName
from boundcheck.methods import answers
from boundcheck.problems.problem import no_minimum
from boundcheck.setting.quantities import MODELS, MOMENTUM, SAMPLED, SERVER, Quantity

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

# The metrics of a point, which a problem has.
OF_A_POINT: Mapping[str, str] = {
    "gap": "F(x) - min F; of regressions a bound from above, of networks F minus a lower bound of F",
    "dist2": "squared distance of x to the solution set",
    "grad2": "squared norm of grad F(x)",
    "x": "x itself, on the line",
}
_NEEDED = {"gap": "a minimum or a bound of it", "dist2": "a solution set", "grad2": "a gradient", "x": "one coordinate"}
QUANTITIES = "quantities"  # the file of a paper, beside its statements, and what it has of metrics of a round


def of_a_round() -> Mapping[str, Quantity]:
    """The metrics of a round by name, of all papers. Raises BadInput for a broken file and a name that is taken."""
    from boundcheck.theory.discovery import beside

    found: dict[str, Quantity] = {}
    for module in beside(QUANTITIES):
        for own in getattr(module, QUANTITIES, ()):
            if own.name in found or own.name in OF_A_POINT:
                raise BadInput(f"{module.__name__}: the metric '{own.name}' is declared twice; choose another name.")
            found[own.name] = own
    return found


def meanings() -> Mapping[str, str]:
    """What each metric means, those of a point first."""
    return {**OF_A_POINT, **{name: q.meaning for name, q in of_a_round().items()}}


def unknown_metric(problem: Problem, name: str, known: Iterable[str] = ()) -> BadInput:
    """The error for a metric that a problem has not; known: names beside those of the problem."""
    why = no_minimum(problem)
    if why is not None and (name in OF_A_POINT or is_round_metric(name)):
        own = ", ".join(problem.metrics)
        return BadInput(f"{why}, so that it has no '{name}', which is for minimisations; its metrics: {own}.")
    return UnknownName(f"the problem '{problem.name}': metric", name, [*problem.metrics, *known])


COLUMNS = ("metric", "of a", "needs", "meaning")


def metrics_table() -> list[dict[str, Any]]:
    """All metrics: name, whether of a point or of a round, what problem or method must have, meaning, sign."""
    rows = [(name, "point", f"problem with {_NEEDED[name]}", text) for name, text in OF_A_POINT.items()]
    for name, q in of_a_round().items():
        needs = "run with samples" if q.needs == SAMPLED else f"method with {q.needs}"
        rows.append((f"{name}[:NUMBER]" if q.numbered else name, "round", needs, q.meaning))
    return [{**dict(zip(COLUMNS, row, strict=True)), "signed": is_signed(row[0].partition("[")[0])} for row in rows]


def table_rows(found: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Rows of `COLUMNS`."""
    return (tuple(row[name] for name in COLUMNS) for row in found)


def is_signed(name: str) -> bool:
    """Whether a metric can be negative."""
    own = of_a_round().get(name)
    return name == "x" or (own is not None and own.signed)


def is_round_metric(name: str) -> bool:
    """Whether a metric is one of a round, which the method has and not the problem."""
    head, colon, number = name.partition(":")
    own = of_a_round().get(head)
    return own is not None and (not colon or (own.numbered and number.isdecimal()))


def measured(name: str, round_: Any) -> Any:
    """What the formula of a metric of a round, which has one (`needed_for`), gives for a round of an engine.

    Raises BadInput where the formula raises anything but the errors of this package.
    """
    formula = of_a_round()[name.partition(":")[0]].formula
    assert formula is not None, "engines with samples have it alone"
    try:
        return formula(round_)
    except BoundcheckError:
        raise
    except Exception as error:  # of a user's formula
        raise BadInput(f"the formula of the metric '{name}' raises {error.__class__.__name__}: {error}.") from error


def modules_of(names: Iterable[str]) -> set[str]:
    """The modules that hold the formulas of the metrics of a round among these names."""
    asked = {name.partition(":")[0] for name in names}
    return {q.formula.__module__ for name, q in of_a_round().items() if q.formula is not None and name in asked}


def needed_for(name: str, method: Method) -> str | None:
    """What a method lacks for a metric of a round, in words; None where it lacks nothing."""
    needs = of_a_round()[name.partition(":")[0]].needs
    if method.server_momentum is not None:
        return "server step without momentum"
    blocks = answers.averaging(method.exchange) is not None
    met = {
        MOMENTUM: method.momentum is not None,
        MODELS: blocks,
        SERVER: not blocks and method.momentum is None and method.control is None and method.functions is None,
        SAMPLED: False,
    }.get(
        needs,
        method.exchange is None and method.correction is None and method.control is None and method.functions is None,
    )
    return None if met else needs
