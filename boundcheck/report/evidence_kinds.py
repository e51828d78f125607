"""The kinds of evidence that the catalogue shows, one column each: those of this table, and those of providers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundcheck.core import providers
from boundcheck.evidence.shipped_files import names_of_claims
from boundcheck.evidence.standing import RESTS_ON, Evidence, Kind, Sources, derivation_words, rests_groups

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement


def _derivation(reading: Statement, sources: Sources) -> Evidence | None:
    found = sources.known.records.get(reading.id)
    if found is None:
        return None
    gaps = sources.known.gaps(reading.id)
    word = "gap" if found.proved and gaps else found.status.lower()
    tone = "good" if found.proved and not gaps else "bad" if found.status == "REFUTED" else "open"
    text, command = derivation_words(reading.id), f"boundcheck derive {reading.id}"
    return Evidence(word, tone, text, command, groups=tuple(rests_groups(found.rests)) if RESTS_ON in text else ())


def _counterexample(reading: Statement, sources: Sources) -> Evidence | None:
    if reading.id not in (sources.witnesses or {}):
        return None
    text = sources.known.violations.get(reading.id, "")
    return Evidence("broken", "bad", text, f"boundcheck replay {reading.id}")


_TONES = {"HOLDS": "good", "VIOLATED": "bad", "FAILED": "bad"}


def _claims(reading: Statement, sources: Sources) -> Evidence | None:
    own = [c for c in sources.claims if c["statement"]["id"] == reading.id]
    outcomes: dict[str, int] = {}
    for claim in own:
        outcomes[claim["verdict"]["outcome"]] = outcomes.get(claim["verdict"]["outcome"], 0) + 1
    kept = sources.known.claims.get(reading.id, {}) if not own else {}
    counts = outcomes or dict(kept)
    if not counts:
        return None
    words = ", ".join(f"{count} {name.lower().replace('_', ' ')}" for name, count in sorted(counts.items()))
    where = "of this report" if own else "that come with boundcheck"
    command = "" if own else " ".join(("boundcheck check", *names_of_claims(reading.id)))
    worst = next((o for o in ("VIOLATED", "FAILED", "HOLDS") if o in counts), "")
    links = tuple((f"{c['label']}: {c['verdict']['outcome'].replace('_', ' ')}", c["page"]) for c in own)
    return Evidence(words, _TONES.get(worst, "open"), f"Claims {where}: {words}.", command, links)


def _dimensions(reading: Statement, sources: Sources) -> Evidence | None:
    errors = reading.dimension_errors()
    if errors:
        return Evidence("units disagree", "bad", " ".join(errors))
    if reading.metric.dimension is None:
        return None
    return Evidence("units agree", "good", "All sides have the same dimension.")


KINDS: tuple[Kind, ...] = (
    Kind("derivation", "the proof, checked step by step by machine", _derivation),
    Kind("counterexample", "found by search, kept, and run again in exact arithmetic", _counterexample),
    Kind("runs", "claims: the bound held against runs of the method", _claims),
    Kind("dimensions", "whether the declared units of both sides agree", _dimensions),
)


def kinds() -> tuple[Kind, ...]:
    """All kinds: those above, then those that other rooms register."""
    provided = (providers.load(providers.EVIDENCE, name).KIND for name in providers.names(providers.EVIDENCE))
    return (*KINDS, *provided)
