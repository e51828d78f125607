"""What all instances with quadratic client objectives share: exact forms, constants, metrics, layouts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq_mat
from numpy.typing import NDArray

from boundcheck.certified import certify
from boundcheck.certified.constant import Constant, Known
from boundcheck.certified.definite import is_positive_semidefinite
from boundcheck.certified.lazy import LazyConstants
from boundcheck.certified.quadratic import SumOfQuadratics
from boundcheck.certified.samples import Matrices, Samples
from boundcheck.core import linalg
from boundcheck.errors import BadInput, UnknownName
from boundcheck.problems._instance import ASSUMPTIONS, OF_SAMPLES, Instance, unknown
from boundcheck.problems.problem import Arrays, Floats, Forms, Vector


@dataclass(frozen=True)
class Shape:
    """The objective F with gradient A x - b, seen as a whole.

    stationary: an exact stationary point (d, 1), or None; convex: whether A is positive semidefinite;
    projector: onto the range of A.
    """

    hessian: fmpq_mat
    stationary: fmpq_mat | None
    convex: bool
    projector: fmpq_mat

    @property
    def minimiser(self) -> fmpq_mat | None:
        """An exact minimiser, or None."""
        return self.stationary if self.convex else None


class QuadraticInstance(Instance):
    """Shared by instances whose client i has the gradient A_i x - b_i, exactly rational.

    A subclass is a frozen dataclass with `weights`, `start` and `maps()`; everything here derives from these.
    """

    spec: Mapping[str, Any]
    weights: tuple[Fraction, ...]
    start: tuple[Fraction, ...]
    reduction: str

    def maps(self) -> tuple[tuple[fmpq_mat, fmpq_mat], ...]:
        """Per client (A_i, b_i): by default the mean or sum over its samples."""
        found: list[tuple[fmpq_mat, fmpq_mat]] = []
        for own in self.sample_maps() or ():
            a, b = fmpq_mat(self.dim, self.dim), fmpq_mat(self.dim, 1)
            for a_j, b_j in own:
                a, b = a + a_j, b + b_j
            scale = linalg.rational(Fraction(1, len(own) if self.reduction == "mean" else 1))
            found.append((a * scale, b * scale))
        return tuple(found)

    def sample_maps(self) -> tuple[tuple[tuple[fmpq_mat, fmpq_mat], ...], ...] | None:
        """Per client and sample (A_ij, b_ij); None where samples are not separated."""
        return None

    def arrays(self) -> Arrays:
        """Layout "isotropic" where the matrix of every sample is a multiple of I, otherwise "quadratic"."""
        return self._flat

    @cached_property
    def _flat(self) -> Arrays:
        maps = self.sample_maps() or ()
        shared = {id(a): a for own in maps for a, _ in own}  # samples may share their matrix
        curved = {key: _multiple(a) for key, a in shared.items()}
        isotropic = all(h is not None for h in curved.values())
        matrices = {} if isotropic else {key: linalg.floats(a) for key, a in shared.items()}
        flat = [(id(a), b) for own in maps for a, b in own]
        return Arrays(
            kind="isotropic" if isotropic else "quadratic",
            reduction=self.reduction,
            offsets=np.concatenate([[0], np.cumsum([len(own) for own in maps])]).astype(np.int64),
            A=np.array([matrices[key] for key, _ in flat] if matrices else []),
            curvature=np.array([curved[key] for key, _ in flat] if isotropic else [], dtype=np.float64),
            b=np.array([linalg.floats(b)[:, 0] for _, b in flat]),
            **self._layout(),
        )

    @cached_property
    def _maps(self) -> tuple[tuple[fmpq_mat, fmpq_mat], ...]:
        return self.maps()

    def mean_map(self) -> tuple[fmpq_mat, fmpq_mat]:
        """(A, b) of F."""
        d = len(self.start)
        a, b = fmpq_mat(d, d), fmpq_mat(d, 1)
        for w, (a_i, b_i) in zip(self.weights, self._maps, strict=True):
            a, b = a + a_i * linalg.rational(w), b + b_i * linalg.rational(w)
        return a, b

    @cached_property
    def shape(self) -> Shape:
        """Hessian, stationary point and convexity of F."""
        a, b = self.mean_map()
        return Shape(
            a, linalg.nearest_solution(a, b, linalg.column(self.start)), linalg.is_psd(a), linalg.range_projector(a)
        )

    @property
    def solution(self) -> fmpq_mat | None:
        """The minimiser nearest to the start, or None."""
        return self.shape.minimiser

    @property
    def dim(self) -> int:
        """Dimension d."""
        return len(self.start)

    @property
    def clients(self) -> int:
        """Number of clients n."""
        return len(self.weights)

    @property
    def metrics(self) -> tuple[str, ...]:
        """dist2, gap and grad2 where F has a minimiser, grad2 alone at a saddle; x in dimension 1."""
        names = ("dist2", "gap", "grad2") if self.shape.convex else ("grad2",)
        own = names if self.shape.stationary is not None else ()
        return (*own, "x") if self.dim == 1 else own

    @cached_property
    def _forms(self) -> Forms:
        shape = self.shape
        if shape.stationary is None:
            return Forms(self._maps, {})
        known = {"grad2": shape.hessian * shape.hessian}
        if shape.convex:
            known = {"dist2": shape.projector, "gap": shape.hessian * linalg.rational(Fraction(1, 2)), **known}
        return Forms(self._maps, {name: (shape.stationary, q) for name, q in known.items()})

    def forms(self) -> Forms:
        """Exact affine gradient maps, and the metrics as forms centred at a minimiser (or saddle)."""
        return self._forms

    def samples(self) -> tuple[Samples, ...]:
        """The samples of each client; a client whose samples the problem does not tell apart is one sample."""
        return tuple(map(Matrices, self.sample_maps() or [[client] for client in self._maps]))

    @cached_property
    def of_samples(self) -> SumOfQuadratics:
        """The exact matrices from which dissimilarity, local variance and the like are computed."""
        shape = self.shape
        return SumOfQuadratics(self._maps, self.weights, self.samples, shape.hessian, shape.minimiser, shape.projector)

    def local_variances(self) -> tuple[tuple[Fraction, Fraction], ...] | None:
        """(P_i^2, sigma_i^2) of each client, as the constants P2 and noise2 are made of them; None: there are none."""
        pairs = self.of_samples.variance_pairs
        return None if pairs is None else tuple((p.factor, p.constant) for p in pairs)

    @cached_property
    def _constants(self) -> LazyConstants:
        shape = self.shape
        hessians = [a for a, _ in self._maps]
        found: dict[str, Callable[[], Constant]] = {
            **{name: lambda c=c: c for name, c in self.counted().items()},
            "L": lambda: certify.smoothness(hessians),
        }
        if self.dim == 1:
            found["x_0"] = lambda: Constant(self.start[0], Known.EXACT, "exact", "the start")
        centre = shape.minimiser
        if centre is not None:
            found["dist2_0"] = lambda: certify.squared_distance(shape.projector, centre, self.start)
            if self.violations("strong_quasi_convexity") is None:
                found["mu"] = lambda: certify.quasi_convexity(shape.hessian, shape.projector)
            if self.violations("finite_gradient_noise") is None:
                found["sigma2"] = lambda: certify.gradient_noise(self._maps, centre)
        return LazyConstants({**found, **self.of_samples.makers(self.start)})

    def constants(self) -> Mapping[str, Constant]:
        """n, d, L, L_f, lam, delta and grad2_0, and as far as they exist mu, sigma2, dist2_0, gap_0, sigma2_star, L_ij,
        mu_ij, G2, B2, B2_0, B2_only, P2 and noise2.

        Each is exact or certified, and computed when it is first asked for.
        """
        return self._constants

    def _objection(self, assumption: str) -> str | None:
        if assumption not in ASSUMPTIONS:
            raise unknown(assumption)
        if assumption == "dissimilarity_at_start":
            return self.of_samples.start_objection(self.start)
        if assumption in OF_SAMPLES:
            return self.of_samples.objection(assumption)
        if assumption == "smooth_clients":
            return None
        if assumption == "convex_clients":
            bad = next((i for i, (a, _) in enumerate(self._maps) if not linalg.is_psd(a)), None)
            return None if bad is None else f"the Hessian of client {bad} has a negative eigenvalue."
        shape = self.shape
        if not shape.convex:
            return "F is unbounded below: its Hessian has a negative eigenvalue."
        if shape.minimiser is None:
            return "F is unbounded below: it falls linearly in a direction where its Hessian is zero."
        if assumption == "strong_quasi_convexity" and shape.hessian.rank() == 0:
            return "F is constant, so that every point is a minimiser and mu has no largest value."
        if assumption == "finite_gradient_noise":
            bad = certify.noise_is_finite([a for a, _ in self._maps], shape.projector)
            if bad is not None:
                return f"the gradient of client {bad} is unbounded on the solution set, which is a whole affine space."
        return None

    def decides(self, assumption: str, constants: Mapping[str, Fraction]) -> bool | None:
        """Whether a hypothesis of `ASSUMPTIONS` holds for all points with these constants, exactly.

        None for a hypothesis outside `ASSUMPTIONS` and where a constant that it is about is missing; the constants
        have the names of `constants()`.
        """
        if assumption == "dissimilarity_at_start":
            if self.violations(assumption) is not None:
                return False
            return constants["B2_0"] >= self.constants()["B2_0"].value if "B2_0" in constants else None
        if assumption in OF_SAMPLES:
            return self.of_samples.decides(assumption, constants)
        if assumption not in ASSUMPTIONS:
            return None
        if self.violations(assumption) is not None:
            return False
        name = {"smooth_clients": "L", "strong_quasi_convexity": "mu", "finite_gradient_noise": "sigma2"}.get(
            assumption
        )
        if name is None:
            return True
        if name not in constants:
            return None
        return self._meets(name, constants[name])

    def _meets(self, name: str, value: Fraction) -> bool:
        shape, one = self.shape, linalg.identity(self.dim)
        by = linalg.rational(value)
        if name == "L":
            return all(is_positive_semidefinite(one * by - s) for a, _ in self._maps for s in (a, -a))
        if name == "mu":
            return is_positive_semidefinite(shape.hessian - shape.projector * by)
        assert shape.minimiser is not None
        return certify.noise_value(self._maps, shape.minimiser) <= value

    @cached_property
    def _float_maps(self) -> tuple[tuple[Floats, Floats], ...]:
        return tuple((linalg.floats(a), linalg.floats(b)[:, 0]) for a, b in self._maps)

    @cached_property
    def _exact_maps(self) -> tuple[tuple[NDArray[Any], NDArray[Any]], ...]:
        return tuple((linalg.to_fractions(a), linalg.to_fractions(b)[:, 0]) for a, b in self._maps)

    def gradient(self, client: int, x: Vector) -> Vector:
        """A_i x - b_i, float64 or exact as x is; x and result (d,)."""
        maps: Any = self._exact_maps if x.dtype == object else self._float_maps
        a, b = maps[client]
        return a @ x - b

    @cached_property
    def _float_forms(self) -> Mapping[str, tuple[Floats, Floats]]:
        return {name: (linalg.floats(c)[:, 0], linalg.floats(q)) for name, (c, q) in self._forms.quadratic.items()}

    def metric(self, name: str, x: NDArray[Any]) -> Any:
        """A metric at x (d,), float64 or exact as x is. Raises UnknownName where the instance has not the metric."""
        x = np.asarray(x)
        if name in self.ratios:
            return self._ratio(x)
        if name not in self.metrics:
            raise UnknownName("the metric", name, self.metrics)
        if name == "x":
            return x[0]
        if x.dtype == object:
            centre, form = self._forms.quadratic[name]
            return certify.quadratic_value(form, centre, list(x))
        centre, form = self._float_forms[name]
        u = x - centre
        return float(u @ form @ u)

    @property
    def ratios(self) -> tuple[str, ...]:
        """Metrics of a point that are no quadratic functions, so that only sampled runs have their mean."""
        return ("B2",)

    def _ratio(self, x: NDArray[Any]) -> Any:
        """B(x)^2: sum of w_i |grad f_i(x)|^2 over |grad F(x)|^2; infinite (1 where all are 0) at stationary points."""
        exact = x.dtype == object
        weights: list[Any] = [w if exact else float(w) for w in self.weights]
        gradients: list[Any] = [self.gradient(i, x) for i in range(self.clients)]
        parts = sum(w * (g @ g) for w, g in zip(weights, gradients, strict=True))
        mean: Any = sum(w * g for w, g in zip(weights, gradients, strict=True))
        whole = mean @ mean
        return parts / whole if whole else 1 if not parts else math.inf

    def nearest(self, x: Vector) -> Vector:
        """x - P(x - c): the minimiser nearest to x (d,), float64 or exact as x is.

        Raises BadInput where F has no minimiser.
        """
        centre = self.solution
        if centre is None:
            raise BadInput("F has no minimiser, so that none is nearest.")
        projector: Any = (
            linalg.to_fractions(self.shape.projector) if x.dtype == object else linalg.floats(self.shape.projector)
        )
        middle: Any = linalg.to_fractions(centre)[:, 0] if x.dtype == object else linalg.floats(centre)[:, 0]
        return x - projector @ (x - middle)

    def _layout(self) -> dict[str, Any]:
        """The parts of the sampled engine's `Arrays` that do not depend on the kind of component."""
        forms = self._float_forms
        centre = next((c for c, _ in forms.values()), np.zeros(self.dim))
        return {
            "client_A": np.stack([a for a, _ in self._float_maps]),
            "client_b": np.stack([b for _, b in self._float_maps]),
            "centre": centre,
            "centred": {name: q for name, (_, q) in forms.items()},
        }


def _multiple(a: fmpq_mat) -> float | None:
    """h where a = h I, else None."""
    return linalg.nearest_float(linalg.fraction(a[0, 0])) if a == linalg.identity(a.nrows()) * a[0, 0] else None
