"""Commands about statements and papers: list, show, cite."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

from boundcheck.cli.options import ID, Json, argument, matching_ids, option
from boundcheck.cli.output import formula_lines, line, note_reading, print_json, say, table, width
from boundcheck.core.index import kept
from boundcheck.errors import BadInput, UnknownName
from boundcheck.evidence.statement_table import is_loaded, statement_table

if TYPE_CHECKING:
    from boundcheck.evidence.contradictions import Contradiction
    from boundcheck.theory.statement import Statement


def _find(id: str) -> Statement:
    from boundcheck.theory.discovery import statement

    return statement(id)


def list_statements(
    words: Annotated[
        list[str] | None, argument(help="Only statements with all these words in id, title, number or paper.")
    ] = None,
    paper: Annotated[str, option("--paper", help="Only this paper.")] = "",
    reading: Annotated[str, option("--reading", help="Only this reading.")] = "",
    false: Annotated[bool, option("--false", help="Only readings that are believed false.")] = False,
    no_evidence: Annotated[
        bool, option("--no-evidence", help="Only readings believed true or false without evidence.")
    ] = False,
    slips: Annotated[
        bool, option("--slips", help="Only printed readings that are false or whose printed proof is refuted.")
    ] = False,
    methods: Annotated[bool, option("--methods", help="The methods instead, with paper and parameters.")] = False,
    problems: Annotated[bool, option("--problems", help="The kinds of problems, with parameters.")] = False,
    metrics: Annotated[bool, option("--metrics", help="The metrics, with meaning and needs.")] = False,
    as_json: Json = False,
) -> int:
    """The statements, with what is known of each.

    Evidence is a machine-checked derivation (`derive`), a shipped witness against the statement (`replay`) and what
    the shipped claims expect (`check`). Exit code 1 where a statement is violated although its derivation is PROVED,
    and with --no-evidence where a reading is listed.

    \b
    Example: boundcheck list 3.3 --paper scgd
             boundcheck list --methods
    """
    others = [name for name, on in (("methods", methods), ("problems", problems), ("metrics", metrics)) if on]
    if others:
        if len(others) > 1 or words or paper or reading or false or no_evidence or slips:
            raise BadInput(f"list --{others[0]} goes with --json only; the other options are about other lists.")
        return _list_other(others[0], as_json)
    found = statement_table(paper)
    every, broken = found["statements"], found["broken"]
    if reading and reading not in {r["reading"] for r in every}:
        raise UnknownName("the reading", reading, sorted({r["reading"] for r in every}))
    chosen = [r for r in every if reading in ("", r["reading"]) and (not false or r["belief"] == "false")]
    chosen = [r for r in chosen if (not slips or is_slip(r)) and _has(r, words or [])]
    without = [r for r in chosen if r["without_evidence"]]
    if no_evidence:
        return _without_evidence(without, broken, as_json)
    ids = {r["id"] for r in chosen}
    against = [c for c in found["contradictions"] if c["statement"] in ids]
    code = 1 if against else 2 if broken and paper else 0
    counts = {
        "readings": len(chosen),
        "statements": len({r["id"].rpartition("/")[0] for r in chosen}),
        "in which units disagree": sum(bool(r["dimension_errors"]) for r in chosen),
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
    columns = {"statement": "id", "title": "title", "kind": "kind", "our verdict": "belief"}
    columns |= {"dimensions": "dimensions", "evidence": "words"}
    table(list(columns), [[str(r[key]) for key in columns.values()] for r in chosen], whole=True)
    line()
    rest = [f"{count} {what}" for what, count in counts.items() if what not in ("readings", "statements")]
    say(", ".join([f"{_many(counts, 'reading')} of {_many(counts, 'statement')}", *rest]) + ".")
    for error in broken:
        say(f"left out: {error}")
    return code


def _has(row: Mapping[str, Any], words: Sequence[str]) -> bool:
    """Whether all words stand in the id, title, number or paper of a row."""
    source = row["source"]
    text = f"{row['id']} {row['title']} {source['number']} {source['where']} {source['paper']}".lower()
    return all(word.lower() in text for word in words)


def is_slip(row: dict[str, Any]) -> bool:
    """Whether a row is of a printed reading that is believed false, or whose printed proof has a refuted step."""
    return row["reading"].startswith("as_printed") and (row["belief"] == "false" or bool(row["refuted_at"]))


def _as_a_statement(row: dict[str, Any]) -> str:
    others = ", ".join(kind for kind in row["borne_out_by"] if kind != "refuted derivation")
    return f"{row['belief']} ({others})" if others else row["belief"]


SLIP_COLUMNS: dict[str, Callable[[dict[str, Any]], str]] = {
    "statement": lambda row: row["id"],
    "in the paper": lambda row: f"{row['source']['number']} ({row['source']['where']})",
    "refuted steps": lambda row: "; ".join(row["refuted_at"]),
    "the statement is": _as_a_statement,
    "the correction replaces": lambda row: row["correction"]["replaces"] if row["correction"] else "",
}


def _list_other(what: str, as_json: bool) -> int:
    """Prints the methods, the problems or the metrics."""
    folder = {"methods": "methods.reference", "problems": "problems._reference", "metrics": "setting.metrics"}[what]
    module = import_module(f"boundcheck.{folder}")
    found = getattr(module, f"{what}_table")()
    if as_json:
        print_json({what: found})
    else:
        table(module.COLUMNS, list(module.table_rows(found)), whole=True)
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
    id: Annotated[
        str, argument(metavar="ID|PAPER", help=f"{ID} A paper alone is shown as a card.", autocompletion=matching_ids)
    ],
    latex: Annotated[bool, option("--latex", help="The claim as LaTeX, nothing else.")] = False,
    rests: Annotated[bool, option("--rests", help="All that its proof rests on, by kind, nothing else.")] = False,
    as_json: Json = False,
) -> int:
    """One statement in full, or a paper with its statements.

    Symbols, assumptions, conditions, bound, source, corrections and the evidence so far.

    \b
    Example: boundcheck show scgd/theorem_3_3/corrected
             boundcheck show fedshuffle
    """
    if id.strip("/") and "/" not in id.strip("/"):
        if latex or rests:
            raise BadInput(f"--latex and --rests are about one statement; '{id}' is a paper.")
        return _show_paper(id.strip("/"), as_json)
    if rests and (latex or as_json):
        raise BadInput("--rests goes neither with --latex nor with --json; `derive ID --json` has it as data.")
    if rests:
        from boundcheck.cli.proofs import show_rests

        show_rests(_find(id).id)
        return 0
    found = (None if is_loaded(id) else kept(f"show {id}", lambda: _shown(id))) or _shown(id)
    if latex:
        line(found["data"]["latex"])
    elif as_json:
        print_json(found["data"])
    else:
        _print_statement(id, found)
    return 1 if found["data"]["contradictions"] and not latex else 0


def _shown(id: str) -> dict[str, Any]:
    from boundcheck.evidence.statement_rows import shown

    return shown(id)


def _print_statement(asked: str, found: Mapping[str, Any]) -> None:
    print_contradictions(c["sentence"] for c in found["data"]["contradictions"])
    note_reading(asked, found["data"]["id"])
    for text in found["before"]:
        say(text)
    line()
    table(["symbol", "printed", "meaning", "dimension", "allowed", "constant"], found["rows"])
    line()
    for text in found["facts"]:
        say(text)
    line()
    for text in formula_lines(found["left"], found["blocks"], found["base"], width()):
        line(text)
    line()
    for text in found["after"]:
        say(text)


def _show_paper(paper: str, as_json: bool) -> int:
    """The card of a paper: what is cited, and a row for each statement with its readings and their evidence."""
    found = statement_table(paper)
    rows = found["statements"]
    ids = {r["id"] for r in rows}
    against = [c for c in found["contradictions"] if c["statement"] in ids]
    by_statement: dict[str, list[dict[str, Any]]] = {}
    for r in rows:
        by_statement.setdefault(r["id"].rpartition("/")[0], []).append(r)
    titles = list(dict.fromkeys(r["source"]["paper"] for r in rows))
    counts = dict(Counter(r["belief"] for r in rows))
    if as_json:
        statements = [
            {"statement": name, "title": own[0]["title"], "source": own[0]["source"]}
            | {"readings": {r["reading"]: {k: r[k] for k in ("belief", "derivation", "claims")} for r in own}}
            for name, own in by_statement.items()
        ]
        card = {"paper": paper, "publications": titles, "statements": statements, "beliefs": counts}
        print_json(card | {"contradictions": against})
        return 1 if against else 0
    print_contradictions(c["sentence"] for c in against)
    for title in titles:
        say(f"{paper}: {title}")
    beliefs = ", ".join(f"{count} {belief}" for belief, count in counts.items())
    say(f"{len(by_statement)} statements in {len(rows)} readings: {beliefs}.")
    for name, own in by_statement.items():
        line()
        say(f"{name}: {own[0]['title']}")
        say(f"  {own[0]['source']['number']} ({own[0]['source']['where']})")
        for r in own:
            say(f"  {r['reading']} ({r['belief']}): {r['words']}")
    line()
    say(f"`boundcheck show {next(iter(by_statement))}` shows a statement, `boundcheck cite {paper}` cites the paper.")
    return 1 if against else 0


def cite(id: Annotated[str, argument(metavar="ID|PAPER", help=ID, autocompletion=matching_ids)]) -> int:
    """The BibTeX entry of a paper, or of a statement's publication.

    The note names the statement. The entry has the DOI or the arXiv number where there is one.

    \b
    Example: boundcheck cite fedshuffle/theorem_5_1_convex
             boundcheck cite fedshuffle
    """
    if "/" in id.strip("/") or not id.strip("/"):
        line(_find(id).bibtex())
        return 0
    from boundcheck.theory.discovery import all_statements

    for paper in dict.fromkeys(s.source.paper for s in all_statements(id.strip("/"))):
        line(paper.bibtex())
    return 0


def print_contradictions(found: Iterable[Contradiction | str]) -> None:
    """Prints a sentence for each contradiction and an empty line after them; nothing without contradictions."""
    sentences = [str(one) for one in found]
    for sentence in sentences:
        say(sentence)
    if sentences:
        line()
