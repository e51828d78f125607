"""Files of frozen results: read, written one item a line, and compared so that a difference names item and field."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Items = Mapping[str, Mapping[str, Any]]


def file_of(part: str) -> Path:
    return HERE / f"{part}.json"


def load(part: str) -> dict[str, dict[str, Any]]:
    """Item -> field -> frozen value."""
    return json.loads(file_of(part).read_text())


def write(part: str, items: Items) -> None:
    """Replace the file of a part; one item a line, in alphabetical order."""
    lines = [f"{json.dumps(name)}: {json.dumps(items[name], sort_keys=True)}" for name in sorted(items)]
    file_of(part).write_text("{\n" + ",\n".join(lines) + "\n}\n")


def digest(value: Any) -> str:
    """A short digest of a JSON-able value; long enough that two different values do not share it by chance."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def differences(frozen: Items, found: Items) -> list[str]:
    """One sentence for each field that is not as frozen."""
    sentences = [f"{item}: is gone" for item in sorted(set(frozen) - set(found))]
    sentences += [f"{item}: is new" for item in sorted(set(found) - set(frozen))]
    for item in sorted(set(frozen) & set(found)):
        was, now = frozen[item], found[item]
        for name in sorted(set(was) | set(now)):
            if was.get(name) != now.get(name):
                sentences.append(f"{item}: {name} was {was.get(name)}, is {now.get(name)}")
    return sentences


def check(part: str, found: Items, frozen: Items | None = None) -> None:
    """Fail with every difference from the frozen items of the part (or from these of them)."""
    apart = differences(load(part) if frozen is None else frozen, found)
    advice = f"if this is meant: .venv/bin/python tests/oracle/record.py {part}, in the commit that gives the reason"
    assert not apart, "\n".join([f"{len(apart)} fields are not as frozen; {advice}", *apart])
