"""Rounds that are given by their functions, FedLin's, Mime's and a user's own, against loops over all outcomes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import pytest

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.build import algorithms
from boundcheck.methods.kinds.gradient_shift import FedLin, Mime
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Average,
    AveragedModels,
    Constant,
    Formula,
    Full,
    GradientSteps,
    OwnSteps,
    Participation,
    StochasticSteps,
    Uniform,
    WithReplacement,
)  # fmt: skip
from boundcheck.methods.round import At, Rule, Sent
from boundcheck.problems.build import build
from boundcheck.problems.problem import clients_of

F = Fraction
# one dimension: samples (a, b) of each client, of gradient a x - b
SAMPLES = (((F(1), F(1)), (F(1, 3), F(0))), ((F(2), F(1, 2)),), ((F(1, 2), F(-1)), (F(3, 2), F(2))))
PROBLEM = build(
    {
        "kind": "quadratics",
        "start": [3],
        "clients": [{"components": [{"A": [[str(a)]], "b": [str(b)]} for a, b in own]} for own in SAMPLES],
    }
)
ETA, EVERYONE = F(1, 5), range(3)
WHOLE = [(sum(a for a, _ in own) / len(own), sum(b for _, b in own) / len(own)) for own in SAMPLES]
LOWEST = sum(b for _, b in WHOLE) / sum(a for a, _ in WHOLE)


def slope(sample: tuple[F, F], x: F) -> F:
    return sample[0] * x - sample[1]


def curve(rule: Rule, local: Any, rounds: int, participation: Participation | None = None) -> list[F]:
    method = Method("own", participation or Full(), local, Constant(ETA), functions=rule)
    grid = list(range(1, rounds + 1))
    return list(run_exact(method, PROBLEM, grid, ["dist2"], arithmetic=Arithmetic.RATIONAL).exact["dist2"])


def test_fedlin_by_hand() -> None:
    x, found = F(3), list[F]()
    for _ in range(3):
        mean = sum(slope(w, x) for w in WHOLE) / 3
        models: list[F] = []
        for i, taken in enumerate((2, 3, 1)):
            y = x
            for _ in range(taken):
                y -= ETA / taken * (slope(WHOLE[i], y) - slope(WHOLE[i], x) + mean)
            models.append(y)
        x = sum(models) / F(3)
        found.append((x - LOWEST) ** 2)
    assert curve(FedLin(), OwnSteps((2, 3, 1)), 3) == found


def outcomes(size: int, steps: int) -> list[tuple[int, ...]]:
    return list(itertools.product(range(size), repeat=steps))


def test_mime_over_all_cohorts_and_draws() -> None:
    beta, size = F(1, 3), 2
    histories = [(F(1), F(3), F(0))]
    found: list[F] = []
    cohorts = list(itertools.combinations(EVERYONE, size))
    for _ in range(2):
        after: list[tuple[F, F, F]] = []
        for p, x, m in histories:
            for cohort in cohorts:
                c = sum((slope(WHOLE[i], x) for i in cohort), F(0)) / size
                draws = [outcomes(len(SAMPLES[i]), 2) for i in cohort]
                share = p / len(cohorts)
                for drawn in itertools.product(*draws):
                    models: list[F] = []
                    for i, own in zip(cohort, drawn, strict=True):
                        y = x
                        for j in own:
                            s = SAMPLES[i][j]
                            y -= ETA * ((1 - beta) * (slope(s, y) - slope(s, x) + c) + beta * m)
                        models.append(y)
                    likely = share
                    for own in draws:
                        likely /= len(own)
                    after.append((likely, sum(models, F(0)) / size, (1 - beta) * c + beta * m))
        histories = after
        found.append(sum(p * (x - LOWEST) ** 2 for p, x, _ in histories))
    assert curve(Mime(beta), StochasticSteps(2, 1), 2, Uniform(size)) == found


@dataclass(frozen=True)
class Buffered(Rule):
    """A stranger's: a momentum buffer inside visits, an extragradient step with the samples' own gradient."""

    local: ClassVar[tuple[str, ...]] = ("y", "v")

    def begin(self, at: At) -> Mapping[str, Any]:
        return {"y": at.server["x"]}

    def step(self, y: Mapping[str, Any], g: Callable[[Any], Any], at: At) -> Mapping[str, Any]:
        v = F(1, 4) * y["v"] + g(y["y"] - at.eta * g(y["y"]))
        return {"y": y["y"] - at.eta * v, "v": v}

    def upload(self, y: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        return {"x": y["y"] - at.start}


def test_a_buffer_and_a_nested_gradient_over_all_draws() -> None:
    histories, found = [(F(1), F(3))], list[F]()
    draws = [outcomes(len(own), 2) for own in SAMPLES]
    for _ in range(2):
        after: dict[F, F] = {}
        for p, x in histories:
            for drawn in itertools.product(*draws):
                moved = F(0)
                for i, own in zip(EVERYONE, drawn, strict=True):
                    y, v = x, F(0)
                    for j in own:
                        s = SAMPLES[i][j]
                        v = F(1, 4) * v + slope(s, y - ETA * slope(s, y))
                        y -= ETA * v
                    moved += (y - x) / 3
                share = p
                for own in draws:
                    share /= len(own)
                after[x + moved] = after.get(x + moved, F(0)) + share
        histories = [(p, x) for x, p in after.items()]
        found.append(sum(p * (x - LOWEST) ** 2 for p, x in histories))
    assert curve(Buffered(), StochasticSteps(2, 1), 2) == found


@dataclass(frozen=True)
class Averaged(Rule):
    """FedAvg whose server keeps the mean of two points too, and names that first."""

    kept_by_server: ClassVar[Mapping[str, bool]] = {"middle": True, "x": True}

    def combine(self, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        x = at.server["x"] + total["x"]
        return {"x": x, "middle": (at.server["x"] + x) / 2}


def test_metrics_are_of_x_wherever_it_is_named() -> None:
    assert curve(Averaged(), StochasticSteps(2, 1), 2) == curve(Rule(), StochasticSteps(2, 1), 2)


@dataclass(frozen=True)
class Trailing(Rule):
    """A second local vector, which begins at twice the server's and follows the model."""

    local: ClassVar[tuple[str, ...]] = ("y", "z")

    def begin(self, at: At) -> Mapping[str, Any]:
        return {"y": at.server["x"], "z": 2 * at.server["x"]}

    def step(self, y: Mapping[str, Any], g: Callable[[Any], Any], at: At) -> Mapping[str, Any]:
        return {"y": y["y"] - at.eta * g(y["z"] / 2), "z": (y["z"] + 2 * y["y"]) / 2}

    def upload(self, y: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        return {"x": (y["y"] + y["z"] / 2) / 2 - at.start}


def test_local_vectors_begin_at_multiples_of_points() -> None:
    x, found = F(3), list[F]()
    for _ in range(3):
        ends: list[F] = []
        for w in WHOLE:
            y, z = x, 2 * x
            for _ in range(3):
                y, z = y - ETA * slope(w, z / 2), (z + 2 * y) / 2
            ends.append((y + z / 2) / 2)
        x = sum(ends, F(0)) / 3
        found.append((x - LOWEST) ** 2)
    assert curve(Trailing(), GradientSteps(3), 3) == found


@dataclass(frozen=True)
class Undeclared(Rule):
    """Its numbers change with the round, and it says that they do not."""

    def numbers(self, round_index: int, dim: int) -> Mapping[str, Any]:
        return {"share": F(1, round_index + 1)}


@dataclass(frozen=True)
class Unlawful(Rule):
    """What it draws has probabilities that sum to 3/4."""

    def drawn(self, round_index: int) -> Sequence[tuple[F, Mapping[str, Any]]]:
        return ((F(1, 2), {"coin": 0}), (F(1, 4), {"coin": 1}))


@dataclass(frozen=True)
class Keeping(Rule):
    """Clients keep what they moved."""

    kept_by_clients: ClassVar[Mapping[str, bool]] = {"moved": False}

    def keep(self, y: Any, at: At) -> Mapping[str, Any]:
        return {"moved": y - at.start}


@dataclass(frozen=True)
class Nowhere(Rule):
    """Its server has no point."""

    kept_by_server: ClassVar[Mapping[str, bool]] = {"m": False}


@dataclass(frozen=True)
class Clipped(Rule):
    """Not affine."""

    def step(self, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        return y - at.eta * max(g(y), g(at.start))


@dataclass(frozen=True)
class Misspelt(Rule):
    """Gives the server something that it does not keep."""

    def combine(self, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        return {"x": at.server["x"] + total["x"], "momentum": total["x"]}


@dataclass(frozen=True)
class Forgetful(Rule):
    """Asks the server for what it does not keep."""

    def begin(self, at: At) -> Any:
        return at.server["momentum"]


REFUSED: list[tuple[Rule, Participation, type[Exception], str]] = [
    (Undeclared(), Full(), BadInput, "rounds 0 and 1 have different numbers"),
    (Unlawful(), Full(), BadInput, "do not sum to 1"),
    (Keeping(), WithReplacement(2), Unsupported, "draws a client twice"),
    (Clipped(), Full(), Unsupported, "comparison of vectors"),
    (Misspelt(), Full(), BadInput, "combine gives 'momentum', which is none of x"),
    (Nowhere(), Full(), BadInput, "keeps no point 'x'"),
    (Forgetful(), Full(), BadInput, "the function begin of its round fails: there is no 'momentum'"),
]


@pytest.mark.parametrize(("rule", "cohorts", "error", "said"), REFUSED, ids=[row[3] for row in REFUSED])
def test_what_is_refused(rule: Rule, cohorts: Participation, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        curve(rule, GradientSteps(1), 1, cohorts)


def test_bad_parameters_and_averaged_models_are_refused() -> None:
    with pytest.raises(BadInput, match="momentum_g = 3/2"):
        Mime(F(3, 2))
    averaged = Method("own", Full(), GradientSteps(1), Constant(ETA), server=AveragedModels(), functions=FedLin())
    with pytest.raises(Unsupported, match="averages the models of plain methods only"):
        run_exact(averaged, PROBLEM, [1], ["dist2"], arithmetic=Arithmetic.RATIONAL)


def test_a_method_with_functions_of_its_own_is_no_instance_of_the_kind_that_it_was_made_from() -> None:
    assert "fedavg" in algorithms(Method("own", Full(), GradientSteps(2), Constant(ETA)), clients_of(PROBLEM))
    own = Method("own", Full(), GradientSteps(2), Constant(ETA), functions=Buffered())
    assert algorithms(own, clients_of(PROBLEM)) == ()


@pytest.mark.parametrize("path", ["numpy", "numba"])
def test_simulated_runs_carry_functions_of_a_round(path: Any) -> None:
    method = Method("own", Full(), GradientSteps(2), Constant(ETA), functions=FedLin())
    exact = run_exact(method, PROBLEM, [1, 3], ["dist2"], arithmetic=Arithmetic.RATIONAL).exact["dist2"]
    found = run_sampled(method, PROBLEM, 3, range(2), ["dist2"], (1, 3), path=path)
    assert found.values["dist2"] == pytest.approx([float(v) for v in exact], rel=1e-13)


@dataclass(frozen=True)
class Heard(Rule):
    """Clients send what they keep, how far they went before, and steps go against half its mean too."""

    kept_by_clients: ClassVar[Mapping[str, bool]] = {"c": False}

    @property
    def collecting(self) -> Any:
        return Full()

    def collect(self, at: At) -> Mapping[str, Sent]:
        return {"m": Sent(at.client["c"], Average())}

    def step(self, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        return y - at.eta * (g(y) + at.collected["m"] / 2)

    def keep(self, y: Any, at: At) -> Mapping[str, Any]:
        return {"c": at.client["c"] + at.start - y}


@pytest.mark.parametrize("path", ["numpy", "numba"])
def test_what_clients_keep_can_be_collected(path: Any) -> None:
    """Everybody collects in every round, and what is kept changes: nothing of the round before serves again."""
    method, grid = Method("heard", Full(), GradientSteps(2), Constant(ETA), functions=Heard()), [1, 2, 3, 4]
    exact = run_exact(method, PROBLEM, grid, ["dist2"], arithmetic=Arithmetic.RATIONAL).exact["dist2"]
    found = run_sampled(method, PROBLEM, 4, range(2), ["dist2"], grid, path=path)
    assert found.values["dist2"] == pytest.approx([float(v) for v in exact], rel=1e-12)


def test_step_sizes_by_iteration_reach_the_functions() -> None:
    method = Method("own", Full(), GradientSteps(2), Formula("1/(4 + t)"), functions=Mime(F(0)))
    x, found = F(3), list[F]()
    for t in range(2):
        c = sum((slope(w, x) for w in WHOLE), F(0)) / 3
        models: list[F] = []
        for w in WHOLE:
            y = x
            for k in range(2):
                y -= F(1, 4 + 2 * t + k) * (slope(w, y) - slope(w, x) + c)
            models.append(y)
        x = sum(models, F(0)) / 3
        found.append((x - LOWEST) ** 2)
    own = run_exact(method, PROBLEM, [1, 2], ["dist2"], arithmetic=Arithmetic.RATIONAL).exact["dist2"]
    assert list(own) == found
