"""Methods whose sampled runs are held against a run written out (`brute`), and their problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from sampled_toys import Toy, random_toy

from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    AggregationContext,
    Average,
    Blocks,
    Constant,
    Correction,
    Cyclic,
    EpochRange,
    Epochs,
    ExactSolve,
    Formula,
    Full,
    GradientSteps,
    HandOver,
    Independent,
    InverseCycle,
    LogHorizon,
    Momentum,
    NoStep,
    OneByWeight,
    Pattern,
    Proximal,
    ServerMomentum,
    ServerStep,
    Stale,
    StochasticSteps,
    Subsets,
    SumOne,
    Unbiased,
    Uniform,
    WithReplacement,
)
from tests.engines.brute import World

F = Fraction
PATHS = ("numpy", "numba")
SIZES = (3, 1, 4, 2, 3)
SHARES = tuple(F(k, 20) for k in (6, 1, 7, 2, 4))
STEP = Constant(F(1, 16))


def weighted(kind: str = "rows", d: int = 3, seed: int = 4, sizes: Sequence[int] = SIZES) -> Toy:
    """Random quadratics of clients with other weights than their sizes."""
    return replace(random_toy(kind, d, sizes, seed), shares=SHARES)


class Doubles(World):
    """A toy in double precision; dist2 is the squared distance from its centre."""

    def __init__(self, toy: Toy) -> None:
        a, eye = toy.flat, np.eye(toy.dim)
        if a.kind == "isotropic":
            parts = [(c * eye, b) for c, b in zip(a.curvature, a.b, strict=True)]
        elif a.kind == "rows":
            parts = [(c * np.outer(b, b), c * t * b) for c, b, t in zip(a.curvature, a.b, a.target, strict=True)]
        else:
            parts = list(zip(a.A, a.b, strict=True))
        own = [parts[i:j] for i, j in pairwise(a.offsets.tolist())]
        super().__init__(own, toy.weights, np.array([float(v) for v in toy.start]))
        self.centre = a.centre

    def measure(self, name: str, x: np.ndarray) -> Any:
        assert name == "dist2"
        return float(((x - self.centre) ** 2).sum())


@dataclass(frozen=True)
class Largest:
    """Only the client with the largest number counts."""

    def coefficients(self, cohort: Sequence[int], setting: AggregationContext) -> list[Fraction]:
        return [Fraction(int(i == max(cohort))) for i in cohort]

    def by_client(self, setting: AggregationContext) -> Callable[[int], Fraction] | None:
        return None


TURNS, FAST = Cyclic((2, 0, 4, 1, 3)), ServerStep(F(5, 4))
PLAIN: Mapping[str, Method] = {
    "whole gradients in turn": Method("m", TURNS, GradientSteps(3), Constant(F(1, 8)), server=FAST),
    "batches above all sizes": Method("m", Uniform(5), Epochs(3, 7), LogHorizon(F(1, 4), 9), server=FAST),
    "batches in turn": Method("m", TURNS, Epochs(2, 2), InverseCycle(F(1, 2)), server=FAST),
    "weights of a cohort drawn again": Method("m", WithReplacement(3), Epochs(1, 1), STEP, Largest()),
    "weights of the cohort": Method("m", Uniform(2), Epochs(1, 1), Constant(F(1, 8)), Largest()),
}
SETS = Subsets(((0, 1), (), (2, 3, 4), (1, 4)), (F(1, 3), F(1, 6), F(1, 4), F(1, 4)))
SOME = Independent((F(1, 2), F(1, 3), F(1), F(1, 5), F(3, 4)))
WORK = Epochs(2, 2)
CASES: dict[str, Method] = {
    "fedshuffle": Method("m", Full(), Epochs(2, 1, divide="size"), STEP, Unbiased(), ServerStep(F(5, 4))),
    "independent": Method("m", SOME, Epochs(1, 1, divide="size"), STEP, Unbiased()),
    "average of varying cohorts": Method("m", SETS, GradientSteps(3), STEP),
    "sum one": Method("m", Uniform(3), WORK, STEP, SumOne()),
    "sum one of varying cohorts": Method("m", SOME, WORK, STEP, SumOne(per_share=True)),
    "nova": Method("m", Uniform(2), Epochs((1, 2, 3, 1, 2), 1, divide="largest"), STEP, Unbiased("nova")),
    "mean work": Method("m", SETS, Epochs(2, 2, common="mean"), STEP, Unbiased()),
    "unfinished": Method(
        "m", Full(), Epochs(2, 1, divide="work", missed=(1, 1, 5, 0, 3)), STEP, Unbiased("unfinished")
    ),
    "nothing finished": Method("m", Full(), Epochs(1, 1, missed=(3, 1, 0, 2, 1)), STEP, Unbiased()),
    "random epochs": Method("m", Uniform(3), Epochs(EpochRange(2, 5), 2, divide="size"), STEP, Unbiased()),
}
MVR = Momentum(F(1, 4))
MOMENTA: dict[str, Method] = {
    "mvr": Method("m", OneByWeight(), Epochs(2, 1, divide="size"), STEP, Unbiased(), momentum=MVR),
    "mvr warmed up": Method("m", SOME, WORK, STEP, SumOne(), momentum=Momentum(F(1, 3), start="sampled", warm_up=4)),
    "practical": Method("m", Uniform(2), Epochs(2, 2, divide="size"), STEP, momentum=Momentum(F(1, 10), False)),
    "practical, started": Method(
        "m",
        Full(),
        Epochs(1, 1, missed=(1, 1, 2, 0, 0)),
        STEP,
        Unbiased(),
        momentum=Momentum(F(1, 10), False, "gradient"),
    ),
    "practical of varying": Method("m", SETS, Epochs(EpochRange(1, 2)), STEP, momentum=Momentum(F(1, 2), False)),
}
DRAWN = EpochRange(1, 2)
NOVA, LEAST, MEAN = Epochs(DRAWN, divide="largest"), Epochs(DRAWN, common="min"), Epochs(DRAWN, common="mean")
HEAVY, AHEAD = ServerMomentum(F(1, 3)), ServerMomentum(F(2, 5), nesterov=True)
GROWING = ServerMomentum("(r-1)/(r+2)", nesterov=True)
STEPS = Formula("2/(31 + 7*t)")
MORE: dict[str, Method] = {
    "nova of some": Method("m", Uniform(1), replace(NOVA, sampling="replacement"), STEP, Unbiased("nova")),
    "least drawn work": Method("m", Uniform(2), replace(LEAST, E=EpochRange(1, 3), batch=2), STEP, SumOne()),
    "mean of drawn work": Method("m", Full(), replace(MEAN, sampling="replacement"), STEP, SumOne()),
    "ahead": Method("m", Uniform(2), Epochs(1, 2), STEP, SumOne(), ServerStep(F(3, 2)), server_momentum=AHEAD),
    "growing": Method("m", Uniform(1), Epochs(1, 1, divide="size"), STEP, Unbiased(), server_momentum=GROWING),
    "by step and round": Method("m", Full(), GradientSteps(2), Formula("(r + 2)/(40 + t)"), server_momentum=AHEAD),
    "by drawn batch of clients alike": Method("m", Full(), Epochs(1, 2, "replacement", "size"), STEPS),
}
UNSURE = Independent((F(1, 2), F(1, 3), F(3, 4), F(1, 5), F(3, 4)))
TIMES = Pattern(((0, 1), (), (2,), (1, 3, 4)), lead=((3,), (0, 1, 2)))
STALES: dict[str, Method] = {
    "pattern": Method("m", TIMES, WORK, STEP, Unbiased(), ServerStep(F(3, 2)), exchange=Stale()),
    "random": Method("m", UNSURE, WORK, STEP, SumOne(), exchange=Stale()),
    "drawn again": Method("m", WithReplacement(4), Epochs(1, 2, "replacement"), STEP, Average(), exchange=Stale()),
    "proximal": Method("m", Uniform(2), Proximal(F(1, 2), Epochs(EpochRange(1, 3), 2)), STEP, exchange=Stale()),
}
BLOCKS: dict[str, Method] = {
    "periodic": Method("m", Full(), Epochs(1, 2), STEP, exchange=Blocks(3, "whole")),
    "batches above most clients": Method("m", Full(), StochasticSteps(2, 4), STEP, exchange=Blocks(3)),
    "order": Method("m", Full(), WORK, STEP, exchange=Blocks(4, order=(2, 0, 3, 1), weights="data")),
    "given": Method("m", Full(), WORK, STEP, exchange=Blocks(2, ((4, 0), (1, 3, 2)), weights="data")),
    "more blocks than coordinates": Method("m", Full(), WORK, STEP, exchange=Blocks(7)),
    "averaged hand-over": Method("m", Full(), WORK, STEP, exchange=Blocks(2, hand_over=HandOver(3, 3, 1))),
    "hand-over": Method("m", Full(), WORK, STEP, exchange=Blocks(2, "whole", hand_over=HandOver(3, 4))),
}
NEAR = Proximal(F(1, 2), Epochs(2, 2))
AGAIN = WithReplacement(4)
PIPELINE = Correction(pipelined=True, decay="inverse")
WALKS: dict[str, Method] = {
    "fedprox": Method("m", AGAIN, NEAR, STEP),
    "feddane": Method("m", AGAIN, NEAR, STEP, correction=Correction(AGAIN)),
    "same cohort": Method("m", Uniform(3), NEAR, STEP, correction=Correction()),
    "dane": Method("m", Full(), Proximal(F(2), GradientSteps(3)), STEP, correction=Correction(Full(), weights="data")),
    "by data": Method("m", Uniform(2), NEAR, STEP, SumOne(), correction=Correction(WithReplacement(3), weights="data")),
    "decayed": Method("m", AGAIN, NEAR, STEP, correction=Correction(Uniform(2), "geometric", F(1, 3))),
    "inverse": Method("m", Uniform(2), NEAR, InverseCycle(F(1, 8)), correction=Correction(AGAIN, "inverse", F(3, 4))),
    "pipelined": Method("m", AGAIN, NEAR, STEP, correction=PIPELINE),
    "pipelined pattern": Method(
        "m", Pattern(((0, 2), (1, 3, 4)), ((1,),)), NEAR, STEP, Unbiased(), correction=Correction(pipelined=True)
    ),
    "weights of clients": Method(
        "m",
        Independent((F(1), F(1, 2), F(1, 3), F(1, 2), F(1, 4))),
        Proximal((F(1), F(0), F(1, 2), F(2), F(3)), Epochs(EpochRange(1, 3), 1, "replacement", divide="size")),
        STEP,
        correction=Correction(),
    ),
}
SOLVES: dict[str, Method] = {
    "solved feddane": Method("m", AGAIN, ExactSolve(F(8)), NoStep(), correction=Correction(AGAIN)),
    "solved pipelined": Method(
        "m", AGAIN, ExactSolve(tuple(F(k) for k in (8, 9, 10, 11, 7))), NoStep(), correction=PIPELINE
    ),
}
ALL = PLAIN | CASES | MOMENTA | MORE | STALES | BLOCKS | WALKS | SOLVES
