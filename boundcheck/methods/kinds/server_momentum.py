"""Methods whose server goes on in the direction of its step before: heavy ball, Nesterov's methods, FedAvgM.

What the methods do: `parts.server.ServerMomentum`. Their common form without momentum is FedAvg weighted by data.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from boundcheck.errors import BadInput
from boundcheck.methods import parameters as p
from boundcheck.methods import parts
from boundcheck.methods.kind import AnyOf, Form, Part, anything, kind

# beta_r = (r - 1)/(r + 2) in round r >= 1, that is k/(k + 3) between the points k and k + 1
POLYNOMIAL = "(r-1)/(r+2)"
_NESTEROV = 'Y. Nesterov, "Introductory Lectures on Convex Optimization", 2004'

_FISTA = 'A. Beck, M. Teboulle, "A Fast Iterative Shrinkage-Thresholding Algorithm for Linear Inverse Problems", 2009'
_FEDAVG = 'B. McMahan et al., "Communication-Efficient Learning of Deep Networks from Decentralized Data", 2017'
_FEDAVGM = (
    'T.-M. H. Hsu, H. Qi, M. Brown, "Measuring the Effects of Non-Identical Data Distribution for Federated Visual '
    'Classification", 2019'
)


def _work(E: Any, batch: int | None, K: int | None) -> dict[str, Any]:
    if K is None:
        return {"local": p.local_epochs(E, batch)}
    if E is not None or batch is not None:
        raise BadInput("K full gradient steps have no epochs and no batches; leave out either K, or E and batch.")
    return {"local": parts.GradientSteps(K)}


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
_MOMENTUM_G = p.Parameter(
    "momentum_g", "momentum of the server", 'at least 0 and below 1, text in r such as "(r-1)/(r+2)", or "fista"',
    p.server_momentum_from, "server_momentum.momentum",
)  # fmt: skip
_PUSHED = (_MOMENTUM_G, p.ETA_OR, p.ETA0)
_WORK = (
    p.E.but(into="", default=None, allowed=f"{p.E.allowed}; 1 where K is not given"),
    p.BATCH.but(into="", default=None, allowed=f"{p.COUNT}, in epochs (1)"),
    p.K.but(default=None, sentence="local steps with the whole gradient, in place of epochs"),
)
_LOOKAHEAD = p.Parameter(
    "nesterov", "whether the cohort starts from x + momentum_g (x - x_previous)", "true or false",
    into="server_momentum.nesterov", default=False, annotation="bool",
)  # fmt: skip

KINDS = {
    "heavy_ball": kind(
        "Polyak's heavy ball method, x <- x - eta grad F(x) + momentum_g (x - x_previous).",
        ('B. T. Polyak, "Some methods of speeding up the convergence of iteration methods", 1964', ""),
        _of_gradients(anything, nesterov=False),
        _PUSHED,
    ),
    "nesterov": kind(
        """Nesterov's method, y = x + momentum_g (x - x_previous), x <- y - eta grad F(y).

        With eta = 1/L its momentum on strongly convex functions is (sqrt(kappa) - 1)/(sqrt(kappa) + 1).
        """,
        (_NESTEROV, "Section 2.2"),
        _of_gradients(anything, nesterov=True),
        _PUSHED,
    ),
    "accelerated_gradient": kind(
        "Nesterov's method for convex functions: as `nesterov`, with momentum (r - 1)/(r + 2) in round r.",
        (_NESTEROV, "Section 2.2"),
        _of_gradients(POLYNOMIAL, nesterov=True),
        _PUSHED[1:],
    ),
    "fista": kind(
        "FISTA without a proximal term: `nesterov` with (t_k - 1)/t_(k+1), t_(k+1) = (1 + sqrt(1 + 4 t_k^2))/2.",
        (_FISTA, "Section 4"),
        _of_gradients("fista", nesterov=True),
        _PUSHED[1:],
    ),
    "fedavg_weighted": kind(
        "FedAvg as it is commonly run: the mean of the cohort's models by their data, weights w_i scaled to sum to 1.",
        (_FEDAVG, "Algorithm 1"),
        _BY_DATA,
        (p.ETA_L, p.ETA_G, *_WORK, p.PARTICIPATION),
        _work,
    ),
    "fedavgm": kind(
        "FedAvgM: v <- momentum_g v + Delta, x <- x + eta_g v, Delta the mean of the cohort's y_i - x by their data.",
        (_FEDAVGM, "Section 4.3"),
        replace(_BY_DATA, server_momentum=Part(parts.ServerMomentum, momentum=anything, nesterov=False)),
        (p.ETA_L, _MOMENTUM_G, p.ETA_G, *_WORK, _LOOKAHEAD, p.PARTICIPATION),
        _work,
    ),
}
