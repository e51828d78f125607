"""An implementation against the bound of a statement, with what such a comparison would have missed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from boundcheck.errors import BadInput
from boundcheck.evidence.claim import Claim, ClaimResult, out_of_scope, resolve, run_claim
from boundcheck.judge.power import Power, power_of
from boundcheck.judge.reference import is_random
from boundcheck.judge.task import task_of
from boundcheck.judge.trajectories import Run, follow
from boundcheck.theory.discovery import statement
from boundcheck.verdict import Verdict

SEEDS = 50


@dataclass(frozen=True)
class BoundCheck:
    """The verdict on an implementation's curve (SUPPORTED at most), and the power of the comparison (None: not asked).

    reason: both as text.
    """

    result: ClaimResult
    power: Power | None

    @property
    def verdict(self) -> Verdict:
        """That of the comparison with the bound."""
        return self.result.verdict

    @property
    def reason(self) -> str:
        """The reason of the verdict, and the power."""
        return " ".join([self.verdict.reason, *([] if self.power is None else [self.power.words()])])


def check_against_bound(claim: Claim, run: Run, seeds: int = SEEDS, power: bool = True) -> BoundCheck:
    """Run `run(task, seed)` and compare its curve with a statement's bound.

    claim: statement, problem, method, rounds and constants; its method says what the implementation is meant to be, and
    is not checked. seeds: of a random method; one run of another. power: judge the mutants of the method, too.
    Raises BadInput, UnknownName and Unsupported; an error inside `run` passes through.
    """
    if seeds < 1:
        raise BadInput(f"seeds = {seeds} is not allowed; at least 1 is needed.")
    claimed = statement(claim.statement)
    resolved = resolve(claim)
    if isinstance(resolved, Verdict):
        return BoundCheck(run_claim(claim), None)
    out = out_of_scope(claim, resolved)
    if out is not None:  # decided before the implementation runs
        return BoundCheck(out, None)
    setting = resolved.setting
    task = task_of(setting.method, setting.problem, max(max(resolved.rounds), 1))
    runs = seeds if is_random(setting.method, setting.problem) else 1
    curve = follow(run, task, range(runs)).curve(setting.problem, [claimed.metric.quantity])
    at = {claimed.metric.index: list(resolved.index)} if claimed.metric.index is not None else {}
    made = replace(claim, curve=curve, method=dict(resolved.spec), at=at)
    return BoundCheck(run_claim(made), power_of(claim, seeds) if power else None)
