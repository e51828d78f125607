"""Symbols of the schedule: update times, in units in which they are whole numbers."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._shared import SYMBOLS, count, nonnegative, positive, share
from boundcheck.theory.dimension import VALUE

CLIENT_TIME = positive("tau_i", "update time of the client")
SLOWEST = positive("tau_M", "update time of the slowest client", key="schedule/time_slowest")
FASTEST = positive("tau_0", "update time of the fastest client", key="schedule/time_fastest")
IMPORTANCE = share("p_i", "importance of the client in the federated problem")
RATE_SUM = positive("rate_sum", "sum over the clients of 1/tau_j", key="schedule/time_rates")
REPEAT = count("nu", "least common multiple of the update times", key="schedule/time_lcm", latex=r"\nu")
LENGTH = positive("dt", "time between two aggregations", latex=r"\Delta t", key="method/dt")
TIME = positive("T", "time that the clocks have run")
CLIENTS = count("M", "number of clients", key="clients/n")
LARGEST = share("p_max", "largest importance of a client", key="clients/w_max")
COHORT = count("m", "clients in a round", key="method/size")
WEIGHT = nonnegative("d_i", "aggregation weight of the client", key="participation/weight")
UPDATES = count("updates", "sum of ceil(tau_M/tau_j) over the other clients", 0, key="schedule/updates_of_slowest")
CHANCE = share("chance", "probability that a client arrives within a round", key="participation/chance")
LCM = count("visits_lcm", "least common multiple of the ceil(tau_i/dt)", key="schedule/visits_lcm")
ALONE = nonnegative("F_het", "sum of q_i [L_i(thetabar) - min L_i]", VALUE, key="surrogate/F_het")

tau_i, slowest, fastest, p_i, rate_sum, nu, dt, T, M, p_max, m, d_i, F_het = (
    symbol.expr
    for symbol in (
        *(CLIENT_TIME, SLOWEST, FASTEST, IMPORTANCE, RATE_SUM, REPEAT, LENGTH, TIME),
        *(CLIENTS, LARGEST, COHORT, WEIGHT, ALONE),
    )
)
W = SYMBOLS["W"].expr
VISIT = sp.ceiling(tau_i / dt)  # N'_i: rounds that one update takes in FedFix
OWN = (
    *(CLIENT_TIME, SLOWEST, FASTEST, IMPORTANCE, RATE_SUM, REPEAT, LENGTH, TIME),
    *(CLIENTS, LARGEST, COHORT, WEIGHT, ALONE, UPDATES, CHANCE, LCM),
)
updates, chance = UPDATES.expr, CHANCE.expr
