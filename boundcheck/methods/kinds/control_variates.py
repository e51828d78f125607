"""Methods with control variates: SCAFFOLD on clients, SAGA and SVRG on the terms of a finite sum.

S. P. Karimireddy et al., "SCAFFOLD: Stochastic Controlled Averaging for Federated Learning", 2020, Algorithm 1;
A. Defazio, F. Bach, S. Lacoste-Julien, "SAGA: A Fast Incremental Gradient Method With Support for Non-Strongly Convex
Composite Objectives", 2014, Algorithm 1; R. Johnson, T. Zhang, "Accelerating Stochastic Gradient Descent using
Predictive Variance Reduction", 2013, Figure 1.

In SAGA and SVRG a round is one step, and the terms f_i of F = (1/n) sum f_i are the clients. All three are about the
plain mean of the clients, whatever weights a problem gives them. All kinds raise BadInput and UnknownName.
"""

from __future__ import annotations

from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods import parts
from boundcheck.methods.kind import AnyOf, Form, Kind, Part, anything
from boundcheck.methods.parameters import count, epochs_from, participation_from, step_from
from boundcheck.methods.parts.control import WEIGHTS


def scaffold(
    *,
    eta_l: Any,
    eta_g: Any = 1,
    K: Any = None,
    batch: Any = None,
    E: Any = None,
    sampling: Any = "reshuffled",
    participation: Any = "full",
    weights: Any = "uniform",
    start: Any = "zero",
) -> dict[str, Any]:
    """SCAFFOLD with K local steps: whole gradients, or the mean over `batch` samples drawn anew.

    The statements of the paper are about these steps, with all clients or `size` of them drawn uniformly. With E local
    epochs instead (`epochs_from`; one number a client lets K differ), or with weights = "data", what runs is no
    instance of the kind. weights: "uniform", or "data": c is the mean of the c_i by weight, and the server adds w_i/p_i
    times the difference of client i; with equal weights and uniform cohorts both are the same. start: of the c_i,
    "zero" or "gradient" (at x_0).
    """
    if weights not in WEIGHTS:
        raise UnknownName("the weights of the control variates", str(weights), WEIGHTS)
    return {
        "participation": participation_from(participation),
        "local": _local(K, batch, E, sampling),
        "schedule": step_from(eta_l, "eta_l"),
        "aggregation": parts.Average() if weights == "uniform" else parts.Unbiased(),
        "server": {"eta_g": as_fraction(eta_g, "eta_g")},
        "control": {"weights": weights, "start": start},
    }


def _local(K: Any, batch: Any, E: Any, sampling: Any) -> parts.LocalWork:
    if (K is None) == (E is None):
        raise BadInput("SCAFFOLD takes either K, the number of local steps, or E, that of local epochs.")
    if E is not None:
        return parts.Epochs(epochs_from(E), 1 if batch is None else count(batch, "batch"), sampling)
    own = count(K, "K")
    return parts.GradientSteps(own) if batch is None else parts.StochasticSteps(own, count(batch, "batch"))


def saga(*, eta: Any) -> dict[str, Any]:
    """SAGA: a uniformly drawn f_i a step, x <- x - eta (grad f_i(x) - c_i + c), then c_i <- grad f_i(x) at the old x.

    The table of gradients c_i starts at x_0; c is its mean.
    """
    return {"schedule": step_from(eta, "eta"), "control": {"update": "gradient"}}


def svrg(*, eta: Any, inner: Any) -> dict[str, Any]:
    """SVRG: a uniformly drawn f_i a step, x <- x - eta (grad f_i(x) - grad f_i(r) + grad F(r)), r a reference point.

    Every `inner` steps r and x become the last point (option I), or a random one or the mean of the points before these
    steps (`ReferencePoint`).
    """
    return {"schedule": step_from(eta, "eta"), "control": {"inner": count(inner, "inner")}}


def _scaffold(update: str) -> Kind:
    form = Form(
        AnyOf(parts.Full, Part(parts.Uniform)),
        AnyOf(parts.GradientSteps, parts.StochasticSteps),
        server=Part(parts.ServerStep, eta_g=anything),
        control=Part(parts.ControlVariates, update=update, start=anything),
    )
    return Kind(scaffold, form)


def _svrg(point: str) -> Kind:
    return Kind(
        svrg,
        Form(parts.Uniform(1), parts.GradientSteps(1), control=Part(parts.ReferencePoint, inner=anything, point=point)),
    )


KINDS = {
    "scaffold": _scaffold("difference"),  # option II
    "scaffold_option_1": _scaffold("gradient"),
    "saga": Kind(
        saga,
        # with one whole gradient step both updates put grad f_i(x) in the table
        Form(
            parts.Uniform(1),
            parts.GradientSteps(1),
            control=Part(parts.ControlVariates, update=anything, start="gradient"),
        ),
    ),
    "svrg": _svrg("last"),
    "svrg_random": _svrg("random"),
    "svrg_average": _svrg("average"),
}
