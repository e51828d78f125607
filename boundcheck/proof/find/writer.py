"""Lines of a record, with scalar relations shown from named lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from boundcheck.proof.find.lines import Lines, NotShown
from boundcheck.proof.find.scalar import DEPTH, Scalar


class Writer(Lines):
    """The lines of one record."""

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
