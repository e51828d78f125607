"""Quadratics of clients that all hold the same samples, kept once for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import fmpq_mat

from boundcheck.certified.quadratic import SumOfQuadratics
from boundcheck.problems.quadratics import Component, Quadratics


@dataclass(frozen=True, eq=False, repr=False)
class AlikeQuadratics(Quadratics):
    """`Quadratics` whose clients all have the components of the first one; each f_i is their mean."""

    def sample_maps(self) -> tuple[tuple[tuple[fmpq_mat, fmpq_mat], ...], ...]:
        """Per client and component (A_ij, b_ij), the same objects for every client."""
        return (self._first.sample_maps()[0],) * self.clients

    def maps(self) -> tuple[tuple[fmpq_mat, fmpq_mat], ...]:
        """Per client (A_i, b_i), the same objects for every client."""
        return (self._first.maps()[0],) * self.clients

    @cached_property
    def of_samples(self) -> SumOfQuadratics:
        """That of a single client: what it tells are means and maxima over clients, all equal here."""
        return self._first.of_samples

    def local_variances(self) -> tuple[tuple[Fraction, Fraction], ...] | None:
        """(P_i^2, sigma_i^2) of each client."""
        own = super().local_variances()
        return None if own is None else own * self.clients

    def _objection(self, assumption: str) -> str | None:
        return self._first._objection(assumption)

    @cached_property
    def _first(self) -> Quadratics:
        return Quadratics(self.name, self.spec, self.components[:1], "mean", (Fraction(1),), self.start)


def alike(
    name: str, spec: Mapping[str, Any], clients: int, samples: tuple[Component, ...], start: tuple[Fraction, ...]
) -> AlikeQuadratics:
    """This many clients of equal weight that all hold these samples."""
    weights = (Fraction(1, clients),) * clients
    return AlikeQuadratics(name, spec, (samples,) * clients, "mean", weights, start)
