"""The pairs of library and algorithm, with the composition that each is held against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import torch
from fedlab.contrib import algorithm as fedlab
from flwr.serverapp import strategy as flwr
from pfl.aggregate.weighting import WeightByUser
from pfl.algorithm.fedprox import FedProx, FedProxParams
from pfl.algorithm.scaffold import SCAFFOLD, SCAFFOLDParams
from pfl.data.user_state import InMemoryUserStateStorage

from libraries import on_fedlab, on_flwr, on_pfl
from libraries.runs import Record

Run = Callable[[Any, int], Record]
EPOCHS = {"eta_l": "1/20", "E": 2}
HUGE = 1e8  # the constant tau (or eps) of adaptive servers at which their step is eta/tau, up to |Delta|/tau
DOUBLE, SINGLE, LIMIT = 1e-12, 1e-5, 1e-6


@dataclass(frozen=True)
class Pair:
    """One algorithm of one library.

    source: its file in the package. run: (task, seed) -> Record. method: the composition, without participation.
    problem: of `instances.PROBLEMS`. setup: how the library was used. tolerance: relative to the largest number so far.
    partial: (method, problem) for a part of the clients where these are others. random: as `run`, with the cohorts that
    the library draws, where `run` has others.
    """

    library: str
    algorithm: str
    source: str
    run: Run
    method: Mapping[str, Any]
    problem: str
    setup: str = ""
    tolerance: float = DOUBLE
    partial: tuple[Mapping[str, Any], str] | None = None
    random: Run | None = None


def _nova() -> dict[str, Any]:
    """FedNova with p_i = 1/n on `plain mean`: x + tau_eff sum of p_i (y_i - x)/tau_i, tau_eff the mean of the tau_i."""
    steps = [2, 4, 6, 8]
    effective = Fraction(sum(steps), 4)
    return {"kind": "fedshuffle_gen", "c": "none", "weights": [str(effective / 4 / t) for t in steps], **EPOCHS}


def _scaffold(gradient: bool) -> Callable[..., Any]:
    def parameters(task: Any, **common: Any) -> SCAFFOLDParams:
        storage = InMemoryUserStateStorage()
        return SCAFFOLDParams(
            **common, population=len(task.clients), use_gradient_as_control_variate=gradient, user_state_storage=storage
        )

    return parameters


def _prox(task: Any, **common: Any) -> FedProxParams:
    return FedProxParams(**common, mu=0.5)


_AVERAGE = {"kind": "fedavg_rr", **EPOCHS}
_PROX = {"kind": "fedprox", "mu": "1/2", "eta": "1/20", "E": 2}
_MOMENTUM = {"kind": "fedavgm", "momentum_g": "1/2", "eta_g": "1/2", **EPOCHS}
_SCAFFOLD = {"kind": "scaffold", **EPOCHS}
_FLWR, _PFL, _FEDLAB = "flwr", "pfl", "FedLab"
_STRATEGY, _ALGORITHM, _CONTRIB = "flwr/serverapp/strategy", "pfl/algorithm", "fedlab/contrib/algorithm"
_LARGE = "`eta` = `tau` = 10^8"


def _fedlab(name: str, trainer: str = "", **options: Any) -> Run:
    own = getattr(fedlab, f"{name}ServerHandler")
    return on_fedlab.run(own, getattr(fedlab, trainer or f"{name}SerialClientTrainer"), **options)


def _pfl(**options: Any) -> dict[str, Any]:
    """pfl visits users in turn with sampler "minimize_reuse"; with "random" it may draw a user twice."""
    return {"run": on_pfl.run(sampler="minimize_reuse", **options), "random": on_pfl.run(sampler="random", **options)}


PAIRS = (
    Pair(_FLWR, "FedAvg", f"{_STRATEGY}/fedavg.py", on_flwr.run(), _AVERAGE, "by data"),
    Pair(
        _FLWR,
        "FedProx",
        f"{_STRATEGY}/fedprox.py",
        on_flwr.run(flwr.FedProx, proximal_mu=0.5),
        _PROX,
        "equal",
        "`proximal_mu` = 1/2, which the client takes from the message",
    ),
    Pair(
        _FLWR,
        "FedAvgM",
        f"{_STRATEGY}/fedavgm.py",
        on_flwr.run(flwr.FedAvgM, server_learning_rate=0.5, server_momentum=0.5),
        _MOMENTUM,
        "by data",
        "`server_momentum` = `server_learning_rate` = 1/2",
    ),
    Pair(
        _FLWR,
        "QFedAvg",
        f"{_STRATEGY}/qfedavg.py",
        on_flwr.run(flwr.QFedAvg, client_learning_rate=0.05, q=0.0),
        _AVERAGE,
        "plain mean",
        "`q` = 0, where q-FedAvg is FedAvg with equal weights",
    ),
    Pair(
        _FLWR,
        "FedAdagrad",
        f"{_STRATEGY}/fedadagrad.py",
        on_flwr.run(flwr.FedAdagrad, eta=HUGE, tau=HUGE),
        _AVERAGE,
        "by data",
        f"in the affine limit: {_LARGE}",
        LIMIT,
    ),
    Pair(
        _FLWR,
        "FedYogi",
        f"{_STRATEGY}/fedyogi.py",
        on_flwr.run(flwr.FedYogi, eta=HUGE, tau=HUGE, beta_1=0.0),
        _AVERAGE,
        "by data",
        f"in the affine limit: {_LARGE}, `beta_1` = 0, `beta_2` = 0.99",
        LIMIT,
    ),
    Pair(
        _FLWR,
        "FedAdam",
        f"{_STRATEGY}/fedadam.py",
        on_flwr.run(flwr.FedAdam, eta=HUGE, tau=HUGE, beta_1=0.0),
        _AVERAGE,
        "by data",
        f"in the affine limit: {_LARGE}, `beta_1` = 0, `beta_2` = 0.99",
        LIMIT,
    ),
    Pair(
        _PFL,
        "FederatedAveraging",
        f"{_ALGORITHM}/federated_averaging.py",
        method=_AVERAGE,
        problem="by data",
        setup="`WeightByDatapoints`",
        tolerance=SINGLE,
        **_pfl(),
    ),
    Pair(
        _PFL,
        "FederatedAveraging with server momentum",
        f"{_ALGORITHM}/federated_averaging.py",
        method=_MOMENTUM,
        problem="by data",
        setup="`central_optimizer` = `torch.optim.SGD(lr=0.5, momentum=0.5)`, `WeightByDatapoints`",
        tolerance=SINGLE,
        **_pfl(central=lambda p: torch.optim.SGD(p, lr=0.5, momentum=0.5)),
    ),
    Pair(
        _PFL,
        "FedProx",
        f"{_ALGORITHM}/fedprox.py",
        method=_PROX,
        problem="plain mean",
        setup="`mu` = 1/2, `WeightByUser`",
        tolerance=SINGLE,
        **_pfl(algorithm=FedProx, parameters=_prox, weighting=WeightByUser),
    ),
    Pair(
        _PFL,
        "SCAFFOLD, option I",
        f"{_ALGORITHM}/scaffold.py",
        method={**_SCAFFOLD, "kind": "scaffold_option_1"},
        problem="plain mean",
        setup="`use_gradient_as_control_variate` = True, `InMemoryUserStateStorage`, `WeightByUser`",
        tolerance=SINGLE,
        **_pfl(algorithm=SCAFFOLD, parameters=_scaffold(True), weighting=WeightByUser),
    ),
    Pair(
        _PFL,
        "SCAFFOLD, option II",
        f"{_ALGORITHM}/scaffold.py",
        method=_SCAFFOLD,
        problem="plain mean",
        setup="`use_gradient_as_control_variate` = False, `InMemoryUserStateStorage`, `WeightByUser`",
        tolerance=SINGLE,
        **_pfl(algorithm=SCAFFOLD, parameters=_scaffold(False), weighting=WeightByUser),
    ),
    Pair(_FEDLAB, "FedAvg", f"{_CONTRIB}/basic_server.py", _fedlab("FedAvg"), _AVERAGE, "by data"),
    Pair(
        _FEDLAB,
        "FedAvg, equal weights",
        f"{_CONTRIB}/basic_server.py",
        _fedlab("FedAvg"),
        _AVERAGE,
        "plain mean",
    ),
    Pair(
        _FEDLAB,
        "FedProx",
        f"{_CONTRIB}/fedprox.py",
        _fedlab("FedProx", client=lambda task: {"mu": 0.5}),
        _PROX,
        "plain mean",
        "`mu` = 1/2",
    ),
    Pair(
        _FEDLAB,
        "FedNova",
        f"{_CONTRIB}/fednova.py",
        _fedlab("FedNova", server=lambda task: {}),
        _nova(),
        "plain mean",
        "`option` = 'weighted_scale' (the default)",
        partial=(_AVERAGE, "equal"),
    ),
    Pair(
        _FEDLAB,
        "SCAFFOLD, option II",
        f"{_CONTRIB}/scaffold.py",
        _fedlab("Scaffold", server=lambda task: {"lr": 1.0}),
        _SCAFFOLD,
        "plain mean",
        "server `lr` = 1",
    ),
)
