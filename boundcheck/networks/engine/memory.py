"""What fits into the memory: the models that a run keeps, and how many visits are worked on at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from boundcheck.engines.simulate.lowering import Lowered
from boundcheck.errors import Unsupported
from boundcheck.networks.engine.device import library
from boundcheck.networks.engine.task import Task

# What the allocators of torch and of its libraries say; CUDA's own error has a class besides.
_SAID = ("out of memory", "can't allocate memory", "not enough memory", "_ALLOC_FAILED", "alloc_cpu")


# What cuDNN, cuBLAS and torch say of a convolution or product that they have no algorithm for at its size: hundreds of
# models are hundreds of groups of one convolution, and some kernels count in 32 bits.
_TOO_LARGE = (
    *("CUDNN_STATUS_", "CUBLAS_STATUS_", "unable to find an engine", "no deterministic convolution algorithm"),
    *("canUse32BitIndexMath", "invalid configuration argument", "integer out of range", "too large"),
)
COUNTED = 2**31 - 1  # numbers of one array that a kernel of 32 bits counts


def is_memory_error(error: BaseException) -> bool:
    """Whether an error says that the memory of the device or of the machine has ended."""
    if isinstance(error, MemoryError | library().OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(text in str(error) for text in _SAID)


def is_too_large(error: BaseException) -> bool:
    """Whether an error may go away with fewer models at once: of the memory, or of a kernel's size."""
    return is_memory_error(error) or any(text in str(error) for text in _TOO_LARGE)


@dataclass
class Lanes:
    """How many visits are worked on at once; halved where the memory ends or a kernel does not take as many.

    limit: the number of visits. notices: one sentence for each time that it was halved.
    """

    limit: int
    notices: list[str] = field(default_factory=list[str])

    def run(self, count: int, work: Callable[[slice], None]) -> None:
        """Carry out work(part) for all parts of range(count), in order.

        Work that meets the end of the memory, or of what a kernel takes, is begun again with half as many lanes, so
        that it must keep nothing before its end. Raises Unsupported where a single lane does not fit.
        """
        at = 0
        while at < count:
            part = slice(at, min(at + self.limit, count))
            if self._fits(part, work):
                at = part.stop

    def _fits(self, part: slice, work: Callable[[slice], None]) -> bool:
        lanes = part.stop - part.start
        try:
            work(part)
        except (RuntimeError, MemoryError) as error:
            if not is_too_large(error):
                raise
            full = is_memory_error(error)
            said = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
            if lanes == 1:
                what = "the memory does not hold" if full else f"the device refuses ({said})"
                raise Unsupported(
                    f"{what} a single visit of a client; take a smaller batch, a smaller model or another device."
                ) from None
        else:
            return True
        self.limit = max(1, lanes // 2)
        why = "the memory ended" if full else f"the device refused ({said})"
        self.notices.append(f"{why} at {lanes} visits at once; {self.limit} were taken from there on.")
        torch = library()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return False


AT_ONCE = 256  # samples of a client whose gradients are computed at once where its whole gradient is wanted
ON_CPU = 1 << 30  # bytes that the lanes of a chunk may take, about
ALONE = 100_000  # coordinates from which models fill a CPU's arithmetic one by one (benchmarks/neural_cpu.py)
SHARE = 0.4  # of a GPU's memory
COPIES = 8  # vectors that a lane holds: its point, gradients, products of the step
KEPT = 3  # numbers that a backward pass keeps for each that a layer returns, about


def _memory(task: Task) -> int | None:
    """Bytes of the device, or of the machine; None where the system does not say."""
    if task.device.type != "cpu":
        return int(library().cuda.get_device_properties(task.device).total_memory)
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return None


def check_state(task: Task, seeds: int, parts: int) -> None:
    """Raises Unsupported where the vectors that a run keeps from round to round, `parts` for each seed, cannot fit."""
    # besides them a round needs the server's points before and after it
    size = (8 if task.dtype == library().float64 else 4) * task.network.dim * seeds * (parts + 2)
    memory = _memory(task)
    if memory is not None and size > 0.9 * memory:
        raise Unsupported(
            f"{parts} vectors of {task.network.dim} numbers for each of {seeds} seeds need {size} bytes, more than the "
            f"memory of {memory}; run fewer seeds, or fewer clients that keep models."
        )


def lanes_that_fit(task: Task, lowered: Lowered, seeds: int) -> int:
    """How many lanes fit into their share of the memory; the same on equal devices, independent of their load."""
    width = task.network.width
    whole = lowered.whole or lowered.rule.collecting is not None or bool(lowered.kept)
    batch = min(task.known.largest, max(lowered.batch, AT_ONCE if whole else 1))
    held = (COPIES + len(lowered.rule.local) + len(lowered.kept)) * task.network.dim
    each = (8 if task.dtype == library().float64 else 4) * (held + KEPT * width * batch)
    most = seeds * max(1, lowered.largest)
    if task.device.type == "cpu":
        return 1 if task.network.dim >= ALONE else max(1, min(ON_CPU // each, most))
    return max(1, min(int(SHARE * (_memory(task) or 0)) // each, COUNTED // max(width * batch, task.network.dim), most))
