"""The table of all kinds of problems, which `boundcheck list --problems` prints and the reference shows."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from boundcheck.errors import BadInput
from boundcheck.problems.build import kinds, maker, module_name

COLUMNS = ("problem", "parameter", "type", "default", "meaning")
_NUMBER = dict.fromkeys(("int", "float"), "number")
_LIST = dict.fromkeys(("list", "Sequence"), "list")
_WORDS = {"str": "text", "bool": "true or false", **_NUMBER, **_LIST, "dict": "table", "Mapping": "table"}


def problems_table() -> list[dict[str, Any]]:
    """All kinds: name, module, what it is, parameters with type and default. A plug-in that is broken says so."""
    found: list[dict[str, Any]] = []
    for name in kinds():
        try:
            make = maker(name)
            text = " ".join((inspect.getdoc(make) or "").partition("\n\n")[0].split())
            parameters = [_parameter(p) for p in inspect.signature(make).parameters.values()]
        except (BadInput, ValueError) as error:  # a built-in has no signature
            text, parameters = str(error), []
        found.append({"problem": name, "module": module_name(name), "text": text, "parameters": parameters})
    return found


def _parameter(p: inspect.Parameter) -> dict[str, Any]:
    default = "" if p.default in (p.empty, None, "") else json.dumps(p.default, default=str)
    return {"name": p.name, "type": _type(p), "needed": p.default is p.empty, "default": default}


def _type(p: inspect.Parameter) -> str:
    """The annotation in words; where it says nothing the type of the default, text such as "1/3" being a number."""
    text = p.annotation if isinstance(p.annotation, str) else inspect.formatannotation(p.annotation)
    if text in ("Any", "inspect._empty") and isinstance(p.default, str | int):
        return "true or false" if isinstance(p.default, bool) else "number"
    names = (member.partition("[")[0].strip() for member in text.split(" | ") if member.strip() != "None")
    return " or ".join(dict.fromkeys(_WORDS.get(name, "number, list or text") for name in names))


def table_rows(found: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Rows of `COLUMNS`: what the kind is, then one row for each parameter."""
    for kind in found:
        yield kind["problem"], "", "", "", kind["text"]
        for p in kind["parameters"]:
            yield kind["problem"], p["name"], p["type"], "needed" if p["needed"] else p["default"], ""
