"""Which code carries out a run: the NumPy reference, the specialised kernels or the general compiled path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from boundcheck.core.streams import Words
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.sampled import reference
from boundcheck.engines.sampled.lowering import Lowered, plain
from boundcheck.engines.sampled.oracles import ArrayOracle, LazyOracle, Oracle, ProblemOracle, Whole
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts import ReferencePoint
from boundcheck.problems.problem import Arrays, LazyProblem, Problem, clients_of

Path = Literal["auto", "numpy", "numba", "general"]
SPECIAL = ("isotropic", "quadratic", "rows")  # kinds of arrays that the specialised kernels read


@runtime_checkable
class _HasArrays(Protocol):
    def arrays(self) -> Arrays: ...


@dataclass(frozen=True)
class Runner:
    """How seeds are carried out. path: "numpy" or "numba"; kernel: "reference", "special" or "general".

    begin(seeds, start): the state before round 0 (S, parts, d). advance: see `reference.advance`.
    probe: see `reference.epoch_starts`. ends: see `reference.ends`. whole: the clients' gradients.
    """

    path: str
    kernel: str
    begin: Callable[[Words, Floats], Floats]
    advance: Callable[[Words, Floats, int, Ints, Floats], None]
    probe: Callable[[Words, Floats, int, Floats], None]
    ends: Callable[[Words, Floats, int, Floats], None]
    whole: Whole

    def epoch_starts(self, seeds: Words, state: Floats, round_index: int, epochs: int) -> Floats:
        """The points before each of so many epochs of a round; shape (S, epochs, d)."""
        starts = np.empty((len(seeds), epochs, state.shape[-1]))
        self.probe(seeds, state, round_index, starts)
        return starts

    def returned(self, seeds: Words, state: Floats, round_index: int, members: int) -> Floats:
        """What each of so many members of the cohort returns in a round; shape (S, members, d)."""
        found = np.empty((len(seeds), members, state.shape[-1]))
        self.ends(seeds, state, round_index, found)
        return found


def flat_arrays(problem: Problem) -> Arrays | None:
    """The problem's flat arrays, if it has them."""
    return problem.arrays() if isinstance(problem, _HasArrays) else None


def known_clients(problem: Problem, arrays: Arrays | None) -> Clients:
    """What a method may know of the clients; their samples are the components of the arrays."""
    known = clients_of(problem)
    if arrays is None or getattr(problem, "sizes", None) is not None:
        return known
    return Clients(known.weights, [int(s) for s in np.diff(arrays.offsets)])


def _check_samples(problem: Problem, lowered: Lowered, arrays: Arrays | None) -> None:
    if lowered.sampling == "exact" and arrays is None and not isinstance(problem, LazyProblem):
        raise Unsupported(
            f"problem '{problem.name}' has no flat arrays, from which the subproblems of method "
            f"'{lowered.method.name}' could be solved exactly."
        )
    if lowered.whole or isinstance(problem, LazyProblem):
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


def choose_path(path: str, problem: Problem, lowered: Lowered, arrays: Arrays | None) -> Runner:
    """The path taken; says why where there is none. Raises UnknownName, BadInput and Unsupported."""
    if path not in ("auto", "numpy", "numba", "general"):
        raise UnknownName("path of the sampled engine", path, ("auto", "numpy", "numba", "general"))
    _check_samples(problem, lowered, arrays)
    source = problem if arrays is None and isinstance(problem, LazyProblem) else arrays
    if source is None and path in ("numba", "general"):
        raise Unsupported(
            f"problem '{problem.name}' has no flat arrays, which the compiled path needs; use path='numpy' or "
            "path='auto'."
        )
    if lowered.sampling == "exact" and path in ("numba", "general"):
        raise Unsupported("the compiled path solves no subproblem exactly; use path='numpy' or path='auto'.")
    momentum = lowered.momentum
    if momentum is not None and momentum.start == "gradient" and isinstance(source, LazyProblem):
        raise Unsupported(
            f"the momentum of '{lowered.method.name}' starts from the gradient of all {lowered.clients} clients of "
            f"'{problem.name}', whose data are made one by one; start it from zero."
        )
    renewed = isinstance(lowered.control, ReferencePoint) and isinstance(source, LazyProblem)
    if renewed and path in ("numba", "general"):
        raise Unsupported(
            f"the compiled path has no gradients of all clients of '{problem.name}' at once, as a new reference point "
            "takes; use path='numpy' or path='auto'."
        )
    if path == "numpy" or source is None or lowered.sampling == "exact" or renewed:
        oracle: Oracle = ProblemOracle(problem) if arrays is None else ArrayOracle(arrays)
        if isinstance(source, LazyProblem):
            oracle = LazyOracle(source)
        return Runner(
            "numpy", "reference", partial(_begin, lowered, oracle, problem),
            partial(reference.advance, lowered, oracle), partial(reference.epoch_starts, lowered, oracle),
            partial(reference.ends, lowered, oracle), oracle,
        )  # fmt: skip
    from boundcheck.engines.sampled.compiled import compiled_advance
    from boundcheck.engines.sampled.walk import General

    simple = plain(lowered) if isinstance(source, Arrays) and source.kind in SPECIAL and path != "general" else None
    if simple is not None and isinstance(source, Arrays):
        fast, oracle = compiled_advance(simple, source), ArrayOracle(source)
        probe = cache(lambda: General(lowered, source))  # made only where a round is looked into
        return Runner(
            "numba", "special", partial(_begin, lowered, oracle, problem),
            lambda seeds, state, first, stops, points: fast(seeds, state[:, 0], first, stops, points),
            lambda seeds, state, round_index, starts: probe().epoch_starts(seeds, state, round_index, starts),
            lambda seeds, state, round_index, found: probe().ends(seeds, state, round_index, found), oracle,
        )  # fmt: skip
    walk = General(lowered, source)
    return Runner(
        "numba", "general", partial(_begin, lowered, walk, problem), walk.advance, walk.epoch_starts, walk.ends, walk
    )


def _begin(lowered: Lowered, oracle: Whole, problem: Problem, seeds: Words, start: Floats) -> Floats:
    return reference.begin(lowered, oracle, problem.weights, seeds, start)
