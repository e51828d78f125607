"""The remarks of FedShuffle's Sections 4, 5 and E.2 against enumeration, brute force and limits.

S. Horvath et al., "FedShuffle: Recipes for Better Use of Local Work in Federated Learning".
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Kind, Statement


def get(name: str, reading: str = "corrected") -> Statement:
    return statement(f"fedshuffle/{name}/{reading}")


def only(s: Statement, values: dict[str, Any]) -> dict[str, Any]:
    names = {symbol.name for symbol in s.symbols}
    return {name: value for name, value in values.items() if name in names}


LIMIT = {"sigma2": "7/36", "eta_g": 1, "batch": 1, "b": 3, "d": 6}


def enumerated_gap(eta: Fraction, E: int, rounds: int) -> Fraction:
    """E F(x^R) - F* of FedAvgRR on (36) over all orders of the samples, one by one."""
    clients = ((0,), (1, 2), (3, 4, 5))
    visits = [list(itertools.product(itertools.permutations(c), repeat=E)) for c in clients]
    points = {(Fraction(0),) * 6: Fraction(1)}
    for _ in range(rounds):
        after: dict[tuple[Fraction, ...], Fraction] = {}
        for x, p in points.items():
            ends: list[list[tuple[Fraction, ...]]] = []
            for orders in visits:
                own: list[tuple[Fraction, ...]] = []
                for epochs in orders:
                    y = list(x)
                    for j in itertools.chain.from_iterable(epochs):
                        y = [v - eta * (v - (k == j)) for k, v in enumerate(y)]
                    own.append(tuple(y))
                ends.append(own)
            total = math.prod(len(own) for own in ends)
            for chosen in itertools.product(*ends):
                shares = [[Fraction(i + 1, 6) * v for v in y] for i, y in enumerate(chosen)]
                z = tuple(sum(column, Fraction(0)) for column in zip(*shares, strict=True))
                after[z] = after.get(z, Fraction(0)) + p / total
        points = after
    return sum((p * sum((v - Fraction(1, 6)) ** 2 for v in x) / 2 for x, p in points.items()), Fraction(0))


@pytest.mark.parametrize(("eta", "E", "rounds"), [("1/8", 1, 0), ("1/8", 1, 1), ("1/8", 1, 2), ("1/3", 2, 1)])
def test_fedavg_on_equation_36_by_enumeration(eta: str, E: int, rounds: int) -> None:
    found = get("section_4_1_limit").evaluate(**LIMIT, eta_l=eta, E=E, R=rounds)
    assert found.in_scope is True
    assert found.exact == enumerated_gap(Fraction(eta), E, rounds)


def test_where_fedavg_ends() -> None:
    s = get("section_4_1_limit")

    def end(eta: str, rounds: int) -> float:
        return float(s.evaluate(**LIMIT, eta_l=eta, E=1, R=rounds).value)

    assert end("1/8", 1000) == pytest.approx(53753 / 7892652 + 1.3202e-4, rel=1e-5)
    printed = get("section_4_1_limit", "as_printed")
    assert printed.bound == sp.Rational(5, 588)
    assert printed.kind is Kind.LIMIT
    weights = [Fraction(k, 14) for k in (1, 2, 2, 3, 3, 3)]
    assert sum((w - Fraction(1, 6)) ** 2 for w in weights) / 2 == Fraction(5, 588)
    # as the step vanishes, and only then
    assert abs(end("1/10000", 10**6) - 5 / 588) < 1e-5
    assert abs(end("1/8", 10**4) - 5 / 588) > 1e-3
    assert s.scope(**{**only(s, LIMIT), "b": 2}).in_scope is False


def test_expected_weights_of_sum_one() -> None:
    for client, of in enumerate(get("section_4_2_sum_one", f"as_printed_client_{i}").bound for i in (1, 2, 3)):
        pairs = [c for c in itertools.combinations(range(3), 2) if client in c]
        exact = sum(Fraction(client + 1, sum(i + 1 for i in c)) for c in pairs) / 3
        assert Fraction(int(of.p), int(of.q)) == exact
        own, *others = client + 1, *(i + 1 for i in range(3) if i != client)
        values = dict(zip(("w_i", "w_j", "w_k"), (own, *others), strict=True))
        assert get("section_4_2_sum_one", "general").evaluate(**values).exact == exact  # shares, so counts will do
    alike = get("section_4_2_sum_one", "general").evaluate(w_i="1/3", w_j="1/3", w_k="1/3")
    assert alike.exact == Fraction(1, 3)


def test_m_of_uniform_and_importance_sampling() -> None:
    weights = (Fraction(1, 6), Fraction(1, 3), Fraction(1, 2))
    b = 2
    independent = max((1 - b * w) / (b * w) * w for w in weights)
    assert get("section_5_importance").evaluate(w_min="1/6", b=b).exact == independent == Fraction(1, 3)
    assert get("section_5_importance", "as_printed").evaluate(w_min="1/6", b=b).exact == Fraction(5, 12)
    alone = {"w_min": "1/10", "b": 1}
    assert get("section_5_importance").evaluate(**alone).exact == Fraction(9, 10)
    assert get("section_5_importance", "as_printed").evaluate(**alone).exact == Fraction(9, 10)
    uniform = get("section_5_full_participation", "as_printed")
    assert uniform.evaluate(n=3, b=2, w_max="1/2").exact == Fraction(3, 8)
    assert uniform.evaluate(n=3, b=3, w_max="1/2").exact == 0
    corrected = get("section_5_full_participation")
    assert corrected.evaluate(n=3, b=2, w_max="1/2").exact == Fraction(3, 8)
    assert corrected.evaluate(n=1, b=1, w_max=1).exact == 0
    with pytest.raises(BadInput):
        uniform.evaluate(n=1, b=1, w_max=1)
    # its s_i is the largest eigenvalue of Pmat - p p^T over p: (n-b)/(n-1), at a vector of sum 0
    p, pair = Fraction(2, 3), Fraction(1, 3)
    assert (p - p**2) - (pair - p**2) == p * Fraction(3 - 2, 3 - 1)


def test_importance_sampling_does_not_minimise_m() -> None:
    def m(p: float, w: float) -> float:
        return max((1 - p) / p * w, p / (1 - p) * (1 - w))

    for w in (0.9, 0.5, 0.3):
        best = min(m(k / 1000, w) for k in range(1, 1000))
        found = float(get("section_5_importance_optimal").evaluate(w=str(w)).value)
        assert found == pytest.approx(best, rel=1e-2)
        assert found <= best * (1 + 1e-12)
        printed = get("section_5_importance_optimal", "as_printed").evaluate(w=str(w))
        assert float(printed.value) == pytest.approx(m(w, w), rel=1e-12)
    assert get("section_5_importance_optimal").evaluate(w="9/10").exact == Fraction(3, 10)


def test_limits_of_the_middle_term() -> None:
    s = get("section_5_middle_term")
    at = {"L": 2, "mu": 1, "G2": 3, "P2": "1/4", "sigma2": 5, "E": 2, "eta_g": 1, "R": 10}
    assert s.evaluate(**at).exact == 2 * Fraction(71, 4) / 400
    printed = get("section_5_middle_term", "as_printed")
    assert printed.evaluate(**only(printed, at)).exact == Fraction(71, 4) / 400
    eta_g, E, sigma2 = (s.symbol(name).expr for name in ("eta_g", "E", "sigma2"))
    assert sp.limit(s.bound, eta_g, sp.oo) == 0
    noise = sp.expand(s.bound).coeff(sigma2)
    assert sp.limit(noise, E, sp.oo) == 0
    assert sp.limit(s.bound.subs(sigma2, 0), E, sp.oo) != 0  # G^2 stays


def test_order_of_the_noise_with_replacement() -> None:
    assert float(get("section_5_with_replacement").evaluate(R=10**6).value) == pytest.approx(1e-3)
    assert float(get("section_5_with_replacement", "as_printed").evaluate(R=10**6).value) == pytest.approx(1e-2)


def test_local_steps_of_remark_e_2() -> None:
    # (36): work 1, 2, 3; FedNova has wtilde = 1/3 and c = 3, so W = sum (1/3) D_i/3 = 2/3; FedAvg W = 14/18 = 7/9
    W = sum(Fraction(1, 3) * size / 3 for size in (1, 2, 3))
    assert Fraction(2, 3) == W
    for work in (1, 2, 3):
        printed = get("remark_e_2", "as_printed").evaluate(work=work, largest=3).exact
        assert printed == Fraction(3, work)
        at = {"work": work, "largest": 3, "W": W}
        assert get("remark_e_2").evaluate(**at, eta_g=1).exact == printed
        # from the two conditions: 1/(eta_g work) against min(1, 1/(W eta_g))/3
        for eta_g in (Fraction(6, 5), Fraction(4)):
            exact = (1 / (eta_g * work)) / (min(Fraction(1), 1 / (W * eta_g)) / 3)
            assert get("remark_e_2").evaluate(**at, eta_g=eta_g).exact == exact
    assert get("remark_e_2").evaluate(work=3, largest=3, W=W, eta_g=2).exact == Fraction(2, 3)  # smaller, not larger
