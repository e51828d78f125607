"""The proof of Theorem 5 (FedDANE, Appendix V-E) as checked steps: the decrease of one iteration.

Vectors are random and <u, v> is the expectation, over S_t, S'_t and the local solvers, of their inner product. Points
are relative to w^{t-1}. k = 0, ..., C-1 counts the devices of S'_t, j = 0, ..., K-1 those of S_t.

    slope  gradient of f at w^{t-1}     g     mean of the gradients of S_t there     G(j)  gradient of device j of S_t
    v(k)   exact minimiser of device k  d(k)  the point that it returns              x     w^t, the mean of the d(k)
    h(k)   change of device k's gradient from w^{t-1} to v(k)                        m     mu - lam

The paper writes w^t for the point of one device. Here the quadratic upper model of f, which is convex in the point, is
averaged over S'_t; f itself need not be convex, and S'_t may depend on S_t. The paper's products of norms are replaced
by weighted squares, with gamma + e for gamma where one divides by it, and e goes to 0.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import CauchySchwarz, Limit, SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import smooth_clients

READINGS = ("as_printed", "sharp_any_cohort", "sharp")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


L, lam, mu, gamma, B2, K, gap_0, grad2_0 = _symbols("L lam mu gamma B2 K gap_0 grad2_0")
C, k, j, e, m, gap_1, clients = _symbols("C k j e m gap_1 clients")
slope, g, x = vector("slope"), vector("g"), vector("x")
v, d, h, G = vector("v", k), vector("d", k), vector("h", k), vector("G", j)
HALF, start = sp.Rational(1, 2), Vector(())

DRAWN = ((slope, 0), (g, 1), (G, 1), *((one, 2) for one in (v, d, h, x)))  # S_t, then S'_t with its solvers
FACTS = (
    Fact("m", sp.Eq(m, mu - lam), "definition", "strong convexity of the local subproblems"),
    Fact("solvers", C >= 1, "count", "devices of S'_t"),
    Fact("index k", sp.And(k >= 0, k <= C - 1), "index", "devices of S'_t"),
    Fact("e", sp.And(e > 0, e < 1), "range", "what is added to gamma, so that it is not 0"),
    Fact("gradient", sp.Eq(grad2_0, norm2(slope)), "metric", "squared gradient norm at the start"),
    upper_model(
        "descent",
        smooth_clients,
        "f, a mean of L-smooth functions, is L-smooth; its value at w^t is below the quadratic upper model",
        Evaluation("F", start, slope, gap_0),
        Evaluation("F", x, value=gap_1),
    ),
    Fact("mean of S'_t", VectorEquality(x, vector_total(d, k, C) / C), "algorithm", "Algorithm 2, step 9, over S'_t"),
    Fact("optimality", VectorEquality(h, -g - v * mu), "algorithm", "(15), the exact minimiser of the subproblem (3)"),
    pointwise(
        "smooth",
        smooth_clients,
        "L-smooth devices, each without its linear part at w^{t-1}",
        Evaluation("f_i", v, h, which=k),
        Evaluation("f_i", start, start, which=k),
    ),
    Fact(
        "curvature",
        sp.Ge(inner(h, v), -lam * norm2(v)),
        "assumption",
        "F_k + lam/2 |w|^2 is convex, so that its gradient is monotone",
        "lower_curvature",
    ),
    Fact(
        "inexact",
        sp.Le(norm2(d - v), gamma**2 * norm2(v)),
        "assumption",
        "Definition 1",
        "inexact_solves",
    ),
    Fact("E g", sp.Ge(inner(slope, g), norm2(slope)), "assumption", "E g = grad f", "unbiased_gradient_cohort"),
    Fact("E g, above", sp.Le(inner(slope, g), norm2(slope)), "assumption", "E g = grad f", "unbiased_gradient_cohort"),
    Fact(
        "dissimilar",
        sp.Le(clients, B2 * norm2(slope)),
        "assumption",
        "Definition 2 at w^{t-1}; clients is the sum of p_k |grad F_k|^2",
        "dissimilarity_at_start",
    ),
)
# E|g|^2 by Jensen's inequality; K is no symbol of these readings
COHORT = (
    Fact("gradients", K >= 1, "count", "devices of S_t"),
    Fact("index j", sp.And(j >= 0, j <= K - 1), "index", "devices of S_t"),
    Fact("mean of S_t", VectorEquality(g, vector_total(G, j, K) / K), "algorithm", "Algorithm 2, step 5"),
    Fact(
        "shares",
        sp.Eq(clients, total(norm2(G), j, K) / K),
        "assumption",
        "the expected share of device k in S_t is p_k",
        "unbiased_gradient_cohort",
    ),
)
# E|g|^2 by the variance of K draws
DRAWS = (
    Fact(
        "variance",
        sp.Le(norm2(g - slope), (clients - norm2(slope)) / K),
        "assumption",
        "the variance of the mean of S_t",
        "gradient_cohort_variance",
    ),
)

SIZES = ("domain L", "domain mu", "m > 0")
mixed = L / (2 * mu * m) + gamma / (2 * m)  # coefficient of |slope|^2 + |g|^2
moved = L * (1 + gamma) ** 2 / (2 * m**2)  # coefficient of |g|^2
model = -inner(slope, g) / mu + mixed * (norm2(slope) + norm2(g)) + moved * norm2(g)
near = gamma + e

ONE_DEVICE = (
    Step("m > 0", m > 0, ("m", "condition proximal weight"), Decide(), "the subproblems are strongly convex"),
    Step(
        "(16)",
        sp.Le(m**2 * norm2(v), norm2(g)),
        ("optimality", "curvature", "m", "m > 0"),
        Combine({"curvature": 2 * (mu - lam)}),
        "a strongly convex function grows away from its minimiser, and its gradient at w^{t-1} is g",
    ),
    Step(
        "error",
        sp.Le(norm2(d - v), near**2 * norm2(v)),
        ("inexact", "domain gamma", "e"),
        Combine({"inexact": 1}),
        "Definition 1 with a little more than gamma",
    ),
    Step(
        "length.1",
        sp.Le(norm2(d), (1 + near) ** 2 * norm2(v)),
        ("error", "domain gamma", "e"),
        Combine({"error": (1 + near) / near}),
        "the triangle inequality",
    ),
    Step(
        "length",
        sp.Le(norm2(d), (1 + gamma) ** 2 * norm2(v)),
        ("length.1",),
        Limit("length.1", e),
        "for gamma itself",
    ),
    Step(
        "error.1",
        sp.Le(2 * inner(slope, d - v), near / m * (norm2(slope) + norm2(g))),
        ("error", "(16)", "domain gamma", "e", "m > 0"),
        Combine({"error": m / near, "(16)": near / m}),
        "<slope, d - v> <= gamma |slope| |g|/m",
    ),
    Step(
        "error.2",
        sp.Le(2 * inner(slope, d - v), gamma / m * (norm2(slope) + norm2(g))),
        ("error.1", "m > 0"),
        Limit("error.1", e),
        "for gamma itself",
    ),
    Step(
        "change",
        sp.Le(-2 * inner(slope, h), L / m * (norm2(slope) + norm2(g))),
        ("smooth", "(16)", *SIZES),
        Combine({"smooth": m / L, "(16)": L / m}),
        "<slope, h> >= -L |slope| |v| and (16)",
    ),
    Step(
        "device",
        sp.Le(inner(slope, d) + L / 2 * norm2(d), model),
        ("optimality", "change", "error.2", "length", "(16)", "domain gamma", *SIZES),
        Combine({"change": 1 / (2 * mu), "error.2": HALF, "length": L / 2, "(16)": moved}),
        "the upper model of f at one device's point",
    ),
)
ITERATION = (
    Step(
        "average",
        sp.Le(total(inner(slope, d) + L / 2 * norm2(d), k, C), C * model),
        ("device", "solvers", *SIZES),
        SumOver("device", k, C),
        "over S'_t",
    ),
    Step(
        "convex",
        sp.Le(norm2(vector_total(d + slope / L, k, C)), C * total(norm2(d + slope / L), k, C)),
        ("solvers", "domain L"),
        CauchySchwarz(d + slope / L, k, C),
        "the upper model is L/2 |x + slope/L|^2 and a constant",
    ),
    Step(
        "pathwise",
        sp.Le(gap_1, gap_0 + model),
        ("descent", "mean of S'_t", "average", "convex", "solvers", *SIZES),
        Combine({"descent": 1, "average": 1 / C, "convex": L / (2 * C**2)}),
        "for every S'_t",
    ),
    Step(
        "g.1",
        sp.Le(norm2(vector_total(G, j, K)), K * total(norm2(G), j, K)),
        ("gradients",),
        CauchySchwarz(G, j, K),
        "Jensen's inequality for the mean of S_t",
    ),
)


def _second_moment(reading: str) -> tuple[tuple[Step, ...], Any]:
    """Steps that bound E|g|^2 by a multiple of |slope|^2, the last one called "(10)", and that multiple."""
    jensen = Step(
        "g.2",
        sp.Le(norm2(g), B2 * norm2(slope)),
        ("mean of S_t", "g.1", "shares", "dissimilar", "gradients"),
        Combine({"g.1": 1 / K**2, "dissimilar": 1}),
        "E|g|^2 <= sum of p_k |grad F_k|^2",
    )
    if reading == "sharp_any_cohort":
        return (*ITERATION, jensen), B2
    if reading == "sharp":
        factor = 1 + (B2 - 1) / K
        of_draws = Step(
            "g.2",
            sp.Le(norm2(g), factor * norm2(slope)),
            ("variance", "E g, above", "dissimilar", "domain K"),
            Combine({"variance": 1, "E g, above": 2, "dissimilar": 1 / K}),
            "E|g|^2 = |slope|^2 + E|g - slope|^2",
        )
        return (*ITERATION[:-1], of_draws), factor
    steps = (
        *ITERATION,
        jensen,
        Step(
            "(18)",
            sp.Le(norm2(g - slope), (B2 - 1) * norm2(slope)),
            ("g.2", "E g"),
            Combine({"g.2": 1, "E g": 2}),
            "the variance of g",
        ),
        Step(
            "(10)",
            sp.Le(norm2(g), 2 * norm2(slope) + 2 * norm2(g - slope)),
            (),
            Combine(),
            "the square of a sum of two",
        ),
    )
    return steps, 2 * B2


def _conclusion(reading: str, factor: Any) -> Step:
    """The decrease collected; `factor` is the multiple of |slope|^2 that bounds E|g|^2."""
    weight = mixed + moved
    rho = 1 / mu - mixed * (1 + factor) - moved * factor
    last = {"(10)": weight, "(18)": 2 * weight} if reading == "as_printed" else {"g.2": weight}
    return Step(
        "conclusion",
        sp.Le(gap_1, gap_0 - rho * grad2_0),
        ("pathwise", "E g", "gradient", "domain gamma", *SIZES, *last, *([] if reading != "sharp" else ["domain K"])),
        Combine({"pathwise": 1, "E g": 1 / mu, **last}),
        "(19) collected",
    )


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of Theorem 5; its steps name lam only where they introduce m."""
    own = DRAWS if statement.reading == "sharp" else COHORT
    found, factor = _second_moment(statement.reading)
    return Derivation(
        statement,
        (*scope_facts(statement), *own, *FACTS),
        (*ONE_DEVICE, *found, _conclusion(statement.reading, factor)),
        conclusion="conclusion",
        target=gap_1,
        drawn=DRAWN,
    )
