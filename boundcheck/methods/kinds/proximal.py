"""Methods whose clients work on a proximal subproblem: FedProx, DANE and FedDANE.

The server takes the plain mean of the cohort's models, in FedProx that by data where all clients take part.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods import parameters as p
from boundcheck.methods import parts
from boundcheck.methods.kind import AnyOf, Form, Part, anything, kind
from boundcheck.methods.method import Method
from boundcheck.methods.parts.correction import DECAYS
from boundcheck.methods.parts.proximal import plain_work

PAPER = 'T. Li et al., "FedDANE: A Federated Newton-Type Method", 2019'
_EPOCHS: Mapping[str, p.Reader] = {
    "E": p.epochs_from, "eta": p.step_from, "batch": p.count, "sampling": p.as_written,
}  # fmt: skip
_STEPS: Mapping[str, p.Reader] = {"steps": p.count, "eta": p.step_from}
SIZED = ("with_replacement", "uniform")  # laws of cohorts of K clients


def _fedprox(mu: Any, participation: Any, K: Any, solver: Any, weights: Any, **steps: Any) -> dict[str, Any]:
    given = {k: v for k, v in steps.items() if v is not None}
    if solver is not None and given:
        raise BadInput(f"fedprox takes either a solver or {', '.join(given)}, not both.")
    local, schedule = solver_from(mu, given if solver is None else solver)
    cohort = sized(participation, K)
    aggregation = weights or _WEIGHTS["data" if isinstance(cohort, parts.Full) else "uniform"]
    return {"participation": cohort, "local": plain_work(local), "aggregation": aggregation, "schedule": schedule}


def _dane(mu: Any, steps: Any, eta: Any) -> dict[str, Any]:
    if (steps is None) != (eta is None):
        raise BadInput("inexact DANE needs both steps and eta; DANE, with exact solves, needs neither.")
    local, schedule = solver_from(mu, "exact" if steps is None else {"steps": steps, "eta": eta})
    return {"local": local, "schedule": schedule}


def _feddane(
    mu: Any, K: Any, participation: Any, gradient_participation: Any, solver: Any, decay: Any, **flags: bool
) -> dict[str, Any]:
    same, pipelined = flags["same"], flags["pipelined"]
    if (same or pipelined) and gradient_participation is not None:
        raise BadInput("a gradient_participation is for a cohort of its own, not with same or pipelined.")
    local, schedule = solver_from(mu, solver)
    cohort = sized(participation, K)
    own = cohort if gradient_participation is None else sized(gradient_participation, K)
    correction = parts.Correction(None if same or pipelined else own, decay[0], decay[1], pipelined)
    return {"participation": cohort, "local": local, "schedule": schedule, "correction": correction}


def _flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise BadInput(f"{name} = {value} is not allowed; it is true or false.")
    return value


def solver_from(mu: Any, solver: Any) -> tuple[parts.LocalWork, parts.Schedule]:
    """How clients solve their subproblem, and the step size.

    "exact"; {steps = 5, eta = "1/10"}: gradient steps; {E = 20, eta = "1/100", batch = 10, sampling = "reshuffled"}:
    epochs of small-batch steps (E as in `epochs_from`). Raises BadInput and UnknownName.
    """
    weight = tuple(as_fraction(v, "mu") for v in mu) if p.is_list(mu) else as_fraction(mu, "mu")
    if solver == "exact":
        return parts.ExactSolve(weight), parts.NoStep()
    if not isinstance(solver, Mapping):
        raise BadInput('a solver is "exact", {steps = 5, eta = "1/10"} or {E = 1, eta = "1/10", batch = 10}.')
    given: Mapping[str, Any] = solver
    found = p.fields_of(given, _STEPS if "steps" in given else _EPOCHS, "the solver", (*_STEPS, *_EPOCHS))
    if "eta" not in found or not {"steps", "E"} & set(found):
        raise BadInput("a solver by local steps needs eta, and either steps or E.")
    eta, steps = found.pop("eta"), found.get("steps")
    return parts.Proximal(weight, parts.Epochs(**found) if steps is None else parts.GradientSteps(steps)), eta


def sized(participation: Any, K: Any) -> parts.Participation:
    """A law of cohorts: "with_replacement" or "uniform" for K clients, otherwise as `participation_from` says."""
    if participation in SIZED:
        if K is None:
            raise BadInput(f"the participation '{participation}' needs K, the number of clients of a cohort.")
        size = p.count(K, "K")
        return parts.WithReplacement(size) if participation == "with_replacement" else parts.Uniform(size)
    return p.participation_from(participation)


def decay_from(given: Any, name: str = "decay") -> tuple[Any, Fraction]:
    """(kind, factor) of the factors c_t: "constant", "inverse" or {kind = "geometric", factor = "9/10"}."""
    kind, own = p.kind_and_fields(given)
    for key in own:
        if key != "factor":
            raise UnknownName("the decay: parameter", str(key), ("kind", "factor"))
    if kind not in DECAYS:
        raise UnknownName("the decay of the correction", kind, DECAYS)
    if kind == "geometric" and not own:
        raise BadInput('a geometric decay needs its factor, such as {kind = "geometric", factor = "9/10"}.')
    return kind, as_fraction(own.get("factor", 1), "factor")


def _means_of_all(method: Method) -> bool:
    """Whether the mean is plain or over all clients; statements are about plain means of cohorts that are drawn."""
    return method.aggregation == parts.Average() or isinstance(method.participation, parts.Full)


_SUBPROBLEM = AnyOf(parts.ExactSolve, parts.Proximal)
_WEIGHTS = {"data": parts.SumOne(), "uniform": parts.Average()}
_WHOLE_GRADIENT = parts.Correction(parts.Full(), weights="data")  # the correction with grad F itself

_MU = p.Parameter(
    "mu", "proximal weight", "a number of at least 0, or a list with one for each client", unit="curvature"
)
_BY = p.Parameter(
    "weights", "of the mean of the cohort's models", '"data" (as where all clients take part) or "uniform" (as else)',
    p.one_of("the weights of fedprox", _WEIGHTS), default=None,
)  # fmt: skip
_SOLVER = p.Parameter(
    "solver", "how clients solve their subproblem", '"exact", or a table of steps or epochs (values.md)', default=None
)  # fmt: skip
_SIZE = p.K.but(sentence="clients of a cohort", read=p.as_written, default=None, unit="clients")
_COHORT = p.PARTICIPATION.but(
    into="", read=p.as_written, allowed='"with_replacement" or "uniform" for K clients, or as elsewhere (values.md)'
)
_RAW = {"into": "", "read": p.as_written, "default": None}
_DECAYING = p.Parameter(
    "decay", "factor of the correction by round", '"constant", "inverse" or {kind = "geometric", factor = "9/10"}',
    decay_from, default="constant",
)  # fmt: skip
_SAME = p.Parameter(
    "same", "whether the gradients are those of the cohort that works", "true or false", _flag, default=False
)

KINDS = {
    "fedprox": kind(
        """FedProx, local work on F_k(v) + mu/2 |v - x|^2, with E local epochs of step size eta, or with a `solver`.

        With mu = 0 and local steps it is FedAvg. The mean is by default that of F where all clients take part and plain
        for a cohort that is drawn, as in the paper; with "data" for such a cohort what runs is no instance of the kind.
        """,
        ('T. Li et al., "Federated Optimization in Heterogeneous Networks", 2020', "Algorithm 2"),
        Form(local=_SUBPROBLEM, aggregation=AnyOf(*_WEIGHTS.values()), relation=_means_of_all),
        (_MU, *(q.but(**_RAW) for q in (p.E, p.ETA, p.BATCH, p.SAMPLING)), _COHORT, _SIZE, _SOLVER, _BY, *p.SGD),
        _fedprox,
    ),
    "dane": kind(
        """DANE: every client works on F_k(v) + <grad F(x) - grad F_k(x), v - x> + mu/2 |v - x|^2.

        Solves are exact; with `steps` gradient steps of size `eta` on the subproblem it is inexact DANE.
        """,
        (PAPER, "(2)"),
        Form(parts.Full(), _SUBPROBLEM, correction=_WHOLE_GRADIENT),
        (_MU, p.K.but(name="steps", **_RAW, sentence="gradient steps; by default solves are exact"), p.ETA.but(**_RAW)),
        _dane,
    ),
    "feddane": kind(
        """FedDANE: DANE with the mean gradient of one cohort S_t and the local work of another, S'_t, of K clients.

        Step 9 of the algorithm prints the mean over S_t; the devices that solve, and over which the mean is taken here,
        are those of S'_t. The decayed and the pipelined variant are named in Section V-C; they are no instance of this
        kind. Cohorts are drawn with replacement by weight, as the proofs take them, or "uniform", as the released code
        draws; that code has S_t = S'_t (`same`). Theorem 7 has one mu a client.
        """,
        (PAPER, "Algorithm 2; Section V-C"),
        Form(local=_SUBPROBLEM, correction=AnyOf(Part(parts.Correction, participation=anything), _WHOLE_GRADIENT)),
        (
            _MU,
            _SIZE,
            _COHORT.but(default="with_replacement", sentence="the law of S'_t"),
            _COHORT.but(name="gradient_participation", default=None, sentence="the law of S_t; else that of S'_t"),
            _SAME,
            _SOLVER.but(default="exact"),
            _DECAYING,
            _SAME.but(name="pipelined", sentence="whether the gradients are those of the round before"),
        ),
        _feddane,
    ),
}
