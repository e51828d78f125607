"""The sharp recursion of Theorem E.1 (FedShuffle) where the losses are convex, from the displays of E.3 and E.4.

    xi    drift of the round           clients  sum of what_i |grad f_i|^2 at its start
    a, b  the shares that 1 + M1 B^2 and (1 + P) B have in beta: a + b = 1

The step conditions are put into both displays at once, so that their parts share them.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import pointwise
from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.step import Fact, Step
from boundcheck.theory.assumptions import relaxed_dissimilarity

READINGS = ("sharp",)

mu, L, G2, B2, P2_gen, sigma2_gen = sp.symbols("mu L G2 B2 P2_gen sigma2_gen", real=True)
M1, W, eta_l, eta_g, dist2_0, gap_0 = sp.symbols("M1 W eta_l eta_g dist2_0 gap_0", real=True)
et, H, beta, a, b, xi, clients, dist2_1 = sp.symbols("et H beta a b xi clients dist2_1", real=True)
START = (("drift_0", xi), ("dist2_0", dist2_0), ("gap_0", gap_0))  # of a round, as Lemma E.3 names them

FACTS = (
    Fact("et", sp.Eq(et, W * eta_g * eta_l), "definition", "effective step"),
    Fact("H", sp.Eq(H, (1 + P2_gen) * G2 + sigma2_gen), "definition", "last factor of Lemma E.4"),
    Fact("beta", sp.Eq(beta, 1 + (1 + sp.sqrt(P2_gen)) * sp.sqrt(B2) + M1 * B2), "definition", "of the step condition"),
    Fact("a", sp.Eq(a, (1 + M1 * B2) / beta), "definition", "part of the step condition"),
    Fact("b", sp.Eq(b, (1 + sp.sqrt(P2_gen)) * sp.sqrt(B2) / beta), "definition", "the rest of the step condition"),
    Fact("drift >= 0", xi >= 0, "metric", "a mean of squared norms"),
    Fact("clients >= 0", clients >= 0, "metric", "a sum of squared norms"),
    pointwise(
        "A3.3",
        relaxed_dissimilarity,
        "Assumption 3.3 as in (5), at the start of the round",
        client_grad2=clients,
        gap=gap_0,
    ),
)

SIZES = tuple(f"domain {name}" for name in ("L", "W", "eta_l", "eta_g", "M1", "B2", "P2_gen"))
SCOPE = (*SIZES, *(f"domain {name}" for name in ("mu", "1", "G2", "sigma2_gen", "dist2_0", "gap_0")))
PARTS = ("a >= 0", "b >= 0", "a + b")
EFFECTIVE, LOCAL, B_1 = (f"condition {name}" for name in ("effective step size", "local step size", "B at least 1"))
own = 2 * eta_l**2 * L**2
start = (1 - mu * et / 2) * dist2_0

SHARES = (
    Step("et > 0", et > 0, ("et", *SIZES), Decide(), "the effective step is positive"),
    Step("beta >= 1", beta >= 1, ("beta", *SIZES), Decide(), "no negative term"),
    Step("a >= 0", a >= 0, ("a", "beta >= 1", *SIZES), Decide(), "a quotient of such"),
    Step("b >= 0", b >= 0, ("b", "beta >= 1", *SIZES), Decide(), "a quotient of such"),
    Step("a + b", sp.Eq(a + b, 1), ("a", "b", "beta", "beta >= 1", *SIZES), Decide(), "the parts of beta"),
    Step("effective", 4 * L * et * beta <= 1, ("et", "beta", EFFECTIVE, *SIZES), Decide(), "the step condition"),
    Step("local", 4 * L * eta_l * beta <= 1, ("beta", LOCAL, *SIZES), Decide(), "the step condition"),
    Step(
        "a.1",
        4 * L * et * (1 + M1 * B2) <= a,
        ("a", "effective", "et > 0", "beta >= 1", *SIZES),
        Decide(),
        "the share of 1 + M1 B^2",
    ),
    Step("cohort", (1 + M1) * L * et <= a / 4, ("a.1", B_1, "et > 0", *SIZES), Decide(), "as in Lemma E.3"),
    Step(
        "b.1",
        4 * L * eta_l * (1 + sp.sqrt(P2_gen)) * sp.sqrt(B2) <= b,
        ("b", "local", "beta >= 1", *SIZES),
        Decide(),
        "the share of (1 + P) B",
    ),
    Step("own", own <= b**2 / 8, ("b.1", B_1, *SIZES), Decide(), "as in Lemma E.4, with B >= 1"),
    Step("share", 2 * B2 * eta_l**2 * (1 + P2_gen) <= b**2 / (8 * L**2), ("b.1", *SIZES), Decide(), "as in Lemma E.4"),
    Step("local step", eta_l <= 1 / (2 * L), ("local", "beta >= 1", *SIZES), Decide(), "the drift's own condition"),
    Step("solvable", own < 1, ("local step", "domain L", "domain eta_l"), Decide(), "so that it can be solved"),
    Step(
        "drift",
        sp.Le(xi, 2 * eta_l**2 * ((1 + P2_gen) * clients + sigma2_gen) / (1 - own)),
        ("local step", "clients >= 0", "domain sigma2_gen", *SIZES),
        Instance("fedshuffle/drift_of_a_round_gen/corrected", xi, (("client_grad2_0", clients),)),
        "drift of the round before the step condition",
    ),
)

STEPS = (
    Step(
        "E.4.1",
        sp.Le((1 - own) * xi, 2 * eta_l**2 * ((1 + P2_gen) * 2 * L * B2 * gap_0 + H)),
        ("drift", "A3.3", "H", "solvable", *SIZES),
        Combine({"drift": 1 - own, "A3.3": 2 * eta_l**2 * (1 + P2_gen)}),
        "Assumption 3.3",
    ),
    Step(
        "E.4",
        sp.Le((1 - b**2 / 8) * xi, b**2 / (4 * L) * gap_0 + 2 * eta_l**2 * H),
        ("E.4.1", "own", "share", "drift >= 0", "domain L"),
        Combine({"E.4.1": 1}),
        "in terms of b",
    ),
    Step(
        "E.3",
        sp.Le(
            dist2_1,
            start
            - 2 * et * gap_0
            + 2 * L * et * xi
            + 2 * et**2 * ((1 + M1) * L**2 * xi + M1 * G2 + 2 * L * (1 + M1 * B2) * gap_0),
        ),
        ("et", "drift >= 0", *SCOPE),
        Instance("fedshuffle/lemma_e_3/raw", dist2_1, START),
        "progress of the round before the step condition",
    ),
    Step(
        "sum",
        sp.Le(dist2_1, start - (2 - a) * et * gap_0 + (2 + a / 2) * L * et * xi + 2 * et**2 * M1 * G2),
        ("E.3", "a.1", "cohort", "drift >= 0", "et > 0", "domain L"),
        Combine({"E.3": 1}),
        "in terms of a",
    ),
    Step(
        "conclusion",
        sp.Le(dist2_1, start - et * gap_0 + 2 * et**2 * M1 * G2 + 5 * L * et * eta_l**2 * H),
        ("sum", "E.4", "H", *PARTS, "et > 0", *SIZES),
        Combine({"sum": 1, "E.4": (2 + a / 2) * L * et / (1 - b**2 / 8)}),
        "(5 - b) b <= 8 - b^2 for 0 <= b <= 1",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of the sharp reading of the recursion."""
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        (*SHARES, *STEPS),
        conclusion="conclusion",
        target=dist2_1,
        quantities=frozenset({"gap_0", "G2", "sigma2_gen", "dist2_0"}),
        rounds=((xi, 0), (clients, 0)),
    )
