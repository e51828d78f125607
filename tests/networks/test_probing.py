"""Measured constants against exact eigenvalues, explicit gradients, and certified constants of softmax regression."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import seen_constants
import torch

from boundcheck.certified.constant import Known
from boundcheck.errors import BadInput, UnknownName
from boundcheck.networks.engine.curvature import ends, hessian_product, kept_share, sample_hessian_product
from boundcheck.networks.engine.device import Settings
from boundcheck.networks.engine.losses import sample_losses
from boundcheck.networks.engine.passes import Passes
from boundcheck.networks.engine.probing import Effort, probe
from boundcheck.networks.engine.task import task_of
from boundcheck.problems.build import build

torch.set_num_threads(1)

DOUBLE = Settings(precision="float64", device="cpu")


@pytest.fixture(scope="module")
def network() -> Any:
    model = {"name": "mlp", "hidden": [3]}
    more = {"clients": 3, "split": "random", "seed": 1, "samples": 13, "ridge": "1/50"}
    return build({"kind": "neural", "data": "digits", "model": model, **more})


@pytest.fixture(scope="module")
def softmax() -> Any:
    return build(
        {"kind": "softmax_regression", "data": "digits", "clients": 3, "split": "dirichlet", "alpha": 1, "seed": 1}
    )


def at(task: Any, count: int) -> Any:
    drawn = np.random.default_rng(3).standard_normal((count, task.network.dim)) / 4
    drawn[0] = task.start
    return drawn


# --- Lanczos ----------------------------------------------------------------------------------------------


def test_lanczos_is_exact_after_as_many_steps_as_numbers() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((4, 15, 9))
    matrices = np.einsum("nij,nik->njk", rows, rows) / 15  # the Hessians of least squares
    matrices[3] -= 2 * np.eye(9)
    own = torch.as_tensor(matrices)
    found = ends(lambda v: torch.einsum("njk,nk->nj", own, v), torch.as_tensor(rng.standard_normal((4, 9))), 40)
    values = np.linalg.eigvalsh(matrices)
    np.testing.assert_allclose(found.largest, values[:, -1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.least, values[:, 0], rtol=0, atol=1e-10)
    assert found.steps == 9
    assert (found.above == 0).all()
    np.testing.assert_allclose(found.norm, np.abs(values).max(axis=1), atol=1e-10)


def test_few_steps_stay_inside_and_within_the_residual() -> None:
    rng = np.random.default_rng(1)
    values = np.sort(rng.standard_normal(60))
    basis = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    matrix = torch.as_tensor(basis @ np.diag(values) @ basis.T)
    missed, above = 0, math.inf
    for _ in range(40):
        found = ends(lambda v: v @ matrix, torch.as_tensor(rng.standard_normal((1, 60))), 15, 0.99)
        assert values[0] - 1e-12 <= found.least[0]
        assert found.largest[0] <= values[-1] + 1e-12
        for theta in (found.least[0], found.largest[0]):
            assert np.abs(values - theta).min() <= found.residual[0] + 1e-12
        above = found.above[0]
        missed += values[-1] > found.largest[0] + above or values[0] < found.least[0] - above
    assert math.isfinite(above)
    assert missed <= 2  # of 40, with 1 % each


def test_invariant_subspaces_end_the_search() -> None:
    matrix = torch.diag(torch.tensor([5.0] * 3 + [-1.0] * 7, dtype=torch.float64))
    found = ends(lambda v: v @ matrix, torch.ones((2, 10), dtype=torch.float64), 8)
    np.testing.assert_allclose(found.largest, 5, atol=1e-12)
    np.testing.assert_allclose(found.least, -1, atol=1e-12)
    assert (found.residual == 0).all()
    zero = ends(torch.zeros_like, torch.ones((1, 10), dtype=torch.float64), 8)
    assert zero.norm[0] == 0


def test_the_bound_of_kuczynski_and_wozniakowski() -> None:
    share = kept_share(1000, 20, 0.01)
    assert 1.648 * math.sqrt(1000) * math.exp(-math.sqrt(share) * 39) == pytest.approx(0.01)
    assert kept_share(1000, 2, 0.01) == math.inf


# --- Hessians of a network --------------------------------------------------------------------------------


def hessian(task: Any, x: Any, low: int, high: int) -> Any:
    def loss(v: Any) -> Any:
        scores = task.network.scores(v.unsqueeze(0), task.inputs[low:high].unsqueeze(0))
        return sample_losses(task, scores, task.labels[low:high]).mean() + task.ridge / 2 * (v * v).sum()

    return torch.autograd.functional.hessian(loss, torch.as_tensor(x), vectorize=True)


def test_products_are_those_of_the_hessian(network: Any) -> None:
    task = task_of(network, DOUBLE)
    passes = Passes(task)
    x = torch.as_tensor(at(task, 2))
    low, high = network.offsets[1], network.offsets[2]
    shares = torch.full((high - low,), 1 / (high - low), dtype=torch.float64)
    v = torch.as_tensor(np.random.default_rng(5).standard_normal(tuple(x.shape)))
    found = hessian_product(passes, x, low, high, shares, task.ridge)(v)
    for s in range(2):
        torch.testing.assert_close(found[s], hessian(task, x[s], low, high) @ v[s], rtol=1e-10, atol=1e-12)
    rows = torch.tensor([4, 9])
    each = sample_hessian_product(passes, x[1], rows, task.ridge)(v)
    for s, j in enumerate(rows.tolist()):
        torch.testing.assert_close(each[s], hessian(task, x[1], j, j + 1) @ v[s], rtol=1e-10, atol=1e-12)


def test_constants_of_a_network_are_those_of_its_matrices(network: Any) -> None:
    task = task_of(network, DOUBLE)
    x = at(task, 2)
    found = probe(task, x, effort=Effort(samples=999, curved=999, steps=60))
    whole = [hessian(task, p, 0, 13).numpy() for p in x]  # the weights are those of the data
    own = [
        [hessian(task, p, a, b).numpy() for a, b in zip(network.offsets, network.offsets[1:], strict=False)] for p in x
    ]
    values = np.array([[np.linalg.eigvalsh(h)[[0, -1]] for h in row] for row in own])
    assert found.along["L"] == pytest.approx(np.abs(values).max(axis=(1, 2)), rel=1e-8)
    assert found.along["lam"] == pytest.approx(np.maximum(0, -values[:, :, 0].min(axis=1)), rel=1e-6)
    apart = [max(np.abs(np.linalg.eigvalsh(h - f)).max() for h in row) for row, f in zip(own, whole, strict=True)]
    assert found.along["delta"] == pytest.approx(apart, rel=1e-8)
    assert found.along["L_f"] == pytest.approx([np.abs(np.linalg.eigvalsh(f)).max() for f in whole], rel=1e-8)
    steepest = max(
        np.abs(np.linalg.eigvalsh(hessian(task, p, j, j + 1).numpy())[[0, -1]]).max() for p in x for j in range(13)
    )
    assert float(found.constants["L_ij"].value) == pytest.approx(steepest, rel=1e-8)
    assert "residual" in found.constants["L_ij"].how
    assert len(found.clients) == 3


# --- gradients --------------------------------------------------------------------------------------------


def test_gradients_give_the_constants_of_explicit_arrays(softmax: Any) -> None:
    task = task_of(softmax, DOUBLE)
    x = at(task, 3)
    n, ends_ = softmax.clients, softmax.offsets
    g = np.array([[softmax.gradient(i, p) for i in range(n)] for p in x])
    blocks = (range(250), range(250, softmax.dim))
    found = probe(task, x, blocks=blocks, effort=Effort(samples=9999, curved=2, steps=2))
    known = found.constants
    assert float(known["G2"].value) == pytest.approx(seen_constants.dissimilarity(g, softmax.weights), rel=1e-10)
    w = np.array([float(v) for v in softmax.weights])
    mean = np.einsum("i,tid->td", w, g)
    ratio = np.einsum("i,tid,tid->t", w, g, g) / (mean * mean).sum(axis=1)
    np.testing.assert_allclose(found.along["B2"], ratio, rtol=1e-10)
    assert float(known["B2_only"].value) == pytest.approx(ratio.max(), rel=1e-10)
    assert float(known["B2_0"].value) == pytest.approx(ratio[0], rel=1e-10)
    assert float(known["grad2_0"].value) == pytest.approx(mean[0] @ mean[0], rel=1e-10)
    # what successive points show is no more than what all pairs do
    seen = {"L_f": seen_constants.steepest(x, mean), "delta": seen_constants.similarity(x, g, softmax.weights)}
    for name, one in seen.items():
        assert float(known[name].value) >= 0.2 * one > 0
    for j, block in enumerate(blocks):
        own = g[:, :, list(block)]
        excess = np.einsum("i,tid,tid->t", w, own, own) - (mean[:, list(block)] ** 2).sum(axis=1)
        assert found.kappa2[j] == pytest.approx(excess.max(), rel=1e-9)
    noise = 0.0
    for i in range(n):
        rows, labels = softmax.features[ends_[i] : ends_[i + 1]], softmax.labels[ends_[i] : ends_[i + 1]]
        each = []
        for p in x:
            scores = rows @ p.reshape(softmax.loss.columns, -1).T
            residual = softmax.loss.residuals(scores, labels)
            each.append(np.einsum("jk,jp->jkp", residual, rows).reshape(len(rows), -1) + float(softmax.ridge) * p)
        sigma2 = seen_constants.variance(each)
        assert found.variances[i] == pytest.approx(sigma2, rel=1e-9)
        noise += sigma2
    assert float(known["noise2"].value) == pytest.approx(noise / len(softmax.labels), rel=1e-9)
    assert "all samples" in known["noise2"].how


def test_estimates_lie_below_certified_constants(softmax: Any) -> None:
    task = task_of(softmax, DOUBLE)
    found = probe(task, at(task, 2), effort=Effort(samples=40, curved=8, steps=10)).constants
    own = softmax.constants()
    for name in ("L", "L_f", "L_ij", "G2", "noise2", "delta"):
        assert found[name].known is Known.ESTIMATED
        assert 0 < found[name].value <= own[name].value, name
    # the Hessians hold the ridge, so that nothing is flatter
    assert found["lam"].value == 0
    assert float(found["B2_0"].value) <= float(own["B2_0"].value) * (1 + 1e-9)
    assert float(found["grad2_0"].value) >= float(own["grad2_0"].value) * (1 - 1e-9)
    assert found["gap_0"].value >= own["gap_0"].value


def test_a_part_of_the_samples_has_a_confidence_limit(softmax: Any) -> None:
    task = task_of(softmax, DOUBLE)
    point = at(task, 2)[1:]
    cut = (range(250), range(250, softmax.dim))
    whole = probe(task, point, blocks=cut, effort=Effort(samples=9999, curved=1, steps=1))
    # at a single point the blocks add up
    assert whole.kappa2.sum() == pytest.approx(float(whole.constants["G2"].value), rel=1e-10)
    np.testing.assert_allclose(whole.block_noise.sum(axis=1), whole.variances, rtol=1e-10)
    assert (whole.beta2 >= 1).all()
    covered, told = 0, whole.constants
    for seed in range(4):
        part = probe(task, point, effort=Effort(samples=25, curved=3, steps=1, seed=seed))
        covered += sum(a >= b for a, b in zip(part.variances, whole.variances, strict=True))
        told = part.constants
    assert 11 <= covered <= 12
    assert "25 samples a client, upper 99 % Student limit" in told["noise2"].how
    assert "3 of 1797 samples, of which at most 0.78 are steeper at 99 % confidence" in told["L_ij"].how


def test_some_clients_stand_for_all(network: Any) -> None:
    task = task_of(network, DOUBLE)
    found = probe(task, at(task, 1), effort=Effort(clients=2, samples=4, curved=2, steps=3))
    assert len(found.clients) == 2
    assert "2 of 3 clients, drawn at random" in found.constants["L"].how
    assert "2 of 3" not in found.constants["G2"].how
    again = probe(task, at(task, 1), effort=Effort(clients=2, samples=4, curved=2, steps=3))
    assert again.to_dict() == found.to_dict()


def test_what_cannot_be_measured(network: Any) -> None:
    task = task_of(network, DOUBLE)
    points = at(task, 2)
    broken = points.copy()
    broken[1, 0] = np.nan
    for asked, error, told in (
        (lambda: probe(task, points[:, 1:]), BadInput, "points"),
        (lambda: probe(task, broken), BadInput, "diverged"),
        (lambda: Effort(steps=0), BadInput, "steps = 0"),
        (lambda: Effort.of({"sample": 3}), UnknownName, "estimate"),
        (lambda: Effort.of({"samples": "3"}), BadInput, "whole number"),
    ):
        with pytest.raises(error, match=told):
            asked()
    assert Effort.of({"samples": 3}).samples == 3
    few = Effort(samples=2, curved=1, steps=2)
    one, other = (probe(task, points[:1], low=Fraction(k), effort=few).constants["gap_0"].value for k in (0, 1))
    assert float(one - other) == pytest.approx(1)
