"""What MNIST and Fashion-MNIST share: four IDX files of bytes, images of 28 x 28 grey levels and labels 0 to 9."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from boundcheck.errors import BadInput
from boundcheck.problems._data import Samples
from boundcheck.problems._fetching import Size, keep, kept, kept_shape

SHAPE = (1, 28, 28)  # channels, height, width
NAMES = tuple(f"pixel_{i}_{j}" for i in range(28) for j in range(28))
LEVELS = 255  # the brightest grey level
PREFIX = {"train": "train", "test": "t10k"}


def parse(content: bytes, file: str) -> NDArray[np.uint8]:
    """The array of an IDX file of bytes: two zeros, the type 8, how many axes, their lengths (big-endian), data."""
    axes = content[3] if content[:3] == b"\x00\x00\x08" else 0
    shape = [int.from_bytes(content[4 + 4 * k : 8 + 4 * k], "big") for k in range(axes)]
    data = np.frombuffer(content, dtype=np.uint8, offset=min(4 + 4 * axes, len(content)))
    if axes == 0 or data.size != np.prod(shape, dtype=np.int64):
        raise BadInput(f"{file} is no IDX file of bytes.")
    return data.reshape(shape)


def keep_all(data: str, contents: Mapping[str, bytes]) -> list[str]:
    """Puts the four files into the data cache as arrays; the paths written. Raises BadInput, StoreError."""
    return keep(data, {file: parse(content, file) for file, content in contents.items()})


def size_of(data: str, advice: str) -> Size:
    """What is in the data cache. Raises DataNotFetched."""
    train, test = (kept_shape(data, f"{prefix}-images-idx3-ubyte", advice) for prefix in PREFIX.values())
    return Size(train[0], int(np.prod(train[1:])), test[0])


def load_part(data: str, part: str, files: Mapping[str, str], advice: str, meanings: tuple[str, ...]) -> Samples:
    """The samples of a part, from the data cache. Raises BadInput for another part, DataNotFetched."""
    if part not in PREFIX:
        raise BadInput(f"'{part}' is no part of the data set '{data}'; 'train' and 'test' are.")
    names = [f"{PREFIX[part]}-{what}" for what in ("images-idx3-ubyte", "labels-idx1-ubyte")]
    images, labels = (kept(data, name, files[name], advice, idx=True) for name in names)
    return Samples(NAMES, images.reshape(len(images), -1), LEVELS, labels.astype(np.int64), meanings)
