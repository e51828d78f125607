"""The proof of Lemma D.4 (Horvath et al., FedShuffle, Appendix D) as checked steps.

One round of the drawn client i, then the momentum update (14) with the next client j. Vectors are random, inner
products stand for their expectations given what came before the round.

    y(e)   start of epoch e minus the start x of the round, e = 0, ..., E; y(E) = x+ - x
    g(e)   average gradient of epoch e, (24)       d(e)   its direction, (25)
    fi(e)  gradient of f_i at the start of e       f(e)   gradient of f there
    m, mp  momentum before and after               fix    gradient of f_i at x
    fx, fxp  gradient of f at x and x+             fjx, fjxp  gradient of f_j at x and x+

The numbers 8343/800 = 10.43, 2781/800 = 3.48 and 4881/800 = 6.10 are what the repaired chain gives before it is rounded
up to the printed 24, 4 and 8. Equation (14) is not in the paper's text; it is what its display of h+ expands to. In the
printed reading that display is taken without its misprints (i for j, x for x+).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import Expected
from boundcheck.proof.for_vectors import ForVectors, plain
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.laws import Draws
from boundcheck.proof.rules import CauchySchwarz, Jensen, SumOver, Telescoping
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, norm2, vector
from boundcheck.theory.assumptions import hessian_similarity

READINGS = ("corrected", "as_printed")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


h2, gam2, sigma2_i, D_i, S, E, eta_l, delta, L, a = _symbols("h2 gam2 sigma2_i D_i S E eta_l delta L a")
e, A, B, Q, X, d2, y2, error2_1 = _symbols("e A B Q X d2 y2 error2_1")
half, third, noise = sp.Rational(1, 2), sp.Rational(1, 3), sigma2_i / D_i
QUANTITIES = frozenset({"h2", "gam2", "sigma2_i", "S", "A", "B", "Q", "X"})

y, g, d, f, fi = (vector(name, e) for name in ("y", "g", "d", "f", "fi"))
u, v, q = vector("u", e), vector("v", e), vector("q", e)
m, mp, fx, fxp = (vector(name) for name in ("m", "mp", "fx", "fxp"))
k = _symbols("k")
drawn = [vector(name, k) for name in ("fix", "fjx", "fjxp")]  # client 0 of those that are drawn, for i and for j
fix, fjx, fjxp = (one.at(k, 0) for one in drawn)
ROUNDS = tuple(
    (term, 0) for term in (y, g, d, f, fi, h2, gam2, S, m, drawn[0], fx)
)  # of the round that is about to be made
h, Z, G = m - fx, fjxp - fjx - fxp + fx, fjx - fx
end, begin = y.at(e, E), Vector(())
AT_BOTH_ENDS = tuple(
    Evaluation(function, point, gradient)
    for function, point, gradient in (("f_i", end, fjxp), ("f_i", begin, fjx), ("F", end, fxp), ("F", begin, fx))
)


def over(term: Any) -> Any:
    """The sum over the epochs of the round."""
    return total(term, e, E)


# the client, the order of every epoch, and the client j
OF_ROUND = ((m, 0), (fx, 0), (fix, 1), (y.at(e, 0), 0), (y, e + 1), (f, e + 1), (fi, e + 1), (g, e + 2), (d, e + 1))
DRAWN = (*OF_ROUND, (fxp, E + 1), (fjx, E + 2), (fjxp, E + 2), (mp, E + 2))
OF_I = Draws("i", "fedshuffle_mvr", ((drawn[0], fx),), (m, fx))
OF_J = Draws(
    "j",
    "fedshuffle_mvr",
    ((drawn[1], fx), (drawn[2], fxp)),
    (m, fx, fxp, drawn[0], *(vector(name, e) for name in ("y", "g", "d", "f", "fi"))),
    ((drawn[1], fix),),
)
FACTS = (
    Fact("index e", sp.And(e >= 0, e <= E - 1), "index", "epochs of the round"),
    Fact("u", VectorEquality(u, d - f), "definition", "error of the direction"),
    Fact("v", VectorEquality(v, g - fi), "definition", "error of the epoch's gradient"),
    Fact("q", VectorEquality(q, u + f + v), "definition", "step of the epoch"),
    Fact("A", sp.Eq(A, over(norm2(u))), "definition", "errors of the directions"),
    Fact("B", sp.Eq(B, over(norm2(v))), "definition", "errors of the epochs' gradients"),
    Fact("Q", sp.Eq(Q, over(norm2(q))), "definition", "lengths of the steps"),
    Fact("X", sp.Eq(X, norm2(end)), "definition", "squared length of x+ - x"),
    Fact("start", VectorEquality(y.at(e, 0), Vector(())), "algorithm", "positions are relative to x"),
    Fact(
        "epoch", VectorEquality(y.at(e, e + 1), y - (g + (m - fix) * (1 - a)) * eta_l), "algorithm", "(12), (13), (24)"
    ),
    Fact("direction", VectorEquality(d, fi * a + m * (1 - a) + (fi - fix) * (1 - a)), "algorithm", "(25)"),
    Fact("momentum", VectorEquality(mp, fjxp * a + m * (1 - a) + (fjxp - fjx) * (1 - a)), "algorithm", "(14)"),
    Fact("h2", sp.Le(norm2(h), h2), "metric", "Lemma D.4"),
    Fact("gam2", sp.Le(norm2(fix - fx), gam2), "metric", "Lemma D.4"),
    Fact("S", sp.Le(over(norm2(f)), S), "metric", "Lemma D.4"),
    Fact("error2_1", sp.Le(error2_1, norm2(mp - fxp)), "metric", "Lemma D.4"),
    pointwise("A3.5", hessian_similarity, "Assumption 3.5 for f_j at x and x+", *AT_BOTH_ENDS),
)

COMMON = ("domain a", "condition momentum")
SIZES = ("domain eta_l", "domain L", "domain delta", "domain E", "domain D_i")
STEP_L = ("condition step size and L", "domain eta_l", "domain L")
STEP_DELTA = ("condition step size and delta", "domain eta_l", "domain delta", "domain E")
FIRST, SECOND, THIRD = (f"fedshuffle/lemma_d_{n}" for n in ("1/corrected", "2/as_printed", "3/as_printed"))
drift = over(norm2(y))

ROUND = ("start", "epoch", "direction", "h2", "gam2", "S", "index e")
ROUND_VECTORS = (
    *plain(m=m, fix=fix, fx=fx),
    *((name, (e,), vector(name, e)) for name in ("y", "g", "d", "f", "fi")),
)

LEMMAS = (
    Step(
        "D.1",
        sp.Le(norm2(g - fi), 2 * eta_l**2 * L**2 * noise + eta_l**2 * L**2 * norm2(d)),
        ("direction", "condition P is 0", *STEP_L, *COMMON),
        ForVectors(FIRST, plain(fy=fi, fx=fix, m=m, d=d, mean=g), ((noise, noise),)),
        "Lemma D.1 in every epoch",
    ),
    Step(
        "D.2",
        sp.Le(norm2(d - f), 3 * h2 + 3 * delta**2 * norm2(y) + 3 * a**2 * gam2),
        ("direction", "h2", "gam2", "domain delta", *COMMON),
        ForVectors(SECOND, plain(m=m, x=begin, y=y, fix=fix, fiy=fi, fx=fx, fy=f, d=d), kept=(h2, gam2)),
        "Lemma D.2 in every epoch",
    ),
    Step(
        "D.3",
        sp.Le(
            drift,
            16 * E**2 * eta_l**2 * S + 16 * E**3 * eta_l**2 * (3 * h2 + 3 * a**2 * gam2 + eta_l**2 * L**2 * noise),
        ),
        (*ROUND, "condition step size and L", "condition step size and delta", "condition P is 0", *COMMON, *SIZES),
        ForVectors(THIRD, ROUND_VECTORS, ((noise, noise),), (S, h2, gam2)),
        "Lemma D.3 for the round",
    ),
    Step(
        "length of the direction",
        sp.Le(norm2(d), 2 * norm2(u) + 2 * norm2(f)),
        ("u",),
        Jensen((half, half), ((d - f) * 2, f * 2)),
        "the direction is the gradient of f and its error",
    ),
    Step(
        "epoch errors.1",
        sp.Le(norm2(v), 2 * eta_l**2 * L**2 * (noise + norm2(u) + norm2(f))),
        ("D.1", "length of the direction", "v", "domain D_i"),
        Combine({"D.1": 1, "length of the direction": eta_l**2 * L**2}),
        "Lemma D.1 with the length of the direction",
    ),
    Step(
        "epoch errors",
        sp.Le(B, 2 * eta_l**2 * L**2 * (E * noise + A + over(norm2(f)))),
        ("epoch errors.1", "A", "B", "domain E", "domain D_i"),
        SumOver("epoch errors.1", e, E),
        "over the epochs",
    ),
    Step(
        "direction errors.1",
        sp.Le(norm2(u), 3 * h2 + 3 * delta**2 * norm2(y) + 3 * a**2 * gam2),
        ("D.2", "u"),
        Combine({"D.2": 1}),
        "Lemma D.2",
    ),
    Step(
        "direction errors",
        sp.Le(A, 3 * E * h2 + 3 * delta**2 * drift + 3 * E * a**2 * gam2),
        ("direction errors.1", "A", "domain E"),
        SumOver("direction errors.1", e, E),
        "Lemma D.2 over the epochs",
    ),
    Step(
        "step",
        VectorEquality(y.at(e, e + 1), y - q * eta_l),
        ("epoch", "direction", "u", "v", "q"),
        Identity(),
        "grad f and grad f_i at the start of the epoch added and subtracted",
    ),
    Step(
        "x+ - x",
        VectorEquality(end, y.at(e, 0) + vector_total(q * -eta_l, e, E)),
        ("step", "domain E"),
        Telescoping("step", e, E),
        "all epochs",
    ),
)

MOMENTUM = (
    Step(
        "h+",
        VectorEquality(mp - fxp, h * (1 - a) + Z + G * a),
        ("momentum",),
        Identity(),
        "(14) with the gradients of f at x and x+ added and subtracted",
    ),
    Step(
        "noise of h+",
        sp.Le(norm2(Z + G * a), 2 * norm2(Z) + 2 * a**2 * norm2(G)),
        (),
        Jensen((half, half), (Z * 2, G * (2 * a))),
        "Lemma B.6",
    ),
    Step("1 - a", sp.Le((1 - a) ** 2, 1 - a), COMMON, Decide(), "0 <= a <= 1"),
    Step(
        "h+ square",
        sp.Le(norm2(mp - fxp), (1 - a) ** 2 * norm2(h) + 2 * norm2(Z) + 2 * a**2 * norm2(G)),
        ("momentum", "noise of h+", *COMMON),
        Expected(("j",), Combine({"noise of h+": 1})),
        "the products with h have mean 0",
    ),
    Step(
        "momentum error",
        sp.Le(error2_1, (1 - a) * h2 + 2 * delta**2 * X + 2 * a**2 * gam2),
        ("error2_1", "h+ square", "A3.5", "1 - a", "h2", "gam2", "X", "domain a"),
        Expected(
            ("j", "i"),
            Combine({"error2_1": 1, "h+ square": 1, "A3.5": 2, "h2": (1 - a) ** 2, "gam2": 2 * a**2}),
        ),
        "Assumption 3.5 and (1-a)^2 <= 1-a",
    ),
)


def length(of_h2: Any, of_S: Any, of_noise: Any) -> Any:
    """X <= eta_l^2 E^2 of_h2 (h2 + a^2 gam2) + eta_l^2 E of_S S + eta_l^4 E^2 L^2 of_noise noise, as a claim."""
    first = eta_l**2 * E**2 * of_h2 * (h2 + a**2 * gam2)
    return sp.Le(X, first + eta_l**2 * E * of_S * S + eta_l**4 * E**2 * L**2 * of_noise * noise)


CORRECTED = (
    Step(
        "three parts",
        sp.Le(norm2(q), 3 * norm2(u) + 3 * norm2(f) + 3 * norm2(v)),
        ("q",),
        Jensen((third, third, third), (u * 3, f * 3, v * 3)),
        "Lemma B.6 with the three terms that there are",
    ),
    Step(
        "all parts",
        sp.Le(Q, 3 * A + 3 * over(norm2(f)) + 3 * B),
        ("three parts", "A", "B", "Q", "domain E"),
        SumOver("three parts", e, E),
        "over the epochs",
    ),
    Step(
        "length.1",
        sp.Le(norm2(end), eta_l**2 * E * over(norm2(q))),
        ("x+ - x", "start", "domain E"),
        CauchySchwarz(q * -eta_l, e, E),
        "the squared sum of E steps",
    ),
    Step(
        "1/16",
        sp.Le(eta_l**2 * L**2, sp.Rational(1, 16)),
        STEP_L,
        Decide(),
        "eta_l <= 1/(4L)",
    ),
    Step(
        "1/1600",
        sp.Le(E**2 * delta**2 * eta_l**2, sp.Rational(1, 1600)),
        STEP_DELTA,
        Decide(),
        "eta_l <= 1/(40 delta E)",
    ),
    Step(
        "length.2",
        sp.Le(X, eta_l**2 * E * (sp.Rational(27, 8) * (A + S) + 6 * E * eta_l**2 * L**2 * noise)),
        ("X", "length.1", "Q", "all parts", "epoch errors", "1/16", "S", *SIZES),
        Combine(
            {
                "length.1": 1,
                "all parts": eta_l**2 * E,
                "epoch errors": 3 * eta_l**2 * E,
                "S": eta_l**2 * E * (3 + 6 * eta_l**2 * L**2),
            }
        ),
        "3 (1 + 2 eta_l^2 L^2) <= 27/8",
    ),
    Step(
        "length.3",
        length(sp.Rational(8343, 800), sp.Rational(2781, 800), sp.Rational(4881, 800)),
        (
            "length.2",
            "direction errors",
            "D.3",
            "1/1600",
            "domain h2",
            "domain gam2",
            "domain S",
            "domain sigma2_i",
            *SIZES,
        ),
        Combine(
            {
                "length.2": 1,
                "direction errors": sp.Rational(27, 8) * eta_l**2 * E,
                "D.3": sp.Rational(81, 8) * eta_l**2 * E * delta**2,
            }
        ),
        "Lemmas D.2 and D.3: 27/8 * 3 * 103/100, 27/8 * 103/100 and 6 + 27/8 * 3/100",
    ),
    Step(
        "length",
        length(24, 4, 8),
        ("length.3", *SIZES),
        Combine({"length.3": 1}),
        "rounded up to the printed constants",
    ),
)

PRINTED = (
    Step(
        "printed x+ - x",
        VectorEquality(end, vector_total(u - v, e, E) * -eta_l),
        ("x+ - x", "start", "q", "domain eta_l", "domain E"),
        Identity(),
        "the second line of the printed display",
    ),
    Step(
        "printed two parts",
        sp.Le(norm2(u - v), 2 * norm2(u) + 2 * norm2(v)),
        (),
        Jensen((half, half), (u * 2, v * -2)),
        "Lemma B.6 with two terms",
    ),
    Step(
        "printed length.1",
        sp.Le(norm2(end), eta_l**2 * E * over(norm2(u - v))),
        ("printed x+ - x", "domain E"),
        CauchySchwarz((u - v) * -eta_l, e, E),
        "the squared sum of E of these",
    ),
    Step(
        "printed all parts",
        sp.Le(over(norm2(u - v)), 2 * A + 2 * B),
        ("printed two parts", "A", "B", "domain E"),
        SumOver("printed two parts", e, E),
        "over the epochs",
    ),
    Step(
        "printed length of one step",
        sp.Le(eta_l**2 * S, 4 * eta_l**4 * L**2 * S),
        ("domain S", *STEP_L),
        Decide(),
        "'printed length.2' where E = 1, m = grad f(x) and the one client has one sample: x+ - x = -eta_l grad f(x)",
    ),
    Step("1/16", sp.Le(eta_l**2 * L**2, sp.Rational(1, 16)), STEP_L, Decide(), "eta_l <= 1/(4L)"),
    Step(
        "1/1600",
        sp.Le(E**2 * delta**2 * eta_l**2, sp.Rational(1, 1600)),
        STEP_DELTA,
        Decide(),
        "eta_l <= 1/(40 delta E)",
    ),
    Step(
        "printed length.2",
        sp.Le(X, 4 * eta_l**4 * E**2 * L**2 * noise + 4 * eta_l**2 * E * A + 4 * eta_l**4 * L**2 * E * S),
        ("X", "printed length.1", "printed all parts", "epoch errors", "1/16", "S", *SIZES),
        Combine(
            {
                "printed length.1": 1,
                "printed all parts": eta_l**2 * E,
                "epoch errors": 2 * eta_l**2 * E,
                "S": 4 * eta_l**4 * L**2 * E,
            }
        ),
        "with Lemma D.1",
    ),
    Step(
        "length",
        length(24, 4, 8),
        ("printed length.2", "direction errors", "D.3", "1/16", "1/1600", "domain sigma2_i", *SIZES),
        Combine({"printed length.2": 1, "direction errors": 4 * eta_l**2 * E, "D.3": 12 * eta_l**2 * E * delta**2}),
        "Lemmas D.2 and D.3",
    ),
)

CONCLUSION = Step(
    "conclusion",
    sp.Le(
        error2_1,
        (1 - sp.Rational(23, 24) * a) * h2
        + 3 * a**2 * gam2
        + 16 * eta_l**4 * E**2 * delta**2 * L**2 * noise
        + 8 * eta_l**2 * delta**2 * E * S,
    ),
    ("momentum error", "length", "condition momentum and step size", *COMMON, *SIZES),
    Combine({"momentum error": 1, "length": 2 * delta**2}),
    "48 E^2 delta^2 eta_l^2 <= a/24 <= 1",
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of Lemma D.4."""
    middle = CORRECTED if statement.reading == "corrected" else PRINTED
    steps = (*LEMMAS, *MOMENTUM, *middle, CONCLUSION)
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        steps,
        "conclusion",
        error2_1,
        QUANTITIES,
        rounds=ROUNDS,
        drawn=DRAWN,
        laws=(OF_I, OF_J),
    )
