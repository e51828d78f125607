"""Quadratic instances: metrics, constants, objections, layouts, specifications."""

import json
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.certified.constant import Known
from boundcheck.core.linalg import is_psd, matrix, rational
from boundcheck.errors import UnknownName
from boundcheck.problems.build import build
from boundcheck.problems.problem import Problem, Quadratic
from boundcheck.problems.quadratics import Quadratics, from_matrices


def exact(*values) -> np.ndarray:
    x = np.empty(len(values), dtype=object)
    x[:] = [Fraction(v) for v in values]
    return x


@pytest.fixture
def pair() -> Quadratics:
    # f1 = x^2 - 2x (minimiser 1), f2 = 2x^2 + 4x (minimiser -1); F = (3x^2 + 2x)/2, minimiser -1/3, F'' = 3
    return build({"kind": "quadratics", "clients": [{"A": 2, "b": 2}, {"A": 4, "b": -4}], "start": [1]})


def test_hand_computed_instance(pair):
    assert isinstance(pair, Quadratic)
    constants = {name: c.value for name, c in pair.constants().items()}
    # gradients at -1/3: 2(-1/3) - 2 = -8/3 and 4(-1/3) + 4 = 8/3; mean of the squared slopes (4 + 16)/2 = 10/9 * 3^2,
    # so that B2 = 20/9; with u = x + 1/3: (2u - 8/3)^2/2 + (4u + 8/3)^2/2 - 20/9 (3u)^2 = 64/9 + 16/3 u - 10 u^2, at
    # most 64/9 + 32/45
    assert constants == {
        "n": 2,
        "d": 1,
        "L": 4,
        "mu": 3,
        "dist2_0": Fraction(16, 9),
        "sigma2": Fraction(64, 9),
        "x_0": 1,
        "L_ij": 4,
        "mu_ij": 2,
        "G2": Fraction(352, 45),
        "B2": Fraction(20, 9),
        "P2": 0,
        "noise2": 0,
        "delta": 1,
        "gap_0": Fraction(8, 3),
        "L_f": 3,
        "lam": 0,
        "grad2_0": 16,  # the slopes at the start are 0 and 8, their mean 4
        "B2_0": 2,
        "sigma2_star": Fraction(64, 9),  # both slopes at the minimiser are 8/3 in size
    }
    assert all(c.known is Known.EXACT for c in pair.constants().values())
    x = exact(2)
    assert pair.metric("dist2", x) == Fraction(49, 9)
    assert pair.metric("gap", x) == Fraction(3, 2) * Fraction(49, 9)
    assert pair.metric("grad2", x) == 49
    assert pair.metric("x", x) == 2
    assert pair.gradient(0, x)[0] == 2
    assert pair.gradient(1, np.array([2.0])) == [12.0]
    assert pair.metric("gap", np.array([2.0])) == pytest.approx(49 / 6, rel=1e-15)
    with pytest.raises(UnknownName, match="dist2"):
        pair.metric("dist", x)


def test_components_and_reduction():
    tables = {"components": [{"A": 2, "b": 1}, {"A": 6, "b": 2}]}
    mean = build({"kind": "quadratics", "clients": [tables], "reduction": "mean"})
    total = build({"kind": "quadratics", "clients": [tables], "reduction": "sum"})
    assert mean.gradient(0, exact(1))[0] == 4 - Fraction(3, 2)
    assert total.gradient(0, exact(1))[0] == 8 - 3
    layout = total.arrays()
    assert (layout.kind, layout.reduction, layout.offsets.tolist()) == ("isotropic", "sum", [0, 2])
    assert layout.curvature.tolist() == [2.0, 6.0]
    assert (layout.client_A.tolist(), layout.client_b.tolist()) == ([[[8.0]]], [[3.0]])


def test_layout_of_general_quadratics_reproduces_gradients_and_metrics():
    p = build({"kind": "random_quadratics", "clients": 3, "d": 3, "seed": 4})
    layout = p.arrays()
    assert layout.kind == "quadratic"
    x = np.array([0.3, -1.0, 2.0])
    for i in range(3):
        np.testing.assert_allclose(layout.client_A[i] @ x - layout.client_b[i], p.gradient(i, x), rtol=1e-14)
        np.testing.assert_allclose(layout.A[i] @ x - layout.b[i], p.gradient(i, x), rtol=1e-14)
    for name in ("dist2", "gap", "grad2"):
        u = x - layout.centre
        assert u @ layout.centred[name] @ u == pytest.approx(float(p.metric(name, exact(*x))), rel=1e-13)


def test_a_metric_takes_the_start_as_it_is():
    line = build({"kind": "quadratics", "clients": [{"A": 2, "b": 2}], "start": [3]})
    appendix = build({"kind": "scgd_appendix_c"})
    assert line.metric("gap", line.start) == 4
    assert line.metric("gap", [3.0]) == pytest.approx(4)
    assert appendix.metric("x", appendix.start) == appendix.start[0]


def test_rank_deficient_instance_measures_to_the_whole_solution_set():
    # F = (x + y - 2)^2/2: solution set x + y = 2
    p = build({"kind": "quadratics", "clients": [{"A": [[1, 1], [1, 1]], "b": [2, 2]}], "start": [3, 0]})
    assert p.constants()["dist2_0"].value == Fraction(1, 2)
    assert p.constants()["mu"].value == 2
    assert p.metric("dist2", exact(5, -3)) == 0
    assert p.metric("gap", exact(3, 1)) == 2
    assert all(p.violations(a) is None for a in ("strong_quasi_convexity", "finite_gradient_noise", "convexity"))


SADDLE, SLOPE, FLAT = {"A": [[1, 0], [0, -1]]}, {"A": [[1, 0], [0, 0]], "b": [0, 1]}, {"A": 0}
HALF = {"A": [[1, 0], [0, 0]]}
APART = [{"A": [[2, 0], [0, 2]]}, {"A": [[2, 0], [0, -2]]}]
SPREAD = [{"components": [{"A": 1}, {"A": -1}]}, {"A": 1}]


@pytest.mark.parametrize(
    ("clients", "assumption", "why"),
    [
        ([SADDLE], "strong_quasi_convexity", "negative eigenvalue"),
        ([SADDLE], "bounded_below", "unbounded below"),
        ([SADDLE], "relaxed_dissimilarity", "unbounded below"),
        ([SADDLE], "convex_samples", "negative eigenvalue"),
        ([SADDLE], "gradient_dissimilarity", None),
        ([SADDLE], "smooth_clients", None),
        ([SLOPE], "strong_quasi_convexity", "falls linearly"),
        ([FLAT], "strong_quasi_convexity", "constant"),
        ([HALF], "strongly_convex_samples", "singular"),
        ([HALF], "convex_samples", None),
        (APART, "finite_gradient_noise", "unbounded on the solution set"),
        (APART, "strong_quasi_convexity", None),
        (APART, "convex_clients", "client 1"),
        (APART, "gradient_dissimilarity", "client 0 grows"),
        (SPREAD, "local_variance", "client 0 spread"),
    ],
)
def test_objections(clients, assumption, why):
    found = build({"kind": "quadratics", "clients": clients}).violations(assumption)
    assert found is None if why is None else why in found


def test_constants_that_need_what_fails_are_absent():
    for clients, absent, metrics in (
        ([SADDLE], {"mu", "sigma2", "dist2_0", "mu_ij", "gap_0"}, ("grad2",)),
        ([SLOPE], {"mu", "sigma2", "dist2_0"}, ()),
        (APART, {"sigma2", "G2", "B2"}, ("dist2", "gap", "grad2")),
    ):
        p = build({"kind": "quadratics", "clients": clients})
        assert not absent & set(p.constants())
        assert ("mu" in p.constants()) is (clients is APART)
        assert p.metrics == metrics
    with pytest.raises(UnknownName, match="strong_quasi_convexity"):
        p.violations("strong_quasiconvexity")


def test_floats_mean_their_binary_value():
    p = from_matrices(np.array([[[0.1]]]), np.array([[0.2]]), start=[0.5])
    assert p.gradient(0, exact(1))[0] == Fraction(0.1) - Fraction(0.2)
    assert Fraction(0.1) <= p.constants()["L"].value < Fraction(0.1) * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"clients": 5, "d": 4, "seed": 3},
        {"indefinite": True, "seed": 1},
        {"clients": 4, "d": 4, "rank": 2, "indefinite": True},
        {"clients": 1, "d": 1},
    ],
)
def test_random_quadratics_have_certified_constants(options):
    p = build({"kind": "random_quadratics", "mu": "1/10", "L": 1, **options})
    constants = p.constants()
    assert {"mu", "L", "sigma2", "dist2_0", "n"} <= set(constants)
    d = p.dim
    one = matrix(np.eye(d))
    for a, _ in p.forms().maps:
        assert is_psd(one * rational(constants["L"].value) - a)
        assert is_psd(one * rational(constants["L"].value) + a)
    assert (p.violations("convex_clients") is not None) == bool(options.get("indefinite"))
    assert d - p.forms().quadratic["gap"][1].rank() == d - options.get("rank", d)
    assert build(p.spec).components == p.components
    assert max(len(str(v)) for c in p.components for part in c for row in part.A for v in row) < 40


def test_random_quadratics_depend_on_the_seed_and_come_near_their_targets():
    first, second = (build({"kind": "random_quadratics", "clients": 4, "d": 3, "seed": s}) for s in (0, 1))
    assert first.components != second.components
    assert float(first.constants()["L"].value) == pytest.approx(1, rel=0.2)
    assert float(first.constants()["mu"].value) == pytest.approx(0.1, rel=0.2)


def test_every_kind_satisfies_the_contract():
    specs = [
        {"kind": "huber"},
        {"kind": "scgd_appendix_b"},
        {"kind": "scgd_appendix_c"},
        {"kind": "random_quadratics"},
        {"kind": "scgd_section_4", "observations": 60, "clients": 3, "d": 2},
        {"kind": "least_squares", "data": "diabetes"},
        {"kind": "quadratics", "clients": [{"A": 1}]},
    ]
    for spec in specs:
        p: Problem = build(spec)
        again = build(json.loads(json.dumps(p.spec)))
        start = exact(*p.start)
        assert again.spec == p.spec
        assert len(p.weights) == p.clients
        assert sum(p.weights) == 1
        assert p.constants() == again.constants()
        for i in range(min(p.clients, 3)):
            assert (p.gradient(i, start) == again.gradient(i, start)).all()
            as_float = p.gradient(i, np.array([float(v) for v in p.start]))
            np.testing.assert_allclose(as_float, np.array(p.gradient(i, start), dtype=float), rtol=1e-9, atol=1e-12)
        for metric in p.metrics:
            assert isinstance(p.metric(metric, start), Fraction)
        if "dist2" in p.metrics:
            bound = p.constants()["dist2_0"].value
            assert p.metric("dist2", start) <= bound <= p.metric("dist2", start) * (1 + Fraction(1, 10**12))
