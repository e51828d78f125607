"""What the named checks say: one result a check, and the counts of a suite."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from boundcheck.errors import BadInput
from boundcheck.judge.checks.instances import Case
from boundcheck.judge.checks.table import CHECKS, Check, find
from boundcheck.judge.checks.trial import Finding, NotAsked, Parting, RunFailed, Trial
from boundcheck.judge.findings import Status
from boundcheck.judge.trajectories import Run

BAD = (Status.FAILED, Status.UNEXPECTED_PASS)


@dataclass(frozen=True)
class Settings:
    """seeds: of the statistical checks, numbered from `first_seed`. tolerance: relative, of exact comparisons;
    None: that of the precision of the iterates (`precision.rounding_of`).

    rate: probability that a right implementation fails any check of the suite.
    """

    seeds: int = 400
    first_seed: int = 0
    tolerance: float | None = None
    rate: float = 1e-6

    def __post_init__(self) -> None:
        for name in ("seeds", "first_seed"):
            value: Any = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < (name == "seeds"):
                raise BadInput(f"{name} = {value} is not allowed; an integer of at least {int(name == 'seeds')} is.")
        if not (self.tolerance is None or 0 < self.tolerance < 1) or not 0 < self.rate < 1:
            raise BadInput(f"tolerance = {self.tolerance} and rate = {self.rate} must lie between 0 and 1.")


@dataclass(frozen=True, repr=False)
class CheckResult:
    """The result of one check.

    check, sentence: its name, and what it says of a right implementation. method: specification. reason: why it failed
    or was not asked, or why it was expected to fail. parting: where implementation and method first differ. cases: its
    instances. seeds: that were run. rate: probability that a right implementation fails it. error: the smallest error
    that it would have seen, in words.
    """

    check: str
    sentence: str
    status: Status
    method: Mapping[str, Any]
    reason: str = ""
    parting: Parting | None = None
    cases: tuple[Case, ...] = ()
    seeds: int = 0
    rate: float = 0.0
    error: str = ""
    settings: Settings = Settings()

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "schema": 1,
            **vars(self),
            "status": self.status.value,
            "method": dict(self.method),
            "parting": None if self.parting is None else self.parting.to_dict(),
            "cases": [c.to_dict() for c in self.cases],
            "settings": dict(vars(self.settings)),
        }

    def _words(self) -> str:
        parts = [f"{self.check}: {self.status}. {self.sentence}"]
        if self.reason:
            said = self.reason[0].upper() + self.reason[1:]
            parts.append(said if said.endswith(".") else f"{said}.")
        if self.parting is not None:
            parts.append(f"First difference: {self.parting}. Instance: {self.cases[self.parting.case]}.")
        if self.status is not Status.NOT_ASKED and self.error:
            rate = f"{self.rate:.1g}" if self.rate else "0"
            parts.append(f"Smallest error seen: {self.error}; rate of false failures {rate}; seeds run: {self.seeds}.")
        return " ".join(parts)

    def __repr__(self) -> str:
        return f"<CheckResult {self._words()}>"

    def _repr_html_(self) -> str:
        return f"<b>{self.status}</b> <code>{self.check}</code>: {html.escape(self._words())}"


def carry_out(
    check: Check,
    run: Run,
    method: Mapping[str, Any],
    cases: tuple[Case, ...],
    settings: Settings,
    kept: dict[str, Any] | None = None,
) -> CheckResult:
    """Run one check on given instances. kept: runs that checks of one implementation share."""
    statistical = sum(c.statistical for c in CHECKS)
    seeds = range(settings.first_seed, settings.first_seed + settings.seeds)
    trial = Trial(run, cases, settings.tolerance, settings.rate / statistical, seeds, kept={} if kept is None else kept)
    try:
        found = check.judge(trial)
        status = Status.FAILED if found.reason else Status.PASSED
        if found.reason:
            found = replace(found, reason=f"{found.reason} Look first at {check.look}.")
    except (NotAsked, RunFailed) as error:
        found, status = Finding(str(error), ""), Status.NOT_ASKED if isinstance(error, NotAsked) else Status.FAILED
    return CheckResult(
        check.name, check.sentence, status, dict(method), found.reason, found.parting, cases, found.seeds, found.rate,
        found.error, settings,
    )  # fmt: skip


@dataclass(frozen=True, repr=False)
class ImplementationChecks:
    """The results of all checks of an implementation. method: specification; settings: seeds, tolerance and rate."""

    method: Mapping[str, Any]
    results: tuple[CheckResult, ...]
    settings: Settings

    @property
    def ok(self) -> bool:
        """Whether at least one check passed, none failed, and none passed that was expected to fail."""
        return self.count(Status.PASSED) > 0 and not any(r.status in BAD for r in self.results)

    def count(self, status: Status) -> int:
        """How many checks have this status."""
        return sum(r.status is status for r in self.results)

    def __getitem__(self, check: str) -> CheckResult:
        name = find(check).name
        return next(r for r in self.results if r.check == name)

    def assert_passed(self) -> None:
        """Raise AssertionError, with every failure, unless `ok`."""
        if self.ok:
            return
        bad = [r._words() for r in self.results if r.status in BAD]  # pyright: ignore[reportPrivateUsage]
        raise AssertionError("\n".join([self._words(), *(bad or ["no check was passed."])]))

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form, with the counts."""
        return {
            "schema": 1,
            "method": dict(self.method),
            "settings": dict(vars(self.settings)),
            "counts": {s.value: self.count(s) for s in Status},
            "ok": self.ok,
            "results": [r.to_dict() for r in self.results],
        }

    def _words(self) -> str:
        found = Counter(r.status for r in self.results)
        counts = ", ".join(f"{found[s]} {s.value}" for s in Status)
        return f"{len(self.results)} checks of {self.method['kind']}: {counts}"

    def __repr__(self) -> str:
        return "\n".join([f"<ImplementationChecks {self._words()}>", *(f"  {r!r}" for r in self.results)])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{r.status}</td><td><code>{r.check}</code></td><td>{html.escape(r.sentence)}</td>"
            f"<td>{html.escape(r.reason)} {html.escape('' if r.parting is None else str(r.parting))}</td>"
            f"<td>{html.escape(r.error)}</td><td>{r.rate:.1g}</td></tr>"
            for r in self.results
        )
        head = "".join(f"<th>{t}</th>" for t in ("", "check", "", "first difference", "smallest error seen", "rate"))
        return f"<p>{html.escape(self._words())}</p><table><tr>{head}</tr>{rows}</table>"
