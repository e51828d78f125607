"""Vector steps: claims that are linear in inner products, sums and named quantities, with scalar coefficients.

A claim `gap >= 0` follows from facts `gap_k >= 0` when

    gap == sum_k lambda_k * gap_k + (a form that is at least 0),   lambda_k >= 0,

and a quadratic form in inner products is at least 0 for all vectors if and only if its matrix is positive
semidefinite. Multipliers come from a linear solve over the rational functions, from the author of the step, or
(numbers only) from a semidefinite programme with rounding; what they prove is checked in exact arithmetic, and
every sign of a symbolic multiplier or pivot is decided by the scalar kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any, cast

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.exact import Undefined, enclose
from boundcheck.proof.feasibility import Hypotheses, find_contradiction
from boundcheck.proof.polynomial import direction, factorised, rational_parts
from boundcheck.proof.scalar import consistent, decide, eliminate, put, sample
from boundcheck.proof.semidefinite import find_multipliers, semidefinite
from boundcheck.proof.shortfall import Shortfall, in_words
from boundcheck.proof.step import Context, Finding, Status, unmeetable
from boundcheck.proof.vectors import Inner, VectorEquality, is_nonnegative_atom, norm2, substitute


def _none() -> Mapping[str, Any]:
    return {}


def prepare(claim: Any, facts: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Claim and facts with the vector equalities and the equations `symbol == expression` put in, and removed.

    Implications among the facts are of no use here and left out.
    """
    return _prepared(claim, facts)[:2]


def _prepared(claim: Any, facts: Mapping[str, Any]) -> tuple[Any, dict[str, Any], dict[Any, Any]]:
    """The same, and symbol -> expression."""
    rules: dict[Any, Any] = {}
    relations = {name: f for name, f in facts.items() if not isinstance(f, VectorEquality | sp.Implies)}
    for name, fact in facts.items():
        if isinstance(fact, VectorEquality):
            atom, value = fact.rewriting()
            if atom in rules:  # said of one vector twice: what it is equal to is equal
                relations[name] = sp.Eq(norm2(rules[atom] - value), 0, evaluate=False)
            else:
                rules[atom] = value
    for _ in rules:
        claim = substitute(claim, rules)
        relations = {name: substitute(f, rules) for name, f in relations.items()}
    if isinstance(claim, VectorEquality):
        _, rest, values = eliminate(sp.true, relations)
        terms = {atom: coefficient.xreplace(values) for atom, coefficient in (claim.left - claim.right).terms}
        difference = sum((sp.Abs(c) for c in terms.values() if rational_parts(c)[0] != 0), sp.Integer(0))
        return sp.Eq(difference, 0), rest, values
    return eliminate(claim, relations)


@dataclass(frozen=True)
class Combine:
    """The claim is a nonnegative combination of the facts and of a form that is at least 0.

    multipliers: fact name -> factor, where the author of the step gives them (facts not named get 0; with
    these the claim need not mention a vector). coefficients: numbers f(i) that multiply vectors or other terms; each is
    any real number here of which the facts say what they do.
    """

    multipliers: Mapping[str, Any] = field(default_factory=_none)
    coefficients: tuple[Any, ...] = ()

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "combination of facts"

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Context) -> Finding:
        """PROVED with the multipliers, or UNDECIDED: no combination is not a refutation."""
        text = str(claim)
        names = {f: sp.Symbol(str(f), real=True) for f in self.coefficients}
        if names:
            facts = {k: put(f, names) if isinstance(f, sp.Rel) else f for k, f in facts.items()}
        goal, relations, values = _prepared(claim, facts)
        if names:
            goal, relations = put(goal, names), {k: put(r, names) for k, r in relations.items()}
        if goal in (sp.true, sp.false):
            nothing = contradicted(relations, setting, text)
            if nothing is not None or goal is sp.false:
                return nothing or Finding(Status.UNDECIDED, "no decision", note="the claim is false", claim=text)
            return Finding(Status.PROVED, "identity", {"kind": "identity"}, claim=text)
        hints = {k: sp.sympify(m, strict=True).xreplace(names) for k, m in self.multipliers.items()}
        hints = {k: m.xreplace(values).xreplace(names) for k, m in hints.items()}
        return _Combination(goal, relations, setting, hints, text).answer()


class _Combination:
    def __init__(
        self, claim: Any, relations: Mapping[str, Any], setting: Context, hints: dict[str, Any], text: str
    ) -> None:
        self.claim, self.setting, self.hints, self.text = claim, setting, hints, text
        every = [claim, *relations.values()]
        self.atoms = sorted({a for r in every for a in _linear_atoms(r, setting)}, key=sp.default_sort_key)
        named = {
            k for k, r in relations.items() if k in hints or (self.atoms and r.has(*self.atoms) and not self._sign(r))
        }
        self.linear = {k: r for k, r in relations.items() if k in named and _is_inequality(r)}
        self.scalar = {k: r for k, r in relations.items() if k not in self.linear}
        self.columns = {k: _coefficients(direction(r)[0], self.atoms) for k, r in self.linear.items()}
        self.gap = _coefficients(direction(claim)[0], self.atoms)
        self.parts: list[Finding] = []
        self.sampled: tuple[dict[str, Fraction] | None] | None = None
        # how far the best combination came, its multipliers, and what of it was not shown
        self.nearest: tuple[int, Mapping[str, Any], str] | None = None

    def _sign(self, relation: Any) -> bool:
        """Whether it says of a term that is at least 0 anyway that it is, which adds nothing to what is left."""
        return _is_inequality(relation) and is_nonnegative_atom(direction(relation)[0], self.setting.quantities)

    def answer(self) -> Finding:
        if self.gap is None or any(c is None for c in self.columns.values()):
            return self._undecided("a relation is not linear in the inner products, sums and quantities")
        if direction(self.claim)[1] != ">=":
            return self._undecided("only claims with <= or >= are combinations")
        nothing = contradicted(self.scalar | self.linear, self.setting, self.text)
        if nothing is not None:
            return nothing
        if not self._denominators():
            return self._undecided("a denominator is not proved to differ from 0")
        tried: set[tuple[Any, ...]] = set()
        for multipliers in self._candidates():
            values = tuple(sp.factor(v) for v in multipliers.values())
            if values in tried:
                continue
            tried.add(values)
            before = len(self.parts)
            certificate = self._verify(multipliers)
            if certificate is not None:
                return Finding(Status.PROVED, "combination", certificate, parts=tuple(self.parts), claim=self.text)
            del self.parts[before:]
        return self._undecided(self._missing())

    def _missing(self) -> str:
        """Why no combination shows the claim, in words."""
        unknown = ", ".join(f"'{k}'" for k in self.hints if k not in self.linear)
        notes = [f"A multiplier is given for {unknown}, which is no inequality that the step uses."] if unknown else []
        if self.nearest is not None:
            _, multipliers, reason = self.nearest
            notes.append(Shortfall(multipliers, self._rest(multipliers), reason).words())
        return " ".join(["no nonnegative combination of the facts was found.", *notes])

    def _undecided(self, note: str) -> Finding:
        return Finding(Status.UNDECIDED, "no decision", note=note, claim=self.text)

    def _denominators(self) -> bool:
        found: set[Any] = set()
        for row in [self.gap, *self.columns.values()]:
            for value in (row or {}).values():
                found |= {f for f, _ in factorised(rational_parts(value)[1])[1]}
        return all(self._shown(sp.Ne(f, 0)) for f in sorted(found, key=sp.default_sort_key))

    def _shown(self, relation: Any) -> bool:
        if relation in (sp.true, sp.false):
            return relation is sp.true
        if any(_states(fact, relation) for fact in self.scalar.values()):
            return True
        finding = decide(relation, self.scalar, self.setting)
        if finding.status is Status.PROVED:
            self.parts.append(finding)
        return finding.status is Status.PROVED

    def _candidates(self) -> Any:
        """Multipliers to try: given ones, else exact solutions with as few remaining terms as possible."""
        if self.hints:
            yield {k: self.hints.get(k, sp.Integer(0)) for k in self.linear}
            return
        names = list(self.linear)
        unknown = {k: sp.Dummy(f"lambda_{k}") for k in names}
        rows = {a: self._remainder(unknown, a) for a in [*self.atoms, sp.Integer(1)]}
        soft = [a for a in rows if a == 1 or is_nonnegative_atom(a, self.setting.quantities)]
        mixed = [a for a in rows if isinstance(a, Inner) and a not in soft]
        for form in ([], mixed):  # what is left of the mixed products must belong to a semidefinite form
            for count in range(len(soft) + 1):
                for left_out in combinations(soft, count):
                    equations = [r for a, r in rows.items() if a not in (*form, *left_out) and r != 0]
                    yield from self._solutions(equations, unknown)
            if not mixed:
                break
        numbers = all(v.is_Rational for row in [self.gap, *self.columns.values()] for v in (row or {}).values())
        if numbers and all(isinstance(a, Inner) for a in self.atoms):
            found = find_multipliers(self.gap or {}, {k: c or {} for k, c in self.columns.items()})
            yield from ({k: m[k] for k in names} for m in found)
        if self.nearest is not None:
            return
        yield from self._closest([*mixed, *(a for a in rows if a not in mixed and a not in soft), *soft], rows, unknown)

    def _closest(self, order: list[Any], rows: Mapping[Any, Any], unknown: Mapping[str, Any]) -> Any:
        """Multipliers that leave nothing over of the atoms in this order, except of those where that is impossible."""
        equations: list[Any] = []
        for atom in order:
            if next(self._solutions([*equations, rows[atom]], unknown), None) is not None:
                equations.append(rows[atom])
        yield from self._solutions(equations, unknown)

    def _solutions(self, equations: list[Any], unknown: Mapping[str, Any]) -> Any:
        if not unknown:
            yield {}
            return
        solution = sp.linsolve(equations, list(unknown.values())) if equations else sp.S.EmptySet
        for values in cast("Iterable[tuple[Any, ...]]", solution):
            chosen = {d: sp.Integer(0) for d in unknown.values()}
            yield {k: v.xreplace(chosen) for k, v in zip(unknown, values, strict=True)}

    def _remainder(self, multipliers: Mapping[str, Any], atom: Any) -> Any:
        value = (self.gap or {}).get(atom, sp.Integer(0))
        for name, column in self.columns.items():
            value -= multipliers[name] * (column or {}).get(atom, sp.Integer(0))
        return value

    def _negative(self, value: Any) -> bool:
        """Whether the value is negative at a point of the scalar facts, which saves asking for its sign."""
        if self.sampled is None:
            self.sampled = (sample(self.scalar, self.setting),)
        if self.sampled[0] is None:
            return False
        point = dict.fromkeys((s.name for s in value.free_symbols), Fraction(1)) | self.sampled[0]
        try:
            return enclose(value, point)[1] < 0
        except Undefined:
            return False

    def _rest(self, multipliers: Mapping[str, Any]) -> dict[Any, Any]:
        """What the multipliers leave over: atom (1 for the constant term) -> factor that is not 0."""
        values = {a: self._remainder(multipliers, a) for a in [*self.atoms, sp.Integer(1)]}
        return {a: sp.factor(v) for a, v in values.items() if rational_parts(v)[0] != 0}

    def _verify(self, multipliers: Mapping[str, Any]) -> dict[str, Any] | None:
        """The certificate where the identity and all signs are shown; else `nearest` holds what was not, if it is."""

        def fails(stage: int, reason: str) -> None:
            if self.nearest is None or self.nearest[0] < stage:
                self.nearest = (stage, multipliers, reason)

        factors = {f"the factor of '{k}'": v for k, v in multipliers.items()}
        for what, value in factors.items():
            if self._negative(value):
                return fails(1, f"{what} is negative")
        rest = self._rest(multipliers)
        form = {a: v for a, v in rest.items() if isinstance(a, Inner)}
        signs = {a: v for a, v in rest.items() if a not in form}
        for atom, value in signs.items():
            if not (atom == 1 or is_nonnegative_atom(atom, self.setting.quantities)):
                return fails(2, f"{in_words(atom)} may have either sign")
            what = "the term without a vector" if atom == 1 else f"the factor of {in_words(atom)}"
            factors[what] = value
            if self._negative(value):
                return fails(3, f"{what} is negative")
        for what, value in factors.items():
            if not self._shown(sp.Ge(sp.factor(value), 0)):
                return fails(4, f"{what} is not shown to be at least 0 from what the step uses")
        pivots = semidefinite(form, self._shown)
        if pivots is None:
            bad = next((a for a, v in form.items() if a.args[0] == a.args[1] and self._negative(v)), None)
            if bad is not None:
                return fails(5, f"the factor of {in_words(bad)} is negative")
            return fails(6, "the part in inner products is not shown to be at least 0 for all vectors")
        return {
            "kind": "combination",
            "multipliers": {k: str(sp.factor(v)) for k, v in multipliers.items() if v != 0},
            "remainder": {str(a): str(v) for a, v in rest.items()},
            "pivots": [str(p) for p in pivots],
        }


def _states(fact: Any, relation: Any) -> bool:
    """Whether the fact is the relation `v >= 0` in another form that has a value wherever v has one."""
    if not isinstance(fact, sp.Le | sp.Ge) or not isinstance(relation, sp.Ge):
        return False
    given, wanted = direction(fact)[0], direction(relation)[0]
    if given.free_symbols != wanted.free_symbols or rational_parts(given - wanted)[0] != 0:
        return False
    poles, others = ({f for f, _ in factorised(rational_parts(v)[1])[1]} for v in (given, wanted))
    return all(f in others or -f in others for f in poles)


def contradicted(relations: Mapping[str, Any], setting: Context, claim: str) -> Finding | None:
    """VACUOUS where the relations were shown to have no common solution, else None; first tried with all vectors 0."""
    zero = {a: sp.Integer(0) for r in relations.values() for a in _linear_atoms(r, setting)}
    try:
        if consistent({k: put(r, zero) for k, r in relations.items()}, setting):
            return None
    except BadInput:  # a relation that has no value there, with a norm as its denominator
        pass
    if consistent(relations, setting) is False:
        return unmeetable(claim)
    if not any(a.args[0] != a.args[1] for r in relations.values() for a in r.atoms(Inner)):
        return None  # squared norms alone are any numbers that are at least 0
    scalars = {k: r for k, r in relations.items() if not r.has(*zero)} if zero else dict(relations)

    def sign(bottom: Any) -> int:
        if bottom.is_Rational:
            return int(sp.sign(bottom))
        ways = ((sp.Gt(bottom, 0), 1), (sp.Lt(bottom, 0), -1))
        return next((s for way, s in ways if decide(way, scalars, setting).status is Status.PROVED), 0)

    found = find_contradiction(Hypotheses.of(relations, setting.quantities, sign))
    return None if found is None else unmeetable(claim, found.to_dict())


def _is_inequality(relation: Any) -> bool:
    return isinstance(relation, sp.Le | sp.Lt | sp.Ge | sp.Gt)


def _is_term(expr: Any) -> bool:
    if isinstance(expr, sp.Min | sp.Max | sp.Abs):
        return False
    return isinstance(expr, Inner | sp.Sum | sp.Derivative) or bool(expr.is_Function)


def _linear_atoms(relation: Any, setting: Context) -> set[Any]:
    if relation in (sp.true, sp.false):
        return set()
    found: set[Any] = set()
    stack: list[Any] = [relation.lhs, relation.rhs]
    while stack:
        expr = stack.pop()
        if _is_term(expr):
            found.add(expr)
        elif expr.is_Symbol:
            if expr.name in setting.quantities:
                found.add(expr)
        else:
            stack += expr.args
    return found


def _coefficients(expr: Any, atoms: list[Any]) -> dict[Any, Any] | None:
    """atom -> coefficient (1 -> constant term); None where the expression is not linear in the atoms."""
    names: dict[Any, Any] = {a: sp.Dummy(f"a{i}") for i, a in enumerate(atoms)}
    back: dict[Any, Any] = {d: a for a, d in names.items()}
    flat = sp.expand(expr.xreplace(names))
    result: dict[Any, Any] = {}
    for term in sp.Add.make_args(flat):
        factor, rest = term.as_independent(*back, as_Add=False)
        if rest != 1 and rest not in back:
            return _by_derivative(flat, back)
        key = back.get(rest, sp.Integer(1))
        result[key] = result.get(key, sp.Integer(0)) + factor
    return result


def _by_derivative(flat: Any, back: Mapping[Any, Any]) -> dict[Any, Any] | None:
    zero = dict.fromkeys(back, 0)
    result = {atom: sp.diff(flat, d) for d, atom in back.items()}
    if any(sp.simplify(c.diff(d)) != 0 for c in result.values() for d in back):
        return None
    return {a: c.xreplace(zero) for a, c in result.items()} | {sp.Integer(1): flat.xreplace(zero)}
