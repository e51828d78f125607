"""Which code carries out a run: NumPy, or the compiled kernel that reads coefficients."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from boundcheck.core.extras import missing
from boundcheck.core.streams import Words
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.simulate.lowering import Lowered
from boundcheck.engines.simulate.oracles import ArrayOracle, LazyOracle, Oracle, ProblemOracle
from boundcheck.engines.simulate.rows import Rows
from boundcheck.engines.simulate.vectors import Asked
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.formal import NotAffine
from boundcheck.problems.problem import Arrays, Lazy, Problem, clients_of, optional

Path = Literal["auto", "numpy", "numba"]
PATHS = ("auto", "numpy", "numba")


@dataclass(frozen=True)
class Runner:
    """How seeds are carried out. path: "numpy" or "numba"; why: what keeps the run from the compiled path.

    begin(seeds, start): the state before round 0 (S, parts, d). advance, look, tried: see `Rows`.
    """

    path: str
    why: str
    begin: Callable[[Words, Floats], Floats]
    advance: Callable[[Words, Floats, int, Ints, Floats], None]
    look: Callable[[Words, Floats, int, Asked], None]
    oracle: Oracle
    tried: Callable[[Floats], None]

    def epoch_starts(self, seeds: Words, state: Floats, round_index: int, epochs: int) -> Floats:
        """The points before each of this many epochs of a round; shape (S, epochs, d)."""
        starts = np.empty((len(seeds), epochs, state.shape[-1]))
        self.look(seeds, state, round_index, Asked(starts=starts))
        return starts

    def returned(self, seeds: Words, state: Floats, round_index: int, members: int) -> Floats:
        """What each of this many members of the cohort returns in a round; shape (S, members, d)."""
        found = np.empty((len(seeds), members, state.shape[-1]))
        self.look(seeds, state, round_index, Asked(returned=found))
        return found


def known_clients(problem: Problem, arrays: Arrays | None) -> Clients:
    """What a method may know of the clients; their samples are the components of the arrays."""
    known = clients_of(problem)
    if arrays is None or optional(problem, "sizes") is not None:
        return known
    return Clients(known.weights, [int(s) for s in np.diff(arrays.offsets)])


def _check_samples(problem: Problem, lowered: Lowered, arrays: Arrays | None) -> None:
    if lowered.sampling == "exact" and arrays is None and not isinstance(problem, Lazy):
        raise Unsupported(
            f"problem '{problem.name}' has no flat arrays, from which the subproblems of method "
            f"'{lowered.method.name}' could be solved exactly."
        )
    if lowered.whole or isinstance(problem, Lazy):
        return
    if arrays is None:
        raise Unsupported(
            f"problem '{problem.name}' has no samples of its own, so that method '{lowered.method.name}' cannot visit "
            "them in random order; local work with full gradients runs."
        )
    sizes = np.diff(arrays.offsets)
    if np.any(sizes < 1):
        raise BadInput(f"problem '{problem.name}' has a client without samples; every client needs at least one.")
    if not np.array_equal(sizes, np.array(lowered.known.sizes, dtype=np.int64)):
        raise BadInput(f"problem '{problem.name}' has clients with other numbers of samples than its `sizes` say.")


def _not_compiled(problem: Problem, lowered: Lowered, source: Arrays | Lazy | None) -> str:
    """What keeps a run from the compiled path; "" where nothing does, as far as the problem tells."""
    if source is None:
        return f"problem '{problem.name}' has no flat arrays, which the compiled path needs"
    if importlib.util.find_spec("numba") is None:
        return missing("numba", "the compiled path")
    if lowered.sampling == "exact":
        return "the compiled path solves no subproblem exactly"
    everyone = lowered.gradients is not None and lowered.gradients.largest == lowered.clients
    if isinstance(source, Lazy) and everyone:
        return f"the compiled path has no gradients of all clients of '{problem.name}' at once, which a round collects"
    return ""


def choose_path(path: str, problem: Problem, lowered: Lowered, arrays: Arrays | None) -> Runner:
    """The path taken; says why if there is none. Raises UnknownName, BadInput and Unsupported."""
    if path not in PATHS:
        raise UnknownName("path of the sampled engine", path, PATHS)
    _check_samples(problem, lowered, arrays)
    source = problem if arrays is None and isinstance(problem, Lazy) else arrays
    why = _not_compiled(problem, lowered, source)
    oracle: Oracle = ProblemOracle(problem) if arrays is None else ArrayOracle(arrays)
    if isinstance(source, Lazy):
        oracle = LazyOracle(source)
    rows = Rows(lowered, oracle, problem.weights)
    advance, look = rows.advance, rows.look
    if path != "numpy" and not why and source is not None:
        from boundcheck.engines.simulate.stretch import Compiled

        try:
            compiled = Compiled(lowered, source, problem.dim)
            advance, look = compiled.advance, partial(_look, compiled, rows)
        except (NotAffine, BadInput) as error:
            if isinstance(error, BadInput) and lowered.method.functions is None:
                raise
            why = f"'{lowered.method.name}' is not affine: {error}".rstrip(".")
    if path == "numba" and why:
        raise Unsupported(f"{why}; use path='numpy' or path='auto'.")
    taken = "numba" if path != "numpy" and not why else "numpy"
    return Runner(taken, why, partial(rows.begin, oracle), advance, look, oracle, rows.tried)


def _look(compiled: Any, rows: Rows, seeds: Words, state: Floats, round_index: int, asked: Asked) -> None:
    """Points are the kernel's, subproblems those of the functions themselves."""
    (compiled if asked.solves is None else rows).look(seeds, state, round_index, asked)
