"""The proof of Lemma 1 (asynchronous federated learning, Appendix A.3) as checked steps: one more client at a time.

Vectors are random and <u, v> is the expectation of their inner product. Clients are counted from 0.

    y(i)  w_i x_i with the random weight w_i        z(i)  q_i x_i with its mean q_i
    Y(i)  y(0) + ... + y(i-1)                       Z(i)  z(0) + ... + z(i-1)
    o(i)  gamma_0 |x_0|^2 + ... + gamma_{i-1} |x_{i-1}|^2, with gamma_i |x_i|^2 = <y(i), y(i)> - alpha <z(i), z(i)>

Assumption 5 is used for pairs of different clients only, so that alpha may be any number in [0, 1].
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import vector_total
from boundcheck.proof.vectors import Vector, inner, norm2, vector

READINGS = ("corrected", "as_printed")

alpha, own, together, second, M, i, j = symbols("alpha own together second M i j")
y, z, Y, Z = (vector(name, i) for name in ("y", "z", "Y", "Z"))
o = functions("o")


def cross(count: Any) -> Any:
    """Client i against the first `count` clients, as a claim."""
    return eq(inner(Y.at(i, count), y), alpha * inner(Z.at(i, count), z))


def moment(count: Any) -> Any:
    """The lemma for the first `count` clients, as a claim."""
    return eq(norm2(Y.at(i, count)), o(count) + alpha * norm2(Z.at(i, count)))


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    # the weights of the clients are drawn one after the other
    p = Proof(statement, second, drawn=((y, i + 1), (Y, i), (z, 0), (Z, 0)))
    p.count("clients", M >= 1, "clients")
    p.index(i, M, "clients")
    p.index(j, i, "clients before client i")
    p.known("second", eq(second, norm2(vector_total(y, i, M))), "E|sum of w_i x_i|^2")
    p.known("together", eq(together, norm2(vector_total(z, i, M))), "|sum of q_i x_i|^2")
    p.known("own", eq(own, o(M)), "the sum over all clients")
    p.assume("covariance", "covariance_of_weights", eq(inner(y.at(i, j), y), alpha * inner(z.at(i, j), z)),
        "Assumption 5 for two different clients, times <x_i, x_j>")
    for name, part, whole in (("Y", y, Y), ("Z", z, Z)):
        p.known(f"{name}(0)", eq(whole.at(i, 0), Vector(())), "an empty sum")
        p.known(f"{name}(i+1)", eq(whole.at(i, i + 1), whole + part), "one more term")
    p.known("Y(j+1)", eq(Y.at(i, j + 1), Y.at(i, j) + y.at(i, j)), "one more term")
    p.known("Z(j+1)", eq(Z.at(i, j + 1), Z.at(i, j) + z.at(i, j)), "one more term")
    p.known("o(0)", eq(o(0), 0), "an empty sum")
    p.known("o(i+1)", eq(o(i + 1), o(i) + norm2(y) - alpha * norm2(z)), "one more term")

    p.induct("1", cross, j, i, base=("Y(0)", "Z(0)"), step=("covariance", "Y(j+1)", "Z(j+1)"),
        names=("1.0", "1.1"), words=("against no client", "against one more, which is another client"),
        why="against all clients before")
    p.step("2.1", eq(norm2(Y.at(i, i + 1)), norm2(Y) + 2 * inner(Y, y) + norm2(y)), "Y(i+1)",
        why="the square expanded")
    p.step("2.2", eq(norm2(Z.at(i, i + 1)), norm2(Z) + 2 * inner(Z, z) + norm2(z)), "Z(i+1)",
        why="the square expanded")
    p.induct("2", moment, i, M, base=("Y(0)", "Z(0)", "o(0)"), step=("2.1", "2.2", "1", "o(i+1)"),
        names=("2.0", "2.3"), words=("no client", "one more client"), why="all clients")
    p.telescope("3.1", None, "Y(i+1)", i, M, why="the whole sum")
    p.telescope("3.2", None, "Z(i+1)", i, M, why="the whole sum")
    p.conclude(eq(second, own + alpha * together), "2", "3.1", "3.2", "Y(0)", "Z(0)", "second", "together", "own",
        why="(51)")
    return p.done()
