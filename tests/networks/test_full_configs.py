"""The full-size configurations: every method of every case is one that the clients of its data can carry out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.core.digest import canonical
from boundcheck.engines.simulate.lowering import lower
from boundcheck.errors import DataNotFetched
from boundcheck.evidence.studies import load_studies
from boundcheck.methods.build import build as build_method
from boundcheck.networks import problem as neural
from boundcheck.networks.engine.task import resolved
from boundcheck.networks.study.runs import resolved as settled
from boundcheck.networks.study.spec import Spec, settings
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of

FULL = Path(__file__).resolve().parents[2] / "configs" / "neural" / "full"
ROUNDS = 20


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FULL.glob("*.toml")), ids=lambda path: path.stem)
def test_clients_can_carry_out_the_methods(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: dict[str, Any] = {}
    problems: dict[str, Any] = {}
    prepared = neural._prepared  # pyright: ignore[reportPrivateUsage]
    labelled = neural.labelled

    def once(name: str, **options: Any) -> Any:
        key = canonical([name, options])
        if key not in read:
            read[key] = labelled(name, **options)
        return read[key]

    def first(found: Any, raw: Any, model: str) -> Any:
        """The first sample in the place of each: what the samples are does not matter here."""
        one = prepared(found, raw[:1], model)
        return np.broadcast_to(one, (len(raw), *one.shape[1:]))

    monkeypatch.setattr(neural, "labelled", once)
    monkeypatch.setattr(neural, "_prepared", first)
    looked_at = 0
    for asked in load_studies(path):
        spec = asked.spec
        assert isinstance(spec, Spec)
        for case in spec.all_cases.values():
            wanted = spec.problem_of(case)
            key = canonical(wanted)
            try:
                problem = problems[key] if key in problems else build_problem(wanted)
            except DataNotFetched:
                continue
            problems[key] = problem
            clients = clients_of(problem)
            for one in (next(iter(settings(case, method))) for method in spec.methods):
                method = build_method(settled(one, problem))
                lower(resolved(method, problem) if spec.engine == "neural" else method, clients, ROUNDS)
                for i in range(clients.count):  # refuses batches that a client's samples cannot make up
                    assert method.local.visits(i, (i,), clients)
                looked_at += 1
    if not looked_at:
        pytest.skip("no data set of this file is fetched")
