"""The general rules as lines: each is a sum of squares, or one of the verifier's rules about sums and induction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.proof.find.citation import write_citation
from boundcheck.proof.find.combination import Combination, combination
from boundcheck.proof.find.laws import averaged, every_sample, in_epochs
from boundcheck.proof.find.lines import NotShown
from boundcheck.proof.find.text import claim_text, text, vector_text
from boundcheck.proof.find.writer import Writer
from boundcheck.proof.language import scalars
from boundcheck.proof.methods import Citation, Combine, Identity
from boundcheck.verify import boundcheck_verify as v

Written = Callable[["Rule"], None]


class Rule:
    """A step by a general rule, with the lines that it may use."""

    def __init__(self, w: Writer, by: Any, asked: Any, name: str) -> None:
        self.w, self.by, self.asked, self.name = w, by, asked, name
        self.claim = w.language.claim(claim_text(asked.claim))
        around = w.around(self.claim, asked.now)
        kept = {n: f for n, f in asked.facts.items() if n.startswith("#") or w.about(w.record.lines[n]) <= around}
        self.kept = replace(asked, facts=kept)
        self.scalars = tuple(n for n in scalars(kept) if not n.startswith("#"))

    def add(self, claim: str, by: dict[str, Any]) -> str:
        """A line of its own; the denominators of its claim are shown."""
        by = {k: x for k, x in by.items() if x not in ((), [], None)}
        form = Combination(self.w, self.kept)
        return self.w.add_shown(claim, by, self.asked.now, "", lambda missing, _: form.nonzero(missing))

    def prove(self, claim: str) -> str:
        """A scalar relation from the facts of the step."""
        try:
            return self.w.prove(claim, self.scalars, self.asked.now)
        except NotShown:
            return self.w.prove(claim, (*self.scalars, *self.w.lasting), self.asked.now)

    def ranges(self, index: Any, *given: str) -> list[str]:
        """Lines that every number that meets what is given lies in the range of the index."""
        number = v.atom(("x", str(index)))
        place = {number: v.variable(v.atom(("x", v.ANY)))}
        now = (*self.asked.now, *given)
        found: list[str] = []
        for relation in self.w.record.ranges.get(number, ()):
            wanted = relation.put(place, self.w.language.whole)
            if wanted.plain:
                continue
            try:
                found.append(self.w.prove(f"{self.w.text(wanted.gap)} {wanted.op} 0", self.scalars, now))
            except NotShown as error:
                said = " and ".join(given).replace("@", str(index))
                raise NotShown(f"a value of {index} with {said} is not shown to be in the range of {index}") from error
        return [n if not n.startswith("#") else f"#{int(n[1:])}" for n in found]

    def close_with(self, line: str) -> None:
        """The claim from one line that gives it."""
        if self.claim.op == "==":
            self.close([], [[line, "1"]])
        else:
            self.close([["1", [line]]])

    def close(self, terms: list[Any], equal: list[Any] = [], signs: tuple[str, ...] = ()) -> None:  # noqa: B006
        """The claim, from lines that give it up to the equations among the facts."""
        found = Combination(self.w, self.kept)
        found.add(
            self.name, {"rule": "sum", "put": found.put, "terms": terms, "equal": equal, "signs": list(signs)}, ()
        )


def write_rule(w: Writer, by: Any, asked: Any, name: str) -> None:
    """The lines of a step by a general rule; raises NotShown."""
    rule = Rule(w, by, asked, name)
    kind = type(by).__name__
    if kind in _RULES:
        _RULES[kind](rule)
    elif isinstance(by, Citation):
        write_citation(rule)
    else:
        raise NotShown(f"the rule '{kind}' has no lines")


def _count(rule: Rule) -> tuple[str, str]:
    count = text(rule.by.count)
    return count, rule.prove(f"{count} >= 0")


def _over(rule: Rule, source: str, index: Any, count: str, more: dict[str, Any], signs: list[str]) -> str:
    """The sum of a line over an index."""
    w = rule.w
    line, number, n = w.record.lines[source].claim, v.atom(("x", str(index))), w.language.value(count)
    whole = w.language.whole
    gap = v.sum_over(number, line.gap, n, whole)
    if "part" in more:
        gap = v.plus(gap, v.sum_over(number, line.gap, w.language.value(more["part"]), whole), -1)
    claim = f"{w.text(gap)} {line.op if line.op in ('=', '==') else '>='} 0"
    ranges = rule.ranges(index, "@ >= 0", f"@ <= {count} - 1")
    by = {"rule": "over", "of": source, "index": str(index), "count": count, "ranges": ranges, "signs": signs, **more}
    return rule.add(claim, by)


def _sum_over(rule: Rule) -> None:
    count, sign = _count(rule)
    line = _over(rule, rule.by.source, rule.by.index, count, {}, [sign])
    if rule.claim.op in ("=", "=="):
        rule.close([], [[line, "1"]], (sign,))
    else:
        rule.close([["1", [line]]], [], (sign,))


def _at(rule: Rule) -> None:
    by, w = rule.by, rule.w
    number = v.atom(("x", str(by.index)))
    place = {number: w.language.value(text(by.value))}
    within = [r.put(place, w.language.whole) for r in w.record.ranges.get(number, ())]
    try:
        ranges = [rule.prove(f"{w.text(r.gap)} {r.op} 0") for r in within if not r.plain]
    except NotShown as error:
        raise NotShown(f"{by.value} is not shown to be in the range of {by.index}") from error
    there = w.record.lines[by.source].claim.put(place, w.language.whole)
    values = {str(by.index): text(by.value)}
    entry = {"rule": "at", "of": by.source, "values": values, "ranges": ranges}
    rule.close_with(rule.add(f"{w.text(there.gap)} {there.op} 0", entry))


def _telescoped(rule: Rule, term: str, index: Any, count: str, vectors: bool) -> str:
    w = rule.w
    number, whole = v.atom(("x", str(index))), w.language.whole
    places = [
        {number: x} for x in (v.plus(v.variable(number), v.ONE), v.variable(number), w.language.value(count), v.ZERO)
    ]
    value = w.language.read(v.parsed(term, "sum"), {})
    after, here, end, start = (v.put(value, p, whole) for p in places)
    total = v.sum_over(number, v.plus(after, here, -1), w.language.value(count), whole)
    claim = f"{w.text(v.plus(total, v.plus(end, start, -1), -1))} {'=' if vectors else '=='} 0"
    return rule.add(claim, {"rule": "telescope", "term": term, "index": str(index), "count": count})


def _telescoping(rule: Rule) -> None:
    by = rule.by
    count, sign = _count(rule)
    position = by.position(rule.asked.facts[by.source])
    line = _over(rule, by.source, by.index, count, {}, [sign])
    ends = _telescoped(rule, vector_text(position), by.index, count, True)
    rule.close([], [[line, "1"], [ends, "-1"]])


def _accumulation(rule: Rule) -> None:
    by = rule.by
    count, sign = _count(rule)
    line = _over(rule, by.source, by.index, count, {}, [sign])
    ends = _telescoped(rule, text(by.value), by.index, count, False)
    rule.close([["1", [line]]], [[ends, "1"]], (sign,))


def _shift(rule: Rule) -> None:
    by = rule.by
    count, sign = _count(rule)
    rule.close([], [[_telescoped(rule, text(by.term), by.index, count, False), "1"]], (sign,))


def _exchange(rule: Rule) -> None:
    by, w = rule.by, rule.w
    counts = {str(index): text(count) for index, count in ((by.index, by.count), (by.other, by.others))}
    signs = [rule.prove(f"{count} >= 0") for count in counts.values()]
    left, right = v.exchanged(w.language, text(by.term), list(counts.items()))
    entry = {"rule": "exchange", "term": text(by.term), "sums": [list(row) for row in counts.items()], "signs": signs}
    rule.close([], [[rule.add(f"{w.text(v.plus(left, right, -1))} == 0", entry), "-1"]], tuple(signs))


def _cauchy_schwarz(rule: Rule) -> None:
    by = rule.by
    count, sign = _count(rule)
    first, second = (by.term.at(by.index, sp.Symbol(n, real=True)) for n in ("_a", "_b"))
    apart = vector_text(first - second)
    square = f"sum(_a, {count}, sum(_b, {count}, <{apart}, {apart}>))"
    rule.close([["1/2", [{"square": square}]]], [], (sign,))


def _partial_sum(rule: Rule) -> None:
    by = rule.by
    term = f"{text(by.term)} >= 0"
    source = rule.w.existing(rule.w.language.claim(term), rule.asked.now)
    if not source:
        source = f"{rule.name}, a term"
        combination(rule.w, Combine(), replace(rule.asked, claim=sp.Ge(by.term, 0, evaluate=False)), source)
    whole, part = text(by.whole), text(by.part)
    signs = [rule.prove(c) for c in (f"{part} >= 0", f"{whole} - ({part}) >= 0")]
    line = _over(rule, source, by.index, whole, {"part": part}, signs)
    rule.close([["1", [line]]])


def _weight(rule: Rule, weight: Any) -> tuple[Fraction, list[str]]:
    if weight.is_Rational:
        if weight <= 0:
            raise NotShown("a weight is not positive")
        return Fraction(int(weight.p), int(weight.q)), []
    line = rule.prove(f"{text(weight)} > 0")
    return rule.w.ratio(line, rule.w.language.value(text(weight)), rule.asked.now), [line]


def _jensen(rule: Rule) -> None:
    pairs = list(zip(rule.by.weights, rule.by.vectors, strict=True))
    terms: list[Any] = []
    for i, (p, a) in enumerate(pairs):
        for q, b in pairs[:i]:
            (c, first), (d, second) = _weight(rule, p), _weight(rule, q)
            apart = vector_text(a - b)
            terms.append([str(c * d), [*_powers([*first, *second]), {"square": f"<{apart}, {apart}>"}]])
    rule.close(terms)


def _powers(lines: list[str]) -> list[Any]:
    return [n if lines.count(n) == 1 else [n, lines.count(n)] for n in dict.fromkeys(lines)]


def _young(rule: Rule) -> None:
    c, lines = _weight(rule, rule.by.weight)
    apart = vector_text(rule.by.u - rule.by.v / rule.by.weight)
    rule.close([[str(c), [*lines, {"square": f"<{apart}, {apart}>"}]]])


def _cauchy(rule: Rule, a: str, b: str) -> str:
    """The line |a|^2 |b|^2 >= <a, b>^2: a square where |a|^2 > 0; else <a, b>^2 > 0 would make a square negative."""
    w, now = rule.w, rule.asked.now
    one, other, both = f"<{a}, {a}>", f"<{b}, {b}>", f"<{a}, {b}>"
    claim = f"{one}*{other} - {both}**2 >= 0"
    part = f"{b} - {both}/{one}*({a})"
    here, then = f"#{len(now)}", f"#{len(now) + 1}"
    positive, zero = f"{one} > 0", f"0 >= {one}"
    first = w.add(claim, {"rule": "sum", "terms": [["1", [here, {"square": f"<{part}, {part}>"}]]]}, (*now, positive))
    some, none = f"{both}**2 > 0", f"0 >= {both}**2"
    scale = f"({other} + 1)/(2*{both}**2)"
    far = f"{b} - {scale}*{both}*({a})"
    size = f"({scale}*{both})**2"
    terms = [["1", []], ["1", [{"square": f"<{far}, {far}>"}]], ["1", [{"square": size}, here]]]
    false = w.add("0 > 0", {"rule": "sum", "terms": terms, "signs": [then]}, (*now, zero, some))
    absurd = w.add(claim, {"rule": "absurd", "of": false}, (*now, zero, some))
    terms = [["1", [then]], ["1", [{"square": one}, {"square": other}]]]
    plain = w.add(claim, {"rule": "sum", "terms": terms}, (*now, zero, none))
    second = w.add(claim, {"rule": "cases", "of": [absurd, plain], "on": some, "else": none}, (*now, zero))
    return w.add(claim, {"rule": "cases", "of": [first, second], "on": positive, "else": zero}, now)


def _triangle(rule: Rule) -> None:
    w, now = rule.w, rule.asked.now
    a, b = vector_text(rule.by.u), vector_text(rule.by.v)
    lines = [_cauchy(rule, a, b)]
    for one in (a, b, f"{a} + {b}"):
        square = {"square": f"<{one}, {one}>"}
        lines.append(w.add(f"<{one}, {one}> >= 0", {"rule": "sum", "terms": [["1", [square]]]}, now))
    lines.append(w.prove(f"<{a}, {b}> <= <{a}, {a}>**(1/2)*<{b}, {b}>**(1/2)", lines, now))
    w.prove(claim_text(rule.asked.claim), lines, now, name=rule.name)


def _limit(rule: Rule) -> None:
    by, w = rule.by, rule.w
    source = w.record.lines[by.source].claim
    gap = v.put(source.gap, {v.atom(("x", str(by.variable))): v.ZERO})
    ranges = rule.ranges(by.variable, "@ > 0", "@ < 1")
    entry = {"rule": "limit", "of": by.source, "index": str(by.variable), "ranges": ranges}
    rule.close([["1", [rule.add(f"{w.text(gap)} >= 0", entry)]]])


def _mean_value(rule: Rule) -> None:
    by, w = rule.by, rule.w
    start = text(by.start)
    given = (f"@ >= {start}", "@ <= 1")
    index = v.atom(("x", str(by.variable)))
    path = w.language.value(text(by.path))
    slope, first = w.language.value(text(by.slope)), w.language.value(start)
    rise = v.plus(v.put(path, {index: v.ONE}), v.put(path, {index: first}), -1)
    gap = v.plus(rise, v.times(slope, v.plus(v.ONE, first, -1)), -1)
    along: list[str] = []
    now = (*rule.asked.now, *given)
    for k in v.needed(v.put(path, {index: v.variable(v.atom(("x", v.ANY)))})):
        poly = w.text((dict(v.BASES[k]), {}))
        if line := w.first_of((f"{poly} > 0", f"0 > {poly}"), rule.scalars, now):
            along.append(line)
    entry = {
        "rule": "mean value",
        "of": by.source,
        "index": str(by.variable),
        "path": text(by.path),
        "slope": text(by.slope),
        "start": start,
        "below": rule.prove(f"{start} < 1"),
        "along": along,
        "ranges": rule.ranges(by.variable, *given),
    }
    rule.close([["1", [rule.add(f"{w.text(gap)} >= 0", entry)]]])


def _induction(rule: Rule) -> None:
    by, w = rule.by, rule.w
    case = w.record.lines[by.step].claim.supposed[0].put({v.atom(("x", str(by.index))): v.ZERO}, w.language.whole)
    base = by.base
    if not w.claim(base).gives(case):
        base = w.prove(f"{w.text(case.gap)} {case.op} 0", rule.scalars, rule.asked.now)
    last = text(by.last)
    ranges = rule.ranges(by.index, "@ >= 0", f"@ <= {last} - 1")
    signs = [rule.prove(f"{last} >= 0")]
    entry = {"rule": "induction", "base": base, "step": by.step, "index": str(by.index), "last": last}
    entry |= {"ranges": ranges, "signs": signs}
    end = w.record.lines[by.step].claim.supposed[0]
    end = end.put({v.atom(("x", str(by.index))): w.language.value(last)}, w.language.whole)
    claim = f"{w.text(end.gap)} {end.op} 0"
    if w.language.claim(claim).same(rule.claim):
        entry = {k: x for k, x in entry.items() if x}
        w.add(claim_text(rule.asked.claim), entry, rule.asked.now, rule.name)
        return
    line = rule.add(claim, entry)
    rule.close_with(line)


def _expected(rule: Rule) -> None:
    by = rule.by
    combination(rule.w, by.by if isinstance(by.by, Identity) else by, rule.asked, rule.name, by.laws)


def _power(rule: Rule, base: Any, exponent: Any, more: dict[str, Any]) -> None:
    sign = rule.prove(f"{text(base)} > 0")
    entry = {"rule": "power", "base": text(base), "exponent": text(exponent), "sign": sign, **more}
    rule.close_with(rule.add(claim_text(rule.asked.claim), entry))


def _positive_power(rule: Rule) -> None:
    _power(rule, rule.by.base, rule.by.exponent, {})


def _bernoulli(rule: Rule) -> None:
    _power(rule, rule.by.base, -rule.by.power, {"falls": rule.prove(f"{text(rule.by.power)} >= 0")})


def _limit_superior(rule: Rule) -> None:
    by = rule.by
    entry = {k: text(getattr(by, k)) for k in ("value", "bound", "factor", "shift", "rate", "limit", "index")}
    signs = [rule.prove(f"{entry[k]} > 0") for k in ("shift", "rate")]
    entry |= {"rule": "limsup", "of": by.source, "ranges": rule.ranges(by.index, "@ >= 0"), "signs": signs}
    rule.close_with(rule.add(claim_text(rule.asked.claim), entry))


_RULES: dict[str, Written] = {
    "PositivePower": _positive_power,
    "BernoulliPower": _bernoulli,
    "LimitSuperior": _limit_superior,
    "At": _at,
    "SumOver": _sum_over,
    "Telescoping": _telescoping,
    "Accumulation": _accumulation,
    "Shift": _shift,
    "Exchange": _exchange,
    "CauchySchwarz": _cauchy_schwarz,
    "PartialSum": _partial_sum,
    "Jensen": _jensen,
    "Young": _young,
    "Triangle": _triangle,
    "Limit": _limit,
    "MeanValue": _mean_value,
    "Induction": _induction,
    "Expected": _expected,
    "EverySample": every_sample,
    "Averaged": averaged,
    "InEpochs": in_epochs,
}
