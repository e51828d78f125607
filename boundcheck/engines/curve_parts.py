"""The parts of a curve, and their checks when it is made: a wrong part raises BadInput and never reaches a comparison.

The checks read every array once, so that a curve costs no more to make than the mean over its seeds.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.certified.constant import Constant
from boundcheck.core.linalg import nearest_float
from boundcheck.errors import BadInput
from boundcheck.setting.step_sizes import StepSizes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Arithmetic(StrEnum):
    """How the numbers of a curve were computed, and so what is known of their error."""

    RATIONAL = "rational"  # exact; `exact` holds the fractions
    BALL = "ball"  # rigorous enclosure low <= value <= high
    FLOAT64 = "float64"  # plain double precision, no rounding bound
    SAMPLED = "sampled"  # `samples` holds one row a seed


@dataclass(frozen=True, eq=False)
class Envelope:
    """Upper limits (R,) of a metric for every seed, infinite at rounds without a limit. how: why they are certain."""

    limits: Floats
    how: str


@dataclass(frozen=True)
class Rarest:
    """The least probable of some random choices. probability: above 0. event: what happens, in words."""

    probability: float
    event: str


# Relative distance between `values` and the mean of `samples` that the order of summation may explain.
MEAN_TOLERANCE = 1e-9
# Distance, relative or absolute, between a recorded start and the double that a run measured there.
START_TOLERANCE = 1e-6
# Share by which a sample, which is rounded, may lie above its envelope.
ROUNDING = 1e-9
# Rows of samples that are looked at together: bounds the memory of the checks.
ROWS = 1 << 14
_SAMPLED_ENGINES = ("sampled", "neural")


def checked_parts(curve: Any) -> dict[str, Any]:
    """The curve's arrays as read-only arrays of the declared types. Raises BadInput on the first part that is wrong."""
    _check_labels(curve)
    rounds = _rounds(curve.rounds)
    count = len(rounds)
    parts: dict[str, Any] = {"rounds": rounds, "values": _rows("values", curve.values, count)}
    parts |= {name: _rows(name, getattr(curve, name), count) for name in ("low", "high")}
    parts["samples"] = _tables(curve.samples, count)
    parts["exact"] = _fractions(curve.exact, count)
    _check_names(curve.arithmetic, parts)
    for name, values in parts["values"].items():
        _check_numbers(name, values, parts, rounds)
        _check_enclosure(name, parts, rounds)
        if name in parts["exact"]:
            _check_exact(name, parts, rounds)
        if name in parts["samples"]:
            _check_samples(name, parts, rounds, random=curve.expectation)
    _check_envelopes(curve, parts)
    _check_start(curve, parts)
    return parts


def _refuse(why: str) -> BadInput:
    return BadInput(f"A curve cannot be made: {why}")


def _shown(value: Any) -> str:
    return " ".join(reprlib.repr(value).split())


# --- labels -----------------------------------------------------------------------------------------------


def _check_labels(curve: Any) -> None:
    known = ", ".join(a.value for a in Arithmetic)
    if not isinstance(curve.arithmetic, Arithmetic):
        raise _refuse(f"arithmetic = {_shown(curve.arithmetic)} is not allowed; a member of Arithmetic is ({known}).")
    for name in ("expectation", "rounded_steps"):
        if not isinstance(getattr(curve, name), bool):
            raise _refuse(f"{name} = {_shown(getattr(curve, name))} is not allowed; it is True or False.")
    for name in (
        "values",
        "low",
        "high",
        "exact",
        "samples",
        "envelopes",
        "start",
        "constants",
        "assumptions",
        "violations",
        "info",
        "summaries",
    ):
        part = getattr(curve, name)
        if not isinstance(part, Mapping):
            raise _refuse(f"{name} = {_shown(part)} is not allowed; it is a mapping by name.")
        odd = next((key for key in part if not isinstance(key, str)), None)
        if odd is not None:
            raise _refuse(f"{name} has the key {_shown(odd)}; keys are names.")
    for name in ("assumptions", "violations"):
        _check_members(name, getattr(curve, name), str, "text")
    if isinstance(curve.constants, dict):  # other mappings compute a constant when it is first asked for
        _check_members("constants", curve.constants, Constant, "a Constant")
    _check_members("start", curve.start, (int, Fraction), "a fraction")
    for name in ("algorithms", "parameters"):
        part = getattr(curve, name)
        if part is not None and not (isinstance(part, tuple) and all(isinstance(v, str) for v in part)):
            raise _refuse(f"{name} = {_shown(part)} is not allowed; it is a tuple of names or None.")
    if curve.step_sizes is not None and not isinstance(curve.step_sizes, StepSizes):
        raise _refuse(f"step_sizes = {_shown(curve.step_sizes)} is not allowed; they are StepSizes or None.")
    engine = curve.info.get("engine")
    sampled = curve.arithmetic is Arithmetic.SAMPLED
    if (engine in _SAMPLED_ENGINES and not sampled) or (engine == "exact" and sampled):
        raise _refuse(f"the {engine} engine gives no curve of the arithmetic '{curve.arithmetic.value}'.")


def _check_members(name: str, part: Mapping[str, Any], kind: type | tuple[type, ...], what: str) -> None:
    for key, value in part.items():
        if not isinstance(value, kind) or isinstance(value, bool):
            raise _refuse(f"{name} of '{key}' is {_shown(value)}; it is {what}.")


def _check_names(arithmetic: Arithmetic, parts: Mapping[str, Mapping[str, Any]]) -> None:
    """That every metric has the parts of the arithmetic, and that no other part is there."""
    metrics = set(parts["values"])
    exact, sampled = arithmetic is Arithmetic.RATIONAL, arithmetic is Arithmetic.SAMPLED
    enclosed = exact or arithmetic is Arithmetic.BALL
    for part, needed, allowed in (
        ("low", enclosed, not sampled),
        ("high", enclosed, not sampled),
        ("exact", exact, exact),
        ("samples", sampled, sampled),
    ):
        names = set(parts[part])
        if names and not allowed:
            raise _refuse(f"a curve of the arithmetic '{arithmetic.value}' has no part '{part}'.")
        missing = sorted((metrics if needed else set()) - names)
        if missing:
            raise _refuse(f"the arithmetic '{arithmetic.value}' needs '{part}' of the metric '{missing[0]}'.")
        if names - metrics:
            raise _refuse(f"'{part}' has the metric '{min(names - metrics)}', of which there are no values.")
    if set(parts["low"]) != set(parts["high"]):
        only = min(set(parts["low"]) ^ set(parts["high"]))
        raise _refuse(f"the metric '{only}' has one end of an enclosure only; 'low' and 'high' come together.")


# --- arrays -----------------------------------------------------------------------------------------------


def _array(what: str, given: Any, kinds: str, dtype: Any) -> Any:
    """A read-only array of numbers, without a copy where it is one of the right type already."""
    try:
        found = np.asarray(given)
    except (TypeError, ValueError):  # rows of different lengths
        found = np.asarray(None)
    if found.size == 0 and found.dtype.kind == "f":
        kinds += "f"  # an empty list
    if found.dtype.kind not in kinds:
        allowed = "integers" if dtype is np.int64 else "real numbers"
        raise _refuse(f"{what} {_shown(given)} is not allowed; an array of {allowed} is.")
    numbers = found.astype(dtype, copy=False)
    if numbers.flags.writeable:
        numbers = numbers.view()
        numbers.flags.writeable = False
    return numbers


def _rounds(given: Any) -> Ints:
    rounds: Ints = _array("rounds =", given, "iu", np.int64)
    if rounds.ndim != 1:
        raise _refuse(f"rounds have the shape {rounds.shape}; one number for each measurement is allowed.")
    if len(rounds) and (rounds[0] < 0 or (np.diff(rounds) <= 0).any()):
        raise _refuse("rounds must be at least 0 and strictly increasing.")
    return rounds


def _rows(part: str, given: Mapping[str, Any], count: int) -> dict[str, Floats]:
    found: dict[str, Floats] = {}
    for name, row in given.items():
        values: Floats = _array(f"'{part}' of '{name}' =", row, "iuf", np.float64)
        if values.shape != (count,):
            raise _refuse(f"'{part}' of '{name}' has the shape {values.shape}; with {count} rounds it is ({count},).")
        found[name] = values
    return found


def _tables(given: Mapping[str, Any], count: int) -> dict[str, Floats]:
    found: dict[str, Floats] = {}
    for name, table in given.items():
        values: Floats = _array(f"'samples' of '{name}' =", table, "iuf", np.float64)
        if values.ndim != 2 or values.shape[1] != count:
            raise _refuse(
                f"'samples' of '{name}' has the shape {values.shape}; with {count} rounds it is (seeds, {count})."
            )
        found[name] = values
    seeds = {len(v) for v in found.values()}
    if len(seeds) > 1:
        raise _refuse(f"the metrics have samples of different numbers of seeds ({', '.join(map(str, sorted(seeds)))}).")
    return found


def _fractions(given: Mapping[str, Any], count: int) -> dict[str, tuple[Fraction, ...]]:
    found: dict[str, tuple[Fraction, ...]] = {}
    for name, row in given.items():
        if not isinstance(row, tuple | list) or any(
            isinstance(v, bool) or not isinstance(v, int | Fraction) for v in row
        ):
            raise _refuse(f"'exact' of '{name}' is {_shown(row)}; it is a tuple of fractions.")
        if len(row) != count:
            raise _refuse(f"'exact' of '{name}' has {len(row)} numbers; with {count} rounds it has {count}.")
        found[name] = tuple(v if isinstance(v, Fraction) else Fraction(v) for v in row)
    return found


# --- numbers ----------------------------------------------------------------------------------------------


def _check_numbers(name: str, values: Floats, parts: Mapping[str, Any], rounds: Ints) -> None:
    """No NaN, but for the means over no seed at all."""
    rows = {"values": values} | {part: parts[part][name] for part in ("low", "high") if name in parts[part]}
    if name in parts["samples"] and not len(parts["samples"][name]):
        del rows["values"]
    for part, row in rows.items():
        bad = np.isnan(row)
        if bad.any():
            at = rounds[int(np.argmax(bad))]
            raise _refuse(f"'{part}' of '{name}' is NaN at round {at}; a diverged run has the value infinity.")


def _check_enclosure(name: str, parts: Mapping[str, Any], rounds: Ints) -> None:
    if name not in parts["low"]:
        return
    values, low, high = parts["values"][name], parts["low"][name], parts["high"][name]
    crossed = low > high
    if crossed.any():
        at = int(np.argmax(crossed))
        raise _refuse(f"'low' of '{name}' is {low[at]:.10g}, above 'high' {high[at]:.10g}, at round {rounds[at]}.")
    outside = (values < low) | (values > high)
    if outside.any():
        at = int(np.argmax(outside))
        raise _refuse(
            f"the value {values[at]:.10g} of '{name}' at round {rounds[at]} is outside its enclosure "
            f"[{low[at]:.10g}, {high[at]:.10g}]."
        )


def _check_exact(name: str, parts: Mapping[str, Any], rounds: Ints) -> None:
    ends = zip(parts["low"][name].tolist(), parts["exact"][name], parts["high"][name].tolist(), strict=True)
    for at, (low, exact, high) in enumerate(ends):
        if not low <= exact <= high:
            raise _refuse(
                f"the exact value of '{name}' at round {rounds[at]} is outside its enclosure [{low:.10g}, {high:.10g}]."
            )


def _check_samples(name: str, parts: Mapping[str, Any], rounds: Ints, *, random: bool) -> None:
    """That no sample is NaN or minus infinity, that the values are their means, and that a run with nothing random
    has equal rows."""
    rows, values = parts["samples"][name], parts["values"][name]
    if not len(rows):
        return
    total, size = np.zeros(len(rounds)), np.zeros(len(rounds))
    with np.errstate(over="ignore", invalid="ignore"):
        for first in range(0, len(rows), ROWS):
            chunk = rows[first : first + ROWS]
            total += chunk.sum(axis=0)
            size += np.abs(chunk).sum(axis=0)
            bad = np.isnan(total) | (total == -np.inf)
            if bad.any():
                at = rounds[int(np.argmax(bad))]
                raise _refuse(
                    f"a sample of '{name}' at round {at} is NaN or minus infinity; a diverged seed has the value "
                    "infinity."
                )
            if not random and not (chunk == rows[0]).all():
                raise _refuse(f"the samples of '{name}' differ between seeds, but the run is said to be deterministic.")
        mean, reach = total / len(rows), MEAN_TOLERANCE * size / len(rows)
        off = np.where(np.isinf(mean) | np.isinf(values), values != mean, np.abs(values - mean) > reach)
    if off.any():
        at = int(np.argmax(off))
        raise _refuse(
            f"the value {values[at]:.10g} of '{name}' at round {rounds[at]} is not the mean {mean[at]:.10g} of its "
            "samples."
        )


def _check_envelopes(curve: Any, parts: Mapping[str, Any]) -> None:
    """That envelopes are numbers above all samples."""
    if curve.rarest is not None and not (isinstance(curve.rarest, Rarest) and 0 < curve.rarest.probability <= 1):
        raise _refuse(f"rarest = {_shown(curve.rarest)} is not allowed; it is a Rarest with a probability above 0.")
    for name, envelope in curve.envelopes.items():
        if not isinstance(envelope, Envelope) or name not in parts["samples"]:
            raise _refuse(f"envelopes of '{name}' is {_shown(envelope)}; it is an Envelope of a metric with samples.")
        limits = _rows("envelopes", {name: envelope.limits}, len(parts["rounds"]))[name]
        if not (limits >= 0).all():
            raise _refuse(f"an envelope of '{name}' is {limits.min():.10g}; it is at least 0.")
        rows = parts["samples"][name]
        highest = rows.max(axis=0, initial=0.0)
        beyond = highest > limits * (1 + ROUNDING)
        if beyond.any():
            at = int(np.argmax(beyond))
            raise _refuse(
                f"a sample {highest[at]:.10g} of '{name}' at round {parts['rounds'][at]} is above its envelope "
                f"{limits[at]:.10g}."
            )


def _check_start(curve: Any, parts: Mapping[str, Any]) -> None:
    """The recorded exact start agrees with the metric at round 0: within the enclosure, or close to a double."""
    rounds: Ints = parts["rounds"]
    if not len(rounds) or rounds[0] != 0:
        return
    rigorous = curve.arithmetic in (Arithmetic.RATIONAL, Arithmetic.BALL)
    for name, start in curve.start.items():
        if name not in parts["values"]:
            continue
        value = float(parts["values"][name][0])
        given = nearest_float(start)
        if rigorous:
            agree = float(parts["low"][name][0]) <= start <= float(parts["high"][name][0])
        else:
            agree = math.isnan(value) or math.isclose(value, given, rel_tol=START_TOLERANCE, abs_tol=START_TOLERANCE)
        if not agree:
            raise _refuse(f"the recorded start {given:.10g} of '{name}' contradicts its value {value:.10g} at round 0.")
