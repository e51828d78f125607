"""Table 2: beta of FedFix."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import FEDFIX, entry
from boundcheck.papers.async_fl._times import (
    chance,
    d_i,
)
from boundcheck.theory.statement import Belief

BEST = "corrected"

STATEMENTS = (
    entry(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="beta = 0 for all update times by d (1 - P), P the chance that the client arrives within a round",
            why="Independence of the clients gives alpha = 1 and no more: the variance of a weight is d^2 P (1 - P), "
            "that is q d (1 - P).",
            remark="For clients that are alike; in general beta is the largest d_i (1 - P_i), 0 for fixed times.",
        ),
        FEDFIX,
        "beta",
        d_i * (1 - chance),
    ),
    entry(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="Right for fixed update times, if the largest d_i - alpha q_i is taken over clients that can take "
            "part. For random ones it is false.",
        ),
        FEDFIX,
        "beta",
        sp.S.Zero,
    ),
)
