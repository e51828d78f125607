"""Step sizes that a statement gives, and the constants that only a run at the start gives.

Step sizes may be left to the statement: "largest" and "0.9*largest" are what its conditions allow, "tuned" is what it
prescribes. Joint constants of method and problem (M, W, ...) do not depend on them, so that they are known before.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from boundcheck.certified.constant import Constant, Known
from boundcheck.certified.lazy import LazyConstants
from boundcheck.core.numbers import as_fraction, format_exact, format_short, parse_number, round_down
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.run import carry_out
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.build import build as build_method
from boundcheck.setting import Setting
from boundcheck.theory.choices import ROUNDED, missing_for, prescribed
from boundcheck.theory.scope import decide_scope, scope_symbols
from boundcheck.theory.statement import ITERATION, ROUND, Statement

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

TUNED = "tuned"
_FACTOR = re.compile(r"\s*(?:([^*]+)\*)?\s*largest\s*")

# Constants that only a run gives, at its start: key -> the metric.
START: Mapping[str, str] = {
    "start/drift": "drift",
    "start/grad2": "grad2",
    "start/client_grad2": "client_grad2",
    "start/momentum_error2": "momentum_error2",
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


def is_open(value: Any, name: str) -> bool:
    """Whether a parameter is left to the statement. Raises BadInput for a factor that is not allowed."""
    return (isinstance(value, str) and value.strip() == TUNED) or factor_of(value, name) is not None


def check_open(claimed: Statement, parameter: str, value: Any) -> None:
    """Raises UnknownName or BadInput where a parameter is left to a statement that says nothing of it."""
    if not is_open(value, parameter) or parameter in _sequences(claimed, {parameter: value}):
        return
    name = symbol_for(claimed, parameter)
    claimed.symbol(name)
    if value.strip() == TUNED and name not in dict(claimed.choices):
        raise BadInput(f"{claimed.best_id} prescribes no {parameter}; write a number, or 'largest'.")


def symbol_for(claimed: Statement, parameter: str) -> str:
    """What the statement calls a parameter of the method: the symbol whose key it is, else the one of the same name."""
    own = {s.reported: s.name for s in claimed.symbols if s.key.startswith("method/")}
    return own.get(parameter, parameter)


def open_sizes(claimed: Statement, spec: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a method's specification leaves to the statement, by symbol, with the given text."""
    return {symbol_for(claimed, name): value for name, value in spec.items() if is_open(value, name)}


def first_method(spec: Mapping[str, Any]) -> Method:
    """The method with 1 for every size that the statement is to give; 1/2 where 1 is not allowed. Raises BadInput."""
    return first_of(spec)[1]


def first_of(spec: Mapping[str, Any]) -> tuple[dict[str, Any], Method]:
    """The specification with the sizes of `first_method`, and that method."""
    own = [name for name, value in spec.items() if is_open(value, name)]
    tried = [{**spec, **dict(zip(own, v, strict=True))} for v in itertools.product(("1", "1/2"), repeat=len(own))]
    for found in tried:
        with suppress(BadInput):
            return found, build_method(found)
    return tried[0], build_method(tried[0])


def first_setting(claimed: Statement, spec: Mapping[str, Any], problem: Problem) -> Setting:
    """The setting that the statement is about (a surrogate's own problem), with 1 for every size that it is to give."""
    setting = Setting(first_method(spec), problem)
    return setting.following() if claimed.metric.surrogate else setting


def start_constants(claimed: Statement, setting: Setting) -> dict[str, Constant]:
    """The constants of `START` that the statement names, by their keys, from an exact run of no rounds.

    One that is not rational is an upper bound to a relative 1e-12. Where the exact engine cannot carry the method,
    there is none.
    """
    found: dict[str, Constant] = {}
    for key in sorted({s.key for s in claimed.symbols} & set(START)):
        if setting.has(key):
            continue
        metric = START[key]
        how = f"{metric} at the start, from an exact run"
        if metric == "client_grad2":
            found[key] = _client_gradients(setting.problem)
            continue
        try:
            curve = _at_start(setting, metric)
        except (Unsupported, BadInput):
            continue
        exact = curve.exact[metric][0] if metric in curve.exact else setting.metric(metric).start
        if exact is not None:
            found[key] = Constant(exact, Known.EXACT, "exact", how)
        elif metric in curve.high and np.isfinite(curve.high[metric][0]):
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


def _at_start(setting: Setting, metric: str) -> Curve:
    method, problem = setting.method, setting.problem
    try:
        return carry_out(method, problem, rounds=[0], metrics=[metric], arithmetic=Arithmetic.RATIONAL)
    except Unsupported:
        return carry_out(method, problem, rounds=[0], metrics=[metric], arithmetic=Arithmetic.BALL)


def resolve_steps(
    method: Mapping[str, Any],
    claimed: Statement,
    problem: Problem,
    constants: Mapping[str, Any] | None = None,
    at: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The specification of `with_steps` for a method on a problem, whichever objective the statement is about."""
    return with_steps(method, claimed, Setting(first_method(method), problem), constants, at)[0]


def with_steps(
    method: Mapping[str, Any],
    claimed: Statement,
    first: Setting,
    constants: Mapping[str, Any] | None = None,
    at: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], Setting]:
    """The method's specification with "largest", "c*largest" and "tuned" replaced by rationals, rounded down, and its
    setting; a "tuned" sequence of sizes by its formula in the rounds.

    They are taken from the statement's own conditions and choices at the constants of `first` (see `first_setting`),
    the given `constants` (under the statement's names) over them, and the method's other parameters. A specification
    without such sizes has the setting `first` itself. at: values of the index, for a choice that depends on it (one
    value only). Raises BadInput where the statement limits or prescribes no such symbol, or one depends on another that
    is open too.
    """
    solved = dict(method)
    if not any(is_open(value, name) for name, value in method.items()):
        return solved, first
    changing = _sequences(claimed, method)
    parameters = {symbol_for(claimed, name): name for name in method if name not in changing}
    asked = {name: method[parameter] for name, parameter in parameters.items()}
    waiting = [name for name, value in asked.items() if is_open(value, name)]
    for name in waiting:
        check_open(claimed, parameters[name], asked[name])
    own = claimed.known(first.constants())
    values = {k: c.value for k, c in own.items() if k not in waiting}
    values |= {k: as_fraction(v, k) for k, v in (constants or {}).items()}
    for name, value in asked.items():
        if name not in waiting and name in claimed.parameters:
            values[name] = as_fraction(value, name)
    index = _single(at, claimed)
    while waiting:
        ready = [name for name in waiting if not _missing(claimed, name, asked[name], {**values, **index}, waiting)]
        name = (ready or waiting)[0]  # where none is ready, the statement says what it lacks
        values[name] = _solve(claimed, name, asked[name], values, index)
        solved[parameters[name]] = format_exact(values[name])
        waiting.remove(name)
    for name, expr in sorted(changing.items()):
        solved[name] = _sequence(claimed, name, expr, values)
    setting = first.with_sizes(build_method(solved))
    _check_fixed(claimed, own, setting, asked)
    return solved, setting


def _sequences(claimed: Statement, method: Mapping[str, Any]) -> dict[str, Any]:
    """The "tuned" parameters that the statement prescribes as a sequence, with its expression."""
    steps = dict(claimed.algorithm.steps) if claimed.algorithm is not None else {}
    return {name: steps[name] for name, value in method.items() if value == TUNED and name in steps}


def _sequence(claimed: Statement, name: str, expr: Any, values: Mapping[str, Fraction]) -> str:
    """A sequence of sizes that the statement prescribes, as text in the counters of rounds and local steps."""
    lacking = missing_for(expr, {*values, ROUND.name, ITERATION.name})
    if lacking:
        raise BadInput(f"{claimed.best_id}: the tuned {name} needs a value for {', '.join(lacking)}.")
    known = {
        s: sp.Rational(v.numerator, v.denominator) for s in expr.free_symbols if (v := values.get(s.name)) is not None
    }
    return str(expr.subs(known))


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
    others = {k: v for k, v in values.items() if k in used and k != name}
    size = factor * claimed.largest(name, **others)
    if factor == 1 or claimed.symbol(name).integer:
        return size
    inside = decide_scope(claimed, {**others, name: size}, every_index=not index).in_scope is not False
    if factor > 1:  # the largest size itself may lie a relative 1e-12 higher, and this is above it
        return size * (1 + 3 * ROUNDED) if inside else size
    return round_down(size) if inside else size


def _single(at: Mapping[str, Any] | None, claimed: Statement) -> dict[str, Fraction]:
    """The value of the index where `at` gives exactly one; empty otherwise."""
    from boundcheck.core.numbers import parse_grid

    name = claimed.metric.index
    if at is None or name is None or name not in at:
        return {}
    points = set(parse_grid(at[name], name, integer=claimed.symbol(name).integer))
    return {name: points.pop()} if len(points) == 1 else {}


def _check_fixed(
    claimed: Statement, before: Mapping[str, Constant], setting: Setting, asked: Mapping[str, Any]
) -> None:
    """BadInput where a constant that the sizes were found with turns out to depend on them."""
    # a statement about many kinds of methods names no parameters, so that the sizes themselves are left out as well
    used = set(scope_symbols(claimed, choices=True)) - set(claimed.parameters)
    used -= {k for k, v in asked.items() if is_open(v, k)}
    after = claimed.known(setting.constants())
    for name in sorted(used & set(before)):
        if name not in after or after[name].value != before[name].value:
            open_ = " and ".join(f"{k} = '{v}'" for k, v in asked.items() if is_open(v, k))
            raise BadInput(
                f"{claimed.best_id}: {open_} cannot be found, because the constant {name} (here "
                f"{format_short(before[name].value)}) depends on it; give a number."
            )
