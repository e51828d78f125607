"""Property 1 of the averaging matrices: P 1 = 1."""

from __future__ import annotations

from boundcheck.papers.partial_averaging._matrices import of_matrices
from boundcheck.papers.partial_averaging._shared import Reading
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    of_matrices(
        Reading("as_printed", Belief.TRUE, remark="The largest difference of a row sum from 1 is 0."),
        "Property 1",
        "Averaging matrices: P 1 = 1",
        "averaging_row_defect",
    ),
)
