"""The remark below Definition 2: B(w) = 1 for homogeneous devices."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.feddane._shared import PAPER, Reading
from boundcheck.theory.assumptions import Assumption, iid_clients
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement

BEST = "corrected"

_IID = Assumption("iid_data", "All devices draw their samples from one distribution.")


def _statement(reading: Reading, assumption: Assumption) -> Statement:
    return Statement(
        source=Source(PAPER, "Definition 2", "Section IV, the remark below it"),
        reading=reading.name,
        title="Homogeneous devices have the dissimilarity B(w) = 1",
        symbols=(),
        metric=Metric("constant:B2_0", ONE, expectation="none: it is a constant of the devices and the point"),
        bound=sp.S.One,
        kind=Kind.EQUALITY,
        assumptions=(assumption,),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="'i.i.d. data' by 'the same objective on every device'",
            why="Only equal gradients give B = 1; samples of one distribution make them equal as their number grows.",
        ),
        iid_clients,
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="Finite samples of one distribution differ, so that B(w) > 1, and B(w) grows without bound where "
            "grad f vanishes.",
        ),
        _IID,
    ),
)
