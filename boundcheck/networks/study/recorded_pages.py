"""The pages of recorded tables: marked as such, with what would decide the pairs that are still open."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from boundcheck.core.numbers import format_short
from boundcheck.evidence.ordering import OUTCOMES, Pair, pairs_of, seeds_needed
from boundcheck.evidence.studies.study import Study, StudyTable
from boundcheck.networks.study.page import WORDS, page, pairs
from boundcheck.networks.study.recorded import Record, RecordedCase, RecordedRow
from boundcheck.networks.study.runs import value_of
from boundcheck.networks.study.spec import Spec, settings

STUDY_KIND = "recorded"
POWER = 0.8  # of the test at the number of seeds that is priced
MOST_SEEDS = 10_000  # beyond them no price is given
CHANGED = "the code has changed since"


@dataclass(frozen=True)
class Price:
    """What would decide a pair: seeds in all (inf: more than `MOST_SEEDS`), and processor hours beyond those spent."""

    row: str
    metric: str
    pair: Pair
    seeds: float
    hours: float


def judged(record: Record) -> Iterator[tuple[RecordedCase, int, Pair]]:
    """Every pair of the paper's orders in the rows that are recorded, with the number of its comparison."""
    for case in record.cases:
        for number in range(len(record.spec.comparisons)):
            for pair in pairs(record.spec, case, number):
                yield case, number, pair


def counts(record: Record) -> dict[str, int]:
    """Outcome -> number of pairs, zeros included."""
    found = Counter(pair.outcome for _, _, pair in judged(record))
    return {outcome: found[outcome] for outcome in OUTCOMES}


def hours_of_a_seed(spec: Spec, case: RecordedCase, row: RecordedRow) -> float:
    """Processor hours of one more seed of every method: the row's, in proportion to the rounds run."""
    rounds, short = spec.length(case.case)[0], spec.tuning.rounds
    share = 1.0 if rounds is None or short is None else min(short, rounds) / rounds
    tried = [sum(1 for _ in settings(case.case, method)) for method in spec.methods]
    runs = sum(spec.seeds + (count > 1) * count * spec.tuning.seeds * share for count in tried)
    return row.processor_hours * len(spec.methods) / runs


def prices(record: Record) -> list[Price]:
    """For every undecided pair, from the differences between its seeds so far."""
    spec, found = record.spec, list[Price]()
    rows = {row.case: row for row in record.rows}
    for case, number, pair in judged(record):
        if pair.outcome != "undecided":
            continue
        comparison = spec.comparisons[number]
        by = {run.label: run for run in case.runs}
        first, second = (
            value_of(comparison, r.x, r.samples[comparison.metric]) for r in (by[pair.first], by[pair.second])
        )
        several = len(pairs_of(spec.order_of(number, case.case)))
        seeds = seeds_needed(second - first, (1 - float(spec.confidence)) / (2 * several), POWER)
        seeds = math.inf if seeds > MOST_SEEDS else max(seeds, spec.seeds + 1.0)
        hours = (seeds - spec.seeds) * hours_of_a_seed(spec, case, rows[case.case.label])
        found.append(Price(case.case.label, WORDS.get(comparison.metric, comparison.metric), pair, seeds, hours))
    return found


def price_of_rows(found: Sequence[Price]) -> tuple[float, int]:
    """Processor hours that decide every pair that a price is given for, and how many have none."""
    most: dict[str, float] = {}
    for price in found:
        if math.isfinite(price.hours):
            most[price.row] = max(most.get(price.row, 0.0), price.hours)
    return sum(most.values()), sum(not math.isfinite(price.hours) for price in found)


def recorded_study(record: Record, path: Path) -> Study:
    """The page of a record."""
    own = page(record.spec, record.cases)
    found = prices(record)
    return replace(
        own,
        kind=STUDY_KIND,
        name=f"Recorded: {record.name}",
        words=(*_words(record, path), *own.words),
        tables=(*own.tables, *_price_tables(record, found)),
        data={**own.data, "record": _data(record)},
    )


def _data(record: Record) -> dict[str, Any]:
    facts = record.model_dump(include={"recorded", "command", "code", "modules", "versions"})
    return {**facts, "processor_hours": {row.case: row.processor_hours for row in record.rows}}


def _words(record: Record, path: Path) -> Iterator[str]:
    with_what = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    rerun = shlex.join(["boundcheck", "rerun", path.name, "--row", record.rows[0].case])
    fits = "is that of the code here" if record.code_now() == record.code else f"no longer fits: {CHANGED}"
    yield (
        f"RECORDED, not run for this report: on {record.recorded} by '{record.command}', in "
        f"{_hours(record.processor_hours)} processor hours, with {with_what}. The digest of the code that computed it, "
        f"{record.code[:12]}, {fits}. {rerun} runs a row again "
        "and compares."
    )
    missing = [c.label for c in record.spec.all_cases if c.label not in [row.case for row in record.rows]]
    if missing:
        yield f"Rows of the table that are not recorded: {', '.join(missing)}."


def _price_tables(record: Record, found: Sequence[Price]) -> list[StudyTable]:
    if not found:
        return []
    rows = [
        (
            p.row,
            p.metric,
            f"{p.pair.first} before {p.pair.second}",
            str(record.spec.seeds),
            _seeds(p.seeds),
            _hours(p.hours),
        )
        for p in found
    ]
    caption = (
        f"What would decide the rest, with probability {POWER:g} if the differences seen so far are the true ones "
        "(processor hours in proportion to those of the row)"
    )
    columns = ("case", "by", "the paper's order", "seeds so far", "seeds needed", "further processor hours")
    return [StudyTable(caption, columns, tuple(rows), (3, 4, 5))]


def _seeds(value: float) -> str:
    return f"{value:.0f}" if math.isfinite(value) else f"more than {MOST_SEEDS}"


def _hours(value: float) -> str:
    return format_short(value, 2) if math.isfinite(value) else "-"


SUMMARY = ("table", "recorded", "rows", "seeds", "pairs", *OUTCOMES, "processor hours", "hours for the rest")


def summary_row(record: Record) -> tuple[str, ...]:
    """A record in the columns of `SUMMARY`."""
    by_outcome = counts(record)
    hours, open_ended = price_of_rows(prices(record))
    rest = " and ".join(
        [*([_hours(hours)] if hours else []), *([f"{open_ended} without a price"] if open_ended else [])]
    )
    cases = f"{len(record.rows)} of {len(record.spec.all_cases)}"
    numbers = (str(record.spec.seeds), str(sum(by_outcome.values())), *(str(by_outcome[name]) for name in OUTCOMES))
    return (record.name, record.recorded, cases, *numbers, _hours(record.processor_hours), rest or "-")


def summary_rows(records: Sequence[Record]) -> list[tuple[str, ...]]:
    """Table, rows, seeds, pairs, how many of them have each outcome, processor hours: what a change of code keeps."""
    return [tuple(cell for k, cell in enumerate(summary_row(record)) if k not in (1, 9)) for record in records]


def summary_study(records: Sequence[Record]) -> Study:
    """One page for all records, one row each."""
    rows = tuple(summary_row(record) for record in records)
    total = Counter[str]()
    for record in records:
        total.update(counts(record))
    hours = _hours(sum(record.processor_hours for record in records))
    old = sum(record.code_now() != record.code for record in records)
    words = (
        f"RECORDED, not run for this report: {sum(total.values())} pairs of methods that a paper puts in an order, of "
        f"which {total['reproduced']} reproduced, {total['reversed']} reversed and {total['undecided']} undecided, in "
        f"{hours} processor hours. A reversal says that the order does not hold at our size, not that the paper is "
        "wrong at its own.",
        f"The code that computed {old} of {len(records)} tables has changed since; boundcheck rerun runs a row again "
        "and compares.",
        f"Hours for the rest: what would decide the undecided pairs with probability {POWER:g}, if the differences "
        f"seen so far are the true ones; a pair that would need more than {MOST_SEEDS} seeds has no price.",
    )
    table = StudyTable("Recorded tables", SUMMARY, rows, tuple(range(3, len(SUMMARY) - 1)))
    return Study(STUDY_KIND, "Recorded: all tables of neural results", words, (table,), data={"pairs": dict(total)})
