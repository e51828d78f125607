"""Contradictory evidence: a reading that is proved for all instances and violated on one.

One of the two is wrong, so neither may be shown without the other being named first. A statement that holds on one
instance and is violated on another is no contradiction, nor is a derivation that is refuted at a step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from boundcheck.evidence.shipped_files import claims_by_id, shipped_witnesses, violating_witnesses
from boundcheck.theory.discovery import is_registered, statement
from boundcheck.verdict import Outcome

if TYPE_CHECKING:
    from boundcheck.evidence.claim_result import ClaimResult


@dataclass(frozen=True)
class Contradiction:
    """A reading with a complete derivation, and what shows it violated within its scope.

    statement: full id; against: witnesses and claims, in words.
    """

    statement: str
    against: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"CONTRADICTORY EVIDENCE on {self.statement}: its derivation is PROVED, but it is VIOLATED in scope "
            f"by {' and '.join(self.against)}. One of the two is wrong."
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {"statement": self.statement, "against": list(self.against), "sentence": str(self)}


def contradictions(ids: Iterable[str], results: Sequence[ClaimResult] = ()) -> tuple[Contradiction, ...]:
    """The readings among `ids` and the statements of `results` on which the evidence contradicts itself, sorted.

    ids: full ids, or bare ones for the best reading. results: claims that were carried out; one about a curve from
    outside says nothing against a proof, because the method that made the curve is unknown. The witnesses and claims
    that come with boundcheck count too. Raises UnknownName for an unknown id.
    """
    violated: dict[str, list[str]] = {}
    for result in results:
        claimed = result.claim.claimed
        if not is_registered(claimed):  # another statement than the one that is proved
            continue
        own = violated.setdefault(claimed.id, [])
        if result.verdict.outcome is Outcome.VIOLATED and result.claim.curve is None:
            own.append(f"the claim '{result.claim.label()}'")
    for id in ids:
        violated.setdefault(statement(id).id, [])
    showing = violating_witnesses()
    for id, path in shipped_witnesses().items():
        if id in violated and id in showing:
            violated[id].append(f"the shipped witness {path.name}")
    for id, outcomes in claims_by_id(violated).items():
        count = outcomes.get(Outcome.VIOLATED.value, 0)
        if count and id in violated:
            violated[id].append(f"{count} shipped {'claim' if count == 1 else 'claims'}")
    # a proof is read last, and only where something is against it: that takes longer than all the rest
    against = ((id, tuple(found)) for id, found in sorted(violated.items()) if found and _proved(id))
    return tuple(Contradiction(id, found) for id, found in against)


def _proved(id: str) -> bool:
    """Whether the verifier accepted a proof of the reading."""
    from boundcheck.proof import records  # it loads the room of proofs, which most claims need not

    found = records.record(id)
    return found is not None and found.proved
