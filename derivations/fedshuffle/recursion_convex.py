"""The recursion of Theorem 5.1 (FedShuffle) where the losses are convex, from Lemmas C.1 and C.2.

    xi  drift of the round    clients  sum of w_i |grad f_i|^2 at its start    a, b  the two parts of 4 beta L et <= 1

The corrected and the printed reading add the two lemmas; the printed one inherits the factor L that Lemma C.2 leaves
out. The sharp one puts the step condition into the displays before it at once, so that its parts share it.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import pointwise
from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.step import Fact, Step
from boundcheck.theory.assumptions import relaxed_dissimilarity

READINGS = ("corrected", "as_printed", "sharp")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


mu, L, G2, B2, P2, sigma2, M, E, eta_l, eta_g = _symbols("mu L G2 B2 P2 sigma2 M E eta_l eta_g")
dist2_0, gap_0 = _symbols("dist2_0 gap_0")
et, H, a, b, xi, clients, dist2_1 = _symbols("et H a b xi clients dist2_1")
START = (("drift_0", xi), ("dist2_0", dist2_0), ("gap_0", gap_0))  # of a round, as Lemma C.1 names them

FACTS = (
    Fact("et", sp.Eq(et, E * eta_g * eta_l), "definition", "effective step"),
    Fact("H", sp.Eq(H, (E**2 + P2 / 3) * G2 + sigma2 / 3), "definition", "last factor of Lemma C.2"),
    Fact("drift >= 0", xi >= 0, "metric", "a mean of squared norms"),
)
SHARES = (
    Fact("a", sp.Eq(a, 4 * L * E * eta_g * eta_l * (1 + M * B2)), "definition", "part of the step condition"),
    Fact(
        "b",
        sp.Eq(b, 4 * L * E * eta_g * eta_l * (1 + sp.sqrt(P2 / 3)) * sp.sqrt(B2)),
        "definition",
        "the rest of the step condition",
    ),
    Fact("clients >= 0", clients >= 0, "metric", "a sum of squared norms"),
    pointwise(
        "A3.3",
        relaxed_dissimilarity,
        "Assumption 3.3 as in (5), at the start of the round",
        client_grad2=clients,
        gap=gap_0,
    ),
)

SIZES = ("domain L", "domain E", "domain eta_l", "domain eta_g", "domain M", "domain B2", "domain P2")
SCOPE = (*SIZES, "domain mu", "domain 1", "domain G2", "domain sigma2", "domain dist2_0", "domain gap_0")
start = (1 - mu * et / 2) * dist2_0
own = 2 * eta_l**2 * L**2 * E**2
display = 2 * eta_l**2 * ((E**2 + P2 / 3) * clients + sigma2 / 3) / (1 - own)


def _added(statement: Any, names: tuple[str, ...]) -> tuple[Step, ...]:
    """Lemma C.1 plus the same reading of Lemma C.2."""
    printed = statement.reading == "as_printed"
    noise = 9 * (1 if printed else L) * et * eta_l**2 * H
    return (
        Step(
            "C.1",
            sp.Le(dist2_1, start - et * gap_0 + 3 * L * et * xi + 2 * et**2 * M * G2),
            ("et", "drift >= 0", *names, *SCOPE),
            Instance("fedshuffle/lemma_c_1/corrected", dist2_1, START),
            "progress of the round",
        ),
        Step(
            "C.2",
            sp.Le(3 * L * et * xi, sp.Rational(9, 10) * et * gap_0 + noise),
            ("et", "H", *names, *SCOPE),
            Instance(f"fedshuffle/lemma_c_2/{statement.reading}", xi, (("gap_0", gap_0),)),
            "drift of the round",
        ),
        Step(
            "conclusion",
            sp.Le(dist2_1, start - et / 10 * gap_0 + 2 * et**2 * M * G2 + noise),
            ("C.1", "C.2", *SIZES),
            Combine({"C.1": 1, "C.2": 1}),
            "the lemmas added",
        ),
    )


def _shared(names: tuple[str, ...]) -> tuple[Step, ...]:
    """The displays of both lemmas before the step condition, which is then put in once."""
    return (
        Step("b >= 0", b >= 0, ("b", *SIZES), Decide(), "a product of such"),
        Step("a >= 0", a >= 0, ("a", *SIZES), Decide(), "a product of such"),
        Step("a + b", a + b <= 1, ("a", "b", *names, *SIZES), Decide(), "the step condition"),
        Step("own", own <= b**2 / 8, ("b", *names, *SIZES), Decide(), "as in Lemma C.2, with B >= 1"),
        Step(
            "share",
            4 * L * B2 * eta_l**2 * (E**2 + P2 / 3) <= b**2 / (4 * L),
            ("b", *names, *SIZES),
            Decide(),
            "as in Lemma C.2",
        ),
        Step("cohort", (1 + M) * L * et <= a / 4, ("a", "et", *names, *SIZES), Decide(), "as in Lemma C.1"),
        Step(
            "C.1",
            sp.Le(
                dist2_1,
                start
                - 2 * et * gap_0
                + 2 * L * et * xi
                + 2 * et**2 * ((1 + M) * L**2 * xi + M * G2 + 2 * L * (1 + M * B2) * gap_0),
            ),
            ("et", "drift >= 0", *SCOPE),
            Instance("fedshuffle/lemma_c_1/raw", dist2_1, START),
            "progress of the round before the step condition",
        ),
        Step("local step", eta_l <= 1 / (2 * E * L), (*names, *SIZES), Decide(), "the drift's own condition"),
        Step(
            "C.2.1",
            sp.Le(xi, display),
            ("local step", "clients >= 0", *SCOPE),
            Instance("fedshuffle/drift_of_a_round/corrected", xi, (("client_grad2_0", clients),)),
            "drift of the round before the step condition",
        ),
        Step(
            "C.2.2",
            sp.Le(xi, 2 * eta_l**2 * ((E**2 + P2 / 3) * 2 * L * B2 * gap_0 + H) / (1 - own)),
            ("C.2.1", "A3.3", "H", "own", "b >= 0", "a >= 0", "a + b", *SIZES),
            Combine({"C.2.1": 1, "A3.3": 2 * eta_l**2 * (E**2 + P2 / 3) / (1 - own)}),
            "Assumption 3.3",
        ),
        Step(
            "C.2",
            sp.Le(xi, (b**2 / (4 * L) * gap_0 + 2 * eta_l**2 * H) / (1 - b**2 / 8)),
            ("C.2.2", "H", "own", "share", "b >= 0", "a >= 0", "a + b", *SIZES),
            Combine({"C.2.2": 1}),
            "in terms of b",
        ),
        Step("et > 0", et > 0, ("et", *SIZES), Decide(), "the effective step is positive"),
        Step("a.1", sp.Eq(a, 4 * L * et * (1 + M * B2)), ("a", "et"), Identity(), "by definition"),
        Step(
            "sum",
            sp.Le(dist2_1, start - (2 - a) * et * gap_0 + (2 + a / 2) * L * et * xi + 2 * et**2 * M * G2),
            ("C.1", "a.1", "cohort", "drift >= 0", "et > 0", "domain L"),
            Combine({"C.1": 1}),
            "in terms of a",
        ),
        Step(
            "conclusion",
            sp.Le(dist2_1, start - et * gap_0 + 2 * et**2 * M * G2 + 5 * L * et * eta_l**2 * H),
            ("sum", "C.2", "H", "a >= 0", "b >= 0", "a + b", "et > 0", *SIZES),
            Combine({"sum": 1, "C.2": (2 + a / 2) * L * et}),
            "(5 - b) b <= 8 - b^2 for 0 <= b <= 1",
        ),
    )


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of the recursion."""
    names = tuple(f"condition {c.name}" for c in statement.conditions)
    sharp = statement.reading == "sharp"
    steps = _shared(names) if sharp else _added(statement, names)
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS, *(SHARES if sharp else ())),
        steps,
        conclusion="conclusion",
        target=dist2_1,
        quantities=frozenset({"gap_0", "G2", "sigma2", "dist2_0"}),
        rounds=((xi, 0), (clients, 0)),
    )
