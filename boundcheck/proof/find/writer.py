"""Lines of a record, with scalar relations shown from named lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from boundcheck.proof.find.lines import Lines, NotShown
from boundcheck.proof.find.scalar import DEPTH, Scalar
from boundcheck.verify import boundcheck_verify as v

DENOMINATORS = 12  # of one line that are shown to differ from 0


class Writer(Lines):
    """The lines of one record."""

    def add_shown(
        self,
        text: str,
        by: dict[str, Any],
        now: Sequence[str],
        name: str,
        shown: Callable[[str, Sequence[str]], str],
        said: str = "",
    ) -> str:
        """Adds a line; raises NotShown where it does not follow.

        shown: (denominator that the verifier misses, lines for others) -> the name of a line that it differs from 0.
        said: what the message begins with.
        """
        for _ in range(DENOMINATORS):
            try:
                return self.add(text, by, now, name)
            except v.Invalid as error:
                signs = by.get("signs", ())
                line = shown(error.missing, signs) if error.missing else ""
                if not line or line in signs:
                    raise NotShown(f"{said}{error}") from error
                by = {**by, "signs": [*signs, line]}
        raise NotShown(f"{said}too many denominators")

    def first_of(self, claims: Iterable[str], names: Iterable[str], now: Sequence[str] = (), depth: int = 0) -> str:
        """The name of a line with the first of the claims that can be shown, "" where none can."""
        names = tuple(names)
        for claim in claims:
            try:
                return self.prove(claim, names, now, depth)
            except NotShown:
                continue
        return ""

    def prove(self, text: str, names: Iterable[str], now: Sequence[str] = (), depth: int = 0, name: str = "") -> str:
        """The name of a line that claims it, shown from the named lines; raises NotShown."""
        names, now = tuple(dict.fromkeys((*names, *self.quantities))), tuple(now)
        claim = self.language.claim(text)
        if claim.op in ("=", "=>"):
            raise NotShown(text)
        found = "" if name else self.existing(claim, now)
        if found:
            return found
        key = (text, names, now)
        if key in self.failed or depth > DEPTH:
            raise NotShown(text)
        try:
            return Scalar(self, names, now, depth).show(text, claim, name)
        except NotShown:
            self.failed.add(key)
            raise
