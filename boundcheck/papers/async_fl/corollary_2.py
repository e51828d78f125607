"""Corollary 2: for which delays and windows a step size makes the bound of Theorem 3 vanish.

The order is compared with the largest of the terms that its proof lists, at W = N^a, tau = N^b and eta_l = N^(-c).
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

a, b, c = sp.symbols("a b c", real=True)
window, delay, eta = N**a, N**b, N ** (-c)  # the orders of W, tau and eta_l, with the constant 1

theorem = Theorem(
    source=Source(PAPER, "Corollary 2", "Section 3.4, (31)"),
    title="Order in N of the bound of Theorem 3",
    symbols=(
        *NOTATION,
        nonnegative("a", "the window W is of order N^a"),
        nonnegative("b", "the delay tau is of order N^b"),
        Symbol("c", "the local step size is of order N^(-c)", ONE),
    ),
    metric=Metric.formula(ONE, sp.Max(eta * window, 1 / (eta * N), delay * eta, eta)),
    kind=Kind.EQUALITY,
    conditions=(
        Condition("window", a < c),
        Condition("delay", b < c),
        Condition("step", c < 1, "so that a = 1, the window that always exists, is impossible"),
    ),
    best="as_printed",
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading(
            bound=N ** sp.Max(a - c, c - 1, b - c, -c),
            remark="From eta_l W, 1/(eta_l N), tau eta_l and eta_l, as in its proof.",
        ),
        "sharp": Reading(
            metric=Metric.formula(ONE, sp.Max(eta * window, 1 / (eta * N), (delay * eta) ** 2)),
            bound=N ** sp.Max(a - c, c - 1, 2 * (b - c)),
            replaces="tau eta_l by (tau eta_l)^2",
            why="The delay enters Theorem 3 as the square of K et tau; eta_l is at most eta_l W.",
        ),
    },
)
