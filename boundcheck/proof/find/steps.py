"""The steps of a derivation as lines: what each method of the kernel found, written out as a certificate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from boundcheck.proof.citations import ForVectors
from boundcheck.proof.contexts import context, declared, values_in
from boundcheck.proof.find.combination import Combination, combination
from boundcheck.proof.find.lines import NotShown
from boundcheck.proof.find.text import claim_text, text
from boundcheck.proof.find.writer import Writer
from boundcheck.proof.language import named
from boundcheck.proof.methods import Combine, Decide, Identity, Imported, Supposing
from boundcheck.proof.step import Context
from boundcheck.proof.vectors import Vector, VectorEquality
from boundcheck.verify import boundcheck_verify as v


@dataclass(frozen=True)
class Asked:
    """A claim to be written, with the lines that it may use."""

    claim: Any
    facts: dict[str, Any]  # name of a line -> proposition
    setting: Context
    now: tuple[str, ...] = ()
    moved: dict[str, str] = field(default_factory=dict[str, str])  # fact -> its line at values of indices
    values: dict[Any, Any] = field(default_factory=dict[Any, Any])  # those values

    @property
    def names(self) -> tuple[str, ...]:
        """The lines."""
        return tuple(n for n in self.facts if not n.startswith("#"))


def write_part(w: Writer, by: Any, asked: Asked, name: str) -> None:
    """Adds the lines of one part of a step, the last with its name; raises NotShown."""
    if isinstance(by, Supposing):
        _supposing(w, by, asked, name)
        return
    if not isinstance(by, ForVectors | Imported):  # facts about all values of an index are those of the cited record
        asked = _at_values(w, by, asked)
    claim = claim_text(asked.claim)
    if isinstance(by, Decide):
        try:
            _least(w, asked, name)
        except NotShown:
            more = {n: asked.facts.get(n) for n in (*asked.names, *w.background)}
            _least(w, replace(asked, facts={**asked.facts, **more}), name)
    elif isinstance(by, Combine | Identity):
        try:
            combination(w, by, asked, name)
        except NotShown:
            if not isinstance(by, Identity):
                raise
            w.prove(claim, asked.names, asked.now, name=name)
    elif isinstance(by, Imported):
        w.add(claim, {"rule": "assumed", "source": by.source}, asked.now, name)
    else:
        from boundcheck.proof.find.rules import write_rule

        write_rule(w, by, asked, name)


def conjuncts(relation: Any) -> list[Any]:
    """A conjunction in its parts; `u <= Min(a, b)` is one, and so is `u >= Max(a, b)`."""
    if isinstance(relation, sp.And):
        return [part for arg in relation.args for part in conjuncts(arg)]
    if isinstance(relation, sp.Le | sp.Lt | sp.Ge | sp.Gt):
        small, large = (relation.lhs, relation.rhs) if isinstance(relation, sp.Le | sp.Lt) else relation.args[::-1]
        below = sp.Lt if isinstance(relation, sp.Lt | sp.Gt) else sp.Le
        if isinstance(large, sp.Min):
            return [part for arg in large.args for part in conjuncts(below(small, arg, evaluate=False))]
        if isinstance(small, sp.Max):
            return [part for arg in small.args for part in conjuncts(below(arg, large, evaluate=False))]
    return [relation]


def _from_few(w: Writer, text_of: str, asked: Asked, name: str = "") -> str:
    """A line, shown from all that is asked, else without the domains of what it does not mention."""
    try:
        return w.prove(text_of, asked.names, asked.now, name=name)
    except NotShown:
        about = w.language.claim(text_of).atoms
        few = (n for n in asked.names if not n.startswith("domain ") or w.claim(n).atoms <= about)
        return w.prove(text_of, few, asked.now, name=name)


def _least(w: Writer, asked: Asked, name: str) -> None:
    """The claim itself, from the parts in which it was shown."""
    claim = asked.claim
    split = conjuncts(claim)
    text_of = claim_text(claim)
    if len(split) == 1:
        _from_few(w, text_of, asked, name)
        return
    each = [_from_few(w, claim_text(p), asked) for p in split]
    small: Any
    large: Any
    small, large = (claim.lhs, claim.rhs) if isinstance(claim, sp.Le | sp.Lt) else claim.args[::-1]
    if isinstance(large, sp.Min):
        values, low = [text(a) for a in large.args], text(small)
    else:
        values, low = [text(-a) for a in small.args], text(-large)
    w.add(text_of, {"rule": "min", "of": values, "low": low, "each": each}, asked.now, name)


def _supposing(w: Writer, by: Supposing, asked: Asked, name: str) -> None:
    supposed, wanted = asked.claim.args
    split = supposed.args if isinstance(supposed, sp.And) else (supposed,)
    now = (*asked.now, *(claim_text(p) for p in split))
    own = {f"#{len(asked.now) + k}": p for k, p in enumerate(split)}
    inside = Asked(wanted, {**asked.facts, **own}, asked.setting, now)
    write_part(w, by.by, inside, f"{name}, supposed")
    w.add(claim_text(asked.claim), {"rule": "suppose", "of": f"{name}, supposed"}, asked.now, name)


def _at_values(w: Writer, by: Any, asked: Asked) -> Asked:
    """The facts about an index that the claim does not have, at a value in its range."""
    covered = {by.generalised}
    kept = set(context([asked.claim, *(asked.facts[n] for n in asked.facts if n.startswith("#"))], asked.setting))
    wanted = context(asked.facts.values(), asked.setting) - kept - covered
    if not wanted:
        return asked
    chosen: dict[Any, Any] = {}
    lines: list[str] = []
    plain = [n for n in asked.names if not context([asked.facts[n]], asked.setting) - kept]
    for index in declared(asked.setting):
        if index not in wanted:
            continue
        relations = [r.xreplace(chosen) for symbol, r in asked.setting.ranges if symbol == index]
        for value in values_in(index, relations, asked.setting):
            try:
                found = [w.prove(claim_text(_put(r, index, value)), plain, asked.now) for r in relations]
            except NotShown:
                continue
            chosen[index] = value
            lines += found
            break
        else:
            raise NotShown(f"no value of {index} is shown to be in its range")
    facts: dict[str, Any] = {}
    moved: dict[str, str] = {}
    for name, fact in asked.facts.items():
        about = context([fact], asked.setting)
        about = [index for index in chosen if index in about]
        if not about or name.startswith("#"):
            facts[name] = fact
            continue
        if any(r.lhs in chosen for r in (fact,) if isinstance(fact, sp.Rel)) and name.startswith("index"):
            continue
        values = {str(i): text(chosen[i]) for i in about}
        put = w.record.lines[name].claim.put(
            {v.atom(("x", n)): w.language.value(t) for n, t in values.items()}, w.language.whole
        )
        if put.plain:
            continue
        line_text = _written(w, put)
        by_at = {"rule": "at", "of": name, "values": values, "ranges": lines}
        moved[name] = w.add(line_text, by_at, asked.now)
        facts[moved[name]] = _substituted(fact, chosen)
    return replace(asked, facts=facts, moved=moved, values=chosen)


def _put(relation: Any, index: Any, value: Any) -> Any:
    return relation.func(relation.lhs.xreplace({index: value}), relation.rhs.xreplace({index: value}), evaluate=False)


def _substituted(fact: Any, values: dict[Any, Any]) -> Any:
    if isinstance(fact, VectorEquality):
        sides = (Vector.of({a.subs(values): c.subs(values) for a, c in side.terms}) for side in (fact.left, fact.right))
        return VectorEquality(*sides)
    if isinstance(fact, sp.Rel):
        return fact.func(fact.lhs.subs(values), fact.rhs.subs(values), evaluate=False)
    return fact.subs(values)


def _written(w: Writer, claim: Any) -> str:
    if claim.op == "=>":
        return " & ".join(_written(w, p) for p in claim.supposed) + " => " + _written(w, claim.gap)
    return f"{w.text(claim.gap)} {claim.op} 0"


def quantity_lines(w: Writer, proof: Any, setting: Context) -> None:
    """A line for every quantity of the derivation: by its domain, or by its definition, it is at least 0."""
    known = [f for f in proof.facts if f.kind in ("domain", "definition")]
    flat = {name: part for f in known for name, part in named(f.name, f.claim).items()}
    for name in sorted(proof.quantities):
        claim: Any = sp.Ge(sp.Symbol(name, real=True), 0, evaluate=False)
        found = w.existing(w.language.claim(claim_text(claim)))
        if not found:
            found = f"quantity {name}"
            form = Combination(w, Asked(claim, flat, setting))
            try:
                form.written(found, form.image(w.language.claim(claim_text(claim)).gap), {})
            except (NotShown, v.Invalid):
                continue
        w.quantities.append(found)
