"""The parts of which methods are composed, one file a role."""

from boundcheck.methods.parts.aggregation import (
    Aggregation,
    AggregationContext,
    Average,
    PerClient,
    Same,
    SumOne,
    Unbiased,
)
from boundcheck.methods.parts.client_optimizer import ClientOptimizer
from boundcheck.methods.parts.correction import Correction
from boundcheck.methods.parts.exchange import Blocks, Exchange, HandOver, Stale
from boundcheck.methods.parts.local import EpochRange, Epochs, GradientSteps, LocalWork, StochasticSteps, Visit
from boundcheck.methods.parts.momentum import Momentum
from boundcheck.methods.parts.participation import (
    Cyclic,
    Drawing,
    Full,
    Importance,
    Independent,
    OneByWeight,
    Participation,
    Pattern,
    Sole,
    Subsets,
    Uniform,
    WithReplacement,
    first_repeated,
    inclusion,
    pair,
    pattern_law,
    probability_matrix,
)
from boundcheck.methods.parts.proximal import ExactSolve, Proximal
from boundcheck.methods.parts.server import ServerStep
from boundcheck.methods.parts.step_sizes import Constant, Decaying, InverseCycle, LogHorizon, NoStep, Schedule
from boundcheck.methods.parts.update_times import Timed

__all__ = [
    "Aggregation",
    "AggregationContext",
    "Average",
    "Blocks",
    "ClientOptimizer",
    "Constant",
    "Correction",
    "Cyclic",
    "Decaying",
    "Drawing",
    "EpochRange",
    "Epochs",
    "ExactSolve",
    "Exchange",
    "Full",
    "GradientSteps",
    "HandOver",
    "Importance",
    "Independent",
    "InverseCycle",
    "LocalWork",
    "LogHorizon",
    "Momentum",
    "NoStep",
    "OneByWeight",
    "Participation",
    "Pattern",
    "PerClient",
    "Proximal",
    "Same",
    "Schedule",
    "ServerStep",
    "Sole",
    "Stale",
    "StochasticSteps",
    "Subsets",
    "SumOne",
    "Timed",
    "Unbiased",
    "Uniform",
    "Visit",
    "WithReplacement",
    "first_repeated",
    "inclusion",
    "pair",
    "pattern_law",
    "probability_matrix",
]
