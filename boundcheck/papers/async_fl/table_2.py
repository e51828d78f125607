"""Table 2 and the further schemes of Appendix C: constants of a scheme's schedule, compared without a run.

A column is a scheme, a row one of its constants: the covariance parameters alpha and beta, the largest delay tau, the
window W and the residual R; and the rounds N within a time T. An entry is the constant itself, or a bound of it.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

T, p_max, m, updates, chance, visits_lcm = sp.symbols("T p_max m updates chance visits_lcm", real=True)

TRUE, FALSE, OPEN = Belief.TRUE, Belief.FALSE, Belief.OPEN
AT_MOST = Kind.UPPER_BOUND  # every other entry is the constant itself

# column -> method with its parameters for whose every value the table is printed (constants of the schedule are made of
# them), the scheme's name, where it is printed, assumptions where an entry has no others
CITED = "Appendix C.2, and the paper on client sampling that it cites"
COLUMNS: dict[str, tuple[Algorithm, str, str, tuple[Assumption, ...]]] = {
    "sync": (Algorithm("fedavg_sync", any_value=("K", "times")), "synchronous FedAvg",
             "Section 4, column synchronous FedAvg", ()),
    "async": (Algorithm("fedavg_async", any_value=("K", "times")), "asynchronous FedAvg",
             "Section 4, column asynchronous FedAvg", (fixed_times, one_by_one)),
    "fedfix": (Algorithm("fedfix", any_value=("K", "times", "dt")), "FedFix",
             "Section 4, column FedFix", (fixed_times,)),
    "centralised": (Algorithm("centralised", any_value=("K",)), "centralised learning", "Appendix C.1", ()),
    "uniform": (Algorithm("uniform_sampling", any_value=("K",)), "uniform sampling without replacement", CITED, ()),
    "md": (Algorithm("md_sampling", any_value=("K",)), "sampling with replacement by importance", CITED, ()),
}  # fmt: skip
# row -> what it is, and what is compared
ROWS = {
    "alpha": ("Covariance parameter alpha of {}", Metric.constant("participation/alpha", ONE, "the schedule")),
    "beta": ("Covariance parameter beta of {}", Metric.constant("participation/beta", ONE, "the schedule")),
    "tau": ("Largest delay tau of {}", Metric.constant("schedule/tau", ONE, "the schedule")),
    "window": ("Window W of {}", Metric.constant("schedule/window", ONE, "the schedule")),
    "residual": ("Residual R of {}", Metric.constant("surrogate/R", VALUE, "the schedule")),
    # compared where T is the time of a period
    "rounds": ("Rounds of {} within a time T", Metric.constant("schedule/rounds_in_time", ONE, "the schedule")),
}
# (column, row) -> the readings of the entry
TABLE = {
    ("sync", "alpha"): {
        "as_printed": Reading(
            sp.S.One, TRUE,
            remark="Outside of the open interval (0, 1) of Assumption 5; the proofs need alpha in [0, 1].",
        ),
    },
    ("sync", "beta"): {"as_printed": Reading(sp.S.Zero, TRUE)},
    ("sync", "tau"): {"as_printed": Reading(sp.S.Zero, TRUE)},
    ("sync", "window"): {"as_printed": Reading(sp.S.One, TRUE)},
    ("sync", "residual"): {"as_printed": Reading(sp.S.Zero, TRUE)},
    ("async", "alpha"): {
        "as_printed": Reading(
            sp.S.Zero, OPEN,
            remark="One client a round in a fixed order: E w_i w_j = 0 = q_i q_j, so that every alpha satisfies "
            "Assumption 5; alpha = 1 leaves no variance, alpha = 0 the largest. Outside of its open interval (0, 1).",
        ),
    },
    ("async", "beta"): {
        "corrected": Reading(
            M * p_max * slowest / fastest, TRUE, kind=AT_MOST, assumptions=(fixed_times, one_by_one, time_based),
            replaces="clients of equal importance by any",
            why="max d_i = max p_i tau_i times the sum of 1/tau_j, which is at most M/tau_0.",
        ),
        "as_printed": Reading(
            slowest / fastest, TRUE, kind=AT_MOST, assumptions=(fixed_times, one_by_one, time_based, plain_mean),
            remark="max d_i, which with alpha = 0 is beta, is at most this for p_i = 1/M.",
        ),
    },
    ("async", "tau"): {  # (34)
        "corrected": Reading(
            (M - 1) * sp.ceiling(slowest / fastest), TRUE, kind=AT_MOST,
            replaces="tau_M/tau_0 by the next larger integer",
            why="While the slowest client works, client j delivers at most ceil(tau_M/tau_j) times.",
        ),
        "sharp": Reading(
            updates, TRUE, assumptions=(fixed_times, one_by_one, whole_times, slowest_at_an_end),
            replaces="the order by the exact delay",
            why="The slowest client waits for ceil(tau_M/tau_j) deliveries of every other client j, where clients that "
            "finish together come in one order, the slowest last or first. In the middle of the order the delay can be "
            "less: 4 and not 5 for times 2, 5, 4 in this order.",
        ),
        "as_printed": Reading(
            (M - 1) * slowest / fastest, FALSE, kind=AT_MOST,
            remark="(34) is an order; here with the constant 1. For times 2 and 3 the delay is 2, and 3/2 (2 - 1) is "
            "less.",
        ),
    },
    ("async", "window"): {
        "corrected": Reading(
            M * slowest ** (M - 1), TRUE, kind=AT_MOST, assumptions=(fixed_times, one_by_one, whole_times),
            replaces="the power M by M - 1, as in the text of Section 4.3",
            why="The least common multiple over tau_i is at most the product of the other M - 1 times.",
        ),
        "as_printed": Reading(
            M * slowest**M, TRUE, kind=AT_MOST, assumptions=(fixed_times, one_by_one, whole_times),
            remark="True and loose by a factor tau_M.",
        ),
    },
    ("async", "residual"): {  # (37)
        "as_printed": Reading(
            F_het, TRUE, assumptions=(fixed_times, one_by_one, time_based, own_minimisers),
            remark="With one client a round the minimiser of L^n is the own one of that client.",
        ),
    },
    ("fedfix", "alpha"): {
        "as_printed": Reading(
            sp.S.One, TRUE,
            remark="For fixed update times. Outside of the open interval (0, 1) of Assumption 5.",
        ),
    },
    ("fedfix", "beta"): {
        "corrected": Reading(
            d_i * (1 - chance), TRUE, assumptions=(),
            replaces="beta = 0 for all update times by d (1 - P), P the chance that the client arrives within a round",
            why="Independence of the clients gives alpha = 1 and no more: the variance of a weight is d^2 P (1 - P), "
            "that is q d (1 - P).",
            remark="For clients that are alike; in general beta is the largest d_i (1 - P_i), 0 for fixed times.",
        ),
        "as_printed": Reading(
            sp.S.Zero, FALSE, assumptions=(),
            remark="Right for fixed update times, if the largest d_i - alpha q_i is taken over clients that can take "
            "part. For random ones it is false.",
        ),
    },
    ("fedfix", "tau"): {
        "corrected": Reading(
            sp.ceiling(slowest / dt) - 1, TRUE,
            replaces="ceil(tau_M/dt) by one less",
            why="A contribution that arrives in the round in which its model was sent out has the delay 0.",
        ),
        "as_printed": Reading(
            sp.floor(slowest / fastest), FALSE, kind=AT_MOST,
            remark="The upper end in Table 2. It does not depend on dt: for times 2, 3, 5 and dt = 1 it is 2, but the "
            "delay 4.",
        ),
        "as_printed_text": Reading(sp.ceiling(slowest / dt), FALSE, remark="Section 4.4; one too many."),
    },
    ("fedfix", "window"): {
        "corrected": Reading(
            sp.ceiling(slowest / dt) ** M, TRUE, kind=AT_MOST,
            replaces="tau_0 by dt, and the factor M by 1",
            why="The window is the least common multiple of the ceil(tau_i/dt), at most their product.",
        ),
        "sharp": Reading(
            visits_lcm, TRUE,
            replaces="the bound by the window itself",
            why="The schedule repeats after the least common multiple of the ceil(tau_i/dt) rounds.",
        ),
        "as_printed": Reading(
            M * sp.ceiling(slowest / fastest) ** M, FALSE, kind=AT_MOST,
            remark="Meant for dt = tau_0: for times 7, 9, 10 and dt = 1 it is 24, but the window 630.",
        ),
    },
    ("fedfix", "residual"): {  # (41)
        "as_printed": Reading(F_het, TRUE, kind=AT_MOST, assumptions=(fixed_times, time_based, own_minimisers))
    },
    ("centralised", "alpha"): {"as_printed": Reading(sp.S.One, TRUE)},
    ("centralised", "beta"): {"as_printed": Reading(sp.S.Zero, TRUE)},
    ("centralised", "tau"): {
        "corrected": Reading(
            sp.S.Zero, TRUE,
            replaces="1 by 0",
            why="The only client starts every round from the newest model.",
        ),
        "as_printed": Reading(sp.S.One, FALSE, remark="It only makes the allowed step smaller."),
    },
    ("uniform", "alpha"): {
        "as_printed": Reading(
            M * (m - 1) / (m * (M - 1)), TRUE, domain=(m <= M, M >= 2),
            remark="Increasing in m, not proportional to it as Appendix C.2 says; M is 2 at least.",
        ),
    },
    ("uniform", "beta"): {
        "as_printed": Reading(
            p_max * (M / m - M * (m - 1) / (m * (M - 1))), TRUE, domain=(m <= M, M >= 2), assumptions=(time_based,),
        ),
    },
    ("md", "alpha"): {"as_printed": Reading(1 - 1 / m, TRUE)},
    ("md", "beta"): {
        "as_printed": Reading(
            1 / m, TRUE,
            remark="gamma_i is q_i/m exactly. The formula max d_i - alpha q_i does not apply, since the weight of a "
            "client has more than two values.",
        ),
    },
    ("sync", "rounds"): {"as_printed": Reading(T / slowest, TRUE, assumptions=(fixed_times,))},
    ("async", "rounds"): {  # (39)
        "as_printed": Reading(
            T * rate_sum, TRUE,
            remark="For clients that finish together as rounds of their own, and T a multiple of all update times.",
        ),
    },
    ("fedfix", "rounds"): {"as_printed": Reading(T / dt, TRUE, assumptions=())},
}  # fmt: skip
RESIDUAL = nonnegative("F_het", "sum of q_i [L_i(thetabar) - min L_i]", VALUE, key="surrogate/F_het")

theorems = {
    f"table_2_{column}_{row}": Theorem(
        source=Source(PAPER, "Table 2", f"{where}, row N" if row == "rounds" else where),
        title=title.format(scheme),
        symbols=(*NOTATION, RESIDUAL),
        metric=metric,
        kind=Kind.EQUALITY,
        algorithm=algorithm,
        assumptions=assumptions,
        readings=readings,
    )
    for (column, row), readings in TABLE.items()
    for algorithm, scheme, where, assumptions in (COLUMNS[column],)
    for title, metric in (ROWS[row],)
}
