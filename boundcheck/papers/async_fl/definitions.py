"""Notation of the paper on asynchronous federated learning, and the hypotheses and reasons that its statements share.

Yann Fraboni, Richard Vidal, Laetitia Kameni, Marco Lorenzi, "A General Theory for Federated Optimization with
Asynchronous and Heterogeneous Clients Updates" (the paper of FedFix), its Algorithm 1 and aggregation (6).

Letters as in the paper, with two changes. dist2_0 is the squared distance of the start to the minimiser of the
surrogate problem (10). The paper counts N rounds, here `rounds` = s times the period with the index s, since R, Sigma
and the other means over rounds are those of whole periods of the schedule; the window W can be shorter than that,
because the weights can have their means before the cohorts repeat. In a round in which no client takes part L^n is 0,
and so is every quantity with it: a mean over all rounds is at most the one over the others, so that no such round need
be left out of Theorem 1.

The lemmas of Appendix A use the following quantities. In a printed lemma they are means over k = 0, ..., K - 1 at
the virtual models theta^{n,k} of (7). In a corrected one they are at the real model theta^n, with y_i^k the local
models and gb_i the mean over k of the stochastic gradients g_i(y_i^k):

    D = E<sum q_i gb_i, theta^n - x>,       Z = E L^n(theta^n) - min L^n,         Xi = E L^n(theta^n) - L^n(x),
    R = E|sum qt_i gb_i|^2,                 S = mean over k of sum qt_i E|g_i(y_i^k)|^2,
    phi = mean over k of sum qt_i E|y_i^k - theta^n|^2,                            Q(n) = E|theta^{n+1} - theta^n|^2.

Where the paper says "for any x", x is the minimiser of the surrogate problem, with which Theorem 1 uses the lemmas.
Lemma 7 and (105), which are about any point, are about the points of a run.
"""

from boundcheck.theory.declare import *

PAPER = Paper(
    "A General Theory for Federated Optimization with Asynchronous and Heterogeneous Clients Updates",
    ("Yann Fraboni", "Richard Vidal", "Laetitia Kameni", "Marco Lorenzi"), 2023,
    "Journal of Machine Learning Research 24", "article", arxiv="2206.10189",
)  # fmt: skip


_THEOREMS = (
    common.L.but(key="samples/L", meaning="smoothness constant of the loss of every sample"),
    count("K", "local steps of a client", key="schedule/local_steps"),
    positive("eta_l", "local step size", STEP, r"\eta_l", "method/eta_l"),
    positive("eta_g", "server step size", latex=r"\eta_g", key="method/eta_g"),
    positive("eta_unit", "step size times the root of K N: the step sizes go to 0 in proportion to it", STEP, r"\eta_1",
             free=True),
    count("W", "window: rounds in which the expected weights have their means (Assumption 6)", key="schedule/window"),
    count("period", "rounds after which the cohorts repeat; 1 where they are drawn", latex=r"\varpi",
          key="schedule/period"),
    count("N", "rounds, set beforehand", free=True),
    Symbol("rho", "largest sum q(n) of a round's expected weights, at least 1", ONE, low=Fraction(1), latex=r"\rho",
           key="participation/rho"),
    share("alpha", "E[w_i w_j] is alpha q_i q_j for different clients", latex=r"\alpha", key="participation/alpha"),
    nonnegative("beta", "largest d_i - alpha q_i over the clients that can take part", latex=r"\beta",
                key="participation/beta"),
    count("tau", "largest delay n - rho_i(n) of a contribution, in rounds", 0, key="schedule/tau", latex=r"\tau"),
    nonnegative("R", "mean over the rounds of L^n(thetabar) - min L^n", VALUE, key="surrogate/R"),
    nonnegative("S1", "mean over rounds of the sum of qt_i(n) E|g_i|^2 at the minimiser of L^n", GRADIENT2, "S_1",
                "surrogate/S1"),
    nonnegative("S2", "mean over rounds of the sum of qt_i(n)^2 E|g_i|^2 at the minimiser of L^n", GRADIENT2, "S_2",
                "surrogate/S2"),
    nonnegative("Sigma", "sum of q_i E|g_i|^2 at the minimiser of the surrogate problem (11)", GRADIENT2,
                key="surrogate/Sigma"),
    common.dist2_0.but(key="start/dist2_surrogate", meaning="squared distance of the start to the minimiser of the "
                       "surrogate problem"),
    positive("q_min", "smallest sum q(n) of a round's expected weights, rounds without any left out",
             key="participation/q_min"),
    positive("q_bar", "mean over rounds of the sum q(n) of the expected weights", key="participation/q_bar"),
    positive("q_max", "largest expected weight q_i(n) of a client in a round", key="participation/q_max"),
    nonnegative("B", "bound on the norm of the clients' gradients", GRADIENT2.power(Fraction(1, 2)),
                key="clients/gradient_bound"),
    nonnegative("chi2", "chi-square distance of the shares in F to those in the surrogate problem", latex=r"\chi^2",
                key="surrogate/chi2"),
    nonnegative("chi2_max", "largest chi-square distance chi_n^2 of a round", latex=r"\chi_{\max}^2",
                key="surrogate/chi2_max"),
    nonnegative("P", "mean over rounds of chi_n^2 sum of st_j(n) [F_j(thetabar^n) - F_j*]", VALUE, key="surrogate/P"),
    nonnegative("U", "mean of the sum over absent kinds j of r_j [F_j - F_j*], at the iterates", VALUE,
                key="surrogate/U"),
    nonnegative("F_het", "surrogate minimum less the sum of s_j F_j*", VALUE, key="surrogate/F_het"),
    count("s", "finished periods of the schedule", index=True),
)  # fmt: skip
_SCHEDULES = (  # update times in units in which they are whole numbers
    positive("tau_i", "update time of the client", key="schedule/time_1"),
    positive("tau_M", "update time of the slowest client", key="schedule/time_slowest"),
    positive("tau_0", "update time of the fastest client", key="schedule/time_fastest"),
    share("p_i", "importance of the client in the federated problem", key="clients/w_1"),
    positive("rate_sum", "sum over the clients of 1/tau_j", key="schedule/time_rates", latex=r"(\sum_j \tau_j^{-1})"),
    count("nu", "least common multiple of the update times", key="schedule/time_lcm", latex=r"\nu"),
    positive("dt", "time between two aggregations", latex=r"\Delta t", key="method/dt"),
    positive("T", "time that the clocks have run", key="schedule/period_time"),
    count("M", "number of clients", key="clients/n"),
    share("p_max", "largest importance of a client", key="clients/w_max"),
    count("m", "clients in a round", key="method/size"),
    nonnegative("d_i", "aggregation weight of the client", key="participation/weight"),
    count("updates", "sum of ceil(tau_M/tau_j) over the other clients", 0, key="schedule/updates_of_slowest",
          latex=r"(\sum_j \lceil \tau_M/\tau_j \rceil)"),
    share("chance", "probability that a client arrives within a round", key="participation/chance",
          latex=r"\mathbb{P}(\tau_i \leq \Delta t)"),
    count("visits_lcm", "least common multiple of the ceil(tau_i/dt)", key="schedule/visits_lcm",
          latex=r"\mathrm{lcm}_i \lceil \tau_i/\Delta t \rceil"),
)  # fmt: skip
_LEMMAS = (
    count("n", "round: finished rounds before it", 0, index=True),
    positive("q", "sum q(n) of the expected weights of round n", key="round/weight"),
    Symbol("inner", "D: inner product of the mean step with theta - x", VALUE, key="round/inner", latex="D"),
    nonnegative("Rn", "R: squared norm of the mean stochastic gradient", GRADIENT2, "R_n", "round/mean_grad2"),
    nonnegative("Sn", "S: mean squared norm of the stochastic gradients", GRADIENT2, "S_n", "round/grad2"),
    nonnegative("Qs", "sum of Q(n-1), ..., Q(n-tau): squared movements of the last rounds", LENGTH2,
                r"(\sum_{s=1}^{\tau} Q(n-s))", "round/movements2"),
    nonnegative("Z", "Z: expected gap of L^n", VALUE, key="round/gap"),
    Symbol("Xi", "Xi: expected difference of L^n to L^n(x)", VALUE, key="round/difference"),
    nonnegative("sg1", "sum of qt_i(n) E|g_i|^2 at the minimiser of L^n", GRADIENT2, "S_1(n)", "round/noise"),
    nonnegative("sg2", "sum of qt_i(n)^2 E|g_i|^2 at the minimiser of L^n", GRADIENT2, "S_2(n)", "round/noise2"),
    nonnegative("Z_mean", "mean of Z over the rounds", VALUE, r"\bar{Z}", "round/gap"),
)  # fmt: skip
# of a printed lemma: the same at the virtual models theta^{n,k}
AT_VIRTUAL = (
    Symbol("inner", "D: inner product of the mean step with theta - x", VALUE, key="round/virtual_inner", latex="D"),
    nonnegative("Rn", "R: squared norm of the mean stochastic gradient", GRADIENT2, "R_n", "round/virtual_mean_grad2"),
    nonnegative("Z", "Z: expected gap of L^n", VALUE, key="round/virtual_gap"),
    Symbol("Xi", "Xi: expected difference of L^n to L^n(x)", VALUE, key="round/virtual_difference"),
    nonnegative("Z_mean", "mean of Z over the rounds", VALUE, r"\bar{Z}", "round/virtual_gap"),
)  # fmt: skip
NOTATION = (*_THEOREMS, *_SCHEDULES, *_LEMMAS)
# of Lemma 7 and (105): all in one round n, at the server's point x = theta^n
ONE_ROUND = (
    count("n", "round: finished rounds before it", 0, index=True),
    positive("q", "sum q(n) of the expected weights of the round", key="round/weight"),
    nonnegative("chi2_n", "sum over the kinds j in W_n of (r_j - st_j(n))^2/st_j(n)", latex=r"\chi_n^2",
                key="round/chi2"),
    nonnegative("gap_n", "L^n(x) - min L^n", VALUE, r"(\mathcal{L}^n(x)-\min \mathcal{L}^n)", "round/gap"),
    nonnegative("spread_n", "min L^n less the sum over W_n of s_j(n) F_j*", VALUE,
                r"(\min \mathcal{L}^n-\sum_j s_j F_j^*)", "round/spread"),
    nonnegative("absent", "sum over the kinds j outside W_n of r_j [F_j(x) - F_j*]", VALUE, "u_n", "round/absent_gap"),
)  # fmt: skip
# as printed: smoothness of the clients' objectives, not of their samples
L_OF_CLIENTS = common.L.but(meaning="smoothness constant of every client's objective")
# where alpha <= 1 is one of the conditions, ALPHA
ALPHA_OR_MORE = nonnegative("alpha", "E[w_i w_j] is alpha q_i q_j for different clients", latex=r"\alpha",
                            key="participation/alpha")  # fmt: skip

L, K, eta_l, eta_g, eta_unit, W, period, N = sp.symbols("L K eta_l eta_g eta_unit W period N", real=True)
rho, alpha, beta, tau, R, S1, S2, Sigma = sp.symbols("rho alpha beta tau R S1 S2 Sigma", real=True)
dist2_0, q_min, q_bar, q_max, B = sp.symbols("dist2_0 q_min q_bar q_max B", real=True)
chi2, chi2_max, P, U, F_het, s = sp.symbols("chi2 chi2_max P U F_het s", real=True)
n = sp.Symbol("n", real=True)
tau_i, slowest, fastest, p_i, rate_sum, dt, M, d_i = sp.symbols("tau_i tau_M tau_0 p_i rate_sum dt M d_i", real=True)
q, inner, Rn, Sn, Qs, Z, Xi, sg1, sg2, Z_mean = sp.symbols("q inner Rn Sn Qs Z Xi sg1 sg2 Z_mean", real=True)
chi2_n, gap_n, spread_n, absent = sp.symbols("chi2_n gap_n spread_n absent", real=True)

rounds = s * period  # the paper's N, where it is not set beforehand
et = eta_g * eta_l  # the effective step
h = K * et  # the step of a round
e = eta_l**2 * (K - 1) ** 2
D = 6 * e * L**2

# (14) to (16), the errors of Theorem 1 with constants, in Sigma_1 and Sigma_2 of (94): for whole rounds with the step
# h, as printed with the step et; spread: what the terms with alpha and beta are multiples of
spread_h = h + 16 * rho * L * (h * tau) ** 2
spread_et = et + 16 * rho * L * (h * tau) ** 2
eps_F = dist2_0 / (h * rounds)  # noqa: N816
eps_K = 24 * e * L**2 * R + (12 * rho + 24 * alpha) * e * L * S1  # noqa: N816
eps_alpha = alpha * spread_h * (24 * rho * L * R + 6 * rho**2 * S2 / K)
eps_beta = beta * spread_h * (12 * rho * L * R + 6 * rho**2 * S1)
eps_K_printed = 24 * e * L**2 * R + (6 * rho + 12 * alpha) * e * L * S1  # noqa: N816
eps_alpha_printed = alpha * spread_et * (24 * rho * L * R + 6 * rho**2 * S2)
eps_beta_printed = beta * spread_et * (12 * rho * L * R + 6 * rho**2 * S1)
# of Theorem 3, the cost of a window, with the sum q(n) of the weights that (25) drops
eps_W = q_bar * rho * h * (W - 1) * B**2  # noqa: N816

# Section 4: eta_l in proportion to 1/sqrt(KN), eta_g = 1, and N rounds set beforehand
step = eta_unit / sp.sqrt(K * N)
AT_STEP = {eta_l: step, eta_g: 1, s: N / period}
NO_SERVER_STEP = Condition("server step size", sp.Eq(eta_g, 1))
# R and the other means over rounds are those of whole periods, as in Theorem 1
WHOLE_PERIODS = Condition("whole periods", sp.Eq(sp.floor(N / period), N / period))


def contraction(step: Any) -> Any:
    """c of (92), the share of the mean gap that comes back; step: et as printed, h where it is for whole rounds."""
    return 4 * D + 12 * rho * (2 * alpha + beta) * L * (step + 16 * rho * L * (h * tau) ** 2)


def largest_constraint(step: Any) -> Any:
    """The largest left side of the constraints of Appendix A.5, each scaled so that its right side is 1.

    step: et as printed, h where the proof of Theorem 1 is for whole rounds.
    """
    movement = (h * tau * L) ** 2
    return sp.Max(
        2 * D,
        24 * rho**2 * (alpha + beta) * movement,
        3 * rho * (alpha + beta) * step * L,
        contraction(step),
        3 * rho**2 * step * L,
        48 * rho**3 * movement,
    )


def largest_of_constraints(step: Any) -> Metric:
    """`largest_constraint` as a metric."""
    words = "none: the constraints are about numbers"
    return Metric.formula(ONE, largest_constraint(step), quantity="largest_constraint", expectation=words)


# conditions of Theorem 1, and of what is built on it
STEP_98 = Condition(
    "step size (98)",
    eta_l <= sp.Min(1, 1 / (3 * rho**2 * eta_g * (tau + 1))) / (48 * K * L),
    "small against the local work, the delay and the weights",
)
BETA_9_RHO = Condition(
    "beta", beta <= 9 * rho, "the paper takes beta <= 1 for granted when it simplifies its step conditions"
)
ASSUMPTION_5 = (
    Condition("alpha above 0", alpha > 0, "Assumption 5 to the letter"),
    Condition("alpha below 1", alpha < 1, "Assumption 5 to the letter"),
)
ALPHA = Condition("alpha", alpha <= 1, "the paper notes it of every scheme")
DRIFT = Condition("drift", sp.Le(D, sp.Rational(1, 2)), "Lemma 3")

PRINTED = (smooth_clients, convex_clients, unbiased_gradients, covariance_of_weights)
CORRECTED = (smooth_samples, convex_samples, unbiased_gradients, covariance_of_weights, independent_weights)


OVER = "participation, delays and gradients"  # what expectations are over


def mean_over_rounds(quantity: str, dimension: Dimension, **more: Any) -> Metric:
    """The plain mean of a metric over the paper's N rounds, s periods."""
    return Metric.mean(quantity, dimension, index=s, rounds=rounds, expectation=OVER, **more)


def of_a_round(quantity: str, dimension: Dimension, **more: Any) -> Metric:
    """A quantity of round n, in expectation over everything random up to its end."""
    return Metric.last(quantity, dimension, index=n, expectation=OVER, **more)


# --- reasons ---------------------------------------------------------------------------------------------------

SAMPLES = (
    "Smoothness and convexity are needed of every sample's loss, since the proof uses them for stochastic gradients; "
    "and who takes part must not depend on models and gradients."
)
# of Theorem 1 and what follows from it
WHOLE_ROUNDS_REPLACE = "the virtual models by the real ones, et by K et in the terms with alpha and beta, and constants"
WHOLE_ROUNDS_WHY = (
    "Within a round theta^{n,k} depends on who takes part, so that Lemma 2's cross term does not vanish, and (63) "
    "writes theta^{n,k} with the steps eta_l qt_i where it has eta_g eta_l w_i. Argued for whole rounds the proof is "
    "complete. " + SAMPLES + " beta <= 1 is silently assumed in Appendix A.5; beta <= 9 rho is enough."
)
FALSE_FOR_SEVERAL_STEPS = (
    "Two clients (theta -+ 1)^2/2, one drawn uniformly each round, with full gradients and K = 100 steps at the "
    "largest step allowed: the left side tends to 0.00173, the right side to 0.00070, and the ratio grows with K "
    "eta_g. For K = 1 virtual and real models are the same, and the printed proof is complete but for its hypotheses."
)
# of Theorem 3 and what follows from it
WEIGHT_LOST = (
    "(25) drops the sum q(n) of the weights, which (23) and (24) have: a model moves by rho K et B in a round, not by "
    "K et B."
)
SCOPE = (
    "Convex objectives with bounded gradients are no quadratics, so that the paper's own Examples 1 and 2 are outside. "
    "(24) needs the stochastic gradients bounded, not only the clients' own. The residual R cancels outside the error "
    "terms and stays in them."
)
LOST_K = "eps_W = O(eta_g eta_l (W-1) K) is sqrt(K/N) (W-1) at this step size, not (W-1)/sqrt(KN)"
# of the lemmas
WHOLE_ROUNDS = "for whole rounds, at the real model theta^n"
TWELVE = (
    "(70) has 6 eta_l^2 (K-1)^2 sigma_1 before the division by 1 - D >= 1/2, which makes it 12; and the factor q(n) of "
    "the delays is 1, since the weights qt_i(n) sum to 1"
)
VIRTUAL = (
    "(63) writes theta^{n,k} with the steps eta_l qt_i where it has eta_g eta_l w_i, so that the lemma is for whole "
    "rounds"
)
