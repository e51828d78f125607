"""Quantities of a round: what a paper measures of the steps of one round, as a formula in few primitives.

A paper declares them in `quantities`, a tuple in its file `quantities.py`; the file of a user in that name, too. A
formula gets a round (`engines.exact.quantities.Round` has the primitives). No engine knows a quantity by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# What a method must have for a quantity to be defined (`setting.metrics.needed_for`).
VISITS = "visits from the server's point"
MOMENTUM = "momentum"
MODELS = "models of its own at every client"
SERVER = "a server"
SAMPLED = "computation in the exact engine (engine = 'sampled' has one)"

Formula = Callable[[Any], Any]


@dataclass(frozen=True)
class Quantity:
    """A metric of a round. needs: one of the words above; signed: whether it can be negative.

    formula: None where it is no expected value of a quadratic, so that only engines that sample have it. numbered:
    whether a colon and a number can follow the name.
    """

    name: str
    meaning: str
    formula: Formula | None = None
    needs: str = SERVER
    signed: bool = False
    numbered: bool = False
