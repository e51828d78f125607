"""What the pages show, as plain data: a pure function of the claims' results.

`report_data` is the machine twin of the pages (`report.json`, schema 1). It holds no time and no path, so the
same code on the same claims gives the same bytes. Numbers that JSON lacks are the texts "inf", "-inf", "nan".
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from boundcheck._version import __version__
from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import format_exact
from boundcheck.evidence.standing import derivation_words
from boundcheck.report.snippet import claim_toml
from boundcheck.report.words import claim_names, limits_page_name, not_run_page_names, study_page_names
from boundcheck.theory.discovery import is_registered, readings, statement
from boundcheck.theory.typeset import average_text, expr_text, relation_text
from boundcheck.verdict import count_by, plain

if TYPE_CHECKING:
    from boundcheck.evidence.claim import ClaimResult
    from boundcheck.evidence.limits import LimitStudy
    from boundcheck.evidence.not_run import NotRun
    from boundcheck.evidence.studies import Study
    from boundcheck.theory.assumptions import Assumption
    from boundcheck.theory.statement import Condition, Statement
    from boundcheck.theory.symbols import Symbol


SCHEMA = 1
KIND = "boundcheck report"
_PACKAGES = ("numpy", "scipy", "sympy", "numba", "python-flint", "torch")  # those of them that are installed
# Facts of a run that differ between two equal runs; they stay with the stored run and out of reports.
_UNSTEADY = {"seconds", "peak_memory", "peak_memory_bytes", "threads", "started", "host", "complete"}


def report_data(
    results: Sequence[ClaimResult],
    title: str,
    limits: Sequence[LimitStudy] = (),
    studies: Sequence[Study] = (),
    not_run: Sequence[NotRun] = (),
) -> dict[str, Any]:
    """The whole report: title, versions, contradictory evidence on a reading, counts of all outcomes and grades (zeros
    included), every claim, limit and study, and what could not be run here."""
    from boundcheck.evidence.contradictions import contradictions

    names = claim_names(result.claim.label() for result in results)
    claims: list[dict[str, Any]] = [
        {"page": f"{name}.html", "spec": f"{name}.toml", **claim_data(result)}
        for name, result in zip(names, results, strict=True)
    ]
    met = [c["expectation"]["met"] for c in claims]
    found = contradictions((), results)
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "title": title,
        "versions": versions(),
        "contradictions": [c.to_dict() for c in found],
        "counts": {
            **count_by(r.verdict for r in results),
            "expectation": {"met": met.count(True), "missed": met.count(False), "not stated": met.count(None)},
        },
        "claims": claims,
        "limits": [_limits(study) for study in limits],
        "studies": [
            _study(study, page)
            for study, page in zip(studies, study_page_names(study.name for study in studies), strict=True)
        ],
        "not_run": _not_run(not_run),
    }


def _limits(study: LimitStudy) -> dict[str, Any]:
    """A limit study; every number is exact text."""
    found = {
        "name": study.limits.name,
        "page": limits_page_name(study.limits.name),
        "problem": dict(study.limits.problem),
        "problem_name": study.problem,
        "parameter": study.limits.parameter,
        "data_weights": study.data_weights,
        "curves": [asdict(curve) for curve in study.curves],
    }
    return _plain(found)


def _study(study: Study, page: str) -> dict[str, Any]:
    """A study, with the name of its page."""
    series = [
        {k: v for k, v in asdict(curve).items() if v or k in ("label", "x", "y", "role", "dash")}
        for curve in study.series
    ]
    found = {"name": study.name, "kind": study.kind, "page": page, "words": study.words}
    found |= {"tables": [asdict(table) for table in study.tables], "series": series}
    found |= {"panels": [asdict(panel) for panel in study.panels]}
    return _plain(found | {part: getattr(study, part) for part in ("axes", "log", "caption", "data")})


def _not_run(missing: Sequence[NotRun]) -> list[dict[str, Any]]:
    pages = not_run_page_names(n.name for n in missing)
    return [
        {"page": page, "kind": n.kind, "name": n.name, "why": n.why, "waiting": n.waiting}
        for page, n in zip(pages, missing, strict=True)
    ]


def versions() -> dict[str, str]:
    """What computed the report: boundcheck, Python and the packages that give the numbers."""
    found = {"boundcheck": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def claim_data(result: ClaimResult) -> dict[str, Any]:
    """One claim: the statement in words, the verdict, the constants, the points and the way to repeat it."""
    claimed = statement(result.claim.statement)
    details = result.verdict.details
    verdict = result.verdict.to_dict()
    tight = result.verdict.tightness
    if tight is not None:
        names = ("ratio_min", "ratio_max", "decrease")
        verdict["tightness"] = {name: getattr(tight, name) for name in names}
    verdict["details"] = {}  # told below, in the page's own words
    found = {
        "schema": SCHEMA,
        "label": result.claim.label(),
        "statement": _statement(claimed, result),
        "verdict": verdict,
        "expectation": _expectation(result),
        "constants": details.get("constants", {}),
        "scope": details.get("scope", {}),
        "statistics": details.get("statistics"),
        "curve": _curve(result, claimed),
        "readings": _readings(result, claimed),
        "rate": _rate(result),
        "run": {
            "engine": result.claim.engine if result.claim.curve is None else "outside (nothing was run)",
            "problem": result.claim.problem,
            "method": result.method,
            "info": {k: v for k, v in result.info.items() if k not in _UNSTEADY},
        },
        "toml": claim_toml(result.claim),
    }
    return _plain(found)


def _statement(claimed: Statement, result: ClaimResult) -> dict[str, Any]:
    metric, registered = claimed.metric, is_registered(claimed)
    return {
        "id": claimed.best_id,
        **({} if registered else {"definition": claimed.to_dict()}),
        "title": claimed.title,
        "reading": claimed.reading,
        "kind": claimed.kind.value,
        "belief": claimed.belief.value,
        "paper": str(claimed.source.paper),
        "link": claimed.source.paper.link,
        "number": claimed.source.number,
        "where": claimed.source.where,
        "replaces": claimed.replaces,
        "why": claimed.why,
        "remark": claimed.remark,
        "latex": claimed.latex(),
        "dimension_errors": claimed.dimension_errors(),
        "derivation": derivation_words(claimed.id) if registered else "",
        "symbols": [_symbol(s, claimed) for s in claimed.symbols],
        "conditions": [_condition(c) for c in claimed.conditions],
        "choices": [f"{name} = {expr_text(expr)}" for name, expr in claimed.choices],
        "assumptions": [
            _assumption(a, result) | ({"standing": "decided"} if a.name in metric.meets else {})
            for a in claimed.assumptions
        ],
        "metric": {
            "quantity": metric.quantity if metric.value is None else expr_text(metric.value),
            "scale": str(metric.scale),
            "dimension": None if metric.dimension is None else str(metric.dimension),
            "index": metric.index,
            "average": average_text(metric),
            "weights": None if metric.weights is None else expr_text(metric.weights),
            "surrogate": metric.surrogate,
            "expectation": metric.expectation,
        },
    }


def _symbol(symbol: Symbol, claimed: Statement) -> dict[str, Any]:
    role = "constant of the problem"
    if symbol.name == claimed.metric.index:
        role = "index"
    elif symbol.name in claimed.parameters:
        role = "parameter of the method"
    elif symbol.name in dict(claimed.metric.where):
        role = "computed from the other numbers"
    dimension = None if claimed.metric.dimension is None else str(symbol.dimension)
    return {
        "name": symbol.name,
        "meaning": symbol.meaning,
        "dimension": dimension,
        "domain": symbol.allowed(),
        "role": role,
    }


def _condition(condition: Condition) -> dict[str, Any]:
    return {"name": condition.name, "relation": relation_text(condition.relation), "meaning": condition.meaning}


def _assumption(assumption: Assumption, result: ClaimResult) -> dict[str, Any]:
    """standing: "decided" (exactly, by the problem), "sampled" (at many points), "granted" or "broken"."""
    details = result.verdict.details
    return {
        "name": assumption.name,
        "meaning": assumption.meaning,
        "standing": details.get("assumptions", {}).get(assumption.name, "granted"),
        "objection": details.get("violations", {}).get(assumption.name),
    }


def _expectation(result: ClaimResult) -> dict[str, Any]:
    claim = result.claim
    asked: list[str] = []
    if claim.expect is not None:
        asked.append(claim.expect.value)
    least, largest = claim.tightness
    if least is not None:
        asked.append(f"bound over metric at least {least:g}")
    if largest is not None:
        asked.append(f"bound over metric at most {largest:g}")
    if claim.rate is not None:
        rate = claim.rate
        asked.append(f"slope of {rate.metric} from {nearest_float(rate.low):g} to {nearest_float(rate.high):g}")
    met = None if not asked else not result.failures
    return {"asked": asked, "met": met, "failures": list(result.failures)}


def _curve(result: ClaimResult, claimed: Statement) -> dict[str, Any]:
    return {
        "index": [format_exact(k) for k in result.index],
        "rounds": list(result.rounds),
        "metric_low": list(result.metric_low),
        "metric_high": list(result.metric_high),
        "bound": list(result.bound),
        "trivial": _trivial(result, claimed),
    }


def _trivial(result: ClaimResult, claimed: Statement) -> list[float]:
    """The value that the bound must beat somewhere, at each point; empty where none is declared."""
    if claimed.trivial is None or not result.index:
        return []
    from boundcheck.theory.decide import Point

    index = str(claimed.metric.index)
    own = {s.name for s in claimed.trivial.free_symbols}
    known = {k: _fraction(c["value"]) for k, c in result.verdict.details.get("constants", {}).items() if k in own}
    if own - set(known) - {index}:
        return []
    at = [{**known, index: k} for k in result.index] if index in own else [known]
    values = [nearest_float(Point(claimed.trivial, where).enclose(96)[1]) for where in at]
    return values if index in own else values * len(result.index)


def _fraction(text: str) -> Fraction:
    from boundcheck.core.numbers import parse_number

    return parse_number(text, "a constant of the report", max_text=len(text))


def _readings(result: ClaimResult, claimed: Statement) -> list[dict[str, Any]]:
    """The other readings at the same constants; same_bound: they differ from the claimed one in scope alone."""
    paper, _, rest = claimed.id.partition("/")
    known = {s.id: s for s in readings(paper, rest.partition("/")[0])} if result.readings else {}
    return [
        {
            "id": r.id,
            "reading": known[r.id].reading if r.id in known else r.id,
            "belief": known[r.id].belief.value if r.id in known else "",
            "in_scope": r.in_scope,
            "same_bound": r.bound == result.bound,
            "bound": list(r.bound),
            "remark": r.remark,
        }
        for r in result.readings
    ]


def _rate(result: ClaimResult) -> dict[str, Any] | None:
    rate = result.rate
    if rate is None:
        return None
    asked = result.claim.rate
    return {
        "metric": None if asked is None else asked.metric,
        "slope": rate.slope,
        "low": rate.low,
        "high": rate.high,
        "kind": rate.kind,
        "level": rate.level,
        "points": rate.points,
        "span": list(rate.span),
        "asked": None if asked is None else [nearest_float(asked.low), nearest_float(asked.high)],
    }


def _plain(value: Any) -> Any:
    """The same in JSON's own types: fractions as exact text, numbers that JSON lacks as text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, Fraction):
        return format_exact(value)
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        return _plain(value.tolist())
    if isinstance(value, float):
        return plain(value)
    if isinstance(value, Sequence):
        return [_plain(v) for v in value]
    return str(value)
