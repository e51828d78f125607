"""Problems whose workers all hold the same samples: what is kept once means what it means for every worker."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from boundcheck.errors import UnknownName
from boundcheck.problems._instance import ASSUMPTIONS
from boundcheck.problems.build import build
from boundcheck.problems.quadratics import Quadratics

SPECS: list[dict[str, Any]] = [
    {"kind": "coupled_blocks", "clients": 3, "d": 2, "delta": "1/3", "start": ["1", "-2"]},
    {"kind": "pure_noise", "clients": 3, "d": 2, "s": "3/2"},
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s["kind"])
def test_it_is_what_its_components_say(spec: dict[str, Any]) -> None:
    problem = build(spec)
    assert build(problem.spec).spec == problem.spec
    plain = Quadratics("plain", problem.spec, problem.components, "mean", problem.weights, problem.start)
    assert problem.maps() == plain.maps()
    assert problem.sample_maps() == plain.sample_maps()
    kept = problem.sample_maps()
    assert kept[0] is kept[2]
    assert set(problem.constants()) == set(plain.constants())
    for name, constant in plain.constants().items():
        assert problem.constants()[name].value == constant.value, name
    for assumption in ASSUMPTIONS:
        assert problem.violations(assumption) == plain.violations(assumption)
    with pytest.raises(UnknownName):
        problem.violations("something_else")


def test_coupled_blocks() -> None:
    problem = build({"kind": "coupled_blocks", "clients": 2, "d": 8})
    constants = problem.constants()
    assert constants["L"].value == 8  # 1 for every coordinate alone
    assert constants["noise2"].value == 4  # 1 in every coordinate, over the 2 samples that a worker holds
    assert constants["gap_0"].value == 0


def test_pure_noise() -> None:
    problem = build({"kind": "pure_noise", "clients": 2, "d": 3, "s": 2})
    assert problem.constants()["noise2"].value == 6  # 4 in every coordinate, over 2 samples
    assert problem.metrics[:3] == ("dist2", "gap", "grad2")
    assert problem.weights == (Fraction(1, 2),) * 2
