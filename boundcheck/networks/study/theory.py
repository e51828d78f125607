"""What the theorems' constants are for the runs of a `[[training]]` table that follow surrogate problems.

Y. Fraboni et al., "A General Theory for Federated Optimization with Asynchronous and Heterogeneous Clients Updates",
Theorem 1 and Section 3: a method comes close to the minimum of its surrogate problem, so that the loss of the federated
problem at the surrogate's minimiser is where it stays above the federated minimum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.certified.constant import Constant, Known
from boundcheck.core.numbers import format_short, round_up
from boundcheck.evidence.studies.study import StudyTable
from boundcheck.networks.study.client_losses import Losses, Watched, watch
from boundcheck.networks.study.runs import CaseRuns
from boundcheck.problems.problem import clients_of
from boundcheck.setting.expected_weights import Expected, expected_weights
from boundcheck.setting.setting import describe_constants

if TYPE_CHECKING:
    from boundcheck.networks.study.runs import Ran


# Constants of a method and a problem that are shown if they are known, as they are called in `setting.asynchronous`.
SHOWN: Mapping[str, str] = {
    "local_steps": "K, local steps",
    "rho": "rho, largest q(n), at least 1",
    "q_min": "least q(n)",
    "q_bar": "mean q(n)",
    "alpha": "alpha of Assumption 5",
    "beta": "beta of Assumption 5",
    "tau_delay": "tau, largest delay in rounds",
    "window": "W, window of Assumption 6",
    "chi2": "chi2 between the clients' importances and their weights in the surrogate problem",
    "chi2_max": "largest chi2 of a round",
}
Constants = Mapping[str, Mapping[str, Constant]]  # method -> its constants
CLIENTS = 20  # with more clients none has a row of its own


def surrogate_knowledge(found: Sequence[CaseRuns]) -> dict[str, Constants]:
    """By case, for those whose surrogate problem is looked at: the constants of every method."""
    return {
        case.case.label: {run.label: surrogate_constants(case, run) for run in case.runs}
        for case in found
        if case.watched is not None
    }


def theory_tables(found: Sequence[CaseRuns], known: Mapping[str, Constants]) -> list[StudyTable]:
    """The tables of the constants of surrogate problems (`surrogate_knowledge`)."""
    tables: list[StudyTable] = []
    for case in found:
        if case.case.label in known:
            tables += _surrogate_tables(case, known[case.case.label])
    return tables


def theory_data(known: Mapping[str, Constants]) -> dict[str, Any]:
    """The constants of surrogate problems as data."""
    cases = [
        {
            "case": case,
            "methods": {label: {name: c.to_dict() for name, c in own.items()} for label, own in methods.items()},
        }
        for case, methods in known.items()
    ]
    return {"surrogate": cases} if cases else {}


def _surrogate_tables(case: CaseRuns, constants: Constants) -> list[StudyTable]:
    names = list(dict.fromkeys(name for own in constants.values() for name in own))
    rows = [(SHOWN.get(name, name), *(_cell(constants[run.label].get(name)) for run in case.runs)) for name in names]
    labels = tuple(run.label for run in case.runs)
    suffix = f": {case.case.label}" if case.case.label else ""
    tables = [StudyTable(f"The theorem's constants{suffix}", ("constant", *labels), tuple(rows))]
    if case.problem.clients <= CLIENTS:
        tables.append(_weights_table(case, suffix, labels))
    return tables


def _weights_table(case: CaseRuns, suffix: str, labels: Sequence[str]) -> StudyTable:
    """w_i and each method's share of client i in its surrogate problem."""
    shares = [watch(case.problem, run.method).shares for run in case.runs]
    rows = [
        (str(i), str(clients_of(case.problem).sizes[i]), _number(w), *(_number(own[i]) for own in shares))
        for i, w in enumerate(case.problem.weights)
    ]
    columns = ("client", "samples", "importance p_i", *(f"{label}: weight q_i / sum of q_j" for label in labels))
    return StudyTable(f"The clients in the surrogate problems{suffix}", columns, tuple(rows), tuple(range(4)))


def surrogate_constants(case: CaseRuns, run: Ran) -> dict[str, Constant]:
    """The constants of a run's method, and for a problem with certified minima those about its surrogate problem.

    surrogate_minimum: its least value, from below; excess: F - F* at its minimiser, from above, so that a method that
    reaches the surrogate's minimum stays that far from the federated one; R: the mean over the rounds of L^n at the
    surrogate's minimiser above the least value of L^n (Theorem 1), from above, where every round has one client.
    """
    known = describe_constants(run.method, case.problem)
    found = {name: known[name] for name in SHOWN if name in known}
    if case.watched is not None and isinstance(case.watched.problem, Losses):
        found |= _certified(case.watched.problem, watch(case.problem, run.method), run)
    return found


def _certified(problem: Losses, own: Watched, run: Ran) -> dict[str, Constant]:
    same = own.shares == tuple(problem.weights)
    least = problem.minimum if same else own.surrogate.minimum
    point = least.point
    # within `radius` of the point found lies the minimiser, where F is at most this much larger
    slope = float(np.sqrt(problem.metric_many("grad2", point[None])[0]))
    smooth = float(problem.constants()["L_f"].value)
    above = float(problem.metric_many("gap", point[None])[0]) + slope * least.radius + smooth * least.radius**2 / 2
    if same:
        above = problem.minimum.value - problem.minimum.low
    found = {
        "least value of the surrogate problem": _float(least.low, "lower", "certified minimum"),
        "F - F* at the surrogate's minimiser": _float(above, "upper", "at the certified minimiser and around it"),
        "|x_0 - x|^2 of the surrogate's minimiser x": _float(
            (float(np.linalg.norm(point)) + least.radius) ** 2, "upper", "the start is 0"
        ),
    }
    expected = expected_weights(run.method, clients_of(problem))
    if expected is not None and all(len(kind.q) == 1 for kind in expected.kinds):
        found["R of Theorem 1"] = _float(_residual(problem, expected, point), "upper", "losses at x above their minima")
    return found


def _residual(problem: Losses, expected: Expected, point: Any) -> float:
    """The mean over rounds of q_i(n) (f_i(x) - min f_i), i the one client of the round; min f_i from below."""
    total = 0.0
    for kind in expected.kinds:
        ((i, q),) = kind.q.items()
        value = float(problem.metric_many(f"loss_{i}", point[None])[0])
        total += float(kind.share * q) * (value - problem.least[i])
    return total


def _float(value: float, side: str, how: str) -> Constant:
    """A number in double precision, whose minima are certified and whose own rounding is not bounded."""
    return Constant(round_up(Fraction(value)) if side == "upper" else Fraction(value), Known.ESTIMATED, side, how)


def _cell(constant: Constant | None) -> str:
    if constant is None:
        return "-"
    sign = {"upper": "<= ", "lower": ">= "}.get(constant.side, "")
    return sign + format_short(constant.value, 5)


def _number(value: Fraction) -> str:
    return format_short(value, 4)
