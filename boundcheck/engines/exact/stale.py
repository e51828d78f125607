"""A client works on the server point that it received last."""

from __future__ import annotations

from boundcheck.engines.exact.rings import Ring
from boundcheck.engines.exact.rounds import Rounds
from boundcheck.engines.exact.state import Exact
from boundcheck.errors import Unsupported
from boundcheck.methods.method import Method

__all__ = ["StaleRounds"]


class StaleRounds(Rounds):
    """The rounds of such a method."""

    def __init__(self, ring: Ring, method: Method, exact: Exact) -> None:
        super().__init__(ring, method, exact)
        raise Unsupported(f"the exact engine does not carry out {method.name} yet.")
