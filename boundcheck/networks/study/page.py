"""The page of a `[[training]]` table: words, pictures, results beside the paper's, and the orders of methods."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.errors import BadInput
from boundcheck.evidence.ordering import OUTCOMES, Pair, half_width, judge, seeds_needed
from boundcheck.evidence.studies.study import Panel, Series, Study, StudyTable
from boundcheck.networks.study.runs import Row, Run
from boundcheck.networks.study.spec import METRICS, Comparison, Spec

ROLES = ("metric", "bound", "reading", "trivial")
PERCENT = ("accuracy",)
SIGNED = {"neural": ("f_above_least_local",), "sampled": ("f", "surrogate_f")}  # metrics that may be below 0
ROUNDING = 1e-6  # of the largest value: what is smaller may be rounding, and does not stretch an axis
MOST_SEEDS = 10_000  # beyond them no number is shown


class More(NamedTuple):
    """What else a page shows: words, tables, and data for `report.json`."""

    words: Sequence[str]
    tables: Sequence[StudyTable]
    data: Mapping[str, Any]


def table(caption: str, rows: Sequence[Mapping[str, str]]) -> StudyTable:
    """A table whose columns are the keys of the rows; a column without any text is left out."""
    columns = [name for name in dict.fromkeys(itertools.chain(*rows)) if any(row.get(name) for row in rows)]
    cells = tuple(tuple(row.get(name) or "-" for name in columns) for row in rows)
    numeric = [all(re.fullmatch(r"[-+0-9./e]+", cell) for cell in column) for column in zip(*cells, strict=True)]
    return StudyTable(caption, tuple(columns), cells, tuple(k for k, number in enumerate(numeric) if number))


def page(spec: Spec, rows: Sequence[Row], more: Sequence[More] = ()) -> Study:
    """The study of the rows of a table."""
    tables = [_results(spec, rows), _orders(spec, rows), _tried(spec, rows)]
    panels, series = _pictures(spec, rows)
    orders = [
        [{"comparison": n, **asdict(p)} for n in range(len(spec.comparisons)) for p in pairs(spec, row, n)]
        for row in rows
    ]
    cases = [
        {**row.model_dump(exclude={"processor_hours"}), "orders": own} for row, own in zip(rows, orders, strict=True)
    ]
    data: dict[str, Any] = {"confidence": float(spec.confidence), "cases": cases}
    for name, value in ((name, value) for one in more for name, value in one.data.items()):
        data[name] = [*data.get(name, []), *value]
    return Study(
        "training",
        spec.name,
        (*_words(spec, rows), *(words for one in more for words in one.words)),
        (*(t for t in tables if t.rows), *(t for one in more for t in one.tables)),
        tuple(series),
        ("rounds" if spec.time is None else "time", ""),
        (False, False),
        "Mean over the seeds, in a band from the least to the largest of them.",
        data,
        tuple(panels),
    )


def pairs(spec: Spec, row: Row, number: int) -> tuple[Pair, ...]:
    """The pairs of the expected order of a case, for one of the comparisons; none without an order."""
    by, order = spec.comparisons[number], spec.order_of(number, spec.all_cases[row.case])
    values = {run.method: run.values(by) for run in row.runs}
    certain = [run.method for run in row.runs if run.certain]
    return judge(values, order, best=by.best, confidence=float(spec.confidence), certain=certain)


def outcomes(spec: Spec, rows: Sequence[Row]) -> dict[str, int]:
    """Outcome -> number of pairs of the expected orders, zeros included."""
    found = [p.outcome for row in rows for number in range(len(spec.comparisons)) for p in pairs(spec, row, number)]
    return {name: found.count(name) for name in OUTCOMES}


def _words(spec: Spec, rows: Sequence[Row]) -> Iterator[str]:
    level, counts, own = f"{float(spec.confidence):.4g}", outcomes(spec, rows), spec.tuning.seeds
    best = f"; settings with the best {_words_of(spec.compare)} on {_seeds(own)} of their own"
    tuned = best if any(row.tried for row in rows) else ""
    yield f"After {spec.source}. Carried out by the {spec.engine} engine with {_seeds(spec.seeds)} a method{tuned}."
    if sum(counts.values()):
        yield (
            f"Pairs of methods that the paper puts in an order: {sum(counts.values())}, of which "
            f"{counts['reproduced']} reproduced, {counts['reversed']} reversed and {counts['undecided']} undecided at "
            f"confidence {level}: methods are compared seed by seed, by Student's t test of the differences (which "
            "takes them as normally distributed), with Holm's correction over both directions of all pairs of one case "
            "and comparison, not over all of them together."
        )
    yield (
        "The seeds vary who takes part and which samples are drawn; the split of the data and the start are the same "
        f"for all. \u00b1 is half the width of Student's interval at confidence {level}; with two seeds, and where it "
        "would reach beyond what the metric can be, the least and the largest of the seeds stand in brackets."
    )
    edges = dict.fromkeys(run.method for row in rows for run in row.runs if _at_an_end(row, run))
    if edges:
        named = ", ".join(edges)
        yield f"The best setting lies at an end of the values tried for {named}: a better one may lie beyond."
    says = dict.fromkeys(c.says for c in spec.comparisons if c.says)
    if says:
        yield "The paper says: " + "; ".join(says) + "."
    if spec.scaled:
        yield "What differs from the paper: " + " ".join(spec.scaled)


def _seeds(count: int) -> str:
    return "1 seed" if count == 1 else f"{count} seeds"


def _words_of(comparison: Comparison) -> str:
    name = METRICS.get(comparison.metric, comparison.metric)
    share = f"the last {float(100 * comparison.over):.4g} % of the run"
    take = "mean" if comparison.take == "mean" else "standard deviation"
    return f"{name}, {take} over {share}" if comparison.over else name


def _shown(comparison: Comparison, value: float, digits: int = 4) -> str:
    if not math.isfinite(value):
        return "-" if math.isnan(value) else "diverged"
    return f"{100 * value:.2f} %" if comparison.metric in PERCENT else format_short(value, digits)


def _ours(spec: Spec, comparison: Comparison, run: Run) -> str:
    """Mean and interval of what methods are compared by, within the values that it can have."""
    values = run.values(comparison)
    gone, mean = int(np.isnan(values).sum()), _shown(comparison, float(values.mean()))
    if gone:
        return "diverged" if gone == len(values) else f"diverged in {gone} of {len(values)} seeds"
    if len(values) == 1:
        return mean
    width = half_width(values, float(spec.confidence))
    signed = comparison.metric in SIGNED[spec.engine]
    least = -math.inf if signed and comparison.take == "mean" else 0.0
    largest = 1.0 if comparison.metric in PERCENT else math.inf
    if len(values) > 2 and least <= values.mean() - width and values.mean() + width <= largest:
        return f"{mean} \u00b1 {_shown(comparison, width, 2)}"
    return f"{mean} (seeds: {_shown(comparison, values.min())} to {_shown(comparison, values.max())})"


def _reached(comparison: Comparison, run: Run) -> str:
    """The first measured round at which the mean over seeds has reached the target."""
    mean, goal = np.mean(run.samples[comparison.metric], axis=0), float(comparison.target or 0)
    # a diverged seed is recorded as infinite, whichever end is the best one
    there = np.isfinite(mean) & (mean <= goal if comparison.best == "lowest" else mean >= goal)
    return f"{run.x[int(np.argmax(there))]:g}" if there.any() else "never"


def _results(spec: Spec, rows: Sequence[Row]) -> StudyTable:
    paper = {label: case.paper for label, case in spec.all_cases.items()}
    printed = "in the paper" + (f": {spec.paper_is}" if spec.paper_is else "")
    found = [
        {"case": row.case, "method": run.method, "chosen": _settings(run.tried), "rounds": str(run.rounds)}
        | {_words_of(c): _ours(spec, c, run) for c in spec.comparisons}
        | {
            f"reaches {_shown(c, float(c.target))} at": _reached(c, run)
            for c in spec.comparisons
            if c.target is not None
        }
        | {printed: paper[row.case].get(run.method, "")}
        for row in rows
        for run in row.runs
    ]
    return table(f"What came out{', beside the paper' if any(paper.values()) else ''}", found)


def _settings(tried: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_plain(value)}" for name, value in tried.items())


def _plain(value: Any) -> str:
    """A number as people write it, anything else as it is."""
    try:
        return format_short(as_fraction(value))
    except BadInput:
        return str(value)


def _orders(spec: Spec, rows: Sequence[Row]) -> StudyTable:
    found: list[dict[str, str]] = []
    for row, (number, by) in itertools.product(rows, enumerate(spec.comparisons)):
        judged, values = pairs(spec, row, number), {run.method: run.values(by) for run in row.runs}
        for pair in judged:
            level = (1 - float(spec.confidence)) / (2 * len(judged))
            seeds = seeds_needed(values[pair.second] - values[pair.first], level)
            more = f"{seeds:.0f}" if seeds <= MOST_SEEDS else f"more than {MOST_SEEDS}"
            difference = _shown(by, pair.difference)
            found.append(
                {"case": row.case, "by": _words_of(by) if spec.also else ""}
                | {"the paper's order": f"{pair.first} before {pair.second}"}
                | {
                    "better by": difference + " of samples" * difference.endswith("%"),
                    "p value": format_short(pair.p, 3),
                }
                | {"seeds that would decide": more if pair.outcome == "undecided" else "", "outcome": pair.outcome}
            )
    return table("The paper's order of methods", found)


def _tried(spec: Spec, rows: Sequence[Row]) -> StudyTable:
    chosen = {(row.case, run.method): {k: str(v) for k, v in run.tried.items()} for row in rows for run in row.runs}
    found = [
        {"case": row.case, "method": one.method, "setting": _settings(one.values)}
        | {_words_of(spec.compare): "diverged" if math.isnan(one.value) else _shown(spec.compare, one.value)}
        | {"taken": "chosen" if chosen[row.case, one.method] == one.values else ""}
        for row in rows
        for one in row.tried
    ]
    return table("Settings that were tried out", found)


def _at_an_end(row: Row, run: Run) -> bool:
    """Whether the chosen setting has the largest or least of several values of a parameter."""
    for name, value in run.tried.items():
        try:
            values = sorted({as_fraction(t.values[name]) for t in row.tried if t.method == run.method})
        except BadInput:  # words, such as the partition into blocks, have no ends
            continue
        if len(values) > 1 and as_fraction(value) in (values[0], values[-1]):
            return True
    return False


def _pictures(spec: Spec, rows: Sequence[Row]) -> tuple[list[Panel], list[Series]]:
    """A panel for each case and metric, as many as the table allows."""
    panels: list[Panel] = []
    series: list[Series] = []
    wanted = itertools.product(dict.fromkeys(c.metric for c in spec.comparisons), rows)
    for metric, row in itertools.islice(wanted, spec.pictures):
        scale = 100 if metric in PERCENT else 1
        values = [scale * np.array(run.samples[metric]) for run in row.runs]
        name = METRICS.get(metric, metric).replace("^2", "\u00b2") + (" in %" if metric in PERCENT else "")
        panels.append(Panel(row.case, name, _wide(values) and metric not in PERCENT))
        for k, (run, own) in enumerate(zip(row.runs, values, strict=True)):
            with np.errstate(invalid="ignore"):
                y, *band = (tuple(map(float, line)) for line in (own.mean(axis=0), own.min(axis=0), own.max(axis=0)))
            low, high = band if spec.seeds > 1 else ((), ())
            look, dash = ROLES[k % len(ROLES)], k // len(ROLES)
            series.append(Series(run.method, tuple(run.x), y, look, dash, low, high, len(panels) - 1))
    return panels, series


def _wide(values: Sequence[NDArray[np.float64]]) -> bool:
    """Whether a logarithmic axis shows more: positive values that span much, down to no mere rounding."""
    means = np.concatenate([v.mean(axis=0) for v in values])
    seeds = np.concatenate([v.ravel() for v in values])  # the bands reach as far as they do
    means, seeds = means[np.isfinite(means)], seeds[np.isfinite(seeds)]
    if not len(means) or means.max() <= 20 * means.min():
        return False
    return bool(seeds.min() > ROUNDING * seeds.max())
