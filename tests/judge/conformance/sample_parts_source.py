"""A module of correct parts and of a kind, as a stranger would write it; tests plant faults in its text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from boundcheck.methods.kind import Form, Kind, Part
from boundcheck.methods.parts import Constant, Drawing, GradientSteps, Visit


@dataclass(frozen=True)
class FirstOrRest:
    """The first client alone with probability p, otherwise all others."""

    p: Fraction = Fraction(1, 3)

    def period(self, clients: Any) -> int:
        return 1

    def fixed(self, round_index: int, clients: Any) -> tuple[int, ...] | None:
        return None

    def drawing(self, clients: Any) -> Drawing | None:
        rest = tuple(range(1, clients.count))
        return Drawing("subsets", clients.count, probabilities=(self.p, 1 - self.p), subsets=((0,), rest))


@dataclass(frozen=True)
class OneOrTwo:
    """One or two steps with the whole gradient, each with probability 1/2."""

    def visits(self, client: int, cohort: Sequence[int], clients: Any) -> tuple[tuple[Fraction, Visit], ...]:
        half = Fraction(1, 2)
        return (half, Visit("full", 1)), (half, Visit("full", 2))

    @property
    def by_cohort(self) -> bool:
        return False

    @property
    def is_random(self) -> bool:
        return True


@dataclass(frozen=True)
class BySize:
    """Coefficients proportional to the clients' numbers of samples."""

    def coefficients(self, cohort: Sequence[int], setting: Any) -> list[Fraction]:
        total = sum(setting.clients.sizes[i] for i in cohort)
        return [Fraction(setting.clients.sizes[i], total) for i in cohort]

    def by_client(self, setting: Any) -> Callable[[int], Fraction] | None:
        return None


@dataclass(frozen=True)
class Halving:
    """eta, eta/2, eta/4, ..."""

    eta: Fraction = Fraction(1, 10)

    def step(self, cycle: int) -> Fraction:
        return self.eta / 2 ** (cycle - 1)

    def is_constant(self) -> bool:
        return False

    def is_exact(self) -> bool:
        return True


def _parts(*, eta: Any = "1/10") -> Mapping[str, Any]:
    return {"schedule": Constant(Fraction(eta)), "local": GradientSteps(1)}


BY_SIZE = Kind(_parts, Form(FirstOrRest(), GradientSteps(1), Part(Constant, symbol="eta"), aggregation=BySize()))
