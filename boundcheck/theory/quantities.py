"""Quantities that occur in proofs alone: what some lemmas bound and no run of a method measures."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from boundcheck.errors import BadInput

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement


PROOF_QUANTITIES: Mapping[str, str] = MappingProxyType(
    {
        "direction_error2": "squared distance of an epoch's direction from the gradient of f",
        "epoch_error2": "squared distance of an epoch's mean gradient from the gradient at its start",
        "inverse_of_1_minus_A": "the factor 1/(1 - A) of the proof",
        "largest_constraint": "the largest left side of the proof's step conditions, scaled to right sides of 1",
        "limsup": "limit superior of a sequence of numbers that satisfies a recursion, times its rate",
        "norm2_of_deviation": "squared distance of a vector from its mean over the clients",
        "norm2_of_product": "squared norm of a matrix times a vector",
        "norm2_of_sum": "squared norm of a sum of vectors",
        "participation_variance": "variance of a sum over a random cohort",
        "perturbed_inner_product": "inner product of a gradient at one point with the difference of two others",
        "psi": "weighted mean of the increments of a recursion",
        "sampling_variance": "variance of a mean of vectors drawn without replacement",
        "summed_epoch_drift2": "squared distances of the starts of the epochs of a round from its start, summed",
        "visit_drift": "mean squared distance of the local iterates of a visit from its start",
        "visit_error2": "squared distance of a visit's mean gradient from the client's gradient at its start",
        "visit_shortfall": "what a visit's mean gradient lacks of the client's progress towards the minimiser",
        "upper_model": "quadratic upper model of f at the point of one device",
    }
)


# The group of keys whose values change from round to round: a run computes them, beside the metric.
OF_A_ROUND = "round/"


def round_symbols(statement: Statement) -> dict[str, str]:
    """The symbols whose values a run computes round by round: symbol -> key; none in a claim about numbers."""
    if statement.metric.value is not None:
        return {}
    return {s.name: s.key for s in statement.symbols if s.key.startswith(OF_A_ROUND)}


def check_measurable(statement: Statement) -> None:
    """Raises BadInput for a statement that no run can be compared with: a formula, or a bound on a proof's quantity."""
    from boundcheck.theory.statement import Kind

    if statement.kind is Kind.FORMULA:
        raise BadInput(f"{statement.best_id} is a formula, not a claim about a run; use `boundcheck evaluate`.")
    quantity = statement.metric.quantity
    if quantity in PROOF_QUANTITIES and statement.metric.value is None:
        raise BadInput(
            f"{statement.best_id} is about '{quantity}', a quantity of its proof that no run measures "
            f"({PROOF_QUANTITIES[quantity]}); use `boundcheck evaluate` for its bound."
        )


def is_measured(statement: Statement) -> bool:
    """Whether a statement bounds what a run measures, and neither numbers, a constant nor a quantity of a proof."""
    quantity = statement.metric.quantity
    if statement.metric.value is not None:
        return False
    about_runs = quantity not in PROOF_QUANTITIES and not quantity.startswith("constant:")
    return about_runs and statement.kind.value != "formula"
