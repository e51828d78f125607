"""The quantities of one round in the asynchronous paper's lemmas (Sections 2 and 3, Appendices A.2 and B).

x is the server's point theta^n, w_i the weight of client i in round n (0 where it is not in the cohort), q_i = E w_i,
q(n) their sum, qt_i = q_i/q(n), L^n = sum of q_i f_i, thetabar the minimiser of the mean of the L^n over a period,
y_i^k client i's point before local step k, counted from 0, g_i its stochastic gradient. The virtual models (7) are

    theta^{n,k} = x + eta_g sum over S_n of w_i (y_i^k - y_i^0),  k = 0..K-1,  so that theta^{n,0} = x.

The randomness of the round itself is in the expectation. Of several minimisers the one nearest to the start is taken.
In a round without expected weight all are 0 but virtual_gap and virtual_grad2, which are those of x.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from boundcheck.errors import Unsupported
from boundcheck.setting.expected_weights import expected_weights
from boundcheck.setting.quantities import Formula, Quantity


def _full(name: str, meaning: str, formula: Formula, *, signed: bool = False) -> Quantity:
    """A quantity that is 0 in a round without expected weight."""
    return Quantity(name, meaning, lambda r: formula(r) if r.total else r.number(Fraction(0)), signed=signed)


def _compared(r: Any) -> Any:
    """thetabar."""
    expected = expected_weights(r.method, r.clients)
    if expected is None:
        raise Unsupported(f"{r.method.name} is no method of Algorithm 1, so that it has no surrogate problem.")
    return r.minimiser(r.mixture(expected.mean))


def _over_steps(r: Any, value: Callable[[int], Any]) -> Any:
    """The mean over k."""
    return r.sum(value(k) * Fraction(1, r.steps) for k in range(r.steps))


def _virtual(r: Any, k: int) -> Any:
    """theta^{n,k}."""
    return r.before + r.cohort_sum(lambda m: m.point(k) - m.point(0)) * r.method.server.factor


def _virtual_round_gap(r: Any) -> Any:
    return _over_steps(r, lambda k: r.excess(r.round_objective, _virtual(r, k)))


def _least(r: Any) -> Any:
    """The minimiser of L^n."""
    return r.minimiser(r.round_objective)


def _noise(r: Any, power: int) -> Any:
    own = {m.client: m for m in r.members}
    return r.sum(r.noisy_gradient2(own[i], _least(r)) * (q / r.total) ** power for i, q in r.expected.items())


def _absent(r: Any) -> Any:
    kinds = r.data_kinds
    absent = [j for j in range(len(kinds.shares)) if j not in kinds.weigh(r.expected)]
    return r.sum(r.excess(r.mixture({kinds.of.index(j): Fraction(1)}), r.before) * kinds.shares[j] for j in absent)


def _distance2(r: Any, model: Callable[[int], Any]) -> Any:
    def at(k: int, x: Any) -> Any:
        return r.sum(r.square(m.point(k) - x) * (m.q / r.total) for m in r.members)

    return _over_steps(r, lambda k: at(k, model(k)))


def _gradient(r: Any, k: int) -> Any:
    """sum of q_i g_i(y_i^k)."""
    return r.sum(m.gradient(k) * m.q for m in r.members)


def _mean_gradient(r: Any) -> Any:
    return r.sum(m.mean_gradient * m.q for m in r.members)


# fmt: off
quantities = (
    Quantity("round_gap", "L^n(x) - min L^n, L^n = sum of q_i f_i with the expected aggregation weights q_i of round "
             "n; 0 in an empty round", lambda r: r.excess(r.round_objective, r.before)),
    Quantity("virtual_round_gap", "the same at the virtual models (7) of the asynchronous paper, mean over the local "
             "steps", _virtual_round_gap),
    Quantity("virtual_gap", "F - min F at the virtual models, likewise",
             lambda r: _over_steps(r, lambda k: r.excess(r.objective, _virtual(r, k)))),
    Quantity("virtual_grad2", "squared norm of grad F at the virtual models, likewise",
             lambda r: _over_steps(r, lambda k: r.grad2(r.objective, _virtual(r, k)))),
    _full("movement2", "squared distance that the server's point moves in the round that begins",
          lambda r: r.square(r.after - r.before)),
    _full("dist2_change", "change of |x - thetabar|^2 in that round, thetabar the minimiser of the surrogate problem; "
          "can be negative",
          lambda r: r.square(r.after - _compared(r)) - r.square(r.before - _compared(r)), signed=True),
    _full("round_difference", "L^n(x) - L^n(thetabar); can be negative",
          lambda r: r.excess(r.round_objective, r.before) - r.excess(r.round_objective, _compared(r)), signed=True),
    _full("virtual_difference", "the same at the virtual models, mean over the local steps; can be negative",
          lambda r: _virtual_round_gap(r) - r.excess(r.round_objective, _compared(r)), signed=True),
    _full("round_weight", "q(n), the sum of the expected weights of round n; 0 in an empty round, as all that follow",
          lambda r: r.number(r.total)),
    _full("round_noise", "sum of qt_i |g_i|^2 at the minimiser of L^n; qt_i = q_i/q(n), g_i a stochastic gradient of "
          "client i", lambda r: _noise(r, 1)),
    _full("round_noise2", "the same with qt_i^2", lambda r: _noise(r, 2)),
    _full("round_chi2", "chi-square distance of the shares in F to those in round n, over the kinds of data in it",
          lambda r: r.number(r.data_kinds.chi_square(r.expected))),
    _full("round_spread", "min L^n less the weighted minima of its clients",
          lambda r: r.sum(r.excess(r.mixture({i: Fraction(1)}), _least(r)) * q for i, q in r.expected.items())),
    _full("absent_gap", "sum of r_j [F_j(x) - min F_j] over the kinds of data outside round n, r_j their shares in F",
          _absent),
    _full("work_distance2", "mean over the local steps of sum of qt_i |y_i^k - x|^2, y_i^k the local points",
          lambda r: _distance2(r, lambda k: r.before)),
    _full("virtual_distance2", "the same with the virtual model in the place of x",
          lambda r: _distance2(r, lambda k: _virtual(r, k))),
    _full("work_grad2", "mean over the local steps of sum of qt_i |g_i(y_i^k)|^2",
          lambda r: _over_steps(r, lambda k: r.sum(r.square(m.gradient(k)) * (m.q / r.total) for m in r.members))),
    _full("work_mean_grad2", "|sum of qt_i G_i|^2, G_i the mean over the local steps of g_i(y_i^k)",
          lambda r: r.square(_mean_gradient(r)) * (1 / r.total**2)),
    _full("virtual_mean_grad2", "mean over the local steps of |sum of qt_i g_i(y_i^k)|^2",
          lambda r: _over_steps(r, lambda k: r.square(_gradient(r, k)) * (1 / r.total**2))),
    _full("work_inner", "mean over the local steps of the inner product of sum of q_i g_i(y_i^k) with x - thetabar; "
          "can be negative", lambda r: r.inner(_mean_gradient(r), r.before - _compared(r)), signed=True),
    _full("virtual_inner", "the same with the virtual model in the place of x; can be negative",
          lambda r: _over_steps(r, lambda k: r.inner(_gradient(r, k), _virtual(r, k) - _compared(r))), signed=True),
)
