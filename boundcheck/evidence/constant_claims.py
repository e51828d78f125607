"""Claims about a constant of a method on a problem: a formula against its exact value, without a run.

A statement is one where its metric's quantity is "constant:<name>", the name of a constant as problems and methods know
it ("constant:M"). It is compared at one point, as a curve that was measured at round 0 only, so that scope, hypotheses
and grades are those of every claim. A constant that is known from one side only decides what that side decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from boundcheck.certified.constant import Constant, Known
from boundcheck.certified.lazy import LazyConstants
from boundcheck.core.linalg import float_down, float_up
from boundcheck.core.numbers import format_short
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.run import describe, describe_constants, hypotheses_of
from boundcheck.errors import BadInput, Unsupported
from boundcheck.evidence.compare import DECIDED_HERE
from boundcheck.evidence.given import is_library, key_of
from boundcheck.methods.parts import SumOne
from boundcheck.problems.problem import clients_of
from boundcheck.setting.participation import general
from boundcheck.theory.keys import name_of

if TYPE_CHECKING:
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem
    from boundcheck.theory.statement import Statement

__all__ = ["HYPOTHESES", "PREFIX", "broken_assumption", "constant_of", "constants_for", "curve_of_constant"]

PREFIX = "constant:"
MAX_LISTED = 100  # clients whose weights (w_1, ...; what_1, ... under the method) have names


def constant_of(claimed: Statement) -> str | None:
    """The name of the constant that the statement is about; None where it is about a run, or a formula alone."""
    quantity = claimed.metric.quantity
    return name_of(quantity.removeprefix(PREFIX)) if quantity.startswith(PREFIX) else None


def constants_for(claimed: Statement, method: Method, problem: Problem) -> Mapping[str, Constant]:
    """The constants of problem and method, each computed when it is asked for.

    For a statement about a constant also those of the clients: w_1, w_2, ..., their weights, w_min and w_max, the
    smallest and the largest of them, and for methods of the FedShuffleGen family what_1, what_2, ..., the weights with
    which the method follows them.
    """
    found = describe_constants(method, problem)
    if constant_of(claimed) is None:
        return found
    clients = clients_of(problem)
    makers: dict[str, Callable[[], Constant]] = {
        "w_min": lambda: _exact(min(clients.weights), "smallest weight of a client"),
        "w_max": lambda: _exact(max(clients.weights), "largest weight of a client"),
    }
    for i, weight in enumerate(clients.weights if clients.count <= MAX_LISTED else (), 1):
        makers[f"w_{i}"] = partial(_exact, weight, f"weight of client {i}")
    try:
        gen = general(method, clients) if clients.count <= MAX_LISTED else None
    except (BadInput, Unsupported):  # too many cohorts
        gen = None
    for i, weight in enumerate(() if gen is None else gen.what, 1):
        makers[f"what_{i}"] = partial(_exact, weight, f"weight of client {i} in the objective that the method follows")
    makers |= {name: partial(found.__getitem__, name) for name in found}  # a parameter of the method comes first
    return LazyConstants(makers)


def _exact(value: Fraction, how: str) -> Constant:
    return Constant(value, Known.EXACT, "exact", how)


def curve_of_constant(claimed: Statement, method: Method, problem: Problem, asked: Iterable[str] = ()) -> Curve:
    """The constant as a curve of one round, 0, with all that `compare` needs of method and problem.

    asked: hypotheses that the problem is to answer. Raises BadInput where method and problem have no such constant.
    """
    name = constant_of(claimed)
    assert name is not None
    constants = constants_for(claimed, method, problem)
    if name not in constants:
        raise BadInput(
            f"{claimed.best_id} is about the constant {name}, which this method has not on this problem "
            f"(there are {', '.join(sorted(constants))})."
        )
    constant = constants[name]
    low, high, arithmetic = _sides(constant)
    metric = claimed.metric.quantity
    curve = Curve(
        rounds=np.array([0], dtype=np.int64),
        values={metric: np.array([float(constant.value)])},
        arithmetic=arithmetic,
        low={metric: np.array([low])},
        high={metric: np.array([high])},
        exact={metric: (constant.value,)} if arithmetic is Arithmetic.RATIONAL else {},
        info={"engine": "none", "constant": f"{name}: {constant.how}"},
    )
    curve = replace(describe(curve, method, problem, asked), constants=constants, rounded_steps=False)
    return _with_hypotheses(curve, claimed, method, clients_of(problem))


def broken_assumption(claimed: Statement, method: Method, problem: Problem) -> str | None:
    """Which assumption of a statement problem and method break, and why, as the rest of a sentence; None: none is
    known to be broken, without a look at given constants."""
    asked = [a for a in claimed.assumptions if is_library(a)]
    _, broken = hypotheses_of(method, problem, [a.name for a in asked])
    for assumption in claimed.assumptions:
        objection = broken.get(assumption.name) if assumption in asked else None
        if assumption.name in HYPOTHESES:
            objection = HYPOTHESES[assumption.name](method, clients_of(problem))
        if objection is not None:
            return f"assumption {assumption.name} fails: {objection.rstrip('.')}"
    return None


def _sides(constant: Constant) -> tuple[float, float, Arithmetic]:
    """Doubles that enclose the constant, as far as it is known, and the arithmetic that this amounts to.

    A certified bound is a bound and no more: how far it lies from the constant differs from one constant to another.
    """
    low, high = float_down(constant.value), float_up(constant.value)
    if constant.known is Known.EXACT and constant.side == "exact":
        return low, high, Arithmetic.RATIONAL
    low = -math.inf if constant.side == "upper" else low
    high = math.inf if constant.side == "lower" else high
    return low, high, Arithmetic.FLOAT64 if constant.known is Known.ESTIMATED else Arithmetic.BALL


# --- hypotheses about who takes part, which method and clients answer ------------------------------------------


def _uniform(method: Method, clients: Clients) -> str | None:
    drawing = method.participation.drawing(clients)
    if drawing is None:
        fixed = method.participation.fixed(0, clients) or ()
        whole = method.participation.period(clients) == 1 and len(fixed) == clients.count
        return None if whole else "the cohorts of a round are not drawn."
    return None if drawing.kind == "uniform" else "clients are not drawn uniformly."


def _importance(method: Method, clients: Clients) -> str | None:
    drawing = method.participation.drawing(clients)
    if drawing is None or drawing.kind != "independent":
        return "clients are not drawn independently of each other."
    pairs = list(zip(drawing.probabilities, clients.weights, strict=True))
    if min(w for _, w in pairs) <= 0 or len({p / w for p, w in pairs}) > 1:
        return "the probabilities of the clients are not proportional to their weights."
    return None


def _smallest_of_two(method: Method, clients: Clients) -> str | None:
    if clients.count != 2 or sum(clients.weights) != 1:
        return "the clients are not two of total weight 1."
    drawing = method.participation.drawing(clients)
    if drawing is None or drawing.kind != "independent":
        return "clients are not drawn independently of each other."
    p, q = drawing.probabilities
    if p + q != 1:
        return "the clients drawn in a round are not one in the mean."
    # max(q w_1/p, p w_2/q) is smallest where both are equal
    if q**2 * clients.weights[0] != p**2 * clients.weights[1]:
        return "M is smaller at other probabilities."
    return None


def _equal_work(method: Method, clients: Clients) -> str | None:
    """Whether all clients do equally much local work: steps times their factor of the step size."""
    gen = general(method, clients)
    if gen is None:
        return "the method is none of the FedShuffleGen family."
    work = [steps / c for steps, c in zip(gen.steps, gen.c, strict=True)]
    bad = next((i for i, v in enumerate(work) if v != work[0]), None)
    if bad is None:
        return None
    return f"client {bad} does {format_short(work[bad] / work[0])} times as much local work as client 0."


def _pairs_of_three(method: Method, clients: Clients) -> str | None:
    total = sum(clients.weights)
    if clients.count != 3 or [w / total * 6 for w in clients.weights] != [1, 2, 3]:
        return "the clients are not three with the weights 1/6, 1/3 and 1/2."
    return _pairs(method, clients)


def _pairs(method: Method, clients: Clients) -> str | None:
    if clients.count != 3:
        return "the clients are not three."
    drawing = method.participation.drawing(clients)
    if drawing is None or drawing.kind != "uniform" or drawing.size != 2:
        return "the cohorts are not two clients drawn uniformly."
    return _equal_work(method, clients) if method.aggregation == SumOne() else "the aggregation is not Sum-One."


HYPOTHESES: Mapping[str, Callable[[Method, Clients], str | None]] = {
    "uniform_participation": _uniform,
    "importance_participation": _importance,
    "smallest_m_of_two": _smallest_of_two,
    "sum_one_pairs": _pairs,
    "sum_one_pairs_of_three": _pairs_of_three,
}


def _with_hypotheses(curve: Curve, claimed: Statement, method: Method, clients: Clients) -> Curve:
    """The curve with the answers to those of `HYPOTHESES` that the statement names."""
    decided, broken = dict(curve.assumptions), dict(curve.violations)
    for assumption in claimed.assumptions:
        if assumption.name not in HYPOTHESES:
            continue
        objection = HYPOTHESES[assumption.name](method, clients)
        if objection is None:
            decided[key_of(assumption)] = DECIDED_HERE
        else:
            broken[key_of(assumption)] = objection
    return replace(curve, assumptions=decided, violations=broken)
