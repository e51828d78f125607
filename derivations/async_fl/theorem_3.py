"""The proof of Theorem 3 (asynchronous federated learning, Section 3.4) as checked steps.

n = 0, ..., N-1 counts the rounds, W V of them in a period, and e = 0, ..., s V - 1 the windows of W rounds. i and j
count the clients, r, r2, t and u the rounds of a window. Losses are relative to those at the minimiser x of the
surrogate problem.

    a(n, i)    E L_i(theta^n)              p(n, i)  q_i(n)             pbar(i)  its mean q_i
    th(n)      theta^n                     S(n, i)  gradient of L_i there
    g(n, j, k), gb(n, j), A(n, j), z(n, j), d(n, j)  of round n, as in the proof of Lemma 2
    gw(n, j), sw(n, i, j)   gb(n, j) and S(n + 1, i) times the root of w_j(n)
    Z(n)  gap of L^n, rg(n)  the same at x      Zbar, Rbar  their means

What a window costs: a_r - a_r' is at most (W - 1) c for two of its rounds, if a changes by at most c in a round.
The sum over all pairs with the weights p(r')/W is q_i times the sum of a, less the sum of p a.

The printed proof loses the sum q(n) of the weights, here qn, between (24) and (25), and rests on the printed Theorem 1.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, lower_model
from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import Expected
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Imported
from boundcheck.proof.rules import Accumulation, At, CauchySchwarz, Exchange, InEpochs, SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import VectorEquality, inner, norm2, vector
from boundcheck.proof.weights import Weights
from boundcheck.theory.assumptions import convex_samples
from boundcheck.theory.discovery import statement as find_statement

READINGS = ("corrected", "as_printed")
THEOREM = "async_fl/theorem_1/corrected"


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


K, eta_l, eta_g, alpha, rho, B, W, q_bar, R, s, period = _symbols("K eta_l eta_g alpha rho B W q_bar R s period")
n, e, i, j, k, r, r2, t, u, M, V, mean, Zbar = _symbols("n e i j k r r2 t u M V mean Zbar")
a, p, d = (sp.Function(name, real=True) for name in ("a", "p", "d"))
pbar: Any = sp.Function("pbar", real=True)(i)
Z, rg = (sp.Function(name, real=True)(n) for name in ("Z", "rg"))
g, gb, A, z, gw = vector("g", n, j, k), *(vector(name, n, j) for name in ("gb", "A", "z", "gw"))
S, sw, th = vector("S", n, i), vector("sw", n, i, j), vector("th", n)
ALL = vector_total(A, j, M)
h, N, windows = K * eta_g * eta_l, s * period, s * V
c = h * rho * B**2  # what a round changes
ain, pin, pj = a(n, i), p(n, i), p(n, j)

WEIGHTS = Weights(
    "weights",
    "covariance_of_weights",
    ((A, z),),
    (z, gb, g, S, th),
    time=n,
    weighted=(gb,),
    mean_weight=pj,
    largest=d(n, j),
    correlation=alpha,
    clients=M,
)
DRAWN = ((th, 2 * n), (S, 2 * n), (g, 2 * n + 1), (A, 2 * n + 2), (ALL, 2 * n + 2), (sw, 2 * n + 2), (gw, 2 * n + 2))
here = Evaluation("f_i", th, S, ain, which=i)
there = Evaluation("f_i", th.at(n, n + 1), S.at(n, n + 1), a(n + 1, i), which=i)
SAMPLES = "bounded_sample_gradients"
FACTS = (
    Fact("clients", M >= 1, "count", "clients"),
    Fact("windows", V >= 1, "count", "windows in a period"),
    Fact("period", sp.Eq(period, W * V), "assumption", "a period is made of windows", "window_property"),
    *(
        Fact(f"index {x}", sp.And(x >= 0, x <= last), "index", why)
        for x, last, why in (
            *((n, N - 1, "rounds"), (e, windows - 1, "windows"), (i, M - 1, "clients"), (j, M - 1, "clients")),
            *((k, K - 1, "local steps"), (r, W - 1, "rounds of a window"), (r2, W - 1, "rounds of a window")),
            *((t, W - 1, "rounds of a window"), (u, W - 2, "rounds of a window but the last")),
        )
    ),
    Fact("gb", VectorEquality(gb, vector_total(g, k, K) / K), "definition", "mean gradient of a client's local work"),
    Fact("z", VectorEquality(z, gb * pj), "definition", "with the expected weight"),
    Fact("round", VectorEquality(th.at(n, n + 1), th - ALL * h), "algorithm", "(6): a client sends K steps"),
    lower_model("convex", convex_samples, "L_i is convex too, around theta^{n+1}", there, here),
    lower_model("convex, back", convex_samples, "L_i is convex too, around theta^n", here, there),
    Fact("steps", sp.Le(norm2(g), B**2), "assumption", "of the samples that the local steps use", SAMPLES),
    Fact("own", sp.Le(norm2(S), B**2), "assumption", "a mean of gradients of samples", SAMPLES),
    Fact("own, weighted", sp.Le(norm2(sw), pj * B**2), "assumption", "at every point, times w_j", SAMPLES),
    Fact("weighted", sp.Le(norm2(gw), pj * norm2(gb)), "assumption", "E w_j is p", "independent_weights"),
    Fact("product", sp.Ge(inner(S.at(n, n + 1), A), inner(sw, gw)), "metric", "w_j is the square of its root"),
    Fact("p >= 0", pin >= 0, "metric", "a mean of weights"),
    Fact("pj >= 0", pj >= 0, "metric", "a mean of weights"),
    Fact("pbar >= 0", pbar >= 0, "metric", "a mean of weights"),
    Fact("rho", sp.Le(total(pj, j, M), rho), "metric", "rho is the largest q(n)"),
    Fact("window", sp.Eq(total(p(e * W + r, i), r, W), W * pbar), "assumption", "Assumption 6", "window_property"),
    Fact("q_bar", sp.Eq(q_bar, total(pbar, i, M)), "metric", "the mean of q(n)"),
    Fact("mean", sp.Eq(mean, total(pbar * total(ain, n, N), i, M) / N), "metric", "mean over the rounds"),
    Fact("Z", sp.Le(total(pin * ain, i, M), Z - rg), "metric", "L^n has the weights p(n, i), and L^n(x) is 0"),
    Fact("Zbar", sp.Eq(Zbar, total(Z, n, N) / N), "metric", "mean over the rounds, what Theorem 1 bounds"),
    Fact("R", sp.Eq(R, total(rg, n, N) / N), "metric", "mean over the rounds"),
)
SIZES = ("domain K", "domain eta_l", "domain eta_g", "domain rho", "domain B")
COUNT = ("domain s", "domain W", "windows", "period")
WHERE = ("index n", "index e", *COUNT)

CHANGE = (
    Step(
        "square of the mean",
        sp.Le(norm2(vector_total(g, k, K)), K * total(norm2(g), k, K)),
        ("domain K",),
        CauchySchwarz(g, k, K),
        "the square of a mean",
    ),
    Step("all steps", sp.Ge(total(B**2 - norm2(g), k, K), 0), ("steps", "domain K"), SumOver("steps", k, K), "bounded"),
    Step(
        "work",
        sp.Le(norm2(gb), B**2),
        ("square of the mean", "all steps", "gb", "domain K"),
        Combine({"square of the mean": 1 / K**2, "all steps": 1 / K}),
        "and so is their mean",
    ),
    Step(
        "client, up",
        sp.Le(-inner(S.at(n, n + 1), A), pj * B**2),
        ("product", "own, weighted", "weighted", "work", "pj >= 0"),
        Combine(
            {"product": 1, "own, weighted": sp.Rational(1, 2), "weighted": sp.Rational(1, 2), "work": pj / 2}, (pj,)
        ),
        "2 <u, v> <= |u|^2 + |v|^2",
    ),
    Step(
        "clients, up",
        sp.Ge(total(pj * B**2 + inner(S.at(n, n + 1), A), j, M), 0),
        ("client, up", "clients"),
        SumOver("client, up", j, M),
        "all clients",
    ),
    Step(
        "up",
        sp.Le(a(n + 1, i), ain + c),
        ("convex", "round", "clients, up", "rho", *SIZES),
        Combine({"convex": 1, "clients, up": h, "rho": h * B**2}),
        "(24)",
    ),
    Step("square", sp.Ge(norm2(S - gb), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "client, down",
        sp.Le(inner(S, z), pj * B**2),
        ("own", "work", "square", "z", "pj >= 0"),
        Combine({"own": pj / 2, "work": pj / 2, "square": pj / 2}, (pj,)),
        "2 <u, v> <= |u|^2 + |v|^2",
    ),
    Step(
        "clients, down",
        sp.Ge(total(pj * B**2 - inner(S, z), j, M), 0),
        ("client, down", "clients"),
        SumOver("client, down", j, M),
        "all clients",
    ),
    Step(
        "down",
        sp.Le(ain, a(n + 1, i) + c),
        ("convex, back", "round", "clients, down", "rho", "clients", *SIZES),
        Expected(("weights",), Combine({"convex, back": 1, "clients, down": h, "rho": h * B**2})),
        "in the other direction",
    ),
)


def at(name: str, source: str, claim: Any, index: Any, value: Any, *uses: str) -> Step:
    """A claim for all values of an index at one of them."""
    return Step(name, claim, (source, *uses, *COUNT), At(source, index, value), "in a window")


first, last = e * W, e * W + W - 1
inside = e * W + r


PAIRS = (
    at("up, t", "up", sp.Le(a(first + t + 1, i), a(first + t, i) + c), n, first + t, "index e", "index t"),
    at("down, t", "down", sp.Le(a(first + t, i), a(first + t + 1, i) + c), n, first + t, "index e", "index t"),
    at("up, u", "up", sp.Le(a(last - u, i), a(last - 1 - u, i) + c), n, last - 1 - u, "index e", "index u"),
    at("down, u", "down", sp.Le(a(last - 1 - u, i), a(last - u, i) + c), n, last - 1 - u, "index e", "index u"),
    Step(
        "from the first",
        sp.Le(a(inside, i), a(first, i) + r * c),
        ("up, t", "index r", *COUNT),
        Accumulation("up, t", a(first + t, i), t, r),
        "r rounds",
    ),
    Step(
        "to the first",
        sp.Le(-a(inside, i), -a(first, i) + r * c),
        ("down, t", "index r", *COUNT),
        Accumulation("down, t", -a(first + t, i), t, r),
        "r rounds",
    ),
    Step(
        "from the last",
        sp.Le(a(inside, i), a(last, i) + (W - 1 - r) * c),
        ("down, u", "index r", *COUNT),
        Accumulation("down, u", a(last - u, i), u, W - 1 - r),
        "W - 1 - r rounds",
    ),
    Step(
        "to the last",
        sp.Le(-a(inside, i), -a(last, i) + (W - 1 - r) * c),
        ("up, u", "index r", *COUNT),
        Accumulation("up, u", -a(last - u, i), u, W - 1 - r),
        "W - 1 - r rounds",
    ),
    at("to the first, r2", "to the first", sp.Le(-a(first + r2, i), -a(first, i) + r2 * c), r, r2, "index r2"),
    at("to the last, r2", "to the last", sp.Le(-a(first + r2, i), -a(last, i) + (W - 1 - r2) * c), r, r2, "index r2"),
    Step(
        "pair",
        sp.Le(a(inside, i), a(first + r2, i) + (W - 1) * c),
        ("from the first", "from the last", "to the first, r2", "to the last, r2"),
        Combine(
            dict.fromkeys(("from the first", "from the last", "to the first, r2", "to the last, r2"), sp.Rational(1, 2))
        ),
        "the mean of the way by the first round and of that by the last",
    ),
)
other = p(first + r2, i)
WINDOW = (
    at("p2 >= 0", "p >= 0", sp.Ge(other, 0, evaluate=False), n, first + r2, "index e", "index r2"),
    Step(
        "pair, weighted",
        sp.Ge(other * a(first + r2, i) + other * (W - 1) * c - other * a(inside, i), 0),
        ("pair", "p2 >= 0"),
        Combine({"pair": other}, (other,)),
        "times the weight of the one",
    ),
    Step(
        "pairs",
        sp.Ge(total(other * a(first + r2, i) + other * (W - 1) * c - other * a(inside, i), r, W), 0),
        ("pair, weighted", *COUNT),
        SumOver("pair, weighted", r, W),
        "all rounds of the window",
    ),
    Step(
        "all pairs",
        sp.Ge(
            total(total(other * a(first + r2, i) + other * (W - 1) * c - other * a(inside, i), r, W), r2, W),
            0,
        ),
        ("pairs", *COUNT),
        SumOver("pairs", r2, W),
        "all pairs of rounds",
    ),
    Step(
        "(25)",
        sp.Le(pbar * total(a(inside, i), r, W), total(p(inside, i) * a(inside, i), r, W) + W * pbar * (W - 1) * c),
        ("all pairs", "window", "domain W"),
        Combine({"all pairs": 1 / W}, (total(p(inside, i), r, W), pbar)),
        "the weights of a window have the mean q_i",
    ),
)
ENDING = (
    Step(
        "windows together",
        sp.Ge(
            total(
                total(p(inside, i) * a(inside, i), r, W) + W * pbar * (W - 1) * c - pbar * total(a(inside, i), r, W),
                e,
                windows,
            ),
            0,
        ),
        ("(25)", *COUNT),
        SumOver("(25)", e, windows),
        "all windows",
    ),
    Step(
        "losses in windows",
        sp.Le(total(ain, n, N), total(total(a(inside, i), r, W), e, windows)),
        COUNT,
        InEpochs(ain, n, e, windows, r, W),
        "round n is round r of window e",
    ),
    Step(
        "products in windows",
        sp.Le(total(-pin * ain, n, N), total(total(-p(inside, i) * a(inside, i), r, W), e, windows)),
        COUNT,
        InEpochs(-pin * ain, n, e, windows, r, W),
        "round n is round r of window e",
    ),
    Step(
        "client",
        sp.Le(pbar * total(ain, n, N), total(pin * ain, n, N) + N * (W - 1) * c * pbar),
        ("windows together", "losses in windows", "products in windows", "pbar >= 0", *COUNT),
        Combine({"windows together": 1, "losses in windows": pbar, "products in windows": 1}, (pbar,)),
        "all windows",
    ),
    Step(
        "all clients",
        sp.Ge(total(total(pin * ain, n, N) + N * (W - 1) * c * pbar - pbar * total(ain, n, N), i, M), 0),
        ("client", "clients"),
        SumOver("client", i, M),
        "all clients",
    ),
    Step(
        "exchange",
        sp.Le(total(total(pin * ain, n, N), i, M), total(total(pin * ain, i, M), n, N)),
        ("clients", *COUNT),
        Exchange(pin * ain, i, M, n, N),
        "over clients and rounds",
    ),
    Step(
        "rounds",
        sp.Ge(total(Z - rg - total(pin * ain, i, M), n, N), 0),
        ("Z", *COUNT),
        SumOver("Z", n, N),
        "all rounds",
    ),
    Step(
        "(29)",
        sp.Le(mean, Zbar - R + q_bar * (W - 1) * c),
        ("all clients", "exchange", "rounds", "mean", "Zbar", "R", "q_bar", *COUNT),
        Combine(dict.fromkeys(("all clients", "exchange", "rounds"), 1 / (windows * W))),
        "R cancels",
    ),
)


def _printed(statement: Any) -> Derivation:
    """Up to where it breaks."""
    theorem, qn = find_statement("async_fl/theorem_1/as_printed"), sp.Symbol("qn", real=True)
    scope = tuple(f.name for f in scope_facts(statement))
    facts = (
        *scope_facts(statement),
        Fact("range qn", sp.And(qn > 0, qn <= rho), "range", "the sum of the weights of a round"),
        *(f for f in FACTS if f.name == "index n"),
        Fact("Zbar", sp.Eq(Zbar, total(Z, n, N) / N), "metric", "mean over the rounds, what Theorem 1 bounds"),
        Fact("mean", sp.Eq(mean, total(ain, n, N) / N), "metric", "q_bar times the gap of the surrogate problem"),
    )
    step = h * qn * B**2  # of (24)
    steps = (
        Step("(25)", sp.Le(step, h * B**2), ("range qn", *SIZES), Decide(), "the change in a round, from (24)"),
        Step("Theorem 1", sp.Le(Zbar, theorem.bound), scope, Instance(theorem.id, Zbar), "the mean gap of the rounds"),
        Step(
            "(29)",
            sp.Le(mean, Zbar - R + q_bar * (W - 1) * h * B**2),
            ("(25)",),
            Imported("(28) and (29)"),
            "R cancels",
        ),
        Step(
            "conclusion",
            sp.Le(mean, statement.bound),
            ("(29)", "Theorem 1", *(name for name in scope if name.startswith("domain"))),
            Combine({"(29)": 1, "Theorem 1": 1}),
            "with eps_W",
        ),
    )
    return Derivation(statement, facts, steps, conclusion="conclusion", target=mean)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    if statement.reading == "as_printed":
        return _printed(statement)
    scope = tuple(f.name for f in scope_facts(statement))
    ending = (
        Step(
            "Theorem 1",
            sp.Le(Zbar, find_statement(THEOREM).bound),
            scope,
            Instance(THEOREM, Zbar),
            "the mean gap of the rounds' own problems",
        ),
        Step(
            "conclusion",
            sp.Le(mean, statement.bound),
            ("(29)", "Theorem 1", *(name for name in scope if name.startswith("domain"))),
            Combine({"(29)": 1, "Theorem 1": 1}),
            "with eps_W",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        (*CHANGE, *PAIRS, *WINDOW, *ENDING, *ending),
        conclusion="conclusion",
        target=mean,
        drawn=DRAWN,
        laws=(WEIGHTS,),
    )
