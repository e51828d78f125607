"""The same clients under other objective weights: what a method follows that aggregates with weights of its own.

A surrogate has the gradients of another problem and F = sum of weights_i f_i with the weights given here; every metric
and constant is about that F. The weights that its clients report to a method (`client_weights`) stay those of the other
problem, so that the method does on it exactly what it does there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

from flint import fmpq_mat

from boundcheck.certified.samples import Samples
from boundcheck.core.numbers import format_exact
from boundcheck.errors import BadInput, Unsupported
from boundcheck.problems._quadratic import QuadraticInstance
from boundcheck.problems._specs import vector
from boundcheck.problems.problem import Arrays, Problem, clients_of, flat_arrays, no_minimum, optional


@dataclass(frozen=True, eq=False, repr=False)
class Surrogate(QuadraticInstance):
    """A quadratic problem under other weights. base: the other problem; weights: w_i >= 0, summing to 1."""

    base: QuadraticInstance
    weights: tuple[Fraction, ...]

    @property
    def _own(self) -> Problem:
        return cast("Problem", self.base)

    @property
    def name(self) -> str:
        """For reports."""
        return f"{self._own.name}, reweighted"

    @property
    def spec(self) -> Mapping[str, Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Rebuilds the problem."""
        return {"kind": "surrogate", "of": dict(self.base.spec), "weights": [format_exact(w) for w in self.weights]}

    @property
    def start(self) -> tuple[Fraction, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """x_0, that of the other problem."""
        return self.base.start

    @property
    def client_weights(self) -> Sequence[Fraction]:
        """The weights that the clients report: those of the other problem."""
        return clients_of(self._own).weights

    @property
    def sizes(self) -> Sequence[int]:
        """Samples of each client."""
        return clients_of(self._own).sizes

    def maps(self) -> tuple[tuple[fmpq_mat, fmpq_mat], ...]:
        """Per client (A_i, b_i), those of the other problem."""
        return self.base.forms().maps

    def samples(self) -> tuple[Samples, ...]:
        """Those of the other problem."""
        return self.base.samples()

    def sample_maps(self) -> tuple[tuple[tuple[Any, Any], ...], ...]:
        """Those of the other problem; a client whose samples it does not tell apart is one sample."""
        return self.base.sample_maps() or tuple((client,) for client in self.maps())

    def arrays(self) -> Arrays:
        """The layout of the other problem, with this objective's minimiser and metrics."""
        layout = flat_arrays(self.base)
        if layout is None:
            raise Unsupported(f"the problem '{self._own.name}' has no layout for the sampled engine.")
        return replace(layout, **self._layout())


def reweighted(problem: Problem, weights: Sequence[Fraction]) -> Problem:
    """The same clients with F = sum of weights_i f_i.

    weights: at least 0, summing to exactly 1 (BadInput). Raises Unsupported for a problem that is neither quadratic nor
    has `reweighted`.
    """
    shares = tuple(weights)
    if len(shares) != problem.clients:
        raise BadInput(f"{len(shares)} weights were given for {problem.clients} clients.")
    if any(w < 0 for w in shares) or sum(shares, Fraction(0)) != 1:
        raise BadInput("the weights of a surrogate must be at least 0 and sum to exactly 1.")
    if isinstance(problem, QuadraticInstance) and no_minimum(problem) is None:
        return Surrogate(problem, shares)
    own = optional(problem, "reweighted")
    if own is not None:
        return own(shares)
    raise Unsupported(f"the problem '{problem.name}' cannot be given other weights; quadratic problems can.")


def build(*, of: Mapping[str, Any], weights: Sequence[Any]) -> Problem:
    """The problem of the specification `of` under other weights. Raises BadInput, UnknownName and Unsupported."""
    from boundcheck.problems.build import build as build_problem

    if not hasattr(of, "keys"):
        raise BadInput("of must be the specification of a problem, such as {kind = 'fedshuffle_36'}.")
    return reweighted(build_problem(of), vector(weights, "weights"))
