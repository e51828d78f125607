"""Tables 1 and 2 of the asynchronous paper with numbers: the weights of three clients, the constants of the schemes.

Run: python figures/async_fl_table_1.py [-o DIR]

Table 1 names the weights: importance p_i, aggregation weight d_i(n), its expectation q_i(n), the same over its sum, and
q_i, its mean over the rounds of a window. Table 2 gives the constants of three schemes as formulas. Here they are
computed for clients of update times 2, 3 and 5.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import _files as files
import _findings as fd
import _tables as tables

from boundcheck.methods.build import build as build_method
from boundcheck.papers.async_fl.theories.scheme_table import scheme_table
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of
from boundcheck.report.words import pretty
from boundcheck.setting.expected_weights import expected_weights

NAME, CONSTANTS = "async_fl_table_1", "async_fl_table_2"
TIMES = (2, 3, 5)
PROBLEM = {"kind": "random_quadratics", "clients": len(TIMES), "d": 2, "seed": 1}
SCHEMES: Mapping[str, Mapping[str, Any]] = {
    "synchronous FedAvg": {"kind": "fedavg_sync"},
    "asynchronous, time-based": {"kind": "fedavg_async"},
    "asynchronous, identical": {"kind": "fedavg_async", "weights": "identical"},
    "FedFix, dt = 1": {"kind": "fedfix", "dt": 1},
    "FedFix, dt = 2": {"kind": "fedfix", "dt": 2},
    "FedBuff, m = 2": {"kind": "fedbuff", "m": 2},
}


def compute() -> dict[str, dict[str, Any]]:
    """By scheme: d_i, q_i and q_i over their sum, as fractions, the window, and the range of q(n)."""
    problem = build_problem(PROBLEM)
    clients, found = clients_of(problem), {}
    for name, spec in SCHEMES.items():
        expected = expected_weights(build_method({**spec, "K": 1, "eta_l": "1/100", "times": list(TIMES)}), clients)
        assert expected is not None
        mean = [expected.mean.get(i, Fraction(0)) for i in range(len(TIMES))]
        found[name] = {
            "d": [max(kind.q.get(i, Fraction(0)) for kind in expected.kinds) for i in range(len(TIMES))],
            "q": mean,
            "share": [q / sum(mean, Fraction(0)) for q in mean],
            "total": [pick(kind.total for kind in expected.kinds) for pick in (min, max)],
            "window": expected.window,
        }
    return found


def constants() -> dict[str, dict[str, str]]:
    """Table 2: by scheme and quantity what is printed, what it gives for these clients, and the true value."""
    problem, rows = build_problem(PROBLEM), {}
    for name in ("synchronous FedAvg", "asynchronous, time-based", "FedFix, dt = 1", "FedFix, dt = 2"):
        method = build_method({**SCHEMES[name], "K": 1, "eta_l": "1/100", "times": list(TIMES)})
        for entry in scheme_table(method, problem):
            low, high, exact = ("" if v is None else pretty(v, 4) for v in (entry.low, entry.high, entry.exact))
            gives = low if low == high else f"{low or '...'} to {high or '...'}"
            agrees = "not known" if entry.agrees is None else "yes" if entry.agrees else "no"
            rows[f"{name}: {entry.quantity}"] = {
                "printed": entry.printed,
                "gives": gives,
                "exact": exact,
                "agrees": agrees,
            }
    return rows


def findings(found: Mapping[str, Mapping[str, Any]]) -> dict[str, fd.Decision]:
    """What Sections 2 and 4 say of these weights."""
    importance = [Fraction(1, len(TIMES))] * len(TIMES)
    unbiased = {
        n: found[n]["share"] == importance for n in found if n not in ("asynchronous, identical", "FedBuff, m = 2")
    }
    speeds = [Fraction(1, t) for t in TIMES]
    surrogate = [s / sum(speeds) for s in speeds]
    own = found["asynchronous, identical"]["share"]
    return {
        "unbiased": fd.certain(
            all(unbiased.values()),
            f"q_i over their sum is p_i = 1/3 exactly in {sum(unbiased.values())} of {len(unbiased)}",
        ),
        "by_speed": fd.certain(own == surrogate, f"q_i over their sum: {_many(own)}"),
    }


def _many(values: Sequence[Fraction]) -> str:
    return ", ".join(str(v) for v in values)


CAPTION = (
    f"Clients of update times {', '.join(map(str, TIMES))} and importance p_i = 1/3. d_i: weight of a contribution; "
    f"q_i: mean "
    "of the expected weight q_i(n) over the W rounds of a window; beside it q_i over its sum, and the least and the "
    "largest "
    "q(n), the sum over the clients in one round. Exact, from the schedules; ties one by one. The paper's Table 1 "
    "names these "
    "weights without numbers. FedBuff has no closed form in the paper."
)


CONSTANTS_CAPTION = (
    "Table 2 of the paper for clients of update times 2, 3 and 5 on random quadratics, beside the values that their "
    "schedules "
    "have, exactly. N is the number of rounds in a unit of time, d the largest weight. Where the paper prints an "
    "Omega or an "
    "O its argument is taken as a bound."
)


def main(argv: Sequence[str] | None = None) -> None:
    """Computes and writes picture, Markdown and JSON."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    files.add_folder(parser)
    folder = files.folder_of(parser.parse_args(argv).out, NAME, CONSTANTS)
    found = compute()
    rows = {
        name: {
            "d_i": _many(own["d"]),
            "q_i": _many(own["q"]),
            "q_i over their sum": _many(own["share"]),
            "q(n)": " to ".join(str(v) for v in own["total"]),
            "W": str(own["window"]),
        }
        for name, own in found.items()
    }
    judged = fd.judged("async_fl", "Table 1", findings(found))
    title = "The weights of the clients (Table 1 of the asynchronous paper)"
    written = tables.write(rows, "scheme", title, CAPTION, judged, folder, NAME)
    two = constants()
    wrong = [row for row, cells in two.items() if cells["agrees"] == "no"]
    decision = fd.certain(
        not wrong, f"{len(two) - len(wrong)} of {len(two)} agree" + (f"; not {', '.join(wrong)}" * bool(wrong))
    )
    judged = fd.judged("async_fl", "Table 2", {"formulas": decision})
    title = "The constants of the schemes (Table 2 of the asynchronous paper)"
    for path in [
        *written,
        *tables.write(two, "scheme and constant", title, CONSTANTS_CAPTION, judged, folder, CONSTANTS),
    ]:
        print(path)


if __name__ == "__main__":
    files.start(main)
