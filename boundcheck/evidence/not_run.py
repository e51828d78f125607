"""Tables of a specification without a result: a data set or an optional package is missing, or they still run."""

from __future__ import annotations

from dataclasses import dataclass

from boundcheck.errors import DataNotFetched, MissingExtra


@dataclass(frozen=True)
class NotRun:
    """kind: the table, such as "claim"; name: as a page shows it; why: what is missing and the command that gets it.

    waiting: it is still being computed, and nothing is missing.
    """

    kind: str
    name: str
    why: str
    waiting: bool = False


def is_absence(error: BaseException | None) -> bool:
    """Whether an error, or one that it stands for, says that a data set or an optional package is not there."""
    while error is not None:
        if isinstance(error, DataNotFetched | MissingExtra):
            return True
        error = error.__cause__
    return False
