"""Which rounds carry out a method: each kind is a way to make a `rounds.Plan`."""

from __future__ import annotations

from boundcheck.engines.exact.rings import Ring
from boundcheck.engines.exact.rounds import Rounds
from boundcheck.engines.exact.state import Exact
from boundcheck.errors import Unsupported
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks, Stale


def rounds_of(ring: Ring, method: Method, exact: Exact) -> Rounds:
    """The rounds of a method on a problem, in one arithmetic."""
    if method.correction is not None and method.exchange is not None:
        raise Unsupported(f"the exact engine has no correction beside models that the clients keep ({method.name}).")
    others = (method.momentum, method.server_momentum, method.correction, method.control, method.exchange)
    if method.server.averages_models and any(part is not None for part in others):
        raise Unsupported(f"the exact engine averages the models of plain methods only ({method.name}).")
    if method.server_momentum is not None:
        from boundcheck.engines.exact.server_momentum import ServerMomentumRounds

        return ServerMomentumRounds(ring, method, exact)
    if isinstance(method.exchange, Stale):
        from boundcheck.engines.exact.stale import StaleRounds

        return StaleRounds(ring, method, exact)
    if isinstance(method.exchange, Blocks):
        from boundcheck.engines.exact.blocks import BlockRounds
        from boundcheck.engines.exact.exchangeable import ExchangeableRounds

        if exact.alike:
            return ExchangeableRounds(ring, method, exact)
        return BlockRounds(ring, method, exact)
    if method.correction is not None:
        from boundcheck.engines.exact.corrected import CorrectedRounds

        return CorrectedRounds(ring, method, exact)
    if method.control is not None:
        from boundcheck.engines.exact.controlled import ControlledRounds

        return ControlledRounds(ring, method, exact)
    return Rounds(ring, method, exact)
