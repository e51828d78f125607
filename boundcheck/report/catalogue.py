"""The catalogue: a page for each paper and each statement, and the table of statements against kinds of evidence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from boundcheck.core.numbers import parse_number
from boundcheck.core.svg import Node, graph
from boundcheck.errors import BoundcheckError
from boundcheck.evidence.standing import Sources, Word, collected, rests_groups
from boundcheck.proof.discovery import derivation
from boundcheck.proof.methods import cited_in
from boundcheck.proof.records import content
from boundcheck.report.evidence_kinds import kinds
from boundcheck.report.formulas import (
    NARROW,
    WIDE,
    claim_lines,
    fits_column,
    is_wide,
    markup,
    relation_pieces,
    symbol_mathml,
)
from boundcheck.report.mathtext import symbols_of
from boundcheck.report.pages import page
from boundcheck.report.pictures import bounds_picture
from boundcheck.report.playground import playground
from boundcheck.report.words import paper_page_name, pretty, shortened, statement_page_name
from boundcheck.report.worked import worked_number
from boundcheck.report.written import in_latex, letter
from boundcheck.theory.discovery import all_statements, readings
from boundcheck.theory.mathml import latex_to_mathml
from boundcheck.theory.typeset import expr_text

if TYPE_CHECKING:
    from boundcheck.theory.assumptions import Assumption
    from boundcheck.theory.statement import Statement

TONES: Mapping[str, str] = {
    **dict.fromkeys((Word.PROVED, Word.HOLDS), "good"),
    **dict.fromkeys((Word.VIOLATED, Word.CONTRADICTORY, Word.PROOF_REFUTED, Word.GAP, Word.NO_SCALING), "bad"),
    **dict.fromkeys((Word.VACUOUS, Word.UNDECIDED), "open"),
    Word.UNTESTED: "none",
}
COLOURS: Mapping[str, str] = {"good": "holds", "bad": "violated", "open": "vacuous", "none": "ink-soft"}  # of tones
DEPTH = 2  # of the graphs


class Catalogue:
    """The statements of a report with all that is known of them.

    names: "paper/statement" of those that get a page; sources: where the kinds of evidence look.
    """

    def __init__(self, names: Sequence[str], sources: Sources) -> None:
        self.names, self.sources, self.known = tuple(names), sources, sources.known
        self.readings = {name: readings(*name.split("/")) for name in self.names}
        self.down: dict[str, list[str]] = {}
        for id, record in self.known.records.items():
            own = id.rpartition("/")[0]
            cited = {other.rpartition("/")[0] for other in record.cites} - {own}
            self.down[own] = sorted(cited | set(self.down.get(own, ())))

    def data(self) -> list[dict[str, Any]]:
        """One entry a statement: page, readings with status, gaps and the words of all kinds of evidence."""
        return self._entries

    @cached_property
    def _entries(self) -> list[dict[str, Any]]:
        return [self._entry(name) for name in self.names]

    def _entry(self, name: str) -> dict[str, Any]:
        own = self.readings[name]
        return {
            "id": name,
            "page": statement_page_name(name),
            "title": own[0].title,
            "number": own[0].source.number,
            "paper": name.partition("/")[0],
            "readings": [self._reading(s) for s in own],
        }

    def _reading(self, reading: Statement) -> dict[str, Any]:
        standing = self.known.standing(reading.id)
        found = {kind.name: kind.of(reading, self.sources) for kind in kinds()}
        return {
            "id": reading.id,
            "reading": reading.reading,
            "belief": reading.belief.value,
            "status": standing.word.value,
            "tone": TONES[standing.word],
            "how": standing.sentence,
            "gaps": [str(gap) for gap in standing.gaps],
            "evidence": {k: {"word": e.word, "tone": e.tone} for k, e in found.items() if e is not None},
        }

    def pages(self, report: Mapping[str, Any]) -> dict[str, str]:
        """File name -> HTML of every page. report: the data of the report, with "catalogue" as `data` gives it."""
        entries, about = report["catalogue"], self.papers()
        shared: dict[str, Any] = {"report": report, "kinds": kinds(), "papers": about}
        found: dict[str, str] = {}
        for name, paper in about.items():
            own = [entry for entry in entries if entry["paper"] == name]
            found[paper["page"]] = page("paper", **shared, paper=paper, own=own, **self._graphs(own))
        for number, entry in enumerate(entries):
            beside = {"before": entries[number - 1] if number else None, "after": (*entries, None)[number + 1]}
            found[entry["page"]] = page("statement", **shared, **beside, **self._statement(report, entry))
        return found

    def papers(self) -> dict[str, dict[str, Any]]:
        """What the pages say of each paper: title, counts of readings by status, the statements found wrong."""
        of_paper: dict[str, list[Mapping[str, Any]]] = {}
        for entry in self.data():
            of_paper.setdefault(entry["paper"], []).append(entry)
        found: dict[str, dict[str, Any]] = {}
        for name, own in of_paper.items():
            source = self.readings[own[0]["id"]][0].source.paper
            counts: dict[str, int] = {}
            for reading in (r for entry in own for r in entry["readings"]):
                counts[reading["status"]] = counts.get(reading["status"], 0) + 1
            several = len({str(self.readings[e["id"]][0].source.paper) for e in own}) > 1
            found[name] = {
                "name": name,
                "page": paper_page_name(name),
                "title": name.replace("_", " ").capitalize() if several else source.title,
                "authors": "" if several else ", ".join(source.authors),
                "venue": "" if several else ", ".join(str(v) for v in (source.venue, source.year) if v),
                "link": "" if several else source.link,
                "counts": {word.value: counts[word.value] for word in Word if word.value in counts},
                "tones": {word.value: TONES[word] for word in Word},
                "false": [e for e in own if any(r["tone"] == "bad" and _printed(r["reading"]) for r in e["readings"])],
                "statements": len(own),
                "readings": sum(len(e["readings"]) for e in own),
            }
        return found

    def _graphs(self, own: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The statements of a paper that have neighbours, and the graph of the one with the most within depth two."""
        sizes = {e["id"]: sum(map(len, columns(e["id"], self.down))) for e in own}
        there = [e for e in own if sizes[e["id"]] > 1]
        first = max(there, key=lambda e: sizes[e["id"]], default=None)
        return {"graphed": there, "first": first, "graph": self._graph(first["id"]) if first else ""}

    def _graph(self, name: str) -> Markup | str:
        """What the statement rests on and what rests on it; "" for one without neighbours."""
        found = columns(name, self.down)
        if len(found) == 1:
            return ""
        title = f"What {name} rests on (left) and what rests on it (right), to depth two"
        nodes = {id: self._node(id) for column in found for id in column}
        return Markup(graph(found, direct(self.down), nodes, name, title))

    def _statement(self, report: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
        own = self.readings[entry["id"]]
        printed = next((s for s in own if _printed(s.reading)), None)
        amended = next((s for s in own if not _printed(s.reading)), None)
        pair = [s for s in (printed, amended) if s is not None]

        def formulas(shown: Sequence[Statement], room: float) -> dict[str, list[list[str]]]:
            return {s.id: claim_lines(s, amended if s is printed else printed, _kind(s), room) for s in shown}

        lines = formulas(own, WIDE)
        if len(pair) == 2 and any(is_wide(lines[s.id]) for s in pair):  # cut further, they may stand side by side
            narrow = formulas(pair, NARROW)
            lines |= narrow if all(map(fits_column, narrow.values())) else {}
        rows = [self._shown(s, lines[s.id], r) for s, r in zip(own, entry["readings"], strict=True)]
        best = own[0]
        ids = {s.id for s in own}
        worked = self._worked(report, best, pair)
        drawn = [best, *(s for s in pair if s is not best)]
        return {
            "entry": entry,
            "pair": [row for s in pair for row in rows if row["s"] is s],
            "others": [row for row in rows if row["s"] not in pair],
            "picture": bounds_picture(drawn, worked["constants"]) if worked else "",
            "s": best,
            "names": symbols_of(best),
            "rows": rows,
            "rests": self._linked(other for s in own for other in self.known.cites(s.id) if other not in ids),
            "rested": self._linked(other for s in own for other in self.known.cited_by(s.id) if other not in ids),
            "assumptions": [_assumption(a, best) for a in best.assumptions],
            "worked": worked,
            "play": playground(own),
            "replay": next((e.command for row in rows for _, e in row["evidence"] if e and "replay" in e.command), ""),
            "graph": self._graph(entry["id"]),
            "symbols": [(Markup(symbol_mathml(s)), s) for s in best.symbols],
            "siblings": [c for c in report["claims"] if c["statement"]["id"] in ids],
        }

    def _shown(self, reading: Statement, lines: list[list[str]], entry: Mapping[str, Any]) -> dict[str, Any]:
        """What a page shows of one reading. lines: its formula; entry: what `data` has of it."""
        return {
            **entry,
            "s": reading,
            "lines": markup(lines),
            "wide": is_wide(lines),
            "line": self._line(reading),
            "digest": self._digest(reading),
            "marked": any(f'class="{_kind(reading)}"' in piece for line in lines for piece in line),
            "conditions": [(c, markup([relation_pieces(c.relation, reading)])) for c in reading.conditions],
            "domain": [markup([relation_pieces(r, reading)]) for r in reading.domain],
            "metric": _metric(reading),
            "evidence": [(kind, kind.of(reading, self.sources)) for kind in kinds()],
            "gaps": [(gap, self._linked([gap.id])[0]) for gap in self.known.gaps(reading.id)],
            "outline": list(self._outline(reading)),
        }

    def _linked(self, ids: Iterable[str]) -> list[dict[str, str]]:
        """Each reading once, with the page it is on ("" without one) and its status."""
        found: list[dict[str, str]] = []
        for id in sorted(dict.fromkeys(ids)):
            name, _, reading = id.rpartition("/")
            page = f"{statement_page_name(name)}#{reading}" if name in self.readings else ""
            word = self.known.standing(id).word
            found.append({"id": id, "page": page, "status": word.value, "tone": TONES[word]})
        return found

    def _node(self, name: str) -> Node:
        own = self.readings.get(name, ())
        ids = [s.id for s in own] or [id for id in self.known.records if id.rpartition("/")[0] == name]
        words = [self.known.standing(id).word for id in ids]
        note = ", ".join(f"{words.count(w)} {w.value.lower()}" for w in Word if w in words) or "not derived"
        tone = TONES[words[0]] if words else "bad"
        label = name.partition("/")[2].replace("_", " ")
        return Node(label, note, statement_page_name(name) if own else "", COLOURS[tone])

    def _line(self, reading: Statement) -> str:
        """How it is known in a line: where it is broken, or on what its proof rests."""
        standing, found = self.known.standing(reading.id), self.known.records.get(reading.id)
        path = (self.sources.witnesses or {}).get(reading.id)
        if standing.word is Word.VIOLATED and path is not None:
            witness = json.loads(path.read_bytes())["verdict"]["witness"]
            at = {**witness["index"], **witness.get("quantities", {}), **witness["constants"]}
            return f"Broken at {', '.join(f'{name} {_short(value)}' for name, value in at.items())} (replay)"
        if standing.word is Word.VIOLATED:
            return f"Broken: {standing.sentence}"
        if standing.word is Word.PROVED and found is not None:
            words = ", ".join(words for words, _ in rests_groups(found.rests))
            return f"Proved, rests on {words or 'the rules of the verifier alone'}"
        if standing.word is Word.PROOF_REFUTED and found is not None:
            return f"Proof refuted at {', '.join(found.refuted_at)}; the statement itself may be true"
        if standing.word is Word.HOLDS:
            return f"Not proved; holds where tried: {standing.sentence}"
        return standing.sentence

    def _digest(self, reading: Statement) -> str:
        """SHA-256 of statement and facts as the record has them, which the verifier prints; "" without a record."""
        found = content(reading.id) if reading.id in self.known.records else None
        return str((found or {}).get("digest", ""))

    def _worked(
        self, report: Mapping[str, Any], best: Statement, own: Sequence[Statement] = ()
    ) -> dict[str, Any] | None:
        found = worked_number(best)
        if found is not None:
            values = ", ".join(f"{name} = {shortened(value, 16)}" for name, value in found.constants)
            value = f"{found.exact} = {pretty(found.value, 6)}" if "/" in found.exact else pretty(found.value, 6)
            note = "It says nothing there: the bound is not below its trivial value." if found.vacuous else ""
            others = [(s.reading, number) for s in own if s is not best and (number := _number(s, found.constants))]
            constants = dict(found.constants)
            return {"value": value, "at": values, "note": note, "command": found.command} | {
                "others": others,
                "constants": constants,
            }
        for claim in report["claims"]:
            if claim["statement"]["id"] == best.id and claim["curve"]["bound"]:
                last = claim["curve"]["index"][-1]
                index = f" at {claim['statement']['metric']['index'] or 'the end'} = {last}"
                value = pretty(float(claim["curve"]["bound"][-1]), 6)
                at = f"the run of '{claim['label']}'{index}"
                command = f"boundcheck compare {claim['spec']}"
                return {"value": value, "at": at, "note": "", "command": command, "others": [], "constants": {}}
        return None

    def _outline(self, reading: Statement) -> Iterator[dict[str, Any]]:
        """The steps of the derivation in their order, with their status on record and the witness of refuted ones."""
        record = self.known.records.get(reading.id)
        if record is None:
            return
        try:
            built = derivation(reading.id)
        except BoundcheckError:
            return
        checked = bool(record.counts)
        for step in built.steps:
            status = record.failing.get(step.name, "PROVED") if checked else record.status
            by = cited_in(step.by)
            (cited,) = self._linked([by.statement]) if by else (None,)
            if step.name in record.inherited:  # it cites a refuted reading
                status = "REFUTED"
            witness = record.witnesses.get(step.name, {})
            yield {
                "name": step.name,
                "status": status,
                "tone": {"PROVED": "good", "REFUTED": "bad"}.get(status, "open"),
                "text": step.text,
                "claim": Markup(latex_to_mathml(in_latex(step.claim, reading))),
                "uses": step.uses,
                "how": step.by.label,
                "cited": cited,
                "witness": [(Markup(latex_to_mathml(letter(k, reading))), shortened(v)) for k, v in witness.items()],
                "note": record.notes.get(step.name, ""),
            }


def catalogue(names: Sequence[str] | None, claims: Sequence[Mapping[str, Any]]) -> Catalogue:
    """The catalogue of these statements and of all that they rest on or that rests on them.

    names: None for all statements that can be found. claims: those of the report's data; they replace what the shipped
    claims expect.
    """
    from boundcheck.evidence.shipped_files import shipped_witnesses

    broken: dict[str, str] = {}
    outcomes: dict[str, dict[str, int]] = {}
    for claim in claims:
        id, verdict = claim["statement"]["id"], claim["verdict"]
        if "definition" in claim["statement"]:
            continue
        own = outcomes.setdefault(id, {})
        own[verdict["outcome"]] = own.get(verdict["outcome"], 0) + 1
        if verdict["outcome"] == "VIOLATED":
            broken.setdefault(id, f"{verdict['reason']} (the claim '{claim['label']}')")
    every = list(all_statements(None, lambda error: None)) if names is None else _around(names)
    known = collected((s.id for s in every), outcomes, broken)
    ids = tuple(dict.fromkeys(s.id.rpartition("/")[0] for s in every))
    return Catalogue(ids, Sources(known, claims, shipped_witnesses()))


def _around(names: Sequence[str]) -> list[Statement]:
    """All readings of these statements and of those on which they rest."""
    from boundcheck.proof.records import record

    seen: list[str] = []
    waiting = list(dict.fromkeys(names))
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.append(name)
        known = (record(s.id) for s in readings(*name.split("/")))
        cited: Iterable[str] = (id for found in known if found is not None for id in found.cites)
        waiting += sorted({id.rpartition("/")[0] for id in cited})
    return [s for name in sorted(seen) for s in readings(*name.split("/"))]


def direct(down: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """What each statement rests on, without what others imply. down: directly or through others."""
    return {id: [o for o in others if not any(o in down.get(p, ()) for p in others)] for id, others in down.items()}


def columns(centre: str, down: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The statements of a graph from left to right: below the centre, the centre, above it; each level sorted."""
    below = direct(down)
    above: dict[str, list[str]] = {}
    for id, others in below.items():
        for other in others:
            above.setdefault(other, []).append(id)

    def levels(steps: Mapping[str, Sequence[str]]) -> list[list[str]]:
        seen, found = {centre}, [[centre]]
        for _ in range(DEPTH):
            found.append(sorted({other for id in found[-1] for other in steps.get(id, ())} - seen))
            seen |= set(found[-1])
        return found[1:]

    return [column for column in (*reversed(levels(below)), [centre], *levels(above)) if column]


def _printed(reading: str) -> bool:
    return reading.startswith("as_printed")


def _kind(reading: Statement) -> str:
    """The class of what a reading has and its counterpart has not."""
    return "printed" if _printed(reading.reading) else "corrected"


def _short(value: str) -> str:
    """= and the value, or ≈ and three digits where it is long."""
    try:
        return f"= {value}" if len(value) <= 10 else f"≈ {pretty(parse_number(value))}"
    except ValueError:
        return f"= {shortened(value, 16)}"


def _number(reading: Statement, constants: Sequence[tuple[str, str]]) -> str:
    """The bound of another reading at these constants; "" where it needs more of them or has no value there."""
    names = {s.name for s in reading.symbols}
    try:
        found = reading.evaluate(**{name: value for name, value in constants if name in names})
    except BoundcheckError:
        return ""
    return pretty(found.value, 6) + ("" if found.in_scope else ", out of its scope")


def _assumption(assumption: Assumption, statement: Statement) -> dict[str, Any]:
    own = {s.name: s for s in statement.symbols}
    free = set() if assumption.inequality is None else {str(s) for s in assumption.inequality.free_symbols}
    return {
        "name": assumption.name.replace("_", " "),
        "meaning": assumption.meaning,
        "symbols": [Markup(symbol_mathml(own[n])) for n in sorted(free) if n in own],
    }


def _metric(statement: Statement) -> str:
    metric = statement.metric
    scale = "" if metric.scale == 1 else f"{expr_text(metric.scale)} · "
    over = metric.expectation
    expected = "no expectation" + over[4:] if over.startswith("none") else f"expectation over {over}"
    return f"{scale}{metric.quantity}; {expected}"
