"""What a conformance check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from boundcheck.judge.findings import Status


@dataclass(frozen=True)
class Check:
    """One check of one subject.

    subject: what was checked, such as "problem 'ridge' (example 1)". name: of the check. sentence: what it asks.
    status: its outcome. detail: the numbers of a failure, the reason why nothing was asked, or how sharp a pass is.
    """

    subject: str
    name: str
    sentence: str
    status: Status
    detail: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        own = {"subject": self.subject, "check": self.name, "sentence": self.sentence}
        return {**own, "status": self.status.value, "detail": self.detail}


@dataclass(frozen=True)
class Subject:
    """Makes the checks of one subject."""

    name: str

    def passed(self, check: str, sentence: str, detail: str = "") -> Check:
        """A check that passed; detail: how sharp it was."""
        return Check(self.name, check, sentence, Status.PASSED, detail)

    def failed(self, check: str, sentence: str, detail: str) -> Check:
        """A check that failed; detail: the numbers."""
        return Check(self.name, check, sentence, Status.FAILED, detail)

    def not_asked(self, check: str, sentence: str, detail: str) -> Check:
        """A check that could not be asked; detail: why."""
        return Check(self.name, check, sentence, Status.NOT_ASKED, detail)

    def settled(self, check: str, sentence: str, objection: str | None, detail: str = "") -> Check:
        """Failed with an objection, passed without one."""
        return self.passed(check, sentence, detail) if objection is None else self.failed(check, sentence, objection)
