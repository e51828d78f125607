"""Mistakes of a `[[training]]` table that its types do not show, each with its key; no data set is read."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.errors import BadInput, BoundcheckError, UnknownName
from boundcheck.evidence.ordering import pairs_of
from boundcheck.evidence.studies.placed import Placed, at, named_in
from boundcheck.methods.build import build as build_method
from boundcheck.methods.parts import Timed
from boundcheck.networks.engine.device import Settings
from boundcheck.networks.engine.probing import Effort
from boundcheck.networks.study.spec import Case, Spec, Table, settings, value_in
from boundcheck.problems.build import check_names

if TYPE_CHECKING:
    from boundcheck.core.toml_lines import KeyPath

MAX_TRIED = 200  # settings of one method


def check(spec: Spec) -> None:
    """Raises Placed, a BadInput with its key, for a table that cannot be carried out."""
    with at("neural", names=spec.neural):
        if spec.engine == "neural":
            Settings.of(spec.neural)
        elif spec.neural or spec.estimate:
            raise BadInput(f"neural and estimate go with engine = 'neural', not '{spec.engine}'.")
    with at("paper"):
        if spec.cases and spec.paper:
            raise BadInput("where there are cases, each has the paper's numbers under its own key paper.")
    for number, comparison in enumerate(spec.comparisons):
        with at(*_of_comparison(number)):
            if comparison.take == "deviation" and comparison.over == 0:
                raise BadInput("a deviation over the rounds needs over, the share of the run that it is taken over.")
            if comparison.metric.startswith("surrogate_") and spec.surrogate is None:
                raise BadInput(f"the metric '{comparison.metric}' needs the key surrogate, whose problem it is of.")
    labels = [method.label for method in spec.methods]
    for part, named in (("methods", labels), ("cases", [case.label for case in spec.cases])):
        for number, label in enumerate(named):
            with at(part, number, "label"):
                if label in named[:number]:
                    raise BadInput(f"two {part} are called '{label}'; give them different labels.")
    _known(("surrogate",), "surrogate: the method", [spec.surrogate], labels)
    for number, method in enumerate(spec.methods):
        _known(("methods", number, "of_busiest"), "the parameter of the grid", [method.of_busiest], method.grid)
    for number, estimate in enumerate(spec.estimate):
        _known(("estimate", number, "method"), "estimate: the method", [estimate.method], labels)
        _known(("estimate", number, "case"), "estimate: the case", [estimate.case], spec.all_cases)
        with at("estimate", number, "effort", names=estimate.effort):
            Effort.of(estimate.effort)
    for number, case in enumerate(spec.all_cases.values()):
        _check_case(spec, case, ("cases", number) if spec.cases else (), labels)


def _known(keys: KeyPath, what: str, names: Iterable[str | None], known: Iterable[str]) -> None:
    """names: a mapping of them stands at the key path itself."""
    for name in names:
        with at(*keys, *([name] if name and isinstance(names, Mapping) else [])):
            if name is not None and name not in known:
                raise UnknownName(what, name, known or ["none"])


def _of_comparison(number: int) -> KeyPath:
    return ("also", number - 1) if number else ("compare",)


def _check_case(spec: Spec, case: Case, keys: KeyPath, labels: list[str]) -> None:
    where = f"the case '{case.label}'" if case.label else "the table"
    rounds, time = spec.length(case)
    with at(*keys):
        if (rounds is None) == (time is None):
            raise BadInput(f"{where} needs exactly one of rounds and time.")
    try:
        check_names(spec.problem_of(case))
    except BoundcheckError as error:
        raise _placed(error, [((*keys, "problem"), case.problem), (("problem",), spec.problem)]) from error
    tried = list(dict.fromkeys(name for method in spec.methods for name in method.grid))
    _known((*keys, "paper"), f"{where}: the method", case.paper, labels)
    _known((*keys, "methods"), f"{where}: the method", case.methods, labels)
    _known((*keys, "grid"), f"{where}: the parameter of the grid", case.grid, tried)
    for number, comparison in enumerate(spec.comparisons):
        place: KeyPath = (*_of_comparison(number), "order")
        if number == 0 and (case.expected_order is not None or comparison.order is None):
            place = (*(() if case.expected_order is None else keys), "expected_order")
        order = spec.order_of(number, case)
        named = list(itertools.chain(*order))
        _known(place, f"{where}: the expected order: the method", named, labels)
        with at(*place):
            if len(set(named)) < len(named):
                raise BadInput(f"{where}: the expected order names a method twice.")
            for a, b in pairs_of(order) if number == 0 else ():
                first, second = (printed(case.paper.get(label, "")) for label in (a, b))
                sign = 1 if comparison.best == "lowest" else -1
                if first is not None and second is not None and sign * (first - second) > 0:
                    why = f"the paper's {case.paper[a]} and {case.paper[b]} say otherwise."
                    raise BadInput(f"{where} expects '{a}' before '{b}', but {why}")
    for number in range(len(spec.methods)):
        _check_method(spec, case, keys, number, where)


def _check_method(spec: Spec, case: Case, keys: KeyPath, number: int, where: str) -> None:
    method = spec.methods[number]
    own, place = case.methods.get(method.label, {}), ("methods", number)
    for name in case.grid:
        with at(*keys, "grid", name):
            if name in method.grid and value_in({**case.method, **own}, name) is not None:
                raise BadInput(f"{where} gives {name} of '{method.label}' both a value and a grid; leave one out.")
    with at(*place, "grid"):
        found = list(itertools.islice(settings(case, method), MAX_TRIED + 1))
        if not 1 <= len(found) <= MAX_TRIED:
            many = f"more than {MAX_TRIED}" if found else "no"
            raise BadInput(f"{where}: the grid of '{method.label}' has {many} settings; 1 to {MAX_TRIED} are allowed.")
    for one in found:
        try:
            built = build_method(one.spec)
        except BoundcheckError as error:
            tables = [((*keys, "grid"), {name: one.tried[name] for name in case.grid if name in one.tried})]
            tables += [((*keys, "methods", method.label), own), ((*keys, "method"), case.method)]
            tables += [((*place, "grid"), one.tried), ((*place, "method"), method.method)]
            raise _placed(error, tables) from error
        with at(*place):
            if spec.length(case)[1] is not None and not isinstance(built.participation, Timed):
                raise BadInput(f"'{method.label}' has no update times, which a run up to a time needs; give it times.")


def _placed(error: BoundcheckError, tables: list[tuple[KeyPath, Table]]) -> Placed:
    """The error at the key that it is about, in the first table that has it; else at the last table."""
    named = ((*place, own) for place, table in tables if (own := named_in(error, table)) is not None)
    return Placed(next(named, tables[-1][0]), error)


def printed(text: str) -> Fraction | None:
    """The number at the beginning of what the paper prints, such as 59.57 of "59.57 ± 0.14"; None without a number."""
    found = re.match(r"\s*(-?[0-9]+(?:\.[0-9]+)?)", text)
    return None if found is None else Fraction(found[1])
