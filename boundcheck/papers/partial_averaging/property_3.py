"""Property 3 of the averaging matrices: P P' is symmetric."""

from __future__ import annotations

from boundcheck.papers.partial_averaging._matrices import of_matrices
from boundcheck.papers.partial_averaging._shared import Reading
from boundcheck.theory.assumptions import averages_uniformly
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    of_matrices(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="The largest entry of P P' - (P P')^T is 0. With other weights than 1/m it is not.",
        ),
        "Property 3",
        "Averaging matrices: products are symmetric",
        "averaging_symmetry_defect",
        assumptions=(averages_uniformly,),
    ),
)
