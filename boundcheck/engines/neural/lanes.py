"""Visits in chunks: as many at once as fit, fewer where the memory ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from boundcheck.engines.neural.library import library
from boundcheck.errors import Unsupported

__all__ = ["Lanes", "Tally", "is_memory_error"]

# What the allocators of torch and of its libraries say; CUDA's own error has a class besides.
_SAID = ("out of memory", "can't allocate memory", "not enough memory", "_ALLOC_FAILED", "alloc_cpu")


@dataclass
class Tally:
    """How many samples were computed, and how many of them were padding."""

    samples: int = 0
    padded: int = 0

    def add(self, other: Tally) -> None:
        """Count those of a piece of work."""
        self.samples += other.samples
        self.padded += other.padded

    @property
    def wasted(self) -> float:
        """The share of padding among all samples computed."""
        return self.padded / self.samples if self.samples else 0.0


def is_memory_error(error: BaseException) -> bool:
    """Whether an error says that the memory of the device or of the machine has ended."""
    if isinstance(error, MemoryError | library().OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(text in str(error) for text in _SAID)


@dataclass
class Lanes:
    """How many visits are worked on at once; halved where the memory ends.

    limit: so many. notices: one sentence for each time that it was halved. tally: of the chunks that were finished.
    """

    limit: int
    notices: list[str] = field(default_factory=list[str])
    tally: Tally = field(default_factory=Tally)

    def run(self, count: int, work: Callable[[slice, Tally], None]) -> None:
        """Carry out work(part, tally) for all parts of range(count), in order.

        Work that meets the end of the memory is begun again with half as many lanes, so that it must keep nothing
        before its end. Raises Unsupported where a single lane does not fit.
        """
        at = 0
        while at < count:
            part = slice(at, min(at + self.limit, count))
            tally = Tally()
            if self._fits(part, work, tally):
                self.tally.add(tally)
                at = part.stop

    def _fits(self, part: slice, work: Callable[[slice, Tally], None], tally: Tally) -> bool:
        lanes = part.stop - part.start
        try:
            work(part, tally)
        except (RuntimeError, MemoryError) as error:
            if not is_memory_error(error):
                raise
            if lanes == 1:
                raise Unsupported(
                    "the memory does not hold a single visit of a client; take a smaller batch, a smaller model or "
                    "another device."
                ) from None
        else:
            return True
        self.limit = max(1, lanes // 2)
        self.notices.append(f"the memory ended at {lanes} visits at once; {self.limit} were taken from there on.")
        torch = library()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return False
