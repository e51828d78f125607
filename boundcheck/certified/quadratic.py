"""All constants and decided hypotheses of a finite sum of quadratics, from its exact matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import fmpq_mat

from boundcheck.certified import certify
from boundcheck.certified.constant import Constant, exact
from boundcheck.certified.definite import EigenBound, eigenvalues_within
from boundcheck.certified.dissimilarity import ROOM, Dissimilarity, LocalVariance, Pair, local_variance
from boundcheck.certified.forms import Affine
from boundcheck.certified.samples import Samples
from boundcheck.core.linalg import column
from boundcheck.errors import UnknownName

Maker = Callable[[], Constant]


@dataclass(frozen=True)
class SumOfQuadratics:
    """F = sum of w_i f_i with gradient A x - b; f_i has the gradient A_i x - b_i.

    maps: (A_i, b_i) a client; weights: w_i; samples: those of each client, made when first needed; hessian: A;
    minimiser: of F, or None where F is unbounded below; projector: onto the range of A.
    """

    maps: Sequence[Affine]
    weights: Sequence[Fraction]
    make_samples: Callable[[], Sequence[Samples]]
    hessian: fmpq_mat
    minimiser: fmpq_mat | None
    projector: fmpq_mat

    @cached_property
    def samples(self) -> Sequence[Samples]:
        """The samples of each client."""
        return self.make_samples()

    # --- between clients --------------------------------------------------------------------------------------

    @cached_property
    def dissimilarity(self) -> Dissimilarity:
        """The gradient dissimilarity of the clients."""
        return Dissimilarity(self.maps, self.weights)

    @cached_property
    def _pair(self) -> Pair:
        found = self.dissimilarity.default()
        assert found is not None
        return found

    def _B2(self) -> Constant:
        if self.dissimilarity.alike:
            how = "1, since all clients have the same Hessian"
        else:
            how = f"{ROOM} times the least B2 for which some G2 exists"
        return exact(self._pair.factor, how)

    def _G2(self) -> Constant:
        return certify.from_above(self._pair.constant, "least G2 for this B2, a Schur complement")

    def _delta(self) -> Constant:
        return certify.similarity([a for a, _ in self.maps], self.hessian)

    # --- within clients ---------------------------------------------------------------------------------------

    @cached_property
    def variances(self) -> Sequence[LocalVariance]:
        """Of each client."""
        return [local_variance(s, client) for s, client in zip(self.samples, self.maps, strict=True)]

    @cached_property
    def variance_pairs(self) -> tuple[Pair, ...] | None:
        """(P_i^2, sigma_i^2) of each client by default; None where a client has none."""
        if self.unbounded_variance() is not None:
            return None
        pairs = [v.default() for v in self.variances]
        return tuple(p for p in pairs if p is not None)

    def unbounded_variance(self) -> int | None:
        """The first client whose local variance no pair bounds."""
        return next((i for i, v in enumerate(self.variances) if not v.bounded), None)

    def has_variance(self, P2: Fraction, noise2: Fraction) -> bool:
        """With P_i^2 = P2 |D_i|, the largest that P2 allows, each least sigma_i^2 is as small as it can be."""
        found = [v.least_constant(P2 * v.count) for v in self.variances]
        known = [least for least in found if least is not None]
        return len(known) == len(found) and sum(known, Fraction(0)) <= noise2 * self._total()

    def samples_between(self, low: Fraction, high: Fraction | None) -> bool:
        """Whether all eigenvalues of all samples, as they count, are at least `low` and at most `high`."""
        pairs = zip(self._scales, self.samples, strict=True)
        return all(s.within(low / k, None if high is None else high / k) for k, s in pairs)

    def _total(self) -> int:
        return sum(s.count for s in self.samples)

    def _P2(self) -> Constant:
        pairs = self.variance_pairs
        assert pairs is not None
        value = max(p.factor / s.count for p, s in zip(pairs, self.samples, strict=True))
        how = f"largest P_i^2/|D_i|, P_i^2 {ROOM} times the least for which some sigma_i^2 exists"
        return exact(value, how if value else "all samples of a client have the same Hessian")

    def _noise2(self) -> Constant:
        pairs = self.variance_pairs
        assert pairs is not None
        total = sum((p.constant for p in pairs), Fraction(0)) / self._total()
        return certify.from_above(total, "sum of the least sigma_i^2 for these P_i^2 over the number of samples")

    @cached_property
    def _scales(self) -> Sequence[int]:
        """By how much each client's samples count: |D_i| where f_i is their sum, so that it is the mean of these."""
        return [1 if s.mean() == client else s.count for s, client in zip(self.samples, self.maps, strict=True)]

    def _ends(self, of: Callable[[Samples], EigenBound]) -> list[EigenBound]:
        """A bound of each client's samples, as they count."""
        found = [(k, of(s)) for k, s in zip(self._scales, self.samples, strict=True)]
        return [EigenBound(k * bound.value, bound.exact) for k, bound in found]

    def _L_ij(self) -> Constant:
        bound = max(self._ends(lambda s: s.largest()), key=lambda b: b.value)
        return certify.eigenvalue(bound, "upper", "largest |eigenvalue| of all samples' Hessians", "L*I -+ A_ij")

    def _mu_ij(self) -> Constant:
        bound = min(self._ends(lambda s: s.smallest()), key=lambda b: b.value)
        return certify.eigenvalue(bound, "lower", "smallest eigenvalue of all samples' Hessians", "A_ij - mu*I")

    # --- all ----------------------------------------------------------------------------------------------------

    def makers(self, start: Sequence[Fraction]) -> dict[str, Maker]:
        """How each constant is computed that exists.

        L_ij, mu_ij, G2, B2, P2, noise2, delta, gap_0, sigma2_star, lam, L_f, grad2_0, B2_0 and B2_only.
        """
        found: dict[str, Maker] = {"L_ij": self._L_ij, **self._of_feddane(start)}
        if self.objection("convex_samples") is None:
            found["mu_ij"] = self._mu_ij
        if self.objection("gradient_dissimilarity") is None:
            found |= {"G2": self._G2, "B2": self._B2}
        if self.objection("local_variance") is None:
            found |= {"P2": self._P2, "noise2": self._noise2}
        found["delta"] = self._delta
        centre = self.minimiser
        if centre is not None:
            found["gap_0"] = lambda: certify.gap(self.hessian, centre, start)
            # gradients of convex samples are alike on the whole solution set
            if self.objection("convex_samples") is None or self.hessian.rank() == self.hessian.nrows():
                found["sigma2_star"] = lambda: self._noise_at(centre)
        return found

    def _noise_at(self, centre: fmpq_mat) -> Constant:
        """The weighted mean over clients of the mean of |grad f_ij|^2 at `centre`."""
        of_clients = zip(self.weights, self._scales, self.samples, strict=True)
        value = sum((w * k**2 * s.moment().at(centre) for w, k, s in of_clients), Fraction(0))
        return certify.from_above(value, "mean squared gradient of the samples at a minimiser")

    def _of_feddane(self, start: Sequence[Fraction]) -> dict[str, Maker]:
        """The constants of FedDANE's theorems; B2_0 and B2_only where they are finite."""
        found: dict[str, Maker] = {
            "lam": lambda: certify.lower_curvature([a for a, _ in self.maps]),
            "L_f": lambda: certify.smoothness([self.hessian]),
            "grad2_0": lambda: exact(self.gradients_at(start)[1], "|grad F|^2 at the start"),
        }
        if self.start_objection(start) is None:
            found["B2_0"] = lambda: exact(self._ratio_at(start), "sum of w_i |grad f_i|^2 over |grad F|^2 at the start")
        if self.dissimilarity.stationary is not None and self.dissimilarity.vanishing_client() is None:
            found["B2_only"] = self._B2_only
        return found

    def gradients_at(self, point: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
        """(sum of w_i |grad f_i|^2, |grad F|^2) at a point, exactly."""
        x = column(point)
        return self.dissimilarity.left.at(x), self.dissimilarity.right.at(x)

    def _ratio_at(self, point: Sequence[Fraction]) -> Fraction:
        parts, whole = self.gradients_at(point)
        return parts / whole if whole else Fraction(1)  # all gradients are 0: every B will do

    def start_objection(self, start: Sequence[Fraction]) -> str | None:
        """Why the dissimilarity at the start has no finite bound B2_0, or None."""
        parts, whole = self.gradients_at(start)
        return "the gradient of F is 0 at the start, those of its clients are not." if parts and not whole else None

    def _B2_only(self) -> Constant:
        least = self.dissimilarity.least_B2()
        assert least is not None
        bound = EigenBound(max(least.value, Fraction(1)), least.exact)
        how = "least B2 with sum of w_i |grad f_i|^2 <= B2 |grad F|^2 everywhere"
        return certify.eigenvalue(bound, "upper", how, "B2 A^2 - sum of w_i A_i^2")

    def objection(self, assumption: str) -> str | None:
        """Why a hypothesis of `HYPOTHESES` fails for every choice of its constants, None where it holds with some.

        Raises UnknownName for "bounded_dissimilarity" where F has no stationary point and that is not known.
        """
        return HYPOTHESES[assumption].objection(self)

    def decides(self, assumption: str, constants: Mapping[str, Fraction]) -> bool | None:
        """Whether a hypothesis holds for all points with these constants, exactly; None where one is missing.

        Constants by the names of `makers`; "L" and "mu" stand in for "L_ij" and "mu_ij" where those are not given.
        """
        row = HYPOTHESES[assumption]
        if assumption != "bounded_dissimilarity" and row.objection(self) is not None:
            return False
        given = {**{f"{k}_ij": constants[k] for k in ("L", "mu") if k in constants}, **constants}
        if any(name not in given for name in row.needs):
            return None
        values = [given[name] for name in row.needs]
        return min(values, default=Fraction(0)) >= 0 and row.decides(self, *values)


# --- hypotheses: why one fails, and whether it holds with given constants -------------------------------------


def _unbounded(of: SumOfQuadratics) -> str | None:
    return None if of.minimiser is not None else "F is unbounded below."


def _bent(of: SumOfQuadratics) -> str | None:
    bad = next((i for i, s in enumerate(of.samples) if not s.within(Fraction(0))), None)
    return None if bad is None else f"the Hessian of a sample of client {bad} has a negative eigenvalue."


def _flat(of: SumOfQuadratics) -> str | None:
    flat = next((i for i, s in enumerate(of.samples) if s.singular()), None)
    return None if flat is None else f"the Hessian of a sample of client {flat} is singular, so that mu = 0."


def _spread(of: SumOfQuadratics) -> str | None:
    bad = of.unbounded_variance()
    if bad is None:
        return None
    if not of.variances[bad].is_mean:
        return f"client {bad} is not the mean of its samples (it is their sum), as the hypothesis takes it."
    return f"the gradients of the samples of client {bad} spread without bound where its own does not grow."


def _free(of: SumOfQuadratics) -> str | None:
    free = of.dissimilarity.free_client()
    return None if free is None else f"the gradient of client {free} grows without bound where that of F does not."


def _not_vanishing(of: SumOfQuadratics) -> str | None:
    bad, name = of.dissimilarity.vanishing_client(), "bounded_dissimilarity"
    if bad is None and of.dissimilarity.stationary is None:
        raise UnknownName("the assumption", name, [own for own, h in HYPOTHESES.items() if h.needs and own != name])
    return None if bad is None else f"the gradient of client {bad} does not vanish wherever that of F does."


def _bent_at_most(of: SumOfQuadratics, lam: Fraction) -> bool:
    return all(eigenvalues_within(a, -lam) for a, _ in of.maps)


def _similar(of: SumOfQuadratics, delta: Fraction) -> bool:
    return all(eigenvalues_within(a - of.hessian, -delta, delta) for a, _ in of.maps)


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis about the samples or clients.

    needs: the constants that it is about. objection: why it fails for all values of these. decides: whether it holds
    with given values, in the order of `needs`.
    """

    needs: tuple[str, ...] = ()
    objection: Callable[[SumOfQuadratics], str | None] = lambda of: None
    decides: Callable[..., bool] = lambda of: True


def _dissimilar(of: SumOfQuadratics, *values: Fraction) -> bool:
    return of.dissimilarity.decides(*values)


HYPOTHESES: Mapping[str, Hypothesis] = {
    "client_smoothness": Hypothesis(),
    "bounded_below": Hypothesis(objection=_unbounded),
    "convex_samples": Hypothesis(objection=lambda of: _bent(of) or _unbounded(of)),
    "smooth_samples": Hypothesis(("L_ij",), decides=lambda of, L: of.samples_between(-L, L)),
    "strongly_convex_samples": Hypothesis(
        ("mu_ij",), lambda of: _bent(of) or _flat(of), lambda of, mu: of.samples_between(mu, None)
    ),
    "hessian_similarity": Hypothesis(("delta",), decides=_similar),
    "lower_curvature": Hypothesis(("lam",), decides=_bent_at_most),
    "bounded_dissimilarity": Hypothesis(("B2_only",), _not_vanishing, lambda of, B2: _dissimilar(of, Fraction(0), B2)),
    "local_variance": Hypothesis(("P2", "noise2"), _spread, SumOfQuadratics.has_variance),
    "gradient_dissimilarity": Hypothesis(("G2", "B2"), _free, _dissimilar),
    "relaxed_dissimilarity": Hypothesis(("G2", "B2", "L_ij"), lambda of: _unbounded(of) or _free(of), _dissimilar),
}
