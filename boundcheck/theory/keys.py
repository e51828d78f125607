"""The catalogue of constants: what each key means, and under which name problems and methods report its value.

A symbol of a statement names the key whose value it takes. A symbol without a key takes a value from the user alone:
no constant is ever filled in because two texts use the same letter. Squares are constants of their own (sigma2, B2).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from boundcheck.errors import BadInput, UnknownName
from boundcheck.theory.dimension import CURVATURE, GRADIENT2, LENGTH, LENGTH2, ONE, STEP, VALUE, Dimension

FEDSHUFFLE = "FedShuffle (S. Horvath et al.)"
FEDDANE = "FedDANE (T. Li et al.)"
ASYNC = "asynchronous FL (Y. Fraboni et al.)"
SCGD = "semi-cyclic gradient descent (S. Ma)"
BLOCKS = "partial model averaging (S. Lee et al.)"
COMMON = "standard"

PLAIN = "every problem with certified constants"
QUADRATIC = "quadratic problems"
CONVEX_QUADRATIC = "convex clients: quadratic, piecewise quadratic, logistic and softmax regression"
DRAWN = "methods whose cohorts are alike in all rounds"
GENERAL = "methods of the FedShuffleGen family"
PROXIMAL = "methods with proximal subproblems"
AVERAGED = "methods that average blocks of their workers' models"
SCHEDULED = "methods with a schedule or an expected weight of every client"
EVERY_ROUND = "quadratic problems, along a run of a method with expected weights"
TIMED = "methods whose clients have fixed update times"
METHOD = "methods with this parameter"

_NOISE = GRADIENT2 * CURVATURE
_NOISE2 = _NOISE * CURVATURE
_GRADIENT = Dimension(GRADIENT2.f / 2, GRADIENT2.x / 2)


@dataclass(frozen=True)
class Key:
    """One constant of the catalogue.

    key: "group/name", as statements name it. name: under which problems, methods and `constants` report the value.
    definition: in words. formula: as text, with the letters that the definition explains. dimension: of its value.
    source: the paper whose definition it is. where: which problems and methods have it.
    """

    key: str
    name: str
    definition: str
    formula: str
    dimension: Dimension
    source: str
    where: str


def _key(key: str, definition: str, formula: str, dimension: Dimension, source: str, where: str, name: str = "") -> Key:
    return Key(key, name or key.partition("/")[2], definition, formula, dimension, source, where)


def _of_blocks() -> Iterator[Key]:
    readings = {
        "B": ("blocks", "|grad_j f(x) - grad_j f(y)| <= L_j |x - y|"),
        "S": ("separable", "|grad_j f(x) - grad_j f(y)| <= L_j |x_j - y_j|"),
        "W": ("weighted", "|grad f(x) - grad f(y)|^2 <= sum_j L_j^2 |x_j - y_j|^2"),
        "G": ("global", "|grad f(x) - grad f(y)| <= L |x - y|, with L for every block"),
    }
    for suffix, (reading, formula) in readings.items():
        how = f"L_j of the reading '{reading}' of Assumption 1: {formula}"
        sums = (
            ("Lmax", "largest L_j", "max_j L_j", CURVATURE),
            ("sum_L_sigma2", "sum of L_j sigma_j^2", "sum_j L_j sigma_j^2", _NOISE),
            ("sum_L2_sigma2", "sum of L_j^2 sigma_j^2", "sum_j L_j^2 sigma_j^2", _NOISE2),
            ("sum_L2_kappa2", "sum of L_j^2 kappa_j^2", "sum_j L_j^2 kappa_j^2", _NOISE2),
        )
        for name, words, text, dimension in sums:
            yield _key(
                f"blocks/{name}_{reading}", f"{words}; {how}", text, dimension, BLOCKS, AVERAGED, f"{name}_{suffix}"
            )


def _of_clients() -> Iterator[Key]:
    for i in range(1, 5):
        words = f"weight of client {i} in the objective"
        yield _key(f"clients/w_{i}", words, f"w_{i}", ONE, COMMON, "problems with at most 100 clients")
        words = f"weight of client {i} in the objective that the method follows"
        yield _key(f"clients/what_{i}", words, f"what_{i}", ONE, FEDSHUFFLE, f"{GENERAL} on at most 100 clients")


_TABLE = (
    # the objective
    _key("objective/mu", "strong (quasi-)convexity constant of the objective",
         "<grad f(x), x - x*> >= mu |x - x*|^2", CURVATURE, COMMON, PLAIN, "mu"),
    _key("objective/L", "Lipschitz constant of the gradient of the objective",
         "|grad f(x) - grad f(y)| <= L |x - y|", CURVATURE, COMMON, PLAIN, "L_f"),
    _key("objective/s_min", "least nonzero singular value of the linear part of the map whose zero is sought",
         "|F(z)| >= s_min |z - z*|", CURVATURE, COMMON, "bilinear games", "s_min"),
    _key("objective/dimension", "number of coordinates of the variable", "d", ONE, COMMON, PLAIN, "d"),
    # the clients
    _key("clients/n", "number of clients", "n", ONE, COMMON, PLAIN),
    _key("clients/L", "Lipschitz constant of the gradient of every client",
         "|grad f_i(x) - grad f_i(y)| <= L |x - y|", CURVATURE, COMMON, PLAIN, "L"),
    _key("clients/lambda", "least number for which lambda*I + Hessian of every client is positive semidefinite",
         "hess f_k(x) >= -lambda I", CURVATURE, FEDDANE, PLAIN, "lam"),
    _key("clients/delta", "largest difference of a client's Hessian from that of the objective",
         "|hess f_i(x) - hess f(x)| <= delta", CURVATURE, FEDSHUFFLE, PLAIN),
    _key("clients/B2", "factor of the clients' gradient dissimilarity, in the pair (G^2, B^2)",
         "sum w_i |grad f_i(x)|^2 <= G^2 + B^2 |grad f(x)|^2", ONE, FEDSHUFFLE, PLAIN),
    _key("clients/G2", "additive constant of the clients' gradient dissimilarity, in the pair (G^2, B^2)",
         "sum w_i |grad f_i(x)|^2 <= G^2 + B^2 |grad f(x)|^2", GRADIENT2, FEDSHUFFLE, PLAIN),
    _key("clients/B2_without_G2", "factor of the clients' gradient dissimilarity without an additive constant",
         "sum p_k |grad f_k(x)|^2 <= B^2 |grad f(x)|^2 at every x", ONE, FEDDANE, PLAIN, "B2_only"),
    _key("clients/sigma2", "mean over the clients of the squared gradient norm at a minimiser",
         "(1/n) sum |grad f_i(x*)|^2", GRADIENT2, SCGD, PLAIN, "sigma2"),
    _key("clients/gradient_bound", "bound on the norm of the clients' gradients",
         "|grad f_i(x)| <= B at every x", _GRADIENT, ASYNC,
         "piecewise quadratic problems, logistic regression without ridge", "B_grad"),
    _key("clients/sum_p2", "sum of the squared weights of the clients", "sum p_i^2", ONE, BLOCKS, AVERAGED, "sum_p2"),
    _key("clients/m", "number of workers, each with a model", "m", ONE, BLOCKS, AVERAGED),
    _key("clients/w_min", "smallest weight of a client", "min_i w_i", ONE, COMMON, "claims about a constant"),
    _key("clients/w_max", "largest weight of a client", "max_i w_i", ONE, COMMON, "claims about a constant"),
    *_of_clients(),
    # the samples of a client
    _key("samples/L", "smoothness constant of every sample's loss",
         "|grad f_ij(x) - grad f_ij(y)| <= L |x - y|", CURVATURE, FEDSHUFFLE, PLAIN, "L_ij"),
    _key("samples/mu", "strong convexity constant of every sample's loss, 0 allowed",
         "<grad f_ij(x) - grad f_ij(y), x - y> >= mu |x - y|^2", CURVATURE, FEDSHUFFLE, PLAIN, "mu_ij"),
    _key("samples/P2", "largest P_i^2/|D_i|: growth of the samples' variance within a client",
         "mean_j |grad f_ij - grad f_i|^2 <= sigma_i^2 + P_i^2 |grad f_i|^2; max_i P_i^2/|D_i|", ONE, FEDSHUFFLE,
         PLAIN),
    _key("samples/sigma2", "sum of sigma_i^2 over the number of all samples",
         "mean_j |grad f_ij - grad f_i|^2 <= sigma_i^2 + P_i^2 |grad f_i|^2; sum_i sigma_i^2/|D|", GRADIENT2,
         FEDSHUFFLE, PLAIN, "noise2"),
    _key("samples/sigma2_at_minimum", "mean over the clients, by their weights, of the mean squared gradient norm of "
         "their samples at a minimiser, f_i being the mean of the f_ij", "sum_i w_i mean_j |grad f_ij(x*)|^2",
         GRADIENT2, COMMON, "quadratic and piecewise quadratic problems", "sigma2_star"),
    _key("samples/P2_gen", "largest P_i^2/(3 |D_i| E_i^2)", "max_i P_i^2/(3 |D_i| E_i^2)", ONE, FEDSHUFFLE,
         GENERAL),
    _key("samples/sigma2_gen", "sum of what_i sigma_i^2/(3 |D_i| E_i^2)", "sum_i what_i sigma_i^2/(3 |D_i| E_i^2)",
         GRADIENT2, FEDSHUFFLE, GENERAL, "noise2_gen"),
    # the start of a run
    _key("start/dist2", "squared distance of the start to the nearest minimiser", "|x_0 - x*|^2", LENGTH2, COMMON,
         PLAIN, "dist2_0"),
    _key("start/gap", "objective gap of the start", "f(x_0) - f*", VALUE, COMMON, PLAIN, "gap_0"),
    _key("start/grad2", "squared gradient norm of the objective at the start", "|grad f(x_0)|^2", GRADIENT2, COMMON,
         PLAIN, "grad2_0"),
    _key("start/client_grad2", "weighted sum of the clients' squared gradient norms at the start",
         "sum w_i |grad f_i(x_0)|^2", GRADIENT2, COMMON, PLAIN, "client_grad2_0"),
    _key("start/B2", "squared dissimilarity of the clients at the start",
         "sum p_k |grad f_k(x_0)|^2 = B^2 |grad f(x_0)|^2", ONE, FEDDANE, PLAIN, "B2_0"),
    _key("start/drift", "mean squared distance of the local iterates from the server's point in the first round",
         "drift of round 1", LENGTH2, FEDSHUFFLE, "methods that visit clients", "drift_0"),
    _key("start/momentum_error2", "squared error of the first momentum, in expectation",
         "E|m^0 - grad f(x_0)|^2", GRADIENT2, FEDSHUFFLE, "methods with momentum", "momentum_error2_0"),
    _key("start/dist2_surrogate", "squared distance of the start to the minimiser of the surrogate problem",
         "|x_0 - thetabar|^2", LENGTH2, ASYNC, CONVEX_QUADRATIC, "dist2_surrogate_0"),
    _key("start/x", "the start, a number", "x_0", LENGTH, COMMON, "problems in one dimension", "x_0"),
    # who takes part, and with which weight
    _key("participation/M", "variance of the participation: p_i the probability that client i takes part, and s_i "
         "with P - p p' <= diag(p_i s_i) for the matrix P of joint probabilities",
         "max_i s_i w_i/p_i", ONE, FEDSHUFFLE, DRAWN),
    _key("participation/b", "expected number of clients in a round", "sum_i p_i", ONE, FEDSHUFFLE, DRAWN),
    _key("participation/W", "local work that reaches the server", "sum_i wtilde_i K_i/(q_i c_i)", ONE, FEDSHUFFLE,
         GENERAL),
    _key("participation/M1", "variance of the aggregation", "max_i h_i s_i what_i", ONE, FEDSHUFFLE, GENERAL),
    _key("participation/M2", "sum of the local steps times the largest wtilde_i/(W q_i c_i)",
         "(sum_i K_i) max_i wtilde_i/(W q_i c_i)", ONE, FEDSHUFFLE, GENERAL),
    _key("participation/alpha", "correlation of the aggregation weights w_i(n) of different clients, with their "
         "means q_i(n)", "E[w_i w_j] = alpha q_i q_j", ONE, ASYNC, SCHEDULED),
    _key("participation/beta", "largest E[w_i^2]/q_i - alpha q_i of a client that can take part",
         "max_i E[w_i^2]/q_i - alpha q_i", ONE, ASYNC, SCHEDULED),
    _key("participation/alpha_certain", "alpha of weights that are not random", "1", ONE, ASYNC, SCHEDULED,
         "alpha_det"),
    _key("participation/beta_certain", "beta of weights that are not random", "0", ONE, ASYNC, SCHEDULED, "beta_det"),
    _key("participation/rho", "largest sum of a round's expected weights, at least 1", "max(1, max_n q(n))", ONE, ASYNC,
         SCHEDULED),
    _key("participation/q_min", "smallest sum of a round's expected weights, empty rounds left out",
         "min_n q(n)", ONE, ASYNC, SCHEDULED),
    _key("participation/q_bar", "mean over the rounds of the sum of the expected weights", "mean_n q(n)", ONE, ASYNC,
         SCHEDULED),
    _key("participation/q_max", "largest expected weight of a client in a round", "max_i,n q_i(n)", ONE, ASYNC,
         SCHEDULED),
    _key("participation/rounds_share", "share of the rounds in which a client takes part", "share of n with q(n) > 0",
         ONE, ASYNC, SCHEDULED, "rounds_share"),
    _key("participation/weight", "aggregation weight of a client, the same for all", "d_i", ONE, ASYNC, TIMED, "d_i"),
    _key("participation/d_1", "aggregation weight of the first client, the same in all rounds", "d_1", ONE, ASYNC,
         SCHEDULED),
    _key("participation/mean_q_1", "mean over all rounds of the expected weight of the first client",
         "mean_n q_1(n)", ONE, ASYNC, SCHEDULED),
    _key("participation/chance", "probability that a client takes part in a round, the same for all", "P(i in S_n)",
         ONE, ASYNC, TIMED),
    _key("participation/q_1", "weight of client 1, in even rounds", "q_1", ONE, ASYNC, "two clients in turn"),
    _key("participation/q_2", "weight of client 2, in odd rounds", "q_2", ONE, ASYNC, "two clients in turn"),
    _key("participation/theta_1", "minimiser of client 1", "theta_1", LENGTH, ASYNC, "two clients in turn", "theta_1"),
    _key("participation/theta_2", "minimiser of client 2", "theta_2", LENGTH, ASYNC, "two clients in turn", "theta_2"),
    _key("participation/cohort_size", "clients in S'_t, which solve subproblems", "|S'_t|", ONE, FEDDANE, PROXIMAL),
    _key("participation/gradient_cohort_size", "clients in S_t, whose gradients are averaged", "|S_t|", ONE, FEDDANE,
         PROXIMAL),
    # delays and periods
    _key("schedule/tau", "largest delay of a contribution, in rounds", "max n - rho_i(n)", ONE, ASYNC, SCHEDULED,
         "tau_delay"),
    _key("schedule/window", "rounds in which the expected weights have their means (Assumption 6)", "W", ONE, ASYNC,
         SCHEDULED),
    _key("schedule/period", "rounds after which the cohorts repeat; 1 where they are drawn", "period", ONE, ASYNC,
         SCHEDULED),
    _key("schedule/local_steps", "local steps of a client in a round", "K", ONE, ASYNC, SCHEDULED),
    _key("schedule/time_slowest", "update time of the slowest client", "max_i tau_i", ONE, ASYNC, TIMED),
    _key("schedule/time_fastest", "update time of the fastest client", "min_i tau_i", ONE, ASYNC, TIMED),
    _key("schedule/time_ratio", "update time of the slowest client over that of the fastest",
         "max_i tau_i/min_i tau_i", ONE, ASYNC, TIMED),
    _key("schedule/time_1", "update time of the first client", "tau_1", ONE, ASYNC, TIMED),
    _key("schedule/period_time", "how long a period of the schedule takes", "T", ONE, ASYNC, TIMED),
    _key("schedule/rounds_in_time", "rounds that end in the time of a period", "N", ONE, ASYNC, TIMED),
    _key("schedule/time_rates", "sum over the clients of the inverse update times", "sum_i 1/tau_i", ONE, ASYNC, TIMED),
    _key("schedule/time_lcm", "least common multiple of the update times", "lcm_i tau_i", ONE, ASYNC, TIMED),
    _key("schedule/updates_of_slowest", "contributions of the other clients while the slowest makes one",
         "sum over j of ceil(tau_M/tau_j)", ONE, ASYNC, TIMED),
    _key("schedule/visit_rounds", "rounds between two contributions of the slowest client", "ceil(tau_M/dt)", ONE,
         ASYNC, TIMED),
    _key("schedule/visits_lcm", "least common multiple of the clients' rounds between contributions",
         "lcm_i ceil(tau_i/dt)", ONE, ASYNC, TIMED),
    # the objectives that the rounds follow
    _key("surrogate/R", "mean over the rounds of the excess of the surrogate minimiser in the round's objective",
         "mean_n L^n(thetabar) - min L^n", VALUE, ASYNC, CONVEX_QUADRATIC, "R_loss"),
    _key("surrogate/S1", "mean over the rounds of the gradient noise at the round's minimiser",
         "mean_n sum_i qt_i(n) E|g_i(thetabar^n)|^2", GRADIENT2, ASYNC, CONVEX_QUADRATIC, "S1"),
    _key("surrogate/S2", "the same with squared weights", "mean_n sum_i qt_i(n)^2 E|g_i(thetabar^n)|^2", GRADIENT2,
         ASYNC, CONVEX_QUADRATIC, "S2"),
    _key("surrogate/Sigma", "gradient noise at the minimiser of the surrogate problem", "sum_i q_i E|g_i(thetabar)|^2",
         GRADIENT2, ASYNC, CONVEX_QUADRATIC, "Sigma"),
    _key("surrogate/chi2", "chi-square distance of the shares in the objective to those in the surrogate problem",
         "sum_j (r_j - st_j)^2/st_j", ONE, ASYNC, SCHEDULED, "chi2"),
    _key("surrogate/chi2_max", "largest chi-square distance of a round, over the kinds of data that take part",
         "max_n sum_j (r_j - st_j(n))^2/st_j(n)", ONE, ASYNC, SCHEDULED, "chi2_max"),
    _key("surrogate/F_het", "surrogate minimum less the weighted sum of the clients' minima",
         "Lbar(thetabar) - sum_i q_i L_i*", VALUE, ASYNC, CONVEX_QUADRATIC, "F_het"),
    _key("surrogate/P", "mean over the rounds of chi_n^2 times the excess of the round's minimiser in its clients",
         "mean_n chi_n^2 sum_j st_j(n) [F_j(thetabar^n) - F_j*]", VALUE, ASYNC, CONVEX_QUADRATIC, "P_loss"),
    _key("surrogate/U", "mean of the excess of the iterates in the kinds of data that a round lacks",
         "mean_n sum_{j absent} r_j [F_j(theta^n) - F_j*]", VALUE, ASYNC, SCHEDULED, "U_loss"),
    # proximal subproblems
    _key("subproblem/gamma", "largest inexactness of a local solution (Definition 1)",
         "|w_k - v_k| <= gamma |v_k - x|", ONE, FEDDANE, PROXIMAL, "gamma"),
    _key("subproblem/inv_mu", "mean over S'_t of 1/mu_k", "mean 1/mu_k", STEP, FEDDANE, PROXIMAL, "inv_mu"),
    _key("subproblem/inv_mu2", "mean over S'_t of 1/mu_k^2", "mean 1/mu_k^2", STEP * STEP, FEDDANE, PROXIMAL,
         "inv_mu2"),
    _key("subproblem/gamma_inv_mu", "mean over S'_t of gamma_k/mu_k", "mean gamma_k/mu_k", STEP, FEDDANE, PROXIMAL),
    _key("subproblem/gamma2_inv_mu2", "mean over S'_t of (1 + gamma_k)^2/mu_k^2", "mean (1 + gamma_k)^2/mu_k^2",
         STEP * STEP, FEDDANE, PROXIMAL),
    _key("subproblem/L_inv_mu2", "mean over S'_t of L_k/mu_k^2", "mean L_k/mu_k^2", STEP, FEDDANE, PROXIMAL),
    _key("subproblem/L_gamma2_inv_mu2", "mean over S'_t of L_k (1 + gamma_k)^2/mu_k^2",
         "mean L_k (1 + gamma_k)^2/mu_k^2", STEP, FEDDANE, PROXIMAL),
    # quantities of a round n, which change along a run; in a statement about a mean over rounds they are its means
    _key("round/weight", "sum of the expected weights of the round", "q(n) = sum_i q_i(n)", ONE, ASYNC, EVERY_ROUND,
         "round_weight"),
    _key("round/noise", "mean of the squared stochastic gradients at the minimiser of the round's objective",
         "sum_i qt_i(n) E|g_i(thetabar^n)|^2", GRADIENT2, ASYNC, EVERY_ROUND, "round_noise"),
    _key("round/noise2", "the same with squared weights", "sum_i qt_i(n)^2 E|g_i(thetabar^n)|^2", GRADIENT2, ASYNC,
         EVERY_ROUND, "round_noise2"),
    _key("round/chi2", "chi-square distance of the shares in the objective to those in the round, over the kinds of "
         "data in it", "sum_j (r_j - st_j(n))^2/st_j(n)", ONE, ASYNC, EVERY_ROUND, "round_chi2"),
    _key("round/spread", "minimum of the round's objective less the minima of the kinds of data in it",
         "L^n(thetabar^n) - sum_j s_j(n) F_j*", VALUE, ASYNC, EVERY_ROUND, "round_spread"),
    _key("round/absent_gap", "gaps of the kinds of data that are not in the round", "sum_j r_j E[F_j(theta^n) - F_j*]",
         VALUE, ASYNC, EVERY_ROUND, "absent_gap"),
    _key("round/gap", "gap of the round's objective at the server's point", "E L^n(theta^n) - min L^n", VALUE, ASYNC,
         EVERY_ROUND, "round_gap"),
    _key("round/virtual_gap", "gap of the round's objective at the virtual models",
         "mean_k E L^n(theta^{n,k}) - min L^n", VALUE, ASYNC, EVERY_ROUND, "virtual_round_gap"),
    _key("round/difference", "round's objective at the server's point less that at the surrogate minimiser x",
         "E L^n(theta^n) - L^n(x)", VALUE, ASYNC, EVERY_ROUND, "round_difference"),
    _key("round/virtual_difference", "round's objective at the virtual models less that at the surrogate minimiser x",
         "mean_k E L^n(theta^{n,k}) - L^n(x)", VALUE, ASYNC, EVERY_ROUND, "virtual_difference"),
    _key("round/inner", "inner product of the mean gradient of the local work with the server's point less the "
         "surrogate minimiser x", "mean_k E<sum_i q_i(n) g_i(y_i^k), theta^n - x>", VALUE, ASYNC, EVERY_ROUND,
         "work_inner"),
    _key("round/virtual_inner", "the same at the virtual models", "mean_k E<sum_i q_i(n) g_i(y_i^k), theta^{n,k} - x>",
         VALUE, ASYNC, EVERY_ROUND, "virtual_inner"),
    _key("round/grad2", "mean square of the stochastic gradients of the local work",
         "mean_k sum_i qt_i(n) E|g_i(y_i^k)|^2", GRADIENT2, ASYNC, EVERY_ROUND, "work_grad2"),
    _key("round/mean_grad2", "square of the stochastic gradients' mean over clients and local steps",
         "E|mean_k sum_i qt_i(n) g_i(y_i^k)|^2", GRADIENT2, ASYNC, EVERY_ROUND, "work_mean_grad2"),
    _key("round/virtual_mean_grad2", "square of the stochastic gradients' mean over clients, step by step",
         "mean_k E|sum_i qt_i(n) g_i(y_i^k)|^2", GRADIENT2, ASYNC, EVERY_ROUND, "virtual_mean_grad2"),
    _key("round/movements2", "squared movements of the server's point in the tau rounds before, tau the largest delay",
         "sum of E|theta^{m+1} - theta^m|^2 over m = n - tau, ..., n - 1", LENGTH2, ASYNC, EVERY_ROUND, "movement2"),
    # blocks of a model, each averaged at its own time
    *_of_blocks(),
    _key("blocks/sigma2", "sum over the blocks of the largest variance of a step's gradient", "sum_j sigma_j^2",
         GRADIENT2, BLOCKS, AVERAGED, "sigma2_total"),
    _key("blocks/beta2", "factor of the workers' dissimilarity, one for all blocks (Assumption 4)",
         "sum_i p_i |grad_j f_i(x)|^2 <= beta^2 |grad_j F(x)|^2 + kappa_j^2", ONE, BLOCKS, AVERAGED, "beta2_diss"),
    _key("blocks/kappa2", "additive constants of the workers' dissimilarity, summed over the blocks",
         "sum_j kappa_j^2", GRADIENT2, BLOCKS, AVERAGED, "kappa2_diss"),
    _key("blocks/beta2_whole", "factor of the workers' dissimilarity for the whole gradient",
         "sum_i p_i |grad f_i(x)|^2 <= beta^2 |grad F(x)|^2 + kappa^2", ONE, BLOCKS, AVERAGED, "beta2_total"),
    _key("blocks/kappa2_whole", "additive constant of the workers' dissimilarity for the whole gradient",
         "sum_i p_i |grad f_i(x)|^2 <= beta^2 |grad F(x)|^2 + kappa^2", GRADIENT2, BLOCKS, AVERAGED, "kappa2"),
    *(
        _key(f"blocks/{name}", words, formula, ONE, BLOCKS, AVERAGED, f"averaging_{name}")
        for name, words, formula in (
            ("row_defect", "property 1 of the averaging matrices P: largest entry", "max |P 1 - 1|"),
            ("product_defect", "property 2: largest entry", "max |J P - J|"),
            ("symmetry_defect", "property 3: largest entry, over all pairs", "max |P P' - (P P')^T|"),
            ("inner_defect", "property 4: largest off-diagonal entry of the d_j x d_j blocks", "of P P'"),
            ("outer_defect", "property 4 read as blocks of size m x m: largest entry outside them", "of P P'"),
            ("cross_weight", "entry of J_j between one number of the last two workers", "entry of J_j"),
        )
    ),
    _key("blocks/averaged_per_period", "numbers of a model that are averaged in tau rounds", "count", ONE, BLOCKS,
         AVERAGED),
    _key("blocks/averagings_per_period", "messages in which they are averaged", "count", ONE, BLOCKS, AVERAGED),
    # the parameters of the method, as its specification names them
    *(
        _key(f"method/{name}", words, name, dimension, COMMON, METHOD)
        for name, words, dimension in (
            ("E", "local steps or local epochs of a visit", ONE),
            ("steps", "local steps of a visit", ONE),
            ("batch", "samples of a local step", ONE),
            ("eta", "step size", STEP),
            ("eta0", "step size of the first cycle; cycle k uses eta0/k", STEP),
            ("ell", "constant of the step size ell*log(T)/T", STEP),
            ("eta_l", "local step size", STEP),
            ("eta_g", "server step size", ONE),
            ("momentum_g", "momentum of the server, if it is constant", ONE),
            ("T", "number of rounds that is set beforehand", ONE),
            ("prox", "weight of the proximal term", CURVATURE),
            ("a", "momentum parameter: momentum 1 - a", ONE),
            ("warm_up", "rounds before the first whose gradients make the first momentum", ONE),
            ("b", "expected number of clients in a round", ONE),
            ("size", "clients in a round", ONE),
            ("buffer", "contributions that the server waits for", ONE),
            ("dt", "time between two aggregations", ONE),
            ("inner", "steps between two reference points of variance reduction", ONE),
            ("tau", "averaging interval: every number is averaged in tau iterations", ONE),
            ("value", "aggregation weight of every client", ONE),
            ("inner", "steps between two reference points", ONE),
        )
    ),
)  # fmt: skip

CATALOGUE: Mapping[str, Key] = MappingProxyType({k.key: k for k in _TABLE})


def groups() -> list[str]:
    """The groups of the catalogue, in its order."""
    return list(dict.fromkeys(key.partition("/")[0] for key in CATALOGUE))


def name_of(key: str) -> str:
    """The name under which problems and methods report the value of a key; a key outside the catalogue is its own."""
    known = CATALOGUE.get(key)
    return key if known is None else known.name


def check_key(key: str, where: str) -> None:
    """Raise unless the key is in the catalogue, or in a group of its own (an extension's).

    where: the start of the sentence. Raises UnknownName with the nearest keys for an unknown key of a group of the
    catalogue, BadInput for text that is not "group/name".
    """
    group, slash, name = key.partition("/")
    if not (group and slash and name):
        raise BadInput(f"{where} the key '{key}', which is not of the form 'group/name', such as 'clients/L'.")
    if key not in CATALOGUE and group in groups():
        raise UnknownName(f"{where} the key", key, CATALOGUE)


def near_keys(name: str) -> str:
    """The keys that a symbol of this name may mean, as a clause such as "; near keys: participation/alpha"."""
    close = [k.key for k in CATALOGUE.values() if name in (k.name, k.key.partition("/")[2])]
    if not close:
        tails = {k.name: k.key for k in CATALOGUE.values()} | {key.partition("/")[2]: key for key in CATALOGUE}
        close = [tails[n] for n in difflib.get_close_matches(name, tails, n=3, cutoff=0.5)]
    return f"; near keys: {', '.join(dict.fromkeys(close))}" if close else ""
