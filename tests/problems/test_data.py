"""Least squares on real and generated data."""

import importlib.util
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.errors import BadInput, DataNotFetched, UnknownName
from boundcheck.problems import diabetes
from boundcheck.problems._data import package_file, package_folder
from boundcheck.problems.build import build
from boundcheck.problems.least_squares import LeastSquares
from boundcheck.problems.scgd_section_4 import normals


def small(loss: str) -> LeastSquares:
    rows = (((Fraction(1), Fraction(2)), (Fraction(0), Fraction(1))), ((Fraction(1), Fraction(-1)),))
    targets = ((Fraction(1), Fraction(3)), (Fraction(2),))
    return LeastSquares("small", {"kind": "least_squares"}, rows, targets, loss, (Fraction(0), Fraction(0)))


@pytest.mark.parametrize(("loss", "factor"), [("sum", 2), ("mean", 1), ("half_sum", 1), ("half_mean", Fraction(1, 2))])
def test_gradients_of_each_loss_by_hand(loss, factor):
    # client 0 at (1, 1): residuals 3 - 1 = 2 and 1 - 3 = -2, so sum of a*residual = (2, 4) + (0, -2) = (2, 2)
    p = small(loss)
    x = np.array([Fraction(1), Fraction(1)], dtype=object)
    assert p.gradient(0, x).tolist() == [2 * factor, 2 * factor]
    # client 1 has a single row: mean and sum agree; residual 0 - 2, a = (1, -1)
    single = {"sum": 2, "mean": 2, "half_sum": 1, "half_mean": 1}[loss]
    assert p.gradient(1, x).tolist() == [-2 * single, 2 * single]


@pytest.mark.parametrize("loss", ["sum", "mean", "half_sum", "half_mean"])
def test_row_layout_gives_the_same_gradients(loss):
    p = small(loss)
    layout = p.arrays()
    assert layout.kind == "rows"
    x = np.array([0.5, -2.0])
    for i in range(2):
        part = slice(layout.offsets[i], layout.offsets[i + 1])
        each = (layout.curvature[part] * (layout.b[part] @ x - layout.target[part]))[:, None] * layout.b[part]
        total = each.mean(axis=0) if layout.reduction == "mean" else each.sum(axis=0)
        np.testing.assert_allclose(total, p.gradient(i, x), rtol=1e-14)


def test_malformed_least_squares_are_refused():
    row = ((Fraction(1),),)
    with pytest.raises(BadInput, match="without rows"):
        LeastSquares("p", {}, (row, ()), ((Fraction(1),), ()), "sum", (Fraction(0),))
    with pytest.raises(BadInput, match="more rows than targets"):
        LeastSquares("p", {}, (row,), ((),), "sum", (Fraction(0),))
    with pytest.raises(UnknownName, match="half_mean"):
        LeastSquares("p", {}, (row,), ((Fraction(1),),), "halfmean", (Fraction(0),))


def test_diabetes_agrees_with_scikit_learn_itself():
    datasets = pytest.importorskip("sklearn.datasets")
    scaled, target = datasets.load_diabetes(return_X_y=True)
    table = diabetes.load()
    ours = np.array([[float(v) for v in row] for row in table.rows])
    np.testing.assert_allclose(ours, scaled * np.sqrt(442), atol=1e-5)
    np.testing.assert_allclose([float(v) for v in table.target], (target - target.mean()) / target.std(), atol=1e-6)
    assert all((v * 10**6).denominator == 1 for row in table.rows for v in row)


@pytest.mark.parametrize("split", ["random", "sorted"])
def test_diabetes_splits(split):
    p = build({"kind": "least_squares", "data": "diabetes", "split": split})
    assert p.clients == 20
    sizes = [len(rows) for rows in p.rows]
    assert sorted(set(sizes)) == [22, 23]
    assert sum(sizes) == 442
    flat = sorted(row for rows in p.rows for row in rows)
    assert flat == sorted(diabetes.load().rows)
    constants = p.constants()
    hessians = p.arrays().client_A
    assert float(constants["L"].value) == pytest.approx(np.linalg.eigvalsh(hessians).max(), rel=1e-10)
    assert float(constants["mu"].value) == pytest.approx(np.linalg.eigvalsh(hessians.mean(axis=0)).min(), rel=1e-8)


def test_sorting_by_a_feature_makes_clients_differ():
    random, by_bmi = (build({"kind": "least_squares", "data": "diabetes", "split": s}) for s in ("random", "sorted"))
    largest = [max(row[2] for row in rows) for rows in by_bmi.rows]
    least = [min(row[2] for row in rows) for rows in by_bmi.rows]
    assert all(a <= b for a, b in zip(largest, least[1:], strict=False))
    assert by_bmi.constants()["sigma2"].value > random.constants()["sigma2"].value


def test_seed_and_feature_matter():
    def rows(**more):
        return build({"kind": "least_squares", "data": "diabetes", **more}).rows

    assert rows(seed=0) != rows(seed=1)
    assert rows(split="sorted", feature="age") != rows(split="sorted")


def test_missing_or_foreign_files_are_said_with_the_command(monkeypatch, tmp_path):
    target = ("diabetes_target.csv.gz", diabetes.FILES["diabetes_target.csv.gz"])
    with monkeypatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda name: None)
        with pytest.raises(DataNotFetched, match=r'pip install "boundcheck\[data\]"'):
            package_folder("diabetes", diabetes.FILES)
    with pytest.raises(DataNotFetched, match="pip install scikit-learn"):
        package_file("diabetes", tmp_path, *target)
    (tmp_path / "diabetes_target.csv.gz").write_bytes(b"other")
    with pytest.raises(DataNotFetched, match="sha256"):
        package_file("diabetes", tmp_path, *target)


def test_section_4_generator():
    p = build({"kind": "scgd_section_4"})
    sizes = [len(rows) for rows in p.rows]
    assert (sum(sizes), len(sizes), p.dim) == (1000, 20, 8)
    assert len(set(sizes)) > 5
    values = np.array([float(v) for rows in p.rows for row in rows for v in row])
    assert abs(values.mean()) < 4 / np.sqrt(8000)
    assert values.std() == pytest.approx(1, abs=0.03)
    assert all((v * 1024).denominator == 1 for rows in p.rows for row in rows for v in row)
    assert p.loss == "sum"
    assert build({"kind": "scgd_section_4", "seed": 1}).rows != p.rows


def test_heterogeneous_devices_have_larger_gradient_noise():
    iid, device = (build({"kind": "scgd_section_4", "heterogeneity": h}) for h in ("iid", "device"))
    assert iid.rows == device.rows
    assert device.constants()["sigma2"].value > 10 * iid.constants()["sigma2"].value


def test_normals_are_a_function_of_seed_and_block():
    assert normals(0, 0, 5) == normals(0, 0, 9)[:5]
    assert normals(0, 0, 5) != normals(0, 1, 5)
    assert normals(0, 0, 5) != normals(1, 0, 5)
