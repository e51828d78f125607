"""What FedProx, DANE and FedDANE share, from what users write in a specification.

T. Li et al., "FedDANE: A Federated Newton-Type Method", Sections III and V; FedProx: T. Li et al., "Federated
Optimization in Heterogeneous Networks".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods._family import epochs_from
from boundcheck.methods._participation import participation_from
from boundcheck.methods._steps import count, step_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Average,
    Correction,
    Epochs,
    ExactSolve,
    GradientSteps,
    LocalWork,
    NoStep,
    Participation,
    Proximal,
    Schedule,
    ServerStep,
    Uniform,
    WithReplacement,
)
from boundcheck.methods.parts.correction import DECAYS

__all__ = ["SIZED", "decay_from", "is_proximal", "mu_from", "sized", "solver_from"]

_EPOCHS = ("E", "eta", "batch", "sampling")
_STEPS = ("steps", "eta")
SIZED = ("with_replacement", "uniform")  # laws of cohorts of K clients


def mu_from(value: Any) -> Fraction | tuple[Fraction, ...]:
    """The proximal weight: a number, or one number a client."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(as_fraction(v, "mu") for v in value)
    return as_fraction(value, "mu")


def solver_from(mu: Any, solver: Any) -> tuple[LocalWork, Schedule]:
    """How clients solve their subproblem, and the step size.

    "exact"; {steps = 5, eta = "1/10"}: gradient steps; {E = 20, eta = "1/100", batch = 10, sampling = "reshuffled"}:
    epochs of small-batch steps (E as in `methods._family`). Raises BadInput and UnknownName.
    """
    weight = mu_from(mu)
    if solver == "exact":
        return ExactSolve(weight), NoStep()
    if not isinstance(solver, Mapping):
        raise BadInput('a solver is "exact", {steps = 5, eta = "1/10"} or {E = 1, eta = "1/10", batch = 10}.')
    given: Mapping[str, Any] = solver
    allowed = _STEPS if "steps" in given else _EPOCHS
    for key in given:
        if key not in allowed:
            raise UnknownName("the solver: parameter", str(key), allowed)
    if "eta" not in given or not {"steps", "E"} & set(given):
        raise BadInput("a solver by local steps needs eta, and either steps or E.")
    if "steps" in given:
        work: Epochs | GradientSteps = GradientSteps(count(given["steps"], "steps"))
    else:
        batch = count(given.get("batch", 1), "batch")
        work = Epochs(epochs_from(given["E"]), batch, given.get("sampling", "reshuffled"))
    return Proximal(weight, work), step_from(given["eta"], "eta")


def sized(participation: Any, K: Any) -> Participation:
    """A law of cohorts: "with_replacement" or "uniform" for K clients, otherwise as `methods._participation` says."""
    if participation in SIZED:
        if K is None:
            raise BadInput(f"the participation '{participation}' needs K, the number of clients of a cohort.")
        size = count(K, "K")
        return WithReplacement(size) if participation == "with_replacement" else Uniform(size)
    return participation_from(participation)


def decay_from(given: Any) -> tuple[Any, Fraction]:
    """(kind, factor) of the factors c_t: "constant", "inverse" or {kind = "geometric", factor = "9/10"}."""
    table: Mapping[str, Any] = given if isinstance(given, Mapping) else {"kind": given}
    for key in table:
        if key not in ("kind", "factor"):
            raise UnknownName("the decay: parameter", str(key), ("kind", "factor"))
    kind = str(table.get("kind", ""))
    if kind not in DECAYS:
        raise UnknownName("the decay of the correction", kind, DECAYS)
    if kind == "geometric" and "factor" not in table:
        raise BadInput('a geometric decay needs its factor, such as {kind = "geometric", factor = "9/10"}.')
    return kind, as_fraction(table.get("factor", 1), "factor")


def is_proximal(method: Method, correction: Correction | None) -> bool:
    """Whether the clients work on a proximal subproblem (with this correction) and the server takes the plain mean."""
    local = method.local
    return (
        isinstance(local, ExactSolve | Proximal)
        and method.correction == correction
        and method.aggregation == Average()
        and method.server == ServerStep()
        and method.momentum is None
        and method.exchange is None
    )
