"""Communication cost: partial and periodic averaging send the same amount in tau iterations."""

from __future__ import annotations

from boundcheck.papers.partial_averaging._matrices import of_matrices
from boundcheck.papers.partial_averaging._shared import Reading, d
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    of_matrices(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="Counted in numbers of one model that are averaged in tau iterations, whatever the partition.",
        ),
        "Section 'Communication Cost'",
        "Numbers that are averaged in tau iterations",
        "averaged_per_period",
        bound=d,
        where="'the two averaging methods have the same total communication cost'",
    ),
)
