"""How numbers, names and files are written on the pages; file names follow from the specification alone."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import format_short
from boundcheck.core.svg import superscript

NOT_RUN = "not-run-"  # how the pages of what cannot be run on this machine begin


def pretty(value: Any, digits: int = 3) -> str:
    """A number for people: 0.0123, 12 345, 1.23 × 10⁻⁵; "∞" and "not a number" for what is neither.

    Whole numbers keep all their digits up to 10^9, and beyond where few digits say it exactly.
    """
    if isinstance(value, Fraction) and value.denominator == 1 and abs(value) < 10**9:
        whole = int(value)
        if abs(whole) < 10**5 or whole % 10**4:
            return f"{whole:,}".replace(",", "\u202f").replace("-", "−")
    if isinstance(value, Fraction):
        usual = Fraction(1, 10**300) < abs(value) < 10**300
        text = f"{float(value):.{digits}g}" if usual else format_short(value, digits)
    else:
        number = float(value) + 0.0  # no negative zero
        if math.isnan(number):
            return "not a number"
        if math.isinf(number):
            return "∞" if number > 0 else "−∞"
        if 0 < number < sys.float_info.min:  # what is left of a number that floats cannot hold
            return "below 10⁻³⁰⁷"
        text = f"{number:.{digits}g}"
    mantissa, e, exponent = text.partition("e")
    mantissa = mantissa.replace("-", "−")
    if not e:
        return mantissa
    power = "10" + superscript(int(exponent))
    return power if mantissa == "1" else f"{mantissa} × {power}"


def power_of_ten(value: float) -> str:
    """1, 10, and 10ᵏ for the other powers of ten."""
    exponent = round(math.log10(value))
    return f"{value:g}" if exponent in (0, 1) else "10" + superscript(exponent)


def tightness(claim: Mapping[str, Any]) -> str:
    """The least ratio of bound to metric of a claim's data, or "" where the claim is no bound or has no such ratio."""
    found = claim["verdict"]["tightness"]
    if found is None or claim["statement"]["kind"] not in ("upper bound", "limsup"):
        return ""
    least = float(found["ratio_min"])
    return "" if math.isnan(least) else ratio(least)


def ratio(value: float) -> str:
    """A ratio that is 1 when tight: what is close to 1 shows how close. NaN is the ratio of nothing to nothing."""
    if math.isnan(value):
        return "not defined here"
    if math.isinf(value):
        return "beyond 10³⁰⁸"
    excess = value - 1
    if value == 1 or not abs(excess) < 0.01:
        return pretty(value)
    return f"1 {'+' if excess > 0 else '−'} {pretty(abs(excess), 2)}"


def prose(text: str) -> str:
    """Formulas inside sentences with the signs of print: x^2 and x**2 as x², <= as ≤."""
    text = re.sub(r"(?:\*\*|\^)(-?\d+)", lambda m: superscript(m[1]), text)
    text = re.sub(r"\*\*(?=[A-Za-z(])", "^", text)
    text = re.sub(r"(?<![\w)^-])-(?=\d)", "−", text)
    text = re.sub(r"(?<=[\w)⁰¹²³⁴⁵⁶⁷⁸⁹])\*(?=[\w(])", "·", text)
    return text.replace("<=", "≤").replace(">=", "≥").replace(" - ", " − ")


def shortened(text: str, limit: int = 60) -> str:
    """The text, or its two ends with an ellipsis and the number of its digits where it is longer than `limit`."""
    if len(text) <= limit:
        return text
    ends = limit // 2
    return f"{text[:ends]}…{text[-ends:]} ({sum(c.isdigit() for c in text)} digits)"


def slug(text: str) -> str:
    """A file name of lower-case letters, digits and hyphens, at most 80 characters."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:80].strip("-") or "claim"


def claim_names(labels: Iterable[str]) -> list[str]:
    """For each claim, by its label, the name of its page and specification without the ending; all different."""
    used = {"index", "report", "papers"}  # the report's own pages and its twins
    return [_unused(slug(label), used) for label in labels]


def statement_page_name(name: str) -> str:
    """The page of a statement, `<paper>/<statement>`: the permanent address; "#" and a reading may follow."""
    return f"statement.{name.replace('/', '.')}.html"


def paper_page_name(paper: str) -> str:
    """The page of a paper."""
    return f"paper.{paper}.html"


def limits_page_name(name: str) -> str:
    """The page of a limit study."""
    return f"limits-{slug(name)}.html"


def study_page_names(names: Iterable[str]) -> list[str]:
    """The pages of the other studies, all different."""
    used: set[str] = set()
    return [f"{_unused(f'study-{slug(name)}', used)}.html" for name in names]


def not_run_page_names(names: Iterable[str]) -> list[str]:
    """The pages of what cannot be run on this machine, all different."""
    used: set[str] = set()
    return [f"{NOT_RUN}{_unused(slug(name), used)}.html" for name in names]


def page_names(labels: Sequence[str], limits: Sequence[str], studies: Sequence[str]) -> set[str]:
    """The pages of a report of claims with these labels, limit studies and other studies with these names."""
    claims = {f"{name}.html" for name in claim_names(labels)}
    return claims | {limits_page_name(name) for name in limits} | set(study_page_names(studies))


def _unused(name: str, used: set[str]) -> str:
    chosen, count = name, 1
    while chosen in used:
        count += 1
        chosen = f"{name}-{count}"
    used.add(chosen)
    return chosen
