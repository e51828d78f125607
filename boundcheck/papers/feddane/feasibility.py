"""Theorems 3 and 5: for which B, gamma and mu the guaranteed decrease is positive, and how large it can be.

The bounds of mu are compared at a mu that is given, with the L for which rho, or its derivative, vanishes there: both
are linear in L.
"""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

B2_bound = ((2 - gamma) * mu - L) / (2 * (L * ((1 + gamma) ** 2 + 1) + gamma * mu))

# Theorem 3: the limit of rho mu as mu grows, since all else is divided by mu and has the factor L; rho = a/mu - c/mu^2.
in_the_limit = sp.expand(mu * rho_3).subs(L, 0)
a = 1 - gamma * (B2 + sp.Rational(1, 2))
c = L * (B2 * ((1 + gamma) ** 2 + 1) + sp.Rational(1, 2))
# Theorem 5: rho mu (mu - lam)^2 = a mu^2 - p mu + q; with mu = lam + m, rho = 1/mu - g/m - L (S/m^2 + s/(mu m)).
g, s, S = gamma * (B2 + sp.Rational(1, 2)), B2 + sp.Rational(1, 2), B2 * (1 + gamma) ** 2
p = 2 * lam - g * lam + L * S + L * s
q = lam**2 + L * s * lam
MARGIN = positive("m", "mu - lam", CURVATURE)
m = MARGIN.expr
mu_5 = lam + m

SMALL_GAMMA = Condition("small gamma", a > 0, "gamma < 2/(2 B^2 + 1); no mu will do otherwise", vacuity=True)

SHARED: dict[str, Any] = {"kind": Kind.EQUALITY, "belief": Belief.TRUE}

theorems = {
    "feasibility_b": Theorem(
        **SHARED,
        source=Source(PAPER, "Theorem 3", "the condition rho > 0, solved for B"),
        title="Convex devices: B must be below this",
        symbols=NOTATION,
        metric=Metric.formula(ONE, sp.sqrt(zero_in(rho_3, B2))),
        bound=sp.sqrt(B2_bound),
        conditions=(Condition("B above 1", B2_bound > 1, "no device has B < 1", vacuity=True),),
        readings={
            "corrected": Reading(
                replaces="the implicit condition rho > 0 by a bound of B",
                why="rho falls linearly in B^2. With exact solutions B^2 < mu/(2 L) - 1/4, which needs mu > 5 L/2 for "
                "B = 1.",
            )
        },
    ),
    "feasibility_gamma": Theorem(
        **SHARED,
        source=Source(PAPER, "Theorem 3", "the condition rho > 0, solved for gamma at the best mu"),
        title="Convex devices: gamma must be below this, whatever mu is",
        symbols=NOTATION,
        metric=Metric.formula(ONE, zero_in(in_the_limit, gamma)),
        bound=2 / (2 * B2 + 1),
        readings={
            "corrected": Reading(
                replaces="gamma in [0, 1) by gamma < 2/(2 B^2 + 1)",
                why="rho mu tends to 1 - gamma (B^2 + 1/2) as mu grows, and is below that for every mu. The range is "
                "[0, 2/3) for B = 1 and shrinks like 1/B^2.",
            )
        },
    ),
    "feasibility_mu": Theorem(
        **SHARED,
        source=Source(PAPER, "Theorem 3", "the condition rho > 0, solved for mu"),
        title="Convex devices: mu must be above this",
        symbols=(*NOTATION, MARGIN),
        metric=Metric.formula(CURVATURE, mu, where={"L": zero_in(rho_3, L)}),
        conditions=(SMALL_GAMMA,),
        readings={
            "least": Reading(
                bound=c / a,
                replaces="the implicit condition rho > 0 by mu > c/a",
                why="rho = a/mu - c/mu^2 with a = 1 - gamma (B^2 + 1/2) and c = L (B^2 ((1 + gamma)^2 + 1) + 1/2). "
                "With exact solutions c/a = L (2 B^2 + 1/2).",
            ),
            "best": Reading(
                title="Convex devices: the mu with the largest guaranteed decrease",
                bound=2 * c / a,
                metric=Metric.formula(CURVATURE, mu, where={"L": zero_in(sp.diff(rho_3, mu), L)}),
                replaces="mu = 5 L B^2 of Corollary 4 by 2 c/a",
                why="There a/mu - c/mu^2 is largest, a^2/(4 c). With exact solutions it is L (4 B^2 + 1), and the "
                "decrease 1/(2 L (4 B^2 + 1)).",
            ),
            "least_nonconvex": Reading(
                source=Source(PAPER, "Theorem 5", "the condition rho > 0, solved for mu"),
                title="Non-convex devices: mu must be above this",
                bound=(p + sp.sqrt(p**2 - 4 * a * q)) / (2 * a),
                metric=Metric.formula(CURVATURE, mu_5, where={"L": zero_in(rho_5.subs(mu, mu_5), L)}),
                domain=(lam >= 0,),
                replaces="the implicit conditions rho > 0 and mu > lam by a lower bound of mu",
                why="rho mu (mu - lam)^2 is a quadratic in mu. At mu = lam it is not positive, so that beyond lam it "
                "is positive exactly above its larger root.",
                remark="For lam >= 0.",
            ),
            "best_nonconvex": Reading(
                source=Source(PAPER, "Theorem 5", "the largest rho over mu"),
                title="Non-convex devices: the L for which mu = lam + m has the largest guaranteed decrease",
                bound=m * (m**2 - g * mu_5**2) / (2 * S * mu_5**2 + s * (lam + 2 * m) * m),
                metric=Metric.formula(CURVATURE, zero_in(sp.diff(rho_5, mu), L).subs(mu, mu_5)),
                domain=(lam >= 0,),
                replaces="mu = 5 L B^2 of Corollary 4 by the mu at which the derivative of rho vanishes",
                why="The derivative times mu^2 m^3 is a cubic in m whose coefficients change sign once, so that one "
                "such mu lies above lam; it is linear in L, which is given here as a function of mu. g = gamma (B^2 + "
                "1/2) and S = B^2 (1 + gamma)^2.",
                remark="For lam >= 0. With lam = 0 it is mu = 2 c/a, solved for L.",
            ),
        },
    ),
    "feasibility_decrease": Theorem(
        **SHARED,
        source=Source(PAPER, "Theorem 3", "the largest rho over mu"),
        title="Convex devices: the largest guaranteed decrease over |grad f|^2",
        symbols=(*NOTATION, MARGIN),
        metric=Metric.formula(STEP, rho_3.subs(mu, 2 * c / a)),
        conditions=(SMALL_GAMMA,),
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
                metric=Metric.formula(STEP, rho_5.subs(L, zero_in(sp.diff(rho_5, mu), L)).subs(mu, mu_5)),
                domain=(lam >= 0,),
                replaces="rho = 3/(25 L B^2) of Corollary 4 by the largest rho",
                why="rho at the L of `feasibility_mu/best_nonconvex`, for which mu = lam + m is the best: g = gamma "
                "(B^2 + 1/2), s = B^2 + 1/2 and S = B^2 (1 + gamma)^2.",
                remark="For lam >= 0. With lam = 0 it is a^2/(4 c).",
            ),
        },
    ),
}
