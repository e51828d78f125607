"""What logistic and softmax regression share: a labelled data set over clients, with an l2 term in every sample.

Sample j of client i has the loss f_ij(x) = l(X a_ij, y_ij) + ridge/2 |x|^2, x the rows of X (K, p) one after the other,
a_ij the features (doubles) with a 1 at the end where there is an intercept; f_i is the mean over the client's samples
and F = sum w_i f_i. Logistic regression may do without the ridge where no plane separates the samples and the features
are linearly independent (`Classifier.attained`): then F has one minimiser, and the gradients are bounded.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from boundcheck.certified.constant import Constant, Known
from boundcheck.certified.lazy import LazyConstants
from boundcheck.certified.linear_scores import Bounds, bounds, rounding
from boundcheck.certified.separation import MAX_NUMBERS, vanishing_combination
from boundcheck.certified.start_gradients import StartGradients, smoothness_of_sum, start_gradients
from boundcheck.core.linalg import float_up, nearest_float, precision
from boundcheck.core.numbers import format_exact, format_short, next_up, round_up
from boundcheck.errors import UnknownName
from boundcheck.problems import _kept
from boundcheck.problems._ball_scores import BallScores
from boundcheck.problems._instance import ASSUMPTIONS, Instance, Offsets, given, unknown
from boundcheck.problems._losses import Logistic, Loss
from boundcheck.problems._minimum import Minimum, Objective, certify_minimum, minimise
from boundcheck.problems.problem import Arrays, Floats, Vector

Maker = Callable[[], Constant]
_BITS = 128  # in which a minimum without ridge is certified
_OF_RIDGE = ("strong_quasi_convexity", "strongly_convex_samples")
_AT_ONCE = 4_000_000  # scores that are held at once where a metric is wanted at many points

# The constants with which a hypothesis is sure to hold: at least (1) or at most (-1) the instance's own.
_ENOUGH: Mapping[str, Mapping[str, int]] = {
    "smooth_samples": {"L_ij": 1},
    "strongly_convex_samples": {"mu_ij": -1},
    "smooth_clients": {"L": 1},
    "strong_quasi_convexity": {"mu": -1},
    "finite_gradient_noise": {"sigma2": 1},
    "gradient_dissimilarity": {"G2": 1, "B2": 1},
    "relaxed_dissimilarity": {"G2": 1, "B2": 1, "L_ij": 1},
    "local_variance": {"P2": 1, "noise2": 1},
    "hessian_similarity": {"delta": 1},
    "lower_curvature": {"lam": 1},
    "dissimilarity_at_start": {"B2_0": 1},
}


@dataclass(frozen=True, eq=False, repr=False)
class Classifier(Offsets, Instance):
    """A classification problem.

    name, spec: see `Problem`. features: (N, p) float64, client after client; labels: (N,) what the loss reads;
    offsets: client i owns the rows offsets[i] to offsets[i + 1]; weights: w_i; ridge: above 0, or 0 with the logistic
    loss; loss: of linear scores.
    """

    name: str
    spec: Mapping[str, Any]
    features: Floats
    labels: NDArray[Any]
    offsets: tuple[int, ...]
    weights: tuple[Fraction, ...]
    ridge: Fraction
    loss: Loss

    @property
    def dim(self) -> int:
        """K p."""
        return self.loss.columns * self.features.shape[1]

    @property
    def start(self) -> tuple[Fraction, ...]:
        """0."""
        return (Fraction(0),) * self.dim

    @property
    def metrics(self) -> tuple[str, ...]:
        """dist2, gap and grad2; dist2 and gap are bounds from above, see `metric`."""
        return ("dist2", "gap", "grad2")

    @property
    def ratios(self) -> tuple[str, ...]:
        """Metrics of a point that only sampled runs have: B2, the dissimilarity B(x)^2 of the clients."""
        return ("B2",)

    @cached_property
    def objective(self) -> Objective:
        """F in double precision."""
        each = [np.full(size, float(w / size)) for w, size in zip(self.weights, self.sizes, strict=True)]
        return Objective(self.features, self.labels, np.concatenate(each), nearest_float(self.ridge), self.loss)

    @cached_property
    def attained(self) -> bool:
        """Whether F is known to have one minimiser: by the ridge, or by a certificate that no plane separates."""
        if self.ridge:
            return True
        tried = isinstance(self.loss, Logistic) and self.features.size <= MAX_NUMBERS
        return tried and vanishing_combination(self.labels[:, None] * self.features) is not None

    @cached_property
    def minimum(self) -> Minimum:
        """The certified minimum of F. Without a ridge raises Unsupported where none is found."""
        if self.ridge:
            return certify_minimum(self.objective, self._point)
        with precision(_BITS):
            at = [arb(v) for v in self._point.tolist()]
            return certify_minimum(self.objective, self._point, lambda g: float_up(self._balls.reach(at, arb(g))))

    @cached_property
    def _point(self) -> Floats:
        """About the minimiser of F; where finding it takes over a second, it is kept in the data cache.

        Nothing rests on the cache, since `minimum` certifies the point.
        """
        key = {
            "kind": self.spec["kind"],
            **{k: self.spec[k] for k in ("data", "positive", "intercept", "features") if k in self.spec},
            "ridge": self.ridge,
            "sizes and weights": None if len(set(self.objective.shares)) == 1 else [self.sizes, self.weights],
            "split": None if len(set(self.objective.shares)) == 1 else dict(self.spec),
        }
        if "data" not in self.spec:  # made data: every parameter counts
            key = {"kind": self.spec["kind"], "made": dict(self.spec)}
        return _kept.recall(key, self.dim, lambda: minimise(self.objective), minimise.__module__)

    def gradient(self, client: int, x: Vector) -> Vector:
        """Gradient of f_client at x (d,), in double precision whatever x is."""
        at: Floats = np.asarray(x, dtype=np.float64)
        part = slice(self.offsets[client], self.offsets[client + 1])
        rows = self.features[part]
        scores = rows @ at.reshape(self.loss.columns, -1).T
        residuals = self.loss.residuals(scores, self.labels[part])
        out: Any = (residuals.T @ rows).ravel() / len(rows) + self.objective.ridge * at
        return out

    def metric(self, name: str, x: NDArray[Any]) -> float:
        """A metric at x (d,).

        "grad2" |grad F(x)|^2; "gap" F(x) - low, low the certified lower bound of F*; "dist2" (|x - point| + radius)^2,
        with point and radius of `minimum`: the last two are bounds from above (up to the rounding of F(x)), above the
        true values by at most minimum.value - minimum.low, resp. 4 radius (|x - point| + radius); "B2" sum of
        w_i |grad f_i(x)|^2 over |grad F(x)|^2.
        Raises UnknownName for other names.
        """
        return float(self.metric_many(name, np.asarray(x, dtype=np.float64)[None, :])[0])

    def metric_many(self, name: str, points: Floats) -> Floats:
        """A metric at each row of points (K, d); shape (K,)."""
        if name not in (*self.metrics, *self.ratios):
            raise UnknownName("the metric", name, self.metrics)
        if name == "dist2":
            return (np.linalg.norm(points - self.minimum.point, axis=1) + self.minimum.radius) ** 2
        step = max(1, _AT_ONCE // (len(self.features) * self.loss.columns))
        compute = {"gap": self._gaps, "grad2": self._slopes, "B2": self._dissimilarities}[name]
        return np.concatenate([compute(points[k : k + step]) for k in range(0, len(points), step)] or [np.empty(0)])

    def _scores(self, points: Floats) -> Floats:
        """(k, N, K) at points (k, d)."""
        flat = self.features @ points.reshape(len(points) * self.loss.columns, -1).T
        return flat.reshape(len(self.features), len(points), -1).transpose(1, 0, 2)

    def _gaps(self, points: Floats) -> Floats:
        values = self.loss.values(self._scores(points), self.labels) @ self.objective.shares
        return values + self.objective.ridge / 2 * np.einsum("kd,kd->k", points, points) - self.minimum.low

    def _slopes(self, points: Floats) -> Floats:
        residuals = self.loss.residuals(self._scores(points), self.labels) * self.objective.shares[:, None]
        flat = residuals.transpose(0, 2, 1).reshape(-1, len(self.features)) @ self.features
        gradients = flat.reshape(len(points), -1) + self.objective.ridge * points
        return np.einsum("kd,kd->k", gradients, gradients)

    def _dissimilarities(self, points: Floats) -> Floats:
        residuals = self.loss.residuals(self._scores(points), self.labels)
        parts, mean = np.zeros(len(points)), np.zeros(points.shape)
        for (low, high), weight in zip(itertools.pairwise(self.offsets), self.weights, strict=True):
            rows = residuals[:, low:high].transpose(0, 2, 1).reshape(-1, high - low) @ self.features[low:high]
            own = rows.reshape(len(points), -1) / (high - low) + self.objective.ridge * points
            parts += float(weight) * np.einsum("kd,kd->k", own, own)
            mean += float(weight) * own
        with np.errstate(divide="ignore", invalid="ignore"):
            return parts / np.einsum("kd,kd->k", mean, mean)

    # --- in ball arithmetic ---------------------------------------------------------------------------------------

    @property
    def arithmetics(self) -> tuple[str, ...]:
        """Gradients and metrics have enclosures."""
        return ("ball",)

    @cached_property
    def _balls(self) -> BallScores:
        return BallScores(self, self._point)

    def gradient_of(self, client: int, sample: int | None, x: Sequence[Any]) -> list[Any]:
        """An enclosure of the gradient of f_client, or of its sample, over a ball of points (d,)."""
        return self._balls.gradient(client, sample, x)

    def metric_of(self, name: str, x: Sequence[Any]) -> Any:
        """An enclosure of a metric over a ball of points (d,): of the true gap and distance, not bounds of them."""
        return self._balls.metric(name, x)

    def of_clients(self, q: Mapping[int, Fraction]) -> Classifier:
        """The problem with F = sum of q_i f_i over the clients of q, divided by the sum of q."""
        total, parts = sum(q.values(), Fraction(0)), [slice(*self.offsets[i : i + 2]) for i in q]
        sizes = [self.sizes[i] for i in q]
        return Classifier(
            name=f"{self.name}, the clients {', '.join(map(str, q))}",
            spec={"kind": self.spec["kind"], "of": self.spec, "q": [[i, format_exact(v)] for i, v in q.items()]},
            features=np.concatenate([self.features[part] for part in parts]),
            labels=np.concatenate([self.labels[part] for part in parts]),
            offsets=tuple(itertools.accumulate(sizes, initial=0)),
            weights=tuple(v / total for v in q.values()),
            ridge=self.ridge,
            loss=self.loss,
        )

    def minimiser_of(self) -> list[Any]:
        """An enclosure (d,) of the minimiser of F at the working precision."""
        return self._balls.minimum()[0].entries()

    def arrays(self) -> Arrays:
        """Layout "logistic" or "softmax"."""
        binary = isinstance(self.loss, Logistic)
        return Arrays(
            kind="logistic" if binary else "softmax",
            reduction="mean",
            offsets=np.array(self.offsets, dtype=np.int64),
            b=self.features,
            target=self.labels.astype(np.float64),
            ridge=self.objective.ridge,
            classes=0 if binary else self.loss.columns,
        )

    def constants(self) -> Mapping[str, Constant]:
        """n, d, L_ij, mu_ij, L, L_f, lam, G2, B2, P2, noise2, delta, sigma2, gap_0, dist2_0 and grad2_0 (from below),
        mu with a ridge, else B_grad, and B2_0 where the gradient at the start is not 0; all exact or certified.

        Each is computed when it is first asked for; see `certified.linear_scores` for the inequalities.
        """
        return self._constants

    def _bounds_of(self, low: int, high: int, offsets: tuple[int, ...], weights: tuple[Fraction, ...]) -> Bounds:
        """Those of the rows low to high, over clients of their own."""
        zero = self.loss.residuals(np.zeros((high - low, self.loss.columns)), self.labels[low:high])
        loss = {name: getattr(self.loss, name) for name in ("curvature", "steepness2", "radius2")}
        return bounds(self.features[low:high], offsets, weights, zero, **loss)

    @cached_property
    def _bounds(self) -> Bounds:
        return self._bounds_of(0, len(self.labels), self.offsets, self.weights)

    def client_curvatures(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """(ridge, L_k) of each client: its Hessians lie between them everywhere."""
        return tuple((self.ridge, round_up(v + self.ridge)) for v in self._bounds.clients)

    @property
    def variances_known(self) -> Known:
        """How the sigma_i^2 of `local_variances` are known."""
        return Known.CERTIFIED

    @cached_property
    def _local_variances(self) -> tuple[tuple[Fraction, Fraction], ...]:
        found: list[tuple[Fraction, Fraction]] = []
        for low, high in itertools.pairwise(self.offsets):
            size = high - low  # alone, a client has the noise2 sigma_i^2/|D_i|
            alone = self._bounds_of(low, high, (0, size), (Fraction(1),))
            found.append((Fraction(0), round_up(alone.noise2 * size)))
        return tuple(found)

    def local_variances(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """(0, sigma_i^2) of each client, sigma_i^2 from above: mean |grad f_ij - grad f_i|^2 <= sigma_i^2 for all x."""
        return self._local_variances

    @cached_property
    def _start_gradients(self) -> StartGradients:
        zero = self.loss.residuals(np.zeros((len(self.labels), self.loss.columns)), self.labels)
        return start_gradients(self.features, self.offsets, self.weights, zero)

    @cached_property
    def _constants(self) -> LazyConstants:
        def exact(value: Fraction | int, how: str) -> Maker:
            return lambda: given(value, how)

        def upper(value: Callable[[], Fraction], how: str) -> Maker:
            return lambda: Constant(round_up(value()), Known.CERTIFIED, "upper", how)

        def at_minimum(value: Callable[[], Fraction], what: str) -> Maker:
            return lambda: Constant(round_up(value()), Known.CERTIFIED, "upper", f"{what}; {self.minimum}")

        h, r = format_short(self.loss.curvature), self.ridge
        ratio = self._start_gradients.ratio
        others: dict[str, Maker] = {}
        if r:
            others["mu"] = lambda: Constant(r, Known.CERTIFIED, "lower", "the ridge")
        else:
            others["B_grad"] = upper(self._longest, "largest |a_j|, as every residual is below 1")
        if ratio is not None:
            others["B2_0"] = upper(lambda: ratio, "sum of w_i |grad f_i|^2 over |grad F|^2 at the start")
        return LazyConstants(
            {
                **others,
                **{name: lambda c=c: c for name, c in self.counted().items()},
                "mu_ij": exact(r, "the ridge; no larger one serves all x"),
                "B2": exact(1, "chosen; G2 is for this"),
                "P2": exact(0, "chosen; noise2 is for this"),
                "L_ij": upper(lambda: self._bounds.sample + r, f"{h} max |a_j|^2 + ridge"),
                "L": upper(
                    lambda: max(self._bounds.clients) + r,
                    f"{h} max lambda_max(A_i'A_i/|D_i|) + ridge; floating-point Cholesky with error bound",
                ),
                "L_f": upper(
                    lambda: self.loss.curvature * smoothness_of_sum(self.features, self.offsets, self.weights) + r,
                    f"{h} lambda_max(sum of w_i A_i'A_i/|D_i|) + ridge; floating-point Cholesky with error bound",
                ),
                "lam": exact(0, "every sample's loss is convex"),
                "grad2_0": lambda: Constant(
                    self._start_gradients.grad2_low, Known.CERTIFIED, "lower", "|grad F(0)|^2 with its rounding errors"
                ),
                "G2": upper(lambda: self._bounds.G2, "the gradients' spread at 0 and their largest change from there"),
                "noise2": upper(lambda: self._bounds.noise2, "the samples' spread at 0 and largest change from there"),
                "delta": upper(lambda: self._bounds.delta, f"{h} lambda_max of each client's and the others' features"),
                "sigma2": at_minimum(self._noise_at_minimum, "mean squared client gradient at the minimiser"),
                "gap_0": at_minimum(self._first_gap, f"log {self.loss.levels} - F*"),
                "dist2_0": at_minimum(self._first_distance2, "|x*|^2"),
            }
        )

    def _longest(self) -> Fraction:
        squares = np.einsum("jl,jl->j", self.features, self.features)
        return Fraction(math.sqrt(float(squares.max())) * (1 + rounding(self.features.shape[1] + 8)))

    def _first_gap(self) -> Fraction:
        at_zero = next_up(math.log(self.loss.levels), 2)
        return Fraction(at_zero) - Fraction(self.minimum.low)

    def _first_distance2(self) -> Fraction:
        point = self.minimum.point
        size = math.sqrt(float(point @ point)) * (1 + rounding(self.dim + 8))
        return (Fraction(size) + Fraction(self.minimum.radius)) ** 2

    def _noise_at_minimum(self) -> Fraction:
        """Mean over clients of a bound of |grad f_i(x*)|^2."""
        least, slopes = self.minimum, list[Fraction]()
        for i, smooth in enumerate(self._bounds.clients):
            part = slice(self.offsets[i], self.offsets[i + 1])
            each = np.full(self.sizes[i], 1 / self.sizes[i])
            own = Objective(self.features[part], self.labels[part], each, self.objective.ridge, self.loss)
            there = Fraction(certify_minimum(own, least.point, lambda g: math.inf).slope)
            slopes.append(round_up(there + (smooth + self.ridge) * Fraction(least.radius)))
        return sum((v * v for v in slopes), Fraction(0)) / len(slopes)

    def _objection(self, assumption: str) -> str | None:
        """Samples are smooth and, with a ridge, strongly convex; without one their gradients are bounded.

        All others hold with the own constants, but "bounded_dissimilarity" (and that at a stationary start) cannot be
        found: raises UnknownName.
        """
        if assumption == "bounded_gradients":
            return "the gradient of the ridge grows without bound." if self.ridge else None
        if not self.ridge and assumption in _OF_RIDGE:
            return "ridge is 0, and the curvature of the logistic loss falls to 0 far away, so that no mu > 0 serves."
        untold = assumption == "bounded_dissimilarity" and self.clients > 1
        at_start = assumption == "dissimilarity_at_start" and self._start_gradients.ratio is None
        if untold or at_start or assumption not in ASSUMPTIONS:
            raise unknown(assumption, set(ASSUMPTIONS) - {assumption})
        return None

    def decides(self, assumption: str, constants: Mapping[str, Fraction]) -> bool | None:
        """True where a hypothesis holds with these constants because it does with the instance's own.

        None where that does not tell, since the own ones are bounds and not the best values.
        """
        if assumption not in ASSUMPTIONS or assumption == "bounded_dissimilarity":
            return None
        if assumption == "dissimilarity_at_start" and self._start_gradients.ratio is None:
            return None
        if self.violations(assumption) is not None:
            return False
        enough = _ENOUGH.get(assumption, {})
        if any(name not in constants for name in enough):
            return None
        own = self.constants()
        sure = all(constants[name] * way >= own[name].value * way for name, way in enough.items())
        return True if sure else None
