"""Property 4 of the averaging matrices: P P' consists of m x m diagonal blocks."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.partial_averaging._matrices import of_matrices
from boundcheck.papers.partial_averaging._shared import Reading, m
from boundcheck.theory.statement import Belief, Condition

BEST = "grid"

STATEMENTS = (
    of_matrices(
        Reading(
            "grid",
            Belief.TRUE,
            replaces="'m x m diagonal blocks' by an m x m grid of diagonal blocks of size d_j x d_j",
            why="P P' is (1 w') kron I or the identity: block (a, b) is a multiple of the d_j x d_j identity.",
        ),
        "Property 4",
        "Averaging matrices: products are grids of diagonal blocks",
        "averaging_inner_defect",
    ),
    of_matrices(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="Read as a diagonal arrangement of diagonal blocks of size m x m, that is, as a diagonal matrix: "
            "where block j is averaged, P has the weight 1/m between workers.",
        ),
        "Property 4",
        "Averaging matrices: products are diagonal",
        "averaging_outer_defect",
        conditions=(Condition("several workers", sp.Ge(m, 2)),),
    ),
)
