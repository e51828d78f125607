"""Commands about all instances of a class: worst-case, audit, try."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from boundcheck.cli.options import Id, Json, Sets, argument, option, pair
from boundcheck.cli.output import line, print_json
from boundcheck.errors import BadInput, BoundcheckError

EXITS = {"PROVED": 0, "VIOLATED": 1}


def worst_case(
    id: Id = "",
    every: Annotated[bool, option("--all", help="All statements believed true, at small sizes.")] = False,
    sets: Sets = None,
    sweeps: Annotated[
        list[str],
        option(
            "--sweep", metavar="NAME=VALUES", help="Values of a symbol, LOW:HIGH:COUNT[:log] or V1,V2,....", shown=True
        ),
    ] = [],  # noqa: B006
    clients: Annotated[int | None, option(help="Number of clients.")] = None,
    samples: Annotated[int, option(help="Functions of each client.", shown=True)] = 1,
    rounds: Annotated[int | None, option(help="Number of rounds.")] = None,
    method: Annotated[
        list[str], option("--method", metavar="NAME=VALUE", help="A parameter of the method; text or JSON.", shown=True)
    ] = [],  # noqa: B006
    certificate: Annotated[Path | None, option(metavar="FILE", help="Write the certificate, for `verify`.")] = None,
    out: Annotated[Path | None, option("-o", metavar="FILE", help="With --all: write the table.")] = None,
    as_json: Json = False,
) -> int:
    """How loose a bound is over all instances of its class.

    A semidefinite programme gives an upper value of the worst case; its multipliers are fractions that the verifier
    checks. An instance rebuilt from it is run and gives a lower value. Exit code 0: proved at these constants; 1: the
    instance breaks the bound; 3: neither, or out of scope. With --sweep (once or twice) a row for each point, exit
    code 0.

    \b
    Example: boundcheck worst-case classics/gradient_descent_convex/as_printed
             --set L=1 --set eta=1 --set dist2_0=1 --set k=5
    """
    from boundcheck.cli.bounds import parse_values
    from boundcheck.theory.discovery import statement
    from boundcheck.worst_case.result import worst_case as compute

    if every == bool(id):
        raise BadInput("worst-case takes either the id of a statement or --all.")
    if every:
        return _all(out, as_json=as_json)
    if out is not None:
        raise BadInput("-o is for --all; a certificate has --certificate.")
    claimed = statement(id)
    found_values = parse_values(claimed, sets or [], sweeps, (), "worst case")
    fixed: dict[str, Any] = dict(found_values[0])
    grids = found_values[1]
    spec = dict(_parameter(text) for text in method)
    sizes: dict[str, Any] = {"clients": clients, "samples": samples, "rounds": rounds, "method": spec}
    if grids:
        return _map(claimed, fixed, grids, sizes, as_json=as_json)
    found = compute(claimed, **sizes, **fixed)
    if certificate is not None:
        if found.certificate is None:
            raise BadInput(f"{claimed.best_id} has no certificate to write: {found.why}.")
        certificate.write_text(json.dumps(found.certificate), encoding="utf-8")
    if as_json:
        print_json(found.to_dict())
    else:
        line(claimed.best_id)
        for text in found.lines():
            line(text)
    return EXITS.get(found.outcome, 3)


def _all(out: Path | None, *, as_json: bool) -> int:
    """A row for every statement that is believed true and bounds a run, at its small sizes."""
    from boundcheck.core.places import write_whole
    from boundcheck.core.targets import probe_file
    from boundcheck.worst_case.table import of_table, row, table, text_of

    rows: list[dict[str, Any]] = []
    if out is not None:
        probe_file(out, "-o")
    for own in of_table():
        rows.append(row(own))
        if not as_json:
            found = rows[-1]["sizes"]
            low = [s["looseness"][0] for s in found if s["looseness"][0] is not None]
            words = f"at least {min(low):.4g} times the worst case" if low else rows[-1]["why"]
            line(f"{own.best_id}: {len(found)} sizes, {words}")
    if out is not None:
        write_whole(out, text_of(table(rows)).encode())
    if as_json:
        print_json(table(rows))
    return 0


def verify_certificate(path: Path, *, as_json: bool) -> int:
    """What the verifier says of a certificate of a worst case, and whether today's statement is the one it is about."""
    from boundcheck.verify.boundcheck_verify import examined, quoted
    from boundcheck.worst_case.certificate import differences

    row = examined(path)
    if row.get("kind") != "worst" and row["valid"]:
        raise BadInput(f"'{path}' is no certificate of a worst case; a proof record is named by its statement.")
    other: list[str] = []
    if row["valid"]:
        try:
            other = differences(json.loads(path.read_text(encoding="utf-8")))
        except (BoundcheckError, KeyError, TypeError) as error:
            other = [f"it cannot be made again: {error}"]
    stands = bool(row["valid"]) and not other
    if as_json:
        print_json({**row, "differences": other})
    else:
        if row["shown"]:
            line(quoted(row["shown"]).rstrip("\n"))
        line(f"{path}: {row['verdict']}" + (f"; not today's statement: {', '.join(other)} differ" if other else ""))
    return int(not stands)


def audit(id: Id, as_json: Json = False) -> int:
    """All that can be found about a statement in two minutes.

    Units, constants that meet all conditions, where the bound says nothing, a search for an instance that breaks it,
    worst cases at small sizes, evidence on record, and similar statements. Each part has a time limit. Exit code 1
    where it is broken, else 0.

    \b
    Example: boundcheck audit classics/gradient_descent_convex
    """
    from boundcheck.theory.discovery import statement

    return _audited(statement(id), None, as_json=as_json)


def try_(
    bound: Annotated[str, argument(help='Such as "gap <= L*dist2_0/(2*k)".')],
    method: Annotated[str, option(help="The kind of method.")],
    conditions: Annotated[
        list[str], option("--if", metavar="CONDITION", help='Such as "eta <= 1/L".', shown=True)
    ] = [],  # noqa: B006
    assume: Annotated[list[str], option(metavar="A,B", help="Assumptions, by their names.")] = [],  # noqa: B006
    keys: Annotated[list[str], option("--key", metavar="NAME=KEY", help="Which constant a letter is.")] = [],  # noqa: B006
    save: Annotated[Path | None, option(metavar="FILE", help="Write the theorem file.")] = None,
    as_json: Json = False,
) -> int:
    """What ten seconds tell about a bound that you type.

    The left side is gap, dist2 or grad2, alone or after mean or least. Letters are constants of the catalogue
    (`constants --list`); where several have the name, --key says which. One letter more counts the rounds. The answer
    is PROVED for small sizes, VIOLATED with an instance, or that it was not broken. Exit code 1 where it is broken,
    else 0.

    \b
    Example: boundcheck try "gap <= dist2_0/(2*eta*k)" --method gradient_descent
             --if "eta <= 1/L" --assume convexity --key L=objective/L
    """
    from boundcheck.worst_case.typed import theorem_file, typed

    named = dict(pair(text, "--key", "L=samples/L") for text in keys)
    names = [name.strip() for text in assume for name in text.split(",") if name.strip()]
    found = typed(bound, method, conditions, names, named)
    if save is not None:
        save.write_text(theorem_file(found), encoding="utf-8")
    return _audited(found.statement, found, as_json=as_json)


def repair(
    id: Id,
    budget: Annotated[str, option(help="Of the search for each repair.", shown=True)] = "4s",
    as_json: Json = False,
) -> int:
    """Small changes after which a broken statement is not broken.

    A summand gets a factor, a symbol is replaced by others of its unit or by the constant of another level, or a
    condition is shrunk. Each proposal was tried on the instances that broke other readings, searched, and looked at in
    worst cases of small sizes; none is proved by that. Exit code 3 where the statement is not broken, or nothing helps.

    \b
    Example: boundcheck repair scgd/equation_2/as_printed_main
    """
    from boundcheck.core.numbers import parse_seconds
    from boundcheck.report.audit import broken_by, search_of
    from boundcheck.theory.discovery import statement
    from boundcheck.worst_case.repair import repairs

    claimed, seconds = statement(id), parse_seconds(budget, "--budget")
    pool = broken_by(claimed, seconds)
    if not pool and not claimed.dimension_errors():
        line(f"{claimed.best_id} is not broken, as far as was looked: there is nothing to repair.")
        return 3
    found: list[Any] = []
    for own in repairs(claimed, pool, search_of, seconds):
        found.append(own.to_dict())
        if not as_json:
            line(f"{len(found)}. {own.change}")
            line(f"   {'; '.join(own.support)}")
    if as_json:
        print_json({"schema": 1, "statement": claimed.best_id, "broken_by": pool, "repairs": found})
    elif not found:
        line("no small change was found that is not broken, too.")
    return 0 if found else 3


def _audited(claimed: Any, typed: Any, *, as_json: bool) -> int:
    from boundcheck.report.audit import LIMITS, TRY, Audit, conclusion
    from boundcheck.report.audit import parts as parts_of

    parts: list[Any] = []
    if not as_json:
        line(claimed.title if typed is not None else f"{claimed.best_id}: {claimed.title}")
        for name, (key, words) in ({} if typed is None else typed.keys).items():
            line(f"  {name}: {key}, {words}")
        if typed is not None:
            line(f"  {typed.index}: rounds; assuming {', '.join(a.name for a in claimed.assumptions) or 'nothing'}")
    for part in parts_of(claimed, LIMITS if typed is None else TRY):
        parts.append(part)
        if not as_json:
            line(f"{part.name} ({part.seconds:.1f} s)")
            for text in part.lines:
                line(f"  {text}")
        if typed is not None and "witness" in part.data:
            break
    outcome, words = conclusion(parts)
    if as_json:
        told = {} if typed is None else {"keys": {k: v[0] for k, v in typed.keys.items()}}
        print_json({**Audit(claimed.best_id, outcome, words, parts).to_dict(), **told})
    else:
        line(f"{outcome}: {words}")
    return int(outcome == "VIOLATED")


def _map(claimed: Any, fixed: Any, grids: Any, sizes: Any, *, as_json: bool) -> int:
    """A row for each point of the grids."""
    import itertools

    from boundcheck.core.numbers import format_short
    from boundcheck.worst_case.result import worst_case as compute

    rows: list[dict[str, Any]] = []
    if not as_json:
        line("  ".join([*grids, "lower", "upper", "bound", "looseness", "outcome"]))
    for point in itertools.product(*grids.values()):
        own = dict(zip(grids, point, strict=True))
        found = compute(claimed, **sizes, **fixed, **own)
        if as_json:
            rows.append(found.to_dict())
            continue
        low = "-" if found.lower is None else f"{found.lower:.6g}"
        upper = "-" if found.upper is None else format_short(found.upper, 6)
        numbers = [format_short(v, 6) for v in point]
        line("  ".join([*numbers, low, upper, f"{float(found.bound.value):.6g}", found.loose, found.outcome]))
    if as_json:
        print_json({"schema": 1, "rows": rows})
    return 0


def _parameter(text: str) -> tuple[str, Any]:
    name, value = pair(text, "--method", "NAME=VALUE, such as K=2 or participation=full")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
