"""Modules and samples of one's own that do not go together are refused in a sentence; one that branches is carried."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from boundcheck.engines.run import run
from boundcheck.errors import BadInput
from boundcheck.methods.build import build as method_of
from boundcheck.networks.own_module import own_module

torch.set_num_threads(1)

INPUTS = np.random.default_rng(1).normal(size=(12, 4)).astype(np.float32)
LABELS = np.arange(12) % 3
METHOD = method_of({"kind": "fedavg_rr", "eta_l": "1/10"})


class Plain(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.dense = torch.nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        return self.dense(x)


class Branching(Plain):
    """The same function; torch.func.vmap does not carry what looks at a value."""

    def forward(self, x: Any) -> Any:
        return self.dense(x) if float(x.square().sum()) >= 0 else x


class Failing(Plain):
    def forward(self, x: Any) -> Any:
        raise KeyError("no such layer")


def made(module: Any = None, **other: Any) -> Any:
    given = {"inputs": INPUTS, "labels": LABELS, "sizes": (5, 7), **other}
    return own_module(Plain() if module is None else module, **given)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"inputs": INPUTS[:, :2]}, r"Plain cannot be called with samples of the shape \[2\]: mat1 and mat2"),
        ({"inputs": INPUTS[:, 0]}, r"Plain cannot be called with samples of the shape \[\]: "),
        ({"module": Failing()}, r"Failing cannot be called with samples of the shape \[4\]: 'no such layer'\.$"),
        ({"inputs": [[1.0, 2.0], [3.0]]}, "inputs must be an array of numbers; its samples are not all of one shape"),
        ({"sizes": "57"}, "sizes must be a list of integers"),
        ({"sizes": (5.5, 6.5)}, "sizes must be a list of integers"),
        ({"sizes": None, "offsets": (0, 5.5, 12)}, "offsets must be a list of integers"),
        ({"sizes": (12, 0)}, "every client must have samples"),
        ({"labels": LABELS + 1}, "the labels of inputs must be from 0 to 2"),
    ],
)
def test_what_does_not_go_together(given: dict[str, Any], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        made(**given)


def test_offsets_may_be_an_array() -> None:
    assert made(sizes=None, offsets=np.array([0, 5, 12])).offsets == made().offsets == (0, 5, 12)


def test_a_module_that_branches_is_carried_in_a_loop() -> None:
    assert made().network.mapped
    assert not made(Branching()).network.mapped
    curves = [
        run(METHOD, made(module), rounds=3, engine="neural", seeds=2, metrics=["f"], neural={"precision": "float64"})
        for module in (Plain(), Branching())
    ]
    np.testing.assert_allclose(curves[0].samples["f"], curves[1].samples["f"], rtol=1e-12)
