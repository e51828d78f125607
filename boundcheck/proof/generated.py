"""Facts that the statement gives by itself: its metric, its start, and what its method does in a round.

A fact about the metric or the method is *generated* where its claim is what the statement's metric, its symbols or the
composition of its method, as the engines carry it out, say of terms of the derivation. All that its author decides then
is what the terms stand for. Any other such fact is transcribed.

    mean of a quantity over the rounds      target == sum over r < R of f(r), over R
    quantity at the start                   gap_0 == gap(0),  dist2_0 == |x(0)|^2
    distance to the set of minimisers       target <= |w|^2
    sign of a quantity                      gap(r) >= 0
    local step                              y(k + 1) == y(k) - eta g(k), with g + (1 - a)(m - g0) for a momentum
    start of a visit                        y(0) == x
    mean over a cohort                      x == 1/C times the sum over k < C of d(k)
    minimiser of a subproblem               h == -g - mu v
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.methods.build import kind_of, kinds
from boundcheck.methods.kind import AnyOf, Part
from boundcheck.methods.parts import Average, ServerStep
from boundcheck.proof.at_points import AtPoints
from boundcheck.proof.language import parts
from boundcheck.proof.step import Fact
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import Inner, Vector, VectorEquality

NONNEGATIVE = ("gap", "dist2", "grad2", "drift")  # quantities that are at least 0 by what they are
OWN = ("start/", "round/")  # keys of symbols that a run has at its start, or in each round


def generated(statement: Any, facts: Iterable[Fact], target: Any) -> dict[str, tuple[str, ...]]:
    """Name of a generated fact -> what its terms stand for, a sentence each."""
    facts = tuple(facts)
    found: dict[str, tuple[str, ...]] = {}
    metric, method = _OfMetric(statement, target), _OfMethod(statement, facts)
    for kind, made in (
        ("metric", metric.named),
        ("metric", metric.sign),
        ("algorithm", method.local_step),
        ("algorithm", method.start_or_mean),
    ):
        for fact in facts:
            if fact.kind == kind and fact.instance is None and fact.name not in found:
                words = [made(part) for part in parts(fact.claim)]
                if all(words):
                    found[fact.name] = tuple(words)
    return found


def in_words(atom: Any) -> str:
    """A squared norm as |a|^2, an inner product as <a, b>, anything else as it is written."""
    if not isinstance(atom, Inner):
        return str(atom)
    first, second = atom.args
    return f"|{first}|^2" if first == second else f"<{first}, {second}>"


def _is_name(expr: Any) -> bool:
    return isinstance(expr, AppliedUndef) and not isinstance(expr, Inner) and bool(expr.is_real)


def _is_square(expr: Any) -> bool:
    """Whether it is the squared norm of one vector that has a name."""
    return isinstance(expr, Inner) and expr.args[0] == expr.args[1] and not isinstance(expr.args[0], sp.Sum)


def _head(term: Any) -> Any:
    """The function of a value, or of the vector in a squared norm."""
    inside = term.args[0] if isinstance(term, Inner) else term
    return (isinstance(term, Inner), inside.func if isinstance(inside, AppliedUndef) else inside)


class _OfMetric:
    """Facts about the metric; a term is named once, and a symbol by one term."""

    def __init__(self, statement: Any, target: Any) -> None:
        self.metric, self.target = statement.metric, target
        self.symbols = {s.expr: s for s in statement.symbols}
        self.terms: dict[Any, str] = {}  # term -> its quantity
        self.symbol_of: dict[str, Any] = {}

    def named(self, part: Any) -> str:
        """What the terms of an equation that names them stand for; empty for any other fact."""
        if isinstance(part, sp.Eq) and part.lhs == self.target:
            return self._mean(part.rhs)
        if isinstance(part, sp.Eq) and part.lhs in self.symbols:
            return self._start(self.symbols[part.lhs], part.rhs)
        nearest = isinstance(part, sp.Le) and part.lhs == self.target and _is_square(part.rhs)
        if nearest and self.metric.quantity == "dist2" and self.metric.scale == 1:
            return f"{part.rhs.args[0]} is the point that the metric is about, relative to a minimiser"
        return ""

    def _mean(self, value: Any) -> str:
        """The metric as a mean over the rounds, all alike."""
        rounds, sums = self.metric.rounds, list(value.atoms(sp.Sum))
        plain = self.metric.weights == 1 and not self.metric.with_last and self.metric.scale == 1
        if not plain or len(sums) != 1 or len(sums[0].limits) != 1:
            return ""
        own, term = sums[0].limits[0][0], sums[0].function
        index = sp.Symbol("r", real=True)
        term = term.xreplace({own: index})
        inside = term.args[0] if _is_square(term) else term
        if (
            not (_is_name(term) or _is_square(term))
            or index not in inside.args
            or value != sp.expand(total(term, index, rounds) / rounds)
        ):
            return ""
        return self._name(term, self.metric.quantity, f"{in_words(term)} is the {self.metric.quantity} after r rounds")

    def _start(self, symbol: Any, value: Any) -> str:
        """A symbol of the statement as a term of the run."""
        own = not symbol.key and not symbol.integer and _is_square(value)  # a quantity of a lemma
        of_the_run = symbol.key.startswith(OWN) and (_is_name(value) or _is_square(value))
        if not (own or of_the_run) or symbol.name in self.symbol_of:
            return ""
        quantity = symbol.name if own else symbol.key.split("/")[1]
        words = self._name(value, quantity, f"{in_words(value)} is {symbol.name}")
        if words:
            self.symbol_of[symbol.name] = value
        return words

    def _name(self, term: Any, quantity: str, words: str) -> str:
        """The words, where neither the term nor another value of its function has another meaning."""
        return words if self.terms.setdefault(_head(term), quantity) == quantity else ""

    def sign(self, part: Any) -> str:
        """That a term which has been named is at least 0."""
        if not isinstance(part, sp.Ge) or part.rhs != 0 or not _is_name(part.lhs):
            return ""
        quantity = self.terms.get(_head(part.lhs))
        return f"{part.lhs} is a {quantity}" if quantity in NONNEGATIVE else ""


class _OfMethod:
    """Facts about what a method does, read off the form of its kind."""

    def __init__(self, statement: Any, facts: tuple[Fact, ...]) -> None:
        algorithm = statement.algorithm
        self.form = kind_of(algorithm.kind).form if algorithm is not None and algorithm.kind in kinds() else None
        keys = {s.key: s.expr for s in statement.symbols if s.key.startswith("method/")}
        steps = [keys[k] for k in ("method/eta", "method/eta_l") if k in keys]
        self.step = steps[0] if len(steps) == 1 and algorithm is not None and not algorithm.steps else None
        self.a, self.prox = keys.get("method/a"), keys.get("method/prox")
        self.gradients = dict(_gradients(facts))
        self.visits: set[type] = set()  # functions of the number of local steps

    def _lacks(self, *roles: str) -> bool:
        return self.form is not None and all(getattr(self.form, role) is None for role in roles)

    def start_or_mean(self, part: Any) -> str:
        """What the terms stand for where a visit starts, where the server takes the mean, or of one of its vectors."""
        atom = _new(part)
        if atom is None:
            return ""
        return self._start_of_visit(atom, part.right) or self._mean(part.right) or self._direction(atom, part.right)

    def local_step(self, part: Any) -> str:
        """What the terms of one local step stand for, of a client without correction or control variate."""
        atom = _new(part)
        if atom is None or self.step is None or not self._lacks("correction", "control", "client_optimizer"):
            return ""
        terms = dict(part.right.terms)
        # functions of one name are equal, but one object only as long as SymPy's cache holds it
        before = [a for a in terms if a.func == atom.func and terms[a] == 1 and _is_next(a, atom)]
        if len(before) != 1:
            return ""
        rest = {a: sp.cancel(-c / self.step) for a, c in terms.items() if a != before[0]}
        found = self._mixed(rest, self._divisors())
        if not found or self.gradients.get(found[0], before[0]) != before[0]:  # it is the gradient at another point
            return ""
        self.visits.add(type(atom))
        return f"{found[0]} is what the step from {before[0]} takes for the gradient{found[1]}"

    def _divisors(self) -> set[Any]:
        return _given(self.form.local, "divide") if self.form is not None else set()

    def _mixed(self, terms: dict[Any, Any], divisors: set[Any]) -> tuple[Any, str] | None:
        """(gradient, what else is named) of a direction g, or g + (1 - a)(m - g0) with a momentum, over a divisor."""
        largest = [a for a, c in terms.items() if not isinstance(a, sp.Sum) and (self.a is None or not c.has(self.a))]
        if self.form is None or len(largest) != 1:
            return None
        own = largest[0]
        divisor: Any = sp.cancel(1 / terms[own])
        if self.step is not None and divisor.has(self.step):
            return None
        if divisor == 1:  # with steps divided by the number of samples: all steps of an epoch, with their mean gradient
            samples, right = "", divisors <= {None, "none", "size"}
        else:
            samples, right = f", of a client with {divisor} samples", divisors == {"size"} and not divisor.is_Rational
        if not right:
            return None
        if self.form.momentum is None:
            return (own, samples) if len(terms) == 1 else None
        if _given(self.form.momentum, "variance_reduced") != {True} or self.a is None:
            return None
        others = {sp.expand(c * divisor): a for a, c in terms.items() if a != own}
        wanted = [sp.expand(1 - self.a), sp.expand(self.a - 1)]
        if len(terms) != 3 or set(others) != set(wanted):
            return None
        m, g0 = (others[w] for w in wanted)
        return own, f"{samples}, {m} the momentum and {g0} the gradient at the server's point"

    def _direction(self, atom: Any, right: Vector) -> str:
        """A direction with momentum, or the solution of a subproblem."""
        found = self._mixed(dict(right.terms), set())
        if found is not None and self.form is not None and self.form.momentum is not None:
            return f"{atom} is the direction, or the next momentum, with {found[0]} for the gradient{found[1]}"
        if self.form is None or self.prox is None or _given(self.form.correction, "factor") != {1}:
            return ""
        terms = {c: a for a, c in right.terms}
        if len(right.terms) != 2 or set(terms) != {-1, -self.prox}:
            return ""
        return (
            f"{terms[-self.prox]} leads to the minimiser of a client's subproblem, {atom} is the change of its "
            f"gradient there and {terms[-1]} the mean gradient of the cohort"
        )

    def _start_of_visit(self, atom: Any, right: Vector) -> str:
        """A visit starts from the server's point, which may be the origin."""
        if not self._lacks("exchange") or type(atom) not in self.visits or atom.args[-1] != 0:
            return ""
        if not right.terms:
            return f"{atom} is where a visit starts, the origin"
        server, factor = right.terms[0]
        one = len(right.terms) == 1 and factor == 1 and not isinstance(server, sp.Sum)
        return f"{server} is the server's point, from which the visit at {atom} starts" if one else ""

    def _mean(self, right: Vector) -> str:
        """The server's point is the plain mean over the cohort."""
        form = self.form
        if form is None or not self._lacks("exchange", "server_momentum"):
            return ""
        if form.aggregation != Average() or form.server != ServerStep():
            return ""
        if len(right.terms) != 1 or not isinstance(right.terms[0][0], sp.Sum):
            return ""
        found, factor = right.terms[0]
        limits: Any = found.limits
        own, _, last = limits[0]
        if len(limits) != 1 or factor * (last + 1) != 1 or not isinstance(found.function, AppliedUndef):
            return ""
        each = found.function.xreplace({own: sp.Symbol("i", real=True)})
        return f"{each} is what client i of the cohort sends"


def _new(part: Any) -> Any:
    """The atom that an equation of vectors gives, or None."""
    if not isinstance(part, VectorEquality) or len(part.left.terms) != 1 or part.left.terms[0][1] != 1:
        return None
    return part.left.terms[0][0]


def _given(pattern: Any, name: str) -> set[Any]:
    """The values that a pattern of a form allows for a field of a part; None where the part has no such field."""
    if isinstance(pattern, AnyOf):
        return {v for p in pattern.patterns for v in _given(p, name)}
    if callable(pattern) and not isinstance(pattern, type):
        return {pattern}  # any part that it accepts
    return {pattern.given.get(name) if isinstance(pattern, Part) else getattr(pattern, name, None)}


def _is_next(before: Any, after: Any) -> bool:
    """Whether the arguments differ by 1 in the last index, and in nothing else."""
    if not isinstance(after, AppliedUndef) or len(before.args) != len(after.args):
        return False
    first: tuple[Any, ...] = before.args
    second: tuple[Any, ...] = after.args
    return first[:-1] == second[:-1] and sp.expand(second[-1] - first[-1]) == 1


def _gradients(facts: tuple[Fact, ...]) -> Iterator[tuple[Any, Any]]:
    """(gradient, point) of the evaluations at a point that is one vector."""
    for fact in facts:
        for one in fact.instance.at if isinstance(fact.instance, AtPoints) else ():
            if one.gradient is not None and one.gradient.terms:
                points = [a for a, _ in one.point.terms]
                yield one.gradient.terms[0][0], points[0] if len(points) == 1 else None
