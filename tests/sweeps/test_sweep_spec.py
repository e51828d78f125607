"""The specification of a sweep: every mistake with its line, before anything is computed."""

from __future__ import annotations

import pickle
import re

import pytest

from boundcheck.errors import SpecError
from boundcheck.sweeps.spec import sweep_from_text

BOUND = """kind = "bound"
statement = "scgd/theorem_3_3/corrected"
constants = { n = 20, E = 4, sigma2 = 1, dist2_0 = 4, L = 10 }
[grid]
constants.mu = ["1/10", 1]
constants.eta = "log:1e-6:1e-3:4"
at.K = [10, 100]
"""
COMPARE = """kind = "compare"
statement = "scgd/theorem_3_3/corrected"
problem = { kind = "scgd_appendix_c" }
method = { kind = "scgd", E = 2, eta = "largest" }
at = { K = [1, 10] }
[grid]
method.E = [1, 2]
"""


def problems(text: str) -> list[tuple[int, str]]:
    with pytest.raises(SpecError) as caught:
        sweep_from_text(text)
    return list(caught.value.problems)


def test_axes_and_rows() -> None:
    sweep = sweep_from_text(BOUND)
    assert [axis.name for axis in sweep.every_axis] == ["mu", "eta", "K"]
    assert sweep.shape == (2, 4, 2)
    assert (sweep.rows, sweep.chunks, sweep.range_of(0)) == (16, 1, (0, 16))
    assert sweep.units["mu"][0] == "[f] [x]^-2"
    assert sweep.units["eta"][1] == "step size"


def test_a_key_that_two_axes_share_keeps_its_path() -> None:
    text = COMPARE + 'problem.kind = ["scgd_appendix_c"]\nmethod.kind = ["scgd"]\n'
    assert [axis.name for axis in sweep_from_text(text).every_axis] == [
        "E",
        "method.kind",
        "problem.kind",
    ]  # table by table


OF_BOUNDS = [
    ('"bound"', '"bounds"', 1, "kind"),
    ("theorem_3_3", "theorem_3_9", 2, "unknown"),
    ("L = 10", "lambda = 10", 3, "symbol 'lambda' is unknown"),
    ("sigma2 = 1,", "", 2, "no value for sigma2"),
    ('["1/10", 1]', '["1/10", -1]', 5, "mu = -1 is outside its domain"),
    ('["1/10", 1]', "0.1", 5, "is no axis; write a list"),
    ('["1/10", 1]', "[]", 5, "empty list"),
    ('["1/10", 1]', '["0.1", "1/10"]', 5, "has a value twice"),
    ("constants.mu", "constant.mu", 5, "the key 'grid.constant' is unknown; did you mean 'constants'"),
    ("1e-3:4", "1e-7:4", 6, "needs 0 < low < high"),
    ("[10, 100]", '["1/2"]', 7, "integers"),
    ("[grid]", "chunk = 0\n[grid]", 4, "chunk = 0 is not allowed"),
    ("[grid]", '[latin]\nconstants.sigma2 = "log:1:2"\n[grid]', 4, "'latin.points' is missing"),
    ("[grid]", '[latin]\npoints = 3\nconstants.sigma2 = "1:2"\n[grid]', 6, "is not of the form log:low:high"),
    ("[grid]", '[latin]\npoints = 3\nconstants.n = "lin:2:9"\n[grid]', 6, "takes integers; end its range"),
    ("[grid]", '[latin]\npoints = 3\nconstants.mu = "lin:2:9"\n[grid]', 6, "stands in grid and in latin"),
]
MISTAKES = [
    *((BOUND, *row) for row in OF_BOUNDS),
    (COMPARE, "[1, 2]", "[1, 0]", 7, "E"),
    (COMPARE, "[1, 2]", '[1, "x"]', 7, "E"),
    (COMPARE, "method.E", "method.F", 7, "F"),
    (COMPARE, '"scgd_appendix_c"', '"nowhere"', 3, "nowhere"),
    (COMPARE, '"compare"', '"tune"\ntarget = 2', 2, "target is a share"),
    (COMPARE, COMPARE[COMPARE.index("[grid]") :], "", 0, "the file has no axis"),
]


@pytest.mark.parametrize(("file", "old", "new", "line", "text"), MISTAKES)
def test_mistakes(file: str, old: str, new: str, line: int, text: str) -> None:
    assert old in file
    found = problems(file.replace(old, new))
    assert any(at == line and text in said for at, said in found), found


def test_all_mistakes_are_told_at_once() -> None:
    found = problems(BOUND.replace("L = 10", "lambda = 10").replace('"1/10", 1', "0"))
    assert {line for line, _ in found} >= {3, 5}


def test_too_many_chunks() -> None:
    many = BOUND.replace("[grid]", 'chunk = 1\n[latin]\npoints = 1000000\nconstants.sigma2 = "lin:1:2"\n[grid]')
    assert "write chunk = 80 or more" in problems(many)[0][1]
    uneven = many.replace("[10, 100]", "[10, 100, 1000]").replace("points = 1000000", "points = 999983")
    needed = re.search(r"write chunk = (\d+) or more", problems(uneven)[0][1])
    assert needed is not None
    assert sweep_from_text(uneven.replace("chunk = 1\n", f"chunk = {needed[1]}\n")).chunks <= 200_000


def test_a_long_range_travels_as_its_text() -> None:
    text = BOUND.replace("1e-3:4", "1e-3:20000")
    sweep = sweep_from_text(text)
    packed = pickle.dumps(sweep)
    assert len(packed) < 5000  # a cluster gets it with every chunk
    assert pickle.loads(packed) == sweep
