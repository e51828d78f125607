"""Assumptions as objects: a defining inequality over quantities that an instance can be asked for.

The inequality is written once, over named pointwise quantities; `evidence.assumptions` evaluates those on
an instance at many points, and a problem that can decide the assumption exactly answers `violations(name)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp

from boundcheck.errors import BadInput

__all__ = [
    "CLASSES",
    "Assumption",
    "bounded_below",
    "convex_samples",
    "convexity",
    "data_weights",
    "finite_gradient_noise",
    "followed_objective",
    "gradient_dissimilarity",
    "hessian_similarity",
    "instance",
    "local_variance",
    "plain_mean",
    "relaxed_dissimilarity",
    "smooth_clients",
    "smooth_samples",
    "strong_quasi_convexity",
    "strongly_convex_samples",
]

_q = {
    name: sp.Symbol(name, real=True)
    for name in (
        *("gap", "inner", "dist2", "monotonicity", "grad_difference2", "point_difference2", "noise2"),
        *("component_difference2", "component_monotonicity", "client_grad2", "grad2", "similarity2"),
        *("mu", "L", "sigma2", "G2", "B2", "delta"),
    )
}

# What each pointwise quantity means; x and y range over all points, i over all clients.
QUANTITIES: Mapping[str, str] = {
    "gap": "F(x) - F*",
    "inner": "<grad F(x), x - x*>, x* the minimiser nearest to x",
    "dist2": "|x - x*|^2",
    "monotonicity": "<grad F(x) - grad F(y), x - y>",
    "grad_difference2": "|grad f_i(x) - grad f_i(y)|^2",
    "point_difference2": "|x - y|^2",
    "noise2": "mean over i of |grad f_i(x*)|^2, x* any minimiser",
    "component_difference2": "|grad f_ij(x) - grad f_ij(y)|^2, j over all samples of client i",
    "component_monotonicity": "<grad f_ij(x) - grad f_ij(y), x - y>",
    "client_grad2": "sum over i of w_i |grad f_i(x)|^2",
    "grad2": "|grad F(x)|^2",
    "similarity2": "|grad f_i(x) - grad f_i(y) - grad F(x) + grad F(y)|^2",
}


@dataclass(frozen=True)
class Assumption:
    """One hypothesis on the objective.

    name: key by which problems answer. meaning: one sentence. inequality: SymPy relational in the quantities of
    `QUANTITIES` and in symbols of the statement, for all x, y, i; None for a hypothesis without one.
    """

    name: str
    meaning: str
    inequality: sp.Basic | None = field(default=None)

    def __post_init__(self) -> None:
        if self.inequality in (sp.true, sp.false):
            raise BadInput(f"assumption {self.name}: its inequality is already decided ({self.inequality}).")


strong_quasi_convexity = Assumption(
    "strong_quasi_convexity",
    "F is mu-strongly quasi-convex towards the nearest minimiser, and a minimiser exists.",
    sp.Ge(_q["inner"], _q["gap"] + _q["mu"] / 2 * _q["dist2"]),
)
smooth_clients = Assumption(
    "smooth_clients",
    "Every client's gradient is L-Lipschitz.",
    sp.Le(_q["grad_difference2"], _q["L"] ** 2 * _q["point_difference2"]),
)
finite_gradient_noise = Assumption(
    "finite_gradient_noise",
    "Every client's gradient is bounded on the solution set; sigma2 is the mean over clients of the squared bounds.",
    sp.Le(_q["noise2"], _q["sigma2"]),
)
convexity = Assumption(
    "convexity",
    "F is convex, and a minimiser exists.",
    sp.Ge(_q["monotonicity"], 0),
)

smooth_samples = Assumption(
    "smooth_samples",
    "The gradient of every sample's loss f_ij is L-Lipschitz.",
    sp.Le(_q["component_difference2"], _q["L"] ** 2 * _q["point_difference2"]),
)
strongly_convex_samples = Assumption(
    "strongly_convex_samples",
    "Every sample's loss f_ij is mu-strongly convex.",
    sp.Ge(_q["component_monotonicity"], _q["mu"] * _q["point_difference2"]),
)
convex_samples = Assumption(
    "convex_samples",
    "Every sample's loss f_ij is convex, and F has a minimiser.",
    sp.Ge(_q["component_monotonicity"], 0),
)
gradient_dissimilarity = Assumption(
    "gradient_dissimilarity",
    "The clients' gradients differ boundedly: sum of w_i |grad f_i(x)|^2 <= G2 + B2 |grad F(x)|^2.",
    sp.Le(_q["client_grad2"], _q["G2"] + _q["B2"] * _q["grad2"]),
)
relaxed_dissimilarity = Assumption(
    "relaxed_dissimilarity",
    "Gradient dissimilarity as convex problems need it: sum of w_i |grad f_i(x)|^2 <= G2 + 2 L B2 (F(x) - F*).",
    sp.Le(_q["client_grad2"], _q["G2"] + 2 * _q["L"] * _q["B2"] * _q["gap"]),
)
local_variance = Assumption(
    "local_variance",
    "Within each client (1/|D_i|) sum of |grad f_ij(x) - grad f_i(x)|^2 <= sigma_i^2 + P_i^2 |grad f_i(x)|^2; "
    "P2 is the largest P_i^2/|D_i|, sigma2 the sum of sigma_i^2 over the number of all samples.",
)
hessian_similarity = Assumption(
    "hessian_similarity",
    "The clients' Hessians differ from that of F by at most delta.",
    sp.Le(_q["similarity2"], _q["delta"] ** 2 * _q["point_difference2"]),
)
bounded_below = Assumption("bounded_below", "F is bounded below.")

plain_mean = Assumption(
    "plain_mean",
    "F is the plain mean of the clients' objectives: all clients have the weight 1/n.",
)

data_weights = Assumption(
    "data_weights",
    "Every client has its share of all samples as its weight: w_i = |D_i|/|D|, in F and in what the method is told.",
)
followed_objective = Assumption(
    "followed_objective",
    "F has the weights with which the method follows its clients to first order in the step (the surrogate objective).",
)


def instance(kind: str) -> Assumption:
    """The hypothesis of a numeric example: the problem is the one of that name."""
    return Assumption(f"instance:{kind}", f"The problem is the example '{kind}'.")


CLASSES: Mapping[str, Assumption] = {
    a.name: a
    for a in (
        *(strong_quasi_convexity, smooth_clients, finite_gradient_noise, convexity, plain_mean),
        *(data_weights, followed_objective),
        *(smooth_samples, strongly_convex_samples, convex_samples, bounded_below),
        *(gradient_dissimilarity, relaxed_dissimilarity, local_variance, hessian_similarity),
    )
}
