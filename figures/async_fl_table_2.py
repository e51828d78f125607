"""Table 2 of the asynchronous paper, which gives constants of three schemes as formulas, for three clients."""

from __future__ import annotations

import _findings as fd
import _study as s
from async_fl_table_1 import PROBLEM, method

from boundcheck.core.numbers import parse_number
from boundcheck.evidence.studies import schemes
from boundcheck.report.words import pretty

SCHEMES = ("synchronous FedAvg", "asynchronous, time-based", "FedFix, dt = 1", "FedFix, dt = 2")
CAPTION = (
    "Table 2 of the paper for clients of update times 2, 3 and 5 on random quadratics, beside the values that their "
    "schedules have, exactly. N is the number of rounds in a unit of time, d the largest weight. Where the paper "
    "prints an Omega or an O its argument is taken as a bound."
)


def shown(value: str | None) -> str:
    """A fraction of the study, short."""
    return "" if value is None else pretty(parse_number(value), 4)


def make() -> s.Made:
    """The study `[[schemes]]` of boundcheck on the three clients, in one table."""
    title = "The constants of the schemes (Table 2 of the asynchronous paper)"
    found = schemes.study(schemes.Spec(name=title, problem=PROBLEM, methods=[method(name) for name in SCHEMES]))
    names = [name for name, table in zip(SCHEMES, found.tables, strict=True) for _ in table.rows]
    rows: dict[str, dict[str, str]] = {}
    for name, entry in zip(names, found.data["entries"], strict=True):
        low, high = shown(entry["low"]), shown(entry["high"])
        rows[f"{name}: {entry['quantity']}"] = {
            "printed": entry["printed"],
            "gives": low if low == high else f"{low or '...'} to {high or '...'}",
            "exact": shown(entry["exact"]),
            "agrees": {True: "yes", False: "no", None: "not known"}[entry["agrees"]],
        }
    wrong = [row for row, cells in rows.items() if cells["agrees"] == "no"]
    summary = f"{len(rows) - len(wrong)} of {len(rows)} agree" + (f"; not {', '.join(wrong)}" if wrong else "")
    study = s.study(title, CAPTION, tables=s.table("scheme and constant", rows))
    return s.Made(study, {"formulas": fd.certain(not wrong, summary)})


main = s.script(make)

if __name__ == "__main__":
    s.start(main)
