"""A statement, curves and checks that the tests of comparison share."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import sympy as sp

from boundcheck.certified.constant import Constant, Known
from boundcheck.core.linalg import float_down, float_up
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.theory.assumptions import strong_quasi_convexity
from boundcheck.theory.dimension import LENGTH2, ONE
from boundcheck.theory.statement import Algorithm, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import common
from boundcheck.verdict import Verdict

q, D, K, n = common.mu.expr, common.dist2_0.expr, common.K.expr, common.n.expr

# dist2 after nK rounds is at most (1 - mu)^K dist2_0
HALVING = Statement(
    source=Source("none", "1", "these tests"),
    reading="as_printed",
    title="geometric decrease",
    symbols=(common.mu.but(dimension=ONE), common.n, common.dist2_0, common.K),
    metric=Metric("dist2", LENGTH2, index="K", rounds=n * K),
    bound=(1 - q) ** K * D,
    algorithm=Algorithm("scgd"),
    conditions=(Condition("small", sp.Le(q, sp.Rational(3, 4))),),
    assumptions=(strong_quasi_convexity,),
    trivial=D,
    name="halving",
)


POWER = replace(HALVING, kind=Kind.EQUALITY, trivial=None)
# limsup K^2 dist2 <= dist2_0
ORDER2 = replace(
    HALVING, kind=Kind.LIMSUP, metric=replace(HALVING.metric, scale=K**2), bound=D, trivial=None,
    conditions=(Condition("small", sp.Le(q, sp.Rational(3, 4))),),
)  # fmt: skip
DOUBLED = replace(HALVING, metric=replace(HALVING.metric, scale=2 + 0 * q), trivial=None)


def known(value: Any, how: Known = Known.EXACT) -> Constant:
    return Constant(Fraction(value), how, "exact", "by hand")


def curve(
    values: Sequence[Any],
    arithmetic: Arithmetic = Arithmetic.BALL,
    *,
    rounds: Sequence[int] | None = None,
    mu: Any = "1/2",
    start: Any = 1,
    low: Sequence[float] | None = None,
    high: Sequence[float] | None = None,
    **more: Any,
) -> Curve:
    """dist2 at rounds 0, 2, 4, ...: n = 2 clients, mu = 1/2 and dist2_0 = 1 where nothing else is said."""
    floats = np.array([float(Fraction(v)) if isinstance(v, str) else float(v) for v in values])
    grid = np.array(range(0, 2 * len(values), 2) if rounds is None else rounds, dtype=np.int64)
    if arithmetic is Arithmetic.RATIONAL:
        low, high = ([end(Fraction(v)) for v in values] for end in (float_down, float_up))
    enclosed = arithmetic in (Arithmetic.RATIONAL, Arithmetic.BALL)
    parts: dict[str, Any] = {
        "values": {"dist2": floats},
        "low": {"dist2": floats if low is None else np.array(low)} if enclosed else {},
        "high": {"dist2": floats if high is None else np.array(high)} if enclosed else {},
        "exact": {"dist2": tuple(Fraction(v) for v in values)} if arithmetic is Arithmetic.RATIONAL else {},
        "constants": {"mu": known(mu), "n": known(2), "dist2_0": known(start)},
        "assumptions": {"strong_quasi_convexity": "decided"},
        "algorithms": ("scgd",),
        "parameters": (),
        "chosen": {"scgd": ()},
    }
    return Curve(rounds=grid, arithmetic=arithmetic, **{**parts, **more})


def sampled(rows: np.ndarray, **more: Any) -> Curve:
    """One row a seed at rounds 0, 2, 4, ..."""
    made = curve(rows.mean(axis=0), Arithmetic.SAMPLED, samples={"dist2": rows}, expectation=True)
    return replace(made, **more)


def rows(means: Sequence[float], seeds: int = 400, spread: float = 0.3) -> np.ndarray:
    """Uniform on mean*(1 +- spread); round 0 is the same for all seeds."""
    random = np.random.default_rng(0)
    table = np.array(means) * (1 + spread * random.uniform(-1, 1, size=(seeds, len(means))))
    table[:, 0] = means[0]
    return table


def about(level: float, seeds: int, **more: Any) -> Curve:
    """dist2 at K = 0, 1, where the bound is 1/2: `level`, more or less."""
    table = np.full((seeds, 2), 0.9)
    table[:, 1] = level + 0.1 * np.random.default_rng(3).uniform(-1, 1, seeds)
    return sampled(table, **more)


def drawn_start() -> Curve:
    """At round 0 a metric of the round that begins there differs between seeds: their mean is no exact value of it."""
    table = rows([1.0, 0.05])
    table[:, 0] = 1.001 + 0.3 * np.tile([1, -1], 200)  # above the bound 1, by a fifteenth of its standard error
    return sampled(table)


def check_json(verdict: Verdict) -> None:
    text = json.dumps(verdict.to_dict(), allow_nan=False)
    assert Verdict.from_dict(json.loads(text)).to_dict() == verdict.to_dict()


def benchmark(name: str) -> ModuleType:
    """A script of the folder benchmarks as a module."""
    path = Path(__file__).parents[2] / "benchmarks" / f"{name}.py"
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # what the scripts share
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
