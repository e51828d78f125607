"""Points of a playground, and how far its answers are from those of Python."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import format_exact
from boundcheck.errors import BadInput
from boundcheck.report.worked import worked_number
from boundcheck.theory.statement import Statement


def worked(statement: Statement, data: Mapping[str, Any], reading: int) -> dict[str, str]:
    """The constants of the worked number, as far as there is one; the playground's start for the rest."""
    found = worked_number(statement)
    own = {name: data["start"][name] for name in data["readings"][reading]["symbols"]}
    return own | (dict(found.constants) if found else {})


def drawn(statement: Statement, texts: Mapping[str, str], seed: int, spread: float = 2.0) -> dict[str, str]:
    """Random constants within the domains: of three digits, up to `spread` decades from the given ones."""
    rng = random.Random(f"{statement.id} {seed}")
    found: dict[str, str] = {}
    for name, text in texts.items():
        symbol, old = statement.symbol(name), Fraction(text)
        if symbol.low is not None and symbol.high is not None and symbol.low < symbol.high:
            new = symbol.low + (symbol.high - symbol.low) * Fraction(rng.randint(1, 999), 1000)
        else:
            new = Fraction(f"{float(old or 1) * 10 ** rng.uniform(-spread, spread):.3g}")
        new = Fraction(round(new)) if symbol.integer else new
        found[name] = format_exact(new) if symbol.admits(new) and rng.random() < 0.8 else text
    return found


def difference(statement: Statement, reading: Mapping[str, Any], texts: Mapping[str, str], found: Any) -> float:
    """The relative difference of the bounds, or of their logarithms beyond the doubles.

    Scope, vacuousness, errors and the largest steps are asserted to agree; "edge" leaves them to Python.
    """
    where = f"{statement.id} at {texts}: {found}"
    try:
        expected = statement.evaluate(**texts)
    except BadInput:
        assert "error" in found, where
        return 0.0
    assert "error" not in found, where
    if found["scope"] != "edge":
        assert found["scope"] is expected.in_scope, where
    if found.get("vacuous") not in ("edge", None):
        assert found["vacuous"] is expected.vacuous, where
    for name in reading["steps"]:
        check_largest(statement, name, texts, found["largest"][name])
    for name in reading["prescribed"]:
        try:
            wanted = statement.prescribed(name, **texts)
        except BadInput:
            wanted = None
        got = found["largest"][name]
        assert wanted is None if got == "none" else wanted and abs(Fraction(got) / wanted - 1) <= 1e-13, (name, where)
    if "undefined" in found:
        assert math.isnan(expected.value), where
        return 0.0
    assert not math.isnan(expected.value), where
    exact = expected.exact
    value = math.nan if "10^" in found["shown"] else float(found["shown"])
    if exact == 0:
        assert value == 0, where
        return 0.0
    if not math.isnan(value):
        return 0.0 if value == expected.value else abs(value / expected.value - 1)
    log10 = float(found["shown"].lstrip("−").removeprefix("10^").replace("−", "-"))
    if exact is None:  # beyond 2^131072 Python only says that it is
        assert math.isinf(expected.value), where
        assert log10 > 131072 * math.log10(2), where
        return 0.0
    middle = exact if isinstance(exact, Fraction) else (exact.low + exact.high) / 2
    top, bottom = (abs(part) for part in (middle.numerator, middle.denominator))
    return abs(log10 / (math.log10(top) - math.log10(bottom)) - 1)


def check_largest(statement: Statement, name: str, texts: Mapping[str, str], found: str) -> None:
    """Asserts that the largest step is at most a relative 1e-9 below that of Python, and never above."""
    where = f"largest {name} of {statement.id} at {texts}: {found}"
    try:
        expected: Any = statement.largest(name, **texts)
    except BadInput as error:
        expected = "unlimited" if "limits" in str(error) else "none"
    if isinstance(expected, str):
        assert found == expected, where
        return
    assert 0 <= 1 - float(Fraction(found) / expected) <= 1e-9, f"{where}, not {float(expected)}"
