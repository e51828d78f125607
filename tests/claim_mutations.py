"""The shipped claims, and named mutations of method, problem or statement under which a claim is carried out.

A mutated part compares equal to the sound one and does something else, so that the claim must notice what is done, not
what is declared. `mutations.toml` says which mutations each claim must notice.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from boundcheck.evidence import claim as claims_module
from boundcheck.evidence.claim import Claim, ClaimResult, Resolved, resolve, run_claim
from boundcheck.evidence.spec import claims_from_text
from boundcheck.methods import own_parts
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Blocks,
    Constant,
    Correction,
    Cyclic,
    Epochs,
    ExactSolve,
    Full,
    GradientSteps,
    InverseCycle,
    LogHorizon,
    ServerStep,
    StochasticSteps,
    SumOne,
    Timed,
    Unbiased,
    WithReplacement,
)
from boundcheck.methods.schedules import Fixed, Window
from boundcheck.papers.partial_averaging import theories as averaging_matrices
from boundcheck.papers.partial_averaging.theories import full_average
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem
from boundcheck.setting import Setting
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Condition, Statement

Spec = Mapping[str, Any]
F = Fraction


class Claims(Mapping[str, Claim]):
    """The claims of a file by name, each checked when it is first asked for: collecting tests asks for none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._checked: dict[str, Claim] = {}

    @cached_property
    def _texts(self) -> dict[str, str]:
        parts = re.split(r"^\[\[claim\]\]$", self._path.read_text(), flags=re.MULTILINE)[1:]
        return {spec["name"]: f"[[claim]]{part}" for spec, part in zip(self.written(), parts, strict=True)}

    def __getitem__(self, name: str) -> Claim:
        if name not in self._checked:
            (self._checked[name],) = claims_from_text(self._texts[name], self._path.name, need_expect=True)
        return self._checked[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def written(self) -> list[Spec]:
        """The tables of the file as they are written, for what tests are named after."""
        return tomllib.loads(self._path.read_text())["claim"]


class Posing(Setting):
    """The setting of a mutated method that declares the sound one's local work and unbiased weights.

    Its constants are of those: they follow from what parts answer, so that a part alone cannot declare another thing.
    """

    def __init__(self, method: Method, problem: Problem, sound: Method) -> None:
        super().__init__(method, problem)
        weights = sound.aggregation if isinstance(sound.aggregation, Unbiased) else method.aggregation
        self.declared = Setting(replace(method, local=sound.local, aggregation=weights), problem)

    _constants = property(lambda self: self.declared._constants)


def posing(base: type, **members: Any) -> type:
    """A part of kind `base` with other members that compares equal to a sound one with the same fields."""

    def alike(self: Any, other: object) -> bool:
        return isinstance(other, base) and all(getattr(self, f.name) == getattr(other, f.name) for f in fields(base))

    def hashed(self: Any) -> int:
        return hash(tuple(getattr(self, f.name) for f in fields(base)))

    return dataclass(frozen=True, eq=False)(
        type(base.__name__, (base,), {**members, "__eq__": alike, "__hash__": hashed})
    )


def part(place: str, *kinds: type) -> Callable[[Method], Method]:
    """The mutation that puts one of these kinds, that which fits, in the place of a part with the same fields."""

    def mutate(method: Method) -> Method:
        own: Any = getattr(method, place)
        kind = next(k for k in kinds if isinstance(own, k.__bases__[0]))
        return replace(method, **{place: kind(**{f.name: getattr(own, f.name) for f in fields(own)})})

    return mutate


def visits(base: Any, change: Callable[[Any, Any, int, Any], Any]) -> type:
    """Local work whose visits are changed: change(visit, part, client, clients)."""

    def changed(self: Any, client: int, cohort: Sequence[int], clients: Any) -> tuple[Any, ...]:
        return tuple((p, change(v, self, client, clients)) for p, v in base.visits(self, client, cohort, clients))

    return posing(base, visits=changed)


def step(base: Any, change: Callable[[Any, Fraction], Fraction]) -> type:
    """A schedule with other step sizes: change(part, step)."""
    return posing(base, step=lambda self, cycle: change(self, base.step(self, cycle)))


def server(factor: Callable[[Any], Fraction]) -> Callable[[Method], Method]:
    return part("server", posing(ServerStep, factor=property(factor)))


def weights(base: Any, coefficients: Callable[..., Any], by_client: Callable[..., Any]) -> Callable[[Method], Method]:
    return part("aggregation", posing(base, coefficients=coefficients, by_client=by_client))


def first_lost(self: Any, cohort: Sequence[int], setting: Any) -> list[Fraction]:
    own = Unbiased.coefficients(self, cohort, setting)
    return [F(0) if i == 0 else a for i, a in zip(cohort, own, strict=True)]


def without_first(self: Any, setting: Any) -> Callable[[int], Fraction]:
    own = Unbiased.by_client(self, setting)
    return lambda i: F(0) if i == 0 else own(i)


def averages(pattern: Callable[[Any, int], Any]) -> Callable[[Method], Method]:
    return part("exchange", posing(Blocks, pattern=pattern))


def longer_last_time(method: Method) -> Method:
    """The slowest client needs two units more."""
    timed: Any = method.participation
    assert isinstance(timed, Timed)
    *others, last = timed.times.values
    return replace(method, participation=replace(timed, times=Fixed((*others, last + 2))))


def wide_window(method: Method) -> Method:
    """A window of FedFix in which every client arrives."""
    timed: Any = method.participation
    assert isinstance(timed.policy, Window)
    return replace(method, participation=replace(timed, policy=Window(F(100))))


METHODS: Mapping[str, Callable[[Method], Method]] = {
    "half the step": part("schedule", *(step(kind, lambda own, eta: eta / 2) for kind in (Constant, LogHorizon))),
    "twice the step": part("schedule", step(Constant, lambda own, eta: eta * 2)),
    "a lazy method": part("schedule", step(Constant, lambda own, eta: eta / 10**30)),
    "a step that does not shrink": part("schedule", step(InverseCycle, lambda own, eta: own.eta0 / 100)),
    "a local step more": part(
        "local",
        *(
            visits(kind, lambda v, own, client, clients: replace(v, steps=v.steps + 1))
            for kind in (GradientSteps, StochasticSteps)
        ),
    ),
    "a single local step": lambda method: replace(method, local=GradientSteps(1)),
    "one epoch more": part(
        "local", visits(Epochs, lambda v, own, i, clients: replace(v, steps=v.steps + own.steps_per_epoch(i, clients)))
    ),
    "the last local step missed": part("local", visits(Epochs, lambda v, own, i, c: replace(v, steps=v.steps - 1))),
    "samples drawn with replacement": part(
        "local", visits(Epochs, lambda v, own, i, c: replace(v, sampling="replacement"))
    ),
    # FedAvg's local step, as long as that of the client with the most samples
    "the same local step for all": part(
        "local", visits(Epochs, lambda v, own, i, c: replace(v, scale=v.scale * own.steps_per_epoch(i, c) / 3))
    ),
    "half the proximal weight": part("local", visits(ExactSolve, lambda v, own, i, c: replace(v, prox=v.prox / 2))),
    "a client lost": weights(Unbiased, first_lost, without_first),
    "Sum-One for unbiased": weights(
        Unbiased, lambda self, cohort, at: SumOne(self.weights).coefficients(cohort, at), lambda self, at: None
    ),
    "unbiased for Sum-One": weights(
        SumOne,
        lambda self, cohort, at: Unbiased(self.weights).coefficients(cohort, at),
        lambda self, at: Unbiased(self.weights).by_client(at),
    ),
    "the server ascending": server(lambda self: -self.eta_g),
    "the server descending": server(lambda self: self.eta_g),
    "twice the server's step": server(lambda self: 2 * self.eta_g),
    "a client skipped": part(
        "participation", posing(Cyclic, fixed=lambda self, r, clients: (r % clients.count % (clients.count - 1),))
    ),
    "a client absent": part(
        "participation", posing(Full, fixed=lambda self, r, clients: tuple(range(clients.count - 1)))
    ),
    "other update times": longer_last_time,
    "a window for all": wide_window,
    "no averages": averages(lambda self, dim: ((),) * self.tau),
    "all averaged after every step": averages(lambda self, dim: (tuple(range(dim)),) * self.tau),
    "FedShuffle instead": lambda method: replace(
        method, local=Epochs(divide="size"), aggregation=Unbiased(), momentum=None
    ),
    # FedDANE as Algorithm 2 with two draws a set, whatever the cohorts and the correction were
    "two draws by weight instead": lambda method: replace(
        method, participation=WithReplacement(2), correction=Correction(WithReplacement(2))
    ),
}


# --- problems -----------------------------------------------------------------------------------------------------


def first_client(change: Callable[[Spec], Spec]) -> Callable[[Spec], dict[str, Any]]:
    """The mutation that changes the first client of a problem."""
    return lambda spec: {**spec, "clients": [change(spec["clients"][0]), *spec["clients"][1:]]}


def every_client(change: Callable[[Spec, Spec], Spec]) -> Callable[[Spec], dict[str, Any]]:
    """The mutation that changes every client of a problem: change(client, problem)."""
    return lambda spec: {**spec, "clients": [change(client, spec) for client in spec["clients"]]}


def sample_moved(client: Spec) -> Spec:
    """The first sample with three times the linear term."""
    first, *others = client["components"]
    return {"components": [{**first, "b": [3 * F(v) for v in first["b"]]}, *others]}


def same_curvature(client: Spec, spec: Spec) -> Spec:
    """All samples with the curvature of the first."""
    samples = client["components"]
    return {"components": [{**sample, "A": samples[0]["A"]} for sample in samples]}


def half_curved(client: Spec) -> Spec:
    """The last coordinate half as curved."""
    row, (low, last) = client["A"]
    return {**client, "A": [row, [low, F(last) / 2]]}


def uncoupled(spec: Spec) -> dict[str, Any]:
    """The same without the Hessians' entries off the diagonal."""
    if spec["kind"] == "coupled_blocks":
        d, own = spec["d"], 1 + F(spec["delta"])
        A = [[own if i == j else 0 for j in range(d)] for i in range(d)]
        client = {"components": [{"A": A, "b": [z] * d} for z in (1, -1)]}
        return {"kind": "quadratics", "clients": [client] * spec["clients"], "start": spec.get("start", [0] * d)}
    return every_client(
        lambda c, _: {**c, "A": [[v if i == j else 0 for j, v in enumerate(row)] for i, row in enumerate(c["A"])]}
    )(spec)


PROBLEMS: Mapping[str, Callable[[Spec], dict[str, Any]]] = {
    "another start": lambda spec: {**spec, "start": [F(v) / 10 for v in spec["start"]]},
    "another kink": lambda spec: {**spec, "k": 40},
    "another ridge": lambda spec: {**spec, "ridge": 20},
    "another split": lambda spec: {**spec, "seed": 1},
    "a random split": lambda spec: {**spec, "split": "random", "seed": 0},
    "other sizes": lambda spec: {**spec, "sizes": [1, 1, 4]},
    "rows of any length": lambda spec: {k: v for k, v in spec.items() if k != "features"},
    "equal weights": lambda spec: {k: v for k, v in spec.items() if k != "weights"},
    "3x^2 for 3x^3": lambda spec: {**spec, "cubic": False},
    "a sample moved": first_client(sample_moved),
    "another curvature": first_client(half_curved),
    "the same curvature": every_client(same_curvature),
    "minimisers at the start": every_client(lambda client, spec: {**client, "b": [0]}),
    "the devices alike": every_client(lambda client, spec: spec["clients"][0]),
    "all devices curved": every_client(lambda client, spec: {**client, "A": spec["clients"][0]["A"]}),
    # f divided by its curvature
    "curvature 1": every_client(
        lambda client, spec: {"components": [{"A": 1, "b": F(c["b"]) / F(c["A"])} for c in client["components"]]}
    ),
    "the blocks uncoupled": uncoupled,
}


# --- statements ---------------------------------------------------------------------------------------------------


def best(claimed: Statement) -> Statement:
    return statement(claimed.id.rpartition("/")[0])


def with_parts(claimed: Statement, symbols: Sequence[Any] = (), **parts: Any) -> Statement:
    """The statement with other parts, and of its symbols and these the ones that are then in use."""
    own = {name: getattr(claimed, name) for name in ("bound", "metric", "conditions", "domain", "choices", "trivial")}
    own |= parts
    metric = own["metric"]
    exprs = [own["bound"], metric.rounds, metric.scale, metric.weights, own["trivial"], claimed.printed_rate]
    exprs += [*(c.relation for c in own["conditions"]), *own["domain"], *(expr for _, expr in own["choices"])]
    names = {s.name for expr in exprs for s in getattr(expr, "free_symbols", ())} | {str(metric.index)}
    names |= set(claimed.algorithm.parameters if claimed.algorithm else ())
    known = {s.name: s for s in (*symbols, *claimed.symbols)}
    return replace(claimed, symbols=tuple(s for name, s in known.items() if name in names), **parts)


def of_reading(*parts: str, reading: str = "") -> Callable[[Statement], Statement]:
    """The mutation that takes parts from another reading, the best one where none is named."""

    def mutate(claimed: Statement) -> Statement:
        other = statement(f"{claimed.id.rpartition('/')[0]}/{reading}") if reading else best(claimed)
        return with_parts(claimed, other.symbols, **{part: getattr(other, part) for part in parts})

    return mutate


def conditions_dropped(claimed: Statement) -> Statement:
    """Upper limits (of the step size) a million times as high."""

    def lax(condition: Condition) -> Condition:
        relation: Any = condition.relation
        if not isinstance(relation, sp.Le | sp.Lt):
            return condition
        return Condition(condition.name, relation.func(relation.lhs / sp.Integer(10**6), relation.rhs))

    return replace(claimed, conditions=tuple(map(lax, claimed.conditions)))


def rho_of_corollary_4(claimed: Statement) -> Statement:
    """The decrease 3/(25 L B^2) whatever mu is: mu = 5 L B^2 forgotten."""
    own = {s.name: s.expr for s in claimed.symbols}
    rho = 3 / (25 * own["L"] * own["B2"])
    old = next(c for c in claimed.conditions if c.vacuity)
    bound = own["gap_0"] - rho * own["grad2_0"] if "grad2_0" in own else own["gap_0"] / (rho * own["T"])
    return with_parts(claimed, bound=bound, conditions=(replace(old, relation=sp.Gt(own["mu"], 0)),))


STATEMENTS: Mapping[str, Callable[[Statement], Statement]] = {
    "the bound divided by 1.01": lambda claimed: replace(claimed, bound=claimed.bound / F(101, 100)),
    "the bound plus 1": lambda claimed: replace(claimed, bound=claimed.bound + 1),
    "the conditions dropped": conditions_dropped,
    "the assumptions dropped": lambda claimed: replace(claimed, assumptions=()),
    "about any method": lambda claimed: replace(claimed, algorithm=None, assumptions=()),
    "the corrected statement": best,
    "the corrected bound": of_reading("bound"),
    "the corrected conditions": of_reading("conditions"),
    "the corrected step and bound": of_reading("bound", "conditions", "choices"),
    "the printed rho": of_reading("bound", "conditions", reading="as_printed"),
    "the rho of Corollary 4 at any mu": rho_of_corollary_4,
}


# --- averaging matrices, (weights, numbers of a block) -> rows ------------------------------------------------------


def unequal(weights: Sequence[Fraction], size: int) -> list[list[Fraction]]:
    m = len(weights)
    return full_average([F(2 * (i + 1), m * (m + 1)) for i in range(m)], size)


def diagonal(weights: Sequence[Fraction], size: int) -> list[list[Fraction]]:
    """diag(1/m, ..., 1/m), as (11) is printed."""
    count = len(weights) * size
    return [[weights[0] if p == q else F(0) for q in range(count)] for p in range(count)]


def mixed(weights: Sequence[Fraction], size: int) -> list[list[Fraction]]:
    """The average over the block's coordinates, too."""
    count = len(weights) * size
    return [[F(1, count)] * count for _ in range(count)]


MATRICES: Mapping[str, Callable[[Sequence[Fraction], int], list[list[Fraction]]]] = {
    "the matrix of equation (11)": diagonal,
    "unequal weights in the matrix": unequal,
    "coordinates mixed": mixed,
}
NAMES = {*METHODS, *PROBLEMS, *STATEMENTS, *MATRICES}


def mutated(claim: Claim, mutation: str, monkeypatch: pytest.MonkeyPatch) -> ClaimResult:
    """The claim's result under the mutation; step sizes are those that the sound method was given."""
    if mutation in MATRICES:
        monkeypatch.setattr(averaging_matrices, "full_average", MATRICES[mutation])
    elif mutation in METHODS:
        monkeypatch.setattr(own_parts, "is_own", lambda part: False)  # a mutated part poses as a shipped one
        change = METHODS[mutation]

        def resolved(claim: Claim) -> Any:
            found = resolve(claim)
            if not isinstance(found, Resolved):
                return found
            sound, problem = found.setting.method, found.setting.problem
            method = change(sound)
            if found.claimed.metric.surrogate:  # the objective that the mutated method follows
                problem = Setting(method, build_problem(claim.problem)).following().problem
            return replace(found, setting=Posing(method, problem, sound))

        monkeypatch.setattr(claims_module, "resolve", resolved)
    elif mutation in PROBLEMS:
        claim = replace(claim, problem=PROBLEMS[mutation](claim.problem))
    else:
        claim = replace(claim, statement=STATEMENTS[mutation](statement(claim.statement)))
    return run_claim(claim)
