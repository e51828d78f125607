"""The engine without sampling error: runs as linear maps of the state or of its second moments."""

from boundcheck.engines.exact.cycle import LimitCycle, limit_cycle
from boundcheck.engines.exact.run import run_exact
from boundcheck.engines.exact.spectral import Contraction, contraction
from boundcheck.engines.exact.stationary import Stationary, stationary

__all__ = ["Contraction", "LimitCycle", "Stationary", "contraction", "limit_cycle", "run_exact", "stationary"]
