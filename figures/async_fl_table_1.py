"""Table 1 of the asynchronous paper with numbers: the weights of three clients under six schemes.

The table names the weights: importance p_i, aggregation weight d_i(n), its expectation q_i(n), the same over its sum,
and q_i, its mean over the rounds of a window. Here they are computed for clients of update times 2, 3 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import _findings as fd
import _study as s

from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of
from boundcheck.setting.expected_weights import expected_weights

TIMES = [2, 3, 5]
PROBLEM = {"kind": "random_quadratics", "clients": len(TIMES), "d": 2, "seed": 1}
SCHEMES: Mapping[str, Mapping[str, Any]] = {
    "synchronous FedAvg": {"kind": "fedavg_sync"},
    "asynchronous, time-based": {"kind": "fedavg_async"},
    "asynchronous, identical": {"kind": "fedavg_async", "weights": "identical"},
    "FedFix, dt = 1": {"kind": "fedfix", "dt": 1},
    "FedFix, dt = 2": {"kind": "fedfix", "dt": 2},
    "FedBuff, m = 2": {"kind": "fedbuff", "m": 2},
}
CAPTION = (
    f"Clients of update times {', '.join(map(str, TIMES))} and importance p_i = 1/3. d_i: weight of a contribution; "
    "q_i: mean of the expected weight q_i(n) over the W rounds of a window; beside it q_i over its sum, and the least "
    "and the largest q(n), the sum over the clients in one round. Exact, from the schedules; ties one by one. The "
    "paper's Table 1 names these weights without numbers. FedBuff has no closed form in the paper."
)


def method(scheme: str) -> dict[str, Any]:
    """The specification of a scheme for the three clients."""
    return {**SCHEMES[scheme], "K": 1, "eta_l": "1/100", "times": TIMES}


def compute() -> dict[str, dict[str, Any]]:
    """By scheme: d_i, q_i and q_i over their sum, as fractions, the window, and the range of q(n)."""
    clients, found = clients_of(build_problem(PROBLEM)), {}
    for name in SCHEMES:
        expected = expected_weights(build_method(method(name)), clients)
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


def findings(found: Mapping[str, Mapping[str, Any]]) -> dict[str, fd.Decision]:
    """What Sections 2 and 4 say of these weights."""
    biased = ("asynchronous, identical", "FedBuff, m = 2")
    unbiased = [found[n]["share"] == [Fraction(1, len(TIMES))] * len(TIMES) for n in found if n not in biased]
    speeds = [Fraction(1, t) for t in TIMES]
    own = found["asynchronous, identical"]["share"]
    return {
        "unbiased": fd.certain(
            all(unbiased), f"q_i over their sum is p_i = 1/3 exactly in {sum(unbiased)} of {len(unbiased)}"
        ),
        "by_speed": fd.certain(own == [v / sum(speeds) for v in speeds], f"q_i over their sum: {many(own)}"),
    }


def many(values: Sequence[Fraction]) -> str:
    """Fractions side by side."""
    return ", ".join(map(str, values))


def make() -> s.Made:
    """The table."""
    found = compute()
    rows = {
        name: {
            "d_i": many(own["d"]),
            "q_i": many(own["q"]),
            "q_i over their sum": many(own["share"]),
            "q(n)": " to ".join(map(str, own["total"])),
            "W": str(own["window"]),
        }
        for name, own in found.items()
    }
    title = "The weights of the clients (Table 1 of the asynchronous paper)"
    return s.Made(s.study(title, CAPTION, tables=s.table("scheme", rows)), findings(found))


main = s.script(make)

if __name__ == "__main__":
    s.start(main)
