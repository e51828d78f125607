"""What the functions of a round must declare and return, where they are no part of boundcheck."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

from boundcheck.errors import BadInput, BoundcheckError, shown
from boundcheck.methods.round import PLAIN, Rule, Sent


def called(name: str, function: Callable[..., Any], *given: Any) -> Any:
    """What a function of a method returns. Raises BadInput, with its words, where it fails."""
    try:
        return function(*given)
    except BoundcheckError:
        raise
    except Exception as error:  # a user's function may raise anything
        what = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        if "read-only" in what or "item assignment" in what:
            what = f"it changes what it is given ({what}); write y = y - ... in place of y -= ..."
        raise BadInput(f"{name}: the function {function.__name__} of its round fails: {what}.") from error


def table(
    name: str, function: str, found: Any, allowed: Sequence[str] | None, needed: Collection[str] = ()
) -> dict[str, Any]:
    """Vectors by name that a function returned; `begin` and `step` may return the model alone.

    allowed: all names; None: any. Raises BadInput for what is no table, and for foreign and missing names.
    """
    if not isinstance(found, Mapping):
        alone = function == "begin" or (function == "step" and len(allowed or ()) == 1)
        if found is None or not alone or not allowed:
            what = f"such as {{'{(allowed or 'x')[0]}': ...}}; it gives {shown(repr(found), 80)}"
            raise BadInput(f"{name}: {function} must return a table of vectors by name, {what}.")
        found = {allowed[0]: found}
    for key, value in found.items():
        if allowed is not None and key not in allowed:
            raise BadInput(f"{name}: {function} gives '{key}', which is none of {', '.join(allowed) or 'nothing'}.")
        rule = value.rule if isinstance(value, Sent) else None
        if not (rule is None or rule == PLAIN or hasattr(rule, "coefficients")):
            raise BadInput(f"{name}: {function} sums '{key}' by {rule!r}; a sum is by None, PLAIN or an aggregation.")
    for key in needed:
        if key not in found:
            raise BadInput(f"{name}: {function} does not give '{key}'; it must give {', '.join(needed)}.")
    return dict(found)


def check_declared(name: str, rule: Rule) -> None:
    """Raises BadInput where what a class of a round declares is not of the kind that readers rely on."""
    for what in ("kept_by_server", "kept_by_clients", "local", "uniforms"):
        own: Any = getattr(rule, what)
        kind, such = (Mapping, "table {'m': False}") if what.startswith("kept") else (tuple, "tuple ('y',)")
        if not isinstance(own, kind) or not all(isinstance(key, str) for key in own):
            raise BadInput(f"{name}: {what} is {shown(repr(own), 80)}; it must have names, such as the {such}.")
    if not rule.kept_by_server.get("x") or not rule.local:
        raise BadInput(
            f"{name}: the server of its round keeps no point 'x', which metrics measure, or `local` is empty."
        )
    if not (rule.collecting in (None, "same") or hasattr(rule.collecting, "drawing")):
        raise BadInput(f"{name}: collecting must be None, 'same' or a participation; it is {rule.collecting!r}.")
    for t in range(3):
        numbers, law = called(name, rule.numbers, t, 1), called(name, rule.drawn, t)
        if not isinstance(numbers, Mapping):
            raise BadInput(f"{name}: numbers must return a table of numbers by name; it gives {numbers!r}.")
        if not _is_law(law):
            raise BadInput(
                f"{name}: drawn must return pairs of an exact probability and a table of numbers, with the same names "
                f"in all of them; it gives {shown(repr(law), 80)}."
            )


def _is_law(law: Any) -> bool:
    pairs = isinstance(law, Sequence) and all(isinstance(way, tuple) and len(way) == 2 for way in law)
    if not (pairs and law and all(isinstance(p, int | Fraction) and isinstance(own, Mapping) for p, own in law)):
        return False
    return all(own.keys() == law[0][1].keys() for _, own in law)
