"""Methods whose workers keep models of their own that are averaged, wholly or block by block.

Every worker takes one step from its own model, then models are averaged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from boundcheck.errors import BadInput
from boundcheck.methods import parameters as p
from boundcheck.methods.kind import AnyOf, Form, Part, anything, kind
from boundcheck.methods.parts import Blocks, Constant, Full, GradientSteps, HandOver, StochasticSteps

PAPER = (
    'S. Lee, A. K. Sahu, C. He, S. Avestimehr, "Partial Model Averaging in Federated Learning: Performance Guarantees '
    'and Benefits", 2022'
)
_HAND_OVER: Mapping[str, p.Reader] = dict.fromkeys(("active", "every", "design"), p.count)


def _averaged(
    batch: int, gradient: str, partition: Any = "whole", order: Any = None, tau: int = 1, **own: Any
) -> dict[str, Any]:
    """The exchange, and the one local step of a round."""
    if gradient == "full" and batch != 1:
        raise BadInput('a step with gradient = "full" takes all samples; leave batch out.')
    if partition == "whole" and order is not None:
        raise BadInput('partition = "whole" is one block, which has no order; leave order out.')
    local = GradientSteps(1) if gradient == "full" else StochasticSteps(1, batch)
    return {"exchange": Blocks(tau, partition, order, **own), "local": local}


def _some_averaged(partition: Any, **given: Any) -> dict[str, Any]:
    name = "periodic_averaging" if partition == "whole" else "partial_averaging"
    return {**_averaged(partition=partition, **given), "name": name}


def _partition(given: Any, name: str) -> str | tuple[tuple[int, ...], ...]:
    if isinstance(given, str):
        return given
    if isinstance(given, Sequence):
        return tuple(p.whole_numbers(b, "a block of the partition") for b in given)
    raise BadInput('partition must be "even", "layer", "channel" or a list of tau lists of coordinates.')


def _cut(given: Any, name: str) -> str | tuple[tuple[int, ...], ...]:
    if given == "whole":
        raise BadInput('partition = "whole" is periodic averaging, the method kind "periodic_averaging".')
    return _partition(given, name)


def hand_over_from(given: Any, name: str = "hand_over") -> HandOver | None:
    """{active = 32, every = 110, design = 2}: how many clients hold a model, and after how many rounds others do."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise BadInput("hand_over is written {active = 2, every = 10, design = 2}.")
    found: dict[str, Any] = p.fields_of(given, _HAND_OVER, "the hand-over", ("design",))
    return HandOver(**found)  # which refuses a design that is neither 1 nor 2


_FREE = {"order": anything, "weights": anything}
_FREE_WITH_HAND_OVER = {**_FREE, "hand_over": anything}
_EVERY_STEP = Part(Blocks, tau=1, partition=anything, **_FREE_WITH_HAND_OVER)
_WHOLE = Part(Blocks, partition="whole", **_FREE_WITH_HAND_OVER)


def _is_cut(partition: Any) -> bool:
    return partition != "whole"


def _form(exchange: Any, schedule: Any = anything) -> Form:
    """All workers take one step from their own models, which the exchange averages."""
    one_step = AnyOf(GradientSteps(1), Part(StochasticSteps, steps=1, batch=anything))
    return Form(Full(), one_step, schedule, exchange=exchange)


_BY_BLOCKS = Part(Blocks, partition=_is_cut, **_FREE_WITH_HAND_OVER)
_TAU = p.Parameter("tau", "steps within which every coordinate is averaged", p.COUNT, p.count, unit="steps")
_PARTITION = p.Parameter(
    "partition", "the tau blocks of the model", '"even", of a network "layer" or "channel", or lists of coordinates',
    _cut, default="even",
)  # fmt: skip
_ORDER = p.Parameter(
    "order", "which block is averaged first, second, ...", "a permutation of 0..tau-1, by default the natural one",
    p.whole_numbers, default=None,
)  # fmt: skip
_SHARES = p.Parameter("weights", "of the average", '"uniform" or "data"', default="uniform")
_GRADIENT = p.Parameter(
    "gradient", "of a local step: the mean over `batch` samples drawn with replacement, or whole", '"sample" or "full"',
    p.one_of("the gradient of a local step", ("sample", "full")), default="sample",
)  # fmt: skip
_HANDED = p.Parameter(
    "hand_over", "how many clients hold a model, and after how many rounds others do",
    "a table {active = 2, every = 10, design = 2}", hand_over_from, default=None,
)  # fmt: skip
_STEP = (p.BATCH.but(into=""), _GRADIENT, *p.SGD)
_WHOLLY = (_TAU, p.ETA, _SHARES, *_STEP)
_BLOCKWISE = (_TAU, p.ETA, _PARTITION, _ORDER, _SHARES, *_STEP)

KINDS = {
    "partial_averaging": kind(
        "Partial averaging: after every step of the workers, one of tau blocks of their models is averaged.",
        (PAPER, "Algorithm 1"),
        _form(AnyOf(_BY_BLOCKS, _EVERY_STEP)),
        (*_BLOCKWISE, _HANDED),
        _averaged,
    ),
    "periodic_averaging": kind(
        """Periodic averaging (local SGD): after every tau-th step of the workers, their whole models are averaged.

        The averaging after steps tau, 2 tau, ... makes it FedAvg with tau local steps, seen after every step.
        """,
        (PAPER, "(3)"),
        _form(AnyOf(_WHOLE, _EVERY_STEP)),
        (*_WHOLLY, _HANDED),
        _averaged,
    ),
    "sync_sgd": kind(
        """Synchronous SGD: the workers' models are averaged after every step, so that they never differ.

        It is partial and periodic averaging with tau = 1. By default the workers count by their weights in F, so that a
        step follows an unbiased estimate of grad F.
        """,
        (PAPER, "Section 4"),
        _form(_EVERY_STEP),
        (p.ETA, _SHARES.but(default="data"), *_STEP),
        _averaged,
    ),
    "block_averaging": kind(
        """Any averaging that meets every coordinate within tau steps, which is what the paper's theorems are about.

        "As long as the entire parameters are synchronized at least once within tau iterations", whatever the partition
        and the order: partial averaging, or with partition = "whole" periodic averaging.
        """,
        (PAPER, "note after Algorithm 1"),
        _form(Part(Blocks, partition=anything, **_FREE), Constant),
        (*_BLOCKWISE[:2], _PARTITION.but(read=_partition, allowed=f'"whole", {_PARTITION.allowed}'), *_BLOCKWISE[3:]),
        _some_averaged,
    ),
}
