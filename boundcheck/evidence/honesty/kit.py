"""The kit: true claims, false ones with a counterexample, and claims whose hypotheses contradict each other.

The true claims stand in `kit.toml`. A false one is a true one with one place changed (`changes`), its direction turned
or a hypothesis dropped. It counts as false only with an exact counterexample, which `kit_false.json` keeps. A
contradictory one has the opposite of one of its hypotheses as a further hypothesis.
"""

from __future__ import annotations

import json
import random
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import sympy as sp

from boundcheck.errors import BoundcheckError
from boundcheck.evidence.honesty import notation
from boundcheck.evidence.honesty.changes import HYPOTHESIS, changes
from boundcheck.evidence.honesty.points import search
from boundcheck.evidence.honesty.processor import processor_seconds
from boundcheck.proof.derivation import decided
from boundcheck.proof.language import has_terms
from boundcheck.proof.step import Context, Status, Step

TRUE, FALSE, CONTRADICTORY = "true", "false", "contradictory"
CONTRADICTIONS = 30  # claims with contradictory hypotheses
FALSE_CLAIMS = 150
DIRECTION = "direction"
_HOME = Path(__file__).parent
_OPPOSITE: dict[type, Any] = {sp.Le: sp.Gt, sp.Lt: sp.Ge, sp.Ge: sp.Lt, sp.Gt: sp.Le}
_REVERSED: dict[type, Any] = {sp.Le: sp.Ge, sp.Lt: sp.Gt, sp.Ge: sp.Le, sp.Gt: sp.Lt}


def _nothing() -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Claim:
    """One claim of the kit.

    truth: TRUE, FALSE or CONTRADICTORY; given: name -> hypothesis; index: ranges of the index; by: the method; change:
    how a false claim was made; counterexample: values of everything that it mentions.
    """

    name: str
    truth: str
    claim: Any
    given: dict[str, Any]
    index: tuple[Any, ...]
    by: Any
    change: str = ""
    counterexample: dict[str, Any] = field(default_factory=_nothing)

    @property
    def scalar(self) -> bool:
        """Whether neither the claim nor a hypothesis speaks of vectors."""
        return not any(has_terms(p) for p in (self.claim, *self.given.values()))

    def text(self) -> str:
        """The claim and its hypotheses."""
        return "; ".join([str(self.claim), *(f"{k}: {g}" for k, g in self.given.items())])


def true_claims() -> list[Claim]:
    """The claims of `kit.toml`, one for each value of their constant."""
    found: list[Claim] = []
    for entry in tomllib.loads((_HOME / "kit.toml").read_text())["claim"]:
        for value in entry.get("values", [""]):

            def put(text: str, value: str = value) -> str:
                return text.replace("{c}", f"({value})")

            given = {f"h{k}": notation.relation(put(g)) for k, g in enumerate(entry.get("given", ()), start=1)}
            found.append(
                Claim(
                    f"{entry['name']} {value}".strip(),
                    TRUE,
                    notation.relation(put(entry["claim"])),
                    given,
                    tuple(notation.relation(i) for i in entry.get("index", ())),
                    notation.method(put(entry.get("method", "decide"))),
                )
            )
    return found


def changed(claim: Claim) -> Iterator[Claim]:
    """All claims that differ from a true one in one place of the claim or in one hypothesis."""
    for kind, after in changes(claim.claim):
        if after not in (sp.true, sp.false) and after != claim.claim:
            yield replace(claim, truth=FALSE, claim=after, change=kind)
    if type(claim.claim) in _REVERSED:
        turned = _REVERSED[type(claim.claim)](*claim.claim.args, evaluate=False)
        yield replace(claim, truth=FALSE, claim=turned, change=DIRECTION)
    for name in claim.given:
        rest = {k: g for k, g in claim.given.items() if k != name}
        yield replace(claim, truth=FALSE, given=rest, change=HYPOTHESIS)


def false_claims() -> list[Claim]:
    """The claims of `kit_false.json` with their counterexamples."""
    by_name = {c.name: c for c in true_claims()}
    found: list[Claim] = []
    for entry in json.loads((_HOME / "kit_false.json").read_text()):
        fits = (c for c in changed(by_name[entry["name"]]) if c.text() == entry["text"] and c.change == entry["change"])
        found.append(replace(next(fits), counterexample=entry["counterexample"]))
    return found


def search_false(tries: int = 150) -> list[dict[str, Any]]:
    """Entries of `kit_false.json`: changed claims with a counterexample, evenly over the claims and kinds of change."""
    used: Counter[str] = Counter()
    pools: list[list[dict[str, Any]]] = []
    for claim in true_claims():
        pool: list[dict[str, Any]] = []
        for one in changed(claim):
            if any(e["change"] == one.change for e in pool):
                continue
            point = search(one.claim, list(one.given.values()), random.Random(one.text()), tries)
            if point is not None:
                pool.append({"name": one.name, "change": one.change, "text": one.text(), "counterexample": point})
        pools.append(pool)
    found: list[dict[str, Any]] = []
    while any(pools) and len(found) < FALSE_CLAIMS:
        for pool in pools:
            if pool and len(found) < FALSE_CLAIMS:
                entry = min(pool, key=lambda e: used[e["change"]])
                pool.remove(entry)
                used[entry["change"]] += 1
                found.append(entry)
    return found


def false_text() -> str:
    """The content of `kit_false.json`, searched anew: one claim a line, the same in every run."""
    return "[\n" + ",\n".join(json.dumps(entry) for entry in search_false()) + "\n]\n"


def contradictory_claims() -> list[Claim]:
    """True claims, evenly over the kit, each with the opposite of its first inequality as one more hypothesis."""
    found: list[Claim] = []
    for claim in true_claims():
        first = next((g for g in claim.given.values() if type(g) in _OPPOSITE), None)
        if first is not None:
            opposite = _OPPOSITE[type(first)](*first.args, evaluate=False)
            found.append(replace(claim, truth=CONTRADICTORY, given={**claim.given, "opposite": opposite}))
    return found[:: max(1, len(found) // CONTRADICTIONS)][:CONTRADICTIONS]


def kit() -> list[Claim]:
    """All claims."""
    return [*true_claims(), *false_claims(), *contradictory_claims()]


@dataclass(frozen=True)
class Decision:
    """What the kernel says of a claim, with the processor time that it took."""

    claim: Claim
    status: Status
    seconds: float

    @property
    def wrong(self) -> bool:
        """PROVED though false or contradictory, or REFUTED though true."""
        bad = Status.REFUTED if self.claim.truth == TRUE else Status.PROVED
        return self.status is bad

    @property
    def right(self) -> bool:
        """Whether the status is the one that the claim deserves."""
        deserved = {TRUE: Status.PROVED, FALSE: Status.REFUTED, CONTRADICTORY: Status.VACUOUS}
        return self.status is deserved[self.claim.truth]


def decide_claim(claim: Claim, seconds: float = 5.0) -> Decision:
    """Decide a claim as a step of a derivation is decided."""
    ranges = tuple((r.lhs, r) for r in claim.index)
    setting = Context(integers=notation.INTEGERS, ranges=ranges, seconds=seconds)
    step = Step(claim.name, claim.claim, tuple(claim.given), claim.by, "")
    start = processor_seconds()
    try:
        status = decided(step, claim.given, setting, {}).status
    except BoundcheckError:  # a rule that the claim does not fit
        status = Status.UNDECIDED
    return Decision(claim, status, processor_seconds() - start)


def decide_all(claims: Iterable[Claim], show: Callable[[int], None]) -> list[Decision]:
    """Decide all claims, one after another."""
    found: list[Decision] = []
    for claim in claims:
        found.append(decide_claim(claim))
        show(len(found))
    return found


def figures(decisions: list[Decision]) -> list[list[str]]:
    """Rows: truth, scalar or vector, claims, decided rightly, undecided, wrong, median processor seconds."""
    rows: list[list[str]] = []
    for truth in (TRUE, FALSE, CONTRADICTORY):
        for scalar in (True, False):
            part = [d for d in decisions if d.claim.truth == truth and d.claim.scalar is scalar]
            if part:
                right, wrong = sum(d.right for d in part), sum(d.wrong for d in part)
                rest = len(part) - right - wrong
                times = f"{median(d.seconds for d in part):.3f}"
                kind = "scalar" if scalar else "vector"
                rows.append([truth, kind, str(len(part)), str(right), str(rest), str(wrong), times])
    return rows
