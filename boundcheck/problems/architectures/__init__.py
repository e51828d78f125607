"""Neural networks as data: layers with their parameters' shapes, without any library that computes with them."""

from boundcheck.problems.architectures.architecture import Architecture, Slot
from boundcheck.problems.architectures.layers import (
    LSTM,
    Convolution,
    Dense,
    Embedding,
    Flatten,
    GlobalMean,
    GroupNorm,
    Last,
    Layer,
    MaxPool,
    Parameter,
    Relu,
    Residual,
    Tanh,
)

__all__ = [
    "LSTM",
    "Architecture",
    "Convolution",
    "Dense",
    "Embedding",
    "Flatten",
    "GlobalMean",
    "GroupNorm",
    "Last",
    "Layer",
    "MaxPool",
    "Parameter",
    "Relu",
    "Residual",
    "Slot",
    "Tanh",
]
