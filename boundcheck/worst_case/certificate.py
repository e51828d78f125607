"""Certificates of worst cases as records; `verify/boundcheck_verify.py` checks them with the standard library alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundcheck.core.numbers import format_exact
from boundcheck.theory.discovery import statement
from boundcheck.worst_case.classes import common_points
from boundcheck.worst_case.forms import Row

if TYPE_CHECKING:
    from boundcheck.worst_case.case import Case
    from boundcheck.worst_case.programme import Certified


def record(case: Case, certified: Certified) -> dict[str, Any]:
    """The record of an upper value."""
    return {
        **described(case),
        "multipliers": [
            [list(q.of), _text(m)] for q, m in zip(case.programme.inequalities, certified.multipliers, strict=True) if m
        ],
        "upper": _text(certified.upper),
    }


def described(case: Case) -> dict[str, Any]:
    """What the record says of the case: all but the multipliers and the value that they prove."""
    programme, answers, measured = case.programme, case.answers, case.measured
    claimed = case.statement
    return {
        "kind": "worst",
        "statement": claimed.best_id,
        "method": case.method.name,
        "spec": {**case.spec},
        "rounds": case.horizon,
        "values": {name: _text(v) for name, v in case.values.items()},
        "constants": {key: _text(v) for key, v in case.by_key.items()},
        "curvature": [None if v is None else _text(v) for v in (case.curvature.mu, case.curvature.L)],
        "minimiser": answers.minimiser,
        "weights": [_text(w) for w in answers.weights],
        "rows": answers.rows,
        "gap_at_anchor": _keyed(answers.gap_at_anchor.lin),
        "answers": [
            [
                [[_keyed(a.point), _keyed(a.gradient), _keyed(a.value.lin)] for a in answers.answers[i, j]]
                for j in range(size)
            ]
            for i, size in enumerate(answers.sizes)
        ],
        "start": _keyed(case.start),
        "common": [_keyed(p.point) for p in common_points(answers)],
        "measured": {
            "quantity": claimed.metric.quantity,
            "scale": _text(measured.scale),
            "of": [[_text(w), [[_text(p), _keyed(x)] for p, x in own]] for w, own in measured.of],
        },
        "least": measured.least,
        "own": [
            {
                "quad": [[a, b, _text(c)] for (a, b), c in q.form.quad.items()],
                "lin": _keyed(q.form.lin),
                "const": _text(q.form.const),
                "equal": q.equal,
            }
            for q in programme.inequalities
            if q.of[0] == "own"
        ],
        "assumptions": [name for name in case.names if name not in case.unused],
    }


def differences(data: Mapping[str, Any]) -> list[str]:
    """Members of a record that today's statement and method would write otherwise; none where it is about them.

    Constraints of a user's own cannot be made again and are not compared. Raises the errors of bad input.
    """
    from boundcheck.worst_case.case import Case

    sizes = tuple(len(own) for own in data["answers"])
    claimed = statement(str(data["statement"]))
    today = described(Case(claimed, dict(data["values"]), sizes, data["rounds"], dict(data["spec"])))
    written = json.loads(json.dumps(today))
    left = {"own"} | ({"answers", "rows", "common"} if data["own"] else set[str]())
    return sorted(k for k, v in written.items() if k not in left and data.get(k) != v)


def examined(data: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Writes the record and has it checked by the verifier: its answer."""
    from boundcheck.verify import boundcheck_verify

    path.write_text(json.dumps(data), encoding="utf-8")
    return boundcheck_verify.examined(path)


def _text(value: Fraction) -> str:
    return format_exact(value)


def _keyed(row: Row) -> dict[str, str]:
    return {str(k): _text(c) for k, c in row.items()}
