"""What Table 2 of the asynchronous paper prints for a scheme, beside what the schedule and the instance give.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates", Table 2 (`papers.async_fl.theories.scheme_table`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import format_exact, format_short
from boundcheck.evidence.studies.study import Methods, Study, StudyTable, TableSpec, label
from boundcheck.methods.build import build as build_method
from boundcheck.papers.async_fl.theories.scheme_table import require_column, scheme_table
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of

MEANING = {
    "d": "largest aggregation weight d_i",
    "N": "aggregations in a unit of time",
    "alpha": "alpha of the weights' covariance",
    "beta": "beta of the weights' covariance",
    "tau": "largest delay, in aggregations",
    "W": "window, in aggregations",
    "R": "residual R",
}

SHOWN = ("dt", "ties", "weights", "m", "times")  # parameters that tell schedules apart


class Spec(TableSpec):
    """One `[[schemes]]` table. methods: specifications whose clients have fixed update times."""

    name: str
    """what the page calls it"""
    problem: dict[str, Any]
    """as in a claim"""
    methods: Methods
    """methods whose clients have fixed update times"""


def check(spec: Spec) -> None:
    """Raises BadInput, UnknownName and Unsupported for what cannot be carried out."""
    clients = clients_of(build_problem(spec.problem))
    for method in spec.methods:
        built = build_method(method)
        built.check(clients)
        require_column(built, clients.count)


def study(spec: Spec, on_progress: Callable[[float], None] | None = None) -> Study:
    """Carries out the table."""
    problem = build_problem(spec.problem)
    tables: list[StudyTable] = []
    data: list[dict[str, Any]] = []
    for k, given in enumerate(spec.methods):
        method = build_method(given)
        rows: list[tuple[str, ...]] = []
        for entry in scheme_table(method, problem):
            agrees = {True: "yes", False: "no", None: "not known"}[entry.agrees]
            allowed = _range(entry.low, entry.high)
            rows.append((MEANING[entry.quantity], entry.printed, allowed, _text(entry.exact), agrees))
            data.append(
                {
                    "method": str(given["kind"]),
                    "quantity": entry.quantity,
                    "printed": entry.printed,
                    "low": None if entry.low is None else format_exact(entry.low),
                    "high": None if entry.high is None else format_exact(entry.high),
                    "exact": None if entry.exact is None else format_exact(entry.exact),
                    "agrees": entry.agrees,
                }
            )
        columns = ("quantity", "printed", "that is", "of this schedule, exactly", "agrees")
        shown = {k: v for k, v in given.items() if k in SHOWN and v is not None}
        tables.append(StudyTable(label(method.name, shown), columns, tuple(rows)))
        if on_progress is not None:
            on_progress((k + 1) / len(spec.methods))
    words = (
        f"Table 2 of the asynchronous paper on {problem.name}: what it prints for each scheme, which values that "
        "allows, and the value that follows from the schedule and the clients' objectives, exactly. An Omega or an O "
        "is read with the constant 1.",
    )
    return Study("schemes", spec.name, words, tuple(tables), data={"entries": data})


def _text(value: Fraction | None) -> str:
    return "not known" if value is None else format_short(value)


def _range(low: Fraction | None, high: Fraction | None) -> str:
    if low is None and high is None:
        return "no bound"
    if low == high:
        return _text(low)
    if low is None:
        return f"at most {_text(high)}"
    return f"at least {_text(low)}" if high is None else f"{_text(low)} to {_text(high)}"
