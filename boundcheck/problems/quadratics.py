"""Finite sums of quadratics, client by client, with exact coefficients.

Component j of client i is x'A x/2 - b'x with A symmetric (indefinite allowed) and b given exactly; constants
added to it change no metric and are left out. f_i is the mean (or the sum) of its components and
F = sum_i w_i f_i. Where F has no minimiser, `violations` says why and the constants that need one are absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq_mat

from boundcheck.core.linalg import matrix
from boundcheck.core.numbers import format_exact
from boundcheck.errors import BadInput, UnknownName
from boundcheck.problems._quadratic import QuadraticInstance
from boundcheck.problems._specs import is_list, rows, shares, tables, vector

REDUCTIONS = ("mean", "sum")


@dataclass(frozen=True)
class Component:
    """x'Ax/2 - b'x: A (d, d) symmetric, b (d,)."""

    A: tuple[tuple[Fraction, ...], ...]
    b: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        d = len(self.b)
        if len(self.A) != d or any(len(row) != d for row in self.A):
            raise BadInput(f"a component has b of length {d}, so A must have {d} rows of {d} numbers.")
        for i in range(d):
            for j in range(i):
                if self.A[i][j] != self.A[j][i]:
                    raise BadInput(
                        f"A is not symmetric: A[{i}][{j}] = {self.A[i][j]}, A[{j}][{i}] = {self.A[j][i]}; "
                        "write the symmetric part (A + A')/2."
                    )

    def to_spec(self) -> dict[str, Any]:
        """Nested lists of number texts."""
        return {"A": [[format_exact(v) for v in row] for row in self.A], "b": [format_exact(v) for v in self.b]}


@dataclass(frozen=True, eq=False, repr=False)
class Quadratics(QuadraticInstance):
    """A finite sum of quadratics.

    name, spec: see `Problem`. components: one tuple a client. reduction: "mean" or "sum" of a client's
    components. weights: w_i, positive, summing to 1. start: x_0 (d,).
    """

    name: str
    spec: Mapping[str, Any]
    components: tuple[tuple[Component, ...], ...]
    reduction: str
    weights: tuple[Fraction, ...]
    start: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if self.reduction not in REDUCTIONS:
            raise UnknownName("the reduction", self.reduction, REDUCTIONS)
        if not self.components or not all(self.components):
            raise BadInput(f"the problem '{self.name}' has a client without components; every client needs at least 1.")
        shares(self.weights, len(self.components))
        if any(len(c.b) != len(self.start) for client in self.components for c in client):
            raise BadInput(f"the start has {len(self.start)} entries, and not every component as many.")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Components of each client."""
        return tuple(len(client) for client in self.components)

    def sample_maps(self) -> tuple[tuple[tuple[fmpq_mat, fmpq_mat], ...], ...]:
        """Per client and component (A_ij, b_ij); components that share A share its matrix."""
        shared = {id(c.A): c.A for client in self.components for c in client}
        hessians = {key: matrix(a) for key, a in shared.items()}
        return tuple(
            tuple((hessians[id(c.A)], matrix([[v] for v in c.b])) for c in client) for client in self.components
        )


def _component(given: Mapping[str, Any], where: str) -> Component:
    a = rows(given["A"], f"A of {where}")
    b: Any = given.get("b", [0] * len(a))
    return Component(a, vector(b if is_list(b) else [b], f"b of {where}"))


def build(
    *,
    clients: Sequence[Any],
    reduction: str = "mean",
    weights: Sequence[Any] | None = None,
    start: Sequence[Any] | None = None,
    name: str = "",
) -> Quadratics:
    """Quadratics from explicit coefficients.

    clients: one table a client, either {A = [["1/2", "0"], ["0", "1"]], b = ["0", "1"]} (b defaults to zeros; in
    dimension 1 plain numbers will do) or {components = [such tables]}. weights: default 1/n each. start: default
    ones. Floats mean their exact binary value. Raises BadInput and UnknownName.
    """
    given = tables(clients, "{A = [[1]], b = [0]}", ("A",), ("b",))
    parts = tuple(tuple(_component(c, f"client {i}") for c in own) for i, own in enumerate(given))
    n, d = len(parts), len(parts[0][0].b)
    x0 = (Fraction(1),) * d if start is None else vector(start, "start")
    written = [c[0].to_spec() if len(c) == 1 else {"components": [part.to_spec() for part in c]} for c in parts]
    spec: dict[str, Any] = {"kind": "quadratics", "clients": written, "reduction": reduction}
    spec |= {"start": [format_exact(v) for v in x0]}
    own = shares(weights, n)
    if weights is not None:
        spec["weights"] = [format_exact(w) for w in own]
    if name:
        spec["name"] = name
    return Quadratics(name or f"{n} quadratics in dimension {d}", spec, parts, reduction, own, x0)


def from_matrices(
    A: Sequence[Any], b: Sequence[Any], *, start: Sequence[Any], weights: Sequence[Any] | None = None, name: str = ""
) -> Quadratics:
    """Quadratics with one component a client: A (n, d, d) and b (n, d) of exact numbers or float64."""
    tables = [{"A": a_i, "b": b_i} for a_i, b_i in zip(A, b, strict=True)]
    return build(clients=tables, weights=weights, start=start, name=name)
