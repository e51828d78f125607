"""Heavy ball with steps and momentum that change with the round.

E. Ghadimi, H. R. Feyzmahdavian, M. Johansson, "Global convergence of the Heavy-ball method for convex optimization",
2014, Theorem 2: x_{k+1} = x_k - eta/(k+2) grad F(x_k) + k/(k+2) (x_k - x_{k-1}). The Huber function attains the bound.
"""

from fractions import Fraction

from boundcheck.methods.round import Rule
from boundcheck.theory.assumptions import convexity, plain_mean, smooth_clients
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Algorithm, Condition, Metric, Source
from boundcheck.theory.symbols import common
from boundcheck.theory.theorem import Reading, Theorem


class HeavyBall(Rule):
    """One local step of size eta is the gradient step of the server, who keeps the point of the round before."""

    kept_by_server = {"x": True, "before": True}
    steady = False

    def numbers(self, round_index, dim):
        return {"step": Fraction(1, round_index + 2), "momentum": Fraction(round_index, round_index + 2)}

    def combine(self, total, at):
        x, step, momentum = at.server["x"], at.number["step"], at.number["momentum"]
        return {"x": x + step * total["x"] + momentum * (x - at.server["before"]), "before": x}


methods = {"heavy_ball_schedule": HeavyBall}
SYMBOLS = (common.L, common.eta, common.dist2_0, common.k)
L, eta, dist2_0, k = (symbol.expr for symbol in SYMBOLS)
theorem = Theorem(
    Source("Global convergence of the Heavy-ball method (Ghadimi et al.)", "Theorem 2", "beta_k = k/(k+2)"),
    title="Heavy ball with a schedule on smooth convex functions", symbols=SYMBOLS,
    algorithm=Algorithm("heavy_ball_schedule", ("eta",)), metric=Metric("gap", VALUE, index="k", rounds=k),
    conditions=(Condition("step size", eta * L <= 1),), assumptions=(plain_mean, smooth_clients, convexity),
    readings={"as_printed": Reading(dist2_0 / (2 * eta * (k + 1)))},
)  # fmt: skip
