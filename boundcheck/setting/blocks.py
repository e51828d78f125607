"""Constants and hypotheses of methods that average blocks of their workers' models, with the objectives of the workers.

S. Lee, A. K. Sahu, C. He and S. Avestimehr, "Partial Model Averaging in Federated Learning", Assumptions 1 to 4. With
the blocks j of the method's averages, p_i the clients' weights in F and L_j those of a reading of Assumption 1
(`certified.blocks`), the suffix R says of which: B (blocks), S (separable), W (weighted) or G (global),

    m                   workers
    sum_p2              sum of p_i^2
    Lmax_R              the largest L_j
    sigma2_total        sum of sigma_j^2, sigma_j^2 the largest variance of block j of a step's gradient
    sum_L_sigma2_R      sum of L_j sigma_j^2
    sum_L2_sigma2_R     sum of L_j^2 sigma_j^2
    beta2_diss          one beta^2 for all blocks in Assumption 4, block by block
    kappa2_diss         sum of the least kappa_j^2 with it
    sum_L2_kappa2_R     sum of L_j^2 kappa_j^2
    beta2_total         beta^2 of Assumption 4 for the whole gradient, and
    kappa2              its kappa^2
    averaged_per_period, averagings_per_period
                        numbers of a model that are averaged in tau rounds, and in how many messages
    averaging_...       defects of the averaging matrices, see `setting.averaging_matrices`

Names without a suffix (Lmax, sum_L_sigma2, ...) are those of the reading "weighted".

The hypotheses are Assumption 1 in its four readings to Assumption 4, and what the theorems say of the weights of the
averages. Each is decided for the constants of this module, which are those that a statement takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from flint import fmpq_mat

from boundcheck.certified.blocks import BlockDissimilarity, Lipschitz, Partition, block_variances, coupled, lipschitz
from boundcheck.certified.certify import from_above
from boundcheck.certified.constant import Constant, Known
from boundcheck.core.numbers import round_up
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods import answers
from boundcheck.problems.problem import QuadraticProblem, clients_of
from boundcheck.setting.averaging_matrices import averaging_makers
from boundcheck.setting.local_work import variance_share
from boundcheck.setting.makers import Makers, exact

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
        return self.problem.forms().maps if isinstance(self.problem, QuadraticProblem) else None

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

    def lipschitz(self, reading: str) -> Lipschitz | None:
        """The L_j of one reading of Assumption 1, None where there are none to be had."""
        if reading not in self._lipschitz:
            self._lipschitz[reading] = self._make(reading)
        return self._lipschitz[reading]

    @cached_property
    def _lipschitz(self) -> dict[str, Lipschitz | None]:
        return {}

    def _make(self, reading: str) -> Lipschitz | None:
        if self.maps is not None:
            if reading == "separable":  # what its L_j must be; where blocks are coupled the hypothesis fails, not these
                reading = "blocks"
            return lipschitz(reading, self.hessians, self.partition)
        if reading == "separable" or self.unsmooth is not None:
            return None
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
        try:
            own = self._client_noise
        except BadInput as error:
            return str(error)
        if isinstance(own, str):
            return own
        return tuple(max(v[j] for v in own) for j in range(len(self.partition)))

    @cached_property
    def _client_noise(self) -> list[tuple[Fraction, ...]] | str:
        """Per client the variance of each block of a step's gradient."""
        found: list[tuple[Fraction, ...]] = []
        samples: Any = None
        known: dict[tuple[int, int], tuple[Fraction, ...]] = {}  # of clients that share samples and map
        everyone = tuple(range(self.clients.count))
        for i in everyone:
            visits = self.method.local.visits(i, everyone, self.clients)
            if len(visits) != 1 or visits[0][1].steps != 1 or visits[0][1].scale != 1 or visits[0][1].prox:
                return f"client {i} does not take exactly one plain step a round."
            visit, size = visits[0][1], self.clients.sizes[i]
            share = variance_share(visit, size)
            if share is None:
                return f"client {i} does not step along a sampled gradient."
            if share == 0:
                found.append((Fraction(0),) * len(self.partition))
                continue
            seen = self._seen("block_variances", i)
            if seen is not None:
                found.append(tuple(v * share for v in seen))
                continue
            if self.maps is None or not hasattr(self.problem, "samples"):
                return UNKNOWN_NOISE
            if samples is None:
                samples = getattr(self.problem, "samples")()  # noqa: B009  (no protocol names it)
            key = (id(getattr(samples[i], "parts", samples[i])), id(self.maps[i]))
            if key in known:
                found.append(tuple(v * share for v in known[key]))
                continue
            own = block_variances(samples[i], self.maps[i], self.partition)
            free = next((j for j, v in enumerate(own) if v is None), None)
            if free is not None:
                return f"the gradients of the samples of client {i} spread without bound in block {free}."
            known[key] = tuple(v for v in own if v is not None)
            found.append(tuple(v * share for v in known[key]))
        return found

    def _seen(self, name: str, *client: int) -> Any:
        """What a problem with measured constants tells of these blocks; None where there is nothing."""
        measured = getattr(self.problem, name, None)
        return None if measured is None else measured(*client, self.partition)

    @cached_property
    def varied(self) -> str | None:
        """Why the noise is not alike for all clients; None where it is."""
        own = self._client_noise if not isinstance(self.noise, str) else self.noise
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


def _objection(problem: Problem, name: str) -> str | None:
    try:
        return problem.violations(name)
    except UnknownName:
        return "the problem does not say."


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
    of_network: Any = getattr(problem, "block_coordinates", None)
    if not exchange.by_network or of_network is None:
        return exchange
    return replace(exchange, partition=of_network(str(exchange.partition), exchange.tau))


def block_makers(method: Method, problem: Problem) -> Makers:
    """How each constant is computed that method and problem have together as workers that average blocks."""
    view = block_view(method, problem)
    if view is None:
        return {}
    pattern = view.exchange.pattern(problem.dim)
    found: Makers = {
        "m": lambda: exact(Fraction(view.clients.count), "counted: workers"),
        "sum_p2": lambda: exact(sum((w * w for w in problem.weights), Fraction(0)), "sum of p_i^2"),
        "averaged_per_period": lambda: exact(Fraction(sum(map(len, pattern))), "counted: coordinates averaged"),
        "averagings_per_period": lambda: exact(
            Fraction(sum(bool(c) for c in pattern)), "counted: rounds that end with an average"
        ),
        **averaging_makers(view.partition, pattern, view.averaging),
    }
    if not isinstance(view.noise, str):
        found["sigma2_total"] = partial(_noise, view)
    if view.unlike is None:
        found |= {"beta2_total": view.beta2_total, "kappa2": lambda: problem.constants()["G2"]}
    blocks = view.dissimilarity
    bounded = blocks is not None and blocks.free_block is None
    if blocks is not None and bounded:
        how = "one beta^2 for all blocks: 1 for equal Hessians, else twice the least possible, at least 1"
        found["beta2_diss"] = lambda: exact(blocks.beta2 or Fraction(1), how)
        found["kappa2_diss"] = lambda: from_above(sum(_kappa2(blocks), Fraction(0)), "sum of the least kappa_j^2")
    for suffix, reading in SUFFIXES.items():
        if view.unsmooth is not None or (reading == "separable" and view.maps is None):
            continue
        own = {"Lmax": partial(_largest, view, reading)}
        if not isinstance(view.noise, str):
            own["sum_L_sigma2"] = partial(_noise_sum, view, reading, 1)
            own["sum_L2_sigma2"] = partial(_noise_sum, view, reading, 2)
        if bounded:
            own["sum_L2_kappa2"] = partial(_dissimilarity_sum, view, reading)
        found |= {f"{name}_{suffix}": make for name, make in own.items()}
        if suffix == "W":
            found |= own
    return found


def _with(exact: bool, value: Fraction, how: str) -> Constant:
    """A constant that rests on L_j that are exact, or certified from above."""
    return from_above(value, how) if exact else Constant(round_up(value), Known.CERTIFIED, "upper", how)


def _smooth(view: BlockView, reading: str) -> Lipschitz:
    found = view.lipschitz(reading)
    assert found is not None
    return found


def _noise(view: BlockView) -> Constant:
    assert not isinstance(view.noise, str)
    return from_above(sum(view.noise, Fraction(0)), "sum over the blocks of the largest variance of a step's gradient")


def _largest(view: BlockView, reading: str) -> Constant:
    found = _smooth(view, reading)
    return _with(found.exact, found.largest, f"largest L_j ({reading}): {found.how}")


def _noise_sum(view: BlockView, reading: str, power: int) -> Constant:
    found, noise = _smooth(view, reading), view.noise
    assert not isinstance(noise, str)
    value = sum((v**power * s for v, s in zip(found.values, noise, strict=True)), Fraction(0))
    letter = "L_j" if power == 1 else f"L_j^{power}"
    return _with(found.exact or not any(noise), value, f"sum of {letter} sigma_j^2, L_j ({reading}): {found.how}")


def _kappa2(blocks: BlockDissimilarity) -> list[Fraction]:
    assert blocks.beta2 is not None
    return [v for v in blocks.kappa2(blocks.beta2) if v is not None]


def _dissimilarity_sum(view: BlockView, reading: str) -> Constant:
    found, blocks = _smooth(view, reading), view.dissimilarity
    assert blocks is not None
    kappa2 = _kappa2(blocks)
    value = sum((v * v * k for v, k in zip(found.values, kappa2, strict=True)), Fraction(0))
    return _with(found.exact or not any(kappa2), value, f"sum of L_j^2 kappa_j^2, L_j ({reading}): {found.how}")


def block_hypotheses(method: Method, problem: Problem) -> dict[str, str | None]:
    """Hypothesis -> why it fails, or None where it holds; one that cannot be decided is left out."""
    view = block_view(method, problem)
    if view is None:
        return {}
    p, m = list(problem.weights), view.clients.count
    found: dict[str, str | None] = {
        **_smoothness(view),
        "averages_as_objective": None
        if list(view.averaging) == p
        else "the models are averaged with other weights than the clients have in F.",
        "averages_uniformly": None
        if all(w == Fraction(1, m) for w in view.averaging)
        else "the models are not averaged with equal weights.",
    }
    if view.noise != UNKNOWN_NOISE:
        found["block_variance"] = view.noise if isinstance(view.noise, str) else None
    objection = _answer(view, "gradient_dissimilarity")
    if objection is not None or view.unlike is None:
        found["total_dissimilarity"] = objection
    blocks = view.dissimilarity
    if blocks is not None:
        free = blocks.free_block
        found["block_dissimilarity"] = (
            None if free is None else f"in block {free} a client's gradient varies where that of F does not."
        )
    if blocks is not None and view.maps is not None:
        found["pure_noise"] = _not_only_noise(view)
        found["even_noise"] = view.noise if isinstance(view.noise, str) else _uneven(view, view.noise)
    return found


def _answer(view: BlockView, name: str) -> str | None:
    """Why the problem breaks a hypothesis; None where it meets it or cannot tell."""
    try:
        return view.problem.violations(name)
    except UnknownName:
        return None


def _smoothness(view: BlockView) -> dict[str, str | None]:
    """The four readings of Assumption 1, with the constants that the instance has in each."""
    objection = _answer(view, "smooth_clients")
    known = objection is not None or view.unsmooth is None
    found: dict[str, str | None] = (
        dict.fromkeys(("smooth_blocks", "smooth_weighted", "smooth_globally"), objection) if known else {}
    )
    if view.maps is not None:
        pair = view.coupled
        found["smooth_separable"] = (
            None if pair is None else f"the Hessian of client {pair[0]} couples the blocks {pair[1]} and {pair[2]}."
        )
    return found


def _not_only_noise(view: BlockView) -> str | None:
    assert view.maps is not None
    for i, (a, b) in enumerate(view.maps):
        if any(v != 0 for v in (*a.entries(), *b.entries())):
            return f"the gradient of client {i} is not 0 everywhere."
    return view.varied


def _uneven(view: BlockView, noise: tuple[Fraction, ...]) -> str | None:
    varied = view.varied
    if varied is not None:
        return varied
    return None if len(set(noise)) == 1 else "the noise has not the same variance in every block."
