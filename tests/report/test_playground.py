"""The playground's JavaScript, run by Node, against `evaluate`, `scope` and `largest`, and against numbers by hand.

Needs Node; without it these tests are skipped with the reason. The page is tested in `test_playground_browser.py`.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from playground_tools import difference, drawn, worked

import boundcheck.report
from boundcheck.report.playground import playground
from boundcheck.theory.dimension import STEP
from boundcheck.theory.discovery import all_statements, readings
from boundcheck.theory.statement import Condition, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, count

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed (apt-get install nodejs)")
SCRIPT = Path(boundcheck.report.__file__).parent / "templates" / "playground.js"
DRIVER = """
require(process.argv[1]);
const b = globalThis.boundcheckPlayground, jobs = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(jobs.map(([data, points]) => points.map(([reading, texts]) => {
  const f = b.compute(data, data.readings[reading], texts);
  if (f.ball) Object.assign(f, { value: String(b.toNumber(f.ball)), log10: f.ball[0] ? b.log10(f.ball) : null,
    shown: b.show(f.ball, 15), error: f.error, estimate: String(b.relativeError(f.ball)) });
  delete f.ball;
  return f;
}))));
"""
# of each kind: cancellation in doubles, ceilings of fractions, whole numbers, prescribed steps, logarithms, no index
SAMPLE = (
    "fedshuffle/theorem_5_1_strongly_convex",
    "fedshuffle/theorem_e_1_strongly_convex",
    "fedshuffle/theorem_5_1_strongly_convex_tuned",
    "fedshuffle/theorem_5_2",
    "feddane/theorem_6_rounds",
    "feddane/theorem_7",
    "partial_averaging/theorem_1",
    "partial_averaging/remark_2",
    "scgd/theorem_3_3",
    "scgd/choice_of_e_rule",
    "async_fl/equation_33",
    "async_fl/theorem_1",
)


def run(jobs: list[tuple[dict[str, Any], list[tuple[int, dict[str, str]]]]]) -> list[list[dict[str, Any]]]:
    """What the script finds at the points of each playground."""
    assert NODE is not None
    done = subprocess.run(
        [NODE, "-e", DRIVER, str(SCRIPT)],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return json.loads(done.stdout)


def compared(names: list[str], points: int) -> tuple[int, float]:
    """How many points of the readings agree (the worked numbers and drawn ones), and the largest difference."""
    jobs: list[Any] = []
    for name in names:
        own = readings(*name.split("/"))
        data = json.loads(str(playground(own)["data"]))
        places = [(i, worked(s, data, i)) for i, s in enumerate(own)]
        jobs.append((data, places + [(i, drawn(own[i], texts, n)) for i, texts in places for n in range(points)]))
    agreed, largest = 0, 0.0
    for name, (data, places), found in zip(names, jobs, run(jobs), strict=True):
        own = readings(*name.split("/"))
        for (i, texts), answer in zip(places, found, strict=True):
            largest = max(largest, difference(own[i], data["readings"][i], texts, answer))
            agreed += 1
    return agreed, largest


@pytest.mark.parametrize("name", SAMPLE)
def test_the_script_finds_what_evaluate_finds(name: str) -> None:
    agreed, largest = compared([name], 6)
    assert agreed >= 7
    assert largest <= 1e-12


@pytest.mark.slow  # all readings, about a minute
def test_every_reading_at_its_worked_number_and_a_thousand_random_points() -> None:
    names = list(dict.fromkeys(s.id.rpartition("/")[0] for s in all_statements(None, lambda error: None)))
    agreed, largest = compared(names, 3)
    assert agreed >= 1000 + 380
    assert largest <= 1e-12


def made(bound: Any, *relations: Any, **more: Any) -> Statement:
    """A statement about a step `eta` >= 0, a number `a` and a whole number `k`, as far as it uses them."""
    symbols = (
        Symbol("eta", "step size", STEP, low=Fraction(0)),
        Symbol("a", "number", STEP),
        count("k", "index", low=0),
    )
    used = {s.name for e in (bound, *relations) for s in e.free_symbols}
    return Statement(
        source=Source("none", "Test 1", "here"),
        reading="as_printed",
        title="test",
        symbols=tuple(s for s in symbols if s.name in used),
        metric=Metric("none", None),
        bound=bound,
        conditions=tuple(Condition(f"c{i}", r) for i, r in enumerate(relations)),
        name="test_1",
        **more,
    )


def at(statement: Statement, **texts: str) -> dict[str, Any]:
    """What the script finds at one point."""
    return run([(json.loads(str(playground([statement])["data"])), [(0, texts)])])[0][0]


eta, a, k = sp.Symbol("eta", real=True), sp.Symbol("a", real=True), sp.Symbol("k", real=True)


@pytest.mark.parametrize(
    ("bound", "texts", "value"),
    [
        (sp.sqrt(1 + eta**2) - 1, {"eta": "1e-12"}, 5e-25),  # 0 in doubles
        (sp.exp(eta) - 1 - eta, {"eta": "1e-10"}, 5e-21 * (1 + 1e-10 / 3)),
        (sp.log(1 + eta), {"eta": "1e-20"}, 1e-20),
        (sp.log(k) - sp.Rational(20794415416798359, 10**16), {"k": "8"}, 2.8251696364374530e-17),
        (sp.exp(k) - 485165195, {"k": "20"}, 0.40979027796910683),
        ((1 - eta) ** k, {"eta": "1/2", "k": "40"}, 2.0**-40),
        (8 * eta / (3 * eta), {"eta": "7"}, 8 / 3),
        (sp.ceiling(a / 3) + sp.floor(-a), {"a": "0.3"}, 0),
        (sp.ceiling(10 * a), {"a": "0.3"}, 3),  # 10 * 0.3 in fractions, not in doubles
        (a ** sp.Rational(2, 3) + sp.Max(a, 3) * sp.pi, {"a": "8"}, 4 + 8 * math.pi),
        (eta**a, {"eta": "0", "a": "0"}, 1),
        (a**k, {"a": "-2", "k": "3"}, -8),
        (sp.Abs(a) + sp.Min(a, 0), {"a": "-5/2"}, 0),
    ],
)
def test_numbers_by_hand(bound: Any, texts: dict[str, str], value: float) -> None:
    found = at(made(bound), **texts)
    assert float(found["value"]) == pytest.approx(value, rel=1e-15)
    assert float(found["estimate"]) <= 1e-15


def test_beyond_the_doubles_the_value_is_a_power_of_ten() -> None:
    found = at(made(2**k), k="1000000")
    assert found["value"] == "Infinity"
    assert found["log10"] == pytest.approx(1e6 * math.log10(2), rel=1e-14)
    assert found["shown"] == "10^301029.995663981"
    assert at(made(sp.exp(-k)), k="1000000")["shown"] == "10^−434294.481903252"


def test_what_cannot_be_computed_has_an_error_estimate() -> None:
    found = at(made(sp.exp(sp.exp(k)) - sp.exp(sp.exp(k) + sp.exp(-(k**3)))), k="12")
    assert float(found["estimate"]) > 1e-12
    assert at(made(1 / a), a="0")["undefined"] == "a denominator is zero"
    assert at(made(sp.log(a)), a="-1")["undefined"].startswith("the logarithm")
    assert at(made(sp.sqrt(a)), a="-1")["undefined"].startswith("a root of a negative")


def test_within_1e_12_of_an_edge_the_scope_is_left_to_python() -> None:
    s = made(eta, eta**2 <= 2)
    root = "1.4142135623730950488"
    assert at(s, eta=root)["scope"] == "edge"
    assert at(s, eta="1.41421356237")["scope"] is True
    assert at(s, eta="1.41421356240")["scope"] is False
    assert at(made(eta, eta * 3 <= 1), eta="1/3")["scope"] is True  # equal as fractions
    assert at(made(eta, eta * 3 < 1), eta="1/3")["scope"] is False
    assert at(made(eta, sp.sqrt(eta) <= 0), eta="0")["scope"] is True
    assert at(made(eta, eta <= 1), eta="1.0000000000011")["scope"] is False
    assert at(made(eta, eta <= 1), eta="1.0000000000009")["scope"] == "edge"
    assert at(made(eta, sp.Eq(eta, 1)), eta="1.0000000000001")["scope"] == "edge"


def test_a_bound_at_its_trivial_value_is_vacuous() -> None:
    s = made(eta, trivial=sp.Integer(3))
    assert [at(s, eta=text)["vacuous"] for text in ("3", "2.999", "2.9999999999999")] == [True, False, "edge"]
    assert at(made(eta), eta="1")["vacuous"] is None


def test_the_largest_step_is_found_by_bisection_and_absent_without_an_interval() -> None:
    found = at(made(eta, eta**2 * (k + 1) <= 2, eta >= sp.Rational(1, 10)), eta="1", k="0")["largest"]["eta"]
    assert 0 <= 1 - float(found) / math.sqrt(2) <= 1e-9
    assert at(made(eta, eta <= 1, eta >= 2), eta="1")["largest"] == {"eta": "none"}
    assert at(made(eta, eta >= 2), eta="1")["largest"] == {"eta": "unlimited"}
    gap = json.loads(str(playground([made(eta, (eta - 1) * (eta - 2) >= 0)])["data"]))["readings"][0]
    assert (gap["steps"], gap["absent"]) == ([], ["eta"])
    assert float(at(made(eta, eta < 1), eta="2")["largest"]["eta"]) < 1


def test_wrong_input_is_a_sentence() -> None:
    s = made(eta * k)
    assert at(s, eta="-1", k="1")["error"] == "eta = -1 is outside its domain: real numbers eta >= 0."
    assert at(s, eta="1", k="1/2")["error"] == "k = 1/2 is outside its domain: integers k >= 0."
    assert "is not a number" in at(s, eta="1e99999", k="1")["error"]
    assert "is not a number" in at(s, eta="one", k="1")["error"]
    assert at(made(a, domain=(a <= 1,)), a="2")["error"] == "a <= 1 is needed for the statement to make sense."


def test_a_page_stays_small() -> None:
    shown = playground(readings("fedshuffle", "theorem_5_1_strongly_convex"))
    assert len(shown["script"]) < 24_000
    assert len(shown["data"]) < 12_000
    assert "//" not in shown["script"].replace("://", "")
