"""The rows of a sweep: the points of axes, and bounds that are those of the statement at each point."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.sweeps.rows import LABELS, claim_of, columns_of
from boundcheck.sweeps.spec import load_sweep, sweep_from_text
from boundcheck.sweeps.sweep import Latin, Range, Sweep
from boundcheck.theory.discovery import statement

BOUND = """kind = "bound"
constants = { n = 2, E = 4, sigma2 = 1, dist2_0 = 4 }
[grid]
statement = ["scgd/theorem_3_3/corrected", "scgd/theorem_3_3/as_printed_main"]
constants.mu = ["1/10", "1/3", 3]
constants.eta = "log:1e-6:1/10:7"
at.K = [0, 10, 1000]
[latin]
points = 5
seed = 3
constants.L = "log:1:4"
"""


def whole(sweep: Sweep) -> dict[str, Any]:
    """The columns of all rows."""
    return columns_of(sweep, tuple(map(range, sweep.shape)))


def point(sweep: Sweep, row: int) -> dict[tuple[str, ...], Any]:
    return sweep.point([int(level) for level in np.unravel_index(row, sweep.shape)])


@pytest.mark.parametrize("chunk", [1, 7, 24])
def test_chunks_cover_all_rows_in_order(chunk: int) -> None:
    sweep = sweep_from_text(BOUND.replace("[grid]", f"chunk = {chunk}\n[grid]", 1))
    rows: list[int] = []
    for number in range(sweep.chunks):
        levels = list(itertools.product(*sweep.box(number)))
        assert 1 <= len(levels) <= chunk
        found = [int(np.ravel_multi_index(at, sweep.shape)) for at in levels]
        assert sweep.range_of(number) == (found[0], found[-1] + 1)
        rows += found
    assert rows == list(range(sweep.rows))


def test_a_latin_hypercube_meets_every_stratum_once_on_every_axis() -> None:
    ranges = (Range(("a",), "a", 0.0, 1.0, False, False), Range(("b",), "b", 1.0, 1e6, True, False))
    latin = Latin((*ranges, Range(("n",), "n", 3.0, 6.0, False, True)), 400, 7)
    a, b, n = latin.table.T
    assert sorted(np.floor(a * 400).astype(int).tolist()) == list(range(400))
    assert sorted(np.floor(np.log(b) / math.log(1e6) * 400).astype(int).tolist()) == list(range(400))
    assert np.bincount(n.astype(int), minlength=7)[3:].tolist() == [100] * 4
    assert abs(np.corrcoef(a, np.log(b))[0, 1]) < 0.15
    assert Latin(latin.ranges, 400, 7).table.tolist() == latin.table.tolist()
    assert Latin(latin.ranges, 400, 8).table.tolist() != latin.table.tolist()


def test_bounds_are_those_of_the_statement_at_each_exact_point() -> None:
    sweep = sweep_from_text(BOUND)
    assert [axis.name for axis in sweep.every_axis] == ["statement", "mu", "eta", "K", "L"]
    found = whole(sweep)
    assert set(np.array(LABELS)[found["label"]]) == {"in scope", "vacuous", "out of scope", "not run"}
    for row in [*range(0, sweep.rows, 17), sweep.rows - 1]:
        at = point(sweep, row)
        claimed = statement(at[("statement",)])
        values = {path[-1]: value for path, value in at.items() if path != ("statement",)}
        assert found["statement"][row] == at[("statement",)]
        assert all(found[name][row] == float(values[name]) for name in ("mu", "eta", "K", "L"))
        if values["mu"] > values["L"]:  # outside of the declaration: no value, and the row says why
            assert LABELS[found["label"][row]] == "not run"
            assert "mu <= L" in found["reason"][row].replace("mu - L <= 0", "mu <= L")
            assert math.isnan(found["bound"][row])
            continue
        here = claimed.evaluate(n=2, E=4, sigma2=1, dist2_0=4, **values)
        assert found["bound"][row] == pytest.approx(here.value, rel=1e-12)
        assert found["in_scope"][row] == here.in_scope
        assert found["vacuous"][row] == here.vacuous
        label = "out of scope" if not here.in_scope else "vacuous" if here.vacuous else "in scope"
        assert LABELS[found["label"][row]] == label


def test_rows_do_not_depend_on_the_chunks() -> None:
    for chunk in (1000, 7):
        sweep = sweep_from_text(BOUND.replace("[grid]", f"chunk = {chunk}\n[grid]", 1))
        parts = [columns_of(sweep, sweep.box(number)) for number in range(sweep.chunks)]
        for name, column in whole(sweep).items():
            joined = np.concatenate([np.asarray(part[name]) for part in parts])
            assert np.array_equal(np.asarray(column), joined, equal_nan=name == "bound")


def test_the_edge_of_a_condition_is_decided_at_the_exact_level() -> None:
    # 1/3, 1/7, 1/10 and 1/49 are no doubles, and float(1/49)*49 is below 1
    text = """kind = "bound"
statement = "classics/gradient_descent_strongly_convex/as_printed"
[grid]
constants.L = [3, 7, 10, 49]
constants.eta = ["1/3", "1/7", "1/10", "1/49"]
[latin]
points = 1
constants.mu = "lin:1:2"
"""
    claimed = statement("classics/gradient_descent_strongly_convex/as_printed")
    lacking = {s.name for s in claimed.symbols} - {"L", "eta", "mu"}
    head, _, rest = text.partition("[grid]")
    constants = ", ".join(f"{name} = 1" for name in sorted(lacking))
    sweep = sweep_from_text(f"{head}constants = {{ {constants} }}\n[grid]{rest}")
    found = whole(sweep)
    for row in range(sweep.rows):
        at = point(sweep, row)
        L, eta = at[("constants", "L")], at[("constants", "eta")]
        inside = claimed.scope(**dict.fromkeys(lacking, 1), L=L, eta=eta, mu=at[("constants", "mu")]).in_scope
        assert found["in_scope"][row] == inside, (L, eta)
    assert found["in_scope"][0]  # eta = 1/L exactly


OF_A_PAIR = """statement = "scgd/theorem_3_3/corrected"
problem = { kind = "scgd_appendix_c" }
method = { kind = "scgd", eta = "largest" }
[grid]
method.E = [1, 2]
"""


def test_constants_of_a_problem_and_a_method_are_those_of_their_setting() -> None:
    found = whole(sweep_from_text(f'kind = "bound"\n{OF_A_PAIR}at.K = [1, 10, 100]\n'))
    assert found["in_scope"].all()
    assert (np.diff(found["bound"].reshape(2, 3)) < 0).all()


def test_the_shipped_example_says_what_is_computed() -> None:
    path = Path(__file__).parents[2] / "examples" / "sweeps" / "fedshuffle_steps.toml"
    sweep = load_sweep(path)
    assert (sweep.rows, [axis.name for axis in sweep.every_axis]) == (150, ["mu", "E", "size"])
    row = columns_of(sweep, (range(1), range(1), range(5, 6)))  # kappa = 1, E = 1, all clients: the least factor
    assert (row["mu"][0], row["E"][0], row["size"][0]) == (1, 1, 6)
    assert row["step_ratio"][0] == pytest.approx(9.617, rel=1e-3)
    assert "It is 9.6 times at\n# kappa = 1, E = 1" in path.read_text()


@pytest.mark.slow  # tunes 150 instances: more than a minute
def test_the_answer_of_the_shipped_example() -> None:
    folder = Path(__file__).parents[2]
    sweep = load_sweep(folder / "examples" / "sweeps" / "fedshuffle_steps.toml")
    found = whole(sweep)
    ratio = np.array(found["step_ratio"])
    assert ratio.min() > 2
    assert f"The best step that was found by running is {ratio.min():.1f} to {ratio.max():.0f} times" in (
        folder / "docs" / "how-to" / "sweep.md"
    ).read_text(encoding="utf-8")
    assert f"{ratio[found['E'] > 1].min():.1f}" == "19.2"
    assert f"{ratio[found['mu'] == found['mu'].min()].min():.1f}" == "21.2"


def test_the_claim_of_a_row() -> None:
    text = f'kind = "compare"\nat = {{ K = [1, 10] }}\n{OF_A_PAIR}method.eta = ["1/1000", "largest"]\n'
    sweep = sweep_from_text(text)
    assert [dict(claim_of(sweep, point(sweep, r)).method)["eta"] for r in range(4)] == ["1/1000", "largest"] * 2
    assert [dict(claim_of(sweep, point(sweep, r)).method)["E"] for r in range(4)] == [1, 1, 2, 2]
    assert point(sweep, 2)[("method", "E")] == Fraction(2)
    found = columns_of(sweep, (range(1), range(1, 2)))
    assert found["outcome"] == ["HOLDS"]
    assert found["tightness"][0] == pytest.approx(1.0, abs=0.1)
