"""The tests of means and of laws: rates of false alarms, and the errors that they say they would see."""

from __future__ import annotations

import numpy as np
import pytest

from boundcheck.errors import BadInput
from boundcheck.judge.agreement import Expected, check_means, same_law
from boundcheck.problems.problem import Floats

J = 12


def expected(width: float = 6.0) -> Expected:
    zero, one = np.zeros(J), np.ones(J)
    return Expected(tuple(f"X{j}" for j in range(J)), zero, -width * one, width * one, 1e-12 * one)


def noise(rng: np.random.Generator, shape: tuple[int, int], shift: float = 0.0, width: float = 6.0) -> Floats:
    """Uniform numbers of variance 1; the quantity in the middle has the mean `shift`."""
    found = rng.uniform(-np.sqrt(3), np.sqrt(3), size=shape)
    found[:, J // 2] += shift
    return found


def test_an_error_of_the_stated_size_is_seen() -> None:
    rng, seen = np.random.default_rng(0), 0
    size = float(check_means(lambda r: noise(rng, (len(r), J)), expected(), seeds=1024).error[0])
    assert 0.2 < size < 0.5
    for _ in range(30):
        found = check_means(lambda r: noise(rng, (len(r), J), size), expected(), seeds=1024)
        seen += found.refuted and found.where == J // 2
    assert seen >= 28  # 0.99 each


@pytest.mark.parametrize("alpha", [0.2, 0.01])
def test_false_alarms(alpha: float) -> None:
    """Skewed and discrete laws, some of which sit at their limits most of the time, looked at after every block."""
    rng, alarms, tries = np.random.default_rng(1), 0, 300
    p: Floats = np.linspace(0.02, 0.98, J)
    null = Expected(tuple(map(str, range(J))), p, np.zeros(J), np.ones(J), np.zeros(J))
    for _ in range(tries):
        common = rng.uniform(size=(256, 1))  # quantities that depend on each other
        drawn: Floats = np.asarray(common < p, dtype=np.float64)
        alarms += check_means(lambda r, x=drawn: x[r.start : r.stop], null, seeds=256, rate=alpha).refuted
    assert alarms <= tries * alpha + 3 * np.sqrt(tries * alpha)


def test_limits_and_rounding() -> None:
    one = expected(1.0)
    assert check_means(lambda r: np.full((len(r), J), 1.5), one, seeds=4).outside
    assert check_means(lambda r: np.full((len(r), J), np.nan), one, seeds=4).outside
    fixed = Expected(("x",), np.ones(1), np.ones(1), np.ones(1), np.full(1, 1e-9))
    assert not check_means(lambda r: np.full((len(r), 1), 1 + 1e-12), fixed, seeds=4096).refuted
    assert check_means(lambda r: np.full((len(r), 1), 1 + 1e-6), fixed, seeds=4).refuted
    for wrong in ({"rate": 0.0}, {"power": 1.0}, {"seeds": 0}):
        with pytest.raises(BadInput):
            check_means(lambda r: np.zeros((len(r), J)), one, **wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(BadInput, match="between its limits"):
        Expected(("x",), np.ones(1), np.zeros(1), np.zeros(1), np.zeros(1))


def test_laws() -> None:
    """Same laws up to rounding agree, and laws with one mean but another spread do not."""
    rng = np.random.default_rng(2)
    names = [str(j) for j in range(J)]
    atoms = rng.integers(0, 3, size=(3000, J)) / 3.0
    moved = rng.integers(0, 3, size=(1000, J)) / 3.0 + 1e-14
    assert not same_law(moved, atoms, names).refuted
    wide, narrow = noise(rng, (3000, J)), noise(rng, (1000, J))
    assert not same_law(narrow, wide, names).refuted
    narrow[:, 5] *= 0.5
    found = same_law(narrow, wide, names)
    assert found.refuted
    assert found.where == 5
    assert found.distance[5] > found.allowed > float(np.delete(found.distance, 5).max())
    alarms = sum(same_law(noise(rng, (64, J)), noise(rng, (256, J)), names, rate=0.05).refuted for _ in range(200))
    assert alarms <= 20
