"""FedAvg with all devices and full gradients obeys the lemma of SCGD in every round; this project's own proof.

In round r each of N devices makes E local steps, counted by m, from the common start x; the server takes the mean of
the N points. Positions are taken relative to ts, the minimiser nearest to x:

    u(r)        the start x minus ts           end(r)      the mean of the N points minus ts
    w(r, i, m)  device i after m local steps   g(r, i, m)  gradient that device i uses in step m
    gx(r, i)    its gradient at x              gs(r, i)    its gradient at ts
    slope(r)    gradient of F at x             gap(r)      F(x) minus its least value
    dist2(r)    squared distance to the solution set before round r

Where Lemma 3.1 sums over the n E visits of a cycle, the mean over devices is taken of the sum over local steps, and
every drift is counted from x. No device's loss needs to be convex. The rounds are then put together by induction.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.rules import (
    CauchySchwarz,
    Induction,
    Jensen,
    PartialSum,
    SumOver,
    Supposing,
    Telescoping,
)
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, norm2, vector
from boundcheck.theory.assumptions import finite_gradient_noise, smooth_clients, strong_quasi_convexity

READINGS = ("corrected",)


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


mu, L, E, eta, sigma2, dist2_0, R = _symbols("mu L E eta sigma2 dist2_0 R")
N, s, c, b, floor, r, i, m = _symbols("N s c b floor r i m")
dist2: Any = sp.Function("dist2", real=True)
gap: Any = sp.Function("gap", real=True)
half = sp.Rational(1, 2)

u, end, slope = vector("u", r), vector("end", r), vector("grad_F", r)
w, g, gx, gs = vector("w", r, i, m), vector("g", r, i, m), vector("gx", r, i), vector("gs", r, i)
drift = w - u
error = vector_total(g - gx, m, E)  # of the gradients of one device in a round
zero = Vector(())
at_w, at_x, at_ts = (Evaluation("f_i", point, gradient, which=i) for point, gradient in ((w, g), (u, gx), (zero, gs)))


def both(term: Any) -> Any:
    """The sum over local steps and devices."""
    return total(total(term, m, E), i, N)


T1, T2, G, D = norm2(u - slope * s), both(norm2(g - gx)) / N, both(norm2(g)), both(norm2(drift))

POSITIVE = ("domain mu", "domain L", "domain 1", "s > 0")
SIZES = ("domain mu", "domain L", "domain eta", "domain E", "clients")

FACTS = (
    Fact("s", sp.Eq(s, E * eta), "definition", "total step of a round"),
    Fact("c", sp.Eq(c, 1 - mu * s / 3), "definition", "factor of one round"),
    Fact("b", sp.Eq(b, 4 * L**2 * s**3 / mu * sigma2), "definition", "noise of one round"),
    Fact("floor", sp.Eq(floor, b / (1 - c)), "definition", "the geometric series b + c b + c^2 b + ..."),
    Fact("clients", N >= 1, "count", "number of devices"),
    Fact("index r", r >= 0, "index", "rounds"),
    Fact("index i", sp.And(i >= 0, i <= N - 1), "index", "devices"),
    Fact("index m", sp.And(m >= 0, m <= E - 1), "index", "local steps"),
    Fact("start", sp.Eq(dist2_0, dist2(0)), "metric", "no round has been run at the start"),
    Fact("distance", sp.Le(norm2(u), dist2(r)), "metric", "ts is a minimiser nearest to x"),
    Fact("end", sp.Le(dist2(r + 1), norm2(end)), "metric", "the distance to the solution set is at most that to ts"),
    Fact("common start", VectorEquality(w.at(m, 0), u), "algorithm", "every device starts from the server's point"),
    Fact("local step", VectorEquality(w.at(m, m + 1), w - g * eta), "algorithm", "full local gradients"),
    Fact("average", VectorEquality(end, vector_total(w.at(m, E), i, N) / N), "algorithm", "plain mean of all devices"),
    Fact(
        "mean gradient", VectorEquality(vector_total(gx, i, N), slope * N), "algorithm", "F is the mean of the losses"
    ),
    Fact(
        "minimiser",
        VectorEquality(vector_total(gs, i, N), zero),
        "metric",
        "ts is a minimiser, where the gradient of F vanishes",
    ),
    pointwise("A2.2 at w(m), x", smooth_clients, "smooth losses", at_w, at_x),
    pointwise("A2.2 at w(m), ts", smooth_clients, "smooth losses", at_w, at_ts),
    pointwise("A2.2 at x, ts", smooth_clients, "smooth losses", at_x, at_ts),
    pointwise(
        "A2.1 at x",
        strong_quasi_convexity,
        "strong quasi-convexity",
        Evaluation("F", u, slope, gap(r)),
        Evaluation("F", zero, zero, sp.Integer(0)),
    ),
    Fact("minimum", sp.Ge(gap(r), 0), "metric", "F is nowhere below its least value"),
    pointwise("A2.3", finite_gradient_noise, "finite gradient noise", noise2=total(norm2(gs), i, N) / N),
)

bracket = (1 - mu * s + L**2 * s**2) / (1 - mu * s / 2) + 4 * L**4 * s**3 / (mu * (1 - 2 * L**2 * s**2))
noise = 2 * L**2 * s**3 / (mu * (1 - 2 * L**2 * s**2))
contraction = 1 - mu * s / 3
final_noise = 4 * L**2 * s**3 / mu

SCOPE = (Step("s > 0", s > 0, ("s", "domain E", "domain eta"), Decide(), "the total step is positive"),)

REQUIREMENTS = (
    Step("requirement 1", 1 - mu * s / 2 >= half, ("s <= C", *POSITIVE), Decide(), "from the step condition"),
    Step("requirement 2", 1 - 2 * L**2 * s**2 >= half, ("s <= C", *POSITIVE), Decide(), "from the step condition"),
)

GRADIENT = (
    Step(
        "gradient of F.1",
        sp.Le(norm2(vector_total(gx - gs, i, N)), N * total(norm2(gx - gs), i, N)),
        ("clients",),
        CauchySchwarz(gx - gs, i, N),
        "the mean of the devices' gradient differences",
    ),
    Step(
        "gradient of F.2",
        sp.Le(total(norm2(gx - gs), i, N), N * L**2 * norm2(u)),
        ("A2.2 at x, ts", "clients"),
        SumOver("A2.2 at x, ts", i, N),
        "smoothness of every device",
    ),
    Step(
        "gradient of F",
        sp.Le(norm2(slope), L**2 * norm2(u)),
        ("gradient of F.1", "gradient of F.2", "mean gradient", "minimiser", "clients"),
        Combine(),
        "F is L-smooth as well",
    ),
)

ROUND = (
    Step(
        "E1.1",
        VectorEquality(w.at(m, E), w.at(m, 0) + vector_total(g * -eta, m, E)),
        ("local step", "domain E"),
        Telescoping("local step", m, E),
        "each device adds up its local steps",
    ),
    Step(
        "E1.2",
        VectorEquality(w.at(m, E), u + vector_total(g * -eta, m, E)),
        ("E1.1", "common start"),
        Identity(),
        "from the common start",
    ),
    Step(
        "E1.3",
        VectorEquality(vector_total(w.at(m, E), i, N), u * N + vector_total(vector_total(g * -eta, m, E), i, N)),
        ("E1.2", "clients"),
        SumOver("E1.2", i, N),
        "summed over the devices",
    ),
    Step(
        "E1",
        VectorEquality(end, u - slope * s - vector_total(error, i, N) * eta / N),
        ("average", "E1.3", "mean gradient", "s", "clients"),
        Identity(),
        "the mean, with gradients at x added and subtracted",
    ),
    Step(
        "E2",
        sp.Le(norm2(end), T1 / (1 - mu * s / 2) + 2 * eta**2 / (mu * s * N**2) * norm2(vector_total(error, i, N))),
        ("E1", "requirement 1", "s > 0", "domain mu", "clients"),
        Jensen(
            (1 - mu * s / 2, mu * s / 2),
            ((u - slope * s) / (1 - mu * s / 2), vector_total(error, i, N) * (-2 * eta / (mu * s * N))),
        ),
        "convexity of the squared norm with t = mu s/2",
    ),
    Step(
        "E3.1",
        sp.Le(norm2(vector_total(error, i, N)), N * total(norm2(error), i, N)),
        ("clients",),
        CauchySchwarz(error, i, N),
        "the squared sum over the devices",
    ),
    Step(
        "E3.2",
        sp.Le(norm2(error), E * total(norm2(g - gx), m, E)),
        ("domain E",),
        CauchySchwarz(g - gx, m, E),
        "the squared sum over the local steps",
    ),
    Step(
        "E3.3",
        sp.Le(total(norm2(error), i, N), E * N * T2),
        ("E3.2", "clients"),
        SumOver("E3.2", i, N),
        "E3.2 for every device",
    ),
    Step(
        "E3",
        sp.Le(norm2(end), T1 / (1 - mu * s / 2) + 2 * eta / mu * T2),
        ("E2", "E3.1", "E3.3", "s", "requirement 1", *SIZES),
        Combine({"E2": 1, "E3.1": 2 * eta / (mu * E * N**2), "E3.3": 2 * eta / (mu * E * N)}),
        "the second term of E2 by E3.1 and E3.3",
    ),
    Step(
        "E4",
        sp.Le(T1, (1 - mu * s + L**2 * s**2) * norm2(u)),
        ("gradient of F", "A2.1 at x", "minimum", "s > 0"),
        Combine(),
        "the square expanded; F(x) minus its least value is dropped",
    ),
)

DRIFT = (
    Step(
        "E5.1",
        VectorEquality(w, w.at(m, 0) + vector_total(g * -eta, m, m)),
        ("local step", "index m"),
        Telescoping("local step", m, m),
        "the drift of a device after m steps",
    ),
    Step(
        "E5.2",
        sp.Le(norm2(drift), m * eta**2 * total(norm2(g), m, m)),
        ("E5.1", "common start", "index m"),
        CauchySchwarz(g * -eta, m, m),
        "the squared sum of m vectors, from the common start",
    ),
    Step(
        "E5.3",
        sp.Le(total(norm2(g), m, m), total(norm2(g), m, E)),
        ("index m",),
        PartialSum(norm2(g), m, m, E),
        "the first m of E terms",
    ),
    Step(
        "E5.4",
        sp.Le(norm2(drift), m * eta**2 * total(norm2(g), m, E)),
        ("E5.2", "E5.3", "index m"),
        Combine({"E5.2": 1, "E5.3": m * eta**2}),
        "both together",
    ),
    Step(
        "E5.5",
        sp.Le(total(norm2(drift), m, E), E * (E - 1) / 2 * eta**2 * total(norm2(g), m, E)),
        ("E5.4", "domain E"),
        SumOver("E5.4", m, E),
        "0 + 1 + ... + (E-1) = E(E-1)/2",
    ),
    Step(
        "E5.6",
        sp.Le(D, E * (E - 1) / 2 * eta**2 * G),
        ("E5.5", "clients"),
        SumOver("E5.5", i, N),
        "for every device",
    ),
    Step(
        "E5.7",
        sp.Le(total(norm2(g - gx), m, E), L**2 * total(norm2(drift), m, E)),
        ("A2.2 at w(m), x", "domain E"),
        SumOver("A2.2 at w(m), x", m, E),
        "smoothness in every local step",
    ),
    Step(
        "E5.8",
        sp.Le(T2 * N, L**2 * D),
        ("E5.7", "clients"),
        SumOver("E5.7", i, N),
        "for every device",
    ),
    Step(
        "E5",
        sp.Le(T2, L**2 * E**2 / 2 * eta**2 * G / N),
        ("E5.6", "E5.8", *SIZES),
        Combine({"E5.8": 1 / N, "E5.6": L**2 / N}),
        "E(E-1) <= E^2",
    ),
    Step(
        "E6.1",
        sp.Le(norm2(g), 2 * norm2(g - gs) + 2 * norm2(gs)),
        (),
        Jensen((half, half), ((g - gs) * 2, gs * 2)),
        "the gradient at ts subtracted and added",
    ),
    Step(
        "E6.2",
        sp.Le(norm2(w), 2 * norm2(u) + 2 * norm2(drift)),
        (),
        Jensen((half, half), (u * 2, drift * 2)),
        "x subtracted and added",
    ),
    Step(
        "E6",
        sp.Le(norm2(g), 4 * L**2 * norm2(u) + 4 * L**2 * norm2(drift) + 2 * norm2(gs)),
        ("E6.1", "E6.2", "A2.2 at w(m), ts"),
        Combine({"E6.1": 1, "A2.2 at w(m), ts": 2, "E6.2": 2 * L**2}),
        "the gradient of one local step",
    ),
    Step(
        "E7.1",
        sp.Le(
            total(norm2(g), m, E),
            4 * L**2 * E * norm2(u) + 4 * L**2 * total(norm2(drift), m, E) + 2 * E * norm2(gs),
        ),
        ("E6", "domain E"),
        SumOver("E6", m, E),
        "E6 summed over the local steps",
    ),
    Step(
        "E7.2",
        sp.Le(G, 4 * L**2 * E * N * norm2(u) + 4 * L**2 * D + 2 * E * total(norm2(gs), i, N)),
        ("E7.1", "clients"),
        SumOver("E7.1", i, N),
        "and over the devices",
    ),
    Step(
        "E7",
        sp.Le(G, 4 * L**2 * E * N * norm2(u) + 2 * L**2 * E**2 * eta**2 * G + 2 * E * N * sigma2),
        ("E7.2", "E5.6", "A2.3", *SIZES),
        Combine({"E7.2": 1, "E5.6": 4 * L**2, "A2.3": 2 * E * N}),
        "the drift by E5.6, the noise by assumption",
    ),
    Step(
        "E8",
        sp.Le(T2, L**2 * E**3 * eta**2 * (2 * L**2 * norm2(u) + sigma2) / (1 - 2 * L**2 * s**2)),
        ("E5", "E7", "s", "requirement 2", *SIZES),
        Combine({"E5": 1, "E7": L**2 * E**2 * eta**2 / (2 * N * (1 - 2 * L**2 * E**2 * eta**2))}),
        "E7 solved for the sum of squared gradients and put into E5",
    ),
)


RECURSION = (
    Step(
        "E9",
        sp.Le(norm2(end), bracket * norm2(u) + noise * sigma2),
        ("E3", "E4", "E8", "s", "requirement 1", "requirement 2", *SIZES),
        Combine({"E3": 1, "E4": 1 / (1 - mu * E * eta / 2), "E8": 2 * eta / mu}),
        "the two bounds combined",
    ),
    Step(
        "E11'",
        bracket <= contraction,
        ("s <= C", "requirement 1", "requirement 2", *POSITIVE),
        Decide(),
        "the bracket is small enough for every s up to C",
    ),
    Step("E11 noise", noise <= final_noise, ("requirement 2", *POSITIVE), Decide(), "requirement 2 in the noise"),
    Step("c >= 0", c >= 0, ("c", "s <= C", *POSITIVE), Decide(), "the factor is not negative"),
    Step("c < 1", c < 1, ("c", "s > 0", "domain mu"), Decide(), "the factor contracts"),
    Step(
        "round",
        sp.Le(norm2(end), contraction * norm2(u) + final_noise * sigma2),
        ("E9", "E11'", "E11 noise", "requirement 1", "requirement 2", *POSITIVE),
        Combine({"E9": 1}),
        "factor and noise of a round",
    ),
    Step(
        "recursion",
        sp.Le(dist2(r + 1), c * dist2(r) + b),
        ("round", "end", "distance", "c", "b", "c >= 0", "domain mu", "domain L"),
        Combine(),
        "the distance to the solution set is at most that to ts",
    ),
)


def after(rounds: Any) -> Any:
    """The bound after so many rounds, as a claim."""
    return sp.Le(dist2(rounds), c**rounds * dist2_0 + floor, evaluate=False)


ROUNDS = (
    Step(
        "floor >= 0",
        floor >= 0,
        ("floor", "b", "c", "domain mu", "domain L", "domain sigma2", "s > 0"),
        Decide(),
        "the series has no negative term",
    ),
    Step("base case", after(sp.Integer(0)), ("start", "floor >= 0"), Decide(), "no round, no decrease"),
    Step(
        "step case",
        sp.Implies(after(r), after(r + 1)),
        ("recursion", "floor", "c >= 0", "c < 1"),
        Supposing(Combine()),
        "one more round",
    ),
    Step(
        "induction",
        after(R),
        ("base case", "step case", "domain R"),
        Induction("base case", "step case", r, R),
        "for every number of rounds",
    ),
    Step(
        "noise",
        sp.Eq(floor, 12 * L**2 * s**2 * sigma2 / mu**2),
        ("floor", "b", "c", "domain mu", "s > 0"),
        Identity(),
        "the series summed: the noise of one round over mu s/3",
    ),
    Step(
        "conclusion",
        sp.Le(dist2(R), (1 - mu * s / 3) ** R * dist2_0 + 12 * L**2 * s**2 / mu**2 * sigma2, evaluate=False),
        ("induction", "noise", "c", "domain mu"),
        Combine(),
        "factor and floor written out",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation; the step condition is the statement's."""
    condition = statement.conditions[0]
    name = f"condition {condition.name}"
    limit = Step(
        "s <= C",
        sp.Le(s, condition.relation.rhs, evaluate=False),
        ("s", name, "domain mu", "domain L", "domain 1", "domain E", "domain eta"),
        Decide(),
        "the step condition in terms of s",
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        (*SCOPE, limit, *REQUIREMENTS, *GRADIENT, *ROUND, *DRIFT, *RECURSION, *ROUNDS),
        conclusion="conclusion",
        target=dist2(R),
        quantities=frozenset({"sigma2"}),
    )
