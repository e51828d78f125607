"""The page of a `[[training]]` table: words, pictures, what came out beside the paper's numbers, and the orders."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.errors import BadInput
from boundcheck.evidence.ordering import Pair, half_width, judge
from boundcheck.evidence.studies.study import Panel, Series, Study, StudyTable
from boundcheck.networks.study.estimates import Along, estimate_data, estimate_tables, estimate_words
from boundcheck.networks.study.runs import CaseOutcome, CaseRuns, Ran, value_of
from boundcheck.networks.study.spec import Comparison, Spec
from boundcheck.networks.study.theory import surrogate_knowledge, theory_data, theory_tables

WORDS: Mapping[str, str] = {
    "f": "loss F",
    "grad2": "|grad F|^2",
    "gap": "F - F*, from above",
    "dist2": "|x - x*|^2",
    "accuracy": "accuracy on held-out samples",
    "test_f": "loss on held-out samples",
    "spread": "standard deviation of the clients' losses",
    "surrogate_f": "loss of the surrogate problem",
    "surrogate_gap": "surrogate loss above its minimum",
    "surrogate_spread": "standard deviation of the clients' losses, weighted as in the surrogate problem",
    "discrepancy": "discrepancy of the models",
    "least_local_f": "least F of a local model",
    "f_above_least_local": "F above the least F of a local model",
    "least_local_loss": "least loss of a local model on its own data",
}
ROLES = ("metric", "bound", "reading", "trivial")
PERCENT = ("accuracy",)
# may be below 0 but for the losses of the neural engine; of the others only "f_above_least_local" may
SIGNED = ("f", "surrogate_f")
ROUNDING = 1e-6  # of the largest value: what is smaller may be rounding, and does not stretch an axis


def page(spec: Spec, found: Sequence[CaseOutcome], measured: Sequence[Along] = ()) -> Study:
    """The study of the runs of a table. measured: constants along some of them."""
    judged = [(case, number, pairs(spec, case, number)) for case in found for number in range(len(spec.comparisons))]
    tables = [_results(spec, found)]
    if any(p for _, _, p in judged):
        tables.append(_orders(spec, judged))
    here = [case for case in found if isinstance(case, CaseRuns)]
    known = surrogate_knowledge(here)
    tables += theory_tables(here, known)
    tables += estimate_tables(measured)
    if any(case.tried for case in found):
        tables.append(_tried(spec, found))
    panels, series = _pictures(spec, found)
    return Study(
        "training",
        spec.name,
        (*_words(spec, any(case.tried for case in found), judged), *estimate_words(measured)),
        tuple(tables),
        tuple(series),
        ("rounds" if _by_rounds(spec) else "time", ""),
        (False, False),
        "Mean over the seeds, in a band from the least to the largest of them.",
        {**_data(spec, found, judged), **theory_data(known), **estimate_data(measured)},
        tuple(panels),
    )


def pairs(spec: Spec, case: CaseOutcome, number: int) -> tuple[Pair, ...]:
    """The pairs of the expected order of a case, for one of the comparisons; none without an order."""
    comparison = spec.comparisons[number]
    order = spec.order_of(number, case.case)
    samples = {run.label: value_of(comparison, run.x, run.samples[comparison.metric]) for run in case.runs}
    certain = [run.label for run in case.runs if run.certain]
    level = float(spec.confidence)
    return judge(samples, order, best=comparison.best, confidence=level, test=spec.test, certain=certain)


def _by_rounds(spec: Spec) -> bool:
    return all(spec.length(case)[1] is None for case in spec.all_cases)


def _words(spec: Spec, tuned: bool, judged: Sequence[tuple[CaseOutcome, int, tuple[Pair, ...]]]) -> Iterator[str]:
    yield f"After {spec.source}. {_setting(spec, tuned)}"
    level = f"{float(spec.confidence):.4g}"
    counts = Counter(p.outcome for _, _, own in judged for p in own)
    if counts:
        test = "Student's t test of the differences" if spec.test == "t" else "the exact sign-flip test"
        yield (
            f"Pairs of methods that the paper puts in an order: {sum(counts.values())}, of which "
            f"{counts['reproduced']} reproduced, {counts['reversed']} reversed and {counts['undecided']} undecided at "
            f"confidence {level}: "
            f"methods are compared seed by seed, by {test} (which takes them as "
            f"{'normally distributed' if spec.test == 't' else 'symmetric'}), with Holm's correction over both "
            "directions of all pairs of one case and comparison, not over all of them together."
        )
    yield _words_of_seeds(spec)
    edges = list(dict.fromkeys(label for case, number, _ in judged if number == 0 for label in _at_an_end(case)))
    if edges:
        named = ", ".join(edges)
        yield f"The best setting lies at an end of the values tried for {named}: a better one may lie beyond."
    says = dict.fromkeys(c.says for c in spec.comparisons if c.says)
    if says:
        yield "The paper says: " + "; ".join(says) + "."
    if spec.scaled:
        yield "What differs from the paper: " + " ".join(spec.scaled)


def _words_of_seeds(spec: Spec) -> str:
    vary = "vary who takes part and which samples are drawn; the split of the data and the start are the same for all."
    if spec.seeds == 1:
        return f"Further seeds would {vary}"
    if spec.seeds == 2:
        return f"In brackets stand the values of the two seeds, too few for an interval. The seeds {vary}"
    return (
        f"Our \u00b1 is half the width of Student's interval at confidence {float(spec.confidence):.4g}; where that "
        "would reach beyond what the metric can be, the least and the largest of the seeds stand in brackets. The "
        f"seeds {vary}"
    )


def _setting(spec: Spec, tuned: bool) -> str:
    engine = "the neural engine" if spec.engine == "neural" else "the sampled engine"
    several = f"{spec.seeds} seeds" if spec.seeds > 1 else "1 seed"
    own = "1 seed" if spec.tuning.seeds == 1 else f"{spec.tuning.seeds} seeds"
    rest = f"; settings with the best {_words_of(spec.comparisons[0])} on {own} of their own" if tuned else ""
    return f"Carried out by {engine} with {several} a method{rest}."


def _words_of(comparison: Comparison) -> str:
    name = WORDS.get(comparison.metric, comparison.metric)
    if comparison.over == 0:
        return name
    share = f"the last {float(100 * comparison.over):.4g} % of the run"
    return f"{name}, {'mean' if comparison.take == 'mean' else 'standard deviation'} over {share}"


def _shown(comparison: Comparison, value: float, digits: int = 4) -> str:
    if math.isnan(value):
        return "-"
    if comparison.metric in PERCENT:
        return f"{100 * value:.2f} %"
    return format_short(value, digits)


def _ours(spec: Spec, comparison: Comparison, run: Ran) -> str:
    values = value_of(comparison, run.x, run.samples[comparison.metric])
    gone = int(np.isnan(values).sum())
    if gone:
        return "diverged" if gone == len(values) else f"diverged in {gone} of {len(values)} seeds"
    mean = _shown(comparison, float(values.mean()))
    if len(values) == 1:
        return mean
    width = half_width(values, float(spec.confidence))
    least, largest = _possible(spec, comparison)
    if len(values) > 2 and least <= values.mean() - width and values.mean() + width <= largest:
        return f"{mean} \u00b1 {_shown(comparison, width, 2)}"
    return f"{mean} (seeds: {_shown(comparison, values.min())} to {_shown(comparison, values.max())})"


def _possible(spec: Spec, comparison: Comparison) -> tuple[float, float]:
    """The least and the largest value that what is compared can have."""
    below = comparison.metric == "f_above_least_local" or (comparison.metric in SIGNED and spec.engine != "neural")
    signed = below and comparison.take == "mean"
    return -math.inf if signed else 0.0, 1.0 if comparison.metric in PERCENT else math.inf


def _reached(comparison: Comparison, run: Ran) -> str:
    """The first measured round at which the mean over seeds has reached the target."""
    assert comparison.target is not None
    mean, goal = run.samples[comparison.metric].mean(axis=0), float(comparison.target)
    # a diverged seed is recorded as infinite, whichever end is the best one
    there = np.isfinite(mean) & (mean <= goal if comparison.best == "lowest" else mean >= goal)
    return f"{run.x[int(np.argmax(there))]:g}" if there.any() else "never"


def _results(spec: Spec, found: Sequence[CaseOutcome]) -> StudyTable:
    cases, tuned = bool(spec.cases), any(m.grid for m in spec.methods)
    paper = any(case.paper for case in spec.all_cases)
    goals = [c for c in spec.comparisons if c.target is not None]
    columns = [*(["case"] if cases else []), "method", *(["chosen"] if tuned else []), "rounds"]
    columns += [_words_of(c) for c in spec.comparisons]
    columns += [f"reaches {_shown(c, float(c.target or 0))} at" for c in goals]
    columns += ["in the paper" + (f": {spec.paper_is}" if spec.paper_is else "")] if paper else []
    rows: list[tuple[str, ...]] = []
    for case in found:
        for run in case.runs:
            row = [case.case.label] if cases else []
            row += [run.label, *([_settings(run.trained.tried)] if tuned else []), str(run.rounds)]
            row += [_ours(spec, c, run) for c in spec.comparisons]
            row += [_reached(c, run) for c in goals]
            row += [case.case.paper.get(run.label, "-")] if paper else []
            rows.append(tuple(row))
    beside = ", beside the paper" if paper else ""
    return StudyTable(f"What came out{beside}", tuple(columns), tuple(rows))


def _settings(tried: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_plain(value)}" for name, value in tried.items()) or "-"


def _plain(value: Any) -> str:
    """A number as people write it, anything else as it is."""
    try:
        return format_short(as_fraction(value))
    except BadInput:
        return str(value)


def _orders(spec: Spec, judged: Sequence[tuple[CaseOutcome, int, tuple[Pair, ...]]]) -> StudyTable:
    cases, several = bool(spec.cases), len(spec.comparisons) > 1
    columns = [*(["case"] if cases else []), *(["by"] if several else []), "the paper's order", "better by", "p value"]
    rows: list[tuple[str, ...]] = []
    for case, number, own in judged:
        comparison = spec.comparisons[number]
        for pair in own:
            row = [case.case.label] if cases else []
            row += [_words_of(comparison)] if several else []
            by = _shown(comparison, pair.difference)
            row += [f"{pair.first} before {pair.second}", f"{by} of samples" if by.endswith("%") else by]
            rows.append((*row, format_short(pair.p, 3), pair.outcome))
    return StudyTable("The paper's order of methods", (*columns, "outcome"), tuple(rows))


def _tried(spec: Spec, found: Sequence[CaseOutcome]) -> StudyTable:
    comparison = spec.comparisons[0]
    rows: list[tuple[str, ...]] = []
    for case in found:
        chosen = {run.label: {k: str(v) for k, v in run.trained.tried.items()} for run in case.runs}
        for one in case.tried:
            shown = _shown(comparison, one.value) if math.isfinite(one.value) else "diverged"
            taken = "chosen" if chosen[one.label] == one.values else ""
            rows.append((*([case.case.label] if spec.cases else []), one.label, _settings(one.values), shown, taken))
    columns = (*(["case"] if spec.cases else []), "method", "setting", _words_of(comparison), "")
    return StudyTable("Settings that were tried out", columns, tuple(rows))


def _at_an_end(case: CaseOutcome) -> Iterator[str]:
    """Methods whose chosen setting has the largest or least of several values of a parameter."""
    for run in case.runs:
        tried = [t.values for t in case.tried if t.label == run.label]
        for name, value in run.trained.tried.items():
            try:
                values = sorted({as_fraction(t[name]) for t in tried})
            except BadInput:  # words, such as the partition into blocks, have no ends
                continue
            if len(values) > 1 and as_fraction(value) in (values[0], values[-1]):
                yield run.label
                break


def _pictures(spec: Spec, found: Sequence[CaseOutcome]) -> tuple[list[Panel], list[Series]]:
    """A panel for each case and metric, as many as the table allows."""
    panels: list[Panel] = []
    series: list[Series] = []
    wanted = list(itertools.product(dict.fromkeys(c.metric for c in spec.comparisons), found))
    for metric, case in wanted[: spec.pictures]:
        values = [run.samples[metric] for run in case.runs]
        name = WORDS.get(metric, metric).replace("^2", "\u00b2") + (" in %" if metric in PERCENT else "")
        panels.append(Panel(case.case.label, name, _wide(values) and metric not in PERCENT))
        for k, run in enumerate(case.runs):
            of_seeds = 100 * run.samples[metric] if metric in PERCENT else run.samples[metric]
            with np.errstate(invalid="ignore"):
                lines = [of_seeds.mean(axis=0), of_seeds.min(axis=0), of_seeds.max(axis=0)]
            y, low, high = (tuple(map(float, line)) for line in lines)
            band: dict[str, Any] = {"low": low, "high": high} if spec.seeds > 1 else {}
            look: dict[str, Any] = {"role": ROLES[k % len(ROLES)], "dash": k // len(ROLES), "panel": len(panels) - 1}
            series.append(Series(run.label, tuple(map(float, run.x)), y, **look, **band))
    return panels, series


def _wide(values: Sequence[Any]) -> bool:
    """Whether a logarithmic axis shows more: positive values that span much, down to no mere rounding."""
    means = np.concatenate([v.mean(axis=0) for v in values])
    seeds = np.concatenate([v.ravel() for v in values])  # the bands reach as far as they do
    means, seeds = means[np.isfinite(means)], seeds[np.isfinite(seeds)]
    if not len(means) or means.max() <= 20 * means.min():
        return False
    return bool(seeds.min() > ROUNDING * seeds.max())


def _as_data(value: Any) -> Any:
    """A specification for report.json, its numbers as text."""
    if isinstance(value, Mapping):
        return {str(name): _as_data(v) for name, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_as_data(v) for v in value]
    return value if value is None or isinstance(value, bool) else str(value)


def _data(
    spec: Spec, found: Sequence[CaseOutcome], judged: Sequence[tuple[CaseOutcome, int, tuple[Pair, ...]]]
) -> dict[str, Any]:
    cases: list[dict[str, Any]] = []
    for case in found:
        runs = [
            {
                "method": run.label,
                "specification": _as_data(run.spec),
                "rounds": run.rounds,
                "x": run.x.tolist(),
                "samples": {name: values.tolist() for name, values in run.samples.items()},
                "paper": case.case.paper.get(run.label),
            }
            for run in case.runs
        ]
        orders = [
            {"comparison": number, "first": p.first, "second": p.second, "difference": p.difference, "p": p.p}
            | {"outcome": p.outcome}
            for of, number, own in judged
            if of is case
            for p in own
        ]
        tried = [{"method": t.label, "setting": dict(t.values), "value": t.value} for t in case.tried]
        cases.append({"case": case.case.label, "runs": runs, "orders": orders, "tried": tried})
    return {"confidence": float(spec.confidence), "test": spec.test, "cases": cases}
