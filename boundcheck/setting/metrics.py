"""Metrics of a round, which the method has and not the problem, and what a method needs for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from boundcheck.methods import answers

if TYPE_CHECKING:
    from boundcheck.methods.method import Method

_SAMPLED = "computation in the exact engine (engine = 'sampled' has one)"
# Metrics of a round rather than of a point, asked for by name, and what a method must have for the exact engine to
# know them. They are computed in `engines.exact.readers`, `.lemmas`, `.stale` and `.blocks`, and those that it has not
# in `engines.simulate.metrics` and `networks.engine.metrics`.
ROUND_METRICS: Mapping[str, str] = {
    "drift": "visits from the server's point",
    "epoch_grad2": "momentum",
    "momentum_error2": "momentum",
    "discrepancy": "models of its own at every client",
    "round_gap": "a server",
    "virtual_round_gap": "a server",
    "virtual_gap": "a server",
    "virtual_grad2": "a server",
    **dict.fromkeys(
        (
            *("round_weight", "round_noise", "round_noise2", "round_chi2", "round_spread", "absent_gap"),
            *("movement2", "dist2_change", "round_difference", "virtual_difference"),
            *("work_distance2", "work_grad2", "work_inner", "work_mean_grad2"),
            *("virtual_distance2", "virtual_inner", "virtual_mean_grad2"),
        ),
        "a server",
    ),
    "inexactness": _SAMPLED,
    "B2": _SAMPLED,
    "f_above_least_local": _SAMPLED,
    "least_local_f": _SAMPLED,
    "least_local_loss": _SAMPLED,
}
# What the metrics of a point mean, which a problem has, and then those of a round, which the method has.
_MEANINGS = """\
gap: F(x) - min F; of regressions a bound from above, of networks F minus a lower bound of F
dist2: squared distance of x to the solution set
grad2: squared norm of grad F(x)
x: x itself, on the line
drift: mean squared distance of a round's local models to the server's point, by the clients' weights (Lemma C.2 of
    FedShuffle)
epoch_grad2: mean of |grad F|^2 at the points where the cohort's epochs begin; all engines, sampled and neural ones
    for one client a round with as many epochs as any other
momentum_error2: squared distance of the momentum to grad F(x); exact runs with momentum
discrepancy: sum of w_i |u - y_i|^2, u the mean of the workers' models y_i; `discrepancy:2` over block 2 alone (from
    0); both engines
round_gap: L^n(x) - min L^n, L^n = sum of q_i f_i with the expected aggregation weights q_i of round n; 0 in an
    empty round
virtual_round_gap: the same at the virtual models (7) of the asynchronous paper, mean over the local steps
virtual_gap: F - min F at the virtual models, likewise
virtual_grad2: squared norm of grad F at the virtual models, likewise
movement2: squared distance that the server's point moves in the round that begins
dist2_change: change of |x - thetabar|^2 in that round, thetabar the minimiser of the surrogate problem; can be
    negative
round_difference: L^n(x) - L^n(thetabar); can be negative
virtual_difference: the same at the virtual models, mean over the local steps
round_weight: q(n), the sum of the expected weights of round n; 0 in an empty round, as all that follow
round_noise: sum of qt_i |g_i|^2 at the minimiser of L^n; qt_i = q_i/q(n), g_i a stochastic gradient of client i
round_noise2: the same with qt_i^2
round_chi2: chi-square distance of the shares in F to those in round n, over the kinds of data in it
round_spread: min L^n less the weighted minima of its clients
absent_gap: sum of r_j [F_j(x) - min F_j] over the kinds of data outside round n, r_j their shares in F
work_distance2: mean over the local steps of sum of qt_i |y_i^k - x|^2, y_i^k the local points
virtual_distance2: the same with the virtual model in the place of x
work_grad2: mean over the local steps of sum of qt_i |g_i(y_i^k)|^2
work_mean_grad2: |sum of qt_i G_i|^2, G_i the mean over the local steps of g_i(y_i^k)
virtual_mean_grad2: mean over the local steps of |sum of qt_i g_i(y_i^k)|^2
work_inner: mean over the local steps of the inner product of sum of q_i g_i(y_i^k) with x - thetabar; can be
    negative
virtual_inner: the same with the virtual model in the place of x
inexactness: largest certified gamma of the local solves of a round; sampled runs only
B2: sum of w_i |grad f_i(x)|^2 over |grad F(x)|^2; sampled runs only
least_local_f: min over i of F(z_i), z_i what worker i's steps of the round end with, before models are averaged;
    sampled and neural runs, where the losses are known (least squares without ridge, regressions, networks)
least_local_loss: min over i of f_i(z_i), each model on its own worker's data; sampled and neural runs, where the
    losses are known (least squares without ridge, regressions, networks)
f_above_least_local: F(u) - min over i of F(z_i); below 0 where the mean u of the models is better than each;
    sampled and neural runs
"""
MEANINGS: Mapping[str, str] = {
    name: meaning
    for name, _, meaning in (line.partition(": ") for line in _MEANINGS.replace("\n    ", " ").splitlines())
}
_OF_BLOCK = "discrepancy:"  # followed by the number of a block


# Of these some can be negative.
SIGNED = frozenset({"dist2_change", "round_difference", "virtual_difference", "work_inner", "virtual_inner"})


def is_round_metric(name: str) -> bool:
    """Whether a metric is one of a round, which the method has and not the problem."""
    return name in ROUND_METRICS or (name.startswith(_OF_BLOCK) and name[len(_OF_BLOCK) :].isdecimal())


def needed_for(name: str, method: Method) -> str | None:
    """What a method lacks for a metric of a round, in words; None where it lacks nothing."""
    needs = ROUND_METRICS[name.partition(":")[0]]
    if method.server_momentum is not None:
        return "server step without momentum"
    blocks = answers.averaging(method.exchange) is not None
    met = {
        "momentum": method.momentum is not None,
        "models of its own at every client": blocks,
        "a server": not blocks and method.momentum is None and method.control is None and method.functions is None,
        _SAMPLED: False,
    }.get(
        needs,
        method.exchange is None and method.correction is None and method.control is None and method.functions is None,
    )
    return None if met else needs
