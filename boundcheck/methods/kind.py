"""A kind of method: which compositions belong to it, and how one of them is built from a user's parameters.

A kind is a row: what it is, its paper, its parameters, and its `Form`, which gives for each part of a method either the
part itself, or which parts are allowed.
`Form.compose` builds a method of the form from what is free in it, and `Form.fits` recognises one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any

from boundcheck.core.parameters import check_parameters
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parameters import NEEDED as NEEDED
from boundcheck.methods.parameters import TOGETHER, Parameter
from boundcheck.methods.parts import Average, ServerStep

MAX_CLIENTS = 1000  # clients for which a condition is checked one by one, at most


def anything(value: Any) -> bool:
    """The pattern that every value fits."""
    return True


@dataclass(frozen=True)
class AnyOf:
    """What fits at least one of the patterns."""

    patterns: tuple[Any, ...]

    def __init__(self, *patterns: Any) -> None:
        object.__setattr__(self, "patterns", patterns)


@dataclass(frozen=True)
class Part:
    """Parts of one type whose fields fit the given patterns.

    A field that is not given has its default value, or any value where it has no default. A pattern may also be given
    for a property of the part.
    """

    type: type
    given: Mapping[str, Any]

    def __init__(self, type: type, **given: Any) -> None:
        defaults = {f.name: f.default for f in fields(type) if f.default is not MISSING}
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "given", {**defaults, **given})


def make(pattern: Any, values: Mapping[str, Any]) -> Any:
    """The part with these values of its fields; the other fields have the value that the pattern fixes."""
    if isinstance(pattern, Part):
        fixed = {name: wanted for name, wanted in pattern.given.items() if not is_open(wanted)}
        return pattern.type(**{**fixed, **values})
    return pattern(**values) if isinstance(pattern, type) else values


def fits(value: Any, pattern: Any) -> bool:
    """Whether a part, or the value of a field, fits a pattern.

    A pattern is a `Part`, an `AnyOf`, a type (any instance of it), a function that decides, or the value itself.
    """
    if isinstance(pattern, AnyOf):
        return any(fits(value, p) for p in pattern.patterns)
    if isinstance(pattern, Part):
        right = isinstance(value, pattern.type)
        return right and all(fits(getattr(value, name), wanted) for name, wanted in pattern.given.items())
    if isinstance(pattern, type):
        return isinstance(value, pattern)
    return bool(pattern(value)) if callable(pattern) else value == pattern


def is_open(pattern: Any) -> bool:
    """Whether several values fit a pattern."""
    return isinstance(pattern, AnyOf | Part) or callable(pattern)


@dataclass(frozen=True)
class Form:
    """The compositions that a kind stands for: a pattern (see `fits`) for every part of a method.

    By default participation, local work and step sizes are free, the server replaces its model by the plain average,
    and there is no other part. relation: what must hold between the parts.
    """

    participation: Any = anything
    local: Any = anything
    schedule: Any = anything
    aggregation: Any = field(default_factory=Average)
    server: Any = field(default_factory=ServerStep)
    momentum: Any = None
    correction: Any = None
    control: Any = None
    exchange: Any = None
    client_optimizer: Any = None
    server_momentum: Any = None
    functions: Any = None
    relation: Callable[[Method], bool] = anything

    def _patterns(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "relation"}

    def fits(self, method: Method) -> bool:
        """Whether a composition is of this form."""
        return all(fits(getattr(method, part), p) for part, p in self._patterns().items()) and self.relation(method)

    def compose(self, name: str, given: Mapping[str, Any]) -> Method:
        """The method with the given parts, and those that the form fixes.

        given: part of the method -> the part, or the values of its fields that the form leaves free (none for a part
        of which the form says the type, and that is not given). What is given may lie outside the form: the method is
        then no instance of the kind.
        """
        parts: dict[str, Any] = {}
        for part, pattern in self._patterns().items():
            value = given.get(part, {} if isinstance(pattern, Part | type) else pattern)
            parts[part] = make(pattern, value) if isinstance(value, Mapping) else value
            assert part in given or not is_open(parts[part]), f"the kind '{name}' leaves its {part} open"
        return Method(given.get("name", name), **parts)


@dataclass(frozen=True)
class ForClients:
    """Compositions of a wider form, or of the kind's own, that belong to a kind with some clients only.

    objection: why a composition of the form is no instance of the kind with these clients, as a clause; else None.
    """

    form: Form
    objection: Callable[[Method, Clients], str | None]


@dataclass(frozen=True)
class Kind:
    """A kind of method.

    parts: from values of parameters to the parts that `Form.compose` takes. form: the compositions that are instances
    of the kind with any clients. for_clients: further ones that are with some clients only. declared: the parameters,
    each of which is read; those with `into` are put there, `parts` takes the others and is stronger. Without them the
    parameters are those of the signature of `parts`, as users write them. text: what the kind is, its first paragraph
    a sentence. paper: the publication that defines it, and equation the place there.
    """

    parts: Callable[..., Mapping[str, Any]]
    form: Form
    for_clients: ForClients | None = None
    declared: tuple[Parameter, ...] = ()
    text: str = ""
    paper: str = ""
    equation: str = ""

    def __post_init__(self) -> None:
        if not self.declared:
            given = inspect.signature(self.parts).parameters.values()
            own = tuple(Parameter(p.name, "", "", default=p.default, annotation=str(p.annotation)) for p in given)
            object.__setattr__(self, "declared", own)
        object.__setattr__(self, "text", inspect.cleandoc(self.text or self.parts.__doc__ or ""))

    def but(self, text: str, form: Form, **changes: Any) -> Kind:
        """A kind of the same family with another form."""
        return replace(self, text=text, form=form, **changes)

    def build(self, name: str, parameters: Mapping[str, Any]) -> Method:
        """The method with these parameters. Raises UnknownName and BadInput."""
        check_parameters({p.name: p for p in self.declared}, parameters, f"the method '{name}'")
        placed: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for p in self.declared:
            value = p.value(parameters.get(p.name, p.default))
            part, _, inside = p.into.partition(".")
            if inside:
                placed.setdefault(part, {})[inside] = value
            else:
                (placed if part else own)[part or p.name] = value
        for part in TOGETHER.keys() & placed.keys():
            placed[part] = TOGETHER[part](placed[part]) if isinstance(placed[part], dict) else placed[part]
        return self.form.compose(name, {**placed, **self.parts(**own)})

    def parameters(self) -> dict[str, Any]:
        """Name of each parameter that users write -> its default, NEEDED where it has none."""
        return {p.name: p.default for p in self.declared}

    def contains(self, method: Method, clients: Clients | None) -> bool:
        """Whether a composition is an instance of the kind; without clients: with any clients."""
        own = self.for_clients
        if self.form.fits(method) and (clients is None or own is None or own.form != self.form):
            return True
        asked = None if clients is None else self._asked(method, clients)
        return asked is not None and clients is not None and asked.objection(method, clients) is None

    def objection(self, method: Method, clients: Clients) -> str | None:
        """Why a composition of the wider form is no instance of the kind with these clients, as a clause; else None."""
        asked = self._asked(method, clients)
        return None if asked is None else asked.objection(method, clients)

    def _asked(self, method: Method, clients: Clients) -> ForClients | None:
        """The condition on the clients, where the composition is of its form and there are not too many clients."""
        own = self.for_clients
        return own if own is not None and clients.count <= MAX_CLIENTS and own.form.fits(method) else None


def kind(
    text: str,
    source: tuple[str, str],
    form: Form,
    declared: tuple[Parameter, ...],
    parts: Callable[..., Mapping[str, Any]] = dict,
    for_clients: ForClients | None = None,
) -> Kind:
    """A kind whose parameters are declared; source: its paper, and the equation or algorithm there."""
    return Kind(parts, form, for_clients, declared, text, *source)
