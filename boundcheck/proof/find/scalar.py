"""One scalar relation, shown from named lines: polynomials without denominators, and the search for a certificate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from boundcheck.proof.find.axioms import based
from boundcheck.proof.find.lines import Hypothesis, NotShown, Sign, sign_lines, spelled
from boundcheck.proof.find.polynomial_search import Poly, degree, factors_of, search
from boundcheck.proof.find.splits import Cases
from boundcheck.verify import boundcheck_verify as v

DEPTH = 4  # signs of denominators within signs of denominators


class Scalar(Cases):
    """One relation and the lines that it may use."""

    def __init__(self, writer: Any, names: tuple[str, ...], now: tuple[str, ...], depth: int) -> None:
        self.w, self.names, self.now, self.depth = writer, names, now, depth
        self.whole = writer.language.whole
        self.put: list[list[str]] = []
        self.rules: list[Any] = []
        self.signs: dict[int, Sign | None] = {}
        self.hypotheses: list[Hypothesis] = []
        self.axioms: list[str] = []

    def image(self, value: Any) -> Any:
        """The value with the equations put in."""
        for what in self.rules:
            value = v.put(value, what, self.whole)
        return value

    def show(self, text: str, claim: Any, name: str) -> str:
        """A line with the claim."""
        self.prepare(claim)
        self._relations()
        gap = self.image(claim.gap)
        try:
            return self._goal(text, claim.op, gap, name)
        except NotShown:
            found = self.in_cases(text, claim.op, gap, name)
            if not found:
                raise
            return found

    def prepare(self, claim: Any) -> None:
        """Finds what is given, the equations to put in, and what holds of roots and the like."""
        around = self.w.around(claim, self.now)
        usable = [
            n for n in (*self.names, *(f"#{k}" for k in range(len(self.now))))
            if n.startswith("#") or self.w.about(self.w.record.lines[n]) <= around
        ]  # fmt: skip
        self.given = [(n, self.w.claim(n, self.now)) for n in usable]
        self._equations()
        self._special(claim)

    def _equations(self) -> None:
        """Equations `symbol == expression` are put in."""
        for name, claim in self.given:
            if claim.op != "==":
                continue
            tree = v.parsed(self._written(name))
            for side in (tree[1], tree[2]):
                if side[0] not in ("name", "call"):
                    continue
                written = spelled(side)
                try:
                    self.rules.append(self.w.record.substitution(claim, written, self.rules))
                except (v.Invalid, ValueError):
                    continue
                self.put.append([name, written])
                break

    def _written(self, name: str) -> str:
        if name.startswith("#"):
            return self.now[int(name[1:])]
        return self.w.texts[name]

    def _sub(self, text: str) -> str:
        return self.w.prove(text, self.names, self.now, self.depth + 1)

    def _cover(self, value: Any) -> list[str]:
        """Lines that show the denominators of a value to differ from 0."""
        return [self._sign(k).line for k in sorted(v.needed(value))]

    # relations as polynomials

    def _relations(self) -> None:
        pending: list[tuple[str, str, Any]] = []
        for name, claim in self.given:
            if claim.op in (">=", ">", "==", "!=") and name not in [n for n, _ in self.put]:
                pending.append((name, claim.op, self.image(claim.gap)))
        pending.sort(key=lambda row: (len(v.needed(row[2])), degree(row[2][0]), row[1] != ">"))
        for name, op, value in pending:
            if op == "!=" or not value[0]:
                continue
            try:
                self.hypotheses.append(self._polynomial(name, op, value))
            except NotShown:
                continue
        for h in list(self.hypotheses):
            self._above(h)
        for h in list(self.hypotheses):
            if h.op in (">=", ">"):
                self._rootless(h)

    def _polynomial(self, name: str, op: str, value: Any) -> Hypothesis:
        """The relation without denominators and without factors that are known to be positive."""
        number, factors = Fraction(1), [(name, 1)]
        for k in v.needed(value) - set(value[1]):
            self._sign(k)
        for k, e in value[1].items():
            sign = self._sign(k)
            # value * (side*scale*base)**e = N * side**e * scale**e
            number /= Fraction(sign.scale) ** e * (sign.side**e)
            factors.append((sign.line, e))
        poly = value[0]
        side = 1 if number > 0 else -1
        # number * (product of lines) == poly; keep the number positive unless it is an equation
        if side < 0:
            poly, number = v.poly_times(poly, {(): -1}), -number
        poly, number, more = self._reduced(poly, number, op)
        return Hypothesis(poly, op, number, (*factors, *more))

    def _reduced(self, poly: Poly, number: Fraction, op: str) -> tuple[Poly, Fraction, list[tuple[str, int]]]:
        """The polynomial without factors whose sign a hypothesis states."""
        c, factors = factors_of(poly)
        if sum(e for _, e in factors) < 2:
            return poly, number, []
        more: list[tuple[str, int]] = []
        rest: Poly = {(): 1}
        for factor, e in factors:
            base, ratio = based(factor)
            sign = self._known(base)
            if sign is None:
                rest = v.poly_times(rest, v.power((factor, {}), e)[0])
                continue
            # factor**e = (ratio * side / scale)**e * gap**e is divided out of poly = number * lines
            number *= (ratio * sign.side / sign.scale) ** -e
            more.append((sign.line, -e))
        rest = v.poly_times(rest, {(): c})
        if number < 0:
            rest, number = v.poly_times(rest, {(): -1}), -number
        return rest, number, more

    def _known(self, base: int) -> Sign | None:
        """A sign of a base that a hypothesis states."""
        wanted = dict(v.BASES[base])
        for h in self.hypotheses:
            if h.op == ">" and len(h.factors) == 1 and h.poly.keys() == wanted.keys():
                ratios = {Fraction(c) / Fraction(wanted[m]) for m, c in h.poly.items()}
                if len(ratios) == 1:
                    ratio = ratios.pop() / h.number
                    return Sign(h.factors[0][0], 1 if ratio > 0 else -1, abs(ratio))
        return None

    def _sign(self, base: int) -> Sign:
        if base in self.signs:
            found = self.signs[base]
            if found is None:
                raise NotShown(self.w.text((dict(v.BASES[base]), {})))
            return found
        found = self._known(base)
        text = self.w.text((dict(v.BASES[base]), {}))
        if found is None:
            self.signs[base] = None
            for side in (1, -1):
                try:
                    line = self._sub(f"{text} > 0" if side > 0 else f"0 > {text}")
                except NotShown:
                    continue
                gap = self.image(self.w.claim(line, self.now).gap)
                wanted = dict(v.BASES[base])
                if gap[0].keys() != wanted.keys() or gap[1]:
                    continue
                ratio = Fraction(next(iter(gap[0].values()))) / Fraction(wanted[next(iter(gap[0]))])
                found = Sign(line, 1 if ratio > 0 else -1, abs(ratio))
                break
        self.signs[base] = found
        if found is None:
            raise NotShown(text)
        return found

    # goals

    def _goal(self, text: str, op: str, gap: Any, name: str) -> str:
        covers = [self._sign(k) for k in sorted(v.needed(gap))]
        by: dict[str, Any] = {"rule": "sum"} | ({"put": self.put} if self.put else {})
        if covers:
            by["signs"] = list(dict.fromkeys(c.line for c in covers))
        if not gap[0] and op in (">=", "=="):
            return self._finish(text, by, name)
        for way in (1, -1) if op == "!=" else (1,):
            number, factors = Fraction(way), []
            for k, e in gap[1].items():
                sign = self._sign(k)
                number *= Fraction(sign.scale) ** e * (sign.side**e)
                factors.append((sign.line, -e))
            # gap * way = number * N * product of factors
            poly = gap[0]
            if number < 0:
                poly, number = v.poly_times(poly, {(): -1}), -number
            try:
                terms, equal = self._certificate(poly, op, number, factors)
            except NotShown:
                if op == "!=" and way > 0:
                    continue
                if op == "==":
                    return self._both(text, gap, name)
                raise
            entry = by | ({"terms": terms} if terms else {}) | ({"equal": equal} if equal else {})
            if way < 0:
                entry["turned"] = True
            return self._finish(text, entry, name)
        raise NotShown(text)

    def _both(self, text: str, gap: Any, name: str) -> str:
        """An equation, since neither side is greater."""
        tree = text.split(" == ")
        sides = [self._sub(f"{a} >= {b}") for a, b in (tree, tree[::-1])]
        return self.w.add(text, {"rule": "both", "of": sides}, self.now, name)

    def _finish(self, text: str, by: dict[str, Any], name: str) -> str:
        used = sign_lines(by)
        by["signs"] = list(dict.fromkeys([*by.get("signs", ()), *(h for h in self._cover_lines() if h not in used)]))
        if not by["signs"]:
            del by["signs"]
        return self.w.add_shown(text, by, self.now, name, lambda missing, _: self._nonzero(missing), f"{text}: ")

    def _nonzero(self, poly: str) -> str:
        """A line that shows a denominator to differ from 0, from what holds throughout too."""
        if self.depth > DEPTH:
            raise NotShown(poly)
        sides = (f"{poly} > 0", f"0 > {poly}")
        line = self.w.first_of(sides, (*self.names, *self.w.background), self.now, self.depth + 1)
        if not line:
            raise NotShown(f"the denominator {poly} is not shown to differ from 0")
        return line

    def _cover_lines(self) -> list[str]:
        return [s.line for s in self.signs.values() if s is not None]

    def _certificate(self, poly: Poly, op: str, number: Fraction, factors: list[tuple[str, int]]) -> Any:
        """Terms and multiples of equations whose sum is number * poly * product of factors."""
        strict = op in (">", "!=")
        rest, more, squares, scale = self._goal_factors(poly, strict, op)
        number, factors = number * scale, [*factors, *more]
        if op == "==":
            return [], self._equation(poly, number, factors, rest)
        if len(rest) == 1 and () in rest:
            if rest[()] > 0:
                return [self._term(number * Fraction(rest[()]), factors, squares)], []
            raise NotShown("a negative number")
        known = [(h.poly, h.op) for h in self.hypotheses]
        found = search(rest, strict, known, False) or search(rest, strict, known)
        if found is None:
            left, own, scale = self._apart(rest, strict) if self.depth < DEPTH else (rest, [], Fraction(1))
            if len(left) == 1 and () in left:
                if left[()] < 0:
                    raise NotShown("a negative number")
                return [self._term(number * scale * Fraction(left[()]), [*factors, *own], squares)], []
            if own:
                number, factors, rest = number * scale, [*factors, *own], left
            found = search(rest, strict, known)
        if found is None:
            rows = [] if strict else self.by_parts(rest)
            if rows:
                return [self._term(number * c, [*factors, *own], squares) for c, own in rows], []
            line = "" if strict else self.by_powers(rest)
            line = line or self.by_contradiction(rest, strict)
            ratio = self.w.ratio(line, (rest, {}), self.now)
            return [self._term(number * ratio, [*factors, (line, 1)], squares)], []
        terms: list[Any] = []
        for c, indices, own in found.terms:
            one, parts = number * c, list(factors)
            for i in indices:
                one *= self.hypotheses[i].number ** 1
                parts += self.hypotheses[i].factors
            terms.append(self._term(one, parts, [*squares, *(f"({self.w.text((p, {}))})**2" for p in own)]))
        equal = [self._multiple(i, p, number, factors, squares) for i, p in found.equal]
        return terms, equal

    def _term(self, number: Fraction, factors: Iterable[tuple[str, int]], squares: Sequence[str]) -> list[Any]:
        powers: dict[str, int] = {}
        for line, e in factors:
            powers[line] = powers.get(line, 0) + e
        parts: list[Any] = [n if e == 1 else [n, e] for n, e in powers.items() if e]
        return [str(number), [*parts, *({"square": s} for s in squares)]]

    def _multiple(
        self, i: int, poly: Poly, number: Fraction, factors: Sequence[tuple[str, int]], squares: Sequence[str]
    ) -> list[str]:
        h = self.hypotheses[i]
        (name, _), *others = h.factors
        value = (v.poly_times(poly, {(): number * h.number}), {})
        for line, e in (*factors, *others):
            value = v.times(value, v.power(self.image(self.w.claim(line, self.now).gap), e))
        for s in squares:
            value = v.times(value, self.w.language.value(s))
        return [name, self.w.text(value)]

    def _equation(self, poly: Poly, number: Fraction, factors: Sequence[tuple[str, int]], rest: Poly) -> list[Any]:
        """Multiples of equations whose sum is number * rest * product of factors."""
        places = [k for k, h in enumerate(self.hypotheses) if h.op == "=="]
        found = search(rest, False, [(self.hypotheses[k].poly, "==") for k in places]) if places else None
        if found is not None and not found.terms:
            return [self._multiple(places[i], p, number, factors, ()) for i, p in found.equal]
        for k in places:
            if row := self._divided(k, rest, number, factors):
                return [row]
        raise NotShown("an equation")

    def _divided(self, k: int, rest: Poly, number: Fraction, factors: Sequence[tuple[str, int]]) -> list[str]:
        """From factor * others == 0 with others that differ from 0: factor == 0."""
        _, of_goal = factors_of(rest)
        c, own = factors_of(self.hypotheses[k].poly)
        wanted = {based(f)[0] for f, _ in of_goal}
        shared = [f for f, _ in own if based(f)[0] in wanted]
        if not shared or len(own) < 2:
            return []
        others = v.power(v.constant(1 / c), 1)
        for f, e in own:
            e -= f is shared[0]
            if e:
                self._sign(based(f)[0])
                others = v.times(others, v.power(v.inverse((f, {})), e))
        left: Poly = {(): 1}
        taken = False
        goal_number, _ = factors_of(rest)
        for f, e in of_goal:
            same = based(f)[0] == based(shared[0])[0] and not taken
            taken = taken or same
            left = v.poly_times(left, v.power((f, {}), e - same)[0])
        own_base = based(shared[0])[0]
        ratio = next(Fraction(f[m]) / Fraction(shared[0][m]) for f, _ in of_goal if based(f)[0] == own_base for m in f)
        left = v.poly_times(left, {(): goal_number * ratio})
        name, written = self._multiple(k, left, number, factors, ())
        return [name, self.w.text(v.times(self.w.language.value(written), others))]

    def _goal_factors(
        self, poly: Poly, strict: bool, op: str
    ) -> tuple[Poly, list[tuple[str, int]], list[str], Fraction]:
        """The goal without factors of known sign: (rest, lines with powers, squares, number) whose product it is."""
        number, factors = factors_of(poly)
        rest: Poly = {(): 1}
        more: list[tuple[str, int]] = []
        squares: list[str] = []
        for factor, e in factors:
            base, ratio = based(factor)
            sign = self._known(base)
            if sign is not None:
                number *= (ratio / sign.scale * sign.side) ** e
                more.append((sign.line, e))
            elif e >= 2 and not strict and op != "==":
                squares.append(f"({self.w.text((factor, {}))})**{e - e % 2}")
                if e % 2:
                    rest = v.poly_times(rest, factor)
            else:
                rest = v.poly_times(rest, v.power((factor, {}), e)[0])
        side = 1 if number > 0 else -1
        return v.poly_times(rest, {(): side}), more, squares, abs(number)

    def _apart(self, poly: Poly, strict: bool) -> tuple[Poly, list[tuple[str, int]], Fraction]:
        """The goal without those of its factors whose sign can be shown, where it has several."""
        number, factors = factors_of(poly)
        if len(factors) < 2:
            return poly, [], Fraction(1)
        rest: Poly = {(): 1}
        more: list[tuple[str, int]] = []
        left = len(factors)
        for factor, e in sorted(factors, key=lambda row: (degree(row[0]), len(row[0]))):
            base, ratio = based(factor)
            try:
                sign = self._sign(base) if left > 1 else None
            except NotShown:
                sign = None if strict or e > 1 else self.side_of(base)
            if sign is None:
                rest = v.poly_times(rest, v.power((factor, {}), e)[0])
            else:
                left -= 1
                number *= (ratio / sign.scale * sign.side) ** e
                more.append((sign.line, e))
        return v.poly_times(rest, {(): 1 if number > 0 else -1}), more, abs(number)
