"""The proof of Theorem 1 (asynchronous federated learning, Appendix A.4) as checked steps.

n = 0, ..., rounds-1 counts the rounds in which a client can take part: in the others nothing moves, and all that is
added up over the rounds is 0. The lemmas are cited in each of them, with their notation, and

    dist(n), change(n)  E|theta^n - x|^2, and what round n adds to it; x minimises the surrogate problem
    rg(n)  L^n(x) less its minimum    mean  mean of Z(n) over the rounds    moved  mean of |b(n)|^2
    c      c of (92), the share of the mean that comes back         T      what stands on the right of (93) besides R

The corrected reading ends as the sharp one, which keeps the factor 2 - c, and rounds it with (98). For cohorts that are
not random it is taken at alpha = 1. The printed proof begins with the printed Lemma 2, at the virtual models; what it
makes of that with the other printed lemmas is not looked into.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Imported
from boundcheck.proof.rules import Accumulation, SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import norm2, vector
from boundcheck.theory.discovery import statement as find_statement

READINGS = ("corrected", "sharp", "corrected_certain", "as_printed", "as_printed_used")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


L, K, eta_l, eta_g, alpha, beta, rho, tau, R, S1, S2, dist2_0 = _symbols(
    "L K eta_l eta_g alpha beta rho tau R S1 S2 dist2_0"
)
s, period, n, r, rounds, mean, moved, c, T = _symbols("s period n r rounds mean moved c T")
dist: Any = sp.Function("dist", real=True)
NAMES = ("change", "q", "D", "Rn", "Sn", "Qs", "Z", "Xi", "rg", "sg1", "sg2")
change, q, D, Rn, Sn, Qs, Z, Xi, rg, sg1, sg2 = (sp.Function(name, real=True)(n) for name in NAMES)
b = vector("b", n)
alpha_1, beta_1, et = *_symbols("alpha_1 beta_1"), eta_g * eta_l
h, e, N = K * eta_g * eta_l, eta_l**2 * (K - 1) ** 2, s * period
spread = h + 16 * rho * L * (h * tau) ** 2
back = 24 * e * L**2 + 12 * rho * (2 * alpha + beta) * L * spread  # c of (92)
noise = 12 * rho * e * L * S1 + spread * (6 * rho**2 * (6 * e * L**2 * alpha + beta) * S1 + 6 * rho**2 * alpha * S2 / K)
CONSTRAINTS = {
    "drift": (12 * e * L**2, "D <= 1/2, of Lemma 3"),
    "delays": (24 * rho**2 * (alpha + beta) * (h * tau * L) ** 2, "of Lemma 6"),
    "movement": (3 * rho * (alpha + beta) * h * L, "where the movement of a round enters twice"),
    "contraction": (back, "(92)"),
    "step, alone": (3 * rho**2 * h * L, "for (94)"),
    "delays, alone": (48 * rho**3 * (h * tau * L) ** 2, "for (94)"),
}


def over_rounds(name: str, symbol: Any, term: Any, why: str) -> Fact:
    """A mean over all rounds, of what is 0 in rounds without clients."""
    return Fact(name, sp.Eq(symbol, total(term, n, rounds) / N), "metric", why)


SIGNS = tuple(Fact(f"{f.func} >= 0", f >= 0, "metric", "a sum of squares, or a gap") for f in (Qs, Z, sg1, sg2))
FACTS = (
    Fact("c", sp.Eq(c, back), "definition", "(92)"),
    Fact("T", sp.Eq(T, dist2_0 / (h * N) + c * R + noise), "definition", "right side of (93)"),
    Fact("rounds", rounds >= 0, "count", "rounds in which a client can take part"),
    Fact("index n", sp.And(n >= 0, n <= rounds - 1), "index", "rounds"),
    Fact("index r", sp.And(r >= 0, r <= tau - 1), "index", "rounds before a round"),
    Fact("start", sp.Eq(dist2_0, dist(0)), "metric", "the distance of the start"),
    Fact("last", dist(rounds) >= 0, "metric", "a squared distance"),
    Fact("change", sp.Le(dist(n + 1), dist(n) + change), "metric", "what the round adds"),
    Fact("Xi", sp.Ge(Xi, Z - rg), "metric", "L^n(theta^n) - L^n(x)"),
    over_rounds("mean", mean, Z, "the mean gap of the rounds' own problems"),
    over_rounds("moved", moved, norm2(b), "the mean squared movement"),
    over_rounds("R", R, rg, "mean over the rounds"),
    over_rounds("S1", S1, sg1, "mean over the rounds"),
    over_rounds("S2", S2, sg2, "mean over the rounds"),
    Fact("q > 0", q > 0, "metric", "a client can take part"),
    Fact("q <= rho", q <= rho, "metric", "rho is the largest q(n), at least 1"),
    *SIGNS,
)
SIGNS_2 = tuple(Fact(f"{f} >= 0", g >= 0, "metric", "a squared norm") for f, g in (("R(n)", Rn), ("S(n)", Sn)))
PRINTED = ("rounds", "index n", "mean", "q > 0", "Z >= 0", "R(n) >= 0", "S(n) >= 0")
SIZES = tuple(f"domain {name}" for name in ("L", "K", "eta_l", "eta_g", "tau", "rho", "alpha", "beta"))
OTHERS = tuple(f"domain {name}" for name in ("R", "S1", "S2", "dist2_0", "s", "period"))
SCOPE = ("index n", "q > 0", *(f.name for f in SIGNS), *SIZES)
STEPS_OF = (L, K, eta_l, eta_g, rho, alpha, beta, tau)
IMAGES = (("q", q), ("Qs", Qs), ("Z", Z), ("sg1", sg1))


def _round(drift: str, movement: str) -> tuple[Step, ...]:
    """What a round adds; drift, movement: names of these constraints."""
    return (
        Step(
            "(56)",
            sp.Le(change, -2 * h * D + h**2 * alpha * q**2 * Rn + h**2 * beta * q * Sn),
            ("R(n) >= 0", "S(n) >= 0", *SCOPE),
            Instance("async_fl/lemma_2/corrected", change, (("q", q), ("inner", D), ("Rn", Rn), ("Sn", Sn))),
            "Lemma 2 in round n",
        ),
        Step(
            "(72)",
            sp.Le(-2 * D, -2 * Xi + 4 * L * q * tau * Qs + 24 * e * L**2 * Z + 12 * e * q * L * sg1),
            (drift, *SCOPE),
            Instance("async_fl/lemma_4/corrected", D, (*IMAGES, ("Xi", Xi))),
            "Lemma 4 in round n",
        ),
        Step(
            "(73)",
            sp.Le(Rn, 12 * L**2 * tau * Qs + 24 * L * Z / q + 36 * e * L**2 * sg1 + 6 * sg2 / K),
            (drift, *SCOPE),
            Instance("async_fl/lemma_5/corrected", Rn, (*IMAGES, ("sg2", sg2))),
            "Lemma 5 in round n",
        ),
        Step(
            "(62)",
            sp.Le(Sn, 12 * L**2 * tau * Qs + 12 * L * Z / q + 6 * sg1),
            (drift, *SCOPE),
            Instance("async_fl/lemma_3_gradients/corrected", Sn, IMAGES),
            "Lemma 3 in round n",
        ),
        Step(
            "twice",
            12 * L**2 * h * (alpha * q**2 + beta * q) <= 4 * L * rho,
            (movement, "q > 0", "q <= rho", *SIZES),
            Combine(
                {movement: 4 * L * rho, "q <= rho": 12 * L**2 * h * (alpha * (rho + q) + beta)},
                (q,),
            ),
            "the movement of a round enters twice",
        ),
        Step(
            "(87)",
            sp.Le(
                dist(n + 1),
                dist(n)
                + h
                * (
                    -2 * (Z - rg)
                    + 8 * rho * tau * L * Qs
                    + (24 * e * L**2 + 12 * rho * (2 * alpha + beta) * h * L) * Z
                    + (12 * rho * e * L + 6 * rho**2 * h * (6 * e * L**2 * alpha + beta)) * sg1
                    + 6 * rho**2 * alpha * h * sg2 / K
                ),
            ),
            ("change", "(56)", "(72)", "(73)", "(62)", "Xi", "twice", "q > 0", "q <= rho", *SCOPE),
            Combine(
                {
                    "change": 1,
                    "(56)": 1,
                    "(72)": h,
                    "(73)": h**2 * alpha * q**2,
                    "(62)": h**2 * beta * q,
                    "Xi": 2 * h,
                    "Qs >= 0": h * tau * (8 * rho * L - 4 * L * q - 12 * L**2 * h * (alpha * q**2 + beta * q)),
                    "Z >= 0": 12 * h**2 * L * (rho * (2 * alpha + beta) - 2 * alpha * q - beta),
                    "sg1 >= 0": h
                    * (
                        12 * e * L * (rho - q)
                        + 6 * h * (rho**2 * (6 * e * L**2 * alpha + beta) - 6 * e * L**2 * alpha * q**2 - beta * q)
                    ),
                    "sg2 >= 0": 6 * h**2 / K * (rho**2 * alpha - alpha * q**2),
                },
                (q,),
            ),
            "q(n) <= rho, and rho >= 1",
        ),
    )


def _ending(names: Mapping[str, str]) -> tuple[Step, ...]:
    """All rounds together."""
    return (
        Step(
            "sum",
            sp.Le(
                dist(rounds),
                dist(0)
                + total(
                    h
                    * (
                        -2 * (Z - rg)
                        + 8 * rho * tau * L * Qs
                        + (24 * e * L**2 + 12 * rho * (2 * alpha + beta) * h * L) * Z
                        + (12 * rho * e * L + 6 * rho**2 * h * (6 * e * L**2 * alpha + beta)) * sg1
                        + 6 * rho**2 * alpha * h * sg2 / K
                    ),
                    n,
                    rounds,
                ),
            ),
            ("(87)", "rounds", *SIZES),
            Accumulation("(87)", dist(n), n, rounds),
            "(88)",
        ),
        Step("Z, all", sp.Ge(total(Z, n, rounds), 0), ("Z >= 0", "rounds"), SumOver("Z >= 0", n, rounds), "gaps"),
        Step(
            "mean >= 0",
            sp.Ge(mean, 0),
            ("Z, all", "mean", "domain s", "domain period"),
            Combine({"Z, all": 1 / N}),
            "a mean of gaps",
        ),
        Step(
            "(82)",
            sp.Le(
                moved,
                24 * rho * (2 * alpha + beta) * h**2 * L * mean
                + 6 * rho**2 * (12 * e * L**2 * alpha + 2 * beta) * h**2 * S1
                + 12 * rho**2 * alpha * h**2 * S2 / K,
            ),
            (names["drift"], names["delays"], "mean >= 0", *OTHERS, *SIZES),
            Instance("async_fl/lemma_6/corrected", moved, (("Z_mean", mean),)),
            "Lemma 6",
        ),
        Step(
            "(90)",
            sp.Le((2 - c) * mean, 2 * R + dist2_0 / (h * N) + noise),
            ("sum", "window", "(82)", "last", "mean", "moved", "R", "S1", "S2", "start", "c", *OTHERS, *SIZES),
            Combine(
                {
                    "sum": 1 / (h * N),
                    "last": 1 / (h * N),
                    "window": 8 * rho * tau * L / N,
                    "(82)": 8 * rho * tau**2 * L,
                }
            ),
            "divided by the step and the number of rounds",
        ),
        Step("c <= 1", c <= 1, ("c", names["contraction"]), Decide(), "(92)"),
        Step("c >= 0", c >= 0, ("c", *SIZES), Decide(), "a sum of products"),
        Step(
            "T, R",
            sp.Ge(T, c * R),
            ("T", *OTHERS, *SIZES),
            Decide(),
            "sums of products",
        ),
    )


def _rounded(statement: Any) -> tuple[Step, ...]:
    """With 1 for 2 - c, and the product of D and the step in eps_alpha moved to eps_K."""
    return (
        Step(
            "T >= 0",
            T >= 0,
            ("T, R", "c >= 0", "domain R"),
            Decide(),
            "and R is not negative",
        ),
        Step(
            "(93)",
            sp.Le(mean, R + T),
            ("(93), sharp", "T >= 0", "c <= 1"),
            Combine({"(93), sharp": 1, "T >= 0": (1 - c) / (2 - c)}),
            "2 - c >= 1",
        ),
        Step(
            "two",
            3 * rho**2 * L * spread <= 2,
            ("step, alone", "delays, alone"),
            Decide(),
            "the two constraints on one step and on the delays",
        ),
        Step(
            "conclusion",
            sp.Le(mean, statement.bound),
            ("(93)", "T", "c", "two", *OTHERS, *SIZES),
            Combine({"(93)": 1, "two": 12 * alpha * e * L * S1}),
            "(94)",
        ),
    )


def _printed(statement: Any) -> Derivation:
    """Up to where it breaks."""
    claim = sp.Le(change / K, -2 * et * D + et**2 * alpha * q**2 * Rn + et**2 * beta * q * Sn)
    lemmas = "Lemmas 3 to 6 and (87) to (94) as printed"
    steps = (
        Step(
            "(86)",
            claim,
            ("R(n) >= 0", "S(n) >= 0", "index n", "q > 0", *SIZES),
            Instance("async_fl/lemma_2/as_printed", change, (("q", q), ("inner", D), ("Rn", Rn), ("Sn", Sn))),
            "Lemma 2 in round n",
        ),
        Step("conclusion", sp.Le(mean, statement.bound), ("(86)", "mean", "Z >= 0"), Imported(lemmas), "(94)"),
    )
    facts = tuple(f for f in (*FACTS, *SIGNS_2) if f.name in PRINTED)
    return Derivation(statement, (*scope_facts(statement), *facts), steps, conclusion="conclusion", target=mean)


def _certain(statement: Any) -> Derivation:
    """Theorem 1 at alpha = 1, where beta is 0."""
    theorem = find_statement("async_fl/theorem_1/corrected")
    bound = theorem.bound.subs({alpha: alpha_1, beta: beta_1})
    scope = tuple(f.name for f in scope_facts(statement))
    uses = ("alpha", "beta", *scope)
    steps = (
        Step(
            "Theorem 1",
            sp.Le(mean, bound),
            uses,
            Instance(theorem.id, mean, (("alpha", alpha_1), ("beta", beta_1))),
            "E w_i w_j = w_i w_j, so that alpha = 1",
        ),
        Step("conclusion", sp.Le(mean, statement.bound), ("Theorem 1", *uses), Combine({"Theorem 1": 1}), "beta is 0"),
    )
    facts = (
        *scope_facts(statement),
        Fact("alpha", sp.Eq(alpha_1, 1), "definition", "of weights that are not random"),
        Fact("beta", sp.Eq(beta_1, sp.Symbol("beta_det", real=True)), "definition", "beta at alpha = 1"),
        *(f for f in FACTS if f.name in ("rounds", "index n", "mean")),
    )
    return Derivation(statement, facts, steps, conclusion="conclusion", target=mean)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    if statement.reading.startswith("as_printed"):
        return _printed(statement)
    if statement.reading == "corrected_certain":
        return _certain(statement)
    sharp = statement.reading == "sharp"
    names = {name: f"condition {name}" if sharp else name for name in CONSTRAINTS}
    lemma = derivation_of("async_fl/lemma_6/corrected")
    window = tuple(x for x in lemma.steps if x.name.startswith(("window", "Qs")))
    shared = tuple(f for f in lemma.facts if f.name in ("before", "Qs"))
    conditions = tuple(f"condition {x.name}" for x in statement.conditions)
    largest = sp.Max(*(left for left, _ in CONSTRAINTS.values()))
    constraints = (
        Step(
            "constraints",
            sp.Le(largest, 1),
            (*conditions, *SIZES),
            Instance("async_fl/equation_98_constraints/corrected", largest, tuple((str(x), x) for x in STEPS_OF)),
            "Appendix A.5",
        ),
        *(Step(name, sp.Le(left, 1), ("constraints",), Decide(), why) for name, (left, why) in CONSTRAINTS.items()),
    )
    solved = Step(
        "conclusion" if sharp else "(93), sharp",
        sp.Le(mean, statement.bound if sharp else R + T / (2 - c)),
        ("(90)", "T", "c <= 1", *(["c"] if sharp else []), *OTHERS, *SIZES),
        Combine({"(90)": 1 / (2 - (back if sharp else c))}),
        "solved for the mean",
    )
    steps = (
        *(() if sharp else constraints),
        *_round(names["drift"], names["movement"]),
        *window,
        *_ending(names),
        solved,
        *(() if sharp else _rounded(statement)),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS, *SIGNS_2, *shared),
        steps,
        conclusion="conclusion",
        target=mean,
        drawn=((b.at(n, -1 - r), 0), (b, n)),
    )
