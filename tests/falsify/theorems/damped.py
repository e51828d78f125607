"""Gradient steps of which only a share is taken, a problem with one stiff client, and what both do together."""

from fractions import Fraction

from boundcheck.methods.round import Rule
from boundcheck.problems.build import build
from boundcheck.theory.assumptions import smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import common
from boundcheck.theory.theorem import Reading, Theorem


class Damped(Rule):
    """x <- x + share (x_local - x) with a share that belongs to the method."""

    share: Fraction = Fraction(1, 2)

    def combine(self, total, at):
        return {"x": at.server["x"] + self.share * total["x"]}


def stiff(*, L):
    """One client with curvatures 1 and L."""
    return build({"kind": "quadratics", "start": [1, 1], "clients": [{"A": [[1, 0], [0, L]], "b": [0, 0]}]})


methods = {"damped": Damped}
problems = {"stiff": stiff}
L, mu, eta = common.L.but(key="samples/L"), common.mu.but(key="samples/mu"), common.eta
k, begin = common.k.expr, common.dist2_0.expr
theorem = Theorem(
    source=Source("own notes", "damped steps", "for the default share 1/2 and one gradient step"),
    title="half of a gradient step contracts",
    symbols=(L, mu, eta, common.k, common.dist2_0),
    algorithm=Algorithm("damped", ("eta",)),
    metric=Metric("dist2", LENGTH2, index="k", rounds=common.k.expr),
    domain=(mu.expr <= L.expr,),
    conditions=(Condition("step size", eta.expr <= 1 / L.expr),),
    assumptions=(smooth_samples, strongly_convex_samples),
    trivial=common.dist2_0.expr,
    readings={
        "half": Reading(
            (1 - eta.expr * mu.expr / 2) ** (2 * k) * begin,
            belief=Belief.TRUE,
            replaces="the whole step",
            why="half of it is taken",
        ),
        "as_printed": Reading((1 - eta.expr * mu.expr) ** (2 * k) * begin, belief=Belief.FALSE),
    },
)
