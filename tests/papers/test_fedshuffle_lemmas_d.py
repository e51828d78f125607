"""Lemmas D.1 to D.5 (FedShuffleMVR) against numbers by hand and against all orders and draws of tiny problems.

S. Horvath et al., "FedShuffle: Recipes for Better Use of Local Work in Federated Learning", Appendix D. The recursions
here are written from equations (12), (13), (24) and (25) of the paper, in fractions, without the package's engines.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest

from boundcheck.theory.discovery import readings, statement
from boundcheck.theory.statement import Belief

F = Fraction
BOTH = ("as_printed", "corrected")


def exact(id: str, **values: Any) -> Fraction:
    return F(str(statement(f"fedshuffle/lemma_d_{id}").evaluate(**values).exact))


# numbers by hand

ROUND = {"E": 1, "eta_l": "1/40", "delta": 1, "L": 10, "a": "3/4", "P2": 0}


@pytest.mark.parametrize("reading", BOTH)
def test_values_by_hand(reading: str) -> None:
    # eta^2 L^2 = 1/16: 2/16 * 5/2 + 3/16
    at = {"d2": 3, "sigma2_i": 5, "D_i": 2, "eta_l": "1/8", "L": 2, "a": "1/2", "P2": 0}
    assert exact(f"1/{reading}", **at) == F(1, 2)
    # 3*2 + 3*4*3 + 3/4*5
    assert exact("2", h2=2, y2=3, gam2=5, delta=2, a="1/2") == F(183, 4)
    assert exact("2/sharp", h2=2, y2=3, gam2=5, delta=2, a="1/2") == F(165, 4)  # 3/4*2 in place of 3*2
    # 64/256*7 + 128/256*(3 + 3 + 4/256*2)
    at = {"E": 2, "eta_l": "1/16", "delta": 1, "L": 2, "S": 7, "h2": 1, "gam2": 4, "a": "1/2", "P2": 0}
    assert exact("3", sigma2_i=6, D_i=3, **at) == F(305, 64)
    # 48/37 * 2/256 * (3*7 + 18*(1/4 + 1/4*4) + 8/256*4*2) = 3/296 * (21 + 45/2 + 1/4)
    assert exact("3/sharp", sigma2_i=6, D_i=3, **at) == F(525, 1184)
    assert exact("3/sharp", sigma2_i=6, D_i=3, **{**at, "E": 1}) == 0  # the only epoch starts at x
    # 9/32*32 + 27/16*16 + 16*100/40^4*1600 + 8/1600*200
    more = {"B2": 1} if reading == "as_printed" else {}
    assert exact(f"4/{reading}", h2=32, gam2=16, sigma2_i=1600, D_i=1, S=200, **ROUND, **more) == 38
    # 10*40/10 + 1440/(3/4*10) + 25/16*16 + 255*3
    rest = {"gap_0": 2, "h2_0": 23, "R": 10, "G2": 4, "B2": 1, "sigma2": 16}
    assert exact(f"5/{reading}", **rest, **ROUND) == 40 + 192 + 25 + 765


def test_the_constants_that_the_theorem_takes_from_lemma_d_5() -> None:
    at = {"E": 2, "eta_l": "1/128", "delta": 1, "L": 1, "R": 3, "B2": 1, "P2": 0}
    nothing = {"gap_0": 0, "h2_0": 0, "G2": 0, "sigma2": 0}
    # with |m^0 - grad f|^2 <= G^2/R: 5*288/23 = 62.609 <= 63 of G^2/(a R^2)
    first = exact("5", a="9/32", **at, **{**nothing, "h2_0": F(1, 3)}) * F(9, 32) * 9
    assert first == F(1440, 23) == F(5 * 288, 23)
    assert F(62609, 1000) - F(1, 1000) < first <= 63
    # with a = 1152 E^2 delta^2 eta_l^2: 255*1152 = 293760 of E^2 delta^2 eta_l^2 G^2
    second = exact("5", a="9/32", **at, **{**nothing, "G2": 1})
    assert second == 293760 * 4 * F(1, 128) ** 2
    # with a = 1/R instead: 255 + 63 = 318 of G^2/R
    third = exact("5", a=F(1, 3), **at, **{**nothing, "G2": 1, "h2_0": F(1, 3)})
    assert F(317, 3) < third <= F(318, 3)
    # 10 * 58752^(1/3) = 388.75 <= 390, with 58752 = 293760/5
    assert 58752 * 5 == 293760
    assert 38874**3 < 58752 * 1000 * 100**3 <= 39000**3


def test_no_statement_has_a_wrong_dimension_and_all_are_believed() -> None:
    every = [s for n in range(1, 6) for s in readings("fedshuffle", f"lemma_d_{n}")]
    assert [s.id for s in every if s.dimension_errors()] == []
    assert all(s.belief is Belief.TRUE for s in every)
    assert {s.id.partition("/")[2] for s in every} == {
        *(f"lemma_d_{n}/{r}" for n in (1, 4, 5) for r in BOTH),
        *(f"lemma_d_{n}/{r}" for n in (2, 3) for r in ("as_printed", "sharp")),
    }


@pytest.mark.parametrize(
    ("change", "inside"),
    [
        ({}, True),
        ({"eta_l": "1/39"}, False),  # 40 delta E eta_l <= 1
        ({"L": "101/10"}, False),  # 4 L eta_l <= 1
        ({"delta": 0, "L": 10}, True),  # no condition from delta = 0
        ({"a": "72/100"}, True),  # 1152/1600
        ({"a": "71/100"}, False),
        ({"a": 1}, True),
        ({"a": "101/100"}, False),
        ({"P2": "1/10"}, False),
    ],
)
def test_both_sides_of_the_conditions(change: dict[str, Any], inside: bool) -> None:
    at = {**ROUND, **change}
    assert statement("fedshuffle/lemma_d_4").scope(**at).in_scope is inside
    assert statement("fedshuffle/lemma_d_5").scope(**at, B2=1).in_scope is inside
    assert statement("fedshuffle/lemma_d_5").scope(**at, B2="11/10").in_scope is False


# all orders, in fractions


@dataclass(frozen=True)
class Sample:
    """The loss slope*(x - minimiser)^2/2 in one dimension."""

    slope: Fraction
    minimiser: Fraction

    def gradient(self, x: Fraction) -> Fraction:
        return self.slope * (x - self.minimiser)


Client = tuple[Sample, ...]


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, F(0)) / len(values)


def gradient(client: Client, x: Fraction) -> Fraction:
    return mean([s.gradient(x) for s in client])


def variance(client: Client, x: Fraction) -> Fraction:
    return mean([(s.gradient(x) - gradient(client, x)) ** 2 for s in client])


def epoch(order: tuple[Sample, ...], y: Fraction, x: Fraction, m: Fraction, eta: Fraction, a: Fraction) -> Any:
    """(end of the epoch, average gradient g); each step is eta/N (grad(y) + (1-a)(m - grad(x))) of one sample."""
    total = F(0)
    for sample in order:
        now = sample.gradient(y)
        total += now
        y -= eta / len(order) * (now + (1 - a) * (m - sample.gradient(x)))
    return y, total / len(order)


def number(draw: random.Random, low: int, high: int) -> Fraction:
    return F(draw.randint(low, high), draw.randint(1, 4))


def epoch_error(client: Client, y: Fraction, x: Fraction, m: Fraction, eta: Fraction, a: Fraction) -> Fraction:
    there = gradient(client, y)
    return mean([(epoch(order, y, x, m, eta, a)[1] - there) ** 2 for order in permutations(client)])


def test_lemma_d_1_by_all_orders() -> None:
    draw = random.Random(4)
    ratios: list[Fraction] = []
    for size in (1, 2, 3, 4) * 12:
        client = tuple(Sample(number(draw, -6, 6), number(draw, -6, 6)) for _ in range(size))
        L = max(abs(s.slope) for s in client) or F(1)
        y, x, m = (number(draw, -6, 6) for _ in range(3))
        eta, a = F(draw.randint(1, 8), 8) / (2 * L), F(draw.randint(1, 4), 4)
        d = gradient(client, y) + (1 - a) * (m - gradient(client, x))
        # Assumption 3.4 is used at these two points alone
        sigma2 = max(variance(client, y), variance(client, x))
        at = {"d2": d**2, "sigma2_i": sigma2, "D_i": size, "eta_l": eta, "L": L, "a": a, "P2": 0}
        assert statement("fedshuffle/lemma_d_1").scope(**at).in_scope
        bound, error = exact("1", **at), epoch_error(client, y, x, m, eta, a)
        assert error <= bound
        ratios.append(error / bound if bound else F(0))
    assert max(ratios) > F(1, 50)


def test_one_epoch_by_hand() -> None:
    # two samples x^2/2, y = 1, m = 0, x = 0, a = 1: y_1 = 1 - eta/2, so g - 1 = -eta/4
    client = (Sample(F(1), F(0)),) * 2
    eta = F(1, 2)
    assert epoch_error(client, F(1), F(0), F(0), eta, F(1)) == (eta / 4) ** 2
    at = {"d2": 1, "sigma2_i": 0, "D_i": 2, "eta_l": eta, "L": 1, "a": 1, "P2": 0}
    assert exact("1", **at) == eta**2


def linear(slopes: list[Fraction], shift: list[Fraction], z: list[Fraction]) -> list[Fraction]:
    """The gradient at z of a quadratic with a diagonal Hessian."""
    return [p * t - s for p, t, s in zip(slopes, z, shift, strict=True)]


def test_lemma_d_2_for_quadratics_of_the_plane() -> None:
    draw = random.Random(7)
    for _ in range(60):
        own, every, shift, other, x, y, m = ([number(draw, -5, 5) for _ in range(2)] for _ in range(7))
        a = F(draw.randint(0, 4), 4)
        # Assumption 3.5 holds with the largest difference of an entry
        delta = max(abs(p - q) for p, q in zip(own, every, strict=True))
        fix, fiy = linear(own, shift, x), linear(own, shift, y)
        fx, fy = linear(every, other, x), linear(every, other, y)
        d = [a * p + (1 - a) * q + (1 - a) * (p - r) for p, q, r in zip(fiy, m, fix, strict=True)]
        at = {"h2": square(m, fx), "y2": square(y, x), "gam2": square(fix, fx), "delta": delta, "a": a}
        assert square(d, fy) <= exact("2/sharp", **at) <= exact("2", **at)


def test_lemma_d_2_by_hand() -> None:
    # f = 0, f_i = z^2/2, x = 0, y = 1, m = 1, a = 0: d = 2 and the bound is 3 + 3
    assert exact("2", h2=1, y2=1, gam2=0, delta=1, a=0) == 6 >= 2**2
    # the bound is attained by three equal parts: h = 2/(1 - a), grad f_i moved by 2, deviation 2/a, with a = 1/2
    assert exact("2/sharp", h2=16, y2=1, gam2=16, delta=2, a="1/2") == 36 == (4 * F(1, 2) + 2 + 4 * F(1, 2)) ** 2
    # one client, a = 1: d = grad f(y), and nothing is left of h
    assert exact("2/sharp", h2=7, y2=5, gam2=0, delta=0, a=1) == 0
    assert exact("2", h2=0, y2=5, gam2=0, delta=0, a=1) == 0


def square(u: list[Fraction], v: list[Fraction]) -> Fraction:
    return sum(((p - q) ** 2 for p, q in zip(u, v, strict=True)), F(0))


# whole rounds: every client, every order of every epoch, every next client


@dataclass(frozen=True)
class Problem:
    clients: tuple[Client, ...]

    @property
    def weights(self) -> list[Fraction]:
        total = sum(len(c) for c in self.clients)
        return [F(len(c), total) for c in self.clients]

    def gradient(self, x: Fraction) -> Fraction:
        return sum((w * gradient(c, x) for w, c in zip(self.weights, self.clients, strict=True)), F(0))

    def mean(self, of: Callable[[Client], Fraction]) -> Fraction:
        return sum((w * of(c) for w, c in zip(self.weights, self.clients, strict=True)), F(0))

    def value(self, x: Fraction) -> Fraction:
        return self.mean(lambda c: mean([s.slope * (x - s.minimiser) ** 2 / 2 for s in c]))


def rounds(p: Problem, i: int, x: Fraction, m: Fraction, E: int, eta: Fraction, a: Fraction) -> Iterator[Any]:
    """(probability, starts of the epochs, end) for every choice of orders."""
    orders = list(permutations(p.clients[i]))
    for chosen in product(orders, repeat=E):
        starts, y = [], x
        for order in chosen:
            starts.append(y)
            y = epoch(order, y, x, m, eta, a)[0]
        yield F(1, len(orders) ** E), starts, y


def similar(draw: random.Random, sizes: tuple[int, ...], spread: int) -> Problem:
    """Clients whose samples share a slope, so that P_i = 0; slopes differ by client where spread > 0."""
    clients: list[Client] = []
    for size in sizes:
        slope = 2 + F(draw.randint(-spread, spread), 10)
        clients.append(tuple(Sample(slope, number(draw, -4, 4)) for _ in range(size)))
    return Problem(tuple(clients))


@pytest.mark.parametrize("seed", range(6))
def test_lemmas_d_3_and_d_4_by_all_draws(seed: int) -> None:
    draw = random.Random(seed)
    p, E = similar(draw, (1, 2), 5), 2
    slopes = [c[0].slope for c in p.clients]
    overall = p.mean(lambda c: c[0].slope)
    L, delta = max(slopes), max(abs(s - overall) for s in slopes)
    eta = min(1 / (4 * L), 1 / (40 * delta * E) if delta else F(1))
    a = max(1152 * (E * delta * eta) ** 2, F(1, 4))
    x, m = number(draw, -4, 4), number(draw, -4, 4)
    h2, gam2 = (m - p.gradient(x)) ** 2, p.mean(lambda c: (gradient(c, x) - p.gradient(x)) ** 2)
    noise = p.mean(lambda c: variance(c, x) / len(c))
    drift = S = after = F(0)
    for i, w in enumerate(p.weights):
        for chance, starts, end in rounds(p, i, x, m, E, eta, a):
            drift += w * chance * sum((y - x) ** 2 for y in starts)
            S += w * chance * sum(p.gradient(y) ** 2 for y in starts)
            for j, v in enumerate(p.weights):
                own = p.clients[j]
                new = a * gradient(own, end) + (1 - a) * (m + gradient(own, end) - gradient(own, x))
                after += w * v * chance * (new - p.gradient(end)) ** 2
    # the means over the clients; sigma_i^2/|D_i| enters through its mean
    at = {"h2": h2, "gam2": gam2, "sigma2_i": noise, "D_i": 1, "S": S, "E": E}
    at |= {"eta_l": eta, "delta": delta, "L": L, "a": a, "P2": 0}
    for id, found in (("3", drift), ("3/sharp", drift), ("4", after)):
        assert statement(f"fedshuffle/lemma_d_{id}").scope(**at).in_scope
        assert 0 < found <= exact(id, **at)
    assert 2 * exact("3/sharp", **at) < exact("3", **at)


@pytest.mark.parametrize("seed", range(3))
def test_lemma_d_5_by_all_draws_of_two_rounds(seed: int) -> None:
    """With B = 1 and quadratics all clients share the slope, so delta = 0 and any a is allowed."""
    draw = random.Random(seed)
    p, E, R = similar(draw, (1, 2), 0), 2, 2
    L = p.clients[0][0].slope
    eta, a = 1 / (4 * L), F(draw.randint(1, 4), 4)
    x0, m0 = number(draw, -4, 4), number(draw, -4, 4)
    best = x0 - p.gradient(x0) / L
    G2 = p.mean(lambda c: (gradient(c, x0) - p.gradient(x0)) ** 2)
    noise = p.mean(lambda c: variance(c, x0) / len(c))
    states = {(x0, m0): F(1)}
    total = F(0)
    for _ in range(R):
        following: dict[tuple[Fraction, Fraction], Fraction] = {}
        for (x, m), chance in states.items():
            for i, w in enumerate(p.weights):
                for q, starts, end in rounds(p, i, x, m, E, eta, a):
                    total += chance * w * q * sum(p.gradient(y) ** 2 for y in starts)
                    for j, v in enumerate(p.weights):
                        own = p.clients[j]
                        new = a * gradient(own, end) + (1 - a) * (m + gradient(own, end) - gradient(own, x))
                        following[end, new] = following.get((end, new), F(0)) + chance * w * q * v
        states = following
    assert sum(states.values()) == 1
    at = {"gap_0": p.value(x0) - p.value(best), "h2_0": (m0 - p.gradient(x0)) ** 2, "E": E, "R": R, "eta_l": eta}
    at |= {"delta": 0, "L": L, "a": a, "G2": G2, "B2": 1, "P2": 0, "sigma2": noise}
    assert statement("fedshuffle/lemma_d_5").scope(**at).in_scope
    assert 0 < total / (R * E) <= exact("5", **at)
