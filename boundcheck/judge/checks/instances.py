"""The instances of the checks: small quadratic problems with fixed fractions, made to fit a method's step size.

Curvatures are such that a client's local work of one round moves it about as far as to the middle between its start and
its own minimiser. So a missing or additional step, a wrong weight and a wrong step size change the iterates visibly.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from boundcheck.core.numbers import format_exact
from boundcheck.errors import BadInput, BoundcheckError
from boundcheck.methods.build import build
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Cyclic, Subsets, Uniform, WithReplacement

MOST_CLIENTS = 32
WEIGHTS = (5, 3, 7, 2, 11, 4, 13, 6)
STEP_NAMES = ("eta", "eta_l", "eta0", "ell")


@dataclass(frozen=True)
class Case:
    """A method on an instance, as specifications. rounds: how many are run.

    image: how its iterates follow from those of the check's first case: x -> scale * x[order] + shift, compared in the
    coordinates `keep` (default all). {} means the same iterates, None that nothing is said.
    """

    problem: Mapping[str, Any]
    method: Mapping[str, Any]
    rounds: int
    image: Mapping[str, Any] | None = None

    @cached_property
    def key(self) -> str:
        """The same text for the same instance, method and rounds."""
        return json.dumps([self.problem, self.method, self.rounds], sort_keys=True, default=str)

    def __str__(self) -> str:
        clients, rounds = self.problem["clients"], "1 round" if self.rounds == 1 else f"{self.rounds} rounds"
        sizes = ", ".join(str(len(c["components"])) for c in clients)
        return (
            f"{rounds} of {self.method} with {len(clients)} clients, weights {', '.join(self.problem['weights'])}, "
            f"samples {sizes}, start ({', '.join(self.problem['start'])})"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        found: dict[str, Any] = {"problem": dict(self.problem), "method": dict(self.method), "rounds": self.rounds}
        return found if self.image is None else {**found, "image": dict(self.image)}


class Subject:
    """The method that an implementation is to carry out, and what its instances have in common.

    Raises BadInput for a specification that is no mapping or fits no number of clients up to MOST_CLIENTS, UnknownName
    for kinds and parameters that do not exist.
    """

    def __init__(self, spec: Mapping[str, Any]) -> None:
        if not isinstance(spec, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise BadInput(f"method: a specification such as {{'kind': ...}} is needed, not {type(spec).__name__}.")
        self.spec = dict(spec)
        self.method = build(self.spec)

    @cached_property
    def clients(self) -> int:
        """Number of clients of the instances: 3, or what the method's lists and cohorts need."""
        part = self.method.participation
        asked = [part.size + 1] if isinstance(part, Uniform | WithReplacement) else []
        candidates = [n for n in (*asked, 3, 4, 2, 5, 6, 7, 8, 1) if not asked or n >= min(asked[0], 3)]
        lists = _lengths(self.method)
        candidates = sorted(lists) if lists else candidates
        said = ""
        for n in candidates:
            try:
                self.method.check(Clients.alike(n, self.batch))
            except BoundcheckError as error:
                said = said or str(error)
            else:
                if n <= MOST_CLIENTS:
                    return n
        raise BadInput(
            f"the checks have instances of at most {MOST_CLIENTS} clients, which do not fit {self.spec}: {said}"
        )

    @property
    def batch(self) -> int:
        """Samples of a local step; every client holds a multiple of it, but where `rest` is given."""
        return int(getattr(self.method.local, "batch", 1))

    @property
    def rounds(self) -> int:
        """Rounds of a longer run: 5, or a period of fixed cohorts and a round, at most 12."""
        period = self.method.rounds_per_cycle(Clients.alike(self.clients))
        return max(5, min(period + 1, 12))

    def sizes(self, unequal: bool, n: int | None = None, rest: int = 0) -> list[int]:
        """Samples of each client: whole batches, and `rest` more."""
        count = self.clients if n is None else n
        return [self.batch * (1 + (i % 3 if unequal else 0)) + rest for i in range(count)]

    def varied(self, **changes: Any) -> dict[str, Any]:
        """The specification with other parameters; None removes one."""
        given = {**self.spec, **changes}
        return {k: v for k, v in given.items() if v is not None}

    def problem(
        self,
        *,
        weights: str = "sizes",
        unequal: bool = True,
        layout: str = "dense",
        n: int | None = None,
        rest: int = 0,
        start: Sequence[int] = (3, -2, 4),
        factor: Fraction = Fraction(1),
        shift: Sequence[int] = (0, 0, 0),
        method: Method | None = None,
        order: Sequence[int] | None = None,
    ) -> dict[str, Any]:
        """The specification of an instance.

        weights: "sizes" (w_i proportional to the samples), "unequal" or "equal". unequal: whether clients hold
        different numbers of samples; those of a client are alike, but for the layout "samples". layout: "dense" (each
        client a matrix and a minimiser of its own), "shared" (one minimiser), "same" (one objective), "blocks" (the
        last coordinate apart), "flat" (objectives that are 0), "own" (client i has a coordinate of its own, dimension
        n), "samples" (every sample has one). n: clients. rest: samples beyond whole batches. factor: multiplies all
        objectives. shift: moves minimisers and start. method: the one that the curvature is to fit. order: of clients.
        """
        count = self.clients if n is None else n
        sizes = self.sizes(unequal, count, rest)
        scale = factor * self.curvature(sizes, self.method if method is None else method)
        own = {"sizes": sizes, "unequal": [WEIGHTS[i % 8] + i // 8 for i in range(count)], "equal": [1] * count}[
            weights
        ]
        shares = [format_exact(Fraction(v, sum(own))) for v in own]
        if layout == "samples":
            return _samples(sizes, scale, shares)
        if layout == "own":
            curved = [scale * Fraction(4 + i % 3, 8) for i in range(count)]
            return own_coordinates(sizes, curved, shares)
        tables: list[dict[str, Any]] = []
        for i in range(count):
            a, centre = _client(layout, i)
            moved = [m + s for m, s in zip(centre, shift, strict=True)]
            rows = [[scale * v for v in row] for row in a]
            b = [sum((v * m for v, m in zip(row, moved, strict=True)), Fraction(0)) for row in rows]
            one = {"A": [[format_exact(v) for v in row] for row in rows], "b": [format_exact(v) for v in b]}
            tables.append({"components": [one] * sizes[i]})
        kept = list(range(count)) if order is None else list(order)
        return {
            "kind": "quadratics",
            "clients": [tables[i] for i in kept],
            "weights": [shares[i] for i in kept],
            "start": [str(v + s) for v, s in zip(start, shift, strict=True)],
        }

    def curvature(self, sizes: Sequence[int], method: Method) -> Fraction:
        """1 over the length of the longest local work (steps times step size); the proximal weight without steps."""
        clients = Clients([Fraction(1, len(sizes))] * len(sizes), sizes)
        try:
            visits = [v for i in range(len(sizes)) for _, v in method.local.visits(i, range(len(sizes)), clients)]
        except BoundcheckError:
            visits = [v for _, v in self.method.local.visits(0, (0,), clients)]
        eta = Fraction(method.schedule.step(1))
        longest = max((v.steps * v.scale * eta for v in visits if v.sampling != "exact"), default=Fraction(0))
        if longest > 0:
            return 1 / longest
        return max((v.prox for v in visits), default=Fraction(0)) or Fraction(1)


def _lengths(method: Method) -> set[int]:
    """The numbers of clients that a method's lists are for."""
    part: Any = method.participation
    local: Any = method.local
    rule: Any = method.aggregation
    lists: list[Any] = [getattr(local, name, None) for name in ("E", "missed", "divide")]
    lists += [getattr(rule, "values", None), getattr(rule, "weights", None), getattr(part, "probabilities", None)]
    if isinstance(part, Cyclic):
        lists.append(part.order)
    found = {len(v) for v in lists if isinstance(v, tuple)}
    cohorts = [c for name in ("subsets", "cohorts", "lead") for c in (getattr(part, name, None) or ())]
    if isinstance(part, Subsets):
        found: set[int] = set()
    if cohorts and not found:
        found = {1 + max((i for c in cohorts for i in c), default=0)}
    times = getattr(getattr(part, "times", None), "values", None)
    return found | ({len(times)} if isinstance(times, tuple) and times else set())


def _client(layout: str, i: int) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Hessian with eigenvalues in (0, 1) and minimiser of client i."""
    if layout == "flat":
        return [[Fraction(0)] * 3 for _ in range(3)], [Fraction(0)] * 3
    j = 0 if layout == "same" else i
    sign = -1 if j % 2 else 1
    rows = [[2 + j % 3, 1, 0], [1, 4 - j % 2, sign], [0, sign, 2 + (2 * j) % 3]]
    if layout == "blocks":
        rows[1][2] = rows[2][1] = 0
    centre = [1, 2, -1] if layout == "shared" else [1 - 2 * j, 2 + j * j % 5, -1 + 3 * j % 7]
    return [[Fraction(v, 8) for v in row] for row in rows], [Fraction(v) for v in centre]


def _alone(k: int, count: int, curvature: Fraction) -> dict[str, Any]:
    """A component in `count` coordinates that moves coordinate k alone, to -1 - k."""
    a = [[format_exact(curvature) if i == j == k else "0" for j in range(count)] for i in range(count)]
    return {"A": a, "b": [format_exact(-curvature * (1 + k)) if i == k else "0" for i in range(count)]}


def own_coordinates(sizes: Sequence[int], curvatures: Sequence[Fraction], weights: Sequence[str]) -> dict[str, Any]:
    """The instance on which client i, whose samples are alike, moves coordinate i and no other."""
    n = len(sizes)
    tables = [{"components": [_alone(i, n, curvatures[i])] * sizes[i]} for i in range(n)]
    start = [str(3 + i % 2) for i in range(n)]
    return {"kind": "quadratics", "clients": tables, "weights": list(weights), "start": start}


def _samples(sizes: Sequence[int], scale: Fraction, weights: Sequence[str]) -> dict[str, Any]:
    """The instance on which every sample moves a coordinate of its own."""
    total = sum(sizes)
    every = iter([_alone(j, total, scale * Fraction(4 + j % 3, 8)) for j in range(total)])
    clients = [{"components": list(itertools.islice(every, size))} for size in sizes]
    start = [str(3 + j % 2) for j in range(total)]
    return {"kind": "quadratics", "clients": clients, "weights": list(weights), "start": start}
