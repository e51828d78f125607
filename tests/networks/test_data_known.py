"""The real images, where they are on this machine: shapes, classes, and the moments that others publish."""

import numpy as np
import pytest

from boundcheck.errors import DataNotFetched
from boundcheck.networks.data.labelled import labelled
from boundcheck.problems import mnist

DIGITS = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
OF_TEST = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
# name -> shapes of both parts, samples of each class, mean and deviation by channel, how near these are known
KNOWN = {
    "mnist": ((60000, 1, 28, 28), 10000, DIGITS, OF_TEST, [0.1307], [0.3081], 5e-5),
    "fashion_mnist": ((60000, 1, 28, 28), 10000, [6000] * 10, [1000] * 10, [0.2860], [0.3530], 5e-5),
    "cifar10": (
        (50000, 3, 32, 32), 10000, [5000] * 10, [1000] * 10, [0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616], 5e-5
    ),
    "mnist_5k": ((4000, 1, 28, 28), 1000, [400] * 10, [100] * 10, [0.1307], [0.3081], 1e-3),  # a part of mnist
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_images_are_the_known_data(name):
    shape, tests, classes, of_test, mean, std, near = KNOWN[name]
    try:
        data = labelled(name)
    except DataNotFetched as missing:
        pytest.skip(f"one test of the real data '{name}' is left out: {missing}")
    assert (data.inputs.shape, data.test_inputs.shape) == (shape, (tests, *shape[1:]))
    assert np.bincount(data.labels).tolist() == classes
    assert np.bincount(data.test_labels).tolist() == of_test
    np.testing.assert_allclose(data.mean, mean, atol=near)
    np.testing.assert_allclose(data.std, std, atol=near)
    if name == "cifar10":  # the first labels of the original order: frog, truck, truck, deer; cat, ship, ship, airplane
        assert data.labels[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
        assert data.test_labels[:10].tolist() == [3, 8, 8, 0, 6, 6, 1, 6, 3, 1]
    if name == "mnist_5k":
        try:
            rows = {row.tobytes() for row in mnist.load().numbers}
        except DataNotFetched:
            return
        assert all(row.tobytes() in rows for row in data.inputs[::40])
