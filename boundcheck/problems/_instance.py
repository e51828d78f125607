"""What problems share: how they show themselves, their specification as data, and how they answer hypotheses."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Any

from boundcheck.certified.constant import Constant, Known
from boundcheck.errors import UnknownName

# The hypotheses that an instance can be asked about (`theory.assumptions` says what each means): on clients, and on
# samples and how clients differ.
_OF_CLIENTS = (
    *("strong_quasi_convexity", "smooth_clients", "finite_gradient_noise", "convexity", "convex_clients"),
    "plain_mean",
)
OF_SAMPLES = (
    *("smooth_samples", "strongly_convex_samples", "convex_samples", "gradient_dissimilarity"),
    *("relaxed_dissimilarity", "local_variance", "hessian_similarity", "bounded_below", "client_smoothness"),
    *("lower_curvature", "dissimilarity_at_start", "bounded_dissimilarity"),
)
ASSUMPTIONS = (*_OF_CLIENTS, *OF_SAMPLES)


def given(value: Fraction | int, how: str) -> Constant:
    """A constant that is known exactly."""
    return Constant(Fraction(value), Known.EXACT, "exact", how)


def unknown(assumption: str, known: Iterable[str] = ASSUMPTIONS) -> UnknownName:
    """The error for a hypothesis that a problem cannot tell; known: those that it can."""
    return UnknownName("the assumption", assumption, [name for name in ASSUMPTIONS if name in known])


class Instance:
    """A problem with `name`, `spec`, `weights`, `clients` and `dim`; it says by `_objection` which hypotheses fail."""

    @property
    def instance(self) -> str:
        """Name of the example that this is: the kind of its specification."""
        return str(self._own.spec["kind"])

    @property
    def _own(self) -> Any:
        return self

    @property
    def _size(self) -> str:
        own = self._own
        return f"{own.clients} client{'' if own.clients == 1 else 's'}, d = {own.dim}"

    def __repr__(self) -> str:
        """Such as <LeastSquares 'least_squares': 20 clients, d = 10>."""
        return f"<{type(self).__name__} '{self._own.name}': {self._size}>"

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        return f"<b>{html.escape(self._own.name)}</b>: {self._size}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form: the specification, from which `boundcheck.problem` rebuilds the instance."""
        return {"schema": 1, **self._own.spec}

    def counted(self) -> dict[str, Constant]:
        """n and d."""
        own = self._own
        return {"n": given(own.clients, "counted: clients"), "d": given(own.dim, "counted: coordinates")}

    @cached_property
    def _answers(self) -> dict[str, str | None]:
        return {}

    def violations(self, assumption: str) -> str | None:
        """Why the instance breaks an assumption of `ASSUMPTIONS` or `instance:<kind>`; None when it meets it.

        Raises UnknownName where it cannot tell.
        """
        if assumption not in self._answers:  # decided once: many curves of one problem ask the same
            self._answers[assumption] = self._answer(assumption)
        return self._answers[assumption]

    def _answer(self, assumption: str) -> str | None:
        asked, own = assumption.partition(":")[2], self._own
        if assumption.startswith("instance:"):
            other = f"the statement is about the example '{asked}', the problem is '{own.instance}'."
            return None if asked == own.instance else other
        if assumption == "plain_mean":
            alike = len(set(own.weights)) == 1
            return None if alike else "its clients have different weights, so that F is not their plain mean."
        return self._objection(assumption)

    def _objection(self, assumption: str) -> str | None:
        """`violations` of other hypotheses."""
        raise unknown(assumption)


class Offsets:
    """The counts of a problem whose client i owns the rows offsets[i] to offsets[i + 1] and has the weight w_i."""

    offsets: tuple[int, ...]
    weights: tuple[Fraction, ...]

    @property
    def clients(self) -> int:
        """Number of clients n."""
        return len(self.weights)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Samples |D_i| of each client."""
        return tuple(b - a for a, b in itertools.pairwise(self.offsets))
