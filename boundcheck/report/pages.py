"""The HTML pages of a report, drawn from its data: one index, one page a claim. No network, no external file."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from boundcheck.core.numbers import format_exact, parse_number, round_down
from boundcheck.core.palette import PALETTE
from boundcheck.report.evidence_kinds import kinds
from boundcheck.report.formulas import claim_lines, markup, metric_mathml, symbol_mathml
from boundcheck.report.mathtext import math as mathtext
from boundcheck.report.mathtext import symbols_of
from boundcheck.report.pictures import (
    BARS_CAPTION,
    LIMITS_CAPTION,
    POINTS,
    asset,
    claim_picture,
    claim_sparkline,
    describe,
    drawn_floor,
    leading_studies,
    limits_picture,
    log_axes,
    result_of,
    study_picture,
)
from boundcheck.report.words import power_of_ten, pretty, prose, ratio, shortened, tightness
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Statement
from boundcheck.theory.typeset import expr_mathml
from boundcheck.worst_case.table import changed, shipped

if TYPE_CHECKING:
    from jinja2 import Environment


PAPERS = "papers.html"  # the page of the papers' figures and tables
_ID = re.compile(r"\b[a-z]\w*/[a-z]\w*(?:/[a-z]\w*)?", re.ASCII)  # what may be the id of a statement
_FIRST = ("VIOLATED", "FAILED", "UNDECIDED", "VACUOUS", "HOLDS", "OUT_OF_SCOPE")  # the order of the index
_BAR = {  # outcome or grade -> its tone in a bar of counts
    **dict.fromkeys(("VIOLATED", "FAILED"), "bad"),
    **dict.fromkeys(("HOLDS", "PROVED", "EXACT"), "good"),
    **dict.fromkeys(("UNDECIDED", "VACUOUS", "SUPPORTED"), "open"),
    **dict.fromkeys(("OUT_OF_SCOPE", "none"), "none"),
}


@cache
def environment() -> Environment:
    """The templates with the words and filters that all pages share."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("boundcheck.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {"pretty": _pretty, "prose": prose, "math": mathtext, "tightness": tightness}
    filters |= {"sentence": _sentence, "plain_spec": _plain_spec, "command": _command, "ids": link_ids, "exact": _exact}
    environment.filters.update(filters)
    words: dict[str, Any] = {"bars_caption": BARS_CAPTION, "limits_caption": LIMITS_CAPTION}
    words |= {"palette": PALETTE, "asset": lambda name: Markup(asset(name))}
    environment.globals.update(words)
    return environment


def page(template: str, **values: Any) -> str:
    """The HTML of a template, called by its name without the endings."""
    return environment().get_template(f"{template}.html.j2").render(**values)


def _command(text: str) -> Markup:
    """A command that breaks between its options only."""
    words = text.replace(" --", "\n--").split("\n")
    return Markup(" ").join(Markup("<span>{}</span>").format(escape(word)) for word in words)


def _plain_spec(spec: Mapping[str, Any]) -> str:
    short = {k: shortened(v) if isinstance(v, str) else v for k, v in spec.items()}
    return json.dumps(short, ensure_ascii=False)


def flagged(report: Mapping[str, Any]) -> dict[str, list[str]]:
    """Statements of the report (other readings included) whose dimension check found something."""
    found = {c["statement"]["id"]: c["statement"]["dimension_errors"] for c in report["claims"]}
    beside = {r["id"] for c in report["claims"] for r in c["readings"]} - set(found)
    found |= {i: statement(i).dimension_errors() for i in beside}
    return {i: errors for i, errors in sorted(found.items()) if errors}


def _stated(claim: Mapping[str, Any]) -> Statement:
    """The statement of a claim: by its id, or as the data define it where it is not registered."""
    data = claim["statement"]
    return Statement.from_dict(data["definition"]) if "definition" in data else statement(data["id"])


def index_page(
    report: Mapping[str, Any],
    about: Mapping[str, Any] | None = None,
    figures: Mapping[str, Sequence[str]] | None = None,
    rows: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The front page: papers, statements against kinds of evidence, the counts of claims (zeros included), all claims.

    A report of a few studies and nothing else (`leading_studies`) shows what these found instead. about: what
    `Catalogue.papers` says of the papers, for a report with a catalogue. figures: pictures in the folder `figures`
    beside the page, each with the files of the same figure in other forms. rows: of the papers' figures and tables,
    which have a page of their own.
    """
    claims: list[dict[str, Any]] = [
        {**c, "spark": Markup(claim_sparkline(c)), "own": symbols_of(_stated(c))} for c in report["claims"]
    ]
    claims.sort(key=lambda c: _FIRST.index(c["verdict"]["outcome"]))
    pages = statement_pages(report)
    outcomes, grades = (
        {name: count for name, count in report["counts"][of].items() if count} for of in ("outcome", "grade")
    )
    shown = {
        "outcomes": dict(sorted(outcomes.items(), key=lambda item: _FIRST.index(item[0]))),
        "grades": grades,
        "papers": sorted({c["statement"]["id"].partition("/")[0] for c in claims}),
        "tones": _BAR,
    }
    whole = {"catalogue": [], **report, "claims": claims, "flagged": flagged(report), "shown": shown}
    return page(
        "index",
        report=whole,
        about=about or {},
        kinds=kinds(),
        worst=worst_cases({entry.split("/")[0] for entry in pages}),
        leading=() if claims or pages else leading_studies(report),
        figures=figures or {},
        captions={name: _figure_caption(name, rows) for name in figures or {}},
        papers=PAPERS if rows else "",
        page_of=lambda id: _statement_link(id, pages),
    )


def worst_cases(papers: set[str]) -> dict[str, Any]:
    """The rows of these papers, the command that makes the table, and whether other code made it.

    A row has the id, the number of sizes in scope and of those PROVED, the narrowest and the widest looseness with the
    size of each, or why there is none. changed: the statement is another one today, so that the row says nothing of it.
    """
    data = shipped()
    other = set(changed(data))
    rows = [_worst_row(own, other) for own in data["rows"] if own["statement"].partition("/")[0] in papers]
    return {"rows": rows, "command": data["command"].partition(" -o ")[0], "other_code": "the code" in other}


def _worst_row(own: Mapping[str, Any], other: set[str]) -> dict[str, Any]:
    inside = [s for s in own["sizes"] if s["outcome"] != "OUT_OF_SCOPE"]  # elsewhere the theorem says nothing
    known = [s for s in inside if s["looseness"][0] is not None]
    row = {"id": own["statement"], "changed": own["statement"] in other, "sizes": len(inside), "why": own["why"]}
    if not known:
        scope = "a condition fails at every small size" if own["sizes"] and not inside else ""
        why = own["why"] or scope or inside[0]["why"] or "the worst case is not positive"
        return row | {"ends": [], "why": why}
    least, most = (pick(known, key=lambda s: s["looseness"][0]) for pick in (min, max))
    ends = [_size_words(s) for s in ([least] if least is most else [least, most])]
    return row | {"ends": ends, "proved": sum(s["outcome"] == "PROVED" for s in inside)}


def _size_words(size: Mapping[str, Any]) -> tuple[str, str]:
    """The looseness, and the options of the command that computes it."""
    low, high = size["looseness"]
    if high is None:
        return f"at least {low:.4g}", size["at"]
    return f"{low:.4g}" if f"{low:.4g}" == f"{high:.4g}" else f"{low:.4g} to {high:.4g}", size["at"]


def _figure_caption(picture: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """What the record says of a picture; a name made of the file's where it says nothing."""
    found = next((f"{row['name']}: {row['shows']}" for row in rows if row["picture"] == picture), "")
    return found or picture.rpartition(".")[0].replace("_", " ").capitalize()


def papers_page(report: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], figures: Collection[str]) -> str:
    """The papers' figures and tables: what is here, and the word of each finding with its statistic."""
    counts = {kind: sum(row["here"] == kind for row in rows) for kind in ("full", "scaled", "absent")}
    words = dict(Counter(f["word"] for row in rows for f in row["findings"]).most_common())
    return page("papers", report=report, rows=rows, figures=figures, counts=counts, words=words)


def study_pages(report: Mapping[str, Any]) -> dict[str, str]:
    """File name -> HTML of the pages of limit studies, other studies, and what cannot be run on this machine."""
    found = {s["page"]: page("limits", report=report, study=s, picture=limits_picture(s)) for s in report["limits"]}
    for study in report["studies"]:
        result, bars = result_of(study)
        own = {"study": study, "picture": study_picture(study), "result": result, "bars": bars}
        found[study["page"]] = page("study", report=report, **own)
    return found | {missing["page"]: page("not_run", report=report, missing=missing) for missing in report["not_run"]}


def claim_page(report: Mapping[str, Any], claim: Mapping[str, Any]) -> str:
    """The page of one claim out of `report["claims"]`."""
    stated = _stated(claim)
    place = [c["page"] for c in report["claims"]].index(claim["page"])
    pages = statement_pages(report)
    symbols, exact = _symbols(claim, stated)
    return page(
        "claim",
        report=report,
        claim=claim,
        picture=claim_picture(claim, *_axis_labels(claim, stated)),
        own=symbols_of(stated),
        caption=_caption(claim),
        rows=_rows(claim),
        mathml=markup(claim_lines(stated)),
        metric=Markup(metric_mathml(stated)),
        before=report["claims"][place - 1] if place else None,
        after=(*report["claims"], None)[place + 1],
        page_of=lambda id: _statement_link(id, pages),
        siblings=[c for c in report["claims"] if c is not claim and _numbered(c) == _numbered(claim)],
        conditions=_conditions(claim, stated),
        symbols=symbols,
        exact_values=exact,
        witness=_witness(claim["verdict"]["witness"]),
    )


def _axis_labels(claim: Mapping[str, Any], stated: Statement) -> tuple[str, str]:
    """HTML of the labels of x and y: symbol and meaning of the index, the left side of the claim and its unit."""
    name, unit = stated.metric.index, claim["statement"]["metric"]["dimension"]
    x = "rounds"
    if name is not None:
        symbol = stated.symbol(name)
        x = f"{symbol_mathml(symbol)}: {mathtext(symbol.meaning.split(':')[0], symbols_of(stated))}"
    y = metric_mathml(stated)
    return x, y if unit in (None, "dimensionless") else f"{y} in {prose(unit)}"


def _numbered(claim: Mapping[str, Any]) -> str:
    """The numbered statement of a claim, without the reading."""
    return str(claim["statement"]["id"]).rpartition("/")[0]


def statement_pages(report: Mapping[str, Any]) -> dict[str, str]:
    """Numbered statement -> its page, for those in the report's catalogue."""
    entries: Sequence[Mapping[str, str]] = report.get("catalogue", ())
    return {e["id"]: e["page"] for e in entries}


def link_ids(text: str, report: Mapping[str, Any]) -> Markup:
    """The text as HTML with formulas typeset, and every id of a statement of the catalogue as a link to its page."""
    pages = statement_pages(report)
    found, end = Markup(), 0
    for match in _ID.finditer(text):
        name, reading = "/".join(match[0].split("/")[:2]), match[0].split("/")[2:]
        if name in pages:
            there = "#".join((pages[name], *reading))
            found += mathtext(text[end : match.start()]) + Markup('<a href="{}">{}</a>').format(there, match[0])
            end = match.end()
    return found + mathtext(text[end:])


def _statement_link(id: str, pages: Mapping[str, str]) -> str:
    """The place of a reading in the catalogue; "" where it has none. pages: numbered statement -> its page."""
    name, _, reading = id.rpartition("/")
    return f"{pages[name]}#{reading}" if name in pages else ""


def _sentence(text: str) -> str:
    """With a capital where it begins with a word, not where it begins with a symbol."""
    return text[:1].upper() + text[1:] if text[:2].isalpha() and text[:2].islower() else text


def _pretty(value: Any, digits: int = 3) -> str:
    return pretty(float(value) if isinstance(value, str) else value, digits)


def _exact(text: str | None, longest: int = 15) -> str:
    """A fraction as it is where it is short, else a decimal; a dash for none."""
    if text is None:
        return "–"
    return text if len(text) <= longest else pretty(parse_number(text, "a limit", max_text=len(text)), 5)


def _caption(claim: Mapping[str, Any]) -> str:
    curve = claim["curve"]
    if not curve["index"]:
        return ""
    if len(curve["index"]) < POINTS:
        return "Bars from 0, to scale."
    parts = [describe(claim).partition(" All numbers")[0]]
    log_x, log_y = log_axes(claim)
    if log_x and "0" in curve["index"]:
        parts.append("Index 0, the start, has no place on a log axis and is not drawn.")
    floor = drawn_floor(claim)
    if log_y and floor:
        parts.append(f"Values below about {power_of_ten(floor)} are not drawn.")
    if log_y and 0 in curve["bound"]:
        parts.append("The bound is 0 and lies below the picture.")
    if claim["statistics"]:
        parts.append("The band holds for the expected metric, at all drawn points at once.")
    elif claim["run"]["engine"] == "exact":
        parts.append(
            "The metric is enclosed rigorously; where no shading shows, the enclosure is thinner than the line."
        )
    if curve["trivial"]:
        parts.append("Dotted: the value at the start, below which the bound must fall to say anything.")
    same = [r["reading"].replace("_", " ") for r in claim["readings"] if r["same_bound"]]
    if same:
        which = f"The reading {same[0]} has" if len(same) == 1 else f"The readings {', '.join(same)} have"
        parts.append(f"{which} the same bound under other conditions.")
    if claim["verdict"]["outcome"] == "OUT_OF_SCOPE":
        drawn = any(math.isfinite(v) and (v > 0 or not log_y) for v in map(float, curve["bound"]))
        where = "the bound is drawn where it is not claimed." if drawn else "no bound is drawn."
        parts.append(f"The statement says nothing about this run: {where}")
    return " ".join(p for p in parts if p)


def _rows(claim: Mapping[str, Any]) -> list[list[str]]:
    curve = claim["curve"]
    rows: list[list[str]] = []
    for i, index in enumerate(curve["index"]):
        low, high, bound = (float(curve[k][i]) for k in ("metric_low", "metric_high", "bound"))
        middle = low + (high - low) / 2
        over = "–" if middle == 0 else ratio(bound / middle)
        exact = parse_number(index, "the index", max_text=len(index))
        start = [_pretty(exact, 7)] if claim["statement"]["metric"]["index"] else []
        rows.append([*start, str(curve["rounds"][i]), *(_pretty(v, 6) for v in (low, high, bound)), over])
    return rows


def _conditions(claim: Mapping[str, Any], stated: Statement) -> list[dict[str, Any]]:
    decided = {c["name"]: c for c in claim["scope"].get("conditions", [])}
    rows: list[dict[str, Any]] = []
    for condition in stated.conditions:
        here = decided.get(condition.name, {})
        rows.append(
            {
                "name": condition.name,
                "meaning": condition.meaning,
                "mathml": Markup(expr_mathml(condition.relation, stated)),
                "holds": here.get("holds"),
                "slack": _slack(here),
                "note": here.get("note", ""),
            }
        )
    return rows


def _slack(decided: Mapping[str, Any]) -> str:
    ends = decided.get("slack", [None, None])
    if ends[0] is None or ends[1] is None:
        return "not a real number" if decided else "–"
    share = decided.get("relative")
    middle = _pretty((ends[0] + ends[1]) / 2, 4)
    return middle if share is None else f"{middle} ({_pretty(100 * share)} %)"


def _symbols(claim: Mapping[str, Any], stated: Statement) -> tuple[list[dict[str, Any]], dict[str, str]]:
    rows: list[dict[str, Any]] = []
    exact: dict[str, str] = {}
    for symbol in claim["statement"]["symbols"]:
        name = symbol["name"]
        constant = claim["constants"].get(name)
        row = {**symbol, "mathml": Markup(expr_mathml(stated.symbol(name).expr, stated))}
        row |= {"value": "all compared" if symbol["role"] == "index" else "–", "known": "", "side": "", "how": ""}
        if constant is not None:
            value = parse_number(constant["value"], name, max_text=len(constant["value"]))
            row["value"] = _value(value)
            row |= {"known": constant["known"], "how": constant["how"]}
            row["side"] = {"upper": ", from above", "lower": ", from below"}.get(constant["side"], "")
            if row["value"] != constant["value"] and round_down(value, 8) != value:
                exact[name] = shortened(constant["value"])
        rows.append(row)
    return rows, exact


def _value(value: Fraction) -> str:
    """As a decimal where eight digits say it exactly or the ratio is long, else as a ratio such as 1/18."""
    exact = format_exact(value)
    return exact if len(exact) <= 9 and round_down(value, 8) != value else pretty(value, 8)


def _witness(witness: Mapping[str, Any]) -> list[tuple[str, str]]:
    shown: list[tuple[str, str]] = []
    for name, value in witness.items():
        if isinstance(value, Mapping):
            text = ", ".join(f"{k} = {shortened(str(v))}" for k, v in value.items())
        elif isinstance(value, list):
            text = " to ".join(str(v) for v in dict.fromkeys(value)) if len(value) == 2 else json.dumps(value)
        else:
            text = shortened(str(value), 200)
        shown.append((name.replace("_", " "), text))
    return shown
