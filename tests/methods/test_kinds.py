"""Kinds by their form: what a form fixes is built and recognised, and what differs in one part is no instance."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods.build import algorithms, build, kind_of, kinds, module_name
from boundcheck.methods.kind import NEEDED, AnyOf, Form, Kind, Part, anything, fits, kind
from boundcheck.methods.parameters import Parameter, count
from boundcheck.methods.parts import (
    Average,
    Blocks,
    Constant,
    Correction,
    Cyclic,
    Epochs,
    Full,
    GradientSteps,
    Momentum,
    ServerStep,
    Sole,
    Stale,
    SumOne,
    Uniform,
)
from tests.oracle.instances import METHODS

F = Fraction

# What is built from these parameters is of a wider sort than what the paper's statements about the kind are about
WIDER = {"fedavg", "fedshuffle_mvr"}


def test_patterns() -> None:
    epochs = Part(Epochs, E=int, batch=anything, divide=AnyOf("size", "work"))
    assert fits(Epochs(2, 3, divide="work"), epochs)
    for other in (Epochs(2, 3), Epochs((1, 2), divide="size"), Epochs(1, sampling="replacement", divide="size")):
        assert not fits(other, epochs)
    assert not fits(GradientSteps(1), epochs)
    assert fits(Sole(), Full)
    assert not fits(Sole(), Full())
    assert fits(Uniform(7), Part(Uniform))  # a field without a default is free
    assert not fits(None, Part(Uniform))


def test_a_form_gives_the_parts_that_it_fixes() -> None:
    form = Form(Full(), Part(Epochs, E=int, batch=2, divide="size"), aggregation=SumOne())
    method = form.compose("own", {"local": {"E": 3}, "schedule": Constant(F(1))})
    assert (method.name, method.participation, method.aggregation) == ("own", Full(), SumOne())
    assert method.local == Epochs(3, 2, divide="size")
    assert form.fits(method)
    outside = form.compose("own", {"local": {"E": 3, "batch": 1}, "schedule": Constant(F(1))})
    assert outside.local == Epochs(3, 1, divide="size")
    assert not form.fits(outside)
    with pytest.raises(AssertionError, match="leaves its schedule open"):
        form.compose("own", {"local": {"E": 3}})


def test_a_kind_of_declared_parameters_is_one_of_a_function() -> None:
    """As a plug-in writes it, and as a row: the same methods and the same sentences."""

    def parts(*, E: Any = 1, eta: Any, ascend: bool = False) -> dict[str, Any]:
        own = {"local": {"E": count(E, "E"), "batch": 2}, "server": {"ascend": ascend}}
        return {**own, "schedule": Constant(as_fraction(eta, "eta"))}

    form = Form(
        Full(), Part(Epochs, E=int, batch=anything), Constant, server=Part(ServerStep, eta_g=1, ascend=anything)
    )
    declared = (
        Parameter("E", "epochs", "an integer", count, "local.E", 1),
        Parameter("eta", "step size", "a number", as_fraction, "schedule.eta"),
        Parameter("ascend", "sign", "true or false", into="server.ascend", default=False, annotation="bool"),
    )
    batch = Parameter("batch", "samples", "2", into="local.batch", default=2)
    row = kind("Epochs.", ("none", "(1)"), form, (*declared, batch))
    function = Kind(parts, form)
    assert function.parameters() == {"E": 1, "eta": NEEDED, "ascend": False}
    assert {**function.parameters(), "batch": 2} == row.parameters()
    built = row.build("own", {"eta": "1/3", "E": 3})
    assert (built.local, built.schedule) == (Epochs(3, 2), Constant(F(1, 3)))
    for given in ({"eta": "1/3", "E": 3}, {"eta": 1, "ascend": True}, {}, {"eta": 1, "ascend": 1}, {"eta": 1, "E": 0}):
        assert outcome(function, given) == outcome(row, given)
    assert outcome(row, {}) == "the method 'own' needs the parameter 'eta'."
    assert (
        outcome(row, {"eta": 1, "ascend": 1})
        == "the method 'own': ascend = 1 is not allowed; it must be true or false."
    )
    assert "'etta' is unknown; did you mean 'eta'" in outcome(row, {"etta": 1})


def outcome(own: Kind, given: dict[str, Any]) -> Any:
    try:
        return own.build("own", given)
    except BadInput as error:
        return str(error)


@pytest.mark.parametrize("kind", sorted(set(kinds()) - WIDER - {"composed"}))
def test_what_a_kind_builds_is_an_instance_of_it(kind: str) -> None:
    assert kind in algorithms(build({"kind": kind, **METHODS[kind]}))


def test_a_composition_of_named_parts_is_an_instance_of_the_kinds_that_its_parts_fit() -> None:
    assert algorithms(build({"kind": "composed", "local": {"part": "gradient_steps", "E": 3}, "eta": 1})) == ("fedavg",)
    epochs = {"part": "epochs", "E": 2, "divide": "size"}
    shuffled = build({"kind": "composed", "local": epochs, "aggregation": "unbiased", "eta": 1})
    assert shuffled.local == Epochs(2, divide="size")


def test_the_kinds_of_a_theorem_may_be_narrower_than_what_is_built() -> None:
    assert "fedavg" not in algorithms(build({"kind": "fedavg", **METHODS["fedavg"]}))  # the cohort is drawn
    assert not algorithms(build({"kind": "fedshuffle_mvr", **METHODS["fedshuffle_mvr"]}))  # no sampled warm-up
    assert algorithms(build({"kind": "fedshuffle_mvr", "eta_l": 1, "a": "1/2", "warm_up": 3})) == ("fedshuffle_mvr",)


CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("fedavg_min", {"local": Epochs(2, sampling="replacement", common="mean")}),
    ("fedavg_mean", {"local": Epochs(2, sampling="replacement", common="min")}),
    ("fedshuffle_nova", {"local": Epochs(2, divide="largest")}),
    ("fedshuffle", {"server": ServerStep(F(1), ascend=True)}),
    ("fedshuffle_ascending", {"server": ServerStep(F(1))}),
    ("fedshuffle_gen", {"aggregation": SumOne(per_share=True)}),
    ("fedshuffle_gen", {"momentum": Momentum(F(1, 10))}),
    ("fedavg_async", {"exchange": None}),
    ("fedavg_sync", {"exchange": Stale()}),
    ("md_sampling", {"aggregation": Average()}),
    ("uniform_sampling", {"participation": Cyclic()}),
    ("periodic_averaging", {"exchange": Blocks(2)}),
    ("partial_averaging", {"exchange": Blocks(2, "whole")}),
    ("feddane", {"correction": Correction(Full(), "inverse")}),
    ("fedprox", {"correction": Correction()}),
    ("dane", {"participation": Uniform(2)}),
    ("scgd", {"server": ServerStep(F(1, 2))}),
]


@pytest.mark.parametrize(("kind", "change"), CHANGES)
def test_a_method_with_another_part_is_no_instance(kind: str, change: dict[str, Any]) -> None:
    method = build({"kind": kind, **METHODS[kind]})
    assert kind in algorithms(method)
    assert kind not in algorithms(replace(method, **change))


def test_the_module_name_a_kind() -> None:
    assert module_name("fedavg_min") == module_name("fedavg_mean") == "boundcheck.methods.kinds.fedshuffle"
    with pytest.raises(UnknownName):
        kind_of("fedshufle")
