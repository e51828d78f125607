"""FedAvg with MD sampling: m clients a round, each drawn anew by importance, so that one may be drawn several times.

Y. Fraboni et al., Appendix C.2 ("a Multinomial distribution").
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from boundcheck.methods._asynchronous import Given, compose, has_async_steps
from boundcheck.methods._steps import count
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Same, WithReplacement

__all__ = ["build", "matches"]


def build(*, K: Any, eta_l: Any, m: Any, eta_g: Any = 1, batch: Any = None, sampling: Any = None) -> Method:
    """FedAvg with the weights (how often client i is drawn)/m.

    batch: samples a step, drawn with replacement (default: full gradients). Raises BadInput and UnknownName.
    """
    size = count(m, "m")
    given = Given(K, eta_l, eta_g, batch, sampling)
    return compose("md_sampling", WithReplacement(size), Same(Fraction(1, size)), given)


def matches(method: Method) -> bool:
    """Whether a composition is FedAvg with MD sampling, whatever its numbers."""
    cohort = method.participation
    return (
        isinstance(cohort, WithReplacement)
        and method.aggregation == Same(Fraction(1, cohort.size))
        and has_async_steps(method)
        and method.exchange is None
    )
