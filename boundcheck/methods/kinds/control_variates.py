"""Methods with control variates: SCAFFOLD on clients, SAGA and SVRG on the terms of a finite sum.

In SAGA and SVRG a round is one step, and the terms f_i of F = (1/n) sum f_i are the clients. All three are about the
plain mean of the clients, whatever weights a problem gives them.
"""

from __future__ import annotations

from typing import Any

from boundcheck.errors import BadInput
from boundcheck.methods import parameters as p
from boundcheck.methods import parts
from boundcheck.methods.kind import AnyOf, Form, Part, anything, kind
from boundcheck.methods.parts.control import WEIGHTS

_SCAFFOLD = 'S. P. Karimireddy et al., "SCAFFOLD: Stochastic Controlled Averaging for Federated Learning", 2020'


def _scaffold_parts(
    K: int | None, batch: int | None, E: Any, sampling: Any, weights: str, start: Any
) -> dict[str, Any]:
    if (K is None) == (E is None):
        raise BadInput("SCAFFOLD takes either K, the number of local steps, or E, that of local epochs.")
    local = p.local_epochs(E, batch, sampling) if K is None else p.local_steps(K, batch)
    aggregation = parts.Average() if weights == "uniform" else parts.Unbiased()
    return {"local": local, "aggregation": aggregation, "control": {"weights": weights, "start": start}}


def _controlled(update: str) -> Form:
    return Form(
        AnyOf(parts.Full, Part(parts.Uniform)),
        AnyOf(parts.GradientSteps, parts.StochasticSteps),
        server=Part(parts.ServerStep, eta_g=anything),
        control=Part(parts.ControlVariates, update=update, start=anything),
    )


def _terms(control: Part) -> Form:
    return Form(parts.Uniform(1), parts.GradientSteps(1), control=control)


def _reference(point: str) -> Form:
    return _terms(Part(parts.ReferencePoint, inner=anything, point=point))


_BY = p.Parameter(
    "weights", "of the control variates", '"uniform" or "data"',
    p.one_of("the weights of the control variates", WEIGHTS), default="uniform",
)  # fmt: skip
_OPTION_2 = kind(
    """SCAFFOLD, option II: the c_i follow from the local steps.

    K local steps take whole gradients or `batch` samples drawn anew. The statements of the paper are about these, with
    all clients or some drawn uniformly. With E local epochs
    instead (one number a client lets K differ), or with weights = "data", what runs is no instance of the kind. With
    "data" c is the mean of the c_i by weight, and the server adds w_i/p_i times the difference of client i; with equal
    weights and uniform cohorts both are the same.
    """,
    (_SCAFFOLD, "Algorithm 1, option II, (3) to (5)"),
    _controlled("difference"),
    (
        p.ETA_L,
        p.ETA_G,
        p.K.but(default=None),
        p.BATCH.but(into="", default=None, allowed=f"{p.COUNT}; by default all"),
        p.E.but(into="", default=None, sentence="local epochs in place of K"),
        p.SAMPLING.but(into="", default="reshuffled", sentence="how samples of epochs are drawn"),
        p.PARTICIPATION,
        _BY,
        p.Parameter("start", "the c_i of the first round", '"zero" or "gradient" (at x_0)', default="zero"),
    ),
    _scaffold_parts,
)
_SVRG = kind(
    """SVRG: a uniformly drawn f_i a step, x <- x - eta (grad f_i(x) - grad f_i(r) + grad F(r)), r a reference point.

    Every `inner` steps r and x become the last point (option I).
    """,
    (
        'R. Johnson, T. Zhang, "Accelerating Stochastic Gradient Descent using Predictive Variance Reduction", 2013',
        "Figure 1, option I",
    ),
    _reference("last"),
    (
        p.ETA,
        p.Parameter("inner", "steps of a reference point", p.COUNT, p.count, "control.inner", unit="steps"),
    ),
)

KINDS = {
    "scaffold": _OPTION_2,
    "scaffold_option_1": _OPTION_2.but(
        "SCAFFOLD, option I: c_i becomes the whole gradient of client i at the server's point; else as `scaffold`.",
        _controlled("gradient"),
        equation="Algorithm 1, option I",
    ),
    "saga": kind(
        """SAGA: a uniformly drawn f_i a step, x <- x - eta (grad f_i(x) - c_i + c), c_i <- grad f_i(x) at the old x.

        The table of gradients c_i starts at x_0; c is its mean.
        """,
        (
            'A. Defazio, F. Bach, S. Lacoste-Julien, "SAGA: A Fast Incremental Gradient Method With Support for '
            'Non-Strongly Convex Composite Objectives", 2014',
            "Algorithm 1",
        ),
        # with one whole gradient step both updates put grad f_i(x) in the table
        _terms(Part(parts.ControlVariates, update=anything, start="gradient")),
        (p.ETA,),
        lambda: {"control": {"update": "gradient"}},
    ),
    "svrg": _SVRG,
    "svrg_random": _SVRG.but(
        "SVRG whose r and x become a random one of the points before the last `inner` steps (option II).",
        _reference("random"),
        equation="Figure 1, option II",
    ),
    "svrg_average": _SVRG.but(
        "SVRG whose r and x become the mean of the points before the last `inner` steps.",
        _reference("average"),
        equation="Figure 1, with the mean in place of an option",
    ),
}
