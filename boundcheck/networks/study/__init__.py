"""Methods trained on the same problem with the same seeds, beside the numbers and the order of methods of a paper.

The step sizes are tuned on seeds of their own; the metric of every method, with its confidence interval, stands beside
what the paper prints; every pair of the paper's order of methods is tested (`evidence.ordering`): reproduced, reversed
or undecided at the stated confidence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from boundcheck.evidence.studies.study import Study
from boundcheck.networks.study.check import check
from boundcheck.networks.study.estimates import estimates
from boundcheck.networks.study.page import page
from boundcheck.networks.study.runs import carry_out
from boundcheck.networks.study.spec import Spec

if TYPE_CHECKING:
    from boundcheck.core.store import Store

__all__ = ["Spec", "check", "study"]


def study(spec: Spec, on_progress: Callable[[float], None] | None = None, store: Store | None = None) -> Study:
    """Carry out the table. Each run goes through the store, if one is given."""
    found = carry_out(spec, store, on_progress)
    return page(spec, found, estimates(spec, found, store))
