"""The table of all kinds of methods, which `boundcheck list --methods` prints and the reference shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import format_exact
from boundcheck.errors import BadInput
from boundcheck.methods.build import kind_of, kinds, module_name
from boundcheck.methods.kind import NEEDED

COLUMNS = ("method", "paper", "equation", "parameter", "default", "meaning")


def methods_table() -> list[dict[str, Any]]:
    """All kinds: name, what it is, paper, equation, module, parameters. A plug-in that cannot be loaded says so."""
    return [_row(name) for name in kinds()]


def _row(name: str) -> dict[str, Any]:
    row: dict[str, Any] = {"method": name, "module": module_name(name), "paper": "", "equation": "", "parameters": []}
    try:
        kind = kind_of(name)
    except BadInput as error:
        return {**row, "text": str(error)}
    own = [
        {"name": p.name, "needed": p.default is NEEDED, "default": written(p.default), "meaning": p.sentence,
         "allowed": p.allowed, "unit": p.unit}
        for p in kind.declared
    ]  # fmt: skip
    return {**row, "text": kind.text, "paper": kind.paper, "equation": kind.equation, "parameters": own}


def written(default: Any) -> str:
    """The default as it is written in a specification; "" if there is none."""
    if default is None or default is NEEDED:
        return ""
    return format_exact(default) if isinstance(default, Fraction) else json.dumps(default, default=str)


def table_rows(found: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Rows of `COLUMNS`, one for each parameter; the paper, by authors and year, in the first of a kind."""
    for kind in found:
        source = (re.sub(r', ".*", ', ", ", kind["paper"]), kind["equation"])
        for p in kind["parameters"]:
            yield kind["method"], *source, p["name"], "needed" if p["needed"] else p["default"], p["meaning"]
            source = ("", "")
        if not kind["parameters"]:
            yield kind["method"], *source, "", "", kind["text"]
