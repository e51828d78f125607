"""Where each reading stands: its status in a word, computed from all evidence, what it rests on, what bears it out.

A derivation may cite other readings. What is wrong with one of these (refuted, violated, not derived, not checked)
carries over to everything that cites it, directly or through others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from boundcheck.errors import BadInput
from boundcheck.evidence.shipped_files import claims_by_id, violating_witnesses
from boundcheck.proof.records import NOT_CHECKED, Record, record
from boundcheck.theory.discovery import statement as statement_of
from boundcheck.theory.statement import Belief
from boundcheck.verdict import Outcome
from boundcheck.verify.boundcheck_verify import plain

if TYPE_CHECKING:
    from pathlib import Path

    from boundcheck.theory.statement import Statement


class Word(StrEnum):
    """The status of a reading in a word, from the evidence alone; what the project believes is kept apart from it."""

    CONTRADICTORY = "CONTRADICTORY"  # derived and violated: one of the two is wrong
    VIOLATED = "VIOLATED"  # a counterexample in scope breaks it
    PROVED = "PROVED"  # the verifier accepts its record, and those of all that it cites
    GAP = "RESTS ON A GAP"  # its derivation cites what is refuted, not derived or not checked
    PROOF_REFUTED = "PROOF REFUTED"  # a step of its derivation is refuted; the statement may be true
    NO_SCALING = "UNITS DISAGREE"  # the sides have different dimensions
    HOLDS = "HOLDS WHERE TRIED"  # claims about it hold
    VACUOUS = "VACUOUS WHERE TRIED"  # claims about it say nothing
    UNDECIDED = "UNDECIDED"  # claims or a derivation leave it open
    UNTESTED = "NOT TESTED"  # no evidence


@dataclass(frozen=True)
class Gap:
    """A reading on which another rests and which is not proved. state: "refuted", "not derived", ...; via: the path."""

    id: str
    state: str
    via: tuple[str, ...] = ()

    def __str__(self) -> str:
        through = f" (through {' and '.join(self.via)})" if self.via else ""
        return f"rests on {self.id}{through}, which is {self.state}"


@dataclass(frozen=True)
class Standing:
    """Status of a reading. sentence: how it is known; gaps: what it rests on and is not proved."""

    id: str
    word: Word
    sentence: str
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True)
class Known:
    """The evidence from which standings follow.

    records: id -> record of the derivation, for those that have one. violations: id -> how it is violated, a sentence.
    claims: id -> outcome -> number of claims. inconsistent: ids in which units disagree.
    """

    records: Mapping[str, Record]
    violations: Mapping[str, str]
    claims: Mapping[str, Mapping[str, int]]
    inconsistent: frozenset[str] = frozenset()

    def cites(self, id: str) -> tuple[str, ...]:
        """The readings on whose derivations that of `id` rests."""
        found = self.records.get(id)
        return () if found is None else found.cites

    def cited_by(self, id: str) -> tuple[str, ...]:
        """The readings whose derivations cite `id`, sorted."""
        return tuple(sorted(other for other, found in self.records.items() if id in found.cites))

    def state(self, id: str) -> str:
        """What is wrong with a reading that is cited, without what it rests on in turn; "" where nothing is."""
        found = self.records.get(id)
        if id in self.violations:
            return "refuted (a counterexample breaks it)"
        if found is None:
            return "not derived"
        if found.proved:
            return ""
        return {"REFUTED": "refuted", NOT_CHECKED: "not checked"}.get(found.status, "not proved")

    def gaps(self, id: str) -> tuple[Gap, ...]:
        """Everything on which a reading rests and which is not proved, nearest first; a circle is walked once."""
        found: dict[str, Gap] = {}
        seen = {id}
        waiting: list[tuple[str, tuple[str, ...]]] = [(other, ()) for other in self.cites(id)]
        while waiting:
            other, via = waiting.pop(0)
            if other in seen:
                continue
            seen.add(other)
            state = self.state(other)
            if state:
                found[other] = Gap(other, state, via)
            waiting += [(further, (*via, other)) for further in self.cites(other)]
        return tuple(found.values())

    def standing(self, id: str) -> Standing:
        """The status of one reading; violations count more than proofs, proofs more than claims."""
        gaps = self.gaps(id)
        word, sentence = self._judged(id, gaps)
        return Standing(id, word, sentence, gaps)

    def _judged(self, id: str, gaps: Sequence[Gap]) -> tuple[Word, str]:
        found, violated = self.records.get(id), self.violations.get(id, "")
        if violated:
            if found is not None and found.proved and not gaps:
                return Word.CONTRADICTORY, f"Its derivation is PROVED, but it is violated: {violated}"
            return Word.VIOLATED, violated
        if found is not None and gaps:
            return Word.GAP, f"It {'; it '.join(map(str, gaps))}."
        if found is not None and found.proved:
            return Word.PROVED, f"The verifier accepts its proof of {found.lines} lines. {rests_words(found)}"
        if found is not None and found.status == "REFUTED":
            return Word.PROOF_REFUTED, f"The derivation fails at {', '.join(found.refuted_at)}, at given exact values."
        if id in self.inconsistent:
            return Word.NO_SCALING, "Its sides have different dimensions, as declared."
        outcomes = self.claims.get(id, {})
        for outcome, word in ((Outcome.HOLDS, Word.HOLDS), (Outcome.VACUOUS, Word.VACUOUS)):
            if outcomes.get(outcome.value):
                return word, _claims(outcomes)
        if outcomes or found is not None:
            return Word.UNDECIDED, _claims(outcomes) if found is None else f"Its derivation is {found.status.lower()}."
        return Word.UNTESTED, "It is encoded; nothing was derived, run or searched."


def _claims(outcomes: Mapping[str, int]) -> str:
    counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(outcomes.items()))
    return f"Claims about runs: {counts}."


def collected(ids: Iterable[str], results: Mapping[str, Mapping[str, int]], broken: Mapping[str, str]) -> Known:
    """The evidence on these readings, and on all that their derivations cite.

    Records and witnesses that come with boundcheck, and what the shipped claims expect; `results` (id -> outcome ->
    count) replaces the latter for readings with claims that were carried out, `broken` adds sentences on violations.
    """
    records: dict[str, Record] = {}
    inconsistent: set[str] = set()
    waiting, seen = list(ids), set[str]()
    while waiting:
        id = waiting.pop()
        if id in seen:
            continue
        seen.add(id)
        try:
            if statement_of(id).dimension_errors():
                inconsistent.add(id)
        except BadInput:  # cited, and no statement at all: it stays "not derived"
            continue
        found = record(id)
        if found is not None:
            records[id] = found
            waiting += found.cites
    violations = dict(broken)
    for id, reason in violating_witnesses().items():
        violations.setdefault(id, f"{reason} (a kept counterexample)")
    claims = {**claims_by_id(), **results}
    for id, outcomes in claims.items():
        count = outcomes.get(Outcome.VIOLATED.value, 0)
        if count:
            violations.setdefault(id, f"{count} {'claim' if count == 1 else 'claims'} about runs violated.")
    return Known(records, violations, claims, frozenset(inconsistent))


def grounds(
    statement: Statement, derived: Record | None, witnesses: Mapping[str, Path], claims: Mapping[str, Mapping[str, int]]
) -> tuple[str, ...]:
    """The kinds of evidence that bear out what is believed of a reading; empty without any, and for an open reading.

    A reading is shown false by a "witness", a "violated claim", a "refuted derivation" or a "dimension clash", and is
    borne out as true by a "claim that holds" (a vacuous one does not) or a "proved derivation". derived: what is on
    record of its derivation. witnesses, claims: see `evidence.shipped_files`.
    """
    own = claims.get(statement.id, {})
    found: dict[str, bool] = {}
    if statement.belief is Belief.FALSE:
        found = {
            "witness": statement.id in witnesses,
            "violated claim": own.get(Outcome.VIOLATED.value, 0) > 0,
            "refuted derivation": derived is not None and derived.status == "REFUTED",
            "dimension clash": bool(statement.dimension_errors()),
        }
    elif statement.belief is Belief.TRUE:
        found = {
            "claim that holds": own.get(Outcome.HOLDS.value, 0) > 0,
            "proved derivation": derived is not None and derived.proved,
        }
    return tuple(kind for kind, there in found.items() if there)


def lacks_grounds(statement: Statement, found: tuple[str, ...]) -> bool:
    """Whether a reading is believed true or false without any evidence; an open one needs none."""
    return statement.belief is not Belief.OPEN and not found


RESTS_ON = "Rests on"  # how the last sentence of `derivation_words` begins

# How what a proof rests on begins, by weight, and what one of these and several are called.
RESTS = (
    ("the cited result ", "result taken from elsewhere", "results taken from elsewhere"),
    ("the transcribed assumption ", "assumption of the paper", "assumptions of the paper"),
    ("the transcribed algorithm ", "fact transcribed from the algorithm", "facts transcribed from the algorithm"),
    ("the transcribed metric ", "fact transcribed from the metric", "facts transcribed from the metric"),
    ("the transcribed ", "other transcribed fact", "other transcribed facts"),
    ("the law ", "law of draws", "laws of draws"),
    ("the generated ", "generated fact", "generated facts"),
    ("the record ", "other result (proved)", "other results (all proved)"),
    ("", "reading of a name", "readings of names"),
)


def derivation_words(id: str) -> str:
    """What the record of a derivation says, such as "PROVED, 19 lines, verified. Rests on ..."; "" without one."""
    found = record(id)
    if found is None:
        return ""
    if found.status == NOT_CHECKED:
        return f"{NOT_CHECKED}: {found.reason}"
    if found.proved:
        return f"PROVED, {found.lines} lines, verified. {rests_words(found)}"
    cited = {step: f"REFUTED at {step}, which cites {reading}" for step, reading in found.inherited.items()}
    named = "; ".join([*cited.values(), *(f"{s} at {step}" for step, s in found.failing.items() if step not in cited)])
    if not named or len(named) > 200:
        named = f"{found.status}, {len(found.failing)} of {sum(found.counts.values())} steps are not proved"
    shows = "".join(
        f" `boundcheck derive {reading}` shows its refuted steps."
        for reading in dict.fromkeys(found.inherited.values())
    )
    return f"not proved: {named}.{shows} {rests_words(found)}".rstrip()


def rests_words(found: Record) -> str:
    """What a proof rests on, counted by weight, in a sentence; "" for nothing."""
    words = [words for words, _ in rests_groups(found.rests)]
    return f"{RESTS_ON} {', '.join(words)}." if words else ""


def rests_groups(rests: Iterable[str]) -> list[tuple[str, list[str]]]:
    """What a proof rests on by kind, the heaviest first: how many of a kind, in words, and each of them."""
    groups: dict[int, list[str]] = {}
    for rest in rests:
        row = next(k for k, (begin, *_) in enumerate(RESTS) if rest.startswith(begin))
        groups.setdefault(row, []).append(plain(rest.removeprefix(RESTS[row][0])))
    return [(f"{len(own)} {RESTS[k][1 if len(own) == 1 else 2]}", own) for k, own in sorted(groups.items())]


@dataclass(frozen=True)
class Evidence:
    """What one kind of evidence says of one reading.

    word: for the table. tone: "good", "bad", "open" or "none", the class of its colour; text: a sentence; command:
    what computes it again ("": none); links: (words, page) pairs; groups: with what the sentence ends, and what each
    of these counts.
    """

    word: str
    tone: str
    text: str
    command: str = ""
    links: tuple[tuple[str, str], ...] = ()
    groups: tuple[tuple[str, list[str]], ...] = ()


@dataclass(frozen=True)
class Sources:
    """What the kinds read. claims: the claims of the report's data; witnesses: id -> file of a kept counterexample."""

    known: Known
    claims: Sequence[Mapping[str, Any]] = ()
    witnesses: Mapping[str, Path] | None = None


@dataclass(frozen=True)
class Kind:
    """A column. of: the evidence on a reading; None if there is none."""

    name: str
    meaning: str
    of: Callable[[Statement, Sources], Evidence | None]
