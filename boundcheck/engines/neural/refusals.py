"""What the neural engine does not carry, by name."""

from __future__ import annotations

from boundcheck.engines.sampled.lowering import Lowered
from boundcheck.errors import Unsupported
from boundcheck.problems.problem import Problem

__all__ = ["ELSEWHERE", "check_method", "refuse_problem"]

# metrics of a round that other engines have
ELSEWHERE = {
    "drift": "exact",
    "momentum_error2": "exact",
    "round_gap": "exact",
    "virtual_round_gap": "exact",
    "virtual_gap": "exact",
    "virtual_grad2": "exact",
    "inexactness": "sampled",
}


def check_method(lowered: Lowered) -> None:
    """Raises Unsupported for local work that asks for exact minimisers."""
    if lowered.sampling == "exact":
        raise Unsupported(
            f"engine = 'neural' does not carry out {lowered.method.name} with exact local solves, since a network has "
            "no minimiser in closed form; give it local steps (E, eta), or take engine = 'sampled' where that carries "
            "the problem."
        )


def refuse_problem(problem: Problem) -> Unsupported:
    """The error for a problem without labelled samples."""
    return Unsupported(
        f"engine = 'neural' trains models on labelled samples, which the problem '{problem.name}' does not have; take "
        "engine = 'exact' or engine = 'sampled'."
    )
