"""What can be wrong with a `[[training]]` table before anything runs, each mistake with its key.

Checking needs no data: a configuration can be read where its data set is not.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.engines.run import ENGINES
from boundcheck.errors import BadInput, BoundcheckError, UnknownName
from boundcheck.evidence.ordering import BEST, MAX_FLIPS, TESTS, pairs_of
from boundcheck.evidence.studies.placed import Placed, at, named_in
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Timed
from boundcheck.networks.engine.device import Settings
from boundcheck.networks.study.spec import (
    Case,
    Estimate,
    MethodSpec,
    Spec,
    fixed_values,
    groups,
    laid_over,
    problem_spec,
    settings,
)
from boundcheck.problems.build import check_names
from boundcheck.setting.metrics import is_round_metric

if TYPE_CHECKING:
    from boundcheck.core.toml_lines import KeyPath


# Metrics of a point that some problem has in some engine; those of a round are in `setting.metrics.of_a_round`.
METRICS = (
    *("f", "grad2", "gap", "dist2", "B2", "accuracy", "test_f", "spread"),
    *("surrogate_f", "surrogate_gap", "surrogate_spread"),
)
OF_SURROGATE = ("surrogate_f", "surrogate_gap", "surrogate_spread")
MAX_TRIED = 200  # settings of one method


def check(spec: Spec) -> None:
    """Raises BadInput for what cannot be carried out, `Placed` where its key is known; the data need not be there."""
    with at("engine"):
        if spec.engine not in ENGINES:
            raise UnknownName("the engine", spec.engine, ENGINES)
    with at("neural", names=spec.neural):
        if spec.engine == "neural":
            Settings.of(spec.neural)
        elif spec.neural:
            raise BadInput(f"the settings under neural go with engine = 'neural', not '{spec.engine}'.")
    labels = [m.label for m in spec.methods]
    _distinct(labels, "methods", "methods")
    _distinct([c.label for c in spec.cases], "cases", "cases")
    _check_numbers(spec)
    _check_metrics(spec)
    if spec.surrogate is not None:
        with at("surrogate"):
            _known(spec.surrogate, labels, "surrogate")
    if spec.cases and spec.paper:
        with at("paper"):
            raise BadInput("where there are cases, each has the paper's numbers under its own key paper.")
    for number, case in enumerate(spec.all_cases):
        _check_case(spec, case, ("cases", number) if spec.cases else (), labels)
    for number, estimate in enumerate(spec.estimate):
        _check_estimate(spec, estimate, number, labels)


def _distinct(names: Sequence[str], what: str, *keys: str) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            with at(*keys, number, "label"):
                raise BadInput(f"two {what} are called '{name}'; give them different labels.")


def _known(label: str, labels: Sequence[str], where: str) -> None:
    if label not in labels:
        raise UnknownName(f"{where}: the method", label, labels)


def _of_comparison(number: int) -> KeyPath:
    return ("compare",) if number == 0 else ("also", number - 1)


def _check_numbers(spec: Spec) -> None:
    with at("confidence"):
        if not Fraction(1, 2) <= spec.confidence < 1:
            raise BadInput(f"confidence = {float(spec.confidence):g} is not allowed; at least 1/2 and below 1 is.")
    with at("test"):
        if spec.test == TESTS[1] and spec.seeds > MAX_FLIPS:
            raise BadInput(f'test = "sign_flip" goes through all signs of at most {MAX_FLIPS} seeds; use test = "t".')
    assert set(BEST) == {"lowest", "highest"}
    for number, comparison in enumerate(spec.comparisons):
        with at(*_of_comparison(number), "over"):
            share = float(comparison.over)
            if not 0 <= comparison.over < 1:
                raise BadInput(f"over = {share:g} is not allowed; it is a share of the run, 0 to below 1.")
        with at(*_of_comparison(number), "take"):
            if comparison.take == "deviation" and comparison.over == 0:
                raise BadInput("a deviation over the rounds needs over, the share of the run that it is taken over.")


def _check_metrics(spec: Spec) -> None:
    asked: list[tuple[KeyPath, str]] = [
        ((*_of_comparison(number), "metric"), comparison.metric) for number, comparison in enumerate(spec.comparisons)
    ]
    asked += [(("metrics", number), name) for number, name in enumerate(spec.metrics)]
    for keys, name in asked:
        with at(*keys):
            if name not in METRICS and not is_round_metric(name):
                raise UnknownName("the metric", name, METRICS)
            if name in OF_SURROGATE and spec.surrogate is None:
                why = "needs the key surrogate, which names the method whose problem it is."
                raise BadInput(f"the metric '{name}' {why}")


def _check_case(spec: Spec, case: Case, keys: KeyPath, labels: Sequence[str]) -> None:
    """keys: where the case stands; () for a table without cases."""
    where = f"the case '{case.label}'" if case.label else "the table"
    _check_length(spec, case, keys, where)
    _check_problem(spec, case, keys)
    for part, of_methods in (("paper", case.paper), ("methods", case.methods)):
        for label in of_methods:
            with at(*keys, part, label):
                _known(label, labels, where)
    tried = dict.fromkeys(name for method in spec.methods for name in method.grid)
    for name in case.grid:  # laid over the grids that there are; another name would change nothing
        with at(*keys, "grid", name):
            if name not in tried:
                raise UnknownName(f"{where}: the parameter of the grid", name, tried or ["none"])
    _check_orders(spec, case, keys, where, labels)
    for number, method in enumerate(spec.methods):
        _check_method(spec, case, keys, number, where)
        for name in fixed_values(laid_over(case, method), method):
            with at(*keys, "grid", name):
                if name in case.grid:
                    raise BadInput(f"{where} gives {name} of '{method.label}' both a value and a grid; leave one out.")


def _check_length(spec: Spec, case: Case, keys: KeyPath, where: str) -> None:
    rounds, time = spec.length(case)
    own = keys if case.rounds is not None or case.time is not None else ()
    if (rounds is None) == (time is None):
        with at(*(own or keys), *(() if time is None else ("time",))):
            raise BadInput(f"{where} needs exactly one of rounds and time.")
    if time is not None and time <= 0:
        with at(*own, "time"):
            raise BadInput(f"{where}: time = {time} is not allowed; it must be above 0.")


def _check_problem(spec: Spec, case: Case, keys: KeyPath) -> None:
    try:
        check_names(problem_spec(spec, case))
    except BoundcheckError as error:
        own = named_in(error, case.problem)
        if own is not None:
            raise Placed((*keys, "problem", own), error) from error
        with at("problem", names=spec.problem):
            raise


def _check_orders(spec: Spec, case: Case, keys: KeyPath, where: str, labels: Sequence[str]) -> None:
    for number, comparison in enumerate(spec.comparisons):
        order = spec.order_of(number, case)
        if number == 0 and case.expected_order is not None:
            place: KeyPath = (*keys, "expected_order")
        elif number == 0 and spec.compare.order is None:
            place = ("expected_order",)
        else:
            place = (*_of_comparison(number), "order")
        with at(*place):
            named = [label for group in groups(order) for label in group]
            for label in named:
                _known(label, labels, f"{where}: the expected order")
            for label in named:
                if named.count(label) > 1:
                    raise BadInput(f"{where}: the expected order names '{label}' twice.")
            if number == 0:
                _check_printed(where, order, case.paper, comparison.best)


def _check_method(spec: Spec, case: Case, keys: KeyPath, number: int, where: str) -> None:
    method = spec.methods[number]
    with at("methods", number, "grid"):
        found = list(itertools.islice(settings(case, method), MAX_TRIED + 1))
        if not 1 <= len(found) <= MAX_TRIED:
            many = f"more than {MAX_TRIED}" if found else "no"
            raise BadInput(f"{where}: the grid of '{method.label}' has {many} settings; 1 to {MAX_TRIED} are allowed.")
    with at("methods", number, "of_busiest"):
        if method.of_busiest is not None and method.of_busiest not in method.grid:
            raise BadInput(f"'{method.label}': of_busiest = '{method.of_busiest}' names no parameter of its grid.")
    for one in found:
        try:
            own = build_method(one.spec)
        except BoundcheckError as error:
            raise Placed(_place_of(error, case, keys, method, number, one.tried), error) from error
        with at("methods", number):
            if spec.length(case)[1] is not None:
                _check_clock(method.label, own)


def _place_of(
    error: BoundcheckError, case: Case, keys: KeyPath, method: MethodSpec, number: int, tried: Mapping[str, Any]
) -> KeyPath:
    """Where the parameter of a method stands that an error is about; the last of the tables that give it a value."""
    tables: list[tuple[KeyPath, Mapping[str, Any]]] = [
        ((*keys, "grid"), {name: tried[name] for name in case.grid if name in tried}),
        ((*keys, "methods", method.label), case.methods.get(method.label, {})),
        ((*keys, "method"), case.method),
        (("methods", number, "grid"), tried),
        (("methods", number, "method"), method.method),
    ]
    for place, table in tables:
        own = named_in(error, table)
        if own is not None:
            return (*place, own)
    return ("methods", number, "method")


def _check_clock(label: str, method: Method) -> None:
    if not isinstance(method.participation, Timed):
        raise BadInput(f"'{label}' has no update times, which a run up to a time needs; give it times.")


def _check_printed(where: str, order: list[list[str]], paper: Mapping[str, str], best: str) -> None:
    """The order that is expected must be that of the numbers that the paper prints."""
    sign = 1 if best == "lowest" else -1
    for a, b in pairs_of(order):
        first, second = (printed(paper.get(label, "")) for label in (a, b))
        if first is not None and second is not None and sign * (first - second) > 0:
            why = f"the paper's {paper[a]} and {paper[b]} say otherwise."
            raise BadInput(f"{where} expects '{a}' before '{b}', but {why}")


def printed(text: str) -> Fraction | None:
    """The number at the beginning of what the paper prints, such as 59.57 of "59.57 ± 0.14"; None without a number."""
    found = re.match(r"\s*(-?[0-9]+(?:\.[0-9]+)?)", text)
    return None if found is None else Fraction(found[1])


def _check_estimate(spec: Spec, estimate: Estimate, number: int, labels: Sequence[str]) -> None:
    from boundcheck.networks.engine.probing import Effort

    with at("estimate", number):
        if spec.engine != "neural":
            raise BadInput("estimate goes with engine = 'neural'; other problems have constants of their own.")
    with at("estimate", number, "effort", names=estimate.effort):
        Effort.of(estimate.effort)
    with at("estimate", number, "method"):
        _known(estimate.method, labels, "estimate")
    cases = [c.label for c in spec.all_cases]
    with at("estimate", number, "case"):
        if estimate.case is not None and estimate.case not in cases:
            raise UnknownName("estimate: the case", estimate.case, cases)
