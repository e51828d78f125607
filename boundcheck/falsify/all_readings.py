"""Searches of every reading that is believed true for a counterexample, kept in a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundcheck.core.executor import Lost, Where
from boundcheck.core.places import write_whole
from boundcheck.core.targets import probe_file, read_text
from boundcheck.errors import BadInput
from boundcheck.evidence.witness import save_witness
from boundcheck.falsify.search import FalsifyResult
from boundcheck.falsify.seeds import executor_of_searches, search_reading

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement

SCHEMA = 1


@dataclass(frozen=True)
class Searches:
    """What was searched: results by reading, files of witnesses, the number of readings out of reach, and lost ones.

    lost: one sentence for each reading whose process was lost twice.
    """

    results: dict[str, FalsifyResult]
    witnesses: dict[str, Path]
    out_of_reach: int
    lost: list[str]

    @property
    def instances(self) -> int:
        """Number of instances of all searches."""
        return sum(result.instances for result in self.results.values())


def search_all(
    seconds: float, seed: int, target: Path, where: Where, show: Callable[[float], None] = lambda done: None
) -> Searches:
    """Searches each reading for `seconds` and writes the file after each; one that is in the file is not searched anew.

    The witness of a broken reading is written beside the file. show: is called with the finished share, 0 to 1. Raises
    BadInput for a file of another search.
    """
    kept = _kept(target, seconds, seed)
    readings = [reading.best_id for reading in believed()]
    waiting = [id for id in readings if id not in kept]
    executor = executor_of_searches(True, where, seconds)
    out_of_reach, witnesses, lost = 0, dict[str, Path](), list[str]()
    shares = [0.0] * len(waiting)

    def in_order() -> dict[str, FalsifyResult]:
        return {id: kept[id] for id in dict.fromkeys((*readings, *kept)) if id in kept}

    def progressed(place: int, share: float) -> None:
        shares[place] = share
        show((len(readings) - len(waiting) + sum(shares)) / max(len(readings), 1))

    def done(place: int, result: FalsifyResult | Lost | None) -> None:
        nonlocal out_of_reach
        progressed(place, 1.0)
        if result is None:
            out_of_reach += 1
        elif isinstance(result, Lost):
            lost.append(f"{waiting[place]}: {result.reason}")
        else:
            kept[waiting[place]] = result
            _write(target, in_order(), seconds, seed)

    executor.map(search_reading, [(id, seconds, seed) for id in waiting], done, progressed)
    for id, result in in_order().items():
        if result.witness is not None:
            witnesses[id] = target.with_name(f"witness-{id.replace('/', '-')}-seed{seed}.json")
            save_witness(result.witness, witnesses[id])
    return Searches(in_order(), witnesses, out_of_reach, lost)


def believed() -> list[Statement]:
    """All readings that are believed true."""
    from boundcheck.theory.discovery import all_statements
    from boundcheck.theory.statement import Belief

    return [s for s in all_statements() if s.belief is Belief.TRUE]


def _kept(target: Path, seconds: float, seed: int) -> dict[str, FalsifyResult]:
    """What an earlier call of the same search has left."""
    probe_file(target, "--out")
    if not target.exists():
        return {}
    try:
        data = json.loads(read_text(target))
        found = [FalsifyResult.from_dict(entry) for entry in data["searches"]]
        same = (data["schema"], data["seed"], data["budget"]) == (SCHEMA, seed, seconds)
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"--out '{target}' is there and is no file of boundcheck falsify --all; name another."
        ) from error
    if not same:
        raise BadInput(f"--out '{target}' is of another seed or budget; name another file, or delete it.")
    return {result.statement: result for result in found}


def _write(target: Path, kept: dict[str, FalsifyResult], seconds: float, seed: int) -> None:
    searches: list[Any] = [result.to_dict() for result in kept.values()]
    text = json.dumps({"schema": SCHEMA, "seed": seed, "budget": seconds, "searches": searches}, indent=1)
    write_whole(target, (text + "\n").encode())
