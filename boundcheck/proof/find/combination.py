"""Vector steps: multipliers of facts, and what is left as squares by an exact LDL^T elimination."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.proof.find.laws import expect
from boundcheck.proof.find.lines import NotShown, spelled
from boundcheck.proof.find.multipliers import ONE, Linear, Row, row_of, shortfall
from boundcheck.proof.find.polynomial_search import quotient, search
from boundcheck.proof.find.text import claim_text, text
from boundcheck.proof.find.writer import Writer
from boundcheck.proof.language import scalars
from boundcheck.proof.methods import HYPOTHESIS
from boundcheck.verify import boundcheck_verify as v


def combination(w: Writer, by: Any, asked: Any, name: str, laws: tuple[str, ...] = ()) -> None:
    """The line of a step by `Combine` or `Identity`, or by `Expected` with its laws; raises NotShown."""
    found = Combination(w, asked)
    values = getattr(asked, "values", {})
    for number in getattr(getattr(by, "by", by), "coefficients", ()):
        found.numbers |= set(v.inside(w.language.value(text(number.subs(values)))))
    for law in laws:
        expect(found, law)
    claim = w.language.claim(claim_text(asked.claim))
    if claim.op == "=":
        found.vectors(name)
        return
    gap = found.image(claim.gap)
    if not gap[0]:
        found.finish(name, gap, [], {})
        return
    if claim.op == "==":
        found.equation(name, gap)
        return
    nearest: tuple[dict[str, str], Any, str] = {}, gap, "it is not shown to be"
    for multipliers in _hints(by, asked) or found.candidates(gap):
        try:
            found.written(name, gap, multipliers)
            return
        except (NotShown, v.Invalid) as error:
            if not nearest[0] or len(found.rest[0]) < len(nearest[1][0]):
                nearest = multipliers, found.rest, str(error)
                w.nearest = (*nearest, found.row(nearest[1]))
    raise NotShown(shortfall(*nearest, found.row(nearest[1])))


def _hints(by: Any, asked: Any) -> list[dict[str, str]]:
    """The multipliers that the author of the step gives, if any, by the names of the lines."""
    hints = dict(getattr(getattr(by, "by", by), "multipliers", {}))
    if not hints:
        return []
    names = (
        {k: k for k in asked.facts}
        | getattr(asked, "moved", {})
        | {
            f"{HYPOTHESIS}.{k}" if k else HYPOTHESIS: n
            for k, n in enumerate(n for n in asked.facts if n.startswith("#"))
        }
    )
    values = getattr(asked, "values", {})
    return [
        {names[k]: text(sp.sympify(m, strict=True).subs(values)) for k, m in hints.items() if m != 0 and k in names}
    ]


class Combination:
    """One claim about vectors and the facts that it may use."""

    def __init__(self, w: Writer, asked: Any) -> None:
        around = w.around(w.language.claim(claim_text(asked.claim)), asked.now)
        kept = {n: f for n, f in asked.facts.items() if n.startswith("#") or w.about(w.record.lines[n]) <= around}
        self.w, self.asked, self.now = w, replace(asked, facts=kept), asked.now
        self.text = claim_text(asked.claim)
        self.put: list[list[str]] = []
        self.rules: list[Any] = []
        self.numbers: set[int] = set()  # functions and sums that are coefficients of the step
        self.counts: list[str] = []  # lines that numbers of terms are at least 0
        self.rest: Any = v.ZERO
        self.scalars = tuple(n for n in scalars(kept) if not n.startswith("#")) + tuple(w.quantities)
        self._equations()
        self._equal_powers()

    def _equations(self) -> None:
        lines = [(n, self.w.claim(n, self.now)) for n in self.asked.facts]
        for vectors in (True, False):
            for name, claim in lines:
                if claim.op != ("=" if vectors else "=="):
                    continue
                written = self.now[int(name[1:])] if name.startswith("#") else self.w.texts[name]
                tree = v.parsed(written)
                targets: list[str] = [v.name_of(n) for n in v.linear(claim.gap)] if vectors else []
                first = _left_atom(tree[1])
                targets = [first, *targets] if first else targets
                for target in targets:
                    try:
                        self.rules.append((vectors, self.w.record.substitution(claim, target, self._puts())))
                    except (v.Invalid, ValueError, KeyError):
                        continue
                    self.put.append([name, target])
                    break

    def image(self, value: Any) -> Any:
        """The value with the equations put in."""
        for what in self._puts():
            value = v.put(value, what, self.w.language.whole)
        return value

    def vectors(self, name: str) -> None:
        """An equation of vectors."""
        self.add(name, {"rule": "sum", "put": self.put}, self.scalars)

    def _equal_powers(self) -> None:
        """Of powers with equal bases that are written in two ways, one is put in for the other."""
        claims = [self.w.language.claim(self.text), *(self.w.claim(n, self.now) for n in self.asked.facts)]
        values = [self.image(c.gap) for c in claims if c.op not in ("=", "=>")]
        powers = sorted({n for x in values for n in v.inside(x) if v.ATOMS[n][0] == "**"})
        for i, n in enumerate(powers):
            for m in powers[:i]:
                (_, one, exponent), (_, other, same) = v.ATOMS[n], v.ATOMS[m]
                if exponent != same or v.plus(v.thawed(one), v.thawed(other), -1)[0]:
                    continue
                left, right = self.w.text(v.thawed(one)), self.w.text(v.thawed(other))
                of = self.line(f"{left} == {right}", {"rule": "sum"})
                by = {"rule": "replace", "of": of, "left": left, "right": right}
                by["in"] = f"@**({self.w.text(v.thawed(exponent))})"
                line = self.line(f"{v.name_of(n)} == {v.name_of(m)}", by)
                self.rules.append((False, self.w.record.substitution(self.w.claim(line), v.name_of(n), self._puts())))
                self.put.append([line, v.name_of(n)])
                break

    def _puts(self) -> list[Any]:
        return [r for _, r in self.rules]

    def add(self, name: str, by: dict[str, Any], signs: Any) -> None:
        """The line of the claim."""
        self.line(self.text, by, name)

    def line(self, text: str, by: dict[str, Any], name: str = "") -> str:
        """A line; denominators whose sign is missing are shown from the facts."""

        def shown(missing: str, signs: Sequence[str]) -> str:
            return self._product(missing, signs) or self._before(missing) or self.nonzero(missing)

        return self.w.add_shown(text, {k: x for k, x in by.items() if x}, self.now, name, shown)

    def _product(self, poly: str, used: Sequence[str]) -> str:
        """A fact that a product with this factor differs from 0, or ''."""
        wanted = set(v.bases_of(self.w.language.value(poly)[0]))
        found: list[tuple[int, int, str]] = []
        for name in self.asked.facts:
            claim = self.w.claim(name, self.now)
            gap = self.image(claim.gap) if claim.op in (">", "!=") and name not in used else v.ZERO
            if gap[0] and wanted <= set(v.bases_of(gap[0])):
                found.append((len(v.needed(gap)), len(gap[0]), name))
        return min(found)[2] if found else ""

    def _before(self, poly: str) -> str:
        """A line that a denominator differs from 0 as it was before the equations were put in, or ''."""
        wanted = v.bases_of(self.w.language.value(poly)[0])
        put = {n for n, _ in self.put}
        for name in self.asked.facts:
            claim = self.w.claim(name, self.now)
            for k in v.needed(claim.gap) if claim.op in (">=", ">", "==") and name not in put else ():
                base = (dict(v.BASES[k]), {})
                image = self.image(base)
                if image == base or v.bases_of(image[0]) != wanted:
                    continue
                sides = (f"{self.w.text(base)} > 0", f"0 > {self.w.text(base)}")
                if line := self.w.first_of(sides, [n for n in self.scalars if n not in put], self.now):
                    return line
        return ""

    def nonzero(self, poly: str) -> str:
        """A line that shows a denominator to differ from 0."""
        for claim in (f"{poly} > 0", f"0 > {poly}"):
            for names in (self.scalars, (*self.scalars, *self.w.background)):
                if line := self.w.first_of((claim,), names, self.now):
                    return line
        raise NotShown(f"the denominator {poly} is not shown to differ from 0")

    def finish(self, name: str, gap: Any, terms: list[Any], more: dict[str, Any]) -> None:
        """The line of the claim."""
        self.add(name, {"rule": "sum", "put": self.put, "terms": terms, **more}, ())

    def written(self, name: str, gap: Any, multipliers: Mapping[str, str]) -> None:
        """The line with these multipliers of facts."""
        terms: list[Any] = []
        equal: list[list[str]] = []
        values = {fact: (self.w.claim(fact, self.now), self.w.language.value(m)) for fact, m in multipliers.items()}
        rest = gap
        for claim, value in values.values():
            rest = v.plus(rest, v.times(self.image(value), self.image(claim.gap)), -1)
        self.rest = rest  # what the multipliers leave over
        for fact, written in multipliers.items():
            claim, value = values[fact]
            number = v.number_of(value)
            if claim.op == "==":
                equal.append([fact, written])
            elif number is not None:
                if number:
                    terms.append([str(Fraction(number)), [fact]])
            else:
                try:
                    line = self.positive(written)
                except NotShown as error:
                    raise NotShown(f"the factor of '{fact}' is not shown to be at least 0") from error
                terms.append([str(self.w.ratio(line, value, self.now)), [line, fact]])
        terms += self.remainder(rest)
        self.finish(name, gap, terms, {"equal": equal, "signs": list(dict.fromkeys(self.counts))})

    def _named(self) -> set[int]:
        """The quantities that are symbols."""
        return {m[0][0] for n in self.w.quantities for m in self.w.claim(n).gap[0] if len(m) == 1}

    def row(self, value: Any) -> Row | None:
        """A value as a linear form in terms; None where it is not linear in them."""
        named = self._named()
        return row_of(value, lambda n: self._is_term(n) or n in named)

    def candidates(self, gap: Any) -> Iterator[dict[str, str]]:
        """Multipliers of the facts to try for the claim `gap >= 0`."""
        own, named = self.row(gap), self._named()
        if own is None:
            return
        facts: dict[str, Any] = {}
        for name in self.asked.facts:
            claim = self.w.claim(name, self.now)
            row = self.row(self.image(claim.gap)) if claim.op in (">=", ">") else None
            if row and set(row) != {ONE} and not (len(row) == 1 and self._soft(next(iter(row)), named)):
                facts[name] = row
        terms = dict.fromkeys(n for row in (own, *facts.values()) for n in row)
        soft = [n for n in terms if n == ONE or self._soft(n, named)]
        mixed = [n for n in terms if n not in soft and v.ATOMS[n][0] == "<>"]
        yield from Linear(own, facts, soft, mixed).candidates()

    def _soft(self, n: int, named: set[int]) -> bool:
        """Whether a term is at least 0 by its form or by the domain of a quantity."""
        while v.ATOMS[n][0] == "S" and not isinstance(v.ATOMS[n][2], int):
            (top, bottom) = v.thawed(v.ATOMS[n][2])
            if bottom or len(top) != 1 or next(iter(top.values())) <= 0 or len(next(iter(top))) != 1:
                return False
            n = next(iter(top))[0][0]
        return n in named or (v.ATOMS[n][0] == "<>" and v.ATOMS[n][1] == v.ATOMS[n][2])

    def equation(self, name: str, gap: Any) -> None:
        """An equation as multiples of equations among the facts."""
        put = {n for n, _ in self.put}
        rows = [(n, self.image(self.w.claim(n, self.now).gap)) for n in self.asked.facts if n not in put
                if self.w.claim(n, self.now).op == "=="]  # fmt: skip
        rows = [(n, x) for n, x in rows if x[0] and not x[1]]
        found = search(gap[0], False, [(x[0], "==") for _, x in rows]) if rows and not gap[1] else None
        if found is None or found.terms:
            raise NotShown("an equation")
        self.finish(name, gap, [], {"equal": [[rows[i][0], self.w.text((p, {}))] for i, p in found.equal]})

    def positive(self, written: str, strict: bool = False) -> str:
        """A line that claims that an expression is at least 0."""
        return self.w.prove(f"{written} {'>' if strict else '>='} 0", self.scalars, self.now)

    def remainder(self, rest: Any) -> list[Any]:
        """What is left, as terms that are at least 0."""
        if not rest[0]:
            return []
        forms: dict[Any, dict[Any, Any]] = {}  # () or (level, count) of a sum -> product -> coefficient
        others: dict[Any, Any] = {}
        for monomial, c in rest[0].items():
            linear = [n for n, _ in monomial if self._is_term(n)]
            if len(linear) > 1 or any(e != 1 for n, e in monomial if n in linear):
                raise NotShown("not linear in the inner products")
            key: Any = linear[0] if linear else None
            own = {tuple((n, e) for n, e in monomial if n != key): c}
            where = None if key is None else _product_in(key)
            group: dict[Any, Any] = others if where is None else forms.setdefault(where[0], {})
            place = key if where is None else where[1]
            group[place] = v.plus(group.get(place, v.ZERO), (own, {}))
        terms: list[Any] = []
        for key, top in others.items():
            if not top[0]:
                continue
            coefficient = self.simple((top[0], rest[1]))
            if key is None:
                terms += self._scalar_rest(coefficient)
                continue
            terms.append(self._scaled(coefficient, self._at_least_0(key)))
        for where, products in forms.items():
            form = {k: self.simple((top[0], rest[1])) for k, top in products.items() if top[0]}
            around = "{}"
            if where:
                level, count = where
                around = f"sum(_{level}, {self.w.text(v.thawed(count))}, {{}})"
                self._count(v.thawed(count))
            terms += self._squares(form, around)
        return terms

    def _count(self, count: Any) -> None:
        if v.number_of(count) is None:
            self.counts.append(self.positive(self.w.text(count)))

    def _scalar_rest(self, coefficient: Any) -> list[Any]:
        number = v.number_of(coefficient)
        if number is not None:
            if number < 0:
                raise NotShown("a negative rest")
            return [[str(Fraction(number)), []]] if number else []
        line = self.positive(self.w.text(coefficient))
        return [[str(self.w.ratio(line, coefficient, self.now)), [line]]]

    def _scaled(self, coefficient: Any, factor: Any) -> list[Any]:
        number = v.number_of(coefficient)
        if number is not None:
            if number < 0:
                raise NotShown("a negative coefficient")
            return [str(Fraction(number)), [factor]]
        line = self.positive(self.w.text(coefficient))
        return [str(self.w.ratio(line, coefficient, self.now)), [line, factor]]

    def _is_term(self, n: int) -> bool:
        key = v.ATOMS[n]
        return n not in self.numbers and key[0] in ("<>", "S", "f", "slope")

    def _at_least_0(self, n: int) -> Any:
        """A factor that is at least 0 by its form, or a line that says so."""
        written = v.name_of(n)
        if v.ATOMS[n][0] == "S":
            inner: Any = n
            while v.ATOMS[inner][0] == "S":
                self._count(v.thawed(v.ATOMS[inner][3]))
                ((monomial, _),) = v.thawed(v.ATOMS[inner][2])[0].items()
                inner = monomial[0][0]
            return {"square": written}
        return self.positive(written)

    def simple(self, value: Any) -> Any:
        """The value without common factors of both parts."""
        if not value[1]:
            return value
        top, bottom = quotient(value[0], v.expanded(value[1]))
        return v.times((top, {}), v.inverse((bottom, {})))

    def _squares(self, form: dict[int, Any], around: str) -> list[Any]:
        """LDL^T: the form as a sum of pivots times squared norms; raises NotShown."""
        entries: dict[tuple[int, int], Any] = {}
        for n, c in form.items():
            a, b = v.ATOMS[n][1:]
            if a == b:
                entries[a, a] = c
            else:
                entries[a, b] = entries[b, a] = v.times(c, v.constant(Fraction(1, 2)))
        left = {a for a, _ in entries}
        terms: list[Any] = []
        while left:
            alone = [a for a in sorted(left) if not any((a, b) in entries for b in left if b != a)]
            if alone:
                for a in alone:
                    left.discard(a)
                    if (a, a) in entries:
                        atom = v.name_of(a)
                        terms.append(self._scaled(entries[a, a], {"square": around.format(f"<{atom}, {atom}>")}))
                continue
            pivot = self._pivot(left, entries)
            value = entries[pivot, pivot]
            row = {
                b: self.simple(v.times(entries[pivot, b], v.inverse(value)))
                for b in left
                if (pivot, b) in entries and b != pivot
            }
            vector = " + ".join([v.name_of(pivot), *(f"({self.w.text(c)})*{v.name_of(b)}" for b, c in row.items())])
            terms.append(self._scaled(value, {"square": around.format(f"<{vector}, {vector}>")}))
            left.discard(pivot)
            for b in row:
                for c in row:
                    entry = v.plus(entries.get((b, c), v.ZERO), v.times(row[b], entries[pivot, c]), -1)
                    entry = self.simple(entry) if entry[0] else v.ZERO
                    if entry[0]:
                        entries[b, c] = entry
                    else:
                        entries.pop((b, c), None)
        return terms

    def _pivot(self, left: set[int], entries: Any) -> int:
        for a in sorted(left):
            value = entries.get((a, a))
            if value is None:
                continue
            number = v.number_of(value)
            try:
                if (number is not None and number > 0) or (number is None and self.positive(self.w.text(value), True)):
                    return a
            except NotShown:
                continue
        raise NotShown("the form is not shown to be positive semidefinite")


def _product_in(n: int) -> Any:
    """((), product) for an inner product, ((level, count), product) for a sum of one, else None."""
    key = v.ATOMS[n]
    if key[0] == "<>":
        return (), n
    if key[0] == "S" and not isinstance(key[2], int):
        (top, bottom) = v.thawed(key[2])
        if not bottom and len(top) == 1:
            ((monomial, _),) = top.items()
            if len(monomial) == 1 and monomial[0][1] == 1 and v.ATOMS[monomial[0][0]][0] == "<>":
                return (key[1], key[3]), monomial[0][0]
    return None


def _left_atom(tree: Any) -> str:
    """The single term on the left side, as text, or ''."""
    return spelled(tree) if tree[0] in ("name", "call") else ""
