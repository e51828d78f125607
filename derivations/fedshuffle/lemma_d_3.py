"""The proof of Lemma D.3 (Horvath et al., FedShuffle, Appendix D) as checked steps.

One round of the drawn client i makes E local epochs, counted by e = 0, ..., E-1. Vectors are random, inner products
stand for their expectations given what came before the round.

    y(e)   start of epoch e minus the start x of the round        m      momentum of the round
    g(e)   average gradient of epoch e, (24)                      d(e)   its direction, (25)
    fi(e)  gradient of f_i there                                  f(e)   gradient of f there
    fix    gradient of f_i at x                                   q(e)   step of the epoch: y(e+1) = y(e) - eta_l q(e)

The readings share all but the last roundings, and Lemma D.2 with or without its factor (1 - a)^2.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.for_vectors import ForVectors, plain
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.rules import CauchySchwarz, Jensen, PartialSum, SumOver, Telescoping
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, norm2, vector

READINGS = ("as_printed", "sharp")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


h2, gam2, sigma2_i, D_i, S, E, eta_l, delta, L, a = _symbols("h2 gam2 sigma2_i D_i S E eta_l delta L a")
e, A, Q, drift2, d2, y2 = _symbols("e A Q drift2 d2 y2")
third, noise = sp.Rational(1, 3), sigma2_i / D_i
QUANTITIES = frozenset({"h2", "gam2", "sigma2_i", "S", "A", "Q"})

y, g, d, f, fi = (vector(name, e) for name in ("y", "g", "d", "f", "fi"))
m, fix, fx = vector("m"), vector("fix"), vector("fx")
u, q = vector("u", e), vector("q", e)
ROUNDS = tuple((term, 0) for term in (y, g, d, f, fi, h2, gam2, S, m, fix, fx))  # of the round that is about to be made


def over(term: Any) -> Any:
    """The sum over the epochs of the round."""
    return total(term, e, E)


# the client, then the order of every epoch
DRAWN = ((m, 0), (fx, 0), (fix, 1), (y.at(e, 0), 0), (y, e + 1), (f, e + 1), (fi, e + 1), (g, e + 2), (d, e + 1))
FACTS = (
    Fact("index e", sp.And(e >= 0, e <= E - 1), "index", "epochs of the round"),
    Fact("u", VectorEquality(u, d - f), "definition", "error of the direction"),
    Fact("q", VectorEquality(q, u + f + (g - fi)), "definition", "step of the epoch"),
    Fact("A", sp.Eq(A, over(norm2(u))), "definition", "errors of the directions"),
    Fact("Q", sp.Eq(Q, over(norm2(q))), "definition", "lengths of the steps"),
    Fact("start", VectorEquality(y.at(e, 0), Vector(())), "algorithm", "positions are relative to x"),
    Fact(
        "epoch", VectorEquality(y.at(e, e + 1), y - (g + (m - fix) * (1 - a)) * eta_l), "algorithm", "(12), (13), (24)"
    ),
    Fact("direction", VectorEquality(d, fi * a + m * (1 - a) + (fi - fix) * (1 - a)), "algorithm", "(25)"),
    Fact("S", sp.Le(over(norm2(f)), S), "metric", "Lemma D.3"),
    Fact("h2", sp.Le(norm2(m - fx), h2), "metric", "Lemma D.3"),
    Fact("gam2", sp.Le(norm2(fix - fx), gam2), "metric", "Lemma D.3"),
    Fact("drift2", sp.Le(drift2, over(norm2(y))), "metric", "Lemma D.3"),
)

COMMON = ("domain a", "condition momentum")
SIZES = ("domain eta_l", "domain L", "domain delta", "domain E", "domain D_i")
FIRST = "fedshuffle/lemma_d_1/corrected"
drift = over(norm2(y))

LENGTHS = (
    Step(
        "D.1",
        sp.Le(norm2(g - fi), 2 * eta_l**2 * L**2 * noise + eta_l**2 * L**2 * norm2(d)),
        ("direction", "condition step size and L", "condition P is 0", "domain eta_l", "domain L", *COMMON),
        ForVectors(FIRST, plain(fy=fi, fx=fix, m=m, d=d, mean=g), ((noise, noise),)),
        "Lemma D.1 in every epoch",
    ),
    Step(
        "step",
        VectorEquality(y.at(e, e + 1), y - q * eta_l),
        ("epoch", "direction", "u", "q"),
        Identity(),
        "grad f and grad f_i at the start of the epoch added and subtracted",
    ),
    Step(
        "three parts",
        sp.Le(norm2(q), 3 * norm2(u) + 3 * norm2(f) + 3 * norm2(g - fi)),
        ("q",),
        Jensen((third, third, third), (u * 3, f * 3, (g - fi) * 3)),
        "Lemma B.6 with three terms",
    ),
    Step(
        "length.1",
        sp.Le(norm2(d), 2 * norm2(u) + 2 * norm2(f)),
        ("u",),
        Jensen((sp.Rational(1, 2), sp.Rational(1, 2)), ((d - f) * 2, f * 2)),
        "the direction is the gradient of f and its error",
    ),
    Step(
        "length",
        sp.Le(
            norm2(q),
            (3 + 6 * eta_l**2 * L**2) * (norm2(u) + norm2(f)) + 6 * eta_l**2 * L**2 * noise,
        ),
        ("three parts", "D.1", "length.1", "domain D_i"),
        Combine({"three parts": 1, "D.1": 3, "length.1": 3 * eta_l**2 * L**2}),
        "with Lemma D.1",
    ),
    Step(
        "lengths",
        sp.Le(Q, (3 + 6 * eta_l**2 * L**2) * (A + over(norm2(f))) + 6 * E * eta_l**2 * L**2 * noise),
        ("length", "A", "Q", "domain E", "domain D_i"),
        SumOver("length", e, E),
        "over the epochs",
    ),
)


def errors(reading: str) -> tuple[Step, ...]:
    """Lemma D.2 over the epochs, in the reading of the same name."""
    kept = h2 if reading == "as_printed" else (1 - a) ** 2 * h2
    return (
        Step(
            "D.2",
            sp.Le(norm2(d - f), 3 * kept + 3 * delta**2 * norm2(y) + 3 * a**2 * gam2),
            ("direction", "h2", "gam2", "domain delta", *COMMON),
            ForVectors(
                f"fedshuffle/lemma_d_2/{reading}",
                plain(m=m, x=Vector(()), y=y, fix=fix, fiy=fi, fx=fx, fy=f, d=d),
                kept=(h2, gam2),
            ),
            "Lemma D.2 in every epoch",
        ),
        Step(
            "error",
            sp.Le(norm2(u), 3 * kept + 3 * delta**2 * norm2(y) + 3 * a**2 * gam2),
            ("D.2", "u"),
            Combine({"D.2": 1}),
            "Lemma D.2",
        ),
        Step(
            "errors",
            sp.Le(A, 3 * E * kept + 3 * delta**2 * drift + 3 * E * a**2 * gam2),
            ("error", "A", "domain E"),
            SumOver("error", e, E),
            "Lemma D.2 over the epochs",
        ),
    )


DRIFT = (
    Step(
        "position.1",
        VectorEquality(y, y.at(e, 0) + vector_total(q * -eta_l, e, e)),
        ("step", "index e"),
        Telescoping("step", e, e),
        "the first e epochs",
    ),
    Step(
        "position.2",
        sp.Le(norm2(y), e * eta_l**2 * total(norm2(q), e, e)),
        ("position.1", "start", "index e"),
        CauchySchwarz(q * -eta_l, e, e),
        "the squared sum of e steps",
    ),
    Step(
        "position.3",
        sp.Le(total(norm2(q), e, e), over(norm2(q))),
        ("index e",),
        PartialSum(norm2(q), e, e, E),
        "the first e of E steps",
    ),
    Step(
        "position",
        sp.Le(norm2(y), e * eta_l**2 * Q),
        ("position.2", "position.3", "Q", "index e"),
        Combine({"position.2": 1, "position.3": e * eta_l**2}),
        "both together",
    ),
    Step(
        "drift",
        sp.Le(drift, E * (E - 1) / 2 * eta_l**2 * Q),
        ("position", "domain E"),
        SumOver("position", e, E),
        "0 + 1 + ... + (E-1) = E(E-1)/2",
    ),
    Step(
        "six times the square",
        6 * eta_l**2 * L**2 <= sp.Rational(3, 2),
        ("condition step size and L", "domain eta_l", "domain L"),
        Decide(),
        "eta_l <= 1/(2L)",
    ),
)

ROUNDED = (
    Step(
        "factor 4",
        sp.Le(drift, 4 * E**2 * eta_l**2 * (A + S + E * eta_l**2 * L**2 * noise)),
        ("drift", "lengths", "S", "six times the square", "domain sigma2_i", *SIZES),
        Combine(
            {
                "drift": 1,
                "lengths": E * (E - 1) / 2 * eta_l**2,
                "S": E * (E - 1) / 2 * eta_l**2 * (3 + 6 * eta_l**2 * L**2),
            }
        ),
        "3/2 (1 + 1/2) <= 4 and 3 <= 4",
    ),
    Step(
        "room",
        1 - 12 * E**2 * eta_l**2 * delta**2 >= sp.Rational(1, 4),
        ("condition step size and delta", "domain eta_l", "domain delta", "domain E"),
        Decide(),
        "eta_l <= 1/(4 E delta)",
    ),
    Step(
        "conclusion.1",
        sp.Le(
            (1 - 12 * E**2 * eta_l**2 * delta**2) * drift,
            4 * E**2 * eta_l**2 * S + 4 * E**3 * eta_l**2 * (3 * h2 + 3 * a**2 * gam2 + eta_l**2 * L**2 * noise),
        ),
        ("factor 4", "errors", *SIZES),
        Combine({"factor 4": 1, "errors": 4 * E**2 * eta_l**2}),
        "Lemma D.2 put in",
    ),
    Step(
        "conclusion",
        sp.Le(
            drift2,
            16 * E**2 * eta_l**2 * S + 16 * E**3 * eta_l**2 * (3 * h2 + 3 * a**2 * gam2 + eta_l**2 * L**2 * noise),
        ),
        ("drift2", "conclusion.1", "room", *SIZES),
        Combine({"drift2": 1, "conclusion.1": 4}),
        "solved for the drift",
    ),
)


pairs = E * (E - 1) / 2
SHARP = (
    Step(
        "factor 9/4",
        sp.Le(drift, pairs * eta_l**2 * (sp.Rational(9, 2) * (A + S) + 6 * E * eta_l**2 * L**2 * noise)),
        ("drift", "lengths", "S", "six times the square", "domain sigma2_i", *SIZES),
        Combine(
            {
                "drift": 1,
                "lengths": pairs * eta_l**2,
                "S": pairs * eta_l**2 * (3 + 6 * eta_l**2 * L**2),
            }
        ),
        "3 (1 + 1/2) = 9/2",
    ),
    Step(
        "room",
        1 - sp.Rational(27, 2) * pairs * eta_l**2 * delta**2 >= sp.Rational(37, 64),
        ("condition step size and delta", "domain eta_l", "domain delta", "domain E"),
        Decide(),
        "eta_l <= 1/(4 E delta)",
    ),
    Step(
        "conclusion.1",
        sp.Le(
            (1 - sp.Rational(27, 2) * pairs * eta_l**2 * delta**2) * drift,
            pairs
            * eta_l**2
            * (
                sp.Rational(9, 2) * S
                + sp.Rational(27, 2) * E * ((1 - a) ** 2 * h2 + a**2 * gam2)
                + 6 * E * eta_l**2 * L**2 * noise
            ),
        ),
        ("factor 9/4", "errors", *SIZES),
        Combine({"factor 9/4": 1, "errors": sp.Rational(9, 2) * pairs * eta_l**2}),
        "Lemma D.2 put in",
    ),
    Step(
        "conclusion",
        sp.Le(
            drift2,
            sp.Rational(48, 37)
            * E
            * (E - 1)
            * eta_l**2
            * (3 * S + 9 * E * ((1 - a) ** 2 * h2 + a**2 * gam2) + 4 * E * eta_l**2 * L**2 * noise),
        ),
        ("drift2", "conclusion.1", "room", *SIZES),
        Combine({"drift2": 1, "conclusion.1": sp.Rational(64, 37)}),
        "solved for the drift",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of Lemma D.3."""
    rounding = SHARP if statement.reading == "sharp" else ROUNDED
    steps = (*LENGTHS, *errors(statement.reading), *DRIFT, *rounding)
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        steps,
        "conclusion",
        drift2,
        QUANTITIES,
        rounds=ROUNDS,
        drawn=DRAWN,
    )
