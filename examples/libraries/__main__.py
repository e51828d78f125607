"""`python -m libraries`: run all pairs and write docs/libraries.md."""

from __future__ import annotations

import gc
import logging
import sys
import warnings
from pathlib import Path

from libraries.bounds import against_bounds
from libraries.judge import judge, judge_cohorts
from libraries.page import write
from libraries.pairs import PAIRS

_DRAWING = (("flwr", "FedAvg"), ("pfl", "FederatedAveraging"), ("FedLab", "FedAvg, equal weights"))


def main() -> None:
    """Run and write, with a line on standard error for each pair."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    gc.freeze()  # a strategy of flwr collects garbage for every reply
    judged = []
    for pair in PAIRS:
        found = judge(pair)
        words = ["agrees" if a.agreement.agrees else "differs" for a in (found.full, found.partial)]
        sys.stderr.write(f"{pair.library}, {pair.algorithm}: {', '.join(words)}\n")
        judged.append(found)
    cohorts = {}
    for pair in PAIRS:
        if (pair.library, pair.algorithm) in _DRAWING:
            agreement = judge_cohorts(pair)
            cohorts[pair.library] = (pair.algorithm, agreement.agrees, agreement.reason)
            sys.stderr.write(f"{pair.library}, cohorts: {agreement.reason}\n")
    write(judged, cohorts, against_bounds(), Path(__file__).parents[2] / "docs" / "libraries.md")


if __name__ == "__main__":
    main()
