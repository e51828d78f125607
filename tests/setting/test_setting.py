"""Setting: constants by key, hypotheses and metrics of a method on a problem, each computed once."""

from __future__ import annotations

import sys
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

import boundcheck as bc
from boundcheck.certified.lazy import LazyConstants
from boundcheck.errors import UnknownName
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import Setting
from boundcheck.setting.constants import pair_makers
from boundcheck.theory.keys import CATALOGUE

SPREAD = {"kind": "random_quadratics", "clients": 3, "d": 2, "seed": 1}
SCGD = {"kind": "scgd", "E": 1, "eta": "1/1000"}


def test_a_parameter_has_a_key_of_the_method_and_no_other_constant_has() -> None:
    drawn = {"kind": "fedshuffle", "eta_l": "1/8", "participation": {"kind": "importance", "b": 2}}
    pair = Setting(build_method(drawn), build_problem({"kind": "fedshuffle_36"}))
    assert pair.constant("method/eta_l").value == Fraction(1, 8)
    assert pair.constant("method/b").how == "parameter of the method"
    assert pair.constant("participation/b").how != "parameter of the method"
    assert not pair.has("method/M")
    assert not pair.has("participation/eta_l")
    with pytest.raises(UnknownName, match="the constant 'participation/MM' is unknown"):
        pair.constant("participation/MM")


def test_hypotheses_and_metrics() -> None:
    pair = Setting(build_method(SCGD), build_problem(SPREAD))
    assert pair.hypothesis("strong_quasi_convexity").holds is True
    assert pair.hypothesis("strong_quasi_convexity").known == "decided"
    assert pair.hypothesis("uniform_participation").holds is False
    assert pair.hypothesis("uniform_participation").why == "the cohorts of a round are not drawn."
    assert pair.hypothesis("no such hypothesis").holds is None
    assert pair.metric("dist2").source == "problem"
    assert pair.metric("dist2").start == pair.constant("start/dist2").value
    assert (pair.metric("drift").source, pair.metric("drift").start) == ("round", None)
    assert pair.metric("speed").source == ""


class Counts:
    """How often one claim builds its parts, and computes each constant."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.built: Counter[str] = Counter()
        self.constants: Counter[tuple[int, str]] = Counter()
        self._count(monkeypatch, "build_problem", build_problem)
        self._count(monkeypatch, "build_method", build_method)
        self._count(monkeypatch, "constants", pair_makers)
        begin = Setting.__init__

        def began(setting: Setting, method: Any, problem: Any) -> None:
            self.built["setting"] += 1
            begin(setting, method, problem)

        def lazy(own: LazyConstants, given: Any) -> None:
            def noted(name: str, make: Any) -> Any:
                self.constants[id(own), name] += 1
                return make()

            original(own, {name: (lambda name=name, make=make: noted(name, make)) for name, make in given.items()})

        original = LazyConstants.__init__
        monkeypatch.setattr(Setting, "__init__", began)
        monkeypatch.setattr(LazyConstants, "__init__", lazy)

    def _count(self, monkeypatch: pytest.MonkeyPatch, name: str, original: Any) -> None:
        """Count the calls of a function, under whichever name a module of the package has it."""

        def counted(*given: Any) -> Any:
            self.built[name] += 1
            return original(*given)

        for module in [m for key, m in sys.modules.items() if key.startswith("boundcheck.")]:
            for own in [own for own, value in vars(module).items() if value is original]:
                monkeypatch.setattr(module, own, counted)


@pytest.mark.parametrize(("eta", "sizes"), [("1/1000", 0), ("largest", 1)])
def test_a_claim_builds_each_part_once(monkeypatch: pytest.MonkeyPatch, eta: str, sizes: int) -> None:
    """A size that the statement gives needs the constants first: the method is built again, its constants are not."""
    counts = Counts(monkeypatch)
    result = run_claim(Claim("scgd/theorem_3_3/corrected", SPREAD, {**SCGD, "eta": eta}, at={"K": [0, 1, 5]}))
    assert result.index
    once = 1 + sizes
    assert counts.built == {"build_problem": 1, "build_method": once, "setting": once, "constants": 1}
    assert counts.constants
    assert max(counts.constants.values()) == 1


def test_constants_that_depend_on_the_step_size_are_computed_for_each() -> None:
    problem = build_problem(SPREAD)
    by_steps = {"kind": "dane", "mu": 2, "steps": 1}
    first = Setting(build_method({**by_steps, "eta": 1}), problem)
    keys = ("subproblem/gamma", "method/eta", "clients/L")
    before = [first.constant(key) for key in keys]
    second = first.with_sizes(build_method({**by_steps, "eta": "1/9"}))
    alone = Setting(second.method, problem)
    assert dict(second.constants()) == dict(alone.constants())
    assert [second.constant(key) == c for key, c in zip(keys, before, strict=True)] == [False, False, True]
    more = first.with_sizes(build_method({**by_steps, "steps": 2, "eta": "1/9"}))  # not only the step size is another
    assert dict(more.constants()) == dict(Setting(more.method, problem).constants()) != dict(alone.constants())


def test_the_catalogue_is_a_function_after_every_import() -> None:
    import boundcheck.certified.constant
    import boundcheck.setting.constants  # noqa: F401

    found = bc.constants()
    assert [key.key for key in found] == list(CATALOGUE)
    assert all(key.definition and key.formula and key.source and key.where for key in found)
