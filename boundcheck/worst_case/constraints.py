"""Constraints of a user's own on a worst case, stated with cvxpy.

    import cvxpy as cp

    def decreasing(run):  # run: a Run
        return [run.gap(k + 1) <= run.gap(k) for k in range(run.rounds)]

    bc.worst_case("classics/gradient_descent_convex", L=1, eta="3/2", dist2_0=1, k=2, constraints=decreasing)

A quantity of the run is a scalar cvxpy variable; a constraint is affine in such variables, and becomes an inequality
between inner products and values with fractions as coefficients, which the certificate spells out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any

from boundcheck.core.extras import needed_for
from boundcheck.errors import BadInput, Unsupported
from boundcheck.worst_case.classes import Inequality
from boundcheck.worst_case.forms import Form, Row, combined, inner, number, square, total
from boundcheck.worst_case.oracles import Answers

Constraints = Callable[["Run"], Sequence[Any]]
MOST = 200  # constraints


class Vector:
    """A vector of the run: sums and multiples of points and gradients."""

    def __init__(self, row: Row) -> None:
        self.row = row

    def __add__(self, other: Vector) -> Vector:
        return Vector(combined(((1, self.row), (1, other.row))))

    def __sub__(self, other: Vector) -> Vector:
        return Vector(combined(((1, self.row), (-1, other.row))))

    def __mul__(self, factor: Any) -> Vector:
        return Vector(combined(((_fraction(factor), self.row),)))

    __rmul__ = __mul__


class Run:
    """The run on an instance that is not known: rounds 0 to `rounds`; all quantities are cvxpy variables.

    clients: their number. Points are measured from the minimiser; where the class has none, from the start.
    """

    def __init__(self, answers: Answers, points: Sequence[Row]) -> None:
        with needed_for("a constraint of your own"):
            self._cvxpy: Any = import_module("cvxpy")
        self.rounds, self.clients = len(points) - 1, answers.clients
        self._answers, self._points = answers, points
        self._known: dict[str, tuple[Any, Form]] = {}

    def gap(self, k: int) -> Any:
        """F(x_k) - F*."""
        return self._variable(f"gap({k})", self._answers.gap(self._point(k)))

    def dist2(self, k: int) -> Any:
        """|x_k - x*|^2."""
        if not self._answers.minimiser:
            raise Unsupported("a distance to a minimiser, which this class need not have.")
        return self._variable(f"dist2({k})", square(self._point(k)))

    def grad2(self, k: int) -> Any:
        """|grad F(x_k)|^2."""
        return self._variable(f"grad2({k})", square(self._answers.objective_gradient(self._point(k))))

    def point(self, k: int) -> Vector:
        """x_k."""
        return Vector(self._point(k))

    def gradient(self, k: int, client: int | None = None) -> Vector:
        """The gradient of F, or of a client, at x_k."""
        if client is None:
            return Vector(self._answers.objective_gradient(self._point(k)))
        if not 0 <= client < self.clients:
            raise BadInput(f"client = {client} is not allowed; it is one of 0 to {self.clients - 1}.")
        return Vector(self._answers.client_gradient(client, self._point(k)))

    def inner(self, one: Vector, other: Vector) -> Any:
        """The inner product of two vectors."""
        return self._variable(f"inner {len(self._known)}", inner(one.row, other.row))

    def _point(self, k: int) -> Row:
        if not 0 <= k <= self.rounds:
            raise BadInput(f"round {k} is not allowed in a constraint; the run has the rounds 0 to {self.rounds}.")
        return self._points[k]

    def _variable(self, name: str, form: Form) -> Any:
        if name not in self._known:
            self._known[name] = self._cvxpy.Variable(name=name), form
        return self._known[name][0]

    def inequalities(self, constraints: Constraints) -> Iterator[Inequality]:
        """What the constraints say. Raises BadInput for what is no affine constraint in quantities of this run."""
        found = list(constraints(self))
        if len(found) > MOST:
            raise BadInput(f"{len(found)} constraints of your own are too many; {MOST} are allowed.")
        forms = {variable.id: form for variable, form in self._known.values()}
        for k, constraint in enumerate(found):
            yield Inequality(("own", str(k)), self._form(constraint, forms), equal=_is_equality(constraint))

    def _form(self, constraint: Any, forms: Mapping[int, Form]) -> Form:
        text = str(constraint)
        if not hasattr(constraint, "args") or type(constraint).__name__ not in ("Equality", "Inequality"):
            raise BadInput(f"the constraint {text} is no equality or inequality of cvxpy.")
        left, right = constraint.args
        expression = left - right
        variables = expression.variables()
        if not expression.is_affine() or expression.size != 1 or not {v.id for v in variables} <= set(forms):
            raise BadInput(f"the constraint {text} is not affine in single quantities of the run.")
        for variable in variables:
            variable.value = 0.0
        parts = [(_fraction(slope.item()), forms[v.id]) for v, slope in _slopes(expression)]
        return total([*parts, (1, number(_fraction(float(expression.value))))])


def _slopes(expression: Any) -> Iterator[tuple[Any, Any]]:
    for variable, slope in expression.grad.items():
        yield variable, slope.toarray() if hasattr(slope, "toarray") else slope


def _is_equality(constraint: Any) -> bool:
    return type(constraint).__name__ == "Equality"


def _fraction(value: Any) -> Fraction:
    """The number that is meant: a float by its shortest text, so that 0.1 is 1/10."""
    try:
        return Fraction(str(value))
    except ValueError as error:
        raise BadInput(f"{value} is no number that a constraint can have.") from error
