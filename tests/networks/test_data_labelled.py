"""The data sets in one form: parts that are drawn, moments, and splits over clients."""

import numpy as np
import pytest

from boundcheck.errors import BadInput, UnknownName
from boundcheck.networks.data.labelled import NAMES, client_rows, labelled, of_parts, options_of
from boundcheck.problems import digits
from boundcheck.problems._data_sets import data_sets
from boundcheck.problems._split import Split, split_owners
from boundcheck.problems.build import kinds


def test_digits_with_a_drawn_test_part():
    data, table = labelled("digits"), digits.load()
    assert (data.name, data.kind, data.classes, data.vocabulary) == ("digits", "features", 10, 0)
    assert (data.inputs.dtype, data.labels.dtype, data.mean.shape) == (np.float64, np.int64, (0,))
    assert (data.owners, data.clients) == (None, None)
    counts = np.bincount(table.labels)
    assert np.bincount(data.test_labels).tolist() == [round(c / 5) for c in counts.tolist()]
    assert data.notes[0].startswith("359 of 1797 samples")
    # the two parts are all samples, each in the order of the data
    pairs = [(row.tobytes(), int(y)) for row, y in zip(table.features(), table.labels, strict=True)]
    held = set(zip((r.tobytes() for r in data.test_inputs), data.test_labels.tolist(), strict=True))
    train = list(zip((r.tobytes() for r in data.inputs), data.labels.tolist(), strict=True))
    assert sorted([*train, *held]) == sorted(pairs)
    assert train == [p for p in pairs if p not in held]


def test_the_part_is_a_function_of_seed_and_share():
    one, again, other = labelled("digits", seed=1), labelled("digits", seed=1), labelled("digits", seed=2)
    np.testing.assert_array_equal(one.test_inputs, again.test_inputs)
    assert not np.array_equal(one.test_inputs, other.test_inputs)
    assert len(labelled("digits", test_share="1/2").test_labels) == pytest.approx(1797 / 2, abs=10)
    for share in ("0", "1", "-1/2"):
        with pytest.raises(BadInput, match=r"test_share = .* is not allowed"):
            labelled("digits", test_share=share)
    with pytest.raises(BadInput, match="leaves a part of the 1797 samples empty"):
        labelled("digits", test_share="1/10000")


def test_moments_by_hand():
    random = np.random.default_rng(3)
    images = random.integers(0, 256, (5000, 2, 3, 4), dtype=np.uint8)
    images[:, 1] = 51
    part = images, np.zeros(5000, dtype=np.int64)
    data = of_parts("made", "image", part, part, classes=1)
    np.testing.assert_allclose(data.mean, [(images[:, 0] / 255).mean(), 0.2], rtol=1e-13)
    np.testing.assert_allclose(data.std, [(images[:, 0] / 255).std(), 1], rtol=1e-12)


def test_names_and_options():
    assert set(NAMES) <= set(data_sets())
    assert not set(data_sets()) & set(kinds())
    assert "neural" in kinds()
    assert options_of("digits") == {"seed": 0, "test_share": "1/5"}
    assert options_of("cifar10") == {}
    assert options_of("shakespeare")["minimum"] == 405
    with pytest.raises(UnknownName, match="the data set 'mnst' is unknown; did you mean 'mnist'"):
        labelled("mnst")
    with pytest.raises(BadInput, match="data set 'diabetes' goes with kind = 'least_squares', not with networks"):
        labelled("diabetes")
    with pytest.raises(UnknownName, match="the data set 'digits': option 'sed'"):
        labelled("digits", sed=1)


@pytest.mark.parametrize(
    ("name", "instead"), [("cifar100", "'cifar10' with 500 clients"), ("FEMNIST", "'shakespeare' with its roles")]
)
def test_sets_that_are_not_to_be_had(name, instead):
    with pytest.raises(BadInput, match=f"the data set '{name}' is not to be had: .*{instead}"):
        labelled(name)


def test_splits_of_labelled_data_are_those_of_the_other_problems():
    data = labelled("digits")
    labels = data.labels.tolist()
    for kind, more in [
        ("random", {"seed": 3}),
        ("random", {"imbalance": 1}),
        ("sorted", {}),
        ("dirichlet", {"alpha": "1/10", "seed": 1}),
        ("shards", {"shards_per_client": 3}),
    ]:
        split, rows = client_rows(data, kind, 12, **more)
        feature = "label" if kind == "sorted" else None
        same = Split.of(kind, 12, len(labels), labelled=True, feature=feature, **more)
        assert (split.kind, split.given) == (same.kind, same.given)
        assert [r.tolist() for r in rows] == same.parts(len(labels), labels, labels)
        assert sorted(np.concatenate(rows).tolist()) == list(range(len(labels)))
    with pytest.raises(BadInput, match="split = 'random' needs the number of clients"):
        client_rows(data)
    with pytest.raises(BadInput, match="split = 'owners' takes the clients that the data have, and this data set"):
        client_rows(data, "owners")


def test_owners_as_clients():
    rows = split_owners(np.array([2, 0, 2, 1, 0, 2]), 3)
    assert [r.tolist() for r in rows] == [[1, 4], [3], [0, 2, 5]]
    for owners, clients in (([0, 2], 3), ([0, 1, 2], 2)):
        with pytest.raises(BadInput, match=f"rows of each of the {clients} clients"):
            split_owners(np.array(owners), clients)
    split = Split.of("owners", None, 6, labelled=True, owners=3)
    assert (split.clients, split.given) == (3, {})
    assert split.parts(6, None, None, np.array([2, 0, 2, 1, 0, 2])) == [[1, 4], [3], [0, 2, 5]]
