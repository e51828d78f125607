"""Records written by hand, for attempts to have the verifier accept what does not follow.

A fact is written as text: "metric: y <= 3*sigma2", with a name in brackets before it, "[low] metric: y >= 0", and with
the assumption after its kind, "assumption/plain_mean: <u, v> >= 0". Without a name it is f0, f1, ...
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from boundcheck.proof.discovery import folder
from boundcheck.proof.find.record import record_file
from boundcheck.verify import boundcheck_verify as v

LEMMA = "scgd/lemma_3_1/corrected"
SCOPE = ("domain", "condition")
NAMES: dict[str, str] = {
    **dict.fromkeys(["s", "t", "y", "z", "a", "p", "q", "P", "T", "dist2_1"], "number"),
    **dict.fromkeys("ijkm", "integer"),
    **dict.fromkeys(["u", "v", "w", "grad"], "vector"),
    **dict.fromkeys("ghx", "vector function"),
    "f": "function",
}
INDEX_M = ("[m] index: m >= 0", "[m.1] index: m <= n - 1")
INDEX_K = ("[k] index: k >= 0",)
RANGE_A = ("[a] range: a > 0", "[a.1] range: a < 1")
# a point that meets the hypotheses of the lemma
FACTS_AT = {"mu": "1", "L": "1", "n": "1", "E": "1", "eta": "1/100", "sigma2": "0", "dist2_0": "0", "dist2_1": "0"}
Line = tuple[Any, ...]  # name, claim, certificate, suppositions


def shipped(id: str) -> dict[str, Any]:
    """The shipped record of a reading."""
    return json.loads(record_file(folder(), id).read_bytes())


def fact(text: str, place: int = 0) -> dict[str, str]:
    """The row of a fact."""
    found = re.fullmatch(r"(?:\[(.+?)\] )?(\w+)(?:/(\w*))?: (.+)", text)
    assert found, text
    name, kind, assumption, claim = found.groups()
    notation = dict.fromkeys(("definition", "index", "range"), "notation") | dict.fromkeys(SCOPE, "statement")
    row = {"name": name or f"f{place}", "kind": kind, "claim": claim, "origin": notation.get(kind, "transcribed")}
    return {**row, "source": "", "assumption": assumption or "", "about": claim.split()[0]}


def record(
    facts: Sequence[str] = (),
    lines: Sequence[Line] = (),
    *,
    about: str = LEMMA,
    laws: Sequence[Mapping[str, Any]] = (),
    names: Mapping[str, str] | None = None,
    point: Any = None,
    kind: str = "proof",
    steps: Sequence[str] = (),
    **statement: Any,
) -> dict[str, Any]:
    """A record about the statement of a shipped one, with other values for what is given of the statement."""
    data = copy.deepcopy(shipped(about))
    paper, lemma, _ = about.split("/")
    data |= {"id": f"{paper}/{lemma}/other", "kind": kind}
    data["statement"] |= statement
    scope = [row for row in data["facts"] if row["kind"] in SCOPE]
    own = {row[0]: row[1] for row in data["statement"]["symbols"]}
    data["facts"] = [*scope, *(fact(text, k) for k, text in enumerate(facts))]
    data |= {"names": {**NAMES, **(names or {}), **own}, "laws": list(laws), "point": point, "steps": [*steps]}
    data["lines"] = [{"name": n, "claim": c, "by": by, "if": list(*now)} for n, c, by, *now in lines]
    data["digest"] = v.digest(data)
    return data


def said(data: dict[str, Any]) -> str:
    """What the verifier says against a record; "" for one that is valid, NO_LINES for one whose facts are allowed."""
    one = v.Record(record_file(folder(), data["id"]), data=data)
    try:
        one.check()
    except v.Invalid as error:
        return str(error)
    return ""


def examined(data: Any, place: Path) -> dict[str, Any]:
    """What the verifier says of a file with this record, or with this text."""
    path = place / "one.proof.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    row = v.examined(path)
    assert row["valid"] == (not row["verdict"].startswith("invalid"))
    return row


def checked(id: str, upto: str = "", **data: Any) -> v.Record:
    """A shipped record with other members, all of it checked, or its facts and the lines before the first by a rule."""
    record = v.Record(record_file(folder(), id), data={**shipped(id), **data})
    if not upto:
        record.check()
        return record
    record.read_facts()
    for line in record.data["lines"]:
        if line["by"]["rule"] == upto:
            break
        record.check_line(line)
    return record


def line_of(id: str, rule: str, **has: Any) -> dict[str, Any]:
    """The first line of a shipped record by this rule with these values, under a name of its own."""
    lines = shipped(id)["lines"]
    found = next(e for e in lines if e["by"]["rule"] == rule and all(e["by"].get(k) == x for k, x in has.items()))
    return {**found, "name": "again"}


NO_LINES = "it has no lines"


def agrees(found: str, why: str) -> None:
    """What the verifier says contains this; "" for what it accepts."""
    assert why in found
    assert bool(why) == bool(found), found


class Bench:
    """A record whose facts are read, to which lines are added one by one."""

    def __init__(self, *facts: str, **more: Any) -> None:
        self.record = v.Record(record_file(folder(), "scgd/lemma_3_1/other"), data=record(facts, **more))
        self.record.read_facts()
        self.record.check_target()

    def says(self, claim: str, by: Mapping[str, Any] | None = None, now: Sequence[str] = (), name: str = "") -> str:
        """Why a line does not follow; "" where it does, and then later lines may use it by its name."""
        name = name or f"line {len(self.record.lines)}"
        try:
            self.record.check_line({"name": name, "claim": claim, "by": by or {"rule": "sum"}, "if": list(now)})
        except v.Invalid as error:
            return str(error)
        except v.BROKEN as error:
            return f"it is not well formed ({type(error).__name__})"
        return ""

    def add(self, name: str, claim: str, by: Mapping[str, Any] | None = None, now: Sequence[str] = ()) -> None:
        """A line that follows."""
        why = self.says(claim, by, now, name)
        assert not why, (name, why)


def terms(*rows: Any, **more: Any) -> dict[str, Any]:
    """A certificate by a sum: rows of a number and factors."""
    return {"rule": "sum", "terms": [[str(number), list(factors)] for number, *factors in rows], **more}
