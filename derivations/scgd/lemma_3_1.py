"""The proof of Lemma 3.1 (S. Ma, semi-cyclic gradient descent, Appendix A) as checked steps.

One cycle makes P = n E local steps, counted by m = 0, ..., P-1. All positions are taken relative to ts, the
minimiser nearest to the start x of the cycle:

    w(m)   position after m local steps minus ts         g(m)   gradient used in step m
    gx(m)  gradient of that device's loss at x           gs(m)  the same at ts
    slope  gradient of F at x                            phi(t) F(ts + t (x - ts))

The readings share every step up to the display that combines the bounds (E9), and differ in the constant C of the
step condition, which is the statement's, and in how the display becomes the contraction. The sharp one ends there.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.rules import CauchySchwarz, Jensen, Limit, MeanValue, PartialSum, SumOver, Telescoping
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, norm2, vector
from boundcheck.theory.assumptions import finite_gradient_noise, smooth_clients, strong_quasi_convexity

READINGS = ("corrected", "as_printed_main", "as_printed_appendix", "conservative", "sharp")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


mu, L, n, E, eta, sigma2, dist2_0 = _symbols("mu L n E eta sigma2 dist2_0")
P, s, m, t, a = _symbols("P s m t a")
T1, T2, S, dist2_1, F_star = _symbols("T1 T2 S dist2_1 F_star")
phi = sp.Function("phi", real=True)
half = sp.Rational(1, 2)


def w(k: Any) -> Vector:
    """Position after k local steps, relative to ts."""
    return vector("w", k)


u, slope = w(0), vector("grad_F")
g, gx, gs = vector("g", m), vector("gx", m), vector("gs", m)
drift = w(m) - u
R = vector_total(g - gx, m, P)
zero = Vector(())

# the loss of the device that makes step m, and F
at_w, at_x, at_ts = (
    Evaluation("f_i", point, gradient, which=m) for point, gradient in ((w(m), g), (u, gx), (zero, gs))
)
F_x, F_ts = Evaluation("F", u, slope, phi(1)), Evaluation("F", zero, zero, F_star)
F_segment = Evaluation("F", u * t, value=phi(t), along=t)

POSITIVE = ("domain mu", "domain L", "domain 1", "s > 0")
SIZES = ("domain mu", "domain L", "domain eta", "P >= 1")

FACTS = (
    Fact("P", sp.Eq(P, n * E), "definition", "number of local steps of a cycle"),
    Fact("s", sp.Eq(s, n * E * eta), "definition", "total step of a cycle"),
    Fact("T1", sp.Eq(T1, norm2(u - slope * s)), "definition", "Appendix A"),
    Fact("T2", sp.Eq(T2, total(norm2(g - gx), m, P)), "definition", "Appendix A"),
    Fact("S", sp.Eq(S, eta**2 * total(norm2(g), m, P)), "definition", "sum of the squared lengths of the local steps"),
    Fact("start", sp.Eq(dist2_0, norm2(u)), "metric", "ts is a minimiser nearest to x"),
    Fact("end", sp.Le(dist2_1, norm2(w(P))), "metric", "the distance to the solution set is at most that to ts"),
    Fact("local step", VectorEquality(w(m + 1), w(m) - g * eta), "algorithm", "Algorithm 1"),
    Fact(
        "cycle",
        VectorEquality(vector_total(gx, m, P), slope * P),
        "algorithm",
        "each device makes E of the n E steps, and F is the mean of the losses",
    ),
    Fact(
        "minimiser",
        VectorEquality(vector_total(gs, m, P), zero),
        "metric",
        "ts is a minimiser, where the gradient of F vanishes",
    ),
    Fact("index m", sp.And(m >= 0, m <= P - 1), "index", "local steps"),
    Fact("index a", sp.And(a > 0, a < 1), "range", "the segment without a piece at ts"),
    Fact("index t", sp.And(t >= a, t <= 1), "range", "points of the segment from ts to x"),
    pointwise("A2.2 at w(m), x", smooth_clients, "Assumption 2.2", at_w, at_x),
    pointwise("A2.2 at w(m), ts", smooth_clients, "Assumption 2.2", at_w, at_ts),
    pointwise("A2.2 at x, ts", smooth_clients, "Assumption 2.2", at_x, at_ts),
    pointwise("A2.1 at x", strong_quasi_convexity, "Assumption 2.1, with phi(1) = F(x)", F_x, F_ts),
    pointwise(
        "A2.1 on the segment",
        strong_quasi_convexity,
        "Assumption 2.1 at ts + t (x - ts), whose nearest minimiser is ts as well",
        F_segment,
        F_ts,
    ),
    Fact("minimum at x", sp.Ge(phi(1), F_star), "metric", "F_star is the least value of F"),
    Fact("minimum at a", sp.Ge(phi(a), F_star), "metric", "F_star is the least value of F"),
    pointwise(
        "A2.3",
        finite_gradient_noise,
        "Assumption 2.3 over a cycle, in which each device is met E times",
        noise2=total(norm2(gs), m, P) / P,
    ),
)

bracket = (1 - mu * s + L**2 * s**2) / (1 - mu * s / 2) + 4 * L**4 * s**3 / (mu * (1 - 2 * L**2 * s**2))
noise = 2 * L**2 * s**3 / (mu * (1 - 2 * L**2 * s**2))
contraction = 1 - mu * s / 3
final_noise = 4 * L**2 * s**3 / mu


def display(kappa: int) -> Any:
    """The left side of the third requirement with kappa L^4/mu as the factor of s^3."""
    return 1 - mu * s / 2 + 2 * (L**2 - mu**2 / 4) * s**2 + kappa * L**4 * s**3 / mu


SCOPE = (
    Step("P >= 1", P >= 1, ("P", "domain n", "domain E"), Decide(), "a cycle has at least one step"),
    Step("s > 0", s > 0, ("s", "domain n", "domain E", "domain eta"), Decide(), "the total step is positive"),
    Step("s = P eta", sp.Eq(s, P * eta), ("s", "P"), Identity(), "the total step in terms of P"),
)


def _requirements(limit: str, solvable: Any) -> tuple[Step, ...]:
    why = "from the step condition"
    return (
        Step("requirement 1", 1 - mu * s / 2 >= half, (limit, *POSITIVE), Decide(), f"{why}, with (4)"),
        Step("requirement 2", solvable, (limit, *POSITIVE), Decide(), why),
    )


GROWTH = (  # E0: quadratic growth, and mu <= L
    Step(
        "E0.1",
        sp.Ge(sp.diff((phi(t) - F_star) / t, t), mu / 2 * norm2(u)),
        ("A2.1 on the segment", "index t", "index a"),
        Combine(),
        "the slope of (phi - F_star)/t on the segment",
    ),
    Step(
        "E0.2",
        sp.Ge(phi(1) - F_star - (phi(a) - F_star) / a, mu / 2 * norm2(u) * (1 - a)),
        ("E0.1", "index a"),
        MeanValue((phi(t) - F_star) / t, t, mu / 2 * norm2(u), a, "E0.1"),
        "integrated from a to 1",
    ),
    Step(
        "E0.3",
        sp.Ge(phi(1) - F_star, mu / 2 * norm2(u) * (1 - a)),
        ("E0.2", "minimum at a", "index a"),
        Combine(),
        "the value at a is not below the minimum",
    ),
    Step("E0.4", sp.Ge(phi(1) - F_star, mu / 2 * norm2(u)), ("E0.3",), Limit("E0.3", a), "a to 0"),
    Step(
        "E0.5",
        sp.Le(mu * norm2(u), L * norm2(u)),
        ("E0.4", "A2.1 at x", "gradient of F", "domain L"),
        Combine({"E0.4": 1, "A2.1 at x": 1, "gradient of F": 1 / (2 * L)}),
        "the order mu <= L follows wherever x is not a minimiser",
    ),
)

GRADIENT = (
    Step(
        "gradient of F.1",
        sp.Le(norm2(vector_total(gx - gs, m, P)), P * total(norm2(gx - gs), m, P)),
        ("P >= 1",),
        CauchySchwarz(gx - gs, m, P),
        "the mean of the devices' gradient differences",
    ),
    Step(
        "gradient of F.2",
        sp.Le(total(norm2(gx - gs), m, P), P * L**2 * norm2(u)),
        ("A2.2 at x, ts", "P >= 1"),
        SumOver("A2.2 at x, ts", m, P),
        "Assumption 2.2 for every device",
    ),
    Step(
        "gradient of F",
        sp.Le(norm2(slope), L**2 * norm2(u)),
        ("gradient of F.1", "gradient of F.2", "cycle", "minimiser", "P >= 1"),
        Combine(),
        "F is L-smooth as well",
    ),
)

CHAIN = (
    Step(
        "E1.1",
        VectorEquality(w(P), u + vector_total(g * -eta, m, P)),
        ("local step", "P >= 1"),
        Telescoping("local step", m, P),
        "the cycle is the sum of its local steps",
    ),
    Step(
        "E1",
        VectorEquality(w(P), u - slope * s - R * eta),
        ("E1.1", "cycle", "s = P eta"),
        Identity(),
        "gradients at x added and subtracted",
    ),
    Step(
        "E2",
        sp.Le(norm2(w(P)), T1 / (1 - mu * s / 2) + 2 * eta**2 / (mu * s) * norm2(R)),
        ("E1", "T1", "requirement 1", "s > 0", "domain mu"),
        Jensen((1 - mu * s / 2, mu * s / 2), ((u - slope * s) / (1 - mu * s / 2), R * (-2 * eta / (mu * s)))),
        "convexity of the squared norm with t = mu s/2",
    ),
    Step(
        "E3.1",
        sp.Le(norm2(R), P * T2),
        ("T2", "P >= 1"),
        CauchySchwarz(g - gx, m, P),
        "the squared sum of P vectors",
    ),
    Step(
        "E3",
        sp.Le(norm2(w(P)), T1 / (1 - mu * s / 2) + 2 * eta / mu * T2),
        ("E2", "E3.1", "s = P eta", "P >= 1", "domain eta", "domain mu", "requirement 1"),
        Combine(),
        "the second term of E2 by E3.1",
    ),
    Step(
        "E4",
        sp.Le(T1, (1 - mu * s + L**2 * s**2) * dist2_0),
        ("T1", "start", "gradient of F", "A2.1 at x", "minimum at x", "s > 0"),
        Combine(),
        "the square expanded; F(x) - F_star is dropped",
    ),
    Step(
        "E5.1",
        VectorEquality(w(m), u + vector_total(g * -eta, m, m)),
        ("local step", "index m"),
        Telescoping("local step", m, m),
        "the drift after m steps",
    ),
    Step(
        "E5.2",
        sp.Le(norm2(drift), m * eta**2 * total(norm2(g), m, m)),
        ("E5.1", "index m"),
        CauchySchwarz(g * -eta, m, m),
        "the squared sum of m vectors",
    ),
    Step(
        "E5.3",
        sp.Le(total(norm2(g), m, m), total(norm2(g), m, P)),
        ("index m",),
        PartialSum(norm2(g), m, m, P),
        "the first m of P terms",
    ),
    Step("E5.4", sp.Le(norm2(drift), m * S), ("E5.2", "E5.3", "S", "index m"), Combine(), "both together"),
    Step(
        "E5.5",
        sp.Le(total(norm2(drift), m, P), P * (P - 1) / 2 * S),
        ("E5.4", "P >= 1"),
        SumOver("E5.4", m, P),
        "0 + 1 + ... + (P-1) = P(P-1)/2",
    ),
    Step(
        "E5.6",
        sp.Le(T2, L**2 * total(norm2(drift), m, P)),
        ("A2.2 at w(m), x", "T2", "P >= 1"),
        SumOver("A2.2 at w(m), x", m, P),
        "Assumption 2.2 in every step",
    ),
    Step("E5", sp.Le(T2, L**2 * P**2 / 2 * S), ("E5.5", "E5.6", "P >= 1"), Combine(), "P(P-1) <= P^2"),
    Step(
        "E6.1",
        sp.Le(norm2(g), 2 * norm2(g - gs) + 2 * norm2(gs)),
        (),
        Jensen((half, half), ((g - gs) * 2, gs * 2)),
        "the gradient at ts subtracted and added",
    ),
    Step(
        "E6.2",
        sp.Le(norm2(w(m)), 2 * norm2(u) + 2 * norm2(drift)),
        (),
        Jensen((half, half), (u * 2, drift * 2)),
        "x subtracted and added",
    ),
    Step(
        "E6",
        sp.Le(
            eta**2 * norm2(g),
            4 * eta**2 * L**2 * norm2(u) + 4 * eta**2 * L**2 * norm2(drift) + 2 * eta**2 * norm2(gs),
        ),
        ("E6.1", "E6.2", "A2.2 at w(m), ts"),
        Combine({"E6.1": eta**2, "A2.2 at w(m), ts": 2 * eta**2, "E6.2": 2 * eta**2 * L**2}),
        "the length of one local step",
    ),
    Step(
        "E7.1",
        sp.Le(
            S,
            4 * eta**2 * L**2 * P * norm2(u)
            + 4 * eta**2 * L**2 * total(norm2(drift), m, P)
            + 2 * eta**2 * total(norm2(gs), m, P),
        ),
        ("E6", "S", "P >= 1"),
        SumOver("E6", m, P),
        "E6 summed over the cycle",
    ),
    Step(
        "E7",
        sp.Le(S, 4 * eta**2 * L**2 * P * dist2_0 + 2 * eta**2 * L**2 * P**2 * S + 2 * eta**2 * P * sigma2),
        ("E7.1", "E5.5", "A2.3", "start", "P >= 1"),
        Combine({"E7.1": 1, "E5.5": 4 * eta**2 * L**2, "A2.3": 2 * eta**2 * P}),
        "the drift by E5.5, the noise by Assumption 2.3",
    ),
    Step(
        "E8",
        sp.Le(T2, L**2 * P**3 * eta**2 * (2 * L**2 * dist2_0 + sigma2) / (1 - 2 * L**2 * s**2)),
        ("E5", "E7", "s = P eta", "requirement 2", "P >= 1"),
        Combine(),
        "E7 solved for S and put into E5",
    ),
    Step(
        "E9",
        sp.Le(norm2(w(P)), bracket * dist2_0 + noise * sigma2),
        ("E3", "E4", "E8", "s = P eta", "requirement 1", "requirement 2", *SIZES),
        Combine({"E3": 1, "E4": 1 / (1 - mu * P * eta / 2), "E8": 2 * eta / mu}),
        "the two bounds combined",
    ),
)

NOISE = Step(
    "E11 noise",
    noise <= final_noise,
    ("requirement 2", *POSITIVE),
    Decide(),
    "requirement 2 in the noise term",
)
IDENTITY = Step(
    "E10",
    sp.Eq(
        (1 - mu * s + L**2 * s**2) / (1 - mu * s / 2),
        1 - mu * s / 2 + (L**2 - mu**2 / 4) * s**2 / (1 - mu * s / 2),
    ),
    ("requirement 1", *POSITIVE),
    Identity(),
    "the first quotient divided out",
)
SUBSTITUTED = (
    Step(
        "E11.1",
        (1 - mu * s + L**2 * s**2) / (1 - mu * s / 2) <= 1 - mu * s / 2 + 2 * (L**2 - mu**2 / 4) * s**2,
        ("requirement 1", *POSITIVE),
        Decide(),
        "E10 with 1 - mu s/2 >= 1/2",
    ),
    Step(
        "E11.2",
        4 * L**4 * s**3 / (mu * (1 - 2 * L**2 * s**2)) <= 8 * L**4 * s**3 / mu,
        ("requirement 2", *POSITIVE),
        Decide(),
        "1 - 2 L^2 s^2 >= 1/2",
    ),
    Step(
        "E11",
        bracket <= display(8),
        ("E11.1", "E11.2", "requirement 1", "requirement 2", *POSITIVE),
        Combine({"E11.1": 1, "E11.2": 1}),
        "the bracket of E9 with requirements 1 and 2 put in",
    ),
)


def _requirement(kappa: int) -> Step:
    return Step(
        "requirement 3",
        display(kappa) <= contraction,
        ("s <= C", *POSITIVE),
        Decide(),
        "from the step condition: C is the positive root of the quadratic that is left after dividing by s",
    )


SHARP = Step(
    "E13",
    sp.Le(dist2_1, bracket * dist2_0 + noise * sigma2),
    ("end", "E9", "requirement 1", "requirement 2", "domain mu"),
    Combine({"end": 1, "E9": 1}),
    "the distance to the solution set is at most that to ts",
)


def _ending(factor: str) -> tuple[Step, ...]:
    return (
        NOISE,
        Step(
            "E13",
            sp.Le(dist2_1, contraction * dist2_0 + final_noise * sigma2),
            ("end", "E9", factor, "E11 noise", "requirement 1", "requirement 2", *POSITIVE),
            Combine({"end": 1, "E9": 1}),
            "the distance to the solution set is at most that to ts",
        ),
    )


def _contraction(reading: str) -> tuple[Step, ...]:
    """From the display E9 to the contraction, as the reading goes."""
    if reading == "corrected":
        step = Step(
            "E11'",
            bracket <= contraction,
            ("s <= C", "requirement 1", "requirement 2", *POSITIVE),
            Decide(),
            "the bracket itself, nothing substituted, is small enough for every s up to C",
        )
        return (step, *_ending("E11'"))
    kappa = 8 if reading == "conservative" else 4
    use = Step(
        "E12.1",
        display(8) <= contraction,
        ("requirement 3", "s <= C", "requirement 1", "requirement 2", *POSITIVE),
        Decide(),
        "what became of the bracket in E11, by the third requirement",
    )
    chain = Step(
        "E12",
        bracket <= contraction,
        ("E11", "E12.1", "requirement 1", "requirement 2", *POSITIVE),
        Combine({"E11": 1, "E12.1": 1}),
        "E11 and E12.1 in a row",
    )
    return (IDENTITY, *SUBSTITUTED, _requirement(kappa), use, chain, *_ending("E12"))


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of Lemma 3.1; the step condition is the statement's."""
    (condition,), sharp = statement.conditions, statement.reading == "sharp"
    in_s = 2 * L**2 * s**2 < 1 if sharp else sp.Le(s, condition.relation.rhs, evaluate=False)
    uses = ("s", f"condition {condition.name}", "domain n", "domain E", "domain eta", *POSITIVE[:-1])
    limit = Step("summable" if sharp else "s <= C", in_s, uses, Decide(), "the step condition in terms of s")
    requirements = _requirements(limit.name, 1 - 2 * L**2 * s**2 > 0 if sharp else 1 - 2 * L**2 * s**2 >= half)
    ending = (SHARP,) if sharp else _contraction(statement.reading)
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        (*SCOPE, limit, *requirements, *GRADIENT, *GROWTH, *CHAIN, *ending),
        conclusion="E13",
        target=dist2_1,
        quantities=frozenset({"T1", "T2", "S", "sigma2", "dist2_0"}),
    )
