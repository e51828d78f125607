"""`python -m libraries` in `examples`: run all pairs and write docs/libraries.md."""

from __future__ import annotations

import gc
import logging
import sys
import time
import warnings

from libraries import HERE, stand_in, table


def main() -> None:
    """Run and write, with a line on standard error for each pair."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    stand_in()
    from libraries.judge import judge, judge_bounds, judge_cohorts
    from libraries.page import write
    from libraries.pairs import pairs

    known, began = pairs(), time.monotonic()
    for pair in known:
        pair.runs()
    gc.freeze()  # a strategy of flwr collects garbage for every reply
    judged = []
    for pair in known:
        found = judge(pair)
        words = ["agrees" if a.agreement.agrees else "differs" for a in found.answers.values()]
        sys.stderr.write(f"{time.monotonic() - began:.0f} s {pair.library}, {pair.algorithm}: {', '.join(words)}\n")
        judged.append(found)
    laws = {library: row["law"] for library, row in table("matrix")["library"].items()}
    drawing = [pair for pair in known if pair.algorithm == laws[pair.library]]
    drawn = {}
    for pair in drawing:
        drawn[pair] = judge_cohorts(pair)
        sys.stderr.write(f"{time.monotonic() - began:.0f} s {pair.library}, cohorts: {drawn[pair].reason[:60]}\n")
    write(judged, drawn, judge_bounds(drawing), HERE.parents[1] / "docs" / "libraries.md")
    sys.stderr.write(f"{time.monotonic() - began:.0f} s in all\n")


if __name__ == "__main__":
    main()
