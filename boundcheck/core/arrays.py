"""Named arrays with a text as bytes that depend on these alone: .npz files without time, order or platform in them.

The last 64 bytes, the comment of the archive, are the SHA-256 of all bytes before them, which reading verifies.
"""

from __future__ import annotations

import hashlib
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
_ABOUT = "about.json"
_DIGITS = 64  # of a checksum
_PART = r"[A-Za-z_][A-Za-z0-9_.:-]*"  # a metric such as "discrepancy:2" has a colon
_NAME = re.compile(f"{_PART}(?:/{_PART})*")  # never an absolute path, never ".."


def pack_arrays(arrays: Arrays, about: bytes = b"") -> bytes:
    """The bytes of an .npz file that depend on names and contents alone (no time, no compression, sorted).

    Arrays are written little-endian and in C order; about: the content of a further member, `about.json`, which NumPy
    hands out as bytes. Raises BadInput for object arrays and odd names.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        if about:
            archive.writestr(_member(_ABOUT), about)
        for name in sorted(arrays):
            if not _NAME.fullmatch(name):
                allowed = "letters, digits and '_.:-/' are allowed, with a letter or '_' first in each part"
                raise BadInput(f"'{name}' cannot name a stored array; {allowed}.")
            array = frozen_copy(arrays[name])
            if array.dtype.hasobject:
                raise BadInput(f"the array '{name}' holds Python objects; only numbers and text are stored.")
            member = io.BytesIO()
            npy.write_array(member, array, allow_pickle=False)
            archive.writestr(_member(f"{name}.npy"), member.getbuffer())
        archive.comment = bytes(_DIGITS)
    body = packed.getvalue()[:-_DIGITS]
    return body + _checksum(body)


def unpack(content: bytes, *, frozen: bool = True) -> tuple[dict[str, NDArray[Any]], bytes]:
    """Inverse of `pack_arrays`: arrays, read-only where `frozen`, and the text. Never unpickles.

    Raises Damaged where the checksum differs, another of `MALFORMED` for members that are no arrays.
    """
    if content[-_DIGITS:] != _checksum(content[:-_DIGITS]):
        raise Damaged("the checksum differs")
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        found = {name: archive[name] for name in archive.files}
    about = cast("bytes", found.pop(_ABOUT, b""))
    arrays = cast("dict[str, NDArray[Any]]", found)
    for array in arrays.values():
        array.setflags(write=not frozen)
    return arrays, about


def unpack_arrays(content: bytes, *, frozen: bool = True) -> dict[str, NDArray[Any]] | None:
    """The arrays of `unpack`; None for bytes that `pack_arrays` did not write."""
    try:
        return unpack(content, frozen=frozen)[0]
    except MALFORMED:
        return None


class Damaged(ValueError):
    """Bytes that are not those that were written."""


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode("ascii")


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.create_system, info.external_attr = 3, 0o644 << 16
    return info


def frozen_copy(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only copy, little-endian and in C order: what the array looks like once stored and read."""
    array = np.asarray(array)
    array = np.array(array, dtype=array.dtype.newbyteorder("<"), order="C")
    array.setflags(write=False)
    return array
