"""Changes of one place in a proof record, and what the verifier says of them.

The lines before the changed one stay as they were checked, so only what follows is checked anew.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

from boundcheck.verify import boundcheck_verify as v

LISTS = ("signs", "ranges", "hypotheses", "along", "each", "to")  # lines that a certificate may name without need


def texts_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """(place, text) of every text inside JSON data."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != "rule":
                yield from texts_in(item, (*path, key))
    elif isinstance(value, list):
        for k, item in enumerate(value):
            yield from texts_in(item, (*path, k))


def changed(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The data with another value at one place."""
    if not path:
        return value
    found = copy.copy(data)
    found[path[0]] = changed(data[path[0]], path[1:], value)
    return found


def numbers_and_signs(text: str) -> Iterator[tuple[str, str]]:
    """(kind, text) with one number moved or one sign or relation turned."""
    for found in re.finditer(r"(?<![A-Za-z_0-9@])\d+(?![A-Za-z_])", text):
        yield "number moved", f"{text[: found.start()]}{int(found[0]) + 1}{text[found.end() :]}"
    for found in re.finditer(r" ([-+]) ", text):
        yield "sign flipped", f"{text[: found.start(1)]}{'-' if found[1] == '+' else '+'}{text[found.end(1) :]}"
    for found in re.finditer(r" (<=|>=|<|>|==) ", text):
        other = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "==": ">="}[found[1]]
        yield "relation turned", f"{text[: found.start(1)]}{other}{text[found.end(1) :]}"
        if found[1] in ("<=", ">="):
            yield "made strict", f"{text[: found.start(1)]}{found[1][0]}{text[found.end(1) :]}"
        if found[1] in ("<", ">"):
            yield "made weak", f"{text[: found.start(1)]}{found[1]}={text[found.end(1) :]}"


def of_lines(data: Any) -> Iterator[tuple[str, int, list[Any]]]:
    """(kind, number of the first line that differs, all lines) for every change of the proof."""
    lines = data["lines"]
    names = [line["name"] for line in lines]
    known = [*(fact["name"] for fact in data["facts"]), *names]
    for k, line in enumerate(lines):
        for path, text in texts_in({key: line[key] for key in ("claim", "by", "if") if key in line}):
            for kind, other in numbers_and_signs(text) if text not in known else ():
                yield f"{kind} in {path[0]}", k, [*lines[:k], changed(line, path, other), *lines[k + 1 :]]
            if path[0] == "by" and text in known and known.index(text) > 0:
                other = known[known.index(text) - 1]
                kind = "unneeded" if path[1] in LISTS else "reference"
                yield f"{kind} exchanged", k, [*lines[:k], changed(line, path, other), *lines[k + 1 :]]
        for key in ("first", "second") if line["by"]["rule"] == "mean" else ():
            other = {"first": "second", "second": "first"}[key]
            entry = changed(line, ("by", key), line["by"][other])
            yield "product changed", k, [*lines[:k], entry, *lines[k + 1 :]]
        for law in data["laws"] if "law" in line["by"] else ():
            if law["name"] != line["by"]["law"]:
                yield "law exchanged", k, [*lines[:k], changed(line, ("by", "law"), law["name"]), *lines[k + 1 :]]
        for at, row in enumerate(line["by"].get("vectors", ())):
            for _, _, image in line["by"]["vectors"][:at]:
                if image != row[2]:
                    entry = changed(line, ("by", "vectors", at, 2), image)
                    yield "vector exchanged", k, [*lines[:k], entry, *lines[k + 1 :]]
        yield "line deleted", k, [*lines[:k], *lines[k + 1 :]]
        yield "line doubled", k, [*lines[: k + 1], line, *lines[k + 1 :]]
        if k + 1 < len(lines):
            after = lines[k + 1]
            yield "lines exchanged", k, [*lines[:k], after, line, *lines[k + 2 :]]
            pair = ({**line, "by": after["by"]}, {**after, "by": line["by"]})
            yield "certificates exchanged", k, [*lines[:k], *pair, *lines[k + 2 :]]
        for at, (_, factors) in enumerate(line["by"].get("terms", ())):
            terms = line["by"]["terms"]
            shorter = [*terms[:at], *terms[at + 1 :]]
            yield "term deleted", k, [*lines[:k], changed(line, ("by", "terms"), shorter), *lines[k + 1 :]]
            for place in range(len(factors)):
                less = [*factors[:place], *factors[place + 1 :]]
                yield "factor deleted", k, [*lines[:k], changed(line, ("by", "terms", at, 1), less), *lines[k + 1 :]]


def of_statement(data: Any) -> Iterator[tuple[str, Any]]:
    """(place, record) for every change of a text of what the record is about: facts, laws, statement, names."""
    for path, text in texts_in({key: data[key] for key in ("facts", "laws", "statement", "names")}):
        yield f"{path}", changed(data, path, next((other for _, other in numbers_and_signs(text)), f"{text} again"))


def _weak(claim: str) -> str:
    """The claim without its strictness."""
    return claim.replace("<=", "<").replace(">=", ">")


class Checked:
    """A record that was checked, from which changed ones are checked."""

    def __init__(self, path: Any) -> None:
        self.data = json.loads(path.read_text())
        self.record = v.Record(path)
        self.record.check()
        self.facts = {n: line for n, line in self.record.lines.items() if n in {f["name"] for f in self.data["facts"]}}

    def accepts(self, first: int, lines: list[Any]) -> bool:
        """Whether the verifier accepts the record with these lines, of which those before `first` are as they were."""
        other = copy.copy(self.record)
        kept = {entry["name"]: self.record.lines[entry["name"]] for entry in lines[:first]}
        other.data = {**self.data, "lines": lines}
        other.lines, other.rests, other.holes, other.used = {**self.facts, **kept}, [], [], []
        other.refuted = {name: why for name, why in self.record.refuted.items() if name in kept}
        try:
            other.check_lines(first)
        except v.Invalid:
            return False
        return self.record.kind == "refutation" or not other.holes

    def same_claims(self, lines: list[Any]) -> bool:
        """Whether every line claims what the line of that name did, up to strictness that its terms show or do not.

        An implication with a stricter hypothesis is a weaker claim. Claims that are the same after the equations that
        the line puts in are the same here: a multiple of what is 0 says nothing.
        """
        was = {entry["name"]: entry for entry in self.data["lines"]}
        for entry in lines:
            old = was.get(entry["name"])
            if old is None:
                return False
            if entry["by"]["rule"] in ("open", "refuted"):  # claims nothing, or what is compared with the derivation
                continue
            if "=>" in entry["claim"] and _weak(entry["claim"]) == _weak(old["claim"]):
                continue
            pair = (self.record.lines[entry["name"]].claim, self.record.language.claim(entry["claim"]))
            one, other = pair if any(c.op == "=>" for c in pair) else (self._put_in(c, old["by"]) for c in pair)
            if not (one.gives(other) or other.gives(one)):
                return False
        return True

    def _put_in(self, claim: Any, by: Any) -> Any:
        rules: list[Any] = []
        for name, text in by.get("put", ()):
            if not name.startswith("#"):
                rules.append(self.record.substitution(self.record.lines[name].claim, text, rules))
        for what in rules:
            claim = claim.put(what, self.record.language.whole)
        return claim
