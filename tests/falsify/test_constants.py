"""The constants of batches against the certified ones, instance by instance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from boundcheck.falsify import quadratics
from boundcheck.falsify.constants import Constants
from boundcheck.falsify.shapes import rounded
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import Setting
from boundcheck.theory.keys import CATALOGUE

METHODS: list[dict[str, Any]] = [
    {"kind": "fedshuffle", "eta_l": "1/10", "E": 2},
    {"kind": "uniform_sampling", "m": 1, "K": 3, "eta_l": "1/10", "batch": 1},
    {"kind": "fedavg_async", "K": 3, "eta_l": "1/10", "times": "equal"},
    {"kind": "biased_sampling", "K": 2, "eta_l": "1/10", "cohorts": [[0], [1]]},
    {"kind": "block_averaging", "tau": 2, "eta": "1/10"},
    {"kind": "feddane", "mu": "300", "K": 2},
]


@pytest.mark.parametrize("form", quadratics.FORMS)
@pytest.mark.parametrize("spec", METHODS, ids=lambda spec: str(spec["kind"]))
def test_constants_of_batches_are_those_of_the_setting(form: str, spec: dict[str, Any]) -> None:
    random, checked = np.random.default_rng(3), 0
    wanted = quadratics.Wanted(convex="samples", data=True)
    for _ in range(2):
        own = quadratics.draw(random, wanted, dims=(2,), clients=2)
        own = quadratics.replace(own, kind=form, rank=2, scale=1.0, length=1.0, ratio=0.25, each=False)
        genes = {name: random.standard_normal((2, *size)) for name, size in own.genes().items()}
        numbers = own.decode(genes)
        exact = [{name: rounded(v[k]) for name, v in numbers.items()} for k in range(2)]
        same = {name: np.stack([e[name].astype(float) for e in exact]) for name in numbers}
        method = build_method(_for(spec))
        settings = [Setting(method, build_problem(own.problem(e))) for e in exact]
        constants = Constants(own.instances(same), settings[0])
        near = 1e-9 * (1 + float((constants.given.b**2).sum()))
        if not constants.clear.all():
            continue
        for key in CATALOGUE:
            value = constants.of(key) if not key.startswith("round/") else None
            for k, setting in enumerate(settings if value is not None else []):
                if setting.has(key):
                    found = float(value[k]) if isinstance(value, np.ndarray) else float(value)
                    assert found == pytest.approx(float(setting.constant(key).value), rel=1e-5, abs=near), key
                    checked += 1
    assert checked > 60


def _for(spec: dict[str, Any]) -> dict[str, Any]:
    return {**spec, "times": ["1", "2"]} if "times" in spec else spec
