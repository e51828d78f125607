"""The problem of a network on labelled data: its samples and clients, what it knows, what it leaves to the engine."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import boundcheck as bc
from boundcheck.core import digest
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.evidence.stored import code_of
from boundcheck.networks import problem as neural
from boundcheck.networks.data.labelled import Labelled, labelled
from boundcheck.networks.problem import NeuralProblem, build
from boundcheck.problems._classifier import Classifier
from boundcheck.problems._instance import ASSUMPTIONS
from boundcheck.problems._losses import Softmax
from boundcheck.problems.problem import clients_of

torch.set_num_threads(1)


def made(kind: str, **more: Any) -> Labelled:
    """A small data set of a kind: 60 training samples of 3 classes, each telling its number, and 12 others."""
    numbers = np.arange(72)
    inputs: Any = {
        "image": np.repeat(numbers, 2 * 4 * 4).reshape(72, 2, 4, 4).astype(np.uint8),
        "tokens": np.repeat(numbers % 7, 6).reshape(72, 6).astype(np.int16),
        "features": np.repeat(numbers / 8, 5).reshape(72, 5),
    }[kind]
    channels = 2 if kind == "image" else 0
    given: dict[str, Any] = {
        "name": f"made {kind}",
        "inputs": inputs[:60],
        "labels": numbers[:60] % 3,
        "test_inputs": inputs[60:],
        "test_labels": numbers[60:] % 3,
        "classes": 3,
        "kind": kind,
        "owners": None,
        "mean": np.array([0.25, 0.125])[:channels],
        "std": np.array([0.5, 2.0])[:channels],
        "vocabulary": 7 if kind == "tokens" else 0,
    }
    return Labelled(**(given | more))


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Labelled], None]:
    """A function that makes a data set the only one."""

    def put(found: Labelled) -> None:
        def only(name: str, **options: Any) -> Labelled:
            return found

        monkeypatch.setattr(neural, "labelled", only)

    return put


def rows_of(p: NeuralProblem, client: int) -> slice:
    return slice(p.offsets[client], p.offsets[client + 1])


def test_digits_for_each_kind_of_model() -> None:
    data = labelled("digits")
    flat = build(data="digits", model="softmax", clients=10)
    image = build(data="digits", model={"name": "cnn", "channels": [2, 3], "hidden": 4}, clients=10)
    assert flat.inputs.shape == (1438, 64)
    assert image.inputs.shape == (1438, 1, 8, 8)
    assert flat.inputs.dtype == image.inputs.dtype == np.float32
    assert np.array_equal(flat.inputs, image.inputs.reshape(1438, 64))
    assert {tuple(r) for r in flat.inputs.tolist()} == {tuple(r) for r in data.inputs.tolist()}  # sixteenths are exact
    assert flat.dim == 650
    assert flat.start_vector.shape == (650,)
    assert flat.sizes == (144,) * 8 + (143,) * 2
    assert sum(flat.weights) == 1
    assert flat.weights[0] == Fraction(144, 1438)
    assert clients_of(flat).weights == flat.client_weights == flat.weights
    assert flat.test_inputs is not None
    assert flat.test_inputs.shape == (359, 64)
    assert flat.notes == data.notes
    assert flat.metrics == ("f", "grad2", "accuracy", "test_f")
    for asked, error in ((lambda: flat.gradient(0, flat.start_vector), Unsupported),
                         (lambda: flat.metric("f", flat.start_vector), Unsupported),
                         (lambda: flat.metric("gap", flat.start_vector), UnknownName)):  # fmt: skip
        with pytest.raises(error):
            asked()
    assert repr(flat) == "<NeuralProblem 'softmax on digits, 10 clients, split at random': 10 clients, d = 650>"


def test_the_specification_rebuilds_the_problem() -> None:
    cases: tuple[dict[str, Any], ...] = (
        {"model": "softmax"},
        {"model": "mlp", "split": "shards", "shards_per_client": 1, "clients": 5, "seed": 3, "start": "zero"},
        {"model": {"name": "mlp", "hidden": (8,)}, "split": "dirichlet", "alpha": "1/10", "weights": "equal"},
        {"model": "softmax", "split": "sorted", "seed": 2, "samples": 200, "test_samples": 50, "ridge": "1/7"},
        {"model": "softmax", "data": {"name": "digits", "test_share": "1/2"}, "imbalance": 1, "start": 5},
    )
    for given in cases:
        p = bc.problem({"kind": "neural", "data": "digits", **given})
        q = bc.problem(p.spec)
        assert isinstance(p, NeuralProblem)
        assert isinstance(q, NeuralProblem)
        assert p.spec == q.spec
        assert p.to_dict() == {"schema": 1, **p.spec}
        for name in ("inputs", "labels", "start_vector", "test_inputs", "test_labels"):
            assert np.array_equal(getattr(p, name), getattr(q, name))
        for name in ("name", "offsets", "weights", "ridge", "model", "classes", "dim"):
            assert getattr(p, name) == getattr(q, name)
        assert set(given) <= set(p.spec)


def test_labels_go_with_their_samples(use: Callable[[Labelled], None]) -> None:
    use(made("features"))
    for given in ({}, {"split": "sorted"}):
        p = build(data="made", model="softmax", clients=3, **given)
        numbers = (p.inputs[:, 0] * 8).round().astype(int)
        assert sorted(numbers.tolist()) == list(range(60))
        assert np.array_equal(p.labels, numbers % 3)
    assert [set(p.labels[rows_of(p, i)].tolist()) for i in range(3)] == [{0}, {1}, {2}]


def test_roles_as_clients(use: Callable[[Labelled], None]) -> None:
    owners = np.repeat([2, 0, 1], [10, 20, 30])
    use(made("tokens", owners=owners, owner_names=("A", "B", "C")))
    p = build(data="made", model={"name": "char_lstm", "hidden": 3}, split="owners")
    assert p.sizes == (20, 30, 10)
    assert p.weights == (Fraction(1, 3), Fraction(1, 2), Fraction(1, 6))
    assert p.spec["clients"] == 3
    assert np.array_equal(p.labels[rows_of(p, 2)], np.arange(10) % 3)
    assert p.inputs.shape == (60, 6)
    assert np.issubdtype(p.inputs.dtype, np.integer)
    few = build(data="made", model={"name": "char_lstm", "hidden": 3}, split="owners", samples=4)
    assert len(few.labels) == 4
    assert all(size >= 1 for size in few.sizes)
    with pytest.raises(BadInput, match="samples"):
        build(data="made", model="char_lstm", split="owners", samples=2)
    use(made("tokens"))
    with pytest.raises(BadInput, match="has none"):
        build(data="made", model="char_lstm", split="owners")


def test_images_are_standardised_by_channel(use: Callable[[Labelled], None]) -> None:
    use(made("image"))
    p = build(data="made", model={"name": "cnn", "channels": [1, 1], "kernel": 1, "hidden": 2}, clients=1)
    order = np.argsort(p.inputs[:, 0, 0, 0])
    expected = np.arange(60) / 255
    assert np.allclose(p.inputs[order, 0, 1, 2], (expected - 0.25) / 0.5, atol=1e-7)
    assert np.allclose(p.inputs[order, 1, 3, 0], (expected - 0.125) / 2.0, atol=1e-7)
    assert p.test_inputs is not None
    assert np.allclose(p.test_inputs[:, 0, 0, 0], (np.arange(60, 72) / 255 - 0.25) / 0.5, atol=1e-7)
    flat = build(data="made", model="mlp", clients=1)
    assert np.array_equal(flat.inputs, p.inputs.reshape(60, 32))


def test_reviews_are_filled_up_at_their_beginning(use: Callable[[Labelled], None]) -> None:
    texts = np.where(np.arange(6) < np.arange(72)[:, None] % 7, np.arange(1, 7), 0).astype(np.int16)
    use(made("tokens", name="imdb", inputs=texts[:60], test_inputs=texts[60:]))
    model = {"name": "sentiment_lstm", "embedding": 2, "hidden": 2}
    p = build(data="imdb", model=model, clients=1, split="sorted")
    assert p.test_inputs is not None
    for text in (*p.inputs, *p.test_inputs):
        length = int((text > 0).sum())
        assert text.tolist() == [0] * (6 - length) + list(range(1, length + 1))
    use(made("tokens", inputs=texts[:60], test_inputs=texts[60:]))  # symbols of other data: 0 is one of them
    assert sorted(build(data="made", model=model, clients=1).inputs.tolist()) == sorted(texts[:60].tolist())


def test_a_subset_is_random_and_stated() -> None:
    whole, some, other = (
        build(data="digits", model="softmax", **own)
        for own in ({}, {"samples": 300, "test_samples": 40}, {"samples": 300, "test_samples": 40, "seed": 1})
    )
    assert some.test_labels is not None
    assert (len(some.labels), len(some.test_labels), some.spec["samples"]) == (300, 40, 300)
    rows = [{tuple(r) for r in p.inputs.tolist()} for p in (whole, some, other)]
    assert rows[1] <= rows[0]
    assert rows[1] != rows[2]
    assert len(set(some.labels.tolist())) == 10  # not the first rows alone


def test_the_start_is_light_and_exact_and_known_constants_are_certified() -> None:
    p = build(data="digits", model="mlp")
    assert len(p.start) == p.dim
    assert p.start[5] == Fraction(float(p.start_vector[5]))
    assert [float(v) for v in p.start[:3]] == p.start_vector[:3].tolist()
    assert np.asarray(p.start) is p.start_vector
    found = p.constants()
    assert set(found) == {"n", "d", "f_low"}
    assert (found["n"].value, found["d"].value, found["f_low"].value) == (10, p.dim, 0)
    assert (found["f_low"].known.value, found["f_low"].side) == ("certified", "lower")
    zero = build(data="digits", model="softmax", start="zero", ridge=2)
    assert not zero.start_vector.any()
    gap = zero.constants()["gap_0"]
    assert gap.side == "upper"
    assert math.log(10) <= float(gap.value) <= math.log(10) * (1 + 1e-9)


def test_what_can_be_told_of_hypotheses() -> None:
    network = build(data="digits", model="mlp", clients=3)
    told = {"bounded_below", "plain_mean"}
    for name in {*ASSUMPTIONS, "no such hypothesis"} - told:
        with pytest.raises(UnknownName):
            network.violations(name)
    assert network.violations("bounded_below") is None
    assert "different weights" in str(network.violations("plain_mean"))
    assert build(data="digits", model="mlp", clients=3, weights="equal").violations("plain_mean") is None
    assert network.violations("instance:neural") is None
    assert "example" in str(network.violations("instance:fedshuffle_36"))


def test_what_can_be_told_of_softmax_regression() -> None:
    bare = build(data="digits", model="softmax", clients=2, weights="equal")
    curved = build(data="digits", model={"name": "mlp", "hidden": []}, clients=2, weights="equal", ridge="1/100")
    assert bare.is_linear
    assert curved.is_linear
    for name in ("convex_clients", "smooth_samples", "gradient_dissimilarity", "local_variance", "lower_curvature"):
        assert bare.violations(name) is None
        assert curved.violations(name) is None
    for name in ("convexity", "convex_samples", "strong_quasi_convexity", "strongly_convex_samples"):
        assert curved.violations(name) is None
    for name in ("convexity", "convex_samples", "strong_quasi_convexity", "finite_gradient_noise"):
        with pytest.raises(UnknownName):  # whether F has a minimiser depends on the data
            bare.violations(name)
    assert "move together" in str(bare.violations("strongly_convex_samples"))
    for p in (bare, curved):
        for name in ("dissimilarity_at_start", "bounded_dissimilarity"):
            with pytest.raises(UnknownName):
                p.violations(name)


def test_softmax_is_the_kind_with_certified_constants() -> None:
    """The same samples in the kind "softmax_regression": the same gradient, the intercepts in other places."""
    p = build(data="digits", model="softmax", clients=4, split="dirichlet", weights="equal", ridge="1/50")
    rows = np.hstack([p.inputs.astype(np.float64), np.ones((len(p.inputs), 1))])
    twin = Classifier("twin", {}, rows, p.labels, p.offsets, p.weights, p.ridge, Softmax(10))
    x = torch.tensor(p.start_vector, requires_grad=True)
    scores = torch.tensor(rows[:, :-1]) @ x[:640].reshape(10, 64).T + x[640:]
    losses = torch.nn.functional.cross_entropy(scores, torch.tensor(p.labels), reduction="none")
    value = float(p.ridge) / 2 * (x @ x)
    for weight, (low, high) in zip(p.weights, itertools.pairwise(p.offsets), strict=True):
        value = value + float(weight) * losses[low:high].mean()
    value.backward()  # pyright: ignore[reportUnknownMemberType]
    moved = np.hstack([p.start_vector[:640].reshape(10, 64), p.start_vector[640:, None]]).ravel()
    assert x.grad is not None
    assert twin.metric("grad2", moved) == pytest.approx(float(x.grad @ x.grad), rel=1e-10)
    assert p.dim == twin.dim


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": "resnet21"}, "resnet20"),
        ({"model": {"name": "cnn", "chanels": [1, 2]}}, "channels"),
        ({"model": {"channels": [1, 2]}}, "a table with one"),
        ({"model": 3}, "a table with one"),
        ({"model": "char_lstm"}, "takes tokens"),
        ({"data": "digit"}, "digits"),
        ({"data": "diabetes"}, "goes with kind = 'least_squares', not with networks; known: digits"),
        ({"data": {"name": "breast_cancer"}}, "or kind = 'softmax_regression', not with networks"),
        ({"data": {"name": "digits", "share": 1}}, "test_share"),
        ({"split": "half"}, "shards"),
        ({"split": "owners"}, "has none"),
        ({"split": "random", "alpha": 1}, "dirichlet"),
        ({"ridge": -1}, "from 0 to"),
        ({"weights": "same"}, "equal"),
        ({"start": "one"}, "'zero'"),
        ({"start": -1}, "start = -1"),
        ({"start": True}, "'zero'"),
        ({"samples": 0}, "samples = 0"),
        ({"samples": 5000}, "from 1 to 1438"),
        ({"test_samples": 5000}, "from 1 to 359"),
        ({"clients": 2000}, "from 1 to 1438"),
        ({"seed": -1}, "seed = -1"),
    ],
)
def test_bad_input_is_one_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as found:
        bc.problem({"kind": "neural", "data": "digits", "model": "softmax", **given})
    assert said in str(found.value)
    assert "\n" not in str(found.value)


def test_models_of_texts_go_with_their_labels(use: Callable[[Labelled], None]) -> None:
    symbols = ("a", "b", "c")
    use(made("tokens", symbols=symbols, meanings=symbols))
    assert build(data="made", model={"name": "char_lstm", "hidden": 3}, clients=2).clients == 2
    with pytest.raises(BadInput, match="are the symbol that follows, so take model = 'char_lstm'"):
        build(data="made", model="sentiment_lstm", clients=2)
    use(made("tokens", symbols=("word",), meanings=("bad", "so-so", "good")))
    with pytest.raises(BadInput, match="are the class of a text, so take model = 'sentiment_lstm'"):
        build(data="made", model="char_lstm", clients=2)


@pytest.mark.parametrize("part", ["labels", "test_labels"])
def test_labels_of_a_problem_built_by_hand_are_looked_at(part: str) -> None:
    p = build(data="digits", model="softmax", clients=2)
    given = getattr(p, part)
    for changed, told in (
        (given.astype(float), "NumPy array of integers from 0 to 9"),
        (given.tolist(), "NumPy array of integers from 0 to 9"),
        (given + 1, "NumPy array of integers from 0 to 9"),
        (given[:-1], f"must be {len(given)} in one row"),
    ):
        with pytest.raises(BadInput, match=f"^{part} of .*{told}"):
            replace(p, **{part: changed})


def test_a_run_is_known_by_the_code_of_what_carries_it_out() -> None:
    """All sources of boundcheck count in the name of a run; here is what else its problem and engine add."""
    named = build(data={"name": "digits", "seed": 1}, model="softmax")
    modules = code_of(named, {"kind": "fedavg"}, "neural")
    assert {"boundcheck.networks.problem", "boundcheck.networks.provider"} <= set(modules)
    assert "boundcheck.networks.provider" not in code_of(named, {"kind": "fedavg"}, "sampled")
    other = build(data="digits", model={"name": "mlp", "hidden": [3]})
    assert digest.digest(named.spec) != digest.digest(other.spec)
