"""Facts that are taken from the catalogue of assumptions: one of its inequalities at explicit points.

A derivation states how it writes a function's gradient and value at a point (`Evaluation`), and the claim of the fact
is made from the inequality of `theory.assumptions` at such evaluations. A fact that names an assumption with an
inequality must be made in this way.

The two models of a function follow from the inequalities by integration (Y. Nesterov, Introductory Lectures on Convex
Optimization, Section 1.2.2 and Section 2.1): a gradient that is K-Lipschitz gives the upper one,
f(b) <= f(a) + <f'(a), b - a> + K/2 |b - a|^2, and <f'(x) - f'(y), x - y> >= m |x - y|^2 gives the lower one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.step import Fact
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import Inner, Vector, inner, norm2
from boundcheck.theory.assumptions import CLASSES, IN_PROOFS, Assumption, with_implied

LEVELS = ("f_ij", "f_i", "F")  # a mean of functions inherits each of the inequalities
NOWHERE = Vector(())

# the level of the functions that a quantity of the catalogue is about
_LEVEL: Mapping[str, str] = {
    **dict.fromkeys(("component_difference2", "component_monotonicity"), "f_ij"),
    **dict.fromkeys(("grad_difference2", "client_monotonicity", "similarity2"), "f_i"),
    **dict.fromkeys(("monotonicity", "inner", "dist2", "gap", "grad2"), "F"),
}
_DIFFERENCES = ("grad_difference2", "component_difference2")
_MONOTONE = ("monotonicity", "client_monotonicity", "component_monotonicity")
# quantities over all clients or blocks, and values at the point, for which a derivation has a name
_NAMED = ("client_grad2", "noise2", "scaled_difference2", "scaled_move2", "gap", "grad2", "deviation2", "kappa2_j")
_OWN = ("sigma2_i", "P2")  # constants of one client, which a statement may have too
DEVIATION = "draw_deviation2"
_COUNTED = ("D_i", "weight2")  # numbers that may depend on an index
_OF_SAMPLES = "sample_deviation2"


def inequality_of(assumption: Assumption) -> Any:
    """The inequality that facts are taken from; None for a hypothesis without one."""
    if assumption.inequality is not None or CLASSES.get(assumption.name) != assumption:
        return assumption.inequality
    return IN_PROOFS.get(assumption.name)


@dataclass(frozen=True)
class Evaluation:
    """A function of the problem at one point, as a derivation writes it.

    function: "f_ij", the loss of a sample, "f_i", that of a client, or "F"; which: the index that tells one sample or
    client from another, or None. point: relative to an origin that all points of the derivation share. gradient: a
    vector atom, the zero vector at a minimiser, or None where it is not used. value: a symbol, a function of indices
    or 0, or None. along: a symbol t where the point is t times a vector and the value a function of t; the gradient
    then enters by its inner product with the point, t times the derivative of the value.

    Gradients and values may be those of the function without a linear term, which none of the inequalities about two
    points sees.
    """

    function: str
    point: Vector
    gradient: Vector | None = None
    value: Any = None
    which: Any = None
    along: Any = None

    def __post_init__(self) -> None:
        where = f"the evaluation of {self.function} at {self.point}"
        if self.function not in LEVELS:
            raise BadInput(f"{where} is of no function of the problem; allowed are {', '.join(LEVELS)}.")
        terms = () if self.gradient is None else self.gradient.terms
        if len(terms) > 1 or any(factor != 1 or isinstance(atom, sp.Sum) for atom, factor in terms):
            raise BadInput(f"{where} has the gradient {self.gradient}; allowed are one vector atom or the zero vector.")
        if self.value is not None and self.value != 0 and not is_name(self.value):
            raise BadInput(f"{where} has the value {self.value}; allowed are a symbol, a function of indices, or 0.")
        if self.along is not None and (
            self.gradient is not None or self.point.at(self.along, 1) * self.along != self.point
        ):
            raise BadInput(f"{where} must be {self.along} times a vector, and needs no gradient.")

    def words(self) -> tuple[str, ...]:
        """What the gradient and the value are, a sentence each."""
        where = f"{self.function}{'' if self.which is None else f' of {self.which}'} at {self.point}"
        found = (("gradient", self.gradient), ("value", self.value))
        return tuple(f"{said} is the {what} of {where}" for what, said in found if said is not None)

    @property
    def place(self) -> tuple[str, Any, Vector]:
        """Which function, and where."""
        return self.function, self.which, self.point


def is_name(expr: Any) -> bool:
    """Whether the expression is a symbol, or a value of a function without a definition."""
    return bool(expr.is_Symbol) or isinstance(expr, AppliedUndef)


def _is_mean(expr: Any) -> bool:
    """Whether the expression is a name, a squared norm of one vector, or the mean of such over an index."""
    if is_name(expr) or (isinstance(expr, Inner) and expr.args[0] == expr.args[1]):
        return True
    sums = [f for f in sp.Mul.make_args(expr) if isinstance(f, sp.Sum)]
    if len(sums) != 1 or len(sums[0].limits) != 1:
        return False
    return expr * (sums[0].limits[0][2] + 1) == sums[0] and _is_mean(sums[0].function)


@dataclass(frozen=True)
class AtPoints:
    """One of the catalogue's inequalities at some points: "pointwise", or the "upper model" or "lower model" it gives.

    at: the evaluations, in the order of the functions that make the fact; named: (quantity, expression) pairs for
    quantities that are no function of the evaluations.
    """

    form: str
    at: tuple[Evaluation, ...]
    named: tuple[tuple[str, Any], ...] = ()

    def words(self) -> tuple[str, ...]:
        """What the evaluations and the names stand for, a sentence each."""
        own = (f"{value} is the quantity {name} of the assumption" for name, value in self.named if name != DEVIATION)
        return (*(said for one in self.at for said in one.words()), *own)

    def claim(self, assumption: Assumption) -> Any:
        """The relation that the assumption gives here; raises BadInput where it says nothing about these points."""
        inequality = inequality_of(assumption)
        if inequality is None:
            raise BadInput(f"the assumption '{assumption.name}' has no inequality that could be taken at points.")
        quantities = {s.name: s for s in inequality.free_symbols}
        self._check(assumption, quantities)
        if self.form == "pointwise":
            values = {quantities[name]: value for name, value in self._values(quantities).items()}
            left, right = (side.xreplace(values) for side in inequality.args)
            return inequality.func(left, right, evaluate=False)
        return self._model(assumption, quantities)

    def _check(self, assumption: Assumption, quantities: Iterable[str]) -> None:
        where = f"the assumption '{assumption.name}'"
        wanted = max((LEVELS.index(_LEVEL[q]) for q in quantities if q in _LEVEL), default=0)
        for one in self.at[:2]:
            if LEVELS.index(one.function) < wanted:
                raise BadInput(f"{where} is about {LEVELS[wanted]}, not about {one.function}.")
        if _OF_SAMPLES in quantities:
            self._check_samples(where)
        elif len({(one.function, one.which) for one in self.at[:2]}) > 1:
            raise BadInput(f"{where} is applied to two functions; its points must be those of one.")
        for name, value in self.named:
            if name == DEVIATION and isinstance(value, Vector):
                continue  # a draw less its mean, by a law of the derivation
            if name in _COUNTED and not value.has(Inner, sp.Sum):
                continue
            if name not in (*_NAMED, *_OWN) or not _is_mean(value):
                raise BadInput(
                    f"{where}: {name} cannot be named {value}; allowed are {', '.join((*_NAMED, *_OWN))}, each a "
                    "symbol, a function of indices, a squared norm, or the mean of such."
                )

    def _check_samples(self, where: str) -> None:
        """f_i, and all f_ij of the same client, at one point."""
        own = [(one.function, one.point) for one in self.at]
        if len(own) != 2 or [f for f, _ in own] != ["f_i", "f_ij"] or own[0][1] != own[1][1]:
            raise BadInput(f"{where} needs f_i, and f_ij of its sample j, at the same point.")
        client, sample = (one.which if isinstance(one.which, tuple) else (one.which,) for one in self.at)
        if sample[:-1] != tuple(w for w in client if w is not None) or not getattr(sample[-1], "is_Symbol", False):
            raise BadInput(f"{where} needs a sample j of the client of its f_i, j an index.")

    def _values(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """The quantities of the catalogue at these evaluations."""
        found = {name: norm2(v) if isinstance(v, Vector) else v for name, v in self.named}
        for name in wanted:
            if name in found:
                continue
            if name in (*_DIFFERENCES, *_MONOTONE, "point_difference2"):
                a, b = self._two(name)
                step = a.point - b.point
                change = _gradient(a) - _gradient(b) if name != "point_difference2" else step
                found[name] = inner(change, step) if name in _MONOTONE else norm2(change)
            elif name in ("inner", "dist2", "gap"):
                a, b = self._two(name)
                found[name] = _towards(name, a, b)
            elif name in ("grad2", "own_grad2"):
                found[name] = norm2(_gradient(self.at[0]))
            elif name == _OF_SAMPLES:
                which = self.at[1].which
                count = found.get("D_i", wanted["D_i"])
                spread = norm2(_gradient(self.at[1]) - _gradient(self.at[0]))
                found[name] = total(spread, which[-1] if isinstance(which, tuple) else which, count) / count
            elif name == "similarity2":
                found[name] = norm2(self._similarity())
            elif name in _NAMED:
                raise BadInput(f"the fact must name the quantity {name} of its assumption.")
        return found

    def _two(self, name: str) -> tuple[Evaluation, Evaluation]:
        if len(self.at) < 2:
            raise BadInput(f"the quantity {name} of an assumption needs two points.")
        return self.at[0], self.at[1]

    def _similarity(self) -> Vector:
        own, others = self.at[:2], self.at[2:]
        if [one.function for one in others] != ["F", "F"] or [a.point for a in own] != [b.point for b in others]:
            raise BadInput("the quantity similarity2 of an assumption needs f_i, and F, at the same two points.")
        return (_gradient(own[0]) - _gradient(own[1])) - (_gradient(others[0]) - _gradient(others[1]))

    def _model(self, assumption: Assumption, quantities: Mapping[str, Any]) -> Any:
        a, b = self._two("point_difference2")
        if a.value is None or b.value is None:
            raise BadInput(f"the {self.form} of '{assumption.name}' needs the values at both points.")
        step = b.point - a.point
        linear = a.value + inner(_gradient(a), step)
        inequality: Any = assumption.inequality
        upper = self.form == "upper model"
        known = [quantities[q] for q in (_DIFFERENCES if upper else _MONOTONE) if q in quantities]
        if len(known) != 1 or inequality.lhs != known[0] or not isinstance(inequality, sp.Le if upper else sp.Ge):
            raise BadInput(f"the assumption '{assumption.name}' gives no {self.form}.")
        if "scaled_difference2" in quantities:
            move = dict(self.named).get("scaled_move2")
            if move is None or inequality.rhs != quantities["scaled_difference2"]:
                raise BadInput(f"the {self.form} of '{assumption.name}' needs the quantity scaled_move2.")
            return sp.Le(b.value, linear + move / 2, evaluate=False)
        right: Any = inequality.rhs
        square: Any = quantities.get("point_difference2", sp.Integer(0))
        factor: Any = right.coeff(square) if square != 0 else sp.Integer(0)
        if right != factor * square:
            raise BadInput(f"the assumption '{assumption.name}' gives no {self.form}.")
        if upper:
            constant = next(iter(factor.free_symbols), sp.Integer(0))
            if factor != constant**2:
                raise BadInput(f"the assumption '{assumption.name}' gives no {self.form}.")
            return sp.Le(b.value, linear + constant / 2 * norm2(step), evaluate=False)
        return sp.Ge(b.value, linear + factor / 2 * norm2(step), evaluate=False)


def _gradient(one: Evaluation) -> Vector:
    if one.gradient is None:
        raise BadInput(f"the gradient of {one.function} at {one.point} is needed.")
    return one.gradient


def _towards(name: str, a: Evaluation, b: Evaluation) -> Any:
    """A quantity at a point a, with b the nearest minimiser."""
    if b.gradient != NOWHERE:
        raise BadInput(
            f"the quantity {name} of an assumption needs a minimiser, where the gradient is the zero vector."
        )
    away = a.point - b.point
    if name == "dist2":
        return norm2(away)
    if name == "gap":
        if a.value is None or b.value is None:
            raise BadInput("the quantity gap of an assumption needs the values at the point and at the minimiser.")
        return a.value - b.value
    if a.along is None:
        return inner(_gradient(a), away)
    if b.point != NOWHERE or a.value is None:
        raise BadInput(f"a path along {a.along} must begin at the minimiser, and needs a value.")
    return a.along * sp.diff(a.value, a.along)


def _made(name: str, assumption: Assumption, source: str, instance: AtPoints) -> Fact:
    return Fact(name, instance.claim(assumption), "assumption", source, assumption.name, instance)


def pointwise(name: str, assumption: Assumption, source: str, *at: Evaluation, **named: Any) -> Fact:
    """The assumption's inequality at the evaluations.

    at: the two points of a difference; the point and the nearest minimiser; for similarity2 f_i at two points, then F
    at the same. named: what the derivation calls the quantities that are sums over clients.
    """
    return _made(name, assumption, source, AtPoints("pointwise", at, tuple(named.items())))


def upper_model(name: str, assumption: Assumption, source: str, a: Evaluation, b: Evaluation, **named: Any) -> Fact:
    """The value at b is at most that of the quadratic model around a, for an assumption on gradient differences.

    named: scaled_move2, the sum over the blocks j of L_j |b_j - a_j|^2, where each block has a constant of its own.
    """
    return _made(name, assumption, source, AtPoints("upper model", (a, b), tuple(named.items())))


def lower_model(name: str, assumption: Assumption, source: str, a: Evaluation, b: Evaluation) -> Fact:
    """The value at b is at least that of the model around a, for an assumption of (strong) convexity."""
    return _made(name, assumption, source, AtPoints("lower model", (a, b)))


def check_taken(statement: Any, facts: tuple[Fact, ...]) -> None:
    """Raises BadInput for a fact that is not the inequality of its assumption, or evaluations that contradict.

    A gradient belongs to one function at one point, and a function has one gradient and one value there.
    """
    assumptions = {a.name: a for a in with_implied(statement.assumptions)}
    points: dict[Any, Any] = {}
    known: dict[Any, Any] = {}
    for fact in facts:
        where = f"{statement.id}: the fact '{fact.name}'"
        assumption = assumptions.get(fact.assumption)
        made = isinstance(fact.instance, AtPoints)
        inequality = None if assumption is None else inequality_of(assumption)
        written = assumption is not None and assumption.inequality is None and not made  # as the author has it
        if fact.kind != "assumption" or assumption is None or inequality is None or written:
            if made:
                raise BadInput(f"{where} is made from an inequality, which '{fact.assumption}' does not have.")
            continue
        if not isinstance(fact.instance, AtPoints):
            raise BadInput(
                f"{where} must be taken from the inequality {inequality} of '{assumption.name}'; make it "
                "with pointwise, upper_model or lower_model."
            )
        if fact.claim != fact.instance.claim(assumption):
            raise BadInput(
                f"{where} claims {fact.claim}; at its points the inequality of '{assumption.name}' is "
                f"{fact.instance.claim(assumption)}."
            )
        for one in fact.instance.at:
            if one.gradient is not None:
                own = one.gradient if one.gradient.terms else (one.function, one.which)  # the zero vector is of each
                point = points.setdefault(own, one.place)
                if point != one.place:
                    raise BadInput(f"{where} has {one.gradient} as the gradient at {one.point} and at {point[2]}.")
            for what, found in (("gradients", one.gradient), ("values", one.value)):
                if found is not None and known.setdefault((what, one.place), found) != found:
                    first = known[what, one.place]
                    raise BadInput(f"{where} has two {what} of {one.function} at {one.point}, {first} and {found}.")
