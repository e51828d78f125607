"""What the facts of a derivation may say, and whether its definitions and quantities stand on their own.

Definitions introduce new symbols that have a value, indices range over new symbols, nothing but the conditions of
the statement restricts its symbols alone, and no fact is the conclusion itself. Nor do the facts about the metric and
the method add up to it: none of them bounds what belongs to a run by an expression in the statement's symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput, UnknownName
from boundcheck.proof.at_points import check_taken
from boundcheck.proof.contexts import context, declared, without
from boundcheck.proof.gram import Combine, prepare
from boundcheck.proof.identity import same
from boundcheck.proof.language import flat_symbols, has_terms, parts, scalars, symbols_of
from boundcheck.proof.meaning import valueless
from boundcheck.proof.polynomial import direction
from boundcheck.proof.scalar import consistent
from boundcheck.proof.step import Context, Fact, Status
from boundcheck.proof.vectors import Inner, VectorEquality, is_nonnegative_atom
from boundcheck.theory.assumptions import with_implied
from boundcheck.theory.statement import Kind

KINDS = ("domain", "condition", "assumption", "algorithm", "metric", "count", "index", "range", "definition")
TRANSCRIBED = ("assumption", "algorithm", "metric")
DESCRIPTIONS = ("algorithm", "metric")  # of a run; what bounds it in terms of parameters are the assumptions


def check_facts(statement: Any, facts: tuple[Fact, ...], given: Iterable[tuple[str, Any]]) -> None:
    """Raises BadInput, or UnknownName for a kind or an assumption; given: (kind, claim) that the statement has."""
    if len({f.name for f in facts}) != len(facts):
        raise BadInput(f"{statement.id}: two facts of the derivation share a name.")
    scope, parameters = set(given), {s.expr for s in statement.symbols}
    declared = [_index(f, part, statement) for f in facts if f.kind in ("index", "range") for part in parts(f.claim)]
    indices = set(declared)
    used: set[Any] = parameters | indices
    ranged: set[Any] = set()
    for fact in facts:
        where = f"{statement.id}: the fact '{fact.name}'"
        if fact.kind not in KINDS:
            raise UnknownName(f"{where} has the kind", fact.kind, KINDS)
        if fact.kind in ("domain", "condition") and (fact.kind, fact.claim) not in scope:
            raise BadInput(f"{where} is not a {fact.kind} of the statement.")
        if fact.kind == "definition":
            _check_definition(fact, used, indices, where)
        elif fact.kind == "count":
            _check_count(fact, used - indices, indices, where)
        elif fact.kind in ("index", "range"):
            own = {part.lhs for part in parts(fact.claim)}
            if len(own) != 1 or own & (parameters | ranged):
                raise BadInput(f"{where} must declare one symbol that is new, not one of the statement.")
            if symbols_of(fact.claim) & (indices - own - ranged) or any(p.rhs.has(*own) for p in parts(fact.claim)):
                raise BadInput(f"{where} may mention only indices that are declared before it.")
            ranged |= own
        elif fact.kind in TRANSCRIBED:
            _check_transcription(fact, statement, parameters, indices, where)
        used |= flat_symbols(fact.claim)
    check_taken(statement, facts)
    values = definitions(facts)
    whole = indices | {s.expr for s in statement.symbols if s.integer}
    whole |= {parts(f.claim)[0].lhs for f in facts if f.kind == "count"}
    for fact in facts:
        if fact.kind in DESCRIPTIONS:
            for part in parts(fact.claim):
                _check_description(part, values, parameters, whole, statement, fact.name)


def definitions(facts: Iterable[Fact]) -> dict[Any, Any]:
    """Defined symbol -> expression, for definitions by scalars alone, each in what is not defined."""
    values: dict[Any, Any] = {}
    for fact in facts:
        if fact.kind == "definition" and isinstance(fact.claim, sp.Eq) and not fact.claim.rhs.has(Inner, sp.Sum):
            values[fact.claim.lhs] = fact.claim.rhs.subs(values)
    return values


def _check_description(
    part: Any, values: Mapping[Any, Any], parameters: set[Any], whole: set[Any], statement: Any, name: str
) -> None:
    """Raises BadInput where a fact about the metric or the method compares a run with more than one parameter.

    Such a fact says what a symbol of the statement is, so it holds one of them, times integers; an equation may say of
    what a statement is about that has no method.
    """
    if isinstance(part, VectorEquality) or (isinstance(part, sp.Eq) and statement.algorithm is None):
        return
    sides: tuple[Any, ...] = part.args
    terms = sp.Add.make_args(sp.expand((sides[0] - sides[1]).subs(values)))
    rest: Any = sp.factor(sum((t for t in terms if t.free_symbols <= parameters and not has_terms(t)), sp.Integer(0)))
    own = [f for f in sp.Mul.make_args(rest) if not f.free_symbols <= whole]
    if len(own) > 1 or any(not f.is_Symbol for f in own):
        raise BadInput(
            f"{statement.id}: the fact '{name}' compares a run with {-rest}; a fact about the metric or the method may "
            "compare it with one symbol of the statement, times integers."
        )


def _index(fact: Fact, part: Any, statement: Any) -> Any:
    where = f"{statement.id}: the fact '{fact.name}'"
    if not isinstance(part, sp.Le | sp.Lt | sp.Ge | sp.Gt) or not part.lhs.is_Symbol:
        raise BadInput(f"{where} must have its index on the left of an inequality.")
    if has_terms(part):
        raise BadInput(f"{where} must be about numbers.")
    if part.lhs in {s.expr for s in statement.symbols}:
        raise BadInput(f"{where} restricts {part.lhs}, a symbol of the statement; only its conditions may do that.")
    return part.lhs


def _check_definition(fact: Fact, used: set[Any], indices: set[Any], where: str) -> None:
    claim = fact.claim
    if isinstance(claim, sp.Eq) and claim.lhs.is_Symbol:
        new, head, right = claim.lhs, claim.lhs, flat_symbols(claim.rhs)
        if claim.rhs.free_symbols & indices:
            raise BadInput(f"{where} defines a symbol by an index; write a function of the index instead.")
    elif isinstance(claim, VectorEquality) and len(claim.left.terms) == 1:
        new, factor = claim.left.terms[0]
        if factor != 1 or isinstance(new, sp.Sum):
            raise BadInput(f"{where} must define one vector atom, without a factor.")
        head = type(new) if isinstance(new, AppliedUndef) else new
        right = flat_symbols(VectorEquality(claim.right, claim.right))
        arguments = list(new.args) if isinstance(new, AppliedUndef) else []
        if len(set(arguments)) != len(arguments) or not set(arguments) <= indices:
            raise BadInput(f"{where} must define a vector or a function of indices, each once.")
        if right & (indices - set(arguments)):
            raise BadInput(f"{where} defines {new} by an index that is not among its arguments.")
    else:
        raise BadInput(f"{where} is not a definition: write Eq(symbol, expression) or a vector equality with one atom.")
    if head in used or head in right:
        raise BadInput(f"{where} defines {new}, which is already in use.")


def _check_count(fact: Fact, used: set[Any], indices: set[Any], where: str) -> None:
    """An integer that is at least others: the first is an integer itself, and some integer is at least all of them."""
    first, *more = parts(fact.claim)
    for k, part in enumerate((first, *more)):
        low: Any = part.args[1] if isinstance(part, sp.Ge) else sp.Integer(-1)
        integer = low.is_Integer and low >= 0
        earlier = k > 0 and not has_terms(part) and low.free_symbols <= used - {first.lhs}
        if not isinstance(part, sp.Ge) or not part.lhs.is_Symbol or not (integer or earlier) or part.lhs != first.lhs:
            raise BadInput(f"{where} must be of the form symbol >= integer, with an integer that is at least 0.")
    if first.lhs in used | indices:
        raise BadInput(f"{where} restricts {first.lhs}, which is already in use.")


def _check_transcription(fact: Fact, statement: Any, parameters: set[Any], indices: set[Any], where: str) -> None:
    if fact.kind == "assumption":
        names = [a.name for a in with_implied(statement.assumptions)]
        if fact.assumption not in names:
            raise UnknownName(f"{where} must name an assumption of the statement, and", fact.assumption, names)
    if isinstance(fact.claim, sp.Implies):
        raise BadInput(f"{where} is an implication; only steps may claim one.")
    for part in parts(fact.claim):
        if flat_symbols(part) <= parameters:
            raise BadInput(f"{where} restricts the statement's own symbols; only its conditions may do that.")
        if not has_terms(part) and flat_symbols(part) & indices:
            raise BadInput(f"{where} restricts an index; only facts of kind 'index' or 'range' may do that.")
        if not isinstance(part, VectorEquality) and _has(part, statement.bound):
            raise BadInput(f"{where} contains the bound of the statement.")


def _has(claim: Any, bound: Any) -> bool:
    if bound.is_Symbol or bound.is_Rational:
        return False
    return claim.has(bound) or any(same(side, bound) for side in claim.args)


def check_target(
    statement: Any, facts: tuple[Fact, ...], target: Any, conclusion: Any, values: Mapping[Any, Any]
) -> None:
    """Raises BadInput for a target that is no quantity of its own, or a transcribed fact that is the conclusion."""
    where = f"{statement.id}: the target {target}"
    own = {s.expr for s in statement.symbols}
    fixed = own | {f.claim.lhs for f in facts if f.kind == "definition" and isinstance(f.claim, sp.Eq)}
    indices = {part.lhs for f in facts if f.kind in ("index", "range", "count") for part in parts(f.claim)}
    if target.is_Symbol:
        if target in fixed | indices:
            raise BadInput(f"{where} is a symbol of the statement, an index or a definition, not the metric.")
    elif not isinstance(target, AppliedUndef) or not target.free_symbols <= own:
        raise BadInput(f"{where} must be a symbol or a function of the statement's symbols that stands for the metric.")
    if not isinstance(conclusion, sp.Le | sp.Ge | sp.Eq):
        return
    values = {**values, **_named(facts, {*fixed, target})}
    wanted = direction(conclusion)[0].subs(values)
    for fact in facts:
        if fact.kind in TRANSCRIBED:
            for part in parts(fact.claim):
                if not isinstance(part, sp.Le | sp.Ge | sp.Eq):
                    continue
                given = direction(part)[0].subs(values)
                # an equation may be written either way round
                turned = [-wanted] if isinstance(conclusion, sp.Eq) or isinstance(part, sp.Eq) else []
                if any(same(given, gap) for gap in (wanted, *turned)):
                    raise BadInput(f"{statement.id}: the fact '{fact.name}' is the conclusion itself.")


def _named(facts: Iterable[Fact], fixed: set[Any]) -> dict[Any, Any]:
    """Symbol -> expression, for facts about the metric that are equations for a symbol of the derivation."""
    found: dict[Any, Any] = {}
    for fact in facts:
        for part in parts(fact.claim) if fact.kind in DESCRIPTIONS else ():
            if isinstance(part, sp.Eq) and part.lhs.is_Symbol and part.lhs not in {*fixed, *part.rhs.free_symbols}:
                value = part.rhs.subs(found)
                if part.lhs not in found and not value.has(part.lhs):
                    found = {s: e.subs(part.lhs, value) for s, e in found.items()} | {part.lhs: value}
    return found


def carried(statement: Any, facts: tuple[Fact, ...], conclusion: Any, setting: Context) -> str:
    """Why the facts about the metric and the method add up to the bound, without any assumption; empty where not.

    They do where no values of what they mention, taken as numbers of their own, meet them and break the conclusion.
    For a statement about no method the metric may be an expression in its symbols, so equations alone may.
    """
    if statement.kind is not Kind.UPPER_BOUND or not isinstance(conclusion, sp.Le):
        return ""
    scope = ("domain", "condition", "definition", "count", "index", "range")
    background = [part for f in facts if f.kind in scope for part in parts(f.claim)]
    described = [part for f in facts if f.kind in DESCRIPTIONS for part in parts(f.claim)]
    if not _follows(conclusion, [*background, *described], setting):
        return ""
    equations = [part for part in described if not _is_comparison(part)]
    if statement.algorithm is None and _follows(conclusion, [*background, *equations], setting):
        return ""
    return "The facts about the metric and the method add up to the bound, without any assumption."


def _is_comparison(part: Any) -> bool:
    """Whether the part is an inequality that says more than a sign."""
    return isinstance(part, sp.Le | sp.Lt | sp.Ge | sp.Gt) and 0 not in part.args


def _follows(conclusion: Any, relations: list[Any], setting: Context) -> bool:
    goal, known = prepare(conclusion, {str(k): r for k, r in enumerate(relations)})
    if goal in (sp.true, sp.false):
        return goal is sp.true
    names: dict[Any, Any] = {}

    def plain(expr: Any) -> Any:
        """Every inner product, sum and function as a number of its own."""
        if isinstance(expr, Inner | sp.Sum | sp.Derivative | AppliedUndef):
            return names.setdefault(expr, sp.Symbol(f"term {len(names)}", real=True))
        if not expr.args:
            return expr
        parts_of = [plain(a) for a in expr.args]
        return expr.func(*parts_of, evaluate=False) if isinstance(expr, sp.Rel) else expr.func(*parts_of)

    found = {k: plain(r) for k, r in known.items()}
    found["goal"] = plain(sp.Gt(goal.lhs, goal.rhs, evaluate=False))
    signs = [s for e, s in names.items() if is_nonnegative_atom(e, setting.quantities)]
    signs += [sp.Symbol(name, real=True) for name in setting.quantities]
    found |= {f"sign {s}": sp.Ge(s, 0, evaluate=False) for s in signs}
    near = Context(integers=setting.integers, seconds=min(setting.seconds, 2.0))
    return consistent({k: r for k, r in found.items() if r not in (sp.true, sp.false)}, near) is False


def unfounded(facts: tuple[Fact, ...], quantities: frozenset[str], setting: Context) -> dict[str, str]:
    """Name of a fact -> why it does not stand: a part of it may have no value, or a quantity may be negative.

    Shown from the domain of the statement, the definitions before it and the ranges of indices.
    """
    found: dict[str, str] = {}
    known: dict[str, Any] = {}
    closed = Context(quantities, setting.integers, setting.ranges, setting.seconds)
    for fact in facts:
        if fact.kind not in ("domain", "condition"):
            others = set(declared(setting)) - context([fact.claim], setting)
            missing = valueless(fact.claim, without(known, others, setting), closed)
            if missing:
                found[fact.name] = f"The fact '{fact.name}' is not shown to have a value: {missing}."
        if fact.kind == "definition" and isinstance(fact.claim, sp.Eq) and str(fact.claim.lhs) in quantities:
            before = Context(frozenset(), setting.integers, (), setting.seconds)
            if not _nonnegative(fact.claim.rhs, scalars(without(known, declared(setting), setting)), before):
                found[fact.name] = f"The quantity {fact.claim.lhs} is not shown to be at least 0."
        if fact.kind in ("domain", "count", "index", "range", "definition"):
            known |= {f"{fact.name}.{k}" if k else fact.name: part for k, part in enumerate(parts(fact.claim))}
    return found


def _nonnegative(expr: Any, facts: Mapping[str, Any], setting: Context) -> bool:
    """Whether a combination of squares, and of sums of such, is shown to be at least 0."""
    sums: dict[Any, Any] = {}
    rest = sp.Integer(0)
    for term in sp.Add.make_args(sp.expand(expr)):
        found = [f for f in sp.Mul.make_args(term) if isinstance(f, sp.Sum)]
        if len(found) == 1:
            limits = found[0].limits
            sums[limits] = sums.get(limits, sp.Integer(0)) + term / found[0] * found[0].function
        else:
            rest += term
    plain: dict[str, Any] = dict(facts)
    for one in sums.values():
        # the symbol of the sum stands for any number here, which is more than its terms need
        if one.has(sp.Sum) or not _square(one, plain, setting):
            return False
    return rest == 0 or _square(rest, plain, setting)


def _square(expr: Any, facts: Mapping[str, Any], setting: Context) -> bool:
    names = {s: sp.Dummy(s.name, real=True) for s in expr.free_symbols if s.name.startswith("_i")}
    claim = sp.Ge(expr.xreplace(names), 0, evaluate=False)
    return Combine().check(claim, facts, setting).status is Status.PROVED
