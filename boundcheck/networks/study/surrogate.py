"""The surrogate problem that an asynchronous method follows: its losses along a run, and the theorem's constants.

Y. Fraboni et al., "A General Theory for Federated Optimization with Asynchronous and Heterogeneous Clients Updates",
(10): these methods minimise sum of u_i f_i with u_i = q_i / sum of q_j, q_i the mean aggregation weight of client i; it
is the federated problem if u = w. By Theorem 1 they come close to its minimum, so that the federated loss at the
surrogate's minimiser is where they stay above the federated minimum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from boundcheck.certified.constant import Constant, Known
from boundcheck.core.numbers import format_short, round_up
from boundcheck.errors import Unsupported
from boundcheck.problems._classifier import Classifier
from boundcheck.problems._client_losses import LOSS, Losses, under_weights
from boundcheck.problems.problem import clients_of
from boundcheck.setting.expected_weights import expected_weights
from boundcheck.setting.setting import describe_constants

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

Array = NDArray[np.float64]
# Metrics that follow from the clients' losses along a run; surrogate_gap is above the certified least value.
METRICS = ("f", "spread", "surrogate_f", "surrogate_spread", "surrogate_gap")
# Constants of a method on a problem that are shown, see `papers.async_fl.theories`.
SHOWN = ("local_steps", "rho", "q_min", "q_bar", "alpha", "beta", "tau_delay", "window", "chi2", "chi2_max")
SHOWN_OF_MINIMA = ("R_loss", "dist2_surrogate_0")
SHARES = 20  # clients whose weights are shown


def weights(problem: Problem, method: Method) -> tuple[Fraction, ...]:
    """u_i of a method, summing to 1. Raises Unsupported if its mean aggregation weights are not known."""
    expected = expected_weights(method, clients_of(problem))
    if expected is None or not expected.mean:
        why = "are not known, nor is its surrogate problem."
        raise Unsupported(f"the mean aggregation weights of '{method.name}' {why}")
    total = sum(expected.mean.values(), Fraction(0))
    return tuple(expected.mean.get(i, Fraction(0)) / total for i in range(problem.clients))


def watched(problem: Problem, names: Sequence[str]) -> tuple[Problem, list[str]]:
    """What to run on and the metrics to record, so that `complete` gives the metrics `names`."""
    own = [*(n for n in names if n not in METRICS), *(f"{LOSS}{i}" for i in range(problem.clients))]
    return Losses.of(problem) if isinstance(problem, Classifier) else problem, own


def complete(
    problem: Problem, u: Sequence[Fraction], samples: Mapping[str, Array], names: Sequence[str]
) -> dict[str, Array]:
    """The metrics `METRICS` from the clients' losses along a run, each (S, G); surrogate_gap if it is among `names`."""
    each = np.stack([samples[f"{LOSS}{i}"] for i in range(problem.clients)], axis=2)
    found: dict[str, Array] = {}
    for own, prefix in ((problem.weights, ""), (u, "surrogate_")):
        share = np.array([float(w) for w in own])
        with np.errstate(invalid="ignore", over="ignore"):
            mean = found[f"{prefix}f"] = each @ share
            found[f"{prefix}spread"] = np.sqrt((each - mean[:, :, None]) ** 2 @ share)
    if "surrogate_gap" in names:
        found["surrogate_gap"] = found["surrogate_f"] - under_weights(problem, u).minimum.low
    return found


def constants(problem: Problem, method: Method) -> dict[str, Constant]:
    """The theorem's constants of a method, and for a classifier those about the minimum of its surrogate problem.

    excess: F - F* at the surrogate's minimiser, from above: a method that gets there stays that far from the federated
    minimum.
    """
    known, u, w = describe_constants(method, problem), weights(problem, method), tuple(problem.weights)
    names = (*SHOWN, *(SHOWN_OF_MINIMA if isinstance(problem, Classifier) else ()))
    found = {name: known[name] for name in names if name in known}
    for i in range(min(len(u), SHARES)):
        found[f"u_{i} (w_{i} = {format_short(w[i], 4)})"] = Constant(u[i], Known.EXACT, "exact", "q_i / sum of q_j")
    if isinstance(problem, Classifier):
        least = problem.minimum if u == w else under_weights(problem, u).minimum
        above = least.value - least.low
        if u != w:  # within `radius` of the point found lies the minimiser, where F is at most this much larger
            slope, gap = (float(problem.metric_many(name, least.point[None])[0]) for name in ("grad2", "gap"))
            above = gap + slope**0.5 * least.radius + float(problem.constants()["L_f"].value) * least.radius**2 / 2
        how = "at the certified minimiser and around it"
        found["excess"] = Constant(round_up(Fraction(above)), Known.ESTIMATED, "upper", how)
    return found
