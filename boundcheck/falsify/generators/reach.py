"""Whether the search over runs covers a statement, and if not, all that is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from boundcheck.errors import Unsupported
from boundcheck.evidence.constant_claims import constant_of
from boundcheck.setting.user_constants import is_library
from boundcheck.theory.quantities import PROOF_QUANTITIES
from boundcheck.theory.statement import Kind

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement


def not_covered(
    statement: Statement, quantities: Sequence[str], form: str = "", *, fits: bool = True, prescribing: bool = False
) -> list[str]:
    """Why a generator does not serve a statement, each reason as the end of a sentence; empty if it does.

    quantities: metrics that the generator covers. form: in which form, such as "after one round"; fits: whether the
    statement has it. prescribing: whether the generator takes the step size that a statement prescribes.
    """
    quantity, constant = statement.metric.quantity, constant_of(statement)
    if statement.kind is Kind.FORMULA:
        return ["is a formula without another side, which no numbers and no run can break"]
    if constant is not None:
        return [f"is about the constant {constant}; the search covers upper bounds on runs of a method"]
    if quantity in PROOF_QUANTITIES:
        return [f"is about '{quantity}', a quantity of its proof that no run measures"]
    found: list[str] = []
    if statement.kind is not Kind.UPPER_BOUND:
        found.append(f"is of the kind '{statement.kind.value}'; the search covers upper bounds")
    if statement.choices and not prescribing:
        chosen = ", ".join(dict(statement.choices))
        found.append(f"prescribes {chosen}; the search covers statements about any step size")
    covered = f"the search covers {', '.join(quantities)}{f' {form}' if form else ''} for this method"
    if quantity not in quantities:
        found.append(f"bounds {quantity}; {covered}")
    elif not fits:
        found.append(f"bounds {quantity} in another form; {covered}")
    return found


def undecided_hypotheses(statement: Statement, decided: Iterable[str]) -> list[str]:
    """The reason that some hypotheses of the statement are none of those that a generator decides on its instances."""
    own = set(decided)
    lacking = [a.name for a in statement.assumptions if not (a.name in own and is_library(a))]
    return [f"assumes {', '.join(lacking)}, which the search does not decide on its instances"] if lacking else []


def one_step(steps: Sequence[str]) -> list[str]:
    """The reason that a statement has none or several step sizes, the only numbers of a method that a search varies."""
    if len(steps) == 1:
        return []
    return [f"has {' and '.join(steps) or 'no step size'} among its parameters; the search needs exactly one step size"]


def refuse(statement: Statement, reasons: Sequence[str]) -> None:
    """Raise Unsupported with all reasons in one message; nothing happens without any."""
    if reasons:
        raise Unsupported(f"{statement.best_id} {'. It also '.join(reasons)}.")
