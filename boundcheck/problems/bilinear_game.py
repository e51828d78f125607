"""Bilinear games: min over x, max over y of the mean of f_i(x, y) = x'A_i y + b_i'x + c_i'y.

A saddle point is a zero of F(x, y) = (A y + b, -A'x - c). F is no gradient: there is no objective, no gap and no F*.
What a method calls the gradient of client i is F_i, the mean of the maps of the client's components.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from flint import fmpq_mat

from boundcheck.certified import certify
from boundcheck.certified.constant import Constant
from boundcheck.certified.definite import is_positive_semidefinite
from boundcheck.certified.lazy import LazyConstants
from boundcheck.core import linalg
from boundcheck.core.numbers import format_exact
from boundcheck.errors import BadInput
from boundcheck.problems._instance import unknown
from boundcheck.problems._quadratic import QuadraticInstance, Shape
from boundcheck.problems._specs import rows, shares, tables, vector
from boundcheck.problems.problem import Forms

Pair = tuple[fmpq_mat, fmpq_mat]
_EXAMPLE = "{A = [[1]], b = [0], c = [0]}"
# Hypotheses that maps can meet, with the constants in them; and those about functions, which this problem has not.
_LIPSCHITZ = {"smooth_clients": ("L",), "smooth_samples": ("L_ij",), "client_smoothness": ("L", "L_f")}
_OF_FUNCTIONS = (
    *("strong_quasi_convexity", "convexity", "convex_clients", "strongly_convex_samples", "convex_samples"),
    *("relaxed_dissimilarity", "bounded_below", "lower_curvature"),
)


@dataclass(frozen=True, eq=False, repr=False)
class BilinearGame(QuadraticInstance):
    """A game between x (the first coordinates) and y.

    name, spec: see `Problem`. components: of each client (M, v), the map M z - v at z = (x, y), M = [[0, A], [-A', 0]]
    and v = (-b, c). weights: w_i, positive, summing to 1. start: (x_0, y_0).
    """

    name: str
    spec: Mapping[str, Any]
    components: tuple[tuple[Pair, ...], ...]
    weights: tuple[Fraction, ...]
    start: tuple[Fraction, ...]
    reduction = "mean"
    operator = "F(x, y) = (A y + b, -A'x - c)"
    local_variances: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]

    def __post_init__(self) -> None:
        if self.shape.stationary is None:
            raise BadInput(f"the problem '{self.name}' has no saddle point: {self.operator} has no zero.")

    @property
    def metrics(self) -> tuple[str, ...]:
        """The squared distance to the saddle points, alone."""
        return ("dist2",)

    @property
    def ratios(self) -> tuple[str, ...]:
        """None: they are about gradients."""
        return ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Components of each client."""
        return tuple(map(len, self.components))

    def sample_maps(self) -> tuple[tuple[Pair, ...], ...]:
        """Per client and component (M, v)."""
        return self.components

    @cached_property
    def shape(self) -> Shape:
        """The mean map, and its zero nearest to the start; never convex."""
        a, v = self.mean_map()
        return Shape(a, linalg.nearest_solution(a, v, linalg.column(self.start)), False, linalg.range_projector(a))

    @property
    def solution(self) -> fmpq_mat | None:
        """The saddle point nearest to the start, (d, 1)."""
        return self.shape.stationary

    @cached_property
    def _forms(self) -> Forms:
        assert self.shape.stationary is not None
        return Forms(self._maps, {"dist2": (self.shape.stationary, self.shape.projector)})

    @cached_property
    def _of_constants(self) -> Mapping[str, tuple[fmpq_mat, ...]]:
        """Constant -> the matrices of the maps of which it is the largest operator norm."""
        return {
            "L": tuple(a for a, _ in self._maps),
            "L_f": (self.shape.hessian,),
            "L_ij": tuple(a for own in self.components for a, _ in own),
        }

    @cached_property
    def _constants(self) -> LazyConstants:
        shape = self.shape
        assert shape.stationary is not None
        centre = shape.stationary
        norms = {
            name: lambda own=own: certify.operator_norm(own, "maps, in place of gradients")
            for name, own in self._of_constants.items()
        }
        return LazyConstants(
            {
                **{name: lambda c=c: c for name, c in self.counted().items()},
                "dist2_0": lambda: certify.squared_distance(shape.projector, centre, self.start),
                "s_min": lambda: certify.least_singular_value(shape.hessian, shape.projector),
                **norms,
            }
        )

    def constants(self) -> Mapping[str, Constant]:
        """n, d, dist2_0, the Lipschitz constants L, L_f and L_ij of the maps (their operator norms), and s_min."""
        return self._constants

    def _objection(self, assumption: str) -> str | None:
        if assumption in _OF_FUNCTIONS:
            return f"it is no minimisation: {self.operator} is no gradient."
        if assumption in _LIPSCHITZ:
            return None
        raise unknown(assumption, (*_OF_FUNCTIONS, *_LIPSCHITZ, "plain_mean"))

    def decides(self, assumption: str, constants: Mapping[str, Fraction]) -> bool | None:
        """Whether the maps are Lipschitz with these constants, exactly; None for hypotheses that it cannot tell."""
        if assumption in _OF_FUNCTIONS:
            return False
        names = _LIPSCHITZ.get(assumption, ())
        if not names or not set(names) <= set(constants):
            return None
        one = linalg.identity(self.dim)
        return all(
            constants[name] >= 0
            and is_positive_semidefinite(one * linalg.rational(constants[name] ** 2) - a.transpose() * a)
            for name in names
            for a in self._of_constants[name]
        )


def build(
    *, clients: Sequence[Any], weights: Sequence[Any] | None = None, start: Sequence[Any] | None = None, name: str = ""
) -> BilinearGame:
    """A bilinear game: min over x, max over y of x'A y + b'x + c'y. No minimisation: its metric is dist2.

    clients: one table a client, either {A = [[1, 0], [0, 2]], b = [0, 0], c = [0, 0]} (A has a row for each coordinate
    of x and a column for each of y; b and c default to zeros) or {components = [such tables]}, of which the client is
    the mean. weights: default 1/n each. start: x_0 and then y_0; default ones. Raises BadInput and UnknownName.
    """
    parts: list[tuple[Pair, ...]] = []
    written: list[list[dict[str, Any]]] = []
    sizes: set[tuple[int, int]] = set()
    for i, own in enumerate(tables(clients, _EXAMPLE, ("A",), ("b", "c"))):
        pairs, texts = list[Pair](), list[dict[str, Any]]()
        for table in own:
            a = rows(table["A"], f"A of client {i}")
            m, n = len(a), len(a[0]) if a else 0
            b, c = (vector(table.get(k, [0] * size), f"{k} of client {i}") for k, size in (("b", m), ("c", n)))
            sizes.add((m, n))
            if not n or any(len(row) != n for row in a) or (len(b), len(c)) != (m, n) or len(sizes) > 1:
                raise BadInput(
                    f"client {i} has A with {m} rows of {[len(row) for row in a]} numbers, {len(b)} numbers in b and "
                    f"{len(c)} in c; A needs a row for each number of b and a column for each of c, alike for all."
                )
            above = [[*[Fraction(0)] * m, *row] for row in a]
            below = [[*(-a[k][j] for k in range(m)), *[Fraction(0)] * n] for j in range(n)]
            pairs.append((linalg.matrix([*above, *below]), linalg.column([*(-v for v in b), *c])))
            texts.append({"A": [[format_exact(v) for v in row] for row in a]})
            texts[-1] |= {k: [format_exact(v) for v in own] for k, own in (("b", b), ("c", c)) if any(own)}
        parts.append(tuple(pairs))
        written.append(texts)
    dim = sum(sizes.pop())
    z0 = (Fraction(1),) * dim if start is None else vector(start, "start")
    if len(z0) != dim:
        raise BadInput(f"start has {len(z0)} numbers; x and y have {dim} coordinates together.")
    spec: dict[str, Any] = {"kind": "bilinear_game", "start": [format_exact(v) for v in z0]}
    spec["clients"] = [own[0] if len(own) == 1 else {"components": own} for own in written]
    given = shares(weights, len(parts))
    if weights is not None:
        spec["weights"] = [format_exact(w) for w in given]
    if name:
        spec["name"] = name
    title = name or f"bilinear game of {len(parts)} client{'s' if len(parts) > 1 else ''} in dimension {dim}"
    return BilinearGame(title, spec, tuple(parts), given, z0)
