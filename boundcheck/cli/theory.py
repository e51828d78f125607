"""Commands about statements: list, show, evaluate, scope."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundcheck.cli._evidence import (
    derivation_record,
    derivation_status,
    evidence_words,
    print_contradictions,
    transcribed,
)
from boundcheck.cli._output import json_float, json_number, line, note_reading, print_json, short, table
from boundcheck.cli._values import parse_values
from boundcheck.core.numbers import format_exact
from boundcheck.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boundcheck.theory.scope import Scope
    from boundcheck.theory.statement import Statement


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Id = Annotated[str, typer.Argument(help="<paper>/<statement>[/<reading>].", show_default=False)]
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
    no_evidence: Annotated[
        bool, typer.Option("--no-evidence", help="Only readings believed true or false without any evidence.")
    ] = False,
    as_json: Json = False,
) -> int:
    """The statements, with what is known of each.

    \b
    dimensions: whether all sides scale alike ("INCONSISTENT" is found from the declarations alone)
    evidence: how the machine-checked derivation came out (`boundcheck derive` runs it again), whether a witness
    against the statement is shipped (`boundcheck replay` runs it again), and what the shipped claims about it
    expect (`boundcheck check` runs them again)

    A statement that is violated although its derivation is PROVED is stated first; exit code 1.

    With --no-evidence: the readings that nothing bears out, one a line; exit code 1 if there is one. A false
    reading needs a witness, a violated claim, a refuted derivation or a dimension clash; a true one a claim
    that holds or a proved derivation. Open readings need none.

    \b
    Example: boundcheck list --paper scgd
    """
    from boundcheck.errors import UnknownName
    from boundcheck.evidence.contradictions import contradictions
    from boundcheck.evidence.grounds import grounds, lacks_grounds
    from boundcheck.evidence.shipped_files import claims_by_id, shipped_witnesses
    from boundcheck.theory.discovery import all_statements

    broken: list[BadInput] = []
    every = list(all_statements(paper or None, broken.append))
    if broken and not every:
        raise broken[0]
    if reading and reading not in {s.reading for s in every}:
        raise UnknownName("the reading", reading, sorted({s.reading for s in every}))
    chosen = [s for s in every if reading in ("", s.reading)]
    errors = {s.id: s.dimension_errors() for s in chosen}
    derived = {s.id: derivation_record(s.id) for s in chosen}
    witnesses, claims = shipped_witnesses(), claims_by_id()
    borne_out = {s.id: grounds(s, derived[s.id], witnesses, claims) for s in chosen}
    without = [s for s in chosen if lacks_grounds(s, borne_out[s.id])]
    if no_evidence:
        return _without_evidence(without, broken, as_json)
    against = contradictions(s.id for s in chosen)
    code = 1 if against else 2 if broken and paper else 0
    counts = {
        "readings": len(chosen),
        "statements": len({s.id.rpartition("/")[0] for s in chosen}),
        "dimensionally inconsistent": sum(bool(e) for e in errors.values()),
        "without dimensions": sum(s.metric.dimension is None for s in chosen),
        "with a proved derivation": sum(d is not None and d.proved for d in derived.values()),
        "with a witness against them": sum(s.id in witnesses for s in chosen),
        "with a shipped claim": sum(s.id in claims for s in chosen),
        "believed true or false without evidence": len(without),
    }
    if as_json:
        rows = [
            {
                "id": s.id,
                "title": s.title,
                "reading": s.reading,
                "kind": s.kind.value,
                "belief": s.belief.value,
                "dimensions": _dimensions(s, errors[s.id]),
                "dimension_errors": errors[s.id],
                "derivation": derivation_status(derived[s.id]),
                "transcribed": transcribed(derived[s.id]),
                "witness": str(witnesses[s.id]) if s.id in witnesses else None,
                "claims": claims.get(s.id, {}),
                "borne_out_by": list(borne_out[s.id]),
                "source": {"paper": str(s.source.paper), "number": s.source.number, "where": s.source.where},
            }
            for s in chosen
        ]
        said = [c.to_dict() for c in against]
        faults = [str(error) for error in broken]
        print_json({"contradictions": said, "statements": rows, "counts": counts, "broken": faults})
        return code
    print_contradictions(against)
    cells = [
        [
            s.id,
            s.title,
            s.kind.value,
            s.belief.value,
            _dimensions(s, errors[s.id]),
            evidence_words(s.id, derived[s.id], witnesses, claims),
        ]
        for s in chosen
    ]
    columns = ["statement", "title", "kind", "belief", "dimensions", "evidence"]
    table(columns, cells, whole=True, dropped=("title", "kind", "dimensions", "belief"))
    line()
    rest = [f"{count} {what}" for what, count in counts.items() if what not in ("readings", "statements")]
    line(", ".join([f"{_many(counts, 'reading')} of {_many(counts, 'statement')}", *rest]) + ".")
    for error in broken:
        line(f"left out: {error}")
    return code


def _without_evidence(without: list[Statement], broken: list[BadInput], as_json: bool) -> int:
    """Print the readings without evidence, as JSON a list of their ids; exit code 1 where there is one."""
    if as_json:
        print_json([s.id for s in without])
    else:
        for s in without:
            line(f"{s.id}: {s.belief.value}")
        for error in broken:
            line(f"left out: {error}")
    return 1 if without else 2 if broken else 0


def _many(counts: Mapping[str, int], what: str) -> str:
    return f"{counts[what + 's']} {what}{'' if counts[what + 's'] == 1 else 's'}"


def _dimensions(statement: Statement, errors: list[str]) -> str:
    return "INCONSISTENT" if errors else "none declared" if statement.metric.dimension is None else "consistent"


def show(
    id: Id,
    latex: Annotated[bool, typer.Option("--latex", help="The claim as LaTeX, nothing else.")] = False,
    as_json: Json = False,
) -> int:
    """One statement in full.

    Symbols, assumptions, conditions, bound, source, corrections and the evidence so far.

    \b
    Example: boundcheck show scgd/theorem_3_3/corrected
    """
    from boundcheck.evidence.contradictions import contradictions
    from boundcheck.evidence.shipped_files import claims_by_id, shipped_witnesses

    found = _find(id)
    if latex:
        line(found.latex())
        return 0
    witnesses, claims, derived = shipped_witnesses(), claims_by_id(), derivation_record(found.id)
    against = contradictions([found.id])
    if as_json:
        own = {k: v for k, v in found.to_dict().items() if k != "schema"}
        more = {
            "contradictions": [c.to_dict() for c in against],
            "latex": found.latex(),
            "dimension_errors": found.dimension_errors(),
            "derivation": derivation_status(derived),
            "transcribed": transcribed(derived),
            "witness": str(witnesses[found.id]) if found.id in witnesses else None,
            "claims": claims.get(found.id, {}),
        }
        print_json({**own, **more})
        return 1 if against else 0
    print_contradictions(against)
    note_reading(id, found.id)
    _show_text(found, evidence_words(found.id, derived, witnesses, claims))
    return 1 if against else 0


def cite(id: Id) -> int:
    """The BibTeX entry of the publication that prints a statement.

    The note names the statement. The entry has the DOI or the arXiv number where there is one.

    \b
    Example: boundcheck cite fedshuffle/theorem_5_1_convex
    """
    source = _find(id).source
    line(source.paper.bibtex(f"{source.number}; {source.where}"))
    return 0


def _show_text(found: Statement, evidence: str) -> None:
    import sympy as sp

    from boundcheck.report.words import derivation_words
    from boundcheck.theory.discovery import readings
    from boundcheck.theory.quantities import PROOF_QUANTITIES
    from boundcheck.theory.typeset import expr_text, relation_text

    line(f"{found.id}: {found.title}")
    line(f"  {found.source.paper}, {found.source.number} ({found.source.where})")
    line(f"  {found.kind.value}, {found.belief.value}")
    for label, text in (("replaces", found.replaces), ("why", found.why), ("remark", found.remark)):
        if text:
            line(f"  {label}: {text}")
    line()
    rows = [[s.name, s.meaning, str(s.dimension), s.allowed(), s.key] for s in found.symbols]
    table(["symbol", "meaning", "dimension", "allowed", "constant"], rows)
    line()
    for assumption in found.assumptions:
        line(f"assumption {assumption.name}: {assumption.meaning}")
    for relation in found.domain:
        line(f"needed to make sense: {relation_text(relation)}")
    for c in found.conditions:
        line(f"condition '{c.name}': {relation_text(c.relation)}" + (f"  ({c.meaning})" if c.meaning else ""))
    for name, expr in found.choices:
        line(f"prescribed: {name} = {expr_text(expr)}")
    if found.algorithm is not None:
        line(f"method: {found.algorithm.kind}")
    if found.any_method:
        line("method: every method that meets the assumptions")
    metric = found.metric
    if metric.value is not None:
        line(f"metric: {expr_text(metric.value)} (numbers alone; no run measures it)")
        for name, expr in metric.where:
            line(f"  where {name} = {expr_text(expr)}")
        if metric.meets:
            line(f"  all such numbers meet: {', '.join(metric.meets)}")
    elif metric.quantity != "none":
        scaled = "" if metric.scale == 1 else f"{metric.scale} * "
        average = metric.average
        if metric.weights is not None:
            average = f"over r = 0, ..., {expr_text(metric.rounds - 1)} with the weights {expr_text(metric.weights)}"
        whose = " (of the objective that the method minimises)" if metric.surrogate else ""
        meaning = PROOF_QUANTITIES.get(metric.quantity)
        if meaning is not None:
            whose = f" ({meaning}; no run measures it)"
        line(f"metric: {scaled}{metric.quantity}{whose}; average: {average}; expectation: {metric.expectation}")
    line()
    line(f"bound: {found.bound}")
    line()
    line(str(sp.pretty(found.bound, use_unicode=False, wrap_line=False)))
    if found.printed_rate is not None:
        line(f"printed order: {found.printed_rate}")
    line()
    errors = found.dimension_errors()
    for error in errors:
        line(f"DIMENSIONS INCONSISTENT: {error}")
    if not errors:
        declared = found.metric.dimension is not None
        line("dimensions: all sides scale alike" if declared else "dimensions: none declared (a numeric example)")
    line(f"evidence: {evidence}")
    steps = derivation_words(found.id)
    if steps:
        line(f"derivation: {steps}")
    paper, name, _ = found.id.split("/")
    others = [s.id for s in readings(paper, name) if s.id != found.id]
    if others:
        line(f"other readings: {', '.join(others)}")


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
    from boundcheck.theory.evaluation import needed_symbols

    found = _find(id)
    fixed, grids = parse_values(found, sets or [], sweep or [], needed_symbols(found), "the bound")
    if not grids:
        if csv or plot is not None:
            raise BadInput(f"{'--csv' if csv else '--plot'} needs a --sweep; one value makes no table.")
        return _evaluate_point(id, found, fixed, as_json)
    from boundcheck.cli._sweep import run_sweep

    return run_sweep(found, fixed, grids, asked=id, csv=csv, plot=plot, as_json=as_json)


def _evaluate_point(id: str, found: Statement, fixed: dict[str, Fraction], as_json: bool) -> int:
    from boundcheck.theory.nearest import guarantees_nothing, nearest_guarantee
    from boundcheck.theory.scope import scope_symbols

    result = found.evaluate(**fixed)
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
    from boundcheck.theory.scope import scope_symbols

    found = _find(id)
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


def _largest_steps(found: Statement, values: dict[str, Fraction]) -> dict[str, Fraction | str]:
    """The largest value in scope of each step size that a condition limits, or the sentence why there is none."""
    from boundcheck.theory.dimension import STEP

    used: set[str] = set()
    for c in found.conditions:
        used |= {s.name for s in c.relation.free_symbols}
    steps = [s.name for s in found.symbols if s.name in used and (s.dimension == STEP or s.name.startswith("eta"))]
    largest: dict[str, Fraction | str] = {}
    for name in steps:
        try:
            largest[name] = found.largest(name, **{k: v for k, v in values.items() if k != name})
        except BadInput as error:
            largest[name] = str(error)
    return largest


def _prescribed(found: Statement, values: dict[str, Fraction]) -> dict[str, Fraction]:
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
