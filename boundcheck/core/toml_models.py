"""Validating a TOML file against a pydantic model: all mistakes at once, each a sentence with its line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

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
    mistakes = [_mistake(details, model, file, at) for details in error.errors(include_url=False)]
    found: set[tuple[int, str]] = set()
    types: dict[KeyPath, list[str]] = {}
    for mistake in mistakes:
        if mistake.of_type:
            # Each member of a union complains. One that took the value's type and then found something
            # deeper says more than the others, which wanted another type.
            deeper = any(o.inside(mistake.path) and (o.path != mistake.path or not o.of_type) for o in mistakes)
            if not (mistake.in_union and deeper):
                types.setdefault(mistake.path, []).append(_TYPES[mistake.details["type"]])
        else:
            found.add((file.line_of(mistake.line_path), _sentence(mistake, file)))
    for path, needs in types.items():
        text = f"{_named(path)} = {_shown(file.at(path))} is not allowed; it must be {_listed(dict.fromkeys(needs))}."
        found.add((file.line_of(path), _where(path, file) + text))
    return sorted(found)


@dataclass(frozen=True)
class _Mistake:
    details: _Details
    path: KeyPath  # of the value, in the file
    in_union: bool
    known: tuple[str, ...]  # the keys that the table around an unknown key may have

    @property
    def of_type(self) -> bool:
        return self.details["type"] in _TYPES

    @property
    def line_path(self) -> KeyPath:
        if self.details["type"] == "union_tag_invalid":
            return (*self.path, _tag_key(self.details))
        return self.path

    def inside(self, path: KeyPath) -> bool:
        return self.path[: len(path)] == path


def _mistake(details: _Details, model: type[BaseModel], file: TomlFile, at: KeyPath) -> _Mistake:
    """Tells keys of the file from the union members that pydantic mixes into the location."""
    value, path = file.at(at), at
    types: list[Any] = [model]
    above = types
    in_union = False
    location = details["loc"]
    for position, part in enumerate(location):
        inside: Mapping[Any, Any] | Sequence[Any] = value if isinstance(value, dict | list) else {}
        has = part in inside if isinstance(inside, Mapping) else isinstance(part, int) and part < len(inside)
        members = [t for t in types if _is_member(t, part)]
        if len(types) > 1 and (members or not has) and not _missing_here(details, position, members):
            types, in_union = members or types, True
        elif has or _missing_here(details, position, members):
            above, types = types, [step for t in types for step in _step(t, part)]
            value = cast("Any", inside)[part] if has else None
            path = (*path, part)
    known = {
        (f.alias or name) for t in above if _is_model(t) for name, f in cast("type[BaseModel]", t).model_fields.items()
    }
    return _Mistake(details, path, in_union, tuple(sorted(known)))


def _missing_here(details: _Details, position: int, members: list[Any]) -> bool:
    """Whether this part of the location is the key that is missing, and so not in the file."""
    return details["type"] == "missing" and position == len(details["loc"]) - 1 and not members


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _is_member(kind: Any, tag: str | int) -> bool:
    """Whether `tag` is what pydantic calls this member of a union."""
    if _is_model(kind):
        fields = cast("type[BaseModel]", kind).model_fields.values()
        literals = {v for f in fields if get_origin(f.annotation) is Literal for v in get_args(f.annotation)}
        return tag == kind.__name__ or tag in literals
    name = getattr(get_origin(kind) or kind, "__name__", "")
    return isinstance(tag, str) and re.split(r"[\[-]", tag)[0] == name


def _step(kind: Any, part: str | int) -> list[Any]:
    """The types of what lies at `part` inside a value of type `kind`; empty where that is unknown."""
    if _is_model(kind):
        fields = cast("type[BaseModel]", kind).model_fields
        return [t for name, f in fields.items() if part in (f.alias or name, name) for t in _members(f.annotation)]
    arguments = get_args(kind)
    if not arguments:
        return []
    if get_origin(kind) in (dict, Mapping):
        return _members(arguments[1])
    if get_origin(kind) is tuple and isinstance(part, int) and Ellipsis not in arguments:
        return _members(arguments[min(part, len(arguments) - 1)])
    return _members(arguments[0])


def _members(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Annotated:
        return _members(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [member for a in get_args(annotation) for member in _members(a) if member is not NoneType]
    return [annotation]


def _sentence(mistake: _Mistake, file: TomlFile) -> str:
    details, path = mistake.details, mistake.path
    kind, context = details["type"], details.get("ctx", {})
    where = _where(path, file)
    given = f"{_named(path)} = {_shown(details['input'])}"
    if kind == "missing":
        return f"{where}the key '{_named(path)}' is missing."
    if kind == "extra_forbidden":
        clause = nearest(str(path[-1]), mistake.known)
        return f"{where}the key '{_named(path)}' is unknown{clause}" + ("" if clause.endswith("?") else ".")
    if kind == "union_tag_not_found":
        return f"{where}the key '{_named((*path, _tag_key(details)))}' is missing."
    if kind == "union_tag_invalid":
        name = f"{_named((*path, _tag_key(details)))} = {_shown(context['tag'])}"
        return where + _not_among(name, context["tag"], context["expected_tags"])
    if kind in ("literal_error", "enum"):
        return where + _not_among(given, details["input"], context["expected"])
    if kind in _LIMITS:
        key, words = _LIMITS[kind]
        return f"{where}{given} is not allowed; it must be {words} {context[key]}."
    if kind in ("value_error", "assertion_error"):
        text = str(context.get("error", "")) or "is not allowed"
        named = not path or isinstance(details["input"], dict) or str(path[-1]) in text
        return where + (text if named else f"{given}: {text}").removesuffix(".") + ("" if text.endswith("?") else ".")
    text = details["msg"]
    return f"{where}{given} is not allowed: {text[:1].lower()}{text[1:]}."


def _not_among(given: str, value: object, expected: str) -> str:
    close = nearest(str(value), re.findall(r"'([^']*)'", expected)) if isinstance(value, str) else ""
    hint = close if close.endswith("?") else "."
    return f"{given} is not allowed{hint} Allowed: {expected}."


def _tag_key(details: _Details) -> str:
    return str(details.get("ctx", {}).get("discriminator", "")).strip("'")


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
