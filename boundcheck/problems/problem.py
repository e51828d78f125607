"""What engines and evidence ask of a problem.

A problem is an instance: client objectives f_i with weights (F = sum of w_i f_i), a start, and every
constant that statements name, each with how it is known. It is rebuilt from its `spec` alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from boundcheck.certified.constant import Constant
from boundcheck.certified.slopes import Slope
from boundcheck.methods.clients import Clients, Repeated

Floats = NDArray[np.float64]
# A point: float64, or dtype object holding Fractions; arithmetic is the same.
Vector = TypeVar("Vector", bound=NDArray[Any])


class Problem(Protocol):
    """Any instance.

    name: for reports. spec: JSON-able, digestible, enough to rebuild (`problems.build(spec)`).
    dim, clients: counts. weights: w_i, summing to 1. start: x_0, exact.
    metrics: names that `metric` accepts, among "dist2" (squared distance to the solution set), "gap"
    (F(x) - F*), "grad2" (squared gradient norm of F) and "x" (the point itself, dim 1 only).
    """

    @property
    def name(self) -> str: ...
    @property
    def spec(self) -> Mapping[str, Any]: ...
    @property
    def dim(self) -> int: ...
    @property
    def clients(self) -> int: ...
    @property
    def weights(self) -> tuple[Fraction, ...]: ...
    @property
    def start(self) -> Sequence[Fraction]: ...
    @property
    def metrics(self) -> tuple[str, ...]: ...

    def constants(self) -> Mapping[str, Constant]:
        """Constants by the names that statements use (n, mu, L, sigma2, dist2_0, ...)."""
        ...

    def gradient(self, client: int, x: Vector) -> Vector:
        """Gradient of f_client at x, of the kind (float64 or exact) of x. Shapes (dim,)."""
        ...

    def metric(self, name: str, x: NDArray[Any]) -> Any:
        """A metric at one point (dim,); exact where x is exact and the metric is rational."""
        ...

    def violations(self, assumption: str) -> str | None:
        """Why the instance breaks the assumption of that name, in a sentence; None when it meets it."""
        ...


def is_neural(problem: Problem) -> bool:
    """Whether the model of a problem is a network, which only engine = "neural" trains.

    Such a problem says so itself, by the attribute `trains_network`. Its start is a vector of floats (`start_vector`).
    """
    return bool(getattr(problem, "trains_network", False))


def clients_of(problem: Problem) -> Clients:
    """What a method may know of the problem's clients.

    A problem may have `sizes` (samples of each client; default 1 each) and `client_weights` (the weights that the
    clients report, where they are not those of the objective).
    """
    sizes = getattr(problem, "sizes", None)
    weights = getattr(problem, "client_weights", None)
    return Clients(
        problem.weights if weights is None else weights,
        Repeated(1, problem.clients) if sizes is None else sizes,
    )


@dataclass(frozen=True)
class Arrays:
    """The flat float64 layout that the sampled engine reads. N components, n clients, dimension d.

    kind "quadratic": component j is x'A_j x/2 - b_j'x (+ const); kind "isotropic": A_j = curvature_j * I,
    so that a step costs d operations; kind "rows": component j is scale * (a_j'x - y_j)^2 / 2, with a_j in
    `b` and y_j in `target`; "logistic": log(1 + exp(-y_j a_j'x)) + ridge |x|^2/2, y_j = +1 or -1 in `target`;
    "softmax": cross entropy of the label y_j in 0..classes-1 under the scores X a_j, X (classes, p) the point by rows
    (d = classes * p, b is then (N, p)), + ridge |x|^2/2. "logistic" and "softmax" leave A, curvature, client_A,
    client_b, centre and centred empty.
    offsets: (n+1,) int64; client i owns components offsets[i] to offsets[i+1].
    A: (N, d, d) for "quadratic", otherwise empty; curvature: (N,) for "isotropic" (h_j) and "rows" (scale);
    b: (N, d); target: (N,), "rows" only. Component gradients: A_j x - b_j; h_j x - b_j; scale_j (a_j'x - y_j) a_j.
    client_A (n, d, d), client_b (n, d): gradient of f_i is client_A[i] x - client_b[i]. f_i is the mean of its
    components when `reduction` is "mean", their sum when it is "sum".
    forms: metric -> (d+1, d+1) symmetric Q with metric = z'Qz, z = [x; 1], rounded to float64, for "dist2", "gap"
    and "grad2"; centre: (d,) the float64 minimiser, so that engines evaluate at x - centre without cancellation:
    metric = (x - c)' Q0 (x - c) with Q0 = centred[metric] (d, d), where c = centre (all these metrics are 0 there).
    """

    kind: str
    reduction: str
    offsets: NDArray[np.int64]
    A: Floats
    curvature: Floats
    b: Floats
    target: Floats
    client_A: Floats
    client_b: Floats
    centre: Floats
    centred: Mapping[str, Floats]
    ridge: float = 0.0
    classes: int = 0


@dataclass(frozen=True)
class Forms:
    """Exact matrices of a quadratic problem (python-flint fmpq_mat), for the exact engine.

    maps: per client (A_i, b_i), the gradient is A_i x - b_i; A_i (d, d), b_i (d, 1).
    quadratic: metric -> (centre c (d,1), Q0 (d,d)) with metric = (x - c)'Q0(x - c), exactly.
    """

    maps: tuple[tuple[Any, Any], ...]
    quadratic: Mapping[str, tuple[Any, Any]]


@runtime_checkable
class QuadraticProblem(Protocol):
    """What a problem offers in addition when all its objectives are quadratic."""

    def forms(self) -> Forms:
        """Exact affine gradient maps and metric forms."""
        ...

    def arrays(self) -> Arrays:
        """The float64 layout for the sampled engine."""
        ...


@runtime_checkable
class ComponentProblem(Protocol):
    """What a quadratic problem offers in addition when every sample of its clients is a quadratic of its own."""

    def sample_maps(self) -> tuple[tuple[tuple[Any, Any], ...], ...]:
        """Per client and sample exact (A_ij, b_ij), (d, d) and (d, 1) fmpq_mat: the gradient of f_ij is A_ij x - b_ij.

        They are those of the samples themselves: a client may be their mean or their sum.
        """
        ...


@runtime_checkable
class SteppedProblem(Protocol):
    """What a problem that is not quadratic offers where gradients and metrics are known without an unknown error.

    arithmetics: those in which they are. Numbers in and out are of one kind: Fraction ("rational"), arb at flint's
    working precision ("ball", enclosures) or float ("float64").
    """

    @property
    def arithmetics(self) -> tuple[str, ...]: ...

    def gradient_of(self, client: int, sample: int | None, x: Sequence[Any]) -> list[Any]:
        """The gradient (d,) of sample j of a client, or of the client for None."""
        ...

    def metric_of(self, name: str, x: Sequence[Any]) -> Any:
        """A metric at x (d,)."""
        ...


@runtime_checkable
class SlopedProblem(Protocol):
    """What a problem on the line offers whose samples are piecewise quadratic."""

    @property
    def slopes(self) -> tuple[tuple[Slope, ...], ...]:
        """Those of the samples of each client."""
        ...

    @property
    def client_slopes(self) -> tuple[Slope, ...]:
        """The derivative of each client's objective, the mean over its samples."""
        ...


@runtime_checkable
class MixableProblem(SteppedProblem, Protocol):
    """What a problem that takes balls offers in addition where sums of its clients with any weights are problems."""

    @property
    def attained(self) -> bool:
        """Whether F is known to have one minimiser."""
        ...

    def of_clients(self, q: Mapping[int, Fraction]) -> MixableProblem:
        """The problem with F = sum of q_i f_i over the clients of q, divided by the sum of q."""
        ...

    def minimiser_of(self) -> list[Any]:
        """An enclosure (d,) of the minimiser of F at flint's working precision."""
        ...


@runtime_checkable
class IntervalProblem(Protocol):
    """What a problem on the line offers in addition when its metrics can be bounded over an interval."""

    def metric_range(self, name: str, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        """Exact bounds of a metric over all points of [low, high]."""
        ...


@runtime_checkable
class LazyProblem(Protocol):
    """What a problem offers instead of `arrays` when it has so many clients that none is kept.

    Its weights and `sizes` are sequences that take no memory, such as `Repeated`.
    """

    def client_arrays(self, client: int) -> Arrays:
        """The data of one client, made when it is asked for: `Arrays` of a problem with that client alone.

        client_A and client_b may be empty; the gradient of f_client is then the mean over its samples. All clients have
        one kind and one ridge.
        """
        ...


@runtime_checkable
class LocatedProblem(Protocol):
    """What a problem offers in addition when it knows its solution set."""

    def nearest(self, x: Vector) -> Vector:
        """The minimiser of F nearest to x (dim,), float64 or exact as x is."""
        ...


@runtime_checkable
class BatchProblem(Protocol):
    """What a problem offers in addition when it computes a metric at many points at once."""

    def metric_many(self, name: str, points: Floats) -> Floats:
        """A metric at each row of points (K, dim); shape (K,)."""
        ...


@runtime_checkable
class DecidingProblem(Protocol):
    """What a problem offers in addition when it decides hypotheses for any constants, not only for its own."""

    def decides(self, assumption: str, constants: Mapping[str, Fraction]) -> bool | None:
        """Whether the hypothesis holds with these constants (by the names problems use); None where it cannot tell."""
        ...


@runtime_checkable
class ValuedProblem(Protocol):
    """What a problem offers in addition when F(x) - F* is known but not rational. Dimension 1 only."""

    def gap_bounds(self, x: Fraction) -> tuple[Fraction, Fraction]:
        """Rational bounds of F(x) - F*, within 1e-30."""
        ...
