"""Theorems 3 and 5: the largest decrease that any mu guarantees."""

from boundcheck.papers.feddane import theorem_3, theorem_5
from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

# Theorem 3: rho = a/mu - c/mu^2, largest at mu = 2 c/a.
a = 1 - gamma * (B2 + sp.Rational(1, 2))
c = L * (B2 * ((1 + gamma) ** 2 + 1) + sp.Rational(1, 2))

# Theorem 5, with mu = lam + m: rho = 1/mu - g/m - L (S/m^2 + s/(mu m)).
MARGIN = positive("m", "mu - lam", CURVATURE)
m = MARGIN.expr
mu_5 = lam + m
g, s, S = gamma * (B2 + sp.Rational(1, 2)), B2 + sp.Rational(1, 2), B2 * (1 + gamma) ** 2

theorem = Theorem(
    source=Source(PAPER, "Theorem 3", "the largest rho over mu"),
    title="Convex devices: the largest guaranteed decrease over |grad f|^2",
    symbols=(*NOTATION, MARGIN),
    metric=Metric.formula(STEP, theorem_3.rho.subs(mu, 2 * c / a)),
    kind=Kind.EQUALITY,
    conditions=(Condition("small gamma", a > 0, "gamma < 2/(2 B^2 + 1); no mu will do otherwise", vacuity=True),),
    belief=Belief.TRUE,
    readings={
        "convex": Reading(
            bound=a**2 / (4 * c),
            replaces="rho = 3/(25 L B^2) of Corollary 4 by the largest rho",
            why="a/mu - c/mu^2 is largest at mu = 2 c/a. With exact solutions it is 1/(2 L (4 B^2 + 1)).",
        ),
        "nonconvex": Reading(
            source=Source(PAPER, "Theorem 5", "the largest rho over mu"),
            title="Non-convex devices: the largest guaranteed decrease over |grad f|^2, at mu = lam + m",
            bound=1 / mu_5
            - g / m
            - (m**2 - g * mu_5**2) * (S * mu_5 + s * m) / (mu_5 * m * (2 * S * mu_5**2 + s * (lam + 2 * m) * m)),
            metric=Metric.formula(STEP, theorem_5.rho.subs(L, zero_in(sp.diff(theorem_5.rho, mu), L)).subs(mu, mu_5)),
            domain=(lam >= 0,),
            replaces="rho = 3/(25 L B^2) of Corollary 4 by the largest rho",
            why="rho at the L of `feasibility_mu/best_nonconvex`, for which mu = lam + m is the best: g = gamma (B^2 + "
            "1/2), s = B^2 + 1/2 and S = B^2 (1 + gamma)^2.",
            remark="For lam >= 0. With lam = 0 it is a^2/(4 c).",
        ),
    },
)
