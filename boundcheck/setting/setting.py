"""A method on a problem: what a statement speaks about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.certified.lazy import LazyConstants
from boundcheck.errors import UnknownName
from boundcheck.methods.build import algorithms, chosen_parameters, in_shipped_parts, objections
from boundcheck.problems._instance import ASSUMPTIONS
from boundcheck.problems.problem import clients_of, is_neural, no_minimum, optional
from boundcheck.setting.client_hypotheses import client_hypotheses
from boundcheck.setting.constants import (
    joint_objections,
    named_hypotheses,
    named_objection,
    pair_makers,
    parameters_of,
    reported_names,
    rests_on_nothing,
    sized_makers,
)
from boundcheck.setting.followed_objective import surrogate
from boundcheck.setting.metrics import OF_A_POINT, is_round_metric, unknown_metric
from boundcheck.setting.step_sizes import StepSizes, step_sizes

if TYPE_CHECKING:
    from boundcheck.certified.constant import Constant
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


@dataclass(frozen=True)
class Answer:
    """Whether a hypothesis holds; holds is None where neither method nor problem can decide it.

    known: "decided" (exactly) or "sampled" (in double precision, or with estimated constants); empty where it is not
    known. why: the reason, one sentence, where it fails.
    """

    holds: bool | None
    known: str = ""
    why: str = ""


@dataclass(frozen=True)
class Measured:
    """Where a metric comes from: "problem", "round" (a metric of rounds, which depends on the method) or "" (unknown).

    start: its exact value at the start, None where it is not known to be rational.
    """

    source: str
    start: Fraction | None = None


class Setting:
    """A method with its step sizes as numbers on a problem.

    It answers which constants, hypotheses and metrics the two have. Each is computed when it is first asked for, and
    once. Nothing is run.
    """

    def __init__(self, method: Method, problem: Problem) -> None:
        self.method, self.problem = method, problem
        self._answers: dict[str, Answer] = {}
        self._metrics: dict[str, Measured] = {}

    def __repr__(self) -> str:
        return f"<Setting {self.method.name} on {self.problem.name}>"

    @cached_property
    def clients(self) -> Clients:
        """What the method may know of the problem's clients."""
        return clients_of(self.problem)

    @cached_property
    def described(self) -> Method:
        """The method as its constants, hypotheses and kinds are read: in shipped parts, if these do the same."""
        return in_shipped_parts(self.method, self.clients)

    # --- constants ------------------------------------------------------------------------------------------------

    @cached_property
    def _constants(self) -> LazyConstants:
        return LazyConstants(pair_makers(self.described, self.problem))

    def constants(self) -> Mapping[str, Constant]:
        """All constants by their keys (`theory.keys`); one outside the catalogue has its name as its key.

        A value is computed when it is first asked for; looking at the keys computes none.
        """
        return self._constants

    def has(self, key: str) -> bool:
        """Whether method and problem have the constant with this key."""
        return key in self._constants

    def constant(self, key: str) -> Constant:
        """The constant with this key.

        A key of the group "method" is a parameter of the method, any other key never is. Raises UnknownName, with the
        nearest keys, where method and problem have no such constant.
        """
        if key not in self._constants:
            raise UnknownName(f"{self.method.name} on '{self.problem.name}': the constant", key, self._constants)
        return self._constants[key]

    @cached_property
    def parameters(self) -> Mapping[str, Fraction]:
        """The parameters of the method by their keys."""
        return parameters_of(self.described)

    def reported(self) -> Mapping[str, Constant]:
        """The constants by the names under which problems and methods report them, without the weights of clients."""
        keys = reported_names(self._constants, self.described)
        return LazyConstants({name: (lambda key=key: self._constants[key]) for name, key in keys.items()})

    # --- hypotheses -----------------------------------------------------------------------------------------------

    @cached_property
    def _joint(self) -> tuple[dict[str, str | None], set[str]]:
        """Answers of method and problem together, and the names of those seen to fail in double precision only."""
        found, inexact = client_hypotheses(self.problem)
        return found | joint_objections(self.described, self.problem), set(inexact)

    def hypothesis(self, name: str) -> Answer:
        """Whether the hypothesis of this name holds."""
        if name not in self._answers:
            self._answers[name] = self._answer(name)
        return self._answers[name]

    def _answer(self, name: str) -> Answer:
        joint, inexact = self._joint
        known, objection = True, None
        try:
            objection = self.problem.violations(name)
        except UnknownName:  # a hypothesis that this problem cannot decide
            known = False
        if name in named_hypotheses():
            known, objection = named_objection(name, self.described, self.problem)
        if objection is None and name in joint:
            known, objection = True, joint[name]
            if objection is not None and name in inexact:
                return Answer(False, "sampled", objection)
        if not known:
            return Answer(None)
        if objection is not None:
            return Answer(False, "decided", objection)
        by_estimates = optional(self.problem, "holds_by_estimates") or rests_on_nothing
        return Answer(True, "sampled" if by_estimates(name) else "decided")

    def hypotheses(self, names: Iterable[str] = ()) -> dict[str, Answer]:
        """The answers that are known: to the shipped hypotheses of problems and methods, and to further names."""
        example = optional(self.problem, "instance") or self.problem.spec.get("kind")
        asked = dict.fromkeys([*ASSUMPTIONS, f"instance:{example}", *names, *self._joint[0]])
        found = {name: self.hypothesis(name) for name in asked}
        return {name: answer for name, answer in found.items() if answer.holds is not None}

    # --- metrics, algorithms and step sizes -----------------------------------------------------------------------

    def metric(self, name: str) -> Measured:
        """Where the metric of this name comes from, and its exact value at the start.

        Raises BadInput for a metric of minimisations on a problem that is none.
        """
        if name not in self._metrics:
            self._metrics[name] = self._measured(name)
        return self._metrics[name]

    def _measured(self, name: str) -> Measured:
        if name not in self.problem.metrics:
            if no_minimum(self.problem) is not None and (name in OF_A_POINT or is_round_metric(name)):
                raise unknown_metric(self.problem, name)
            return Measured("round" if is_round_metric(name) else "")
        if is_neural(self.problem):
            return Measured("problem")
        x = np.empty(self.problem.dim, dtype=object)
        x[:] = self.problem.start
        value: Any = self.problem.metric(name, x)
        return Measured("problem", Fraction(value) if isinstance(value, int | Fraction) else None)

    @cached_property
    def algorithms(self) -> tuple[str, ...]:
        """The kinds of methods of which the method is an instance with these clients."""
        return algorithms(self.method, self.clients, self.described)

    @cached_property
    def chosen(self) -> Mapping[str, tuple[str, ...]]:
        """Each of these kinds -> its parameters to which the method gives another value than their default."""
        return chosen_parameters(self.described, self.clients)

    @cached_property
    def objections(self) -> Mapping[str, str]:
        """Kind -> why the method, which has its form, is no instance of it; empty where it is one of any kind."""
        return {} if self.algorithms else objections(self.described, self.clients)

    @cached_property
    def step_sizes(self) -> StepSizes | None:
        """The step sizes of the method, None for a method without any."""
        return step_sizes(self.method, self.clients)

    def with_sizes(self, method: Method) -> Setting:
        """The setting of a method that differs from this one in step sizes.

        The constants that do not depend on these are taken over; where other parts differ too, none is.
        """
        found, own = Setting(method, self.problem), self.method.parts
        if {role for role, part in method.parts.items() if part != own[role]} <= {"schedule", "server"}:
            found._constants = self._constants.and_also(sized_makers(found.described, self.problem))
        return found

    def following(self) -> Setting:
        """The setting of the problem whose objective the method follows to first order in its step size.

        It is this one where that is the problem's own objective. Raises what `followed_objective.surrogate` raises.
        """
        followed = surrogate(self.described, self.problem)
        return self if followed is self.problem else Setting(self.method, followed)


def describe_constants(method: Method, problem: Problem) -> Mapping[str, Constant]:
    """The constants of a method on a problem by the names under which they are reported, each computed when asked for.

    A name that several constants have is the parameter of the method, then the constant of method and problem together.
    """
    return Setting(method, problem).reported()
