"""The proof of Lemma 5 (asynchronous federated learning, Appendix A.3, (73)), corrected, as checked steps.

Vectors are random and <u, v> is the expectation of their inner product. i = 0, ..., M-1 counts the clients,
k = 0, ..., K-1 their local steps. Points are relative to theta^n. Which samples the work of round n uses is not known
to the server before round n: they are drawn after theta^n, and independently of each other.

    y(i, k)  local model before step k      g(i, k)   stochastic gradient there
    g0(i, k) the same sample's gradient at theta^n      sl(i)  its mean, the gradient of L_i
    gs(i, k) the same at star, theta-bar^n              ss(i)  its mean
    p(i)     q_i(n)                                     f0(i, k), fs(i, k)  expected losses at theta^n and at star
    A(i)     mean over k of g - g0          za(i), zs(i), zm(i)  p(i) times A(i), sl(i), ss(i)
    z(i)     p(i) times the mean of g       zn(i)  p(i) times the mean of g0 - sl(i), and V(i) = zn(0) + ... + zn(i-1)
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.laws import Draws
from boundcheck.proof.proof import Proof, eq, functions, ge, symbols
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import convex_samples, smooth_samples

READINGS = ("corrected",)

L, K, tau, eta_l, q, Qs, Z, sg1, sg2, Rn, M, i, k, phi = symbols("L K tau eta_l q Qs Z sg1 sg2 Rn M i k phi")
p_i = functions("p")(i)
f0, fs, low = (f(i, k) for f in functions("f0 fs low"))
y, g, g0, gs = (vector(name, i, k) for name in ("y", "g", "g0", "gs"))
sl, ss, A, z, za, zs, zm, zn, V = (vector(name, i) for name in ("sl", "ss", "A", "z", "za", "zs", "zm", "zn", "V"))
star, ca, cs = vector("star"), vector("ca"), vector("cs")
D = 6 * eta_l**2 * (K - 1)**2 * L**2


def steps_of(term: Any) -> Any:
    """The sum over the local steps."""
    return total(term, k, K)


def clients(term: Any) -> Any:
    """The sum over the clients."""
    return total(term, i, M)


def mean(term: Vector) -> Vector:
    """The mean over the local steps."""
    return vector_total(term, k, K) / K


sum_a, sum_s, sum_m, sum_n, sum_z = (vector_total(v, i, M) for v in (za, zs, zm, zn, z))
gaps = steps_of(norm2(g0 - gs))


def derivation(statement: Any) -> Any:
    """The derivation of the corrected reading."""
    now = i * K + k
    p = Proof(statement, Rn, squares=(Qs, Z, sg1, sg2),
        drawn=((y, now), (g, now + 1), (g0, now + 1), (gs, now + 1), (V, i * K), (sl, 0), (ss, 0), (star, 0),
            (sum_m, 0)),
        laws=(Draws("samples", "unbiased_gradients", ((g0, sl), (gs, ss)), (sl, ss, star, V), time=i),))
    known(p)
    bregman(p)
    changes(p)
    noise(p)
    slope(p)

    p.step("z, split", eq(z, za + zn + zs), "z", "za", "zn", "zs", "A", why="(76)")
    p.sum_over("z, all", None, "z, split", i, M, why="all clients")
    p.square_of_sum("three parts", sum_a, sum_n, sum_s, uses="z, all", why="(77)",
        claim=norm2(sum_z) <= 3 * norm2(sum_a) + 3 * norm2(sum_n) + 3 * norm2(sum_s))
    p.step("display", Rn <= 3 * L**2 * phi + 18 * L * Z / q + 6 * sg2 / K,
        {"three parts": 1 / q**2, "A, all": 3 / q**2, "N": 3 / q**2, "slope": 3 / q**2}, "R", why="12/K + 6 <= 18")
    p.cite("(61)", phi <= 4 * tau * Qs + 4 * D * Z / (L * q) + 12 * eta_l**2 * (K - 1)**2 * sg1, "lemma_3/corrected",
        phi, why="Lemma 3 in the same round")
    p.conclude(Rn <= 12 * L**2 * tau * Qs + 24 * L * Z / q + 6 * D * sg1 + 6 * sg2 / K,
        {"display": 1, "(61)": 3 * L**2}, "condition drift", why="12 D <= 6")
    return p.done()


def known(p: Proof) -> None:
    """What is known of the round."""
    at_origin = Evaluation("f_ij", Vector(()), g0, f0, which=(i, k))
    past = Evaluation("f_ij", (g0 - gs) * (-1 / L), value=low, which=(i, k))
    p.count("clients", M >= 1, "clients")
    p.index(i, M, "clients")
    p.index(k, K, "local steps")
    p.define(A, mean(g - g0), "what the distance to theta^n changes")
    p.define(z, mean(g) * p_i, "with the expected weight")
    p.define(za, A * p_i, "with the expected weight")
    p.define(zs, sl * p_i, "with the expected weight")
    p.define(zm, ss * p_i, "with the expected weight")
    p.define(zn, (mean(g0) - sl) * p_i, "the noise at theta^n")
    p.define(ca, sum_a / q, "a mean over the clients")
    p.define(cs, (sum_s - sum_m) / q, "a mean over the clients")
    p.known("V(0)", eq(V.at(i, 0), Vector(())), "an empty sum")
    p.known("V(i+1)", eq(V.at(i, i + 1), V + (mean(g0) - sl) * p_i), "one more term")
    p.known("q", clients(p_i) <= q, "q(n) is the sum of the expected weights")
    p.known("p >= 0", p_i >= 0, "a mean of weights")
    p.known("p <= q", p_i <= q, "one of the terms of q, which are not negative")
    p.known("R", eq(Rn, norm2(sum_z) / q**2), "qt_i(n) = q_i(n)/q(n)")
    p.known("phi", eq(phi, clients(p_i * steps_of(norm2(y))) / (q * K)), "mean over clients and steps")
    p.known("Z", eq(Z, clients(p_i * steps_of(f0 - fs)) / K), "L^n has the weights q_i(n)")
    p.known("sg2", eq(sg2, clients(p_i**2 * steps_of(norm2(gs))) / (q**2 * K)), "one sample a step, drawn alike")
    p.known("stationary", eq(sum_m, Vector(())), "the gradient of L^n is 0 at its minimiser")
    p.pointwise("smooth", smooth_samples, "between y(k) and theta^n", Evaluation("f_ij", y, g, which=(i, k)), at_origin)
    p.upper_model("smooth, 1", smooth_samples, "around theta^n", at_origin, past)
    p.lower_model("convex, 1", convex_samples, "around theta-bar^n", Evaluation("f_ij", star, gs, fs, which=(i, k)),
        past)


def bregman(p: Proof) -> None:
    """The gradients of the samples at theta^n less those at theta-bar^n."""
    p.step("Bregman", norm2(g0 - gs) <= 2 * L * (f0 - fs + inner(gs, star)), {"smooth, 1": 2 * L, "convex, 1": 2 * L},
        why="(68)")
    p.sum_over("Bregman, steps", None, "Bregman", k, K, why="all steps")
    p.expected("Bregman, client", p_i * gaps <= 2 * L * p_i * steps_of(f0 - fs) + 2 * L * K * inner(zm, star),
        "samples", {"Bregman, steps": p_i}, "zm", "p >= 0", why="weighted, the mean of gs put in")
    p.sum_over("Bregman, clients", None, "Bregman, client", i, M, why="all clients")
    p.step("gaps", clients(p_i * gaps) <= 2 * L * K * Z, {"Bregman, clients": 1}, "stationary", "Z",
        why="theta-bar^n minimises L^n")


def changes(p: Proof) -> None:
    """The sum of za, what the distance of the local models to theta^n changes."""
    p.square_of_sum("changes", g - g0, over=(k, K), why="the square of a mean")
    p.sum_over("smooth, steps", None, "smooth", k, K, why="all steps")
    p.step("A, square", ge(norm2(A - ca), 0), why="a squared norm")
    p.step("A, client", p_i / K * L**2 * steps_of(norm2(y)) - 2 * inner(za, ca) + p_i * norm2(ca) >= 0,
        {"changes": p_i / K**2, "smooth, steps": p_i / K, "A, square": p_i}, "A", "za", "p >= 0", numbers=(p_i,),
        why="p |A - ca|^2 >= 0")
    p.sum_over("A, clients", None, "A, client", i, M, why="all clients")
    p.step("ca >= 0", ge(norm2(ca), 0), why="a squared norm")
    p.step("A, all", norm2(sum_a) <= q**2 * L**2 * phi, {"A, clients": q, "ca >= 0": q * (q - clients(p_i))}, "ca",
        "q", "phi", numbers=(clients(p_i),), why="the square of a mean over the clients")


def noise(p: Proof) -> None:
    """The sum of zn, one client after the other."""
    p.step("sl >= 0", ge(norm2(sl), 0), why="a squared norm")
    p.expected("noise, client", norm2(V.at(i, i + 1)) <= norm2(V) + p_i**2 / K**2 * steps_of(norm2(g0)), "samples",
        {"sl >= 0": p_i**2 / K}, "V(i+1)", why="(75): the samples are drawn independently")
    p.step("parts", norm2(g0) <= 2 * norm2(g0 - gs) + 2 * norm2(gs), why="two parts")
    p.sum_over("parts, steps", None, "parts", k, K, why="all steps")
    p.step("gaps >= 0", ge(norm2(g0 - gs), 0), why="a squared norm")
    p.sum_over("gaps >= 0, steps", None, "gaps >= 0", k, K, why="and a sum")
    p.step("noise, parts",
        norm2(V.at(i, i + 1)) <= norm2(V) + 2 / K**2 * (q * p_i * gaps + p_i**2 * steps_of(norm2(gs))),
        {"noise, client": 1, "parts, steps": p_i**2 / K**2, "gaps >= 0, steps": 2 / K**2 * (q * p_i - p_i**2)},
        "p >= 0", "p <= q", numbers=(p_i,), why="p^2 <= q p")
    p.add_up("noise, clients", None, "noise, parts", norm2(V), i, M, why="one client after the other")
    p.step("V, step", eq(V.at(i, i + 1), V + zn), "V(i+1)", "zn", why="one more term")
    p.telescope("V", None, "V, step", i, M, why="the whole sum")
    p.step("N", norm2(sum_n) <= q / K * 4 * L * Z + 2 * q**2 / K * sg2, {"noise, clients": 1, "gaps": 2 * q / K**2},
        "V", "V(0)", "sg2", why="(78) to (80)")


def slope(p: Proof) -> None:
    """The sum of zs, the gradient of L^n at theta^n."""
    p.step("spread", ge(norm2(vector_total(g0 - gs, k, K) - (sl - ss) * K), 0), why="a squared norm")
    p.expected("slope, steps", K * norm2(sl - ss) <= gaps, "samples", {"spread": 1},
        why="the square of a mean is at most the mean of the squares")
    p.step("slope, square", ge(norm2(sl - ss - cs), 0), why="a squared norm")
    p.step("slope, client", p_i / K * gaps - 2 * inner(zs - zm, cs) + p_i * norm2(cs) >= 0,
        {"slope, steps": p_i / K, "slope, square": p_i}, "zs", "zm", "p >= 0", numbers=(p_i,),
        why="p |sl - ss - cs|^2 >= 0")
    p.sum_over("slope, clients", None, "slope, client", i, M, why="all clients")
    p.step("cs >= 0", ge(norm2(cs), 0), why="a squared norm")
    p.step("slope", norm2(sum_s) <= 2 * q * L * Z,
        {"slope, clients": q, "gaps": q / K, "cs >= 0": q * (q - clients(p_i))}, "cs", "q", "stationary",
        numbers=(clients(p_i),), why="(81): of L^n")
