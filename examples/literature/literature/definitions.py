"""Symbols that several theorems share, and the publications."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from boundcheck.theory.dimension import CURVATURE, GRADIENT2, LENGTH, ONE, VALUE
from boundcheck.theory.paper import Paper
from boundcheck.theory.symbols import Symbol, common

NOTATION = (
    common.L,
    common.mu,
    common.eta,
    common.eta.but(name="eta_l", meaning="local step size", key="method/eta_l", latex=r"\eta_l"),
    common.n,
    common.E,
    common.dist2_0,
    common.gap_0,
    common.sigma2,
    common.k.but(meaning="finished iterations"),
    common.K.but(name="R", meaning="finished communication rounds"),
)
L, mu, eta, eta_l, n, E, dist2_0, gap_0, sigma2, k, R = (symbol.expr for symbol in NOTATION)

# F is the mean of samples; each of them is smooth and strongly convex.
OF_SAMPLES = (
    common.L.but(key="samples/L", meaning="smoothness constant of every f_i"),
    common.mu.but(key="samples/mu", meaning="strong convexity constant of every f_i", low_open=False),
)
MU_AT_MOST_L = sp.Le(mu, L)


def count(name: str, meaning: str, key: str) -> Symbol:
    """A whole number of at least 1."""
    return Symbol(name, meaning, ONE, integer=True, low=Fraction(1), key=key)


PROX = Symbol("rho", "weight of the proximal term", CURVATURE, low=Fraction(0), low_open=True, key="method/prox")
GAMMA = Symbol("gamma", "inexactness of the local solutions", ONE, low=Fraction(0), key="subproblem/gamma")
NOISE = Symbol("nu2", "variance of a local step, at most", GRADIENT2, low=Fraction(0), key="blocks/sigma2")

MOMENTUM = Symbol("beta", "momentum", ONE, low=Fraction(0), high=Fraction(1), high_open=True, key="method/momentum_g")

AT_MINIMUM = common.sigma2.but(key="samples/sigma2_at_minimum", meaning="mean squared gradient of the samples at x*")
LIPSCHITZ = Symbol("B", "Lipschitz constant of F", VALUE / LENGTH, low=0, key="clients/gradient_bound")

DRORI = Paper(
    "Performance of first-order methods for smooth convex minimization: a novel approach",
    ("Yoel Drori", "Marc Teboulle"),
    2014,
    "Mathematical Programming 145",
    "article",
    arxiv="1206.3209",
)
TAYLOR_2018 = Paper(
    "Exact Worst-Case Convergence Rates of the Proximal Gradient Method for Composite Convex Minimization",
    ("Adrien Taylor", "Julien Hendrickx", "Francois Glineur"),
    2018,
    "Journal of Optimization Theory and Applications 178",
    "article",
    arxiv="1705.04398",
)
TAYLOR_2017 = Paper(
    "Exact Worst-case Performance of First-order Methods for Composite Convex Optimization",
    ("Adrien Taylor", "Julien Hendrickx", "Francois Glineur"),
    2017,
    "SIAM Journal on Optimization 27",
    "article",
    arxiv="1512.07516",
)
KHALED = Paper(
    "Tighter Theory for Local SGD on Identical and Heterogeneous Data",
    ("Ahmed Khaled", "Konstantin Mishchenko", "Peter Richtarik"),
    2020,
    "AISTATS",
    "inproceedings",
    arxiv="1909.04746",
)
MISHCHENKO = Paper(
    "Proximal and Federated Random Reshuffling",
    ("Konstantin Mishchenko", "Ahmed Khaled", "Peter Richtarik"),
    2022,
    "ICML",
    "inproceedings",
    arxiv="2102.06704",
)
LI_PROX = Paper(
    "Federated Optimization in Heterogeneous Networks",
    ("Tian Li", "Anit Kumar Sahu", "Manzil Zaheer", "Maziar Sanjabi", "Ameet Talwalkar", "Virginia Smith"),
    2020,
    "MLSys",
    "inproceedings",
    arxiv="1812.06127",
)
DEFAZIO = Paper(
    "SAGA: A Fast Incremental Gradient Method With Support for Non-Strongly Convex Composite Objectives",
    ("Aaron Defazio", "Francis Bach", "Simon Lacoste-Julien"),
    2014,
    "NIPS",
    "inproceedings",
    arxiv="1407.0202",
)
JOHNSON = Paper(
    "Accelerating Stochastic Gradient Descent using Predictive Variance Reduction",
    ("Rie Johnson", "Tong Zhang"),
    2013,
    "NIPS",
    "inproceedings",
)
KARIMIREDDY = Paper(
    "SCAFFOLD: Stochastic Controlled Averaging for Federated Learning",
    ("Sai Praneeth Karimireddy", "Satyen Kale", "Mehryar Mohri", "Sashank Reddi", "Sebastian Stich", "Ananda Suresh"),
    2020,
    "ICML",
    "inproceedings",
    arxiv="1910.06378",
)
WANG = Paper(
    "Tackling the Objective Inconsistency Problem in Heterogeneous Federated Optimization",
    ("Jianyu Wang", "Qinghua Liu", "Hao Liang", "Gauri Joshi", "Vincent Poor"),
    2020,
    "NeurIPS",
    "inproceedings",
    arxiv="2007.07481",
)
GHADIMI = Paper(
    "Global Convergence of the Heavy-ball Method for Convex Optimization",
    ("Euhanna Ghadimi", "Hamid Feyzmahdavian", "Mikael Johansson"),
    2015,
    "European Control Conference",
    "inproceedings",
    arxiv="1412.7457",
)
ASPREMONT = Paper(
    "Acceleration Methods",
    ("Alexandre d'Aspremont", "Damien Scieur", "Adrien Taylor"),
    2021,
    "Foundations and Trends in Optimization 5",
    "article",
    arxiv="2101.09545",
)
BECK = Paper(
    "A Fast Iterative Shrinkage-Thresholding Algorithm for Linear Inverse Problems",
    ("Amir Beck", "Marc Teboulle"),
    2009,
    "SIAM Journal on Imaging Sciences 2",
    "article",
    doi="10.1137/080716542",
)
BOYD = Paper("Subgradient Methods", ("Stephen Boyd", "Lin Xiao", "Almir Mutapcic"), 2003, "Stanford, EE392o")
BOTTOU = Paper(
    "Optimization Methods for Large-Scale Machine Learning",
    ("Leon Bottou", "Frank Curtis", "Jorge Nocedal"),
    2018,
    "SIAM Review 60",
    "article",
    arxiv="1606.04838",
)
LI_AVG = Paper(
    "On the Convergence of FedAvg on Non-IID Data",
    ("Xiang Li", "Kaixuan Huang", "Wenhao Yang", "Shusen Wang", "Zhihua Zhang"),
    2020,
    "ICLR",
    "inproceedings",
    arxiv="1907.02189",
)
POLYAK = Paper(
    "Some methods of speeding up the convergence of iteration methods",
    ("Boris Polyak",),
    1964,
    "USSR Computational Mathematics and Mathematical Physics 4",
    "article",
)
LESSARD = Paper(
    "Analysis and Design of Optimization Algorithms via Integral Quadratic Constraints",
    ("Laurent Lessard", "Benjamin Recht", "Andrew Packard"),
    2016,
    "SIAM Journal on Optimization 26",
    "article",
    arxiv="1408.3595",
)
GOWER = Paper(
    "SGD: General Analysis and Improved Rates",
    ("Robert Gower", "Nicolas Loizou", "Xun Qian", "Alibek Sailanbayev", "Egor Shulgin", "Peter Richtarik"),
    2019,
    "ICML",
    "inproceedings",
    arxiv="1901.09401",
)
NEMIROVSKI = Paper(
    "Robust Stochastic Approximation Approach to Stochastic Programming",
    ("Arkadi Nemirovski", "Anatoli Juditsky", "Guanghui Lan", "Alexander Shapiro"),
    2009,
    "SIAM Journal on Optimization 19",
    "article",
)
SHUFFLING = Paper(
    "Random Reshuffling: Simple Analysis with Vast Improvements",
    ("Konstantin Mishchenko", "Ahmed Khaled", "Peter Richtarik"),
    2020,
    "NeurIPS",
    "inproceedings",
    arxiv="2006.05988",
)
PROXSKIP = Paper(
    "ProxSkip: Yes! Local Gradient Steps Provably Lead to Communication Acceleration! Finally!",
    ("Konstantin Mishchenko", "Grigory Malinovsky", "Sebastian Stich", "Peter Richtarik"),
    2022,
    "ICML",
    "inproceedings",
    arxiv="2202.09357",
)
KINGMA = Paper(
    "Adam: A Method for Stochastic Optimization",
    ("Diederik Kingma", "Jimmy Ba"),
    2015,
    "ICLR",
    "inproceedings",
    arxiv="1412.6980",
)
ZHENG = Paper(
    "Communication-Efficient Distributed Blockwise Momentum SGD with Error-Feedback",
    ("Shuai Zheng", "Ziyue Huang", "James Kwok"),
    2019,
    "NeurIPS",
    "inproceedings",
    arxiv="1905.10936",
)
MESCHEDER = Paper(
    "The Numerics of GANs",
    ("Lars Mescheder", "Sebastian Nowozin", "Andreas Geiger"),
    2017,
    "NeurIPS",
    "inproceedings",
    arxiv="1705.10461",
)
