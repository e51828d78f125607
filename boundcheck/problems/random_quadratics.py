"""Seeded random quadratics with different clients, near given mu and L, with short rational entries.

With U a rational reflection, J the diagonal projector of the given rank and integer matrices G_i,

    A_i = U (a D G_i'G_i D + m J + s_i J) U',   b_i = A_i x* + noise * U J r_i,   sum_i s_i = 0,

where D = J with its last nonzero entry made small. a and m are short rationals that bring the smallest nonzero
eigenvalue of F near mu and the largest of the clients near L; the constants themselves are certified from the
matrices afterwards. s_i is 0 unless `indefinite`, which makes some clients concave in a direction (and L up to
twice as large) but leaves F as it is.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq_mat

from boundcheck.core import streams
from boundcheck.core.linalg import column, floats, identity, matrix, nearest_float, rational, to_fractions
from boundcheck.core.numbers import as_fraction, format_exact, format_short, simplest_between
from boundcheck.errors import BadInput
from boundcheck.problems._specs import whole
from boundcheck.problems._split import DATA
from boundcheck.problems.quadratics import Component, Quadratics

LARGEST = Fraction(10**100)  # of L and the noise, and 1 over the smallest mu: eigenvalues are found in doubles


def _integers(seed: int, block: int, count: int, reach: int) -> list[int]:
    """Uniform integers in -reach..reach."""
    words = streams.words([seed], DATA, block, 1, 0, count)[0]
    return [int(v) - reach for v in streams.below(words, 2 * reach + 1)]


def _given(mu: Fraction, L: Fraction, noise: Fraction) -> str:
    return f"mu = {format_short(mu)}, L = {format_short(L)}, noise = {format_short(noise)}"


def _short(value: float) -> Fraction:
    """A short rational within 1 per cent."""
    exact = Fraction(value)
    return simplest_between(exact * Fraction(99, 100), exact * Fraction(101, 100))


def build(
    *,
    clients: Any = 3,
    d: Any = 2,
    mu: Any = "1/10",
    L: Any = 1,
    seed: Any = 0,
    noise: Any = 1,
    indefinite: bool = False,
    rank: Any = None,
) -> Quadratics:
    """Random heterogeneous quadratics; start: x* plus ones (x* is the minimiser where noise = 0).

    rank: of the Hessian of F (default d; smaller gives an affine solution set). Raises BadInput.
    """
    n, dim, s = whole(clients, "clients", 1, 1000), whole(d, "d", 1, 100), whole(seed, "seed", 0, 2**64 - 1)
    r = dim if rank is None else whole(rank, "rank", 1, dim)
    low, high, loud = as_fraction(mu, "mu"), as_fraction(L, "L"), as_fraction(noise, "noise")
    if not 0 < low <= high or loud < 0:
        raise BadInput(f"{_given(low, high, loud)} are not allowed; 0 < mu <= L and noise >= 0 are.")
    if low < 1 / LARGEST or max(high, loud) > LARGEST:
        raise BadInput(f"{_given(low, high, loud)} are not allowed; mu >= 1e-100, L <= 1e100, noise <= 1e100 are.")
    if indefinite and n == 1:
        raise BadInput("indefinite = true needs at least 2 clients, because F itself stays convex.")
    project = fmpq_mat(dim, dim, [int(i == j < r) for i in range(dim) for j in range(dim)])
    shrink = project * 1
    if r > 1:
        shrink[r - 1, r - 1] = rational(_short(float(low / high) ** 0.5) / 4)
    draws = _integers(s, 0, n * dim * dim, 3)
    grams: list[fmpq_mat] = []
    for i in range(n):
        g = fmpq_mat(dim, dim, draws[i * dim * dim : (i + 1) * dim * dim]) + identity(dim) * 2
        grams.append(shrink * g.transpose() * g * shrink)
    scale, shift = _fit(grams, low, high, r)
    u = _reflection(_integers(s, 1, dim, 2))
    turns = [Fraction(0)] * n
    if indefinite:
        raw = [Fraction(v, 8) * high for v in _integers(s, 2, n, 4)]
        raw[0] = -high / 2
        mean = sum(raw, Fraction(0)) / n
        turns = [v - mean for v in raw]
    minimiser = column([Fraction(v, 2) for v in _integers(s, 3, dim, 4)])
    pulls = _integers(s, 4, n * dim, 4)
    parts: list[tuple[Component, ...]] = []
    for i, gram in enumerate(grams):
        a = u * (gram * rational(scale) + project * rational(shift + turns[i])) * u
        pull = column([Fraction(v, 4) * loud for v in pulls[i * dim : (i + 1) * dim]])
        b = a * minimiser + u * project * pull
        rows = tuple(tuple(row) for row in to_fractions(a).tolist())
        parts.append((Component(rows, tuple(to_fractions(b)[:, 0].tolist())),))
    start = tuple(v + 1 for v in to_fractions(minimiser)[:, 0].tolist())
    spec: dict[str, Any] = {"kind": "random_quadratics", "clients": n, "d": dim, "seed": s, "rank": r}
    spec |= {"mu": format_exact(low), "L": format_exact(high), "noise": format_exact(loud), "indefinite": indefinite}
    name = f"{n} random {'indefinite ' if indefinite else ''}quadratics in dimension {dim} (seed {s})"
    return Quadratics(name, spec, tuple(parts), "mean", (Fraction(1, n),) * n, start)


def _fit(grams: list[fmpq_mat], low: Fraction, high: Fraction, rank: int) -> tuple[Fraction, Fraction]:
    """Short a > 0 and m >= 0 that bring a*gram + m near [low, high]."""
    mats = np.array([floats(g) for g in grams])
    top = max(float(np.linalg.eigvalsh(g)[-1]) for g in mats)
    bottom = float(np.linalg.eigvalsh(mats.mean(axis=0))[-rank])
    if top <= bottom:  # one eigenvalue in all
        return Fraction(0), high
    scale = _short(max(nearest_float(high - low), nearest_float(high) / 100) / (top - bottom))
    rest = nearest_float(low) - float(scale) * bottom
    return scale, _short(rest) if rest > nearest_float(low) / 100 else Fraction(0)


def _reflection(v: list[int]) -> fmpq_mat:
    """I - 2vv'/(v'v), a rational orthogonal matrix; I for v = 0."""
    norm = sum(x * x for x in v)
    d = len(v)
    if norm == 0:
        return identity(d)
    return matrix([[Fraction(int(i == j)) - Fraction(2 * v[i] * v[j], norm) for j in range(d)] for i in range(d)])
