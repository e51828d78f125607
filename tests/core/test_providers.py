"""Rooms above contribute kinds of problem, data sets, engines and studies by dotted name."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from boundcheck.core import providers
from boundcheck.errors import BadInput, UnknownName
from boundcheck.evidence.studies import kinds as studies
from boundcheck.problems import _data_sets
from boundcheck.problems.build import build, kinds
from boundcheck.problems.pure_noise import build as pure_noise


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    copy = {group: dict(names) for group, names in providers._REGISTERED.items()}
    monkeypatch.setattr(providers, "_REGISTERED", copy)


def test_a_kind_that_another_package_provides_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("elsewhere")
    module.__dict__.update(build=pure_noise, DATA=("stars",))
    monkeypatch.setitem(sys.modules, "elsewhere", module)
    with pytest.raises(UnknownName, match="noise_from_elsewhere"):
        build({"kind": "noise_from_elsewhere"})
    providers.register(providers.PROBLEMS, "noise_from_elsewhere", "elsewhere")
    assert "noise_from_elsewhere" in kinds()
    assert build({"kind": "noise_from_elsewhere"}).dim == pure_noise().dim
    providers.register(providers.DATA, "stars", "elsewhere")
    assert _data_sets.data_sets()[-1] == "stars"
    assert _data_sets.module("stars") is module
    with pytest.raises(BadInput, match="'stars' goes with kind = 'noise_from_elsewhere', not with this problem"):
        _data_sets.module("stars", ("digits",))


def test_nothing_is_imported_before_it_is_used() -> None:
    providers.register(providers.STUDIES, "later", "a_module_that_is_not_there")
    assert studies()[-1] == "later"
    assert providers.module_name(providers.STUDIES, "later") == "a_module_that_is_not_there"
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_not_there"):
        providers.load(providers.STUDIES, "later")


def test_a_name_has_one_provider() -> None:
    providers.register(providers.ENGINES, "neural", "boundcheck.networks.provider")  # as it is already
    with pytest.raises(ValueError, match=r"'neural' is provided by .*; mine cannot"):
        providers.register(providers.ENGINES, "neural", "mine")


def test_unknown_groups_and_names_are_refused() -> None:
    with pytest.raises(UnknownName, match="group of providers"):
        providers.register("metrics", "mine", "mine")
    with pytest.raises(UnknownName, match="provider of engines"):
        providers.load(providers.ENGINES, "quantum")
    assert providers.module_name(providers.PROBLEMS, "quadratics") is None
