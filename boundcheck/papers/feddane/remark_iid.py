"""The remark below Definition 2: B(w) = 1 for homogeneous devices."""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Definition 2", "Section IV, the remark below it"),
    title="Homogeneous devices have the dissimilarity B(w) = 1",
    symbols=(),
    metric=Metric("constant:start/B2", ONE, expectation="none: it is a constant of the devices and the point"),
    kind=Kind.EQUALITY,
    bound=sp.S.One,
    readings={
        "corrected": Reading(
            belief=Belief.TRUE,
            assumptions=(iid_clients,),
            replaces="'i.i.d. data' by 'the same objective on every device'",
            why="Only equal gradients give B = 1; samples of one distribution make them equal as their number grows.",
        ),
        "as_printed": Reading(
            belief=Belief.FALSE,
            assumptions=(Assumption("iid_data", "All devices draw their samples from one distribution."),),
            remark="Finite samples of one distribution differ, so that B(w) > 1, and B(w) grows without bound where "
            "grad f vanishes.",
        ),
    },
)
