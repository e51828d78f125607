"""Functions of a user's own that do what shipped parts do are instances of the same kinds; with one sign changed, none.

The two runs are also compared as fractions, which knows nothing of how a method is recognised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar

import pytest

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
from boundcheck.methods.build import algorithms, build
from boundcheck.methods.clients import Clients, Repeated
from boundcheck.methods.method import Method
from boundcheck.methods.parts import ReferencePoint
from boundcheck.methods.round import PLAIN, At, Rule, Sent
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of
from boundcheck.setting.setting import Setting
from tests.oracle import options

F = Fraction
PUSH = F(9, 10)
WHOLE = (((2, 1),), ((1, -1),), ((3, 2),))  # (a, b) of the samples of each client, of gradient a x - b
SAMPLES = (((1, 1), (2, 0)), ((1, -1), (3, 1)), ((2, 2), (1, 0)))


def problem(own: Sequence[Any], weights: Sequence[str] = ("1/2", "1/3", "1/6")) -> Any:
    clients = [{"components": [{"A": [[a]], "b": [b]} for a, b in client]} for client in own]
    return build_problem({"kind": "quadratics", "start": [3], "clients": clients, "weights": [*weights]})


@dataclass(frozen=True)
class Differences(Rule):
    """FedAvg that sends x - y."""

    sign: int = 1

    def step(self, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        return y - at.eta * g(y)

    def upload(self, y: Any, at: At) -> Mapping[str, Any]:
        return {"delta": at.start - y}

    def combine(self, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        return {"x": at.server["x"] - self.sign * at.eta_g * total["delta"]}


@dataclass(frozen=True)
class Velocity(Rule):
    """Heavy ball that keeps a velocity in place of the point before; later: the momentum from round 100 on."""

    kept_by_server: ClassVar[Mapping[str, bool]] = {"x": True, "v": False}
    momentum: Fraction = PUSH
    later: Fraction = PUSH

    @property
    def steady(self) -> bool:
        return self.later == self.momentum

    def numbers(self, round_index: int, dim: int) -> Mapping[str, Any]:
        return {"push": self.momentum if round_index < 100 else self.later}

    def combine(self, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        v = at.number["push"] * at.server["v"] + total["x"]
        return {"x": at.server["x"] + v, "v": v}


@dataclass(frozen=True)
class Ahead(Rule):
    """Nesterov's method."""

    kept_by_server: ClassVar[Mapping[str, bool]] = {"x": True, "old": True}
    sign: int = 1

    def begin(self, at: At) -> Any:
        return at.server["x"] + self.sign * F(1, 2) * (at.server["x"] - at.server["old"])

    def combine(self, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        return {"x": F(3, 2) * at.server["x"] - F(1, 2) * at.server["old"] + total["x"], "old": at.server["x"]}


@dataclass(frozen=True)
class Variates(Rule):
    """SCAFFOLD, option II, whose clients keep c - c_i; sign: of it; odd: a client that takes the other sign."""

    kept_by_server: ClassVar[Mapping[str, bool]] = {"x": True, "mean": False}
    kept_by_clients: ClassVar[Mapping[str, bool]] = {"own": False}
    sign: int = 1
    odd: int | None = None

    def step(self, y: Any, g: Callable[[Any], Any], at: At) -> Any:
        sign = -self.sign if self.odd is not None and at.index == self.odd else self.sign
        return y - at.eta * (g(y) + sign * (at.server["mean"] + at.client["own"]))

    def _gained(self, y: Any, at: At) -> Any:
        return (at.start - y) / at.length - at.server["mean"]

    def upload(self, y: Any, at: At) -> Mapping[str, Any]:
        return {"x": y - at.start, "gained": Sent(self._gained(y, at), PLAIN)}

    def keep(self, y: Any, at: At) -> Mapping[str, Any]:
        return {"own": at.client["own"] - self._gained(y, at)}

    def combine(self, total: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        mean = at.server["mean"] + total["gained"] / at.clients.count
        return {"x": at.server["x"] + at.eta_g * total["x"], "mean": mean}


class Received(Rule):
    """Asynchronous FedAvg."""

    kept_by_clients: ClassVar[Mapping[str, bool]] = {"model": True}
    receives: ClassVar[bool] = True

    def begin(self, at: At) -> Any:
        return at.client["model"]

    def receive(self, at: At) -> Mapping[str, Any]:
        return {"model": at.server["x"]}


class Restarted(Velocity):
    """Reads more of a vector than its coefficients."""

    def begin(self, at: At) -> Any:
        return max(at.server["x"], at.server["v"])


SCAFFOLD = {"kind": "scaffold", "K": 2, "eta_l": "1/5", "eta_g": "1/2", "participation": {"kind": "uniform", "size": 2}}
PUSHED = {"eta": "1/8", "momentum_g": "9/10"}
# Name -> a specification, functions that do the same, and some that do not
CASES: Mapping[str, tuple[Mapping[str, Any], Rule, Sequence[Rule]]] = {
    "fedavg": ({"kind": "fedavg", "E": 2, "eta": "1/5"}, Differences(), [Differences(-1), Ahead()]),
    "epochs": ({"kind": "fedavg_rr", "E": 1, "eta_l": "1/5", "eta_g": "1/2"}, Differences(), [Differences(2)]),
    "heavy_ball": ({"kind": "heavy_ball", **PUSHED}, Velocity(), [Velocity(-PUSH, -PUSH), Velocity(later=F(1, 2))]),
    "nesterov": ({"kind": "nesterov", **PUSHED, "momentum_g": "1/2"}, Ahead(), [Ahead(-1)]),
    "scaffold": (SCAFFOLD, Variates(), [Variates(-1), Variates(odd=2), Variates(odd=0)]),
    "fedavg_async": ({"kind": "fedavg_async", "K": 2, "eta_l": "1/5", "times": [1, 2, 3]}, Received(), [Differences()]),
}  # fmt: skip
ROLES = ("momentum", "server_momentum", "correction", "control", "exchange")


def with_functions(spec: Mapping[str, Any], rule: Rule) -> Method:
    return replace(build(spec), functions=rule, **dict.fromkeys(ROLES))


def points(method: Method, where: Any) -> list[Fraction]:
    return list(run_exact(method, where, range(1, 5), ["dist2"], arithmetic=Arithmetic.RATIONAL).exact["dist2"])


@pytest.mark.parametrize("case", CASES)
def test_functions_that_do_the_same_are_instances_of_the_same_kinds(case: str) -> None:
    spec, rule, others = CASES[case]
    where = problem(SAMPLES if case == "epochs" else WHOLE)
    clients, shipped, own = clients_of(where), build(spec), with_functions(spec, rule)
    assert points(own, where) == points(shipped, where)
    assert algorithms(own, clients) == algorithms(shipped, clients) != ()
    assert Setting(own, where).parameters == Setting(shipped, where).parameters
    for other in others:
        wrong = with_functions(spec, other)
        assert points(wrong, where) != points(shipped, where) or other == Velocity(later=F(1, 2))
        assert not set(algorithms(wrong, clients)) & set(algorithms(shipped, clients)), other


def test_a_number_is_found_and_reported() -> None:
    where = problem(WHOLE)
    setting = Setting(with_functions({"kind": "heavy_ball", **PUSHED}, Velocity(F(2, 7), F(2, 7))), where)
    assert setting.algorithms == ("fedavgm", "heavy_ball")
    assert setting.parameters["method/momentum_g"] == F(2, 7)
    assert "momentum_g" in setting.chosen["heavy_ball"]
    assert setting.described.server_momentum is not None


def renamed(rule: Rule) -> Rule:
    """The same functions as those of a class from outside boundcheck."""
    own: Any = type("Own", (type(rule),), {"__module__": __name__})
    return own(**{f.name: getattr(rule, f.name) for f in fields(rule)})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("kind", [row for row, found in options.rows().items() if row == found["spec"]["kind"]])
def test_every_kind_is_recognised_under_another_name(kind: str) -> None:
    method = options.method_of(options.rows()[kind]["spec"])
    clients = clients_of(options.problem_of(kind, "own"))
    own = replace(method, functions=renamed(method.rule), **dict.fromkeys(ROLES))
    if method.rule.steady:
        assert set(algorithms(own, clients)) >= set(algorithms(method, clients))
    else:  # numbers that never repeat cannot be compared in all rounds, so that nothing is said
        assert algorithms(own, clients) == ()


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("fedshuffle_mvr", {"variance_reduced": False}),
        ("fedshuffle_mvr", {"start": "gradient", "warm_up": 0}),
        ("feddane", {"factor": F(1, 2)}),
        ("feddane", {"participation": None, "pipelined": True}),
        ("saga", {"start": "zero"}),
    ],
)
def test_one_field_changed_is_not_the_kind(kind: str, changed: Mapping[str, Any]) -> None:
    method = options.method_of(options.rows()[kind]["spec"])
    rule: Any = method.rule
    own = replace(method, functions=renamed(replace(rule, **changed)), **dict.fromkeys(ROLES))
    assert kind not in algorithms(own, clients_of(options.problem_of(kind, "own")))


def test_a_long_period_is_gone_through_where_its_numbers_change() -> None:
    spec = {"kind": "svrg", "eta": "1/5", "inner": 100}
    rule = build(spec).rule
    assert algorithms(with_functions(spec, renamed(rule)), Clients.alike(3)) == ("svrg",)
    early = ReferencePoint(inner=99)
    assert algorithms(with_functions(spec, renamed(early)), Clients.alike(3)) == ("svrg",)  # another number of steps
    assert Setting(with_functions(spec, renamed(early)), problem(WHOLE)).parameters["method/inner"] == 99


def test_the_law_of_what_a_round_draws_counts() -> None:
    class Coin(ReferencePoint):
        """Draws the point of the first round more often."""

        def drawn(self, round_index: int) -> Sequence[tuple[Fraction, Mapping[str, Any]]]:
            law = super().drawn(round_index)
            return law if len(law) == 1 else tuple((F(k + 1, 3), given) for k, (_, given) in enumerate(law))

    class Fair(ReferencePoint):
        """Draws each of the points equally often."""

    spec = {"kind": "svrg_random", "eta": "1/5", "inner": 2}
    found = [algorithms(with_functions(spec, own(inner=2, point="random")), Clients.alike(3)) for own in (Fair, Coin)]
    assert found == [("svrg_random",), ()]


def test_what_is_not_affine_is_an_instance_of_no_kind() -> None:
    assert algorithms(with_functions({"kind": "heavy_ball", **PUSHED}, Restarted()), Clients.alike(3)) == ()


class Counted(Repeated[Any]):
    """How often an entry was asked for."""

    seen: ClassVar[int] = 0

    def __getitem__(self, index: Any) -> Any:
        Counted.seen += 1
        return super().__getitem__(index)


def test_very_many_clients_are_not_gone_through() -> None:
    n = 100_000
    many, spec = Clients(Counted(F(1, n), n), Counted(2, n)), {"kind": "fedavg", "E": 2, "size": 10, "eta": "1/5"}
    assert algorithms(with_functions(spec, Differences()), many) == algorithms(build(spec), many)
    assert algorithms(with_functions(spec, Differences(-1)), many) == ()
    assert algorithms(with_functions(SCAFFOLD, Variates()), many) == ()  # not every client can be looked at
    assert Counted.seen < 10_000
