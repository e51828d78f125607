"""Methods whose clients work on a proximal subproblem: FedProx, DANE and FedDANE.

T. Li et al., "FedDANE: A Federated Newton-Type Method", Algorithm 2, equation (2) and Sections III and V; FedProx:
T. Li et al., "Federated Optimization in Heterogeneous Networks", Algorithm 2.

The server takes the plain mean of the cohort's models, in FedProx that by data where all clients take part. mu, the
proximal weight, is a number or one number a client. solver: see `solver_from`. All kinds raise BadInput and
UnknownName.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods import parameters, parts
from boundcheck.methods.kind import AnyOf, Form, Kind, Part, anything
from boundcheck.methods.method import Method
from boundcheck.methods.parts.correction import DECAYS
from boundcheck.methods.parts.proximal import plain_work

_EPOCHS = ("E", "eta", "batch", "sampling")
_STEPS = ("steps", "eta")
SIZED = ("with_replacement", "uniform")  # laws of cohorts of K clients


def fedprox(
    *,
    mu: Any,
    E: Any = None,
    eta: Any = None,
    batch: Any = None,
    sampling: Any = None,
    participation: Any = "full",
    K: Any = None,
    solver: Any = None,
    weights: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = parameters.NOT_CLIPPED,
) -> dict[str, Any]:
    """FedProx, local work on F_k(v) + mu/2 |v - x|^2, with E local epochs of step size eta, or with a `solver`.

    participation: "with_replacement" (by weight) or "uniform" for K clients, or as `methods.parameters` says.
    weights: of the cohort's models: "data" (w_i, scaled to sum to 1) or "uniform". Default: "data" where all clients
    take part, so that the mean is that of F; "uniform" for a cohort that is drawn, as in Algorithm 2. With "data" for
    such a cohort what runs is no instance of the kind.
    momentum_l, weight_decay_l, clip_l: of local steps that have a step size (`ClientOptimizer`). With mu = 0 and local
    steps it is FedAvg.
    """
    steps = {"E": E, "eta": eta, "batch": batch, "sampling": sampling}
    given = {k: v for k, v in steps.items() if v is not None}
    if solver is not None and given:
        raise BadInput(f"fedprox takes either a solver or {', '.join(given)}, not both.")
    local, schedule = solver_from(mu, given if solver is None else solver)
    optimizer = parameters.client_optimizer_from(momentum_l, weight_decay_l, clip_l)
    cohort = sized(participation, K)
    by = str(weights) if weights is not None else "data" if isinstance(cohort, parts.Full) else "uniform"
    if by not in _WEIGHTS:
        raise UnknownName("the weights of fedprox", by, _WEIGHTS)
    return {
        "participation": cohort,
        "local": plain_work(local),
        "aggregation": _WEIGHTS[by],
        "schedule": schedule,
        "client_optimizer": optimizer,
    }


def dane(*, mu: Any, steps: Any = None, eta: Any = None) -> dict[str, Any]:
    """DANE: every client works on F_k(v) + <grad F(x) - grad F_k(x), v - x> + mu/2 |v - x|^2 (equation (2)).

    Solves are exact; with `steps` gradient steps of size `eta` on the subproblem it is inexact DANE.
    """
    if (steps is None) != (eta is None):
        raise BadInput("inexact DANE needs both steps and eta; DANE, with exact solves, needs neither.")
    local, schedule = solver_from(mu, "exact" if steps is None else {"steps": steps, "eta": eta})
    return {"local": local, "schedule": schedule}


def feddane(
    *,
    mu: Any,
    K: Any = None,
    participation: Any = "with_replacement",
    gradient_participation: Any = None,
    same: Any = False,
    solver: Any = "exact",
    decay: Any = "constant",
    pipelined: Any = False,
) -> dict[str, Any]:
    """FedDANE: DANE with the mean gradient of one cohort and the local work of another, of K clients (Algorithm 2).

    Step 9 of the algorithm prints the mean over S_t; the devices that solve, and over which the mean is taken here, are
    those of S'_t. The decayed and the pipelined variant are named in Section V-C; they are no instance of this kind.
    participation: of S'_t, "with_replacement" (by weight, as the proofs take it), "uniform" (without replacement, as
    the released code draws) or as `methods.parameters` says. gradient_participation: of S_t, by default the same law;
    it is drawn independently, or with `same` S_t = S'_t (as in the released code). decay: of the correction, see
    `decay_from`. pipelined: the gradients are those of the round before; S_t is then the cohort of that round. Theorem
    7 has one mu a client.
    """
    for name, value in (("same", same), ("pipelined", pipelined)):
        if not isinstance(value, bool):
            raise BadInput(f"{name} = {value} is not allowed; it is true or false.")
    if (same or pipelined) and gradient_participation is not None:
        raise BadInput("a gradient_participation is for a cohort of its own, not with same or pipelined.")
    local, schedule = solver_from(mu, solver)
    cohort = sized(participation, K)
    own = cohort if gradient_participation is None else sized(gradient_participation, K)
    kind, factor = decay_from(decay)
    correction = parts.Correction(None if same or pipelined else own, kind, factor, pipelined)
    return {"participation": cohort, "local": local, "schedule": schedule, "correction": correction}


def solver_from(mu: Any, solver: Any) -> tuple[parts.LocalWork, parts.Schedule]:
    """How clients solve their subproblem, and the step size.

    "exact"; {steps = 5, eta = "1/10"}: gradient steps; {E = 20, eta = "1/100", batch = 10, sampling = "reshuffled"}:
    epochs of small-batch steps (E as in `epochs_from`). Raises BadInput and UnknownName.
    """
    weight = tuple(as_fraction(v, "mu") for v in mu) if parameters.is_list(mu) else as_fraction(mu, "mu")
    if solver == "exact":
        return parts.ExactSolve(weight), parts.NoStep()
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
        work: parts.Epochs | parts.GradientSteps = parts.GradientSteps(parameters.count(given["steps"], "steps"))
    else:
        batch = parameters.count(given.get("batch", 1), "batch")
        work = parts.Epochs(parameters.epochs_from(given["E"]), batch, given.get("sampling", "reshuffled"))
    return parts.Proximal(weight, work), parameters.step_from(given["eta"], "eta")


def sized(participation: Any, K: Any) -> parts.Participation:
    """A law of cohorts: "with_replacement" or "uniform" for K clients, otherwise as `participation_from` says."""
    if participation in SIZED:
        if K is None:
            raise BadInput(f"the participation '{participation}' needs K, the number of clients of a cohort.")
        size = parameters.count(K, "K")
        return parts.WithReplacement(size) if participation == "with_replacement" else parts.Uniform(size)
    return parameters.participation_from(participation)


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


def _means_of_all(method: Method) -> bool:
    """Whether the mean is plain or over all clients; statements are about plain means of cohorts that are drawn."""
    return method.aggregation == parts.Average() or isinstance(method.participation, parts.Full)


_SUBPROBLEM = AnyOf(parts.ExactSolve, parts.Proximal)
_WEIGHTS = {"data": parts.SumOne(), "uniform": parts.Average()}
_WHOLE_GRADIENT = parts.Correction(parts.Full(), weights="data")  # the correction with grad F itself

KINDS = {
    "fedprox": Kind(fedprox, Form(local=_SUBPROBLEM, aggregation=AnyOf(*_WEIGHTS.values()), relation=_means_of_all)),
    "dane": Kind(dane, Form(parts.Full(), _SUBPROBLEM, correction=_WHOLE_GRADIENT)),
    "feddane": Kind(
        feddane,
        Form(local=_SUBPROBLEM, correction=AnyOf(Part(parts.Correction, participation=anything), _WHOLE_GRADIENT)),
    ),
}
