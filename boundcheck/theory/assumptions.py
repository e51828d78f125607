"""Assumptions as objects: a defining inequality over quantities that an instance can be asked for.

The inequality is written once, over named pointwise quantities; `evidence.assumptions` evaluates those on
an instance at many points, and a problem that can decide the assumption exactly answers `violations(name)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import sympy as sp

from boundcheck.errors import BadInput

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
    "client_monotonicity": "<grad f_i(x) - grad f_i(y), x - y>",
    "client_grad2": "sum over i of w_i |grad f_i(x)|^2",
    "grad2": "|grad F(x)|^2",
    "similarity2": "|grad f_i(x) - grad f_i(y) - grad F(x) + grad F(y)|^2",
    # of blocks j of coordinates with constants L_j, which a method and a problem have together; j over all blocks
    "own_block_difference2": "|grad_j f_i(x + h) - grad_j f_i(x)|^2, h the block j of y - x and 0 elsewhere",
    "block_difference2": "|grad_j f_i(x) - grad_j f_i(y)|^2, grad_j the block j of the gradient",
    "scaled_block_difference2": "L_j^2 |x_j - y_j|^2",
    "scaled_difference2": "sum over j of L_j^2 |x_j - y_j|^2",
}

# What quantities mean that only derivations name: of one client i, whose numbers of samples and constants are its own.
OF_PROOFS: Mapping[str, str] = {
    "sample_deviation2": "mean over the samples j of client i of |grad f_ij(x) - grad f_i(x)|^2",
    "own_grad2": "|grad f_i(x)|^2",
    "sigma2_i": "sigma_i^2 of client i",
    "D_i": "number of samples of client i",
    "draw_deviation2": "E|v - E v|^2 for v a factor times the random vector that the hypothesis is about",
    "weight2": "square of that factor",
    "deviation2": "bound on the variance of the random vector that the hypothesis is about",
    "kappa2_j": "kappa_j^2 of block j, or the sum of these where the squared norms are sums over the blocks",
}
_CONSTANTS = ("Lmax", "beta2", "kappa2", "mu", "L", "sigma2", "G2", "B2", "delta", "B", "P2", "K")
_q = {name: sp.Symbol(name, real=True) for name in (*QUANTITIES, *OF_PROOFS, *_CONSTANTS)}


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

zero_at_start = Assumption("zero_at_start", "The run starts at x^0 = 0.")
data_weights = Assumption(
    "data_weights",
    "Every client has its share of all samples as its weight: w_i = |D_i|/|D|, in F and in what the method is told.",
)
followed_objective = Assumption(
    "followed_objective",
    "F has the weights with which the method follows its clients to first order in the step (the surrogate objective).",
)

# --- asynchronous methods (Y. Fraboni et al., Assumptions 2, 3, 5 to 7) ---
convex_clients = Assumption(
    "convex_clients",
    "Every client's objective is convex, and F has a minimiser.",
    sp.Ge(_q["client_monotonicity"], 0),
)
unbiased_gradients = Assumption(
    "unbiased_gradients",
    "Every local step uses a gradient whose mean is the client's own, drawn independently of all that happened before.",
)
covariance_of_weights = Assumption(
    "covariance_of_weights",
    "For different clients i and j, E[w_i(n) w_j(n)] = alpha q_i(n) q_j(n), with one alpha in [0, 1] for all rounds n.",
)
independent_weights = Assumption(
    "independent_weights",
    "Who takes part in a round is independent of the models, of the gradients and of the delays.",
)
window_property = Assumption(
    "window_property",
    "The means of q_i(n) over the rounds sW to (s+1)W - 1 are the same for every s: the weights repeat after W rounds.",
)
bounded_gradients = Assumption(
    "bounded_gradients",
    "Every client's gradients have norm B at most, at every point.",
    sp.Le(_q["client_grad2"], _q["B"] ** 2),  # for weights that sum to 1
)
bounded_sample_gradients = Assumption(
    "bounded_sample_gradients",
    "The gradients of the samples that local steps use have norm B at most, at every point.",
)

same_expected_weights = Assumption(
    "same_expected_weights",
    "In every round each kind of data has the share in the expected weights that it has in F.",
)
every_type_every_round = Assumption(
    "every_type_every_round", "In every round each kind of data has a positive expected weight."
)
no_empty_rounds = Assumption("no_empty_rounds", "In every round some client has a positive expected weight.")
fixed_times = Assumption("fixed_times", "Every client needs the same time for each of its updates.")
one_by_one = Assumption("one_by_one", "Clients that finish together are aggregated one by one, in one order of ties.")
whole_times = Assumption("whole_times", "The update times are whole numbers.")
slowest_at_an_end = Assumption(
    "slowest_at_an_end", "The slowest client is the last, or the first, of those that finish together."
)
time_based = Assumption("time_based", "The aggregation weights are those that make q_i = p_i.")
own_minimisers = Assumption("own_minimisers", "Every client's data are a kind of their own.")
two_alternating_clients = Assumption(
    "two_alternating_clients",
    "Two clients |theta - theta_i*|^2/2; the first takes part in even rounds, the second in odd ones.",
)
four_alternating_clients = Assumption(
    "four_alternating_clients",
    "Four clients |theta - theta_i*|^2/2, two kinds of data; two clients, one of each kind, take part in odd rounds "
    "with the weights 1/2, the others in even ones.",
)


# --- blocks of the model (S. Lee et al., Assumptions 1 to 4): the four readings of "f is L_j-smooth for all x_j" ---
smooth_blocks = Assumption(
    "smooth_blocks",
    "Block j of every client's gradient is L_j-Lipschitz where only block j of the point moves.",
    sp.Le(_q["own_block_difference2"], _q["scaled_block_difference2"]),
)
smooth_separable = Assumption(
    "smooth_separable",
    "Block j of every client's gradient moves by at most L_j times the move of block j, wherever the other blocks go; "
    "the objectives are then sums of functions of one block each.",
    sp.Le(_q["block_difference2"], _q["scaled_block_difference2"]),
)
smooth_weighted = Assumption(
    "smooth_weighted",
    "Every client's gradient is Lipschitz in the norm with the weights L_j: |grad f_i(x) - grad f_i(y)|^2 <= sum of "
    "L_j^2 |x_j - y_j|^2.",
    sp.Le(_q["grad_difference2"], _q["scaled_difference2"]),
)
smooth_globally = Assumption(
    "smooth_globally",
    "Every client's gradient is Lipschitz with one constant Lmax, which is taken for every block.",
    sp.Le(_q["grad_difference2"], _q["Lmax"] ** 2 * _q["point_difference2"]),
)
iid_clients = Assumption("iid_clients", "All clients have the same objective (up to a constant) and the same weight.")
averages_as_objective = Assumption(
    "averages_as_objective", "The models are averaged with the weights that the clients have in F."
)
averages_uniformly = Assumption("averages_uniformly", "The models are averaged with equal weights, 1/m each.")
block_variance = Assumption(
    "block_variance",
    "Every client takes one step a round with a gradient whose mean is its own, drawn independently of the others, and "
    "whose block j has at most the variance sigma_j^2 at every point.",
)
block_dissimilarity = Assumption(
    "block_dissimilarity",
    "The clients' gradients differ boundedly in every block j: sum of p_i |grad_j F_i|^2 <= beta^2 |grad_j F|^2 + "
    "kappa_j^2.",
)
total_dissimilarity = Assumption(
    "total_dissimilarity",
    "The clients' gradients differ boundedly: sum of p_i |grad F_i|^2 <= beta^2 |grad F|^2 + kappa^2.",
    sp.Le(_q["client_grad2"], _q["beta2"] * _q["grad2"] + _q["kappa2"]),
)
pure_noise = Assumption(
    "pure_noise",
    "The gradient of every client is 0 at every point, and the noise of a step has one variance for all clients.",
)
even_noise = Assumption("even_noise", "The noise of a step has the same variance in every block of the model.")

# --- FedDANE (T. Li et al., Definitions 1 and 2, Theorems 3 to 7) ---
client_smoothness = Assumption(
    "client_smoothness", "The gradient of every client i is L_i-Lipschitz and that of F is L_f-Lipschitz."
)
lower_curvature = Assumption(
    "lower_curvature", "lam*I + Hessian of f_i is positive semidefinite at every point, for every client."
)
dissimilarity_at_start = Assumption(
    "dissimilarity_at_start", "At the start the sum of w_i |grad f_i|^2 is at most B2 |grad F|^2, with a finite B2."
)
bounded_dissimilarity = Assumption(
    "bounded_dissimilarity",
    "At every point the sum of w_i |grad f_i|^2 is at most B2 |grad F|^2, with one finite B2.",
    sp.Le(_q["client_grad2"], _q["B2"] * _q["grad2"]),
)
inexact_solves = Assumption(
    "inexact_solves",
    "In every round some device solves its subproblem, and every local solution is gamma-inexact: its distance to the "
    "exact solution is at most gamma times the distance of that to the point where the visit began.",
)
unbiased_gradient_cohort = Assumption(
    "unbiased_gradient_cohort",
    "The mean gradient g of S_t, taken at the point of the round, has the mean grad F: a client's expected share in it "
    "is its weight.",
)
unbiased_solver_cohort = Assumption(
    "unbiased_solver_cohort",
    "S'_t is drawn in every round by the same law, and a device's expected share in the mean over it is its weight.",
)
gradient_cohort_variance = Assumption(
    "gradient_cohort_variance",
    "E|g - grad F|^2 is at most (sum of w_i |grad f_i|^2 - |grad F|^2)/K for the mean gradient g of S_t, whatever the "
    "gradients are.",
)
independent_cohorts = Assumption(
    "independent_cohorts", "The devices S'_t that do the local work are drawn independently of S_t."
)


def instance(kind: str) -> Assumption:
    """The hypothesis of a numeric example: the problem is the one of that name."""
    return Assumption(f"instance:{kind}", f"The problem is the example '{kind}'.")


CLASSES: Mapping[str, Assumption] = {a.name: a for a in tuple(globals().values()) if isinstance(a, Assumption)}


@dataclass(frozen=True)
class Implication:
    """An assumption that follows from others, at given values of its constants.

    at: (constant, value) pairs. why: the reason in one sentence; `tests/proof/test_implied_assumptions.py` derives it.
    """

    assumption: Assumption
    given: tuple[Assumption, ...]
    at: tuple[tuple[str, int], ...]
    why: str


IMPLICATIONS = (
    Implication(strongly_convex_samples, (convex_samples,), (("mu", 0),), "A convex function is 0-strongly convex."),
    Implication(smooth_clients, (smooth_samples,), (), "A client's gradient is a mean of its samples' gradients."),
    Implication(convex_clients, (convex_samples,), (), "A client's objective is a mean of its samples' losses."),
    Implication(
        relaxed_dissimilarity,
        (gradient_dissimilarity, smooth_samples),
        (),
        "A smooth function that is bounded below has |grad F(x)|^2 <= 2 L (F(x) - F*).",
    ),
    Implication(smooth_weighted, (smooth_separable,), (), "The inequalities of the blocks are added up."),
    Implication(
        averages_uniformly,
        (averages_as_objective, iid_clients),
        (),
        "Clients with equal weights in F, averaged with these, are averaged with equal weights.",
    ),
    Implication(
        averages_as_objective,
        (averages_uniformly, plain_mean),
        (),
        "Where F is the plain mean, equal weights are those of F.",
    ),
)


def follows(assumption: Assumption, assumed: Iterable[Assumption], at: Mapping[str, object]) -> bool:
    """Whether the assumption, with its constants at these values, is among the others or follows from them."""
    known = set(assumed)
    return assumption in known or any(
        i.assumption == assumption and set(i.given) <= known and all(at.get(name) == value for name, value in i.at)
        for i in IMPLICATIONS
    )


def with_implied(assumed: Iterable[Assumption]) -> tuple[Assumption, ...]:
    """The assumptions, and those that follow from them whatever the constants are."""
    known = tuple(assumed)
    return (*known, *(i.assumption for i in IMPLICATIONS if set(i.given) <= set(known) and not i.at))


# The inequality that derivations take where a hypothesis has none that instances are asked for, by its name; over
# `OF_PROOFS` and `QUANTITIES`.
IN_PROOFS: Mapping[str, sp.Basic] = {
    "local_variance": sp.Le(_q["sample_deviation2"], _q["sigma2_i"] + _q["P2"] * _q["D_i"] * _q["own_grad2"]),
    "block_variance": sp.Le(_q["draw_deviation2"], _q["weight2"] * _q["deviation2"]),
    "block_dissimilarity": sp.Le(_q["client_grad2"], _q["beta2"] * _q["grad2"] + _q["kappa2_j"]),
    "bounded_below": sp.Ge(_q["gap"], 0),
}
