"""Tightness baselines: ratios bound/metric that a file remembers, as snapshot tests remember output."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundcheck.core.numbers import format_apart
from boundcheck.errors import BadInput

SCHEMA = 1


@dataclass(frozen=True)
class Baselines:
    """A JSON file of tightness by name. update: whether `against` records what it is given instead of comparing."""

    path: Path
    update: bool = False

    def against(self, name: str, tightness: float, rel: float) -> str | None:
        """Why a tightness is not the recorded one up to a relative `rel`, as a sentence; None where it is.

        Raises BadInput for a file that is no such file, and for rel outside of (0, 1).
        """
        if not 0 < rel < 1:
            raise BadInput(f"rel = {rel} is not allowed; it is a relative tolerance between 0 and 1.")
        if not math.isfinite(tightness):
            return f"there is no tightness to compare with a baseline (it is {tightness})"
        known = self._read()
        if self.update:
            known[name] = float(f"{tightness:.12g}")
            text = json.dumps({"schema": SCHEMA, "tightness": dict(sorted(known.items()))}, indent=1)
            self.path.write_text(text + "\n", encoding="utf-8")
            return None
        if name not in known:
            return f"{self.path.name} has no baseline '{name}'; record it with pytest --boundcheck-update"
        if abs(tightness - known[name]) > rel * abs(known[name]):
            own, recorded = format_apart(tightness, known[name], digits=12)
            return (
                f"the tightness is {own}, and {self.path.name} has {recorded} (relative tolerance "
                f"{rel:g}); if the change is meant, record it with pytest --boundcheck-update"
            )
        return None

    def _read(self) -> dict[str, float]:
        if not self.path.exists():
            return {}
        try:
            found: Any = json.loads(self.path.read_text(encoding="utf-8"))
            numbers = {str(k): float(v) for k, v in found["tightness"].items()}
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadInput(f"{self.path} is no file of tightness baselines; delete it and record it anew.") from error
        if found.get("schema") != SCHEMA:
            raise BadInput(f"{self.path}: schema {found.get('schema')!r} is not known; {SCHEMA} is.")
        return numbers
