"""The proof of Lemma 6 (asynchronous federated learning, Appendix A.3, (82)), corrected, as checked steps.

Vectors are random and <u, v> is the expectation of their inner product. n = 0, ..., rounds-1 counts the rounds in which
a client can take part: in the others nothing moves, and all that is added up over the rounds is 0. i counts the
clients, k their local steps, and r = 0, ..., tau-1 the rounds before a round.

    b(n)  the movement of the global model in round n, 0 before the start      Qs(n)  |b(n-1)|^2 + ... + |b(n-tau)|^2
    g(n, i, k), gb(n, i), a(n, i), z(n, i), p(n, i), d(n, i)  of round n, as in the proof of Lemma 2
    q(n)  sum over the clients of p(n, i)      R(n), S(n), Z(n), sg1(n), sg2(n)  the quantities of Lemmas 3 and 5
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import Expected
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import CauchySchwarz, Exchange, Induction, Shift, SumOver, Supposing
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, norm2, vector
from boundcheck.proof.weights import Weights

READINGS = ("corrected",)


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


L, K, eta_l, eta_g, alpha, beta, rho, tau, S1, S2, Z_mean, s, period = _symbols(
    "L K eta_l eta_g alpha beta rho tau S1 S2 Z_mean s period"
)
M, n, i, k, r, rounds, moved = _symbols("M n i k r rounds moved")
p, d = (sp.Function(name, real=True)(n, i) for name in ("p", "d"))
q, R, S, Qs, Z, sg1, sg2 = (sp.Function(name, real=True)(n) for name in ("q", "R", "S", "Qs", "Z", "sg1", "sg2"))
b, g = vector("b", n), vector("g", n, i, k)
gb, a, z = (vector(name, n, i) for name in ("gb", "a", "z"))
h, e = K * eta_g * eta_l, eta_l**2 * (K - 1) ** 2
squares = total(norm2(g), k, K)
own = p * d - alpha * p**2
moves, N = total(norm2(b), n, rounds), s * period
ALL = vector_total(z, i, M)

WEIGHTS = Weights(
    "weights",
    "covariance_of_weights",
    ((a, z),),
    (z, gb, g),
    time=n,
    weighted=(gb,),
    mean_weight=p,
    largest=d,
    correlation=alpha,
    clients=M,
)
DRAWN = ((g, 2 * n + 1), (a, 2 * n + 2), (vector_total(a, i, M), 2 * n + 2), (b, 2 * n + 2), (b.at(n, -1 - r), 0))


def mean(symbol: Any, term: Any, why: str) -> Fact:
    """A mean over all rounds, of what is 0 in rounds without clients."""
    return Fact(str(symbol), sp.Eq(symbol, total(term, n, rounds) / N), "metric", why)


SIGNS = tuple(Fact(f"{f.func} >= 0", f >= 0, "metric", "a sum of squares, or a gap") for f in (Qs, Z, sg1, sg2))
FACTS = (
    Fact("rounds", rounds >= 0, "count", "rounds in which a client can take part"),
    Fact("clients", M >= 1, "count", "clients"),
    Fact("index n", sp.And(n >= 0, n <= rounds - 1), "index", "rounds"),
    Fact("index i", sp.And(i >= 0, i <= M - 1), "index", "clients"),
    Fact("index k", sp.And(k >= 0, k <= K - 1), "index", "local steps"),
    Fact("index r", sp.And(r >= 0, r <= tau - 1), "index", "rounds before a round"),
    Fact("gb", VectorEquality(gb, vector_total(g, k, K) / K), "definition", "mean gradient of a client's local work"),
    Fact("z", VectorEquality(z, gb * p), "definition", "with the expected weight"),
    Fact("movement", VectorEquality(b, vector_total(a, i, M) * -h), "algorithm", "(6): a client sends K steps"),
    Fact("before", VectorEquality(b.at(n, -1 - r), Vector(())), "algorithm", "nothing moves before the start"),
    mean(moved, norm2(b), "mean over the rounds"),
    mean(S1, sg1, "mean over the rounds"),
    mean(S2, sg2, "mean over the rounds"),
    mean(Z_mean, Z, "mean over the rounds"),
    Fact("Qs", sp.Le(Qs, total(norm2(b.at(n, n - 1 - r)), r, tau)), "metric", "movements of the last rounds"),
    Fact("R", sp.Le(norm2(ALL), q**2 * R), "metric", "qt_i(n) = q_i(n)/q(n)"),
    Fact("S", sp.Le(total(p * squares, i, M), q * K * S), "metric", "qt_i(n) = q_i(n)/q(n)"),
    Fact("q > 0", q > 0, "metric", "a client can take part"),
    Fact("q <= rho", q <= rho, "metric", "rho is the largest q(n), at least 1"),
    Fact("p >= 0", p >= 0, "metric", "a mean of weights"),
    Fact("beta", sp.Le(own, beta * p), "metric", "beta is the largest d_i - alpha q_i of those that can take part"),
    *SIGNS,
)
SIZES = tuple(f"domain {name}" for name in ("L", "K", "eta_l", "eta_g", "tau", "rho", "alpha", "beta"))
IMAGES = (("q", q), ("Qs", Qs), ("Z", Z), ("sg1", sg1))
SCOPE = ("index n", "q > 0", "condition drift", *(f.name for f in SIGNS), *SIZES)

ROUND = (
    Step(
        "mean",
        sp.Le(norm2(vector_total(g, k, K)), K * squares),
        ("domain K",),
        CauchySchwarz(g, k, K),
        "the square of a mean",
    ),
    Step("square", sp.Ge(norm2(gb), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "client",
        sp.Le(own * norm2(gb), beta / K * p * squares),
        ("mean", "square", "gb", "beta", "p >= 0", "domain K", "domain beta"),
        Combine({"mean": beta * p / K**2, "square": beta * p - own}, (p, d)),
        "gamma_i <= beta q_i",
    ),
    Step(
        "clients together",
        sp.Le(total(own * norm2(gb), i, M), beta / K * total(p * squares, i, M)),
        ("client", "clients", "domain K"),
        SumOver("client", i, M),
        "all clients",
    ),
    Step(
        "Lemma 1",
        sp.Le(norm2(b), h**2 * (alpha * norm2(ALL) + total(own * norm2(gb), i, M))),
        ("movement", "clients"),
        Expected(("weights",), Combine()),
        "the square of the step",
    ),
    Step(
        "(83)",
        sp.Le(norm2(b), h**2 * (alpha * q**2 * R + beta * q * S)),
        ("Lemma 1", "clients together", "R", "S", *SIZES),
        Combine({"Lemma 1": 1, "clients together": h**2, "R": h**2 * alpha, "S": h**2 * beta / K}, (q,)),
        "as in Lemma 2",
    ),
    Step(
        "(73)",
        sp.Le(R, 12 * L**2 * tau * Qs + 24 * L * Z / q + 36 * e * L**2 * sg1 + 6 * sg2 / K),
        SCOPE,
        Instance("async_fl/lemma_5/corrected", R, (*IMAGES, ("sg2", sg2))),
        "Lemma 5 in round n",
    ),
    Step(
        "(62)",
        sp.Le(S, 12 * L**2 * tau * Qs + 12 * L * Z / q + 6 * sg1),
        SCOPE,
        Instance("async_fl/lemma_3_gradients/corrected", S, IMAGES),
        "Lemma 3 in round n",
    ),
    Step(
        "(84)",
        sp.Le(
            norm2(b),
            h**2
            * (
                12 * rho**2 * (alpha + beta) * L**2 * tau * Qs
                + 12 * rho * (2 * alpha + beta) * L * Z
                + 6 * rho**2 * (6 * e * L**2 * alpha + beta) * sg1
                + 6 * rho**2 * alpha * sg2 / K
            ),
        ),
        ("(83)", "(73)", "(62)", "q > 0", "q <= rho", *(f.name for f in SIGNS), *SIZES),
        Combine(
            {
                "(83)": 1,
                "(73)": h**2 * alpha * q**2,
                "(62)": h**2 * beta * q,
                "Qs >= 0": 12 * h**2 * L**2 * tau * (rho**2 * (alpha + beta) - alpha * q**2 - beta * q),
                "Z >= 0": 12 * h**2 * L * (rho * (2 * alpha + beta) - 2 * alpha * q - beta),
                "sg1 >= 0": 6
                * h**2
                * (rho**2 * (6 * e * L**2 * alpha + beta) - 6 * e * L**2 * alpha * q**2 - beta * q),
                "sg2 >= 0": 6 * h**2 / K * (rho**2 * alpha - alpha * q**2),
            },
            (q,),
        ),
        "q(n) <= rho, and rho >= 1",
    ),
)


def shifted(by: Any) -> Any:
    """The squared movements `by` rounds earlier, added up, as a claim."""
    return sp.Le(total(norm2(b.at(n, n - by)), n, rounds), moves, evaluate=False)


earlier = norm2(b.at(n, n - 1 - r))
WINDOW = (
    Step("window, 0", shifted(sp.Integer(0)), (), Combine(), "the same sum"),
    Step(
        "window, shift",
        sp.Le(
            total(earlier, n, rounds),
            total(norm2(b.at(n, n - r)), n, rounds) + norm2(b.at(n, -1 - r)) - norm2(b.at(n, rounds - 1 - r)),
        ),
        ("rounds",),
        Shift(earlier, n, rounds),
        "n - 1 - r and n - r",
    ),
    Step(
        "window, step",
        sp.Implies(shifted(r), shifted(r + 1)),
        ("window, shift", "before"),
        Supposing(Combine({"hypothesis": 1, "window, shift": 1})),
        "one round earlier",
    ),
    Step(
        "window, r",
        shifted(r),
        ("window, 0", "window, step", "index r"),
        Induction("window, 0", "window, step", r, r),
        "r rounds earlier",
    ),
    Step(
        "window, r + 1",
        sp.Le(total(earlier, n, rounds), moves),
        ("window, r", "window, shift", "before"),
        Combine({"window, r": 1, "window, shift": 1}),
        "and one more",
    ),
    Step(
        "window, all",
        sp.Ge(total(moves - total(earlier, n, rounds), r, tau), 0),
        ("window, r + 1", "domain tau"),
        SumOver("window, r + 1", r, tau),
        "the last tau rounds",
    ),
    Step(
        "window, exchange",
        sp.Le(total(total(earlier, r, tau), n, rounds), total(total(earlier, n, rounds), r, tau)),
        ("rounds", "domain tau"),
        Exchange(earlier, n, rounds, r, tau),
        "over rounds and delays",
    ),
    Step(
        "Qs, all",
        sp.Ge(total(total(earlier, r, tau) - Qs, n, rounds), 0),
        ("Qs", "rounds"),
        SumOver("Qs", n, rounds),
        "all rounds",
    ),
    Step(
        "window",
        sp.Le(total(Qs, n, rounds), tau * moves),
        ("Qs, all", "window, exchange", "window, all"),
        Combine({"Qs, all": 1, "window, exchange": 1, "window, all": 1}),
        "a movement is in at most tau windows",
    ),
)
back = 12 * rho**2 * (alpha + beta) * h**2 * L**2 * tau  # A of (85)
right = (
    12 * rho * (2 * alpha + beta) * h**2 * L * Z_mean
    + 6 * rho**2 * (6 * e * L**2 * alpha + beta) * h**2 * S1
    + 6 * rho**2 * alpha * h**2 * S2 / K
)
ENDING = (
    Step(
        "(84), all",
        sp.Le(
            moves,
            back * total(Qs, n, rounds)
            + total(
                h**2
                * (
                    12 * rho * (2 * alpha + beta) * L * Z
                    + 6 * rho**2 * (6 * e * L**2 * alpha + beta) * sg1
                    + 6 * rho**2 * alpha * sg2 / K
                ),
                n,
                rounds,
            ),
        ),
        ("(84)", "rounds", *SIZES),
        SumOver("(84)", n, rounds),
        "all rounds",
    ),
    Step("half", 2 * back * tau <= 1, ("condition delays",), Decide(), "the condition on the delays"),
    Step(
        "conclusion",
        sp.Le(moved, 2 * right),
        ("(84), all", "window", "half", "moved", "S1", "S2", "Z_mean", "domain s", "domain period", *SIZES),
        Combine({"(84), all": 2 / N, "window": 2 * back / N}),
        "(85): solved for the movements",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of the corrected reading."""
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        (*ROUND, *WINDOW, *ENDING),
        conclusion="conclusion",
        target=moved,
        drawn=DRAWN,
        laws=(WEIGHTS,),
    )
