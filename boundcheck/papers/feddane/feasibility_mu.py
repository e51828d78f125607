"""Theorems 3 and 5: for which mu the guaranteed decrease is positive, and for which it is largest.

Compared at a mu that is given, with the L for which rho, or its derivative, vanishes there: both are linear in L.
"""

from boundcheck.papers.feddane import theorem_3, theorem_5
from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

# Theorem 3: rho = a/mu - c/mu^2.
a = 1 - gamma * (B2 + sp.Rational(1, 2))
c = L * (B2 * ((1 + gamma) ** 2 + 1) + sp.Rational(1, 2))

# Theorem 5: rho mu (mu - lam)^2 = a mu^2 - p mu + q.
p = 2 * lam - gamma * (B2 + sp.Rational(1, 2)) * lam + L * B2 * (1 + gamma) ** 2 + L * (B2 + sp.Rational(1, 2))
q = lam**2 + L * (B2 + sp.Rational(1, 2)) * lam

g = gamma * (B2 + sp.Rational(1, 2))
S = B2 * (1 + gamma) ** 2

MARGIN = positive("m", "mu - lam", CURVATURE)
m = MARGIN.expr

theorem = Theorem(
    source=Source(PAPER, "Theorem 3", "the condition rho > 0, solved for mu"),
    title="Convex devices: mu must be above this",
    symbols=(*NOTATION, MARGIN),
    metric=Metric.formula(CURVATURE, mu, where={"L": zero_in(theorem_3.rho, L)}),
    kind=Kind.EQUALITY,
    conditions=(Condition("small gamma", a > 0, "gamma < 2/(2 B^2 + 1); no mu will do otherwise", vacuity=True),),
    belief=Belief.TRUE,
    readings={
        "least": Reading(
            bound=c / a,
            replaces="the implicit condition rho > 0 by mu > c/a",
            why="rho = a/mu - c/mu^2 with a = 1 - gamma (B^2 + 1/2) and c = L (B^2 ((1 + gamma)^2 + 1) + 1/2). With "
            "exact solutions c/a = L (2 B^2 + 1/2).",
        ),
        "best": Reading(
            title="Convex devices: the mu with the largest guaranteed decrease",
            bound=2 * c / a,
            metric=Metric.formula(CURVATURE, mu, where={"L": zero_in(sp.diff(theorem_3.rho, mu), L)}),
            replaces="mu = 5 L B^2 of Corollary 4 by 2 c/a",
            why="There a/mu - c/mu^2 is largest, a^2/(4 c). With exact solutions it is L (4 B^2 + 1), and the decrease "
            "1/(2 L (4 B^2 + 1)).",
        ),
        "least_nonconvex": Reading(
            source=Source(PAPER, "Theorem 5", "the condition rho > 0, solved for mu"),
            title="Non-convex devices: mu must be above this",
            bound=(p + sp.sqrt(p**2 - 4 * a * q)) / (2 * a),
            metric=Metric.formula(CURVATURE, lam + m, where={"L": zero_in(theorem_5.rho.subs(mu, lam + m), L)}),
            domain=(lam >= 0,),
            replaces="the implicit conditions rho > 0 and mu > lam by a lower bound of mu",
            why="rho mu (mu - lam)^2 is a quadratic in mu. At mu = lam it is not positive, so that beyond lam it is "
            "positive exactly above its larger root.",
            remark="For lam >= 0.",
        ),
        "best_nonconvex": Reading(
            source=Source(PAPER, "Theorem 5", "the largest rho over mu"),
            title="Non-convex devices: the L for which mu = lam + m has the largest guaranteed decrease",
            bound=m
            * (m**2 - g * (lam + m) ** 2)
            / (2 * S * (lam + m) ** 2 + (B2 + sp.Rational(1, 2)) * (lam + 2 * m) * m),
            metric=Metric.formula(CURVATURE, zero_in(sp.diff(theorem_5.rho, mu), L).subs(mu, lam + m)),
            domain=(lam >= 0,),
            replaces="mu = 5 L B^2 of Corollary 4 by the mu at which the derivative of rho vanishes",
            why="The derivative times mu^2 m^3 is a cubic in m whose coefficients change sign once, so that one such "
            "mu lies above lam; it is linear in L, which is given here as a function of mu. g = gamma (B^2 + 1/2) and "
            "S = B^2 (1 + gamma)^2.",
            remark="For lam >= 0. With lam = 0 it is mu = 2 c/a, solved for L.",
        ),
    },
)
