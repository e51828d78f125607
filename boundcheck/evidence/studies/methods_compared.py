"""The bounds of all papers on one instance: their step sizes, the rounds they promise, the rounds really needed.

For every method of the table, every statement that is believed true, bounds for every number of rounds how far a method
still is, and covers that method is tried with the instance's certified constants. Its step size (where left to it)
is the one that promises the target in the fewest rounds (`evidence.tuning`). A statement that names no kind of method
is about all that have its parameters and constants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.errors import BadInput, BoundcheckError
from boundcheck.evidence.rounds_to_target import is_bound, measures_progress, needed_range, rounds_at, start_value
from boundcheck.evidence.studies.study import Methods, Study, StudyTable, TableSpec
from boundcheck.evidence.tuning import recommended, standing_in, step_of
from boundcheck.methods.build import algorithms
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of
from boundcheck.setting import Setting
from boundcheck.theory.dimension import ONE, STEP
from boundcheck.theory.discovery import all_statements, statement
from boundcheck.theory.statement import Belief, Statement

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


class Spec(TableSpec):
    """One `[[methods_compared]]` table.

    target: the share of a metric's value at the start that is to be reached. methods: specifications, step sizes
    "largest" where the statement is to choose them, and "best" for what it does not limit, such as a proximal weight.
    statements: ids, default all that apply.
    """

    name: str
    """what the page calls it"""
    problem: dict[str, Any]
    """as in a claim"""
    methods: Methods
    """methods; a step size may be `"largest"` where the statement chooses it, another parameter that no condition
    limits `"best"`
    """
    target: Any = "1/100"
    """the share of the metric's start that is to be reached"""
    statements: list[str] | None = None
    """ids that restrict the bounds; default all that apply"""


def _share(spec: Spec) -> Fraction:
    share = as_fraction(spec.target, "target")
    if not 0 < share < 1:
        raise BadInput(f"target = {format_short(share)} is not allowed; it is a share of the start, between 0 and 1.")
    return share


def check(spec: Spec) -> None:
    """Raises BadInput and UnknownName for what cannot be carried out."""
    _share(spec)
    problem = build_problem(spec.problem)
    for method in spec.methods:
        build_method(standing_in(method)).check(clients_of(problem), problem.dim)
    for name in spec.statements or ():
        statement(name)


def _candidates(spec: Spec) -> list[Statement]:
    """The statements that bound how far a method still is and are believed true, the best reading of each."""
    if spec.statements is not None:
        return [statement(name) for name in spec.statements]
    best: dict[str, Statement] = {}
    for s in all_statements():
        best.setdefault(s.id.rpartition("/")[0], s)  # the best reading comes first
    return [s for s in best.values() if is_bound(s) and s.belief is Belief.TRUE and measures_progress(s)]


def _speaks(claimed: Statement, method: Method, problem: Problem) -> bool:
    """Whether a statement is about a method: it names its kind, or names none and has symbols for its parts.

    Those are its symbols without dimension and its step sizes; whether the problem has the others is another matter.
    """
    if claimed.algorithm is not None:
        return claimed.algorithm.kind in algorithms(method, clients_of(problem))
    of_methods = {s.name for s in claimed.symbols if s.dimension in (ONE, STEP)} - {claimed.metric.index}
    return of_methods <= set(claimed.known(dict.fromkeys(Setting(method, problem).constants())))


def study(spec: Spec, on_progress: Callable[[float], None] | None = None) -> Study:
    """Carries out the table."""
    problem, share = build_problem(spec.problem), _share(spec)
    rows: list[tuple[str, ...]] = []
    refused: list[tuple[str, ...]] = []
    data: list[dict[str, Any]] = []
    candidates = _candidates(spec)
    total = len(spec.methods) * len(candidates)
    for k, given in enumerate(spec.methods):
        method = build_method(standing_in(given))
        found = len(rows) + len(refused)
        for j, claimed in enumerate(candidates):
            if on_progress is not None:
                on_progress((k * len(candidates) + j) / total)
            if not _speaks(claimed, method, problem):
                continue
            row, why, numbers = _row(claimed, problem, given, share)
            if row is None:
                refused.append((given["kind"], claimed.best_id, why))
            else:
                rows.append(row)
            data.append({"method": str(given["kind"]), "statement": claimed.best_id, "why": why, **numbers})
        if len(rows) + len(refused) == found:
            refused.append((given["kind"], "-", "no statement of those compared is about this method"))
    columns = ("method", "statement", "metric", "step", "promised rounds", "needed rounds", "promised / needed")
    words = (
        f"Every bound that applies to one of these methods on {problem.name}, with the instance's own constants: the "
        f"communication rounds after which it promises {format_short(share)} of the metric's value at the start, and "
        "the rounds after which a run with the same step size is really there, measured as the statement measures "
        "(last iterate or average).",
        "A round is one of the method's own: in FedDANE it takes two exchanges with the server, in partial averaging "
        "one of a part of the model.",
        "The step size is the one, in scope, for which the bound promises the target in the fewest rounds.",
    )
    tables = [StudyTable("Promised and needed rounds", columns, tuple(sorted(rows)), (4, 5, 6))]
    if refused:
        tables.append(
            StudyTable("Bounds that say nothing here, and why", ("method", "statement", "why"), tuple(refused))
        )
    return Study("methods_compared", spec.name, words, tuple(tables), data={"target": str(share), "rows": data})


def _row(
    claimed: Statement, problem: Problem, given: Mapping[str, Any], share: Fraction
) -> tuple[tuple[str, ...] | None, str, dict[str, Any]]:
    """The table's row of one bound (None: it says nothing), why not, and its numbers."""
    try:
        setup, choice, why = recommended(claimed, problem, given, share)
        if setup is None or choice is None or choice.rounds is None:
            return None, why.removeprefix(f"{claimed.best_id}: "), {}
        indices = needed_range(setup, start_value(setup) * share)
        least, really = (None, None) if indices is None else (rounds_at(setup, k) for k in indices)
    except BoundcheckError as error:
        return None, str(error).rstrip(".").removeprefix(f"{claimed.best_id}: "), {}
    step = step_of(claimed, given)
    metric = claimed.metric.quantity + (f", {claimed.metric.average}" if claimed.metric.over_rounds else "")
    size = None if step is None or step not in setup.spec else as_fraction(setup.spec[step], step)
    chosen = "-" if size is None else f"{step} = {nearest_float(size):.4g}"
    shown = (
        str(given["kind"]),
        claimed.best_id,
        metric,
        chosen,
        str(choice.rounds),
        "not within the longest run" if really is None else _span(str(least), str(really)),
        "-" if not really or not least else _span(f"{choice.rounds / really:.4g}", f"{choice.rounds / least:.4g}"),
    )
    numbers = {"method_spec": {k: str(v) for k, v in setup.spec.items()}, "promised": choice.rounds, "needed": really}
    if least != really:
        numbers["needed_from"] = least
    return shown, "", numbers


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
