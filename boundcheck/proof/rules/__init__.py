"""General rules, instantiated on explicit terms and checked mechanically each time they are used.

A rule makes an instance (a relation or vector equality) and obligations. The step's claim must be identical to the
instance, and every obligation is decided by the scalar or the Gram kernel from the facts of the step. No inequality
of a paper is a rule.
"""

from boundcheck.proof.rules.base import Rule
from boundcheck.proof.rules.calculus import Limit, MeanValue
from boundcheck.proof.rules.induction import Induction, Supposing
from boundcheck.proof.rules.limits import BernoulliPower, LimitSuperior, PositivePower
from boundcheck.proof.rules.norms import Jensen, Triangle, Young
from boundcheck.proof.rules.sums import Accumulation, CauchySchwarz, InEpochs, PartialSum, SumOver, Telescoping
from boundcheck.proof.rules.windows import At, Exchange, Shift

__all__ = [
    "Accumulation",
    "At",
    "BernoulliPower",
    "CauchySchwarz",
    "Exchange",
    "InEpochs",
    "Induction",
    "Jensen",
    "Limit",
    "LimitSuperior",
    "MeanValue",
    "PartialSum",
    "PositivePower",
    "Rule",
    "Shift",
    "SumOver",
    "Supposing",
    "Telescoping",
    "Triangle",
    "Young",
]
