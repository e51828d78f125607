"""Constants measured along runs of a `[[training]]` table: by round, by block of the model, and how each was measured.

They are estimates at points of one run, no bounds; claims with the key `estimate` put them into the theorems.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.certified.constant import Known
from boundcheck.core.digest import Undigestible, run_key
from boundcheck.core.numbers import format_short
from boundcheck.core.store import AnyCheckpoint, run_stored
from boundcheck.evidence.stored import code_of
from boundcheck.evidence.studies.study import StudyTable
from boundcheck.methods.parts import Blocks
from boundcheck.networks.engine.device import Settings, environment
from boundcheck.networks.engine.probing import Effort, probe
from boundcheck.networks.engine.run import run_neural
from boundcheck.networks.engine.task import resolved, task_of
from boundcheck.networks.provider import run_facts
from boundcheck.networks.study.runs import CaseRuns

if TYPE_CHECKING:
    from boundcheck.core.store import Store, Stored
    from boundcheck.methods.method import Method
    from boundcheck.networks.study.runs import Ran
    from boundcheck.networks.study.spec import Estimate, Spec
    from boundcheck.problems.problem import Problem


# What is measured by round, in the words of the page.
WORDS: Mapping[str, str] = {
    "f": "F",
    "grad2": "|grad F|\u00b2",
    "B2": "B\u00b2",
    "G2": "G\u00b2",
    "L": "L",
    "lam": "lambda",
    "L_f": "L of F",
    "sigma2_i": "sigma\u00b2",
    "delta": "delta",
}
# Constants as problems call them, in the words of the page.
NAMES: Mapping[str, str] = {
    "G2": "G^2 where B^2 = 1",
    "B2_0": "B^2 at the start",
    "B2_only": "B^2 where G^2 = 0",
    "grad2_0": "|grad F|^2 at the start",
    "gap_0": "F at the start, above a lower bound of F",
    "noise2": "sum of sigma_i^2 over the number of all samples, where P^2 = 0",
    "P2_only": "P^2 where sigma^2 = 0",
    "L": "L of the clients",
    "L_f": "L of F",
    "L_ij": "L of single samples",
    "lam": "lambda",
}


@dataclass(frozen=True)
class Along:
    """What was measured along the run of seed 0 of one method of one case, after these rounds.

    measured: as `networks.engine.probing.Probe.to_dict` has it.
    """

    label: str
    case: str
    rounds: tuple[int, ...]
    measured: Mapping[str, Any]

    @property
    def where(self) -> str:
        """Method and case."""
        return f"{self.label}, {self.case}" if self.case else self.label


def estimates(spec: Spec, found: Sequence[CaseRuns], store: Store | None = None) -> list[Along]:
    """All that the table asks for; the points of the runs and what is measured there go through the store."""
    measured: list[Along] = []
    for estimate in spec.estimate:
        case = next(c for c in found if estimate.case in (None, c.case.label))
        run = next(r for r in case.runs if r.label == estimate.method)
        measured.append(_along(spec, case, run, estimate, store))
    return measured


def _along(spec: Spec, case: CaseRuns, run: Ran, estimate: Estimate, store: Store | None) -> Along:
    problem, settings, effort = case.problem, Settings.of(spec.neural), Effort.of(estimate.effort)
    grid = sorted({round(run.rounds * k / estimate.points) for k in range(estimate.points + 1)})

    def compute(points: Any) -> dict[str, Any]:
        finite = np.array([np.isfinite(point).all() for point in points])
        exchange = resolved(run.method, problem).exchange
        blocks = exchange.blocks(problem.dim) if isinstance(exchange, Blocks) else ()
        task = task_of(problem, settings)
        with environment(settings, task.device):
            seen = probe(task, problem, points[finite], blocks=blocks, effort=effort)
        return {"rounds": [n for n, known in zip(grid, finite, strict=True) if known], **seen.to_dict()}

    def read(measured: Mapping[str, Any]) -> Along:
        along = Along(run.label, case.case.label, tuple(measured["rounds"]), measured)
        estimate_tables([along])  # everything that is read of it
        return along

    own = asdict(effort)
    return read(_measured_or_recall(store, run.method, problem, run.spec, grid, settings, own, compute, read))


def _measured_or_recall(
    store: Store | None,
    method: Method,
    problem: Problem,
    method_spec: Mapping[str, Any],
    grid: Sequence[int],
    settings: Settings,
    effort: Mapping[str, Any],
    measure: Callable[[NDArray[np.float64]], Mapping[str, Any]],
    read: Callable[[Mapping[str, Any]], object],
) -> Mapping[str, Any]:
    """What is measured at the server's points (G, dim) of seed 0 of a neural run after the rounds of a grid.

    measure: what `networks.engine.probing` says at these points, JSON-able, with this effort. Both the points and what
    is measured go through the store. read: what is done with it later; where that fails with one of
    `core.arrays.MALFORMED` on what is stored, it is measured again.
    """
    how: dict[str, Any] = {"engine": "neural", "points": list(grid), "neural": run_facts(settings)}
    spec: dict[str, Any] = {"problem": dict(problem.spec), "method": dict(method_spec), "run": how, "seeds": [0]}
    effort_spec = {**spec, "effort": dict(effort)}

    def compute(checkpoint: AnyCheckpoint) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        curve = run_neural(
            method, problem, grid[-1], range(1), ("f",), grid, settings, checkpoint=checkpoint, keep_points=True
        )
        assert curve.points is not None
        return {"points": curve.points[0]}, {}

    def compute_measured(checkpoint: AnyCheckpoint) -> tuple[dict[str, NDArray[Any]], Mapping[str, Any]]:
        return {}, measure(np.asarray(run_stored(store, keys[0], spec, compute, check_points).arrays["points"]))

    def check_points(found: Stored) -> None:
        points = found.arrays["points"]
        if points.shape != (len(grid), problem.dim) or points.dtype.kind != "f":
            raise ValueError(f"points of shape {points.shape}")

    try:
        code = () if store is None else code_of(problem, method_spec, "neural")
        more = "boundcheck.networks.engine.probing"
        keys = ("", "") if store is None else (run_key(spec, code), run_key(effort_spec, (*code, more)))
    except Undigestible:
        store, keys = None, ("", "")
    return run_stored(store, keys[1], effort_spec, compute_measured, lambda found: read(found.meta)).meta


def estimate_words(measured: Sequence[Along]) -> list[str]:
    """What the numbers of the tables are, and what they are not."""
    if not measured:
        return []
    named = "; ".join(f"{a.where}, after {', '.join(map(str, a.rounds))} rounds" for a in measured)
    blocks = ""
    if any(a.measured["kappa2"] for a in measured):
        blocks = " sigma_j, kappa_j and beta_j are the same of the coordinates of block j of the model alone."
    return [
        f"Constants of the theorems were estimated at points of a run of seed 0 ({named}). They are the largest values "
        "seen there and no bounds: nothing is known of other points.",
        "B^2 is the sum of w_i |grad f_i|^2 over |grad F|^2, G^2 that sum minus |grad F|^2; L is the largest "
        "|eigenvalue| of Hess f_i, lambda its largest negative curvature, delta the largest |eigenvalue| of "
        f"Hess f_i - Hess F; sigma^2 is the largest variance of a client's gradients of single samples.{blocks}",
    ]


def estimate_tables(measured: Sequence[Along]) -> list[StudyTable]:
    """For each run the constants by round, those by block where the model is averaged in blocks, and how."""
    tables: list[StudyTable] = []
    for along in measured:
        found = _in_order(along.measured["along"], WORDS)
        rows = [(str(n), *(_short(values[k]) for values in found.values())) for k, n in enumerate(along.rounds)]
        columns = ("round", *(WORDS.get(name, name) for name in found))
        numbers = tuple(range(len(columns)))
        tables.append(StudyTable(f"Estimated along the run of {along.where}, seed 0", columns, tuple(rows), numbers))
        if along.measured["kappa2"]:
            tables.append(_by_block(along))
        tables.append(_how(along))
    return tables


def _by_block(along: Along) -> StudyTable:
    """S. Lee et al., Assumptions 3 and 4: the largest over the rounds (and, of a variance, the clients looked at)."""
    noise = [max(map(float, own)) for own in zip(*along.measured["block_noise"], strict=True)]
    found = zip(noise, along.measured["kappa2"], along.measured["beta2"], strict=True)
    rows = [(str(j), *map(_short, own)) for j, own in enumerate(found)]
    columns = ("block", "sigma_j\u00b2", "kappa_j\u00b2 where beta\u00b2 = 1", "beta_j\u00b2 where kappa\u00b2 = 0")
    return StudyTable(f"Estimated by block of the model: {along.where}", columns, tuple(rows), tuple(range(4)))


def _how(along: Along) -> StudyTable:
    found = _in_order(along.measured["constants"], NAMES)
    own = {name: c for name, c in found.items() if c["known"] == Known.ESTIMATED.value}
    rows = tuple((NAMES.get(name, name), _short(Fraction(c["value"])), c["how"]) for name, c in own.items())
    return StudyTable(f"How it was estimated: {along.where}", ("constant", "value", "how"), rows, (1,))


def _in_order(found: Mapping[str, Any], words: Mapping[str, str]) -> dict[str, Any]:
    """What has words in their order, then the rest."""
    return {name: found[name] for name in (*words, *sorted(found)) if name in found}


def _short(value: Any) -> str:
    return format_short(float(value), 4)


def estimate_data(measured: Sequence[Along]) -> dict[str, Any]:
    """What was measured, as data."""
    runs = [{"method": a.label, "case": a.case, "seed": 0, **a.measured} for a in measured]
    return {"estimates": runs} if runs else {}
