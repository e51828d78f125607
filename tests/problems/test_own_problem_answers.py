"""A problem of a user's own file with a wrong answer: one sentence, before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.errors import BadInput

# x^4/4 on two clients, written with floats and Fractions alike; 0 is the minimiser
TEXT = """
import numpy as np
from fractions import Fraction
from boundcheck.certified.constant import Constant, Known
from boundcheck.errors import UnknownName

CALLS = []


class Quartic:
    name = "quartic"
    spec = {"kind": "quartic"}
    dim = 2
    clients = 2
    weights = (Fraction(1, 2), Fraction(1, 2))
    start = (Fraction(1, 2), Fraction(-1, 3))
    metrics = ("gap", "dist2")

    def constants(self):
        return {"n": Constant(Fraction(2), Known.EXACT, "exact", "counted")}

    def gradient(self, client, x):
        return x**3

    def metric(self, name, x):
        return sum(v**4 for v in x) / 4 if name == "gap" else sum(v * v for v in x)

    def nearest(self, x):
        return 0 * x

    def violations(self, assumption):
        if assumption == "convexity":
            return None
        raise UnknownName("the assumption", assumption, ["convexity"])


problems = {"quartic": Quartic}
"""
GRADIENT, METRIC = "return x**3", "return sum(v**4 for v in x) / 4 if name"
BAD = {
    (GRADIENT, "return 3"): r"gradient\(0, x\) gives 3 at the start; it must give an array of shape \(2,\)",
    (GRADIENT, "return x[:1]"): r"gradient\(0, x\) gives array.* at the start; it must give an array of shape \(2,\)",
    (GRADIENT, "return list(x)"): r"gradient\(0, x\) gives \[.*; it must give an array of shape",
    (GRADIENT, "return np.array(['a', 'b'])"): r"gradient\(0, x\) gives .* an array of shape",
    (GRADIENT, "pass"): r"gradient\(0, x\) gives None at the start; it must give an array",
    (GRADIENT, "return x**3 if client == 0 else None"): r"gradient\(1, x\) gives None at the start",
    (GRADIENT, "raise RuntimeError('no {luck}')"): r"gradient\(0, x\) raises RuntimeError at the start: no \(luck\)",
    (GRADIENT, "x *= x * x\n        return x"): r"gradient\(0, x\) changes the x that it is given",
    (GRADIENT, "return x / 0.0 if x.dtype != object else x"): r"gradient\(0, x\) .* must give finite",
    (GRADIENT, "return np.exp(x)"): r"gradient\(0, x\) raises TypeError at the start in Fractions",
    (GRADIENT, "CALLS.append(1)\n        return len(CALLS) * x"): r"gradient\(0, x\) gives two answers for one x",
    ("def gradient(self, client, x)", "def gradient(self, x)"): r"gradient\(0, x\) raises TypeError at the start",
    (METRIC, "return None if name"): r"metric\('gap', x\) gives None at the start; it must give one number",
    (METRIC, "return x if name"): r"metric\('gap', x\) gives array.*; it must give one number",
    (METRIC, "return 'low' if name"): r"metric\('gap', x\) gives 'low' at the start; it must give one number",
    (METRIC, "return float('nan') if name"): r"metric\('gap', x\) gives nan .* finite numbers",
    (METRIC, "return 1 / 0 if name"): r"metric\('gap', x\) raises ZeroDivisionError at the start",
    ("return 0 * x", "return 0"): r"nearest\(x\) gives 0 at the start; it must give an array of shape",
    ("(Fraction(1, 2), Fraction(-1, 3))", "(0.5, 0.3)"): r"start is \(0.5, 0.3\); it must be 2 Fractions",
    ("weights = (Fraction(1, 2)", "weights = (Fraction(1, 3)"): r"weights are .* 2 Fractions >= 0 that sum",
    ("dim = 2", "dim = '2'"): r"dim is '2'; it must be an integer",
    ("dim = 2", "sizes = (1, 0)\n    dim = 2"): r"sizes are \(1, 0\); they must be 2 integers",
    ("return {\"n\":", "return {\"L\": 2, \"n\":"): r"constants\(\) gives 2 for 'L'; it must be a Constant",
    ("return None\n        raise", "return False\n        raise"): r"violations\('convexity'\) gives False; it must be",
    ("def nearest", "def arrays(self):\n        return 3\n\n    def nearest"): r"arrays\(\) must give `Arrays`",
    ("def violations", "def violation"): "which has no 'violations'; a problem has",
}  # fmt: skip
CLAIM = """
[[claim]]
name = "own"
statement = "classics/gradient_descent_convex/sharp"
problem = { kind = "quartic" }
method = { kind = "gradient_descent", eta = "1/10" }
constants = { L = 1 }
engine = "sampled"
at = { k = [10] }
expect = "HOLDS"
"""
DESCENT = {"kind": "gradient_descent", "eta": "1/10"}


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    from loaded_papers import unloaded_afterwards

    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    with unloaded_afterwards():
        yield


def load(folder: Path, old: str = "", new: str = "") -> Path:
    assert old in TEXT
    path = folder / "quartic_file.py"
    path.write_text(TEXT.replace(old, new) if old else TEXT)
    bc.load(path)
    return path


def test_a_right_problem_runs_in_both_engines(tmp_path: Path) -> None:
    load(tmp_path)
    for engine in ("exact", "sampled"):
        how: Any = {"arithmetic": "float64"} if engine == "exact" else {}
        curve = bc.run(DESCENT, {"kind": "quartic"}, rounds=[1], metrics=["dist2"], engine=engine, **how)
        # x - x^3/10 at 1/2 and -1/3
        assert curve.values["dist2"][0] == pytest.approx((1 / 2 - 1 / 80) ** 2 + (1 / 3 - 1 / 270) ** 2, rel=1e-12)


@pytest.mark.parametrize(("change", "match"), BAD.items())
def test_wrong_answers_are_one_sentence(change: tuple[str, str], match: str, tmp_path: Path) -> None:
    load(tmp_path, *change)
    with pytest.raises(BadInput, match=f"^the problem 'quartic' of quartic_file.*{match}"):
        bc.problem(kind="quartic")


def test_an_object_is_looked_at_too(tmp_path: Path) -> None:
    namespace: dict[str, Any] = {}
    exec(TEXT.replace(GRADIENT, "return 3"), namespace)
    with pytest.raises(BadInput, match=r"the problem 'quartic': gradient\(0, x\) gives 3 at the start"):
        bc.run(bc.method(DESCENT), namespace["Quartic"](), rounds=[10**7], engine="sampled", metrics=["dist2"])


def test_what_goes_wrong_later_is_one_sentence(tmp_path: Path) -> None:
    load(tmp_path, GRADIENT, "return x**3 if abs(x[0]) >= 1 / 2 else 1 // 0 * x")
    for engine in ("exact", "sampled"):
        how: Any = {"arithmetic": "float64"} if engine == "exact" else {}
        with pytest.raises(BadInput, match="the problem 'quartic': gradient raises ZeroDivisionError"):
            bc.run(DESCENT, {"kind": "quartic"}, rounds=[9], metrics=["dist2"], engine=engine, **how)


def test_the_exit_code_is_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = load(tmp_path, GRADIENT, "return x[:1]")
    (tmp_path / "own.toml").write_text(CLAIM)
    assert main(["check", str(tmp_path / "own.toml"), "--load", str(path)]) == 2
    captured = capsys.readouterr()
    assert "the problem 'quartic' of quartic_file: gradient(0, x) gives" in captured.out + captured.err
    assert "Traceback" not in captured.out + captured.err
