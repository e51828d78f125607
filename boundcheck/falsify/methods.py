"""Random methods for a statement: the parameters that it names, those that a kind needs, and how clients take part.

A size with the dimension of a step is not drawn: the problem is scaled until the step is the share of the largest one
in scope that the instance asks for (`falsify.runs`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.evidence.kind_parameters import speaks_of
from boundcheck.falsify.pieces import Pieces
from boundcheck.falsify.quadratics import Form as Quadratics
from boundcheck.methods.build import known_kinds
from boundcheck.methods.parameters import NEEDED
from boundcheck.theory.dimension import CURVATURE, STEP
from boundcheck.theory.statement import Statement
from boundcheck.theory.symbols import Symbol

STEPS = ("eta", "eta_l", "eta0", "ell")  # the names of step sizes, of which a method has one
MOST = 128  # the largest whole number that is drawn
OPTIONAL = 0.5  # share of the methods in which a parameter that has a default is drawn
METHOD = "method/"
Random = np.random.Generator
Form = Quadratics | Pieces
Draw = Callable[[Random, Form], Any]


def _count(random: Random, form: Form) -> int:
    return int(np.exp(random.uniform(0, np.log(MOST)) * random.choice([0.3, 1, 1])))


def _few(random: Random, form: Form) -> int:
    return int((len(form.sizes) + 1) ** random.random())


def _size(random: Random, form: Form) -> str:
    return str(random.choice(["1", "1", "2", "4", "1/2", "1/10", "10", "100", "1000"]))


def _share(random: Random, form: Form) -> str:
    return str(random.choice(["1/10", "1/4", "1/2", "3/4", "9/10", "99/100"]))


def _prox(random: Random, form: Form) -> Any:
    """A proximal weight, in units of the largest curvature where the method takes no steps of its own."""
    one = [str(Fraction(float(form.scale)).limit_denominator(100) * Fraction(2) ** int(k)) for k in
           random.integers(-3, 11, size=len(form.sizes))]  # fmt: skip
    return one[0] if random.random() < 0.6 else one


def _participation(random: Random, form: Form) -> Any:
    n = len(form.sizes)
    kind = str(random.choice(["full", "uniform", "independent", "pattern"]))
    if kind == "uniform":
        return {"kind": "uniform", "size": _few(random, form)}
    if kind == "independent":
        return {"kind": "independent", "probabilities": [_share(random, form) for _ in range(n)]}
    return {"kind": "pattern", "cohorts": _pattern(random, form)} if kind == "pattern" else "full"


def _pattern(random: Random, form: Form) -> list[list[int]]:
    """Cohorts of one to three rounds, every client in one of them."""
    n = len(form.sizes)
    cohorts: list[list[int]] = [[] for _ in range(int(random.integers(1, min(n, 3) + 1)))]
    for k, i in enumerate(random.permutation(n)):
        cohorts[k if k < len(cohorts) else int(random.integers(len(cohorts)))].append(int(i))
    return [sorted(c) for c in cohorts]


def _times(random: Random, form: Form) -> list[str]:
    return [str(random.choice(["1/2", "1", "2", "3", "5", "7"])) for _ in form.sizes]


def _blocks(random: Random, form: Form) -> int:
    return int(random.integers(1, form.dim + 1))


def _partition(random: Random, form: Form, tau: int) -> list[list[int]]:
    """The coordinates in tau blocks, at random."""
    cuts = sorted(int(v) for v in random.choice(np.arange(1, form.dim), size=tau - 1, replace=False))
    places = [int(v) for v in random.permutation(form.dim)]
    return [sorted(places[i:j]) for i, j in zip([0, *cuts], [*cuts, form.dim], strict=True)]


def _one_of(*words: Any) -> Draw:
    return lambda random, form: words[int(random.integers(len(words)))]


# The values of a parameter by its name. A parameter that is not here keeps its default, or has the domain that the
# statement gives its symbol.
DRAWS: Mapping[str, Draw] = {
    "E": _count, "K": _count, "steps": _count, "inner": _count,
    "tau": _blocks, "m": _few, "size": _few, "eta_g": _size, "a": _share, "mu": _prox, "momentum_g": _share,
    "momentum_l": _share, "participation": _participation, "gradient_participation": _participation,
    "cohorts": _pattern, "times": _times, "dt": _one_of("1/2", "1", "2", "3"),
    "batch": lambda random, form: int(random.integers(1, max(form.sizes) + 1)),
    "ties": _one_of("one_by_one", "joint"), "same": _one_of(False, True),
    "missed": lambda random, form: [int(v) for v in random.integers(0, 2, size=len(form.sizes))],
    "order": lambda random, form: [int(v) for v in random.permutation(len(form.sizes))],
    "gradient": _one_of("sample", "full"), "sampling": _one_of("full", "replacement", "reshuffled"),
}  # fmt: skip
# What is drawn now and then although it has a default, and by kind what words mean.
VARIED = ("participation", "gradient_participation", "eta_g", "batch", "ties", "weights", "partition", "order", "same")
WEIGHTS: Mapping[str, tuple[Any, ...]] = {
    "asynchronous": ("time_based", "identical", "average", "1/4", "4"), "averages": ("uniform", "data"),
}  # fmt: skip


def kinds_for(statement: Statement) -> Sequence[str]:
    """The kinds of methods that a statement may be about: its own, and those whose instances may be of its kind."""
    return tuple(known_kinds())


def draw(statement: Statement, kind: str, random: Random, form: Form) -> dict[str, Any]:
    """A specification of a method of this kind, of any step size where it has one; it may be refused."""
    declared = {p.name: p for p in known_kinds()[kind].declared}
    named = () if statement.algorithm is None else (*statement.algorithm.parameters, *statement.algorithm.any_value)
    own = {
        s.name if s.name in named and s.name in declared else s.reported: s
        for s in statement.symbols
        if s.key.startswith(METHOD)
    }
    spec: dict[str, Any] = {"kind": kind}
    step = next(
        (name for name in STEPS if name in declared and (name in own or declared[name].default is NEEDED)), None
    )
    if step is None and not any(name in own for name in STEPS):
        step = next((name for name in ("eta", "eta_l") if name in declared), None)
    for name, parameter in declared.items():
        if name in STEPS:
            continue
        needed, symbol = parameter.default is NEEDED, own.get(name)
        free = name in VARIED and (statement.algorithm is None or speaks_of(statement, name))
        if not (needed or symbol is not None or (free and random.random() < OPTIONAL)):
            continue
        value = _value(name, kind, symbol, random, form, spec)
        if value is not None:
            spec[name] = value
    if step is not None and not _without_steps(spec, kind):
        spec[step] = str(Fraction(4) ** int(random.choice([0, 0, 0, -10, -7, -4, -2, -1, 1, 2, 4, 7])))
    return spec


def _without_steps(spec: Mapping[str, Any], kind: str) -> bool:
    """Whether local solves are exact, so that there is no step size."""
    return kind in ("feddane", "fedprox", "dane") and "steps" not in spec and "E" not in spec


def _value(name: str, kind: str, symbol: Symbol | None, random: Random, form: Form, spec: Mapping[str, Any]) -> Any:
    if name == "K" and kind in ("feddane", "fedprox"):
        return int(random.integers(1, 4)) if "participation" not in spec and random.random() < 0.6 else None
    if name == "weights":
        return _one_of(*WEIGHTS["averages" if "averag" in kind or "sgd" in kind else "asynchronous"])(random, form)
    if name == "partition":
        return _partition(random, form, int(spec["tau"])) if form.dim > 1 and isinstance(spec.get("tau"), int) else None
    if name == "order" and "tau" in spec:
        return [int(v) for v in random.permutation(int(spec["tau"]))]
    if name in DRAWS:
        return DRAWS[name](random, form)
    if symbol is None:
        return _size(random, form)
    if symbol.dimension in (STEP, CURVATURE):
        return _size(random, form)
    return number_of(symbol, random)


def number_of(symbol: Symbol, random: Random) -> str:
    """A number in the domain of a symbol."""
    low, high = symbol.low, symbol.high
    if symbol.integer:
        first = 1 if low is None else int(low)
        found = first - 1 + int(np.exp(random.uniform(0, np.log(MOST))))
        return str(found if high is None else min(found, int(high)))
    if low is not None and high is not None:
        return str(
            low + (high - low) * Fraction(str(random.choice(["1/100", "1/10", "1/4", "1/2", "3/4", "9/10", "99/100"])))
        )
    size = Fraction(str(random.choice(["1/100", "1/10", "1/2", "1", "2", "10", "100"])))
    return str(size if low is None else low + size)


def without_client(spec: Mapping[str, Any], k: int, n: int) -> dict[str, Any]:
    """The specification for the clients without client k of n."""
    found = dict(spec)
    for name, value in spec.items():
        if name == "cohorts":
            kept = [[i - (i > k) for i in cohort if i != k] for cohort in value]
            found[name] = [cohort for cohort in kept if cohort]
        elif name == "order" and "tau" not in spec:
            found[name] = [i - (i > k) for i in value if i != k]
        elif name in ("times", "mu", "missed") and isinstance(value, list):
            found[name] = value[:k] + value[k + 1 :]
        elif isinstance(value, Mapping) and value.get("kind") == "independent":
            chances = value["probabilities"]
            found[name] = {**value, "probabilities": chances[:k] + chances[k + 1 :]}
        elif isinstance(value, Mapping) and value.get("kind") == "pattern":
            found[name] = {**value, **without_client({"cohorts": value["cohorts"]}, k, n)}
    return found


def simpler(spec: Mapping[str, Any], kept: Sequence[str]) -> list[dict[str, Any]]:
    """Specifications with a parameter of its default, or a smaller number. kept: what must stay, such as the step."""
    found: list[dict[str, Any]] = []
    declared = {p.name: p for p in known_kinds()[spec["kind"]].declared}
    for name, value in spec.items():
        if name == "kind" or name in kept:
            continue
        if name in declared and declared[name].default is not NEEDED:
            found.append({key: v for key, v in spec.items() if key != name})
        if isinstance(value, int) and not isinstance(value, bool) and value > 1:
            found += [{**spec, name: k} for k in dict.fromkeys((1, 2, value // 2, value - 1)) if 0 < k < value]
        elif isinstance(value, str) and value not in ("1", "0"):
            found += [{**spec, name: "1"}]
        elif isinstance(value, Mapping) and int(value.get("size", 1)) > 1:
            found.append({**spec, name: {**value, "size": 1}})
        elif name in ("mu", "times") and isinstance(value, list):
            found += [{**spec, name: value[0]}] if name == "mu" else [{**spec, name: ["1"] * len(value)}]
    return [other for other in found if other != spec]
