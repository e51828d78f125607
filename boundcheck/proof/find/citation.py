"""Citations as lines: the claim of another record at terms of this one, its hypotheses shown here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from boundcheck.proof.citations import ForVectors, Lemma, Specialised
from boundcheck.proof.find.combination import Combination
from boundcheck.proof.find.lines import NotShown
from boundcheck.proof.find.text import text, vector_text
from boundcheck.proof.methods import Citation
from boundcheck.theory.assumptions import IMPLICATIONS
from boundcheck.theory.discovery import statement as find_statement
from boundcheck.verify import boundcheck_verify as v


def entry_of(by: Citation, assumed: Iterable[str]) -> dict[str, Any]:
    """What the line of a citation takes over: record, metric, images, means, vectors, and why the statement applies.

    assumed: names of the assumptions of the citing statement.
    """
    cited = find_statement(by.statement)
    own: Any = by.lemma if isinstance(by, ForVectors) else by
    entry: dict[str, Any] = {"record": cited.id, "metric": text(own.bounded(cited))}
    entry["images"] = {str(s): text(image) for s, image in own.images(cited).items()}
    if isinstance(own, Lemma):
        rest, factors = own.linear(cited)
        means = [[text(c), text(e), text(own.means[e])] for e, c in factors.items()]
        entry |= {"averaged": sorted(str(s) for s in own.averaged), "rest": text(rest), "means": means}
    if isinstance(by, ForVectors):
        vectors = ([name, [str(a) for a in at], vector_text(image)] for name, at, image in by.vectors)
        entry["vectors"] = list(vectors)
    if isinstance(by, Specialised) and by.case is not None:
        entry["special"] = by.case.why
    implied = _implied(cited, {*assumed}, getattr(own, "at", {}))
    return entry | ({"implied": implied} if implied else {})


def write_citation(rule: Any) -> None:
    """The line of a cited statement and the claim of the step from it; raises NotShown."""
    by, w = rule.by, rule.w
    cited = find_statement(by.statement)
    assumed = [name for name, _ in w.data["statement"]["assumptions"]]
    entry: dict[str, Any] = {"rule": "cite", **entry_of(by, assumed)}
    if "means" not in entry:  # a symbol that the claim does not depend on may have any value
        free = (s.name for s in cited.symbols if s.name not in entry["images"] and s.name not in w.language.kinds)
        entry["images"] |= dict.fromkeys(free, "1")
    for image in entry["images"].values():
        w.language.value(image)  # the verifier numbers terms as it meets them, here in the order of a set
    record = v.cited_record(cited.id, w.record.path, w.record.open)
    place, single = w.record.place_of(record, entry), w.record.single_means(record, entry)
    free = {v.atom(("x", name)) for name in entry.get("averaged", ())}
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
    if "means" in entry:
        gap = w.language.value(entry["rest"])
        for c, _, mean in entry["means"]:
            gap = v.plus(gap, v.times(w.language.value(c), w.language.value(mean)))
        gap = v.plus(gap, v.variable(v.target_of(record)), -1)
    gap = v.put(gap, place, w.language.whole)
    entry["hypotheses"] = list(dict.fromkeys(hypotheses))
    if isinstance(by, ForVectors):
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


def _implied(cited: Any, names: set[str], at: Mapping[str, Any]) -> list[list[Any]]:
    """The assumptions of a cited statement that follow from those made here: name, from what, at which values, why."""
    rows: list[list[Any]] = []
    for i in IMPLICATIONS:
        given = [a.name for a in i.given]
        fits = set(given) <= names and all(at.get(name) == value for name, value in i.at)
        if i.assumption in cited.assumptions and i.assumption.name not in names and fits:
            rows.append([i.assumption.name, given, {name: str(value) for name, value in i.at}, i.why])
    return rows
