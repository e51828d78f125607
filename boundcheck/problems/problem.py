"""What engines and evidence ask of a problem.

A problem is an instance: client objectives f_i with weights (F = sum of w_i f_i), a start, and every
constant that statements name, each with how it is known. It is rebuilt from its `spec` alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from boundcheck.certified.constant import Constant
from boundcheck.methods.clients import Clients, Repeated

Floats = NDArray[np.float64]
# A point: float64, or dtype object holding Fractions; arithmetic is the same.
Vector = TypeVar("Vector", bound=NDArray[Any])


class Problem(Protocol):
    """Any instance. `Quadratic`, `Stepped` and `Lazy` say what some have in addition, `OPTIONAL` single answers.

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
    """Whether the model of a problem is a network, which only engine = "neural" trains; its start is `start_vector`."""
    return bool(optional(problem, "trains_network"))


def clients_of(problem: Problem) -> Clients:
    """What a method may know of the problem's clients: the weights that they report and their `sizes`."""
    sizes, weights = optional(problem, "sizes"), optional(problem, "client_weights")
    return Clients(
        problem.weights if weights is None else weights,
        Repeated(1, problem.clients) if sizes is None else sizes,
    )


def _nothing() -> Floats:
    return np.empty(0)


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
    A: Floats = field(default_factory=_nothing)
    curvature: Floats = field(default_factory=_nothing)
    b: Floats = field(default_factory=_nothing)
    target: Floats = field(default_factory=_nothing)
    client_A: Floats = field(default_factory=_nothing)
    client_b: Floats = field(default_factory=_nothing)
    centre: Floats = field(default_factory=_nothing)
    centred: Mapping[str, Floats] = field(default_factory=dict[str, Floats])
    ridge: float = 0.0
    classes: int = 0

    def __post_init__(self) -> None:
        d = self.b.shape[1] * max(1, self.classes)
        for name, shape in (("A", (0, d, d)), ("client_A", (0, d, d)), ("client_b", (0, d))):
            if not getattr(self, name).size:
                object.__setattr__(self, name, np.empty(shape))


@dataclass(frozen=True)
class Forms:
    """Exact matrices of a quadratic problem (python-flint fmpq_mat), for the exact engine.

    maps: per client (A_i, b_i), the gradient is A_i x - b_i; A_i (d, d), b_i (d, 1).
    quadratic: metric -> (centre c (d,1), Q0 (d,d)) with metric = (x - c)'Q0(x - c), exactly.
    """

    maps: tuple[tuple[Any, Any], ...]
    quadratic: Mapping[str, tuple[Any, Any]]


@runtime_checkable
class Quadratic(Protocol):
    """What a problem offers in addition when its maps are affine, exactly: gradients of quadratics, or an operator."""

    def forms(self) -> Forms:
        """Exact affine maps of the clients, and metric forms."""
        ...

    def sample_maps(self) -> tuple[tuple[tuple[Any, Any], ...], ...] | None:
        """Per client and sample exact (A_ij, b_ij), (d, d) and (d, 1) fmpq_mat: the gradient of f_ij is A_ij x - b_ij.

        They are those of the samples themselves: a client may be their mean or their sum. None: not separated.
        """
        ...


@runtime_checkable
class Stepped(Protocol):
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
class Lazy(Protocol):
    """What a problem offers instead of `arrays` when it has so many clients that none is kept.

    Its weights and `sizes` are sequences that take no memory, such as `Repeated`.
    """

    def client_arrays(self, client: int) -> Arrays:
        """The data of one client, made when it is asked for: `Arrays` of a problem with that client alone.

        client_A and client_b may be empty; the gradient of f_client is then the mean over its samples. All clients have
        one kind and one ridge.
        """
        ...


# What a problem of any kind may have in addition, each by itself. `optional` is the one way to ask for it.
OPTIONAL: Mapping[str, str] = {
    "operator": "the map whose zero is sought, in words; a problem that has it is no minimisation, and its `gradient` "
    "is that map",
    # clients and samples
    "sizes": "samples of each client; default 1 each",
    "client_weights": "the weights that the clients report, where they are not those of the objective",
    "arrays": "() -> `Arrays`, the layout in doubles of all samples",
    "samples": "() -> exact samples of each client (`certified.samples`), of a quadratic problem",
    "client_curvatures": "() -> (l_k, L_k) of each client: l_k I <= hess f_k(x) <= L_k I for all x",
    "local_variances": "() -> (P_i^2, sigma_i^2) of the samples of each client, or None",
    "variances_known": "how those sigma_i^2 are known; default exactly",
    "slopes": "of a problem on the line with piecewise quadratic samples: those of the samples of each client",
    "client_slopes": "beside `slopes`: the derivative of each client's objective, the mean over its samples",
    # points and metrics
    "nearest": "(x) -> the solution nearest to x (dim,), float64 or exact as x is",
    "minimum": "the certified minimum (`Minimum`), where gap and dist2 are bounds from above",
    "metric_many": "(name, points) -> a metric at each row of points (K, dim); shape (K,)",
    "metric_range": "(name, low, high) -> exact bounds of a metric over an interval of the line",
    "gap_bounds": "(x) -> rational bounds of F(x) - F* within 1e-30, on the line, where it is not rational",
    "proximal": "(client, centre, shift, mu) -> the exact minimiser of f_client(v) + <shift, v> + mu/2 |v - centre|^2",
    "ratios": "names of metrics of a point that are no quadratic functions: only sampled runs have them",
    # hypotheses and other weights
    "decides": "(assumption, constants) -> whether it holds with these constants; None where that is open",
    "instance": "name of the paper's example that the problem is; default its kind",
    "reweighted": "(weights) -> the same clients with F = sum of weights_i f_i; `client_weights` stays",
    "of_clients": "(q) -> the problem with F = sum of q_i f_i over some clients, divided by the sum of q; such a one "
    "takes balls, and has `attained` (one minimiser is known) and `minimiser_of()`, an enclosure of it",
    # networks, and constants that were measured along a run
    "trains_network": "whether the model is a network, which only engine = 'neural' trains",
    "start_vector": "the start as doubles",
    "network": "the model of a network",
    "block_coordinates": "(partition, tau) -> the coordinates of the layers or channels",
    "base": "the problem whose constants were measured",
    "along": "the run along which they were",
    "measured": "everything that was measured, JSON-able",
    "holds_by_estimates": "(hypothesis) -> whether it was seen to hold with estimated constants",
    "rests_on_estimates": "(constant) -> whether one of method and problem is made of estimates",
    "block_variances": "(client, partition) -> the variance of each block of a sample's gradient, or None",
    "block_dissimilarity": "(partition) -> the dissimilarity of each block, or None",
}


def optional(problem: object, name: str) -> Any:
    """What a problem has under a name of `OPTIONAL`; None where it has nothing there."""
    assert name in OPTIONAL, name
    return getattr(problem, name, None)


def no_minimum(problem: Problem) -> str | None:
    """That a problem is no minimisation, as the beginning of a sentence; None for one that is."""
    operator = optional(problem, "operator")
    words = f"the problem '{problem.name}' is no minimisation but seeks a zero of {operator}"
    return None if operator is None else words


def quadratic_objectives(problem: object) -> Quadratic | None:
    """The problem where all its objectives are quadratic; None for others, and for a map that is no gradient."""
    return problem if isinstance(problem, Quadratic) and optional(problem, "operator") is None else None


def flat_arrays(problem: object) -> Arrays | None:
    """The problem's flat arrays, if it has them."""
    make = optional(problem, "arrays")
    return None if make is None else make()
