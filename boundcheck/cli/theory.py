"""Commands about statements: list, show, evaluate, scope."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundcheck.cli._evidence import print_contradictions
from boundcheck.cli._output import json_float, json_number, line, note_reading, print_json, short, table
from boundcheck.cli._rows import matching_ids
from boundcheck.cli._values import parse_values
from boundcheck.core.numbers import format_exact
from boundcheck.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boundcheck.theory.relations import AnyStatement
    from boundcheck.theory.scope import Scope
    from boundcheck.theory.statement import Statement


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Id = Annotated[
    str, typer.Argument(help="<paper>/<statement>[/<reading>].", show_default=False, autocompletion=matching_ids)
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A symbol's value: 3, 1e-3, 1/3. Repeatable.", show_default=False),
]

IN_SCOPE = {True: "in scope", False: "out of scope", None: "scope undecided"}


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("list")(list_statements)
    app.command()(show)
    app.command()(evaluate)
    app.command()(scope)
    app.command()(cite)


def _find(id: str) -> Statement:
    from boundcheck.theory.discovery import statement

    return statement(id)


def list_statements(
    paper: Annotated[str, typer.Option("--paper", help="Only this paper.", show_default=False)] = "",
    reading: Annotated[str, typer.Option("--reading", help="Only this reading.", show_default=False)] = "",
    false: Annotated[bool, typer.Option("--false", help="Only readings that are believed false.")] = False,
    no_evidence: Annotated[
        bool, typer.Option("--no-evidence", help="Only readings believed true or false without any evidence.")
    ] = False,
    slips: Annotated[
        bool, typer.Option("--slips", help="Only printed readings that are false or whose printed proof is refuted.")
    ] = False,
    methods: Annotated[
        bool, typer.Option("--methods", help="The methods, with paper and parameters, instead.")
    ] = False,
    problems: Annotated[
        bool, typer.Option("--problems", help="The kinds of problems, with parameters, instead.")
    ] = False,
    metrics: Annotated[bool, typer.Option("--metrics", help="The metrics, with meaning and needs, instead.")] = False,
    as_json: Json = False,
) -> int:
    """The statements, with what is known of each.

    \b
    dimensions: whether all sides scale alike ("INCONSISTENT" is found from the declarations alone)
    evidence: how the machine-checked derivation came out (`boundcheck derive` finds it again; PROVED where the
    verifier accepts the proof), whether a witness against the statement is shipped (`boundcheck replay` runs it
    again), and what the shipped claims about it expect (`boundcheck check` runs them again)

    A statement that is violated although its derivation is PROVED is stated first; exit code 1.

    With --no-evidence: the readings that nothing bears out, one a line; exit code 1 if there is one. A false
    reading needs a witness, a violated claim, a refuted derivation or a dimension clash; a true one a claim
    that holds or a derivation whose steps are all proved. Open readings need none.

    With --slips: where each such reading stands in its paper, the steps of its proof that are refuted, what
    else shows that it is false, and what the correction replaces.

    \b
    Example: boundcheck list --paper scgd
    Example: boundcheck list --false
    Example: boundcheck list --methods
    Example: boundcheck list --problems --json
    """
    others = [name for name, on in (("methods", methods), ("problems", problems), ("metrics", metrics)) if on]
    if others:
        if len(others) > 1 or paper or reading or false or no_evidence or slips:
            raise BadInput(f"list --{others[0]} goes with --json only; the other options are about other lists.")
        return _list_other(others[0], as_json)
    from boundcheck.cli._rows import SLIP_COLUMNS, is_slip, statement_table
    from boundcheck.errors import UnknownName

    found = statement_table(paper)
    every, broken = found["statements"], found["broken"]
    if reading and reading not in {r["reading"] for r in every}:
        raise UnknownName("the reading", reading, sorted({r["reading"] for r in every}))
    chosen = [r for r in every if reading in ("", r["reading"]) and (not false or r["belief"] == "false")]
    chosen = [r for r in chosen if not slips or is_slip(r)]
    without = [r for r in chosen if r["without_evidence"]]
    if no_evidence:
        return _without_evidence(without, broken, as_json)
    ids = {r["id"] for r in chosen}
    against = [c for c in found["contradictions"] if c["statement"] in ids]
    code = 1 if against else 2 if broken and paper else 0
    counts = {
        "readings": len(chosen),
        "statements": len({r["id"].rpartition("/")[0] for r in chosen}),
        "dimensionally inconsistent": sum(bool(r["dimension_errors"]) for r in chosen),
        "without dimensions": sum(r["dimensions"] == "none declared" for r in chosen),
        "with a proved derivation": sum(r["derivation"] == "PROVED" for r in chosen),
        "with a witness against them": sum(r["witness"] is not None for r in chosen),
        "with a shipped claim": sum(bool(r["claims"]) for r in chosen),
        "believed true or false without evidence": len(without),
    }
    if as_json:
        rows = [{k: v for k, v in r.items() if k not in ("words", "without_evidence")} for r in chosen]
        print_json({"contradictions": against, "statements": rows, "counts": counts, "broken": broken})
        return code
    print_contradictions(c["sentence"] for c in against)
    if slips:
        table(list(SLIP_COLUMNS), [[words(r) for words in SLIP_COLUMNS.values()] for r in chosen])
        line()
        line(f"{_many(counts, 'reading')}, {sum(bool(r['refuted_at']) for r in chosen)} with a refuted step.")
        return code
    columns = {"statement": "id", "title": "title", "kind": "kind", "belief": "belief"}
    columns |= {"dimensions": "dimensions", "evidence": "words"}
    table(list(columns), [[str(r[key]) for key in columns.values()] for r in chosen], whole=True)
    line()
    rest = [f"{count} {what}" for what, count in counts.items() if what not in ("readings", "statements")]
    line(", ".join([f"{_many(counts, 'reading')} of {_many(counts, 'statement')}", *rest]) + ".")
    for error in broken:
        line(f"left out: {error}")
    return code


def _list_other(what: str, as_json: bool) -> int:
    """Prints the methods, the problems or the metrics."""
    folder = {"methods": "methods.reference", "problems": "problems._reference", "metrics": "setting.metrics"}[what]
    module = import_module(f"boundcheck.{folder}")
    found = getattr(module, f"{what}_table")()
    print_json({what: found}) if as_json else table(module.COLUMNS, list(module.table_rows(found)), whole=True)
    return 0


def _without_evidence(without: list[dict[str, Any]], broken: list[str], as_json: bool) -> int:
    """Print the readings without evidence, with --json their ids; exit code 1 where there is one."""
    if as_json:
        line(json.dumps([r["id"] for r in without]))
    else:
        for r in without:
            line(f"{r['id']}: {r['belief']}")
        for error in broken:
            line(f"left out: {error}")
    return 1 if without else 2 if broken else 0


def _many(counts: Mapping[str, int], what: str) -> str:
    return f"{counts[what + 's']} {what}{'' if counts[what + 's'] == 1 else 's'}"


def show(
    id: Id,
    latex: Annotated[bool, typer.Option("--latex", help="The claim as LaTeX, nothing else.")] = False,
    rests: Annotated[bool, typer.Option("--rests", help="All that its proof rests on, by kind, nothing else.")] = False,
    as_json: Json = False,
) -> int:
    """One statement in full.

    Symbols, assumptions, conditions, bound, source, corrections and the evidence so far.

    \b
    Example: boundcheck show scgd/theorem_3_3/corrected
    """
    from boundcheck.cli._kept import is_loaded, kept
    from boundcheck.cli._shown import print_shown, shown
    from boundcheck.cli._verified import show_rests

    if rests and (latex or as_json):
        raise BadInput("--rests goes neither with --latex nor with --json; `derive ID --json` has it as data.")
    if rests:
        show_rests(_find(id).id)
        return 0
    found = (None if is_loaded(id) else kept(f"show {id}", lambda: shown(id))) or shown(id)
    if latex:
        line(found["data"]["latex"])
        return 0
    if as_json:
        print_json(found["data"])
    else:
        print_shown(id, found)
    return 1 if found["data"]["contradictions"] else 0


def cite(id: Id) -> int:
    """The BibTeX entry of the publication that prints a statement.

    The note names the statement. The entry has the DOI or the arXiv number where there is one.

    \b
    Example: boundcheck cite fedshuffle/theorem_5_1_convex
    """
    source = _find(id).source
    line(source.paper.bibtex(f"{source.number}; {source.where}"))
    return 0


def evaluate(
    id: Id,
    sets: Sets = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option("--sweep", metavar="NAME=LOW:HIGH:COUNT[:log]", help="Vary a symbol.", show_default=False),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    plot: Annotated[
        str | None,
        typer.Option("--plot", metavar="FILE", help="Draw the sweep (.svg, .png or .pdf).", show_default=False),
    ] = None,
    as_json: Json = False,
) -> int:
    """The bound and the scope at given constants.

    The value is exact where it is rational; sweeps give a table.

    \b
    Example: boundcheck evaluate scgd/theorem_3_3 --set mu=1/10 --set L=1 --set n=20 --set E=4
             --set sigma2=1 --set dist2_0=4 --set K=1000 --sweep eta=1e-6:1e-4:50:log
    """
    from boundcheck.theory.evaluation import check_index, needed_symbols
    from boundcheck.theory.index import numbers_of

    found = numbers_of(id)
    fixed, grids = parse_values(found, sets or [], sweep or [], needed_symbols(found), "the bound")
    for k in grids.get(str(found.metric.index), ()):
        check_index(found, {**fixed, str(found.metric.index): k})
    if not grids:
        if csv or plot is not None:
            raise BadInput(f"{'--csv' if csv else '--plot'} needs a --sweep; one value makes no table.")
        return _evaluate_point(id, found, fixed, as_json)
    from boundcheck.cli._sweep import run_sweep

    return run_sweep(found.expressions(), fixed, grids, asked=id, csv=csv, plot=plot, as_json=as_json)


def _evaluate_point(id: str, found: AnyStatement, fixed: dict[str, Fraction], as_json: bool) -> int:
    from boundcheck.theory.nearest import guarantees_nothing, nearest_guarantee
    from boundcheck.theory.scope import scope_symbols

    result = found.evaluate(**fixed)
    if result.exact is None and math.isnan(result.value) and result.in_scope is not False:
        at = ", ".join(f"{name} = {short(value)}" for name, value in fixed.items())
        raise BadInput(f"{found.best_id}: there is no bound at {at}. {result.note}")
    used = scope_symbols(found)
    empty = guarantees_nothing(found, found.scope(**{k: v for k, v in fixed.items() if k in used}))
    near = nearest_guarantee(found, fixed) if empty or (result.vacuous and result.in_scope) else ()
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
    if result.trivial_declared:
        line(f"vacuous: {'yes, the bound is not below its trivial value' if result.vacuous else 'no'}")
    if empty:
        line("the statement guarantees nothing here")
    if near:
        line(f"it would guarantee something with {' or '.join(n.words() for n in near)}")
    if result.note:
        line(result.note)
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

    Also gives the largest step size in scope. Exit code 0 in scope, 3 outside or undecided.

    \b
    Example: boundcheck scope scgd/theorem_3_3/as_printed_main --set mu=1/100 --set L=1/10
             --set n=2 --set E=64 --set eta=10/256
    """
    from boundcheck.theory.index import numbers_of
    from boundcheck.theory.scope import scope_symbols

    found = numbers_of(id)
    values, _ = parse_values(found, sets or [], [], scope_symbols(found), "the scope")
    decided = found.scope(**values)
    largest, chosen = _largest_steps(found, values), _prescribed(found, values)
    if as_json:
        steps = {name: {"note": top} if isinstance(top, str) else json_number(top) for name, top in largest.items()}
        print_json({**decided.to_dict(), "largest": steps, "prescribed": chosen})
    else:
        note_reading(id, found.id)
        _scope_text(decided, largest, chosen)
    return 0 if decided.in_scope is True else 3


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
        table(["condition", "relation", "holds", "slack", "relative"], rows, styles=["", "", "outcome"])
    for c in decided.conditions:
        if c.note:
            line(f"{c.name}: {c.note}")
    for name, top in largest.items():
        line(top if isinstance(top, str) else f"largest {name} in scope: {short(top)}")
    for name, value in chosen.items():
        line(f"prescribed {name}: {short(value)}")
    if decided.assumptions:
        line(f"not decidable from numbers, taken for granted: {', '.join(decided.assumptions)}")
    line(f"{decided.statement_id}: {IN_SCOPE[decided.in_scope]}")
