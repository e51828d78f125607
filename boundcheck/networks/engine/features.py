"""A method as the engine for networks reads it: by its parts, and not by the functions of its round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import inf

from boundcheck.engines.curve import Floats
from boundcheck.engines.simulate import lowering
from boundcheck.engines.simulate.metrics import portions_of
from boundcheck.errors import Unsupported
from boundcheck.methods import answers, parts
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method


@dataclass(frozen=True)
class Lowered(lowering.Lowered):
    """What the rounds of networks know of a method."""

    @property
    def momentum(self) -> parts.Momentum | None:
        """The method's momentum."""
        return self.method.momentum

    @property
    def server_momentum(self) -> parts.ServerMomentum | None:
        """The momentum of the server's step."""
        return self.method.server_momentum

    @property
    def rho(self) -> float:
        """The momentum of the clients' own steps; 0 where they have none."""
        return 0.0 if self.method.client_optimizer is None else float(self.method.client_optimizer.momentum)

    @property
    def decay(self) -> float:
        """The weight decay of the clients' steps; 0 where they have none."""
        own = self.method.client_optimizer
        return 0.0 if own is None else self.double(own.weight_decay, "the weight decay")

    @property
    def clip(self) -> float:
        """The largest norm of a step's gradient; infinite where gradients are not clipped."""
        own = self.method.client_optimizer
        return inf if own is None or own.clip is None else self.double(own.clip, "clip_l")

    @property
    def correction(self) -> parts.Correction | None:
        """The method's gradient correction."""
        return self.method.correction

    @property
    def pipelined(self) -> bool:
        """Whether local work is corrected by the gradients of the round before."""
        return self.correction is not None and self.correction.pipelined

    @property
    def stale(self) -> bool:
        """Whether clients work on the server's point that they received last."""
        return answers.starts_stale(self.method.exchange)

    @property
    def blocks(self) -> parts.Blocks | None:
        """How models that clients keep are averaged."""
        return answers.averaging(self.method.exchange)

    @property
    def buffers(self) -> int:
        """How many of these models keep a buffer of their local momentum."""
        return self.models if self.rho and self.blocks is not None else 0

    @cached_property
    def portions(self) -> Floats:
        """The weights of the models' average, for `blocks`."""
        return portions_of(self)

    def step(self, round_index: int) -> float:
        """Step size of a round (from 0)."""
        return float(self.step_sizes(round_index)[0])

    def pushing(self, round_index: int) -> float:
        """The momentum of the server's step in a round; 0 where it has none."""
        return 0.0 if self.server_momentum is None else float(self.server_momentum.at(round_index))

    def correcting(self, round_index: int) -> float:
        """c_t of the correction; 0 where there is none."""
        return 0.0 if self.correction is None else float(self.correction.at(round_index))

    def factors(self, cohort: Sequence[int]) -> dict[int, tuple[float, float]]:
        """Of each client of a cohort eta_g * a_i, with the server's sign and summed over the times that it was drawn,
        and w_i/p_i, with which a momentum sees it (0 where there is none)."""
        eta_g, own = float(self.method.server.factor), self.weighing(None).of(cohort)
        seen = self.weighing(parts.Unbiased()).of(cohort) if self.momentum is not None else {}
        return {i: (eta_g * a, seen.get(i, 0.0)) for i, a in own.items()}


def lower(method: Method, known: Clients, rounds: int) -> Lowered:
    """See `simulate.lowering.lower`. Raises Unsupported besides for what is no part that networks know."""
    name = f"engine = 'neural' does not carry out {method.name}:"
    if method.server.averages_models:
        raise Unsupported(f"{name} its server adds up differences, not models.")
    if method.functions is not None:
        what = type(method.functions).__name__
        raise Unsupported(f"{name} what a round does is said by functions of its own ({what}).")
    found = lowering.lower(method, known, rounds)
    return Lowered(**{f.name: getattr(found, f.name) for f in fields(found)})
