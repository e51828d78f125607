"""The parts of which methods are composed, one file a role."""

from boundcheck.methods.parts.aggregation import Aggregation, Average
from boundcheck.methods.parts.local import GradientSteps, LocalProgram, LocalWork, ReshuffledEpochs
from boundcheck.methods.parts.participation import Cyclic, Full, Participation, Uniform
from boundcheck.methods.parts.schedule import Constant, InverseCycle, LogHorizon, Schedule
from boundcheck.methods.parts.server import ServerStep

__all__ = [
    "Aggregation",
    "Average",
    "Constant",
    "Cyclic",
    "Full",
    "GradientSteps",
    "InverseCycle",
    "LocalProgram",
    "LocalWork",
    "LogHorizon",
    "Participation",
    "ReshuffledEpochs",
    "Schedule",
    "ServerStep",
    "Uniform",
]
