"""Results in the result store: the verdict on a claim, a study, a tuning, each under a digest of all it depends on.

The name of an entry is a digest of the name of what was asked, followed by one of the parts that its result depends
on. The parts stand in the entry. So one look finds a result that is there, and where it is not, the parts of earlier
entries of the same name say what has changed.
"""

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
from boundcheck.core.facts import facts, in_words
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

NEW = "no result of it is stored"
GONE = "its entry, or a run that it comes from, is damaged or gone"
_LONGEST = 40  # characters of a value that an explanation quotes
_NAME = 16  # digits of a key that stand for the name of what was asked


@dataclass(frozen=True)
class Entry:
    """Where the result of an item is, or will be.

    name: by which people know the item. result: class of the result; own: those of its fields that are what was asked.
    key: "" where something that the result depends on has no digest, so that it is not kept. parts: all that it depends
    on, as `core.digest.encode` writes it.
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


@dataclass(frozen=True)
class Origin:
    """Where a result comes from: the store, or computed because of `why`. name: of the item."""

    name: str
    stored: bool
    why: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"STORED {self.name}" if self.stored else f"COMPUTED {self.name}: {'; '.join(self.why)}"


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
        encoded, whole = encode(parts), digest(parts)
    except (Undigestible, BadInput, MissingExtra, OSError):
        return entry
    of_name = hashlib.sha256(f"{kind}\0{entry.name}".encode()).hexdigest()
    return replace(entry, key=of_name[:_NAME] + whole[_NAME:], parts=encoded)


def entry_of_claim(claim: Claim, result: type = ClaimResult, kind: str = "claim", **asked: Any) -> Entry:
    """The entry of what comes of a claim, whose number does not count; asked: what else is asked, for another kind."""
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
    more: dict[str, Any] = {"statement": _digests(claimed)}
    if is_registered(claimed):
        paper, name, _ = claimed.id.split("/")
        more["readings"] = {s.reading: digest(_digests(s)) for s in readings(paper, name) if s.id != claimed.id}
    if isinstance(claim.curve, CurveFile):
        more["curve"] = {claim.curve.file: _sha256(Path(claim.curve.folder) / claim.curve.file)}
        own["curve"] = claim.curve.to_spec()
    elif isinstance(claim.curve, Curve):
        own["curve"] = claim.curve.to_dict()
    if claim.rate is not None:
        own["rate"] = asdict(claim.rate)
    return {"statement": claimed.best_id, **own}, more


@lru_cache(maxsize=1000)
def _digests(claimed: Statement) -> Mapping[str, str]:
    """Part of a statement -> its digest."""
    return {name: digest(part)[:_NAME] for name, part in claimed.to_dict().items()}


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


# --- keeping and finding ---------------------------------------------------------------------------------------------


def keep(store: Store, entry: Entry, result: Any, runs: Iterable[str]) -> Any:
    """The result as `recall` will return it, put into the store; unchanged where it cannot be kept."""
    if not entry.key:
        return result
    try:
        tree = encode(_tree({f.name: getattr(result, f.name) for f in fields(result) if f.name not in entry.own}))
    except Undigestible:
        return result
    text = json.dumps(tree)  # as text, so that tables keep their order
    store.put(entry.key, decode(entry.parts), {}, {"result": text, "runs": list(runs)})
    return _read(entry, text)


def recall(
    place: Path | str | None, entries: Sequence[Entry], *, curves: bool = False, origins: list[Origin] | None = None
) -> list[Kept | None]:
    """What the store at a place has of results, None for each other one.

    curves: whether the runs that a result comes from must be there, too. origins: gets where each result comes from.
    """
    if place is None:
        return [None] * len(entries)
    store = Store(place)
    found = [_find(store, entry, curves) for entry in entries]
    if origins is not None:
        names = store.keys() if None in found else []
        for entry, kept in zip(entries, found, strict=True):
            why = () if kept is not None else tuple(_changes(store, entry, names))
            origins.append(Origin(entry.name, kept is not None, why))
    return found


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


# --- explaining ------------------------------------------------------------------------------------------------------


def _changes(store: Store, entry: Entry, names: Iterable[str]) -> list[str]:
    """What differs from the entry of the same name that is nearest, the newest of several.

    names: of all entries of the store.
    """
    if not entry.key:
        return ["something that it depends on has no digest, so that it is never stored"]
    nearest: tuple[int, str, list[str]] | None = None
    for key in names:
        found = store.get(key) if key[:_NAME] == entry.key[:_NAME] else None
        if found is not None and isinstance(found.spec, Mapping):
            changed = [*_differences(_leaves(encode(found.spec)), _leaves(entry.parts))]
            rank = -len(changed), str(found.environment.get("written", ""))
            if nearest is None or rank > nearest[:2]:
                nearest = *rank, changed
    return [NEW] if nearest is None else nearest[2] or [GONE]


def _leaves(tree: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    if not isinstance(tree, Mapping) or (len(tree) == 1 and next(iter(tree)).startswith("$")):
        return {path: tree}
    return {leaf: value for name, part in tree.items() for leaf, value in _leaves(part, (*path, name)).items()}


def _differences(old: Mapping[tuple[str, ...], Any], new: Mapping[tuple[str, ...], Any]) -> Iterator[str]:
    seen: set[str] = set()
    for path in dict.fromkeys((*new, *old)):
        if old.get(path) != new.get(path):
            words = _in_words(path, old.get(path), new.get(path))
            if words not in seen:
                yield words
            seen.add(words)


def _in_words(path: tuple[str, ...], old: Any, new: Any) -> str:
    part, *rest = path
    name = ".".join(rest)
    if part == "statement":
        return f"{name.replace('_', ' ')} of the statement"
    if part == "readings":
        return "the other readings of the statement"
    if part in ("files", "curve"):
        return f"the content of {Path(name).name}"
    if part == "loaded":
        return f"the file of --load with {name}"
    if part == "facts" and name == "code":
        return "code of boundcheck"
    if part == "facts":
        return f"{in_words(name, old)} -> {new}"
    before, after = ("none" if value is None else str(decode(value)) for value in (old, new))
    return f"{name} {before} -> {after}" if len(before) + len(after) <= _LONGEST else name
