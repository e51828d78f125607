"""Which quantities a run of a method measures, and which occur in proofs alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundcheck.errors import BadInput
from boundcheck.theory.declarations import OF_A_ROUND, PROOF_QUANTITIES, Kind

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement


def round_symbols(statement: Statement) -> dict[str, str]:
    """The symbols whose values a run computes round by round: symbol -> key; none in a claim about numbers."""
    if statement.metric.value is not None:
        return {}
    return {s.name: s.key for s in statement.symbols if s.key.startswith(OF_A_ROUND)}


def check_measurable(statement: Statement) -> None:
    """Raises BadInput for a statement that no run can be compared with: a formula, or a bound on a proof's quantity."""
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
