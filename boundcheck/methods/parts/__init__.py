"""The parts of which methods are composed, one file a role."""

from boundcheck.methods.parts.aggregation import Aggregation, Average, Setting, SumOne, Unbiased
from boundcheck.methods.parts.local import EpochRange, Epochs, GradientSteps, LocalWork, Visit
from boundcheck.methods.parts.momentum import Momentum
from boundcheck.methods.parts.participation import (
    Cyclic,
    Drawing,
    Full,
    Importance,
    Independent,
    OneByWeight,
    Participation,
    Subsets,
    Uniform,
    inclusion,
    pair,
    probability_matrix,
)
from boundcheck.methods.parts.schedule import Constant, InverseCycle, LogHorizon, Schedule
from boundcheck.methods.parts.server import ServerStep

__all__ = [
    "Aggregation",
    "Average",
    "Constant",
    "Cyclic",
    "Drawing",
    "EpochRange",
    "Epochs",
    "Full",
    "GradientSteps",
    "Importance",
    "Independent",
    "InverseCycle",
    "LocalWork",
    "LogHorizon",
    "Momentum",
    "OneByWeight",
    "Participation",
    "Schedule",
    "ServerStep",
    "Setting",
    "Subsets",
    "SumOne",
    "Unbiased",
    "Uniform",
    "Visit",
    "inclusion",
    "pair",
    "probability_matrix",
]
