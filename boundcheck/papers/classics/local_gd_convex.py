"""Local gradient descent with full participation on smooth convex clients."""

from boundcheck.papers.classics.definitions import *
from boundcheck.theory.declare import *

ROUNDS = common.K.but(name="R", meaning="communication rounds", low=Fraction(1))
E, R, sigma2 = common.E.expr, ROUNDS.expr, common.sigma2.expr
h = E * eta  # total step of a round
drift = (E - 1) * (2 * E - 1) / sp.Integer(6)  # mean over k < E of k^2

theorem = Theorem(
    source=Source(
        KHALED, "Theorem 1", "in the form of this project: the gap is averaged over the points of the server"
    ),
    title="Mean gap of local gradient descent at the points of the server",
    symbols=(*NOTATION, common.E, common.sigma2, ROUNDS),
    algorithm=Algorithm("fedavg", ("E", "eta")),
    metric=Metric.mean("gap", VALUE, index=R),
    assumptions=(plain_mean, smooth_clients, convex_clients, finite_gradient_noise),
    conditions=(Condition("step size", h <= 1 / (4 * L), "the step of a round is at most 1/(4L)"),),
    bound=(dist2_0 / (h * R) + 2 * (1 + 2 * h * L) * L * eta**2 * drift * sigma2)
    / (2 - 4 * h * L - 4 * (1 + 2 * h * L) * L**2 * eta**2 * drift),
    trivial=L * dist2_0 / 2,
    readings={
        "sharp": Reading(
            belief=Belief.TRUE,
            replaces="the gap at the mean of all virtual iterates, with constants 2 and 24",
            why="Gradient norms do not grow along local gradient descent on a convex function, so that |y_k - x|^2 <= "
            "eta^2 k^2 |grad f_i(x)|^2, and the mean over clients of |grad f_i(x)|^2 is at most 4 L gap + 2 sigma^2.",
            remark="With h = E eta a round gives |x+ - x*|^2 <= |x - x*|^2 - 2 h gap + h L drift + h^2 (2 L^2 drift + "
            "4 L gap), drift <= eta^2 (E-1)(2E-1)/6 (4 L gap + 2 sigma^2).",
        )
    },
)
