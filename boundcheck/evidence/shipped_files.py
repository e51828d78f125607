"""Where the witnesses, claims and recorded results that come with boundcheck lie, and what the claims expect."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path

from boundcheck.errors import BadInput
from boundcheck.verdict import Outcome

PACKAGE = Path(__file__).resolve().parents[1]


def shipped_folder(inside: str, beside: str) -> Path:
    """A folder of an installed package, or the one beside it in a checkout that it is made of."""
    installed = PACKAGE / inside
    return installed if installed.is_dir() else PACKAGE.parent / beside


def example(text: str) -> Path:
    """The file that `text` names; one below examples/ that is missing is the one that comes with boundcheck.

    So is a name without ending, such as that of a paper, which stands for the shipped claims in the file of that name.
    """
    path = Path(text)
    if path.parts == (text,) and not path.suffix and not path.exists():
        named = shipped_folder("_claims", "examples") / f"{text}.toml"
        return named if named.is_file() else path
    if path.parts[:1] == ("examples",) and not path.exists():
        inside = shipped_folder("_claims", "examples").joinpath(*path.parts[1:])
        return inside if inside.exists() else path
    return path


def shipped_witnesses() -> dict[str, Path]:
    """Statement id -> witness file: inside an installed package, or `examples/witnesses` beside it in a checkout."""
    found = sorted(shipped_folder("_witnesses", "examples/witnesses").glob("*.json"))
    return {str(json.loads(path.read_text(encoding="utf-8"))["statement"]): path for path in found}


def violating_witnesses() -> dict[str, str]:
    """Statement id -> the reason of the verdict, for the shipped witnesses that show a violation."""
    verdicts = {id: json.loads(path.read_bytes())["verdict"] for id, path in shipped_witnesses().items()}
    return {id: v["reason"] for id, v in verdicts.items() if v["outcome"] == Outcome.VIOLATED.value}


def witness_file(text: str) -> Path:
    """The witness file that `text` names: a file, or the shipped one of a statement or reading of this id.

    Raises BadInput where the statement has no shipped witness, or its readings have several.
    """
    path = example(text)
    id = text.strip().strip("/")
    if path.exists() or path.suffix == ".json" or id.count("/") not in (1, 2):
        return path
    from boundcheck.theory.discovery import readings, statement

    shipped = shipped_witnesses()
    if id.count("/") == 2:
        if id not in shipped:
            statement(id)  # raises for an id that does not exist
            raise BadInput(f"{id} has no shipped witness; `boundcheck falsify {id}` searches for one.")
        return shipped[id]
    own = [r.id for r in readings(*statement(id).id.split("/")[:2]) if r.id in shipped]
    if len(own) != 1:
        which = f"has several shipped witnesses: {', '.join(own)}" if own else "has no shipped witness"
        raise BadInput(f"{id} {which}{'; name one' if own else ''}.")
    return shipped[own[0]]


def shipped_records() -> list[Path]:
    """The recorded tables of training: inside an installed package, or `configs/neural/recorded` in a checkout."""
    return sorted(shipped_folder("_recorded", "configs/neural/recorded").glob("*.json"))


def shipped_claims() -> dict[str, Mapping[str, int]]:
    """Statement id as the claims write it (with or without a reading) -> expected outcome -> number of claims.

    The specification files are read, and nothing is built or run; `boundcheck check` runs them. They lie inside an
    installed package, or in `examples` beside it in a checkout.
    """
    found: dict[str, Counter[str]] = {}
    for claims in _expecting(shipped_folder("_claims", "examples")).values():
        for id, expected in claims:
            found.setdefault(id, Counter())[expected] += 1
    return dict(found)


@lru_cache(maxsize=2)
def _expecting(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Name of a shipped file -> statement and expected outcome of its claims."""
    read = {p.stem: tomllib.loads(p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*.toml"))}
    return {
        name: [(str(c["statement"]), str(c["expect"])) for c in data.get("claim", ()) if "expect" in c]
        for name, data in read.items()
    }


def names_of_claims(id: str) -> list[str]:
    """The names of the shipped files (see `example`) with claims about a reading, given by its full id."""
    from boundcheck.theory.discovery import statement

    bare = id.rpartition("/")[0]
    ids = {id, bare} if statement(bare).id == id else {id}
    files = _expecting(shipped_folder("_claims", "examples"))
    return [name for name, claims in files.items() if any(about in ids for about, _ in claims)]


def claims_by_id(wanted: Collection[str] | None = None) -> dict[str, dict[str, int]]:
    """Full statement id -> expected outcome -> number of shipped claims; a bare id counts for its best reading.

    wanted: full ids (None: all). Claims about a statement that does not load are left out.
    """
    from boundcheck.theory.discovery import statement

    found: dict[str, dict[str, int]] = {}
    for id, outcomes in shipped_claims().items():
        if wanted is not None and id not in wanted and not any(full.startswith(f"{id}/") for full in wanted):
            continue
        try:
            own = found.setdefault(id if id.count("/") == 2 else statement(id).id, {})
        except BadInput:
            continue
        for outcome, count in outcomes.items():
            own[outcome] = own.get(outcome, 0) + count
    return found
