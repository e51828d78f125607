"""Lines about what is drawn: expectations by a law, an order that draws every item once, a sum over epochs."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.find.lines import NotShown
from boundcheck.proof.find.text import claim_text, text
from boundcheck.verify import boundcheck_verify as v


def expect(form: Any, name: str) -> None:
    """Puts what the law says into the claims of a combination: an equation for every product with a draw."""
    if name not in form.w.record.laws:
        raise NotShown(f"the verifier reads no law of the kind of '{name}'")
    gaps = [form.w.claim(n, form.now).gap for n in form.asked.facts if form.w.claim(n, form.now).op not in ("=", "=>")]
    gaps.append(form.w.language.claim(form.text).gap)
    products = {n for gap in gaps for m in form.image(gap)[0] for n, _ in m if v.ATOMS[n][0] == "<>"}
    for n in sorted(products):
        line = _expectation(form, name, n)
        if line:
            target = v.name_of(n)
            form.rules.append((False, form.w.record.substitution(form.w.claim(line), target, [])))
            form.put.append([line, target])


def _expectation(form: Any, name: str, product: int) -> str:
    """A line for the expectation of a product, or '' where the law says nothing about it."""
    w = form.w
    law = w.record.laws.get(name)
    if law is None:
        raise NotShown(f"the law '{name}' has no lines")
    pair = v.ATOMS[product][1:]
    about = {*law.sources, *getattr(law, "means", ()), *getattr(law, "families", ())}
    if not any(v.head_of(n) in about for n in pair):
        return ""
    by: dict[str, Any] = {"rule": "mean", "law": name, "first": v.name_of(pair[0]), "second": v.name_of(pair[1])}
    for before in _epochs(w, law, pair):
        for factor in _factors(form, law, pair, before):
            entry = {**by, **({"before": before} if before != "0" else {}), **({"factor": factor} if factor else {})}
            try:
                gap, positions = w.record.expectation(entry)
            except v.Invalid:
                continue
            return form.line(f"{w.text(gap)} == 0", {**entry, "signs": _shown(form, positions)})
    return ""


def _shown(form: Any, values: list[Any]) -> list[str]:
    """Lines that numbers are at least 0."""
    lines = [form.positive(form.w.text(x)) for x in values if v.number_of(x) is None]
    return list(dict.fromkeys(lines))


def _formula(value: Any) -> Any:
    """A polynomial of the verifier in SymPy."""
    return sp.Add(
        *(sp.Rational(c) * sp.Mul(*(sp.Symbol(v.name_of(n)) ** e for n, e in m)) for m, c in value[0].items())
    )


def _epochs(w: Any, law: Any, pair: Any) -> list[str]:
    """How many whole epochs are before the positions: the quotient of their end by the number of items."""
    if not law.data.get("epochs"):
        return ["0"]
    found: list[str] = []
    for place in filter(None, map(law.place, pair)):
        end = place[2] if place[4] else place[3]
        items = law.size(place)
        of = [sp.Symbol(v.name_of(n)) for n in sorted({n for m in items[0] for n, _ in m})]
        found.append(text(sp.div(_formula(end), _formula(items), *of)[0] if of else sp.Integer(0)))
    return found


def _factors(form: Any, law: Any, pair: Any, before: str) -> list[str]:
    """What the factor of a covariance may be; '' for a law that needs no factor."""
    places = [law.place(n) for n in pair]
    if not law.order or None in places:
        return [""]
    w = form.w
    one, two = places
    n, e = law.size(one), w.language.value(before)
    sizes = [law.within(p, e)[1] for p in (one, two)]
    found: list[str] = []
    for both in (sizes[0], v.ZERO):
        top = v.plus(v.times(n, both), v.times(*sizes), -1)
        least = v.plus(n, v.ONE, -1)
        top_text, n_text, least_text = w.text(top), w.text(n), w.text(least)
        of = [sp.Symbol(v.name_of(k)) for k in sorted({k for m in least[0] for k, _ in m})]
        if of and not top[1]:
            quotient, rest = sp.div(_formula(top), _formula(least), *of)
            if sp.expand(rest) == 0:
                found.append(f"({text(sp.expand(quotient))})/({n_text})")
                continue
        try:
            form.positive(f"{least_text} - 1")
            found.append(f"({top_text})/(({n_text})*({least_text}))")
        except NotShown:
            found.append(f"({top_text})/(({n_text})*max(1, {least_text}))")
    return found


def every_sample(rule: Any) -> None:
    """The line of a step by `EverySample`."""
    w, record = rule.w, rule.w.record
    law = record.laws[rule.by.law]
    lines: list[list[str]] = []
    own = v.linear(rule.claim.gap)
    for n in own:
        place = law.place(n) if v.ATOMS[n][0] == "S" and v.head_of(n) in law.sources else None
        if place is None:
            continue
        for times in dict.fromkeys((*_epochs(w, law, (n,)), "1")):
            entry = {"rule": "once", "law": rule.by.law, "sum": v.name_of(n), "times": times}
            try:
                gap, numbers = record.once(entry)
            except v.Invalid:
                continue
            signs = [rule.prove(f"{w.text(x)} >= 0") for x in numbers if v.number_of(x) is None]
            lines.append([rule.add(f"{w.text(gap)} = 0", {**entry, "signs": signs}), w.text(own[n])])
            break
    rule.close([], lines)


def averaged(rule: Any) -> None:
    """The line of a step by `Averaged`."""
    rule.close(
        [],
        [[rule.add(claim_text(rule.asked.claim), {"rule": "average", "law": rule.by.law, "of": rule.by.source}), "1"]],
    )


def in_epochs(rule: Any) -> None:
    """The line of a step by `InEpochs`."""
    by, w = rule.by, rule.w
    outer, inner, term = text(by.epochs), text(by.length), text(by.term)
    signs = [rule.prove(f"{n} >= 0") for n in (outer, inner)]
    entry = {"rule": "divide", "index": str(by.index), "outer": outer, "inner": inner, "term": term, "signs": signs}
    claim = f"{w.text(w.record.divided(entry))} == 0"
    rule.close([], [[rule.add(claim, entry), "-1"]])
