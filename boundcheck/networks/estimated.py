"""A problem with estimated constants laid over what it knows of itself, so that statements can be evaluated with them.

Networks have no constants that could be proved: they are measured along a run (`networks.engine.probing`), and what a
theorem then says is SUPPORTED at most. A hypothesis whose constants are estimates counts as "sampled": it was seen to
hold at the points of the run, with the least constants that make it hold there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from boundcheck.certified.constant import Constant, Known
from boundcheck.core.numbers import round_up
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods.parts import Blocks
from boundcheck.networks.engine.device import Settings
from boundcheck.networks.engine.probing import Effort, Probe, probe
from boundcheck.networks.engine.run import run_neural
from boundcheck.networks.engine.task import resolved, task_of

if TYPE_CHECKING:
    from boundcheck.engines.curve import Ints
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


# Hypotheses, of problems and of methods with them, and the constants with which they were seen to hold.
RESTS_ON: Mapping[str, tuple[str, ...]] = {
    "smooth_samples": ("L_ij",),
    "smooth_clients": ("L",),
    "client_smoothness": ("L", "L_f"),
    "gradient_dissimilarity": ("G2",),
    "local_variance": ("noise2",),
    "hessian_similarity": ("delta",),
    "lower_curvature": ("lam",),
    "dissimilarity_at_start": ("B2_0",),
    "bounded_dissimilarity": ("B2_only",),
    "smooth_blocks": ("L",),
    "smooth_weighted": ("L",),
    "smooth_globally": ("L",),
    "block_variance": ("noise2",),
    "total_dissimilarity": ("G2",),
    "block_dissimilarity": ("G2",),
    "inexact_solves": ("L", "lam"),
}
# Constants of problem and method that no estimate enters; all others that they have together rest on some.
FREE = frozenset(
    [
        *("M", "b", "W", "M1", "M2", "m", "sum_p2", "averaged_per_period", "averagings_per_period"),
        *("cohort_size", "gradient_cohort_size", "inv_mu", "inv_mu2", "rho", "q_min", "q_max", "q_bar"),
        *("rounds_share", "local_steps", "tau_delay", "window", "period", "alpha", "beta", "alpha_det", "beta_det"),
    ]
)
PASSES = 3  # runs until the step sizes of a statement have settled
POINTS = 3  # of a run at which constants are measured


@dataclass(frozen=True, eq=False)
class SampledBlocks:
    """Assumption 4 of S. Lee et al. block by block, as it was seen: beta^2 = 1 and the least kappa_j^2 with it."""

    values: tuple[Fraction, ...]
    beta2: Fraction = Fraction(1)
    free_block: None = None

    def kappa2(self, beta2: Fraction) -> tuple[Fraction, ...]:
        """kappa_j^2 of each block; serves every beta^2 of at least 1."""
        assert beta2 >= 1
        return self.values


@dataclass(frozen=True, eq=False, repr=False)
class Estimated:
    """A problem and what was measured of it; all other attributes are the problem's own.

    blocks: the coordinates of the blocks for which constants were measured. along: along which run, in words.
    """

    base: Any
    probe: Probe
    blocks: tuple[Ints, ...] = ()
    along: str = ""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("base", "probe"):
            raise AttributeError(name)
        return getattr(self.base, name)

    def __repr__(self) -> str:
        return f"{self.base!r} with estimated constants"

    @property
    def metrics(self) -> tuple[str, ...]:
        """Those of the problem, and gap, above the lower bound of F that it knows."""
        own = tuple(self.base.metrics)
        return own if "gap" in own or "f_low" not in self.base.constants() else (*own, "gap")

    @cached_property
    def _constants(self) -> Mapping[str, Constant]:
        known = self.base.constants()
        return {**self.probe.constants, **{name: known[name] for name in known}}

    def constants(self) -> Mapping[str, Constant]:
        """The problem's own, which win, and the estimates."""
        return self._constants

    @property
    def measured(self) -> Mapping[str, Any]:
        """Everything that was measured, JSON-able, for the curve."""
        return self.probe.to_dict()

    @cached_property
    def estimates(self) -> Mapping[str, str]:
        """Constant -> how it was estimated, of those that the problem does not know by itself."""
        return {name: c.how for name, c in self._constants.items() if c.known is Known.ESTIMATED}

    def holds_by_estimates(self, hypothesis: str) -> bool:
        """Whether a hypothesis, of the problem or of method and problem, was seen to hold with estimated constants."""
        return any(constant in self.estimates for constant in RESTS_ON.get(hypothesis, ()))

    def rests_on_estimates(self, name: str) -> bool:
        """Whether a constant that problem and method have together is made of estimates."""
        return bool(self.estimates) and name not in FREE and not name.startswith("averaging_")

    def violations(self, assumption: str) -> str | None:
        """The problem's own answer; if it has none, None for a hypothesis with estimated constants."""
        try:
            return self.base.violations(assumption)
        except UnknownName:
            if assumption in RESTS_ON and all(name in self._constants for name in RESTS_ON[assumption]):
                return None
            raise

    # --- by client and by block ---------------------------------------------------------------------------

    def client_curvatures(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """(l_k, L_k) of each client: the ends of its Hessians at the points; of others the worst of those looked at."""
        pairs = dict(zip(self.probe.clients, self.probe.curvatures, strict=True))
        worst = (min(low for low, _ in pairs.values()), max(high for _, high in pairs.values()))
        each = [pairs.get(i, worst) for i in range(self.base.clients)]
        return tuple((Fraction(low), Fraction(high)) for low, high in each)

    @property
    def variances_known(self) -> Known:
        """How the sigma_i^2 of `local_variances` are known."""
        return Known.ESTIMATED

    def local_variances(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """(0, sigma_i^2) of each client; of those that were not looked at the largest of the others."""
        found = dict(zip(self.probe.clients, self.probe.variances, strict=True))
        largest = max(found.values())
        return tuple((Fraction(0), Fraction(found.get(i, largest))) for i in range(self.base.clients))

    def _are_mine(self, partition: Sequence[Sequence[int]]) -> bool:
        pairs = zip(partition, self.blocks, strict=False)
        return len(partition) == len(self.blocks) and all(np.array_equal(a, b) for a, b in pairs)

    def block_variances(self, client: int, partition: Sequence[Sequence[int]]) -> tuple[Fraction, ...] | None:
        """The variance of block j of the gradient of one sample of a client, or None for other blocks."""
        if not self._are_mine(partition):
            return None
        noise = self.probe.block_noise
        place = {i: k for k, i in enumerate(self.probe.clients)}
        own = noise[place[client]] if client in place else noise.max(axis=0)
        return tuple(round_up(Fraction(float(v))) for v in own)

    def block_dissimilarity(self, partition: Sequence[Sequence[int]]) -> SampledBlocks | None:
        """Assumption 4 block by block, or None for other blocks than those that were looked at."""
        if not self._are_mine(partition):
            return None
        return SampledBlocks(tuple(round_up(Fraction(float(v))) for v in self.probe.kappa2))


def overlaid(problem: Problem, found: Probe, *, blocks: Sequence[Sequence[int]] = (), along: str = "") -> Estimated:
    """The problem with what was measured laid over what it knows; its own constants win."""
    return Estimated(problem, found, tuple(np.asarray(b, dtype=np.int64) for b in blocks), along)


def merged(first: Probe, second: Probe) -> Probe:
    """What both say together: the larger of every constant, the points of the second along the run.

    Both looked at the same clients.
    """
    if first.clients != second.clients:
        raise BadInput("the constants of different clients were measured; they cannot be put together.")
    constants = {
        name: second.constants[name]
        if name not in first.constants or first.constants[name].value <= c.value
        else first.constants[name]
        for name, c in second.constants.items()
    }
    pairs = zip(first.curvatures, second.curvatures, strict=True)
    return replace(
        second,
        constants=constants,
        curvatures=tuple((min(a[0], b[0]), max(a[1], b[1])) for a, b in pairs),
        variances=tuple(map(max, first.variances, second.variances)),
        block_noise=np.maximum(first.block_noise, second.block_noise),
        kappa2=np.maximum(first.kappa2, second.kappa2),
        beta2=np.maximum(first.beta2, second.beta2),
    )


def along_a_run(
    problem: Problem,
    settings: Settings | Mapping[str, Any] | None,
    planned: Callable[[Problem], tuple[Method, int] | None],
    blocked: Method,
    *,
    effort: Mapping[str, Any] | None = None,
) -> Problem:
    """The problem with constants measured along the run of a method whose step sizes may depend on them.

    planned: for a problem with constants, the method with its step sizes and the number of rounds, or None where no
    step size is allowed. blocked: the method with any step sizes, for its blocks. The constants are measured at
    the start, then along the run (of seed 0, at `POINTS` rounds spread evenly) that they lead to, and so on with the
    larger values, until the step sizes stay or after `PASSES` runs. Raises what `networks.engine` raises.
    """
    own, asked = Settings.of(settings), Effort.of(effort)
    task = task_of(problem, own)
    exchange = resolved(blocked, problem).exchange
    blocks = exchange.blocks(problem.dim) if isinstance(exchange, Blocks) else ()
    low = problem.constants()["f_low"].value if "f_low" in problem.constants() else Fraction(0)

    def measured(at: Any) -> Probe:
        return probe(task, at, blocks=blocks, effort=asked, low=low)

    found = overlaid(problem, measured(np.asarray(task.start)[None, :]), blocks=blocks, along="at the start alone")
    last: Method | None = None
    for _ in range(PASSES):
        plan = planned(cast("Problem", found))
        if plan is None or plan[0] == last:
            break
        last, rounds = plan
        grid = sorted({round(rounds * k / POINTS) for k in range(POINTS + 1)})
        curve = run_neural(last, problem, rounds, range(1), ("f",), grid, own, keep_points=True)
        assert curve.points is not None
        seen = curve.points[0]
        seen = seen[np.isfinite(seen).all(axis=1)]
        along = f"at {len(seen)} of the rounds 0 to {rounds} of a run with seed 0"
        found = overlaid(problem, merged(found.probe, measured(seen)), blocks=blocks, along=along)
    return cast("Problem", found)
