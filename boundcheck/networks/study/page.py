"""The page of a `[[training]]` table: words, pictures, results beside the paper's, and the orders of methods."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.errors import BadInput
from boundcheck.evidence.ordering import OUTCOMES, Pair, half_width, judge, rankings, seeds_needed
from boundcheck.evidence.studies.study import Panel, Series, Study, StudyTable
from boundcheck.networks.study.runs import Row, Run
from boundcheck.networks.study.spec import METRICS, Comparison, Spec

ROLES = ("metric", "bound", "reading", "trivial")
SIGNED = {"neural": ("f_above_least_local",), "sampled": ("f", "surrogate_f")}  # metrics that may be below 0
ROUNDING = 1e-6  # of the largest value: what is smaller may be rounding, and does not stretch an axis
MOST_SEEDS = 10_000  # beyond them no number is shown


class More(NamedTuple):
    """What else a page shows: words, tables, and lists for `report.json`."""

    words: Sequence[str]
    tables: Sequence[StudyTable]
    data: Mapping[str, list[Any]]


def page(spec: Spec, rows: Sequence[Row], more: Sequence[More] = ()) -> Study:
    """The study of the rows of a table."""
    tables = [_results(spec, rows), _orders(spec, rows), _tried(spec, rows)]
    data: dict[str, Any] = {"confidence": float(spec.confidence), "cases": []}
    for row in rows:
        orders = [{"comparison": n, **asdict(pair)} for own, n, _, pair in judged(spec, rows) if own is row]
        data["cases"].append({**row.model_dump(exclude={"processor_hours"}), "orders": orders})
    for name, found in ((name, found) for one in more for name, found in one.data.items()):
        data[name] = [*data.get(name, []), *found]
    return Study(
        "training",
        spec.name,
        (*_words(spec, rows), *(words for one in more for words in one.words)),
        (*(table for table in tables if table.rows), *(table for one in more for table in one.tables)),
        tuple(_series(spec, rows)),
        ("rounds" if spec.time is None else "time", ""),
        (False, False),
        "Mean over the seeds, in a band from the least to the largest of them.",
        data,
        tuple(_panel(metric, row) for metric, row in _pictures(spec, rows)),
    )


def judged(spec: Spec, rows: Sequence[Row]) -> Iterator[tuple[Row, int, Comparison, Pair]]:
    """The pairs of the expected orders, with their rows and comparisons."""
    for row, (number, by) in itertools.product(rows, enumerate(spec.comparisons)):
        yield from ((row, number, by, pair) for pair in pairs(spec, row, number))


def pairs(spec: Spec, row: Row, number: int) -> tuple[Pair, ...]:
    """The pairs of the expected order of a case, for one of the comparisons; none without an order."""
    by, order = spec.comparisons[number], spec.order_of(number, spec.all_cases[row.case])
    values = {run.method: run.values(by) for run in row.runs}
    certain = [run.method for run in row.runs if run.certain]
    return judge(values, order, best=by.best, confidence=float(spec.confidence), certain=certain)


def outcomes(spec: Spec, rows: Sequence[Row]) -> dict[str, int]:
    """Outcome -> number of pairs of the expected orders, zeros included."""
    found = [pair.outcome for *_, pair in judged(spec, rows)]
    return {name: found.count(name) for name in OUTCOMES}


def _words(spec: Spec, rows: Sequence[Row]) -> Iterator[str]:
    level, counts, seeds = f"{float(spec.confidence):.4g}", outcomes(spec, rows), _seeds
    best = f"; settings with the best {_words_of(spec.compare)} on {seeds(spec.tuning.seeds)} of their own"
    tuned = best if any(row.tried for row in rows) else ""
    yield f"After {spec.source}. Carried out by the {spec.engine} engine with {seeds(spec.seeds)} a method{tuned}."
    if sum(counts.values()):
        yield (
            f"{rankings(counts)}, at confidence {level}. Methods are compared seed by seed, by Student's t test of "
            "the differences (which takes them as normally distributed), with Holm's correction over both directions "
            "of all pairs of one case and comparison, not over all of them together."
        )
    yield (
        "The seeds vary who takes part and which samples are drawn; the split of the data and the start are the same "
        f"for all. \u00b1 is half the width of Student's interval at confidence {level}; with two seeds, and where it "
        "would reach beyond what the metric can be, the least and the largest of the seeds stand in brackets."
    )
    edges = dict.fromkeys(run.method for row in rows for run in row.runs if _at_an_end(row, run))
    says = dict.fromkeys(by.says for by in spec.comparisons if by.says)
    for words, found in (
        ("The best setting lies at an end of the values tried, and a better one may lie beyond: {}.", ", ".join(edges)),
        ("The paper says: {}.", "; ".join(says)),
        ("What differs from the paper: {}", " ".join(spec.scaled)),
    ):
        if found:
            yield words.format(found)


def _seeds(count: int) -> str:
    return f"{count} seed{'s' * (count > 1)}"


def _words_of(by: Comparison) -> str:
    name, share = METRICS.get(by.metric, by.metric), f"the last {float(100 * by.over):.4g} % of the run"
    return f"{name}, {'mean' if by.take == 'mean' else 'standard deviation'} over {share}" if by.over else name


def _shown(by: Comparison, value: float, digits: int = 4) -> str:
    if not math.isfinite(value):
        return "-" if math.isnan(value) else "diverged"
    return f"{100 * value:.2f} %" if by.metric == "accuracy" else format_short(value, digits)


def _ours(spec: Spec, by: Comparison, run: Run) -> str:
    """Mean and interval of what methods are compared by, within the values that it can have."""
    values = run.values(by)
    gone, mean, width = int(np.isnan(values).sum()), float(values.mean()), half_width(values, float(spec.confidence))
    if gone:
        return "diverged" if gone == len(values) else f"diverged in {gone} of {len(values)} seeds"
    least = -math.inf if by.metric in SIGNED[spec.engine] and by.take == "mean" else 0.0
    largest = 1.0 if by.metric == "accuracy" else math.inf
    between = f" (seeds: {_shown(by, values.min())} to {_shown(by, values.max())})" if len(values) > 1 else ""
    inside = len(values) > 2 and least <= mean - width and mean + width <= largest
    return _shown(by, mean) + (f" \u00b1 {_shown(by, width, 2)}" if inside else between)


def _reached(by: Comparison, run: Run) -> str:
    """The first measured round at which the mean over seeds has reached the target."""
    mean, goal = np.mean(run.samples[by.metric], axis=0), float(by.target or 0)
    # a diverged seed is recorded as infinite, whichever end is the best one
    there = np.isfinite(mean) & (mean <= goal if by.best == "lowest" else mean >= goal)
    return f"{run.x[int(np.argmax(there))]:g}" if there.any() else "never"


def _results(spec: Spec, rows: Sequence[Row]) -> StudyTable:
    paper, goals = {row.case: spec.all_cases[row.case].paper for row in rows}, spec.comparisons
    found = [
        {"case": row.case, "method": run.method, "chosen": _settings(run.tried), "rounds": str(run.rounds)}
        | {_words_of(by): _ours(spec, by, run) for by in spec.comparisons}
        | {f"reaches {_shown(by, float(by.target))} at": _reached(by, run) for by in goals if by.target is not None}
        | {f"in the paper: {spec.paper_is}".removesuffix(": "): paper[row.case].get(run.method, "")}
        for row in rows
        for run in row.runs
    ]
    return StudyTable.of(f"What came out{', beside the paper' if any(paper.values()) else ''}", found)


def _settings(tried: Mapping[str, Any]) -> str:
    exact = {name: _exact(value) for name, value in tried.items()}
    return ", ".join(f"{k} = {tried[k] if own is None else format_short(own)}" for k, own in exact.items())


def _orders(spec: Spec, rows: Sequence[Row]) -> StudyTable:
    found: list[dict[str, str]] = []
    for row, number, by, pair in judged(spec, rows):
        values, several = {run.method: run.values(by) for run in row.runs}, len(pairs(spec, row, number))
        seeds = seeds_needed(values[pair.second] - values[pair.first], (1 - float(spec.confidence)) / (2 * several))
        more = f"{seeds:.0f}" if seeds <= MOST_SEEDS else f"more than {MOST_SEEDS}"
        better = _shown(by, pair.difference) + " of samples" * (by.metric == "accuracy")
        one = {"case": row.case, "by": _words_of(by) if spec.also else ""}
        one |= {"the paper's order": f"{pair.first} before {pair.second}", "better by": better}
        one |= {"p value": format_short(pair.p, 3), "seeds that would decide": more * (pair.outcome == "undecided")}
        found.append(one | {"outcome": pair.outcome})
    return StudyTable.of("The paper's order of methods", found)


def _tried(spec: Spec, rows: Sequence[Row]) -> StudyTable:
    chosen = {(row.case, run.method): {k: str(v) for k, v in run.tried.items()} for row in rows for run in row.runs}
    found = [
        {"case": row.case, "method": one.method, "setting": _settings(one.values)}
        | {_words_of(spec.compare): _shown(spec.compare, math.inf if math.isnan(one.value) else one.value)}
        | {"taken": "chosen" if chosen[row.case, one.method] == one.values else ""}
        for row in rows
        for one in row.tried
    ]
    return StudyTable.of("Settings that were tried out", found)


def _exact(value: Any) -> Fraction | None:
    """A number, or None for words such as the partition into blocks."""
    try:
        return as_fraction(value)
    except BadInput:
        return None


def _at_an_end(row: Row, run: Run) -> bool:
    """Whether the chosen setting has the largest or least of several values of a parameter."""
    for name, value in run.tried.items():
        values = [_exact(one.values[name]) for one in row.tried if one.method == run.method]
        known = sorted(own for own in values if own is not None)
        if len(set(known)) > 1 and _exact(value) in (known[0], known[-1]):
            return True
    return False


def _pictures(spec: Spec, rows: Sequence[Row]) -> list[tuple[str, Row]]:
    """Metric and row of each panel, as many as the table allows."""
    return [*itertools.product(dict.fromkeys(by.metric for by in spec.comparisons), rows)][: spec.pictures]


def _panel(metric: str, row: Row) -> Panel:
    name = METRICS.get(metric, metric).replace("^2", "\u00b2") + " in %" * (metric == "accuracy")
    return Panel(row.case, name, metric != "accuracy" and _wide([np.array(run.samples[metric]) for run in row.runs]))


def _series(spec: Spec, rows: Sequence[Row]) -> Iterator[Series]:
    for panel, (metric, row) in enumerate(_pictures(spec, rows)):
        for k, run in enumerate(row.runs):
            own = np.array(run.samples[metric]) * (100 if metric == "accuracy" else 1)
            with np.errstate(invalid="ignore"):
                y, low, high = (
                    tuple(map(float, line)) for line in (own.mean(axis=0), own.min(axis=0), own.max(axis=0))
                )
            band = {"low": low, "high": high} if spec.seeds > 1 else {}
            yield Series(run.method, tuple(run.x), y, ROLES[k % len(ROLES)], k // len(ROLES), panel=panel, **band)


def _wide(values: Sequence[NDArray[np.float64]]) -> bool:
    """Whether a logarithmic axis shows more: positive values that span much, down to no mere rounding."""
    means = np.concatenate([v.mean(axis=0) for v in values])
    seeds = np.concatenate([v.ravel() for v in values])  # the bands reach as far as they do
    means, seeds = means[np.isfinite(means)], seeds[np.isfinite(seeds)]
    spans = len(means) > 0 and means.max() > 20 * means.min()
    return bool(spans and seeds.min() > ROUNDING * seeds.max())
