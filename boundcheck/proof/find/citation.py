"""Citations as lines: the claim of another record at terms of this one, its hypotheses shown here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from boundcheck.proof.find.combination import Combination
from boundcheck.proof.find.laws import vectors_of
from boundcheck.proof.find.lines import NotShown
from boundcheck.proof.find.text import text
from boundcheck.theory.assumptions import IMPLICATIONS
from boundcheck.theory.discovery import statement as find_statement
from boundcheck.verify import boundcheck_verify as v


def write_citation(rule: Any) -> None:
    """The line of a cited statement and the claim of the step from it; raises NotShown."""
    by, w = rule.by, rule.w
    cited = find_statement(by.statement)
    images: dict[Any, Any] = {}
    more: dict[str, Any] = {}
    kind = type(by).__name__
    vectors = vectors_of(by) if kind == "ForVectors" else None
    by = by.lemma() if kind == "ForVectors" else by
    if kind in ("Lemma", "ForVectors"):
        metric, images = by.metric, by._values()
        averaged = {s for expr in by.means for s in expr.free_symbols}
        rest, factors = sp.Integer(0), dict.fromkeys(by.means, sp.Integer(0))
        for term in sp.Add.make_args(sp.expand(cited.bound.xreplace(images))):
            if not term.free_symbols & averaged:
                rest += term
                continue
            expr = next((e for e in by.means if not (term / e).free_symbols & averaged), None)
            if expr is None:
                raise NotShown("the cited bound is not linear in what is averaged")
            factors[expr] += term / expr
        more = {
            "averaged": sorted(str(s) for s in averaged),
            "rest": text(rest),
            "means": [[text(c), text(e), text(by.means[e])] for e, c in factors.items()],
        }
    elif kind == "Cited":
        images = by._images(cited)
        metric = by.run.subs(by.clock, cited.metric.rounds)
    else:
        images = by._images(cited)
        metric = cited.metric.scale.xreplace(images) * by.metric
    if not more:  # a symbol that the claim does not depend on may have any value
        free = (s.expr for s in cited.symbols if s.expr not in images and s.name not in w.language.kinds)
        images |= dict.fromkeys(free, sp.Integer(1))
    record = v.cited_record(cited.id, w.record.path, w.record.open)
    entry: dict[str, Any] = {
        "rule": "cite",
        "record": cited.id,
        "metric": text(metric),
        "images": {str(s): text(image) for s, image in images.items()},
        **more,
    }
    place, single = w.record.place_of(record, entry), w.record.single_means(record, entry)
    free = {v.atom(("x", name)) for name in more.get("averaged", ())}
    hypotheses: list[str] = []
    for name, written in record.statement["hypotheses"]:
        wanted = record.language.claim(written)
        if wanted.atoms & free - set(single):
            continue
        wanted = wanted.put({**place, **single}, w.language.whole)
        if not wanted.plain:
            try:
                hypotheses.append(_hypothesis(rule, f"{w.text(wanted.gap)} {wanted.op} 0"))
            except NotShown as error:
                raise NotShown(f"'{name}' of {cited.id} is not shown here, which is {written} there") from error
    bound = record.language.claim(record.statement["claim"])
    gap = bound.gap
    if more:
        gap = w.language.value(more["rest"])
        for c, _, mean in more["means"]:
            gap = v.plus(gap, v.times(w.language.value(c), w.language.value(mean)))
        gap = v.plus(gap, v.variable(v.target_of(record)), -1)
    gap = v.put(gap, place, w.language.whole)
    entry["implied"] = _implied(cited, w.data["statement"]["assumptions"], getattr(by, "at", {}))
    entry["hypotheses"] = list(dict.fromkeys(hypotheses))
    if kind == "Specialised":
        entry["special"] = "; ".join(why for why, _ in by.trusted())
    if vectors is not None:
        entry |= {"vectors": vectors}
        entry["shown"] = _facts_of(rule, record, entry)
    line = rule.add(f"{w.text(gap)} {bound.op} 0", entry)
    rule.close_with(line)


def _hypothesis(rule: Any, claim: str) -> str:
    """A line for a hypothesis of the cited statement: from scalar facts, or as a sum of squares."""
    try:
        return rule.prove(claim)
    except NotShown:
        form = Combination(rule.w, rule.kept)
        terms = form.remainder(rule.w.language.claim(claim).gap)
        return form.line(claim, {"rule": "sum", "terms": terms, "signs": form.counts})


def _facts_of(rule: Any, cited: Any, entry: Any) -> list[str]:
    """Lines that say of the vectors here what the cited record says of its own."""
    w = rule.w
    found: list[str] = []
    for fact, wanted in w.record.said_of(cited, entry):
        if wanted.plain or not wanted.gap[0]:
            continue
        line = next((n for n in rule.asked.facts if not n.startswith("#") and w.claim(n).gives(wanted)), "")
        if line:
            found.append(line)
        elif fact["origin"] != "generated" or fact["kind"] != "assumption":
            raise NotShown(f"'{fact['name']}' of {cited.id} is not shown of what stands for its vectors")
    return list(dict.fromkeys(found))


def _implied(cited: Any, own: list[list[str]], at: Mapping[str, Any]) -> list[list[Any]]:
    """The assumptions of a cited statement that follow from those made here: name, from what, at which values, why."""
    names = {name for name, _ in own}
    rows: list[list[Any]] = []
    for i in IMPLICATIONS:
        given = [a.name for a in i.given]
        fits = set(given) <= names and all(at.get(name) == value for name, value in i.at)
        if i.assumption in cited.assumptions and i.assumption.name not in names and fits:
            rows.append([i.assumption.name, given, {name: str(value) for name, value in i.at}, i.why])
    return rows
