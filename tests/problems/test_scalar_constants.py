"""What problems on the line answer about samples and dissimilarity."""

from fractions import Fraction

import pytest

from boundcheck.errors import UnknownName
from boundcheck.problems._quadratic import OF_SAMPLES
from boundcheck.problems.build import build

F = Fraction

TRIVIAL = ("gradient_dissimilarity", "relaxed_dissimilarity", "local_variance", "hessian_similarity", "bounded_below")


@pytest.mark.parametrize("spec", [{"kind": "huber", "L": 3}, {"kind": "scgd_appendix_b", "clients": 4}])
def test_equal_clients_do_not_differ(spec):
    p = build(spec)
    found = {name: c.value for name, c in p.constants().items()}
    assert {k: found[k] for k in ("G2", "B2", "P2", "noise2", "delta")} == {
        "G2": 0,
        "B2": 1,
        "P2": 0,
        "noise2": 0,
        "delta": 0,
    }
    assert found["L_ij"] == found["L"]
    assert all(p.violations(name) is None for name in (*TRIVIAL, "smooth_samples"))
    assert p.violations("strongly_convex_samples") is not None


def test_the_huber_function_is_convex_and_appendix_b_is_not():
    huber, other = build({"kind": "huber", "L": 1, "R": 1, "k": 1}), build({"kind": "scgd_appendix_b"})
    assert huber.violations("convex_samples") is None
    assert "concave" in other.violations("convex_samples")
    # kink at 1/3: f(1) = 1/3 (1 - 1/6)
    assert huber.constants()["gap_0"].value == F(5, 18)
    assert huber.constants()["mu_ij"].value == 0


def test_the_cubic_answers_what_it_knows():
    p = build({"kind": "scgd_appendix_c", "cubic": True})
    for name in ("smooth_samples", "convex_samples", "strongly_convex_samples", "bounded_below"):
        assert p.violations(name) is not None
    assert p.violations("hessian_similarity") is not None  # 18x - 6x is unbounded
    for name in ("gradient_dissimilarity", "local_variance"):
        with pytest.raises(UnknownName):
            p.violations(name)
    assert set(OF_SAMPLES) >= set(TRIVIAL)
