"""Searching every reading that is believed true for a counterexample, and keeping what was searched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundcheck.cli._output import line, print_json, progress, short, table
from boundcheck.core.executor import Lost, Where
from boundcheck.errors import BadInput, WorkerLost

if TYPE_CHECKING:
    from boundcheck.falsify.search import FalsifyResult
    from boundcheck.theory.statement import Statement

SCHEMA = 1


def search_all(seconds: float, seed: int, target: Path, where: Where, *, as_json: bool) -> int:
    """Searches each reading for `seconds` and writes the file after each; one that is in the file is not searched anew.

    Exit code 1 where a reading is broken; its witness is written beside the file. Raises WorkerLost, after all others,
    for readings whose processes were lost twice.
    """
    from boundcheck.evidence.witness import save_witness
    from boundcheck.falsify.seeds import executor_of_searches, search_reading

    kept = _kept(target, seconds, seed)
    readings = [reading.best_id for reading in _believed()]
    waiting = [id for id in readings if id not in kept]
    executor = executor_of_searches(True, where, seconds)
    out_of_reach, broken, lost = 0, dict[str, Path](), list[str]()
    shares = [0.0] * len(waiting)

    def in_order() -> dict[str, FalsifyResult]:
        return {id: kept[id] for id in dict.fromkeys((*readings, *kept)) if id in kept}

    with progress(f"searching {len(readings)} readings", float(len(readings))) as show:

        def progressed(place: int, share: float) -> None:
            shares[place] = share
            show(len(readings) - len(waiting) + sum(shares))

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
            broken[id] = target.with_name(f"witness-{id.replace('/', '-')}-seed{seed}.json")
            save_witness(result.witness, broken[id])
    if as_json:
        found = {
            "readings": len(kept),
            "out_of_reach": out_of_reach,
            "instances": _instances(kept),
            "file": str(target),
        }
        print_json({**found, "broken": {id: str(path) for id, path in broken.items()}})
    else:
        if broken:
            table(
                ["broken", "instances", "witness"], [[id, str(kept[id].instances), str(p)] for id, p in broken.items()]
            )
        line(
            f"{len(kept)} readings believed true searched, {short(seconds)} s each, seed {seed}: {_instances(kept)} "
            f"instances, {len(broken)} broken. {out_of_reach} others are out of the search's reach."
        )
        line(f"kept: {target}; the same command searches what is not in it.")
    if lost:
        raise WorkerLost("\n".join(lost))
    return 1 if broken else 0


def _believed() -> list[Statement]:
    from boundcheck.theory.discovery import all_statements
    from boundcheck.theory.statement import Belief

    return [s for s in all_statements() if s.belief is Belief.TRUE]


def _instances(kept: dict[str, FalsifyResult]) -> int:
    return sum(result.instances for result in kept.values())


def _kept(target: Path, seconds: float, seed: int) -> dict[str, FalsifyResult]:
    """What an earlier call of the same search has left."""
    from boundcheck.cli._files import probe_file, read_text
    from boundcheck.falsify.search import FalsifyResult

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
    from boundcheck.core.places import write_whole

    searches: list[Any] = [result.to_dict() for result in kept.values()]
    text = json.dumps({"schema": SCHEMA, "seed": seed, "budget": seconds, "searches": searches}, indent=1)
    write_whole(target, (text + "\n").encode())
