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

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.proof.rules import Limit
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import smooth_clients

READINGS = ("as_printed", "sharp_any_cohort", "sharp")

L, lam, mu, gamma, B2, K, gap_0, grad2_0 = symbols("L lam mu gamma B2 K gap_0 grad2_0")
C, k, j, e, m, gap_1, clients = symbols("C k j e m gap_1 clients")
slope, g, x, start = vector("slope"), vector("g"), vector("x"), Vector(())
v, d, h, G = vector("v", k), vector("d", k), vector("h", k), vector("G", j)

each = norm2(slope) + norm2(g)
mixed = L / (2 * mu * m) + gamma / (2 * m)  # coefficient of |slope|^2 + |g|^2
moved = L * (1 + gamma)**2 / (2 * m**2)  # coefficient of |g|^2
model = -inner(slope, g) / mu + mixed * each + moved * norm2(g)


def derivation(statement: Any) -> Any:
    """The derivation of one reading of Theorem 5; its steps name lam only where they introduce m."""
    solvers = ((v, 2), (d, 2), (h, 2), (x, 2))
    p = Proof(statement, gap_1, drawn=((slope, 0), (g, 1), (G, 1), *solvers))  # S_t, then S'_t with its solvers
    gradients(p)
    known(p)
    one_device(p)
    iteration(p)
    moments, factor = second_moment(p)
    rho = 1 / mu - mixed * (1 + factor) - moved * factor
    p.conclude(gap_1 <= gap_0 - rho * grad2_0, {"pathwise": 1, "E g": 1 / mu}, moments, "gradient", "m > 0",
        why="(19) collected")
    return p.done()


def gradients(p: Proof) -> None:
    """What is known of S_t: the sharp reading has the variance of K draws; in the others K is any count."""
    if p.reading == "sharp":
        p.assume("variance", "gradient_cohort_variance", norm2(g - slope) <= (clients - norm2(slope)) / K,
            "the variance of the mean of S_t")
        return
    p.count("gradients", K >= 1, "devices of S_t")
    p.index(j, K, "devices of S_t")
    p.algorithm("mean of S_t", eq(g, vector_total(G, j, K) / K), "Algorithm 2, step 5")
    p.assume("shares", "unbiased_gradient_cohort", eq(clients, total(norm2(G), j, K) / K),
        "the expected share of device k in S_t is p_k")


def known(p: Proof) -> None:
    """Algorithm 2 from w^{t-1} to w^t, and the assumptions there."""
    p.define(m, mu - lam, "strong convexity of the local subproblems")
    p.count("solvers", C >= 1, "devices of S'_t")
    p.index(k, C, "devices of S'_t")
    p.range("e", sp.And(e > 0, e < 1), "what is added to gamma, so that it is not 0")
    p.known("gradient", eq(grad2_0, norm2(slope)), "squared gradient norm at the start")
    p.upper_model("descent", smooth_clients,
        "f, a mean of L-smooth functions, is L-smooth; its value at w^t is below the quadratic upper model",
        Evaluation("F", start, slope, gap_0), Evaluation("F", x, value=gap_1))
    p.algorithm("mean of S'_t", eq(x, vector_total(d, k, C) / C), "Algorithm 2, step 9, over S'_t")
    p.algorithm("optimality", eq(h, -g - v * mu), "(15), the exact minimiser of the subproblem (3)")
    p.pointwise("smooth", smooth_clients, "L-smooth devices, each without its linear part at w^{t-1}",
        Evaluation("f_i", v, h, which=k), Evaluation("f_i", start, start, which=k))
    p.assume("curvature", "lower_curvature", inner(h, v) >= -lam * norm2(v),
        "F_k + lam/2 |w|^2 is convex, so that its gradient is monotone")
    p.assume("inexact", "inexact_solves", norm2(d - v) <= gamma**2 * norm2(v), "Definition 1")
    p.assume("E g", "unbiased_gradient_cohort", inner(slope, g) >= norm2(slope), "E g = grad f")
    p.assume("E g, above", "unbiased_gradient_cohort", inner(slope, g) <= norm2(slope), "E g = grad f")
    p.assume("dissimilar", "dissimilarity_at_start", clients <= B2 * norm2(slope),
        "Definition 2 at w^{t-1}; clients is the sum of p_k |grad F_k|^2")


def one_device(p: Proof) -> None:
    """(16), and the upper model of f at the point of one device."""
    near = gamma + e
    p.signs(m > 0, "m", "condition proximal weight", why="the subproblems are strongly convex")
    p.step("(16)", m**2 * norm2(v) <= norm2(g), {"curvature": 2 * (mu - lam)}, "optimality", "m", "m > 0",
        why="a strongly convex function grows away from its minimiser, and its gradient at w^{t-1} is g")
    p.step("error", norm2(d - v) <= near**2 * norm2(v), {"inexact": 1},
        why="Definition 1 with a little more than gamma")
    p.step("length.1", norm2(d) <= (1 + near)**2 * norm2(v), {"error": (1 + near) / near},
        why="the triangle inequality")
    p.rule("length", Limit("length.1", e), "length.1", claim=norm2(d) <= (1 + gamma)**2 * norm2(v),
        why="for gamma itself")
    p.step("error.1", 2 * inner(slope, d - v) <= near / m * each, {"error": m / near, "(16)": near / m}, "m > 0",
        why="<slope, d - v> <= gamma |slope| |g|/m")
    p.rule("error.2", Limit("error.1", e), "error.1", "m > 0", claim=2 * inner(slope, d - v) <= gamma / m * each,
        why="for gamma itself")
    p.step("change", -2 * inner(slope, h) <= L / m * each, {"smooth": m / L, "(16)": L / m}, "m > 0",
        why="<slope, h> >= -L |slope| |v| and (16)")
    p.step("device", inner(slope, d) + L / 2 * norm2(d) <= model,
        {"change": 1 / (2 * mu), "error.2": sp.Rational(1, 2), "length": L / 2, "(16)": moved}, "optimality", "m > 0",
        why="the upper model of f at one device's point")


def iteration(p: Proof) -> None:
    """The mean over S'_t of what the devices reach."""
    p.sum_over("average", total(inner(slope, d) + L / 2 * norm2(d), k, C) <= C * model, "device", k, C, "m > 0",
        why="over S'_t")
    p.square_of_sum("convex", d + slope / L, over=(k, C), why="the upper model is L/2 |x + slope/L|^2 and a constant")
    p.step("pathwise", gap_1 <= gap_0 + model, {"descent": 1, "average": 1 / C, "convex": L / (2 * C**2)},
        "mean of S'_t", "m > 0", why="for every S'_t")


def second_moment(p: Proof) -> tuple[Any, Any]:
    """E|g|^2 is at most a multiple of |slope|^2: the steps that say so, with their factors, and the multiple."""
    weight = mixed + moved
    if p.reading == "sharp":
        p.step("g.2", norm2(g) <= (1 + (B2 - 1) / K) * norm2(slope),
            {"variance": 1, "E g, above": 2, "dissimilar": 1 / K}, why="E|g|^2 = |slope|^2 + E|g - slope|^2")
        return {"g.2": weight}, 1 + (B2 - 1) / K
    p.square_of_sum("g.1", G, over=(j, K), why="Jensen's inequality for the mean of S_t")
    p.step("g.2", norm2(g) <= B2 * norm2(slope), {"g.1": 1 / K**2, "dissimilar": 1}, "mean of S_t", "shares",
        why="E|g|^2 <= sum of p_k |grad F_k|^2")
    if p.reading == "sharp_any_cohort":
        return {"g.2": weight}, B2
    p.step("(18)", norm2(g - slope) <= (B2 - 1) * norm2(slope), {"g.2": 1, "E g": 2}, why="the variance of g")
    p.square_of_sum("(10)", slope, g - slope, why="the square of a sum of two")
    return {"(10)": weight, "(18)": 2 * weight}, 2 * B2
