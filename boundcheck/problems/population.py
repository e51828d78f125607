"""A population of very many clients whose data are made when they take part, with a solution that is known exactly.

Clients 2j and 2j + 1 disagree exactly, so that F, the mean over all clients, is minimised at 0 although every client by
itself pulls elsewhere. All numbers are drawn from the counter-based streams by (seed, j), uniformly in [-1, 1) with 24
bits; nothing is kept.

- model "isotropic": f_ij(x) = |x - b_ij|^2/2; samples come in pairs c_i + u, c_i - u, and c_{2j+1} = -c_{2j}. Then
  grad f_i(x) = x - c_i and F(x) - F* = |x|^2/2.
- model "logistic": f_ij(x) = log(1 + exp(-y_ij a_ij'x)) + ridge |x|^2/2, with y_ij the sign of a_ij'w for client 2j and
  the opposite, for the same a_ij, for client 2j + 1. Then grad F(0) = 0, and F is ridge-strongly convex.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.certified.constant import Constant, Known
from boundcheck.core import streams
from boundcheck.core.numbers import as_fraction, format_exact
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.clients import Repeated
from boundcheck.problems._instance import Instance, given, unknown
from boundcheck.problems._specs import whole
from boundcheck.problems.problem import Arrays, Floats, Vector

MODELS = ("isotropic", "logistic")
PURPOSE = 1002  # of the streams
_NOTHING = np.empty(0)
_MET = (
    *("smooth_clients", "smooth_samples", "convexity", "convex_clients", "convex_samples", "strong_quasi_convexity"),
    *("strongly_convex_samples", "bounded_below"),
)


@dataclass(frozen=True, repr=False)
class Population(Instance):
    """`clients` clients of equal weight with `samples` samples each, in dimension `dim`; start: all ones."""

    model: str
    clients: int
    samples: int
    dim: int
    ridge: Fraction
    seed: int

    @property
    def name(self) -> str:
        """For reports."""
        return f"{self.model} population of {self.clients} clients"

    @property
    def spec(self) -> Mapping[str, Any]:
        """Rebuilds the problem."""
        found: dict[str, Any] = {"kind": "population", "model": self.model, "clients": self.clients}
        found |= {"samples": self.samples, "dim": self.dim, "seed": self.seed}
        return found | ({"ridge": format_exact(self.ridge)} if self.model == "logistic" else {})

    @property
    def weights(self) -> Sequence[Fraction]:
        """1/n for each client."""
        return Repeated(Fraction(1, self.clients), self.clients)

    @property
    def sizes(self) -> Sequence[int]:
        """Samples of each client."""
        return Repeated(self.samples, self.clients)

    @property
    def start(self) -> tuple[Fraction, ...]:
        """All ones."""
        return (Fraction(1),) * self.dim

    @property
    def metrics(self) -> tuple[str, ...]:
        """Those with a closed form: |x|^2, and for the isotropic model F(x) - F* and |grad F(x)|^2 too."""
        return ("dist2", "gap", "grad2") if self.model == "isotropic" else ("dist2",)

    def _numbers(self, client: int, rows: int) -> Floats:
        """(rows, dim) numbers in [-1, 1), the same for clients 2j and 2j + 1."""
        words = streams.words([self.seed], PURPOSE, 0, client // 2, 0, rows * self.dim)[0]
        return ((words >> np.uint64(40)).astype(np.float64) / 2.0**23 - 1.0).reshape(rows, self.dim)

    def client_arrays(self, client: int) -> Arrays:
        """The data of one client. Raises BadInput for a client that does not exist."""
        if not 0 <= client < self.clients:
            raise BadInput(f"client {client} does not exist; they are 0 to {self.clients - 1}.")
        sign, d = 1.0 - 2.0 * (client % 2), self.dim
        if self.model == "isotropic":
            numbers = self._numbers(client, 1 + self.samples // 2)
            centre, spread = sign * numbers[0], numbers[1:]
            b, target, curvature = np.concatenate([centre + spread, centre - spread]), _NOTHING, np.ones(self.samples)
        else:
            numbers = self._numbers(client, 1 + self.samples)
            b, curvature = numbers[1:], _NOTHING
            # coordinates in order, so that both of a pair decide alike
            margin = b[:, 0] * numbers[0, 0]
            for k in range(1, d):
                margin = margin + b[:, k] * numbers[0, k]
            target = sign * np.where(margin >= 0, 1.0, -1.0)
        return Arrays(
            kind=self.model,
            reduction="mean",
            offsets=np.array([0, self.samples], dtype=np.int64),
            b=b,
            curvature=curvature,
            target=target,
            ridge=float(self.ridge),
        )

    def gradient(self, client: int, x: Vector) -> Vector:
        """Gradient of f_client at x (dim,); exact only for the isotropic model. Raises Unsupported for the other."""
        arrays = self.client_arrays(client)
        if self.model == "isotropic":
            centre = (arrays.b[0] + arrays.b[self.samples // 2]) / 2  # without rounding: 25 bits
            own: Any = np.array([Fraction(v) for v in centre.tolist()], dtype=object) if x.dtype == object else centre
            return x - own
        if x.dtype == object:
            raise Unsupported(f"the gradients of the {self.name} are not rational; use engine = 'sampled'.")
        at: Any = x
        residual = -arrays.target / (1.0 + np.exp(arrays.target * (arrays.b @ at)))
        found: Any = residual @ arrays.b / self.samples + float(self.ridge) * at
        return found

    def metric(self, name: str, x: NDArray[Any]) -> Any:
        """A metric at x (dim,), float64 or exact as x is. Raises UnknownName for other names."""
        if name not in self.metrics:
            raise UnknownName("the metric", name, self.metrics)
        size = sum(v * v for v in x)
        return size / 2 if name == "gap" else size

    def metric_many(self, name: str, points: Floats) -> Floats:
        """A metric at each row of points (K, dim); shape (K,)."""
        return np.asarray(self.metric(name, points.T), dtype=np.float64)

    def constants(self) -> Mapping[str, Constant]:
        """n, d, dist2_0, and what the model knows of L, mu, L_ij, mu_ij and gap_0 (not the heterogeneity)."""

        found = {
            **self.counted(),
            "dist2_0": given(self.dim, "the minimiser is 0 and the start all ones"),
        }
        if self.model == "isotropic":
            every = given(1, "every sample has the identity as its Hessian")
            found |= dict.fromkeys(("L", "mu", "L_ij", "mu_ij"), every)
            return found | {"gap_0": given(Fraction(self.dim, 2), "|x_0|^2/2")}
        how = "|a|^2/4 + ridge with |a|^2 at most the dimension"
        smooth = Constant(Fraction(self.dim, 4) + self.ridge, Known.CERTIFIED, "upper", how)
        convex = Constant(self.ridge, Known.CERTIFIED, "lower", "the ridge")
        return found | {"L": smooth, "L_ij": smooth, "mu": convex, "mu_ij": convex}

    def _objection(self, assumption: str) -> str | None:
        """With either model every sample's loss is smooth and strongly convex with the constants that are known."""
        if assumption not in _MET:
            raise unknown(assumption, _MET)
        return None

    def nearest(self, x: Vector) -> Vector:
        """The minimiser: 0."""
        found: Any = x * 0
        return found


def build(
    *,
    clients: Any,
    model: str = "isotropic",
    samples: Any = 10,
    dim: Any = 10,
    ridge: Any = "0.01",
    seed: Any = 0,
) -> Population:
    """A population. clients: even, 2 to 2^24. samples: of each client (even for "isotropic"). ridge: "logistic" only.

    Raises BadInput and UnknownName.
    """
    if model not in MODELS:
        raise UnknownName("the model of a population", model, MODELS)
    n, size = whole(clients, "clients", 2, streams.MAX_BOUND), whole(samples, "samples", 1, 10**6)
    if n % 2:
        raise BadInput(f"clients = {n} is not allowed; clients come in pairs that disagree, so their number is even.")
    if model == "isotropic" and size % 2:
        raise BadInput(f"samples = {size} is not allowed; those of an isotropic population come in pairs.")
    weight = as_fraction(ridge, "ridge") if model == "logistic" else Fraction(0)
    if weight < 0 or (model == "logistic" and weight == 0):
        raise BadInput(f"ridge = {weight} is not allowed; it is above 0, so that the minimiser is the only one.")
    number = streams.check_seed(whole(seed, "seed", 0, 2**64 - 1))
    return Population(model, n, size, whole(dim, "dim", 1, 10**5), weight, number)
