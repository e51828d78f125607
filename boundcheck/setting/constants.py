"""Which constants a method on a problem has, under the keys of the catalogue, and how each is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from boundcheck.certified.constant import Constant, Known, exact
from boundcheck.errors import BadInput
from boundcheck.problems.problem import clients_of, no_minimum, optional
from boundcheck.setting.blocks import BLOCKS
from boundcheck.setting.participation import MAX_CLIENTS, PARTICIPATION, sampling_makers, weight_makers
from boundcheck.setting.theories import Makers, Objections, Theory, of_papers
from boundcheck.theory.keys import CATALOGUE

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

METHOD = "method/"  # the group of the method's own parameters
# The name under which problems and methods report a constant -> its key; parameters of methods have keys of their own.
KEYS: Mapping[str, str] = MappingProxyType({k.name: k.key for k in CATALOGUE.values() if not k.key.startswith(METHOD)})
# Groups of constants that only a method on a problem has: a problem that reports such a name means something else.
OF_PAIRS = ("participation/", "schedule/", "surrogate/", "subproblem/", METHOD)


def key_of_name(name: str) -> str:
    """The key of a constant that problems and methods report under this name; the name itself outside the catalogue."""
    return KEYS.get(name, name)


def key_of_problem(name: str) -> str:
    """The key of a constant that a problem reports under this name: "problem/rho" where only methods have a rho."""
    key = key_of_name(name)
    return f"problem/{name}" if key.startswith(OF_PAIRS) else key


def parameters_of(method: Method) -> dict[str, Fraction]:
    """The parameters of a method by their keys, "method/eta" for eta."""
    return {METHOD + name: value for name, value in method.parameters().items()}


def theories() -> Iterator[Theory[Any]]:
    """The theories that several papers use, then those of papers, in the order in which reports list constants."""
    yield from (BLOCKS, PARTICIPATION)
    yield from of_papers()


def reason_missing(method: Method, problem: Problem) -> str | None:
    """What keeps constants of the method on the problem from being known; None where nothing special does.

    Raises BadInput where the method does not fit the problem's clients.
    """
    reasons = (theory.missing(method, problem) for theory in theories())
    return no_minimum(problem) or next((why for why in reasons if why is not None), None)


def joint_makers(method: Method, problem: Problem) -> Makers:
    """How each constant that method and problem have together is computed, by the names that they are reported under.

    What cannot be computed (too many cohorts, rounds that are not alike) is left out.
    """
    clients = clients_of(problem)
    makers: Makers = {}
    if clients.count <= MAX_CLIENTS and method.functions is None:  # what functions weigh is not read off the parts
        makers = _together("constant", method, problem, lambda theory: theory.constants)
    return makers | sampling_makers(method, problem, clients)


def joint_objections(method: Method, problem: Problem) -> Objections:
    """The hypotheses that theories decide -> why each fails, or None where it holds."""
    return _together("hypothesis", method, problem, lambda theory: theory.hypotheses)


def _together(
    what: str,
    method: Method,
    problem: Problem,
    table: Callable[[Theory[Any]], Callable[[Any], dict[str, Any]]],
    among: Iterable[Theory[Any]] | None = None,
) -> dict[str, Any]:
    """The tables of the theories (all of them by default) that speak about the pair.

    Raises BadInput for a name that two of them have.
    """
    found: dict[str, Any] = {}
    for theory in theories() if among is None else among:
        view = theory.view(method, problem)
        own = {} if view is None else table(theory)(view)
        taken = min(found.keys() & own.keys(), default=None)
        if taken is not None:
            raise BadInput(f"two theories declare the {what} '{taken}'; choose another name.")
        found |= own
    return found


def named_hypotheses() -> frozenset[str]:
    """The hypotheses that are decided only where a statement names them."""
    return frozenset(row.name for theory in theories() for row in theory.named)


def named_objection(name: str, method: Method, problem: Problem) -> tuple[bool, str | None]:
    """Whether one of these is decided, and why it fails; None where it holds."""
    theory, row = next((theory, row) for theory in theories() for row in theory.named if row.name == name)
    view = theory.view(method, problem)
    known = view is not None and row.known(view)
    return known, row.value(view) if known else None


def joint_constants(method: Method, problem: Problem) -> Mapping[str, Constant]:
    """The constants that method and problem have together, all computed, by the names that they are reported under."""
    return {name: make() for name, make in joint_makers(method, problem).items() if not name.startswith("what_")}


def pair_makers(method: Method, problem: Problem) -> Makers:
    """How each constant of a method on a problem is computed, by key.

    A key of the group "method" is a parameter of the method, any other a constant of method and problem together or,
    where they have none under it, of the problem. A constant outside the catalogue has its name as its key.
    """
    known = problem.constants()
    makers: Makers = {key_of_problem(name): partial(known.__getitem__, name) for name in known}
    makers |= {key_of_name(name): make for name, make in weight_makers(clients_of(problem)).items()}
    return makers | _by_key(joint_makers(method, problem), problem) | _parameters(method)


def sized_makers(method: Method, problem: Problem) -> Makers:
    """Those of `pair_makers` that depend on the step sizes: the parameters, and how inexact local solves are."""
    sized = [theory for theory in theories() if theory.sized]
    makers = _together("constant", method, problem, lambda theory: theory.constants, sized)
    return _by_key(makers, problem) | _parameters(method)


def _by_key(makers: Makers, problem: Problem) -> Makers:
    rests = optional(problem, "rests_on_estimates") or rests_on_nothing
    return {key_of_name(name): partial(_estimated, make) if rests(name) else make for name, make in makers.items()}


def _parameters(method: Method) -> Makers:
    return {key: partial(exact, value, "parameter of the method") for key, value in parameters_of(method).items()}


def reported_names(keys: Mapping[str, Constant], method: Method) -> dict[str, str]:
    """Name -> key of the constants in the order in which reports list them, without the weights of single clients.

    A name that a parameter of the method shares with another constant is that of the parameter.
    """
    found: dict[str, str] = {}
    for key in keys:
        name = key.removeprefix(METHOD) if key.startswith(METHOD) else _name(key)
        if not key.startswith(("clients/w_", "clients/what_")):
            found[name] = key
    return found


def _name(key: str) -> str:
    known = CATALOGUE.get(key)
    return key if known is None else known.name


def rests_on_nothing(name: str) -> bool:
    """What an answer of a problem without estimates rests on: no constant or hypothesis of it is estimated."""
    return False


def _estimated(make: Callable[[], Constant]) -> Constant:
    """A constant that is made of estimates."""
    return replace(make(), known=Known.ESTIMATED)
