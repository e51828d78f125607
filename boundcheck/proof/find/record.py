"""The record of one derivation: its statement, names and facts as the verifier reads them, and the lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.find.text import claim_text, text, vector_text
from boundcheck.proof.generated import generated
from boundcheck.proof.language import named
from boundcheck.proof.laws import Averages, Draws, Order, Weights
from boundcheck.proof.step import Fact
from boundcheck.theory.assumptions import with_implied
from boundcheck.theory.typeset import average_text
from boundcheck.verify import boundcheck_verify as v

_OP = {"upper bound": "<=", "lower bound": ">=", "equality": "==", "formula": "=="}


def statement_part(proof: Derivation) -> dict[str, Any]:
    """The statement as data, from the Statement object; `make test` compares every record with this."""
    own = proof.statement
    hypotheses = [row for f in scope_facts(own) for row in _named_parts(f)]
    hypotheses += [[f"choice {name}", f"{name} == {text(formula)}"] for name, formula in own.choices]
    metric = own.metric
    target = proof.target
    words = f"{average_text(metric)}, {metric.expectation}"
    said = f"{metric.quantity}, {words}, after {metric.rounds} rounds, times {metric.scale}"
    return {
        "symbols": [[s.name, "integer" if s.integer else "number", s.meaning] for s in own.symbols],
        "hypotheses": hypotheses,
        "assumptions": [[a.name, a.meaning] for a in assumed(proof)],
        "target": text(target),
        "metric": said,
        "method": "" if own.algorithm is None else own.algorithm.kind,
        "claim": f"{text(target)} {_OP.get(own.kind.value, '<=')} {text(own.bound)}",
    }


def _named_parts(fact: Fact) -> list[list[str]]:
    return [[name, claim_text(part)] for name, part in named(fact.name, fact.claim).items()]


def fact_rows(proof: Derivation) -> list[dict[str, str]]:
    """The facts as data: a conjunction is one row a part."""
    rows: list[dict[str, str]] = []
    given = generated(proof.statement, proof.facts, proof.target)
    for fact in proof.facts:
        origin = "generated" if fact.name in given else _origin(fact)
        for name, part in named(fact.name, fact.claim).items():
            row = {
                "name": name,
                "kind": fact.kind,
                "claim": claim_text(part),
                "origin": origin,
                "source": fact.source,
            }
            if fact.assumption:
                row["assumption"] = fact.assumption
            if fact.kind in ("index", "range"):
                row["about"] = str(part.lhs)
            rows.append(row)
    return rows


def assumed(proof: Derivation) -> list[Any]:
    """The assumptions of the statement, and those that follow from them and are used."""
    used = {f.assumption for f in proof.facts} | {law.of for law in proof.laws}
    return [a for a in with_implied(proof.statement.assumptions) if a in proof.statement.assumptions or a.name in used]


def law_row(law: Any) -> dict[str, Any]:
    """A law as data."""
    row: dict[str, Any] = {"name": law.name, "kind": type(law).__name__.lower(), "of": law.of}
    row |= {"drawn": [[vector_text(x), vector_text(source)] for x, source in law.drawn]}
    row |= {"past": [vector_text(x) for x in law.past]}
    if isinstance(law, Order):
        row |= {"items": text(law.items), "epochs": law.epochs}
    elif isinstance(law, Averages):
        if law.independent:
            row |= {"clients": text(law.clients), "independent": [vector_text(x) for x in law.independent]}
    elif isinstance(law, Weights):
        row["weighted"] = [vector_text(x) for x in law.weighted]
        row |= {k: text(getattr(law, k)) for k in ("mean_weight", "largest", "correlation", "clients")}
    elif isinstance(law, Draws) and law.alike:
        row["alike"] = [[vector_text(x), vector_text(other)] for x, other in law.alike]
    return row if law.time is None else row | {"time": str(law.time)}


def _origin(fact: Fact) -> str:
    if fact.kind in ("domain", "condition"):
        return "statement"
    if fact.kind in ("definition", "index", "range"):
        return "notation"
    return "generated" if fact.instance is not None else "transcribed"


def names_of(proof: Derivation) -> dict[str, str]:
    """The names of the derivation and what each is."""
    found = {**proof.names} | {s.name: "number" for s in proof.statement.symbols}
    whole = proof.integers
    return {n: "integer" if n in whole and kind == "number" else kind for n, kind in sorted(found.items())}


def skeleton(proof: Derivation) -> dict[str, Any]:
    """The record without its lines and its point."""
    data: dict[str, Any] = {
        "format": 2,
        "kind": "proof",
        "id": proof.statement.id,
        "statement": statement_part(proof),
        "names": names_of(proof),
        "facts": fact_rows(proof),
        "laws": [law_row(law) for law in proof.laws],
        "steps": [name for s in proof.steps for name in named(s.name, s.claim)],
        "point": None,
        "lines": [],
    }
    data["digest"] = v.digest(data)
    return data


def record_file(folder: Path, statement_id: str) -> Path:
    """Where the record of a reading is kept."""
    paper, name, reading = statement_id.split("/")
    return folder / paper / f"{name}.{reading}.proof.json"


def text_of(data: Mapping[str, Any]) -> str:
    """A record as the file has it: a fact and a line each in one line of text."""
    rows = {k: x for k, x in data.items() if k not in ("facts", "lines")}
    text = json.dumps(rows, indent=1, ensure_ascii=False)[:-2]
    for key in ("facts", "lines"):
        body = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in data[key])
        text += f',\n "{key}": [\n{body}\n ]'
    return text + "\n}\n"
