"""Spreading rows over clients. Every split is a function of the data, its parameters and the seed alone.

random     in random order, dealt into consecutive pieces
sorted     by a feature or the label, dealt into consecutive pieces
dirichlet  each class over the clients in proportions drawn from Dirichlet(alpha), class by class; small alpha: few
           classes a client, large alpha: alike
shards     by label, cut into clients * shards_per_client shards of equal size, dealt at random
owners     as the data have it of themselves: a row belongs to one client (the text of a speaking role to the role)

Pieces of random and sorted splits have equal sizes (within 1), or with an imbalance a > 0 sizes near proportional to
(i + 1)^-a for client i. Every client has at least one row: unequal sizes start from one row each, and a client that a
dirichlet split leaves with none takes the last row of the client that then has most (the first of these).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core import streams
from boundcheck.core.numbers import as_fraction, format_exact, format_short
from boundcheck.errors import BadInput, UnknownName
from boundcheck.problems._specs import whole

# Purposes of the counter-based streams (see `core.streams`); engines use the small numbers.
SPLIT = 1000
DATA = 1001
SHARDS = 1002
CLASS_ORDER = 1003  # round: the class
CLASS_SHARES = 1004  # round: the class

SPLITS = ("random", "sorted", "dirichlet", "shards", "owners")
# Which parameters a split reads, beside its own name.
READS = {
    "random": ("seed", "imbalance"),
    "sorted": ("feature", "imbalance"),
    "dirichlet": ("seed", "alpha"),
    "shards": ("seed", "shards_per_client"),
    "owners": (),
}


def permutation(count: int, seed: int, purpose: int = SPLIT, round_index: int = 0) -> list[int]:
    """A uniformly random order of 0..count-1, a function of its arguments alone: `streams.shuffle` of all."""
    if count > streams.MAX_BOUND:
        raise BadInput(f"{count} rows are too many to shuffle; at most {streams.MAX_BOUND} are allowed.")
    drawn = streams.words([streams.check_seed(seed)], purpose, round_index, 0, 0, max(count - 1, 0))[0]
    steps = streams.below(drawn, np.arange(count, 1, -1)).tolist()
    places = list(range(count))
    for t, step in enumerate(steps):
        places[t], places[t + step] = places[t + step], places[t]
    return places


def equal_parts(order: Sequence[int], clients: int) -> list[list[int]]:
    """Consecutive pieces whose sizes differ by at most 1, the larger ones first."""
    return [part.tolist() for part in np.array_split(np.asarray(order, dtype=np.int64), clients)]


def unequal_sizes(count: int, clients: int, imbalance: Fraction) -> list[int]:
    """Sizes that sum to count, near proportional to (i + 1)^-imbalance: one each, the rest by largest remainder."""
    shares = [math.exp(-float(imbalance) * math.log(i + 1)) for i in range(clients)]
    spare = count - clients
    exact = [spare * share / math.fsum(shares) for share in shares]
    sizes = [1 + math.floor(e) for e in exact]
    by_remainder = sorted(range(clients), key=lambda i: (math.floor(exact[i]) - exact[i], i))
    for i in by_remainder[: count - sum(sizes)]:
        sizes[i] += 1
    return sizes


def _by_value(values: Sequence[Any]) -> list[int]:
    return sorted(range(len(values)), key=lambda j: (values[j], j))


def dirichlet_shares(classes: int, clients: int, alpha: Fraction, seed: int) -> NDArray[np.float64]:
    """Proportions of each class at each client, (classes, clients), rows summing to 1: Dirichlet(alpha, ..., alpha).

    Normalised gamma variates: Gamma(alpha + 1) by inversion times U^(1/alpha), kept as logarithms, so that small
    alpha do not underflow. Client i reads the words 2i and 2i + 1 of the stream (seed, class).
    """
    from scipy.special import gammaincinv

    shape = float(alpha)
    logs = np.empty((classes, clients))
    for c in range(classes):
        words = streams.words([seed], CLASS_SHARES, c, 0, 0, 2 * clients).reshape(clients, 2)
        u = np.clip((words.astype(np.float64) + 0.5) * 2.0**-64, 2.0**-64, 1 - 2.0**-53)
        logs[c] = np.log(gammaincinv(shape + 1, u[:, 0])) + np.log(u[:, 1]) / shape
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def split_dirichlet(labels: Sequence[int], clients: int, alpha: Fraction, seed: int) -> list[list[int]]:
    """Each class, in random order, cut in Dirichlet(alpha) proportions; see the module for clients left with none."""
    kinds = sorted(set(labels))
    shares = dirichlet_shares(len(kinds), clients, alpha, seed)
    parts: list[list[int]] = [[] for _ in range(clients)]
    for c, kind in enumerate(kinds):
        rows = [j for j, y in enumerate(labels) if y == kind]
        order = [rows[k] for k in permutation(len(rows), seed, CLASS_ORDER, c)]
        cuts = [min(len(rows), math.floor(len(rows) * s + 0.5)) for s in np.cumsum(shares[c])[:-1]]
        for part, (low, high) in zip(parts, itertools.pairwise([0, *cuts, len(rows)]), strict=True):
            part.extend(order[low:high])
    for part in parts:
        if not part:
            part.append(max(parts, key=len).pop())
    return parts


def split_shards(labels: Sequence[int], clients: int, shards_per_client: int, seed: int) -> list[list[int]]:
    """Rows by label (ties by row number) in clients * shards_per_client shards, dealt at random."""
    shards = equal_parts(_by_value(labels), clients * shards_per_client)
    order = permutation(len(shards), seed, SHARDS)
    hands = equal_parts(order, clients)
    return [[j for k in hand for j in shards[k]] for hand in hands]


def split_owners(owners: NDArray[np.int64], clients: int) -> list[NDArray[np.int64]]:
    """The rows of each owner 0..clients-1, in their order. Raises BadInput for an owner without rows."""
    order = np.argsort(owners, kind="stable")
    counts = np.bincount(owners, minlength=clients)
    if len(counts) != clients or not counts.all():
        raise BadInput(f"split = 'owners' needs rows of each of the {clients} clients that the data have.")
    return np.split(order, np.cumsum(counts)[:-1])


def data_weights(sizes: Sequence[int], weights: str) -> tuple[Fraction, ...]:
    """Client weights: "equal" 1/n, "data" |D_i|/|D|. Raises UnknownName."""
    if weights not in ("equal", "data"):
        raise UnknownName("the client weights", weights, ("equal", "data"))
    total = sum(sizes)
    return tuple(Fraction(1, len(sizes)) if weights == "equal" else Fraction(s, total) for s in sizes)


@dataclass(frozen=True)
class Split:
    """A split as users write it, checked.

    clients: n. kind: of `SPLITS`. given: the parameters that it reads, as the problem's specification keeps them
    (an imbalance only where one was given). name: a clause for reports.
    """

    clients: int
    kind: str
    given: dict[str, Any]

    @staticmethod
    def of(
        kind: str,
        clients: Any,
        count: int,
        *,
        labelled: bool,
        seed: Any = None,
        feature: str | None = None,
        alpha: Any = None,
        shards_per_client: Any = None,
        imbalance: Any = None,
        owners: int | None = None,
    ) -> Split:
        """Checks a split of `count` rows; None: not given. Raises BadInput and UnknownName.

        `feature` must be filled in by the caller for a sorted split (it knows the names). `owners`: how many clients
        the data have of themselves, None where they have none; with split = "owners" `clients` may be left out (None).
        """
        if kind not in SPLITS:
            raise UnknownName("the split", kind, SPLITS)
        if kind == "owners" and owners is None:
            raise BadInput("split = 'owners' takes the clients that the data have, and this data set has none.")
        if kind in ("dirichlet", "shards") and not labelled:
            raise BadInput(f"split = '{kind}' deals rows by their labels, which this data set has not.")
        parameters = {
            "feature": feature,
            "alpha": alpha,
            "shards_per_client": shards_per_client,
            "imbalance": imbalance,
        }
        for name, value in parameters.items():
            if value is not None and name not in READS[kind]:
                users = " or ".join(f"'{k}'" for k, names in READS.items() if name in names)
                raise BadInput(f"{name} = '{value}' is only used with split = {users}.")
        n = whole(owners if clients is None and kind == "owners" else clients, "clients", 1, count)
        if kind == "owners" and n != owners:
            raise BadInput(f"clients = {n} is not allowed with split = 'owners'; the data have {owners} clients.")
        known: dict[str, Any] = {}
        if "seed" in READS[kind]:
            known["seed"] = whole(0 if seed is None else seed, "seed", 0, 2**64 - 1)
        if kind == "sorted":
            known["feature"] = feature
        if kind == "dirichlet":
            known["alpha"] = format_exact(_within("alpha", "1/2" if alpha is None else alpha, Fraction(1, 1000)))
        if kind == "shards":
            per = 2 if shards_per_client is None else shards_per_client
            known["shards_per_client"] = whole(per, "shards_per_client", 1, count // n)
        if imbalance is not None:
            known["imbalance"] = format_exact(_within("imbalance", imbalance, Fraction(0)))
        return Split(n, kind, known)

    @property
    def name(self) -> str:
        """Such as "random" or "dirichlet, alpha = 1/2"."""
        by = {
            "random": "at random",
            "sorted": f"sorted by {self.given.get('feature')}",
            "dirichlet": f"by Dirichlet({self.given.get('alpha')}) over the classes",
            "shards": f"in {self.given.get('shards_per_client')} shards of sorted labels each",
            "owners": "as the data have it",
        }[self.kind]
        return by + (f", sizes ~ (i+1)^-{self.given['imbalance']}" if "imbalance" in self.given else "")

    def parts(
        self,
        count: int,
        labels: Sequence[int] | None,
        values: Sequence[Any] | None,
        owners: NDArray[np.int64] | None = None,
    ) -> list[list[int]]:
        """The rows of each client; labels (N), values: what a sorted split sorts by (N), owners (N): whose a row is."""
        g = self.given
        if self.kind == "owners":
            assert owners is not None
            return [rows.tolist() for rows in split_owners(owners, self.clients)]
        if self.kind == "dirichlet":
            assert labels is not None
            return split_dirichlet(labels, self.clients, as_fraction(g["alpha"], "alpha"), g["seed"])
        if self.kind == "shards":
            assert labels is not None
            return split_shards(labels, self.clients, g["shards_per_client"], g["seed"])
        if self.kind == "sorted":
            assert values is not None
            order = _by_value(values)
        else:
            order = permutation(count, g["seed"])
        if "imbalance" in g:
            sizes = unequal_sizes(count, self.clients, as_fraction(g["imbalance"], "imbalance"))
            return [part.tolist() for part in np.split(np.asarray(order), np.cumsum(sizes)[:-1])]
        return equal_parts(order, self.clients)


def _within(name: str, value: Any, low: Fraction) -> Fraction:
    number = as_fraction(value, name)
    if not low <= number <= 1000:
        raise BadInput(f"{name} = {format_short(number)} is not allowed; it must be from {format_short(low)} to 1000.")
    return number
