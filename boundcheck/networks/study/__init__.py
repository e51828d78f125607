"""Methods trained on the same problem with the same seeds, beside the numbers and the order of methods of a paper.

`spec` and `check` are the table, `runs` carries it out, `page` shows it; `record` keeps what came out in files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from boundcheck.evidence.studies.study import Study
from boundcheck.networks.study.check import check
from boundcheck.networks.study.constants import estimated, of_surrogates
from boundcheck.networks.study.page import page
from boundcheck.networks.study.runs import Runs
from boundcheck.networks.study.spec import Spec

if TYPE_CHECKING:
    from boundcheck.core.store import Store

__all__ = ["Spec", "check", "study"]


def study(spec: Spec, on_progress: Callable[[float], None] | None = None, store: Store | None = None) -> Study:
    """Carry out the table. Each run goes through the store, if one is given."""
    runs = Runs(spec, store, on_progress)
    rows = [runs.row(case) for case in spec.all_cases.values()]
    return page(spec, rows, [*of_surrogates(runs, rows), *estimated(runs, rows)])
