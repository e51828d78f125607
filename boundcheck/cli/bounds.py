"""Commands about the numbers of a bound: evaluate, scope."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from boundcheck.cli.options import Id, Json, Sets, option, pair
from boundcheck.cli.output import json_float, json_number, line, note_reading, print_json, say, short, table
from boundcheck.core.numbers import format_exact, parse_grid, parse_number
from boundcheck.core.targets import probe_picture
from boundcheck.errors import BadInput, Mistakes, UnknownName

if TYPE_CHECKING:
    from boundcheck.theory.relations import AnyStatement
    from boundcheck.theory.scope import Scope
    from boundcheck.theory.statement import Statement

IN_SCOPE = {True: "in scope", False: "out of scope", None: "scope undecided"}
MAX_SWEPT = 1_000_000  # points of all sweeps together
MAX_TABLE = 2000  # rows printed as a table; CSV and JSON have no such limit


def evaluate(
    id: Id,
    sets: Sets = None,
    sweep: Annotated[
        list[str] | None, option("--sweep", metavar="NAME=LOW:HIGH:COUNT[:log]", help="Vary a symbol.")
    ] = None,
    csv: Annotated[bool, option("--csv", help="Print comma-separated values.")] = False,
    plot: Annotated[str | None, option("--plot", metavar="FILE", help="Draw the sweep (.svg, .png or .pdf).")] = None,
    as_json: Json = False,
) -> int:
    """The bound and the scope at given constants.

    The value is exact where it is rational; sweeps give a table.

    \b
    Example: boundcheck evaluate scgd/theorem_3_3 --set mu=1/10 --set L=1
             --set n=20 --set E=4 --set sigma2=1 --set dist2_0=4 --set K=1000
             --sweep eta=1e-6:1e-4:50:log
    """
    from boundcheck.theory.evaluation import check_index, needed_symbols, trivial_lacks
    from boundcheck.theory.index import numbers_of

    found = numbers_of(id)
    lacks = () if sweep else trivial_lacks(found, [text.partition("=")[0].strip() for text in sets or ()])
    needed = [name for name in needed_symbols(found) if name not in lacks]
    fixed, grids = parse_values(found, sets or [], sweep or [], needed, "the bound")
    for k in grids.get(str(found.metric.index), ()):
        check_index(found, {**fixed, str(found.metric.index): k})
    if not grids:
        if csv or plot is not None:
            raise BadInput(f"{'--csv' if csv else '--plot'} needs a --sweep; one value makes no table.")
        return _evaluate_point(id, found, fixed, as_json)
    return _evaluate_sweep(found.expressions(), fixed, grids, asked=id, csv=csv, plot=plot, as_json=as_json)


def _evaluate_point(id: str, found: AnyStatement, fixed: dict[str, Fraction], as_json: bool) -> int:
    from boundcheck.theory.evaluation import trivial_lacks
    from boundcheck.theory.nearest import guarantees_nothing, nearest_guarantee
    from boundcheck.theory.scope import scope_symbols

    result = found.evaluate(**fixed)
    if result.exact is None and math.isnan(result.value) and result.in_scope is not False:
        at = ", ".join(f"{name} = {short(value)}" for name, value in fixed.items())
        raise BadInput(f"{found.best_id}: there is no bound at {at}. {result.note}")
    used, lacks = scope_symbols(found), trivial_lacks(found, fixed)
    empty = guarantees_nothing(found, found.scope(**{k: v for k, v in fixed.items() if k in used}))
    near = nearest_guarantee(found, fixed) if (empty and not lacks) or (result.vacuous and result.in_scope) else ()
    if as_json:
        nearest = {n.name: {"value": json_number(n.value), "move": n.direction} for n in near}
        values = {k: json_number(v) for k, v in fixed.items()}
        print_json({**result.to_dict(), "guarantees_nothing": empty, "nearest": nearest, "values": values})
        return 0
    note_reading(id, found.id)
    line(f"bound: {result.value!r}{_exact_text(result.exact, result.value)}")
    line(f"scope: {IN_SCOPE[result.in_scope]}")
    if result.in_scope is not True:
        line(f"  see `boundcheck scope {found.id}` with the same values")
    if lacks:
        line(f"vacuous: unknown, needs {', '.join(lacks)}")
    elif result.trivial_declared:
        line(f"vacuous: {'yes, the bound is not below its trivial value' if result.vacuous else 'no'}")
    if empty:
        line("the statement guarantees nothing here")
    if near:
        say(f"it would guarantee something with {' or '.join(n.words() for n in near)}")
    if result.note:
        say(result.note)
    return 0


def _exact_text(exact: Any, value: float) -> str:
    """What is known beyond the float: the fraction where it is short, else that it is exact or enclosed."""
    if not isinstance(exact, Fraction):
        return "" if exact is None else f", enclosed to {exact.bits} bits"
    text = format_exact(exact)
    if text == f"{value:.17g}":
        return ", exactly"
    return f" = {text} exactly" if len(text) <= 60 else f", a fraction of {len(text)} characters (--json gives it)"


def scope(id: Id, sets: Sets = None, as_json: Json = False) -> int:
    """Which conditions hold, by how much.

    Also gives the largest step size in scope, for which that step size need not be set. Exit code 0 in scope, 3 outside
    or undecided.

    \b
    Example: boundcheck scope scgd/theorem_3_3/as_printed_main --set mu=1/100
             --set L=1/10 --set n=2 --set E=64 --set eta=10/256
    """
    from boundcheck.theory.index import numbers_of
    from boundcheck.theory.scope import scope_symbols
    from boundcheck.theory.stored import step_sizes

    found = numbers_of(id)
    given, needed = {text.partition("=")[0].strip() for text in sets or ()}, scope_symbols(found)
    lacking = [name for name in needed if name not in given]
    alone = len(lacking) == 1 and lacking[0] in step_sizes(found)
    values, _ = parse_values(found, sets or [], [], needed, "the scope")
    decided = None if alone else found.scope(**values)
    largest, chosen = _largest_steps(found, values), _prescribed(found, values)
    if as_json:
        steps = {name: {"note": top} if isinstance(top, str) else json_number(top) for name, top in largest.items()}
        about = {"statement": found.id, "in_scope": None, "needs": lacking} if decided is None else decided.to_dict()
        print_json({**about, "largest": steps, "prescribed": chosen})
    else:
        note_reading(id, found.id)
        if decided is None:
            _show_steps(largest, chosen)
            say(f"{found.id}: scope undecided, needs {lacking[0]}")
        else:
            _scope_text(decided, largest, chosen)
    return 0 if decided is not None and decided.in_scope is True else 3


def _largest_steps(found: AnyStatement, values: dict[str, Fraction]) -> dict[str, Fraction | str]:
    """The largest value in scope of each step size that a condition limits, or the sentence why there is none."""
    from boundcheck.theory.stored import step_sizes

    largest: dict[str, Fraction | str] = {}
    for name in step_sizes(found):
        try:
            largest[name] = found.largest(name, **{k: v for k, v in values.items() if k != name})
        except BadInput as error:
            largest[name] = str(error)
    return largest


def _prescribed(found: AnyStatement, values: dict[str, Fraction]) -> dict[str, Fraction]:
    """What the statement prescribes, rounded down, as far as the values of its formulas are given."""
    from boundcheck.theory.choices import missing_for, prescribed

    known = [name for name, expr in found.choices if not missing_for(expr, values)]
    return {name: prescribed(found, name, values) for name in known}


def _scope_text(decided: Scope, largest: dict[str, Fraction | str], chosen: dict[str, Fraction]) -> None:
    words = {True: "yes", False: "no", None: "undecided"}
    rows: list[list[str]] = []
    for c in decided.conditions:
        middle = short(c.exact) if c.exact is not None else short(json_float((c.slack[0] + c.slack[1]) / 2))
        rows.append([c.name, c.relation, words[c.holds], middle, short(json_float(c.relative))])
    if rows:
        table(["condition", "relation", "holds", "slack", "relative"], rows, coloured=[2])
    for c in decided.conditions:
        if c.note:
            say(f"{c.name}: {c.note}")
    _show_steps(largest, chosen)
    if decided.assumptions:
        say(f"not decidable from numbers, taken for granted: {', '.join(decided.assumptions)}")
    line(f"{decided.statement_id}: {IN_SCOPE[decided.in_scope]}")


def _show_steps(largest: dict[str, Fraction | str], chosen: dict[str, Fraction]) -> None:
    for name, top in largest.items():
        say(top if isinstance(top, str) else f"largest {name} in scope: {short(top)}")
    for name, value in chosen.items():
        line(f"prescribed {name}: {short(value)}")


def parse_values(
    statement: AnyStatement, sets: Sequence[str], sweeps: Sequence[str], needed: Sequence[str], purpose: str
) -> tuple[dict[str, Fraction], dict[str, list[Fraction]]]:
    """The values of all --set options and the points of all --sweep options, each within its symbol's domain.

    needed: symbols without which there is no `purpose`. Raises UnknownName for a symbol that the statement does not
    have, BadInput for anything but a number, and otherwise for a missing symbol, for all mistakes at once.
    """
    from boundcheck.theory.scope import require

    mistakes = Mistakes()
    fixed = _parse_sets(statement, sets, mistakes)
    grids = _parse_sweeps(statement, sweeps, fixed, mistakes)
    if mistakes.errors and not any(isinstance(e, UnknownName) for e in mistakes.errors):  # which leave one missing
        given = {text.partition("=")[0].strip() for text in (*sets, *sweeps)}
        with mistakes.noting():
            require(statement, [name for name in needed if name in given], needed, purpose)
    mistakes.raise_all()
    return fixed, grids


def _parse_sets(statement: AnyStatement, sets: Sequence[str], mistakes: Mistakes) -> dict[str, Fraction]:
    """The values of those --set options that are right."""
    values: dict[str, Fraction] = {}
    for text in sets:
        with mistakes.noting():
            name, value = pair(text, "--set", "NAME=VALUE, such as mu=1/10")
            symbol = statement.symbol(name)
            if name in values:
                raise BadInput(f"--set gives {name} twice; give each symbol once.")
            values[name] = symbol.check(parse_number(value, name), statement.best_id)
    return values


def _parse_sweeps(
    statement: AnyStatement, sweeps: Sequence[str], fixed: Mapping[str, Fraction], mistakes: Mistakes
) -> dict[str, list[Fraction]]:
    """The points of those --sweep options that are right: NAME=LOW:HIGH:COUNT[:log|lin] or NAME=V1,V2,..."""
    grids: dict[str, list[Fraction]] = {}
    for text in sweeps:
        with mistakes.noting():
            name, value = pair(text, "--sweep", "NAME=LOW:HIGH:COUNT[:log], such as eta=1e-6:1e-3:50:log")
            symbol = statement.symbol(name)
            if name in grids or name in fixed:
                raise BadInput(f"{name} is given twice; either set it or sweep it, once.")
            grids[name] = [symbol.check(p, statement.best_id) for p in _swept(text, name, value, symbol.integer)]
    total = 1
    for points in grids.values():
        total *= len(points)
    with mistakes.noting():
        if total > MAX_SWEPT:
            raise BadInput(f"the sweeps together have {total} points; at most {MAX_SWEPT} are allowed.")
    return grids


def _swept(text: str, name: str, value: str, integer: bool) -> list[Fraction]:
    """The points of one --sweep option."""
    if ":" not in value:
        return [parse_number(v, name) for v in value.split(",")]
    pieces = value.split(":")
    spacing = pieces[3].strip() if len(pieces) == 4 else "lin"
    if len(pieces) not in (3, 4) or spacing not in ("log", "lin"):
        raise BadInput(f"--sweep '{text}' is not of the form NAME=LOW:HIGH:COUNT or NAME=LOW:HIGH:COUNT:log.")
    return parse_grid(":".join([spacing, *pieces[:3]]), name, integer=integer)


def _evaluate_sweep(
    statement: Statement,
    fixed: dict[str, Fraction],
    grids: dict[str, list[Fraction]],
    *,
    asked: str,
    csv: bool,
    plot: str | None,
    as_json: bool,
) -> int:
    """Evaluates the bound on the product of the grids (the last varies fastest) and prints or draws it.

    asked: the id as the user wrote it.
    """
    target = None if plot is None else probe_picture(plot)
    if target is not None and len(grids) != 1:
        raise BadInput(f"--plot draws one sweep; {len(grids)} are given ({', '.join(grids)}).")
    names = list(grids)
    points = list(itertools.product(*grids.values()))
    columns: dict[str, Any] = {name: [p[i] for p in points] for i, name in enumerate(names)}
    found = statement.evaluate(**fixed, **columns)
    values, scope = [float(v) for v in found.value], [bool(v) for v in found.in_scope]
    rows = list(zip(points, values, scope, map(bool, found.vacuous), strict=True))
    if not (csv or as_json):
        note_reading(asked, statement.id)
    if target is not None:
        from boundcheck.report.figures import draw_sweep

        draw_sweep(statement, names[0], grids[names[0]], values, scope, target)
    if csv:
        line(",".join([*names, "bound", "in_scope", "vacuous"]))
        for point, value, inside, empty in rows:
            cells = [_decimal(p) for p in point] + [repr(value), str(inside).lower(), str(empty).lower()]
            line(",".join(cells))
    elif as_json:
        shown = [
            {"at": {n: format_exact(p) for n, p in zip(names, point, strict=True)}, "value": json_float(value)}
            | {"in_scope": inside, "vacuous": empty}
            for point, value, inside, empty in rows
        ]
        constants = {k: format_exact(v) for k, v in fixed.items()}
        print_json({"statement": statement.id, "values": constants, "points": shown, "note": found.note})
    elif target is None or len(points) <= MAX_TABLE:
        cells = [
            [*map(short, point), short(value), "yes" if inside else "no", "yes" if empty else "no"]
            for point, value, inside, empty in rows[:MAX_TABLE]
        ]
        table([*names, "bound", "in scope", "vacuous"], cells)
        if len(rows) > MAX_TABLE:
            line(f"... and {len(rows) - MAX_TABLE} more; --csv or --json gives them all.")
    if target is not None and not (csv or as_json):
        line(f"drawn: {target}")
    return 0


def _decimal(value: Fraction) -> str:
    return repr(value.numerator / value.denominator) if value.denominator != 1 else format_exact(value)
