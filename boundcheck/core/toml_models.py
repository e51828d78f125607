"""Validating a TOML file against a pydantic model: all mistakes at once, each a sentence with its line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError

from boundcheck.core.toml_lines import KeyPath, TomlFile
from boundcheck.errors import SpecError, nearest, shown

M = TypeVar("M", bound=BaseModel)
_Details = Mapping[str, Any]  # of one mistake: type, loc, msg, input, ctx

# What a value of the wrong type should have been, by pydantic's name of the mistake.
_TYPES = {
    "int_type": "an integer",
    "int_parsing": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "string_type": "text in quotes",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a table",
    "mapping_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
_LIMITS = {
    "greater_than": ("gt", "greater than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
    "multiple_of": ("multiple_of", "a multiple of"),
}


def validate(model: type[M], file: TomlFile, at: KeyPath = ()) -> M:
    """The part of `file` at the key path `at` as a `model`.

    Raises SpecError with every mistake that pydantic finds, each with its line and as a sentence that
    names the table, the key, the value given and what is allowed.
    """
    try:
        return model.model_validate(file.at(at))
    except ValidationError as error:
        raise SpecError(file.path, problems_of(error, model, file, at)) from error


def problems_of(
    error: ValidationError, model: type[BaseModel], file: TomlFile, at: KeyPath = ()
) -> list[tuple[int, str]]:
    """The (line, sentence) of every mistake in `error`, which validating `file` at `at` as `model` has raised."""
    found: set[tuple[int, str]] = set()
    types: dict[KeyPath, list[str]] = {}  # what each value of a wrong type should have been
    others: list[KeyPath] = []
    for details in error.errors(include_url=False):
        path = _path(details, file, at)
        if details["type"] in _TYPES:
            types.setdefault(path, []).append(_TYPES[details["type"]])
        else:
            others.append(path)
            known = _keys(model, path[len(at) : -1]) if details["type"] == "extra_forbidden" else ()
            found.add((file.line_of(path), _sentence(details, path, known, file)))
    for path, needs in types.items():
        # Each member of a union complains. One that took the value's type and then found something deeper says more.
        if path in others or any(len(o) > len(path) and o[: len(path)] == path for o in (*others, *types)):
            continue
        text = f"{_named(path)} = {_shown(file.at(path))} is not allowed; it must be {_listed(dict.fromkeys(needs))}."
        found.add((file.line_of(path), _where(path, file) + text))
    return sorted(found)


def _path(details: _Details, file: TomlFile, at: KeyPath) -> KeyPath:
    """The key path of a mistake, without the members of unions that pydantic mixes into its location."""
    value, path = file.at(at), at
    location = details["loc"]
    for position, part in enumerate(location):
        inside = part in value if isinstance(value, dict) else isinstance(value, list) and part in range(len(value))
        if inside:
            value, path = cast("Any", value)[part], (*path, part)
        elif details["type"] == "missing" and position == len(location) - 1:
            path = (*path, part)
    return path


def _keys(model: type[BaseModel], path: KeyPath) -> list[str]:
    """The keys that a table at a key path below `model` may have."""
    kinds: list[Any] = [model]
    for part in path:
        kinds = [inner for kind in kinds for inner in _inside(kind, part)]
    models = [cast("type[BaseModel]", kind) for kind in kinds if _is_model(kind)]
    return sorted({field.alias or name for own in models for name, field in own.model_fields.items()})


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _inside(kind: Any, part: str | int) -> list[Any]:
    """The types of what lies at `part` inside a value of type `kind`; empty where that is unknown."""
    if _is_model(kind):
        fields = cast("type[BaseModel]", kind).model_fields
        return [t for name, f in fields.items() if part == (f.alias or name) for t in _members(f.annotation)]
    arguments = get_args(kind)
    if not arguments:
        return []
    return _members(arguments[1 if get_origin(kind) in (dict, Mapping) else 0])


def _members(annotation: Any) -> list[Any]:
    """The types that an annotation allows, without None."""
    if get_origin(annotation) is Annotated:
        return _members(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [member for a in get_args(annotation) for member in _members(a) if member is not NoneType]
    return [annotation]


def _sentence(details: _Details, path: KeyPath, known: Sequence[str], file: TomlFile) -> str:
    """What is wrong; known: the keys that the table around an unknown key may have."""
    kind, context = details["type"], details.get("ctx", {})
    where = _where(path, file)
    given = f"{_named(path)} = {_shown(details['input'])}"
    if kind == "missing":
        return f"{where}the key '{_named(path)}' is missing."
    if kind == "extra_forbidden":
        clause = nearest(str(path[-1]), known)
        return f"{where}the key '{_named(path)}' is unknown{clause}" + ("" if clause.endswith("?") else ".")
    if kind in ("literal_error", "enum"):
        value, allowed = details["input"], context["expected"]
        close = nearest(value, re.findall(r"'([^']*)'", allowed)) if isinstance(value, str) else ""
        return f"{where}{given} is not allowed{close if close.endswith('?') else '.'} Allowed: {allowed}."
    if kind in _LIMITS:
        key, words = _LIMITS[kind]
        return f"{where}{given} is not allowed; it must be {words} {context[key]}."
    if kind in ("value_error", "assertion_error"):
        text = str(context.get("error", "")) or "is not allowed"
        named = not path or isinstance(details["input"], dict) or str(path[-1]) in text
        return where + (text if named else f"{given}: {text}").removesuffix(".") + ("" if text.endswith("?") else ".")
    text = details["msg"]
    return f"{where}{given} is not allowed: {text[:1].lower()}{text[1:]}."


def _where(path: KeyPath, file: TomlFile) -> str:
    """Which table of an array of tables: "in claim 3 ('scgd/theorem_3_3'), "."""
    if len(path) < 2 or not isinstance(path[1], int):
        return ""
    table = file.at(path[:2])
    if not isinstance(table, dict):
        return ""
    members = cast("dict[str, Any]", table)
    names = [members[k] for k in ("name", "id", "statement") if isinstance(members.get(k), str)]
    return f"in {path[0]} {path[1] + 1}{f' ({_shown(names[0])})' if names else ''}, "


def _named(path: KeyPath) -> str:
    """The key as a person writes it: "method.eta", "item 2 of rate.slope"; of an array's table without its place."""
    if len(path) > 2 and isinstance(path[1], int):
        path = path[2:]
    text = ""
    for part in path:
        if isinstance(part, int):
            text = f"item {part + 1} of {text}"
        elif text.startswith("item "):
            text = f"{part} of {text}"
        else:
            text = f"{text}.{part}" if text else part
    return text


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    return shown(repr(value) if isinstance(value, str) else str(value) if isinstance(value, Fraction) else value)


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last
