"""Polynomial and rational inequalities under hypotheses, with roots and Min: proved, refuted or undecided.

A proof is the unsatisfiability of the negation (z3's nlsat, cvc5 as a second opinion) and carries an exact
certificate where one is found. A refutation is a rational point, checked on the original relations in exact
arithmetic. Contradictory hypotheses prove nothing: the answer to them is VACUOUS, also where they contradict each
other for integers only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.exact import holds
from boundcheck.proof.find.products import find_products
from boundcheck.proof.language import whole
from boundcheck.proof.polynomial import Constraint, Encoder, Unsigned, smt
from boundcheck.proof.solvers import SOLVERS, ask
from boundcheck.proof.step import Context, Finding, Status, unmeetable
from boundcheck.proof.witness import complete, find_witness, shorten

FIRST_TRY = 1.0  # seconds
DISAGREE = "z3 and cvc5 contradict each other"
Formula = list[tuple[tuple[Any, str], ...]]
Model = dict[str, tuple[Fraction, bool]]

_consistent: dict[Any, bool | None] = {}
_known: dict[Any, Finding] = {}  # a question that occurs in several readings is answered once in a process


def decide(claim: Any, hypotheses: Mapping[str, Any], setting: Context | None = None) -> Finding:
    """Decide whether the relation `claim` follows from the relations `hypotheses` (name -> SymPy relation).

    Symbols are real; `setting.quantities` are at least 0 besides, `setting.integers` are integers. A conjunction
    is decided part by part. What is not polynomial, rational, a root, Min, Max or Abs is generalised to a
    real variable, and then a counterexample is reported as UNDECIDED, not as a refutation.
    """
    setting = setting or Context()
    parts = _conjuncts(claim)
    if len(parts) > 1:
        return _all(claim, [_decide(part, claim, hypotheses, setting) for part in parts])
    return _decide(claim, claim, hypotheses, setting)


def _decide(claim: Any, whole: Any, hypotheses: Mapping[str, Any], setting: Context) -> Finding:
    """Decide one part of the claim `whole`; a counterexample must break the whole."""
    flat: dict[str, Any] = {}
    for name, hypothesis in hypotheses.items():
        for k, part in enumerate(_conjuncts(hypothesis)):
            flat[f"{name}.{k}" if k else name] = part
    key = (claim, whole, tuple(sorted(flat.items(), key=lambda item: item[0])), *_part(setting))
    if key not in _known:
        found = _Question(claim, flat, setting, whole).answer()
        if found.status is Status.UNDECIDED:
            return found
        _known[key] = found
    return _known[key]


def _part(setting: Context) -> tuple[Any, ...]:
    return setting.quantities, setting.integers, setting.seconds


def consistent(relations: Mapping[str, Any], setting: Context | None = None) -> bool | None:
    """Whether some values of the symbols, integers where they must be, meet all relations; None: not decided.

    A relation in which the sign of a denominator is not shown is left out, so True is an answer for the others.
    """
    setting = setting or Context()
    flat = {f"{name}.{k}": part for name, r in relations.items() for k, part in enumerate(_conjuncts(r))}
    key = ("consistent", tuple(sorted(flat.items(), key=lambda item: item[0])), *_part(setting))
    if key not in _consistent:
        _consistent[key] = _Question(sp.true, flat, setting).satisfiable()
    return _consistent[key]


def sample(relations: Mapping[str, Any], setting: Context | None = None) -> dict[str, Fraction] | None:
    """A rational point at which all relations hold exactly, or None where the solvers give none."""
    setting = setting or Context()
    flat = {f"{name}.{k}": part for name, r in relations.items() for k, part in enumerate(_conjuncts(r))}
    return _Question(sp.true, flat, setting).point()


def _conjuncts(relation: Any) -> list[Any]:
    """A conjunction in its parts; `u <= Min(a, b)` is one, and so is `u >= Max(a, b)`."""
    if isinstance(relation, sp.And):
        return [part for arg in relation.args for part in _conjuncts(arg)]
    if isinstance(relation, sp.Le | sp.Lt | sp.Ge | sp.Gt):
        small, large = (relation.lhs, relation.rhs) if isinstance(relation, sp.Le | sp.Lt) else relation.args[::-1]
        strict = isinstance(relation, sp.Lt | sp.Gt)
        below = sp.Lt if strict else sp.Le
        if isinstance(large, sp.Min):
            return [part for arg in large.args for part in _conjuncts(below(small, arg, evaluate=False))]
        if isinstance(small, sp.Max):
            return [part for arg in small.args for part in _conjuncts(below(arg, large, evaluate=False))]
    return [relation]


def _all(claim: Any, findings: list[Finding]) -> Finding:
    worst = max(findings, key=lambda f: f.status.rank)
    if worst.status is not Status.PROVED:
        return worst
    return Finding(Status.PROVED, "each part of the conjunction", parts=tuple(findings), claim=str(claim))


class _Question:
    def __init__(self, claim: Any, hypotheses: Mapping[str, Any], setting: Context, whole: Any = None) -> None:
        self.original = claim
        self.whole = claim if whole is None else whole
        self.hypotheses = dict(hypotheses)
        self.setting = setting
        _refuse_reserved((self.whole, *self.hypotheses.values()))
        self.claim, self.rest, self.eliminated = eliminate(claim, dict(hypotheses))
        self.encoder = Encoder(self._prove, setting.quantities)
        self.dropped: list[str] = []
        self.gave_up = ""  # why the last question was not answered

    def answer(self) -> Finding:
        if self.claim is sp.true and not self.eliminated:
            return self._finding(Status.PROVED, "identity", certificate={"kind": "identity"})
        self._encode_hypotheses()
        met, note = self._satisfiable()
        if met is False:
            return unmeetable(str(self.original))
        if self.claim is sp.true:
            return self._finding(Status.PROVED, "identity", certificate={"kind": "identity"}, note=note)
        try:
            goals = self.encoder.goals(self.claim)
        except Unsigned as reason:
            return self._without_sign(str(reason))
        proofs: list[Finding] = []
        for goal in goals:
            found = self._prove(goal.poly, goal.op, self.encoder)
            if found is None and self.gave_up:
                return self._finding(Status.UNDECIDED, "no decision", note="; ".join([*self._left_out(), self.gave_up]))
            if found is None:
                return self._refute(goal, [])
            proofs.append(found)
        parts = (*self.encoder.parts, *(proofs if len(proofs) > 1 else proofs[0].parts))
        how = " with ".join(dict.fromkeys(f.how for f in proofs))
        notes = [n for n in (*(f.note for f in proofs), note) if n]
        certificate = proofs[0].certificate if len(proofs) == 1 else None
        return self._finding(Status.PROVED, how, certificate, parts=parts, note="; ".join(notes))

    def _without_sign(self, reason: str) -> Finding:
        """Not proved, but perhaps false at a point where the claim has a value."""
        try:
            goal = self.encoder.raw(self.claim)
        except Unsigned:
            return self._finding(Status.UNDECIDED, "no decision", note=reason)
        return self._refute(goal, [reason])

    def satisfiable(self) -> bool | None:
        """Whether the hypotheses that could be encoded have a common solution."""
        self._encode_hypotheses()
        return self._satisfiable()[0]

    def point(self) -> dict[str, Fraction] | None:
        """A rational point of the hypotheses, checked exactly."""
        self._encode_hypotheses()
        _, _, model, _ = self._ask_all(self._formula(self.encoder, sp.Integer(0)))
        names = {s.name for r in self.hypotheses.values() for s in r.free_symbols}
        full = complete({n: model.get(n, (Fraction(0), True))[0] for n in names}, self.eliminated)
        if full is None or any(holds(r, full) is not True for r in self.hypotheses.values()):
            return None
        return full

    def _finding(self, status: Status, how: str, certificate: Any = None, **more: Any) -> Finding:
        return Finding(status, how, certificate, claim=str(self.original), **more)

    def _encode_hypotheses(self) -> None:
        """Polynomial hypotheses first; the others when the signs that they need are proved from those before."""
        pending = sorted(self.rest.items(), key=lambda item: _difficulty(item[1]))
        while pending:
            left: list[tuple[str, Any]] = []
            for name, relation in pending:
                try:
                    self.encoder.add(relation, name)
                except Unsigned:
                    left.append((name, relation))
            if len(left) == len(pending):
                break
            pending = left
        self.dropped = [name for name, _ in pending]
        for relation in (self.claim, *self.rest.values()):
            for symbol in relation.free_symbols:
                if symbol.name in self.setting.quantities:
                    self.encoder.encode(sp.Ge(symbol, 0, evaluate=False))

    def _formula(self, encoder: Encoder, poly: Any) -> Formula:
        constraints, clauses = encoder.active(poly)
        single = [((c.poly, c.op),) for c in constraints]
        return single + [tuple((c.poly, c.op) for c in clause) for clause in clauses]

    def _ask(self, solver: str, formula: Formula, integers: frozenset[str], seconds: float) -> tuple[str, Model, str]:
        text, names = smt(formula, integers)
        answer = ask(solver, text, list(names), seconds)
        return answer.answer, {names[k]: v for k, v in answer.values.items()}, answer.reason

    def _ask_all(
        self, formula: Formula, integers: frozenset[str] = frozenset(), limits: tuple[float, ...] = ()
    ) -> tuple[str, str, Model, str]:
        """(answer, solver, model, reasons): every solver has a short try before any has the whole limit."""
        reasons: dict[str, str] = {}
        for seconds in limits or dict.fromkeys((min(FIRST_TRY, self.setting.seconds), self.setting.seconds)):
            for solver in SOLVERS:
                answer, model, reasons[solver] = self._ask(solver, formula, integers, seconds)
                if answer != "unknown":
                    return answer, solver, model, ""
        return "unknown", "", {}, ", ".join(reasons.values())

    def _satisfiable(self) -> tuple[bool | None, str]:
        formula = self._formula(self.encoder, sp.Integer(0))
        answer, _, model, reasons = self._ask_all(formula)
        if answer == "unknown":
            return None, f"that the hypotheses can be met was not shown ({reasons})"
        return self._by_integers(formula, model) if answer == "sat" else (False, "")

    def _by_integers(self, formula: Formula, model: Model) -> tuple[bool | None, str]:
        """Whether hypotheses that real numbers meet are met where integers are put for the symbols that must be."""
        own: Formula = []
        for symbol, value in self.eliminated.items():
            if symbol.name in self.setting.integers and not whole(value, self.setting):
                try:
                    constraint = self.encoder.encode(sp.Eq(symbol, value, evaluate=False))
                except Unsigned:
                    continue  # a point of the hypotheses would have to show that it is an integer
                own.append(((constraint.poly, constraint.op),))
        names = self.setting.integers
        values = [model[name] for name in names & model.keys()]
        if not own and all(exact and value.denominator == 1 for value, exact in values):
            return True, ""
        answer, _, _, reasons = self._ask_all([*formula, *own], names, (min(FIRST_TRY, self.setting.seconds),))
        if answer == "unknown":
            return None, f"that integers can meet the hypotheses was not shown ({reasons})"
        return answer == "sat", ""

    def _prove(self, poly: Any, op: str, encoder: Encoder) -> Finding | None:
        """PROVED when `poly op 0` follows from what the encoder holds."""
        text = f"{encoder.restore(poly)} {op} 0"
        if poly.is_Rational:
            true = bool(poly > 0) if op == ">" else bool(poly >= 0) if op == ">=" else bool(poly == 0) == (op == "==")
            return Finding(Status.PROVED, "arithmetic", {"kind": "identity"}, claim=text) if true else None
        formula = [*self._formula(encoder, poly), (Constraint(poly, op).negation(),)]
        answer, solver, _, self.gave_up = self._ask_all(formula)
        if answer == "sat":
            return self._over_integers(formula, text)
        if op in (">", ">="):
            usable = [(c.poly, c.op, c.origin) for c in encoder.active(poly)[0]]
            certificate = find_products(poly, op == ">", usable)
            if certificate is not None:
                return Finding(Status.PROVED, "certificate", certificate.to_dict(), claim=text)
        if answer == "unknown":
            return None
        if solver == "z3":
            second, _, _ = self._ask("cvc5", formula, frozenset(), min(FIRST_TRY, self.setting.seconds))
            if second == "sat":
                self.gave_up = DISAGREE
                return None
            solver = "z3 and cvc5" if second == "unsat" else solver
        return Finding(Status.PROVED, solver, claim=text)

    def _over_integers(self, formula: Formula, text: str) -> Finding | None:
        """What fails over the reals may hold for the integers among the symbols."""
        names = {s.name for clause in formula for poly, _ in clause for s in poly.free_symbols}
        if not names & self.setting.integers:
            return None
        short = min(FIRST_TRY, self.setting.seconds)
        answer, _, _ = self._ask("z3", formula, self.setting.integers, short)
        if answer != "unsat":
            return None
        second, _, _ = self._ask("cvc5", formula, self.setting.integers, short)
        if second == "sat":
            self.gave_up = DISAGREE
            return None
        solver = "z3 and cvc5" if second == "unsat" else "z3"
        return Finding(Status.PROVED, f"{solver} over the integers", claim=text)

    def _refute(self, goal: Constraint, notes: list[str]) -> Finding:
        """Look for a rational point at which every hypothesis holds and the claim fails."""
        formula = [*self._formula(self.encoder, goal.poly), (goal.negation(),)]
        symbols = {s.name for r in (self.whole, *self.hypotheses.values()) for s in r.free_symbols}
        pins = sorted(symbols - {s.name for s in self.eliminated})

        def solve(extra: Formula, integers: frozenset[str]) -> Any:
            answer, _, model, reasons = self._ask_all(formula + extra, integers)
            return answer, model, reasons

        relations = [*self.hypotheses.values()]
        relations += [sp.Ge(s, 0, evaluate=False) for s in self._quantities()]
        search = find_witness(solve, self.whole, relations, pins, self.eliminated, self.setting.integers)
        if search.point is not None:
            point = shorten(search.point, self.whole, relations, self.eliminated, self.setting.integers)
            return self._finding(
                Status.REFUTED,
                "exact rational witness",
                witness={name: str(value) for name, value in sorted(point.items())},
                note="the witness meets every hypothesis and breaks the claim, recomputed with exact fractions",
            )
        note = "; ".join([*notes, *self._left_out(), search.reason])
        return self._finding(Status.UNDECIDED, "no decision", note=note)

    def _left_out(self) -> list[str]:
        names = ", ".join(self.dropped)
        return [f"hypotheses left out because a sign is not proved: {names}"] if names else []

    def _quantities(self) -> list[Any]:
        every = {s for r in (self.whole, *self.hypotheses.values()) for s in r.free_symbols}
        return sorted((s for s in every if s.name in self.setting.quantities), key=lambda s: s.name)


def _refuse_reserved(relations: Iterable[Any]) -> None:
    for relation in relations:
        for symbol in relation.free_symbols:
            if symbol.name.startswith("_") and not isinstance(symbol, sp.Dummy):
                raise BadInput(f"the name '{symbol}' in '{relation}' is one of the checker's own; rename the symbol.")


def _difficulty(relation: Any) -> int:
    gap = relation.lhs - relation.rhs if relation not in (sp.true, sp.false) else sp.Integer(0)
    if gap.has(sp.Min, sp.Max, sp.Abs):
        return 3
    exponents: list[Any] = [p.exp for p in gap.atoms(sp.Pow)]
    if any(e.is_Rational and e.q != 1 for e in exponents):
        return 2
    return 0 if gap.is_polynomial() else 1


def eliminate(claim: Any, hypotheses: dict[str, Any]) -> tuple[Any, dict[str, Any], dict[Any, Any]]:
    """Substitute hypotheses `symbol == expression`; returns the claim, the rest, and symbol -> expression.

    Raises BadInput where a relation has no real value then, whatever the other symbols are.
    """
    eliminated: dict[Any, Any] = {}
    for relation in (claim, *hypotheses.values()):
        if relation not in (sp.true, sp.false):
            _refuse_unreal(relation, relation.args)
    while True:
        name = next((k for k, h in hypotheses.items() if _is_definition(h)), None)
        if name is None:
            return claim, hypotheses, eliminated
        symbol, value = hypotheses[name].args
        hypotheses = {k: put(h, {symbol: value}) for k, h in hypotheses.items() if k != name}
        claim = put(claim, {symbol: value})
        eliminated = {s: v.xreplace({symbol: value}) for s, v in eliminated.items()} | {symbol: value}


def _is_definition(relation: Any) -> bool:
    if not isinstance(relation, sp.Eq):
        return False
    left, right = relation.args
    return bool(left.is_Symbol) and not right.has(left)


def put(relation: Any, values: Mapping[Any, Any]) -> Any:
    """The relation with expressions in place of symbols or terms; raises BadInput where a side has no real value."""
    if relation in (sp.true, sp.false):
        return relation
    try:
        sides = [side.xreplace(values) for side in relation.args]
    except ValueError as error:  # Min and Max refuse arguments that are not real
        raise BadInput(f"'{relation}' has no real value with what its symbols are: {error}") from error
    _refuse_unreal(relation, sides)
    return relation.func(*sides)


def _refuse_unreal(relation: Any, sides: Iterable[Any]) -> None:
    for side in sides:
        roots = [p for p in side.atoms(sp.Pow) if p.exp.is_Rational and p.exp.q != 1 and p.base.is_negative]
        if roots or side.has(sp.I, sp.zoo, sp.nan, sp.oo, -sp.oo):
            raise BadInput(f"'{relation}' has no real value with what its symbols are.")
