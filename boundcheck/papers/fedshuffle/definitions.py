"""Notation of FedShuffle: symbols, the paper's abbreviations, and the conditions that many statements share.

Samuel Horvath, Maziar Sanjabi, Lin Xiao, Peter Richtarik, Michael Rabbat, "FedShuffle: Recipes for Better Use of Local
Work in Federated Learning", Transactions on Machine Learning Research, 2022.

Squares are symbols where the paper squares a letter: G2 = G^2, B2 = B^2, P2 = P^2, sigma2 = sigma^2. D is the squared
distance of the start to a minimiser, F the objective gap of the start. Averages run over the R rounds of Algorithm 1.
"""

from boundcheck.theory.declare import *

PAPER = Paper(
    "FedShuffle: Recipes for Better Use of Local Work in Federated Learning",
    ("Samuel Horvath", "Maziar Sanjabi", "Lin Xiao", "Peter Richtarik", "Michael Rabbat"), 2022,
    "Transactions on Machine Learning Research", "article", arxiv="2204.13169",
)  # fmt: skip


NOTATION = (
    common.L.but(key="samples/L", meaning="smoothness constant of every sample's loss f_ij"),
    common.mu.but(key="samples/mu", meaning="strong convexity constant of every sample's loss f_ij"),
    nonnegative("G2", "additive constant G^2 of the clients' gradient dissimilarity", GRADIENT2, "G^2", "clients/G2"),
    nonnegative("B2", "factor B^2 of the clients' gradient dissimilarity", ONE, "B^2", "clients/B2"),
    nonnegative("P2", "largest P_i^2/|D_i| over the clients (Section 5)", ONE, "P^2", "samples/P2"),
    common.sigma2.but(key="samples/sigma2", meaning="sum of sigma_i^2 over the number of all samples (Section 5)"),
    nonnegative("M", "largest s_i w_i/p_i over the clients: the variance of the participation", ONE,
                key="participation/M"),
    common.E.but(meaning="local epochs of a visit"),
    positive("eta_l", "local step size; client i steps by eta_l/|D_i|", STEP, r"\eta_l", "method/eta_l"),
    positive("eta_g", "server step size", ONE, r"\eta_g", "method/eta_g"),
    count("R", "communication rounds", index=True),
    common.dist2_0.but(meaning="squared distance D of the start to a minimiser", latex="D"),
    common.gap_0.but(meaning="objective gap F of the start", latex="F"),
    nonnegative("delta", "largest difference of a client's Hessian from that of f", CURVATURE, r"\delta",
                "clients/delta"),
    positive("a", "momentum parameter of MVR (momentum 0.9 is a = 1/10)", ONE, key="method/a"),
    positive("W", "sum of wtilde_i |D_i| E_i/(q_i c_i) over the clients: how much local work reaches the server "
             "(wtilde_i: aggregation weight; q_i: its normaliser, 1/q_i the mean of 1/q_i^S over the cohorts S with i; "
             "c_i: divisor of the local step)", ONE, key="participation/W"),
    nonnegative("M1", "largest h_i s_i what_i over the clients: the variance of the aggregation (what_i: client i's "
                "share of W)", ONE, "M_1", "participation/M1"),
    nonnegative("M2", "sum of E_i |D_i| times the largest wtilde_i/(W q_i c_i) (aggregation weight over W, normaliser "
                "and step divisor)", ONE, "M_2", "participation/M2"),
    nonnegative("P2_gen", "largest P_i^2/(3 |D_i| E_i^2) over the clients (Appendix E)", ONE, "P^2", "samples/P2_gen"),
    nonnegative("sigma2_gen", "sum of what_i sigma_i^2/(3 |D_i| E_i^2) over the clients (Appendix E)", GRADIENT2,
                r"\sigma^2", "samples/sigma2_gen"),
    # at the start of a round
    nonnegative("drift_0", "drift of the first round: mean squared distance of the local iterates", LENGTH2,
                r"\mathcal{E}_0", "start/drift"),
    nonnegative("grad2_0", "squared gradient norm of f at the start", GRADIENT2, r"\|\nabla f(x^0)\|^2", "start/grad2"),
    nonnegative("client_grad2_0", "sum over the clients of w_i |grad f_i|^2 at the start", GRADIENT2,
                r"(\sum_i w_i\|\nabla f_i(x^0)\|^2)", "start/client_grad2"),
    # Appendix E (FedShuffleGen): the visit of a client that is drawn with the probability what_i
    nonnegative("own_grad2_0", "squared gradient norm |grad f_i(x)|^2 of the client where its visit begins", GRADIENT2,
                r"\|\nabla f_i(x)\|^2"),
    nonnegative("own_noise_0", "sigma_i^2/(3 |D_i| E_i^2) of the client whose visit begins", GRADIENT2,
                r"\frac{\sigma_i^2}{3|D_i|E_i^2}"),
    nonnegative("visit_drift_0", "mean squared distance of the local iterates of the visit that begins from its start",
                LENGTH2, r"\mathcal{E}_i"),
    # Appendix D (FedShuffleMVR): one round, or one local epoch of it, of the client i that was drawn; the squared norms
    # are expectations given what came before that round or epoch
    nonnegative("h2", "squared momentum error |m - grad f(x)|^2 at the start of the round", GRADIENT2, r"\|h\|^2"),
    nonnegative("gam2", "squared deviation |grad f_i(x) - grad f(x)|^2 of the client's gradient", GRADIENT2, r"\Gamma"),
    nonnegative("sigma2_i", "variance constant sigma_i^2 of the client (Assumption 3.4)", GRADIENT2, r"\sigma_i^2"),
    nonnegative("S", "sum over the epochs of the round of |grad f(y_{i,e})|^2", GRADIENT2, r"S"),
    nonnegative("d2", "squared length |d_{i,e}|^2 of the epoch's direction (25)", GRADIENT2, r"\|d\|^2"),
    nonnegative("y2", "squared distance |y_{i,e} - x|^2 of the epoch's start from the round's", LENGTH2,
                r"\|y - x\|^2"),
    count("D_i", "number |D_i| of samples of the client", latex="|D_i|"),
    count("warm_up", "rounds before the first, whose sampled gradients at x^0 make the first momentum", latex="R_0",
          key="method/warm_up"),
)  # fmt: skip
SYMBOLS = {symbol.name: symbol for symbol in NOTATION}


def _expressions(names: str) -> list[sp.Symbol]:
    return [SYMBOLS[name].expr for name in names.split()]


L, mu, G2, B2, P2, sigma2, M = _expressions("L mu G2 B2 P2 sigma2 M")
E, eta_l, eta_g, R, D, F = _expressions("E eta_l eta_g R dist2_0 gap_0")
W, M1, M2, P2_gen, sigma2_gen = _expressions("W M1 M2 P2_gen sigma2_gen")
drift_0, grad2_0, client_grad2_0 = _expressions("drift_0 grad2_0 client_grad2_0")
own_grad2_0, own_noise_0, visit_drift_0 = _expressions("own_grad2_0 own_noise_0 visit_drift_0")
delta, a, h2, gam2, sigma2_i, S, d2, y2, D_i, warm_up = _expressions("delta a h2 gam2 sigma2_i S d2 y2 D_i warm_up")

# where convexity alone is enough
CONVEXITY = SYMBOLS["mu"].but(low_open=False, meaning="convexity constant of every sample's loss f_ij, 0 allowed")
# where the step size depends on the number of rounds
HORIZON = SYMBOLS["R"].but(index=False, meaning="communication rounds, set beforehand", free=True)

# Section 5: the effective step of a round, beta, and the numerator of the middle term
et = E * eta_g * eta_l
beta = 1 + (1 + sp.sqrt(P2)) * sp.sqrt(B2) + M * B2
H = (E**2 + P2) * G2 + sigma2

# Appendix C: Lemma C.2 defines P^2 and sigma^2 with a factor 1/3, which Section 5 leaves out
P2_c, sigma2_c = P2 / 3, sigma2 / 3
beta_c = 1 + (1 + sp.sqrt(P2_c)) * sp.sqrt(B2) + M * B2
H_c = (E**2 + P2_c) * G2 + sigma2_c

# Appendix E: the same with W, M1 and its own P^2 and sigma^2; the printed beta has M2 besides
et_gen = W * eta_g * eta_l
beta_gen = 1 + (1 + sp.sqrt(P2_gen)) * sp.sqrt(B2) + M1 * B2
beta_gen_printed = 1 + M2 + (1 + sp.sqrt(P2_gen)) * sp.sqrt(B2) + M1 * B2
H_gen = (1 + P2_gen) * G2 + sigma2_gen
EFFECTIVE_STEP = Condition(
    "effective step size", et_gen <= 1 / (4 * beta_gen * L), "on W*eta_g*eta_l, the step of a round"
)
LOCAL_STEP = Condition("local step size", eta_l <= 1 / (4 * beta_gen * L), "on eta_l, for the drift")

FEDSHUFFLE = Algorithm("fedshuffle", ("E", "eta_l", "eta_g"), any_value=("participation",))
FEDSHUFFLE_GEN = Algorithm(
    "fedshuffle_gen", ("eta_l", "eta_g"), any_value=("E", "c", "weights", "normaliser", "participation")
)
COHORTS = "cohorts and orders of the samples"  # what expectations of a round are over
OUTPUT = f"{COHORTS}, and the round of the output"  # and of the theorems

MU_AT_MOST_L = mu <= L
SERVER_STEP = Condition("server step size", eta_g >= 1)
# why corrected readings differ from the print
LOST_L = (
    "Lemma C.2 multiplies the drift by 3*L*et and then drops the L, so that its last term, and everything built on it, "
    "has the wrong unit."
)
B_AT_LEAST_1 = Condition("B at least 1", B2 >= 1, "used in the proofs; no loss, since a larger B is always allowed")

# hypotheses of the strongly convex case without the weights: as printed, and with the weaker dissimilarity
STRONGLY_CONVEX_PRINTED = (strongly_convex_samples, smooth_samples, gradient_dissimilarity, local_variance)
STRONGLY_CONVEX = (strongly_convex_samples, smooth_samples, relaxed_dissimilarity, local_variance)

# Appendix D
MVR = (smooth_samples, gradient_dissimilarity, local_variance, hessian_similarity, bounded_below, data_weights)
B_IS_1 = Condition("B is 1", B2 <= 1, "Assumption 3.3 holds with B = 1")
P_IS_0 = Condition("P is 0", sp.Eq(P2, 0), "Assumption 3.4 holds with every P_i = 0")

# Lemmas B.2 and B.3: a sequence d has an arbitrary unit [u]; with steps eta, the average Psi of its increments has the
# unit of d/eta
RATE = FREE * CURVATURE
TERMS = common.K.but(meaning="number of terms", low=Fraction(1), index=False)
RECURSION = (
    common.mu.but(key="", meaning="contraction constant of the recursion"),
    common.eta.but(key="", meaning="constant step size"),
    positive("eta_max", "largest step size", STEP, r"\eta_{\max}"),
    positive("d0", "first member of the sequence", FREE, "d_0"),
    nonnegative("c1", "coefficient of the step size in the error", RATE * CURVATURE, "c_1"),
    nonnegative("c2", "coefficient of its square in the error", RATE * CURVATURE.power(Fraction(2)), "c_2"),
    TERMS,
)
eta, eta_max, d0, c1, c2, K = (symbol.expr for symbol in RECURSION[1:])
