"""A bound that is typed on the command line, as a statement: its letters are constants of the catalogue.

Text is parsed by the grammar of `core.expressions`, never evaluated. A letter is filled in only by a key: one that is
given, or the only constant of the catalogue with this name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.core.expressions import Expression, parse_expression
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods.build import known_kinds
from boundcheck.theory import assumptions
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import CURVATURE, GRADIENT2, LENGTH2, ONE, STEP, VALUE, Dimension
from boundcheck.theory.keys import CATALOGUE
from boundcheck.theory.statement import Algorithm, Condition, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, shared
from boundcheck.theory.theorem import Reading, Theorem

METRICS: Mapping[str, Dimension] = {"gap": VALUE, "dist2": LENGTH2, "grad2": GRADIENT2}
DIMENSIONS = {
    "CURVATURE": CURVATURE, "GRADIENT2": GRADIENT2, "LENGTH2": LENGTH2, "ONE": ONE, "STEP": STEP, "VALUE": VALUE,
}  # fmt: skip
AVERAGES = ("mean", "least")
RELATIONS = {"<=": sp.Le, ">=": sp.Ge, "<": sp.Lt, ">": sp.Gt}
INDICES = ("k", "K", "R", "T", "N", "t")
ROUNDS = "rounds"  # in the place of a key: the symbol that counts the rounds
STEPS = ("eta", "eta_l", "eta_g")
# What a constant of every function, or of F, says of them.
MEANS = {
    "objective/mu": "strong_quasi_convexity", "clients/L": "smooth_clients", "samples/L": "smooth_samples",
    "samples/mu": "strongly_convex_samples", "clients/sigma2": "finite_gradient_noise", "clients/delta":
    "hessian_similarity", "clients/gradient_bound": "bounded_gradients",
}  # fmt: skip
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_FUNCTIONS = {"sqrt": sp.sqrt, "min": sp.Min, "max": sp.Max, "floor": sp.floor}


@dataclass(frozen=True)
class Typed:
    """A typed bound. keys: letter -> key, with the constant's definition. index: the letter that counts rounds."""

    statement: Statement
    keys: Mapping[str, tuple[str, str]]
    index: str


def typed(
    text: str,
    method: str,
    conditions: Sequence[str] = (),
    assume: Sequence[str] = (),
    keys: Mapping[str, str] | None = None,
) -> Typed:
    """The statement "METRIC <= BOUND" of a kind of method. Raises BadInput and UnknownName, in one sentence."""
    left, relation, right = text.partition("<=")
    if not relation or not right.strip():
        raise BadInput(f'the bound "{text}" is not of the form "gap <= L*dist2_0/(2*k)".')
    *average, quantity = left.split()
    if quantity not in METRICS or (average and (len(average) > 1 or average[0] not in AVERAGES)):
        raise BadInput(
            f'the left side "{left.strip()}" is no metric; it is one of {", ".join(METRICS)}, alone or after '
            f"{' or '.join(AVERAGES)} (over the rounds so far)."
        )
    kinds = known_kinds()
    if method not in kinds:
        raise UnknownName("the kind of method", method, kinds)
    parameters = {p.name: p for p in kinds[method].declared}
    words = dict.fromkeys(w for t in (right, *conditions) for w in _WORD.findall(t) if w not in _FUNCTIONS)
    symbols, index = _symbols(list(words), set(parameters), dict(keys or {}))
    names = [s.name for s in symbols]
    bound = _expression(right, "the bound", names)
    scope = tuple(Condition(f"condition {k + 1}", _relation(c, names)) for k, c in enumerate(conditions))
    taken = _assumptions(symbols, assume)
    used = tuple(s.name for s in symbols if s.key.startswith("method/"))
    theorem = Theorem(
        source=Source("typed", text.strip(), "the command line"),
        title=text.strip(),
        symbols=symbols,
        metric=Metric(
            quantity, METRICS[quantity], index=index, rounds=sp.Symbol(index, real=True),
            average=average[0] if average else "last",
        ),
        algorithm=Algorithm(method, used),
        assumptions=taken,
        conditions=scope,
        readings={"as_printed": Reading(bound)},
    )  # fmt: skip
    (found,) = theorem.statements()
    told = {s.name: (s.key, CATALOGUE[s.key].definition if s.key in CATALOGUE else s.meaning) for s in symbols if s.key}
    return Typed(found, told, index)


def theorem_file(found: Typed) -> str:
    """The theorem as a file for `--load`."""
    statement = found.statement
    rows = [_declared(s) for s in statement.symbols]
    names = ", ".join(s.name for s in statement.symbols)
    own = ", ".join(f'"{s.name}"' for s in statement.symbols if s.key.startswith("method/"))
    metric, assumed = statement.metric, ", ".join(a.name for a in statement.assumptions)
    scope = "".join(f'\n        Condition("{c.name}", {_written(c.relation)}),' for c in statement.conditions)
    assert statement.algorithm is not None
    return f'''"""{statement.title}"""

import sympy as sp

from boundcheck.theory.assumptions import {assumed or "Assumption"}
from boundcheck.theory.dimension import CURVATURE, GRADIENT2, LENGTH2, ONE, STEP, VALUE, Dimension
from boundcheck.theory.statement import Algorithm, Condition, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

SYMBOLS = (
    {(chr(10) + "    ").join(rows)}
)
{names}{"," if len(rows) == 1 else ""} = (symbol.expr for symbol in SYMBOLS)

theorem = Theorem(
    source=Source("my paper", "Theorem 1", "page 1"),
    title={statement.title!r},
    symbols=SYMBOLS,
    metric=Metric("{metric.quantity}", {_dimension(metric.dimension)}, index="{found.index}", rounds={found.index},
                  average="{metric.average}"),
    algorithm=Algorithm("{statement.algorithm.kind}", ({own}{"," if own else ""})),
    assumptions=({assumed}{"," if assumed else ""}),
    conditions=({scope}
    ),
    readings={{"as_printed": Reading({_written(statement.bound)})}},
)
'''


def _declared(symbol: Symbol) -> str:
    more = "".join(f", {name}=True" for name in ("integer", "low_open", "index") if getattr(symbol, name))
    low = "" if symbol.low is None else f", low={int(symbol.low)}"
    return (
        f"Symbol({symbol.name!r}, {symbol.meaning!r}, {_dimension(symbol.dimension)}{low}{more}, key={symbol.key!r}),"
    )


def _dimension(dimension: Dimension | None) -> str:
    named = {
        "CURVATURE": CURVATURE,
        "GRADIENT2": GRADIENT2,
        "LENGTH2": LENGTH2,
        "ONE": ONE,
        "STEP": STEP,
        "VALUE": VALUE,
    }
    found = next((name for name, own in named.items() if own == dimension), None)
    assert dimension is not None
    return found or f"Dimension({str(dimension.f)!r}, {str(dimension.x)!r})"


def _written(expression: Any) -> str:
    """An expression as Python, fractions by `sp.Rational`."""
    from sympy.printing.str import StrPrinter

    class Printer(StrPrinter):
        def _print_Rational(self, expr: Any) -> str:
            return f"sp.Rational({expr.p}, {expr.q})"

        def _print_Pow(self, expr: Any, rational: bool = False) -> str:
            if expr.exp == sp.Rational(1, 2):
                return f"sp.sqrt({self._print(expr.base)})"
            return f"({self._print(expr.base)})**({self._print(expr.exp)})"

        def _print_Min(self, expr: Any) -> str:
            return f"sp.Min({', '.join(map(self._print, expr.args))})"

        def _print_Max(self, expr: Any) -> str:
            return f"sp.Max({', '.join(map(self._print, expr.args))})"

    return Printer().doprint(expression)


def _symbols(words: Sequence[str], parameters: set[str], keys: dict[str, str]) -> tuple[list[Symbol], str]:
    found: list[Symbol] = []
    left: list[str] = []
    for name in keys:
        if name not in words:
            raise UnknownName("--key: the symbol", name, words)
    for word in words:
        key = keys.get(word)
        if key == ROUNDS:
            left.append(word)
            continue
        if key is None and word in parameters:
            key = f"method/{word}"
        fitting = [k.key for k in CATALOGUE.values() if not k.key.startswith("method/") and word in
                   (k.key.partition("/")[2], k.name)]  # fmt: skip
        if key is None and len(fitting) > 1:
            raise BadInput(
                f"the symbol {word} may be any of {', '.join(fitting)}; say which, such as --key {word}={fitting[0]}."
            )
        key = key or (fitting[0] if fitting else None)
        if key is None:
            left.append(word)
        elif key not in CATALOGUE and not key.startswith("method/"):
            raise UnknownName(f"--key {word}: the constant", key, CATALOGUE)
        else:
            found.append(_symbol(word, key))
    if not left:  # no symbol counts the rounds: a usual name of their number that only the catalogue has as well does
        left = [word for word in words if word in INDICES and word not in keys and word not in parameters]
        found = [symbol for symbol in found if symbol.name not in left]
    if not left and (either := [word for word in words if word in INDICES and word in parameters]):
        raise BadInput(
            f"{either[0]} may be the method's parameter or the number of rounds, which no other symbol is; if it is "
            f"the number of rounds, write --key {either[0]}={ROUNDS}."
        )
    if len(left) != 1:
        which = f"{', '.join(left)} are left" if left else "no symbol is left"
        raise BadInput(
            f"one symbol must count the rounds, such as {', '.join(INDICES[:4])}; {which} that the catalogue and the "
            "method do not know."
        )
    (index,) = left
    known = shared(index)
    own = Symbol(index, "rounds", ONE, integer=True, low=Fraction(1), index=True)
    return [*found, own if known is None else known.but(key="", meaning="rounds", low=Fraction(1), index=True)], index


def _symbol(name: str, key: str) -> Symbol:
    known = shared(name)
    if key.startswith("method/"):
        if known is not None and known.key == key:
            return known
        step = name in STEPS or name.startswith("eta")
        if step:
            return Symbol(name, "step size", STEP, low=Fraction(0), low_open=True, key=key)
        return Symbol(name, f"{name} of the method", ONE, low=Fraction(0), key=key)
    own = CATALOGUE[key]
    positive = own.dimension == CURVATURE
    return Symbol(
        name, own.definition, own.dimension, integer=key == "clients/n", low=Fraction(0), low_open=positive, key=key,
        latex="" if known is None else known.latex,
    )  # fmt: skip


def _assumptions(symbols: Sequence[Symbol], assume: Sequence[str]) -> tuple[Assumption, ...]:
    known = {v.name: v for v in vars(assumptions).values() if isinstance(v, Assumption)}
    names = [MEANS[s.key] for s in symbols if s.key in MEANS]
    for name in assume:
        if name not in known:
            raise UnknownName("--assume: the assumption", name, known)
    return tuple(known[name] for name in dict.fromkeys([*names, *assume]))


def _expression(text: str, what: str, names: Sequence[str]) -> Any:
    return _sympy(parse_expression(text.strip(), what, names))


def _relation(text: str, names: Sequence[str]) -> Any:
    for sign, relation in RELATIONS.items():
        left, found, right = text.partition(sign)
        if found:
            return relation(_expression(left, "the condition", names), _expression(right, "the condition", names))
    raise BadInput(f'the condition "{text}" has none of {", ".join(RELATIONS)}, such as "eta <= 1/L".')


def _sympy(expression: Expression) -> Any:
    def made(node: Any) -> Any:
        kind, *own = node
        if kind == "number":
            return sp.Rational(own[0].numerator, own[0].denominator)
        if kind == "name":
            return sp.Symbol(own[0], real=True)
        parts = [made(v) for v in own]
        if kind in _FUNCTIONS:
            return _FUNCTIONS[kind](*parts)
        a, b = parts
        return {"+": a + b, "-": a - b, "*": a * b}.get(kind) if kind in "+-*" else a / b if kind == "/" else a**b

    return made(expression.tree)
