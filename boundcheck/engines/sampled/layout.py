"""How the compiled path lays out what it draws."""

from __future__ import annotations

from typing import Any

from boundcheck.engines.sampled.jit import jit


def _merge(cohort: Any, counts: Any, often: Any) -> None:
    """Cohorts (S, rounds, m) without their repeats, in place, and how often each member was drawn."""
    for s in range(cohort.shape[0]):
        for q in range(cohort.shape[1]):
            kept = 0
            for p in range(counts[s, q]):
                c = cohort[s, q, p]
                at = 0
                while at < kept and cohort[s, q, at] != c:
                    at += 1
                if at == kept:
                    cohort[s, q, at] = c
                    often[s, q, at] = 0.0
                    kept += 1
                often[s, q, at] += 1.0
            counts[s, q] = kept


merge = jit(_merge)


def _lay_out(entry: Any, counts: Any, samples: Any, place: Any) -> Any:
    """Where the samples of each visit begin, one visit after the other, and how many there are of all."""
    at = 0
    for s in range(counts.shape[0]):
        for q in range(counts.shape[1]):
            for p in range(counts[s, q]):
                place[s, q, p] = at
                at += samples[entry[s, q, p]]
    return at


lay_out = jit(_lay_out)
