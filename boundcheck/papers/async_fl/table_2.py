"""Table 2 and the further schemes of Appendix C: constants of a scheme's schedule, compared without a run.

A column is a scheme, a row one of its constants: the covariance parameters alpha and beta, the largest delay tau, the
window W, the residual R, and the rounds N within a time T. An entry is the constant itself, or a bound of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from boundcheck.papers.async_fl.definitions import (
    NOTATION,
    PAPER,
    F_het,
    M,
    d_i,
    dt,
    fastest,
    nonnegative,
    rate_sum,
    slowest,
)
from boundcheck.theory.assumptions import (
    Assumption,
    fixed_times,
    one_by_one,
    own_minimisers,
    plain_mean,
    slowest_at_an_end,
    time_based,
    whole_times,
)
from boundcheck.theory.dimension import ONE, VALUE
from boundcheck.theory.statement import Algorithm, Belief, Kind, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

T, p_max, m, updates, chance, visits_lcm = sp.symbols("T p_max m updates chance visits_lcm", real=True)
SYMBOLS = (
    *NOTATION,
    nonnegative("F_het", "sum of q_i [L_i(thetabar) - min L_i]", VALUE, key="surrogate/F_het"),
)

TRUE, FALSE, OPEN = Belief.TRUE, Belief.FALSE, Belief.OPEN
EXACTLY, AT_MOST = Kind.EQUALITY, Kind.UPPER_BOUND

# column -> kind of the method, its name, where it is printed
COLUMNS = {
    "sync": ("fedavg_sync", "synchronous FedAvg", "Section 4, column synchronous FedAvg"),
    "async": ("fedavg_async", "asynchronous FedAvg", "Section 4, column asynchronous FedAvg"),
    "fedfix": ("fedfix", "FedFix", "Section 4, column FedFix"),
    "centralised": ("centralised", "centralised learning", "Appendix C.1"),
    "uniform": (
        "uniform_sampling",
        "uniform sampling without replacement",
        "Appendix C.2, and the paper on client sampling that it cites",
    ),
    "md": (
        "md_sampling",
        "sampling with replacement by importance",
        "Appendix C.2, and the paper on client sampling that it cites",
    ),
}
# row -> what it is, key of the constant, dimension; rounds have no constant
ROWS = {
    "alpha": ("Covariance parameter alpha", "participation/alpha", ONE),
    "beta": ("Covariance parameter beta", "participation/beta", ONE),
    "tau": ("Largest delay tau", "schedule/tau", ONE),
    "window": ("Window W", "schedule/window", ONE),
    "residual": ("Residual R", "surrogate/R", VALUE),
    "rounds": ("Rounds", "", ONE),
}


@dataclass(frozen=True)
class Entry:
    """One entry of the table. kind: of the claim, in all readings but those that have their own."""

    column: str
    row: str
    readings: Mapping[str, Reading]
    assumptions: tuple[Assumption, ...] = ()
    kind: Kind = EXACTLY
    domain: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """The name of the statement."""
        return f"table_2_{self.column}_{self.row}"

    @property
    def theorem(self) -> Theorem:
        """The entry as a claim about the constant of the scheme, or as a formula where it is no constant."""
        method, scheme, where = COLUMNS[self.column]
        what, key, dimension = ROWS[self.row]
        if not key:
            return Theorem(
                source=Source(PAPER, "Table 2", f"{where}, row N"),
                title=f"{what} of {scheme} within a time T",
                symbols=SYMBOLS,
                metric=Metric("none", dimension),
                kind=Kind.FORMULA,
                assumptions=self.assumptions,
                readings=self.readings,
            )
        return Theorem(
            source=Source(PAPER, "Table 2", where),
            title=f"{what} of {scheme}",
            symbols=SYMBOLS,
            metric=Metric(f"constant:{key}", dimension, expectation="none: a constant of the schedule"),
            kind=self.kind,
            algorithm=Algorithm(method),
            assumptions=self.assumptions,
            domain=self.domain,
            readings=self.readings,
        )


SYNCHRONOUS = (
    Entry(
        "sync",
        "alpha",
        {
            "as_printed": Reading(
                sp.S.One,
                TRUE,
                remark="Outside of the open interval (0, 1) of Assumption 5; the proofs need alpha in [0, 1].",
            ),
        },
    ),
    Entry("sync", "beta", {"as_printed": Reading(sp.S.Zero, TRUE)}),
    Entry("sync", "tau", {"as_printed": Reading(sp.S.Zero, TRUE)}),
    Entry("sync", "window", {"as_printed": Reading(sp.S.One, TRUE)}),
    Entry("sync", "residual", {"as_printed": Reading(sp.S.Zero, TRUE)}),
    Entry("sync", "rounds", {"as_printed": Reading(T / slowest, TRUE)}, (fixed_times,)),
)

ASYNCHRONOUS = (
    Entry(
        "async",
        "alpha",
        {
            "as_printed": Reading(
                sp.S.Zero,
                OPEN,
                remark="One client a round in a fixed order: E w_i w_j = 0 = q_i q_j, so that every alpha satisfies "
                "Assumption 5; alpha = 1 leaves no variance, alpha = 0 the largest. Outside of its open interval "
                "(0, 1).",
            ),
        },
        (fixed_times, one_by_one),
    ),
    Entry(
        "async",
        "beta",
        {
            "corrected": Reading(
                M * p_max * slowest / fastest,
                TRUE,
                replaces="clients of equal importance by any",
                why="max d_i = max p_i tau_i times the sum of 1/tau_j, which is at most M/tau_0.",
            ),
            "as_printed": Reading(
                slowest / fastest,
                TRUE,
                assumptions=(fixed_times, one_by_one, time_based, plain_mean),
                remark="max d_i, which with alpha = 0 is beta, is at most this for p_i = 1/M.",
            ),
        },
        (fixed_times, one_by_one, time_based),
        kind=AT_MOST,
    ),
    Entry(  # (34)
        "async",
        "tau",
        {
            "corrected": Reading(
                (M - 1) * sp.ceiling(slowest / fastest),
                TRUE,
                kind=AT_MOST,
                replaces="tau_M/tau_0 by the next larger integer",
                why="While the slowest client works, client j delivers at most ceil(tau_M/tau_j) times.",
            ),
            "sharp": Reading(
                updates,
                TRUE,
                assumptions=(fixed_times, one_by_one, whole_times, slowest_at_an_end),
                replaces="the order by the exact delay",
                why="The slowest client waits for ceil(tau_M/tau_j) deliveries of every other client j, where clients "
                "that finish together come in one order, the slowest last or first. In the middle of the order the "
                "delay can be less: 4 and not 5 for times 2, 5, 4 in this order.",
            ),
            "as_printed": Reading(
                (M - 1) * slowest / fastest,
                FALSE,
                kind=AT_MOST,
                remark="(34) is an order; here with the constant 1. For times 2 and 3 the delay is 2, and 3/2 (2 - 1) "
                "is less.",
            ),
        },
        (fixed_times, one_by_one),
    ),
    Entry(
        "async",
        "window",
        {
            "corrected": Reading(
                M * slowest ** (M - 1),
                TRUE,
                replaces="the power M by M - 1, as in the text of Section 4.3",
                why="The least common multiple over tau_i is at most the product of the other M - 1 times.",
            ),
            "as_printed": Reading(M * slowest**M, TRUE, remark="True and loose by a factor tau_M."),
        },
        (fixed_times, one_by_one, whole_times),
        kind=AT_MOST,
    ),
    Entry(  # (37)
        "async",
        "residual",
        {
            "as_printed": Reading(
                F_het,
                TRUE,
                remark="With one client a round the minimiser of L^n is the own one of that client.",
            ),
        },
        (fixed_times, one_by_one, time_based, own_minimisers),
    ),
    Entry(  # (39)
        "async",
        "rounds",
        {
            "as_printed": Reading(
                T * rate_sum,
                TRUE,
                remark="For clients that finish together as rounds of their own, and T a multiple of all update times.",
            ),
        },
        (fixed_times, one_by_one),
    ),
)

FEDFIX = (
    Entry(
        "fedfix",
        "alpha",
        {
            "as_printed": Reading(
                sp.S.One,
                TRUE,
                remark="For fixed update times. Outside of the open interval (0, 1) of Assumption 5.",
            ),
        },
        (fixed_times,),
    ),
    Entry(
        "fedfix",
        "beta",
        {
            "corrected": Reading(
                d_i * (1 - chance),
                TRUE,
                replaces="beta = 0 for all update times by d (1 - P), P the chance that the client arrives within a "
                "round",
                why="Independence of the clients gives alpha = 1 and no more: the variance of a weight is d^2 P "
                "(1 - P), that is q d (1 - P).",
                remark="For clients that are alike; in general beta is the largest d_i (1 - P_i), 0 for fixed times.",
            ),
            "as_printed": Reading(
                sp.S.Zero,
                FALSE,
                remark="Right for fixed update times, if the largest d_i - alpha q_i is taken over clients that can "
                "take part. For random ones it is false.",
            ),
        },
    ),
    Entry(
        "fedfix",
        "tau",
        {
            "corrected": Reading(
                sp.ceiling(slowest / dt) - 1,
                TRUE,
                replaces="ceil(tau_M/dt) by one less",
                why="A contribution that arrives in the round in which its model was sent out has the delay 0.",
            ),
            "as_printed": Reading(
                sp.floor(slowest / fastest),
                FALSE,
                kind=AT_MOST,
                remark="The upper end in Table 2. It does not depend on dt: for times 2, 3, 5 and dt = 1 it is 2, but "
                "the delay 4.",
            ),
            "as_printed_text": Reading(sp.ceiling(slowest / dt), FALSE, remark="Section 4.4; one too many."),
        },
        (fixed_times,),
    ),
    Entry(
        "fedfix",
        "window",
        {
            "corrected": Reading(
                sp.ceiling(slowest / dt) ** M,
                TRUE,
                kind=AT_MOST,
                replaces="tau_0 by dt, and the factor M by 1",
                why="The window is the least common multiple of the ceil(tau_i/dt), at most their product.",
            ),
            "sharp": Reading(
                visits_lcm,
                TRUE,
                replaces="the bound by the window itself",
                why="The schedule repeats after the least common multiple of the ceil(tau_i/dt) rounds.",
            ),
            "as_printed": Reading(
                M * sp.ceiling(slowest / fastest) ** M,
                FALSE,
                kind=AT_MOST,
                remark="Meant for dt = tau_0: for times 7, 9, 10 and dt = 1 it is 24, but the window 630.",
            ),
        },
        (fixed_times,),
    ),
    Entry(  # (41)
        "fedfix",
        "residual",
        {"as_printed": Reading(F_het, TRUE)},
        (fixed_times, time_based, own_minimisers),
        kind=AT_MOST,
    ),
    Entry("fedfix", "rounds", {"as_printed": Reading(T / dt, TRUE)}),
)

CENTRALISED = (
    Entry("centralised", "alpha", {"as_printed": Reading(sp.S.One, TRUE)}),
    Entry("centralised", "beta", {"as_printed": Reading(sp.S.Zero, TRUE)}),
    Entry(
        "centralised",
        "tau",
        {
            "corrected": Reading(
                sp.S.Zero,
                TRUE,
                replaces="1 by 0",
                why="The only client starts every round from the newest model.",
            ),
            "as_printed": Reading(sp.S.One, FALSE, remark="It only makes the allowed step smaller."),
        },
    ),
)

SAMPLED = (
    Entry(
        "uniform",
        "alpha",
        {
            "as_printed": Reading(
                M * (m - 1) / (m * (M - 1)),
                TRUE,
                remark="Increasing in m, not proportional to it as Appendix C.2 says; M is 2 at least.",
            ),
        },
        domain=(m <= M, M >= 2),
    ),
    Entry(
        "uniform",
        "beta",
        {"as_printed": Reading(p_max * (M / m - M * (m - 1) / (m * (M - 1))), TRUE)},
        (time_based,),
        domain=(m <= M, M >= 2),
    ),
    Entry("md", "alpha", {"as_printed": Reading(1 - 1 / m, TRUE)}),
    Entry(
        "md",
        "beta",
        {
            "as_printed": Reading(
                1 / m,
                TRUE,
                remark="gamma_i is q_i/m exactly. The formula max d_i - alpha q_i does not apply, since the weight of "
                "a client has more than two values.",
            ),
        },
    ),
)

TABLE = (*SYNCHRONOUS, *ASYNCHRONOUS, *FEDFIX, *CENTRALISED, *SAMPLED)
theorems = {entry.name: entry.theorem for entry in TABLE}
