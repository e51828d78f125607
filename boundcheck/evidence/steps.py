"""What a claim's run is made of: constants of problem and method together, and step sizes that the statement gives.

Step sizes may be left to the statement: "largest" and "0.9*largest" are what its conditions allow, "tuned" is what it
prescribes. Joint constants of method and problem (M, W, ...) do not depend on them, so that they are known before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.certified.constant import Constant, Known
from boundcheck.certified.lazy import LazyConstants
from boundcheck.core.numbers import as_fraction, format_exact, format_short, parse_number, round_down
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.run import describe_constants, run
from boundcheck.errors import BadInput, Unsupported
from boundcheck.evidence.constant_claims import constants_for
from boundcheck.evidence.given import known_constants
from boundcheck.methods.build import build as build_method
from boundcheck.theory.choices import missing_for, prescribed
from boundcheck.theory.scope import scope_symbols
from boundcheck.theory.statement import Statement

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

__all__ = [
    "START",
    "TUNED",
    "factor_of",
    "joint",
    "objective",
    "placeholder",
    "resolve_steps",
    "start_constants",
    "with_start",
]

TUNED = "tuned"
_FACTOR = re.compile(r"\s*(?:([^*]+)\*)?\s*largest\s*")

# Constants that only a run gives, at its start: the name under which statements know them -> the metric.
START: Mapping[str, str] = {
    "drift_0": "drift",
    "grad2_0": "grad2",
    "client_grad2_0": "client_grad2",
    "momentum_error2_0": "momentum_error2",
}


def factor_of(value: Any, name: str) -> Fraction | None:
    """The factor of "largest" in a parameter such as "0.9*largest"; None for anything else. Raises BadInput."""
    match = _FACTOR.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    factor = parse_number(match[1], f"the factor of {name}") if match[1] else Fraction(1)
    if factor <= 0:
        raise BadInput(f"{name} = '{value}' is not allowed; the factor must be above 0.")
    return factor


def _is_open(value: Any, name: str) -> bool:
    return (isinstance(value, str) and value.strip() == TUNED) or factor_of(value, name) is not None


def placeholder(method: Mapping[str, Any]) -> dict[str, Any]:
    """The method's specification with 1 for every size that the statement is to give."""
    return {name: 1 if _is_open(value, name) else value for name, value in method.items()}


def objective(claimed: Statement, method: Method, problem: Problem) -> Problem:
    """The problem whose objective the statement is about: the one that the method really minimises where it says so."""
    if not claimed.metric.surrogate:
        return problem
    from boundcheck.setting.followed_objective import surrogate

    return surrogate(method, problem)


def joint(claimed: Statement, method: Method, problem: Problem) -> dict[str, Constant]:
    """Constants of problem and method under the statement's own names."""
    return known_constants(claimed, constants_for(claimed, method, problem))


def start_constants(claimed: Statement, method: Method, problem: Problem) -> dict[str, Constant]:
    """The constants of `START` that the statement names, by their keys, from an exact run of no rounds.

    One that is not rational is an upper bound to a relative 1e-12. Where the exact engine cannot carry the method,
    there is none.
    """
    found: dict[str, Constant] = {}
    own = describe_constants(method, problem)
    for key in sorted({s.reported for s in claimed.symbols} & set(START)):
        if key in own:
            continue
        metric = START[key]
        how = f"{metric} at the start, from an exact run"
        if metric == "client_grad2":
            found[key] = _client_gradients(problem)
            continue
        try:
            curve = _at_start(method, problem, metric)
        except (Unsupported, BadInput):
            continue
        if metric in curve.exact:
            found[key] = Constant(curve.exact[metric][0], Known.EXACT, "exact", how)
        elif metric in curve.start:
            found[key] = Constant(curve.start[metric], Known.EXACT, "exact", how)
        elif metric in curve.high:
            high, low = Fraction(float(curve.high[metric][0])), Fraction(float(curve.low[metric][0]))
            close = high - low <= high / 10**12
            found[key] = Constant(high, Known.CERTIFIED if close else Known.ESTIMATED, "upper", how)
    return found


def with_start(curve: Curve, start: Mapping[str, Constant]) -> Curve:
    """The curve with these constants too; the others stay uncomputed where they are."""
    if not start:
        return curve
    if isinstance(curve.constants, LazyConstants):
        return replace(curve, constants=curve.constants.and_also({k: (lambda c=c: c) for k, c in start.items()}))
    return replace(curve, constants={**curve.constants, **start})


def _client_gradients(problem: Problem) -> Constant:
    """The sum over the clients of w_i |grad f_i|^2 at the start."""
    x = np.empty(problem.dim, dtype=object)
    x[:] = problem.start
    total: Any = 0
    for client, weight in enumerate(problem.weights):
        gradient: Any = problem.gradient(client, x)
        total += weight * sum(v * v for v in gradient)
    exact = isinstance(total, int | Fraction)
    how = "the clients' gradients at the start"
    return Constant(Fraction(total), Known.EXACT if exact else Known.ESTIMATED, "exact", how)


def _at_start(method: Method, problem: Problem, metric: str) -> Any:
    try:
        return run(method, problem, rounds=[0], metrics=[metric], arithmetic=Arithmetic.RATIONAL)
    except Unsupported:
        return run(method, problem, rounds=[0], metrics=[metric], arithmetic=Arithmetic.BALL)


def resolve_steps(
    method: Mapping[str, Any],
    claimed: Statement,
    problem: Problem,
    constants: Mapping[str, Any] | None = None,
    at: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The method's specification with "largest", "c*largest" and "tuned" replaced by rationals, rounded down.

    They are taken from the statement's own conditions and choices at the constants of problem and method, the given
    `constants` (under the statement's names) over them, and the method's other parameters. at: values of the index, for
    a choice that depends on it (one value only). Raises BadInput where the statement limits or prescribes no such
    symbol, or one depends on another that is open too.
    """
    solved = dict(method)
    waiting = [name for name, value in method.items() if _is_open(value, name)]
    if not waiting:
        return solved
    for name in waiting:
        if name not in [s.name for s in claimed.symbols]:
            raise BadInput(f"method: {name} = '{method[name]}' asks {claimed.best_id}, which has no symbol {name}.")
    own = joint(claimed, build_method(placeholder(method)), problem)
    values = {k: c.value for k, c in own.items() if k not in waiting}
    values |= {k: as_fraction(v, k) for k, v in (constants or {}).items()}
    for name, value in method.items():
        if name not in waiting and name in claimed.parameters:
            values[name] = as_fraction(value, name)
    index = _single(at, claimed)
    while waiting:
        ready = [name for name in waiting if not _missing(claimed, name, method[name], {**values, **index}, waiting)]
        name = (ready or waiting)[0]  # where none is ready, the statement says what it lacks
        solved[name] = format_exact(_solve(claimed, name, method[name], values, index))
        values[name] = as_fraction(solved[name], name)
        waiting.remove(name)
    _check_fixed(claimed, own, build_method(solved), problem, method)
    return solved


def _missing(claimed: Statement, name: str, value: str, values: Mapping[str, Any], waiting: Iterable[str]) -> bool:
    """Whether a size depends on another one that is still open."""
    if value.strip() == TUNED:
        expr = dict(claimed.choices).get(name)
        lacking = [] if expr is None else missing_for(expr, values)
    else:
        lacking = [s for s in scope_symbols(claimed) if s not in (name, claimed.metric.index) and s not in values]
    return bool(set(lacking) & set(waiting))


def _solve(
    claimed: Statement, name: str, value: str, values: Mapping[str, Fraction], index: Mapping[str, Fraction]
) -> Fraction:
    factor = factor_of(value, name)
    if factor is None:
        return prescribed(claimed, name, {**values, **index})
    used = scope_symbols(claimed)
    values = {**values, **index}
    top = claimed.largest(name, **{k: v for k, v in values.items() if k in used and k != name})
    return factor * top if factor == 1 or claimed.symbol(name).integer else round_down(factor * top)


def _single(at: Mapping[str, Any] | None, claimed: Statement) -> dict[str, Fraction]:
    """The index, where one value of it is asked for."""
    from boundcheck.core.numbers import parse_grid

    name = claimed.metric.index
    if at is None or name is None or name not in at:
        return {}
    points = set(parse_grid(at[name], name, integer=claimed.symbol(name).integer))
    return {name: points.pop()} if len(points) == 1 else {}


def _check_fixed(
    claimed: Statement, before: Mapping[str, Constant], method: Method, problem: Problem, asked: Mapping[str, Any]
) -> None:
    """BadInput where a constant that the sizes were found with turns out to depend on them."""
    # a statement about many kinds of methods names no parameters, so that the sizes themselves are left out as well
    used = set(scope_symbols(claimed, choices=True)) - set(claimed.parameters)
    used -= {k for k, v in asked.items() if _is_open(v, k)}
    after = joint(claimed, method, problem)
    for name in sorted(used & set(before)):
        if name not in after or after[name].value != before[name].value:
            open_ = " and ".join(f"{k} = '{v}'" for k, v in asked.items() if _is_open(v, k))
            raise BadInput(
                f"{claimed.best_id}: {open_} cannot be found, because the constant {name} (here "
                f"{format_short(before[name].value)}) depends on it; give a number."
            )
