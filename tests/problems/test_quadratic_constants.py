"""Constants and decided hypotheses of FedShuffle on quadratic instances, by hand and at points."""

import json
import pickle
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.certified.constant import Known
from boundcheck.certified.lazy import LazyConstants
from boundcheck.certified.samples import Matrices
from boundcheck.core.digest import digest
from boundcheck.core.linalg import is_psd, rational
from boundcheck.problems._instance import ASSUMPTIONS
from boundcheck.problems.build import build
from boundcheck.problems.problem import clients_of

F = Fraction


def values(problem):
    return {name: c.value for name, c in problem.constants().items()}


def exact(*entries):
    x = np.empty(len(entries), dtype=object)
    x[:] = [F(v) for v in entries]
    return x


def test_equation_36():
    p = build({"kind": "fedshuffle_36"})
    found = values(p)
    assert {k: found[k] for k in ("L", "L_ij", "mu_ij", "G2", "B2", "P2", "noise2", "delta", "gap_0", "dist2_0")} == {
        "L": 1,
        "L_ij": 1,
        "mu_ij": 1,
        "G2": F(1, 3),  # sum of w_i |x* - mean of e_j|^2 = 1/6 * 5/6 + 1/3 * 1/3 + 1/2 * 1/6
        "B2": 1,
        "P2": 0,
        "noise2": F(7, 36),  # (0 + 1/2 + 2/3)/6
        "delta": 0,
        "gap_0": F(1, 12),
        "dist2_0": F(1, 6),
    }
    assert p.local_variances() == ((0, 0), (0, F(1, 2)), (0, F(2, 3)))
    assert all(c.known is Known.EXACT for c in p.constants().values())
    assert {n for n in ASSUMPTIONS if p.violations(n) is not None} == {"plain_mean", "bounded_dissimilarity"}


def test_the_sizes_of_figure_1_right():
    found = values(build({"kind": "fedshuffle_36", "sizes": [8, 1, 1]}))
    assert (found["G2"], found["B2"], found["gap_0"]) == (F(1, 5), 1, F(1, 20))


SAMPLES = {
    "kind": "quadratics",
    "clients": [
        {"components": [{"A": 1, "b": 1}, {"A": 3, "b": -1}]},  # f_1' = 2x, variance (x + 1)^2
        {"components": [{"A": 2, "b": 4}]},
    ],
    "weights": ["2/3", "1/3"],
    "start": [3],
}


def test_samples_by_hand():
    p = build(SAMPLES)
    found = values(p)
    # F' = 2x - 4/3: equal Hessians, gradients 2x and 2x - 4 about their mean: 2/3 (4/3)^2 + 1/3 (8/3)^2 = 32/9
    assert (found["B2"], found["G2"], found["delta"]) == (1, F(32, 9), 0)
    assert (found["L_ij"], found["mu_ij"], found["L"], found["mu"]) == (3, 1, 2, 2)
    # P_1^2 = 1/2 (twice 1/4), sigma_1^2 = 2; P2 = 1/2/2, noise2 = 2/3
    assert (found["P2"], found["noise2"]) == (F(1, 4), F(2, 3))
    assert found["gap_0"] == F(49, 9)  # (3 - 2/3)^2
    assert p.local_variances() == ((F(1, 2), 2), (0, 0))


def test_decisions_at_the_edge_and_just_beyond():
    p = build(SAMPLES)
    tiny = F(1, 10**50)
    edges = {
        "smooth_samples": {"L_ij": F(3)},
        "gradient_dissimilarity": {"G2": F(32, 9), "B2": F(1)},
        "local_variance": {"P2": F(1, 4), "noise2": F(2, 3)},
        "hessian_similarity": {"delta": F(0)},
        "smooth_clients": {"L": F(2)},
    }
    for name, at in edges.items():
        assert p.decides(name, at) is True
        for key in at:
            assert p.decides(name, {**at, key: at[key] - tiny}) is False
        assert p.decides(name, {k: v + 1 for k, v in at.items()}) is True
        assert p.decides(name, {}) is None
    assert p.decides("strongly_convex_samples", {"mu_ij": F(1)}) is True
    assert p.decides("strongly_convex_samples", {"mu": F(1) + tiny}) is False
    assert p.decides("strong_quasi_convexity", {"mu": F(2)}) is True
    assert p.decides("strong_quasi_convexity", {"mu": F(2) + tiny}) is False
    # sigma2 is about the plain mean over clients: gradients 4/3 and -8/3 at 2/3
    assert p.decides("finite_gradient_noise", {"sigma2": F(40, 9)}) is True
    assert p.decides("finite_gradient_noise", {"sigma2": F(40, 9) - tiny}) is False
    assert p.decides("convex_samples", {}) is p.decides("bounded_below", {}) is p.decides("convexity", {}) is True
    assert p.decides("plain_mean", {}) is False
    assert p.decides("no_such_hypothesis", {}) is None


def test_the_relaxed_form_at_its_edge():
    p = build(SAMPLES)
    # |grad F|^2 = 4 (F - F*) here, so that 2 L B2 (F - F*) with L = 3, B2 = 2/3 is |grad F|^2 itself
    at = {"G2": F(32, 9), "B2": F(2, 3), "L_ij": F(3)}
    assert p.decides("relaxed_dissimilarity", at) is True
    assert p.decides("relaxed_dissimilarity", {**at, "B2": F(2, 3) - F(1, 10**50)}) is False
    assert p.decides("relaxed_dissimilarity", {"G2": F(32, 9), "B2": F(2, 3), "L": F(3)}) is True
    assert p.decides("relaxed_dissimilarity", {"G2": F(32, 9), "B2": F(1)}) is None


@pytest.mark.parametrize(
    "spec",
    [
        {"kind": "random_quadratics", "clients": 4, "d": 3, "seed": 1},
        {"kind": "random_quadratics", "clients": 3, "d": 3, "indefinite": True, "seed": 2},
        {"kind": "scgd_section_4", "observations": 60, "clients": 3, "d": 2},
        {"kind": "least_squares", "data": "diabetes", "clients": 30, "loss": "half_mean"},
        {"kind": "least_squares", "data": "diabetes", "clients": 44, "split": "sorted"},  # fewer rows than features
    ],
)
def test_constants_hold_at_points(spec):
    p = build(spec)
    c = values(p)
    samples = p.samples()
    for k in range(6):
        x = exact(*[F((5 * i + 7 * k) % 11 - 5, 1 + (i + k) % 3) for i in range(p.dim)])
        gradients = [p.gradient(i, x) for i in range(p.clients)]
        left = sum(w * (g @ g) for w, g in zip(p.weights, gradients, strict=True))
        assert left <= c["G2"] + c["B2"] * p.metric("grad2", x)
        if "P2" not in c:
            continue
        point = [rational(v) for v in x]
        from flint import fmpq_mat

        at = fmpq_mat(p.dim, 1, point)
        total = F(0)
        for i, g in enumerate(gradients):
            spread = samples[i].moment().at(at) - g @ g
            P2, sigma2 = p.local_variances()[i]
            assert 0 <= spread <= sigma2 + P2 * (g @ g)
            assert c["P2"] * samples[i].count >= P2
            total += sigma2
        assert total <= c["noise2"] * sum(s.count for s in samples)
    for name in ("gradient_dissimilarity", "hessian_similarity", "smooth_samples"):
        assert p.decides(name, c) is True
        assert p.decides(name, {k: v * F(99, 100) for k, v in c.items()}) is False
    for a, _ in p.forms().maps:
        apart = a - p.shape.hessian
        one = apart * 0
        for i in range(p.dim):
            one[i, i] = rational(c["delta"])
        assert is_psd(one - apart)
        assert is_psd(one + apart)


def test_rows_and_their_matrices_give_the_same_constants():
    p = build({"kind": "least_squares", "data": "diabetes", "clients": 60})
    by_matrix = [Matrices(parts) for parts in p.sample_maps()]
    for rows, same in zip(p.samples()[:6], by_matrix, strict=False):
        assert rows.mean() == same.mean()
        assert (rows.moment().q, rows.moment().l, rows.moment().k) == (
            same.moment().q,
            same.moment().l,
            same.moment().k,
        )
        assert rows.largest().value <= same.largest().value <= rows.largest().value * (1 + F(1, 10**12))


def test_clients_that_are_sums_have_no_local_variance():
    p = build({"kind": "least_squares", "data": "diabetes", "clients": 5, "loss": "half_sum"})
    assert "client 0 is not the mean" in p.violations("local_variance")
    assert not {"P2", "noise2"} & set(p.constants())
    assert p.local_variances() is None
    assert p.decides("local_variance", {"P2": F(9**9), "noise2": F(9**9)}) is False


def test_constants_are_computed_when_asked_for(monkeypatch):
    p = build(SAMPLES)
    asked = []
    monkeypatch.setattr(type(p.of_samples), "_delta", lambda self: asked.append(1) or 1 / 0)
    found = p.constants()
    assert {"delta", "L"} <= set(found)
    assert "delta" in found
    assert found["L"].value == 2
    assert not asked
    with pytest.raises(ZeroDivisionError):
        dict(found)


def test_lazy_constants_are_a_mapping():
    found = build(SAMPLES).constants()
    assert isinstance(found, LazyConstants)
    assert found == dict(found)
    assert pickle.loads(pickle.dumps(found)) == dict(found)
    more = found.and_also({"L": lambda: found["mu"], "own": lambda: found["n"]})
    assert (more["L"], more["own"], more["mu"]) == (found["mu"], found["n"], found["mu"])
    assert len(more) == len(found) + 1


def test_a_surrogate_is_about_its_own_weights():
    base = build({"kind": "fedshuffle_36"})
    p = build({"kind": "surrogate", "of": {"kind": "fedshuffle_36"}, "weights": ["1/14", "2/7", "9/14"]})
    assert p.weights == (F(1, 14), F(2, 7), F(9, 14))
    assert tuple(clients_of(p).weights) == base.weights
    assert tuple(clients_of(p).sizes) == (1, 2, 3)
    # fhat* lies at (1, 2, 2, 3, 3, 3)/14, G2 = sum of what_i |e-mean_i|^2 - |x*|^2 = 1/14 + 2/7/2 + 9/14/3 - 36/196
    assert values(p)["G2"] == F(1, 14) + F(1, 7) + F(3, 14) - F(36, 196)
    assert p.metric("dist2", exact(0, 0, 0, 0, 0, 0)) == F(36, 196)
    assert base.metric("gap", exact(*(F(k, 14) for k in (1, 2, 2, 3, 3, 3)))) == F(5, 588)
    again = build(json.loads(json.dumps(p.spec)))
    assert again.spec == p.spec
    assert again.constants() == p.constants()
    assert digest(p.spec) == digest(again.spec)
    layout, own = p.arrays(), base.arrays()
    assert (layout.b == own.b).all()
    np.testing.assert_allclose(layout.centre, np.array([1, 2, 2, 3, 3, 3]) / 14, rtol=1e-15)


def test_a_client_may_lose_its_weight_in_a_surrogate():
    p = build({"kind": "surrogate", "of": SAMPLES, "weights": [0, 1]})
    assert (values(p)["B2"], values(p)["G2"], values(p)["dist2_0"]) == (1, 0, 1)


def test_samples_of_a_client_that_is_their_sum_count_as_often_as_there_are():
    """f_i is the mean of |D_i| times its samples, along which local steps go; so these have the smoothness L_ij."""
    sums = [{"components": [{"A": 1, "b": 1}, {"A": 3}]}, {"components": [{"A": 2}, {"A": 2}, {"A": "1/2"}]}]
    p = build({"kind": "quadratics", "reduction": "sum", "clients": sums})
    c = {name: constant.value for name, constant in p.constants().items()}
    assert (c["L_ij"], c["mu_ij"], c["L"]) == (6, F(3, 2), F(9, 2))
    assert p.decides("smooth_samples", {"L_ij": F(6)})
    assert not p.decides("smooth_samples", {"L_ij": F(599, 100)})
    assert p.decides("strongly_convex_samples", {"mu_ij": F(3, 2)})
    assert not p.decides("strongly_convex_samples", {"mu_ij": F(151, 100)})


def test_the_variance_of_samples_at_a_minimiser_by_hand() -> None:
    star = lambda p: p.constants()["sigma2_star"].value  # noqa: E731
    rows = {"kind": "least_squares", "data": {"X": [[1], [2], [1]], "y": [1, 1, 3]}, "clients": 1}
    # 6 x* = 1 + 2 + 3; the slopes (a x* - y) a are 0, 2 and -2
    assert star(build(rows)) == Fraction(8, 3)
    # of the sum of (a x - y)^2 a sample is three times its loss: slopes 0, 12 and -12
    assert star(build({**rows, "loss": "sum"})) == 96
    # minimisers are a line, on which the gradients (x_1 + x_2 - y) (1, 1) are alike: residuals 1 and -1, |(1, 1)|^2 = 2
    flat = {"X": [[1, 1], [1, 1]], "y": [0, 2]}
    assert star(build({**rows, "data": flat})) == 2
    # clients by their weights: f_1 = (x - 1)^2/2, f_2 of the samples x^2/2 and x^2/2 - 4x; x* = (1/4) 1 + (3/4) 2
    clients = [{"A": [[1]], "b": [1]}, {"components": [{"A": [[1]], "b": [0]}, {"A": [[1]], "b": [4]}]}]
    x = Fraction(7, 4)
    weighted = build({"kind": "quadratics", "start": [0], "weights": ["1/4", "3/4"], "clients": clients})
    assert star(weighted) == (x - 1) ** 2 / 4 + 3 * (x**2 + (x - 4) ** 2) / 8
    sloped = [{"knots": [0], "slopes": [-b], "beyond": [1, 1]} for b in (1, 0, 4)]
    same = [sloped[0], {"components": sloped[1:]}]
    pieces = build({"kind": "piecewise_quadratics", "weights": ["1/4", "3/4"], "clients": same})
    assert star(pieces) == star(weighted)
    # one sample is not convex: its gradient may change along the solution set
    saddle = {"components": [{"A": [[1, 0], [0, 1]], "b": [0, 0]}, {"A": [[1, 0], [0, -1]], "b": [0, 0]}]}
    assert "sigma2_star" not in build({"kind": "quadratics", "start": [1, 1], "clients": [saddle]}).constants()
