"""The search on theorems from outside: hypotheses, bounds without a value, what was searched, and refusals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.errors import Unsupported
from boundcheck.evidence.witness import replay, stands
from boundcheck.falsify.float_statement import FloatStatement
from boundcheck.falsify.generator import BATCH
from boundcheck.falsify.quadratics import Form
from boundcheck.falsify.runs import Runs
from boundcheck.falsify.search import FalsifyResult, falsify
from boundcheck.theory import assumptions
from boundcheck.theory.loading import unload
from boundcheck.theory.statement import ROUND, Algorithm, Statement
from boundcheck.theory.symbols import Symbol, common

HERE = Path(__file__).parent / "theorems"


@pytest.fixture(autouse=True)
def own_papers() -> Iterator[None]:
    yield
    for path in HERE.glob("*.py"):
        unload(path.stem)


def loaded(name: str) -> Statement:
    return bc.load(HERE / f"{name}.py")[0]


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        *(("fedavg_opt", 0), ("fedavg_opt", 1), ("one_c", 1), ("one_c", 2)),
        pytest.param("fedavg_opt", 2, marks=pytest.mark.slow),
        pytest.param("one_c", 0, marks=pytest.mark.slow),  # a search many times as long
    ],
)
def test_false_theorems_fall_for_every_seed(name: str, seed: int) -> None:
    found = falsify(loaded(name), seed=seed, max_instances=100 * BATCH)
    assert found.witness is not None
    assert stands(replay(found.witness))


def test_samples_as_strongly_convex_as_the_objective_are_found() -> None:
    """gradient descent contracts dist2 by (1 - eta mu)^2 at mu, and not by 1 - 2 eta mu; mu is that of F."""
    own = loaded("fedavg_opt")
    mu, eta, d0 = (own.symbol(name).expr for name in ("mu", "eta", "dist2_0"))
    symbols = tuple(s.but(key="objective/mu") if s.name == "mu" else s for s in own.symbols)
    bound = (1 - 2 * eta * mu) ** (own.symbol("E").expr * own.symbol("R").expr) * d0
    found = falsify(replace(own, symbols=symbols, bound=bound, id="", name="o"), max_instances=4 * BATCH)
    assert found.witness is not None


def test_a_true_theorem_with_the_same_hypotheses_survives() -> None:
    true = next(s for s in bc.load(HERE / "one_c.py") if s.reading == "no_farther")
    found = falsify(true, seed=0, max_instances=20 * BATCH)
    assert found.witness is None
    assert -1 < found.best <= 1e-6


def test_a_bound_without_a_value_is_no_violation() -> None:
    own = loaded("fedavg_opt")
    compiled = FloatStatement(own, "eta")
    one, rest = np.ones(2), {"samples/L": np.ones(2), "start/dist2": np.ones(2), "method/E": 1.0}
    score = compiled.score({**rest, "samples/mu": np.array([np.nan, 0.5])}, one / 2, 1.0, one)
    assert score[0] == -np.inf
    assert score[1] == pytest.approx(np.log(1 / 0.75) / np.log(1 / 0.75))  # the whole promised decrease is missing


def test_a_bound_of_0_without_a_trivial_value_is_exceeded() -> None:
    compiled = FloatStatement(loaded("one_c"), "eta")
    known = {compiled.keys[name]: np.ones(2) for name in ("L", "dist2_0")}
    score = compiled.score(known, np.ones(2), 1.0, np.array([0.5, 0.0]))
    assert score[0] > 1
    assert score[1] == -np.inf


@pytest.mark.parametrize("name", ["convex_clients", "convex_samples", "strongly_convex_samples"])
def test_instances_outside_the_hypotheses_have_no_score(name: str) -> None:
    own = replace(loaded("fedavg_opt"), assumptions=(assumptions.CLASSES[name],), id="")
    generator = Runs(own)
    random = np.random.default_rng(0)
    drawn = (generator.draw(random) for _ in range(200))
    shape = next(s for s in drawn if isinstance(s.form, Form) and s.form.kind == "around" and s.form.dim == 2)
    genes = {k: random.standard_normal((200, *size)) for k, size in generator.genes(shape).items()}
    numbers = dict(generator.decode(shape, genes))
    assert isinstance(shape.form, Form)
    least = np.linalg.eigvalsh(shape.form.hessians(numbers)).min((1, 2))
    if "samples" in name:
        assert (least > 0).all()  # the generator draws what the hypothesis asks for
    numbers["A"] = numbers["A"].copy()
    numbers["A"][::2, :, 0] -= 10 * np.abs(numbers["A"]).max()
    scores = generator.scores(shape, numbers)
    assert all((score[::2] == -np.inf).all() for _, score in scores)


def test_a_search_without_an_instance_in_scope_says_why() -> None:
    own = loaded("one_c")
    beyond = replace(own, domain=(sp.Gt(own.symbol("L").expr, 10**30, evaluate=False),), id="", name="beyond")
    found = falsify(beyond, max_instances=2 * BATCH)
    assert (found.witness, found.best) == (None, -np.inf)
    assert (
        found.best_words == "no instance was within the statement's domain, conditions and hypotheses, and had a bound"
    )
    assert FalsifyResult.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_the_output_says_what_was_searched(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ["falsify", "fedavg_opt/fedavg_opt", "--load", str(HERE / "fedavg_opt.py"), "-o", str(tmp_path / "w.json")]
    assert main([*asked, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)["searched"]
    assert told["problems"].split(", ")[-1] == "quadratic"
    assert told["method"].split(", ")[0] in ("fedavg", "gradient_descent")
    assert main(asked) == 1
    assert "searched: " + "; ".join(f"{k}: {v}" for k, v in told.items()) in capsys.readouterr().out


def test_a_composition_that_leaves_sampling_open_is_refused() -> None:
    with pytest.raises(Unsupported, match="'composed', which leaves open who takes part and which samples a step uses"):
        falsify(loaded("pepit_sgd"), max_instances=1)


def test_a_hypothesis_of_ones_own_is_refused() -> None:
    own = assumptions.Assumption("own", "My own hypothesis.")
    with pytest.raises(Unsupported, match="it assumes own, which is not decided on its instances"):
        falsify(replace(loaded("one_c"), assumptions=(own,), id="", name="o"), max_instances=1)


def test_a_number_that_only_the_author_knows_is_not_drawn() -> None:
    """A diameter without a definition: any small value of it would "break" the bound."""
    own = loaded("one_c")
    diameter = Symbol("D2", "squared diameter", own.symbol("dist2_0").dimension, low=Fraction(0))
    false = replace(own, symbols=(*own.symbols, diameter), bound=own.bound + diameter.expr, id="", name="o")
    with pytest.raises(Unsupported, match="has D2, to which the search gives no value"):
        falsify(false, max_instances=1)


@pytest.mark.parametrize("seed", [1, *(pytest.param(s, marks=pytest.mark.slow) for s in (0, 2))])
def test_a_theorem_that_gives_its_sizes_falls(seed: int) -> None:
    """Nesterov's method without the term of the distance: step and momentum are prescribed, the metric is the gap."""
    found = falsify(loaded("nesterov_no_mu"), seed=seed, max_instances=400_000)
    assert found.witness is not None
    assert stands(replay(found.witness))


def test_a_method_of_the_same_file_is_carried_out_as_its_functions_say() -> None:
    """Half of a gradient step contracts by half: the rate of the whole step is false, that of the half is not."""
    false, true = bc.load(HERE / "damped.py")
    found = falsify(false if false.reading == "as_printed" else true, seed=0, max_instances=2 * BATCH)
    assert found.witness is not None
    assert stands(replay(found.witness))
    assert falsify(true if false.reading == "as_printed" else false, seed=0, max_instances=4 * BATCH).witness is None


def test_a_prescribed_sequence_of_step_sizes_is_taken_from_the_theorem() -> None:
    """With the steps 1/(L (r + 2)) one coordinate of curvature L falls by (r + 1)/(r + 2): dist2 is not 1/(k + 1)^3."""
    own = loaded("one_c")
    L, d0 = own.symbol("L").expr, own.symbol("dist2_0").expr
    symbols = (own.symbol("L"), common.k, own.symbol("dist2_0"))
    metric = replace(own.metric, index="k", rounds=common.k.expr)
    steps = (("eta", 1 / (L * (ROUND + 2))),)
    false = replace(
        own,
        symbols=symbols,
        metric=metric,
        bound=d0 / (common.k.expr + 1) ** 3,
        conditions=(),
        algorithm=Algorithm("gradient_descent", (), steps),
        id="",
        name="o",
    )
    found = falsify(false, seed=0, max_instances=300)
    assert found.witness is not None
    assert stands(replay(found.witness))
    assert "r" in found.witness.method["eta"]


def test_methods_of_drawn_samples_are_searched_too() -> None:
    """One client of one sample is gradient descent, for which the printed rate is false."""
    own = replace(loaded("one_c"), algorithm=Algorithm("sync_sgd", ("eta",)), id="", name="o")
    found = falsify(own, seed=0, max_instances=20_000)
    assert found.witness is not None
    assert found.witness.method["kind"] in ("sync_sgd", "gradient_descent")
