"""Methods whose clients keep a model of their own from one round to the next.

Without an exchange every client of a cohort starts from the server's point x. With one, client i holds a local
model y_i (x_0 at the start), and a round ends as the exchange says.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, overload

from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts.aggregation import PerClient, Same
from boundcheck.methods.parts.participation import everyone
from boundcheck.methods.round import At, Rule, Sent

BY_NETWORK = ("layer", "channel")
PARTITIONS = ("whole", "even", *BY_NETWORK)
MAX_PERIOD = 100_000  # rounds of a pattern that is written out
MAX_COORDINATES = 400  # of a state with a copy for every way in which clients hold the models
MAX_HANDED = 10_000  # rounds after which averaging and handing over repeat, at most


@dataclass(frozen=True)
class Stale(Rule):
    """A client works on the server point y_i that it received last, however old (Y. Fraboni et al., Algorithm 1)."""

    starts_stale: ClassVar[bool] = True
    kept_by_clients: ClassVar[Mapping[str, bool]] = {"y": True}
    receives: ClassVar[bool] = True
    needs_all: ClassVar[bool] = False  # whether the models of all are averaged

    def begin(self, at: At) -> Any:
        return at.client["y"]

    def receive(self, at: At) -> Mapping[str, Any]:
        return {"y": at.server["x"]}


@dataclass(frozen=True)
class HandOver:
    """Only `active` of the clients hold a model; every `every` rounds the models go to a fresh uniform set of clients.

    design 1: the models are averaged over all coordinates, and every newly active client gets the average; design 2:
    each model is handed, unaveraged, to one newly active client (S. Lee et al., Section 4, "client selection").
    """

    active: int
    every: int
    design: Literal[1, 2] = 2

    def __post_init__(self) -> None:
        if self.active < 1 or self.every < 1:
            raise BadInput(f"{self.active} active clients for {self.every} rounds are impossible; both are at least 1.")
        if self.design not in (1, 2):
            raise BadInput(f"the design {self.design} of a hand-over is not known; 1 and 2 are.")


@dataclass(frozen=True)
class Others(Sequence[int]):
    """The coordinates below `dim` that are none of `others`, increasing; written out where they are read."""

    others: tuple[int, ...]
    dim: int

    @cached_property
    def _own(self) -> tuple[int, ...]:
        left = set(self.others)
        return tuple(k for k in range(self.dim) if k not in left)

    def __len__(self) -> int:
        return self.dim - len(self.others)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...
    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        return self._own[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self._own)


@dataclass(frozen=True)
class Blocks(Rule):
    """Every client works on its own model, and a round ends with the averaging of some coordinates.

    After round t (from 0) the coordinates `pattern(d)[t % period]` of every y_i become their weighted mean; the others
    stay. The point of which metrics speak is u = sum of weights_i y_i.

    tau: after how many rounds every coordinate has been averaged once; it is the period.
    partition: "whole" (the whole model, after every tau-th round: periodic averaging, local SGD), "even" (tau blocks of
        consecutive coordinates, sizes as equal as possible: partial averaging), "layer" or "channel" (tau blocks of
        layers, or of channels, of the problem's network, which only the neural engine knows) or tau tuples of
        coordinates.
    order: which block is averaged after the first, second, ... round of a period, a permutation of 0..tau-1, or None
        for the natural one.
    weights: "uniform" (1/n), or "data" (the clients' weights).
    """

    tau: int
    partition: str | tuple[tuple[int, ...], ...] = "even"
    order: tuple[int, ...] | None = None
    weights: Literal["uniform", "data"] = "uniform"
    hand_over: HandOver | None = None

    def __post_init__(self) -> None:
        if self.tau < 1:
            raise BadInput(f"tau = {self.tau} is not allowed; the interval of averaging is at least 1.")
        if self.tau > MAX_PERIOD:
            raise BadInput(f"tau = {self.tau} is not allowed; the interval is at most {MAX_PERIOD} rounds.")
        if isinstance(self.partition, str):
            if self.partition not in PARTITIONS:
                raise UnknownName("the partition of the model", self.partition, PARTITIONS)
        elif len(self.partition) != self.tau:
            raise BadInput(f"{len(self.partition)} blocks were given for tau = {self.tau}; as many are needed.")
        if self.order is not None and (self.partition == "whole" or sorted(self.order) != list(range(self.tau))):
            raise BadInput(f"the order {list(self.order)} is no permutation of the blocks 0 to {self.tau - 1}.")
        if self.weights not in ("uniform", "data"):
            raise UnknownName("the weights of the averaging", self.weights, ("uniform", "data"))

    @property
    def by_network(self) -> bool:
        """Whether the blocks are those of a network, so that the length of a model alone does not tell them."""
        return isinstance(self.partition, str) and self.partition in BY_NETWORK

    def blocks(self, dim: int) -> tuple[tuple[int, ...], ...]:
        """The coordinates of each block, one block for "whole".

        Raises BadInput where they are no partition, Unsupported where they are those of a network.
        """
        if self.by_network:
            raise Unsupported(
                f"partition = '{self.partition}' cuts a network by its layers, which the neural engine alone knows; "
                "take engine = 'neural', or partition = 'even'."
            )
        if self.partition == "whole":
            return (tuple(range(dim)),)
        if self.partition == "even":
            return even_blocks(dim, self.tau)
        assert not isinstance(self.partition, str)
        if sorted(itertools.chain.from_iterable(self.partition)) != list(range(dim)):
            raise BadInput(f"the blocks do not hold each of the coordinates 0 to {dim - 1} exactly once.")
        return self.partition

    def pattern(self, dim: int) -> tuple[tuple[int, ...], ...]:
        """The coordinates that are averaged after each round of a period."""
        if dim not in self._patterns:
            blocks = self.blocks(dim)
            if self.partition == "whole":
                blocks = (*[()] * (self.tau - 1), *blocks)
            self._patterns[dim] = blocks if self.order is None else tuple(blocks[k] for k in self.order)
        return self._patterns[dim]

    @cached_property
    def _patterns(self) -> dict[int, tuple[tuple[int, ...], ...]]:
        return {}

    @property
    def averaging(self) -> Blocks:
        """See `methods.answers`."""
        return self

    def models(self, clients: Clients) -> int:
        """How many models there are. Raises BadInput where more clients are active than there are."""
        if self.hand_over is None:
            return clients.count
        if self.hand_over.active > clients.count:
            raise BadInput(f"{self.hand_over.active} active clients are impossible; there are {clients.count} clients.")
        return self.hand_over.active

    def of(self, weights: Sequence[Fraction]) -> Sequence[Fraction]:
        """The weights of the average, from those of the clients."""
        return weights if self.weights == "data" else [Fraction(1, len(weights))] * len(weights)

    # what is kept is how far a model is from the mean x of all of them, so that averaged coordinates are exactly 0
    kept_by_clients: ClassVar[Mapping[str, bool]] = {"apart": False}
    receives: ClassVar[bool] = True
    needs_all: ClassVar[bool] = True

    @property
    def draws(self) -> bool:
        return self.hand_over is not None

    @property
    def handed_every(self) -> int:
        return 0 if self.hand_over is None else self.hand_over.every

    def check(self, name: str, participation: Any, clients: Clients) -> None:
        if not everyone(participation, clients):
            raise Unsupported(
                f"{name} averages models that the clients keep while only some of them take part in a round; "
                "the exact engine carries this out with full participation, or with a hand-over of the models."
            )

    def holders(self, name: str, clients: Clients, dim: int) -> tuple[tuple[int, ...], ...] | None:
        """With design 1 all models are equal when they are handed over, so that it does not matter which goes to whom;
        with design 2 every order of the new clients is as likely."""
        own, n, models = self.hand_over, clients.count, self.models(clients)
        if own is None:
            return None
        if self.weights == "data" and len(set(clients.weights)) > 1:
            raise Unsupported(f"the models that {name} hands from client to client are averaged with equal weights.")
        each = (models + 1) * dim + 1
        count = math.comb(n, models) if own.design == 1 else math.perm(n, models)
        if count * each > MAX_COORDINATES:
            raise Unsupported(
                f"{name} hands {models} models over among {n} clients that are not alike, in {count} ways; with "
                f"{each} numbers for each the exact engine carries at most {MAX_COORDINATES}; use engine = 'sampled'."
            )
        ways = itertools.combinations if own.design == 1 else itertools.permutations
        return tuple(ways(range(n), models))

    def repeats_after(self, dim: int) -> int:
        period, own = self.tau, self.hand_over
        if own is not None:
            period = math.lcm(self.tau, own.every)
            if period > MAX_HANDED:
                raise Unsupported(
                    f"averaging every {self.tau} and handing over every {own.every} rounds repeat after {period} "
                    f"rounds; the exact engine composes at most {MAX_HANDED}."
                )
        return period

    def numbers(self, round_index: int, dim: int) -> Mapping[str, Any]:
        """apart: the coordinates that are not averaged after the round; handed: whether models are handed over."""
        own = self.hand_over
        handed = own is not None and (round_index + 1) % own.every == 0
        averaged = self.pattern(dim)[round_index % self.tau]
        if handed and own is not None and own.design == 1:
            averaged = tuple(range(dim))
        return {"apart": Others(tuple(averaged), dim), "handed": handed}

    def begin(self, at: At) -> Any:
        return at.server["x"] + at.client["apart"]

    def upload(self, y: Any, at: At) -> Mapping[str, Any]:
        own = self.hand_over
        rule = PerClient(tuple(self.of(at.clients.weights))) if own is None else Same(Fraction(1, own.active))
        return {"x": Sent(y - at.server["x"], rule)}

    def keep(self, y: Any, at: At) -> Mapping[str, Any]:
        return {"apart": y - at.server["x"]}

    def combine(self, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        return {"x": at.server["x"] + total["x"]}

    def receive(self, at: At) -> Mapping[str, Any]:
        return {"apart": at.part(at.client["apart"] - at.total["x"], at.number["apart"])}


Exchange = Stale | Blocks


def even_blocks(dim: int, count: int) -> tuple[tuple[int, ...], ...]:
    """`count` blocks of consecutive coordinates, sizes as equal as possible; some are empty where dim < count."""
    cuts = [dim * k // count for k in range(count + 1)]
    return tuple(tuple(range(a, b)) for a, b in itertools.pairwise(cuts))
