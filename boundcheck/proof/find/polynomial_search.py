"""The search for a certificate of a scalar goal: a polynomial as a combination of products of hypotheses and squares.

This is the one place where certificates of scalar goals are looked for. What is found is checked by the verifier, so
nothing here needs to be trusted. Polynomials are those of the verifier, maps monomial -> number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, islice
from typing import Any

from boundcheck.proof.find.products import combination_of, products_up_to

Poly = dict[Any, Any]
MAX_COLUMNS = 2500


@dataclass(frozen=True)
class Found:
    """goal == sum of number * product of hypotheses * product of squares + sum of multiplier * equation.

    terms: (number, numbers of hypotheses, polynomials that are squared); equal: (number of the equation, multiplier).
    """

    terms: tuple[tuple[Fraction, tuple[int, ...], tuple[Poly, ...]], ...]
    equal: tuple[tuple[int, Poly], ...] = ()


class Ring:
    """Polynomials of the verifier in flint."""

    def __init__(self, polys: Sequence[Poly]) -> None:
        import flint

        self.atoms = sorted({n for p in polys for m in p for n, _ in m})
        self._place = {n: i for i, n in enumerate(self.atoms)}
        self._flint: Any = flint
        names = [f"x{i}" for i in range(len(self.atoms))] or ["x0"]
        self.context: Any = flint.fmpq_mpoly_ctx.get(names, "degrevlex")

    def make(self, poly: Poly) -> Any:
        """In flint."""
        rows: dict[Any, Any] = {}
        for monomial, c in poly.items():
            powers = [0] * max(1, len(self.atoms))
            for n, e in monomial:
                powers[self._place[n]] = e
            c = Fraction(c)
            rows[tuple(powers)] = self._flint.fmpq(c.numerator, c.denominator)
        return self.context.from_dict(rows)

    def number(self, value: int) -> Any:
        """A rational number in flint."""
        return self._flint.fmpq(value)

    def back(self, poly: Any) -> Poly:
        """As the verifier has it."""
        found: Poly = {}
        for powers, c in poly.to_dict().items():
            value = Fraction(int(c.p), int(c.q))
            monomial = tuple((n, int(e)) for n, e in zip(self.atoms, powers, strict=False) if e)
            found[monomial] = value.numerator if value.denominator == 1 else value
        return found


def factors_of(poly: Poly) -> tuple[Fraction, list[tuple[Poly, int]]]:
    """The number and the irreducible factors with their powers."""
    ring = Ring([poly])
    if not ring.atoms:
        return Fraction(poly.get((), 0)), []
    number, factors = ring.make(poly).factor()
    return Fraction(int(number.p), int(number.q)), [(ring.back(f), int(e)) for f, e in factors]


def quotient(top: Poly, bottom: Poly) -> tuple[Poly, Poly]:
    """Both without their common factors."""
    ring = Ring([top, bottom])
    a, b = ring.make(top), ring.make(bottom)
    common = a.gcd(b)
    return ring.back(a / common), ring.back(b / common)


def degree(poly: Poly) -> int:
    """The total degree."""
    return max((sum(e for _, e in m) for m in poly), default=0)


def search(goal: Poly, strict: bool, hypotheses: Sequence[tuple[Poly, str]], hard: bool = True) -> Found | None:
    """A certificate of `goal >= 0` (`> 0` if strict) from `poly op 0` with op among >=, > and ==, or None.

    hard: whether the long searches are tried too.
    """
    powers = _powers(hypotheses)
    if powers:
        return _without_powers(goal, strict, hypotheses, powers, hard)
    if not hard:
        return _plain(goal, strict, hypotheses, 300) or _guided(goal, strict, hypotheses, 600)
    return (
        _plain(goal, strict, hypotheses, 500)
        or _guided(goal, strict, hypotheses, MAX_COLUMNS)
        or _plain(goal, strict, hypotheses, MAX_COLUMNS)
    )


def _powers(hypotheses: Sequence[tuple[Poly, str]]) -> dict[int, tuple[int, int, Poly]]:
    """Atom -> (power, number of the equation, what the power is): equations atom**power == polynomial without it."""
    found: dict[int, tuple[int, int, Poly]] = {}
    for i, (poly, op) in enumerate(hypotheses):
        if op != "==":
            continue
        for m, c in poly.items():
            if len(m) == 1 and m[0][1] > 1:
                n, e = m[0]
                others = {k: x for k, x in poly.items() if k != m}
                if all(n not in dict(k) for k in others) and not found.keys() & {a for k in others for a, _ in k}:
                    found.setdefault(n, (e, i, {k: -x / Fraction(c) for k, x in others.items()}))
                    break
    return found


def _lowered(poly: Poly, powers: dict[int, tuple[int, int, Poly]]) -> tuple[Poly, dict[int, Poly]]:
    """The polynomial with the powers replaced, and the multiples of the equations by which it changed."""
    rest: Poly = {}
    used: dict[int, Poly] = {}
    waiting = dict(poly)
    while waiting:
        m, c = waiting.popitem()
        n = next((n for n, e in m if n in powers and e >= powers[n][0]), None)
        if n is None:
            rest[m] = rest.get(m, 0) + c
            continue
        e, i, image = powers[n]
        less = _over(m, ((n, e),))
        more = used.setdefault(i, {})
        more[less] = more.get(less, 0) + c
        for k, x in _times({less: c}, image).items():
            waiting[k] = waiting.get(k, 0) + x
    return {m: c for m, c in rest.items() if c}, used


def _without_powers(
    goal: Poly,
    strict: bool,
    hypotheses: Sequence[tuple[Poly, str]],
    powers: dict[int, tuple[int, int, Poly]],
    hard: bool,
) -> Found | None:
    """The same, powers of roots being replaced by what they are."""
    equations = {i for _, i, _ in powers.values()}
    kept = [k for k in range(len(hypotheses)) if k not in equations]
    lowered = [(_lowered(hypotheses[k][0], powers)[0], hypotheses[k][1]) for k in kept]
    found = search(_lowered(goal, powers)[0], strict, lowered, hard) or (
        _guided(_lowered(goal, powers)[0], strict, lowered, MAX_COLUMNS, powers) if hard else None
    )
    if found is None:
        return None
    terms = tuple((c, tuple(kept[i] for i in indices), squares) for c, indices, squares in found.terms)
    equal = {kept[i]: p for i, p in found.equal}
    rest = dict(goal)
    for c, indices, squares in terms:
        one: Poly = {(): c}
        for i in indices:
            one = _times(one, hypotheses[i][0])
        for p in squares:
            one = _times(one, _times(p, p))
        rest = _minus(rest, one)
    for i, p in equal.items():
        rest = _minus(rest, _times(p, hypotheses[i][0]))
    left, used = _lowered(rest, powers)
    if left:
        return None
    for n, (e, i, _) in powers.items():
        if i in used:  # the equation is c * (atom**e - image)
            c = Fraction(hypotheses[i][0][((n, e),)])
            equal[i] = {m: x / c for m, x in used[i].items() if x}
    return Found(terms, tuple(equal.items()))


def _minus(p: Poly, q: Poly) -> Poly:
    found = dict(p)
    for m, c in q.items():
        found[m] = found.get(m, 0) - c
    return {m: c for m, c in found.items() if c}


def _plain(goal: Poly, strict: bool, hypotheses: Sequence[tuple[Poly, str]], most: int) -> Found | None:
    own = {n for m in goal for n, _ in m}
    near = _connected(own, hypotheses, 0)
    tried: list[list[int]] = []
    for chosen in (near, _connected(own, hypotheses, 1), list(range(len(hypotheses)))):
        if chosen in tried:
            continue
        tried.append(chosen)
        for extra in (0, 1, 2):
            found = _products(goal, strict, [(hypotheses[i], i) for i in chosen], extra, most)
            if found is not None:
                return found
    return None


def _connected(own: set[int], hypotheses: Sequence[tuple[Poly, str]], steps: int) -> list[int]:
    """Hypotheses about these atoms only, or after some steps of adding what they mention."""
    atoms = set(own)
    for _ in range(steps):
        touching = [p for p, _ in hypotheses if {n for m in p for n, _ in m} & atoms]
        atoms |= {n for p in touching for m in p for n, _ in m}
    return [i for i, (p, _) in enumerate(hypotheses) if {n for m in p for n, _ in m} <= atoms]


def _guided(
    goal: Poly, strict: bool, hypotheses: Sequence[tuple[Poly, str]], most: int, powers: Any = None
) -> Found | None:
    """A linear programme over hypotheses, and pairs of them, times monomials that lead to monomials of the goal."""
    signed = {m[0][0]: (i, op) for i, (p, op) in enumerate(hypotheses) for m in p if _is_atom(p) and op in (">=", ">")}
    plain = [i for i, (p, op) in enumerate(hypotheses) if not _is_atom(p) or op == "=="]
    single = [((i,), hypotheses[i][0]) for i in plain]
    signs = [i for i in plain if hypotheses[i][1] != "=="]
    pairs = [((i, j), _times(hypotheses[i][0], hypotheses[j][0])) for i, j in combinations_with_replacement(signs, 2)]
    for bases in ([((), {(): 1}), *single], [((), {(): 1}), *single, *pairs]):
        support = set(goal)
        for _ in range(3):
            columns: dict[Any, tuple[tuple[int, ...], Any, Poly]] = {}
            for indices, base in bases:
                equation = any(hypotheses[i][1] == "==" for i in indices)
                for target in support:
                    for own in base:
                        factor = _over(target, own)
                        if factor is None or not (equation or all(n in signed or e % 2 == 0 for n, e in factor)):
                            continue
                        columns.setdefault((indices, factor), (indices, factor, {}))
            if len(columns) > most:
                break
            of_base: dict[Any, Poly] = dict(bases)
            rows = [(i, f, _times(of_base[i], {f: 1})) for i, f, _ in columns.values()]
            if powers:
                rows = [(i, f, _lowered(p, powers)[0]) for i, f, p in rows]
            found = _combined(goal, strict, rows, hypotheses, signed)
            if found is not None:
                return found
            more = support | {m for _, _, p in rows for m in p}
            if more == support or len(more) > 400:
                break
            support = more
    return None


def _is_atom(poly: Poly) -> bool:
    return len(poly) == 1 and all(len(m) == 1 and m[0][1] == 1 and c > 0 for m, c in poly.items())


def _times(p: Poly, q: Poly) -> Poly:
    found: Poly = {}
    for m, c in p.items():
        for n, d in q.items():
            powers = dict(m)
            for a, e in n:
                powers[a] = powers.get(a, 0) + e
            key = tuple(sorted(powers.items()))
            found[key] = found.get(key, 0) + c * d
    return {m: c for m, c in found.items() if c}


def _over(target: Any, own: Any) -> Any:
    """A monomial divided by another, or None."""
    powers = dict(target)
    for n, e in own:
        if powers.get(n, 0) < e:
            return None
        powers[n] -= e
    return tuple(sorted((n, e) for n, e in powers.items() if e))


def _combined(
    goal: Poly,
    strict: bool,
    rows: Sequence[tuple[tuple[int, ...], Any, Poly]],
    hypotheses: Sequence[tuple[Poly, str]],
    signed: dict[int, tuple[int, str]],
) -> Found | None:
    """The goal as a combination of these rows: (hypotheses, monomial, product)."""
    import flint

    def exact(p: Poly) -> Any:
        values = {m: Fraction(c) for m, c in p.items()}
        return {m: flint.fmpq(c.numerator, c.denominator) for m, c in values.items()}

    free = [any(hypotheses[i][1] == "==" for i in indices) for indices, _, _ in rows]
    firm = [
        all(hypotheses[i][1] == ">" for i in indices) and all(n in signed and signed[n][1] == ">" for n, _ in factor)
        for indices, factor, _ in rows
    ]
    if not set(goal) <= {m for _, _, p in rows for m in p}:
        return None
    solution = combination_of([exact(p) for _, _, p in rows], free, firm if strict else None, exact(goal))
    if solution is None:
        return None
    terms: list[tuple[Fraction, tuple[int, ...], tuple[Poly, ...]]] = []
    equal: dict[int, Poly] = {}
    positive = False
    for k, c in solution:
        indices, factor, _ = rows[k]
        if free[k]:
            (own,) = indices
            more = equal.setdefault(own, {})
            more[factor] = more.get(factor, 0) + c
        elif c < 0:
            return None
        else:
            positive = positive or firm[k]
            squares = tuple({((n, 1),): 1} for n, e in factor if n not in signed for _ in range(e // 2))
            signs = tuple(signed[n][0] for n, e in factor if n in signed for _ in range(e))
            terms.append((c, (*indices, *signs), squares))
    if strict and not positive:
        return None
    return Found(tuple(terms), tuple(equal.items()))


def contradiction(hypotheses: Sequence[tuple[Poly, str]], last: int) -> Found | None:
    """0 as a sum of products with a positive one: the hypotheses cannot all hold. `last` is the one to begin with."""
    if not hypotheses[last][0]:
        return None
    own = {n for m in hypotheses[last][0] for n, _ in m}
    for chosen in (_connected(own, hypotheses, 0), _connected(own, hypotheses, 1)):
        ring = Ring([hypotheses[i][0] for i in chosen])
        usable = _usable(ring, [(hypotheses[i], i) for i in chosen])
        tried = 0
        for limit in range(degree(hypotheses[last][0]), 2 * degree(hypotheses[last][0]) + 4):
            columns = _columns(ring, usable, limit, MAX_COLUMNS)
            if len(columns) > MAX_COLUMNS:
                break
            if len(columns) == tried:
                continue
            tried = len(columns)
            found = _zero(ring, columns, usable)
            if found is not None:
                return found
    return None


def _usable(ring: Ring, hypotheses: Sequence[tuple[tuple[Poly, str], int]]) -> list[tuple[Any, str, int]]:
    """(polynomial, op, number of the hypothesis or the atom): equations, atoms where there are any, inequalities."""
    equations = [(ring.make(p), op, i) for (p, op), i in hypotheses if op == "=="]
    atoms = [(ring.make({((n, 1),): 1}), "any", n) for n in ring.atoms] if equations else []
    return [*equations, *atoms, *((ring.make(p), op, i) for (p, op), i in hypotheses if op in (">=", ">"))]


def _columns(ring: Ring, usable: Sequence[tuple[Any, str, int]], limit: int, most: int) -> list[Any]:
    """The products up to a degree, at most one more than `most`."""
    factors, ops = [f for f, _, _ in usable], [op for _, op, _ in usable]
    degrees = [max(1, int(f.total_degree())) for f in factors]
    return list(islice(products_up_to(factors, degrees, ops, limit, ring.make({(): 1})), most + 1))


def _zero(ring: Ring, columns: Sequence[Any], usable: Sequence[tuple[Any, str, int]]) -> Found | None:
    ops = [op for _, op, _ in usable]
    free = [any(ops[i] == "==" for i in indices) for indices, _ in columns]
    firm = [all(ops[i] == ">" for i in indices) for indices, _ in columns]
    mark = (-1,)  # a row of its own: the numbers of the positive products add up to 1
    rows: list[Any] = [
        {**dict(p.to_dict()), **({mark: ring.number(1)} if sure else {})}
        for (_, p), sure in zip(columns, firm, strict=True)
    ]
    solution = combination_of(rows, free, None, {mark: ring.number(1)})
    if solution is None or any(c < 0 and not free[k] for k, c in solution):
        return None
    terms: list[tuple[Fraction, tuple[int, ...], tuple[Poly, ...]]] = []
    equal: dict[int, Any] = {}
    for k, c in solution:
        indices = columns[k][0]
        equations = [i for i in indices if ops[i] == "=="]
        if not equations:
            terms.append((c, tuple(usable[i][2] for i in indices), ()))
            continue
        factor = ring.make({(): c})
        for i in indices:
            factor = factor if i == equations[0] else factor * usable[i][0]
        place = usable[equations[0]][2]
        equal[place] = equal.get(place, ring.make({})) + factor
    return Found(tuple(terms), tuple((i, ring.back(f)) for i, f in equal.items()))


def _products(
    goal: Poly, strict: bool, hypotheses: Sequence[tuple[tuple[Poly, str], int]], extra: int, most: int
) -> Found | None:
    """A linear programme over the products of hypotheses up to a degree."""
    ring = Ring([goal, *(p for (p, _), _ in hypotheses)])
    usable = _usable(ring, hypotheses)
    ops = [op for _, op, _ in usable]
    columns = _columns(ring, usable, max(1, degree(goal)) + extra, most)
    if len(columns) > most:
        return None
    free = [any(ops[i] == "==" for i in indices) for indices, _ in columns]
    firm = [all(ops[i] == ">" for i in indices) for indices, _ in columns]
    target = ring.make(goal)
    solution = combination_of([dict(p.to_dict()) for _, p in columns], free, firm if strict else None, target.to_dict())
    if solution is None:
        return None
    terms: list[tuple[Fraction, tuple[int, ...], tuple[Poly, ...]]] = []
    equal: dict[int, Any] = {}
    positive = False
    for k, c in solution:
        indices = columns[k][0]
        if free[k]:
            (equation,) = [i for i in indices if ops[i] == "=="]
            factor = ring.make({(): c})
            for i in indices:
                factor = factor if i == equation else factor * usable[i][0]
            equal[usable[equation][2]] = equal.get(usable[equation][2], ring.make({})) + factor
        elif c < 0:
            return None
        else:
            positive = positive or firm[k]
            terms.append((c, tuple(usable[i][2] for i in indices), ()))
    if strict and not positive:
        return None
    return Found(tuple(terms), tuple((i, ring.back(f)) for i, f in equal.items()))
