"""Lines of a record, each checked by the verifier when it is added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from boundcheck.proof.find.polynomial_search import Poly
from boundcheck.verify import boundcheck_verify as v


class NotShown(ValueError):
    """No certificate was found; the message says for what."""


@dataclass(frozen=True)
class Sign:
    """A line that shows `side * base > 0`: its gap is side * scale * base, with scale > 0."""

    line: str
    side: int
    scale: Fraction


@dataclass
class Hypothesis:
    """A polynomial relation: number * product of (line, power) is the polynomial."""

    poly: Poly
    op: str
    number: Fraction
    factors: tuple[tuple[str, int], ...]


class Lines:
    """The lines of one record."""

    def __init__(self, data: dict[str, Any], path: Path) -> None:
        self.data = data
        self.record = v.Record(path, data=data)
        for name in data["names"]:  # the verifier numbers names as it meets them, some by the order of a set
            v.atom(("x", name))
        self.record.read_facts()
        self.language = self.record.language
        self.texts: dict[str, str] = {row["name"]: row["claim"] for row in data["facts"]}
        self._by_shape: dict[Any, list[str]] = {}
        for name, line in self.record.lines.items():
            self._note(name, line)
        self.failed: set[Any] = set()
        self.nearest: Any = None  # what came nearest to the step at hand, for `multipliers.shortfall`
        self.quantities: list[str] = []  # lines that may be used everywhere
        lasting = [row["name"] for row in data["facts"] if row["kind"] in ("domain", "count")]
        self.lasting = tuple(r["name"] for r in data["facts"] if r["kind"] in ("domain", "count", "index", "range"))
        self.background = tuple(lasting)  # facts from which it may be shown that a claim has a value
        self._count = 0

    # lines

    def mark(self) -> int:
        """How many lines there are."""
        return len(self.data["lines"])

    def back(self, mark: int) -> None:
        """Removes the lines with a name of their own that were added since; auxiliary ones stay."""
        kept: list[dict[str, Any]] = []
        for entry in self.data["lines"][mark:]:
            if entry["name"].startswith("@"):
                kept.append(entry)
                continue
            del self.record.lines[entry["name"]], self.texts[entry["name"]]
            for names in self._by_shape.values():
                if entry["name"] in names:
                    names.remove(entry["name"])
        self.data["lines"][mark:] = kept

    def add(self, claim: str, by: dict[str, Any], now: Sequence[str] = (), name: str = "") -> str:
        """Adds a line; raises verifier's Invalid where it does not follow."""
        if not name:
            self._count += 1
            name = f"@{self._count}"
        entry: dict[str, Any] = {"name": name, "claim": claim, "by": by}
        if now:
            entry["if"] = list(now)
        rests = list(self.record.rests)
        try:
            self.record.check_line(entry)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, ZeroDivisionError, StopIteration) as error:
            self.record.rests = rests
            raise v.Invalid(f"not well formed: {error!r}") from error
        self.data["lines"].append(entry)
        self.texts[name] = claim
        self._note(name, self.record.lines[name])
        return name

    def claim(self, name: str, now: Sequence[str] = ()) -> Any:
        """The claim of a line or supposition."""
        return self.language.claim(now[int(name[1:])]) if name.startswith("#") else self.record.lines[name].claim

    def _shape(self, claim: Any) -> Any:
        if claim.op in ("=", "=>"):
            return None
        return frozenset(claim.gap[0]), frozenset(claim.gap[1].items())

    def _note(self, name: str, line: Any) -> None:
        shape = self._shape(line.claim)
        if shape is not None:
            self._by_shape.setdefault(shape, []).append(name)

    def existing(self, claim: Any, now: Sequence[str] = ()) -> str:
        """A visible line that gives the claim, or ''."""
        shape = self._shape(claim)
        if shape is None:
            return ""
        for name in self._by_shape.get(shape, ()):
            line = self.record.lines[name]
            if (
                set(line.supposed) <= set(now)
                and line.claim.gives(claim)
                and self.about(line) <= self.around(claim, now)
            ):
                return name
        for k, text in enumerate(now):
            if self.language.claim(text).gives(claim):
                return f"#{k}"
        return ""

    def about(self, line: Any) -> set[int]:
        """The indices that a line is about."""
        atoms = line.claim.atoms.union(*(self.language.claim(t).atoms for t in line.supposed))
        return self.record.closure(atoms)

    def around(self, claim: Any, now: Sequence[str]) -> set[int]:
        """The indices that a claim and its suppositions are about."""
        return self.record.closure(claim.atoms.union(*(self.language.claim(t).atoms for t in now)))

    def ratio(self, line: str, value: Any, now: Sequence[str] = ()) -> Fraction:
        """value / gap of the line, a number."""
        gap = self.claim(line, now).gap
        m, c = next(iter(gap[0].items()))
        return Fraction(value[0][m]) / Fraction(c)

    def text(self, value: Any) -> str:
        """A value as text."""
        return v.written(value)


def spelled(tree: Any) -> str:
    """A tree as text again."""
    if tree[0] in ("name", "num"):
        return str(tree[1])
    if tree[0] == "call":
        return f"{tree[1]}({', '.join(map(spelled, tree[2]))})"
    if tree[0] == "inner":
        return f"<{spelled(tree[1])}, {spelled(tree[2])}>"
    return f"({spelled(tree[1])}){tree[0]}({spelled(tree[2])})"


def sign_lines(by: dict[str, Any]) -> set[str]:
    """The lines of a certificate that show denominators to differ from 0."""
    found = set(by.get("signs", ()))
    for _, factors in by.get("terms", ()):
        found |= {f if isinstance(f, str) else f[0] for f in factors if not isinstance(f, dict)}
    return found
