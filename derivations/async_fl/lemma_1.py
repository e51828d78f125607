"""The proof of Lemma 1 (asynchronous federated learning, Appendix A.3) as checked steps: one more client at a time.

Vectors are random and <u, v> is the expectation of their inner product. Clients are counted from 0.

    y(i)  w_i x_i with the random weight w_i        z(i)  q_i x_i with its mean q_i
    Y(i)  y(0) + ... + y(i-1)                       Z(i)  z(0) + ... + z(i-1)
    o(i)  gamma_0 |x_0|^2 + ... + gamma_{i-1} |x_{i-1}|^2, with gamma_i |x_i|^2 = <y(i), y(i)> - alpha <z(i), z(i)>

Assumption 5 is used for pairs of different clients only, so that alpha may be any number in [0, 1].
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.rules import Induction, Supposing, Telescoping
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector

READINGS = ("corrected", "as_printed")

alpha, own, together, second, M, i, j = sp.symbols("alpha own together second M i j", real=True)
y, z, Y, Z = (vector(name, i) for name in ("y", "z", "Y", "Z"))
o: Any = sp.Function("o", real=True)
NOTHING = Vector(())

DRAWN = ((y, i + 1), (Y, i), (z, 0), (Z, 0))  # the weights of the clients, one after the other
FACTS = (
    Fact("clients", M >= 1, "count", "clients"),
    Fact("index i", sp.And(i >= 0, i <= M - 1), "index", "clients"),
    Fact("index j", sp.And(j >= 0, j <= i - 1), "index", "clients before client i"),
    Fact("second", sp.Eq(second, norm2(vector_total(y, i, M))), "metric", "E|sum of w_i x_i|^2"),
    Fact("together", sp.Eq(together, norm2(vector_total(z, i, M))), "metric", "|sum of q_i x_i|^2"),
    Fact("own", sp.Eq(own, o(M)), "metric", "the sum over all clients"),
    Fact(
        "covariance",
        sp.Eq(inner(y.at(i, j), y), alpha * inner(z.at(i, j), z)),
        "assumption",
        "Assumption 5 for two different clients, times <x_i, x_j>",
        "covariance_of_weights",
    ),
    Fact("Y(0)", VectorEquality(Y.at(i, 0), NOTHING), "metric", "an empty sum"),
    Fact("Y(i+1)", VectorEquality(Y.at(i, i + 1), Y + y), "metric", "one more term"),
    Fact("Z(0)", VectorEquality(Z.at(i, 0), NOTHING), "metric", "an empty sum"),
    Fact("Z(i+1)", VectorEquality(Z.at(i, i + 1), Z + z), "metric", "one more term"),
    Fact("Y(j+1)", VectorEquality(Y.at(i, j + 1), Y.at(i, j) + y.at(i, j)), "metric", "one more term"),
    Fact("Z(j+1)", VectorEquality(Z.at(i, j + 1), Z.at(i, j) + z.at(i, j)), "metric", "one more term"),
    Fact("o(0)", sp.Eq(o(0), 0), "metric", "an empty sum"),
    Fact("o(i+1)", sp.Eq(o(i + 1), o(i) + norm2(y) - alpha * norm2(z)), "metric", "one more term"),
)


def cross(count: Any) -> Any:
    """Client i against the first `count` clients, as a claim."""
    return sp.Eq(inner(Y.at(i, count), y), alpha * inner(Z.at(i, count), z), evaluate=False)


def moment(count: Any) -> Any:
    """The lemma for the first `count` clients, as a claim."""
    return sp.Eq(norm2(Y.at(i, count)), o(count) + alpha * norm2(Z.at(i, count)), evaluate=False)


STEPS = (
    Step("1.0", cross(sp.Integer(0)), ("Y(0)", "Z(0)"), Identity(), "against no client"),
    Step(
        "1.1",
        sp.Implies(cross(j), cross(j + 1)),
        ("covariance", "Y(j+1)", "Z(j+1)"),
        Supposing(Identity()),
        "against one more, which is another client",
    ),
    Step("1", cross(i), ("1.0", "1.1", "index i"), Induction("1.0", "1.1", j, i), "against all clients before"),
    Step("2.0", moment(sp.Integer(0)), ("Y(0)", "Z(0)", "o(0)"), Identity(), "no client"),
    Step(
        "2.1",
        sp.Eq(norm2(Y.at(i, i + 1)), norm2(Y) + 2 * inner(Y, y) + norm2(y)),
        ("Y(i+1)",),
        Identity(),
        "the square expanded",
    ),
    Step(
        "2.2",
        sp.Eq(norm2(Z.at(i, i + 1)), norm2(Z) + 2 * inner(Z, z) + norm2(z)),
        ("Z(i+1)",),
        Identity(),
        "the square expanded",
    ),
    Step(
        "2.3",
        sp.Implies(moment(i), moment(i + 1)),
        ("2.1", "2.2", "1", "o(i+1)"),
        Supposing(Decide()),
        "one more client",
    ),
    Step("2", moment(M), ("2.0", "2.3", "clients"), Induction("2.0", "2.3", i, M), "all clients"),
    Step(
        "3.1",
        VectorEquality(Y.at(i, M), Y.at(i, 0) + vector_total(y, i, M)),
        ("Y(i+1)", "clients"),
        Telescoping("Y(i+1)", i, M),
        "the whole sum",
    ),
    Step(
        "3.2",
        VectorEquality(Z.at(i, M), Z.at(i, 0) + vector_total(z, i, M)),
        ("Z(i+1)", "clients"),
        Telescoping("Z(i+1)", i, M),
        "the whole sum",
    ),
    Step(
        "conclusion",
        sp.Eq(second, own + alpha * together),
        ("2", "3.1", "3.2", "Y(0)", "Z(0)", "second", "together", "own"),
        Identity(),
        "(51)",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    return Derivation(
        statement, (*scope_facts(statement), *FACTS), STEPS, conclusion="conclusion", target=second, drawn=DRAWN
    )
