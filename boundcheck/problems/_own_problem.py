"""What a user's own problem answers at its start, looked at once before anything runs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.certified.constant import Constant
from boundcheck.certified.lazy import LazyConstants
from boundcheck.errors import BadInput, BoundcheckError, UnknownName, Unsupported, shown
from boundcheck.problems._instance import ASSUMPTIONS
from boundcheck.problems.problem import Arrays, Problem, optional

PARTS = tuple(name for own in (vars(Problem), Problem.__annotations__) for name in own if not name.startswith("_"))
MOST = 3  # clients whose gradients are looked at: the first ones and the last


def is_own(problem: object) -> bool:
    """Whether the class of a problem is none of this package."""
    return type(problem).__module__.partition(".")[0] != "boundcheck"


def ask(problem: Any, what: str, *given: Any) -> Any:
    """What a function of a problem gives. Raises BadInput where it raises anything but the errors of this package."""
    try:
        return getattr(problem, what)(*given)
    except BoundcheckError:
        raise
    except Exception as error:  # a user's function may raise anything
        raise BadInput(f"the problem '{problem.name}': {what} raises {type(error).__name__}: {error}.") from error


def check_own(problem: Any, where: str = "") -> None:
    """Raises BadInput for the first answer of a user's problem that is not what `Problem` says.

    where: how a message calls it, such as "the problem 'mine' of my_file". Problems of this package are not looked at.
    """
    if not is_own(problem):
        return
    lacking = next((name for name in PARTS if not hasattr(problem, name)), None)
    if lacking is not None:
        what, needed = shown(repr(problem), 80), ", ".join(PARTS)
        raise BadInput(f"{where or 'the problem'} is {what}, which has no '{lacking}'; a problem has {needed}.")
    with np.errstate(all="ignore"):
        why = next(_objections(problem), None)
    if why is not None:
        known = where or f"the problem '{problem.name}'"
        raise BadInput(f"{known}: {why.rstrip('.')}.")


def _exact(value: Any) -> bool:
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def _count(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and operator.index(value) >= 1
    except TypeError:
        return False


def _listed(value: Any, count: int | None, each: Callable[[Any], bool]) -> bool:
    """Whether a value is a list of this many entries (None: of any number) of one sort."""
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    return listed and count in (None, len(value)) and all(map(each, value))


def _objections(p: Any) -> Iterator[str]:
    """Why parts or answers are not what they must be, the first ones first: later ones rest on them."""
    if not isinstance(p.name, str):
        yield f"name is {shown(repr(p.name))}; it must be text"
    if not isinstance(p.spec, Mapping) or not isinstance(p.spec.get("kind"), str):
        yield f"spec is {shown(repr(p.spec))}; it must be a table with the kind and the parameters"
    for name in ("dim", "clients"):
        if not _count(getattr(p, name)):
            yield f"{name} is {shown(repr(getattr(p, name)))}; it must be an integer of at least 1"
    if not _listed(p.weights, p.clients, _exact) or sum(p.weights) != 1 or min(p.weights) < 0:
        yield f"weights are {shown(repr(p.weights))}; they must be {p.clients} Fractions >= 0 that sum to 1"
    if not _listed(p.start, p.dim, _exact):
        yield f"start is {shown(repr(p.start))}; it must be {p.dim} Fractions or integers"
    sizes = optional(p, "sizes")
    if sizes is not None and not _listed(sizes, p.clients, _count):
        yield f"sizes are {shown(repr(sizes))}; they must be {p.clients} integers of at least 1"
    if not _listed(p.metrics, None, lambda m: isinstance(m, str)):
        yield f"metrics are {shown(repr(p.metrics))}; they must be a tuple of names"
    known = ask(p, "constants")
    if not isinstance(known, Mapping):
        yield f"constants() gives {shown(repr(known))}; it must give a table of name -> Constant"
    for name in () if isinstance(known, LazyConstants) else known:
        if not isinstance(known[name], Constant):
            yield f"constants() gives {shown(repr(known[name]))} for '{name}'; it must be a Constant"
    for name in ASSUMPTIONS:
        try:
            answer = ask(p, "violations", name)
        except UnknownName:
            continue
        if answer is not None and not isinstance(answer, str):
            yield f"violations('{name}') gives {shown(repr(answer))}; it must be None, a sentence, or raise UnknownName"
    if optional(p, "arrays") is not None and not isinstance(ask(p, "arrays"), Arrays):
        yield "arrays() must give `Arrays` of boundcheck.problems.problem"
    exact = np.empty(p.dim, dtype=object)
    exact[:] = p.start
    for x, where in ((exact.astype(np.float64), "the start"), (exact, "the start in Fractions (dtype object)")):
        for what, first, shape in _asked(p, x):
            why = _answer(p, what, first, x, shape)
            if why is not None:
                yield f"{what}({', '.join([*map(repr, first), 'x'])}) {why.format(where=where)}"


def _asked(p: Any, x: Any) -> Iterator[tuple[str, tuple[Any, ...], tuple[int, ...]]]:
    """Functions of a point: name, what is given beside x, and the shape of the answer."""
    for i in sorted({*range(min(MOST, p.clients)), p.clients - 1}):
        yield "gradient", (i,), (p.dim,)
    for name in p.metrics:
        yield "metric", (name,), ()
    if optional(p, "nearest") is not None:
        yield "nearest", (), (p.dim,)
    if optional(p, "metric_many") is not None and x.dtype != object:
        for name in p.metrics:
            yield "metric_many", (name,), (2,)


def _answer(p: Any, what: str, first: tuple[Any, ...], x: Any, shape: tuple[int, ...]) -> str | None:
    """What is wrong with an answer at x, of `metric_many` at two rows x; {where} stands for which x that is."""
    points = np.stack([x, x]) if what == "metric_many" else x
    given = points.copy()
    try:
        found = ask(p, what, *first, given)
        values = _doubles(found)
        again = _doubles(ask(p, what, *first, points.copy()))
    except Unsupported:  # such as of what is not rational
        return None
    except BadInput as error:
        if error.__cause__ is None:
            raise
        return f"raises {type(error.__cause__).__name__} at {{where}}: {_plain(error.__cause__)}"
    if given.shape != points.shape or given.dtype != points.dtype or not (given == points).all():
        return "changes the x that it is given; it must compute with a copy"
    told = f"gives {_plain(repr(found))} at {{where}}; it must give"
    if values is None or values.shape != shape or (shape and not isinstance(found, np.ndarray)):
        return f"{told} {f'an array of shape {shape}' if shape else 'one number'}"
    if not np.isfinite(values).all():
        return f"{told} finite numbers there"
    same = again is not None and np.array_equal(values, again)
    return None if same else "gives two answers for one x; what is random belongs to a method"


def _plain(text: object) -> str:
    """Shown text without braces, which would be read as places for values."""
    return shown(str(text), 80).replace("{", "(").replace("}", ")")


def _doubles(value: Any) -> Any:
    """An array of doubles; None for what is none."""
    try:
        found = np.asarray(value)
        return found.astype(np.float64) if found.dtype.kind in "iufO" and value is not None else None
    except (TypeError, ValueError, OverflowError):
        return None
