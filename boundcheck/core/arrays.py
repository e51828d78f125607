"""Named arrays as bytes that depend on the arrays alone: .npz files without time, order or platform in them."""

from __future__ import annotations

import io
import re
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from boundcheck.errors import BadInput

Arrays = Mapping[str, NDArray[Any]]
# What reading bytes raises that are no .npz file or hold other members than they say, a header that asks for more
# memory than there is among it; and what parsing JSON of the wrong shape raises.
MALFORMED = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
_PART = r"[A-Za-z_][A-Za-z0-9_.:-]*"  # a metric such as "discrepancy:2" has a colon
_NAME = re.compile(f"{_PART}(?:/{_PART})*")  # never an absolute path, never ".."


def pack_arrays(arrays: Arrays) -> bytes:
    """The bytes of an .npz file that depend on names and contents alone (no time, no compression, sorted).

    Arrays are written little-endian and in C order. Raises BadInput for object arrays and odd names.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(arrays):
            if not _NAME.fullmatch(name):
                allowed = "letters, digits and '_.:-/' are allowed, with a letter or '_' first in each part"
                raise BadInput(f"'{name}' cannot name a stored array; {allowed}.")
            array = frozen_copy(arrays[name])
            if array.dtype.hasobject:
                raise BadInput(f"the array '{name}' holds Python objects; only numbers and text are stored.")
            member = io.BytesIO()
            npy.write_array(member, array, allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16
            archive.writestr(info, member.getbuffer())
    return packed.getvalue()


def unpack_arrays(content: bytes, *, frozen: bool = True) -> dict[str, NDArray[Any]] | None:
    """Inverse of `pack_arrays`, read-only where `frozen`; None for bytes that it did not write. Never unpickles."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: cast("NDArray[Any]", archive[name]) for name in archive.files}
        for array in arrays.values():
            array.setflags(write=not frozen)
        return arrays
    except MALFORMED:
        return None


def frozen_copy(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only copy, little-endian and in C order: what the array looks like once stored and read."""
    array = np.asarray(array)
    array = np.array(array, dtype=array.dtype.newbyteorder("<"), order="C")
    array.setflags(write=False)
    return array
