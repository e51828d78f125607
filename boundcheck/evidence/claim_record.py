"""The result of a claim as data for JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.core.numbers import format_exact, parse_number
from boundcheck.engines.curve import Curve
from boundcheck.errors import BadInput
from boundcheck.evidence.outside import CurveFile
from boundcheck.evidence.rate import Rate
from boundcheck.evidence.readings import Reading
from boundcheck.theory.deserialize import statement_from_dict
from boundcheck.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from boundcheck.evidence.claim import Claim, ClaimResult

SCHEMA = 1
_SERIES = ("metric_low", "metric_high", "bound")


def result_to_dict(result: ClaimResult) -> dict[str, Any]:
    """See `ClaimResult.to_dict`."""
    rate = result.rate
    return {
        "schema": SCHEMA,
        "claim": _claim_to_dict(result.claim),
        "verdict": result.verdict.to_dict(),
        "method": _plain(result.method),
        "failures": list(result.failures),
        "index": [format_exact(k) for k in result.index],
        "rounds": list(result.rounds),
        **{name: [_number(v) for v in getattr(result, name)] for name in _SERIES},
        "readings": [
            {"id": r.id, "in_scope": r.in_scope, "bound": [_number(v) for v in r.bound]} for r in result.readings
        ],
        "rate": None if rate is None else _plain(asdict(rate)),
        "info": _plain(result.info),
    }


def result_from_dict(data: Mapping[str, Any]) -> ClaimResult:
    """See `ClaimResult.from_dict`."""
    from boundcheck.evidence.claim import ClaimResult

    try:
        rate = _read(data["rate"])
        return ClaimResult(
            claim=_claim_from_dict(data["claim"]),
            verdict=Verdict.from_dict(data["verdict"]),
            method=_read(data["method"]),
            failures=tuple(data["failures"]),
            index=tuple(_exact(k) for k in data["index"]),
            rounds=tuple(data["rounds"]),
            **{name: tuple(map(float, data[name])) for name in _SERIES},
            readings=tuple(Reading(r["id"], r["in_scope"], tuple(map(float, r["bound"]))) for r in data["readings"]),
            rate=None if rate is None else Rate(**{**rate, "span": tuple(rate["span"])}),
            info=_read(data["info"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"this is no result of a claim: {type(error).__name__} {error}.") from error


def _claim_to_dict(claim: Claim) -> dict[str, Any]:
    """Every field that is not the default, by name."""
    found = {f.name: getattr(claim, f.name) for f in fields(claim) if getattr(claim, f.name) not in (None, "", {})}
    if not isinstance(claim.statement, str):
        found["statement"] = {"definition": claim.statement.to_dict()}
    if isinstance(claim.curve, CurveFile):
        found["curve"] = {"file": asdict(claim.curve)}
    elif claim.curve is not None:
        found["curve"] = {"curve": claim.curve.to_dict()}
    if claim.rate is not None:
        found["rate"] = asdict(claim.rate)
    return {name: _plain(value) for name, value in found.items()}


def _claim_from_dict(data: Mapping[str, Any]) -> Claim:
    from boundcheck.evidence.claim import Claim, RateClaim

    own = {name: _read(value) for name, value in data.items() if name not in ("statement", "curve")}
    stated, curve = data["statement"], data.get("curve")
    own["statement"] = stated if isinstance(stated, str) else statement_from_dict(stated["definition"])
    if curve is not None:
        own["curve"] = CurveFile(**_read(curve["file"])) if "file" in curve else Curve.from_dict(curve["curve"])
    if "rate" in own:
        own["rate"] = RateClaim(**own["rate"])
    if "expect" in own:
        own["expect"] = Outcome(own["expect"])
    if "tightness" in own:
        own["tightness"] = tuple(own["tightness"])
    return Claim(**own)


def _plain(value: Any) -> Any:
    """In JSON's own types; a fraction as {"exact": "1/3"}, a number that JSON lacks as {"float": "inf"}."""
    if isinstance(value, Outcome):
        return value.value
    if isinstance(value, Fraction):
        return {"exact": format_exact(value)}
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and value - value != 0:
        return {"float": repr(value)}
    return value


def _read(value: Any) -> Any:
    """Inverse of `_plain`; lists stay lists."""
    if isinstance(value, Mapping):
        if set(value) == {"exact"}:
            return _exact(value["exact"])
        return float(value["float"]) if set(value) == {"float"} else {k: _read(v) for k, v in value.items()}
    return [_read(v) for v in value] if isinstance(value, list) else value


def _exact(text: str) -> Fraction:
    return parse_number(text, "a result of a claim", max_text=len(text))


def _number(value: float) -> float | str:
    """A number, or its text where JSON has none for it."""
    return value if value - value == 0 else repr(value)
