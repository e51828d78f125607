"""Reading a run of the result store: a whole, sound and understood one, or none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from boundcheck.core.arrays import MALFORMED, Arrays, unpack_arrays
from boundcheck.core.digest import decode
from boundcheck.core.seal import is_sealed
from boundcheck.errors import StoreError

SCHEMA = 1
FILES = {"spec.json", "curve.npz", "environment.json", "done.json"}


@dataclass(frozen=True)
class Stored:
    """A finished run.

    arrays: read-only, little-endian, C-ordered; meta: what the computation says of its result;
    environment: versions and time of the run; place: its folder or URL, or None where it is not stored;
    reused: whether it was there before and was not computed now.
    """

    key: str
    spec: Any
    arrays: Arrays
    meta: Mapping[str, Any]
    environment: Mapping[str, Any]
    place: str | None
    reused: bool


def read_run(files: Mapping[str, bytes], key: str, place: str) -> Stored | str | None:
    """The run that the files of an entry hold; None if damaged, the reason as a clause if its content is refused.

    Refused is what has sound checksums and yet does not parse, or lacks the seal of the key that is set. Raises
    StoreError where it comes from a newer boundcheck.
    """
    if FILES - set(files):
        return None
    done, environment = (_parse(files[name], f"{place}/{name}") for name in ("done.json", "environment.json"))
    whole = {name: files[name] for name in ("spec.json", "curve.npz")}
    if done is None or environment is None or done.get("sha256") != checksums(whole):
        return None
    if not is_sealed(done.get("hmac"), b"run", key.encode("ascii"), *whole.values()):
        return "it does not carry the seal of the key in BOUNDCHECK_STORE_KEY"
    spec = _parse(whole["spec.json"], f"{place}/spec.json")
    arrays = unpack_arrays(whole["curve.npz"])
    if spec is None or arrays is None:
        return "its files do not parse"
    if spec.get("key") != key:  # somebody renamed the entry
        return None
    try:
        meta = decode(spec["meta"])
        if not isinstance(meta, dict):
            return "its meta data are no table"
        return Stored(key, decode(spec["spec"]), arrays, meta, environment, place, reused=True)
    except MALFORMED as error:
        return f"its specification does not parse ({type(error).__name__})"


def check_schema(schema: int, path: str) -> None:
    """Raises StoreError for a file of a newer boundcheck."""
    if schema > SCHEMA:
        raise StoreError(
            f"{path} has schema {schema}, and this boundcheck reads schema {SCHEMA} at most; "
            "install a newer boundcheck, or name another store with BOUNDCHECK_STORE."
        )


def checksums(files: Mapping[str, bytes]) -> dict[str, str]:
    """SHA-256 of each file."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def json_bytes(tree: Any) -> bytes:
    """The one JSON text of a tree, for a file."""
    return (json.dumps(tree, sort_keys=True, indent=1, allow_nan=False) + "\n").encode("ascii")


def _parse(content: bytes, path: str) -> dict[str, Any] | None:
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):  # damaged; ValueError includes broken UTF-8
        return None
    if not isinstance(parsed, dict):
        return None
    members = cast("dict[str, Any]", parsed)
    if not isinstance(members.get("schema"), int):
        return None
    check_schema(members["schema"], path)
    return members
