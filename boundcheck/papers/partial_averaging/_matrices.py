"""What the statements about the averaging matrices share: claims about constants of the method (`constant:...`)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.partial_averaging._shared import PAPER, Reading, symbols_in
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Algorithm, Condition, Kind, Metric, Source, Statement


def of_matrices(
    reading: Reading,
    number: str,
    title: str,
    constant: str,
    *,
    bound: Any = sp.S.Zero,
    where: str = "Appendix A",
    kind: str = "block_averaging",
    conditions: tuple[Condition, ...] = (),
    assumptions: tuple[Assumption, ...] = (),
) -> Statement:
    """A constant of the method on a problem equals the bound."""
    return Statement(
        source=Source(PAPER, number, where),
        reading=reading.name,
        title=title,
        symbols=symbols_in(bound, *conditions),
        metric=Metric(f"constant:{constant}", ONE, expectation="none: a constant of the method"),
        bound=bound,
        kind=Kind.EQUALITY,
        algorithm=Algorithm(kind),
        conditions=conditions,
        assumptions=assumptions,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )
