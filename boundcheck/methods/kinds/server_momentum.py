"""Methods whose server goes on in the direction of its step before: heavy ball, Nesterov's methods, FedAvgM.

B. T. Polyak, "Some methods of speeding up the convergence of iteration methods" (1964); Y. Nesterov, "Introductory
Lectures on Convex Optimization", Section 2.2; A. Beck, M. Teboulle, "A Fast Iterative Shrinkage-Thresholding Algorithm
for Linear Inverse Problems", Section 4; T.-M. H. Hsu, H. Qi, M. Brown, "Measuring the Effects of Non-Identical Data
Distribution for Federated Visual Classification", Section 4.3. What the methods do: `parts.server.ServerMomentum`.

Parameters that several kinds share: eta, eta0: step size (`methods.parameters.schedule_from`). momentum_g: momentum of
the server (`methods.parameters.server_momentum_from`). All kinds raise BadInput and UnknownName.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput
from boundcheck.methods import parameters, parts
from boundcheck.methods.kind import AnyOf, Form, Kind, Part, anything

# beta_r = (r - 1)/(r + 2) in round r >= 1, that is k/(k + 3) between the points k and k + 1
POLYNOMIAL = "(r-1)/(r+2)"


def heavy_ball(*, momentum_g: Any, eta: Any = None, eta0: Any = None) -> dict[str, Any]:
    """Polyak's heavy ball method, x <- x - eta grad F(x) + momentum_g (x - x_previous)."""
    return {
        "schedule": parameters.schedule_from({"eta": eta, "eta0": eta0}),
        "server_momentum": parameters.server_momentum_from(momentum_g, nesterov=False),
    }


def nesterov(*, momentum_g: Any, eta: Any = None, eta0: Any = None) -> dict[str, Any]:
    """Nesterov's method, y = x + momentum_g (x - x_previous), x <- y - eta grad F(y).

    With eta = 1/L its momentum on strongly convex functions is (sqrt(kappa) - 1)/(sqrt(kappa) + 1).
    """
    return {
        "schedule": parameters.schedule_from({"eta": eta, "eta0": eta0}),
        "server_momentum": parameters.server_momentum_from(momentum_g, nesterov=True),
    }


def accelerated_gradient(*, eta: Any = None, eta0: Any = None) -> dict[str, Any]:
    """Nesterov's method for convex functions: as `nesterov` or `fista`, with a momentum that grows with the rounds."""
    return {"schedule": parameters.schedule_from({"eta": eta, "eta0": eta0})}


def fedavg_weighted(
    *, eta_l: Any, eta_g: Any = 1, E: Any = None, batch: Any = None, K: Any = None, participation: Any = "full"
) -> dict[str, Any]:
    """FedAvg as it is commonly run: the mean of the cohort's models by their data, weights w_i scaled to sum to 1.

    B. McMahan et al., "Communication-Efficient Learning of Deep Networks from Decentralized Data", Algorithm 1. Clients
    do E reshuffled local epochs (default 1) with `batch` samples a step (default 1), or K full gradient steps.
    """
    return {
        "participation": parameters.participation_from(participation),
        "local": _work(E, batch, K),
        "schedule": parameters.step_from(eta_l, "eta_l"),
        "server": {"eta_g": as_fraction(eta_g, "eta_g")},
    }


def fedavgm(
    *,
    eta_l: Any,
    momentum_g: Any,
    eta_g: Any = 1,
    E: Any = None,
    batch: Any = None,
    K: Any = None,
    nesterov: bool = False,
    participation: Any = "full",
) -> dict[str, Any]:
    """FedAvgM: v <- momentum_g v + Delta, x <- x + eta_g v, Delta the mean of the cohort's y_i - x by their data.

    Clients do E reshuffled local epochs (default 1) with `batch` samples a step (default 1), or K full gradient steps.
    nesterov: the cohort starts from x + momentum_g (x - x_previous).
    """
    return {
        "participation": parameters.participation_from(participation),
        "local": _work(E, batch, K),
        "schedule": parameters.step_from(eta_l, "eta_l"),
        "server": {"eta_g": as_fraction(eta_g, "eta_g")},
        "server_momentum": parameters.server_momentum_from(momentum_g, nesterov=nesterov),
    }


def _work(E: Any, batch: Any, K: Any) -> parts.LocalWork:
    if K is None:
        return parts.Epochs(
            parameters.epochs_from(1 if E is None else E), parameters.count(1 if batch is None else batch, "batch")
        )
    if E is not None or batch is not None:
        raise BadInput("K full gradient steps have no epochs and no batches; leave out either K, or E and batch.")
    return parts.GradientSteps(parameters.count(K, "K"))


def _of_gradients(momentum: Any, *, nesterov: bool) -> Form:
    """Full gradient steps on F."""
    pushed = Part(parts.ServerMomentum, momentum=momentum, nesterov=nesterov)
    return Form(parts.Full(), parts.GradientSteps(1), aggregation=parts.SumOne(), server_momentum=pushed)


# E epochs or K whole gradient steps, and the cohort's mean by data
_BY_DATA = Form(
    local=AnyOf(Part(parts.Epochs, E=anything, batch=anything), parts.GradientSteps),
    aggregation=parts.SumOne(),
    server=Part(parts.ServerStep, eta_g=anything),
)

KINDS = {
    "heavy_ball": Kind(heavy_ball, _of_gradients(anything, nesterov=False)),
    "nesterov": Kind(nesterov, _of_gradients(anything, nesterov=True)),
    "accelerated_gradient": Kind(accelerated_gradient, _of_gradients(POLYNOMIAL, nesterov=True)),
    "fista": Kind(accelerated_gradient, _of_gradients("fista", nesterov=True)),
    "fedavg_weighted": Kind(fedavg_weighted, _BY_DATA),
    "fedavgm": Kind(
        fedavgm, replace(_BY_DATA, server_momentum=Part(parts.ServerMomentum, momentum=anything, nesterov=False))
    ),
}
