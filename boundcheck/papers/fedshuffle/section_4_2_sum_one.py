"""Section 4.2: expected weights of the clients when a cohort's weights are normalised to sum to 1."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from boundcheck.papers.fedshuffle._shared import PAPER
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "general"


def _weight(name: str, meaning: str, key: str) -> Symbol:
    return Symbol(name, meaning, ONE, low=Fraction(0), low_open=True, key=key)


# the formula is the same for each client; a claim takes the first for the client
_OWN = _weight("w_i", "weight of the client", "clients/w_1")
_FIRST = _weight("w_j", "weight of one of the two others", "clients/w_2")
_SECOND = _weight("w_k", "weight of the other one", "clients/w_3")
_i, _j, _k = _OWN.expr, _FIRST.expr, _SECOND.expr

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Section 4.2", "two of three clients drawn uniformly"),
        reading="general",
        title="Expected weight of a client under Sum-One aggregation",
        symbols=(_OWN, _FIRST, _SECOND),
        metric=Metric("constant:what_1", ONE, expectation="none: a constant of the method"),
        bound=(_i / (_i + _j) + _i / (_i + _k)) / 3,
        kind=Kind.EQUALITY,
        assumptions=(
            Assumption(
                "sum_one_pairs",
                "Two of three clients are drawn uniformly, their weights are normalised to sum to 1, and all do "
                "equally much local work.",
            ),
        ),
        belief=Belief.TRUE,
        replaces="the three numbers by a formula in the weights",
        why="Each of the three pairs is drawn with probability 1/3, and the client is in two of them. It equals "
        "w_i/(w_i + w_j + w_k) for equal weights; in general it does not, which is what the example shows.",
    ),
    *(
        Statement(
            source=Source(PAPER, "Section 4.2", "three clients with 1, 2 and 3 samples, two of them drawn uniformly"),
            reading=f"as_printed_client_{client}",
            title=f"Expected weight of client {client} under Sum-One aggregation",
            symbols=(),
            metric=Metric(f"constant:what_{client}", ONE, expectation="none: a constant of the method"),
            bound=weight,
            kind=Kind.EQUALITY,
            assumptions=(
                Assumption(
                    "sum_one_pairs_of_three",
                    "Three clients weigh 1/6, 1/3 and 1/2, two of them are drawn uniformly, their weights are "
                    "normalised to sum to 1, and all do equally much local work.",
                ),
            ),
            belief=Belief.TRUE,
            remark=f"The client's weight in the objective is {client}/6.",
        )
        for client, weight in enumerate((sp.Rational(7, 36), sp.Rational(16, 45), sp.Rational(9, 20)), start=1)
    ),
)
