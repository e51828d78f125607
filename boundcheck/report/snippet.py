"""A claim written back as the TOML that `boundcheck compare` and `boundcheck check` read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import format_exact
from boundcheck.evidence.outside import CurveFile

if TYPE_CHECKING:
    from boundcheck.evidence.claim import Claim


_BARE = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def claim_toml(claim: Claim) -> str:
    """The `[[claim]]` table of a specification file; reading it gives an equal claim. Defaults are left out."""
    plain = type(claim)(claim.statement, claim.problem, claim.method)
    entries: list[tuple[str, Any]] = [("name", claim.name)] if claim.name else []
    entries.append(("statement", claim.id))
    if isinstance(claim.curve, CurveFile):
        entries.append(("curve", claim.curve.to_spec()))
    entries += [(n, v) for n, v in (("problem", claim.problem), ("method", claim.method)) if v]
    for name in ("at", "constants", "engine", "arithmetic", "seeds"):
        if getattr(claim, name) != getattr(plain, name):
            entries.append((name, getattr(claim, name)))
    if claim.level != plain.level:
        entries.append(("level", _Decimal(repr(claim.level))))
    if claim.expect is not None:
        entries.append(("expect", claim.expect.value))
    limits = dict(zip(("at_least", "at_most"), claim.tightness, strict=True))
    if any(v is not None for v in limits.values()):
        entries.append(("tightness", {k: _Decimal(repr(float(v))) for k, v in limits.items() if v is not None}))
    for name, given in (("neural", claim.neural), ("estimate", claim.estimate)):
        if given is not None:
            entries.append((name, given or (name == "estimate") or {}))
    if claim.rate is not None:
        rate = claim.rate
        slope = [_number(rate.low), _number(rate.high)]
        entries.append(("rate", {"metric": rate.metric, "slope": slope, "last": _number(rate.last)}))
    return "[[claim]]\n" + "".join(f"{name} = {_value(value)}\n" for name, value in entries)


class _Decimal(str):
    """A decimal that stands in the file as it is."""


def _number(value: Fraction) -> Any:
    """An integer or a decimal where one is exactly the value, otherwise text such as "1/3"."""
    if value.denominator == 1:
        return int(value)
    shown = repr(nearest_float(value))
    return _Decimal(shown) if shown.strip("-") != "inf" and Fraction(shown) == value else format_exact(value)


def _value(value: Any) -> str:
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        return _value(value.tolist())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | _Decimal):
        return str(value)
    if isinstance(value, float):  # its exact binary value: a decimal in the file means what it says
        return _value(_number(Fraction(value)))
    if isinstance(value, Fraction):
        return _value(format_exact(value))
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(str(k))} = {_value(v)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        parts = [_value(v) for v in value]
        if any(isinstance(v, Mapping) for v in value):  # an array may span lines, an inline table may not
            return "[\n" + "".join(f"  {part},\n" for part in parts) + "]"
        return "[" + ", ".join(parts) + "]"
    return '"' + "".join(_ESCAPES.get(c) or (c if c.isprintable() else f"\\U{ord(c):08x}") for c in str(value)) + '"'


def _key(key: str) -> str:
    return key if key and set(key) <= _BARE else _value(key)
