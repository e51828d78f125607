"""Constants of many small quadratic problems at once, in plain floats, under the keys of the catalogue.

They follow `setting` and `certified`, to which tests hold them, and serve the search alone: what it finds is decided
with the exact ones. A key that is not here is computed by `Setting`, instance by instance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from boundcheck.engines.curve import Floats
from boundcheck.engines.exact.stacks import Instances, inverses
from boundcheck.falsify.block_constants import NEAR, ROOM, Blocks, forms, norm, pair
from boundcheck.methods import answers
from boundcheck.setting import Setting
from boundcheck.setting.expected_weights import Expected, data_kinds, expected_weights
from boundcheck.setting.local_work import certain_visits, possible_visits, variance_share

# Keys of these groups rest on the method and on the number, sizes and weights of the clients alone.
_SHARED = ("method/", "participation/", "schedule/", "clients/w_", "clients/what_")
_ALONE = (
    *("blocks/row_defect", "blocks/product_defect", "blocks/symmetry_defect", "blocks/inner_defect"),
    *("blocks/outer_defect", "blocks/cross_weight", "blocks/averaged_per_period", "blocks/averagings_per_period"),
    "clients/n", "clients/m", "clients/sum_p2", "objective/dimension", "surrogate/chi2_max", "surrogate/chi2",
    "surrogate/U",
)  # fmt: skip


def is_shared(key: str) -> bool:
    """Whether a constant is the same for all problems with the same clients."""
    return key.startswith(_SHARED) or key in _ALONE


class Constants:
    """The constants of a batch. like: the setting of one of its problems, of which the shared ones are taken."""

    def __init__(self, instances: Instances, like: Setting) -> None:
        self.given, self.like = instances, like

    def of(self, key: str) -> Any:
        """The constant with this key, a number or (B,); None where it is not here. NaN: an instance has none."""
        if is_shared(key):
            return float(self.like.constant(key).value) if self.like.has(key) else None
        make = _KEYS.get(key)
        if make is not None:
            return make(self)
        if key.startswith("blocks/") and answers.averaging(self.like.described.exchange) is not None:
            return self._blocks.of(key.removeprefix("blocks/"))
        return None

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks(self.given, self.like, self.size, self.dissimilarity)

    # --- the objective, clients and samples ---------------------------------------------------------------------------

    @cached_property
    def eigenvalues(self) -> tuple[Any, Any, Any]:
        """Of F (B, d), of the clients (B, n, d), of the samples (B, N, d)."""
        given = self.given
        return (
            np.linalg.eigvalsh(given.whole[0]), np.linalg.eigvalsh(given.maps[0]), np.linalg.eigvalsh(given.A),
        )  # fmt: skip

    @cached_property
    def size(self) -> Floats:
        """The largest curvature, (B,)."""
        return np.abs(self.eigenvalues[2]).max((1, 2))

    @cached_property
    def clear(self) -> Any:
        """Whether it is clear which eigenvalues of F and of the clients are 0, (B,), so that no rounding decides."""
        found: Any = True
        for own in self.eigenvalues[:2]:
            share = np.abs(own).reshape(len(own), -1) / np.maximum(self.size, 1e-300)[:, None]
            found = found & ~((share > 1e-13) & (share < 1e-6)).any(1)
        return found

    @cached_property
    def convex(self) -> bool | Any:
        """Whether F is convex, (B,)."""
        return self.eigenvalues[0].min(1) >= -NEAR * self.size

    @cached_property
    def minimiser(self) -> Floats:
        """The minimiser of F that is nearest to the start, (B, d)."""
        start, (back, onto) = self.given.start, self.given.inverse
        moved = np.einsum("bij,bj->bi", back, self.given.whole[1]) - start
        return start + np.einsum("bij,bj->bi", onto, moved)

    @cached_property
    def attained(self) -> Any:
        """Whether F has a minimiser, (B,)."""
        A, b = self.given.whole
        rest = np.abs(np.einsum("bij,bj->bi", A, self.minimiser) - b).max(1)
        return self.convex & (rest <= 1e-9 * self._reach)

    @cached_property
    def _reach(self) -> Floats:
        """What rounding errors of gradients are relative to, (B,)."""
        points = np.abs(self.minimiser).max(1) + np.abs(self.given.start).max(1)
        return self.size * points + np.abs(self.given.b).max((1, 2)) + 1e-300

    def at_minimum(self, *, samples: bool = False) -> Floats:
        """Squared norms of gradients at the minimiser, (B, n) or (B, N); what rounding alone makes is 0."""
        found = (self._gradients(self.minimiser, samples=samples) ** 2).sum(2)
        return np.where(found < 1e-24 * self._reach[:, None] ** 2, 0.0, found)

    def _with_minimum(self, value: Floats) -> Floats:
        return np.where(self.attained, value, np.nan)

    def mu(self) -> Floats:
        """The smallest eigenvalue of F that is not 0."""
        own = self.eigenvalues[0]
        flat = own <= NEAR * self.size[:, None]
        return self._with_minimum(np.where(flat.all(1), np.nan, np.where(flat, np.inf, own).min(1)))

    def _gradients(self, x: Floats, *, samples: bool = False) -> Floats:
        """Of the clients at x (B, d), or of the samples."""
        A, b = (self.given.A, self.given.b) if samples else self.given.maps
        return np.einsum("bkij,bj->bki", A, x) - b

    def at_start(self) -> tuple[Floats, Floats]:
        """(sum of w_i |grad f_i|^2, |grad F|^2) at the start."""
        own = self._gradients(self.given.start)
        mean = np.einsum("i,bij->bj", self.given.shares, own)
        return np.einsum("i,bij->b", self.given.shares, own**2), (mean**2).sum(1)

    def dissimilarity_at_start(self) -> Floats:
        """B2_0."""
        parts, whole = self.at_start()
        return np.where(whole > 0, parts / np.where(whole > 0, whole, 1.0), np.where(parts > 0, np.nan, 1.0))

    def gap(self) -> Floats:
        """F at the start less its minimum."""
        away = self.given.start - self.minimiser
        return self._with_minimum(np.einsum("bi,bij,bj->b", away, self.given.whole[0], away) / 2)

    def distance(self) -> Floats:
        """|x_0 - x*|^2."""
        return self._with_minimum(((self.given.start - self.minimiser) ** 2).sum(1))

    def noise_of_samples(self) -> Floats:
        """sigma2_star."""
        own = self.given.of_clients(self.at_minimum(samples=True))
        return self._with_minimum(own @ self.given.shares)

    @cached_property
    def dissimilarity(self) -> tuple[Floats, Floats]:
        """(B2, G2)."""
        (A, b), (whole, side) = self.given.maps, self.given.whole
        left, right = forms(A, b, self.given.shares), forms(whole[:, None], side[:, None], np.ones(1))
        apart = np.abs(A - whole[:, None]).max((1, 2, 3)) > NEAR * self.size
        alike = left[2] - right[2]  # with one Hessian for all the other terms cancel
        factor, constant = pair(left, right, whole, 1.0)
        return np.where(apart, factor, 1.0), np.where(apart, constant, np.maximum(alike, 0.0))

    def without_G2(self) -> Floats:
        """B2_only."""
        (A, b), (whole, side) = self.given.maps, self.given.whole
        factor, _ = pair(forms(A, b, self.given.shares), forms(whole[:, None], side[:, None], np.ones(1)), whole, 0)
        vanish = self.at_minimum().sum(1) == 0
        return np.where(vanish & self.attained, np.maximum(factor / ROOM, 1.0), np.nan)

    @cached_property
    def variances(self) -> tuple[Floats, Floats]:
        """(P_i^2, sigma_i^2) of the clients, (B, n) each."""
        given, found = self.given, list[Any]()
        for i, (first, size) in enumerate(zip(given.firsts, given.sizes, strict=True)):
            A, b = given.A[:, first : first + size], given.b[:, first : first + size]
            own, side = given.maps[0][:, i], given.maps[1][:, i]
            left = forms(A - own[:, None], b - side[:, None], np.full(size, 1 / size))
            if np.abs(left[0]).max() <= 1e-18 * self.size.max() ** 2:
                found.append((np.zeros(len(given)), left[2]))
                continue
            found.append(pair(left, forms(own[:, None], side[:, None], np.ones(1)), own, 0.0))
        return np.stack([p for p, _ in found], 1), np.stack([s for _, s in found], 1)

    def _general(self) -> tuple[Floats, Floats] | None:
        """(3 |D_i| E_i^2, what_i) of the clients, where the method is a FedShuffleGen in whole epochs."""
        clients = self.like.clients
        visits = certain_visits(self.like.described, clients)
        keys = [f"clients/what_{i + 1}" for i in range(clients.count)]
        if visits is None or not all(map(self.like.has, keys)) or any(v.steps % s for v, s in self._steps(visits)):
            return None
        scales = [3.0 * size * (v.steps // size) ** 2 for v, size in self._steps(visits)]
        return np.array(scales), np.array([float(self.like.constant(key).value) for key in keys])

    def _steps(self, visits: Sequence[Any]) -> list[tuple[Any, int]]:
        return list(zip(visits, self.given.sizes, strict=True))

    def variance_of_general(self, which: int) -> Floats | None:
        """P2_gen and noise2_gen."""
        found = self._general()
        if found is None:
            return None
        P2, sigma2 = self.variances
        return (P2 / found[0]).max(1) if which == 0 else (sigma2 * found[1] / found[0]).sum(1)

    # --- the objectives that rounds follow (asynchronous) -------------------------------------------------------------

    @cached_property
    def _expected(self) -> Expected | None:
        return expected_weights(self.like.described, self.like.clients)

    @cached_property
    def _second(self) -> tuple[Floats, Floats, Floats] | None:
        """E|g_i(x)|^2 of a local step as forms: (B, n, d, d), (B, n, d) and (B, n)."""
        given, found = self.given, list[tuple[Floats, Floats, Floats]]()
        for i, (first, size) in enumerate(zip(given.firsts, given.sizes, strict=True)):
            visits = possible_visits(self.like.described, i, self.like.clients)
            own = {variance_share(v, size) for v in visits if v.sampling in ("full", "replacement")}
            share = own.pop() if len(own) == 1 else None
            if share is None:
                return None
            A, b = given.A[:, first : first + size], given.b[:, first : first + size]
            each = forms(A, b, np.full(size, float(share) / size))
            whole = forms(given.maps[0][:, [i]], given.maps[1][:, [i]], np.array([1 - float(share)]))
            found.append((each[0] + whole[0], each[1] + whole[1], each[2] + whole[2]))
        q, v, c = (np.stack(part, 1) for part in zip(*found, strict=True))
        return q, v, c

    def _lowest(self, q: Mapping[int, Any]) -> Floats:
        """The minimiser nearest to the start of sum of q_i f_i, (B, d)."""
        start, weights = self.given.start, np.array([float(q.get(i, 0)) for i in range(len(self.given.sizes))])
        A, b = (np.einsum("i,bi...->b...", weights, own) for own in self.given.maps)
        back, onto = inverses(A)
        return start + np.einsum("bij,bj->bi", onto, np.einsum("bij,bj->bi", back, b) - start)

    def _values(self, x: Floats) -> Floats:
        """f_i(x) of the clients, (B, n)."""
        A, b = self.given.maps
        return np.einsum("bi,bkij,bj->bk", x, A, x) / 2 - np.einsum("bki,bi->bk", b, x)

    def _moments(self, x: Floats) -> Floats:
        assert self._second is not None
        q, v, c = self._second
        return np.einsum("bi,bkij,bj->bk", x, q, x) - 2 * np.einsum("bki,bi->bk", v, x) + c

    def _own_minimum(self) -> Floats:
        """min f_i of the clients, (B, n)."""
        lowest = [self._values(self._lowest({i: 1}))[:, i] for i in range(len(self.given.sizes))]
        return np.stack(lowest, 1)

    def of_surrogate(self, name: str) -> Any:
        """A constant of the group "surrogate" and the distance of the start."""
        expected = self._expected
        if expected is None or not expected.full_kinds or self._second is None:
            return None
        convex = (self.eigenvalues[1].min((1, 2)) >= -NEAR * self.size) & self.attained
        found = self._of_surrogate(name, expected)
        return None if found is None else np.where(convex, found, np.nan)

    def _of_surrogate(self, name: str, expected: Expected) -> Any:
        n = len(self.given.sizes)
        middle = self._lowest(expected.mean)
        mean = np.array([float(expected.mean.get(i, 0)) for i in range(n)])
        if name == "start/dist2_surrogate":
            return ((self.given.start - middle) ** 2).sum(1)
        if name == "Sigma":
            return self._moments(middle) @ mean
        if name == "F_het":
            return (self._values(middle) - self._own_minimum()) @ mean
        total: Any = np.zeros(len(self.given))
        for kind in expected.full_kinds:
            q = np.array([float(kind.q.get(i, 0)) for i in range(n)])
            x, share = self._lowest(kind.q), float(kind.share)
            if name == "R":
                total = total + share * ((self._values(middle) - self._values(x)) @ q)
            elif name in ("S1", "S2"):
                total = total + share * (self._moments(x) @ (q / q.sum()) ** int(name[1]))
            elif name == "P":
                chi2 = float(data_kinds(self.like.problem).chi_square(kind.q))
                total = total + share * chi2 * ((self._values(x) - self._own_minimum()) @ q) / q.sum()
            else:
                return None
        return total

    # --- proximal subproblems -----------------------------------------------------------------------------------------

    def of_subproblem(self, name: str) -> Any:
        """A constant of the group "subproblem" for exact solves, of FedDANE's theorems."""
        method, clients = self.like.described, self.like.clients
        visits = certain_visits(method, clients)
        if visits is None or any(v.sampling != "exact" for v in visits):
            return None
        mu = np.array([float(v.prox) for v in visits])
        if mu.min() <= 0:
            return None
        if name in ("gamma", "gamma_inv_mu"):
            return 0.0
        fixed = method.participation.fixed(0, clients)
        chosen = range(clients.count) if fixed is None else list(fixed)
        least, largest = (np.min, np.max) if fixed is None else (np.mean, np.mean)
        L = np.abs(self.eigenvalues[1]).max(2)
        if name == "inv_mu":
            return least(1 / mu[chosen])
        if name in ("inv_mu2", "gamma2_inv_mu2"):
            return largest(1 / mu[chosen] ** 2)
        if name in ("L_inv_mu2", "L_gamma2_inv_mu2"):
            return largest((L / mu**2)[:, chosen], axis=1)
        return None

    # --- hypotheses that instances of one form may break --------------------------------------------------------------

    def meets(self, name: str) -> Any:
        """Whether a hypothesis of a problem holds, (B,); True for those that all instances of a form meet alike."""
        of_F, of_clients, of_samples = (own.reshape(len(own), -1).min(1) for own in self.eigenvalues)
        edge = -NEAR * self.size
        if name in ("convexity", "bounded_below", "strong_quasi_convexity", "finite_gradient_noise"):
            return self.attained & (of_F >= edge)
        if name == "inexact_solves":
            visits = certain_visits(self.like.described, self.like.clients) or ()
            exact = len(visits) > 0 and all(v.sampling == "exact" for v in visits)
            return (self.eigenvalues[1].min(2) + [float(v.prox) for v in visits] > 0).all(1) if exact else True
        if name in ("convex_clients", "own_minimisers"):
            return of_clients >= edge
        if name in ("convex_samples", "strongly_convex_samples"):
            return (of_samples > 0) if name[0] == "s" else (of_samples >= edge) & self.attained
        return True


def _largest_of(place: int) -> Callable[[Constants], Floats]:
    return lambda c: np.abs(c.eigenvalues[place]).reshape(len(c.given), -1).max(1)


def _surrogate(name: str) -> Callable[[Constants], Any]:
    return lambda c: c.of_surrogate(name)


def _subproblem(name: str) -> Callable[[Constants], Any]:
    return lambda c: c.of_subproblem(name)


_KEYS: Mapping[str, Callable[[Constants], Any]] = {
    "objective/L": _largest_of(0),
    "clients/L": _largest_of(1),
    "samples/L": _largest_of(2),
    "objective/mu": Constants.mu,
    "samples/mu": lambda c: np.where(c.meets("convex_samples"), np.maximum(c.eigenvalues[2].min((1, 2)), 0.0), np.nan),
    "clients/lambda": lambda c: np.maximum(0.0, -c.eigenvalues[1].min((1, 2))),
    "clients/delta": lambda c: norm(c.given.maps[0] - c.given.whole[0][:, None]).max(1),
    "clients/sigma2": lambda c: np.where(c.attained, c.at_minimum().mean(1), np.nan),
    "clients/B2": lambda c: c.dissimilarity[0],
    "clients/G2": lambda c: c.dissimilarity[1],
    "clients/B2_without_G2": Constants.without_G2,
    "samples/P2": lambda c: (c.variances[0] / np.array(c.given.sizes)).max(1),
    "samples/sigma2": lambda c: c.variances[1].sum(1) / sum(c.given.sizes),
    "samples/P2_gen": lambda c: c.variance_of_general(0),
    "samples/sigma2_gen": lambda c: c.variance_of_general(1),
    "samples/sigma2_at_minimum": Constants.noise_of_samples,
    "start/dist2": Constants.distance,
    "start/gap": Constants.gap,
    "start/grad2": lambda c: c.at_start()[1],
    "start/client_grad2": lambda c: c.at_start()[0],
    "start/B2": Constants.dissimilarity_at_start,
    "start/x": lambda c: c.given.start[:, 0] if c.given.start.shape[1] == 1 else None,
    "start/dist2_surrogate": _surrogate("start/dist2_surrogate"),
    **{f"surrogate/{name}": _surrogate(name) for name in ("R", "S1", "S2", "Sigma", "F_het", "P")},
    **{
        f"subproblem/{name}": _subproblem(name)
        for name in (
            "gamma", "gamma_inv_mu", "inv_mu", "inv_mu2", "gamma2_inv_mu2", "L_inv_mu2", "L_gamma2_inv_mu2",
        )
    },
}  # fmt: skip
