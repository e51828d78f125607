"""Fashion-MNIST: 60000 + 10000 pictures of clothes, 28 x 28 grey levels (Xiao, Rasul, Vollgraf, 2017).

Never shipped with boundcheck: `boundcheck data fetch fashion_mnist` takes the four IDX files from the Debian package
dataset-fashion-mnist, installed or else downloaded through apt-get (a deb archive that is read, not installed);
`--from` reads them from a folder in the usual layout, packed (.gz) or not. The rest is as in `mnist`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from boundcheck.errors import BadInput
from boundcheck.problems import _idx
from boundcheck.problems._data import Samples
from boundcheck.problems._fetching import Package, Size, gather

NAMES = _idx.NAMES
SHAPE = _idx.SHAPE
MEANINGS = ("t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")
FILES = {
    "train-images-idx3-ubyte": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "train-labels-idx1-ubyte": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "t10k-images-idx3-ubyte": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    "t10k-labels-idx1-ubyte": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
}
LICENCE = "MIT (Zalando SE), in the Debian package dataset-fashion-mnist"
PACKAGE = "dataset-fashion-mnist=0.0~git20200523.55506a9-1"
PACKAGE_SHA256 = "39e172fe32dd318ebb3e512220c3beea2fa47d7e20bab348fb4e0922d6beefc0"
ADVICE = "'boundcheck data fetch fashion_mnist' gets it, with --from DIR from a folder that holds its four IDX files"
INSTALLED = Path("/usr/share/datasets/fashion-mnist")  # where the Debian package puts the files
BELOW = ("FashionMNIST/raw", "raw")  # where other programs keep the files below the folder that they are given


def fetch(source: Path | None = None) -> list[str]:
    """Puts the data into the data cache, from the Debian package or from the folder `source`; the paths written.

    Nothing is written before all four files have the expected checksums, and each file is written whole.
    Raises BadInput for a missing or other file in `source`, DataNotFetched where apt-get is missing or fails,
    StoreError.
    """
    package = Package("fashion_mnist", "apt-get", PACKAGE, PACKAGE_SHA256, "the four IDX files")
    members = {file: f".{INSTALLED}/{file}.gz" for file in FILES}
    try:
        found = gather(package, FILES, members, source or INSTALLED, BELOW if source else ())
    except BadInput:
        if source is not None:
            raise
        found = gather(package, FILES, members, None)  # the package is not installed, or in another version
    written = _idx.keep_all("fashion_mnist", found)
    load.cache_clear()
    return written


def size() -> Size:
    """What is in the data cache, not checked. Raises DataNotFetched."""
    return _idx.size_of("fashion_mnist", ADVICE)


@cache
def load(part: str = "train") -> Samples:
    """The 60000 training samples ("train") or the 10000 others ("test"). Raises DataNotFetched where not there."""
    return _idx.load_part("fashion_mnist", part, FILES, ADVICE, MEANINGS)
