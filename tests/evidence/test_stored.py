"""Runs through the store: recalled, byte for byte alike, resumed seed by seed after an interruption, never stale."""

from __future__ import annotations

import json
import pickle
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.core.executor import Lost
from boundcheck.core.store import Store
from boundcheck.engines.curve import Curve
from boundcheck.engines.run import run
from boundcheck.errors import WorkerLost
from boundcheck.evidence import stored
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.stored import arrays_of, code_of, curve_from, meta_of, run_or_recall
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import Setting

PROBLEM = build_problem({"kind": "random_quadratics", "clients": 3, "d": 2, "seed": 1})
SPEC = {"kind": "fedavg", "E": 2, "eta": "1/100", "size": 1}
METHOD = build_method(SPEC)
HOW: dict[str, Any] = {"rounds": [0, 1, 10, 40], "engine": "sampled", "metrics": ["dist2"]}
EXACT: dict[str, Any] = {"rounds": [0, 3, 9], "engine": "exact", "metrics": ["dist2"], "arithmetic": "rational"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def recall(store: Store | None, seeds: range = range(20), how: dict[str, Any] = HOW) -> Curve:
    return run_or_recall(store, Setting(METHOD, PROBLEM), SPEC, seeds=seeds, **how)


def contents(store: Store) -> dict[str, bytes]:
    return {key: store.files.read(f"{key}.npz") or b"" for key in store.keys()}  # noqa: SIM118


def same(a: Curve, b: Curve) -> bool:
    first, second = arrays_of(a), arrays_of(b)
    return list(first) == list(second) and all(np.array_equal(first[k], second[k]) for k in first)


@pytest.mark.parametrize("how", [HOW, EXACT])
def test_a_run_is_recalled_and_not_run_again(
    store: Store, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = recall(store, how=how)
    monkeypatch.setattr(stored, "carry_out", lambda *args, **kwargs: pytest.fail("it was run again"))
    second = recall(store, how=how)
    assert same(first, second)
    arrays = ("rounds", "values", "samples", "low", "high", "envelopes")
    assert first == replace(second, **{name: getattr(first, name) for name in arrays})
    for name, envelope in first.envelopes.items():
        np.testing.assert_array_equal(envelope.limits, second.envelopes[name].limits)
    assert second.exact == first.exact
    assert second.constants["objective/mu"] == PROBLEM.constants()["mu"]
    assert second.assumptions["smooth_clients"] == "decided"


@pytest.mark.parametrize("how", [HOW, EXACT])
def test_what_is_stored_does_not_depend_on_time_or_machine(tmp_path: Path, how: dict[str, Any]) -> None:
    stores = [Store(tmp_path / name) for name in "ab"]
    for s in stores:
        recall(s, how=how)
    assert contents(stores[0]) == contents(stores[1])
    assert contents(stores[0])
    plain = recall(None, how=how)
    meta = meta_of(plain)
    assert not {"seconds", "threads"} & set(meta["info"])
    assert json.loads(json.dumps(meta, allow_nan=False)) == meta
    seeds: dict[str, Any] = {"seeds": 20} if how is HOW else {}
    assert same(plain, run(METHOD, PROBLEM, **seeds, **how))


def test_round_trip_of_long_fractions() -> None:
    curve = run(METHOD, PROBLEM, rounds=[0, 40], arithmetic="rational")
    longest = max(len(str(q.denominator.bit_length())) for q in curve.exact["dist2"])
    assert longest >= 3
    again = curve_from(arrays_of(curve), meta_of(curve))
    assert again.exact == curve.exact
    sys.set_int_max_str_digits(640)
    try:
        assert curve_from(arrays_of(curve), meta_of(curve)).exact == curve.exact
    finally:
        sys.set_int_max_str_digits(4300)


class Killed(BaseException):
    """Stands for a signal that ends the process."""


def interrupt(monkeypatch: pytest.MonkeyPatch, after: int) -> list[range]:
    """Every chunk is saved, and the process ends before the chunk number `after`. Returns the chunks that ran."""
    ran: list[range] = []
    whole = stored.carry_out

    def noted(*args: Any, **kwargs: Any) -> Curve:
        if len(ran) == after:
            raise Killed
        ran.append(kwargs["seeds"])
        return whole(*args, **kwargs)

    monkeypatch.setattr(stored, "carry_out", noted)
    monkeypatch.setattr("boundcheck.core.store.Checkpoint.due", lambda self: True)
    return ran


@pytest.mark.parametrize("after", [1, 2])
def test_a_killed_run_goes_on_where_it_was(store: Store, tmp_path: Path, after: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        first = interrupt(patch, after)
        with pytest.raises(Killed):
            recall(store, range(5, 45))
    assert store.keys() == []
    done = sum(len(chunk) for chunk in first)
    assert 0 < done < 40
    with pytest.MonkeyPatch.context() as patch:
        second = interrupt(patch, 10**9)
        resumed = recall(store, range(5, 45))
    assert second[0].start == 5 + done
    assert sum(len(chunk) for chunk in second) == 40 - done
    undisturbed = Store(tmp_path / "other")
    assert same(resumed, recall(undisturbed, range(5, 45)))
    assert contents(store) == contents(undisturbed)
    assert list((store.path / ".checkpoint").iterdir()) == []


def test_a_claim_recalls_block_by_block(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget that grows runs the new seeds only."""
    monkeypatch.setattr("boundcheck.setting.setting.algorithms", lambda *_: ("fedavg",))
    # certified upper limits would decide after the first block
    monkeypatch.setattr("boundcheck.engines.run.certified_envelopes", lambda *_: {})
    claim = Claim(
        "scgd/fedavg_full_participation",
        {"kind": "random_quadratics", "clients": 3, "d": 2, "seed": 1, "mu": "1/2"},
        {"kind": "fedavg", "E": 1, "eta": "1/10*largest", "size": 1},
        engine="sampled",
        at={"R": [0, 100]},
        seeds=100,
        level=1 - 1e-12,
    )
    small = run_claim(claim, store)
    assert len(store.keys()) == 2
    ran = interrupt(monkeypatch, 10**9)
    large = run_claim(replace(claim, seeds=200), store)
    assert len(store.keys()) == 3
    assert (ran[0].start, ran[-1].stop) == (100, 200)
    assert (small.info["seeds"]["count"], large.info["seeds"]["count"]) == (100, 200)
    assert run_claim(replace(claim, seeds=200), None).verdict == large.verdict


def test_the_packages_of_problem_method_and_metrics_count(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may be a user's own; the code of boundcheck counts always."""
    diabetes = build_problem({"kind": "least_squares", "data": "diabetes"})
    modules = code_of(diabetes, {"kind": "scgd"}, "exact", ["mine.parts"])
    assert modules == ("boundcheck.methods.kinds.scgd", "boundcheck.problems.least_squares", "mine.parts")
    seen: list[set[str]] = []
    monkeypatch.setattr("boundcheck.evidence.stored.run_key", lambda spec, code: seen.append(set(code)) or "0" * 64)
    for metrics in (["dist2"], ["dist2", "drift"]):
        recall(store, how={**EXACT, "metrics": metrics})
    assert seen[1] - seen[0] == {"boundcheck.papers.fedshuffle.quantities"}


def test_what_cannot_be_digested_is_run_and_says_so(store: Store) -> None:
    curve = run_or_recall(store, Setting(METHOD, PROBLEM), {**SPEC, "note": object()}, seeds=range(2), **HOW)
    assert store.keys() == []
    assert "cannot be digested" in curve.info["not_stored"]
    assert same(curve, recall(None, range(2)))


# --- stored curves that are none -------------------------------------------------------------------------------


NONE = object()  # in place of a part: it is left out
WRONG: list[tuple[dict[str, Any], str, str, Any]] = [  # how it ran, "arrays" or "meta", the part, what it is instead
    (HOW, "arrays", "rounds", NONE),
    (HOW, "arrays", "rounds", np.array([0, 1, 10, 41])),
    (HOW, "arrays", "rounds", np.array([0.0, 1, 10, 40])),
    (HOW, "arrays", "values/dist2", NONE),
    (HOW, "arrays", "values/dist2", np.zeros(3)),
    (HOW, "arrays", "values/dist2", np.array(["a", "b", "c", "d"])),
    (HOW, "arrays", "samples/dist2", np.zeros((20, 3))),
    (HOW, "arrays", "samples/dist2", np.zeros((19, 4))),
    (HOW, "arrays", "others/dist2", np.zeros(4)),
    (HOW, "meta", "arithmetic", "guessed"),
    (HOW, "meta", "arithmetic", NONE),
    (HOW, "meta", "expectation", NONE),
    (HOW, "meta", "info", NONE),
    (HOW, "meta", "info", [1]),
    (HOW, "meta", "info", {"engine": "sampled"}),
    (EXACT, "arrays", "exact/dist2", NONE),
    (EXACT, "arrays", "exact/dist2", np.array(["1/2", "1", "1/0"])),
    (EXACT, "arrays", "exact/dist2", np.array(["x", "1/1", "1/1"])),
    (EXACT, "arrays", "exact/dist2", np.zeros(3)),
]


@pytest.mark.parametrize(("how", "where", "part", "value"), WRONG, ids=[f"{k} {w[2]}" for k, w in enumerate(WRONG)])
def test_a_stored_curve_that_is_none_is_run_again(
    store: Store, how: dict[str, Any], where: str, part: str, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    first = recall(store, how=how)
    (key,) = store.keys()
    found = store.get(key)
    assert found is not None
    kept: dict[str, Any] = {"arrays": dict(found.arrays), "meta": dict(found.meta)}
    kept[where] = {name: own for name, own in {**kept[where], part: value}.items() if own is not NONE}
    store.put(key, found.spec, **kept)
    again = recall(store, how=how)
    assert same(first, again)
    assert "computed again" in caplog.text
    caplog.clear()
    assert same(first, recall(store, how=how))
    assert caplog.text == ""


def test_a_checkpoint_that_does_not_parse_is_not_resumed(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    whole = recall(None)
    for content in ({}, {"meta": np.array("{")}, {"meta": np.array("{}"), "rounds": np.arange(4)}):
        monkeypatch.setattr("boundcheck.core.store.Checkpoint.load", lambda self, content=content: dict(content))
        caplog.clear()
        own = Store(store.path / str(len(content)))
        assert same(recall(own), whole)
        assert "computed again" in caplog.text


def test_what_a_run_says_of_itself_comes_in_one_order_with_and_without_a_store(store: Store) -> None:
    for how in (HOW, EXACT):
        found = [recall(s, how=how).info for s in (None, store, store)]
        orders = [json.dumps({k: v for k, v in info.items() if k not in ("seconds", "complete")}) for info in found]
        assert len(set(orders)) == 1


@pytest.mark.parametrize("size", [1, 3, 7])
def test_seeds_spread_over_an_executor_give_the_same_bytes(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """However they are split, and in whatever order they come; what came is kept where a piece is lost."""
    recall(store)
    split: list[range] = []
    held = stored._elsewhere  # pyright: ignore[reportPrivateUsage]

    def pieces(run_seeds: Any, seeds: range, curve: Curve, _: int, *rest: Any) -> Curve:
        return held(run_seeds, seeds, curve, size, *rest)

    def backwards(function: Any, items: list[Any], on_done: Any) -> list[Any]:
        split.extend(item[1] for item in items)
        results = [function(pickle.loads(pickle.dumps(item))) for item in items]
        for place in reversed(range(len(results))):
            on_done(place, results[place])
        return results

    def losing(function: Any, items: list[Any], on_done: Any) -> list[Any]:
        results = [function(item) for item in items[:-1]] + [Lost("the worker process of this item died twice.")]
        for place, result in enumerate(results):
            on_done(place, result)
        return results

    monkeypatch.setattr(stored, "WORTH", -1.0)
    monkeypatch.setattr(stored, "_elsewhere", pieces)
    other = Store(tmp_path / "other")
    with monkeypatch.context() as patch:
        patch.setattr("boundcheck.core.store.Checkpoint.due", lambda self: True)
        with pytest.raises(WorkerLost, match="died twice"):
            run_or_recall(other, Setting(METHOD, PROBLEM), SPEC, seeds=range(20), spread=losing, **HOW)
    first = run_or_recall(other, Setting(METHOD, PROBLEM), SPEC, seeds=range(20), spread=backwards, **HOW)
    assert same(first, recall(store))
    assert contents(other) == contents(store)
    kept = 1 + 18 // size * size  # the seed that measures the time, and the pieces before the lost one
    assert [seed for piece in split for seed in piece] == list(range(kept + 1, 20))
