"""Claims with engine = "neural": verdicts as with the sampled engine, refusals in one sentence, runs in the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.core.store import Checkpoint, Store
from boundcheck.errors import BadInput, MissingExtra, SpecError, UnknownName, Unsupported
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.spec import claims_from_text
from boundcheck.evidence.stored import run_or_recall
from boundcheck.methods.build import build as build_method
from boundcheck.networks.engine.device import Settings
from boundcheck.problems.build import build as build_problem
from boundcheck.report.snippet import claim_toml
from boundcheck.setting import Setting
from tests.hidden_packages import hide

torch.set_num_threads(1)
CLAIM = """
[[claim]]
statement = "fedshuffle/theorem_5_1_convex/sharp"
problem = { kind = "logistic_regression", data = "breast_cancer", clients = 10, split = "random", seed = 0, features = "unit", ridge = "1/10" }
method = { kind = "fedshuffle", eta_l = "1/2*largest", participation = { kind = "uniform", size = 8 } }
at = { R = [1, 6] }
seeds = 4
"""  # noqa: E501
NETWORK = {"kind": "neural", "data": "digits", "model": "softmax", "clients": 4, "split": "random", "seed": 0}
FEDAVG = {"kind": "fedavg_rr", "eta_l": "1/10", "batch": 20}


def claim(engine: str, more: str = "") -> Any:
    return claims_from_text(f'{CLAIM}engine = "{engine}"\n{more}')[0]


def test_a_claim_has_the_verdict_of_the_sampled_engine() -> None:
    neural = run_claim(claim("neural", 'neural = { precision = "float64" }'))
    sampled = run_claim(claim("sampled"))
    assert neural.info["engine"] == "neural"
    assert (neural.verdict.outcome, neural.verdict.grade) == (sampled.verdict.outcome, sampled.verdict.grade)
    assert neural.rounds == sampled.rounds
    assert neural.metric_high == pytest.approx(sampled.metric_high, rel=1e-9)
    assert neural.bound == sampled.bound


def test_claims_are_recalled_and_settings_that_change_bits_name_another_run(tmp_path: Path) -> None:
    store, pair = Store(tmp_path / "store"), Setting(build_method(FEDAVG), build_problem(NETWORK))

    def stored(**neural: Any) -> Any:
        how: dict[str, Any] = {"engine": "neural", "metrics": ["f"], "neural": neural}
        return run_or_recall(store, pair, FEDAVG, seeds=range(2), rounds=[0, 1], **how)

    first = stored()
    assert repr(first).startswith("<Curve neural, 2 points")
    assert len(store.keys()) == 1
    again = stored(precision="float32")  # the default
    assert len(store.keys()) == 1
    assert (again.samples["f"] == first.samples["f"]).all()
    for k, neural in enumerate(({"precision": "float64"}, {"lanes": 3}, {"threads": 2}), 2):
        stored(**neural)
        assert len(store.keys()) == k


def test_another_version_of_torch_names_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, pair = Store(tmp_path / "store"), Setting(build_method(FEDAVG), build_problem(NETWORK))
    for k, version in enumerate(("2.13.0+cpu", "2.14.0+cpu"), 1):
        monkeypatch.setattr("boundcheck.networks.provider.package_version", lambda _, version=version: version)
        run_or_recall(store, pair, FEDAVG, seeds=range(1), rounds=[0], engine="neural", metrics=["f"])
        assert len(store.keys()) == k


class Often(Store):
    """A store whose checkpoints are due all the time."""

    def checkpoint(self, key: str) -> Checkpoint:
        return Checkpoint(self.files, key, 0.0)


def test_a_stored_run_that_is_cut_off_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    pair, seen = Setting(build_method(FEDAVG), build_problem(NETWORK)), list[float]()
    how: dict[str, Any] = {"seeds": range(2), "rounds": list(range(7)), "engine": "neural", "metrics": ["f"]}

    def told(share: float) -> None:
        seen.append(share)
        if len(seen) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_or_recall(Often(tmp_path / "a"), pair, FEDAVG, **how, on_progress=told)
    found = run_or_recall(Often(tmp_path / "a"), pair, FEDAVG, **how, on_progress=told)
    assert seen[4] == seen[3] == 4 / 6  # the last round, which was not saved, is repeated
    whole = run_or_recall(Store(tmp_path / "b"), pair, FEDAVG, **how)
    assert (found.samples["f"] == whole.samples["f"]).all()


SOFTMAX = {"kind": "softmax_regression", "data": "digits", "clients": 4}
QUADRATICS = {"kind": "scgd_section_4", "seed": 0}
OF_EXACT = "arithmetic = 'rational' is a setting of engine = 'exact'; leave it out with engine = 'neural'"
REFUSED: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (QUADRATICS, {}, Unsupported, "labelled samples"),
    (QUADRATICS, {"engine": "exact", "neural": {}}, BadInput, "has no settings 'neural'"),
    (NETWORK, {"engine": "exact"}, Unsupported, "take engine = 'neural'"),
    (NETWORK, {"engine": "sampled"}, Unsupported, "take engine = 'neural'"),
    (NETWORK, {"arithmetic": "rational"}, BadInput, OF_EXACT),
    (NETWORK, {"metrics": ["drift"]}, Unsupported, "engine = 'exact' does"),
    (NETWORK, {"metrics": ["accuracies"]}, UnknownName, "did you mean 'accuracy'"),
    (NETWORK, {"neural": {"precison": "float32"}}, UnknownName, "'precision'"),
    (NETWORK, {"neural": {"device": "cuda:99"}}, BadInput, "torch sees .*; take device = 'auto'"),
    (NETWORK, {"seeds": 0}, BadInput, "at least 1"),
    (NETWORK, {"rounds": [-1, 2]}, BadInput, "rounds|grid"),
    (SOFTMAX, {"metrics": "grad2"}, BadInput, r"it must be a list of names, such as \['grad2'\]"),
    (SOFTMAX, {"metrics": [3]}, BadInput, "metrics: 3 is not allowed; a metric is asked for by its name"),
    (SOFTMAX, {"metrics": 3}, BadInput, r"it must be a list of names, such as \['f'\]"),
    (SOFTMAX, {"seeds": "a"}, BadInput, "it must be an integer or a range"),
    (SOFTMAX, {"seeds": True}, BadInput, "it must be an integer or a range"),
    (SOFTMAX, {"seeds": -1}, BadInput, "needs at least 1"),
    (SOFTMAX, {"seeds": [1, 2]}, BadInput, "it must be an integer or a range"),
]


@pytest.mark.parametrize(("problem", "how", "error", "text"), REFUSED)
def test_refusals_are_one_sentence(problem: Any, how: dict[str, Any], error: type[Exception], text: str) -> None:
    for engine in (how.pop("engine"),) if "engine" in how else ("neural", "sampled")[: 1 + (problem is SOFTMAX)]:
        with pytest.raises(error, match=text) as caught:
            bc.run(FEDAVG, problem, **{"rounds": 2, "engine": engine, **how})
        assert "\n" not in str(caught.value)


def test_exact_solves_are_refused() -> None:
    with pytest.raises(Unsupported, match="dane with exact local solves"):
        bc.run({"kind": "dane", "mu": "1"}, NETWORK, rounds=2, engine="neural")


@pytest.mark.parametrize("partition", ["layer", "channel"])
def test_blocks_of_a_network_need_the_neural_engine(partition: str) -> None:
    method = {"kind": "partial_averaging", "tau": 2, "eta": "1/10", "partition": partition}
    with pytest.raises(Unsupported, match="take engine = 'neural'"):
        bc.run(method, {"kind": "random_quadratics", "clients": 3, "d": 2, "seed": 1}, rounds=1)
    with pytest.raises(UnknownName, match="did you mean 'channel'"):
        build_method({**method, "partition": "chanel"})


def test_mistakes_of_a_claim_have_their_lines() -> None:
    with pytest.raises(SpecError) as caught:
        claim("neural", 'neural = { precison = "float64" }')
    assert "setting 'precison' is unknown" in str(caught.value)
    with pytest.raises(SpecError, match="has no settings 'neural'"):
        claim("sampled", "neural = { lanes = 2 }")
    with pytest.raises(SpecError, match=OF_EXACT) as caught:
        claim("neural", '\narithmetic = "rational"')
    ((line, _),) = caught.value.problems
    assert line == CLAIM.count("\n") + 3


def test_a_claim_has_seeds_by_its_engine() -> None:
    def runs(engine: str, more: str = "") -> int:
        return claims_from_text(CLAIM.replace("seeds = 4\n", more) + f'engine = "{engine}"')[0].runs

    assert [runs("sampled"), runs("neural"), runs("neural", "seeds = 7\n")] == [1000, 200, 7]


def test_a_claim_with_settings_and_estimates_can_be_written_back() -> None:
    for more in ("estimate = true", "estimate = { samples = 4 }", 'neural = { precision = "float64", lanes = 2 }'):
        text = claim_toml(claim("neural", more))
        assert claims_from_text(text)[0] == claim("neural", more)
        assert more in text


def test_the_constants_of_a_network_are_said_to_be_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "claims.toml"
    spec.write_text(
        '[[claim]]\nstatement = "fedshuffle/theorem_5_1_nonconvex/corrected"\nengine = "neural"\nestimate = true\n'
        'problem = { kind = "neural", data = "digits", model = "softmax", clients = 2 }\n'
        'method = { kind = "fedshuffle", eta_l = "1/2*largest" }\n'
    )
    assert main(["constants", str(spec)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "L, G2, B2, P2, sigma2, gap_0: measured along the run by `boundcheck check`, since estimate is set." in told
    assert "take engine" not in told


def test_without_torch_the_command_names_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hide(monkeypatch, "torch")
    with pytest.raises(MissingExtra, match=r'pip install "boundcheck\[neural\]"'):
        bc.run(FEDAVG, NETWORK, rounds=1, engine="neural")
    spec = tmp_path / "claims.toml"
    spec.write_text(f'{CLAIM}engine = "neural"\n')
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    assert main(["compare", str(spec)]) == 2
    assert 'pip install "boundcheck[neural]"' in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (3, "neural = 3 is not allowed; it must be a table"),
        ({"lanes": "auto"}, "it must be an integer"),
        ({"lanes": True}, "it must be an integer"),
        ({"graphs": "yes"}, "it must be true or false"),
        ({"device": 3}, "it must be a text"),
        ({"threads": 10**9}, "at most 1024"),
        ({"device": "cuda:x"}, "the device 'cuda:x' is unknown"),
        ({"device": "cuda:-1"}, "the device 'cuda:-1' is unknown"),
        ({"precision": "float46"}, "did you mean 'float64'"),
    ],
)
def test_settings_are_asked_for_in_words(given: Any, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        Settings.of(given)


def test_a_network_without_constants_is_told_that_they_can_be_measured() -> None:
    text = (
        '[[claim]]\nstatement = "fedshuffle/theorem_5_1_nonconvex/corrected"\nengine = "neural"\n'
        'problem = { kind = "neural", data = "digits", model = "softmax", clients = 2 }\n'
        'method = { kind = "fedshuffle", eta_l = "1/10" }\n'
    )
    with pytest.raises(BadInput, match="or measure it along the run with estimate = true"):
        claims_from_text(text)
