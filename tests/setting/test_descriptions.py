"""The setting asks methods what they do, not of which class they are: parts from outside have the same constants."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Constant,
    Decaying,
    Drawing,
    Epochs,
    ExactSolve,
    Formula,
    Full,
    GradientSteps,
    InverseCycle,
    NoStep,
    Pattern,
    Proximal,
    SumOne,
    Timed,
    Unbiased,
    Uniform,
    Visit,
)
from boundcheck.methods.schedules import Buffer, Exponential, FirstToArrive, Fixed, WaitForAll, Window
from boundcheck.papers.async_fl.theories.update_times import TIMES, times_of
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of
from boundcheck.setting import Setting
from boundcheck.setting.constants import joint_constants
from boundcheck.setting.followed_objective import small_step_weights
from boundcheck.setting.step_sizes import run_steps

F = Fraction
PACKAGE = Path(__file__).parents[2] / "boundcheck"
P36 = build_problem({"kind": "fedshuffle_36"})
CLIENTS = clients_of(P36)
PLANE = [{"A": [[2, 0], [0, 1]], "b": [1, 0]}, {"A": [[1, 2], [2, 4]], "b": [0, 1]}]
P2 = build_problem({"kind": "quadratics", "clients": PLANE, "start": [1, 2]})
STEP = Constant(F(1, 9))


def class_tests(text: str) -> list[str]:
    """Where a source looks at the class of something of `boundcheck.methods`, or compares it with a part."""
    tree, found = ast.parse(text), list[str]()
    ours = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("boundcheck.methods")
        for alias in node.names
        if alias.name[0].isupper()
    }
    for node in ast.walk(tree):
        looked: list[ast.expr] = []
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            looked = node.args[1:]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "type":
            looked = [node]
        elif isinstance(node, ast.Compare):
            looked = [side.func for side in (node.left, *node.comparators) if isinstance(side, ast.Call)]
        elif isinstance(node, ast.MatchClass):
            looked = [node.cls]
        named = {inner.id for expr in looked for inner in ast.walk(expr) if isinstance(inner, ast.Name)}
        if named & ours or any(isinstance(expr, ast.Call) for expr in looked):
            found.append(ast.unparse(node))
    return found


def test_no_class_of_a_method_is_asked_for() -> None:
    files = [*(PACKAGE / "setting").glob("*.py"), *(PACKAGE / "papers").glob("**/theories*/*.py")]
    files += (PACKAGE / "papers").glob("*/theories.py")
    assert len(files) > 20
    assert {path.name: found for path in files if (found := class_tests(path.read_text()))} == {}
    seen = class_tests(
        "from boundcheck.methods.parts import Full\nisinstance(x, int | Full)\nx == Full()\nisinstance(x, int)\n"
    )
    assert seen == ["isinstance(x, int | Full)", "x == Full()"]


# --- parts that have no class of ours ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Work:
    """Local work from outside that answers what another one does."""

    of: Any

    def visits(self, client: int, cohort: Any, clients: Clients) -> tuple[tuple[Fraction, Visit], ...]:
        return self.of.visits(client, cohort, clients)

    @property
    def by_cohort(self) -> bool:
        return self.of.by_cohort

    @property
    def is_random(self) -> bool:
        return self.of.is_random


@dataclass(frozen=True)
class Rule:
    """An aggregation from outside."""

    of: Any
    weights: str = "own"

    def coefficients(self, cohort: Any, setting: Any) -> list[Fraction]:
        return self.of.coefficients(cohort, setting)

    def by_client(self, setting: Any) -> Any:
        return self.of.by_client(setting)


@dataclass(frozen=True)
class Who:
    """A participation from outside that follows from update times."""

    timing: Timed

    def period(self, clients: Clients) -> int:
        return self.timing.period(clients)

    def fixed(self, round_index: int, clients: Clients) -> tuple[int, ...] | None:
        return self.timing.fixed(round_index, clients)

    def drawing(self, clients: Clients) -> Drawing | None:
        return self.timing.drawing(clients)


@dataclass(frozen=True)
class Sizes:
    """Step sizes from outside, of which only the protocol is known."""

    of: Any

    def step(self, cycle: int) -> Fraction:
        return self.of.step(cycle)

    def is_constant(self) -> bool:
        return self.of.is_constant()

    def is_exact(self) -> bool:
        return self.of.is_exact()

    def parameters(self) -> dict[str, Fraction]:
        return {}


def constants(method: Method, problem: Any) -> dict[str, Fraction]:
    return {name: c.value for name, c in joint_constants(method, problem).items()}


@pytest.mark.parametrize("rule", [Unbiased(), SumOne(), Unbiased((F(1, 2), F(1, 3), F(1, 4)))])
@pytest.mark.parametrize("work", [Epochs(2, divide="work"), Epochs((3, 2, 1)), Epochs(divide="size", missed=(0, 1, 1))])
@pytest.mark.parametrize("who", [Full(), Uniform(2)])
def test_local_epochs_from_outside_are_a_fedshuffle_gen(rule: Any, work: Any, who: Any) -> None:
    own = constants(Method("own", who, work, STEP, rule), P36)
    assert {"W", "M1", "M2"} <= set(own)
    assert ("noise2_gen" in own) == (work.missed is None)
    assert constants(Method("other", who, Work(work), Sizes(STEP), Rule(rule)), P36) == own


@pytest.mark.parametrize("work", [ExactSolve(F(4)), Proximal(F(4), GradientSteps(3)), Proximal(F(4), Epochs())])
def test_subproblems_from_outside_have_an_inexactness(work: Any) -> None:
    own = constants(Method("own", Full(), work, STEP), P2)
    assert {"inv_mu", "L_inv_mu2", "cohort_size"} <= set(own)
    assert constants(Method("other", Full(), Work(work), STEP), P2) == own
    # the largest |1 - (h + 4)/9| over the eigenvalues h = 2, 1 and 0, 5 is 5/9
    gamma = {ExactSolve: F(0), Proximal: F(5, 9) ** 3}[type(work)]
    assert own.get("gamma") == (None if work == Proximal(F(4), Epochs()) else gamma)


def test_steps_with_a_momentum_certify_no_solve() -> None:
    from boundcheck.methods.parts import ClientOptimizer

    work = Proximal(F(4), GradientSteps(3))
    pushed = Method("pushed", Full(), work, STEP, client_optimizer=ClientOptimizer(momentum=F(1, 2)))
    assert "gamma" not in constants(pushed, P2)


@pytest.mark.parametrize(
    ("policy", "single"), [(FirstToArrive(), True), (Buffer(1), True), (Buffer(2), False), (Window(F(1)), False)]
)
def test_update_times_of_a_participation_from_outside(policy: Any, single: bool) -> None:
    for times in (Fixed((F(1), F(2), F(3))), Exponential((F(1), F(2), F(3)))):
        timed = Timed(times, policy)
        own, other = (Method("m", who, GradientSteps(1), STEP) for who in (timed, Who(timed)))
        views = [times_of(method, CLIENTS) for method in (own, other)]
        known, same = ({name: make().value for name, make in TIMES.constants(view).items()} for view in views)
        assert same == known
        assert known.get("time_rates") == (F(11, 6) if isinstance(times, Fixed) else None)
        # periods of 6: after 11 rounds of one client, or 6 windows
        ended = {FirstToArrive(): 11, Buffer(1): 11, Window(F(1)): 6}.get(policy)
        assert known.get("rounds_in_time") == (ended if isinstance(times, Fixed) else None)
        found, same = map(TIMES.hypotheses, views)
        assert same == found
        assert (found["one_by_one"] is None) is single
        assert (found["fixed_times"] is None) is isinstance(times, Fixed)
    assert times_of(Method("m", Full(), GradientSteps(1), STEP), CLIENTS) is None
    one = Clients((F(1),), (1,))
    alone = Method("m", Timed(Exponential((F(1),)), WaitForAll()), GradientSteps(1), STEP)
    assert TIMES.hypotheses(times_of(alone, one))["one_by_one"] is None  # the only client, round by round


def test_step_sizes_from_outside_are_taken_for_no_known_rule() -> None:
    steps = {
        name: run_steps(Method("m", Full(), GradientSteps(1), own), CLIENTS)
        for name, own in {
            "formula": Formula("2/(8 + r)"),
            "decay": Decaying(F(1), (3,), F(1, 2)),
            "warm": Decaying(F(1), (5,), F(1, 2), warm_up=2),
            "inverse": InverseCycle(F(1, 2)),
            "other": Sizes(InverseCycle(F(1, 2))),
            "same": Sizes(STEP),
        }.items()
    }
    assert {name: own.degrees for name, own in steps.items()} == {
        **dict.fromkeys(("decay", "warm", "inverse", "same"), 2),
        "formula": 1,
        "other": None,
    }
    assert [steps[name].regular_from for name in ("decay", "warm", "inverse", "other")] == [3, 5, 0, 0]
    assert [[steps[name].changes_within(k) for k in (1, 2, 3, 4)] for name in ("decay", "warm", "other", "same")] == [
        [False, False, False, True],
        [False, True, True, True],
        [False, True, True, True],
        [False] * 4,
    ]
    assert steps["inverse"].words() == "the step size (1/2)/K in its K-th round"
    assert steps["formula"].words() == "the step size 2/(8 + r) in its round r, counted from 0"
    solved = Method("m", Full(), Work(ExactSolve(F(1))), NoStep())
    assert Setting(solved, P2).step_sizes is None


def test_rounds_before_a_pattern_repeats_are_rounds_too() -> None:
    """One round of all clients, then client 0 for ever: neither full participation nor FedShuffleGen."""
    lead = Pattern(((0,),), lead=((0, 1, 2),))
    assert constants(Method("m", lead, Epochs(), STEP, Unbiased()), P36) == {}
    assert Setting(Method("m", lead, Epochs(), STEP), P36).hypothesis("uniform_participation").holds is False
    # after a round of client 0 alone, w_1 : w_2 = 1 : 2 in all rounds, with 1 and 2 steps
    late = Method("m", Pattern(((0, 1),), lead=((0,),)), Epochs(), STEP, SumOne())
    assert small_step_weights(late, CLIENTS) == [F(1, 5), F(4, 5), 0]


def test_a_client_that_never_takes_part_has_no_weight() -> None:
    """Of three clients the first alone takes part: the method follows its objective, and nothing is divided by 0."""
    method = Method("m", Pattern(((0,),)), Epochs(1, divide="size"), Constant(Fraction(1, 8)), Unbiased())
    assert small_step_weights(method, Clients.alike(3)) == [1, 0, 0]
