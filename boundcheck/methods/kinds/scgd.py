"""SCGD, and the methods with which its paper compares it."""

from __future__ import annotations

from boundcheck.methods import parameters as p
from boundcheck.methods.kind import AnyOf, Form, Part, anything, kind
from boundcheck.methods.parts import Cyclic, Epochs, Full, GradientSteps, Participation, SumOne, Uniform

PAPER = (
    'S. Ma, "Semi-Cyclic Gradient Descent Outperforms Federated Averaging with Sufficiently Small Learning Rate", 2020'
)


def _cohort(size: int | None) -> dict[str, Participation]:
    return {"participation": Full() if size is None else Uniform(size)}


_E = p.E.but(sentence="local steps with the whole gradient", allowed=p.COUNT, read=p.count, default=p.NEEDED)
_ORDER = p.Parameter(
    "order", "order of the visits", "a permutation of 0..n-1, by default the natural one", default=None,
    annotation="Sequence[int] | None",
)  # fmt: skip
_SIZE = p.Parameter("size", "clients a round, drawn uniformly", f"{p.COUNT}; by default all", p.count, default=None)
_STEPS = (p.ETA_OR, p.ETA0, p.PER_CYCLE)

KINDS = {
    "scgd": kind(
        "SCGD: one device a round in a fixed order, E full local gradient steps each, no averaging.",
        (PAPER, "Algorithm 1"),
        Form(Cyclic, GradientSteps),
        (_E, _ORDER, p.ETA_OR, p.ETA0, p.ELL, p.HORIZON),
        lambda order: {"participation": Cyclic(None if order is None else tuple(order))},
    ),
    "fedavg": kind(
        """FedAvg with E full local gradient steps; the clients of a cohort count alike, as in this paper.

        `fedavg_weighted` weighs them by their data.
        """,
        (PAPER, "Section 2; Appendix C"),
        Form(Full, GradientSteps),
        (_E, _SIZE, *_STEPS, p.ELL, p.HORIZON, *p.SGD),
        _cohort,
    ),
    "fedavg_reshuffled": kind(
        """FedAvg with E reshuffled local epochs; the clients of a cohort count alike.

        A run with random epochs is no instance of the kind.
        """,
        (PAPER, "Section 2, with local epochs"),
        Form(AnyOf(Full, Uniform), Part(Epochs, E=AnyOf(int, tuple), batch=anything)),
        (p.E, p.BATCH, _SIZE, *_STEPS, *p.SGD),
        _cohort,
    ),
    "gradient_descent": kind(
        "Gradient descent x <- x - eta grad F(x), F = sum of w_i f_i: clients count by their weights.",
        ("the gradient method; no single paper", ""),
        Form(Full, GradientSteps(1), aggregation=SumOne()),
        (p.ETA_OR, p.ETA0),
    ),
}
