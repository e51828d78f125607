"""Runs through the result store: what is there is not run again, what was cut off goes on from its checkpoint."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core import providers
from boundcheck.core.arrays import MALFORMED
from boundcheck.core.digest import Undigestible, run_key
from boundcheck.core.executor import Lost
from boundcheck.core.loaded import LOADED, digests
from boundcheck.core.store import Checkpoint, run_stored
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.run import carry_out, describe
from boundcheck.engines.summaries import Summary
from boundcheck.engines.trained import training_engine
from boundcheck.errors import WorkerLost
from boundcheck.methods import build as methods
from boundcheck.setting.metrics import modules_of

if TYPE_CHECKING:
    from boundcheck.core.store import Store, Stored
    from boundcheck.problems.problem import Problem
    from boundcheck.setting import Setting

CHUNK_SECONDS = 2.0  # work between two looks at whether a checkpoint is due, roughly
PIECE_SECONDS = 5.0  # work of an item where seeds are spread over an executor, roughly
WORTH = 20.0  # seconds of work from which on seeds are spread: processes must be started

# The map of an executor: function, items, on_done.
Spread = Callable[[Callable[..., Any], list[Any], Callable[[int, Any], None]], list[Any]]

# Facts of a run that differ between two equal runs; they are not stored.
_UNSTEADY = {"seconds", "threads", "complete", "peak_memory"}
_SUMMARIES = "summaries"
_META = "meta"  # the checkpoint's array with the JSON text of what the curve says of itself


def code_of(
    problem: Problem, method_spec: Mapping[str, Any], engine: str, parts: Iterable[str] = ()
) -> tuple[str, ...]:
    """The modules of what a run is made of; their packages are part of its key, for they may be a user's own.

    parts: the modules of the method's parts and of the metrics' formulas.
    """
    provided = providers.module_name(providers.ENGINES, engine)
    kind = methods.module_name(str(method_spec.get("kind")))
    return tuple(sorted({*parts, type(problem).__module__, kind, *filter(None, [provided])}))


def arrays_of(curve: Curve) -> dict[str, NDArray[Any]]:
    """The numbers of a curve as plain arrays: rounds, and `<part>/<metric>` for values, low, high, samples, exact."""
    arrays: dict[str, NDArray[Any]] = {"rounds": curve.rounds}
    for part in ("values", "low", "high", "samples"):
        for name, array in getattr(curve, part).items():
            arrays[f"{part}/{name}"] = array
    for name, fractions in curve.exact.items():
        arrays[f"exact/{name}"] = np.array([f"{q.numerator:x}/{q.denominator:x}" for q in fractions])
    for k, own in enumerate(curve.summaries.values()):
        arrays |= {f"{_SUMMARIES}/s{k}/{name}": array for name, array in arrays_of(own).items()}
    return arrays


def _fraction(text: str) -> Fraction:
    # hexadecimal: Python limits the digits of decimal text, and exact runs go beyond
    top, _, bottom = text.partition("/")
    return Fraction(int(top, 16), int(bottom, 16))


def meta_of(curve: Curve) -> dict[str, Any]:
    """What a curve says of itself beside its arrays, as reproducible as they are."""
    info = {k: v for k, v in curve.info.items() if k not in _UNSTEADY}
    found = {"arithmetic": curve.arithmetic.value, "expectation": curve.expectation, "info": info}
    return found | {_SUMMARIES: [[name, meta_of(own)] for name, own in curve.summaries.items()]}


def curve_from(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> Curve:
    """Inverse of `arrays_of` and `meta_of`; the time of a recalled run is 0.

    Raises one of `core.arrays.MALFORMED` for arrays and meta data that those functions do not make.
    """
    parts: dict[str, dict[str, Any]] = {"values": {}, "low": {}, "high": {}, "samples": {}, "exact": {}}
    points = arrays["rounds"].shape
    summaries: list[dict[str, NDArray[Any]]] = [{} for _ in meta.get(_SUMMARIES, ())]
    for key, array in arrays.items():
        if key == "rounds":
            continue
        part, _, name = key.partition("/")
        if part == _SUMMARIES:
            number, _, name = name.partition("/")
            summaries[int(number[1:])][name] = array
            continue
        if array.shape[-1:] != points or array.ndim != (2 if part == "samples" else 1):
            raise ValueError(f"{key} has the shape {array.shape} at {points} rounds")
        if array.dtype.kind != ("U" if part == "exact" else "f"):
            raise ValueError(f"{key} holds numbers of type {array.dtype}")
        parts[part][name] = tuple(_fraction(str(q)) for q in array) if part == "exact" else array
    return Curve(
        rounds=arrays["rounds"],
        arithmetic=Arithmetic(meta["arithmetic"]),
        expectation=bool(meta["expectation"]),
        info={"seconds": 0.0, "complete": True, **meta["info"]},
        values=parts["values"],
        low=parts["low"],
        high=parts["high"],
        samples=parts["samples"],
        exact=parts["exact"],
        summaries={
            str(name): curve_from(own, facts)
            for own, (name, facts) in zip(summaries, meta.get(_SUMMARIES, ()), strict=True)
        },
    )


def run_or_recall(
    store: Store | None,
    setting: Setting,
    method_spec: Mapping[str, Any],
    *,
    seeds: range,
    assumptions: Iterable[str] = (),
    on_progress: Callable[[float], None] | None = None,
    spread: Spread | None = None,
    **how: Any,
) -> Curve:
    """The run of a setting (`engines.run.run(**how)`), or its stored result where the same code has run the same thing.

    method_spec: the method's specification, with its step sizes as numbers.

    assumptions: see `engines.run.run`. seeds: of the sampled engine, which is carried out in chunks of seeds and saved
    in between, so that a run that is killed goes on where it was at most 10 s before (one seed that takes longer is
    repeated); a neural run saves its state in between and goes on from there. An exact run is begun again. spread:
    carries out seeds of a long sampled run as items, see `_elsewhere`; the curve does not depend on it. What cannot be
    digested is run without the store, and `info["not_stored"]` says why.
    """
    method, problem = setting.method, setting.problem
    sampled, neural = (how["engine"] == name for name in ("sampled", "neural"))
    asked: tuple[Summary, ...] = how.get("summaries", ())
    facts = {**how, "summaries": [s.key for s in asked]}
    spec: dict[str, Any] = {"problem": dict(problem.spec), "method": dict(method_spec), "run": facts}
    if neural:
        spec["run"] = {**facts, "neural": training_engine("neural").run_facts(how.get("neural"))}
    if LOADED:  # files that were run in this process might have changed anything
        spec["loaded"] = digests()
    if sampled or neural:
        spec["seeds"] = {"start": seeds.start, "stop": seeds.stop}

    def compute(checkpoint: Checkpoint) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        if sampled:
            curve = _sampled(partial(carry_out, method, problem, **how), seeds, checkpoint, on_progress, spread)
        elif neural:
            curve = carry_out(method, problem, seeds=seeds, checkpoint=checkpoint, on_progress=on_progress, **how)
        else:
            curve = carry_out(method, problem, on_progress=on_progress, **how)
        return arrays_of(curve), meta_of(curve)

    why = None
    try:
        parts = (*method.modules, *modules_of(how.get("metrics") or ()))
        code = () if store is None else code_of(problem, method_spec, how["engine"], parts)
        key = "" if store is None else run_key(spec, code)
    except Undigestible as error:
        store, key, why = None, "", str(error)
    recalled: list[Curve] = []

    def check(found: Stored) -> None:
        curve = curve_from(found.arrays, found.meta)
        _check_asked(curve, how, seeds if sampled or neural else None)
        recalled.append(curve)

    stored = run_stored(store, key, spec, compute, check)
    curve = recalled[0] if recalled else curve_from(stored.arrays, stored.meta)
    if why is not None:
        curve = replace(curve, info={**curve.info, "not_stored": why})
    return describe(curve, setting, assumptions, asked)


def _check_asked(curve: Curve, how: Mapping[str, Any], seeds: range | None) -> None:
    """Raises ValueError (or KeyError) where a stored curve is not one of this run: other rounds, metrics or seeds."""
    if curve.rounds.dtype.kind != "i" or np.any(np.diff(curve.rounds) <= 0):
        raise ValueError("the rounds do not increase")
    asked = how["rounds"]
    if not isinstance(asked, int) and list(curve.rounds) != [int(r) for r in asked]:
        raise ValueError("other rounds than those of this run")
    if not set(how.get("metrics") or ()) <= set(curve.values):
        raise ValueError("a metric is missing")
    if not {s.key for s in how.get("summaries", ())} <= set(curve.summaries):
        raise ValueError("a summary is missing")
    if seeds is not None:
        count = _count(curve)
        if count != len(seeds) or any(len(rows) != count for rows in curve.samples.values()):
            raise ValueError("other seeds than those of this run")
    if curve.arithmetic is Arithmetic.RATIONAL and not set(curve.values) <= set(curve.exact):
        raise ValueError("the exact values are missing")
    if curve.arithmetic is Arithmetic.BALL and not set(curve.values) <= set(curve.low) & set(curve.high):
        raise ValueError("the enclosures are missing")


def _sampled(
    run_seeds: partial[Curve],
    seeds: range,
    checkpoint: Checkpoint,
    on_progress: Callable[[float], None] | None,
    spread: Spread | None = None,
) -> Curve:
    """The curve of a range of seeds, in chunks; the checkpoint holds the leading rows. Rows do not depend on chunks."""
    from boundcheck.engines.simulate import concatenate

    curve = _resumed(checkpoint, seeds)
    size = 1
    portable = None if spread is None else _portable(run_seeds)
    while curve is None or _count(curve) < len(seeds):
        first = 0 if curve is None else _count(curve)
        chunk = seeds[first : first + size]

        def share(part: float, first: int = first, count: int = len(chunk)) -> None:
            if on_progress is not None:
                on_progress((first + part * count) / len(seeds))

        began = time.monotonic()
        more = run_seeds(seeds=chunk, on_progress=share)
        curve = more if curve is None else concatenate([curve, more])
        spent = max(time.monotonic() - began, 1e-3)
        size = max(1, min(8 * size, int(len(chunk) * CHUNK_SECONDS / spent)))
        if checkpoint.due() and _count(curve) < len(seeds):
            checkpoint.save(_packed(curve))
        each = spent / len(chunk)
        if spread is not None and portable is not None and each * (len(seeds) - _count(curve)) > WORTH:
            size = max(1, int(PIECE_SECONDS / each))
            return _elsewhere(portable, seeds, curve, size, checkpoint, on_progress, spread)
    return curve


def _elsewhere(
    run_seeds: Callable[..., Curve],
    seeds: range,
    curve: Curve,
    size: int,
    checkpoint: Checkpoint,
    on_progress: Callable[[float], None] | None,
    spread: Spread,
) -> Curve:
    """The same, from its leading rows on: pieces of `size` seeds are items of an executor.

    Raises WorkerLost where the process of a piece was lost twice.
    """
    from boundcheck.engines.simulate import concatenate

    rest = seeds[_count(curve) :]
    pieces = [rest[first : first + size] for first in range(0, len(rest), size)]
    leading = [curve]
    arrived: dict[int, Curve] = {}
    computed = _count(curve)

    def done(place: int, packed: Any) -> None:
        nonlocal computed
        if isinstance(packed, Lost):
            return
        arrived[place] = _unpacked(packed)
        computed += len(pieces[place])
        if on_progress is not None:
            on_progress(computed / len(seeds))
        while len(leading) - 1 in arrived:
            leading.append(arrived.pop(len(leading) - 1))
        if checkpoint.due() and len(leading) <= len(pieces):
            checkpoint.save(_packed(concatenate(leading)))

    for result in spread(_piece, [(run_seeds, piece) for piece in pieces], done):
        if isinstance(result, Lost):
            raise WorkerLost(result.reason)
    return concatenate(leading)


def _piece(item: tuple[Callable[..., Curve], range]) -> dict[str, NDArray[Any]]:
    """Some seeds; at the top of the module, so that worker processes find it."""
    run_seeds, seeds = item
    return _packed(run_seeds(seeds=seeds))


def _portable(run_seeds: partial[Curve]) -> partial[Curve] | None:
    """The same for another process, method and problem without what they have computed for themselves.

    None where they cannot be sent.
    """
    found = partial(run_seeds.func, *map(replace, run_seeds.args), **run_seeds.keywords)
    try:
        pickle.dumps(found)
    except (TypeError, AttributeError, ValueError, pickle.PicklingError):
        return None
    return found


def _resumed(checkpoint: Checkpoint, seeds: range) -> Curve | None:
    """The leading seeds of an unfinished run; None where there are none or their checkpoint does not parse."""
    saved = checkpoint.load()
    if saved is None:
        return None
    try:
        curve = _unpacked(saved)
        if not 0 < _count(curve) < len(seeds) or any(len(r) != _count(curve) for r in curve.samples.values()):
            raise ValueError("other seeds than those of this run")
        return curve
    except MALFORMED as error:
        checkpoint.refuse(error)
        return None


def _count(curve: Curve) -> int:
    return int(curve.info["seeds"]["count"])


def _packed(curve: Curve) -> dict[str, NDArray[Any]]:
    return {**arrays_of(curve), _META: np.array(json.dumps(meta_of(curve)))}


def _unpacked(saved: Mapping[str, NDArray[Any]]) -> Curve:
    arrays = {name: array for name, array in saved.items() if name != _META}
    return curve_from(arrays, json.loads(str(saved[_META])))
