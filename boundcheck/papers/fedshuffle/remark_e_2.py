"""Remark E.2: how much larger local steps FedShuffle may take than FedAvg and FedNova."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

WORK = count("work", "E_i |D_i|, the local steps of client i", latex="E_i|D_i|")
LARGEST = count("largest", "the largest E_j |D_j|", latex=r"\max_j E_j|D_j|")
work, largest = WORK.expr, LARGEST.expr
# Theorem E.1 bounds eta_l and W eta_g eta_l by 1/(4 beta L), the unit here; FedShuffle's W is 1. Per local step:
own = sp.Min(1, 1 / eta_g) / work
other = sp.Min(1, 1 / (W * eta_g)) / largest

theorem = Theorem(
    source=Source(PAPER, "Remark E.2", "Appendix E.2, with the step condition of Theorem E.1"),
    title="Largest local step of client i: FedShuffle's over that of FedAvg or FedNova, at equal beta",
    symbols=(
        WORK,
        LARGEST,
        SYMBOLS["W"].but(key="", high=Fraction(1), meaning="W of the other method; that of FedShuffle is 1"),
        SYMBOLS["eta_g"].but(low=Fraction(1), low_open=False),
    ),
    metric=Metric.formula(ONE, own / other),
    kind=Kind.EQUALITY,
    domain=(work <= largest,),
    readings={
        "corrected": Reading(
            bound=largest / (work * sp.Min(eta_g, 1 / W)),
            belief=Belief.TRUE,
            replaces="the printed step condition, which does not know W",
            why="With W < 1 (FedAvg, FedNova) the other method's effective step is W*eta_g*eta_l, so that its eta_l "
            "may be larger by min(eta_g, 1/W). With eta_g >= 1/W FedShuffle's local step is W*largest/work times the "
            "other's and is smaller for the clients with the most work.",
        ),
        "as_printed": Reading(
            bound=largest / work,
            belief=Belief.FALSE,
            remark="c_i = E_i |D_i| against c = max E_j |D_j| under the printed condition eta_l <= 1/(4 beta L eta_g): "
            "at least 1. The steps that really are allowed differ unless eta_g = 1 or W = 1. Here beta is 1 + M2 + (1 "
            "+ P) B + M1 B^2.",
        ),
    },
)
