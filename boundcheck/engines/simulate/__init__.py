"""Monte Carlo: many seeds of a method at once, reproducible seed by seed."""

from boundcheck.engines.simulate.run import concatenate, run_sampled

__all__ = ["concatenate", "run_sampled"]
