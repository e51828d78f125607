"""Statements read back from the JSON form that `theory.serial` writes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import LONG_TEXT, parse_number
from boundcheck.errors import BadInput
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import Dimension
from boundcheck.theory.paper import Paper
from boundcheck.theory.serial import METRIC_FIELDS, SCHEMA, SYMBOL_FIELDS, TEXTS, expr_from_json, optional
from boundcheck.theory.statement import Algorithm, Belief, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol


def statement_from_dict(data: Mapping[str, Any]) -> Statement:
    """Inverse of `statement_to_dict`: an equal statement, with all its checks made again.

    Raises BadInput for another schema, a field that is missing or has another form.
    """
    if data.get("schema") != SCHEMA:
        raise BadInput(f"the statement has schema {data.get('schema')}; this version reads schema {SCHEMA}.")
    try:
        return _statement(data)
    except BadInput:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadInput(f"the statement's JSON form is not as written by to_dict(): {error!r}.") from error


def _paper(data: Mapping[str, Any]) -> Paper:
    found: dict[str, Any] = {**data, "authors": tuple(data["authors"])}
    return Paper(**found)


def _statement(data: Mapping[str, Any]) -> Statement:
    def dimension(found: Mapping[str, str]) -> Dimension:
        return Dimension(**{name: parse_number(value, name) for name, value in found.items()})

    def fraction(value: str | None) -> Fraction | None:
        return None if value is None else parse_number(value, "an end of a domain", max_text=LONG_TEXT)

    metric, algorithm, source = data["metric"], data["algorithm"], data["source"]
    return Statement(
        **{name: data[name] for name in TEXTS},
        source=Source(_paper(source["paper"]), source["number"], source["where"]),
        kind=Kind(data["kind"]),
        belief=Belief(data["belief"]),
        symbols=tuple(
            Symbol(
                **{name: s[name] for name in SYMBOL_FIELDS},
                free=bool(s.get("free", False)),
                dimension=dimension(s["dimension"]),
                low=fraction(s["low"]),
                high=fraction(s["high"]),
            )
            for s in data["symbols"]
        ),
        metric=Metric(
            **{name: metric[name] for name in METRIC_FIELDS},
            with_last=bool(metric.get("with_last", False)),
            measured=bool(metric.get("measured", False)),
            dimension=optional(dimension, metric["dimension"]),
            rounds=expr_from_json(metric["rounds"]),
            scale=expr_from_json(metric["scale"]),
            weights=optional(expr_from_json, metric["weights"]),
            value=optional(expr_from_json, metric.get("value")),
            where=tuple((name, expr_from_json(expr)) for name, expr in metric.get("where", ())),
            meets=tuple(metric.get("meets", ())),
        ),
        bound=expr_from_json(data["bound"]),
        any_method=data["any_method"],
        algorithm=None
        if algorithm is None
        else Algorithm(
            algorithm["kind"],
            tuple(algorithm["parameters"]),
            tuple((n, expr_from_json(e)) for n, e in algorithm["steps"]),
            tuple(algorithm.get("any_value", ())),
        ),
        domain=tuple(expr_from_json(r) for r in data["domain"]),
        conditions=tuple(
            Condition(c["name"], expr_from_json(c["relation"]), c["meaning"], c.get("vacuity", False))
            for c in data["conditions"]
        ),
        assumptions=tuple(
            Assumption(a["name"], a["meaning"], optional(expr_from_json, a["inequality"])) for a in data["assumptions"]
        ),
        trivial=optional(expr_from_json, data["trivial"]),
        printed_rate=optional(expr_from_json, data["printed_rate"]),
        choices=tuple((name, expr_from_json(expr)) for name, expr in data["choices"]),
    )
