"""Whether the search over runs covers a statement, and if not, what the statement is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from boundcheck.errors import Unsupported
from boundcheck.evidence.constant_claims import constant_of
from boundcheck.theory.quantities import PROOF_QUANTITIES
from boundcheck.theory.statement import Kind

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement


def check_searchable(
    statement: Statement, quantities: Sequence[str], form: str = "", *, fits: bool = True, prescribing: bool = False
) -> None:
    """Raise Unsupported if a generator does not serve a statement; the message says what the statement is about.

    quantities: metrics that the generator covers. form: in which form, such as "after one round"; fits: whether the
    statement has it. prescribing: whether the generator takes the step size that a statement prescribes.
    """
    name, quantity = statement.best_id, statement.metric.quantity
    constant = constant_of(statement)
    if statement.kind is Kind.FORMULA:
        raise Unsupported(f"{name} is a formula without another side, which no numbers and no run can break.")
    if constant is not None:
        raise Unsupported(
            f"{name} is about the constant {constant}; the search covers upper bounds on runs of a method."
        )
    if quantity in PROOF_QUANTITIES:
        raise Unsupported(f"{name} is about '{quantity}', a quantity of its proof that no run measures.")
    if statement.kind is not Kind.UPPER_BOUND:
        raise Unsupported(f"{name} is of the kind '{statement.kind.value}'; the search covers upper bounds.")
    if statement.choices and not prescribing:
        chosen = ", ".join(dict(statement.choices))
        raise Unsupported(f"{name} prescribes {chosen}; the search covers statements about any step size.")
    covered = f"the search covers {', '.join(quantities)}{f' {form}' if form else ''} for this method"
    if quantity not in quantities:
        raise Unsupported(f"{name} bounds {quantity}; {covered}.")
    if not fits:
        raise Unsupported(f"{name} bounds {quantity} in another form; {covered}.")
