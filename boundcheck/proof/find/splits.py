"""Case splits and what is shown part by part: the least of several, integers, contradictions, and sums of terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import ceil
from typing import Any

from boundcheck.proof.find.axioms import Special
from boundcheck.proof.find.lines import Hypothesis, NotShown, Sign
from boundcheck.proof.find.polynomial_search import Poly, contradiction
from boundcheck.verify import boundcheck_verify as v

SPLITS = 3  # cases within cases


def _nothing() -> tuple[str, ...]:
    return ()


class Cases(Special):
    """The part of a scalar relation that splits it."""

    _multiple: Any

    def in_cases(self, text: str, op: str, gap: Any, name: str) -> str:
        """A line with the claim by a split of it; "" where nothing in it suggests one."""
        if op in (">=", ">") and not gap[1]:
            found = self._at_least(text, op, gap[0], name)
            if found:
                return found
        if len(self.now) >= SPLITS or self.depth > 1:
            return ""
        for n in sorted(v.inside(gap)):
            if v.ATOMS[n][0] == "min":
                return self._by_the_least(text, n, name)
        for n in sorted(self.w.language.integers & {n for m in gap[0] for n, e in m if e > 1}):
            low = self._least_value(n)
            if low is not None:
                return self._by_integer(text, v.name_of(n), low, name)
        return ""

    def _at_least(self, text: str, op: str, poly: Poly, name: str) -> str:
        """c least + rest >= 0, from the same of each of the values, where c is a positive number."""
        for n in sorted({n for m in poly for n, _ in m if v.ATOMS[n][0] == "min"}):
            c = poly.get(((n, 1),), 0)
            rest = {m: x for m, x in poly.items() if m != ((n, 1),)}
            if op != ">=" or c <= 0 or n in v.inside((rest, {})):
                continue
            low = self.w.text((v.poly_times(rest, {(): -1 / Fraction(c)}), {}))
            parts = [self.w.text(v.thawed(k)) for k in v.ATOMS[n][1]]
            each = [self._sub(f"{part} >= {low}") for part in parts]
            by = {"rule": "min", "of": parts, "low": low, "each": each}
            line = self.w.add(f"{v.name_of(n)} >= {low}", by, self.now)
            entry: dict[str, Any] = {"rule": "sum", "terms": [[str(c), [line]]]}
            return self._finish(text, entry | ({"put": self.put} if self.put else {}), name)
        return ""

    # two cases

    def _two(self, text: str, on: str, other: str, shown: Sequence[Callable[[], Iterable[str]]], name: str) -> str:
        """The claim by cases; `shown` gives the names of more lines in each case."""
        now, lines = self.now, list[str]()
        for supposed, more in zip((on, other), shown, strict=True):
            try:
                self.now = (*now, supposed)
                lines.append(self.w.prove(text, (*self.names, *more()), self.now, self.depth))
            finally:
                self.now = now
        # a supposition that gives the claim is a line of its own
        for k, supposed in enumerate((on, other)):
            if lines[k].startswith("#"):
                lines[k] = self.within(supposed, text, {"rule": "sum", "terms": [["1", [lines[k]]]]})
        return self._finish(text, {"rule": "cases", "of": lines, "on": on, "else": other}, name)

    def within(self, supposed: str, text: str, by: dict[str, Any]) -> str:
        """A line under one more supposition."""
        now = self.now
        try:
            self.now = (*now, supposed)
            return self._finish(text, by, "")
        finally:
            self.now = now

    def _by_the_least(self, text: str, n: int, name: str) -> str:
        parts = [self.w.text(v.thawed(k)) for k in v.ATOMS[n][1]]
        for i, one in enumerate(parts):
            for other in parts[:i]:
                ways = (f"{one} <= {other}", f"{one} > {other}")
                if not any(self.w.existing(self.w.language.claim(w), self.now) for w in ways):
                    return self._two(text, *ways, (_nothing, _nothing), name)
        raise NotShown(text)

    def _least_value(self, n: int) -> int | None:
        """A number that the integer is known not to be below."""
        known = [h.poly for h in self.hypotheses if h.op in (">=", ">") and set(h.poly) - {()} == {((n, 1),)}]
        return max(
            (ceil(-Fraction(p.get((), 0)) / Fraction(p[(n, 1),])) for p in known if p[(n, 1),] > 0), default=None
        )

    def _by_integer(self, text: str, n: str, low: int, name: str) -> str:
        """The integer is its least value, or at least one more."""

        def above() -> list[str]:
            return [self.w.add(f"{n} - {low} >= 1", {"rule": "integer", "of": f"#{len(self.now) - 1}"}, self.now)]

        def there() -> list[str]:
            sides = [self._sub(f"{n} >= {low}"), f"#{len(self.now) - 1}"]
            return [self.w.add(f"{n} == {low}", {"rule": "both", "of": sides}, self.now)]

        return self._two(text, f"{n} - {low} > 0", f"{low} >= {n}", (above, there), name)

    def by_contradiction(self, poly: Poly, strict: bool) -> str:
        """A line `poly >= 0` (`> 0` if strict): its opposite contradicts the hypotheses."""
        text = self.w.text((poly, {}))
        claim, other = (f"{text} > 0", f"0 >= {text}") if strict else (f"{text} >= 0", f"0 > {text}")
        opposite = (v.poly_times(poly, {(): -1}), ">=" if strict else ">")
        known = [*((h.poly, h.op) for h in self.hypotheses), opposite]
        found = contradiction(known, len(known) - 1)
        if found is None:
            raise NotShown(text)
        here = f"#{len(self.now)}"
        terms: list[Any] = []
        self.hypotheses.append(Hypothesis(opposite[0], opposite[1], Fraction(1), ((here, 1),)))
        try:
            for c, indices, own in found.terms:
                one, parts = c, list[tuple[str, int]]()
                for i in indices:
                    one *= self.hypotheses[i].number
                    parts += self.hypotheses[i].factors
                terms.append(self._term(one, parts, [f"({self.w.text((p, {}))})**2" for p in own]))
            now = self.now
            self.now = (*now, other)
            equal = [self._multiple(i, p, Fraction(1), (), ()) for i, p in found.equal]
            self.now = now
        finally:
            self.hypotheses.pop()
        by: dict[str, Any] = {"rule": "sum", "terms": terms}
        by |= {"equal": equal} if equal else {}
        by |= {"put": self.put} if self.put else {}
        return self._or_absurd(claim, other, by)

    def _or_absurd(self, claim: str, other: str, by: dict[str, Any]) -> str:
        """The claim, since its opposite gives 0 > 0 by this certificate."""
        false = self.within(other, "0 > 0", by)
        absurd = self.within(other, claim, {"rule": "absurd", "of": false})
        plain = self.within(claim, claim, {"rule": "sum", "terms": [["1", [f"#{len(self.now)}"]]]})
        return self._finish(claim, {"rule": "cases", "of": [plain, absurd], "on": claim, "else": other}, "")

    def by_powers(self, poly: Poly) -> str:
        """A line `y - x >= 0` for two products with roots, from y >= 0 and y**d >= x**d; "" for other polynomials."""
        degrees = {v.ATOMS[n][2] for m in poly for n, _ in m if v.ATOMS[n][0] == "root"}
        if len(poly) != 2 or len(degrees) != 1 or min(poly.values()) > 0 or max(poly.values()) < 0:
            return ""
        d, (m, n) = degrees.pop(), sorted(poly, key=lambda one: -poly[one])
        y, x = ({m: poly[m]}, {}), ({n: -poly[n]}, {})
        texts = self.w.text(y), self.w.text(x)
        claim, other = f"{texts[0]} - {texts[1]} >= 0", f"{texts[1]} - {texts[0]} > 0"
        low = self._sub(f"{texts[0]} >= 0")
        (of_y, rows), (of_x, more) = self._without_roots(y, d, 1), self._without_roots(x, d, -1)
        gap = v.plus(of_y, of_x, -1)
        by: dict[str, Any] = {"rule": "sum", "equal": [*rows, *more]}
        if gap[0]:
            line = self._sub(f"{self.w.text(gap)} >= 0")
            by["terms"] = [[str(self.w.ratio(line, gap, self.now)), [line]]]
        powers = self._finish(f"({texts[0]})**{d} - ({texts[1]})**{d} >= 0", by, "")
        here = f"#{len(self.now)}"
        y_low = self.w.ratio(low, y, self.now)
        firm = self.within(other, f"{texts[1]} > 0", {"rule": "sum", "terms": [["1", [here]], [str(y_low), [low]]]})
        terms: list[Any] = [["1", [powers]], ["1", [here, [firm, d - 1]]]]
        terms += [[str(y_low**k), [here, [firm, d - 1 - k], [low, k]]] for k in range(1, d - 1)]
        terms.append([str(y_low ** (d - 1)), [here, [low, d - 1]]])
        return self._or_absurd(claim, other, {"rule": "sum", "terms": terms})

    def _without_roots(self, a: Any, d: int, sign: int) -> tuple[Any, list[list[str]]]:
        """The power d of a product, without roots; and the multiples of their equations by which it differs."""
        ((monomial, c),) = a[0].items()
        done, rows = v.constant(Fraction(c) ** d), list[list[str]]()
        for i, (n, e) in enumerate(monomial):
            key, later = v.ATOMS[n], v.power(({monomial[i + 1 :]: 1}, {}), d)
            if key[0] != "root":
                done = v.times(done, v.power(v.variable(n), e * d))
                continue
            base, root = v.thawed(key[1]), v.power(v.variable(n), d)
            line = self.w.existing(self.w.language.claim(f"({v.name_of(n)})**{d} == {self.w.text(base)}"), self.now)
            if not line:
                raise NotShown(v.name_of(n))
            between = v.ZERO
            for k in range(e):
                between = v.plus(between, v.times(v.power(root, k), v.power(base, e - 1 - k)))
            rows.append([line, self.w.text(v.times(v.times(v.constant(sign), done), v.times(between, later)))])
            done = v.times(done, v.power(base, e))
        return done, rows

    # part by part

    def by_parts(self, poly: Poly) -> list[tuple[Fraction, list[tuple[str, int]]]]:
        """A polynomial as a sum of atoms that are at least 0 times coefficients that are; [] where it is not found.

        Each row is a number and lines with powers, whose product is one part of the polynomial.
        """
        if self.depth > 2 or len(poly) < 2:
            return []
        signed = {
            m[0][0]: h
            for h in self.hypotheses
            for m in h.poly
            if h.op in (">=", ">") and len(h.poly) == 1 and len(m) == 1 and m[0][1] == 1 and h.poly[m] > 0
        }
        rows: list[tuple[Fraction, list[tuple[str, int]]]] = []
        while poly:
            of = {n: [m for m in poly if n in dict(m)] for n in signed}
            fit = {n: ms for n, ms in of.items() if ms and all(dict(m)[n] == 1 for m in ms)}
            own = sorted((len(ms), n) for n, ms in fit.items() if len(ms) < len(poly) or rows)
            for _, n in own:
                part = {tuple((a, e) for a, e in m if a != n): poly[m] for m in fit[n]}
                try:
                    line = self._sub(f"{self.w.text((part, {}))} >= 0")
                except NotShown:
                    continue
                h = signed[n]
                number = self.w.ratio(line, (part, {}), self.now) * h.number / Fraction(h.poly[(n, 1),])
                rows.append((number, [(line, 1), *h.factors]))
                poly = {m: c for m, c in poly.items() if m not in fit[n]}
                break
            else:
                return []
        return rows

    def side_of(self, base: int) -> Sign | None:
        """A line that a base polynomial is at least, or at most, 0."""
        text = self.w.text((dict(v.BASES[base]), {}))
        for side, claim in ((1, f"{text} >= 0"), (-1, f"0 >= {text}")):
            try:
                line = self._sub(claim)
            except NotShown:
                continue
            return Sign(line, side, 1 / abs(self.w.ratio(line, (dict(v.BASES[base]), {}), self.now)))
        return None
