"""FedShuffle as a case of FedShuffleGen: the same runs, which the citations of its records rest on."""

from __future__ import annotations

import pytest

from boundcheck.engines.run import run
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem


@pytest.mark.parametrize("participation", ["full", {"kind": "uniform", "size": 2}])
def test_runs_of_the_case_are_runs_of_the_general_method(participation):
    """The local step eta_l/|D_i| of Section 5 is E eta_l/(E |D_i|) of Appendix E."""
    own = {"eta_g": 2, "E": 3, "participation": participation}
    methods = ({"kind": "fedshuffle", "eta_l": "1/24", **own}, {"kind": "fedshuffle_gen", "eta_l": "1/8", **own})
    curves = [
        run(build_method(m), build_problem({"kind": "fedshuffle_36"}), rounds=[0, 1, 5], metrics=["gap"])
        for m in methods
    ]
    assert list(curves[0].values["gap"]) == pytest.approx(list(curves[1].values["gap"]), rel=1e-12)
