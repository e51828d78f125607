"""The proof of Lemma D.5 (Horvath et al., FedShuffle, Appendix D) as checked steps.

Rounds r = 0, ..., R-1 of E local epochs e each. Vectors are random, inner products stand for their expectations over
the whole run; i is the client of the round, drawn by weight.

    y(r,e)  start of epoch e minus the start of round r       phi(r,e), gap(r)  E f - f* there and at the round's start
    g(r,e)  average gradient of the epoch, (24)               d(r,e)   its direction, (25)
    fi(r,e) gradient of f_i at the start of the epoch         f(r,e)   gradient of f there
    m(r)    momentum of round r                               c        288 eta_l E/(23 a), weight of its error in Psi
    fix(r,0), fx(r)  gradient of f_i and of f at the start of the round
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import Expected
from boundcheck.proof.for_vectors import ForVectors, plain
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.laws import Draws
from boundcheck.proof.rules import Accumulation, Jensen
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import Vector, VectorEquality, norm2, vector
from boundcheck.theory.assumptions import bounded_below, gradient_dissimilarity, smooth_samples

READINGS = ("corrected", "as_printed")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


gap_0, h2_0, E, R, eta_l, delta, L, a = _symbols("gap_0 h2_0 E R eta_l delta L a")
G2, B2, sigma2, r, e, c, grad2 = _symbols("G2 B2 sigma2 r e c grad2")
sigma2_i, D_i = _symbols("sigma2_i D_i")  # of the lemmas that are used
phi: Any = sp.Function("phi", real=True)
gap: Any = sp.Function("gap", real=True)
half, noise = sp.Rational(1, 2), sigma2_i / D_i

y, g, d, f, fi = (vector(name, r, e) for name in ("y", "g", "d", "f", "fi"))
u, q = vector("u", r, e), vector("q", r, e)
k = _symbols("k")
m, fx, client = vector("m", r), vector("fx", r), vector("fix", r, k)  # one client is drawn, number 0
fix = client.at(k, 0)
h, G = m - fx, fix - fx
after = y.at(e, e + 1)
ROUNDS = tuple((term, r) for term in (y, g, d, f, fi, m, fx, client))  # those before the round in which they are


def over(term: Any) -> Any:
    """The sum over the epochs of the round."""
    return total(term, e, E)


def psi(k: Any) -> Any:
    """The potential at the start of round k."""
    return gap(k) + c * norm2(h.at(r, k))


grads, drift = over(norm2(f)), over(norm2(y))
descent = phi(r, e + 1) - phi(r, e)

# in every round the client, the order of every epoch, and the client of the momentum, which is the last of its round
begun = r * (E + 2)
OF_START = ((m, begun), (fx, begun - 1), (fx.at(r, 0), 0), (client, begun + 1), (y.at(e, 0), 0))
DRAWN = (*OF_START, *((one, begun + e + 1) for one in (y, f, fi, d)), (g, begun + e + 2))
CLIENT = Draws("client", "fedshuffle_mvr", ((client, fx),), (m, fx), time=r)
FACTS = (
    Fact("index r", sp.And(r >= 0, r <= R - 1), "index", "rounds"),
    Fact("index e", sp.And(e >= 0, e <= E - 1), "index", "epochs of a round"),
    Fact("c", sp.Eq(c, sp.Rational(288, 23) * eta_l * E / a), "definition", "weight of the momentum error in Psi"),
    Fact("u", VectorEquality(u, d - f), "definition", "error of the direction"),
    Fact("q", VectorEquality(q, u + f + (g - fi)), "definition", "step of the epoch"),
    Fact("start of the round", VectorEquality(y.at(e, 0), Vector(())), "algorithm", "positions are relative to x^r"),
    Fact("epoch", VectorEquality(after, y - (g + (m - fix) * (1 - a)) * eta_l), "algorithm", "(12), (13), (24)"),
    Fact("direction", VectorEquality(d, fi * a + m * (1 - a) + (fi - fix) * (1 - a)), "algorithm", "(25)"),
    Fact("first epoch", sp.Le(phi(r, 0), gap(r)), "algorithm", "the first epoch starts at x^r"),
    Fact("last epoch", sp.Le(gap(r + 1), phi(r, E)), "algorithm", "x^(r+1) is where the last epoch ends: one client"),
    Fact("gap_0", sp.Le(gap(0), gap_0), "metric", "Psi^0"),
    Fact("h2_0", sp.Le(norm2(h.at(r, 0)), h2_0), "metric", "Psi^0"),
    Fact("grad2", sp.Le(grad2, total(grads, r, R) / (R * E)), "metric", "(30)"),
    upper_model(
        "(15)",
        smooth_samples,
        "Assumption 3.2, by (15)",
        Evaluation("F", y, f, phi(r, e)),
        Evaluation("F", after, value=phi(r, e + 1)),
    ),
    pointwise(
        "A3.3",
        gradient_dissimilarity,
        "(4), for a client drawn by weight",
        Evaluation("F", Vector(()), fx),
        client_grad2=norm2(fix),
    ),
    pointwise("f below", bounded_below, "f* is the infimum of f", gap=gap(R)),
)

COMMON = ("domain a", "condition momentum")
SIZES = ("domain eta_l", "domain L", "domain delta", "domain E")
STEP_L = ("condition step size and L", "domain eta_l", "domain L")
STEP_DELTA = ("condition step size and delta", "domain eta_l", "domain delta", "domain E")
FIRST, SECOND = "fedshuffle/lemma_d_1/corrected", "fedshuffle/lemma_d_2/as_printed"
THIRD, FOURTH = "fedshuffle/lemma_d_3/as_printed", "fedshuffle/lemma_d_4/corrected"
NUMBERS = ((noise, sigma2),)
START, NEXT = plain(m=m, fx=fx), plain(mp=m.at(r, r + 1), fxp=fx.at(r, r + 1))
RUN = tuple((name, (e,), vector(name, r, e)) for name in ("y", "g", "d", "f", "fi"))
EPOCHS = ("start of the round", "epoch", "direction", "index e")
HYPOTHESES = ("condition step size and L", "condition step size and delta", "condition P is 0", *COMMON, *SIZES)
ratio = E**2 * delta**2 * eta_l**2 / a

LEMMAS = (
    Step(
        "D.1",
        sp.Le(norm2(g - fi), 2 * eta_l**2 * L**2 * sigma2 + eta_l**2 * L**2 * norm2(d)),
        ("direction", "condition P is 0", "domain sigma2", *STEP_L, *COMMON),
        ForVectors(FIRST, plain(fy=fi, fx=fix, m=m, d=d, mean=g), NUMBERS),
        "Lemma D.1; the mean of sigma_i^2/|D_i| over the clients is sigma^2",
    ),
    Step(
        "D.2",
        sp.Le(norm2(d - f), 3 * norm2(h) + 3 * delta**2 * norm2(y) + 3 * a**2 * norm2(G)),
        ("direction", "domain delta", *COMMON),
        ForVectors(SECOND, plain(m=m, x=Vector(()), y=y, fix=fix, fiy=fi, fx=fx, fy=f, d=d)),
        "Lemma D.2",
    ),
    Step(
        "D.3",
        sp.Le(
            drift,
            16 * E**2 * eta_l**2 * grads
            + 16 * E**3 * eta_l**2 * (3 * norm2(h) + 3 * a**2 * norm2(G) + eta_l**2 * L**2 * sigma2),
        ),
        (*EPOCHS, "domain sigma2", *HYPOTHESES),
        ForVectors(THIRD, (*START, *plain(fix=fix), *RUN), NUMBERS),
        "Lemma D.3",
    ),
    Step(
        "D.4",
        sp.Le(
            norm2(h.at(r, r + 1)),
            (1 - sp.Rational(23, 24) * a) * norm2(h)
            + 3 * a**2 * norm2(G)
            + 16 * eta_l**4 * E**2 * delta**2 * L**2 * sigma2
            + 8 * eta_l**2 * delta**2 * E * grads,
        ),
        (*EPOCHS, "condition momentum and step size", "domain sigma2", *HYPOTHESES),
        ForVectors(
            FOURTH, (*START, ("fix", (k,), client), *RUN, *plain(mp=m.at(r, r + 1), fxp=fx.at(r, r + 1))), NUMBERS
        ),
        "Lemma D.4",
    ),
)

DESCENT = (
    Step(
        "step",
        VectorEquality(after, y - q * eta_l),
        ("epoch", "direction", "u", "q"),
        Identity(),
        "grad f and grad f_i at the start of the epoch added and subtracted",
    ),
    Step(
        "descent.1",
        sp.Le(descent, -eta_l / 2 * norm2(f) + eta_l / 2 * norm2(u + (g - fi))),
        ("(15)", "step", "q", *STEP_L),
        Combine({"(15)": 1}),
        "polarisation; the square of the step is dropped since eta_l L <= 1",
    ),
    Step(
        "descent.2",
        sp.Le(norm2(u + (g - fi)), 2 * norm2(u) + 2 * norm2(g - fi)),
        (),
        Jensen((half, half), (u * 2, (g - fi) * 2)),
        "Lemma B.6",
    ),
    Step(
        "descent.3",
        sp.Le(norm2(d), 2 * norm2(u) + 2 * norm2(f)),
        ("u",),
        Jensen((half, half), ((d - f) * 2, f * 2)),
        "Lemma B.6",
    ),
    Step("1/16", sp.Le(eta_l**2 * L**2, sp.Rational(1, 16)), STEP_L, Decide(), "eta_l <= 1/(4L)"),
    Step(
        "descent.4",
        sp.Le(
            descent,
            -eta_l / 2 * (1 - 4 * eta_l**2 * L**2) * norm2(f) + 2 * eta_l * norm2(u) + 2 * eta_l**3 * L**2 * sigma2,
        ),
        ("descent.1", "descent.2", "descent.3", "D.1", "1/16", *SIZES),
        Combine({"descent.1": 1, "descent.2": eta_l / 2, "D.1": eta_l, "descent.3": eta_l**3 * L**2}),
        "Lemma D.1 and 1 + 2 eta_l^2 L^2 <= 2",
    ),
    Step(
        "descent",
        sp.Le(
            phi(r, e + 1),
            phi(r, e)
            - eta_l / 2 * (1 - 4 * eta_l**2 * L**2) * norm2(f)
            + 2 * eta_l**3 * L**2 * sigma2
            + 6 * eta_l * (norm2(h) + delta**2 * norm2(y) + a**2 * norm2(G)),
        ),
        ("descent.4", "D.2", "u", *SIZES),
        Combine({"descent.4": 1, "D.2": 2 * eta_l}),
        "Lemma D.2",
    ),
    Step(
        "round.1",
        sp.Le(
            phi(r, E),
            phi(r, 0)
            - eta_l / 2 * (1 - 4 * eta_l**2 * L**2) * grads
            + 2 * eta_l**3 * L**2 * E * sigma2
            + 6 * eta_l * (E * norm2(h) + delta**2 * drift + E * a**2 * norm2(G)),
        ),
        ("descent", "domain E"),
        Accumulation("descent", phi(r, e), e, E),
        "all epochs of the round",
    ),
    Step(
        "1/1600",
        sp.Le(E**2 * delta**2 * eta_l**2, sp.Rational(1, 1600)),
        STEP_DELTA,
        Decide(),
        "eta_l <= 1/(40 delta E)",
    ),
    Step(
        "1/1152",
        sp.Le(ratio, sp.Rational(1, 1152)),
        ("condition momentum and step size", "domain a"),
        Decide(),
        "a >= 1152 E^2 delta^2 eta_l^2",
    ),
    Step(
        "client deviation",
        sp.Le(norm2(G), G2),
        ("A3.3", "condition B is 1"),
        Expected(("client",), Combine({"A3.3": 1})),
        "Assumption 3.3 with B = 1",
    ),
)


def _round(kept: Any) -> Step:
    return Step(
        "round",
        sp.Le(
            gap(r + 1),
            gap(r) - kept * eta_l * grads + 4 * eta_l**3 * L**2 * E * sigma2 + 12 * E * eta_l * (norm2(h) + a**2 * G2),
        ),
        (
            *("round.1", "first epoch", "last epoch", "D.3", "client deviation", "1/16", "1/1600"),
            *("domain a", "domain sigma2", *SIZES),
        ),
        Combine(
            {
                "round.1": 1,
                "first epoch": 1,
                "last epoch": 1,
                "D.3": 6 * eta_l * delta**2,
                "client deviation": 6 * E * eta_l * a**2 * (1 + 48 * E**2 * delta**2 * eta_l**2),
            }
        ),
        "Lemma D.3, with 4 eta_l^2 L^2 <= 1/4 and 192 E^2 delta^2 eta_l^2 <= 12/100",
    )


def _growth(of_grads: Any, of_noise: Any, of_G: Any) -> Any:
    """Psi(r+1) <= Psi(r) - eta_l of_grads grads + E eta_l^3 L^2 of_noise sigma2 + E eta_l of_G G2."""
    extra = E * eta_l**3 * L**2 * of_noise * sigma2 + E * eta_l * of_G * G2
    return sp.Le(psi(r + 1), psi(r) - eta_l * of_grads * grads + extra)


def _potential(name: str, claim: Any, *uses: str) -> Step:
    return Step(
        name,
        claim,
        ("round", "D.4", "client deviation", "c", *uses, "domain a", "domain sigma2", *SIZES),
        Combine(
            {
                "round": 1,
                "D.4": sp.Rational(288, 23) * eta_l * E / a,
                "client deviation": sp.Rational(864, 23) * eta_l * E * a,
            }
        ),
        "c times Lemma D.4 added: c (1 - 23a/24) + 12 E eta_l = c",
    )


CORRECTED = (
    _round(sp.Rational(63, 200)),
    Step(
        "1/5",
        sp.Ge(sp.Rational(63, 200) - sp.Rational(2304, 23) * ratio, sp.Rational(1, 5)),
        ("1/1152", "domain a"),
        Decide(),
        "63/200 - 2/23 > 1/5",
    ),
    Step(
        "noise 5",
        sp.Le(4 + sp.Rational(4608, 23) * ratio, 5),
        ("1/1152", "domain a"),
        Decide(),
        "4 + 4/23 < 5",
    ),
    Step(
        "deviation 51",
        sp.Le(12 * a**2 + sp.Rational(864, 23) * a, 51 * a),
        ("domain a", "condition momentum"),
        Decide(),
        "12 + 864/23 < 51",
    ),
    _potential("potential", _growth(sp.Rational(1, 5), 5, 51 * a), "1/5", "noise 5", "deviation 51"),
)

PRINTED = (
    _round(sp.Rational(1, 4)),
    Step(
        "printed 104",
        sp.Ge(sp.Rational(1, 4) - sp.Rational(2304, 23) * ratio, sp.Rational(1, 4) * (1 - 104 * ratio)),
        ("condition momentum and step size", *HYPOTHESES),
        Decide(),
        "the printed coefficient of the squared gradients against what c times Lemma D.4 adds",
    ),
    Step(
        "printed 1/5",
        sp.Ge(sp.Rational(1, 4) - sp.Rational(2304, 23) * ratio, sp.Rational(1, 5)),
        ("condition momentum and step size", *HYPOTHESES),
        Decide(),
        "the last line of the display with what c times Lemma D.4 adds in place of 104",
    ),
    Step(
        "printed noise",
        sp.Le(4 + sp.Rational(4608, 23) * ratio, 4 + 208 * ratio),
        ("domain a",),
        Decide(),
        "the printed 208",
    ),
    Step(
        "printed deviation",
        sp.Le(12 * a**2 + sp.Rational(864, 23) * a, 12 * a**2 + 39 * a),
        ("domain a",),
        Decide(),
        "the printed 39",
    ),
    _potential(
        "printed potential",
        _growth(sp.Rational(1, 4) * (1 - 104 * ratio), 4 + 208 * ratio, 12 * a**2 + 39 * a),
        *("printed 104", "printed noise", "printed deviation"),
    ),
    Step(
        "printed rest",
        sp.And(
            sp.Ge(sp.Rational(1, 4) * (1 - 104 * ratio), sp.Rational(1, 5)),
            sp.Le(4 + 208 * ratio, 5),
            sp.Le(12 * a**2 + 39 * a, 51 * a),
        ),
        ("1/1152", "domain a", "condition momentum"),
        Decide(),
        "a >= 1152 E^2 delta^2 eta_l^2 and a <= 1",
    ),
    Step(
        "potential",
        _growth(sp.Rational(1, 5), 5, 51 * a),
        ("printed potential", "printed rest", "c", "domain a", "domain sigma2", *SIZES),
        Combine({"printed potential": 1}),
        "the last line of the display",
    ),
)

ENDING = (
    Step(
        "all rounds",
        sp.Le(
            psi(R),
            psi(sp.Integer(0))
            - eta_l / 5 * total(grads, r, R)
            + R * (5 * E * eta_l**3 * L**2 * sigma2 + 51 * E * eta_l * a * G2),
        ),
        ("potential", "domain R"),
        Accumulation("potential", psi(r), r, R),
        "all rounds",
    ),
    Step(
        "conclusion",
        sp.Le(
            grad2,
            5 * (gap_0 + sp.Rational(288, 23) * eta_l * E / a * h2_0) / (eta_l * R * E)
            + 25 * eta_l**2 * L**2 * sigma2
            + 255 * a * G2,
        ),
        ("grad2", "all rounds", "f below", "gap_0", "h2_0", "c", "domain R", "domain a", *SIZES),
        Combine(
            {
                "grad2": 1,
                "all rounds": 5 / (eta_l * R * E),
                "f below": 5 / (eta_l * R * E),
                "gap_0": 5 / (eta_l * R * E),
                "h2_0": sp.Rational(1440, 23) / (a * R),
            }
        ),
        "Psi is at least 0; times 5/(eta_l R E)",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of Lemma D.5."""
    middle = CORRECTED if statement.reading == "corrected" else PRINTED
    steps = (*LEMMAS, *DESCENT, *middle, *ENDING)
    quantities = frozenset({"gap_0", "h2_0", "G2", "sigma2"})
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        steps,
        "conclusion",
        grad2,
        quantities,
        rounds=ROUNDS,
        drawn=DRAWN,
        laws=(CLIENT,),
    )
