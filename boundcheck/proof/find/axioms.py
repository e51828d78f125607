"""What holds of roots, of the least of several, and of powers with a symbol in the exponent, as lines."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import root_below
from boundcheck.proof.find.lines import Hypothesis, NotShown
from boundcheck.proof.find.polynomial_search import Poly, factors_of
from boundcheck.verify import boundcheck_verify as v

FINE = 100  # roots of numbers are known up to this part of 1


class Special:
    """The part of a scalar relation that adds axioms for such terms to what is given."""

    w: Any
    names: tuple[str, ...]
    now: tuple[str, ...]
    depth: int
    given: list[tuple[str, Any]]
    put: list[list[str]]
    rules: list[Any]
    hypotheses: list[Hypothesis]
    axioms: list[str]
    image: Any
    _sub: Any
    _cover: Any
    _sign: Any
    _term: Any
    _finish: Any
    whole: Any
    _polynomial: Any

    def _special(self, claim: Any) -> None:
        """What holds of roots, of the least of several, and of powers with a symbol in the exponent."""
        seen: set[int] = set()
        while True:
            values = [self.image(c.gap) for _, c in self.given if c.op not in ("=", "=>")] + [self.image(claim.gap)]
            atoms = {n for x in values for n in v.inside(x)} - seen
            fresh = sorted(n for n in atoms if v.ATOMS[n][0] in ("root", "min", "**"))
            seen |= atoms
            if not fresh:
                return
            for n in fresh:
                try:
                    self._axiom(n)
                except NotShown:
                    continue

    def _axiom(self, n: int) -> None:
        key = v.ATOMS[n]
        if key[0] == "root":
            base = self.w.text(v.thawed(key[1]))
            sign = self._sub(f"{base} >= 0")
            root = self.w.text(v.variable(n))
            by = {"rule": "root", "of": base, "degree": key[2], "sign": sign, "signs": self._cover(v.thawed(key[1]))}
            self._axiom_line(f"({root})**{key[2]} == {base}", by)
            if self._plainly_positive(v.thawed(key[1])):
                self._axiom_line(f"{root} > 0", {**by, "sign": self._sub(f"{base} > 0")})
            else:
                self._axiom_line(f"{root} >= 0", by)
            self._known_root(root, v.thawed(key[1]), key[2])
        elif key[0] == "min":
            parts = [self.w.text(v.thawed(k)) for k in key[1]]
            least = self.w.text(v.variable(n))
            for part in parts:
                self._axiom_line(f"{least} <= {part}", {"rule": "min", "of": parts})
            self._decided(n, parts, least)
        else:
            base, exponent = v.thawed(key[1]), v.thawed(key[2])
            if not self.whole(exponent):
                self._real_power(n, base, exponent)
                return
            shift = exponent[0].get((), 0)
            if not isinstance(shift, int) or shift < 1:
                return
            less = v.plus(exponent, v.ONE, -1)
            texts = self.w.text(base), self.w.text(less)
            sign = self.w.prove(f"{texts[1]} >= 0", (*self.names, *self.w.lasting), self.now, self.depth + 1)
            by = {"rule": "power", "base": texts[0], "exponent": texts[1], "sign": sign, "signs": self._cover(base)}
            whole_power = self.w.text(v.variable(n))
            text = f"{whole_power} == ({texts[0]})*{self.w.text(v.power_of(base, less))}"
            self._put_in(self._line(text, by), whole_power)

    def _real_power(self, n: int, base: Any, exponent: Any) -> None:
        """b**(e + k) as b**k * b**e for an integer k, and b**(-e) as 1/b**e: powers of one base that is positive."""
        one, shift, text = self.w.text(v.variable(n)), exponent[0].get((), 0), self.w.text
        by: dict[str, Any] = {"rule": "power", "base": text(base), "sign": self._sub(f"{text(base)} > 0")}
        by |= {"signs": cover} if (cover := self._cover(base)) else {}
        turned = v.times(v.constant(-1), exponent)
        if isinstance(shift, int) and shift and not exponent[1]:
            less = v.plus(exponent, v.constant(shift), -1)
            factors = (v.power_of(base, v.constant(shift)), v.power_of(base, less))
            entry = by | {"exponent": text(less), "more": str(shift)}
            self._put_in(self._line(f"{one} == ({text(factors[0])})*({text(factors[1])})", entry), one)
        elif text(exponent).startswith("-"):
            other = text(v.power_of(base, turned))
            positive = self._line(f"{other} > 0", by | {"exponent": text(turned)})
            product = self._line(f"{one}*{other} == 1", by | {"exponent": text(exponent), "more": text(turned)})
            entry = {"rule": "sum", "equal": [[product, f"1/({other})"]], "signs": [positive]}
            self._put_in(self._line(f"{one} == 1/({other})", entry), one)
        else:
            self._axiom_line(f"{one} > 0", by | {"exponent": text(exponent)})

    def _line(self, claim: str, by: dict[str, Any]) -> str:
        return self.w.existing(self.w.language.claim(claim), self.now) or self.w.add(claim, by, self.now)

    def _put_in(self, line: str, term: str) -> None:
        """An equation for a single term is put in."""
        claim = self.w.claim(line, self.now)
        self.given.append((line, claim))
        self.rules.append(self.w.record.substitution(claim, term, self.rules))
        self.put.append([line, term])

    def _decided(self, n: int, parts: list[str], least: str) -> None:
        """The least of several is the one that is known to be."""
        for part in parts:
            claims = [f"{part} <= {p}" for p in parts if p != part]
            known = [self.w.existing(self.w.language.claim(c), self.now) for c in claims]
            if not any(known) and len(known) > 1:
                continue
            try:
                each = [found or self._without("min", c) for found, c in zip(known, claims, strict=True)]
            except NotShown:
                continue
            by = {"rule": "min", "of": parts, "low": part, "each": each}
            low = self.w.add(f"{least} >= {part}", by, self.now)
            high = self.w.add(f"{least} <= {part}", {"rule": "min", "of": parts}, self.now)
            self._put_in(self.w.add(f"{least} == {part}", {"rule": "both", "of": [low, high]}, self.now), least)
            return

    def _without(self, kind: str, text: str) -> str:
        """A line that claims it, from what mentions no term of this kind."""
        plain = (n for n in self.names if all(v.ATOMS[a][0] != kind for a in self.w.record.lines[n].claim.atoms))
        return self.w.prove(text, plain, self.now, self.depth + 1)

    def _known_root(self, root: str, base: Any, degree: int) -> None:
        """A root of a number lies between two fractions; a square root of the square of what is positive is that."""
        number = v.number_of(base)
        if degree != 2 or (number is None and base[1]):
            return
        square = self.w.existing(self.w.language.claim(f"({root})**2 == {self.w.text(base)}"), self.now)
        sign = self.w.existing(self.w.language.claim(f"{root} >= 0"), self.now)
        if number is not None:
            near = root_below(Fraction(number), FINE)
            for side, end in ((1, near + Fraction(1, FINE)), (-1, near)):
                # side * (end - root) = side * (end**2 - number) / (end + root)
                total = self.w.prove(f"{end} + {root} > 0", (sign,), self.now, self.depth + 1) if end else ""
                if not total:
                    continue
                by = {"rule": "sum", "terms": [[str(side * (end * end - Fraction(number))), [[total, -1]]]]}
                by["equal"] = [[square, f"{-side}/({end} + {root})"]]
                self._axiom_line(f"{root} < {end}" if side > 0 else f"{root} > {end}", by)
            return
        c, factors = factors_of(base[0])
        if number is None and all(e % 2 == 0 for _, e in factors) and c > 0:
            side = v.root_of(v.constant(c), 2)
            if v.number_of(side) is None:
                return
            for factor, e in factors:
                positive = self._sign(based(factor)[0])
                side = v.times(side, v.power((factor, {}), e // 2))
                side = v.times(side, v.constant((positive.side * (1 if based(factor)[1] > 0 else -1)) ** (e // 2)))
            text = self.w.text(side)
            strict = self._sub(f"{text} > 0")
            total = self.w.prove(f"{text} + {root} > 0", (strict, sign), self.now, self.depth + 1)
            by = {"rule": "sum", "equal": [[square, f"1/({text} + {root})"]], "signs": [total]}
            self._put_in(self.w.add(f"{root} == {text}", by, self.now), root)

    def _plainly_positive(self, base: Any) -> bool:
        """Whether it is one product of a positive number and atoms that lines claim to be positive."""
        if len(base[0]) != 1:
            return False
        ((monomial, c),) = base[0].items()
        claims = (v.Claim(">", v.variable(n)) for n, _ in monomial)
        return c > 0 and all(self.w.existing(claim, self.now) for claim in claims)

    def _axiom_line(self, text: str, by: dict[str, Any]) -> None:
        line = self._line(text, by)
        self.given.append((line, self.w.language.claim(text)))
        self.axioms.append(line)

    def _above(self, h: Hypothesis) -> None:
        """From x >= c > 0: x > 0, as a hypothesis of its own."""
        atoms = [m for m in h.poly if m]
        if h.op not in (">=", ">") or len(h.poly) != 2 or len(atoms) != 1 or h.poly.get((), 0) >= 0:
            return
        ((monomial,), c) = (atoms, h.poly[atoms[0]])
        if len(monomial) != 1 or monomial[0][1] != 1 or c <= 0:
            return
        value = v.variable(monomial[0][0])
        claim = v.Claim(">", value)
        line = self.w.existing(claim, self.now)
        if not line:
            number, factors = self._term(h.number / c, h.factors, ())
            low = Fraction(-h.poly[()]) / Fraction(c)
            by: dict[str, Any] = {"rule": "sum", "terms": [[str(low), []], [number, factors]]}
            by |= {"put": self.put} if self.put else {}
            line = self._finish(f"{self.w.text(value)} > 0", by, "")
        ratio = self.w.ratio(line, value, self.now)
        self.hypotheses.append(Hypothesis(value[0], ">", ratio, ((line, 1),)))

    def _rootless(self, h: Hypothesis) -> None:
        """From a + b r >= 0, with r a square root: b**2 r**2 >= a**2 where -a >= 0, or a >= 0 and a**2 >= b**2 r**2."""
        roots = {n for m in h.poly for n, _ in m if v.ATOMS[n][0] == "root" and v.ATOMS[n][2] == 2}
        for r in roots:
            if any(dict(m).get(r, 0) > 1 for m in h.poly):
                continue
            slope = {tuple((n, e) for n, e in m if n != r): c for m, c in h.poly.items() if r in dict(m)}
            rest = {m: c for m, c in h.poly.items() if r not in dict(m)}
            if roots & {n for p in (slope, rest) for m in p for n, _ in m}:
                continue
            try:
                self._squared(h, r, slope, rest)
            except (NotShown, v.Invalid):
                continue

    def _squared(self, h: Hypothesis, r: int, slope: Poly, rest: Poly) -> None:
        number, bottom = v.thawed(v.ATOMS[r][1])
        for k in bottom:
            self._sign(k)
        text = self.w.text
        base, root = text((number, bottom)), text(v.variable(r))
        equation = self.w.existing(self.w.language.claim(f"({root})**2 == {base}"), self.now)
        sign = 1 if self._side(slope) > 0 else -1
        a, b = text((rest, {})), text((slope, {}))
        # a + b r and sign * (b r - a) are at least 0, and their product is sign * (b**2 r**2 - a**2)
        other = f"({b})*({root}) - ({a})" if sign > 0 else f"{a} - ({b})*({root})"
        line = self.w.prove(f"{other} >= 0", self.names, self.now, self.depth + 1)
        ratio = self.w.ratio(line, self.w.language.value(other), self.now)
        c, factors = self._term(h.number, h.factors, ())
        of_slope = text((v.poly_times(v.poly_times(slope, slope), {(): sign}), {}))
        of_rest = text((v.poly_times(v.poly_times(rest, rest), {(): sign}), {}))
        claim = f"({of_slope})*({base}) - ({of_rest}) >= 0"
        by: dict[str, Any] = {"rule": "sum", "terms": [[str(Fraction(c) * ratio), [*factors, line]]]}
        by["equal"] = [[equation, f"-({of_slope})"]]
        if self.put:
            by["put"] = self.put
        squared = self.w.existing(self.w.language.claim(claim), self.now) or self._finish(claim, by, "")
        self.hypotheses.append(self._polynomial(squared, ">=", self.image(self.w.claim(squared, self.now).gap)))

    def _side(self, poly: Poly) -> int:
        """The sign of a polynomial, shown factor by factor."""
        number, factors = factors_of(poly)
        side = 1 if number > 0 else -1
        for factor, e in factors:
            base, ratio = based(factor)
            sign = self._sign(base)
            side *= (sign.side * (1 if ratio > 0 else -1)) ** e
        return side


def based(poly: Poly) -> tuple[int, Fraction]:
    """The base of which an irreducible polynomial is a multiple, and the ratio."""
    (base,) = v.bases_of(poly)
    m, c = next(iter(v.BASES[base]))
    return base, Fraction(poly[m]) / Fraction(c)
