"""The proof of Lemma 5 (asynchronous federated learning, Appendix A.3, (73)), corrected, as checked steps.

Vectors are random and <u, v> is the expectation of their inner product. i = 0, ..., M-1 counts the clients,
k = 0, ..., K-1 their local steps. Points are relative to theta^n. Which samples the work of round n uses is not known
to the server before round n: they are drawn after theta^n, and independently of each other.

    y(i, k)  local model before step k      g(i, k)   stochastic gradient there
    g0(i, k) the same sample's gradient at theta^n      sl(i)  its mean, the gradient of L_i
    gs(i, k) the same at star, theta-bar^n              ss(i)  its mean
    p(i)     q_i(n)                                     f0(i, k), fs(i, k)  expected losses at theta^n and at star
    A(i)     mean over k of g - g0          za(i), zs(i), zm(i)  p(i) times A(i), sl(i), ss(i)
    z(i)     p(i) times the mean of g       zn(i)  p(i) times the mean of g0 - sl(i), and V(i) = zn(0) + ... + zn(i-1)
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, lower_model, pointwise, upper_model
from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import Expected
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Identity
from boundcheck.proof.laws import Draws
from boundcheck.proof.rules import Accumulation, CauchySchwarz, Jensen, SumOver, Telescoping
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import convex_samples, smooth_samples

READINGS = ("corrected",)

L, K, tau, eta_l, q, Qs, Z, sg1, sg2 = sp.symbols("L K tau eta_l q Qs Z sg1 sg2", real=True)
Rn, M, i, k, phi = sp.symbols("Rn M i k phi", real=True)
p: Any = sp.Function("p", real=True)(i)
f0, fs, low = (sp.Function(name, real=True)(i, k) for name in ("f0", "fs", "low"))
y, g, g0, gs = (vector(name, i, k) for name in ("y", "g", "g0", "gs"))
sl, ss, A, z, za, zs, zm, zn, V = (vector(name, i) for name in ("sl", "ss", "A", "z", "za", "zs", "zm", "zn", "V"))
star, ca, cs = vector("star"), vector("ca"), vector("cs")
SIZES = ("L", "K", "eta_l", "tau", "q", "Qs", "Z", "sg1", "sg2")
third, drift = sp.Rational(1, 3), 6 * eta_l**2 * (K - 1) ** 2 * L**2


def steps_of(term: Any) -> Any:
    """The sum over the local steps."""
    return total(term, k, K)


def clients(term: Any) -> Any:
    """The sum over the clients."""
    return total(term, i, M)


def mean(term: Vector) -> Vector:
    """The mean over the local steps."""
    return vector_total(term, k, K) / K


ALL_A, ALL_s, ALL_m, ALL_N, ALL = (vector_total(v, i, M) for v in (za, zs, zm, zn, z))
at_origin, at_star = (
    Evaluation("f_ij", Vector(()), g0, f0, which=(i, k)),
    Evaluation("f_ij", star, gs, fs, which=(i, k)),
)
past = Evaluation("f_ij", (g0 - gs) * (-1 / L), value=low, which=(i, k))

SAMPLES = Draws("samples", "unbiased_gradients", ((g0, sl), (gs, ss)), (sl, ss, star, V), time=i)
DRAWN = (
    (y, i * K + k),
    (g, i * K + k + 1),
    (g0, i * K + k + 1),
    (gs, i * K + k + 1),
    (V, i * K),
    (sl, 0),
    (ss, 0),
    (star, 0),
    (ALL_m, 0),
)
FACTS = (
    Fact("clients", M >= 1, "count", "clients"),
    Fact("index i", sp.And(i >= 0, i <= M - 1), "index", "clients"),
    Fact("index k", sp.And(k >= 0, k <= K - 1), "index", "local steps"),
    Fact("A", VectorEquality(A, mean(g - g0)), "definition", "what the distance to theta^n changes"),
    Fact("z", VectorEquality(z, mean(g) * p), "definition", "with the expected weight"),
    Fact("za", VectorEquality(za, A * p), "definition", "with the expected weight"),
    Fact("zs", VectorEquality(zs, sl * p), "definition", "with the expected weight"),
    Fact("zm", VectorEquality(zm, ss * p), "definition", "with the expected weight"),
    Fact("zn", VectorEquality(zn, (mean(g0) - sl) * p), "definition", "the noise at theta^n"),
    Fact("ca", VectorEquality(ca, ALL_A / q), "definition", "a mean over the clients"),
    Fact("cs", VectorEquality(cs, (ALL_s - ALL_m) / q), "definition", "a mean over the clients"),
    Fact("V(0)", VectorEquality(V.at(i, 0), Vector(())), "metric", "an empty sum"),
    Fact("V(i+1)", VectorEquality(V.at(i, i + 1), V + (mean(g0) - sl) * p), "metric", "one more term"),
    Fact("q", sp.Le(clients(p), q), "metric", "q(n) is the sum of the expected weights"),
    Fact("p >= 0", p >= 0, "metric", "a mean of weights"),
    Fact("p <= q", p <= q, "metric", "one of the terms of q, which are not negative"),
    Fact("R", sp.Eq(Rn, norm2(ALL) / q**2), "metric", "qt_i(n) = q_i(n)/q(n)"),
    Fact("phi", sp.Eq(phi, clients(p * steps_of(norm2(y))) / (q * K)), "metric", "mean over clients and steps"),
    Fact("Z", sp.Eq(Z, clients(p * steps_of(f0 - fs)) / K), "metric", "L^n has the weights q_i(n)"),
    Fact(
        "sg2", sp.Eq(sg2, clients(p**2 * steps_of(norm2(gs))) / (q**2 * K)), "metric", "one sample a step, drawn alike"
    ),
    Fact("stationary", VectorEquality(ALL_m, Vector(())), "metric", "the gradient of L^n is 0 at its minimiser"),
    pointwise("smooth", smooth_samples, "between y(k) and theta^n", Evaluation("f_ij", y, g, which=(i, k)), at_origin),
    upper_model("smooth, 1", smooth_samples, "around theta^n", at_origin, past),
    lower_model("convex, 1", convex_samples, "around theta-bar^n", at_star, past),
)
MODELS = {"smooth, 1": 2 * L, "convex, 1": 2 * L}
gaps = steps_of(norm2(g0 - gs))

GAP = (
    Step(
        "Bregman",
        sp.Le(norm2(g0 - gs), 2 * L * (f0 - fs + inner(gs, star))),
        ("smooth, 1", "convex, 1", "domain L"),
        Combine(MODELS),
        "(68)",
    ),
    Step(
        "Bregman, steps",
        sp.Ge(steps_of(2 * L * (f0 - fs + inner(gs, star)) - norm2(g0 - gs)), 0),
        ("Bregman", "domain K"),
        SumOver("Bregman", k, K),
        "all steps",
    ),
    Step(
        "Bregman, client",
        sp.Le(p * gaps, 2 * L * p * steps_of(f0 - fs) + 2 * L * K * inner(zm, star)),
        ("Bregman, steps", "zm", "p >= 0", "domain K", "domain L"),
        Expected(("samples",), Combine({"Bregman, steps": p}, (p,))),
        "weighted, the mean of gs put in",
    ),
    Step(
        "Bregman, clients",
        sp.Le(clients(p * gaps), clients(2 * L * p * steps_of(f0 - fs) + 2 * L * K * inner(zm, star))),
        ("Bregman, client", "clients"),
        SumOver("Bregman, client", i, M),
        "all clients",
    ),
    Step(
        "gaps",
        sp.Le(clients(p * gaps), 2 * L * K * Z),
        ("Bregman, clients", "stationary", "Z", "domain K", "domain L"),
        Combine({"Bregman, clients": 1}),
        "theta-bar^n minimises L^n",
    ),
)
DRIFT = (
    Step(
        "changes",
        sp.Le(norm2(vector_total(g - g0, k, K)), K * steps_of(norm2(g - g0))),
        ("domain K",),
        CauchySchwarz(g - g0, k, K),
        "the square of a mean",
    ),
    Step(
        "smooth, steps",
        sp.Ge(steps_of(L**2 * norm2(y) - norm2(g - g0)), 0),
        ("smooth", "domain K"),
        SumOver("smooth", k, K),
        "all steps",
    ),
    Step("A, square", sp.Ge(norm2(A - ca), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "A, client",
        sp.Ge(p / K * L**2 * steps_of(norm2(y)) - 2 * inner(za, ca) + p * norm2(ca), 0),
        ("changes", "smooth, steps", "A, square", "A", "za", "p >= 0", "domain K"),
        Combine({"changes": p / K**2, "smooth, steps": p / K, "A, square": p}, (p,)),
        "p |A - ca|^2 >= 0",
    ),
    Step(
        "A, clients",
        sp.Ge(clients(p / K * L**2 * steps_of(norm2(y)) - 2 * inner(za, ca) + p * norm2(ca)), 0),
        ("A, client", "clients", "domain K"),
        SumOver("A, client", i, M),
        "all clients",
    ),
    Step("ca >= 0", sp.Ge(norm2(ca), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "A, all",
        sp.Le(norm2(ALL_A), q**2 * L**2 * phi),
        ("A, clients", "ca >= 0", "ca", "q", "phi", "domain q", "domain K"),
        Combine({"A, clients": q, "ca >= 0": q * (q - clients(p))}, (clients(p),)),
        "the square of a mean over the clients",
    ),
)
NOISE = (
    Step("sl >= 0", sp.Ge(norm2(sl), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "noise, client",
        sp.Le(norm2(V.at(i, i + 1)), norm2(V) + p**2 / K**2 * steps_of(norm2(g0))),
        ("V(i+1)", "sl >= 0", "domain K"),
        Expected(("samples",), Combine({"sl >= 0": p**2 / K}, (p,))),
        "(75): the samples are drawn independently",
    ),
    Step(
        "parts",
        sp.Le(norm2(g0), 2 * norm2(g0 - gs) + 2 * norm2(gs)),
        (),
        Combine(),
        "two parts",
    ),
    Step(
        "parts, steps",
        sp.Ge(steps_of(2 * norm2(g0 - gs) + 2 * norm2(gs) - norm2(g0)), 0),
        ("parts", "domain K"),
        SumOver("parts", k, K),
        "all steps",
    ),
    Step("gaps >= 0", sp.Ge(norm2(g0 - gs), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "gaps >= 0, steps",
        sp.Ge(gaps, 0, evaluate=False),
        ("gaps >= 0", "domain K"),
        SumOver("gaps >= 0", k, K),
        "and a sum",
    ),
    Step(
        "noise, parts",
        sp.Le(norm2(V.at(i, i + 1)), norm2(V) + 2 / K**2 * (q * p * gaps + p**2 * steps_of(norm2(gs)))),
        ("noise, client", "parts, steps", "gaps >= 0, steps", "p >= 0", "p <= q", "domain K"),
        Combine({"noise, client": 1, "parts, steps": p**2 / K**2, "gaps >= 0, steps": 2 / K**2 * (q * p - p**2)}, (p,)),
        "p^2 <= q p",
    ),
    Step(
        "noise, clients",
        sp.Le(norm2(V.at(i, M)), norm2(V.at(i, 0)) + clients(2 / K**2 * (q * p * gaps + p**2 * steps_of(norm2(gs))))),
        ("noise, parts", "clients", "domain K"),
        Accumulation("noise, parts", norm2(V), i, M),
        "one client after the other",
    ),
    Step("V, step", VectorEquality(V.at(i, i + 1), V + zn), ("V(i+1)", "zn", "domain K"), Identity(), "one more term"),
    Step(
        "V",
        VectorEquality(V.at(i, M), V.at(i, 0) + ALL_N),
        ("V, step", "clients"),
        Telescoping("V, step", i, M),
        "the whole sum",
    ),
    Step(
        "N",
        sp.Le(norm2(ALL_N), q / K * 4 * L * Z + 2 * q**2 / K * sg2),
        ("noise, clients", "V", "V(0)", "gaps", "sg2", "domain q", "domain K"),
        Combine({"noise, clients": 1, "gaps": 2 * q / K**2}),
        "(78) to (80)",
    ),
)
SLOPE = (
    Step(
        "spread",
        sp.Ge(norm2(vector_total(g0 - gs, k, K) - (sl - ss) * K), 0, evaluate=False),
        (),
        Combine(),
        "a squared norm",
    ),
    Step(
        "slope, steps",
        sp.Le(K * norm2(sl - ss), gaps),
        ("spread", "domain K"),
        Expected(("samples",), Combine({"spread": 1})),
        "the square of a mean is at most the mean of the squares",
    ),
    Step("slope, square", sp.Ge(norm2(sl - ss - cs), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "slope, client",
        sp.Ge(p / K * gaps - 2 * inner(zs - zm, cs) + p * norm2(cs), 0),
        ("slope, steps", "slope, square", "zs", "zm", "p >= 0", "domain K"),
        Combine({"slope, steps": p / K, "slope, square": p}, (p,)),
        "p |sl - ss - cs|^2 >= 0",
    ),
    Step(
        "slope, clients",
        sp.Ge(clients(p / K * gaps - 2 * inner(zs - zm, cs) + p * norm2(cs)), 0),
        ("slope, client", "clients", "domain K"),
        SumOver("slope, client", i, M),
        "all clients",
    ),
    Step("cs >= 0", sp.Ge(norm2(cs), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "slope",
        sp.Le(norm2(ALL_s), 2 * q * L * Z),
        ("slope, clients", "cs >= 0", "cs", "q", "stationary", "gaps", "domain q", "domain K"),
        Combine({"slope, clients": q, "gaps": q / K, "cs >= 0": q * (q - clients(p))}, (clients(p),)),
        "(81): of L^n",
    ),
)
ENDING = (
    Step("z, split", VectorEquality(z, za + zn + zs), ("z", "za", "zn", "zs", "A", "domain K"), Identity(), "(76)"),
    Step(
        "z, all",
        VectorEquality(ALL, ALL_A + ALL_N + ALL_s),
        ("z, split", "clients"),
        SumOver("z, split", i, M),
        "all clients",
    ),
    Step(
        "three parts",
        sp.Le(norm2(ALL), 3 * norm2(ALL_A) + 3 * norm2(ALL_N) + 3 * norm2(ALL_s)),
        ("z, all",),
        Jensen((third, third, third), (ALL_A * 3, ALL_N * 3, ALL_s * 3)),
        "(77)",
    ),
    Step(
        "display",
        sp.Le(Rn, 3 * L**2 * phi + 18 * L * Z / q + 6 * sg2 / K),
        ("three parts", "A, all", "N", "slope", "R", "domain q", "domain K", "domain L", "domain Z"),
        Combine({"three parts": 1 / q**2, "A, all": 3 / q**2, "N": 3 / q**2, "slope": 3 / q**2}),
        "12/K + 6 <= 18",
    ),
    Step(
        "(61)",
        sp.Le(phi, 4 * tau * Qs + 4 * drift * Z / (L * q) + 12 * eta_l**2 * (K - 1) ** 2 * sg1),
        ("condition drift", "domain n", *(f"domain {name}" for name in SIZES)),
        Instance("async_fl/lemma_3/corrected", phi),
        "Lemma 3 in the same round",
    ),
    Step(
        "conclusion",
        sp.Le(Rn, 12 * L**2 * tau * Qs + 24 * L * Z / q + 6 * drift * sg1 + 6 * sg2 / K),
        ("display", "(61)", "condition drift", *(f"domain {name}" for name in SIZES)),
        Combine({"display": 1, "(61)": 3 * L**2}),
        "12 D <= 6",
    ),
)
STEPS = (*GAP, *DRIFT, *NOISE, *SLOPE, *ENDING)


def derivation(statement: Any) -> Derivation:
    """The derivation of the corrected reading."""
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        STEPS,
        conclusion="conclusion",
        target=Rn,
        quantities=frozenset({"Qs", "Z", "sg1", "sg2"}),
        drawn=DRAWN,
        laws=(SAMPLES,),
    )
