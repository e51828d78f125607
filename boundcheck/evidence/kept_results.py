"""Results in the result store: the verdict on a claim, a study, a tuning, each under a digest of all it depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter

from boundcheck.core.arrays import MALFORMED
from boundcheck.core.digest import Undigestible, decode, digest, encode
from boundcheck.core.facts import facts
from boundcheck.core.loaded import digests
from boundcheck.core.store import Store
from boundcheck.engines.curve import Curve
from boundcheck.engines.trained import training_engine
from boundcheck.errors import BadInput, MissingExtra
from boundcheck.evidence.claim_result import Claim, ClaimResult
from boundcheck.evidence.outside import CurveFile
from boundcheck.problems._own_data import is_own
from boundcheck.theory.discovery import is_registered, readings
from boundcheck.theory.statement import Statement


@dataclass(frozen=True)
class Entry:
    """Where the result of an item is, or will be.

    name: of the item, for people. result: class of the result; own: its fields that repeat the specification.
    key: "" where something that the result depends on has no digest, so that it is not kept. parts: all that it depends
    on.
    """

    name: str
    result: type
    own: Mapping[str, Any]
    key: str = ""
    parts: Mapping[str, Any] = field(default_factory=dict[str, Any])


NOWHERE = Entry("", object, {})  # of a result that is not to be kept


@dataclass(frozen=True)
class Kept:
    """A result in the store. folders: of the runs that it comes from."""

    result: Any
    folders: tuple[str, ...]


def entry_of(
    entry: Entry,
    kind: str,
    asked: Mapping[str, Any],
    *,
    neural: Mapping[str, Any] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Entry:
    """An entry with its key. kind: of the item, such as "claim"; asked: its specification.

    neural: the settings of the neural engine, if it runs there. more: other parts that the result depends on.
    """
    parts: dict[str, Any] = {"kind": kind, "asked": asked, **(more or {}), "loaded": digests(), "facts": facts()}
    try:
        parts["files"] = {str(path): _sha256(path) for path in _data_files(asked)}
        if neural is not None:
            parts["neural"] = training_engine("neural").run_facts(neural)
        return replace(entry, key=digest(parts), parts=parts)
    except (Undigestible, BadInput, MissingExtra, OSError):
        return entry


def entry_of_claim(claim: Claim, result: type = ClaimResult, kind: str = "claim", **asked: Any) -> Entry:
    """The entry of a result of a claim; the claim's number is no part of the key. asked: further parts of the key."""
    entry = Entry(replace(claim, number=None).label(), result, {"claim": claim} if result is ClaimResult else {})
    try:
        own, more = _parts_of(claim)
    except (BadInput, OSError):  # a claim that will be refused
        return entry
    return entry_of(entry, kind, own | asked, neural=claim.trains_with, more=more)


def _parts_of(claim: Claim) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a claim asks, and what stands elsewhere: its statement with the other readings, and a file with a curve."""
    own = {f.name: getattr(claim, f.name) for f in fields(claim) if f.name not in ("statement", "name", "number")}
    own = {name: value for name, value in own.items() if value not in (None, {})}
    claimed = claim.claimed
    more: dict[str, Any] = {"statement": _digest_of(claimed)}
    if is_registered(claimed):
        paper, name, _ = claimed.id.split("/")
        more["readings"] = {s.reading: _digest_of(s) for s in readings(paper, name) if s.id != claimed.id}
    if isinstance(claim.curve, CurveFile):
        more["curve"] = {claim.curve.file: _sha256(Path(claim.curve.folder) / claim.curve.file)}
        own["curve"] = claim.curve.to_spec()
    elif isinstance(claim.curve, Curve):
        own["curve"] = claim.curve.to_dict()
    if claim.rate is not None:
        own["rate"] = asdict(claim.rate)
    return {"statement": claimed.best_id, **own}, more


@lru_cache(maxsize=1000)
def _digest_of(claimed: Statement) -> str:
    return digest(claimed.to_dict())


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _data_files(tree: Any) -> Iterator[Path]:
    """The files of a user's own data that a specification names."""
    if isinstance(tree, Mapping):
        data = tree.get("data")
        file = data.get("file") if isinstance(data, Mapping) else data
        if isinstance(file, str) and is_own(data):
            yield Path(file).expanduser()
        tree = tree.values()
    if not isinstance(tree, str) and isinstance(tree, Iterable):
        for part in tree:
            yield from _data_files(part)


def keep(store: Store, entry: Entry, result: Any, runs: Iterable[str]) -> Any:
    """The result as `recall` will return it, put into the store; unchanged where it cannot be kept."""
    if not entry.key:
        return result
    try:
        tree = encode(_tree({f.name: getattr(result, f.name) for f in fields(result) if f.name not in entry.own}))
    except Undigestible:
        return result
    text = json.dumps(tree)  # as text, so that tables keep their order
    store.put(entry.key, entry.parts, {}, {"result": text, "runs": list(runs)})
    return _read(entry, text)


def recall(place: Path | str | None, entries: Sequence[Entry], *, curves: bool = False) -> list[Kept | None]:
    """What the store at a place has of results, None for each other one.

    curves: whether the runs that a result comes from must be there, too.
    """
    if place is None:
        return [None] * len(entries)
    store = Store(place)
    return [_find(store, entry, curves) for entry in entries]


def _find(store: Store, entry: Entry, curves: bool) -> Kept | None:
    found = store.get(entry.key) if entry.key else None
    if found is None:
        return None
    try:
        if curves and any(store.get(key) is None for key in found.meta["runs"]):
            return None
        return Kept(_read(entry, found.meta["result"]), tuple(map(store.where, found.meta["runs"])))
    except MALFORMED as error:
        store.discard(found.key, error)
        return None


def _tree(value: Any) -> Any:
    """Instances of dataclasses as tables and arrays as lists."""
    if is_dataclass(value):
        return {f.name: _tree(getattr(value, f.name)) for f in fields(value)}
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        return _tree(value.tolist())
    if isinstance(value, Mapping):
        return {key: _tree(part) for key, part in value.items()}
    return [_tree(part) for part in value] if isinstance(value, list | tuple) else value


def _read(entry: Entry, text: str) -> Any:
    tree = decode(json.loads(text))
    known = {f.name for f in fields(entry.result)} - entry.own.keys()
    if set(tree) != known:
        raise ValueError("other fields than those of a result")
    return entry.result(**entry.own, **{n: _adapter(entry.result, n).validate_python(tree[n]) for n in known})


@cache
def _adapter(kind: type, name: str) -> TypeAdapter[Any]:
    return TypeAdapter(get_type_hints(kind)[name])
