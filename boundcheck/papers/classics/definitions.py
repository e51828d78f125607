"""Notation of the textbook statements: symbols and sets of assumptions.

The proofs are a few lines each; the readings "sharp" keep what the textbook form gives away.
"""

from boundcheck.theory.declare import *

NESTEROV = Paper(
    "Introductory Lectures on Convex Optimization", ("Yurii Nesterov",), 2004, "Springer", "book",
    doi="10.1007/978-1-4419-8853-9",
)  # fmt: skip
POLYAK = Paper("Introduction to Optimization", ("Boris Polyak",), 1987, "Optimization Software", "book")
NEMIROVSKI = Paper(
    "Robust Stochastic Approximation Approach to Stochastic Programming",
    ("Arkadi Nemirovski", "Anatoli Juditsky", "Guanghui Lan", "Alexander Shapiro"), 2009,
    "SIAM Journal on Optimization 19", "article", doi="10.1137/070704277",
)  # fmt: skip
BOTTOU = Paper(
    "Optimization Methods for Large-Scale Machine Learning", ("Leon Bottou", "Frank Curtis", "Jorge Nocedal"), 2018,
    "SIAM Review 60", "article", doi="10.1137/16M1080173", arxiv="1606.04838",
)  # fmt: skip
DRORI = Paper(
    "Performance of first-order methods for smooth convex minimization: a novel approach",
    ("Yoel Drori", "Marc Teboulle"), 2014, "Mathematical Programming 145", "article", doi="10.1007/s10107-013-0653-0",
    arxiv="1206.3209",
)  # fmt: skip
GHADIMI = Paper(
    "Stochastic first- and zeroth-order methods for nonconvex stochastic programming",
    ("Saeed Ghadimi", "Guanghui Lan"), 2013, "SIAM Journal on Optimization 23", "article", doi="10.1137/120880811",
    arxiv="1309.5549",
)  # fmt: skip
KHALED = Paper(
    "First Analysis of Local GD on Heterogeneous Data", ("Ahmed Khaled", "Konstantin Mishchenko", "Peter Richtarik"),
    2019, arxiv="1909.04715",
)  # fmt: skip
CHUNG = Paper(
    "On a Stochastic Approximation Method", ("Kai Lai Chung",), 1954, "Annals of Mathematical Statistics 25", "article",
    doi="10.1214/aoms/1177728716",
)  # fmt: skip
SMALL_STEP = "the step is small enough"

NOTATION = (
    common.mu,
    common.L,
    common.eta,
    common.sigma2.but(key="blocks/sigma2", meaning="variance of one worker's stochastic gradient, at most, at every "
                      "point"),
    positive("sum_p2", "sum of the squared weights of the workers, 1/m for m alike", key="clients/sum_p2",
             latex=r"(\sum_i p_i^2)"),
    common.dist2_0,
    common.gap_0,
    common.K.but(name="k", meaning="finished steps", low=Fraction(1), index=True),
)  # fmt: skip
mu, L, eta, sigma2, sum_p2, dist2_0, gap_0, k = (symbol.expr for symbol in NOTATION)
variance = sigma2 * sum_p2  # of the averaged gradient

SMOOTH = (smooth_clients,)
STOCHASTIC = (averages_as_objective, block_variance, smooth_clients)

# F smooth and strongly convex through its samples, for the readings that need more than quasi-convexity
OF_SAMPLES = (
    common.mu.but(key="samples/mu", meaning="strong convexity constant of every sample's loss"),
    common.L.but(key="samples/L", meaning="smoothness constant of every sample's loss"),
)
MU_AT_MOST_L = sp.Le(mu, L)
