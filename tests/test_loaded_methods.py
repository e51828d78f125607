"""Methods and problems of a file of --load: the shipped examples against hand computations, and every bad input."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loaded_papers import unloaded_afterwards

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.build import algorithms, build

F = Fraction
METHODS = Path(__file__).parents[1] / "examples" / "methods"
HALF = {"kind": "quadratics", "clients": [{"A": [[1]], "b": [0]}], "start": ["1/3"]}  # x^2/2
# f_i = a x^2/2 - b x; the mean has its minimum at 3/4
TWO = {"kind": "quadratics", "clients": [{"A": [[1]], "b": [2]}, {"A": [[3]], "b": [1]}], "start": [3]}
SLOPES = (lambda x: x - 2, lambda x: 3 * x - 1)
BEST = F(3, 4)


@pytest.fixture(autouse=True)
def own_papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    with unloaded_afterwards():
        yield


def sampled(
    name: str, method: Mapping[str, Any], problem: Any, rounds: Any, metric: str = "dist2", seeds: int = 1
) -> Any:
    bc.load(METHODS / f"{name}.py")
    return bc.run(method, problem, rounds=rounds, metrics=[metric], engine="sampled", seeds=seeds).samples[metric]


def exact(name: str, method: Mapping[str, Any], problem: Any, rounds: Any) -> list[F]:
    bc.load(METHODS / f"{name}.py")
    curve = bc.run(method, problem, rounds=rounds, metrics=["dist2"], arithmetic="rational")
    assert curve.exact is not None
    return list(curve.exact["dist2"])


# --- the examples ---------------------------------------------------------------------------------------------------


def test_each_example_is_one_short_file(capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(METHODS.glob("*.py"))
    assert len(files) == 13
    for file in files:
        assert len(file.read_text().splitlines()) <= 40, file.name
        bc.load(file)
    assert main(["list", "--methods"]) == 0
    own = [line for line in capsys.readouterr().out.splitlines() if line.startswith("feddyn")]
    assert any("alpha" in line and "needed" in line for line in own)
    assert main(["check", str(METHODS / "heavy_ball.toml")]) == 0
    assert "SUPPORTED" in capsys.readouterr().out


# Both samples have gradients along (1, -1) up to signs, so that x + y = 2 after every step of signSGD: dist2 >= 2.
KARIMIREDDY = {
    "kind": "quadratics", "start": [1, 1],
    "clients": [{"components": [
        {"A": [["81/100", "-99/100"], ["-99/100", "121/100"]], "b": [0, 0]},
        {"A": [["121/100", "-99/100"], ["-99/100", "81/100"]], "b": [0, 0]},
    ]}],
}  # fmt: skip


def test_sign_sgd_stays_on_a_line_and_error_feedback_leaves_it() -> None:
    own = {"eta": "7/100", "local": {"part": "stochastic_steps", "steps": 1, "batch": 1}}
    stuck = sampled("signsgd", {"kind": "signsgd", **own}, KARIMIREDDY, [10, 200], seeds=4)
    assert stuck.min() >= 2 - 1e-12
    assert stuck.max() < 2.1
    assert sampled("signsgd", {"kind": "error_feedback", **own}, KARIMIREDDY, [1000], seeds=4).max() < 0.2


def test_qsgd_by_hand() -> None:
    """x = (1, 1), F = |x|^2/2: a coordinate of the gradient becomes sqrt(2) with probability 1/sqrt(2), or else 0."""
    ball = {"kind": "quadratics", "clients": [{"A": [[1, 0], [0, 1]], "b": [0, 0]}], "start": [1, 1]}
    found = sampled("qsgd", {"kind": "qsgd", "eta": "1/10"}, ball, [1], seeds=4000)[:, 0]
    kept, moved = 1.0, (1 - math.sqrt(2) / 10) ** 2
    p = 1 / math.sqrt(2)
    for value, probability in ((2 * kept, (1 - p) ** 2), (kept + moved, 2 * p * (1 - p)), (2 * moved, p * p)):
        share = np.isclose(found, value, rtol=1e-12).mean()
        assert share == pytest.approx(probability, abs=5 * math.sqrt(probability * (1 - probability) / 4000))
    finer = sampled("qsgd", {"kind": "qsgd", "eta": "1/10", "levels": 1000}, ball, [1], seeds=10)
    assert finer == pytest.approx(2 * 0.81, rel=1e-3)


def test_proxskip_over_all_coins_and_its_limit() -> None:
    eta, p = F(1, 4), F(1, 3)
    method = {"kind": "proxskip", "eta": "1/4", "p": "1/3"}
    expected = F(0)
    for coins in itertools.product((1, 0), repeat=3):
        share, y, h = F(1), [F(3), F(3)], [F(0), F(0)]
        mean = F(3)
        for coin in coins:
            share *= p if coin else 1 - p
            hat = [v - eta * (slope(v) - c) for v, c, slope in zip(y, h, SLOPES, strict=True)]
            mean = sum(hat) / F(2)  # the shifts sum to 0
            y = [mean - eta / p * sum(h) / 2 if coin else v for v in hat]
            h = [c + p / eta * (new - v) for c, new, v in zip(h, y, hat, strict=True)]
        expected += share * (mean - BEST) ** 2
    assert exact("proxskip", method, TWO, [3]) == [expected]
    assert exact("proxskip", {**method, "p": 1}, TWO, [1]) == [(F(3) - (F(1) + 8) / 2 * eta - BEST) ** 2]
    assert bc.run(method, TWO, rounds=[400], metrics=["dist2"]).values["dist2"][0] < 1e-20  # no drift is left
    simulated = sampled("proxskip", method, TWO, [3], seeds=4000)[:, 0]
    assert simulated.mean() == pytest.approx(float(expected), abs=5 * simulated.std() / math.sqrt(4000))


def test_sag_over_all_draws() -> None:
    eta, expected = F(1, 10), F(0)
    for draws in itertools.product((0, 1), repeat=4):
        x, last = F(3), [F(0), F(0)]
        for i in draws:
            last[i] = F(SLOPES[i](x))
            x -= eta * sum(last) / 2
        expected += (x - BEST) ** 2 / 16
    method = {"kind": "sag", "eta": "1/10", "participation": {"kind": "uniform", "size": 1}}
    assert exact("sag", method, TWO, [4]) == [expected]


def test_feddyn_by_hand_and_its_limit() -> None:
    eta, alpha, x, h, kept = F(1, 10), F(1, 2), F(3), F(0), [F(0), F(0)]
    found = list[F]()
    for _ in range(3):
        ends = list[F]()
        for i, slope in enumerate(SLOPES):
            y = x
            for _ in range(5):
                y -= eta * (slope(y) - kept[i] + alpha * (y - x))
            kept[i] -= alpha * (y - x)
            ends.append(y)
        h -= alpha * sum(y - x for y in ends) / 2
        x = sum(ends) / F(2) - h / alpha
        found.append((x - BEST) ** 2)
    method = {"eta": "1/10", "local": {"part": "gradient_steps", "E": 5}}
    assert exact("feddyn", {"kind": "feddyn", "alpha": "1/2", **method}, TWO, [1, 2, 3]) == found
    late = {"rounds": [200], "metrics": ["dist2"]}
    assert bc.run({"kind": "feddyn", "alpha": "1/2", **method}, TWO, **late).values["dist2"][0] < 1e-20
    assert bc.run({"kind": "fedavg", "eta": "1/10", "E": 5}, TWO, **late).values["dist2"][0] > 0.01


def test_frank_wolfe_by_hand() -> None:
    """On x^2/2 and the ball of radius 2 the distance after k rounds is 2/(2 [k/2] + 1), by induction."""
    method = {"kind": "frank_wolfe", "eta": 1, "radius": 2}
    found = sampled("frank_wolfe", method, HALF, [1, 2, 3, 4, 5, 20, 21])[0]
    assert found == pytest.approx([4, 4 / 9, 4 / 9, 4 / 25, 4 / 25, 4 / 441, 4 / 441], rel=1e-12)
    with pytest.raises(Unsupported, match="takes the norm of a vector; exact engines"):
        bc.run(method, HALF, rounds=[1], metrics=["dist2"])


def test_adagrad_at_the_server_by_hand() -> None:
    x, v, squares = 1 / 3, 1e-6, list[float]()
    for _ in range(3):
        change = -x / 10
        v += change**2
        x += change / 2 / (math.sqrt(v) + 1e-3)
        squares.append(x * x)
    method = {"kind": "fedadagrad", "eta": "1/10", "eta_g": "1/2"}
    assert sampled("fedopt", method, HALF, [1, 2, 3])[0] == pytest.approx(squares, rel=1e-12)


def test_adam_goes_astray_and_amsgrad_does_not() -> None:
    slopes = {"kind": "quadratics", "clients": [{"A": [[0]], "b": [b]} for b in (-4, 1, 1)], "start": [1]}
    own = {
        "kind": "adam", "beta1": 0, "beta2": "1/17", "eta": "1/(2*sqrt(t + 1))",
        "participation": {"kind": "pattern", "cohorts": [[0], [1], [2]]},
    }  # fmt: skip
    first, *later = sampled("adam", own, slopes, [1, 3, 30, 300, 3000], "x")[0]
    # v = 16/17 of C^2: the first step is 1/2 * 4/sqrt(256/17) = sqrt(17)/8
    assert first == pytest.approx(1 - math.sqrt(17) / 8, rel=1e-12)
    assert later == [1, 1, 1, 1]
    assert sampled("adam", {**own, "memory": 1}, slopes, [3000], "x")[0, 0] < -0.99


# F(x, y) = (A y + b, -A'x - c) with A'A = 4 I: M z with M^2 = -4 I about the saddle point
GAME = {
    "kind": "bilinear_game", "start": [3, 1, -2, 1],
    "clients": [{"A": [["6/5", "-8/5"], ["8/5", "6/5"]], "b": [1, 0], "c": [0, 3]}],
}  # fmt: skip


def test_descent_ascent_diverges_and_extragradient_contracts(capsys: pytest.CaptureFixture[str]) -> None:
    """By s = 2, eta = 1/4: |1 - i/2|^2 = 5/4 and |1 - i/2 - 1/4|^2 = 13/16 a round."""
    problem: Any = bc.problem(GAME)
    start = problem.metric("dist2", np.array(problem.start, dtype=object))
    for name, factor in (("gradient_descent_ascent", F(5, 4)), ("extragradient", F(13, 16))):
        own = {"kind": name, "eta": "1/4"}
        assert exact(name, own, GAME, [1, 2, 7]) == [start * factor**k for k in (1, 2, 7)]
        assert sampled(name, own, GAME, [40])[0, 0] == pytest.approx(float(start * factor**40), rel=1e-12)
        assert main(["check", str(METHODS / f"{name}.toml"), "--load", str(METHODS / f"{name}.py")]) == 0
        assert "HOLDS         EXACT" in capsys.readouterr().out


# --- the door -------------------------------------------------------------------------------------------------------

HEAD = """
import random
from dataclasses import dataclass
from fractions import Fraction
import numpy as np
from boundcheck.methods.round import Rule, Sent
CALLS = []
"""
STEP = "class M(Rule):\n    def step(self, y, g, at): "
SENT = "class M(Rule):\n    def upload(self, y, at): "
COMBINE = "class M(Rule):\n    def combine(self, total, at): "
TWO_LOCAL = "class M(Rule):\n    local = ('y', 'm')\n    def step(self, y, g, at): "
DRAWN = "class M(Rule):\n    def drawn(self, round_index): return "
# what a file says, and what is said of it by both engines, or by the simulated one alone
BAD = {
    "class M(Rule):\n    def step(self, y, g): return y": r"step\(self, y, g\) must take \(self, y, g, at\)",
    "class M(Rule):\n    step = 5": "step is 5; it must be a function",
    "class M: pass": "must be a class that inherits from Rule",
    "M = 5": "must be a class that inherits from Rule; it is 5",
    "class M(Rule):\n    eta: Fraction = Fraction(1)": "its field 'eta' is a parameter of every round",
    "class M(Rule):\n    a: Fraction = Fraction(1)\n    b: Fraction": "its fields cannot be parameters",
    "@dataclass\nclass M(Rule):\n    a: Fraction = Fraction(1)": "its dataclass is not frozen",
    "class M(Rule):\n    kept_by_server = {'x', 'm'}": "kept_by_server is .* it must have names",
    "class M(Rule):\n    kept_by_server = {'m': True}": "keeps no point 'x'",
    "class M(Rule):\n    local = 'model'": "local is 'model'; it must have names",
    "class M(Rule):\n    collecting = 'everyone'": "collecting must be None, 'same' or a participation",
    "class M(Rule):\n    def numbers(self, round_index, dim): pass": "numbers must return a table",
    DRAWN + "((0.5, {'c': 1}), (0.5, {'c': 0}))": "drawn must return pairs of an exact probability",
    DRAWN + "((Fraction(1, 2), {'c': 1}), (Fraction(1, 2), {}))": "with the same names in all",
    COMBINE + "return {'x': at.server['x'], 'm': total['x']}": "combine gives 'm', which is none of x",
    COMBINE + "return {}": "combine does not give 'x'",
    COMBINE + "return at.server['x'] + total['x']": "combine must return a table of vectors by name",
    SENT + "pass": "upload must return a table of vectors by name, .* it gives None",
    SENT + "return {'change': y - at.start}": "no 'x'; clients send change|there is no 'x'",
    SENT + "return {'x': Sent(y - at.start, 'mine')}": "upload sums 'x' by 'mine'",
    STEP + "pass": "step must return a table .* it gives None",
    STEP + "return y - at.eta * at.collected['g']": "no 'g'; clients send nothing|there is no 'g'",
    STEP + "raise RuntimeError('not today')": "the function step of its round fails: not today",
    TWO_LOCAL + "return {'m': g(y['y'])}": "step does not give 'y'; it must give y, m",
    TWO_LOCAL + "return {'y': y['y'], 'm': y['m'], 'z': y['m']}": "step gives 'z', which is none of y, m",
    STEP + "\n        y -= at.eta * g(y)\n        return y": "it changes what it is given",
    COMBINE + "\n        at.server['x'] = total['x']\n        return at.server": "it changes what it is given",
    COMBINE + "\n        total['x'] = 2 * total['x']\n        return total": "it changes what it is given",
    STEP + "\n        at.steps = 3\n        return y": "cannot assign to field 'steps'",
    STEP + "\n        self.seen = y\n        return y": "cannot assign to field 'seen'",
    STEP + "return y - at.eta * Fraction(random.randint(1, 10**9), 10**9) * g(y)": "give two answers for one input",
    STEP + "\n        CALLS.append(1)\n        return y - at.eta / len(CALLS) * g(y)": "give two answers for one input",
    "class M(Rule):\n    def numbers(self, round_index, dim): return {'c': Fraction(1, round_index + 1)}": (
        "rounds 0 and 1 have different numbers"
    ),
}  # fmt: skip
BAD_SAMPLED = {
    STEP + "return np.sum(y)": r"step gives 'y' of shape \(\)",
    STEP + "return y[:, :1]": r"step gives 'y' of shape \(2, 1\)",
    STEP + "return np.sign(y).astype(int)": "of shape .* and type int64",
    SENT + "return {'x': np.zeros(7)}": r"upload gives 'x' of shape \(7,\)",
    STEP + "return y - at.eta * g(y) / np.linalg.norm(g(y))": "mix the rows of different seeds",
    STEP + "return y - at.eta * np.sign(y) * np.mean(g(y), axis=0)": "mix the rows of different seeds",
    STEP + "return y - at.eta * np.random.rand() * np.sign(g(y))": "give two answers for one input",
    SENT + "return {'x': np.floor(y + at.uniform['u'])}": "there is no 'u'",
    COMBINE + "return {'x': np.floor(total['x'] + at.uniform['u'])}\n    uniforms = ('u',)": "there is no 'u'",
    "class M(Rule):\n    def begin(self, at): return 1 * at.server['x']\n"
    "    def step(self, y, g, at):\n        y[:] = np.sign(g(y))\n        return y": "it changes what it is given",
}  # fmt: skip
SAMPLES = {
    "kind": "quadratics", "start": [3, 1],
    "clients": [{"components": [{"A": [[a, 0], [0, 1]], "b": [a, i]} for a in (1, 2)]} for i in (0, 2)],
}  # fmt: skip
OWN = {"kind": "own", "eta": "1/10", "local": {"part": "stochastic_steps", "steps": 2, "batch": 1}}


def write(folder: Path, text: str, name: str = "own_file") -> Path:
    path = folder / f"{name}.py"
    path.write_text(f"{HEAD}{text}\n\n\nmethods = {{'own': M}}\n")
    return path


@pytest.mark.parametrize("text", [*BAD, *BAD_SAMPLED])
def test_bad_input_is_one_sentence(text: str, tmp_path: Path) -> None:
    bc.load(write(tmp_path, text))
    for engine in ("exact", "sampled") if text in BAD else ("sampled",):
        with pytest.raises(BadInput, match={**BAD, **BAD_SAMPLED}[text]):
            # a run of this many rounds would take minutes
            bc.run(OWN, SAMPLES, rounds=[10**7], metrics=["dist2"], engine=engine, seeds=100)


STATEMENT = "classics/gradient_descent_convex/sharp"
CLAIM = f"""
[[claim]]
name = "own"
statement = "{STATEMENT}"
problem = {{ kind = "huber", L = 2, R = 3, k = 10 }}
method = {{ kind = "own", eta = "1/10" }}
engine = "sampled"
at = {{ k = [10] }}
expect = "HOLDS"
"""


TWISTED = (METHODS / "heavy_ball.py").read_text().replace("heavy_ball_schedule", "own")
TWISTED = TWISTED.replace('"before": x}', '"before": x[:, :0]}')
PLAINLY = CLAIM.replace('"own", eta', '"gradient_descent", eta')


@pytest.mark.parametrize(
    ("text", "claim", "match"),
    [
        (
            TWISTED,
            CLAIM.replace(STATEMENT, "own_file/own_file/as_printed"),
            r"combine gives 'before' of shape \(2, 0\)",
        ),
        (f"{HEAD}methods = {{'fedavg': Rule}}", PLAINLY, "'fedavg' in the `methods` of .* is taken"),
        (f"{HEAD}problems = {{'quadratics': print}}", PLAINLY, "'quadratics' in the `problems` of .* is taken"),
        (f"{HEAD}methods = [Rule]", PLAINLY, "its `methods` must be a table of names"),
        (f"{HEAD}methods = {{'my method': Rule}}", PLAINLY, "its `methods` must be a table of names"),
        (f"{HEAD}x = 1", PLAINLY, "must export `theorem`"),
    ],
)
def test_bad_files_are_exit_code_2(
    text: str, claim: str, match: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own_file.py"
    path.write_text(text)
    (tmp_path / "own.toml").write_text(claim)
    assert main(["check", str(tmp_path / "own.toml"), "--load", str(path)]) == 2
    captured = capsys.readouterr()
    assert re.search(match, captured.out + captured.err)
    assert "Traceback" not in captured.out + captured.err


def test_a_name_of_another_file(tmp_path: Path) -> None:
    bc.load(write(tmp_path, "class M(Rule): pass"))
    with pytest.raises(BadInput, match="'own' of its `methods` is a name that own_file has already"):
        bc.load(write(tmp_path, "class M(Rule): pass", "second"))


def test_a_method_of_a_file_is_recognised_and_a_class_that_inherits_is_not(tmp_path: Path) -> None:
    text = "class Base(Rule):\n    a: Fraction\n    words: str = 'few'\n\n\nclass M(Base):\n    b: int = 2\n"
    path = write(tmp_path, text)
    path.write_text(path.read_text() + "methods['base'] = Base\n")
    bc.load(path)
    own = build({"kind": "own", "eta": 1, "a": "1/2", "b": 3, "words": "many"})
    assert (own.functions.a, own.functions.b, own.functions.words) == (F(1, 2), 3, "many")  # pyright: ignore
    assert algorithms(own) == ("own",)
    assert algorithms(build({"kind": "base", "eta": 1, "a": 1})) == ("base",)
    with pytest.raises(BadInput, match="b = 1/2"):
        build({"kind": "own", "eta": 1, "a": 1, "b": "1/2"})


def test_a_problem_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "own_problem_file.py"
    path.write_text(
        "from boundcheck.problems.build import build\n\n\ndef line(*, slope):\n"
        "    return build({'kind': 'quadratics', 'clients': [{'A': [[1]], 'b': [slope]}], 'start': [0]})\n\n\n"
        "problems = {'line': line, 'number': 5, 'none': lambda: None, 'fails': lambda: 1 / 0}\n"
    )
    bc.load(path)
    method = {"kind": "gradient_descent", "eta": "1/2"}
    curve = bc.run(method, {"kind": "line", "slope": 3}, rounds=[1], metrics=["dist2"], arithmetic="rational")
    assert curve.exact is not None
    assert list(curve.exact["dist2"]) == [F(9, 4)]
    for spec, said in (
        ({"kind": "line", "slop": 3}, "parameter 'slop' is unknown"),
        ({"kind": "number"}, "the problem 'number' of own_problem_file must be a function"),
        ({"kind": "none"}, "'none' of own_problem_file is None, which has no 'name'; a problem has"),
        ({"kind": "fails"}, "'fails' of .* cannot be built: ZeroDivisionError"),
    ):
        with pytest.raises(BadInput, match=said):
            bc.problem(spec)


def test_stored_runs_notice_a_changed_file_and_workers_load_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def curve() -> str:
        spec.write_text(CLAIM.replace(STATEMENT, "own_file/own_file/as_printed"))
        assert main(["check", str(spec), "--load", str(path), "--workers", "2"]) in (0, 1)
        return capsys.readouterr().out.splitlines()[1]

    spec = tmp_path / "own.toml"
    theorem = (METHODS / "heavy_ball.py").read_text()
    theorem = theorem.replace("heavy_ball_schedule", "own")
    path = tmp_path / "own_file.py"
    path.write_text(theorem)
    once = curve()
    path.write_text(theorem.replace("step * total", "2 * step * total"))
    assert curve() != once
