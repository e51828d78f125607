"""The proof of Lemma D.1 (Horvath et al., FedShuffle, Appendix D) as checked steps.

One epoch of client i makes N = |D_i| local steps, counted by k = 0, ..., N-1; k-th is the sample of a random order.
Vectors are random, inner products stand for their expectations given what came before the epoch.

    y(k)   position after k local steps minus y_{i,e}, so y(0) = 0
    g(k)   gradient of the k-th sample's loss at that position
    gy(k)  the same at y(0)                                   gx(k)  the same at the start x of the round
    ay(j)  gradient of the loss of sample j at y(0)           ax(j)  the same at x
    fy, fx gradient of f_i at y(0) and x                      m      momentum
    z(k)   direction (13) with both gradients of the k-th sample, taken at y(0)       d    its mean, (25)
    mean   average gradient of the epoch, (24)
    W      sum over the samples of the squared distances of these directions to d
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import EverySample, Expected
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.laws import Order
from boundcheck.proof.rules import CauchySchwarz, Jensen, PartialSum, SumOver, Telescoping
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, norm2, vector
from boundcheck.theory.assumptions import local_variance, smooth_samples

READINGS = ("corrected", "as_printed")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


d2, sigma2_i, D_i, eta_l, L, a, P2 = _symbols("d2 sigma2_i D_i eta_l L a P2")
k, j, v, W, S, error2 = _symbols("k j v W S error2")
N, half = D_i, sp.Rational(1, 2)

y, g, gy, gx = (vector(name, k) for name in ("y", "g", "gy", "gx"))
ay, ax = vector("ay", j), vector("ax", j)
fy, fx, m, d, mean = (vector(name) for name in ("fy", "fx", "m", "d", "mean"))
zero, error = Vector(()), g - gy
z, az = (own + (m - old) * (1 - a) for own, old in ((gy, gx), (ay, ax)))
part, draws = vector_total(error, k, k), vector_total(z, k, k)

ORDER = Order("order", "epoch_error2", ((gy, ay), (gx, ax)), (ay, ax, m, vector("x")), N)
# the samples are drawn one after the other, all of them
DRAWN = ((y, k), (g, k + 1))
FACTS = (
    Fact("index k", sp.And(k >= 0, k <= N - 1), "index", "local steps of the epoch"),
    Fact("index j", sp.And(j >= 0, j <= N - 1), "index", "samples of the client"),
    Fact("fy", VectorEquality(fy, vector_total(ay, j, N) / N), "definition", "f_i is the mean of its samples' losses"),
    Fact("fx", VectorEquality(fx, vector_total(ax, j, N) / N), "definition", "likewise"),
    Fact("direction", VectorEquality(d, fy * a + m * (1 - a) + (fy - fx) * (1 - a)), "definition", "(25)"),
    Fact("S", sp.Eq(S, total(norm2(y), k, N)), "definition", "sum of the squared distances from y(0)"),
    Fact("W", sp.Eq(W, total(norm2(az - d), j, N)), "definition", "spread of the directions"),
    Fact("v", sp.Eq(v, W / (N * sp.Max(1, N - 1))), "definition", "minus the covariance of two different draws"),
    Fact("start", VectorEquality(y.at(k, 0), zero), "algorithm", "positions are relative to y_{i,e}"),
    Fact("local step", VectorEquality(y.at(k, k + 1), y - (g + (m - gx) * (1 - a)) * (eta_l / N)), "algorithm", "(12)"),
    Fact("d2", sp.Eq(d2, norm2(d)), "metric", "Lemma D.1"),
    Fact("mean", VectorEquality(mean, vector_total(g, k, N) / N), "definition", "(24)"),
    Fact("error2", sp.Eq(error2, norm2(mean - fy)), "metric", "Lemma D.1"),
    pointwise(
        "A3.2",
        smooth_samples,
        "Assumption 3.2",
        Evaluation("f_ij", y, g, which=k),
        Evaluation("f_ij", zero, gy, which=k),
    ),
    *(
        pointwise(
            f"A3.4 at {name}",
            local_variance,
            "Assumption 3.4",
            Evaluation("f_i", point, whole),
            Evaluation("f_ij", point, own, which=j),
        )
        for name, point, whole, own in (("y", zero, fy, ay), ("x", vector("x"), fx, ax))
    ),
)

SIZES = ("domain D_i", "domain eta_l", "domain L", "condition step size and L")
MOMENTUM = ("domain a", "condition momentum", "domain D_i")
NOISE = (*MOMENTUM, "condition P is 0", "domain sigma2_i")

DRAWS = (
    Step(
        "variance.1",
        sp.Le(norm2(az - d), 2 * norm2(ay - fy) + 2 * (1 - a) ** 2 * norm2(ax - fx)),
        ("direction",),
        Jensen((half, half), ((ay - fy) * 2, (ax - fx) * (-2 * (1 - a)))),
        "both gradients of the sample deviate",
    ),
    Step(
        "variance.2",
        sp.Le(W, 2 * total(norm2(ay - fy), j, N) + 2 * (1 - a) ** 2 * total(norm2(ax - fx), j, N)),
        ("variance.1", "W", "domain D_i"),
        SumOver("variance.1", j, N),
        "over the samples",
    ),
    Step("variance.3", (1 - a) ** 2 <= 1, ("domain a", "condition momentum"), Decide(), "0 <= a <= 1"),
    Step(
        "variance.4",
        sp.Le(W, 4 * N * sigma2_i),
        ("variance.2", "variance.3", "A3.4 at y", "A3.4 at x", *NOISE),
        Combine({"variance.2": 1, "A3.4 at y": 2 * N, "A3.4 at x": 2 * (1 - a) ** 2 * N}),
        "Assumption 3.4 twice",
    ),
    Step("spread.1", sp.Ge(norm2(az - d), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step("spread", sp.Ge(W, 0), ("spread.1", "W", "domain D_i"), SumOver("spread.1", j, N), "and a sum of such"),
    Step("others", sp.Le((N - 1) / sp.Max(1, N - 1), 1), ("domain D_i",), Decide(), "0 for a single sample"),
    Step(
        "variance",
        sp.Le((N - 1) * v, 4 * sigma2_i),
        ("variance.4", "spread", "others", "v", *NOISE),
        Decide(),
        "N-1 covariances",
    ),
    Step(
        "mean and deviation",
        sp.Le(norm2(draws), v * k * (N - k) + k**2 * d2),
        ("direction", "fy", "fx", "d2", "v", "W", "index k", "domain D_i"),
        Expected(("order",), Combine()),
        "(17), and Lemma B.5 for the sum of k draws",
    ),
)

POSITIONS = (
    Step(
        "position.1",
        VectorEquality(y.at(k, k + 1), y - (error + z) * (eta_l / N)),
        ("local step", "domain D_i"),
        Identity(),
        "the gradient at y(0) subtracted and added",
    ),
    Step(
        "position.2",
        VectorEquality(y, y.at(k, 0) + vector_total((error + z) * (-eta_l / N), k, k)),
        ("position.1", "index k", "domain D_i"),
        Telescoping("position.1", k, k),
        "the first k steps",
    ),
    Step(
        "position",
        VectorEquality(y, (part + draws) * (-eta_l / N)),
        ("position.2", "start", "domain D_i"),
        Identity(),
        "errors of the gradients, and the draws",
    ),
    Step(
        "errors.1",
        sp.Le(norm2(part), k * total(norm2(error), k, k)),
        ("index k",),
        CauchySchwarz(error, k, k),
        "the squared sum of k errors",
    ),
    Step(
        "errors.2",
        sp.Le(total(norm2(error), k, k), total(norm2(error), k, N)),
        ("index k",),
        PartialSum(norm2(error), k, k, N),
        "the first k of N",
    ),
    Step(
        "errors.3",
        sp.Le(total(norm2(error), k, N), L**2 * S),
        ("A3.2", "S", "domain D_i"),
        SumOver("A3.2", k, N),
        "Assumption 3.2 in every step",
    ),
    Step(
        "errors",
        sp.Le(norm2(part), k * L**2 * S),
        ("errors.1", "errors.2", "errors.3", "index k"),
        Combine({"errors.1": 1, "errors.2": k, "errors.3": k}),
        "the three together",
    ),
)

CORRECTED = (
    Step(
        "split",
        sp.Le(norm2(y), eta_l**2 / N**2 * (3 * norm2(part) + sp.Rational(3, 2) * norm2(draws))),
        ("position", "domain D_i"),
        Jensen(
            (sp.Rational(1, 3), sp.Rational(2, 3)),
            (part * (-3 * eta_l / N), draws * (-sp.Rational(3, 2) * eta_l / N)),
        ),
        "the square split 3 : 3/2",
    ),
    Step(
        "one position",
        sp.Le(
            norm2(y),
            eta_l**2 / N**2 * (3 * k * L**2 * S + sp.Rational(3, 2) * (v * k * (N - k) + k**2 * d2)),
        ),
        ("split", "errors", "mean and deviation", "domain D_i", "domain eta_l"),
        Combine({"split": 1, "errors": 3 * eta_l**2 / N**2, "mean and deviation": sp.Rational(3, 2) * eta_l**2 / N**2}),
        "errors and draws bounded",
    ),
    Step(
        "all positions",
        sp.Le(
            S,
            eta_l**2
            / N**2
            * (
                sp.Rational(3, 2) * N * (N - 1) * L**2 * S
                + v * N * (N - 1) * (N + 1) / 4
                + N * (N - 1) * (2 * N - 1) / 4 * d2
            ),
        ),
        ("one position", "S", "domain D_i"),
        SumOver("one position", k, N),
        "sums of k, k (N-k) and k^2",
    ),
    Step(
        "room",
        sp.Gt(1 - sp.Rational(3, 2) * eta_l**2 * L**2 * (N - 1) / N, 0),
        SIZES,
        Decide(),
        "eta_l^2 L^2 <= 1/4",
    ),
    Step(
        "distances",
        sp.Le(S, 2 * eta_l**2 * sigma2_i + eta_l**2 * N * d2),
        ("all positions", "variance", "room", *SIZES),
        Combine(
            {
                "all positions": 1 / (1 - sp.Rational(3, 2) * eta_l**2 * L**2 * (N - 1) / N),
                "variance": eta_l**2 * (N + 1) / (4 * N) / (1 - sp.Rational(3, 2) * eta_l**2 * L**2 * (N - 1) / N),
            }
        ),
        "solved for the sum: 8(N+1)/(5N+3) <= 2 and 2(N-1)(2N-1)/(5N+3) <= N",
    ),
)

PRINTED = (
    Step(
        "position.4",
        VectorEquality(y.at(k, k + 1), y.at(k, 0) + vector_total((g + (m - gx) * (1 - a)) * (-eta_l / N), k, k + 1)),
        ("local step", "index k", "domain D_i"),
        Telescoping("local step", k, k + 1),
        "the first k+1 steps as (13) has them",
    ),
    Step(
        "printed equality",
        VectorEquality(y.at(k, k + 1), (vector_total(g, k, k + 1) + (m - fx) * ((k + 1) * (1 - a))) * (-eta_l / N)),
        ("position.4", "start", "index k", "domain a", "condition momentum", "domain D_i", "domain eta_l"),
        Identity(),
        "the same with the client's gradient at x in place of the samples'",
    ),
    Step(
        "printed sum over j",
        sp.Le(2 * eta_l**2 * L**2 / N**2 * (N * (N + 1) / 2 - 1), eta_l**2 * L**2),
        (*SIZES,),
        Decide(),
        "the coefficient of |y(1) - y(0)|^2: the sum of j from 2 to N",
    ),
)


def _printed_end() -> tuple[Step, ...]:
    """The last three lines of the printed display, with the printed sums over j = 1, ..., N."""
    left = 8 * eta_l**2 / (3 * N**2) * (sigma2_i * N * (N + 1) / 6 + d2 * N * (N + 1) * (2 * N + 1) / 6)
    right = 2 * eta_l**2 * sigma2_i + eta_l**2 * N * d2
    return (
        Step(
            "printed 8/3",
            sp.Le(S, left),
            ("printed equality", "printed sum over j", "errors", "mean and deviation", "variance", *SIZES),
            Combine(),
            "what the display has after eta_l <= 1/(2L), (21) and (6)",
        ),
        Step(
            "printed constants",
            sp.Le(left, right),
            ("domain D_i", "domain eta_l", "domain sigma2_i", "domain d2"),
            Decide(),
            "the last line of the display",
        ),
        Step(
            "distances",
            sp.Le(S, right),
            ("printed 8/3", "printed constants", "domain D_i"),
            Combine({"printed 8/3": 1, "printed constants": 1}),
            "the last two lines in a row",
        ),
    )


ENDING = (
    Step(
        "every sample once",
        VectorEquality(vector_total(gy, k, N), vector_total(ay, j, N)),
        ("domain D_i",),
        EverySample("order"),
        "an order of all samples",
    ),
    Step(
        "average.1",
        sp.Le(norm2(vector_total(error, k, N)), N * total(norm2(error), k, N)),
        ("domain D_i",),
        CauchySchwarz(error, k, N),
        "the squared sum of N errors",
    ),
    Step(
        "average",
        sp.Le(error2, L**2 / N * S),
        ("average.1", "errors.3", "every sample once", "fy", "mean", "error2", "domain D_i"),
        Combine({"average.1": 1 / N**2, "errors.3": 1 / N}),
        "grad f_i(y(0)) is the mean of all samples' gradients there",
    ),
    Step(
        "conclusion",
        sp.Le(error2, 2 * eta_l**2 * L**2 * sigma2_i / N + eta_l**2 * L**2 * d2),
        ("average", "distances", "domain D_i", "domain L"),
        Combine({"average": 1, "distances": L**2 / N}),
        "both together",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of Lemma D.1."""
    middle = CORRECTED if statement.reading == "corrected" else (*PRINTED, *_printed_end())
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        (*DRAWS, *POSITIONS, *middle, *ENDING),
        conclusion="conclusion",
        target=error2,
        quantities=frozenset({"S", "d2", "sigma2_i"}),
        drawn=DRAWN,
        laws=(ORDER,),
    )
