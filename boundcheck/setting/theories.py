"""Theories: what statements of one kind need to know of a method on a problem, as tables of rows.

A theory has a view, made of a method and a problem that it speaks about, and rows that read the view: constants and
hypotheses. A paper declares those that it alone uses in `theories`, a tuple in its file or folder of that name; the
file of a user in that name, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from boundcheck.certified.constant import Constant, exact

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

Maker = Callable[[], Constant]
Makers = dict[str, Maker]  # how constants are computed, by the names under which they are reported
V = TypeVar("V")
DECLARED = "theories"  # the file of a paper, beside its statements, and what it has of theories


def always(view: Any) -> bool:
    """True."""
    return True


@dataclass(frozen=True)
class Row(Generic[V]):
    """A constant or a hypothesis.

    value: of a constant its number, or a Constant; of a hypothesis why it fails, None where it holds. how: where the
    number comes from, one clause. known: whether there is such a constant, or the hypothesis can be decided.
    """

    name: str
    value: Callable[[V], Any]
    how: str = ""
    known: Callable[[V], bool] = always

    def constant(self, view: V) -> Constant:
        """The constant."""
        found = self.value(view)
        return found if isinstance(found, Constant) else exact(found, self.how)


def maybe(name: str, value: Callable[[V], Any], how: str = "") -> Row[V]:
    """The row of a constant that is known where its value is not None, or of a hypothesis that is only refuted."""
    return Row(name, value, how, lambda view: value(view) is not None)


def unless(name: str, holds: Callable[[V], bool], why: str, known: Callable[[V], bool] = always) -> Row[V]:
    """The row of a hypothesis that fails for one reason."""
    return Row(name, lambda view: None if holds(view) else why, known=known)


Objections = dict[str, str | None]  # hypothesis -> why it fails, or None where it holds


def nothing(view: Any) -> dict[str, Any]:
    """An empty table."""
    return {}


def constants(*rows: Row[V]) -> Callable[[V], Makers]:
    """How those constants of a table are computed that a view has."""
    return lambda view: {row.name: partial(row.constant, view) for row in rows if row.known(view)}


def hypotheses(*rows: Row[V]) -> Callable[[V], Objections]:
    """The answers to those hypotheses of a table that a view decides."""
    return lambda view: {row.name: row.value(view) for row in rows if row.known(view)}


@dataclass(frozen=True)
class Theory(Generic[V]):
    """What one theory says of a view; one that it does not have, or cannot decide, is left out.

    view: None where the theory does not speak about the method on the problem. named: hypotheses that are decided only
    where a statement names them. sized: whether constants depend on the step sizes. missing: why constants that the
    theory could have are not known, as a clause; None where nothing special keeps them from it. It raises BadInput
    where the method does not fit the problem's clients.
    """

    view: Callable[[Method, Problem], V | None]
    constants: Callable[[V], Makers] = nothing
    hypotheses: Callable[[V], Objections] = nothing
    named: tuple[Row[V], ...] = ()
    sized: bool = False
    missing: Callable[[Method, Problem], str | None] = lambda method, problem: None


def of_papers() -> Iterator[Theory[Any]]:
    """The theories that papers declare. Raises BadInput for a broken file."""
    from boundcheck.theory.discovery import beside

    for module in beside(DECLARED):
        yield from getattr(module, DECLARED, ())
