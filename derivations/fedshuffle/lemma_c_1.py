"""The proof of Lemma C.1 (FedShuffle, Appendix C) as checked steps: the progress of one round.

The display before the step condition is put in, the reading "raw", is that of Lemma E.3 for FedShuffleGen, of which
FedShuffle is a case. The printed reading lacks the hypothesis B >= 1.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.specialised import Specialised
from boundcheck.proof.step import Fact, Step
from boundcheck.theory.discovery import statement as find_statement

READINGS = ("corrected", "as_printed", "raw")

mu, L, G2, B2, M, E, eta_l, eta_g = sp.symbols("mu L G2 B2 M E eta_l eta_g", real=True)
dist2_0, gap_0, drift_0, dist2_1, et = sp.symbols("dist2_0 gap_0 drift_0 dist2_1 et", real=True)
START = (("drift_0", drift_0), ("dist2_0", dist2_0), ("gap_0", gap_0))
SIZES = ("domain L", "domain E", "domain eta_l", "domain eta_g", "domain M")

EFFECTIVE = Fact("et", sp.Eq(et, E * eta_g * eta_l), "definition", "effective step")
ROUND = (
    Step(
        "display",
        sp.Le(dist2_1, find_statement("fedshuffle/lemma_c_1/raw").bound),
        (*SIZES, *(f"domain {name}" for name in ("mu", "1", "G2", "B2", "dist2_0", "gap_0", "drift_0"))),
        Specialised("fedshuffle/lemma_e_3/raw", dist2_1, START),
        "Lemma E.3 before the step condition",
    ),
    Step("et > 0", et > 0, ("et", *SIZES), Decide(), "the effective step is positive"),
)


def _ending(statement: Any) -> tuple[Step, ...]:
    """The step condition put in."""
    names = [f"condition {c.name}" for c in statement.conditions]
    return (
        Step(
            "step 1",
            4 * L * et * (1 + M * B2) <= 1,
            ("et", "condition step size", "domain B2", *SIZES),
            Decide(),
            "the step condition",
        ),
        Step(
            "step 2",
            (1 + M) * L * et <= sp.Rational(1, 4),
            ("et", *names, "domain B2", *SIZES),
            Decide(),
            "the step condition, with B >= 1",
        ),
        Step(
            "conclusion",
            sp.Le(dist2_1, (1 - mu * et / 2) * dist2_0 - et * gap_0 + 3 * L * et * drift_0 + 2 * et**2 * M * G2),
            ("display", "et", "step 1", "step 2", "et > 0", "domain L", "domain M"),
            Combine({"display": 1}),
            "2 + 2/4 <= 3",
        ),
    )


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of Lemma C.1."""
    steps = ROUND[:1] if statement.reading == "raw" else (*ROUND, *_ending(statement))
    return Derivation(
        statement,
        (*scope_facts(statement), EFFECTIVE),
        steps,
        conclusion=steps[-1].name,
        target=dist2_1,
        quantities=frozenset({"gap_0", "G2", "drift_0"}),
    )
