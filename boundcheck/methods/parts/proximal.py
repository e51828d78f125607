"""Local work on a proximal subproblem: F_k(v) + mu_k/2 |v - x|^2, x the point at which the visit begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from boundcheck.errors import BadInput
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts.local import EpochRange, Epochs, Fixed, GradientSteps, LocalWork, Visit

Weight = Fraction | tuple[Fraction, ...]


def _check(mu: Weight) -> None:
    if any(v < 0 for v in (mu if isinstance(mu, tuple) else (mu,))):
        raise BadInput("the proximal weight mu must be at least 0.")


def _weight(mu: Weight, client: int) -> Fraction:
    if not isinstance(mu, tuple):
        return mu
    if client >= len(mu):
        raise BadInput(f"{len(mu)} proximal weights were given, and there is a client {client}.")
    return mu[client]


@dataclass(frozen=True)
class ExactSolve(Fixed):
    """The exact minimiser of the subproblem: in closed form on quadratics, by Newton's method elsewhere.

    mu: proximal weight, common to all clients or one number a client; the subproblem must be strongly convex.
    """

    mu: Weight

    def __post_init__(self) -> None:
        _check(self.mu)

    def parameters(self) -> dict[str, Fraction]:
        """mu under the name prox, where it is one number."""
        return {} if isinstance(self.mu, tuple) else {"prox": self.mu}

    def visits(self, client: int, cohort: Sequence[int], clients: Clients) -> tuple[tuple[Fraction, Visit], ...]:
        return ((Fraction(1), Visit("exact", 1, prox=_weight(self.mu, client))),)


@dataclass(frozen=True)
class Proximal:
    """Local steps `work` on the subproblem: y <- y - eta * scale * (g(y) + mu_k (y - x))."""

    mu: Weight
    work: Epochs | GradientSteps

    def __post_init__(self) -> None:
        _check(self.mu)

    def parameters(self) -> dict[str, Fraction]:
        """mu under the name prox, where it is one number, and E where it is one."""
        epochs = self.work.E
        own = {} if isinstance(epochs, tuple | EpochRange) else {"E": Fraction(epochs)}
        return own if isinstance(self.mu, tuple) else {"prox": self.mu, **own}

    def visits(self, client: int, cohort: Sequence[int], clients: Clients) -> tuple[tuple[Fraction, Visit], ...]:
        weight = _weight(self.mu, client)
        return tuple((p, replace(v, prox=weight)) for p, v in self.work.visits(client, cohort, clients))

    @property
    def by_cohort(self) -> bool:
        return self.work.by_cohort

    @property
    def is_random(self) -> bool:
        return self.work.is_random


def plain_work(local: LocalWork) -> LocalWork:
    """The local work without a proximal term that is 0."""
    return local.work if isinstance(local, Proximal) and local.mu == 0 else local
