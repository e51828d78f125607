"""Constants and hypotheses of methods that average blocks of their workers' models, with the objectives of the workers.

S. Lee, A. K. Sahu, C. He and S. Avestimehr, "Partial Model Averaging in Federated Learning", Assumptions 1 to 4. The
constants are those of the catalogue (`theory.keys`). With the blocks j of the method's averages and L_j those of a
reading of Assumption 1 (`certified.blocks`), the suffix of a name says of which: B (blocks), S (separable), W
(weighted) or G (global); names without a suffix (Lmax, sum_L_sigma2, ...) are those of the reading "weighted".

The hypotheses are Assumption 1 in its four readings to Assumption 4, and what the theorems say of the weights of the
averages. Each is decided for the constants of this module, which are those that a statement takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from flint import fmpq_mat

from boundcheck.certified.blocks import BlockDissimilarity, Lipschitz, Partition, block_variances, coupled, lipschitz
from boundcheck.certified.certify import from_above
from boundcheck.certified.constant import Constant, Known, exact
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods import answers
from boundcheck.problems.problem import clients_of, optional, quadratic_objectives
from boundcheck.setting.local_work import variance_share
from boundcheck.setting.objectives import for_quadratics_only
from boundcheck.setting.theories import Makers, Objections, Theory

if TYPE_CHECKING:
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.methods.parts import Blocks
    from boundcheck.problems.problem import Problem


SUFFIXES = {"B": "blocks", "S": "separable", "W": "weighted", "G": "global"}
MAX_WORKERS = 1000
UNKNOWN_NOISE = "the variance of a sample's gradient is not known at every point."  # says nothing of the hypothesis


@dataclass(frozen=True)
class BlockView:
    """A method with block averages on a problem; exact matters are there for quadratic problems alone.

    partition: the coordinates of each block. averaging: the weights of the averages, one a worker.
    """

    method: Method
    problem: Problem
    exchange: Blocks
    clients: Clients
    partition: Partition
    averaging: Sequence[Fraction]

    @cached_property
    def maps(self) -> Sequence[tuple[fmpq_mat, fmpq_mat]] | None:
        """(A_i, b_i) of each worker, or None."""
        quadratic = quadratic_objectives(self.problem)
        return None if quadratic is None else quadratic.forms().maps

    @cached_property
    def hessians(self) -> list[fmpq_mat]:
        """A_i; none where they are not constant."""
        return [] if self.maps is None else [a for a, _ in self.maps]

    @cached_property
    def coupled(self) -> tuple[int, int, int] | None:
        """A client whose Hessian couples two blocks, with these."""
        if self.hessians and all(a is self.hessians[0] for a in self.hessians):
            return coupled(self.hessians[:1], self.partition)
        return coupled(self.hessians, self.partition)

    def lipschitz(self, reading: str) -> Lipschitz:
        """The L_j of one reading of Assumption 1, where the problem is smooth.

        Of the separable one they are what they must be; where blocks are coupled the hypothesis fails, not these.
        """
        reading = "blocks" if reading == "separable" else reading
        if reading not in self._lipschitz:
            self._lipschitz[reading] = self._make(reading)
        return self._lipschitz[reading]

    @cached_property
    def _lipschitz(self) -> dict[str, Lipschitz]:
        return {}

    def _make(self, reading: str) -> Lipschitz:
        if self.maps is not None:
            found = lipschitz(reading, self.hessians, self.partition)
            assert found is not None, "the separable reading alone may have none"
            return found
        known = self.problem.constants()["L"]  # a global constant serves for every block, and in norm
        exact = reading == "global" and known.side == "exact"
        return Lipschitz((known.value,) * len(self.partition), exact, known.how)

    @cached_property
    def unsmooth(self) -> str | None:
        """Why no constant of smoothness is known."""
        if self.maps is not None:
            return None
        if "L" not in self.problem.constants():
            return "the problem knows no smoothness constant of its clients."
        return _objection(self.problem, "smooth_clients")

    # --- steps ------------------------------------------------------------------------------------------------

    @cached_property
    def noise(self) -> tuple[Fraction, ...] | str:
        """sigma_j^2, one a block: the largest variance over clients and points; or why there is none."""
        own = self._client_noise
        return own if isinstance(own, str) else tuple(map(max, zip(*own, strict=True)))

    @cached_property
    def _client_noise(self) -> list[tuple[Fraction, ...]] | str:
        """Per client the variance of each block of a step's gradient; or why there is none."""
        try:
            return self._computed_noise()
        except BadInput as error:
            return str(error)

    def _computed_noise(self) -> list[tuple[Fraction, ...]] | str:
        found: list[tuple[Fraction, ...]] = []
        everyone = tuple(range(self.clients.count))
        for i in everyone:
            visits = self.method.local.visits(i, everyone, self.clients)
            visit = visits[0][1]
            if len(visits) != 1 or visit.steps != 1 or visit.scale != 1 or visit.prox:
                return f"client {i} does not take exactly one plain step a round."
            share = variance_share(visit, self.clients.sizes[i])
            if share is None:
                return f"client {i} does not step along a sampled gradient."
            own = self._sample_noise(i) if share else (Fraction(0),) * len(self.partition)
            if isinstance(own, str):
                return own
            found.append(tuple(v * share for v in own))
        return found

    def _sample_noise(self, i: int) -> Sequence[Fraction] | str:
        """The variance of each block of a single sample's gradient at a client; or why there is none."""
        seen = self._seen("block_variances", i)
        if seen is not None:
            return seen
        if self.maps is None or optional(self.problem, "samples") is None:
            return UNKNOWN_NOISE
        samples = self._samples[i]
        key = (id(getattr(samples, "parts", samples)), id(self.maps[i]))  # clients may share samples and map
        if key not in self._variances:
            self._variances[key] = block_variances(samples, self.maps[i], self.partition)
        own = self._variances[key]
        if None in own:
            return f"the gradients of the samples of client {i} spread without bound in block {own.index(None)}."
        return [v for v in own if v is not None]

    @cached_property
    def _samples(self) -> Any:
        return optional(self.problem, "samples")()

    @cached_property
    def _variances(self) -> dict[tuple[int, int], Sequence[Fraction | None]]:
        return {}

    def _seen(self, name: str, *client: int) -> Any:
        """What a problem with measured constants tells of these blocks; None where there is nothing."""
        measured = optional(self.problem, name)
        return None if measured is None else measured(*client, self.partition)

    @cached_property
    def varied(self) -> str | None:
        """Why the noise is not alike for all clients; None where it is."""
        own = self._client_noise
        if isinstance(own, str):
            return own
        bad = next((i for i, v in enumerate(own) if v != own[0]), None)
        return None if bad is None else f"the noise of client {bad} has another variance than that of client 0."

    # --- clients ----------------------------------------------------------------------------------------------

    @cached_property
    def dissimilarity(self) -> BlockDissimilarity | None:
        """Assumption 4 block by block."""
        if self.maps is None:
            return self._seen("block_dissimilarity")
        return BlockDissimilarity(self.maps, self.problem.weights, self.partition)

    @cached_property
    def unlike(self) -> str | None:
        """Why Assumption 4 holds for the whole gradient with no constants."""
        objection = _objection(self.problem, "gradient_dissimilarity")
        if objection is not None or self.maps is not None:
            return objection
        known = self.problem.constants()
        return None if "B2" in known and "G2" in known else "the problem knows no dissimilarity of its clients."

    def beta2_total(self) -> Constant:
        """beta^2 of Assumption 4 for the whole gradient, at least 1 as it asks."""
        factor = self.problem.constants()["B2"]
        if factor.value >= 1:
            return factor
        return Constant(Fraction(1), Known.CERTIFIED, "upper", "1, since Assumption 4 asks for beta^2 >= 1")


def _objection(problem: Problem, name: str, unknown: str | None = "the problem does not say.") -> str | None:
    """Why the problem breaks a hypothesis, None where it meets it; `unknown` where it cannot tell."""
    try:
        return problem.violations(name)
    except UnknownName:
        return unknown


def block_view(method: Method, problem: Problem) -> BlockView | None:
    """The view of a method that averages blocks of models held by all clients; None for others."""
    exchange, clients = answers.averaging(method.exchange), clients_of(problem)
    if exchange is None or clients.count > MAX_WORKERS or exchange.hand_over is not None:
        return None
    try:
        exchange = _told(exchange, problem)
        partition = exchange.blocks(problem.dim)
    except (BadInput, Unsupported):  # told where the method runs
        return None
    return BlockView(method, problem, exchange, clients, partition, exchange.of(clients.weights))


def _told(exchange: Blocks, problem: Problem) -> Blocks:
    """The exchange with the coordinates of its blocks, where these are layers or channels of the problem's network."""
    of_network = optional(problem, "block_coordinates")
    if not exchange.by_network or of_network is None:
        return exchange
    return replace(exchange, partition=of_network(str(exchange.partition), exchange.tau))


def _constants(view: BlockView) -> Makers:
    """How each constant is computed that method and problem have together as workers that average blocks."""
    problem, pattern = view.problem, view.exchange.pattern(view.problem.dim)
    noise, blocks = view.noise, view.dissimilarity
    found: Makers = {
        "m": partial(exact, view.clients.count, "counted: workers"),
        "sum_p2": lambda: exact(sum((w * w for w in problem.weights), Fraction(0)), "sum of p_i^2"),
        "averaged_per_period": partial(exact, sum(map(len, pattern)), "counted: coordinates averaged"),
        "averagings_per_period": partial(exact, sum(map(bool, pattern)), "counted: rounds that end with an average"),
    }
    sums: dict[str, tuple[int, Callable[[], Sequence[Fraction]], str]] = {}
    if not isinstance(noise, str):
        how = "sum over the blocks of the largest variance of a step's gradient"
        found["sigma2_total"] = lambda: from_above(sum(noise, Fraction(0)), how)
        sums["sum_L_sigma2"] = 1, lambda: noise, "L_j sigma_j^2"
        sums["sum_L2_sigma2"] = 2, lambda: noise, "L_j^2 sigma_j^2"
    if view.unlike is None:
        found |= {"beta2_total": view.beta2_total, "kappa2": lambda: problem.constants()["G2"]}
    if blocks is not None and blocks.free_block is None:
        one = "one beta^2 for all blocks: 1 for equal Hessians, else twice the least possible, at least 1"
        found["beta2_diss"] = lambda: exact(blocks.beta2 or Fraction(1), one)
        found["kappa2_diss"] = lambda: from_above(sum(_kappa2(blocks), Fraction(0)), "sum of the least kappa_j^2")
        sums["sum_L2_kappa2"] = 2, lambda: _kappa2(blocks), "L_j^2 kappa_j^2"
    for suffix, reading in SUFFIXES.items():
        if view.unsmooth is not None or (reading == "separable" and view.maps is None):
            continue
        own: Makers = {"Lmax": partial(_largest, view, reading)}
        own |= {name: partial(_sum, view, reading, *how) for name, how in sums.items()}
        found |= {f"{name}_{suffix}": make for name, make in own.items()}
        if suffix == "W":
            found |= own
    return found


def _largest(view: BlockView, reading: str) -> Constant:
    found = view.lipschitz(reading)
    return from_above(found.largest, f"largest L_j ({reading}): {found.how}", exact=found.exact)


def _sum(view: BlockView, reading: str, power: int, of: Callable[[], Sequence[Fraction]], what: str) -> Constant:
    """The sum over the blocks of L_j^power times another number."""
    found, others = view.lipschitz(reading), of()
    value = sum((v**power * s for v, s in zip(found.values, others, strict=True)), Fraction(0))
    return from_above(value, f"sum of {what}, L_j ({reading}): {found.how}", exact=found.exact or not any(others))


def _kappa2(blocks: BlockDissimilarity) -> list[Fraction]:
    assert blocks.beta2 is not None
    return [v for v in blocks.kappa2(blocks.beta2) if v is not None]


def _hypotheses(view: BlockView) -> Objections:
    problem, noise, blocks = view.problem, view.noise, view.dissimilarity
    objective = list(view.averaging) == list(problem.weights)
    uniform = all(w == Fraction(1, view.clients.count) for w in view.averaging)
    found: dict[str, str | None] = {
        "averages_as_objective": None
        if objective
        else "the models are averaged with other weights than the clients have in F.",
        "averages_uniformly": None if uniform else "the models are not averaged with equal weights.",
    }
    rough = _objection(problem, "smooth_clients", None)
    if rough is not None or view.unsmooth is None:
        found |= dict.fromkeys(("smooth_blocks", "smooth_weighted", "smooth_globally"), rough)
    if noise != UNKNOWN_NOISE:
        found["block_variance"] = noise if isinstance(noise, str) else None
    unlike = _objection(problem, "gradient_dissimilarity", None)
    if unlike is not None or view.unlike is None:
        found["total_dissimilarity"] = unlike
    if blocks is not None:
        free = blocks.free_block
        why = f"in block {free} a client's gradient varies where that of F does not."
        found["block_dissimilarity"] = None if free is None else why
    if view.maps is not None:
        pair = view.coupled
        why = None if pair is None else f"the Hessian of client {pair[0]} couples the blocks {pair[1]} and {pair[2]}."
        found["smooth_separable"] = why
        moved = next((i for i, (a, b) in enumerate(view.maps) if any((*a.entries(), *b.entries()))), None)
        found["pure_noise"] = view.varied if moved is None else f"the gradient of client {moved} is not 0 everywhere."
        even = isinstance(noise, str) or len(set(noise)) == 1
        found["even_noise"] = view.varied or (None if even else "the noise has not the same variance in every block.")
    return found


def _why_missing(method: Method, problem: Problem) -> str | None:
    exchange = answers.averaging(method.exchange)
    if exchange is None:
        return None
    if exchange.hand_over is not None:
        return "the constants of averaged blocks are for workers that all keep models, and here models are handed over"
    return for_quadratics_only(problem)


BLOCKS = Theory(block_view, _constants, _hypotheses, missing=_why_missing)
