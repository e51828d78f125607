"""Property 2 of the averaging matrices: J P = J."""

from __future__ import annotations

from boundcheck.papers.partial_averaging._matrices import of_matrices
from boundcheck.papers.partial_averaging._shared import Reading
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    of_matrices(
        Reading("as_printed", Belief.TRUE, remark="The largest entry of J P - J is 0."),
        "Property 2",
        "Averaging matrices: J P = J",
        "averaging_product_defect",
    ),
)
