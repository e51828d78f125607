"""Examples 1 and 2: clients |theta - theta_i*|^2/2 who take turns, each on the model that it received last.

K full gradient steps move a client from theta to theta + phi (theta_i* - theta) with phi = 1 - (1 - eta_l)^K.
"""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import SYMBOLS, K, count, eta_g, eta_l, positive
from boundcheck.theory.dimension import LENGTH, ONE
from boundcheck.theory.symbols import Symbol

STEP = SYMBOLS["eta_l"].but(dimension=ONE, meaning="local step size; L = 1")
PHI = Symbol("phi", "share phi of the way to its minimiser that a client goes, 1 - (1 - eta_l)^K", ONE, latex=r"\phi")
OPTIMUM = Symbol("theta_opt", "minimiser of the federated problem", LENGTH, latex=r"\theta^*")
OLD = Symbol("theta_n", "model theta^n", LENGTH)
NEW = Symbol("theta_n1", "model theta^(n+1)", LENGTH)
FIRST = positive("q_1", "weight of client 1, in even rounds", key="participation/q_1")
SECOND = positive("q_2", "weight of client 2, in odd rounds", key="participation/q_2")
ONE_END = Symbol("theta_1", "minimiser of client 1", LENGTH, key="participation/theta_1")
OTHER_END = Symbol("theta_2", "minimiser of client 2", LENGTH, key="participation/theta_2")
PAIRS = count("j", "finished pairs of rounds", 0, index=True)
ROUNDS = count("n", "rounds", 0, index=True)

factor = 1 - (1 - eta_l) ** K
moved = eta_g * factor  # of the way, with the server's step
